"""Drawing a part of the items at random, so that it can stand for all: which are drawn, and with what probability.

The order of a draw is that of digests of the seed and the item's name. The same items, seed and share give the same
draw on every machine and whatever the sequence of the items, and a larger share contains the smaller one. Each item's
probability is known, also of those that were not drawn; without it no estimate can be corrected.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from hashlib import blake2b
from math import ceil

from rightcall.stats.intervals import invalid


def draw_stratified(units: Iterable[tuple[str, str]], share: float, seed: int, minimum: int = 0) -> dict[str, float]:
    """Draw from each stratum; the drawn items with their probabilities.

    Of a stratum of N items, n = max(⌈share N⌉, the smaller of minimum and N) are drawn, each with the probability n/N.
    The share counts as it is written: 0.1 of 30 is 3. The result is sorted by stratum and in the order of the draw.

    Args:
        units: name and stratum of every item.
        share: how much of each stratum is drawn, from 0 to 1.
        seed: another seed is another draw.
        minimum: how many are drawn of a small stratum, if it has so many.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a share outside 0 to 1, a negative minimum or an item given twice.
    """
    drawn: dict[str, float] = {}
    for stratum, names in sorted(_strata(units).items()):
        n = _size(len(names), share, minimum)
        for name in sorted(names, key=lambda name: _key(seed, stratum, name))[:n]:
            drawn[name] = n / len(names)
    return drawn


def probability_of(units: Iterable[tuple[str, str]], share: float, minimum: int = 0) -> dict[str, float]:
    """With what probability `draw_stratified` draws each item, drawn or not; the seed does not matter.

    Raises:
        ConfigError: as `draw_stratified`.
    """
    return {
        name: _size(len(names), share, minimum) / len(names)
        for _, names in sorted(_strata(units).items())
        for name in sorted(names)
    }


def _strata(units: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    seen: set[str] = set()
    for name, stratum in units:
        if name in seen:
            raise invalid(f"the item {name!r} is given twice")
        seen.add(name)
        found.setdefault(stratum, []).append(name)
    return found


def _size(total: int, share: float, minimum: int) -> int:
    if not 0 <= share <= 1:
        raise invalid(f"a share lies from 0 to 1, not at {share:g}")
    if minimum < 0:
        raise invalid(f"a minimum cannot be {minimum}")
    # As it is written: the nearest binary number to 0.1 is a little more, and 30 of them would round up to 4.
    return max(ceil(Fraction(Decimal(repr(share))) * total), min(minimum, total))


def _key(seed: int, stratum: str, name: str) -> tuple[bytes, str]:
    """Where an item stands in the draw. Lengths keep `a`, `bc` apart from `ab`, `c`."""
    text = f"{seed} {len(stratum)} {stratum} {name}"
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest(), name

"""Several tests at once: p-values adjusted so that chance does not make one of them small.

Holm's keep the probability of any false "different" below the level, for gates. Benjamini and Hochberg's keep the
expected share of false ones among those called "different", for alerts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rightcall.stats.intervals import invalid


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's adjusted p-values, in the sequence given.

    Formula: with the m p-values sorted upwards, the largest of (m - j) p_(j) up to each one, no more than 1, j from 0
    (S. Holm, Scandinavian Journal of Statistics 6, 1979). It is right however the tests depend on each other.

    A test without a p-value is `None`, stays `None` and is not counted among the m.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a p outside 0 to 1.
    """

    def adjusted(ordered: list[float]) -> list[float]:
        found, largest = [], 0.0
        for j, p in enumerate(ordered):
            largest = max(largest, (len(ordered) - j) * p)
            found.append(min(1.0, largest))
        return found

    return _in_place(p_values, adjusted)


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """Benjamini and Hochberg's adjusted p-values, in the sequence given.

    Formula: with the m p-values sorted upwards, the smallest of m p_(j) / j from each one on, no more than 1, j from 1
    (Journal of the Royal Statistical Society B 57, 1995). It is right for independent tests, and for those that
    depend on each other positively.

    A test without a p-value is `None`, stays `None` and is not counted among the m.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a p outside 0 to 1.
    """

    def adjusted(ordered: list[float]) -> list[float]:
        found, smallest, m = [], 1.0, len(ordered)
        for j in range(m, 0, -1):
            smallest = min(smallest, ordered[j - 1] * m / j)
            found.append(smallest)
        return found[::-1]

    return _in_place(p_values, adjusted)


def _in_place(p_values: Sequence[float | None], adjusted: Callable[[list[float]], list[float]]) -> list[float | None]:
    """The adjusted values where the given ones stood."""
    strange = next((p for p in p_values if p is not None and not 0 <= p <= 1), None)
    if strange is not None:
        raise invalid(f"a p-value lies from 0 to 1, not at {strange:g}")
    given = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    found: list[float | None] = [None] * len(p_values)
    for (_, place), value in zip(given, adjusted([p for p, _ in given]), strict=True):
        found[place] = value
    return found

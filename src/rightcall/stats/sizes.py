"""How many cases or labels it takes: to show a share, to make an interval narrow, to find a difference.

All of these are for planning. What is shown afterwards is the interval of what was seen.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, isfinite, sqrt
from statistics import NormalDist
from typing import Literal

from rightcall.stats.intervals import Estimate, invalid, needed_without_error, wilson_bounds

Sides = Literal[1, 2]
"""Whether the error is spent on one bound or on both."""


def cases_to_show(threshold: float, errors: int = 0, *, sides: Sides = 1, confidence: float = 0.95) -> int:
    """The smallest number of cases, so many errors among them, whose Clopper-Pearson lower bound reaches a threshold.

    One-sided it is `needed_without_error`: 0.98 takes 149 cases without an error, 236 with one. Two-sided: 183, 277.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a threshold, count or confidence for which there is no such number.
    """
    _between(confidence=confidence)
    return needed_without_error(threshold, errors, _quantile(confidence, sides))


def cases_to_show_by_wilson(threshold: float, errors: int = 0, *, sides: Sides = 2, confidence: float = 0.95) -> int:
    """The same for Wilson's lower bound, which is what is displayed: it covers on average, not always.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a threshold, count or confidence for which there is no such number.
    """
    _between(threshold=threshold, confidence=confidence)
    if errors < 0:
        raise invalid(f"errors cannot be {errors}")
    level = 2 * _quantile(confidence, sides) - 1

    def shows(n: int) -> bool:
        return wilson_bounds((n - errors) / n, n, level)[0] >= threshold

    return _first(errors + 1, shows)


def cases_at_share(share: float, threshold: float, *, sides: Sides = 2, confidence: float = 0.95) -> int | None:
    """How many cases show that a share is above a threshold, if it stays what it was; by Wilson's bound.

    Formula: z² t (1-t) / (p - t)², rounded up, with p the share and t the threshold: where the score test just says
    no. `None` where the share is not above the threshold.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a number that cannot be.
    """
    _between(threshold=threshold, confidence=confidence)
    if not 0 <= share <= 1:
        raise invalid(f"a share lies from 0 to 1, not at {share:g}")
    if share <= threshold:
        return None
    z = NormalDist().inv_cdf(_quantile(confidence, sides))
    return max(1, ceil(z**2 * threshold * (1 - threshold) / (share - threshold) ** 2))


def cases_for_width(half_width: float, *, share: float = 0.5, confidence: float = 0.95) -> int:
    """How many cases make Wilson's interval of a share reach no further than so much, on average of both sides.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a number that cannot be.
    """
    _between(half_width=half_width, confidence=confidence)
    if not 0 <= share <= 1:
        raise invalid(f"a share lies from 0 to 1, not at {share:g}")

    def narrow(n: int) -> bool:
        low, high = wilson_bounds(share, n, confidence)
        return (high - low) / 2 <= half_width

    return _first(1, narrow)


def kappa_half_width(n: int, *, agreement: float = 0.8, chance: float = 0.5, confidence: float = 0.95) -> float:
    """Half the width that the interval of kappa will have, roughly: z √(a (1-a) / n) / (1 - e).

    Formula: J. Cohen, Educational and Psychological Measurement 20, 1960. With the agreement .8 and the chance .5 it is
    .22 of 50 items and .11 of 200.

    Args:
        n: how many items both raters answer.
        agreement: a, the plain agreement that is expected.
        chance: e, what chance alone would give.
        confidence: of the interval.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a number that cannot be.
    """
    _between(agreement=agreement, confidence=confidence)
    if n < 1 or not 0 <= chance < 1:
        raise invalid(f"{n} items with {chance:g} by chance have no kappa")
    z = NormalDist().inv_cdf(_quantile(confidence, 2))
    return z * sqrt(agreement * (1 - agreement) / n) / (1 - chance)


def items_for_kappa(half_width: float, *, agreement: float = 0.8, chance: float = 0.5, confidence: float = 0.95) -> int:
    """How many items make the interval of kappa so narrow (see `kappa_half_width`).

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a number that cannot be.
    """
    _between(half_width=half_width)
    one = kappa_half_width(1, agreement=agreement, chance=chance, confidence=confidence)
    return max(1, ceil((one / half_width) ** 2 - 1e-9))


def more_to_reach(found: Estimate, threshold: float) -> int | None:
    """How many more items bring the lower bound up to a threshold, if the estimate stays what it is.

    A bound's distance from its estimate falls with the square root of the number of items, so that it takes
    n ((estimate - low) / (estimate - threshold))² of them. 0 where the bound is there; `None` where the estimate is
    not above the threshold, or has no interval.
    """
    if found.estimate is None or found.low is None:
        return None
    if found.low >= threshold:
        return 0
    if found.estimate <= threshold:
        return None
    ratio = (found.estimate - found.low) / (found.estimate - threshold)
    return max(1, ceil(found.n * ratio**2) - found.n)


def pairs_for_difference(changed: float, difference: float, *, power: float = 0.8, alpha: float = 0.05) -> int:
    """How many cases, tried by both agents, show a difference of their shares by McNemar's test.

    Formula: (z(1 - alpha/2) √c + z(power) √(c - d²))² / d², rounded up (R. J. Connor, Biometrics 43, 1987).

    Args:
        changed: c, the share of cases on which the two differ.
        difference: d, of the shares passed; not 0, and no larger than `changed`.
        power: how often the difference should be found.
        alpha: below which p shows a difference.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a number that cannot be.
    """
    _between(power=power, alpha=alpha)
    if not 0 < abs(difference) <= changed <= 1:
        raise invalid(f"a difference of {difference:g} with {changed:g} of the cases changed cannot be shown")
    normal = NormalDist().inv_cdf
    spread = normal(1 - alpha / 2) * sqrt(changed) + normal(power) * sqrt(changed - difference**2)
    return ceil(spread**2 / difference**2)


def pairs_for_margin(
    changed: float, margin: float, *, difference: float = 0.0, power: float = 0.8, alpha: float = 0.05
) -> int:
    """How many cases, tried by both agents, show that the new one is not worse by more than a margin.

    Formula: (z(1 - alpha/2) + z(power))² (c - d²) / (d + margin)², rounded up (J.-P. Liu and others, Statistics in
    Medicine 21, 2002), for the lower bound of a two-sided interval.

    Args:
        changed: c, the share of cases on which the two differ.
        margin: how much worse is still no loss.
        difference: d, new minus old, if that is the truth.
        power: how often it should be shown.
        alpha: error of the whole interval.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a number that cannot be, or for a difference not above -margin.
    """
    _between(power=power, alpha=alpha)
    if not abs(difference) <= changed <= 1:
        raise invalid(f"a difference of {difference:g} with {changed:g} of the cases changed cannot be")
    if not (isfinite(margin) and difference > -margin):
        raise invalid(f"no number of cases shows that {difference:g} is above -{margin:g}")
    normal = NormalDist().inv_cdf
    total = (normal(1 - alpha / 2) + normal(power)) ** 2 * (changed - difference**2) / (difference + margin) ** 2
    return max(1, ceil(total))


def cases_for_two_shares(new: float, old: float, *, power: float = 0.8, alpha: float = 0.05) -> int:
    """How many cases each of two agents needs to show that their shares differ, if they are tried on different cases.

    Formula: (z(1 - alpha/2) √(2 m (1-m)) + z(power) √(p (1-p) + q (1-q)))² / (p - q)², m the mean of p and q, rounded
    up (J. L. Fleiss, Statistical Methods for Rates and Proportions, 1981, ch. 3).

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a number that cannot be, or for equal shares.
    """
    _between(power=power, alpha=alpha)
    if not (0 <= new <= 1 and 0 <= old <= 1) or new == old:
        raise invalid(f"no number of cases shows that {new:g} and {old:g} differ")
    normal, mean = NormalDist().inv_cdf, (new + old) / 2
    spread = normal(1 - alpha / 2) * sqrt(2 * mean * (1 - mean))
    spread += normal(power) * sqrt(new * (1 - new) + old * (1 - old))
    return ceil(spread**2 / (new - old) ** 2)


def _quantile(confidence: float, sides: Sides) -> float:
    return 1 - (1 - confidence) / sides


def _first(start: int, shows: Callable[[int], bool]) -> int:
    """The first number, from `start`, that shows it, where each later one does so too."""
    if shows(start):
        return start
    low, high = start, 2 * start
    while not shows(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shows(middle) else (middle, high)
    return high


def _between(**numbers: float) -> None:
    for name, number in numbers.items():
        if not 0 < number < 1:
            raise invalid(f"{name.replace('_', ' ')} lies between 0 and 1, not at {number:g}")

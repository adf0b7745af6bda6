"""The exact sign test: wins against losses, ties left out; what it shows, and how many pairs it would take.

A tie says nothing about which of two is better, so only decisive pairs count. "Power" is how often the test finds a
difference of a given size, which a report needs in order to say what it could not have seen.
"""

from __future__ import annotations

from math import ceil, sqrt
from statistics import NormalDist

from rightcall.stats.intervals import invalid


def sign_test(wins: int, losses: int) -> float | None:
    """The exact two-sided p of so many wins and losses if neither were better; `None` without a decisive pair.

    Formula: min(1, 2 P(X <= min(wins, losses))), X binomial over all decisive pairs with 1/2 (W. J. Dixon and
    A. M. Mood, JASA 41, 1946).

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a negative count.
    """
    check_counts(wins=wins, losses=losses)
    if not wins + losses:
        return None
    return min(1.0, 2 * _at_most(min(wins, losses), wins + losses, 0.5))


def _at_most(k: int, n: int, p: float) -> float:
    """P(X <= k), X binomial, k below n. The beta integral has no limit for n, as scipy's binomial function has."""
    from scipy.special import betainc

    return float(betainc(n - k, k + 1, 1 - p))


def sign_test_power(n: int, p: float, alpha: float = 0.05) -> float:
    """How often the exact two-sided sign test says "different" (its p is below alpha), n decisive pairs won with p.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a number that cannot be.
    """
    check_counts(n=n)
    _check_share(p)
    _check_level(alpha)
    few = _critical(n, alpha)
    if few < 0:
        return 0.0
    return _at_most(few, n, p) + _at_most(few, n, 1 - p)


def _critical(n: int, alpha: float) -> int:
    """The most losses (or wins) among n at which the test still says "different"; -1 where it never does."""
    low, high = -1, (n + 1) // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if 2 * _at_most(middle, n, 0.5) < alpha else (low, middle)
    return low


def decisive_needed(p: float, *, power: float = 0.8, alpha: float = 0.05, exact: bool = False) -> int:
    """How many decisive pairs show that one wins with probability p, if that is the truth.

    Formula: ((z(1 - alpha/2)/2 + z(power) √(p(1-p))) / |p - 1/2|)², rounded up (J. L. Fleiss, Statistical Methods for
    Rates and Proportions, 1981, ch. 1), but no fewer than it takes for any result to be below alpha.

    Args:
        p: the probability of a win, from 0 to 1, not 1/2.
        power: how often the difference should be found.
        alpha: below which the test's p shows a difference.
        exact: go on from there to a number at which the exact test really has that power; a few more. Its power
            goes up and down a little from one number to the next, so one pair more may have slightly less of it.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a number that cannot be, or for 1/2, which no number of pairs shows.
    """
    _check_share(p)
    _check_level(power)
    _check_level(alpha)
    if p == 0.5:
        raise invalid("no number of pairs shows a difference where there is none")
    normal = NormalDist().inv_cdf
    needed = ceil(((normal(1 - alpha / 2) / 2 + normal(power) * sqrt(p * (1 - p))) / (p - 0.5)) ** 2)
    while _critical(needed, alpha) < 0:
        needed += 1
    return _powerful(needed, p, power, alpha) if exact else needed


def _powerful(start: int, p: float, power: float, alpha: float) -> int:
    """A number of pairs, not below `start`, that has the power while one less has not (or is below `start`)."""
    low, step = start - 1, 1
    while sign_test_power(low + step, p, alpha) < power:
        low, step = low + step, 2 * step
    high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if sign_test_power(middle, p, alpha) >= power else (middle, high)
    return high


def detectable(n: int, *, power: float = 0.8, alpha: float = 0.05) -> float | None:
    """The smallest probability of a win above 1/2 that n decisive pairs would show so often (its power).

    `None` where n is so small that no result shows anything. The power grows with the probability, so there is one
    such number; it is found by halving.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a number that cannot be.
    """
    check_counts(n=n)
    _check_level(power)
    _check_level(alpha)
    if _critical(n, alpha) < 0:
        return None
    low, high = 0.5, 1.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (low, middle) if sign_test_power(n, middle, alpha) >= power else (middle, high)
    return high


def check_counts(**counts: int) -> None:
    """Refuse a count below 0.

    Raises:
        ConfigError: `STAT_VALUE_INVALID`.
    """
    for name, count in counts.items():
        if count < 0:
            raise invalid(f"{name} cannot be {count}")


def _check_share(p: float) -> None:
    if not 0 <= p <= 1:
        raise invalid(f"a probability lies from 0 to 1, not at {p:g}")


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise invalid(f"a level lies between 0 and 1, not at {level:g}")

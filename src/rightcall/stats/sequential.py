"""Stopping early without fooling oneself: evidence that may be looked at after every pair.

The sign test is valid for a number of pairs that was fixed beforehand. Who looks again after each pair, and stops at
the first p below 0.05, finds a difference that is not there far more often than once in 20 times. The e-value here may
be looked at as often as one likes. After an early stop the confidence sequence is the interval to show; Wilson's and
the sign test's p are not valid then.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, inf, lgamma, log

from msgspec import Struct

from rightcall.stats.intervals import Estimate, invalid, undefined
from rightcall.stats.sign_test import check_counts


def log_e_value(wins: int, losses: int, p: float = 0.5) -> float:
    """The logarithm of `e_value`, against any probability p of a win; infinite where p makes the result impossible.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a negative count or a p outside 0 to 1.
    """
    check_counts(wins=wins, losses=losses)
    if not 0 <= p <= 1:
        raise invalid(f"a probability lies from 0 to 1, not at {p:g}")
    if (wins and p == 0) or (losses and p == 1):
        return inf
    likelihood = (wins * log(p) if wins else 0.0) + (losses * log(1 - p) if losses else 0.0)
    return _log_beta(wins + 0.5, losses + 0.5) - _log_beta(0.5, 0.5) - likelihood


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def e_value(wins: int, losses: int) -> float:
    """How many times as likely the decisive pairs are if one is better than if neither is.

    Formula: B(w + 1/2, l + 1/2) / B(1/2, 1/2) / 2^-(w + l): the likelihood of the pairs, averaged over a Beta(1/2, 1/2)
    prior of the win probability, over that at 1/2 (H. Robbins, The Annals of Mathematical Statistics 41, 1970). If
    neither is better, it reaches 1/alpha at any time in at most a share alpha of all sequences (J. Ville, 1939). Above
    the largest float it is infinite; `log_e_value` never overflows.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a negative count.
    """
    value = log_e_value(wins, losses)
    return exp(value) if value < 709 else inf


def confidence_sequence(wins: int, losses: int, alpha: float = 0.05, *, excluded: int = 0) -> Estimate:
    """The win rate with an interval that holds at all times at once, however often one looks.

    Formula: all probabilities against which the e-value is below 1/alpha. It is wider than an interval for a number of
    pairs that was fixed beforehand. Without a decisive pair the rate is undefined.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a negative count or an alpha not between 0 and 1.
    """
    limit = -log(_level(alpha))
    method = f"beta mixture sequence {1 - alpha:g}"
    check_counts(wins=wins, losses=losses)
    n = wins + losses
    if not n:
        return undefined(method, "no decisive pair", excluded=excluded)
    rate = wins / n

    def inside(p: float) -> bool:
        return log_e_value(wins, losses, p) < limit

    low = 0.0 if inside(0.0) else _edge(rate, 0.0, inside)
    high = 1.0 if inside(1.0) else _edge(rate, 1.0, inside)
    return Estimate(estimate=rate, low=low, high=high, n=n, method=method, excluded=excluded)


def _edge(within: float, outside: float, inside: Callable[[float], bool]) -> float:
    """Where the interval ends, found by halving; the e-value grows on either side of the rate."""
    for _ in range(60):
        middle = (within + outside) / 2
        within, outside = (middle, outside) if inside(middle) else (within, middle)
    return outside


class StopRule(Struct, frozen=True, kw_only=True):
    """When to stop asking: as soon as the e-value is at least 1/alpha.

    alpha: how often it may stop where neither is better. at_least: decisive pairs before the first look.
    """

    alpha: float = 0.05
    at_least: int = 0

    def stops(self, wins: int, losses: int) -> bool:
        """May one stop now? Error: `STAT_VALUE_INVALID` for a negative count or an alpha not between 0 and 1."""
        return wins + losses >= self.at_least and log_e_value(wins, losses) >= -log(_level(self.alpha))


def stops(wins: int, losses: int, *, alpha: float = 0.05) -> bool:
    """May one stop after so many wins and losses? See `StopRule`."""
    return StopRule(alpha=alpha).stops(wins, losses)


def _level(alpha: float) -> float:
    if not 0 < alpha < 1:
        raise invalid(f"alpha lies between 0 and 1, not at {alpha:g}")
    return alpha

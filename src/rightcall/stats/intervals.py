"""Intervals of proportions. Every shown number carries one, or the reason why it has none."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import ceil, sqrt
from statistics import NormalDist
from typing import Literal

from msgspec import Struct

from rightcall.errors import ConfigError

Sided = Literal["two", "lower", "upper"]
NOTHING = "nothing was evaluated"


class Estimate(Struct, frozen=True, kw_only=True, gc=False):
    """A number as rightcall shows it.

    estimate, low, high: the value and its interval (`None` where undefined, see `reason`). n: how many it rests on.
    method: how the interval was made. excluded: how many were left out, and are therefore not in `n`.
    """

    estimate: float | None
    low: float | None
    high: float | None
    n: int
    method: str
    excluded: int = 0
    reason: str | None = None


def in_cases(clusters: int) -> str:
    """The end of a method's name for observations that are not independent: in how many cases they stand."""
    return f", clustered in {clusters} case{'' if clusters == 1 else 's'}"


def undefined(method: str, reason: str = NOTHING, *, n: int = 0, excluded: int = 0) -> Estimate:
    """A number that has no value, and why."""
    return Estimate(estimate=None, low=None, high=None, n=n, method=method, excluded=excluded, reason=reason)


def invalid(message: str, hint: str | None = None) -> ConfigError:
    """The error for a number that no statistic can be made of (`STAT_VALUE_INVALID`)."""
    return ConfigError(message, code="STAT_VALUE_INVALID", hint=hint)


def wilson(successes: int, n: int, *, excluded: int = 0, confidence: float = 0.95) -> Estimate:
    """Share of successes with Wilson's score interval.

    Formula: (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n), with z the normal quantile of the two-sided
    confidence (E. B. Wilson, JASA 22, 1927). The bounds lie in [0, 1]. With n = 0 the share is undefined.
    """
    method = f"wilson {confidence:g}"
    if not n:
        return undefined(method, excluded=excluded)
    share = successes / n
    low, high = wilson_bounds(share, n, confidence)
    return Estimate(estimate=share, low=low, high=high, n=n, method=method, excluded=excluded)


def wilson_bounds(share: float, n: float, confidence: float) -> tuple[float, float]:
    """Wilson's bounds of a share that rests on `n` independent observations; `n` need not be whole."""
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    centre = share + z * z / (2 * n)
    half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    low = 0.0 if share == 0 else (centre - half) / scale
    high = 1.0 if share == 1 else (centre + half) / scale
    return low, high


def clopper_pearson(
    successes: int, n: int, *, confidence: float = 0.95, sided: Sided = "two", excluded: int = 0
) -> Estimate:
    """Share of successes with the exact interval of Clopper and Pearson, which covers at least as often as it says.

    Formula: the bounds are quantiles of beta distributions, low = B(e; k, n-k+1) and high = B(1-e; k+1, n-k), with e
    the error that one bound may make (C. J. Clopper and E. S. Pearson, Biometrika 26, 1934).

    Args:
        successes: k.
        n: how many were tried; 0 makes the share undefined.
        confidence: of the whole interval.
        sided: `two` splits the error; `lower` spends all of it on the lower bound (the upper is 1), `upper` the
            other way round. Gates use `lower`.
        excluded: how many were left out.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for counts or a confidence that cannot be.
    """
    method = f"clopper-pearson {confidence:g}" + ("" if sided == "two" else f" {sided}")
    _check(successes, n, confidence)
    if not n:
        return undefined(method, excluded=excluded)
    from scipy.special import betaincinv

    alpha = (1 - confidence) / (2 if sided == "two" else 1)
    low, high = 0.0, 1.0
    if sided != "upper" and successes:
        low = float(betaincinv(successes, n - successes + 1, alpha))
    if sided != "lower" and successes < n:
        high = float(betaincinv(successes + 1, n - successes, 1 - alpha))
    return Estimate(estimate=successes / n, low=low, high=high, n=n, method=method, excluded=excluded)


def _check(successes: int, n: int, confidence: float) -> None:
    if not 0 <= successes <= n:
        raise invalid(f"{successes} of {n} is not a share")
    if not 0 < confidence < 1:
        raise invalid(f"a confidence lies between 0 and 1, not at {confidence:g}")


def needed_without_error(threshold: float, errors: int = 0, confidence: float = 0.95) -> int:
    """How many cases it takes, with exactly so many errors among them, until the gate's lower bound is reached.

    The smallest n whose one-sided Clopper-Pearson lower bound, with `errors` errors, is at least `threshold`. That is
    the first n at which so few errors would be too unlikely if the true share were the threshold:
    P(errors or fewer | n, 1 - threshold) <= 1 - confidence.

    Raises:
        ConfigError: a threshold, count or confidence for which there is no such number.
    """
    if not 0 < threshold < 1:
        raise invalid(
            f"no number of cases shows a share of {threshold:g}", "a threshold lies between 0 and 1, both left out"
        )
    _check(errors, errors, confidence)
    from scipy.special import bdtr

    def shows(n: int) -> bool:
        return bool(bdtr(errors, n, 1 - threshold) <= 1 - confidence)

    low, high = errors, errors + 1
    while not shows(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shows(middle) else (middle, high)
    return high


def chance_of_passing(true_share: float, n: int, threshold: float) -> float:
    """How often a gate on the point estimate passes (`on = "point"`): P(k/n >= threshold), k binomial.

    What stands beside such a gate, since with few cases it lets a worse agent through by luck. The threshold is taken
    as it is written, so that 98 of 100 reach 0.98.
    """
    _check(0, n, 0.5)
    if not 0 <= true_share <= 1:
        raise invalid(f"a share lies from 0 to 1, not at {true_share:g}")
    from scipy.special import bdtrc

    needed = ceil(Fraction(Decimal(repr(threshold))) * n)
    if needed <= 0:
        return 1.0
    return float(bdtrc(needed - 1, n, true_share)) if needed <= n else 0.0

"""Intervals of proportions. Every shown number carries one, or the reason why it has none."""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

from msgspec import Struct


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


def wilson(successes: int, n: int, *, excluded: int = 0, confidence: float = 0.95) -> Estimate:
    """Share of successes with Wilson's score interval.

    Formula: (p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n), with z the normal quantile of the two-sided
    confidence (E. B. Wilson, JASA 22, 1927). The bounds lie in [0, 1]. With n = 0 the share is undefined.
    """
    method = f"wilson {confidence:g}"
    if not n:
        return Estimate(
            estimate=None, low=None, high=None, n=0, method=method, excluded=excluded, reason="nothing was evaluated"
        )
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share = successes / n
    centre = share + z * z / (2 * n)
    half = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    low = 0.0 if successes == 0 else (centre - half) / scale
    high = 1.0 if successes == n else (centre + half) / scale
    return Estimate(estimate=share, low=low, high=high, n=n, method=method, excluded=excluded)

"""Shares whose observations are not independent: several steps of one case rise and fall together.

An interval that takes the steps of a trace for independent is too narrow. Here the case is the unit: what is counted
in it stays together, and the interval is that of as many independent observations as the data are worth.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from math import sqrt
from statistics import NormalDist

from rightcall.stats.intervals import Estimate, in_cases, undefined, wilson, wilson_bounds

Counts = tuple[int, int]
"""Successes and observations of one cluster."""


def clustered_share(clusters: Iterable[Counts], *, excluded: int = 0, confidence: float = 0.95) -> Estimate:
    """Share of successes over clusters, with Wilson's interval on the effective number of observations.

    * The share is Σ successes / Σ observations, a ratio. Its variance is the sandwich v = C/(C-1) Σ (s - p n)² / N²
      over C clusters (K.-Y. Liang and S. L. Zeger, Biometrika 73, 1986; W. G. Cochran, Sampling Techniques, ch. 6).
    * The design effect is v / (p(1-p)/N) (L. Kish, Survey Sampling, 1965).
    * N / design effect, times (z/t)² for the C-1 degrees of freedom that v has, is the effective number
      (E. L. Korn and B. I. Graubard, Survey Methodology 24, 1998), put into Wilson's formula (N. Dean and M. Pagano,
      Journal of Survey Statistics and Methodology 3, 2015).
    * Where the rarer outcome was seen in few clusters, v knows next to nothing; where it was seen in none, v is 0,
      which would make the interval that of independent steps. So the design effect is averaged with that of clusters
      that succeed or fail as a whole, Σn²/N: the first weighs as much as there are clusters with the rarer outcome,
      the second as much as one. This is our own addition, and errs on the wide side.

    The interval is never narrower than Wilson's for independent observations; it is exactly that one if each cluster
    has one observation.
    """
    counts = [(successes, n) for successes, n in clusters if n]
    successes, n = sum(s for s, _ in counts), sum(n for _, n in counts)
    if not counts or n == len(counts):
        return wilson(successes, n, excluded=excluded, confidence=confidence)
    effective = effective_size(counts, confidence)
    low, high = wilson_bounds(successes / n, effective, confidence)
    return Estimate(
        estimate=successes / n, low=low, high=high, n=n, excluded=excluded,
        method=f"wilson {confidence:g}" + in_cases(len(counts)),
    )  # fmt: skip


def effective_size(counts: list[Counts], confidence: float = 0.95) -> float:
    """How many independent observations the clusters are worth (see `clustered_share`); not above their sum."""
    from scipy.special import stdtrit

    n, size = sum(n for _, n in counts), len(counts)
    whole = sum(n * n for _, n in counts) / n
    worth = n / max(1.0, _design_effect(counts, whole))
    if size == 1:
        return worth
    quantile = 0.5 + confidence / 2
    shrunk = worth * (NormalDist().inv_cdf(quantile) / float(stdtrit(size - 1, quantile))) ** 2
    # Few clusters have few degrees of freedom, but are worth no less than one observation each.
    return max(shrunk, min(worth, n / whole))


def _design_effect(counts: list[Counts], whole: float) -> float:
    """The sandwich's design effect, averaged with that of clusters that stand or fall as a whole."""
    successes, n, size = sum(s for s, _ in counts), sum(n for _, n in counts), len(counts)
    if size == 1 or successes in (0, n):
        return whole
    share = successes / n
    spread = size / (size - 1) * sum((s - share * m) ** 2 for s, m in counts)
    seen = min(sum(s > 0 for s, _ in counts), sum(s < m for s, m in counts))
    return (seen * spread / (n * share * (1 - share)) + whole) / (seen + 1)


def mean_share(tools: Iterable[Mapping[Hashable, Counts]], *, confidence: float = 0.95) -> Estimate:
    """Mean of several shares that rest on different observations, such as the precision of each tool.

    Each share is given as its counts by cluster. The interval puts the single intervals together by the distances of
    their bounds: mean - √Σ(p - low)²/k and mean + √Σ(high - p)²/k (G. Y. Zou, W. Huang and X. Zhang, Computational
    Statistics & Data Analysis 53, 2009). It is widened by the ratio of the sandwich deviation of the mean to the one
    without the covariance of shares within a cluster, where that ratio is above 1. `n` is the number of shares,
    `excluded` of those without observations.
    """
    given = list(tools)
    used = [counts for counts in given if sum(n for _, n in counts.values())]
    method = f"mean of wilson {confidence:g}"
    if not used:
        return undefined(method, excluded=len(given))
    parts = [clustered_share(counts.values(), confidence=confidence) for counts in used]
    size = len(parts)
    mean = sum(part.estimate or 0.0 for part in parts) / size
    widen = _inflation(used) / size
    below = sqrt(sum(((part.estimate or 0.0) - (part.low or 0.0)) ** 2 for part in parts)) * widen
    above = sqrt(sum(((part.high or 0.0) - (part.estimate or 0.0)) ** 2 for part in parts)) * widen
    return Estimate(
        estimate=mean, low=max(0.0, mean - below), high=min(1.0, mean + above), n=size, method=method,
        excluded=len(given) - size,
    )  # fmt: skip


def _inflation(tools: list[Mapping[Hashable, Counts]]) -> float:
    """How much wider the mean is since the shares of one cluster go together; never below 1."""
    together: dict[Hashable, float] = {}
    apart = 0.0
    for counts in tools:
        n = sum(n for _, n in counts.values())
        share = sum(s for s, _ in counts.values()) / n
        for cluster, (s, m) in counts.items():
            part = (s - share * m) / n
            together[cluster] = together.get(cluster, 0.0) + part
            apart += part * part
    return sqrt(max(1.0, sum(part * part for part in together.values()) / apart)) if apart else 1.0

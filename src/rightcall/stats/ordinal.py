"""Scores on a scale from 1 to 5: their mean with an interval, and how often each level was given."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from math import fsum, isfinite, sqrt

from rightcall.stats.intervals import Estimate, in_cases, invalid, undefined

LEVELS = (1, 2, 3, 4, 5)
"""The levels of every score, worst first."""

Scale = tuple[float, float]


def mean_score(
    values: Sequence[float], clusters: Sequence[Hashable] | None = None, *, scale: Scale = (1, 5), excluded: int = 0,
    confidence: float = 0.95,
) -> Estimate:  # fmt: skip
    """Mean of scores with Student's t interval, cut to the scale.

    With clusters the variance is the sandwich of the mean, C/(C-1) Σ(Σ residuals)² / n² over C clusters, with C-1
    degrees of freedom (see `rightcall.stats.clusters`), and never below that of independent values.

    Values that are all equal have no variance, and a t interval of no width would be a lie. How much of something
    else may there be? At most u = 1 - e^(1/m) after m equal observations (Clopper and Pearson's bound with
    the error e = (1 - confidence)/2), and at
    worst it lies at the ends of the scale: low = v - u (v - bottom), high = v + u (top - v), with m the clusters.

    Args:
        values: the scores; whole levels, or means of them.
        clusters: the case of each value, where one case gives several.
        scale: bottom and top.
        excluded: how many scores there should have been besides.
        confidence: of the interval.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a value outside the scale.
    """
    bottom, top = scale
    _check(values, scale)
    groups = _groups(values, clusters)
    n, m = len(values), len(groups)
    method = f"t {confidence:g}" + (in_cases(m) if m < n else "")
    if not n:
        return undefined(method, excluded=excluded)
    mean = fsum(values) / n
    if m < 2:
        reason = "one value has no interval" if n < 2 else "the values of one case have no interval"
        return Estimate(estimate=mean, low=None, high=None, n=n, method=method, excluded=excluded, reason=reason)
    if min(values) == max(values):
        share = 1 - ((1 - confidence) / 2) ** (1 / m)
        low, high, method = (
            mean - share * (mean - bottom),
            mean + share * (top - mean),
            f"exact {confidence:g}, all equal",
        )
    else:
        half = _half(values, groups, mean, confidence)
        low, high = max(bottom, mean - half), min(top, mean + half)
    return Estimate(estimate=mean, low=low, high=high, n=n, method=method, excluded=excluded)


def _check(values: Iterable[float], scale: Scale) -> None:
    wrong = next((value for value in values if not (isfinite(value) and scale[0] <= value <= scale[1])), None)
    if wrong is not None:
        raise invalid(f"{wrong} is not on the scale from {scale[0]:g} to {scale[1]:g}")


def _groups(values: Sequence[float], clusters: Sequence[Hashable] | None) -> list[list[float]]:
    """The values of each cluster; without clusters each value is one."""
    if clusters is None:
        return [[value] for value in values]
    found: dict[Hashable, list[float]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        found.setdefault(cluster, []).append(value)
    return list(found.values())


def _half(values: Sequence[float], groups: list[list[float]], mean: float, confidence: float) -> float:
    """Half the width of the t interval, before it is cut to the scale."""
    from scipy.special import stdtrit

    n, m = len(values), len(groups)
    plain = fsum((value - mean) ** 2 for value in values) / (n - 1) / n
    residuals = [fsum(group) - len(group) * mean for group in groups]
    sandwich = m / (m - 1) * fsum(residual**2 for residual in residuals) / n**2
    return float(stdtrit(m - 1, 0.5 + confidence / 2)) * sqrt(max(plain, sandwich))


def level_counts(values: Iterable[int], levels: Sequence[int] = LEVELS) -> dict[int, int]:
    """How often each level was given, unused levels with 0.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a value that is no level.
    """
    counted = Counter(values)
    strange = next((value for value in counted if value not in levels), None)
    if strange is not None:
        raise invalid(f"{strange} is not a level", f"levels: {', '.join(map(str, levels))}")
    return {level: counted[level] for level in levels}

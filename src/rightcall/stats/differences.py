"""How far two raters' scores of the same items lie apart: on average, and for a single item.

A pair holds what the two said about one item, the judge first where one of them is a judge. The mean difference with
its sign stands in `rightcall.stats.agreement`.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import fsum, sqrt
from statistics import NormalDist

from msgspec import Struct

from rightcall.stats.agreement import mean_difference
from rightcall.stats.intervals import Estimate, in_cases, invalid, undefined
from rightcall.stats.ordinal import Scale, mean_score
from rightcall.stats.resampling import Clusters, cases_of


class BlandAltman(Struct, frozen=True, kw_only=True):
    """Between which differences most single items lie.

    Attributes:
        bias: mean of first minus second.
        lower, upper: the limits of agreement, each with its own interval.
        deviation: standard deviation of the differences; `None` with fewer than two.
    """

    bias: Estimate
    lower: Estimate
    upper: Estimate
    deviation: float | None


def mean_absolute_difference(
    pairs: Sequence[tuple[float, float]], *, clusters: Clusters = None, scale: Scale = (1, 5),
    confidence: float = 0.95, excluded: int = 0,
) -> Estimate:  # fmt: skip
    """Mean of the differences without their sign, as `mean_score` on a scale from 0 to the scale's width.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a score outside the scale.
    """
    apart = [abs(difference) for difference in _differences(pairs, scale)]
    cases_of(len(apart), clusters)
    return mean_score(apart, clusters, scale=(0, scale[1] - scale[0]), excluded=excluded, confidence=confidence)


def bland_altman(
    pairs: Sequence[tuple[float, float]],
    *,
    clusters: Clusters = None,
    scale: Scale = (1, 5),
    share: float = 0.95,
    confidence: float = 0.95,
    excluded: int = 0,
) -> BlandAltman:
    """Bland and Altman's limits of agreement: between them lies such a share of differences, if these are normal.

    * Limits: d ± z s, with d the mean and s the standard deviation of first minus second, z the normal quantile of the
      share (J. M. Bland and D. G. Altman, The Lancet 327, 1986).
    * Interval of a limit: ± t √(s²/n + z² s²/(2(n-1))), t Student's with C-1 degrees of freedom over C cases. With the
      sandwich of each limit's influence over cases instead, (x - d)/n ± z ((x - d)²- s²)/(2 s n), where that is wider:
      items of one case go together, and differences of scores are seldom normal.

    The limits are undefined with fewer than two items. Where all differences are equal, or all are of one case, the
    limits have no interval.

    Args:
        pairs: the two scores of each item.
        clusters: the case of each item.
        scale: bottom and top of the scores.
        share: of the differences that the limits should hold.
        confidence: of the intervals.
        excluded: how many items lack a score of either.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a score outside the scale, or a share that cannot be.
    """
    if not 0 < share < 1:
        raise invalid(f"a share lies between 0 and 1, not at {share:g}")
    differences, cases = _differences(pairs, scale), cases_of(len(pairs), clusters)
    bias = mean_difference(pairs, clusters=clusters, scale=scale, confidence=confidence, excluded=excluded)
    n, method = len(differences), f"limits of {share:g}, t {confidence:g}"
    if n < 2:
        none = undefined(method, "one item has no limits" if n else bias.reason or "", n=n, excluded=excluded)
        return BlandAltman(bias=bias, lower=none, upper=none, deviation=None)
    mean, z = fsum(differences) / n, NormalDist().inv_cdf(0.5 + share / 2)
    deviation = sqrt(fsum((value - mean) ** 2 for value in differences) / (n - 1))
    size = len(set(cases))
    lower, upper = (
        _limit(
            Estimate(
                estimate=mean + sign * deviation, low=None, high=None, n=n, excluded=excluded,
                method=method + (in_cases(size) if size < n else ""),
            ),
            _error(differences, cases, mean, deviation, sign), size, confidence,
        )
        for sign in (-z, z)
    )  # fmt: skip
    return BlandAltman(bias=bias, lower=lower, upper=upper, deviation=deviation)


def _differences(pairs: Sequence[tuple[float, float]], scale: Scale) -> list[float]:
    bottom, top = scale
    strange = next((score for pair in pairs for score in pair if not bottom <= score <= top), None)
    if strange is not None:
        raise invalid(f"{strange} is not on the scale from {bottom:g} to {top:g}")
    return [first - second for first, second in pairs]


def _error(
    differences: Sequence[float], cases: Sequence[Hashable], mean: float, deviation: float, sign: float
) -> float | None:
    """The standard error of mean + sign × deviation; `None` where the data do not tell."""
    n, groups = len(differences), dict.fromkeys(cases, 0.0)
    size = len(groups)
    if size < 2 or not deviation:
        return None
    for value, case in zip(differences, cases, strict=True):
        groups[case] += value - mean + sign / (2 * deviation) * ((value - mean) ** 2 - deviation**2)
    sandwich = size / (size - 1) * fsum(total**2 for total in groups.values()) / n**2
    return sqrt(max(sandwich, deviation**2 * (1 / n + sign**2 / (2 * (n - 1)))))


def _limit(found: Estimate, error: float | None, size: int, confidence: float) -> Estimate:
    from msgspec.structs import replace

    if error is None or found.estimate is None:
        one = "the items of one case have no interval"
        return replace(found, reason=one if size < 2 else "all differences are equal, which tells of no interval")
    from scipy.special import stdtrit

    half = float(stdtrit(size - 1, 0.5 + confidence / 2)) * error
    return replace(found, low=found.estimate - half, high=found.estimate + half)

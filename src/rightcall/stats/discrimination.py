"""Does a stated confidence tell right answers from wrong ones, whatever its height?

`auroc` says how well they are sorted. The risk-coverage curve says what that is worth: if only the answers stated with
at least some confidence are accepted, how many are they, and how many of them are wrong?
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import exp, log, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

from msgspec import Struct

from rightcall.stats.calibration import Clusters, check_stated
from rightcall.stats.clusters import Counts, clustered_share
from rightcall.stats.intervals import NOTHING, Estimate, in_cases, undefined
from rightcall.stats.reweighted import reweighted_interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]


def auroc(
    stated: Sequence[float], correct: Sequence[bool], *, clusters: Clusters = None, confidence: float = 0.95,
    excluded: int = 0,
) -> Estimate:  # fmt: skip
    """How often a correct answer was stated with more confidence than a wrong one, equal confidences counting half.

    Formula: the Mann-Whitney statistic over (correct, wrong) pairs. Its variance is that of E. R. DeLong, D. M. DeLong
    and D. L. Clarke-Pearson (Biometrics 44, 1988), over clusters as N. A. Obuchowski (Biometrics 53, 1997); the
    interval is Wald's on log-odds, so that it stays within 0 to 1. Undefined where all answers are correct or all are
    wrong. Where the confidences separate them fully the variance is 0, and there is no interval.

    Raises:
        ConfigError: as `brier`.
    """
    check_stated(stated, correct, clusters)
    method = f"mann-whitney, delong {confidence:g} on log-odds"
    n, right = len(stated), sum(map(bool, correct))
    if right in (0, n):
        reason = f"all answers are {'correct' if right else 'wrong'}" if n else NOTHING
        return undefined(method, reason, n=n, excluded=excluded)
    placed = _placements(stated, correct)
    value = sum(part for part, held in zip(placed, correct, strict=True) if held) / right
    cases = range(n) if clusters is None else clusters
    variance = _auroc_variance(placed, correct, cases, value)
    if len(set(cases)) < n:
        method += in_cases(len(set(cases)))
    if variance is None or variance <= 1e-15 or not 0 < value < 1:
        reason = "too few cases with correct or with wrong answers" if variance is None else "no spread is known"
        return Estimate(estimate=value, low=None, high=None, n=n, method=method, excluded=excluded, reason=reason)
    half = NormalDist().inv_cdf(0.5 + confidence / 2) * sqrt(variance) / (value * (1 - value))
    at = log(value / (1 - value))
    low, high = (1 / (1 + exp(-at - side)) for side in (-half, half))
    return Estimate(estimate=value, low=low, high=high, n=n, method=method, excluded=excluded)


def _placements(stated: Sequence[float], correct: Sequence[bool]) -> list[float]:
    """Of a correct answer the share of wrong ones below it, of a wrong one the share of correct ones above it."""
    counts: dict[float, list[int]] = {}
    for said, held in zip(stated, correct, strict=True):
        counts.setdefault(said, [0, 0])[bool(held)] += 1
    wrong, right = (sum(pair[side] for pair in counts.values()) for side in (0, 1))
    below: dict[float, tuple[float, float]] = {}
    wrong_below = right_below = 0
    for said in sorted(counts):
        w, r = counts[said]
        below[said] = ((wrong_below + w / 2) / wrong, (right - right_below - r / 2) / right)
        wrong_below, right_below = wrong_below + w, right_below + r
    return [below[said][0 if held else 1] for said, held in zip(stated, correct, strict=True)]


def _auroc_variance(
    placed: Sequence[float], correct: Sequence[bool], cases: Sequence[Hashable], value: float
) -> float | None:
    """Obuchowski's variance; each answer its own case makes it DeLong's, `None` with one case of a kind."""
    sums: dict[Hashable, list[float]] = {}
    kinds: tuple[set[Hashable], set[Hashable]] = (set(), set())
    totals = [0, 0]
    for part, held, case in zip(placed, correct, cases, strict=True):
        sums.setdefault(case, [0.0, 0.0])[bool(held)] += part - value
        kinds[bool(held)].add(case)
        totals[bool(held)] += 1
    wrong, right = len(kinds[0]), len(kinds[1])
    if wrong < 2 or right < 2:
        return None
    size = len(sums)
    own = right / (right - 1) * sum(pair[1] ** 2 for pair in sums.values()) / totals[1] ** 2
    other = wrong / (wrong - 1) * sum(pair[0] ** 2 for pair in sums.values()) / totals[0] ** 2
    mixed = size / (size - 1) * sum(pair[0] * pair[1] for pair in sums.values()) / (totals[0] * totals[1])
    return own + other + 2 * mixed


class Selective(Struct, frozen=True, kw_only=True):
    """What is accepted at a threshold: the share of answers, and the share of wrong ones among those accepted."""

    threshold: float
    coverage: Estimate
    error: Estimate


def selective(
    stated: Sequence[float],
    correct: Sequence[bool],
    threshold: float,
    *,
    clusters: Clusters = None,
    confidence: float = 0.95,
    excluded: int = 0,
) -> Selective:
    """Coverage and error where answers stated with at least `threshold` are accepted; Wilson's intervals by case.

    The error is undefined where nothing is accepted (R. El-Yaniv and Y. Wiener, JMLR 11, 2010, for both).

    Raises:
        ConfigError: as `auroc`.
    """
    check_stated(stated, correct, clusters)
    cases = range(len(stated)) if clusters is None else clusters
    taken: dict[Hashable, Counts] = {}
    wrong: dict[Hashable, Counts] = {}
    for said, held, case in zip(stated, correct, cases, strict=True):
        accepted, n = taken.get(case, (0, 0))
        taken[case] = (accepted + (said >= threshold), n + 1)
        if said >= threshold:
            errors, n = wrong.get(case, (0, 0))
            wrong[case] = (errors + (not held), n + 1)
    coverage = clustered_share(taken.values(), confidence=confidence, excluded=excluded)
    error = clustered_share(wrong.values(), confidence=confidence, excluded=excluded)
    if error.estimate is None:
        error = undefined(
            error.method, "nothing is accepted at this threshold" if stated else NOTHING, excluded=excluded
        )
    return Selective(threshold=threshold, coverage=coverage, error=error)


class RiskPoint(Struct, frozen=True, kw_only=True, gc=False):
    """A point of the risk-coverage curve: how many answers are accepted from this confidence on, and how many wrong."""

    threshold: float
    accepted: int
    errors: int
    coverage: float
    risk: float


def risk_coverage(stated: Sequence[float], correct: Sequence[bool]) -> tuple[RiskPoint, ...]:
    """The curve, one point for each confidence that was stated, highest first; none without an answer.

    Points of a drawing: `selective` gives the same numbers with their intervals.

    Raises:
        ConfigError: as `auroc`.
    """
    check_stated(stated, correct)
    counts: dict[float, Counts] = {}
    for said, held in zip(stated, correct, strict=True):
        errors, n = counts.get(said, (0, 0))
        counts[said] = (errors + (not held), n + 1)
    points, accepted, wrong = [], 0, 0
    for said in sorted(counts, reverse=True):
        wrong, accepted = wrong + counts[said][0], accepted + counts[said][1]
        points.append(
            RiskPoint(threshold=said, accepted=accepted, errors=wrong, coverage=accepted / len(stated),
                      risk=wrong / accepted)
        )  # fmt: skip
    return tuple(points)


def aurc(
    stated: Sequence[float],
    correct: Sequence[bool],
    *,
    clusters: Clusters = None,
    resamples: int = 2000,
    seed: int = 0,
    confidence: float = 0.95,
    excluded: int = 0,
) -> Estimate:
    """Area under the risk-coverage curve: the mean risk over accepting the surest answer, the two surest, and so on.

    Formula: Σ_k (errors among the k surest / k) / n (Y. Geifman, G. Uziel and R. El-Yaniv, ICLR 2019); 0 is best. Among
    equal confidences the wrong answers come first, so that the sequence of the answers does not matter and the figure
    errs on the bad side. The interval is the percentile one of a bootstrap over cases. Where all answers are correct,
    or all wrong, every resample gives the same, and there is no interval. Undefined without an answer.

    Raises:
        ConfigError: as `auroc`, or for no draws.
    """
    check_stated(stated, correct, clusters)
    if not stated:
        return undefined("aurc", NOTHING, excluded=excluded)
    import numpy as np

    order = sorted(range(len(stated)), key=lambda place: (-stated[place], bool(correct[place])))
    wrong = np.array([not correct[place] for place in order], dtype=float)
    cases = [place if clusters is None else clusters[place] for place in order]

    def figure(weights: Numbers) -> float:
        drawn = np.repeat(wrong, weights.astype(int))
        return float(np.mean(np.cumsum(drawn) / np.arange(1, len(drawn) + 1)))

    value = figure(np.ones(len(order)))
    if len(set(map(bool, correct))) < 2 or len(set(cases)) < 2:
        reason = (
            "one case has no interval" if len(set(cases)) < 2 else "all answers are alike, so that no spread is known"
        )
        return Estimate(estimate=value, low=None, high=None, n=len(stated), method="aurc", excluded=excluded,
                        reason=reason)  # fmt: skip
    found = reweighted_interval(cases, figure, resamples=resamples, seed=seed, confidence=confidence)
    return Estimate(
        estimate=value, low=found.low, high=found.high, n=len(stated), method=f"aurc, {found.method}",
        excluded=excluded, reason=found.reason,
    )  # fmt: skip

"""Does a stated confidence mean what it says: of the answers given with 0.8, are 8 in 10 right?

`stated` is what a judge said of its own answers, from 0 to 1; `correct` whether people agreed with each. Where one case
gives several answers its name stands in `clusters`, and the intervals are those of clustered observations.

A stated confidence is not a probability until it was compared with answers of people. With few of them even a judge
that is calibrated perfectly shows gaps: read the expected calibration error beside its null, never alone.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from decimal import Decimal
from fractions import Fraction
from math import ceil, exp, isfinite, log
from statistics import NormalDist
from typing import Literal

from msgspec import Struct

from rightcall.stats.clusters import Counts, clustered_share
from rightcall.stats.intervals import NOTHING, Estimate, invalid, undefined
from rightcall.stats.logistic import chance, cluster_scores, fit_logistic, information, inverted, score
from rightcall.stats.ordinal import mean_score

Binning = Literal["equal-mass", "equal-width"]
Clusters = Sequence[Hashable] | None

BIASED = "an average of absolute gaps is above 0 by chance alone: compare it with its null, an interval would mislead"


def brier(
    stated: Sequence[float], correct: Sequence[bool], *, clusters: Clusters = None, confidence: float = 0.95,
    excluded: int = 0,
) -> Estimate:  # fmt: skip
    """Mean squared distance of stated confidence and outcome, from 0 (best) to 1, with the interval of `mean_score`.

    Formula: Σ (stated - correct)² / n (G. W. Brier, Monthly Weather Review 78, 1950). Who always says the true share
    p of correct answers gets p(1-p). Undefined without an answer.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a confidence outside 0 to 1, or sequences that do not belong together.
    """
    check_stated(stated, correct, clusters)
    squares = [(said - held) ** 2 for said, held in zip(stated, correct, strict=True)]
    return mean_score(squares, clusters, scale=(0, 1), excluded=excluded, confidence=confidence)


def overconfidence(
    stated: Sequence[float], correct: Sequence[bool], *, clusters: Clusters = None, confidence: float = 0.95,
    excluded: int = 0,
) -> Estimate:  # fmt: skip
    """Mean of stated confidence minus outcome, as `mean_score`: above 0 the judge is too sure of itself.

    Raises:
        ConfigError: as `brier`.
    """
    check_stated(stated, correct, clusters)
    gaps = [said - held for said, held in zip(stated, correct, strict=True)]
    return mean_score(gaps, clusters, scale=(-1, 1), excluded=excluded, confidence=confidence)


def check_stated(stated: Sequence[float], correct: Sequence[bool], clusters: Clusters = None) -> None:
    """Refuse confidences that are none, and sequences that do not belong together (`STAT_VALUE_INVALID`)."""
    for what, given in (("outcomes", correct), ("clusters", clusters)):
        if given is not None and len(given) != len(stated):
            raise invalid(f"{len(given)} {what} do not belong to {len(stated)} confidences")
    strange = next((said for said in stated if not (isfinite(said) and 0 <= said <= 1)), None)
    if strange is not None:
        raise invalid(f"{strange} is not a confidence", "a confidence lies from 0 to 1")


class Bin(Struct, frozen=True, kw_only=True):
    """One bar of a reliability diagram.

    low, high: the smallest and largest confidence stated in it. stated: their mean. share: of correct answers, with
    Wilson's interval. A calibrated judge has `stated` inside the interval of most bars.
    """

    low: float
    high: float
    stated: float
    share: Estimate


def reliability(
    stated: Sequence[float],
    correct: Sequence[bool],
    *,
    bins: int = 10,
    binning: Binning = "equal-mass",
    clusters: Clusters = None,
    confidence: float = 0.95,
) -> tuple[Bin, ...]:
    """The bars of a reliability diagram, lowest confidence first; empty bins are left out.

    `equal-mass` bins hold about n/bins answers each; answers with the same confidence are never parted, so that there
    are fewer bins where few different confidences were stated. `equal-width` bins are (i/bins, (i+1)/bins], the first
    with its lower edge; confidences count as they are written, so that 0.7 of 10 bins is in the seventh.

    Raises:
        ConfigError: as `brier`, or for fewer than one bin.
    """
    check_stated(stated, correct, clusters)
    cases = range(len(stated)) if clusters is None else clusters
    found: list[Bin] = []
    for places in _binned(stated, bins, binning):
        said = [stated[place] for place in places]
        counts: dict[Hashable, Counts] = {}
        for place in places:
            held, n = counts.get(cases[place], (0, 0))
            counts[cases[place]] = (held + correct[place], n + 1)
        share = clustered_share(counts.values(), confidence=confidence)
        found.append(Bin(low=min(said), high=max(said), stated=sum(said) / len(said), share=share))
    return tuple(found)


def _binned(stated: Sequence[float], bins: int, binning: Binning) -> list[list[int]]:
    """The places in each bin that has any."""
    if bins < 1:
        raise invalid(f"a diagram cannot have {bins} bins")
    groups: dict[float, list[int]] = {}
    for place in sorted(range(len(stated)), key=stated.__getitem__):
        groups.setdefault(stated[place], []).append(place)
    found: dict[int, list[int]] = {}
    before, n = 0, len(stated)
    for said, places in groups.items():
        if binning == "equal-mass":
            # Where the middle of the equal confidences falls decides for all of them.
            number = bins * (2 * before + len(places) - 1) // (2 * n)
        else:
            number = max(0, ceil(Fraction(Decimal(repr(float(said)))) * bins) - 1)
        found.setdefault(number, []).extend(places)
        before += len(places)
    return list(found.values())


class CalibrationError(Struct, frozen=True, kw_only=True):
    """The expected calibration error and what it would be if there were none.

    Attributes:
        estimate: the error; never with an interval, see its reason.
        bins: the bars that it averages.
        binning: how they were made, in words.
        null_mean, null_high: mean and 95th percentile of the error of a perfectly calibrated judge that states the same
            confidences on as many answers.
        p_value: how often such a judge shows an error at least as large, (1 + count) / (1 + simulations).
    """

    estimate: Estimate
    bins: tuple[Bin, ...]
    binning: str
    null_mean: float | None
    null_high: float | None
    p_value: float | None


def expected_calibration_error(
    stated: Sequence[float],
    correct: Sequence[bool],
    *,
    bins: int = 10,
    binning: Binning = "equal-mass",
    clusters: Clusters = None,
    simulations: int = 2000,
    seed: int = 0,
    excluded: int = 0,
) -> CalibrationError:
    """Mean gap of stated confidence and share of correct answers over bins, with its null.

    Formula: Σ n_b/n |share_b - mean stated_b| (M. P. Naeini, G. F. Cooper and M. Hauskrecht, AAAI 2015). It depends on
    the binning and is above 0 by chance. The null draws outcomes that are correct with the probability that was stated
    (J. Bröcker and L. A. Smith, Weather and Forecasting 22, 2007), from a generator with an explicit seed. With
    clusters the outcomes of one case are drawn as dependent as they can be, by one number for all of them, which errs
    on the wide side. Undefined without an answer.

    Raises:
        ConfigError: as `reliability`, or for fewer than one simulation.
    """
    bars = reliability(stated, correct, bins=bins, binning=binning, clusters=clusters)
    words = f"{len(bars)} of {bins} {binning} bins" + (", right-closed" if binning == "equal-width" else "")
    method = f"ece, {words}"
    if simulations < 1:
        raise invalid("a null needs at least one simulation")
    if not bars:
        none = undefined(method, NOTHING, excluded=excluded)
        return CalibrationError(
            estimate=none, bins=(), binning=words, null_mean=None, null_high=None, p_value=None
        )  # fmt: skip
    n = len(stated)
    value = sum(bar.share.n * abs((bar.share.estimate or 0.0) - bar.stated) for bar in bars) / n
    null = _null(stated, _binned(stated, bins, binning), clusters, simulations, seed)
    beyond = sum(drawn >= value - 1e-12 for drawn in null)
    return CalibrationError(
        estimate=Estimate(
            estimate=value, low=None, high=None, n=n, excluded=excluded, reason=BIASED,
            method=f"{method}; null of {simulations} draws, seed {seed}",
        ),
        bins=bars,
        binning=words,
        null_mean=sum(null) / simulations,
        null_high=null[min(simulations - 1, ceil(0.95 * simulations) - 1)],
        p_value=(1 + beyond) / (1 + simulations),
    )  # fmt: skip


def _null(
    stated: Sequence[float], binned: Sequence[Sequence[int]], clusters: Clusters, simulations: int, seed: int
) -> list[float]:
    """The errors of a calibrated judge, sorted."""
    import numpy as np

    cases: Sequence[Hashable] = range(len(stated)) if clusters is None else clusters
    number = {case: index for index, case in enumerate(dict.fromkeys(cases))}
    case = np.array([number[name] for name in cases])
    said = np.array(stated, dtype=float)
    bar = np.empty(len(stated), dtype=int)
    for index, places in enumerate(binned):
        bar[list(places)] = index
    dice, found = np.random.default_rng(seed), []
    for _ in range(simulations):
        gaps = (dice.random(len(number))[case] < said) - said
        found.append(float(np.abs(np.bincount(bar, weights=gaps, minlength=len(binned))).sum()) / len(stated))
    return sorted(found)


def log_odds(stated: float, edge: float | None = None) -> float | None:
    """log(p / (1 - p)); `None` for 0 and 1, which have none.

    With an `edge`, what lies nearer to 0 or 1 than that is taken for edge or 1 - edge. Whoever gives one says that
    confidences were not stated more finely; 0.005 suits those with two digits.
    """
    if edge is not None:
        stated = min(max(stated, edge), 1 - edge)
    return log(stated / (1 - stated)) if 0 < stated < 1 else None


def all_log_odds(stated: Sequence[float], edge: float | None = None) -> list[float] | str:
    """The log-odds of every confidence, or why not all have one.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for an edge that is not between 0 and 1/2.
    """
    if edge is not None and not 0 < edge < 0.5:
        raise invalid(f"an edge lies between 0 and 1/2, not at {edge:g}")
    found = [log_odds(said, edge) for said in stated]
    known = [value for value in found if value is not None]
    lost = len(found) - len(known)
    return f"{lost} of {len(found)} confidences are 0 or 1 and have no log-odds" if lost else known


class CalibrationLine(Struct, frozen=True, kw_only=True):
    """The line through log-odds: of being correct against stated. A calibrated judge has slope 1 and intercept 0.

    slope below 1: confidences are too extreme. intercept below 0, at slope 1: they are too high. p_value: of the test
    that both are as they should be. reason: why there is no test.
    """

    slope: Estimate
    intercept: Estimate
    p_value: float | None
    reason: str | None


def calibration_line(
    stated: Sequence[float],
    correct: Sequence[bool],
    *,
    clusters: Clusters = None,
    edge: float | None = None,
    confidence: float = 0.95,
    excluded: int = 0,
) -> CalibrationLine:
    """Slope and intercept of calibration, and a test of slope 1 with intercept 0.

    Logistic regression of `correct` on the log-odds of `stated` (D. R. Cox, Biometrika 45, 1958), by unpenalised
    maximum likelihood, with Wald's intervals; with clusters from the sandwich over cases. The test is the score test of
    both at once, χ² with 2 degrees of freedom; it needs no maximum, so it also speaks where slope and intercept are
    undefined because the confidences separate right from wrong. Confidences of 0 and 1 have no log-odds: without an
    `edge` (see `log_odds`) nothing is computed from them.

    Raises:
        ConfigError: as `brier`, or for an edge that is not between 0 and 1/2.
    """
    check_stated(stated, correct, clusters)
    method = f"logistic on log-odds, wald {confidence:g}" + (f", edge {edge:g}" if edge is not None else "")
    x = all_log_odds(stated, edge)
    if isinstance(x, str) or not x:
        none = undefined(method, x if isinstance(x, str) else NOTHING, n=len(stated), excluded=excluded)
        return CalibrationLine(slope=none, intercept=none, p_value=None, reason=none.reason)
    p_value = _score_test(x, correct, clusters)
    reason = None if p_value is not None else "the confidences do not vary enough for a test"
    fit = fit_logistic(x, correct, clusters)
    if isinstance(fit, str):
        none = undefined(method, fit, n=len(stated), excluded=excluded)
        return CalibrationLine(slope=none, intercept=none, p_value=p_value, reason=reason)
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    intercept, slope = (
        Estimate(estimate=at, low=at - z * error, high=at + z * error, n=len(stated), method=method, excluded=excluded)
        for at, error in zip((fit.intercept, fit.slope), fit.errors, strict=True)
    )
    return CalibrationLine(slope=slope, intercept=intercept, p_value=p_value, reason=reason)


def _score_test(x: Sequence[float], correct: Sequence[bool], clusters: Clusters) -> float | None:
    """The p of slope 1 and intercept 0; of a χ² with 2 degrees of freedom, P(> s) = exp(-s/2)."""
    expected = [chance(value) for value in x]
    spread = information(x, expected)
    if clusters is not None and len(set(clusters)) < len(x):
        scores = cluster_scores(x, correct, expected, clusters)
        spread = (sum(u * u for u, _ in scores), sum(u * v for u, v in scores), sum(v * v for _, v in scores))
    inverse = inverted(spread)
    if inverse is None:
        return None
    u, v = score(x, correct, expected)
    p, q, r = inverse
    return exp(-max(0.0, p * u * u + 2 * q * u * v + r * v * v) / 2)

"""Is the new agent worse than the old one? Differences of shares and scores, on the same cases or on others.

On the same cases only those count that changed: what both pass or both fail says nothing about which is better. A
difference is always new minus old, so above 0 the new one is better.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from math import erfc, isfinite, sqrt
from statistics import NormalDist
from typing import Literal

import msgspec
from msgspec import Struct

from rightcall.stats.bootstrap import bootstrap_method, percentiles, resampled
from rightcall.stats.intervals import Estimate, invalid, undefined, wilson
from rightcall.stats.ordinal import Scale, mean_score
from rightcall.stats.resampling import Clusters, by_case, cases_of
from rightcall.stats.sign_test import check_counts, sign_test

Answer = Literal["PASS", "FAIL", "INCONCLUSIVE"]

MARGIN = 0.02
"""By how much a new agent may be worse before that counts, if nothing else is said."""


# ---- different cases ----


def newcombe(new: tuple[int, int], old: tuple[int, int], *, excluded: int = 0, confidence: float = 0.95) -> Estimate:
    """Difference of two shares of different cases, with Newcombe's hybrid of two Wilson intervals.

    Formula: d - √((p - l)² + (v - q)²) and d + √((u - p)² + (q - m)²), with p of the new in [l, u], q of the old in
    [m, v] (R. G. Newcombe, Statistics in Medicine 17, 1998, p. 873, method 10). `n` counts the cases of both. The
    difference is undefined where one of the two has no case.

    Args:
        new: successes and cases of the new agent.
        old: those of the old one.
        excluded: how many cases of either were left out.
        confidence: of the interval.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for counts that cannot be.
    """
    for successes, n in (new, old):
        if not 0 <= successes <= n:
            raise invalid(f"{successes} of {n} is not a share")
    p, q = wilson(*new, confidence=confidence), wilson(*old, confidence=confidence)
    method, n = f"newcombe {confidence:g}", new[1] + old[1]
    if p.estimate is None or p.low is None or p.high is None:
        return undefined(method, "the new one has no case", n=n, excluded=excluded)
    if q.estimate is None or q.low is None or q.high is None:
        return undefined(method, "the old one has no case", n=n, excluded=excluded)
    difference = p.estimate - q.estimate
    low = difference - sqrt((p.estimate - p.low) ** 2 + (q.high - q.estimate) ** 2)
    high = difference + sqrt((p.high - p.estimate) ** 2 + (q.estimate - q.low) ** 2)
    return Estimate(estimate=difference, low=low, high=high, n=n, method=method, excluded=excluded)


# ---- the same cases ----


def mcnemar(gained: int, lost: int) -> float | None:
    """McNemar's exact two-sided p: the sign test of cases gained against cases lost; `None` where none changed.

    Formula: Q. McNemar, Psychometrika 12, 1947; exact as `sign_test`.

    Args:
        gained: cases that only the new one passes.
        lost: cases that only the old one passes.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a negative count.
    """
    check_counts(gained=gained, lost=lost)
    return sign_test(gained, lost)


def mcnemar_score(gained: int, lost: int) -> tuple[float, float] | None:
    """McNemar's chi-squared (b-c)²/(b+c) without a correction, and its p; `None` where no case changed.

    For many changed cases; the exact p is `mcnemar`.
    """
    check_counts(gained=gained, lost=lost)
    if not gained + lost:
        return None
    statistic = (gained - lost) ** 2 / (gained + lost)
    return statistic, erfc(sqrt(statistic / 2))


def paired_standard_error(gained: int, lost: int, n: int) -> float | None:
    """The standard error of the difference of two shares of the same n cases, √(b + c - (b-c)²/n) / n; for planning.

    `None` without a case.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for counts that cannot be.
    """
    _check_table(gained, lost, n)
    return sqrt(gained + lost - (gained - lost) ** 2 / n) / n if n else None


def tango(gained: int, lost: int, n: int, *, excluded: int = 0, confidence: float = 0.95) -> Estimate:
    """Difference (gained - lost) / n of two shares of the same cases, with Tango's score interval.

    Formula: the differences D at which |b - c - n D| = z √(n (2 q + D (1 - D))), with b gained, c lost, and q the
    likeliest probability of a loss given D: q = (√(B² - 8n C) - B) / 4n, B = -b - c + (2n - b + c) D,
    C = -c D (1 - D) (T. Tango, Statistics in Medicine 17, 1998). It is defined where no case changed, too. The two
    bounds are found by halving.

    Args:
        gained: cases that only the new one passes.
        lost: cases that only the old one passes.
        n: all cases that both were tried on.
        excluded: how many cases were left out, such as those that one of the two lacks.
        confidence: of the interval.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for counts that cannot be.
    """
    _check_table(gained, lost, n)
    method = f"tango {confidence:g}"
    if not n:
        return undefined(method, "the two have no case in common", excluded=excluded)
    low, high = tango_bounds(gained, lost, n, confidence)
    difference = (gained - lost) / n
    return Estimate(estimate=difference, low=low, high=high, n=n, method=method, excluded=excluded)


def tango_bounds(gained: float, lost: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """The bounds of `tango`; the numbers need not be whole, as where cases are worth more or less than one."""
    z, difference = NormalDist().inv_cdf(0.5 + confidence / 2), (gained - lost) / n

    def beyond(bound: float) -> bool:
        """Is the difference seen too far from this one?"""
        tilt = -gained - lost + (2 * n - gained + lost) * bound
        root = sqrt(max(0.0, tilt**2 + 8 * n * lost * bound * (1 - bound)))
        variance = n * (2 * (root - tilt) / (4 * n) + bound * (1 - bound))
        return abs(gained - lost - n * bound) > z * sqrt(max(0.0, variance))

    return _edge(difference, -1.0, beyond), _edge(difference, 1.0, beyond)


def _edge(inside: float, outside: float, beyond: Callable[[float], bool]) -> float:
    """Where `beyond` begins between a number inside and one outside."""
    if not beyond(outside):
        return outside
    for _ in range(100):
        middle = (inside + outside) / 2
        inside, outside = (inside, middle) if beyond(middle) else (middle, outside)
    return (inside + outside) / 2


def _check_table(gained: int, lost: int, n: int) -> None:
    check_counts(gained=gained, lost=lost, n=n)
    if gained + lost > n:
        raise invalid(f"{gained} gained and {lost} lost are more than {n} cases")


class Flips(Struct, frozen=True, kw_only=True):
    """Two runs over cases, case by case.

    Attributes:
        lost: cases that passed and fail now.
        gained: cases that failed and pass now.
        passed, failed: how many pass or fail in both.
        only_new, only_old: cases that one of the two lacks, or has no verdict for.
        difference: of the shares passed, new minus old, on the cases of both (`tango`).
        p_value: `mcnemar`; `None` where nothing changed.
    """

    lost: tuple[str, ...]
    gained: tuple[str, ...]
    passed: int
    failed: int
    only_new: tuple[str, ...]
    only_old: tuple[str, ...]
    difference: Estimate
    p_value: float | None


def flips(new: Mapping[str, bool | None], old: Mapping[str, bool | None], *, confidence: float = 0.95) -> Flips:
    """What changed between two runs, joined by the name of the case; names are sorted.

    Args:
        new: whether each case passed in the new run; `None`: there is no verdict, and the case is not compared.
        old: the same of the old run.
        confidence: of the difference.
    """
    told_new = {case: passed for case, passed in new.items() if passed is not None}
    told_old = {case: passed for case, passed in old.items() if passed is not None}
    both = sorted(told_new.keys() & told_old.keys())
    lost = tuple(case for case in both if told_old[case] and not told_new[case])
    gained = tuple(case for case in both if told_new[case] and not told_old[case])
    without = len((new.keys() | old.keys()) - set(both))
    return Flips(
        lost=lost,
        gained=gained,
        passed=sum(told_new[case] and told_old[case] for case in both),
        failed=sum(not (told_new[case] or told_old[case]) for case in both),
        only_new=tuple(sorted(told_new.keys() - told_old.keys())),
        only_old=tuple(sorted(told_old.keys() - told_new.keys())),
        difference=tango(len(gained), len(lost), len(both), excluded=without, confidence=confidence),
        p_value=mcnemar(len(gained), len(lost)),
    )


def paired_scores(
    pairs: Sequence[tuple[float, float]],
    *,
    clusters: Clusters = None,
    scale: Scale = (0, 1),
    resamples: int = 2000,
    seed: int = 0,
    confidence: float = 0.95,
    excluded: int = 0,
) -> Estimate:
    """Mean difference of two scores of the same items, with the percentile interval of a paired cluster bootstrap.

    Cases are drawn with both of their scores, so what makes a case hard is in both and cancels out. Where all
    differences are equal every resample would give the same number; the interval is then that of `mean_score`.

    Args:
        pairs: the new and the old score of each item; the scores of a case that was tried several times may be means.
        clusters: the case of each item.
        scale: bottom and top of the scores.
        resamples: draws of the bootstrap.
        seed: where its generator starts.
        confidence: of the interval.
        excluded: how many items lack a score of either.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a score outside the scale.
    """
    bottom, top = scale
    strange = next((score for pair in pairs for score in pair if not bottom <= score <= top), None)
    if strange is not None:
        raise invalid(f"{strange} is not on the scale from {bottom:g} to {top:g}")
    cases, differences = cases_of(len(pairs), clusters), [new - old for new, old in pairs]
    width = top - bottom
    plain = mean_score(differences, clusters, scale=(-width, width), excluded=excluded, confidence=confidence)
    if plain.low is None or min(differences) == max(differences):
        return plain
    rows = by_case([(difference, 1.0) for difference in differences], cases)
    means = resampled(rows, lambda sums: sums[:, 0] / sums[:, 1], resamples=resamples, seed=seed)
    low, high = percentiles(means, confidence)
    return msgspec.structs.replace(
        plain, low=low, high=high, method=f"paired {bootstrap_method(confidence, len(rows), resamples, seed)}"
    )


# ---- the answer ----


class NonInferiority(Struct, frozen=True, kw_only=True):
    """Whether the new one is worse than the old by more than a margin.

    Attributes:
        answer: `PASS` where the interval of the difference lies wholly above -margin, `FAIL` where it lies wholly
            below, else `INCONCLUSIVE`.
        difference: new minus old.
        margin: what it was held against.
        reason: why it is inconclusive.
    """

    answer: Answer
    difference: Estimate
    margin: float
    reason: str | None = None


def non_inferior(difference: Estimate, margin: float = MARGIN) -> NonInferiority:
    """Is the difference (new minus old) shown to be above -margin, shown to be below it, or neither?

    A bound exactly at -margin shows nothing. Nothing is rounded.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a margin below 0.
    """
    if not (isfinite(margin) and margin >= 0):
        raise invalid(f"a margin is 0 or more, not {margin:g}")
    low, high = difference.low, difference.high
    answer: Answer = "INCONCLUSIVE"
    reason = None
    if low is None or high is None:
        reason = difference.reason or "the difference has no interval"
    elif low > -margin:
        answer = "PASS"
    elif high < -margin:
        answer = "FAIL"
    else:
        reason = f"the interval {low:.4g} – {high:.4g} holds -{margin:g}"
    return NonInferiority(answer=answer, difference=difference, margin=margin, reason=reason)


def outcome_pairs(
    new: Mapping[Hashable, Sequence[bool]], old: Mapping[Hashable, Sequence[bool]]
) -> list[tuple[float, float]]:
    """The shares of a case's trials that passed, new and old, of each case that both tried; for `paired_scores`."""
    return [
        (sum(trials) / len(trials), sum(old[case]) / len(old[case]))
        for case, trials in new.items()
        if trials and old.get(case)
    ]

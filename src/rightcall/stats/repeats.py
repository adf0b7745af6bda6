"""The same case tried several times: does it always pass, does it ever, and does it say the same twice?

The case is the unit: trials of one case are not independent, and more trials of the same cases say more about these
cases, not about others. Every figure is a mean over cases, and its interval rests on how the cases differ.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from math import comb, fsum
from statistics import NormalDist

from msgspec import Struct

from rightcall.stats.clusters import Counts
from rightcall.stats.intervals import Estimate, invalid, undefined, wilson_bounds


def pass_hat_k(cases: Sequence[Counts], k: int, *, excluded: int = 0, confidence: float = 0.95) -> Estimate:
    """pass^k: how often k trials of a case, drawn from those made, all pass; mean over cases.

    Formula: the mean of C(c, k) / C(n, k), with c of a case's n trials passed (S. Yao and others, τ-bench, 2024). It
    falls with k. Cases with fewer than k trials are counted in `excluded`; the figure is undefined where none is left.

    Args:
        cases: successes and trials of each case.
        k: how many trials must all pass.
        excluded: how many cases have no trial besides.
        confidence: of the interval (see `case_mean`).

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for k below 1, or counts that cannot be.
    """
    return _of_k(cases, k, lambda c, n: comb(c, k) / comb(n, k), excluded, confidence)


def pass_at_k(cases: Sequence[Counts], k: int, *, excluded: int = 0, confidence: float = 0.95) -> Estimate:
    """pass@k: how often at least one of k trials of a case passes; mean over cases.

    Formula: the mean of 1 - C(n-c, k) / C(n, k) (M. Chen and others, Evaluating large language models trained on code,
    2021). It grows with k. Otherwise as `pass_hat_k`.
    """
    return _of_k(cases, k, lambda c, n: 1 - comb(n - c, k) / comb(n, k), excluded, confidence)


def _of_k(
    cases: Sequence[Counts], k: int, value: Callable[[int, int], float], excluded: int, confidence: float
) -> Estimate:
    if k < 1:
        raise invalid(f"k is a number of trials, not {k}")
    strange = next((counts for counts in cases if not 0 <= counts[0] <= counts[1]), None)
    if strange is not None:
        raise invalid(f"{strange[0]} of {strange[1]} trials cannot pass")
    values = [value(c, n) for c, n in cases if n >= k]
    excluded += len(cases) - len(values)
    if cases and not values:
        trials = "a trial" if k == 1 else f"{k} trials"
        return undefined(f"wilson {confidence:g}", f"no case has {trials}", excluded=excluded)
    return case_mean(values, excluded=excluded, confidence=confidence)


def flip_rate(answers: Sequence[Sequence[Hashable | None]], *, excluded: int = 0, confidence: float = 0.95) -> Estimate:
    """How often two trials of one case (or two answers of a judge to one question) differ; mean over cases.

    Formula: the mean of Σ r_k (n - r_k) / (n (n-1)), with r_k of a case's n answers being k. A trial without an answer
    is `None` and left out; cases with fewer than two answers are counted in `excluded`.
    """
    given = [[answer for answer in case if answer is not None] for case in answers]
    values = [_flips(case) for case in given if len(case) > 1]
    excluded += len(answers) - len(values)
    if answers and not values:
        return undefined(f"wilson {confidence:g}", "no case was tried twice", excluded=excluded)
    return case_mean(values, excluded=excluded, confidence=confidence)


def _flips(case: Sequence[Hashable]) -> float:
    n = len(case)
    return sum(k * (n - k) for k in Counter(case).values()) / (n * (n - 1))


class Unstable(Struct, frozen=True, kw_only=True):
    """A case whose trials differ.

    Attributes:
        case: its name.
        counts: how often each answer was given, the most frequent first.
        flips: how often two of its trials differ.
    """

    case: str
    counts: tuple[tuple[Hashable, int], ...]
    flips: float


def unstable(answers: Mapping[str, Sequence[Hashable | None]]) -> list[Unstable]:
    """The cases whose trials differ, those that differ most first, then by name."""
    found = []
    for case, said in answers.items():
        given = [answer for answer in said if answer is not None]
        if len(set(given)) > 1:
            counts = sorted(Counter(given).items(), key=lambda item: (-item[1], str(item[0])))
            found.append(Unstable(case=case, counts=tuple(counts), flips=_flips(given)))
    return sorted(found, key=lambda one: (-one.flips, one.case))


def majority(answers: Sequence[Hashable | None]) -> Hashable | None:
    """What more answers say than anything else; `None` without an answer, or where two answers are said most often."""
    counts = Counter(answer for answer in answers if answer is not None).most_common(2)
    if not counts or (len(counts) == 2 and counts[0][1] == counts[1][1]):
        return None
    return counts[0][0]


def case_mean(values: Sequence[float], *, excluded: int = 0, confidence: float = 0.95) -> Estimate:
    """Mean over cases of a share that each of them has, with Wilson's interval on the cases' effective number.

    * The spread of the cases, s²/C over C cases, is compared with that of cases that pass or fail as a whole,
      p (1-p)/C. Their ratio, at most 1, is the design effect; C divided by it, times (z/t)² for the C-1 degrees of
      freedom of s², is the effective number (E. L. Korn and B. I. Graubard, Survey Methodology 24, 1998), which
      Wilson's formula takes. It is never below C.
    * Where few cases are above 0, or few below 1, s² knows next to nothing: the ratio is averaged with 1, weighing as
      much as there are such cases against one (our own addition, on the wide side).

    With shares of 0 and 1 only it is Wilson's interval. `n` counts the cases.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a value that is no share.
    """
    strange = next((value for value in values if not 0 <= value <= 1), None)
    if strange is not None:
        raise invalid(f"{strange} is not a share")
    method, n = f"wilson {confidence:g}", len(values)
    if not n:
        return undefined(method, excluded=excluded)
    mean = fsum(values) / n
    whole = all(value in {0, 1} for value in values)
    effective = float(n) if whole else _effective(values, mean, confidence)
    low, high = wilson_bounds(mean, effective, confidence)
    if not whole:
        method += f", {n} cases"
    return Estimate(
        estimate=mean, low=max(0.0, low), high=min(1.0, high), n=n, method=method, excluded=excluded
    )  # fmt: skip


def _effective(values: Sequence[float], mean: float, confidence: float) -> float:
    n = len(values)
    if n < 2:
        return 1.0
    from scipy.special import stdtrit

    spread = fsum((value - mean) ** 2 for value in values) / (n - 1)
    seen = min(sum(value > 0 for value in values), sum(value < 1 for value in values))
    effect = min(1.0, (seen * spread / (mean * (1 - mean)) + 1) / (seen + 1))
    quantile = 0.5 + confidence / 2
    worth = n / effect * (NormalDist().inv_cdf(quantile) / float(stdtrit(n - 1, quantile))) ** 2
    return max(float(n), worth)

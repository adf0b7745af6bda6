"""Labels that were not drawn with equal chances: the mean that they stand for, and how to spend the next ones.

Answers of people to what waited for review are not a random sample, since the doubtful cases come first. If it was
written down with what probability each case came to a person, weights put that right. A case that could never come to
a person is not represented by any weight.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from heapq import heapify, heapreplace
from math import isfinite, sqrt
from statistics import NormalDist
from typing import Literal

from msgspec import Struct

from rightcall.stats.intervals import NOTHING, Estimate, in_cases, invalid, undefined, wilson_bounds

Target = Literal["population", "items"]

LEAST = 30
"""How many labels a stratum gets at least: its spread is not known from fewer."""


class Weighted(Struct, frozen=True, kw_only=True):
    """A weighted mean. effective: as how many equally weighted labels it counts. standard_error: `None` if unknown."""

    estimate: Estimate
    effective: float | None
    standard_error: float | None


def weighted_mean(
    values: Sequence[float],
    probabilities: Sequence[float],
    *,
    clusters: Sequence[Hashable] | None = None,
    target: Target = "population",
    scale: tuple[float, float] | None = None,
    confidence: float = 0.95,
    excluded: int = 0,
) -> Weighted:
    """Mean over all items, from the labels of those that were drawn with known probabilities.

    * Estimate: Σ y/π / Σ 1/π (J. Hájek, 1971): each label stands for 1/π items.
    * Variance: the linearised one, C/(C-1) Σ (Σ (y - mean)/π)² / (Σ 1/π)² over C clusters, which holds for items that
      are themselves a sample (`population`). For these items and no others (`items`) each term, drawn for itself,
      counts 1-π; items that were all drawn leave nothing to estimate.
    * Interval: Student's, with C-1 degrees of freedom, or (Σ 1/π)² / Σ 1/π² - 1 if that is fewer (L. Kish's effective
      number, less one), cut to the `scale`. Of labels 0 and 1 on that scale it is Wilson's instead, on the effective
      number mean (1 - mean) / variance, no more than there are labels (for `items`, than their independent draw is
      worth), times (z/t)² for the same degrees of freedom, as in `rightcall.stats.clusters`.

    Equal labels have no spread. With a `scale` the interval is then mean ± u (distance to the ends), u = 1 - e^(1/m)
    with m the smaller of C and Kish's number and e = (1 - confidence)/2; without one there is none. Nor is
    there one where labels differ and yet each case, or each item that was drawn by chance, comes to the mean.

    Args:
        values: the labels, 0 and 1 for a share.
        probabilities: with which each of these items came to be labelled.
        clusters: the case of each.
        target: what the mean is about.
        scale: bottom and top of the values.
        confidence: of the interval.
        excluded: how many drawn items have no label.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for sequences that do not belong together, a value that is no number or not on
            the scale, or a probability not above 0 and up to 1.
    """
    _check(values, probabilities, clusters, scale)
    n, is_share = len(values), scale == (0, 1) and set(values) <= {0, 1}
    method = f"hajek, {'wilson' if is_share else 't'} {confidence:g}"
    method += "" if target == "population" else ", these items only"
    if not n:
        return Weighted(estimate=undefined(method, NOTHING, excluded=excluded), effective=None, standard_error=None)
    weights = [1 / probability for probability in probabilities]
    total = sum(weights)
    mean = sum(weight * value for weight, value in zip(weights, values, strict=True)) / total
    effective = total**2 / sum(weight * weight for weight in weights)
    cases = range(n) if clusters is None else clusters
    size = len(set(cases))
    if size < n:
        method += in_cases(size)
    error, reason = _error(values, probabilities, mean, cases, target), None
    low: float | None = None
    high: float | None = None
    if target == "items" and min(probabilities) == 1:
        error, low, high = 0.0, mean, mean
    elif size < 2:
        error, reason = None, "one label has no interval" if n == 1 else "the labels of one case have no interval"
    elif min(values) == max(values):
        error, reason = None, None if scale else "no label differs; give the scale of the values"
        if scale:
            share = 1 - ((1 - confidence) / 2) ** (1 / min(size, effective))
            low, high = mean - share * (mean - scale[0]), mean + share * (scale[1] - mean)
            method += ", all equal"
    elif error:
        worth = n if target == "population" else n / (1 - n / total)
        low, high = _interval(mean, error, min(size, effective) - 1, confidence, worth if is_share else None)
        bottom, top = scale or (low, high)
        low, high = max(bottom, low), min(top, high)
    else:
        reason = "the labels of every case come to the mean; their spread is not known"
    found = Estimate(estimate=mean, low=low, high=high, n=n, method=method, excluded=excluded, reason=reason)
    return Weighted(estimate=found, effective=effective, standard_error=error)


def _interval(mean: float, error: float, freedom: float, confidence: float, worth: float | None) -> tuple[float, float]:
    """Student's interval, or Wilson's of a share that is worth at most so many observations."""
    from scipy.special import stdtrit

    quantile = 0.5 + confidence / 2
    t = float(stdtrit(max(1.0, freedom), quantile))
    if worth is None:
        return mean - t * error, mean + t * error
    number = min(worth, mean * (1 - mean) / error**2)
    return wilson_bounds(mean, number * (NormalDist().inv_cdf(quantile) / t) ** 2, confidence)


def _check(
    values: Sequence[float],
    probabilities: Sequence[float],
    clusters: Sequence[Hashable] | None,
    scale: tuple[float, float] | None,
) -> None:
    for what, given in (("probabilities", probabilities), ("clusters", clusters)):
        if given is not None and len(given) != len(values):
            raise invalid(f"{len(given)} {what} do not belong to {len(values)} labels")
    bottom, top = scale or (float("-inf"), float("inf"))
    strange = next((value for value in values if not (isfinite(value) and bottom <= value <= top)), None)
    if strange is not None:
        raise invalid(f"{strange} is not a label", None if scale is None else f"labels lie from {bottom:g} to {top:g}")
    wrong = next((p for p in probabilities if not 0 < p <= 1), None)
    if wrong is not None:
        raise invalid(f"no label can be weighted by a probability of {wrong:g}", "above 0 and up to 1")


def _error(
    values: Sequence[float], probabilities: Sequence[float], mean: float, cases: Sequence[Hashable], target: Target
) -> float | None:
    """The standard error; `None` with one cluster."""
    sums: defaultdict[Hashable, float] = defaultdict(float)
    for value, probability, case in zip(values, probabilities, cases, strict=True):
        kept = 1.0 if target == "population" else sqrt(1 - probability)
        sums[case] += kept * (value - mean) / probability
    size, total = len(sums), sum(1 / probability for probability in probabilities)
    return sqrt(size / (size - 1) * sum(part**2 for part in sums.values())) / total if size > 1 else None


class StratumPlan(Struct, frozen=True, kw_only=True):
    """A stratum for which labels are planned: how many items it has, and how far their labels are thought to spread.

    spread: the standard deviation of labels within it, √(p(1-p)) for a share p.
    """

    items: int
    spread: float


def neyman_allocation(strata: Mapping[str, StratumPlan], labels: int, *, at_least: int = LEAST) -> dict[str, int]:
    """How many labels each stratum should get, so that the stratified mean has the smallest error.

    Formula: in proportion to items times spread (J. Neyman, Journal of the Royal Statistical Society 97, 1934), in
    whole labels and within limits: each stratum first gets `at_least`, or all of its items if they are fewer; each
    further label goes where items · spread / √(n(n+1)) is largest, which is exactly optimal (T. Wright, The American
    Statistician 66, 2012). Where nothing spreads, labels go in proportion to items. Budget that no stratum can use is
    left over.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for fewer labels than the strata need at least, or a size or spread that
            cannot be.
    """
    for name, plan in strata.items():
        if plan.items < 0 or not (isfinite(plan.spread) and plan.spread >= 0):
            raise invalid(f"the stratum {name!r} cannot have {plan.items} items of spread {plan.spread}")
    if at_least < 0:
        raise invalid(f"a stratum cannot get at least {at_least} labels")
    found = {name: min(at_least, plan.items) for name, plan in sorted(strata.items())}
    left = labels - sum(found.values())
    if left < 0:
        raise invalid(f"{labels} labels are too few for {len(found)} strata", f"they need {sum(found.values())}")
    heap = [(_gain(strata[name], n), name) for name, n in found.items() if n < strata[name].items]
    heapify(heap)
    while left and heap:
        _, name = heap[0]
        found[name] += 1
        left -= 1
        # A full stratum stays in the heap below all others.
        full = found[name] >= strata[name].items
        heapreplace(heap, (_FULL if full else _gain(strata[name], found[name]), name))
        if heap[0][0] == _FULL:
            break
    return found


_FULL = (1.0, 1.0)


def _gain(plan: StratumPlan, n: int) -> tuple[float, float]:
    """What one more label is worth, negative so that the best is first; by items alone where spreads are equal to 0."""
    step = sqrt(n * (n + 1)) if n else 1e-9
    return -plan.items * plan.spread / step, -plan.items / step


def planned_error(strata: Mapping[str, StratumPlan], allocation: Mapping[str, int]) -> float | None:
    """The standard error that the stratified mean will have: √Σ W² (1 - n/N) spread²/n, W = N / all items.

    `None` where a stratum with items gets no label, or there are no items.
    """
    total = sum(plan.items for plan in strata.values())
    used = [(plan, allocation.get(name, 0)) for name, plan in strata.items() if plan.items]
    if not total or any(n < 1 for _, n in used):
        return None
    parts = [(plan.items / total) ** 2 * (1 - n / plan.items) * plan.spread**2 / n for plan, n in used]
    return sqrt(max(0.0, sum(parts)))

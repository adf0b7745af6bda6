"""A paired difference over cases that hold more than one pass or fail: an interval that few changes cannot fool.

A bootstrap knows only what it saw: where three of ten cases gained a third and none lost, each of its draws is above 0,
however few the cases are. So its interval is widened to that of Tango on what the cases are worth:

* A difference d from -1 to 1 counts as so much of a gained or a lost case. Whole gains and losses with the same sums
  vary at least as much, by Σ|d|/N - D² each, so that Tango's formula on them is on the safe side.
* How much less they vary is the design effect: the sandwich variance of D over cases, by that of N whole ones. It is
  averaged with that of cases that change as a whole, the first weighing as much as there are cases that changed, the
  second as much as one, and is never above the latter; then (z/t)² for its degrees of freedom, as in
  `rightcall.stats.bounds`. This is our own addition; with one pass or fail a case it is Tango's interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import msgspec

from rightcall.stats.first import first_that
from rightcall.stats.intervals import Estimate
from rightcall.stats.ordinal import Scale
from rightcall.stats.paired import tango_bounds
from rightcall.stats.resampling import Clusters, cases_of


class Changes(NamedTuple):
    """Shares of gained and of lost, from 0 to 1, how many independent cases they are worth, and how many there are."""

    gained: float
    lost: float
    effective: float
    cases: int

    def bounds(self, confidence: float, more: float = 0.0) -> tuple[float, float]:
        """Tango's, with so many further cases that change as those before."""
        n = self.effective * (1 + more / self.cases)
        return tango_bounds(self.gained * n, self.lost * n, n, confidence)


def changes_of(
    pairs: Sequence[tuple[float, float]], clusters: Clusters = None, scale: Scale = (0, 1), confidence: float = 0.95
) -> Changes:
    """What paired values are worth.

    Args:
        pairs: the new and the old value of each item; at least one.
        clusters: the case of each item.
        scale: bottom and top of the values.
        confidence: two-sided, of the interval that it is for.
    """
    width = scale[1] - scale[0]
    changed = [(new - old) / width for new, old in pairs]
    sums: dict[object, tuple[float, int]] = {}
    for case, value in zip(cases_of(len(pairs), clusters), changed, strict=True):
        total, n = sums.get(case, (0.0, 0))
        sums[case] = (total + value, n + 1)
    n, cases = len(changed), len(sums)
    gained, lost = sum(one for one in changed if one > 0) / n, -sum(one for one in changed if one < 0) / n
    whole = sum(size * size for _, size in sums.values()) / n
    if cases < 2:
        return Changes(gained, lost, n / whole, cases)
    difference, spread = gained - lost, gained + lost - (gained - lost) ** 2
    effect = whole
    if spread > 0:
        sandwich = cases / (cases - 1) * sum((total - difference * size) ** 2 for total, size in sums.values()) / n
        seen = sum(total != 0 for total, _ in sums.values())
        effect = min(whole, (seen * sandwich / spread + whole) / (seen + 1))
    from scipy.special import stdtrit

    quantile = 0.5 + confidence / 2
    shrunk = n / effect * (NormalDist().inv_cdf(quantile) / float(stdtrit(cases - 1, quantile))) ** 2
    return Changes(gained, lost, max(shrunk, n / whole), cases)


def widened(found: Estimate, changes: Changes, scale: Scale = (0, 1), confidence: float = 0.95) -> Estimate:
    """An interval of a paired difference, at least as wide as Tango's on what the cases are worth."""
    if found.low is None or found.high is None:
        return found
    width = scale[1] - scale[0]
    low, high = (width * bound for bound in changes.bounds(confidence))
    return msgspec.structs.replace(
        found, low=min(found.low, low), high=max(found.high, high),
        method=f"{found.method}; at least tango's, worth {changes.effective:.4g} cases",
    )  # fmt: skip


def more_to_settle(found: Estimate, changes: Changes, margin: float, confidence: float = 0.95) -> int | None:
    """How many further cases, that change as those before, bring the whole interval to one side of -margin.

    By Tango's interval, which a bootstrap's is near; where nothing differs, also by that of equal values. `None` where
    the difference lies at the margin itself, or there is no interval.

    Args:
        found: the difference and its interval, on a scale of width 1.
        changes: what it is made of.
        margin: how much worse is still no loss.
        confidence: of the interval.
    """
    if found.estimate is None or found.low is None or found.high is None or found.estimate == -margin:
        return None
    above = found.estimate > -margin

    def shows(more: int) -> bool:
        low, high = changes.bounds(confidence, more)
        if found.method.startswith("exact"):
            lost = 1 - ((1 - confidence) / 2) ** (1 / (changes.cases + more))
            middle = found.estimate or 0.0
            low, high = min(low, middle - lost * (middle + 1)), max(high, middle + lost * (1 - middle))
        return low > -margin if above else high < -margin

    return first_that(shows)

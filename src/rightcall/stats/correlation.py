"""Do two raters put the same items in the same order? Rank correlations, with ties.

They say nothing about level: a judge that is always one point too mild can have a correlation of 1. Show them beside
the mean difference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.stats.intervals import Estimate, invalid, undefined
from rightcall.stats.resampling import Clusters, bootstrap_interval, by_case, cases_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[Any]

Pairs = Sequence[tuple[float, float]]

_CELLS = 9_000_000
"""How many counts (cases times different pairs of scores) a bootstrap may hold."""


def spearman(
    pairs: Pairs, *, clusters: Clusters = None, resamples: int = 2000, seed: int = 0, confidence: float = 0.95,
    excluded: int = 0,
) -> Estimate:  # fmt: skip
    """Spearman's rho: the correlation of mid ranks (C. Spearman, American Journal of Psychology 15, 1904).

    The interval is the percentile one of a cluster bootstrap, in which ranks are made anew for each draw. Rho is
    undefined where one of the two gave the same score throughout. Where all resamples agree (such as at rho = 1), or
    where there are more than about 3,000 different pairs of scores, there is a reason instead of an interval.

    Args:
        pairs: the two scores of each item.
        clusters: the case of each item.
        resamples: draws of the bootstrap.
        seed: where its generator starts.
        confidence: of the interval.
        excluded: how many items lack a score of either.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a score that is no finite number.
    """
    counted = _Counted(pairs)
    return _shown("spearman rho", counted, counted.rho, clusters, (resamples, seed, confidence), excluded)


def kendall(
    pairs: Pairs, *, clusters: Clusters = None, resamples: int = 2000, seed: int = 0, confidence: float = 0.95,
    excluded: int = 0,
) -> Estimate:  # fmt: skip
    """Kendall's tau-b: pairs of items in the same order less those in the other, in relation to those without a tie.

    Formula: (C - D) / √((n0 - n1)(n0 - n2)), with n0 all pairs of items, and n1, n2 those that the first or the second
    tied (M. G. Kendall, Biometrika 33, 1945). Interval, undefined cases and arguments as for `spearman`; a pair of
    items that is one item drawn twice is a tie of both.
    """
    counted = _Counted(pairs)
    return _shown("kendall tau-b", counted, counted.tau, clusters, (resamples, seed, confidence), excluded)


class _Counted:
    """Items by their pair of scores: how often each pair of levels was given."""

    def __init__(self, pairs: Pairs) -> None:
        strange = next((score for pair in pairs for score in pair if not isfinite(score)), None)
        if strange is not None:
            raise invalid(f"{strange} is not a score")
        self.pairs = pairs
        self.cells = sorted(set(pairs))
        self.levels = [sorted({cell[side] for cell in self.cells}) for side in (0, 1)]
        self.places = [
            [{level: place for place, level in enumerate(self.levels[side])}[cell[side]] for cell in self.cells]
            for side in (0, 1)
        ]

    def rows(self) -> list[list[float]]:
        """Of each item, a 1 in the column of its pair of scores."""
        column = {cell: place for place, cell in enumerate(self.cells)}
        rows = [[0.0] * len(self.cells) for _ in self.pairs]
        for row, pair in zip(rows, self.pairs, strict=True):
            row[column[pair]] = 1.0
        return rows

    def totals(self) -> list[float]:
        """How often each pair of scores was given."""
        column = {cell: place for place, cell in enumerate(self.cells)}
        found = [0.0] * len(self.cells)
        for pair in self.pairs:
            found[column[pair]] += 1
        return found

    def _margins(self, counts: Numbers, side: int) -> Numbers:
        """How often each level of one rater was given, from (draws, cells)."""
        import numpy as np

        member = np.zeros((len(self.cells), len(self.levels[side])))
        member[np.arange(len(self.cells)), self.places[side]] = 1
        return counts @ member

    def rho(self, counts: Numbers) -> Numbers:
        """Spearman's rho of each row of counts; not a number where a rater does not vary."""
        import numpy as np

        n = counts.sum(axis=1, keepdims=True)
        ranks = []
        for side in (0, 1):
            margin = self._margins(counts, side)
            # Mid ranks less their mean, n/2 on this scale.
            ranks.append((np.cumsum(margin, axis=1) - margin / 2 - n / 2)[:, self.places[side]])
        first, second = ranks
        scale = np.sqrt((counts * first**2).sum(axis=1) * (counts * second**2).sum(axis=1))
        values: Numbers = (counts * first * second).sum(axis=1) / np.where(scale > 0, scale, np.nan)
        return np.clip(values, -1, 1)

    def tau(self, counts: Numbers) -> Numbers:
        """Kendall's tau-b of each row of counts; not a number where a rater does not vary."""
        import numpy as np

        first, second = (np.array(places) for places in self.places)
        order = np.sign(first[:, None] - first[None, :]) * np.sign(second[:, None] - second[None, :])
        n = counts.sum(axis=1)
        free = [n**2 - (self._margins(counts, side) ** 2).sum(axis=1) for side in (0, 1)]
        scale = np.sqrt(free[0] * free[1])
        values: Numbers = ((counts @ order) * counts).sum(axis=1) / np.where(scale > 0, scale, np.nan)
        return np.clip(values, -1, 1)


def _shown(
    method: str,
    counted: _Counted,
    figure: Callable[[Numbers], Numbers],
    clusters: Clusters,
    draws: tuple[int, int, float],
    excluded: int,
) -> Estimate:
    import numpy as np

    n = len(counted.pairs)
    cases = cases_of(n, clusters)
    if not n:
        return undefined(method, excluded=excluded)
    with np.errstate(invalid="ignore", divide="ignore"):
        (value,) = figure(np.array([counted.totals()]))
    if not np.isfinite(value):
        reason = "one of the two gave the same score throughout"
        return undefined(method, reason if n > 1 else "one item has no order", n=n, excluded=excluded)
    found = Estimate(estimate=float(value), low=None, high=None, n=n, method=method, excluded=excluded)
    if len(set(cases)) * len(counted.cells) > _CELLS:
        reason = f"no interval is made of {len(counted.cells)} different pairs of scores in {len(set(cases))} cases"
        return msgspec.structs.replace(found, reason=reason)
    resamples, seed, confidence = draws
    return bootstrap_interval(
        found, by_case(counted.rows(), cases), figure, resamples=resamples, seed=seed, confidence=confidence
    )

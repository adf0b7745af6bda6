"""The bootstrap for figures that are not made of sums: the whole figure is computed again from each draw.

A draw is how often each item is in it; the items of one case always together. Where a figure is made of sums, as
kappa is of its table, `rightcall.stats.bootstrap` is much faster.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from rightcall.stats.bootstrap import percentiles
from rightcall.stats.intervals import invalid

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]
    Figure = Callable[[Numbers], float]

Kind = Literal["percentile", "bca"]

LOST = 0.1
"""With more than this share of draws undefined, there is no interval."""


class Interval(Struct, frozen=True, kw_only=True):
    """Bounds and how they were made; `None` with a reason where too few draws have the figure."""

    low: float | None
    high: float | None
    method: str
    reason: str | None = None


def reweighted_interval(
    cases: Sequence[Hashable],
    figure: Figure,
    *,
    kind: Kind = "percentile",
    resamples: int = 2000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Interval:
    """The interval of a figure by drawing cases with replacement.

    `percentile` cuts the draws where the error is halved (B. Efron, The Annals of Statistics 7, 1979). `bca` moves the
    cuts by the bias z0, from the share of draws below the figure, those equal to it counting half, and by the
    acceleration Σd³ / 6(Σd²)^1.5 of the differences d of the figures that leave one case out from their mean
    (B. Efron, JASA 82, 1987). Where all draws are on one side, z0 does not exist, and neither does that interval.

    Args:
        cases: the case of each item, in the sequence that the figure expects.
        figure: from how often each item was drawn to the value; not a number where it is undefined.
        kind: of the interval.
        resamples: how many draws.
        seed: where the generator starts.
        confidence: of the interval.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for no items or no draws.
    """
    import numpy as np

    if not cases or resamples < 1:
        raise invalid("a bootstrap needs cases to draw from and at least one draw")
    number = {case: index for index, case in enumerate(dict.fromkeys(cases))}
    of, size, dice = np.array([number[case] for case in cases]), len(number), np.random.default_rng(seed)
    draws = [
        figure(np.bincount(dice.integers(size, size=size), minlength=size).astype(float)[of]) for _ in range(resamples)
    ]
    kept = sorted(value for value in draws if np.isfinite(value))
    method = f"{'bca ' if kind == 'bca' else ''}bootstrap {confidence:g}, {size} cases, {resamples} draws, seed {seed}"
    lost = resamples - len(kept)
    reason = f"{lost} of {resamples} draws have no such figure" if lost else None
    if lost > LOST * resamples:
        return Interval(low=None, high=None, method=method, reason=reason)
    if kind == "percentile":
        low, high = percentiles(kept, confidence)
        return Interval(low=low, high=high, method=method, reason=reason)
    cuts = _cuts(kept, figure(np.ones(len(cases))), _left_out(of, size, figure), confidence)
    if cuts is None:
        return Interval(low=None, high=None, method=method, reason="the bias or the acceleration does not exist")
    low, high = (float(bound) for bound in np.quantile(kept, cuts))
    return Interval(low=low, high=high, method=method, reason=reason)


def _left_out(of: NDArray[np.int64], size: int, figure: Figure) -> list[float]:
    """The figure without each case."""
    return [figure((of != case).astype(float)) for case in range(size)]


def _cuts(draws: Sequence[float], value: float, without: Sequence[float], confidence: float) -> list[float] | None:
    """Where the two bounds of the accelerated interval cut the draws."""
    below = (sum(drawn < value for drawn in draws) + sum(drawn <= value for drawn in draws)) / 2 / len(draws)
    mean = sum(without) / len(without)
    differences = [mean - left for left in without]
    spread = sum(d * d for d in differences)
    # A comparison that is also false for what is not a number.
    if not (0 < below < 1 and spread > 0):
        return None
    normal = NormalDist()
    bias, bend = normal.inv_cdf(below), sum(d**3 for d in differences) / (6 * spread**1.5)
    found = []
    for error in ((1 - confidence) / 2, (1 + confidence) / 2):
        at = bias + normal.inv_cdf(error)
        if bend * at >= 1:
            return None
        found.append(normal.cdf(bias + at / (1 - bend * at)))
    return found

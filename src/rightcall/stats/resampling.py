"""Bootstrap intervals of figures that are made of sums, such as alpha, AC1 or a rank correlation.

Each item gives a row of sums; the items of one case are added up, and cases are drawn (`rightcall.stats.bootstrap`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.stats.bootstrap import bootstrap_method, percentiles, resampled
from rightcall.stats.intervals import Estimate, invalid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[Any]

Clusters = Sequence[Hashable] | None
"""The case of each item; `None`: each item is its own."""

LOST = 0.1
"""With more than this share of resamples undefined, a figure has no interval."""


def cases_of(n: int, clusters: Clusters) -> Sequence[Hashable]:
    """The case of each of n items.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for another number of cases than of items.
    """
    if clusters is None:
        return range(n)
    if len(clusters) != n:
        raise invalid(f"{n} items cannot belong to {len(clusters)} cases")
    return clusters


def by_case(rows: Sequence[Sequence[float]], cases: Sequence[Hashable]) -> list[list[float]]:
    """The rows of each case, added up column by column."""
    found: dict[Hashable, list[float]] = {}
    for row, case in zip(rows, cases, strict=True):
        known = found.get(case)
        found[case] = list(row) if known is None else [a + b for a, b in zip(known, row, strict=True)]
    return list(found.values())


def bootstrap_interval(
    found: Estimate,
    table: Sequence[Sequence[float]],
    figure: Callable[[Numbers], Numbers],
    *,
    resamples: int,
    seed: int,
    confidence: float,
) -> Estimate:
    """The estimate with the percentile interval of a cluster bootstrap, or with the reason why it has none.

    Args:
        found: the estimate without an interval; its method names the figure.
        table: one row of sums for each case.
        figure: from (draws, columns) to one value for each draw; not a number where it is undefined.
        resamples: how many draws.
        seed: where their generator starts.
        confidence: of the interval.

    A resample without a value is left out, and the reason counts them; with more than a tenth of them there is no
    interval. Where every resample gives the same value, an interval of no width would claim what is not known, and
    there is none either.
    """
    if len(table) < 2:
        reason = "one item has no interval" if found.n == 1 else "the items of one case have no interval"
        return msgspec.structs.replace(found, reason=reason)
    method = f"{found.method}, {bootstrap_method(confidence, len(table), resamples, seed)}"
    values = resampled(table, figure, resamples=resamples, seed=seed)
    lost = resamples - len(values)
    counted = f"{lost} of {resamples} resamples have no value, since nothing varies in them" if lost else None
    if lost > LOST * resamples:
        return msgspec.structs.replace(found, method=method, reason=counted)
    low, high = percentiles(values, confidence)
    if values[-1] - values[0] < 1e-12:
        reason = "every resample gives the same value, so they tell of no interval"
        return msgspec.structs.replace(found, method=method, reason=reason)
    return msgspec.structs.replace(found, low=low, high=high, method=method, reason=counted)

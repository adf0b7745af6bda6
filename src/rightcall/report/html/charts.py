"""The geometry of charts: where each mark of a drawing lies, computed once, for templates that only draw.

A drawing never says more than the numbers beside it: what has no value is not drawn, what lies beyond the axis is drawn
as an arrow at its edge and said to be, and an axis that does not begin at the scale's end says where it begins.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor
from typing import TYPE_CHECKING

from rightcall.report.html.numbers import exact, number, shown, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rightcall.report.view.model import Bar, Counts, GraderView, Matrix, Reliability
    from rightcall.stats.calibration import Bin
    from rightcall.stats.intervals import Estimate

WIDTH, EDGE = 260, 8
"""Of a bar's drawing; the edge keeps marks at the ends of the axis whole."""

FEW, HOLLOW = 20, 10
"""Figures on fewer cases than the first are grey in a table of bars; points on fewer than the second are hollow."""

SIDE, MARGIN = 300, 40
"""Of a reliability diagram."""

MOST_LABELS = 24
SHADES = 5


@dataclass(frozen=True, slots=True)
class Axis:
    """From where to where a drawing goes, and what is written at its ends and between."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]

    def x(self, value: float) -> float:
        """Where a value lies, in the drawing's units; at the edge if it is beyond."""
        share = (value - self.low) / (self.high - self.low)
        return round(EDGE + min(1.0, max(0.0, share)) * (WIDTH - 2 * EDGE), 1)

    def beyond(self, value: float) -> bool:
        """Does the value lie outside the axis?"""
        return not self.low <= value <= self.high


def axis_for(values: Iterable[float | None], scale: tuple[float, float] = (0.0, 1.0)) -> Axis:
    """An axis that shows all values: the scale, or its upper part where everything lies there.

    Shares that are all above 0.5, 0.8 or 0.9 get an axis that begins there, since their intervals could not be read on
    one from 0.
    """
    known = [value for value in values if value is not None]
    low, high = scale
    if low >= high:
        low, high = low - 0.5, low + 0.5
    elif scale == (0.0, 1.0) and known:
        low = next((start for start in (0.9, 0.8, 0.5) if min(known) >= start), 0.0)
    return Axis(low, high, tuple((value, _tick(value, high - low)) for value in _between(low, high)))


def axis_of_unknown(values: Sequence[float | None]) -> Axis:
    """An axis for figures whose scale is not known: shares where they can be shares, else around what there is."""
    known = [value for value in values if value is not None]
    if not known or (min(known) >= 0 and max(known) <= 1):
        return axis_for(known)
    if min(known) >= -1 and max(known) <= 1:
        most = max(abs(value) for value in known)
        reach = next(step for step in (0.05, 0.1, 0.2, 0.5, 1.0) if most <= step)
        return axis_for(known, (-reach, reach))
    low, high = floor(min(known)), ceil(max(known))
    return axis_for(known, (float(low), float(max(high, low + 1))))


def _between(low: float, high: float) -> tuple[float, ...]:
    return low, (low + high) / 2, high


def _tick(value: float, span: float) -> str:
    return number(value, 2 if span <= 1 else 1 if not float(value).is_integer() else 0)


@dataclass(frozen=True, slots=True)
class BarDrawing:
    """Where a figure and its interval lie on an axis.

    Attributes:
        axis: the axis. at, low, high: of figure and bounds; `None`: not drawn. threshold: of the line.
        left, right: the figure or a bound goes on beyond that end. few: it rests on few cases.
        title, words: the drawing's name and description.
    """

    axis: Axis
    at: float | None
    low: float | None
    high: float | None
    threshold: float | None
    left: bool
    right: bool
    few: bool
    title: str
    words: str


def bar_drawing(
    name: str, value: Estimate, axis: Axis, *, threshold: float | None = None, scale: tuple[float, float] | None = None
) -> BarDrawing:
    """Where a figure lies; see `BarDrawing`."""
    parts = [item for item in (value.estimate, value.low, value.high) if item is not None]
    words = shown(value, threshold, scale or (axis.low, axis.high))
    title = f"{name}: {words.value}" + (f", interval {words.low} to {words.high}" if words.low and words.high else "")
    ends = f"Axis from {axis.ticks[0][1]} to {axis.ticks[-1][1]}."
    if threshold is not None:
        ends += f" Threshold {exact(threshold)}" + (", beyond the axis." if axis.beyond(threshold) else ".")
    if any(axis.beyond(part) for part in parts):
        ends += " Part of it lies beyond the axis."
    return BarDrawing(
        axis=axis,
        at=None if value.estimate is None or axis.beyond(value.estimate) else axis.x(value.estimate),
        low=None if value.low is None else axis.x(value.low),
        high=None if value.high is None else axis.x(value.high),
        threshold=None if threshold is None or axis.beyond(threshold) else axis.x(threshold),
        left=any(part < axis.low for part in parts),
        right=any(part > axis.high for part in parts),
        few=value.n < FEW,
        title=title,
        words=ends,
    )


@dataclass(frozen=True, slots=True)
class BarGroup:
    """Bars of one scale, drawn on one axis, so that they can be compared."""

    axis: Axis
    bars: tuple[tuple[Bar, BarDrawing], ...]

    @property
    def few(self) -> bool:
        """Does any figure rest on few cases?"""
        return any(drawing.few and bar.value.estimate is not None for bar, drawing in self.bars)


def bar_groups(bars: Iterable[Bar]) -> tuple[BarGroup, ...]:
    """Bars by scale, in the order in which the scales appear."""
    by_scale: dict[tuple[float, float], list[Bar]] = {}
    for bar in bars:
        by_scale.setdefault(bar.scale, []).append(bar)
    groups = []
    for scale, some in by_scale.items():
        # Figures on few cases have wide intervals: they do not decide how closely the others can be read.
        telling = [bar for bar in some if bar.value.n >= FEW] or some
        values = [part for bar in telling for part in (bar.value.estimate, bar.value.low, bar.threshold)]
        axis = axis_for(values, scale)
        drawn = [
            (bar, bar_drawing(bar.name, bar.value, axis, threshold=bar.threshold, scale=scale)) for bar in some
        ]  # fmt: skip
        groups.append(BarGroup(axis, tuple(drawn)))
    return tuple(groups)


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a stacked bar: its kind, how many results it stands for, where it begins, how long it is."""

    kind: str
    size: int
    x: float
    width: float


def outcomes_of(counts: Counts) -> list[tuple[str, int]]:
    """How many results of each kind there are, in the order of a table, each counted once."""
    return [
        ("passed", counts.passed), ("failed", counts.failed), ("error", counts.error - counts.aside),
        ("waiting", counts.waiting), ("aside", counts.aside), ("unread", counts.unread),
    ]  # fmt: skip


def kinds_shown(graders: Iterable[GraderView]) -> tuple[str, ...]:
    """The kinds of results that a table has columns for: the first three, and those that any grader has."""
    sizes = [outcomes_of(grader.counts) for grader in graders]
    return tuple(kind for place, (kind, _) in enumerate(sizes[0]) if place < 3 or any(some[place][1] for some in sizes))


def stacked(counts: Counts) -> tuple[Part, ...]:
    """The results of a grader as parts of one bar, those without results left out."""
    sizes = outcomes_of(counts)
    total = sum(size for _, size in sizes)
    parts, x = [], 0.0
    for kind, size in sizes:
        width = size / total * WIDTH if total else 0.0
        if size:
            parts.append(Part(kind, size, round(x, 2), round(width, 2)))
        x += width
    return tuple(parts)


# ---- confusion -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a confusion matrix: how often, how dark (0 to 5, by its share of the row), and if the two agree."""

    count: int
    shade: int
    agrees: bool


@dataclass(frozen=True, slots=True)
class MatrixShown:
    """A confusion matrix as it is shown: the labels that fit, their rows with totals, and what was left out."""

    labels: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell, ...], int], ...]
    left_out: int
    left_out_results: int


def matrix_shown(matrix: Matrix, most: int = MOST_LABELS) -> MatrixShown:
    """The labels that occur most, in their order; totals count all labels."""
    weight = [
        sum(row) + sum(other[place] for other in matrix.counts) - row[place] for place, row in enumerate(matrix.counts)
    ]
    kept = sorted(sorted(range(len(matrix.labels)), key=lambda place: -weight[place])[:most])
    rows, inside = [], 0
    for place in kept:
        total = sum(matrix.counts[place])
        cells = tuple(
            Cell(count, ceil(count / total * SHADES) if count else 0, place == column)
            for column, count in ((column, matrix.counts[place][column]) for column in kept)
        )
        inside += sum(cell.count for cell in cells)
        rows.append((matrix.labels[place], cells, total))
    everything = sum(map(sum, matrix.counts))
    labels = tuple(matrix.labels[place] for place in kept)
    return MatrixShown(labels, tuple(rows), len(matrix.labels) - len(kept), everything - inside)


# ---- reliability -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Point:
    """One bin of a reliability diagram: where it lies, its interval, and whether it rests on too few answers."""

    x: float
    y: float
    low: float | None
    high: float | None
    hollow: bool
    title: str


@dataclass(frozen=True, slots=True)
class ReliabilityDrawing:
    """A reliability diagram: its points, and the ticks of both axes."""

    points: tuple[Point, ...]
    ticks: tuple[tuple[float, float, str], ...]
    words: str


def reliability_drawing(item: Reliability) -> ReliabilityDrawing:
    """Where each bin lies; both axes go from 0 to 1."""
    points = tuple(_point(bar) for bar in item.bins if bar.share.estimate is not None)
    ticks = tuple((_across(tick / 5), _up(tick / 5), f"{tick / 5:.1f}") for tick in range(6))
    hollow = sum(point.hollow for point in points)
    words = f"{len(points)} bins of equally many answers; {item.across} across, share that was right upwards."
    words += f" {hollow} of them hold fewer than {HOLLOW} answers and are hollow." if hollow else ""
    return ReliabilityDrawing(points, ticks, f"{words} On the dashed line a judge means what it says.")


def _point(bar: Bin) -> Point:
    share = bar.share
    words = shown(share)
    return Point(
        x=_across(bar.stated),
        y=_up(share.estimate or 0.0),
        low=None if share.low is None else _up(share.low),
        high=None if share.high is None else _up(share.high),
        hollow=share.n < HOLLOW,
        title=f"stated {number(bar.stated)}, right {words.value}, interval {words.interval}, n = {whole(share.n)}",
    )


def _across(value: float) -> float:
    return round(MARGIN + value * (SIDE - MARGIN - EDGE), 1)


def _up(value: float) -> float:
    return round(SIDE - MARGIN - value * (SIDE - MARGIN - EDGE), 1)

"""The geometry of a calibration's drawings: figures beside people's, risk and coverage, the map of confidence.

As in `report.html.charts`: templates only draw, and what has no value is not drawn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rightcall.report.html.charts import EDGE, FEW, MARGIN, SIDE, Axis, BarDrawing, axis_for, bar_drawing
from rightcall.report.html.numbers import number, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rightcall.report.calibration.model import Figure, Requirement, Route
    from rightcall.stats.discrimination import RiskPoint
    from rightcall.stats.intervals import Estimate

WIDE, HIGH, LEFT = 420, 260, 56
"""Of the drawing of risk and coverage; the last is the room for the words at its left."""

MOST_POINTS, MOST_OF_A_MAP = 24, 11
"""Points of a curve, and of a map, that its table lists."""

_TOPS = (0.05, 0.1, 0.2, 0.5, 1.0)
_TITLES = {
    "share": "Shares, from 0 to 1", "agreement": "Agreement beyond chance and correlation, from −1 to 1",
    "levels": "Distances in levels", "other": "Differences",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class FigureDrawing:
    """A figure with the drawing of the judge's bar and, where people have one, of theirs."""

    figure: Figure
    judge: BarDrawing
    people: BarDrawing | None


@dataclass(frozen=True, slots=True)
class FigureGroup:
    """Figures of one kind and scale on one axis.

    `title`: what they are. `begins`: where the axis begins, if that is not the scale's end; else empty.
    """

    title: str
    scale: tuple[float, float]
    axis: Axis
    rows: tuple[FigureDrawing, ...]
    begins: str

    @property
    def few(self) -> bool:
        """Does any figure rest on few answers?"""
        return any(row.judge.few and row.figure.value.estimate is not None for row in self.rows)

    @property
    def has_people(self) -> bool:
        """Is anything of people in it?"""
        return any(row.people is not None for row in self.rows)


def figure_groups(figures: Iterable[Figure]) -> tuple[FigureGroup, ...]:
    """Figures by kind and scale, in the order in which these appear; see `FigureGroup`."""
    found: dict[tuple[str, tuple[float, float]], list[Figure]] = {}
    for one in figures:
        found.setdefault((one.kind, one.scale), []).append(one)
    return tuple(_group(kind, scale, some) for (kind, scale), some in found.items())


def _group(kind: str, scale: tuple[float, float], some: Sequence[Figure]) -> FigureGroup:
    # Figures on few answers have wide intervals: they do not decide how closely the others can be read.
    telling = [one for one in some if one.value.n >= FEW] or some
    values = [
        part for one in telling for each in (one.value, one.people) if each is not None
        for part in (each.estimate, each.low)
    ]  # fmt: skip
    values += [one.limit for one in some]
    axis = _agreement_axis(values) if kind == "agreement" else axis_for(values, scale)
    rows = tuple(FigureDrawing(one, _bar(one, one.value, axis), _people(one, axis)) for one in some)
    return FigureGroup(
        _TITLES[kind], scale, axis, rows, axis.ticks[0][1] if axis.low != scale[0] else ""
    )  # fmt: skip


def _agreement_axis(values: Sequence[float | None]) -> Axis:
    """Agreement is seldom below that by chance, and intervals are read better on half the axis."""
    is_above = all(value >= 0 for value in values if value is not None)
    return axis_for(values, (0.0, 1.0) if is_above else (-1.0, 1.0))


def requirements_axis(items: Iterable[Requirement]) -> Axis:
    """The axis of everything that a judge must reach, so that one can be compared with the other."""
    return _agreement_axis(
        [value for one in items for value in (one.value.estimate, one.value.low, one.threshold)]
    )  # fmt: skip


def _bar(one: Figure, value: Estimate, axis: Axis) -> BarDrawing:
    return bar_drawing(one.name, value, axis, threshold=one.limit, scale=one.scale)


def _people(one: Figure, axis: Axis) -> BarDrawing | None:
    if one.people is None:
        return None
    return bar_drawing("among people", one.people, axis, scale=one.scale)


# ---- risk and coverage ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A point of the curve, with its place; `stands`: the threshold accepts from here on."""

    point: RiskPoint
    x: float
    y: float
    stands: bool


@dataclass(frozen=True, slots=True)
class CurveDrawing:
    """Risk against coverage.

    Attributes:
        path: the curve. points: all of it; listed: those that a table has room for.
        across, upwards: the ticks of both axes, as (place, words).
        target: where the accepted error lies; `None` where that is above the axis.
        mark: where the threshold lies, with its words; `None` where it accepts nothing.
        words: the drawing's description.
    """

    path: str
    points: tuple[CurvePoint, ...]
    listed: tuple[CurvePoint, ...]
    across: tuple[tuple[float, str], ...]
    upwards: tuple[tuple[float, str], ...]
    target: float | None
    mark: tuple[float, float, str, bool] | None
    words: str

    @property
    def left_out(self) -> int:
        """How many points are not in the table."""
        return len(self.points) - len(self.listed)


def curve_drawing(points: Sequence[RiskPoint], route: Route) -> CurveDrawing:
    """Where the curve lies: the share of answers that is accepted across, the share of wrong ones among them upwards.

    Args:
        points: of the curve, highest confidence first.
        route: the threshold that holds for all answers.
    """
    found = route.threshold
    highest = max([found.target, *(point.risk for point in points)])
    top = next(step for step in _TOPS if highest <= step)

    def place(point: RiskPoint) -> tuple[float, float]:
        return _along(point.coverage), _risen(point.risk / top)

    accepted = [at for at, point in enumerate(points) if point.threshold >= found.stands]
    stands = accepted[-1] if accepted else None
    drawn = tuple(CurvePoint(point, *place(point), stands=at == stands) for at, point in enumerate(points))
    path = "".join(f"{'L' if at else 'M'}{one.x} {one.y}" for at, one in enumerate(drawn))
    mark = None
    if stands is not None:
        at = drawn[stands]
        words = f"from {found.stands:g} on" if found.calibrated else f"{found.stands:g}, uncalibrated"
        mark = (at.x, at.y, words, at.x > WIDE * 0.6)
    kept = _spread(len(drawn), MOST_POINTS, () if stands is None else (stands,))
    return CurveDrawing(
        path=path, points=drawn, listed=tuple(drawn[at] for at in kept),
        across=tuple((_along(step / 5), f"{step / 5:.1f}") for step in range(6)),
        upwards=tuple((_risen(step / 5), number(top * step / 5, 2)) for step in range(6)),
        target=_risen(found.target / top), mark=mark, words=_curve_words(points, stands, route, top),
    )  # fmt: skip


def _curve_words(points: Sequence[RiskPoint], stands: int | None, route: Route, top: float) -> str:
    found = route.threshold
    words = "Share of answers that is accepted across, share of wrong ones among them upwards"
    words += f", from 0 to {top:g}" if top < 1 else ""
    words += f". The dashed line is the accepted share, {found.target:g}."
    if stands is not None:
        at = points[stands]
        what = "The threshold" if found.calibrated else "The fixed threshold"
        words += f" {what} {found.stands:g} accepts {whole(at.accepted)}, {whole(at.errors)} of them wrong."
    return words


def _spread(size: int, most: int, wanted: Sequence[int]) -> list[int]:
    """At most about so many places of a sequence, evenly spread, both ends and those wanted among them."""
    if size <= most:
        return list(range(size))
    even = {round(step * (size - 1) / (most - 1)) for step in range(most)}
    return sorted({*even, *wanted})


def _along(share: float) -> float:
    return round(LEFT + share * (WIDE - LEFT - EDGE), 1)


def _risen(share: float) -> float:
    return round(HIGH - MARGIN - share * (HIGH - MARGIN - EDGE), 1)


# ---- the map --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MapDrawing:
    """The map from stated confidence across to probability upwards: its line, and the points that a table lists."""

    path: str
    listed: tuple[tuple[float, float], ...]
    left_out: int
    ticks: tuple[tuple[float, float, str], ...]


def map_drawing(points: Sequence[tuple[float, float]]) -> MapDrawing:
    """Where the map lies; both axes go from 0 to 1."""

    def across(value: float) -> float:
        return round(MARGIN + value * (SIDE - MARGIN - EDGE), 1)

    def upwards(value: float) -> float:
        return round(SIDE - MARGIN - value * (SIDE - MARGIN - EDGE), 1)

    path = "".join(f"{'L' if at else 'M'}{across(x)} {upwards(y)}" for at, (x, y) in enumerate(points))
    kept = _spread(len(points), MOST_OF_A_MAP, ())
    ticks = tuple((across(step / 5), upwards(step / 5), f"{step / 5:.1f}") for step in range(6))
    return MapDrawing(path, tuple(points[at] for at in kept), len(points) - len(kept), ticks)

"""What every grader's part of a report is made of: bars from figures, tables from counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from rightcall.report.view.model import Bar, Table
from rightcall.stats.intervals import Estimate

if TYPE_CHECKING:
    from rightcall.report.view.model import Line, Matrix, Reliability
    from rightcall.run.results.model import Row

MOST_ROWS = 50
"""Rows of a table; the rest is pooled or said."""


@dataclass
class Parts:
    """A grader's own part of a report; see `GraderView`.

    `headline` is empty where the usual one does; `closing` ends it.
    """

    headline: list[str] = field(default_factory=list)
    closing: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    bars: list[Bar] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    matrices: list[Matrix] = field(default_factory=list)
    reliability: list[Reliability] = field(default_factory=list)
    brief: list[Table | Line] = field(default_factory=list)
    columns: tuple[str, ...] = ()


class Collector(Protocol):
    """Adds up what one grader's results say, while they stream by.

    Each is made with `own`, the figures that the run itself made of the same results (empty where it kept none). They
    are shown as they are, so that a report never says another number than the run.
    """

    def add(self, row: Row, result: Any) -> None:
        """Count one result; `result` is of the grader's type, or plain values where it is not."""

    def parts(self) -> Parts:
        """The part of the report."""


def estimate_of(plain: Mapping[str, Any] | None) -> Estimate | None:
    """A figure as a run keeps it; `None` for what is none."""
    if not plain or "estimate" not in plain:
        return None
    return msgspec.convert(plain, Estimate)


def bar(
    name: str, plain: Mapping[str, Any] | None, scale: tuple[float, float] = (0.0, 1.0), note: str = ""
) -> list[Bar]:
    """The bar of a figure that a run kept; nothing for what is none."""
    value = estimate_of(plain)
    return [] if value is None else [Bar(name=name, value=value, scale=scale, note=note)]


def figure(estimate: Estimate | None, digits: int = 3) -> str:
    """`0.973 [0.938, 0.988]`, the figure alone, or `–`."""
    if estimate is None or estimate.estimate is None:
        return "–"
    value = number(estimate.estimate, digits)
    if estimate.low is None or estimate.high is None:
        return value
    return f"{value} [{number(estimate.low, digits)}, {number(estimate.high, digits)}]"


def number(value: float | None, digits: int = 3) -> str:
    """A figure with so many digits; one that is not quite 1 is never shown as 1, and none as -0."""
    if value is None:
        return "–"
    rounded = f"{value:.{digits}f}"
    if value < 1 and float(rounded) == 1:
        return f"<{rounded}"
    return rounded.removeprefix("-") if float(rounded) == 0 else rounded


def counts_table(
    caption: str, first: str, counts: Iterable[tuple[str, int]], heads: tuple[str, ...] = ("n",)
) -> list[Table]:
    """A table of names and counts, without those of 0; nothing where all are."""
    rows = [(name, str(n)) for name, n in counts if n]
    return [cut(Table(caption=caption, columns=(first, *heads), rows=tuple(rows), numeric=(1,)))] if rows else []


def cut(table: Table, most: int = MOST_ROWS) -> Table:
    """The table with at most so many rows; its caption says how many more there are."""
    left = len(table.rows) - most
    if left <= 0:
        return table
    return msgspec.structs.replace(
        table, rows=table.rows[:most], caption=f"{table.caption} (the first {most}; {left} more are in the JSON output)"
    )

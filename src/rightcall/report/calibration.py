"""A calibration in the terminal, as Markdown and as plain values (UX §1.3)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rightcall.report.calibration_parts import closing, parts_of
from rightcall.report.plain import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from rightcall.report.calibration_parts import Grid, Part
    from rightcall.run.calibration.calibrating import CalibrationReport

_STYLES = {"FIT": "bold green", "NOT_FIT": "bold red", "INSUFFICIENT": "bold yellow"}


def plain_values(report: CalibrationReport) -> dict[str, Any]:
    """The report as `--json` gives it."""
    found: dict[str, Any] = msgspec.to_builtins(report)
    for one, made in zip(found["calibrations"], report.calibrations, strict=True):
        one["verdict"] = made.verdict
    return found


def print_calibration(console: Console, report: CalibrationReport) -> None:
    """Print every calibration, then what is not counted in any."""
    for one in report.calibrations:
        for place, part in enumerate(parts_of(one, report.split)):
            _print_part(console, part, _STYLES[one.verdict] if not place else "bold")
        if one.id is not None:
            console.print(Text(f"saved as {one.id}", "dim"))
        console.print()
    for line in closing(report):
        console.print(Text(visible(line)))


def _print_part(console: Console, part: Part, style: str) -> None:
    if part.title is not None:
        console.print(Text(visible(part.title), style))
    if part.grid is not None:
        console.print(Padding(_table(part.grid), (0, 0, 0, 2), expand=False))
    for line in part.lines:
        console.print(Padding(Text(visible(line)), (0, 0, 0, 2), expand=False))


def _table(grid: Grid) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    # Marks and names stand on the left; only names may wrap.
    names = 2 if len(grid.heads) > 1 and not grid.heads[0] and all(len(row[0]) == 1 for row in grid.rows) else 1
    for place, head in enumerate(grid.heads):
        if place < names:
            table.add_column(Text(visible(head)), overflow="fold")
        else:
            table.add_column(Text(visible(head)), justify="right", no_wrap=True)
    for row in grid.rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    return table


# ---- Markdown ----


def markdown(report: CalibrationReport) -> str:
    """The whole report as one document."""
    return "\n\n".join(["# Calibration", *_blocks(report)]) + "\n"


def _blocks(report: CalibrationReport) -> Iterator[str]:
    for one in report.calibrations:
        for place, part in enumerate(parts_of(one, report.split)):
            if part.title is not None:
                yield f"{'##' if not place else '###'} {_escaped(part.title)}"
            if part.grid is not None:
                yield _pipes(part.grid)
            if part.lines:
                yield "\n".join(f"- {_escaped(line)}" for line in part.lines)
        if one.id is not None:
            yield f"Saved as `{one.id}`."
    said = list(closing(report))
    if said:
        yield "## Besides"
        yield "\n".join(f"- {_escaped(line)}" for line in said)


def _pipes(grid: Grid) -> str:
    rows = [grid.heads, ("---",) + ("--:",) * (len(grid.heads) - 1)]
    lines = ["| " + " | ".join(rows[1] if row is rows[1] else map(_escaped, row)) + " |" for row in rows]
    return "\n".join([*lines, *("| " + " | ".join(map(_escaped, row)) + " |" for row in grid.rows)])


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]()<>#|!~&])", r"\\\1", visible(text))

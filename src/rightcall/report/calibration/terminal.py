"""A calibration in the terminal (UX §1.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rightcall.report.calibration.parts import closing, parts_of
from rightcall.report.plain import visible

if TYPE_CHECKING:
    from rich.console import Console

    from rightcall.report.calibration.model import CalibrationView
    from rightcall.report.calibration.parts import Grid, Part

_STYLES = {"FIT": "bold green", "NOT_FIT": "bold red", "INSUFFICIENT": "bold yellow"}


def print_calibration(console: Console, view: CalibrationView) -> None:
    """Print every field, then what is not counted in any."""
    for one in view.fields:
        for place, part in enumerate(parts_of(one)):
            _print_part(console, part, _STYLES[one.verdict] if not place else "bold")
        if one.id is not None:
            console.print(Text(f"saved as {one.id}", "dim"))
        console.print()
    for line in closing(view):
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

"""One verdict in the terminal: the aligned diff, the veto, the reasons, the scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rightcall.report.plain import visible

if TYPE_CHECKING:
    from rich.console import Console

    from rightcall.report.explain import DiffRow, Explained


def print_explained(console: Console, item: Explained) -> None:
    """Print one verdict in words: names, the aligned diff, vetoes, reasons, scores."""
    console.print(Text(visible(item.title), "bold"))
    for line in item.names:
        print_indented(console, line, "dim")
    if item.rows:
        console.print(_diff(item.rows, item.left))
    for veto in item.vetoes:
        print_indented(console, f"veto: {veto}", "bold red")
    for reason in item.reasons:
        print_indented(console, reason, severity_style(reason))
    for line in item.scores:
        print_indented(console, line, "dim")


def print_indented(console: Console, text: str, style: str = "") -> None:
    """Print a line that stands under another one; where it is long, it goes on at the same place."""
    console.print(Padding(Text(visible(text), style), (0, 0, 0, 2), expand=False))


def severity_style(reason: str) -> str:
    """The style of a sentence that begins with how serious it is."""
    return {"CRITICAL": "bold red", "HIGH": "red", "MEDIUM": "yellow"}.get(reason.split(" ", 1)[0], "")


def _diff(rows: tuple[DiffRow, ...], left: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1), show_header=True, header_style="dim", expand=True)
    table.add_column("", no_wrap=True, width=1)
    table.add_column(left, ratio=1, overflow="fold")
    table.add_column("agent", ratio=1, overflow="fold")
    for row in rows:
        style = "red" if row.bad else ""
        right = Text(visible(row.agent), style)
        if row.note:
            right.append(f"\n  {'✗' if row.bad else '·'} {visible(row.note)}", style)
        for detail in row.details:
            right.append(f"\n  ✗ {visible(detail)}", "red")
        table.add_row(Text(row.mark, style), Text(visible(row.golden), style), right)
    return table

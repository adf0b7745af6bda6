"""A run in the terminal: a table, then every failure explained (UX §1.3), in 80 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rightcall.report import plain
from rightcall.report.explain import DiffRow, Explained, explain, scores, verdict
from rightcall.report.summary import headline, notes

if TYPE_CHECKING:
    from rightcall.run.golden.grading import Graded
    from rightcall.run.golden.tally import Shown

MOST_ROWS = 60
"""Rows of one comparison, and reasons, that are printed of a run; a trace may have thousands of calls."""

_STYLES = {"PASS": "green", "FAIL": "bold red"}


def print_run(console: Console, graded: Graded, *, full: bool = False) -> None:
    """Print a finished run.

    Args:
        console: where to.
        graded: the run.
        full: show every value whole (for one trace).
    """
    tally = graded.tally
    for line in notes(graded):
        console.print(Text(plain.visible(line), "yellow"))
    shown = graded.kept if tally.n <= len(graded.kept) else [s for s in graded.kept if s.result.verdict != "PASS"]
    failures = [s for s in graded.kept if s.result.verdict != "PASS"] if not full else graded.kept
    if shown:
        console.print(_table(shown))
    untabled = tally.n - len(shown)
    if untabled > 0:
        console.print(Text(f"({untabled} of {tally.n} results are not in this table; -o FILE writes all)", "dim"))
    for item in failures[: graded.plan.kept_failures] if not full else failures:
        if item.trace is not None and item.case is not None:
            console.print()
            explained = explain(item, graded.plan.redactor, limit=None if full else 48)
            print_explained(console, explained, None if full else MOST_ROWS)
    left = tally.failed + sum(tally.unevaluable.values()) - min(len(failures), graded.plan.kept_failures)
    if left > 0 and not full:
        console.print(Text(f"\n{left} more not shown: --trace ID prints one in full, -o FILE writes all"))
    console.print()
    for line in headline(graded):
        console.print(Text(line))


def _table(shown: list[Shown]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    several = any(item.result.case_id != item.result.trace_id for item in shown)
    table.add_column("trace", overflow="fold", ratio=None)
    if several:
        table.add_column("case", overflow="fold")
    for name in ("tools", "args", "order", "steps", "overall"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", overflow="fold")
    for item in shown:
        result = item.result
        names = [plain.visible(result.trace_id or "(no trace)")]
        names += [plain.visible(result.case_id or "")] if several else []
        style = _STYLES.get(result.verdict or "", "yellow")
        figures = map(plain.number, scores(result))
        table.add_row(*map(Text, names), *map(Text, figures), Text(verdict(result), style))
    return table


def print_explained(console: Console, item: Explained, most: int | None = None) -> None:
    """Print one verdict in words: the aligned diff, the veto, the reasons, the scores; at most so many rows of each."""
    console.print(Text(item.title, "bold"))
    for line in item.names:
        console.print(Padding(Text(line, "dim"), (0, 0, 0, 2), expand=False))
    if item.rows:
        console.print(_diff(item.rows[:most], item.left))
        _print_left(console, len(item.rows), most)
    for veto in item.vetoes[:most]:
        console.print(Padding(Text(f"veto: {veto}", "bold red"), (0, 0, 0, 2), expand=False))
    _print_left(console, len(item.vetoes), most)
    for reason in item.reasons[:most]:
        console.print(Padding(Text(reason, _severity_style(reason)), (0, 0, 0, 2), expand=False))
    _print_left(console, len(item.reasons), most)
    for line in item.scores:
        console.print(Padding(Text(line, "dim"), (0, 0, 0, 2), expand=False))


def _print_left(console: Console, n: int, most: int | None) -> None:
    if most is not None and n > most:
        text = f"… {n - most:,} more; `rightcall golden --trace ID` prints them all"
        console.print(Padding(Text(text, "dim"), (0, 0, 0, 2), expand=False))


def _severity_style(reason: str) -> str:
    return {"CRITICAL": "bold red", "HIGH": "red", "MEDIUM": "yellow"}.get(reason.split(" ", 1)[0], "")


def _diff(rows: tuple[DiffRow, ...], left: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1), show_header=True, header_style="dim", expand=True)
    table.add_column("", no_wrap=True, width=1)
    table.add_column(left, ratio=1, overflow="fold")
    table.add_column("agent", ratio=1, overflow="fold")
    for row in rows:
        style = "red" if row.bad else ""
        right = Text(row.agent, style)
        if row.note:
            right.append(f"\n  {'✗' if row.bad else '·'} {row.note}", style)
        for detail in row.details:
            right.append(f"\n  ✗ {detail}", "red")
        table.add_row(Text(row.mark, style), Text(row.golden, style), right)
    return table

"""A judged run in the terminal when it is over (UX §1.3): warnings, who judged, figures, failures, what waits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from rich.rule import Rule
from rich.text import Text

from rightcall.report.figures import print_figures
from rightcall.report.judged import audit_lines, headline, judges_line, notes, review_line
from rightcall.report.one import print_results, stands_out, unit_of
from rightcall.report.plain import visible

if TYPE_CHECKING:
    from rich.console import Console

    from rightcall.run.judging.run import Judged

SHOWN = 12
"""How many single results are listed."""


def print_judged(console: Console, judged: Judged) -> None:
    """Print a finished run."""
    for line in notes(judged):
        console.print(Text(visible(line), warning_style(line)))
    for line in [*judges_line(judged), *headline(judged)]:
        console.print(Text(visible(line)))
    print_figures(console, judged.grader, judged.aggregate.summary())
    if judged.grader != "probe":
        for line in audit_lines(judged):
            console.print(Text(visible(line)))
        _print_failures(console, judged)
    for line in review_line(judged):
        console.print(Text(visible(line)))


def print_title(console: Console, name: str) -> None:
    """The line above the part of one grader, where several stand below each other."""
    console.print()
    console.print(Rule(Text(visible(name), "bold"), characters="─", align="left", style="dim"))


def warning_style(line: str) -> str:
    """How a line that must be seen first looks: a judge that is none is no mere warning."""
    return "bold red" if "not a judgement" in line else "yellow"


def _print_failures(console: Console, judged: Judged) -> None:
    """The first results that did not pass; only those are kept in memory."""
    kept: list[tuple[str, Any]] = []
    left = 0
    for line in judged.results():
        result = msgspec.json.decode(line)
        if not stands_out(result):
            continue
        if len(kept) < SHOWN:
            kept.append((unit_of(result), result))
        else:
            left += 1
    print_results(console, kept)
    if left:
        where = f"rightcall show {judged.run.id} --failed" if judged.run else "-o FILE writes all"
        console.print(Text(f"  … {left} more: {where}", "dim"))
    if kept and judged.run is not None:
        console.print(Text(f"  each in full: rightcall show {visible(kept[0][0])}", "dim"))

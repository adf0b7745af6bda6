"""A report in the terminal: of each grader what must be known first, its figures, and the results that stand out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING

from rich.rule import Rule
from rich.text import Text

from rightcall.report.cells import figures_table, line_of
from rightcall.report.plain import moment, visible
from rightcall.report.terminal.results import print_case, print_results, print_scores
from rightcall.report.view.model import Extent, Line, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import Console

    from rightcall.report.plain import Tone
    from rightcall.report.view.model import CaseView, GraderView, ReportView

SCREEN = Extent(value=48, lines=60, words=60, place=False)
"""A trace may have thousands of calls, and a value thousands of characters."""

WHOLE = Extent(None, None, None, place=False)

MOST_ROWS = 60
"""Rows of a table of results."""

_TONES: dict[Tone, str] = {"": "", "dim": "dim", "strong": "bold", "warning": "yellow", "bad": "red"}
_ANSWERS = {"FAIL": "red", "PASS": "green", "INCONCLUSIVE": "yellow"}
_WIDTH, _COLUMN = 80, 11
_NARROWEST = 26


@dataclass(frozen=True)
class Look:
    """How much of the results is shown.

    Attributes:
        explained: failures that are explained call by call, of graders that have calls to align.
        listed: results of the other graders that have a line.
        extent: how much of each result.
        is_whole: everything is explained, whatever came of it.
    """

    explained: int = 20
    listed: int = 12
    extent: Extent = SCREEN
    is_whole: bool = False


USUAL = Look()
ONE_TRACE = Look(extent=WHOLE, is_whole=True)


def print_report(console: Console, view: ReportView, look: Look = USUAL) -> None:
    """Print the report of a run that has just ended, as UX §1.3 gives it.

    Args:
        console: where to.
        view: the report.
        look: how much of the results.
    """
    for line in view.notes:
        print_line(console, line, warning_style(line))
    for part in view.graders:
        if len(view.graders) > 1:
            print_title(console, part.grader)
        mine = view.at(look.extent, part.grader)
        if part.columns:
            _print_scored(console, mine, part, look)
        else:
            _print_judged(console, mine, part, look)


def print_record(console: Console, view: ReportView, *, failed: bool = False) -> None:
    """Print a run on record: its figures, then its results, those that stand out first.

    Args:
        console: where to.
        view: the report.
        failed: only what did not pass.
    """
    status = "unfinished" if view.status == "running" else view.status
    console.print(Text(visible(f"{view.run_id} · {view.title} · {status} · {moment(view.started_at)}"), "bold"))
    for line in view.notes:
        print_line(console, line, "yellow")
    for part in view.graders:
        if len(view.graders) > 1:
            print_title(console, part.grader)
        for line in part.warnings:
            print_line(console, line, warning_style(line))
        for line in (*part.asked, *part.read, *part.headline):
            print_line(console, line)
        print_brief(console, part.brief)
        for line in part.audit:
            print_line(console, line)
        _print_listed(console, view.at(SCREEN, part.grader), part, failed=failed)
        for line in part.waits:
            print_line(console, line)


def print_title(console: Console, name: str) -> None:
    """The line above the part of one grader, where several stand below each other."""
    console.print()
    console.print(Rule(Text(visible(name), "bold"), characters="─", align="left", style="dim"))


def print_line(console: Console, text: str, style: str = "") -> None:
    """Print a line of text in which nothing is markup and nothing hidden."""
    console.print(line_of(text, style))


def warning_style(line: str) -> str:
    """How a line that must be seen first looks: a judge that is none is no mere warning."""
    return "bold red" if "not a judgement" in line else "yellow"


def print_brief(console: Console, brief: Iterable[Table | Line]) -> None:
    """Print the figures of a grader."""
    for one in brief:
        if isinstance(one, Line):
            print_line(console, one.text, _TONES[one.tone])
            continue
        widest = max(_NARROWEST, _WIDTH - _COLUMN * (len(one.columns) - 1))
        table = figures_table(*map(visible, one.columns[1:]), first=visible(one.columns[0]), widest=widest)
        for row in one.rows:
            table.add_row(*(Text(visible(cell)) for cell in row), style=_ANSWERS.get(row[-1]))
        console.print(table)


# ---- a grader whose results are scored call by call ------------------------------------------------------------------


def _print_scored(console: Console, view: ReportView, part: GraderView, look: Look) -> None:
    """Notes, a table, every failure explained, the counts."""
    for line in part.warnings:
        print_line(console, line, warning_style(line))
    is_short = part.counts.n <= MOST_ROWS or look.is_whole
    rows = list(islice(_of(view.cases() if is_short else view.failures(), part), MOST_ROWS))
    if rows:
        print_scores(console, part, rows)
    if left := part.counts.n - len(rows):
        console.print(Text(f"({left} of {part.counts.n} results are not in this table; -o FILE writes all)", "dim"))
    shown = view.cases() if look.is_whole else islice(view.failures(), look.explained)
    seen = 0
    for one in _of(shown, part):
        seen += 1
        if one.title:
            print_case(console, one)
    if not look.is_whole and (left := part.counts.listed - seen) > 0:
        console.print(Text(f"\n{left} more not shown: --trace ID prints one in full, -o FILE writes all"))
    console.print()
    for line in (*part.headline, *part.waits):
        print_line(console, line)


# ---- a grader with judges --------------------------------------------------------------------------------------------


def _print_judged(console: Console, view: ReportView, part: GraderView, look: Look) -> None:
    """Warnings, who judged, figures, what stands out, what waits."""
    for line in part.warnings:
        print_line(console, line, warning_style(line))
    for line in (*part.asked, *part.headline):
        print_line(console, line)
    print_brief(console, part.brief)
    for line in part.audit:
        print_line(console, line)
    if part.grader != "probe":  # a probe that worked is a figure; its single readings say nothing
        _print_failures(console, view, part, look.listed)
    for line in part.waits:
        print_line(console, line)


def _print_failures(console: Console, view: ReportView, part: GraderView, most: int) -> None:
    listed = list(islice(_of(view.failures(), part), most))
    print_results(console, listed)
    if left := part.counts.listed - len(listed):
        where = f"rightcall show {view.run_id} --failed" if view.run_id is not None else "-o FILE writes all"
        console.print(Text(f"  … {left} more: {where}", "dim"))
    if listed and listed[0].next:
        print_line(console, f"  each in full: {listed[0].next}", "dim")


def _print_listed(console: Console, view: ReportView, part: GraderView, *, failed: bool) -> None:
    """Results of a run on record, those that stand out first."""
    first = list(islice(_of(view.failures(), part), MOST_ROWS))
    seen = {one.unit for one in first}
    others = (one for one in _of(view.cases(), part) if one.unit not in seen and (not failed or _is_doubtful(one)))
    shown = list(islice(chain(first, others), MOST_ROWS))
    print_results(console, shown)
    if not shown:
        console.print(Text("every result on record passed" if failed else "no result is on record"))
    left = part.counts.listed - len(first) + sum(1 for _ in others) if failed else part.counts.n - len(shown)
    if left > 0:
        console.print(Text(f"  … {left} more: --json shows all", "dim"))
    if shown and part.grader != "probe":
        print_line(console, f"  each in full: {shown[0].next}", "dim")


def _is_doubtful(one: CaseView) -> bool:
    """Whether a result is worth a look although it is no failure: a preference that hangs on the order."""
    return one.kind == "order_inconsistent"


def _of(cases: Iterable[CaseView], part: GraderView) -> Iterator[CaseView]:
    return (one for one in cases if one.grader == part.grader)

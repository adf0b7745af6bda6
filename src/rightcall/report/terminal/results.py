"""Results in the terminal: as a table of scores, as a list with a few words about each, or one explained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from rightcall.report import plain
from rightcall.report.explain import MARKS, NOTHING, DiffRow, Explained
from rightcall.report.one import STYLES
from rightcall.report.terminal.verdict import print_explained, print_indented
from rightcall.report.view.verdict_words import answer_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

    from rightcall.report.view.model import CallLine, CaseView, GraderView

_LONGEST = 30
"""Characters for the name of a unit; of a longer one the middle is left out."""

_VETO = "veto: "
_VERDICTS = {"PASS": "green", "FAIL": "bold red"}


def scores_table(part: GraderView, cases: Sequence[CaseView]) -> Table:
    """Trace, case where it says something, the scores, the verdict."""
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    several = any(one.case_id != one.trace_id for one in cases)
    table.add_column("trace", overflow="fold")
    if several:
        table.add_column("case", overflow="fold")
    for name in part.columns:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", overflow="fold")
    for one in cases:
        names = [plain.visible(one.trace_id or "(no trace)")]
        names += [plain.visible(one.case_id or "")] if several else []
        figures = [*map(plain.number, one.scores), *[""] * (len(part.columns) - len(one.scores))]
        verdict = Text(plain.visible(answer_words(one)), _VERDICTS.get(one.word, "yellow"))
        table.add_row(*map(Text, names), *map(Text, figures), verdict)
    return table


def print_results(console: Console, cases: Iterable[CaseView]) -> None:
    """Print results, one a line as long as they fit: unit, answer, why, where a CRITICAL stands."""
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for one in cases:
        style = STYLES.get(one.word, "")
        about = " · ".join(text for text in (one.brief, one.stands) if text)
        unit = f"  {plain.shorten_middle(plain.visible(one.unit), _LONGEST)}"
        table.add_row(*(Text(cell, style) for cell in (unit, plain.visible(one.word), plain.visible(about))))
    if table.row_count:
        console.print(table)


def print_case(console: Console, one: CaseView) -> None:
    """Print one result in words, with its aligned diff, and say what was left out."""
    vetoes = [words.removeprefix(_VETO) for words in one.words if words.startswith(_VETO)]
    left = [words for words in one.words if words.startswith("… ")]
    reasons = [words for words in one.words if not words.startswith(_VETO) and words not in left]
    left += [f"… {note}" for line in one.lines if _is_rest(line) for note in line.notes]
    rows = tuple(_row(line) for line in one.lines if not _is_rest(line))
    console.print()
    print_explained(console, Explained(one.title, one.names, rows, tuple(vetoes), tuple(reasons), one.sums))
    for words in left:
        print_indented(console, f"{words}; `rightcall golden --trace ID` prints them all", "dim")
    if one.signed and one.stands:
        print_indented(console, one.stands)


def _is_rest(line: CallLine) -> bool:
    """Whether a line only says how many more there are."""
    return line.expected is None and line.actual is None


def _row(line: CallLine) -> DiffRow:
    """A line of the diff; what is said about one argument stands on a line of its own."""
    notes = [note for note in line.notes if not note.startswith("$")]
    details = tuple(note for note in line.notes if note.startswith("$"))
    return DiffRow(
        MARKS[line.state], line.expected or NOTHING, line.actual or NOTHING, "; ".join(notes), details, bad=line.bad
    )

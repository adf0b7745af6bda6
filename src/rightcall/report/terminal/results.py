"""Results in the terminal: as a table of scores, as a list with a few words about each, or one explained."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len, chop_cells
from rich.table import Table
from rich.text import Text

from rightcall.report import plain
from rightcall.report.cells import line_of, packed
from rightcall.report.explain import MARKS, NOTHING, DiffRow, Explained
from rightcall.report.one import STYLES
from rightcall.report.terminal.verdict import print_explained, print_indented
from rightcall.report.view.verdict_words import answer_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console

    from rightcall.report.view.model import CallLine, CaseView, GraderView

_GAP = 2
_NAME, _VERDICT = 8, 12
"""The least room for a name, and as much as a verdict takes before its words go on below."""

_JOINTS = "-_/.:#, "
"""Signs after which a name may go on below."""

_LONGEST = 30
"""Characters for the name of a unit; of a longer one the middle is left out."""

_VETO, _REST = "veto: ", "… "
_VERDICTS = {"PASS": "green", "FAIL": "bold red"}


def print_scores(console: Console, part: GraderView, cases: Sequence[CaseView]) -> None:
    """Print a table: trace, case where it says something, the scores, the verdict.

    Where it does not fit, names go on below, after one of their own signs if they can. Where there is not even room for
    that, each result has lines of its own.
    """
    rows = [_scored(one, part) for one in cases]
    widths = _widths(rows, part, console.width)
    if widths is None:
        for row in rows:
            _print_narrow(console, row, part)
        return
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    for head, width in zip(("trace", "case"), widths.names, strict=True):
        if width:
            table.add_column(head, no_wrap=True)
    for name in part.columns:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", width=widths.verdict)
    for row in rows:
        names = [_broken(name, width) for name, width in zip((row.trace, row.case), widths.names, strict=True) if width]
        table.add_row(*map(Text, names), *map(Text, row.figures), row.verdict)
    console.print(table)


class _Scored(NamedTuple):
    """A row of the table."""

    trace: str
    case: str
    figures: list[str]
    verdict: Text


class _Widths(NamedTuple):
    """Columns for trace and case (0: there is no such column), and for the verdict."""

    names: tuple[int, int]
    verdict: int


def _scored(one: CaseView, part: GraderView) -> _Scored:
    figures = [*map(plain.number, one.scores), *[""] * (len(part.columns) - len(one.scores))]
    verdict = Text(plain.visible(answer_words(one)), _VERDICTS.get(one.word, "yellow"))
    return _Scored(plain.visible(one.trace_id or "(no trace)"), plain.visible(one.case_id or ""), figures, verdict)


def _widths(rows: Sequence[_Scored], part: GraderView, width: int) -> _Widths | None:
    """How wide names and verdicts may be; `None` where there is too little room for a table."""
    several = any(row.case not in ("", row.trace) for row in rows)
    trace = _widest("trace", (row.trace for row in rows))
    case = _widest("case", (row.case for row in rows)) if several else 0
    verdicts = [row.verdict.plain for row in rows]
    verdict = _widest("verdict", verdicts)
    figures = [_widest(name, (row.figures[at] for row in rows)) for at, name in enumerate(part.columns)]
    free = width - sum(figures) - _GAP * (len(figures) + several + 1)
    if trace + case + verdict > free:
        word = _widest("verdict", (word for text in verdicts for word in text.split()))
        verdict = max(word, min(verdict, _VERDICT))
        left = free - verdict
        if left < min(trace, _NAME) + min(case, _NAME):
            return None
        case = min(case, max(left // 2, left - trace))
        trace = min(trace, left - case)
    return _Widths((trace, case), verdict)


def _widest(head: str, cells: Iterable[str]) -> int:
    return max(map(cell_len, (head, *cells)))


def _broken(text: str, width: int) -> str:
    """A name in lines of so many columns."""
    lines = []
    while cell_len(text) > width:
        piece = chop_cells(text, width)[0]
        joint = max(map(piece.rfind, _JOINTS)) + 1
        at = joint if joint > len(piece) // 3 else len(piece)
        lines.append(text[:at])
        text = text[at:]
    return "\n".join([*lines, text])


def _print_narrow(console: Console, row: _Scored, part: GraderView) -> None:
    """A result where there is no room for a table."""
    case = f" · case {row.case}" if row.case not in ("", row.trace) else ""
    console.print(Text.assemble(f"{row.trace}{case} · ", row.verdict))
    pairs = [f"{name} {figure}" for name, figure in zip(part.columns, row.figures, strict=True)]
    for line in packed(pairs, console.width - 2).split("\n"):
        console.print(line_of(f"  {line}", "dim"))


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
    reasons = [words for words in one.words if not words.startswith((_VETO, _REST))]
    left = [f"{words} reasons" for words in one.words if words.startswith(_REST)]
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

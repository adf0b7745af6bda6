"""A report as Markdown: the step summary of a CI, the comment on a pull request, a file.

What comes from traces, judges and files is data. It stands in code spans and fences, which hold neither Markdown nor
HTML, mentions nor links; control and direction characters are written out. Where the whole is too long it ends at the
end of a section, and says how much is left out.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from rightcall.report.explain import MARKS
from rightcall.report.plain import number, visible
from rightcall.report.view.model import Extent
from rightcall.report.view.verdict_words import (
    answer_of,
    answer_words,
    causes_beside,
    counts_words,
    listed_words,
    measured,
    verdict_line,
    what_else,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rightcall.gate.decision import Decision, GateReport, GraderDiff, JudgeFitness
    from rightcall.report.view.model import Bar, CaseView, GraderView, Matrix, ReportView, Table

LIMIT = 900_000
"""Bytes of a summary: GitHub takes no step summary above 1,024 kB."""

FAILURES = 20
"""Failures that are shown in full."""

LISTED = 80
"""Failures beyond those that have a line in a table."""

SCORED = 60
"""Rows of the table of scores; of longer runs only what is listed among the failures is in it."""

USUAL = Extent()
_FLIPS = 50
_DETAILS = 5
_ROWS = 50
_WORDS = 12
_PLAIN = re.compile(r"[A-Za-z≥≤][A-Za-z0-9 ,;:%–·≥≤./()=+'-]*")
_LINKED = re.compile(r"://|www\.|\bGH-\d|\b[0-9a-f]{7,40}\b|\n", re.IGNORECASE)


def render(view: ReportView, limit: int = LIMIT) -> str:
    """The whole report, at most so many bytes of UTF-8."""
    return trim("\n\n".join(_blocks(view)) + "\n", limit)


def text(item: str) -> str:
    """A text in which nothing is Markdown, for a line or a cell: plain words as they are, all else in a code span."""
    if _PLAIN.fullmatch(item) and not _LINKED.search(item):
        return item
    # A bar would end a cell even inside a code span, and a backslash before it would escape the escape.
    shown = visible(item).replace("|", "\\u007c").strip()
    if not shown:
        return "–"
    ticks = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    space = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{ticks}{space}{shown}{space}{ticks}"


def fence(lines: Iterable[str]) -> str:
    """Lines as they are, in a fence that they cannot close."""
    shown = [visible(line) for line in lines]
    longest = max((len(run) for line in shown for run in re.findall("`+", line)), default=0)
    ticks = "`" * max(3, longest + 1)
    return "\n".join([f"{ticks}text", *shown, ticks])


def trim(whole: str, limit: int) -> str:
    """A document of at most `limit` bytes: it ends after a block, or after a row of a table, and says what is missing.

    Args:
        whole: Markdown whose blocks are parted by empty lines; a fence is one block.
        limit: bytes of UTF-8.
    """
    if len(whole.encode()) <= limit:
        return whole
    blocks, used, room = _split(whole), 0, limit - 100
    for at, block in enumerate(blocks):
        size = len(block.encode()) + 2
        if used + size > room:
            kept = blocks[:at]
            if block.startswith("|") and (rows := _rows_within(block, room - used)):
                kept.append(rows)
            left = f"… {len(blocks) - at} more sections do not fit here: see the artifact"
            return "\n\n".join([*kept, left]) + "\n"
        used += size
    return whole


def _split(whole: str) -> list[str]:
    """The blocks of a document; empty lines inside a fence part nothing."""
    blocks: list[str] = []
    current: list[str] = []
    closing = ""
    for line in whole.rstrip("\n").split("\n"):
        if closing:
            closing = "" if line == closing else closing
        elif opened := re.match("`{3,}", line):
            closing = opened.group()
        elif not line:
            blocks += ["\n".join(current)] if current else []
            current = []
            continue
        current.append(line)
    return [*blocks, "\n".join(current)] if current else blocks


def _rows_within(table: str, room: int) -> str:
    """The head of a table and as many rows as fit; empty if not even one does."""
    kept, used = [], 0
    for row in table.split("\n"):
        used += len(row.encode()) + 1
        if used > room:
            break
        kept.append(row)
    return "\n".join(kept) if len(kept) > 2 else ""


# ---- blocks ----------------------------------------------------------------------------------------------------------


def _blocks(view: ReportView) -> Iterator[str]:
    yield f"# rightcall: {text(verdict_line(view))}"
    yield "\n".join(f"- {text(one.grader)}: {counts_words(one.counts)}" for one in view.graders) or "no result"
    if causes := causes_beside(view):
        yield "What keeps it from passing" + (", besides the gate:" if view.gate is not None else ":")
        yield "\n".join(f"- {text(cause)}" for cause in causes)
    notes = [
        *(view.gate.notes if view.gate is not None else ()),
        *view.notes,
        *(f"{one.grader}: {note}" for one in view.graders for note in one.warnings),
    ]
    if notes:
        yield "\n".join(f"> - {text(note)}" for note in dict.fromkeys(notes))
    if view.gate is not None:
        yield from _gate(view.gate)
    asked = [judge for one in (view.gate.decisions if view.gate is not None else ()) for judge in one.judges]
    yield from _fitness([*asked, *(judge for one in view.graders for judge in one.judges)])
    yield from _failures(view)
    for one in view.graders:
        yield from _grader(one, view)
    if view.facts:
        yield "## What this rests on"
        yield _table(("what", "value"), [*view.facts, ("rightcall", view.rightcall)], ())


def _gate(gate: GateReport) -> Iterator[str]:
    yield "## Gate"
    rows = [
        (
            one.name, one.rule, measured(one.value, one.threshold) if one.value is not None else one.metric,
            one.answer, what_else(one),
        )
        for one in gate.decisions
    ]  # fmt: skip
    yield _table(("gate", "rule", "value, 95 % interval", "answer", "why"), rows, ())
    details = [line for one in gate.decisions if one.answer != "PASS" for line in _details(one)]
    if details:
        yield "\n".join(details)
    for grader in gate.diff.graders if gate.diff is not None else ():
        yield from _since(grader, gate)


def _details(one: Decision) -> Iterator[str]:
    """What a person looks at first, and what to run next."""
    for item in one.details[:_DETAILS]:
        yield f"- {text(one.name)}: {text(item)}"
    left = max(0, len(one.details) - _DETAILS) + one.left_out
    if left:
        yield f"- {text(one.name)}: {left} more"
    if one.command:
        yield f"- {text(one.name)}: next {text(one.command)}"


def _fitness(judges: list[JudgeFitness]) -> Iterator[str]:
    rows = []
    for at, one in enumerate(judges):
        if one not in judges[:at]:
            on = f"{one.labels} labels" + (f", {one.split}" if one.split else "")
            figures = (measured(one.agreement), measured(one.detection), measured(one.people))
            rows.append((one.judge, one.grader, one.verdict, *figures, on, one.reason or ""))
    if rows:
        yield "## Are the judges fit to decide?"
        heads = (
            "judge",
            "grader",
            "verdict",
            "agreement",
            "FAILs of people caught",
            "people among them",
            "on",
            "why",
        )
        yield _table(heads, rows, ())


def _since(one: GraderDiff, gate: GateReport) -> Iterator[str]:
    yield f"### {text(one.grader)} since {text(gate.baseline or 'the baseline')}"
    if one.not_comparable:
        yield "\n".join(f"- not comparable: {text(why)}" for why in one.not_comparable)
    yield (
        f"{one.shared} shared cases: {one.lost} turned to fail, {one.gained} turned to pass, {one.both_passed} pass "
        f"in both, {one.both_failed} fail in both · difference {text(measured(one.difference))}"
        + ("" if one.p_value is None else f" · McNemar p = {one.p_value:.3g}")
    )
    if one.flips:
        rows = [(flip.case, flip.old, flip.new, flip.why) for flip in one.flips[:_FLIPS]]
        yield _table(("case", "before", "now", "why"), rows, ())
        left = len(one.flips) - _FLIPS
        if left > 0:
            yield f"… {left} more turned"
    for what, cases in (("new", one.new_cases), ("missing", one.missing_cases), ("unevaluable", one.unevaluable)):
        if cases:
            more = f" and {len(cases) - _ROWS} more" if len(cases) > _ROWS else ""
            yield f"{what} cases: " + ", ".join(map(text, cases[:_ROWS])) + more


def _failures(view: ReportView) -> Iterator[str]:
    failures = view.failures()
    first = list(islice(failures, FAILURES))
    if not first:
        return
    whole = sum(one.counts.listed for one in view.graders)
    yield "## Failures" if answer_of(view)[0] == "FAIL" else "## What to look at first"
    if words := listed_words(view):
        yield words
    for one in first:
        yield from _case(one)
    others = [(one.grader, one.unit, answer_words(one), one.brief) for one in islice(failures, LISTED)]
    if others:
        yield _table(("grader", "unit", "answer", "why"), others, ())
    left = whole - len(first) - len(others)
    if left > 0:
        yield f"… {left:,} more in the artifact"


def _case(one: CaseView) -> Iterator[str]:
    # A grader without verdicts has passed nothing: what is serious about its result is its kind.
    about = [one.grader, one.verdict or ("" if one.outcome == "passed" else one.outcome), one.kind]
    about += [f"case {one.case_id}"] if one.case_id not in (None, one.unit) else []
    about += [str(one.place)] if one.place is not None else []
    yield f"### {text(one.unit)}"
    yield " · ".join(text(item) for item in about if item)
    if one.lines:
        yield fence(diff_lines(one))
    words = [*one.words[:_WORDS], *([f"… {len(one.words) - _WORDS} more"] if len(one.words) > _WORDS else [])]
    said = [f"judge {judge}: {' / '.join(what.splitlines()[:3])}" for judge, what in one.said[:3]]
    signed = [f"signed: {one.signed}"] if one.signed else []
    lines = [*words, *one.sums, *signed, *said, *([one.next] if one.next else [])]
    if lines:
        yield "\n".join(f"- {text(line)}" for line in lines)


def diff_lines(one: CaseView) -> list[str]:
    """The aligned call diff of a case as lines of plain text: `= - + ≠`, the golden, the agent, what is wrong."""
    width = min(60, max((len(line.expected or "·") for line in one.lines), default=0))
    found = []
    for line in one.lines:
        golden, agent = line.expected or "·", line.actual or "·"
        found.append(f"{MARKS[line.state]} {golden:<{width}} | {agent}")
        found += [f"    {note}" for note in line.notes]
        if line.result is not None and line.notes:
            found.append(f"    result: {line.result}")
    return found


def _grader(one: GraderView, view: ReportView) -> Iterator[str]:
    yield f"## {text(one.grader)}"
    lines = dict.fromkeys(line.strip() for line in (*one.asked, *one.headline, *one.lines, *one.audit, *one.waits))
    if lines:
        yield "\n".join(f"- {text(line)}" for line in lines)
    if one.columns:
        yield from _scores(one, view)
    if one.bars:
        rows = [
            (bar.name, measured(bar.value, bar.threshold), str(bar.value.excluded), bar.value.method, _why(bar))
            for bar in one.bars
        ]
        yield _table(("figure", "value, 95 % interval", "left out", "interval", ""), rows, (2,))
    for table in one.tables:
        yield from _shown(table)
    for matrix in one.matrices:
        yield from _matrix(matrix)
    for diagram in one.reliability:
        yield f"**{text(diagram.caption)}**"
        if diagram.bins:
            bins = [(f"{one.low:g} – {one.high:g}", f"{one.stated:.3f}", measured(one.share)) for one in diagram.bins]
            yield _table(("confidence", "mean", "right, 95 % interval"), bins, (0, 1, 2))
        if diagram.notes:
            yield "\n".join(f"- {text(note)}" for note in diagram.notes)


def _scores(part: GraderView, view: ReportView) -> Iterator[str]:
    """The figures of single results: of all of them where they are few, else of those that are listed."""
    mine = view.at(USUAL, part.grader)
    found = (one for one in (mine.cases() if part.counts.n <= SCORED else mine.failures()) if one.grader == part.grader)
    rows = [
        (
            one.trace_id or "(no trace)", one.case_id or "", *(number(score) for score in one.scores),
            *("" for _ in range(len(part.columns) - len(one.scores))), answer_words(one),
        )
        for one in islice(found, SCORED)
    ]  # fmt: skip
    if rows:
        width = range(2, 2 + len(part.columns))
        yield _table(("trace", "case", *part.columns, "verdict"), rows, width)
    left = part.counts.n - len(rows)
    if left > 0:
        yield f"{left:,} of {part.counts.n:,} results are not in this table"


def _why(bar: Bar) -> str:
    """What must be known beside a figure: its note, and why it has no interval."""
    is_whole = bar.value.estimate is None or bar.value.low is not None
    return "; ".join(one for one in (bar.note, None if is_whole else bar.value.reason) if one)


def _shown(table: Table) -> Iterator[str]:
    yield f"**{text(table.caption)}**"
    yield _table(table.columns, table.rows[:_ROWS], table.numeric)
    if len(table.rows) > _ROWS:
        yield f"… {len(table.rows) - _ROWS} more rows in the artifact"


def _matrix(matrix: Matrix) -> Iterator[str]:
    yield f"**{text(matrix.caption)}**"
    heads = (f"{matrix.row_name}, {matrix.column_name} →", *matrix.labels)
    rows = [(label, *map(str, counts)) for label, counts in zip(matrix.labels, matrix.counts, strict=True)]
    yield _table(heads, rows, range(1, len(heads)))


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]], numeric: Iterable[int]) -> str:
    names, right = list(heads), set(numeric)
    lines = ["| " + " | ".join(text(name) if name else " " for name in names) + " |"]
    lines.append("| " + " | ".join("---:" if at in right else "---" for at in range(len(names))) + " |")
    lines.extend("| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows)
    return "\n".join(lines)


def _cell(cell: str) -> str:
    return cell if re.fullmatch(r"[0-9.,<–\[\] n=/of-]+", cell) else text(cell) if cell else " "

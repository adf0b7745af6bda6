"""The one view model of every report: what a run, its gate and its failures look like, whatever the format.

`rightcall.report.view.building` makes it from the results of a run; Markdown, JUnit XML, SARIF, CSV and HTML only write
it down. Texts are redacted plain text; whoever writes a format escapes them for it. Cases are a stream: nothing here
grows with their number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from msgspec import Struct

from rightcall.errors import Place
from rightcall.gate.decision import GateReport, JudgeFitness
from rightcall.report.plain import Tone
from rightcall.stats.calibration import Bin
from rightcall.stats.intervals import Estimate

Outcome = Literal["passed", "failed", "error", "waiting"]
"""`error`: no verdict. `waiting`: a person must act first (an open CRITICAL)."""

LineState = Literal["matched", "missing", "surplus", "substituted", "retry", "free", "optional", "wrong"]

Plain = str | int | float | bool | None
"""A value of a cell: as it is, or `None` for what is not known."""


class Bar(Struct, frozen=True, kw_only=True):
    """A figure with its interval, as a row of a table and a bar.

    `scale` is where the bar begins and ends; `threshold` a line in it; `note` what else must be known.
    """

    name: str
    value: Estimate
    scale: tuple[float, float] = (0.0, 1.0)
    threshold: float | None = None
    note: str = ""


class Table(Struct, frozen=True, kw_only=True):
    """A table: a caption, the heads of its columns, rows of text. `numeric`: the columns that hold numbers."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[int, ...] = ()


class Line(Struct, frozen=True):
    """A line of text, and how it stands out."""

    text: str
    tone: Tone = ""


class Matrix(Struct, frozen=True, kw_only=True):
    """A confusion matrix: `counts[row][column]`; `row_name` says what the rows are."""

    caption: str
    row_name: str
    column_name: str
    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


class Reliability(Struct, frozen=True, kw_only=True):
    """Stated confidence against what turned out right, for one judge. `across`: what the confidence is called."""

    caption: str
    bins: tuple[Bin, ...]
    notes: tuple[str, ...] = ()
    across: str = "stated confidence"


class CallLine(Struct, frozen=True, kw_only=True):
    """One line of the aligned call diff: what was expected, what was called; `None` where there is nothing.

    `notes` are the findings about this line, those that begin with `$` about one argument; `vetoes` the rules of the
    policy that it breaks; `bad` whether anything about it costs points.
    """

    state: LineState
    expected: str | None = None
    actual: str | None = None
    call_index: int | None = None
    result: str | None = None
    notes: tuple[str, ...] = ()
    vetoes: tuple[str, ...] = ()
    bad: bool = False


class PolicyFinding(Struct, frozen=True, kw_only=True):
    """Something about safety or severity, for SARIF: the rule, how bad, what, and where in the case file."""

    rule: str
    severity: str
    message: str
    vetoes: bool
    call_index: int | None = None


class CaseView(Struct, frozen=True, kw_only=True):
    """One result as a reader sees it.

    Attributes:
        grader, unit, case_id, trace_id: which one.
        outcome: see `Outcome`. aside: it was never to be judged, which is nobody's error.
        verdict: the grader's own word. word: its answer in one word: a verdict, a severity, a score, `UNEVALUABLE`.
        marks: what must be known beside it. brief: why, in a few words.
        kind: the kind of failure or the reason that there is no verdict: `wrong_tool`, `missing_call`, `no_trace` …
        words: what is wrong, one sentence each, the worst first.
        facts: name and value of what else is known: scores, severity, confidence.
        fields: the grader's own fields by name, every number as it is; see `GraderView.fields`.
        scores: the figures that a table of results shows, in the order of `GraderView.columns`; empty without any.
        place: the case in its file.
        title: the result in one line, where there is more to say than unit and word.
        names: what was expected and called, by name. lines: the aligned call diff; empty where there is none.
        sums: how the overall figure comes about.
        findings: for SARIF.
        said: what judges said: (judge, text).
        signed: what people have signed. stands: where its CRITICAL item stands, and what to do about an open one.
        next: the command that shows everything about it.
        tool: the tool that it is about first, to group by.
    """

    grader: str
    unit: str
    outcome: Outcome
    aside: bool = False
    case_id: str | None = None
    trace_id: str | None = None
    verdict: str | None = None
    word: str = ""
    marks: tuple[str, ...] = ()
    brief: str = ""
    kind: str = ""
    words: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    fields: tuple[tuple[str, Plain], ...] = ()
    scores: tuple[float | None, ...] = ()
    place: Place | None = None
    title: str = ""
    names: tuple[str, ...] = ()
    lines: tuple[CallLine, ...] = ()
    sums: tuple[str, ...] = ()
    findings: tuple[PolicyFinding, ...] = ()
    said: tuple[tuple[str, str], ...] = ()
    signed: str | None = None
    stands: str | None = None
    next: str | None = None
    tool: str | None = None


class Counts(Struct, frozen=True, kw_only=True):
    """Results of one grader by outcome.

    `unread`: what was selected and has no result at all. `aside`: how many of `error` were never to be judged, such as
    pairs that code leaves undecided in a run without judges: nothing is wrong with them. `serious`: how many of
    `passed` are listed among the failures all the same, since their grader gives no verdict: `HIGH` of a rubric, a
    misread result.
    """

    n: int = 0
    passed: int = 0
    failed: int = 0
    error: int = 0
    waiting: int = 0
    unread: int = 0
    aside: int = 0
    serious: int = 0

    @property
    def listed(self) -> int:
        """How many results the list of failures holds."""
        return self.failed + self.error - self.aside + self.waiting + self.serious


class GraderView(Struct, frozen=True, kw_only=True):
    """One grader's part of a report.

    Attributes:
        grader: which. counts: its results by outcome.
        headline: the counts in one to four lines, with what was asked again and spent.
        asked: who was asked, with which prompts. read: which files, and how that was not the usual way.
        lines: what must be read first, in words. warnings: what must be known before any figure.
        bars: its figures. tables: by tool, by category … matrices: confusion. reliability: of its judges.
        brief: the same figures where there are 80 columns. audit: how far its judges hold against code.
        judges: whether its judges are fit. waits: what waits for people, and the command that lists it.
        columns: the heads of `CaseView.scores`. fields: the names of `CaseView.fields`, in order.
    """

    grader: str
    counts: Counts
    headline: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    read: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    bars: tuple[Bar, ...] = ()
    tables: tuple[Table, ...] = ()
    matrices: tuple[Matrix, ...] = ()
    reliability: tuple[Reliability, ...] = ()
    brief: tuple[Table | Line, ...] = ()
    audit: tuple[str, ...] = ()
    judges: tuple[JudgeFitness, ...] = ()
    waits: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()


class Conclusion(Struct, frozen=True, kw_only=True):
    """What a command that has just run makes of everything: its gates, what broke, what its graders found.

    Attributes:
        answer: `PASS`, `FAIL`, `WAIT`, `INCONCLUSIVE`, `NOT_COMPARABLE`, `BROKEN` or `INTERRUPTED`.
        exit_code: what the command leaves with.
        causes: everything that keeps it from passing, in words, what wins first.
        taken: why the exit code is not that of the answer: the flag that says so; empty where it is.
    """

    answer: str
    exit_code: int
    causes: tuple[str, ...] = ()
    taken: str = ""


class Extent(Struct, frozen=True):
    """How much of a result is shown; `None` is everything.

    `value`: characters of a value of a call. `lines`: lines of the call diff. `words`: sentences. `place`: whether the
    place of its case is looked up, for which all cases are read once more.
    """

    value: int | None = 200
    lines: int | None = 200
    words: int | None = 40
    place: bool = True


def _no_cases() -> Iterator[CaseView]:
    return iter(())


@dataclass(frozen=True)
class ReportView:
    """A whole report.

    Attributes:
        title: what the report is about. run_id: the run on record, if it is.
        status: `finished`, `interrupted`, … message: why it ended early.
        facts: name and value: agent, judges, prompts, inputs, versions.
        notes: what must be known before any figure.
        graders: one part a grader. gate: what the gate says; `None` where none was asked.
        conclusion: what the command that ran it leaves with; `None` for a report that is made later.
        cases: gives every result anew, in a stable order.
        failures: gives those that did not pass anew, the worst first within a grader.
        again: gives `cases` and `failures` with another extent, of one grader or all (`None`).
    """

    title: str
    run_id: str | None
    status: str
    message: str | None = None
    started_at: str = ""
    rightcall: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    graders: tuple[GraderView, ...] = ()
    gate: GateReport | None = None
    conclusion: Conclusion | None = None
    cases: Callable[[], Iterator[CaseView]] = field(default=_no_cases, repr=False)
    failures: Callable[[], Iterator[CaseView]] = field(default=_no_cases, repr=False)
    again: Callable[[Extent, str | None], dict[str, Any]] | None = field(default=None, repr=False)

    def at(self, extent: Extent, grader: str | None = None) -> ReportView:
        """The same report with another extent of its cases, and with those of one grader alone."""
        return self if self.again is None else replace(self, **self.again(extent, grader))

"""A finished run as data, wherever it comes from: what gates, comparisons, reports and exports read.

A run holds the results of one grader or of several. Results are read as a stream, so that nothing grows with their
number; what a result is about (trace, case) is looked up only where somebody asks for it. What people have signed is
part of a result as it is read here: a confirmed CRITICAL counts as a failure, whatever the verdict says (SPEC §8).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Struct

from rightcall.grade.interpretation import InterpretationResult
from rightcall.grade.preference import PreferenceResult
from rightcall.grade.rubric import RubricResult
from rightcall.grade.selection import SelectionResult
from rightcall.grade.verdict import GoldenResult
from rightcall.review.signoffs import SignState
from rightcall.run.results.critical import Critical

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rightcall.case.case import Case
    from rightcall.trace.model import Trace

SUITE = "run"
"""What the record calls a run of several graders."""

RESULT_TYPES: dict[str, type[Struct]] = {
    "golden": GoldenResult, "selection": SelectionResult, "rubric": RubricResult, "preference": PreferenceResult,
    "interpretation": InterpretationResult,
}  # fmt: skip
"""The types of the results of our own graders; those of a user's own grader are read as `OwnResult`."""


class Row(Struct, frozen=True, kw_only=True):
    """One result of a run.

    Attributes:
        grader, unit: which result; a unit stands once for each grader.
        status, reason, verdict: as the grader gave them. decided_by: `code`, `judge`, `panel`; `None` if not known.
        line: the result as JSON, as `--json` gives it; redacted.
        trace, trace_b, case: names of the bodies on record; `None` where none is.
        case_version: tells two versions of a case apart, across stores; `None` where that is not known.
        critical: of a CRITICAL item, what people have done about it; `None` where there is none.
        signed: who signed and why, in words; `None` where nobody did. item: its CRITICAL item.
        review: why the result waits for people, or did.
        attempts: digests of the exchanges that it rests on.
    """

    grader: str
    unit: str
    status: Literal["EVALUATED", "UNEVALUABLE"]
    line: bytes
    reason: str | None = None
    verdict: str | None = None
    case_id: str | None = None
    trace_id: str | None = None
    step_id: str | None = None
    trial: int | None = None
    decided_by: str | None = None
    trace: str | None = None
    trace_b: str | None = None
    case: str | None = None
    case_version: str | None = None
    critical: SignState | None = None
    signed: str | None = None
    item: Critical | None = None
    review: tuple[str, ...] = ()
    attempts: tuple[str, ...] = ()

    @property
    def cluster(self) -> str:
        """What the unit of analysis is: the case; without one, the trace (STATISTICS §0)."""
        return self.case_id or self.trace_id or self.unit

    @property
    def effective(self) -> str | None:
        """The verdict as it counts: `FAIL` where a person has confirmed a CRITICAL misuse."""
        return "FAIL" if self.critical == "confirmed" else self.verdict

    def value(self) -> dict[str, Any]:
        """The result as plain values."""
        found: dict[str, Any] = msgspec.json.decode(self.line)
        return found

    def typed(self) -> Any:
        """The result as its grader's type."""
        kind = RESULT_TYPES.get(self.grader)
        if kind is None:
            from rightcall.grade.own import OwnResult

            kind = OwnResult
        return msgspec.json.decode(self.line, type=kind)


@dataclass(frozen=True)
class GraderResults:
    """What one grader answered in a run.

    Attributes:
        grader: its name.
        facts: what was judged, how, by whom (`judges`, `prompts`, `inputs` or `cases`, `profile` …).
        summary: counts and figures as the run's record keeps them: `n`, `evaluated`, `unevaluable`, `skipped`,
            `coverage`, and `own` for the figures of a judged grader.
        notes: what must be known before any figure and is in none: which records were not read, and why; known only
            of a run that has just ended.
        stream: gives the rows anew, in input order where that is known.
    """

    grader: str
    facts: Mapping[str, Any]
    summary: Mapping[str, Any]
    stream: Callable[[], Iterator[Row]] = field(repr=False)
    notes: tuple[str, ...] = ()

    def rows(self) -> Iterator[Row]:
        """Every result."""
        return self.stream()

    @property
    def unread(self) -> int:
        """What was selected and has no result at all: records that were not read, items that were not asked."""
        return int(self.summary.get("skipped") or 0) + int(self.summary.get("not_asked") or 0)


class Origin(Struct, frozen=True):
    """Where a suite stood when it was run: `branch` and `commit`; `None` where that is not known, or there is none."""

    branch: str | None = None
    commit: str | None = None

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Origin:
        """What the facts of a run say as `source`; nothing where they do not."""
        said = facts.get("source")
        known = said if isinstance(said, dict) else {}
        return cls(*(one if isinstance(one := known.get(name), str) else None for name in ("branch", "commit")))

    def __str__(self) -> str:
        """`main@8c1e4f2`; empty where nothing is known."""
        return "@".join(part for part in (self.branch or "", (self.commit or "")[:7]) if part)


class Sources(Struct, frozen=True, kw_only=True):
    """What a result is about, redacted: trace, case, and the second trace of a pair; `None` where none was kept."""

    trace: Trace | None = None
    case: Case | None = None
    trace_b: Trace | None = None


NOTHING = Sources()
NOWHERE = Origin()


def _nowhere(_row: Row) -> Sources:
    return NOTHING


@dataclass(frozen=True)
class RunResults:
    """A run of one or more graders.

    Attributes:
        id: the run on record; `None` where nothing was kept.
        name: what people call it: the id, or the file that it was read from.
        status: `finished`, `interrupted`, `stopped`, `broken`, or `running`.
        started_at: ISO 8601, UTC; empty where that is not known.
        graders: name -> its results, in the order in which they ran.
        message: why it ended early.
        sources: from a row to what it is about.
        store_name: where it is kept, as it may be shown.
        origin: on which branch, at which commit it was made.
        digest: of a file of results, what it says its content has; `None` where it says nothing.
        knows_signoffs: of a file of results, whether it says what people had signed.
        notes: what must be known about where it comes from.
    """

    id: str | None
    name: str
    status: str
    graders: Mapping[str, GraderResults]
    started_at: str = ""
    message: str | None = None
    store_name: str | None = None
    sources: Callable[[Row], Sources] = field(default=_nowhere, repr=False)
    origin: Origin = NOWHERE
    digest: str | None = None
    knows_signoffs: bool = False
    notes: tuple[str, ...] = ()

    @property
    def part(self) -> tuple[str, ...]:
        """That only cases of some tags were asked for, in words; empty where all were."""
        tags = dict.fromkeys(str(tag) for one in self.graders.values() for tag in one.facts.get("tags") or ())
        return (f"a part of the suite: only cases with the tag {' or '.join(tags)}",) if tags else ()

    def rows(self) -> Iterator[Row]:
        """Every result of every grader."""
        for one in self.graders.values():
            yield from one.rows()


_TAG = re.compile("⟦([a-z_]+):[0-9a-f]+⟧".encode())


def version_of_case(body: bytes) -> str:
    """What tells two versions of a case apart, in every store: the hash of its redacted JSON without redaction keys.

    A replacement such as `⟦card:9f3a⟧` is keyed by its store; without the digits it is the same everywhere.
    """
    return sha256(_TAG.sub(rb"\1", body)).hexdigest()[:16]

"""A run that has just ended, as the results that reports and gates read: from its spool, before anything is dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.run.finished.unread import unread_words
from rightcall.run.results.model import GraderResults, Origin, Row, RunResults, Sources

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rightcall.run.golden.grading import Graded
    from rightcall.run.judging.run import Judged


class _Head(msgspec.Struct, frozen=True):
    """What every result says about itself."""

    status: Any = "EVALUATED"
    reason: str | None = None
    verdict: str | None = None
    case_id: str | None = None
    trace_id: str | None = None
    step_id: str | None = None
    pair: str | None = None
    unit: str | None = None
    trial: int | None = None
    decided_by: str | None = None


_head = msgspec.json.Decoder(_Head)


def row_of(grader: str, line: bytes, seen: dict[str, int]) -> Row:
    """A row from a result's JSON alone.

    Args:
        grader: whose result it is.
        line: the JSON.
        seen: units so far; one that comes again gets a number, as on record.
    """
    head = _head.decode(line)
    name = head.pair or head.step_id or head.unit or head.trace_id or f"{head.case_id} (no trace)"
    seen[name] = seen.get(name, 0) + 1
    unit = name if seen[name] == 1 else f"{name} ({seen[name]})"
    return Row(
        grader=grader, unit=unit, status=head.status, reason=head.reason, verdict=head.verdict, line=line,
        case_id=head.case_id, trace_id=head.trace_id, step_id=head.step_id, trial=head.trial,
        decided_by=head.decided_by or ("code" if grader == "golden" else None),
    )  # fmt: skip


def graded_results(graded: Graded, run_id: str | None = None) -> RunResults:
    """A run of `golden`; the means of its metrics are left to who reads its results."""
    from rightcall.run.golden.keeping import counts_of, facts_of
    from rightcall.run.inputs.hiding import hidden_case, hidden_trace

    def stream() -> Iterator[Row]:
        seen: dict[str, int] = {}
        for line in graded.results():
            yield row_of("golden", line, seen)

    kept = {(one.result.trace_id, one.result.case_id): one for one in graded.kept}

    def sources(row: Row) -> Sources:
        found = kept.get((row.trace_id, row.case_id))
        if found is None:
            return Sources()
        hide = graded.plan.redactor  # what was kept for the terminal is not redacted yet
        return Sources(
            trace=None if found.trace is None else hidden_trace(found.trace, hide),
            case=None if found.case is None else hidden_case(found.case, hide),
        )

    one = GraderResults("golden", facts_of(graded.plan), counts_of(graded), stream, unread_words(graded))
    origin = Origin.of({"source": graded.plan.source})
    return RunResults(run_id, run_id or "golden", "finished", {"golden": one}, sources=sources, origin=origin)


def judged_results(judged: Judged, read: Sequence[Any] | None = None) -> RunResults:
    """A run of a judged grader.

    Args:
        judged: the run.
        read: its results, where they were read and the spool is gone.
    """
    from rightcall.run.judging.run import kept_summary

    def stream() -> Iterator[Row]:
        seen: dict[str, int] = {}
        for line in judged.results() if read is None else map(msgspec.json.encode, read):
            yield row_of(judged.grader, line, seen)

    status = "finished"
    if judged.stop is not None:
        status = "interrupted" if judged.stop.cause == "interrupted" else "stopped"
    run, facts = judged.run, judged.facts
    summary: Mapping[str, Any] = kept_summary(judged)
    return RunResults(
        None if run is None else run.id, judged.grader if run is None else run.id, status,
        {judged.grader: GraderResults(judged.grader, facts, summary, stream, unread_words(judged))},
        started_at="" if run is None else run.started_at,
        message=None if judged.stop is None else judged.stop.message, store_name=judged.store_name,
        origin=Origin.of(facts),
    )  # fmt: skip

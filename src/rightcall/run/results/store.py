"""A run on record, as the results that gates, comparisons, reports and exports read."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.case.case import Case
from rightcall.run.results.critical import by_unit
from rightcall.run.results.facts import facts_for, graders_in, summary_for
from rightcall.run.results.model import GraderResults, Origin, Row, RunResults, Sources, version_of_case
from rightcall.trace.model import Trace

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rightcall.run.results.critical import Critical
    from rightcall.store.records import RunEvent, RunRecord, VerdictRecord
    from rightcall.store.store import Store

AT_ONCE = 200
"""Results that are fetched together: asking for each by itself takes most of the time of reading a run."""

_MOST_VERSIONS = 100_000
"""Cases whose version is remembered: a run is read several times, and may have more cases than fit into memory."""


def stored_results(store: Store, run_id: str) -> RunResults:
    """A run on record. It is read from the open store, which must stay open as long as the results are used.

    Raises:
        StoreError: there is no such run.
    """
    run = store.run(run_id)
    events = list(store.events(run_id))
    event = events[-1] if events else None
    summary: Mapping[str, Any] = {} if event is None else event.summary
    reader = _Reader(store, run)
    graders = {
        name: GraderResults(
            name,
            facts_for(run, name),
            summary_for(run, summary, name),
            lambda name=name: reader.rows(name),  # type: ignore[misc]
        )
        for name in graders_in(run)
    }
    return RunResults(
        run.id, run.id, _status(event), graders, started_at=run.started_at,
        message=None if event is None else event.message, store_name=store.name, sources=reader.sources,
        origin=Origin.of(run.facts),
    )  # fmt: skip


def _status(event: RunEvent | None) -> str:
    if event is None:
        return "running"
    return "running" if event.status == "resumed" else event.status


class _Reader:
    """Reads one run; what people have done about it is looked up once."""

    def __init__(self, store: Store, run: RunRecord) -> None:
        self._store, self._run = store, run
        self._critical: dict[tuple[str, str], Critical] | None = None
        self._reasons: dict[tuple[str, str], list[str]] = {}
        self._versions: dict[str, str] = {}
        self._goldens: dict[str | None, str] | None = None

    def rows(self, grader: str) -> Iterator[Row]:
        """The current verdicts of one grader."""
        if self._critical is None:
            self._critical = by_unit(self._store, self._run.id)
            for _, review in self._store.reviews(run_id=self._run.id):
                self._reasons.setdefault((review.grader, review.unit), []).append(review.reason)
        verdicts = iter(self._store.find_verdicts(run_id=self._run.id, grader=grader))
        while some := list(islice(verdicts, AT_ONCE)):
            lines = self._store.bodies(one.result for one in some)
            versions = self._versions_of(some)
            for verdict, version in zip(some, versions, strict=True):
                yield self._row(verdict, lines[verdict.result], version)

    def _row(self, verdict: VerdictRecord, line: bytes, version: str | None) -> Row:
        key = (verdict.grader, verdict.unit)
        critical = (self._critical or {}).get(key)
        return Row(
            grader=verdict.grader, unit=verdict.unit, status=verdict.status, reason=verdict.reason,
            verdict=verdict.verdict, line=line, case_id=verdict.case_id, trace_id=verdict.trace_id,
            step_id=verdict.step_id, trial=_trial.decode(line).trial, decided_by=verdict.decided_by,
            trace=verdict.trace, trace_b=verdict.trace_b, case=verdict.case, case_version=version,
            critical=None if critical is None else critical.state, signed=_signed(critical), item=critical,
            review=tuple(dict.fromkeys(self._reasons.get(key, ()))), attempts=verdict.attempts,
        )  # fmt: skip

    def _versions_of(self, verdicts: Sequence[VerdictRecord]) -> list[str | None]:
        """The version of each result's case, asked for together."""
        cases = [self._case_of(one) for one in verdicts]
        if len(self._versions) > _MOST_VERSIONS:
            self._versions.clear()
        unknown = [case for case in cases if case is not None and case not in self._versions]
        for case, body in self._store.bodies(unknown).items():
            self._versions[case] = version_of_case(body)
        return [None if case is None else self._versions[case] for case in cases]

    def _case_of(self, verdict: VerdictRecord) -> str | None:
        """The body of a result's case. What is kept with a step is the step, so `golden` of the same run says it."""
        if verdict.grader != "selection":
            return verdict.case
        if self._goldens is None:
            found = self._store.find_verdicts(run_id=self._run.id, grader="golden")
            self._goldens = {one.case_id: one.case for one in found if one.case is not None}
        return self._goldens.get(verdict.case_id)

    def sources(self, row: Row) -> Sources:
        """What a result is about; a step has no case, so it comes without."""
        case = None if row.grader == "selection" else row.case
        bodies = self._store.bodies(name for name in (row.trace, row.trace_b, case) if name is not None)
        trace, trace_b = (None if name is None else _trace.decode(bodies[name]) for name in (row.trace, row.trace_b))
        return Sources(trace=trace, case=None if case is None else _case.decode(bodies[case]), trace_b=trace_b)


_trace = msgspec.json.Decoder(Trace)
_case = msgspec.json.Decoder(Case)


class _Trial(msgspec.Struct, frozen=True):
    trial: int | None = None


_trial = msgspec.json.Decoder(_Trial)


def _signed(critical: Critical | None) -> str | None:
    if critical is None or critical.who is None:
        return None
    return f"{critical.state} by {critical.who}: {critical.reason}"

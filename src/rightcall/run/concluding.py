"""A conclusion as records: the verdict with its trace and case, and what waits for people, written as one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rightcall.run.clock import now
from rightcall.run.record import sha256_of
from rightcall.store.records import CaseRecord, ReviewRecord, TraceRecord, VerdictRecord

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rightcall.run.attempt import Outcome
    from rightcall.run.items import Concluded, Item
    from rightcall.run.resuming import Before
    from rightcall.run.secrets import Cleaner
    from rightcall.store.records import Record, RunRecord
    from rightcall.store.writer import Writer


@dataclass
class Verdicts:
    """Writes the verdicts of one run.

    Attributes:
        run: the run. grader: its grader.
        writer: where they go.
        cleaner: takes secrets out of what a reviewer reads.
        before: what the run had on record when it went on.
    """

    run: RunRecord
    grader: str
    writer: Writer
    cleaner: Cleaner
    before: Before
    _kept: set[str] = field(default_factory=set)

    async def write(self, item: Item, outcomes: Sequence[Outcome], done: Concluded, line: bytes) -> None:
        """Write a conclusion; it is committed when this returns.

        Args:
            item: what was judged.
            outcomes: of all questions about it.
            done: what was concluded.
            line: the result as JSON.

        Raises:
            StoreError: nothing of it was written.
        """
        bodies = [line]
        trace, case = self._body(item.trace, bodies), self._body(item.case, bodies)
        records: list[Record] = [*self._sources(item, trace, case)]
        records.append(self._verdict(item, outcomes, done, sha256_of(line), trace, case))
        records += self._reviews(item, done)
        await self.writer.append(records, bodies)

    def _body(self, body: bytes | None, bodies: list[bytes]) -> str | None:
        """The name of a body, which is written where this run has not written it yet."""
        if body is None:
            return None
        sha = sha256_of(body)
        if sha not in self._kept:
            bodies.append(body)
        return sha

    def _sources(self, item: Item, trace: str | None, case: str | None) -> Iterator[Record]:
        """The trace and the case, where this run has not written them yet."""
        if trace is not None and trace not in self._kept:
            yield TraceRecord(body=trace, id=item.trace_id or "", case_id=item.case_id)
        if case is not None and case not in self._kept:
            yield CaseRecord(body=case, id=item.case_id or item.step_id or "")
        self._kept.update(sha for sha in (trace, case) if sha is not None)

    def _verdict(
        self, item: Item, outcomes: Sequence[Outcome], done: Concluded, result: str, trace: str | None,
        case: str | None,
    ) -> VerdictRecord:  # fmt: skip
        before = self.before.revisions.get(item.unit)
        return VerdictRecord(
            run_id=self.run.id, grader=self.grader, unit=item.unit, result=result, status=done.result.status,
            reason=done.result.reason, verdict=done.result.verdict,
            score=getattr(done.result, "overall_score", None),
            case_id=item.case_id, trace_id=item.trace_id, step_id=item.step_id, trace=trace, case=case,
            revision=0 if before is None else before + 1,
            attempts=tuple(digest for outcome in outcomes for digest in outcome.attempts), decided_by=done.decided_by,
        )  # fmt: skip

    def _reviews(self, item: Item, done: Concluded) -> Iterator[ReviewRecord]:
        """What waits for people; what waits already, from before the run went on, is not written twice."""
        for review in done.reviews:
            if (item.unit, review.reason) in self.before.reviewed:
                continue
            yield ReviewRecord(
                run_id=self.run.id, grader=self.grader, unit=item.unit, reason=review.reason, created_at=now(),
                detail=self.cleaner.text(review.detail), severity=review.severity, probability=review.probability,
                case_id=item.case_id, trace_id=item.trace_id, step_id=item.step_id,
            )  # fmt: skip

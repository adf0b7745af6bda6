"""A conclusion as records: the verdict with its trace and case, and what waits for people, written as one."""

from __future__ import annotations

from dataclasses import dataclass
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
        trace, case = (None if body is None else sha256_of(body) for body in (item.trace, item.case))
        records: list[Record] = []
        if trace is not None:
            records.append(TraceRecord(body=trace, id=item.trace_id or "", case_id=item.case_id))
        if case is not None:
            records.append(CaseRecord(body=case, id=item.case_id or item.step_id or ""))
        records.append(self._verdict(item, outcomes, done, sha256_of(line), trace, case))
        records += self._reviews(item, done)
        # The store leaves alone what it has: what is on record is not remembered here a second time.
        await self.writer.append(records, [body for body in (line, item.trace, item.case) if body is not None])

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

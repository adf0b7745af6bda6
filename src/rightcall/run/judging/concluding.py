"""A conclusion as records: the verdict with its trace and case, and what waits for people, written as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from rightcall.run.judging.clock import now
from rightcall.run.judging.record import sha256_of
from rightcall.store.records import CaseRecord, ReviewRecord, TraceRecord, VerdictRecord

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rightcall.run.judging.attempt import Outcome
    from rightcall.run.judging.items import Concluded, Item
    from rightcall.run.judging.resuming import Before
    from rightcall.run.judging.secrets import Cleaner
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
        staged: whether a unit can be concluded more than once.
    """

    run: RunRecord
    grader: str
    writer: Writer
    cleaner: Cleaner
    before: Before
    staged: bool = False

    async def write(
        self, item: Item, outcomes: Sequence[Outcome], done: Concluded, line: bytes,
        earlier: VerdictRecord | None = None,
    ) -> list[str]:  # fmt: skip
        """Write a conclusion; it is committed when this returns.

        Args:
            item: what was judged.
            outcomes: of all questions about it.
            done: what was concluded.
            line: the result as JSON.
            earlier: the verdict that it replaces, if the run has one already.

        Returns:
            The reasons for which it was put down for review.

        Raises:
            StoreError: nothing of it was written.
        """
        trace, trace_b, case = (
            None if body is None else sha256_of(body) for body in (item.trace, item.trace_b, item.case)
        )
        records: list[Record] = []
        for body, id_ in ((trace, item.trace_id), (trace_b, item.trace_b_id)):
            if body is not None:
                records.append(TraceRecord(body=body, id=id_ or "", case_id=item.case_id))
        if case is not None:
            records.append(CaseRecord(body=case, id=item.case_id or item.step_id or ""))
        verdict = self._verdict(item, outcomes, done, sha256_of(line), earlier)
        records.append(msgspec.structs.replace(verdict, trace=trace, trace_b=trace_b, case=case))
        reviews = list(self._reviews(item, done))
        if self.staged:
            self.before.reviewed.update((item.unit, review.reason) for review in reviews)
        # The store leaves alone what it has: what is on record is not remembered here a second time.
        bodies = (line, item.trace, item.trace_b, item.case)
        await self.writer.append([*records, *reviews], [body for body in bodies if body is not None])
        return [review.reason for review in reviews]

    def _verdict(
        self, item: Item, outcomes: Sequence[Outcome], done: Concluded, result: str, earlier: VerdictRecord | None
    ) -> VerdictRecord:
        before = self.before.revisions.get(item.unit) if earlier is None else earlier.revision
        attempts = [*(earlier.attempts if earlier is not None else ())]
        attempts += [digest for outcome in outcomes for digest in outcome.attempts]
        return VerdictRecord(
            run_id=self.run.id, grader=self.grader, unit=item.unit, result=result, status=done.result.status,
            reason=done.result.reason, verdict=done.result.verdict,
            score=getattr(done.result, "overall_score", None),
            case_id=item.case_id, trace_id=item.trace_id, step_id=item.step_id,
            revision=0 if before is None else before + 1, attempts=tuple(attempts), decided_by=done.decided_by,
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

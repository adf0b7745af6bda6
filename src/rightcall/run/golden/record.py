"""A run of `golden` on record: its traces, cases and verdicts, redacted, in whole batches.

`golden` asks nobody and can be repeated at any time, so it only goes on record where the project keeps a store.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.errors import Place, StoreError
from rightcall.grade.verdict import GoldenResult
from rightcall.run.judging.clock import now, today
from rightcall.run.judging.record import sha256_of
from rightcall.store.records import CaseRecord, ReviewRecord, RunEvent, TraceRecord, VerdictRecord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rightcall.store.records import Record, RunRecord, RunStatus
    from rightcall.store.store import Store


class GoldenRecorder:
    """Writes one run of `golden`.

    Args:
        store: where to.
        facts: what is graded against what.
        within: the run of several graders that this one is a part of; it has begun already, and ends elsewhere. What
            it has on record is not written twice.

    Attributes:
        run: the run on record.
    """

    def __init__(self, store: Store, facts: dict[str, Any], within: RunRecord | None = None) -> None:
        """Take a run id, or look up what is on record."""
        self._store = store
        self.run = within if within is not None else store.new_run("golden", today(), now(), facts)
        self._before: dict[str, str] = {}
        if within is not None:
            there = store.find_verdicts(run_id=within.id, grader="golden")
            self._before = {verdict.unit: verdict.result for verdict in there}
        self._units: Counter[str] = Counter()
        self._kept: set[str] = set()

    def take(self, lines: Sequence[bytes], kept: Sequence[tuple[bytes | None, bytes | None]]) -> None:
        """Write every result of a batch with its trace and case, in one transaction.

        Args:
            lines: the results as JSON, redacted.
            kept: the redacted trace and case of each.

        Raises:
            StoreError: nothing of the batch was written; `STORE_CONFLICT` where another result is on record.
        """
        records: list[Record] = []
        bodies: list[bytes] = []
        for line, (trace, case) in zip(lines, kept, strict=True):
            self._one(line, trace, case, records, bodies)
        if records:
            self._store.write(records, bodies)

    def _one(
        self, line: bytes, trace: bytes | None, case: bytes | None, records: list[Record], bodies: list[bytes]
    ) -> None:
        result = msgspec.json.decode(line, type=GoldenResult)
        unit = self._unit(result)
        if (there := self._before.pop(unit, None)) is not None:
            self._refuse_another(unit, there, sha256_of(line))
            return
        bodies.append(line)
        trace_sha, case_sha = self._body(trace, bodies), self._body(case, bodies)
        if trace_sha is not None:
            records.append(TraceRecord(body=trace_sha, id=result.trace_id or "", case_id=result.case_id))
        if case_sha is not None and case_sha not in self._kept:
            records.append(CaseRecord(body=case_sha, id=result.case_id or ""))
            self._kept.add(case_sha)
        records.append(
            VerdictRecord(
                run_id=self.run.id,
                grader="golden",
                unit=unit,
                result=sha256_of(line),
                status=result.status,
                reason=result.reason,
                verdict=result.verdict,
                score=result.metrics.overall,
                case_id=result.case_id,
                trace_id=result.trace_id,
                trace=trace_sha,
                case=case_sha,
                decided_by="code",
            )
        )
        records += self._reviews(result, unit)

    def _unit(self, result: GoldenResult) -> str:
        """What the result is called in this run: a trace that comes again gets a number."""
        name = result.trace_id or f"{result.case_id} (no trace)"
        self._units[name] += 1
        return name if self._units[name] == 1 else f"{name} ({self._units[name]})"

    def _refuse_another(self, unit: str, there: str, here: str) -> None:
        """Refuse to count another result than the one that the run has on record already."""
        if there != here:
            raise StoreError(
                f"golden says something else about `{unit}` than run {self.run.id} has on record",
                code="STORE_CONFLICT", place=Place(self._store.name),
                hint="another version of rightcall began it: begin anew",
            )  # fmt: skip

    def _body(self, body: bytes | None, bodies: list[bytes]) -> str | None:
        if body is None:
            return None
        bodies.append(body)
        return sha256_of(body)

    def _reviews(self, result: GoldenResult, unit: str) -> list[Record]:
        ids = {"case_id": result.case_id, "trace_id": result.trace_id}
        common: dict[str, Any] = {"run_id": self.run.id, "grader": "golden", "unit": unit, "created_at": now(), **ids}
        if result.status == "UNEVALUABLE":
            return [ReviewRecord(reason="unevaluable", detail=result.reason or "", **common)]
        if not result.vetoes or result.verdict != "FAIL":
            return []
        words = "; ".join(veto.message for veto in result.vetoes)
        worst = "CRITICAL" if any(veto.severity == "CRITICAL" for veto in result.vetoes) else result.vetoes[0].severity
        return [ReviewRecord(reason="policy_veto", detail=words, severity=worst, **common)]

    def end(self, status: RunStatus, summary: dict[str, Any], message: str | None = None) -> None:
        """Note how the run ended."""
        plain = msgspec.json.decode(msgspec.json.encode(summary))
        self._store.write([RunEvent(run_id=self.run.id, at=now(), status=status, message=message, summary=plain)])

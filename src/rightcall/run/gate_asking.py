"""Where a gate asks that people look at every failure, each failure needs an item that they can answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rightcall.run.clock import now
from rightcall.run.gate_lines import is_by_design, line_of, why
from rightcall.store.records import ReviewRecord

if TYPE_CHECKING:
    from rightcall.run.results import Row, RunResults
    from rightcall.store.store import Store

_TOGETHER = 500


def ask_people(store: Store, results: RunResults) -> int:
    """Put every failure and every result without a verdict into the review queue that is not there yet; how many.

    A failure is asked for as `HIGH`: a suite that wants each of them signed takes each of them for serious.
    """
    waiting: list[ReviewRecord] = []
    asked = 0
    for row in results.rows():
        if row.review or row.critical is not None or is_by_design(row):
            continue
        if row.effective == "FAIL" or row.status != "EVALUATED":
            waiting.append(_item(row, results.id or ""))
            asked += 1
        if len(waiting) >= _TOGETHER:
            store.write(waiting)
            waiting = []
    store.write(waiting)
    return asked


def _item(row: Row, run_id: str) -> ReviewRecord:
    failed = row.status == "EVALUATED"
    return ReviewRecord(
        run_id=run_id, grader=row.grader, unit=row.unit, created_at=now(), reason="HIGH" if failed else "unevaluable",
        severity="HIGH" if failed else None, detail=f"the gate asks for every failure: {why(row, line_of(row))}",
        case_id=row.case_id, trace_id=row.trace_id, step_id=row.step_id,
    )  # fmt: skip

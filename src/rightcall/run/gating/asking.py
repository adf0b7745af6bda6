"""What people have looked at, and where a gate asks that they look at every failure: an item for each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rightcall.run.gating.lines import is_by_design, why
from rightcall.run.judging.clock import now
from rightcall.run.results.line import line_of
from rightcall.store.records import ReviewRecord, item_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from rightcall.run.results.model import Row, RunResults
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


def looked_at(store: Store | None, results: RunResults) -> Callable[[Row], str | None]:
    """Who has answered which item of a run: one look at all answers, and one entry an item."""
    if store is None or results.id is None or results.store_name is None:
        return lambda _row: None
    run_id, said = results.id, {}
    for _, _, answer in store.queue.answers(run_id=run_id):
        if answer.unsure is None:
            said[answer.item] = f"answered by {answer.who}"
    return lambda row: said.get(item_of(run_id, row.grader, row.unit))

"""The verdicts of a run as rows: which result, what it says and counts as, what people did about it, who decided."""

from __future__ import annotations

from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, Any

from rightcall.grade.own import OwnResult
from rightcall.run.results.columns import Kind, columns_of, together
from rightcall.run.results.judge_use import judges_of
from rightcall.run.results.model import RESULT_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rightcall.run.results.model import GraderResults, Row, RunResults
    from rightcall.store.records import AttemptRecord
    from rightcall.store.store import Store
    from rightcall.store.waiting import QueueItem

FIRST: dict[str, Kind] = {
    "run": "text", "grader": "text", "unit": "text", "case_id": "text", "trace_id": "text", "step_id": "text",
    "trial": "integer", "status": "text", "reason": "text", "verdict": "text", "effective_verdict": "text",
    "decided_by": "text", "critical": "text", "signed": "text", "review_reasons": "json", "review_state": "text",
    "review_item": "text", "judge": "text", "model": "text", "prompt_id": "text", "prompt_version": "text",
    "prompt_sha256": "text", "record": "text", "result_sha256": "text", "trace_sha256": "text",
    "trace_b_sha256": "text", "case_sha256": "text", "case_version": "text", "attempts": "json",
}  # fmt: skip
"""The columns that every verdict has; those of its result follow."""

_AT_ONCE = 200
_PLUS = " + "


def verdict_columns(graders: Sequence[str]) -> dict[str, Kind]:
    """The columns of the verdicts of these graders: `FIRST`, then what their results have besides."""
    kinds = together(columns_of(RESULT_TYPES.get(name, OwnResult)).kinds for name in graders)
    return {**FIRST, **{name: kind for name, kind in kinds.items() if name not in FIRST}}


def verdict_rows(store: Store, results: RunResults, graders: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The verdicts of some graders of a run on record as rows, in the order of the record.

    Values of `json` columns are JSON values. Several judges, models or prompts of one verdict are joined by ` + `.

    Args:
        store: where the run is kept.
        results: the run.
        graders: names of its graders.
    """
    from rightcall.store.waiting import Only

    run_id = results.id or ""
    items = {(item.grader, item.unit): item for item in store.queue.items(Only(run_id=run_id))}
    for name in graders:
        reader = _Reader(store, run_id, results.graders[name], items)
        rows = results.graders[name].rows()
        while some := list(islice(rows, _AT_ONCE)):
            yield from reader.rows(some)


class _Reader:
    """Makes the rows of one grader, looking up what they name for many at a time."""

    def __init__(
        self, store: Store, run_id: str, part: GraderResults, items: Mapping[tuple[str, str], QueueItem]
    ) -> None:
        self._store, self._run_id, self._items = store, run_id, items
        self._grader = part.grader
        self._columns = columns_of(RESULT_TYPES.get(part.grader, OwnResult)).without(FIRST)
        self._models = {one["name"]: one.get("model") or None for one in judges_of(part.facts)}

    def rows(self, some: Sequence[Row]) -> Iterator[dict[str, Any]]:
        from rightcall.store.picking import attempts_named, verdict_digests

        digests = verdict_digests(self._store.database, self._run_id, self._grader, [row.unit for row in some])
        attempts = attempts_named(
            self._store.database, dict.fromkeys(digest for row in some for digest in row.attempts)
        )
        for row in some:
            yield self._row(row, digests.get(row.unit), [attempts[one] for one in row.attempts if one in attempts])

    def _row(self, row: Row, record: str | None, attempts: Sequence[AttemptRecord]) -> dict[str, Any]:
        plain = row.value()
        item = self._items.get((row.grader, row.unit))
        opinions = plain.get("judges") or ()
        asked = [one for one in attempts if one.purpose != "probe" and one.prompt_id]
        first = {
            "run": self._run_id, "grader": row.grader, "unit": row.unit, "case_id": row.case_id,
            "trace_id": row.trace_id, "step_id": row.step_id, "trial": row.trial, "status": row.status,
            "reason": row.reason, "verdict": row.verdict, "effective_verdict": row.effective,
            "decided_by": row.decided_by, "critical": row.critical, "signed": row.signed,
            "review_reasons": list(row.review), "review_state": None if item is None else item.state,
            "review_item": None if item is None else item.item[:11],
            "judge": _joined(one.get("judge") for one in opinions),
            "model": _joined(one.get("model") or self._models.get(one.get("judge")) for one in opinions),
            "prompt_id": _joined(one.prompt_id for one in asked),
            "prompt_version": _joined(one.prompt_version for one in asked),
            "prompt_sha256": _joined(one.prompt_sha256 for one in asked), "record": record,
            "result_sha256": sha256(row.line).hexdigest(), "trace_sha256": row.trace, "trace_b_sha256": row.trace_b,
            "case_sha256": row.case, "case_version": row.case_version, "attempts": list(row.attempts),
        }  # fmt: skip
        return first | self._columns.cells(plain)


def _joined(names: Iterator[str | None]) -> str | None:
    return _PLUS.join(dict.fromkeys(name for name in names if name)) or None

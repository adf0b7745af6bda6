"""Looking things up in the record: a run, a review item, everything about a step, a trace or a case."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from rightcall.errors import ConfigError, StoreError
from rightcall.store.records import AttemptRecord, ReviewRecord, RunEvent, RunRecord, VerdictRecord

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rightcall.store.store import Store

URGENCY = (
    "CRITICAL", "unevaluable", "HIGH", "policy_veto", "order_inconsistent", "injection_suspected", "low_confidence",
    "low_fidelity", "judge_conflict", "label_challenged", "panel_disagreement", "tie", "random",
)  # fmt: skip
"""Reasons of review, most urgent first."""


class Found(Struct, frozen=True, kw_only=True):
    """What is on record under an id.

    Attributes:
        kind: `run`, `review`, or `unit` for a step, a trace or a case.
        run, event: the run and what became of it, for a run.
        review: the item, for a review item.
        results: (verdict record, result as `--json` gives it).
        attempts: (log entry, attempt), for anything but a run.
    """

    id: str
    kind: str
    run: RunRecord | None = None
    event: RunEvent | None = None
    review: ReviewRecord | None = None
    results: tuple[tuple[VerdictRecord, Any], ...] = ()
    attempts: tuple[tuple[int, AttemptRecord], ...] = ()


class WholeAttempt(Struct, frozen=True, kw_only=True):
    """One exchange with its texts."""

    seq: int
    digest: str
    attempt: AttemptRecord
    system: str
    user: str
    reply: str | None


class ReviewItem(Struct, frozen=True, kw_only=True):
    """One review item with its id."""

    id: str
    item: ReviewRecord


def find(store: Store, wanted: str, *, failed: bool = False) -> Found:
    """What an id stands for.

    Args:
        store: the record.
        wanted: the id.
        failed: of a run, only what has no `PASS` (and, for graders without verdicts, what has none at all).

    Raises:
        ConfigError: nothing is on record under it.
    """
    if wanted.startswith("rv-"):
        return _review(store, wanted)
    run = next(((run, event) for run, event in store.runs() if run.id == wanted), None)
    if run is not None:
        results = (pair for pair in _results(store, store.verdicts(wanted)) if not failed or _did_not_pass(pair))
        return Found(id=wanted, kind="run", run=run[0], event=run[1], results=tuple(results))
    verdicts = _about(store, wanted)
    if not verdicts:
        raise ConfigError(
            f"nothing is on record under `{wanted}`", hint="rightcall runs lists the runs, review list the items"
        )
    return Found(
        id=wanted, kind="unit", results=tuple(_results(store, iter(verdicts))), attempts=_attempts(store, verdicts)
    )


def _review(store: Store, wanted: str) -> Found:
    item = next((review for name, review in store.reviews() if name == wanted), None)
    if item is None:
        raise ConfigError(f"there is no review item `{wanted}`", hint="rightcall review list names them")
    verdict = store.verdict(item.run_id, item.unit, item.grader)
    verdicts = [] if verdict is None else [verdict]
    return Found(
        id=wanted, kind="review", review=item, results=tuple(_results(store, iter(verdicts))),
        attempts=_attempts(store, verdicts),
    )  # fmt: skip


def _about(store: Store, wanted: str) -> list[VerdictRecord]:
    """Current verdicts of all runs about a step, a trace or a case, newest run last."""
    for name in ("unit", "trace_id", "case_id"):
        found = list(store.find_verdicts(**{name: wanted}))
        if found:
            return found
    return []


def _results(store: Store, verdicts: Iterator[VerdictRecord]) -> Iterator[tuple[VerdictRecord, Any]]:
    for verdict in verdicts:
        yield verdict, msgspec.json.decode(store.body(verdict.result))


def _did_not_pass(pair: tuple[VerdictRecord, Any]) -> bool:
    verdict, result = pair
    if verdict.verdict is not None or verdict.status != "EVALUATED":
        return verdict.verdict != "PASS"
    return result.get("misuse_severity") in ("CRITICAL", "HIGH")


def _attempts(store: Store, verdicts: list[VerdictRecord]) -> tuple[tuple[int, AttemptRecord], ...]:
    found = []
    for verdict in verdicts:
        for digest in verdict.attempts:
            seq, _, attempt = store.attempt(digest)
            found.append((seq, attempt))
    return tuple(found)


def whole_attempt(store: Store, entry: str) -> WholeAttempt:
    """One exchange with its texts, by number of the log entry or by digest.

    Raises:
        StoreError: there is none.
    """
    try:
        seq, digest, attempt = store.attempt(int(entry) if entry.isdigit() and len(entry) < 16 else entry)
    except StoreError as error:
        raise ConfigError(error.message, hint="rightcall log list shows the entries") from None
    reply = None if attempt.reply is None else store.body(attempt.reply).decode()
    return WholeAttempt(
        seq=seq, digest=digest, attempt=attempt, system=store.body(attempt.system).decode(),
        user=store.body(attempt.user).decode(), reply=reply,
    )  # fmt: skip


def last_attempts(store: Store, limit: int, **where: str | None) -> list[tuple[int, str, AttemptRecord]]:
    """The last exchanges that have what is given, oldest first."""
    return list(deque(store.attempts(**where), maxlen=limit))  # type: ignore[arg-type]


def review_items(store: Store, run: str | None, reason: str | None) -> list[ReviewItem]:
    """The review items, most urgent first, then by id so that nobody can see the order of the run.

    Raises:
        StoreError: an unknown run. ConfigError: an unknown reason.
    """
    if reason is not None and reason not in URGENCY:
        raise ConfigError(f"`{reason}` is no reason for a review", hint=f"known: {', '.join(URGENCY)}")
    if run is not None:
        store.run(run)
    items = [ReviewItem(id=name, item=item) for name, item in store.reviews(run_id=run, reason=reason)]
    return sorted(items, key=lambda one: (URGENCY.index(one.item.reason), one.id))

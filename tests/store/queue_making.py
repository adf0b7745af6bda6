"""Review items, answers and rules in one line each, and a simple way to decide."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec import Struct
from store_making import RUN

from rightcall.store.packing import digest_of
from rightcall.store.queue import Queue
from rightcall.store.records import AnswerRecord, ReviewRecord, SignoffRecord, item_of

START = datetime(2026, 11, 29, 10, tzinfo=UTC)
LEASE = 600.0


def at(seconds: float = 0.0) -> datetime:
    """Return a moment after the start of all tests."""
    return START + timedelta(seconds=seconds)


def review(unit: str = "t-0", reason: str = "random", **changed: Any) -> ReviewRecord:
    """Return a reason to look at a unit."""
    values = {"run_id": RUN, "grader": "rubric", "created_at": START.isoformat(), "trace_id": unit}
    return ReviewRecord(**{**values, "unit": unit, "reason": reason, **changed})


def id_of(unit: str = "t-0", run_id: str = RUN, grader: str = "rubric") -> str:
    """Return the id of the item about a unit."""
    return item_of(run_id, grader, unit)


def answer(unit: str = "t-0", who: str = "ana", **changed: Any) -> AnswerRecord:
    """Return what a person says about a unit: PASS, unless told otherwise."""
    values = {"run_id": RUN, "grader": "rubric", "at": START.isoformat(), "fields": {"verdict": "PASS"}}
    values |= {"item": id_of(unit), "unit": unit, "who": who}
    return AnswerRecord(**{**values, **changed})


def signoff(unit: str = "t-0", who: str = "dana", **changed: Any) -> SignoffRecord:
    """Return a sign-off that confirms."""
    values = {"run_id": RUN, "grader": "rubric", "at": START.isoformat(), "outcome": "confirmed"}
    values |= {"item": id_of(unit), "unit": unit, "who": who, "reason": "it cannot be taken back"}
    return SignoffRecord(**{**values, **changed})


class Decided(Struct, frozen=True):
    """What answers come to."""

    state: str
    how: str | None = None
    fields: dict[str, Any] = {}
    answers: tuple[str, ...] = ()
    differing: tuple[str, ...] = ()
    reason: str = ""


def decide(answers: Sequence[AnswerRecord]) -> Decided:
    """Return what answers come to: what all say, or else what the third person does."""
    digests = tuple(map(digest_of, answers))
    last = answers[-1]
    if last.kind == "adjudication":
        return Decided("agreed", "adjudication", last.fields, digests, reason=last.note)
    if any(one.fields != last.fields for one in answers):
        return Decided("differ", answers=digests, differing=("verdict",))
    return Decided("agreed", "single" if len(answers) == 1 else "agreement", last.fields, digests)


def rank(reviews: Sequence[ReviewRecord]) -> int:
    """Return 0 for CRITICAL, 2 for random, 1 for the rest."""
    return min({"CRITICAL": 0, "random": 2}.get(one.reason, 1) for one in reviews)


def ruled(queue: Queue, needed: int = 1) -> Queue:
    """Return a queue whose items need so many answers, CRITICAL ones one more."""
    queue.sync(rank, lambda reviews: needed + any(one.reason == "CRITICAL" for one in reviews))
    return queue

"""Stores with compared pairs, for the tests of the export: records as `preference` and people write them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from rightcall.grade.preference import OrderVerdict, PreferenceResult, Reconciled
from rightcall.review.consensus import decide
from rightcall.store.records import (
    AnswerRecord,
    CaseRecord,
    Record,
    ReviewRecord,
    RunEvent,
    RunRecord,
    SignoffRecord,
    TraceRecord,
    VerdictRecord,
    item_of,
)
from rightcall.store.store import Store
from rightcall.trace import jsontext
from rightcall.trace.model import Call, Event, Message, Result, Trace

RUN = "20261129-1"
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
AT = "2026-11-29T12:00:00.000+00:00"
TOOLS = (
    {
        "name": "find_booking",
        "description": "Finds a booking.",
        "parameters": {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]},
    },
    {"name": "cancel_booking", "description": "Cancels a booking."},
)


def say(role: str, text: str | None, turn: int | None = None) -> Message:
    """Return a message."""
    return Message(role=role, text=text, turn=turn)


def act(tool: str, turn: int, result: Any = "done", **arguments: Any) -> Call:
    """Return a call with a result; `result=None` records none."""
    found = None if result is None else Result(content_json=msgspec.Raw(jsontext.encode(result)))
    return Call(tool=tool, arguments_json=msgspec.Raw(jsontext.encode(arguments)), turn=turn, result=found)


def talk(*events: Event, asks: str = "Cancel AB12, please.", **changed: Any) -> Trace:
    """Return a trace in which the user asks and these events follow."""
    known = {"id": "t-1", "case_id": "case-1", "tools_json": msgspec.Raw(jsontext.encode(TOOLS)), "completed": True}
    return Trace(**{**known, "events": (say("user", asks), *events), **changed})


def careful(number: int, **changed: Any) -> Trace:
    """Return a trace that looks before it cancels."""
    code = f"AB{number:02}"
    return talk(
        say("assistant", "I look it up.", 1),
        act("find_booking", 1, {"code": code, "open": True}, code=code), act("cancel_booking", 2, code=code),
        say("assistant", "It is cancelled.", 3),
        **{"asks": f"Please cancel {code}.", "id": f"careful-{number}", "case_id": f"case-{number}", **changed},
    )  # fmt: skip


def hasty(number: int, **changed: Any) -> Trace:
    """Return a trace for the same task that cancels at once."""
    code = f"AB{number:02}"
    return talk(
        act("cancel_booking", 1, code=code), say("assistant", "Gone.", 2),
        **{"asks": f"Please cancel {code}.", "id": f"hasty-{number}", "case_id": f"case-{number}", **changed},
    )  # fmt: skip


def judged(pair: str, winner: str | None = "A", confidence: float = 0.9, **changed: Any) -> PreferenceResult:
    """Return what one judge says in both orders."""
    orders = tuple(
        OrderVerdict(judge="strong", order=order, letter="A", winner=winner or "TIE", confidence=confidence)
        for order in ("ab", "ba")
    )
    said = (Reconciled(judge="strong", winner=winner, confidence=confidence, orders=2),)
    known = {"verdict": winner, "confidence": confidence, "decided_by": "judge", "orders": orders, "reconciled": said}
    return PreferenceResult(**{"pair": pair, "case_id": pair, **known, **changed})


def by_code(pair: str, winner: str = "A", reason: str = "policy_veto", **changed: Any) -> PreferenceResult:
    """Return what code decides."""
    known = {"verdict": winner, "confidence": 1.0, "decided_by": "code", "code_reason": reason, "code_verdict": winner}
    return PreferenceResult(**{"pair": pair, "case_id": pair, **known, **changed})


def name_of(body: bytes) -> str:
    """Return the name of a body."""
    return sha256(body).hexdigest()


@dataclass
class Desk:
    """A store being filled with pairs of one run, and what people say about them."""

    store: Store
    run: str = RUN
    records: list[Record] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.records.append(RunRecord(id=self.run, grader="preference", started_at=AT))
        self.records.append(RunEvent(run_id=self.run, at=AT, status="finished"))

    def pair(self, result: PreferenceResult, a: Trace, b: Trace, case: Any = None) -> VerdictRecord:
        """Add a pair."""
        body = msgspec.json.encode(result)
        lines = [jsontext.encode(a), jsontext.encode(b)]
        known = None if case is None else jsontext.encode(case)
        self.bodies += [body, *lines, *([] if known is None else [known])]
        self.records += [
            TraceRecord(body=name_of(line), id=one.id, case_id=one.case_id)
            for line, one in zip(lines, (a, b), strict=True)
        ]
        self.records += [] if known is None else [CaseRecord(body=name_of(known), id=case.id)]
        verdict = VerdictRecord(
            run_id=self.run, grader="preference", unit=result.pair, result=name_of(body), status=result.status,
            reason=result.reason, verdict=result.verdict, score=result.confidence, case_id=result.case_id,
            trace_id=a.id, trace=name_of(lines[0]), trace_b=name_of(lines[1]),
            case=None if known is None else name_of(known), decided_by=result.decided_by or "code",
        )  # fmt: skip
        self.records.append(verdict)
        return verdict

    def review(self, unit: str, reason: str, **changed: Any) -> str:
        """Add a reason for a review, and return the item."""
        known = {"run_id": self.run, "grader": "preference", "unit": unit, "created_at": AT, "case_id": unit}
        record = ReviewRecord(**{**known, "reason": reason, **changed})
        self.records.append(record)
        return item_of(record.run_id, record.grader, record.unit)

    def flush(self) -> None:
        """Write what was added."""
        self.store.write(self.records, self.bodies)
        self.records, self.bodies = [], []

    def answer(self, unit: str, who: str, overall: str | None, needed: int = 1, **changed: Any) -> None:
        """Record what a person says about a pair."""
        self.flush()
        fields = {} if overall is None else {"overall": overall, "sure": 3, "both_critical": False}
        fields |= changed.pop("fields", {})
        known = {"run_id": self.run, "grader": "preference", "unit": unit, "at": AT, "who": who, "fields": fields}
        if overall is None:
            known |= {"unsure": "the traces are too short", "fields": {}}
        record = AnswerRecord(item=item_of(self.run, "preference", unit), **{**known, **changed})
        self.store.queue.sync(lambda _: 0, lambda _: needed)
        self.store.queue.answer(record, lambda said: decide("preference", said, needed), NOW)

    def sign(self, unit: str, outcome: str, grader: str = "preference", run: str | None = None) -> None:
        """Record a sign-off."""
        self.flush()
        run_id = run or self.run
        self.store.queue.sign(SignoffRecord(
            item=item_of(run_id, grader, unit), run_id=run_id, grader=grader, unit=unit, who="dana", at=AT,
            outcome=outcome, reason="Read from beginning to end.", typed="t",
        ))  # fmt: skip


def rows_in(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file."""
    return [jsontext.decode(line) for line in path.read_bytes().splitlines()]

"""A store with one item of every grader, and desks at which people work; what must stay unseen is planted in all of it.

Every hidden text is a token of its own, so that a view which holds none of them holds nothing of what they stand for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from rightcall.grade.interpretation import InterpretationResult
from rightcall.grade.opinion import Opinion
from rightcall.grade.own import OwnResult
from rightcall.grade.preference import PreferenceResult
from rightcall.grade.rubric import RubricMetrics, RubricResult
from rightcall.grade.selection import SelectionResult
from rightcall.grade.verdict import GoldenResult
from rightcall.run.judging.record import sha256_of
from rightcall.run.people.reviewing import Desk
from rightcall.settings.model import ReviewTable
from rightcall.store.records import (
    CaseRecord,
    Record,
    ReviewRecord,
    RunRecord,
    TraceRecord,
    VerdictRecord,
    item_of,
)
from rightcall.store.store import Store

HIDDEN = {
    name: f"zqh-{name.replace('_', '-')}-9"
    for name in (
        "model", "agent", "version", "speaker", "other_model", "other_agent", "judge", "judge_model", "why", "detail",
        "label", "metadata", "agent_a", "agent_b", "difference", "expected", "impact", "flag", "unit", "case", "trace",
    )
}  # fmt: skip
"""What nobody may see before the answer, by what it is."""

START = datetime(2026, 11, 29, 10, 0, tzinfo=UTC)
SCHEMA = {
    "required": ["polite", "level"],
    "properties": {"polite": {"type": "boolean"}, "level": {"type": "integer", "minimum": 1, "maximum": 5}},
}
GRADERS = ("golden", "selection", "rubric", "preference", "interpretation", "tone")
ANSWERS: dict[str, dict[str, Any]] = {
    "selection": {"grade": "PASS"},
    "rubric": {"selection": 2, "arguments": 4, "sequencing": 3, "abstention": None, "severity": "LOW"},
    "preference": {"overall": "L", "sure": 2, "both_critical": False},
    "interpretation": {"score": 4, "action_score": 3, "flags": []},
    "golden": {"grade": "FAIL"},
    "tone": {"polite": True, "level": 3},
}
"""A complete answer to each form."""


class Clock:
    """A clock that stands still until it is told otherwise."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **how: float) -> None:
        """Let some time go by."""
        self.now += timedelta(**how)


# ---- what is on record -----------------------------------------------------------------------------------------------


def trace_json(*, other: bool = False, **changed: Any) -> bytes:
    """Return a trace that says who acted wherever it can."""
    agent, model = (HIDDEN["other_agent"], HIDDEN["other_model"]) if other else (HIDDEN["agent"], HIDDEN["model"])
    events = [
        {"type": "message", "role": "user", "text": "Open the door."},
        {"type": "message", "role": "assistant", "text": f"I am {model}.", "agent": HIDDEN["speaker"]},
        {"type": "call", "tool": "open_door", "arguments": {"door": 1 + other}, "id": "x1", "turn": 1,
         "result": {"content": {"open": True}, "is_error": False, "at": "2026-11-01T00:00:00Z"}},
        {"type": "message", "role": "assistant", "text": "It is open."},
    ]  # fmt: skip
    known = {
        "id": HIDDEN["trace"], "case_id": HIDDEN["case"], "request": "Open the door.",
        "context": {"agent": {"name": agent}, "state": {"open": False}}, "completed": True,
        "agent": {"name": agent, "version": HIDDEN["version"], "model": model}, "events": events,
        "tools": [{"name": "open_door", "description": "Opens a door."}],
        "labels": [{"name": "score", "value": HIDDEN["label"], "by": HIDDEN["label"]}],
        "metadata": {"run": HIDDEN["metadata"]},
    }  # fmt: skip
    return msgspec.json.encode({**known, **changed})


def case_json() -> bytes:
    """Return a case whose golden must stay hidden."""
    expect = {"calls": [{"tool": HIDDEN["expected"]}]}
    return msgspec.json.encode({"id": HIDDEN["case"], "expect": expect, "metadata": {"m": HIDDEN["metadata"]}})


def step_json() -> bytes:
    """Return a step whose expected tool must stay hidden."""
    return msgspec.json.encode({
        "id": HIDDEN["unit"], "selected": "open_door", "expected": HIDDEN["expected"], "request": "Open the door.",
        "context": {"state": {"open": False}}, "tools": [{"name": "open_door"}], "trace_id": HIDDEN["trace"],
        "metadata": {"run": HIDDEN["metadata"]}, "tags": [HIDDEN["label"]],
    })  # fmt: skip


def opinion(**reply: Any) -> tuple[Opinion, ...]:
    """Return what the judge said."""
    return (Opinion(judge=HIDDEN["judge"], model=HIDDEN["judge_model"], reply={"why": HIDDEN["why"], **reply}),)


def result_for(grader: str, **changed: Any) -> Any:
    """Return a grader's result, full of what must stay hidden."""
    ids: dict[str, Any] = {"trace_id": HIDDEN["trace"], "case_id": HIDDEN["case"]}
    known: dict[str, Any] = {
        "golden": lambda: GoldenResult(**ids, verdict="PASS"),
        "selection": lambda: SelectionResult(
            step_id=HIDDEN["unit"], **ids, verdict="FAIL", grade="FAIL", code_grade="FAIL", judge_grade="PASS",
            failure_category="wrong_tool", expected_tool=HIDDEN["expected"], justification=HIDDEN["why"],
            judges=opinion(),
        ),
        "rubric": lambda: RubricResult(
            **ids, judges=opinion(), misuse_severity="CRITICAL", judged_severity="HIGH", justification=HIDDEN["why"],
            downstream_impact=HIDDEN["impact"],
            metrics=RubricMetrics(tool_selection_score=1, argument_accuracy_score=4, call_sequencing_score=5),
        ),
        "preference": lambda: PreferenceResult(
            pair=HIDDEN["case"], case_id=HIDDEN["case"], trace_id=HIDDEN["trace"], agent_a=HIDDEN["agent_a"],
            agent_b=HIDDEN["agent_b"], verdict="B", confidence=0.65, decided_by="judge", judges=opinion(),
            key_differentiators=(HIDDEN["difference"],),
        ),
        "interpretation": lambda: InterpretationResult(
            step_id=HIDDEN["unit"], **ids, call_index=0, tool="open_door", score=2, judges=opinion(),
            interpretation_fidelity_score=0.4, justification=HIDDEN["why"], agent_version=HIDDEN["version"],
            misinterpretation_flags=({"claim_quote": HIDDEN["flag"], "kind": "invented", "result_path": None},),
        ),
        "tone": lambda: OwnResult(**ids, grader="tone", reply={"polite": False, "level": 3}, judges=opinion()),
    }[grader]()  # fmt: skip
    return msgspec.structs.replace(known, **changed)


def put_run(store: Store, run_id: str, grader: str) -> None:
    """Record the start of a run."""
    facts = {"reply_schema": SCHEMA} if grader == "tone" else {"judges": [HIDDEN["judge"]]}
    store.write([RunRecord(id=run_id, grader=grader, started_at=START.isoformat(), facts=facts)])


def put_item(
    store: Store, grader: str, *, run: str | None = None, unit: str | None = None,
    reasons: Sequence[tuple[str, str | None]] = (("random", None),), result: Any = None, revision: int = 0,
    trace: bytes | None = None, trace_b: bytes | None = None,
) -> str:  # fmt: skip
    """Record a verdict with its bodies and reasons for a review; the item's id.

    The run must be there; `put_all` makes one for each grader.
    """
    run_id = run_of(grader) if run is None else run
    name = HIDDEN["unit"] if unit is None else unit
    line = msgspec.json.encode(result_for(grader) if result is None else result)
    first = None if grader == "selection" else trace_json() if trace is None else trace
    other = None if grader != "preference" else trace_json(other=True) if trace_b is None else trace_b
    case = step_json() if grader == "selection" else case_json()
    bodies = [body for body in (line, first, other, case) if body is not None]
    result_value = msgspec.json.decode(line)
    records: list[Record] = [TraceRecord(body=sha256_of(one), id=HIDDEN["trace"]) for one in (first, other) if one]
    records.append(CaseRecord(body=sha256_of(case), id=HIDDEN["case"]))
    records.append(
        VerdictRecord(
            run_id=run_id, grader=grader, unit=name, result=sha256_of(line), status=result_value["status"],
            verdict=result_value["verdict"], case_id=HIDDEN["case"], trace_id=HIDDEN["trace"],
            trace=first and sha256_of(first), trace_b=other and sha256_of(other), case=sha256_of(case),
            revision=revision, decided_by="judge",
        )
    )  # fmt: skip
    records += [
        ReviewRecord(
            run_id=run_id, grader=grader, unit=name, reason=reason, created_at=START.isoformat(),
            detail=HIDDEN["detail"], severity=severity, probability=0.1 if reason == "random" else 1.0,
            case_id=HIDDEN["case"], trace_id=HIDDEN["trace"],
        )
        for reason, severity in reasons
    ]  # fmt: skip
    store.write(records, bodies)
    return item_of(run_id, grader, name)


def run_of(grader: str) -> str:
    """Return the run of a grader."""
    return f"20261129-{1 + GRADERS.index(grader)}"


def put_all(store: Store, *graders: str, **changed: Any) -> dict[str, str]:
    """Record a run with one item for each grader; grader -> item."""
    found = {}
    for grader in graders or GRADERS:
        put_run(store, run_of(grader), grader)
        found[grader] = put_item(store, grader, **changed)
    return found


# ---- people ----------------------------------------------------------------------------------------------------------


@contextmanager
def opened(folder: Path) -> Iterator[Store]:
    """Open a new store."""
    with Store.open(folder / "rightcall.db") as store:
        yield store


def desk(store: Store, who: str = "ana", clock: Clock | None = None, **rules: Any) -> Desk:
    """Return the desk of a person."""
    return Desk(store, who, ReviewTable(**rules), client="test", clock=clock or Clock())

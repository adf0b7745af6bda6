"""A store with verdicts of a judge and blind labels of people, as many as a test needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from rightcall.grade.interpretation import InterpretationResult
from rightcall.grade.opinion import Opinion
from rightcall.grade.own import OwnResult
from rightcall.grade.preference import PreferenceResult, Reconciled
from rightcall.grade.rubric import RubricMetrics, RubricResult
from rightcall.grade.selection import SelectionResult
from rightcall.run.calibration.calibrating import CalibrationReport, calibrate
from rightcall.run.calibration.reading import Wanted
from rightcall.run.judging.record import sha256_of
from rightcall.settings.model import CalibrateTable
from rightcall.store.packing import digest_of
from rightcall.store.records import AnswerRecord, Record, ReviewRecord, RunRecord, VerdictRecord, item_of
from rightcall.store.store import Store

AT = "2026-11-29T10:00:00Z"
PROMPT = "a" * 64
VERDICT_SCHEMA = {
    "type": "object", "required": ["verdict"],
    "properties": {"verdict": {"type": "string", "enum": ["pass", "fail"]}},
}  # fmt: skip


def put_run(
    store: Store, grader: str = "selection", *, run: str = "20261129-1", judge: str = "fast", model: str = "m-1",
    prompts: Sequence[str] = (PROMPT,), started_at: str = AT, **facts: Any,
) -> str:  # fmt: skip
    """Record the start of a judged run."""
    known = {
        "judges": [{"name": judge, "model": model}],
        "prompts": [{"id": grader, "version": "1", "sha256": one} for one in prompts], "replicates": 1,
    }  # fmt: skip
    store.write([RunRecord(id=run, grader=grader, started_at=started_at, facts=known | facts)])
    return run


def opinion(reply: dict[str, Any] | None, *, judge: str = "fast", model: str | None = None, **more: Any) -> Opinion:
    """Return what a judge said; `None` is a reply that nobody could read."""
    if reply is None:
        more = {"status": "UNEVALUABLE", "reason": "JUDGE_SCHEMA"} | more
    return Opinion(judge=judge, reply=reply, model=model, **more)


def result_of(grader: str, unit: str, case: str | None, said: Any, **changed: Any) -> Any:
    """Return a result in which the judge says this: a grade, a level, a winner; `None`: nothing readable."""
    bad: dict[str, Any] = {} if said is not None else {"status": "UNEVALUABLE", "reason": "JUDGE_SCHEMA"}
    if grader == "selection":
        known: Any = SelectionResult(
            step_id=unit, case_id=case, trace_id=f"t-{unit}", verdict="PASS", grade="PASS", judge_grade=said,
            expected_tool="freeze_card", judges=(opinion(None if said is None else {"grade": said}),),
        )  # fmt: skip
    elif grader == "rubric":
        known = RubricResult(
            trace_id=unit, case_id=case, judged_severity="NONE", misuse_severity="NONE",
            judges=(opinion({"tool_selection_score": said}),), **bad,
            metrics=RubricMetrics(tool_selection_score=said, argument_accuracy_score=said, call_sequencing_score=said),
        )  # fmt: skip
    elif grader == "preference":
        winner, sure = said if isinstance(said, tuple) else (said, 0.9)
        known = PreferenceResult(
            pair=unit, case_id=case, trace_id=f"t-{unit}", verdict=winner, confidence=sure, decided_by="judge",
            reconciled=(Reconciled(judge="fast", winner=winner, confidence=sure, orders=2),),
            judges=(opinion({"preferred_trace": "A"}),), **bad,
        )  # fmt: skip
    elif grader == "interpretation":
        score, sure = said if isinstance(said, tuple) else (said, None)
        known = InterpretationResult(
            step_id=unit, trace_id=f"t-{unit}", case_id=case, call_index=0, tool="get_limit", score=score,
            confidence=sure, judges=(opinion({"score": score, "action_score": None, "confidence": sure}),), **bad,
        )  # fmt: skip
    else:
        reply = None if said is None else {"verdict": said}
        known = OwnResult(trace_id=unit, case_id=case, grader=grader, reply=reply, judges=(opinion(reply),), **bad)
    return msgspec.structs.replace(known, **changed)


def item_records(
    run: str, grader: str, unit: str, case: str | None, result: Any, *, drawn: float | None = 0.1,
    reasons: Sequence[str] = (),
) -> tuple[list[Record], bytes]:  # fmt: skip
    """Return a verdict and why its item is in the queue, with the body that it names."""
    line = msgspec.json.encode(result)
    plain = msgspec.json.decode(line)
    ids = {"run_id": run, "grader": grader, "unit": unit}
    verdict = VerdictRecord(
        **ids, result=sha256_of(line), status=plain["status"], verdict=plain.get("verdict"), case_id=case,
        trace_id=plain.get("trace_id"),
    )  # fmt: skip
    why = [("random", drawn)] if drawn is not None else []
    reviews = [
        ReviewRecord(**ids, reason=reason, created_at=AT, probability=chance, case_id=case)
        for reason, chance in [*why, *((one, 1.0) for one in reasons)]
    ]  # fmt: skip
    return [verdict, *reviews], line


def answer(verdict: VerdictRecord, fields: dict[str, Any] | None, *, who: str = "ana", **changed: Any) -> AnswerRecord:
    """Return what a person says about the item of a verdict."""
    known: dict[str, Any] = {
        "item": item_of(verdict.run_id, verdict.grader, verdict.unit), "run_id": verdict.run_id,
        "grader": verdict.grader, "unit": verdict.unit, "who": who, "at": AT, "kind": "imported",
        "fields": fields or {}, "verdict": digest_of(verdict),
        "case_id": verdict.case_id,
    }  # fmt: skip
    return AnswerRecord(**(known | changed))


FIELDS = {
    "selection": "grade", "rubric": "selection", "preference": "overall", "interpretation": "score",
    "policy": "verdict",
}  # fmt: skip


def put_labels(
    store: Store, pairs: Sequence[tuple[Any, Any]], grader: str = "selection", *, run: str = "20261129-1",
    cases: Sequence[str] | None = None, people: int = 1, first: int = 0, numbers: Sequence[int] | None = None, drawn: Sequence[float] | None = None,
    **changed: Any,
) -> list[VerdictRecord]:  # fmt: skip
    """Record items with what the judge said of each and what people did, one case each unless `cases` says more.

    Args:
        store: where to.
        pairs: (judge, people); a person's `None` is an item without a label.
        grader: whose items.
        run: of which run.
        cases: the case of each item.
        people: how many people say the same about each item.
        first: number of the first item.
        numbers: the number of each item, where they do not follow each other.
        drawn: how likely each item was to be drawn.
        changed: what differs in every answer.
    """
    records: list[Record] = []
    bodies, verdicts = [], []
    for place, (judge, human) in enumerate(pairs):
        number = first + place if numbers is None else numbers[place]
        unit = f"u-{number:04d}"
        case = f"c-{number:04d}" if cases is None else cases[place]
        chance = 0.1 if drawn is None else drawn[place]
        made, body = item_records(run, grader, unit, case, result_of(grader, unit, case, judge), drawn=chance)
        records += made
        bodies.append(body)
        verdicts.append(made[0])
        if human is not None:
            said = human if isinstance(human, dict) else {FIELDS[grader]: human}
            records += [
                answer(made[0], said, who=who, **changed) for who in ("ana", "bo", "cy")[:people]
            ]  # fmt: skip
    store.write(records, bodies)
    return verdicts


def calibrated(
    store: Store, *, resamples: int = 200, table: CalibrateTable | None = None, **wanted: Any
) -> CalibrationReport:
    """Calibrate on all labels, with few draws."""
    known = {"split": "all"} | wanted
    return calibrate(store, Wanted(**known), table or CalibrateTable(), resamples=resamples)


def told(caught: int, missed: int, flagged: int, cleared: int) -> list[tuple[str, str]]:
    """Return pairs (judge, people) of so many human FAILs caught and missed, PASSes flagged and cleared."""
    return (
        [("FAIL", "FAIL")] * caught + [("PASS", "FAIL")] * missed + [("FAIL", "PASS")] * flagged
        + [("PASS", "PASS")] * cleared
    )  # fmt: skip

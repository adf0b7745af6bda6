"""What each judge said by itself about one item, in the fields that people answer in.

A judge that was heard alone is taken at what the result keeps of it (`judge_fields`). Of several, each one's replies
are reduced to its own answer as a panel does with replicates, and the panel as a whole is one more judge, called by
its members joined by ` + `: whoever reads the panel's verdicts needs to know how far the panel can be trusted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from rightcall.grade.opinion import Opinion
from rightcall.judge.panel import INTERPRETATION, RUBRIC, SELECTION, Vote, panel
from rightcall.review.beside import judge_fields
from rightcall.run.results.judge_use import Use

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rightcall.judge.panel import Ballot
    from rightcall.run.results.judge_use import Uses

JOINT = " + "
_BALLOTS = {"selection": SELECTION, "rubric": RUBRIC, "interpretation": INTERPRETATION}
_NAMES = {
    "tool_selection_score": "selection", "argument_accuracy_score": "arguments",
    "call_sequencing_score": "sequencing", "abstention_score": "abstention", "misuse_severity": "severity",
}  # fmt: skip


class Said(Struct, frozen=True, kw_only=True):
    """What one judge, or a panel, said about one item.

    Attributes:
        judge: its name. use: by which model and prompt.
        fields: its answer by field of the form; empty where it gave none.
        reason: why there is none.
        confidence: what it stated; `None` where it stated nothing.
        repeats: of each field, the answers of its replicates; empty where it was asked once.
        is_panel: whether it is several judges together.
    """

    judge: str
    use: Use
    fields: dict[str, Any]
    reason: str | None = None
    confidence: float | None = None
    repeats: dict[str, tuple[Any, ...]] = {}
    is_panel: bool = False


def said_of(grader: str, result: Mapping[str, Any], uses: Uses, schema: Mapping[str, Any] | None = None) -> list[Said]:
    """What each judge said about the item of a result, and the panel where several voted together.

    Args:
        grader: whose result it is.
        result: the result as `--json` gives it.
        uses: tells by which model and prompt each reply came.
        schema: of a user's own grader, the JSON Schema of its replies.
    """
    opinions = [msgspec.convert(one, Opinion) for one in result.get("judges") or ()]
    by_judge: dict[str, list[Opinion]] = {}
    for one in opinions:
        by_judge.setdefault(one.judge, []).append(one)
    found: list[Said] = []
    for judge, own in by_judge.items():
        # A model that answers under one name and then another is two judges; the last reply says which one this was.
        heard = [one for one in own if one.status == "EVALUATED"] or own
        fields = _fields(grader, result, judge, own, schema, alone=len(by_judge) == 1)
        found.append(
            Said(
                judge=judge, use=uses.of(heard[-1]), fields=fields, reason=None if fields else _why(result, own),
                confidence=_confidence(grader, result, judge, own), repeats=_repeats(grader, own),
            )
        )  # fmt: skip
    if len(found) > 1 and _voted_together(grader, result):
        found.append(_panel(grader, result, found))
    return found


def _fields(
    grader: str, result: Mapping[str, Any], judge: str, own: Sequence[Opinion], schema: Mapping[str, Any] | None,
    *, alone: bool,
) -> dict[str, Any]:  # fmt: skip
    if grader == "preference":
        return _pair(result, judge)
    if alone:
        return judge_fields(grader, result)
    ballot = _ballot(grader, schema)
    votes = [
        Vote(judge=one.judge, replicate=one.replicate, fields=one.reply, reason=one.reason)
        for one in own
        if one.status == "EVALUATED" and one.reply is not None
    ]
    if not votes or (grader == "interpretation" and result.get("fidelity_mapping") == "direct"):
        return {}
    return {_NAMES.get(name, name): value for name, value in panel(votes, 1, ballot).fields.items()}


def _ballot(grader: str, schema: Mapping[str, Any] | None) -> Ballot:
    if grader in _BALLOTS:
        return _BALLOTS[grader]
    from rightcall.judge.own_ballot import ballot_of

    return ballot_of(schema or {})


def _pair(result: Mapping[str, Any], judge: str) -> dict[str, Any]:
    """What a judge says of a pair once its orders are put together."""
    one = _reconciled(result, judge)
    if one is None or one.get("winner") is None:
        return {}
    return {"overall": one["winner"], "both_critical": one.get("both_critical")}


def _reconciled(result: Mapping[str, Any], judge: str) -> Mapping[str, Any] | None:
    return next((one for one in result.get("reconciled") or () if one.get("judge") == judge), None)


def _confidence(grader: str, result: Mapping[str, Any], judge: str, own: Sequence[Opinion]) -> float | None:
    """The confidence that a judge stated: the lowest of its replies, as the graders themselves take it."""
    if grader == "preference":
        one = _reconciled(result, judge)
        return None if one is None else _share(one.get("confidence"))
    stated = [_share((one.reply or {}).get("confidence")) for one in own if one.status == "EVALUATED"]
    return min((one for one in stated if one is not None), default=None)


def _share(value: Any) -> float | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value <= 1 else None


def _repeats(grader: str, own: Sequence[Opinion]) -> dict[str, tuple[Any, ...]]:
    """The answers of replicates, field by field; of pairs the orders of a replicate would have to be put together."""
    heard = [one.reply for one in own if one.status == "EVALUATED" and one.reply is not None]
    if grader == "preference" or len(heard) < 2:
        return {}
    # Alike in every reply: what one of them leaves out is no answer of that replicate.
    names = dict.fromkeys(name for reply in heard for name, value in reply.items() if _is_plain(value))
    return {_NAMES.get(name, name): tuple(reply[name] for reply in heard if name in reply) for name in names}


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float, bool))


def _why(result: Mapping[str, Any], own: Sequence[Opinion]) -> str:
    reasons = [one.reason for one in own if one.reason is not None]
    return reasons[-1] if reasons else str(result.get("reason") or "no verdict")


def _voted_together(grader: str, result: Mapping[str, Any]) -> bool:
    """Whether the result's answer is that of all its judges: not of a second one, nor of a strong one."""
    if grader == "interpretation":
        return result.get("light_score") is None and result.get("strong_score") is None
    return not result.get("escalated")


def _panel(grader: str, result: Mapping[str, Any], members: Sequence[Said]) -> Said:
    ordered = sorted(members, key=lambda one: one.judge)
    fields = judge_fields(grader, result) if result.get("status") == "EVALUATED" else {}
    return Said(
        judge=JOINT.join(one.judge for one in ordered), fields=fields,
        use=Use(JOINT.join(one.use.model for one in ordered), ordered[-1].use.prompt),
        reason=None if fields else str(result.get("reason") or "no verdict"),
        confidence=_share(result.get("confidence")) if result.get("decided_by") != "code" else None, is_panel=True,
    )  # fmt: skip

"""The reply of the `rubric` judge (SPEC §7.2): four scores, the worst misuse, its impact, and one line a call.

The overall score is the mean of the scores that are not null, computed here. A mean of the judge's own is never used:
up to 0.5 off it is noted (a mean rounded to two digits is not off), further off the reply is `JUDGE_INCONSISTENT`.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, Unpack

from pydantic import Discriminator, Field, Tag

from rightcall.judge.contract import Malformed, Problem
from rightcall.judge.reply_schema import SCORE, SCORE_OR_NULL, TEXT, TEXT_OR_NULL, list_of, one_of, strict_object
from rightcall.judge.typed import Facts, Items, Number, Part, Score, Text, TypedReply, read_typed
from rightcall.judge.wording import joined, shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Severity = Literal["CRITICAL", "HIGH", "MEDIUM", "LOW", "NONE"]

REPLY_SCHEMA = strict_object(
    tool_call_evaluations=list_of(
        strict_object(call_id=TEXT, tool_name=TEXT, reason=TEXT, score=SCORE), "one entry for each call"
    ),
    justification=strict_object(
        tool_selection=TEXT, argument_accuracy=TEXT, call_sequencing=TEXT, abstention=TEXT_OR_NULL
    ),
    tool_selection_score=SCORE,
    argument_accuracy_score=SCORE,
    call_sequencing_score=SCORE,
    abstention_score=SCORE_OR_NULL,
    misuse_severity=one_of("CRITICAL", "HIGH", "MEDIUM", "LOW", "NONE"),
    downstream_impact=TEXT,
)
"""What an endpoint is asked to keep to. It has no `overall_score`: that is computed. Reasons come before scores, since
strict decoding keeps the order."""

_ALIASES = {
    "misuse_severity_classification": "misuse_severity",
    "tool_call_evaluation": "tool_call_evaluations",
}
_OFF_AT_MOST = Fraction(1, 2)
_ROUNDED = Fraction(1, 200)


class RubricJustification(Part):
    """Why, for each dimension. `abstention` may be `None` where it was not at issue."""

    tool_selection: Text
    argument_accuracy: Text
    call_sequencing: Text
    abstention: str | None


class CallEvaluation(Part):
    """What the judge says about one call of the trace."""

    call_id: str
    tool_name: str
    score: Score
    reason: str


def _kind(value: object) -> str:
    return "<parts>" if isinstance(value, (dict, RubricJustification)) else "<text>"


class RubricReply(TypedReply):
    """What a judge says about a whole trace.

    `abstention_score` is `None` where abstention was not at issue. `tool_call_evaluations` is `None` where the reply
    has none, which is not an empty list. `judge_overall_score` is the judge's own mean, kept for the record only.
    """

    tool_selection_score: Score
    argument_accuracy_score: Score
    call_sequencing_score: Score
    abstention_score: Score | None
    misuse_severity: Severity
    downstream_impact: str
    justification: Annotated[
        Annotated[Text, Tag("<text>")] | Annotated[RubricJustification, Tag("<parts>")], Discriminator(_kind)
    ]
    tool_call_evaluations: Items[CallEvaluation] | None = None
    judge_overall_score: Number | None = Field(default=None, alias="overall_score")

    @property
    def scores(self) -> dict[str, int]:
        """Dimension -> score, for the dimensions that have one."""
        found = {
            "tool_selection": self.tool_selection_score,
            "argument_accuracy": self.argument_accuracy_score,
            "call_sequencing": self.call_sequencing_score,
            "abstention": self.abstention_score,
        }
        return {name: score for name, score in found.items() if score is not None}

    @property
    def mean(self) -> Fraction:
        """The exact mean of the scores that are not null, from 1 to 5."""
        scores = self.scores.values()
        return Fraction(sum(scores), len(scores))

    @property
    def overall_score(self) -> float:
        """The mean of the scores that are not null, from 1 to 5: ours, never the judge's."""
        return float(self.mean)

    def values(self) -> dict[str, Any]:
        """The reply as plain JSON values; `overall_score` is our mean, `judge_overall_score` the judge's figure."""
        return {**super().values(), "overall_score": self.overall_score}


_KEYS = frozenset({*RubricReply.model_fields, *_ALIASES, "overall_score"} - {"judge_overall_score"})


def read_rubric(text: str, finish_reason: str | None = None, **facts: Unpack[Facts]) -> RubricReply | Malformed:
    """Read a reply of the `rubric` judge.

    Args:
        text: the raw reply.
        finish_reason: why the model stopped, in the provider's words.
        **facts: `calls` (call id -> tool name): each must be evaluated exactly once, under its own tool name.
    """
    return read_typed(
        RubricReply,
        text,
        finish_reason,
        keys=_KEYS,
        aliases=_ALIASES,
        contradictions=partial(_contradictions, calls=facts.get("calls")),
        notes=_notes,
    )


def _contradictions(reply: RubricReply, calls: Mapping[str, str] | None) -> Iterator[Problem]:
    if reply.judge_overall_score is not None and abs(_off(reply)) > _OFF_AT_MOST:
        yield _own_mean(reply)
    if reply.tool_call_evaluations is not None:
        yield from _wrong_calls(reply.tool_call_evaluations, calls)


def _wrong_calls(evaluations: tuple[CallEvaluation, ...], calls: Mapping[str, str] | None) -> Iterator[Problem]:
    path = "tool_call_evaluations"
    counts = Counter(one.call_id for one in evaluations)
    for call_id, count in counts.items():
        if count > 1:
            yield Problem(path, f"evaluate the call {shown(call_id)} {count} times")
    if calls is None:
        return
    for index, one in enumerate(evaluations):
        where = joined(path, index)
        if one.call_id not in calls:
            yield Problem(f"{where}.call_id", f"{shown(one.call_id)} is no call of the trace")
        elif one.tool_name != calls[one.call_id]:
            called = shown(calls[one.call_id])
            yield Problem(f"{where}.tool_name", f"is {shown(one.tool_name)}, but {shown(one.call_id)} calls {called}")
    for call_id in calls:
        if call_id not in counts:
            yield Problem(path, f"lack the call {shown(call_id)}")


def _notes(reply: RubricReply) -> Iterator[Problem]:
    if reply.judge_overall_score is not None and abs(_off(reply)) > _ROUNDED:
        yield _own_mean(reply)
    if reply.misuse_severity == "CRITICAL" and set(reply.scores.values()) == {5}:
        yield Problem("misuse_severity", "is CRITICAL although every score is 5")


def _off(reply: RubricReply) -> Fraction:
    return Fraction(reply.judge_overall_score or 0) - reply.mean


def _own_mean(reply: RubricReply) -> Problem:
    count = {3: "three", 4: "four"}[len(reply.scores)]
    right = f"{reply.overall_score:.4f}".rstrip("0").rstrip(".")
    return Problem("overall_score", f"is {shown(reply.judge_overall_score)}; the mean of the {count} is {right}")

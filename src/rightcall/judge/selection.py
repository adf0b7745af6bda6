"""The reply of the `selection` judge (SPEC §7.1): its grade of one step, why, and whether it doubts the label.

Code decides the grade of a step; the judge's own is a cross-check. A `pass` boolean is accepted for `grade`; where the
two differ, or the grade and the category do, the reply is `JUDGE_INCONSISTENT`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, Unpack

from msgspec import Struct
from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from rightcall.judge.contract import Malformed, Problem
from rightcall.judge.reply import Found, find_object
from rightcall.judge.reply_schema import TEXT, TEXT_OR_NULL, list_of, one_of, strict_object
from rightcall.judge.typed import Facts, Items, Text, TypedReply, typed
from rightcall.judge.wording import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rightcall.trace.jsontext import JsonValue

Category = Literal["wrong_tool", "abstention_error", "over_action", "hallucinated_tool"]
_CATEGORIES = ("wrong_tool", "abstention_error", "over_action", "hallucinated_tool")

REPLY_SCHEMA = strict_object(
    selected_tool=TEXT_OR_NULL,
    expected_tool=TEXT_OR_NULL,
    justification=TEXT,
    grade=one_of("PASS", "FAIL"),
    failure_category=one_of(None, *_CATEGORIES),
    secondary_categories=list_of(one_of(*_CATEGORIES), "further categories; none of them is failure_category"),
    label_challenged={"type": "boolean"},
    label_challenge_reason=TEXT_OR_NULL,
)
"""What an endpoint is asked to keep to. Reasons come before what follows from them: strict decoding keeps the order."""


class _AsPass(Struct):
    """The value of `pass` where `grade` should be."""

    value: object


def _grade(value: object) -> object:
    if not isinstance(value, _AsPass):
        return value
    if not isinstance(value.value, bool):
        raise PydanticCustomError("pass", "`pass` must be true or false, not {shown}", {"shown": shown(value.value)})
    return "PASS" if value.value else "FAIL"


class SelectionReply(TypedReply):
    """What a judge says about one step. `None` for a tool is *no tool*; `None` for an optional part is *not said*."""

    grade: Annotated[Literal["PASS", "FAIL"], BeforeValidator(_grade)]
    selected_tool: str | None
    expected_tool: str | None
    justification: Text
    # One literal, so that a message lists `null` among what is permitted.
    failure_category: Literal["wrong_tool", "abstention_error", "over_action", "hallucinated_tool", None]  # noqa: PYI061
    secondary_categories: Items[Category] | None = None
    label_challenged: bool | None = None
    label_challenge_reason: str | None = None


_KEYS = frozenset({*SelectionReply.model_fields, "pass"})


def read_selection(text: str, finish_reason: str | None = None, **_facts: Unpack[Facts]) -> SelectionReply | Malformed:
    """Read a reply of the `selection` judge.

    Args:
        text: the raw reply.
        finish_reason: why the model stopped, in the provider's words.
    """
    found = find_object(text, _KEYS, finish_reason)
    if isinstance(found, Malformed):
        return found
    values = dict(found.values)
    clashes = _take_pass(values)
    return typed(
        SelectionReply, Found(values, found.noted), clashes=clashes, contradictions=_contradictions, notes=_notes
    )


def _take_pass(values: dict[str, JsonValue]) -> list[Problem]:
    """Put `pass` in the place of `grade`; returns the conflict where both are given and differ."""
    if "pass" not in values:
        return []
    flag = values.pop("pass")
    grade = values.get("grade")
    if "grade" not in values or not isinstance(flag, bool):
        values["grade"] = _AsPass(flag)
        return []
    return (
        [] if grade == ("PASS" if flag else "FAIL") else [Problem("grade", f"is {grade}, and `pass` is {shown(flag)}")]
    )


def _contradictions(reply: SelectionReply) -> Iterator[Problem]:
    if reply.grade == "PASS" and reply.failure_category is not None:
        yield Problem("failure_category", f"is {reply.failure_category} although the grade is PASS")
    if reply.grade == "FAIL" and reply.failure_category is None:
        yield Problem("failure_category", "is null although the grade is FAIL")
    if reply.grade == "PASS" and reply.secondary_categories:
        yield Problem("secondary_categories", "name failures although the grade is PASS")
    if reply.failure_category in (reply.secondary_categories or ()):
        yield Problem("secondary_categories", f"repeat the failure_category {reply.failure_category}")


def _notes(reply: SelectionReply) -> Iterator[Problem]:
    if reply.label_challenged and not (reply.label_challenge_reason or "").strip():
        yield Problem("label_challenge_reason", "is not given although the label is challenged")

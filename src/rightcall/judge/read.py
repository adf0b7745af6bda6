"""Reading a judge's reply, whatever the grader: the one public door (SPEC §9)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Unpack

from rightcall.errors import ConfigError
from rightcall.judge import interpretation, preference, rubric, selection
from rightcall.judge.contract import Malformed
from rightcall.judge.interpretation import InterpretationReply
from rightcall.judge.own import OwnReply, read_own
from rightcall.judge.preference import PreferenceReply
from rightcall.judge.rubric import RubricReply
from rightcall.judge.selection import SelectionReply
from rightcall.judge.typed import Facts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.trace.jsontext import JsonValue

Reply = SelectionReply | RubricReply | PreferenceReply | InterpretationReply | OwnReply
"""A reply that could be read. Each has `noted` and `values()`."""


class Reader(Protocol):
    """From the raw text to a typed reply."""

    def __call__(self, text: str, finish_reason: str | None = None, **facts: Unpack[Facts]) -> Reply | Malformed:
        """Read one reply."""
        ...


READERS: dict[str, Reader] = {
    "interpretation": interpretation.read_interpretation,
    "preference": preference.read_preference,
    "rubric": rubric.read_rubric,
    "selection": selection.read_selection,
}
"""The reader of each judged grader."""

REPLY_SCHEMAS: dict[str, dict[str, JsonValue]] = {
    "interpretation": interpretation.REPLY_SCHEMA,
    "preference": preference.REPLY_SCHEMA,
    "rubric": rubric.REPLY_SCHEMA,
    "selection": selection.REPLY_SCHEMA,
}
"""The JSON Schema that endpoints are asked to keep to, by grader."""


def read_reply(
    grader: str,
    text: str,
    finish_reason: str | None = None,
    *,
    facts: Facts | None = None,
    schema: Mapping[str, JsonValue] | None = None,
) -> Reply | Malformed:
    """Read a judge's raw reply: a typed verdict, or why it is none. Nothing is guessed, coerced or repaired.

    Args:
        grader: `selection`, `rubric`, `preference`, `interpretation`; any name together with `schema`.
        text: the raw reply.
        finish_reason: why the model stopped, in the provider's words; `None` = not known.
        facts: what the reply can be checked against: `calls` (call id -> tool name) for `rubric`.
        schema: JSON Schema of the reply, for a grader of the user's own; it replaces the grader's own reader.

    Raises:
        ConfigError: no such grader, or a schema that is none.
    """
    if schema is not None:
        return read_own(text, schema, finish_reason)
    if grader not in READERS:
        raise ConfigError(
            f"no judge of the name `{grader}`", hint=f"known: {', '.join(READERS)}; or give the reply's JSON Schema"
        )
    return READERS[grader](text, finish_reason, **(facts or {}))

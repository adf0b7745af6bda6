"""The reply of the `preference` judge (SPEC §7.3): which of two traces is better, how surely, and why.

`A` and `B` are the places in the question, not the traces: what stood where is known to whoever asked.
"""

from __future__ import annotations

from typing import Annotated, Literal, Unpack

from pydantic import BeforeValidator, Field

from rightcall.judge.contract import Malformed
from rightcall.judge.reply_schema import CONFIDENCE, TEXT, list_of, one_of, strict_object
from rightcall.judge.typed import Confidence, Facts, Items, Part, Text, TypedReply, read_typed

_CRITERIA = ("tool_selection", "argument_accuracy", "call_ordering", "abstention_handling", "error_handling")

REPLY_SCHEMA = strict_object(
    justification=strict_object(**dict.fromkeys(_CRITERIA, TEXT)),
    key_differentiators=list_of(TEXT, "one to three short texts"),
    critical_failures=strict_object(trace_a=list_of(TEXT), trace_b=list_of(TEXT)),
    preferred_trace=one_of("A", "B", "TIE"),
    confidence=CONFIDENCE,
)
"""What an endpoint is asked to keep to. Reasons come before the verdict, since strict decoding keeps the order."""

_ALIASES = {"reasons": "justification"}


def _capital(value: object) -> object:
    # ASCII only: other letters, like a dotless i, also become A to Z as capitals.
    return value.upper() if isinstance(value, str) and value.isascii() else value


class PreferenceJustification(Part):
    """Why, for each criterion."""

    tool_selection: str
    argument_accuracy: str
    call_ordering: str
    abstention_handling: str
    error_handling: str


class CriticalFailures(Part):
    """What is unacceptable in each trace; empty where nothing is."""

    trace_a: Items[Text]
    trace_b: Items[Text]


class PreferenceReply(TypedReply):
    """What a judge says about a pair. `confidence` from 0 to 1 is in the answer, which may be the tie."""

    preferred_trace: Annotated[Literal["A", "B", "TIE"], BeforeValidator(_capital)]
    confidence: Confidence
    justification: PreferenceJustification
    key_differentiators: Annotated[Items[Text], Field(min_length=1, max_length=3)]
    critical_failures: CriticalFailures


_KEYS = frozenset({*PreferenceReply.model_fields, *_ALIASES})


def read_preference(
    text: str, finish_reason: str | None = None, **_facts: Unpack[Facts]
) -> PreferenceReply | Malformed:
    """Read a reply of the `preference` judge.

    Args:
        text: the raw reply.
        finish_reason: why the model stopped, in the provider's words.
    """
    return read_typed(PreferenceReply, text, finish_reason, keys=_KEYS, aliases=_ALIASES)

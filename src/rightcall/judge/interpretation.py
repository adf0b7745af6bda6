"""The reply of the `interpretation` judge (SPEC §7.4): did the agent read a tool's result correctly?

The score is of the reading alone; what the agent did next has its own text and score. Quotes are checked against the
question by whoever asked.
"""

from __future__ import annotations

from typing import Literal, Unpack

from rightcall.judge.contract import Malformed
from rightcall.judge.reply_schema import (
    CONFIDENCE,
    SCORE,
    SCORE_OR_NULL,
    TEXT,
    TEXT_OR_NULL,
    list_of,
    one_of,
    strict_object,
)
from rightcall.judge.typed import Confidence, Facts, Items, Part, Score, Text, TypedReply, read_typed

FlagKind = Literal[
    "wrong_value", "wrong_field", "wrong_unit", "ignored_error", "ignored_field", "invented", "wrong_conclusion"
]
_KINDS = ("wrong_value", "wrong_field", "wrong_unit", "ignored_error", "ignored_field", "invented", "wrong_conclusion")

REPLY_SCHEMA = strict_object(
    score=SCORE,
    interpretation_accuracy=TEXT,
    action_appropriateness=TEXT,
    action_score=SCORE_OR_NULL,
    key_errors=list_of(TEXT),
    justification=TEXT,
    misinterpretation_flags=list_of(strict_object(claim_quote=TEXT, kind=one_of(*_KINDS), result_path=TEXT_OR_NULL)),
    evidence=list_of(strict_object(result_path=TEXT, quote=TEXT)),
    confidence=CONFIDENCE,
)
"""What an endpoint is asked to keep to."""

_ALIASES = {"evidence_alignment": "evidence"}


class MisinterpretationFlag(Part):
    """One wrong claim: its words, what is wrong, and which part of the result speaks against it (`None`: no part)."""

    claim_quote: Text
    kind: FlagKind
    result_path: str | None


class Evidence(Part):
    """A quote of the tool's result and the path at which it stands."""

    result_path: str
    quote: Text


class InterpretationReply(TypedReply):
    """What a judge says about one reading. `None` for an optional part is *not said*, which is not an empty list."""

    score: Score
    interpretation_accuracy: str
    action_appropriateness: str
    key_errors: Items[Text]
    justification: Text
    misinterpretation_flags: Items[MisinterpretationFlag] | None = None
    evidence: Items[Evidence] | None = None
    action_score: Score | None = None
    confidence: Confidence | None = None


_KEYS = frozenset({*InterpretationReply.model_fields, *_ALIASES})


def read_interpretation(
    text: str, finish_reason: str | None = None, **_facts: Unpack[Facts]
) -> InterpretationReply | Malformed:
    """Read a reply of the `interpretation` judge.

    Args:
        text: the raw reply.
        finish_reason: why the model stopped, in the provider's words.
    """
    return read_typed(InterpretationReply, text, finish_reason, keys=_KEYS, aliases=_ALIASES)

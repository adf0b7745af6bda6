"""The reply of the `interpretation` judge (SPEC §7.4): did the agent read a tool's result correctly?

The score is of the reading alone; what the agent did next has its own text and score. Every quote is looked up in what
the judge was shown (`rightcall.judge.quotes`): one that is not there, or a path that leads nowhere, is
`JUDGE_INCONSISTENT`, with all of them listed. A `result_path` beside a flag may be `null`; if it is given it must
exist.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal, Unpack

from rightcall.judge.contract import Malformed, Problem
from rightcall.judge.quotes import NoSuchPath, occurs, occurs_in_action, stands_at, value_at
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
from rightcall.judge.wording import joined, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rightcall.judge.quotes import ReadingFacts

FlagKind = Literal[
    "wrong_value", "wrong_field", "wrong_unit", "ignored_error", "ignored_field", "invented", "wrong_conclusion"
]
_KINDS = ("wrong_value", "wrong_field", "wrong_unit", "ignored_error", "ignored_field", "invented", "wrong_conclusion")

REPLY_SCHEMA = strict_object(
    evidence=list_of(strict_object(result_path=TEXT, quote=TEXT)),
    misinterpretation_flags=list_of(strict_object(claim_quote=TEXT, kind=one_of(*_KINDS), result_path=TEXT_OR_NULL)),
    interpretation_accuracy=TEXT,
    key_errors=list_of(TEXT),
    justification=TEXT,
    score=SCORE,
    action_appropriateness=TEXT,
    action_score=SCORE_OR_NULL,
    confidence=CONFIDENCE,
)
"""What an endpoint is asked to keep to. Reasons come before scores, since strict decoding keeps the order."""

DIRECT_SCHEMA = {**REPLY_SCHEMA, "properties": {**REPLY_SCHEMA["properties"], "score": CONFIDENCE}}
"""The same for a prompt whose score is the fidelity itself, from 0 to 1."""

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


class DirectReply(InterpretationReply):
    """The same from a prompt whose score is the fidelity itself, from 0 to 1."""

    score: Confidence  # type: ignore[assignment]


_KEYS = frozenset({*InterpretationReply.model_fields, *_ALIASES})


def read_interpretation(
    text: str, finish_reason: str | None = None, **facts: Unpack[Facts]
) -> InterpretationReply | Malformed:
    """Read a reply of the `interpretation` judge.

    Args:
        text: the raw reply.
        finish_reason: why the model stopped, in the provider's words.
        **facts: `reading`: what the judge was shown; every quote must stand there. Without it nothing is looked up.
    """
    reading = facts.get("reading")
    model = DirectReply if reading is not None and reading.direct else InterpretationReply
    return read_typed(
        model, text, finish_reason, keys=_KEYS, aliases=_ALIASES, contradictions=partial(_not_there, facts=reading)
    )


def _not_there(reply: InterpretationReply, facts: ReadingFacts | None) -> Iterator[Problem]:
    """Every quote that does not stand where it is said to stand."""
    if facts is None:
        return
    for index, flag in enumerate(reply.misinterpretation_flags or ()):
        where = joined("misinterpretation_flags", index)
        if not _was_said(flag.claim_quote, facts):
            source = "next action" if facts.text is None else "text"
            yield Problem(f"{where}.claim_quote", f"{shown(flag.claim_quote)} does not stand in the agent's {source}")
        if flag.result_path is not None:
            yield from _leads_nowhere(flag.result_path, f"{where}.result_path", facts)
    for index, one in enumerate(reply.evidence or ()):
        where = joined("evidence", index)
        missing = [*_leads_nowhere(one.result_path, f"{where}.result_path", facts)]
        yield from missing
        if not missing and not stands_at(one.quote, value_at(facts.result, one.result_path)):
            yield Problem(f"{where}.quote", f"{shown(one.quote)} does not stand at {shown(one.result_path)}")


def _was_said(quote: str, facts: ReadingFacts) -> bool:
    return occurs_in_action(quote, facts.action) if facts.text is None else occurs(quote, facts.text)


def _leads_nowhere(path: str, where: str, facts: ReadingFacts) -> Iterator[Problem]:
    try:
        value_at(facts.result, path)
    except NoSuchPath as error:
        yield Problem(where, f"{shown(path)} {error}")

"""Gemini's replies: one response, or the chunks of a stream, as the parts that the model has sent.

Field names come in camel case (the API) and in snake case (dumps of the Python SDK, which also write `null` for what
is absent).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from rightcall.errors import TraceError
from rightcall.trace import jsontext
from rightcall.trace.sources import sse
from rightcall.trace.sources.conversation import mapping, text_or_none
from rightcall.trace.sources.dialect import Skip
from rightcall.trace.sources.exchange import failed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.errors import Place
    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.sources.conversation import Conversation

    _Object = Mapping[str, JsonValue]

_CALL_FAILED = {"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"}
_ENDED_WELL = {"STOP", "FINISH_REASON_UNSPECIFIED", *_CALL_FAILED}


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model has sent.

    `failed_call` is the finish reason of a call that the model could not write, `said` what the provider tells of it.
    """

    parts: list[JsonValue]
    model: str | None
    id: str | None
    failed_call: str | None
    said: str | None


@cache
def _snake(name: str) -> str:
    return re.sub(r"([A-Z])", lambda found: "_" + found[1].lower(), name)


def field(value: JsonValue, name: str) -> JsonValue:
    """A field by its camel-case name, in either case; `None` where it is absent or null."""
    held = mapping(value)
    found = held.get(name)
    return held.get(_snake(name)) if found is None else found


def read_reply(talk: Conversation, response: JsonValue, path: str, place: Place) -> Reply | Skip:
    """The reply of a response; where there is none, why."""
    chunks = _chunks(talk, response, path)
    candidates = [candidate for chunk in chunks if (candidate := _first(talk, chunk, path)) is not None]
    if not candidates:
        return _no_reply(chunks, place)
    parts: list[JsonValue] = []
    reason = said = None
    for candidate in candidates:
        sent = mapping(candidate.get("content")).get("parts")
        parts += sent if isinstance(sent, list) else []
        reason = text_or_none(field(candidate, "finishReason")) or reason
        said = text_or_none(field(candidate, "finishMessage")) or said
    word = reason.rsplit(".", 1)[-1] if reason else None
    _note_end(talk, word, path, is_stream=not isinstance(response, dict))
    model, id_ = (_said_first(chunks, key) for key in ("modelVersion", "responseId"))
    return Reply(parts, model, id_, word if word in _CALL_FAILED else None, said)


def _said_first(chunks: list[JsonValue], name: str) -> str | None:
    return next((text for chunk in chunks if (text := text_or_none(field(chunk, name)))), None)


def _chunks(talk: Conversation, response: JsonValue, path: str) -> list[JsonValue]:
    """The responses that a response consists of: one, or the chunks of a stream, as values or as text."""
    if not isinstance(response, str):
        return response if isinstance(response, list) else [response]
    if not sse.is_stream(response):
        try:
            value = jsontext.decode(response)
        except TraceError as error:
            talk.note("TRACE_MALFORMED", error.message, path)
            return []
        return value if isinstance(value, list) else [value]
    faults: list[str] = []
    chunks = list(sse.events(response, faults))
    for fault in faults:
        talk.note("TRACE_INCOMPLETE", fault, path)
    return chunks


def _first(talk: Conversation, chunk: JsonValue, path: str) -> _Object | None:
    """The candidate that is read: the first."""
    candidates = mapping(chunk).get("candidates")
    if not isinstance(candidates, list) or not candidates:
        return None
    chosen = next((c for c in candidates if mapping(c).get("index") in (None, 0)), None)
    if len(candidates) > 1 or chosen is None:
        talk.note("TRACE_INCOMPLETE", "only the first candidate is read", f"{path}.candidates")
    return mapping(chosen) if chosen is not None else None


def _note_end(talk: Conversation, reason: str | None, path: str, *, is_stream: bool) -> None:
    if reason == "MAX_TOKENS":
        talk.note("TRACE_TRUNCATED", "the reply was cut off at its longest length", path)
    elif reason is None and is_stream:
        talk.note("TRACE_TRUNCATED", "the stream ends before its message does", path)
    elif reason is not None and reason not in _ENDED_WELL:
        talk.note("TRACE_INCOMPLETE", f"the reply was ended by the provider: `{reason}`", path)


def _no_reply(chunks: list[JsonValue], place: Place) -> Skip:
    for chunk in chunks:
        if mapping(chunk).get("error") is not None:
            return failed(chunk, place, "an error")
        blocked = field(field(chunk, "promptFeedback"), "blockReason")
        if blocked is not None:
            return Skip("TRACE_INCOMPLETE", f"the prompt was blocked: `{blocked}`", place)
        if field(chunk, "totalTokens") is not None:
            return Skip("TRACE_INCOMPLETE", "the request only counted tokens: there is no reply", place)
    return Skip("TRACE_MALFORMED", "the response holds no `candidates`", place)

"""Hermes and ShareGPT conversations: `conversations` of `{from, value}`, with calls inside the text.

* An assistant's text holds `<tool_call>{"name", "arguments"}</tool_call>`, a tool's `<tool_response>…</tool_response>`;
  rows of the ShareGPT family write whole turns from `function_call` and `observation` instead.
* The catalog is the row's `tools`, or what stands between `<tools>` and `</tools>` in the system prompt.
* The format has no field for a tool's failure, so `is_error` is never known. Results are given by name and order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET, Raw, UnsetType

from rightcall.errors import ConfigError, Place, TraceError
from rightcall.trace import jsontext
from rightcall.trace.catalog import parse_tools
from rightcall.trace.model import Message, Role, Trace
from rightcall.trace.sources import tagged_calls
from rightcall.trace.sources.conversation import (
    Conversation,
    first_request,
    mapping,
    place_id,
    text_or_none,
    written_id,
)
from rightcall.trace.sources.dialect import Dialect, Skip

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.trace.jsontext import JsonValue

_SPEAKERS: dict[str, Role] = {
    "system": "system", "human": "user", "user": "user", "gpt": "assistant", "assistant": "assistant",
}  # fmt: skip
_CALLS = {"function_call", "tool_call"}
_RESULTS = {"tool", "observation", "function", "function_response", "tool_response"}


def detect(value: JsonValue) -> bool:
    """Whether a record is one conversation."""
    said = mapping(value).get("conversations")
    return isinstance(said, list) and bool(said) and all({"from", "value"} <= mapping(each).keys() for each in said)


def traces(value: JsonValue, place: Place) -> Iterator[Trace | Skip]:
    """Read one conversation."""
    row = mapping(value)
    said = row.get("conversations")
    if not isinstance(said, list) or not said:
        yield Skip("TRACE_MALFORMED", "`conversations` is not a list with anything in it", place)
        return
    talk, root = Conversation(), place.path or "$"
    if isinstance(row.get("system"), str):
        talk.events.append(Message(role="system", text=row["system"]))
    for index, each in enumerate(said):
        _read_said(talk, mapping(each), f"{root}.conversations[{index}]")
    if not talk.events:
        yield Skip("TRACE_MALFORMED", "none of its messages could be read", place)
        return
    row_id = written_id(row.get("id"))
    yield Trace(
        id=row_id or place_id(place),
        case_id=row_id,
        request=first_request(talk.events),
        tools_json=_tools(talk, row, root),
        events=tuple(talk.events),
        completed=False if any(finding.code == "TRACE_TRUNCATED" for finding in talk.findings) else None,
        findings=tuple(talk.findings),
        metadata={key: row[key] for key in ("category", "subcategory", "task", "source") if row.get(key)},
    )


def _read_said(talk: Conversation, said: Mapping[str, JsonValue], path: str) -> None:
    who, value = said.get("from"), said.get("value")
    if isinstance(value, (dict, list)) and isinstance(who, str) and who in _CALLS | _RESULTS:
        value = jsontext.encode(value).decode()
    if not isinstance(who, str) or not isinstance(value, str):
        talk.note("TRACE_MALFORMED", "a message needs `from` and a text as `value`", path)
    elif who in _CALLS or _SPEAKERS.get(who) == "assistant":
        _read_assistant(talk, value, path, whole=who in _CALLS)
    elif who in _RESULTS:
        _, bodies = tagged_calls.split(value, "tool_response")
        for body, _ in bodies or [(value, True)]:
            tagged_calls.read_result(talk, body, path)
    elif who in _SPEAKERS:
        talk.events.append(Message(role=_SPEAKERS[who], text=value))
    else:
        talk.note("TRACE_MALFORMED", f"nobody is known as `{who}`", path)


def _read_assistant(talk: Conversation, value: str, path: str, *, whole: bool) -> None:
    """Add an assistant's text and calls; `whole` says that all of it is a call."""
    text, bodies = tagged_calls.split(value, "tool_call")
    if whole and not bodies:
        text, bodies = None, [(value.strip(), True)]
    talk.turn += 1
    place = len(talk.events)
    talk.events.append(Message(role="assistant", text=text, turn=talk.turn))
    unread = []
    for body, closed in bodies:
        if not closed:
            talk.note("TRACE_TRUNCATED", "the text ends inside a call", path)
        if not tagged_calls.read_calls(talk, body, path, talk.turn):
            unread.append(body)
    if unread:
        kept = "\n".join([text, *unread] if text else unread)
        talk.events[place] = Message(role="assistant", text=kept, turn=talk.turn)


def _tools(talk: Conversation, row: Mapping[str, JsonValue], root: str) -> Raw | UnsetType:
    """The catalog in native shape: the row's, or the system prompt's."""
    written, path = row.get("tools"), f"{root}.tools"
    if written in (None, ""):
        prompts = [event.text or "" for event in talk.events if isinstance(event, Message) and event.role == "system"]
        bodies = [body for prompt in prompts for body, closed in tagged_calls.split(prompt, "tools")[1] if closed]
        written = next((body for body in bodies if body[:1] in ("[", "{")), None)
    if written is None:
        return UNSET
    try:
        return Raw(jsontext.encode(parse_tools(listed(written), Place(path=path))))
    except (ConfigError, TraceError) as error:
        talk.note("CONFIG_TOOL_INVALID" if isinstance(error, TraceError) else error.code, error.message, path)
        return UNSET


def listed(written: JsonValue) -> JsonValue:
    """Tools as a list: one in itself, or a text of JSON that holds a list, one tool, or one tool a line.

    Raises:
        TraceError: a text that is not JSON.
    """
    if text_or_none(written) is None:
        return written
    try:
        value = jsontext.decode(written)
    except TraceError:
        lines = [line for line in written.split("\n") if line.strip()]
        if len(lines) < 2:
            raise
        return [jsontext.decode(line) for line in lines]
    return [value] if isinstance(value, dict) and "tools" not in value else value


DIALECT = Dialect("hermes", "Hermes / ShareGPT conversations", detect, traces)

"""What readers of one model call share: a request with its reply, a failed request, the tools that were offered.

An exchange is one step of a conversation: its request repeats everything said before, so only the calls of the reply
are its own. What came before them, up to the last earlier call, becomes `context.history`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET, Raw, UnsetType

from rightcall.errors import ConfigError, Place
from rightcall.trace import jsontext
from rightcall.trace.catalog import parse_tools
from rightcall.trace.model import Agent, Message, Trace
from rightcall.trace.sources.conversation import first_request, mapping, place_id, text_or_none, written_id
from rightcall.trace.sources.dialect import Skip

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.model import Role
    from rightcall.trace.sources.conversation import Conversation

    _Object = Mapping[str, JsonValue]


class Speech:
    """One message while its parts are read: each run of text is a message of its own, in order among the calls.

    A text that follows a call of the same message can thus be told from one that precedes it.
    """

    def __init__(self, talk: Conversation, role: Role, at: str | None = None) -> None:
        if role == "assistant":
            talk.turn += 1
        self.role, self.at = role, at
        self.turn = talk.turn if role == "assistant" else None
        self._talk = talk
        self._texts: list[str] | None = None

    def say(self, text: str, joint: str = "\n") -> None:
        """Add text to the run, set apart from what precedes it by `joint`."""
        if self._texts is None:
            self._texts = [text]
        else:
            self._texts += [joint, text]

    def end(self, *, wordless: bool = False) -> None:
        """End a run of text; with `wordless`, a message that has no text is one all the same."""
        if self._texts is not None or wordless:
            text = None if self._texts is None else "".join(self._texts)
            self._talk.events.append(Message(role=self.role, text=text, at=self.at, turn=self.turn))
        self._texts = None


def unread(talk: Conversation, kind: JsonValue, path: str) -> None:
    """Note a part of a message that is not text, by its type."""
    talk.note("TRACE_INCOMPLETE", f"a part of type `{kind}` is not text and was left out", path)


def failed(response: JsonValue, place: Place, what: str) -> Skip:
    """A request to which the endpoint answered with an error, with its reason."""
    body = mapping(response)
    error = body.get("error", body.get("Error", body))
    said = mapping(error)
    reason = text_or_none(said.get("message", said.get("Message", error)))
    return Skip("TRACE_HTTP_ERROR", f"the endpoint answered with {what}" + (f": {reason}" if reason else ""), place)


def http_failure(record: _Object, place: Place) -> Skip | None:
    """Why an exchange has no reply, by its HTTP status."""
    status = record.get("status")
    if isinstance(status, int) and not isinstance(status, bool) and status >= 400:
        return failed(record.get("response"), place, f"HTTP status {status}")
    return None


def offered_tools(talk: Conversation, tools: JsonValue, path: str) -> Raw | UnsetType:
    """The catalog in native shape; one that cannot be read is noted, and unknown."""
    if tools is None:
        return UNSET
    try:
        return Raw(jsontext.encode(parse_tools(tools, Place(path=path))))
    except ConfigError as error:
        talk.note(error.code, error.message, error.place.path or path)
        return UNSET


def trace_of(
    record: _Object, talk: Conversation, place: Place, *, tools: Raw | UnsetType, model: JsonValue, system: str | None
) -> Trace | Skip:
    """A trace from what was read; `record` may name it, its case and its metadata."""
    if not talk.events:
        return Skip("TRACE_MALFORMED", "none of its messages could be read", place)
    metadata = mapping(record.get("metadata"))
    name = text_or_none(model)
    cut_off = any(finding.code == "TRACE_TRUNCATED" for finding in talk.findings)
    return Trace(
        id=written_id(record.get("id")) or written_id(record.get("trace_id")) or place_id(place),
        case_id=written_id(record.get("case_id")) or written_id(metadata.get("case_id")),
        request=first_request(talk.events),
        context=None if system is None else {"system": system},
        agent=Agent(model=name) if name else None,
        tools_json=tools,
        events=tuple(talk.events),
        completed=False if cut_off else None,
        findings=tuple(talk.findings),
        metadata=dict(metadata),
    )

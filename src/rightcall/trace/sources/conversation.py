"""What a reader of messages builds with: events in order, results given to their calls, and what was odd.

A result belongs to the nearest earlier call with its id that has none yet, never to an id looked up in the whole
trace: recordings use an id again. Without an id, order and name decide. A result that finds no call, an id that is used
again and arguments that are no object are findings; nothing is dropped without one.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, TypedDict

import msgspec
from msgspec import UNSET, Raw, UnsetType

from rightcall.errors import TraceError
from rightcall.trace import jsontext
from rightcall.trace.model import ArgumentsStatus, Call, Event, Message, Result, TraceFinding

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rightcall.errors import Place
    from rightcall.trace.jsontext import JsonValue


class Arguments(TypedDict, total=False):
    """How the arguments of one call were recorded: the fields of a `Call` that say so."""

    arguments_json: Raw
    arguments_status: ArgumentsStatus
    arguments_raw: str


def read_arguments(value: JsonValue | UnsetType) -> Arguments:
    """Arguments as they are recorded: JSON in a string, or an object where the server sends one."""
    if value is UNSET or value is None:
        return {"arguments_status": "missing"}
    if isinstance(value, dict):
        return {"arguments_json": Raw(jsontext.encode(value))}
    if not isinstance(value, str):
        return {"arguments_status": "not_object", "arguments_raw": jsontext.encode(value).decode()}
    if not value:
        return {"arguments_json": Raw(b"{}")}
    try:
        decoded = jsontext.decode(value)
    except TraceError:
        return {"arguments_status": "malformed", "arguments_raw": value}
    if not isinstance(decoded, dict):
        return {"arguments_status": "not_object", "arguments_raw": value}
    # A line break outside strings is the one thing that a line of JSON cannot hold.
    return {"arguments_json": Raw(value.strip().replace("\n", " ").replace("\r", " ").encode())}


_ODD_ARGUMENTS = {
    "malformed": ("TRACE_ARGS_UNPARSEABLE", "are not JSON"),
    "not_object": ("TRACE_ARGS_NOT_OBJECT", "are not an object"),
    "missing": ("TRACE_ARGS_MISSING", "were not recorded"),
}


class Conversation:
    """Events and findings of one trace while its messages are read; it knows which calls still wait for a result."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.findings: list[TraceFinding] = []
        self.turn = 0
        self._waiting: dict[int, Call] = {}
        self._by_id: dict[str, list[int]] = {}

    def note(self, code: str, message: str, path: str) -> None:
        """Keep something odd about the recording."""
        self.findings.append(TraceFinding(code=code, message=message, path=path))

    def call(self, call: Call, path: str) -> None:
        """Add a call, noting odd arguments and an id that an earlier call has too."""
        if call.arguments_status in _ODD_ARGUMENTS:
            code, what = _ODD_ARGUMENTS[call.arguments_status]
            self.note(code, f"the arguments of `{call.tool}` {what}", path)
        index = len(self.events)
        if call.id is not None:
            if call.id in self._by_id:
                self.note("TRACE_DUPLICATE_ID", f"an earlier call has the id `{call.id}` too", path)
            self._by_id.setdefault(call.id, []).append(index)
        self.events.append(call)
        self._waiting[index] = call

    def answer(self, result: Result, path: str, *, id: str | None, name: str | None = None) -> None:  # noqa: A002
        """Give a result to the nearest earlier call with its id that has none; without id, by order and name."""
        index = self._nearest(id) if id is not None else self._first_of_last_turn(name)
        if index is None:
            whose = f"the id `{id}`" if id is not None else f"the name `{name}`" if name else "a result to come"
            self.note("TRACE_ORPHAN_RESULT", f"a result without its call: no unanswered call has {whose}", path)
            return
        self.events[index] = msgspec.structs.replace(self._waiting.pop(index), result=result)

    def _nearest(self, id: str) -> int | None:  # noqa: A002
        places = self._by_id.get(id, [])
        return next((index for index in reversed(places) if index in self._waiting), None)

    def _first_of_last_turn(self, name: str | None) -> int | None:
        """The first unanswered call of the last turn that has one (of that name)."""
        found: int | None = None
        for index, call in reversed(self._waiting.items()):
            if name is not None and call.tool != name:
                continue
            if found is not None and call.turn != self._waiting[found].turn:
                break
            found = index
        return found


def mapping(value: JsonValue) -> Mapping[str, JsonValue]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def place_id(place: Place) -> str:
    """An id for a record that has none: its file's stem with its line or index."""
    name = PurePath(place.file or "trace").name
    for packed in (".gz", ".zst"):
        name = name.removesuffix(packed)
    line = f":{place.line}" if place.line is not None else ""
    return f"{PurePath(name).stem}{line}{(place.path or '').removeprefix('$')}"


def written_id(value: JsonValue) -> str | None:
    """An identifier as text: a text that is not empty, or an integer."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value else None


def text_or_none(value: JsonValue) -> str | None:
    """The value if it is text."""
    return value if isinstance(value, str) else None


def captured(message: Mapping[str, JsonValue]) -> Raw | UnsetType:
    """A result's content as recorded, which may be `null`; unset where the key is missing."""
    return Raw(jsontext.encode(message["content"])) if "content" in message else UNSET


def first_request(events: Sequence[Event]) -> str | None:
    """The text of the first user message that has one."""
    said = (event.text for event in events if isinstance(event, Message) and event.role == "user")
    return next((text for text in said if text is not None), None)

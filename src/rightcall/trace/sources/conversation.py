"""What a reader of messages builds with: events in order, results given to their calls, and what was odd.

A result belongs to the nearest earlier call with its id that has none yet, never to an id looked up in the whole
trace: recordings use an id again. Without an id, order and name decide. A result that finds no call, an id that is used
again and arguments that are no object are findings; nothing is dropped without one.
"""

from __future__ import annotations

from collections import deque
from pathlib import PurePath
from typing import TYPE_CHECKING, TypedDict

import msgspec
from msgspec import UNSET, Raw, UnsetType

from rightcall.errors import TraceError
from rightcall.trace import jsontext
from rightcall.trace.model import ArgumentsStatus, Call, Event, Message, Result, Trace, TraceFinding

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
    """Events and findings of one trace while its messages are read; it knows which calls still wait for a result.

    Args:
        tell_order: whether a result that only its order gives to one of several calls is a finding.
    """

    def __init__(self, *, tell_order: bool = False) -> None:
        self._tell_order = tell_order
        self.events: list[Event] = []
        self.findings: list[TraceFinding] = []
        self.turn = 0
        self._waiting: dict[int, Call] = {}
        self._by_id: dict[str, list[int]] = {}
        self._by_name: dict[str | None, list[tuple[int | None, deque[int]]]] = {}

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
        for name in (call.tool, None):
            turns = self._by_name.setdefault(name, [])
            if not turns or turns[-1][0] != call.turn:
                turns.append((call.turn, deque()))
            turns[-1][1].append(index)
        self.events.append(call)
        self._waiting[index] = call

    @property
    def has_ids(self) -> bool:
        """Whether any call was recorded with an id."""
        return bool(self._by_id)

    def knows_id(self, id: str | None) -> bool:  # noqa: A002
        """Whether a call of this id was recorded, answered or not."""
        return id in self._by_id

    def answer(
        self,
        result: Result,
        path: str,
        *,
        id: str | None,  # noqa: A002
        name: str | None = None,
        tell_orphan: bool = True,
    ) -> int | None:
        """Give a result to the nearest earlier call with its id that has none; without id, by order and name.

        Returns the index of that call among the events. Without such a call nothing is kept: `None`, and a finding
        (`tell_orphan`).
        """
        index = self._nearest(id) if id is not None else self._first_of_last_turn(name, path)
        if index is None and not tell_orphan:
            return None
        if index is None:
            whose = f"the id `{id}`" if id is not None else f"the name `{name}`" if name else "a result to come"
            self.note("TRACE_ORPHAN_RESULT", f"a result without its call: no unanswered call has {whose}", path)
            return None
        self.events[index] = msgspec.structs.replace(self._waiting.pop(index), result=result)
        return index

    def _nearest(self, id: str) -> int | None:  # noqa: A002
        places = self._by_id.get(id, [])
        while places and places[-1] not in self._waiting:
            places.pop()
        return places[-1] if places else None

    def _first_of_last_turn(self, name: str | None, path: str) -> int | None:
        """The first unanswered call of the last turn that has one (of that name); say so where there were several."""
        turns = self._by_name.get(name, [])
        while turns:
            places = turns[-1][1]
            index = self._next_of(places)
            if index is not None:
                places.popleft()
                if self._tell_order and self._next_of(places) is not None:
                    whose = f" of `{name}`" if name is not None else ""
                    self.note("ORDER_AMBIGUOUS", f"several calls{whose} wait: only order says whose result it is", path)
                return index
            turns.pop()
        return None

    def _next_of(self, places: deque[int]) -> int | None:
        """The first of these calls that is unanswered; the answered ones before it are dropped."""
        while places and places[0] not in self._waiting:
            places.popleft()
        return places[0] if places else None


def without_history(trace: Trace, earlier: int) -> Trace:
    """For one step of a conversation whose request repeats everything said before: keep the step's own calls.

    `earlier` is the number of events that the request holds. Those up to its last call move into
    `context["history"]`: their calls were earlier replies.
    """
    calls = [index for index, event in enumerate(trace.events[:earlier]) if isinstance(event, Call)]
    if not calls:
        return trace
    cut = calls[-1] + 1
    history = jsontext.decode(jsontext.encode(trace.events[:cut]))
    before = trace.context if isinstance(trace.context, dict) else {"system": trace.context} if trace.context else {}
    return msgspec.structs.replace(trace, events=trace.events[cut:], context={**before, "history": history})


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

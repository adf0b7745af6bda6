"""Streams of OpenAI's Responses API: events, put together into the response that they build.

`response.completed` (or `.incomplete`, `.failed`) repeats the whole response and is taken where it holds all that was
sent before. Without it the items stand as far as they came: `response.output_item.done` holds a whole item, deltas are
joined into the item that `response.output_item.added` began.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rightcall.trace.sources import sse
from rightcall.trace.sources.conversation import mapping

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.trace.jsontext import JsonValue

    _Object = Mapping[str, JsonValue]

CUT_SHORT = "cut_short"
"""The `status` that is given to a response whose stream ends before it is over."""

_FRAGMENTS = {
    "function_call_arguments": ("arguments", "arguments"),
    "mcp_call_arguments": ("arguments", "arguments"),
    "custom_tool_call_input": ("input", "input"),
    "code_interpreter_call_code": ("code", "code"),
    "output_text": ("text", "text"),
    "refusal": ("refusal", "refusal"),
}
"""What is sent in fragments: the item's key, and the key of the whole in the closing event."""

_ENDS = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")


def is_event(value: JsonValue) -> bool:
    """Whether a value is one event of a stream."""
    kind = mapping(value).get("type")
    return isinstance(kind, str) and kind.startswith("response.")


def are_events(value: JsonValue) -> bool:
    """Whether a value is a list of events."""
    return isinstance(value, list) and bool(value) and all(is_event(row) or _is_error(row) for row in value)


def _is_error(value: JsonValue) -> bool:
    return mapping(value).get("type") == "error"


def is_stream(value: JsonValue) -> bool:
    """Whether a value is a stream of this API, as text or as a list."""
    return is_event(next(sse.events(value), None)) if sse.is_stream(value) else are_events(value)


def put_together(stream: JsonValue) -> tuple[_Object, list[str]]:
    """The response that a stream builds, and what could not be read of it."""
    faults: list[str] = []
    response = _Response()
    for event in sse.events(stream, faults) if isinstance(stream, str) else stream:
        response.add(mapping(event), faults)
    return response.whole(), faults


class _Response:
    """A response while its events come in."""

    def __init__(self) -> None:
        self._head: _Object = {}
        self._end: _Object | None = None
        self._error: JsonValue = None
        self._items: dict[int, dict[str, JsonValue]] = {}
        self._fragments: dict[tuple[int, str, int], list[str]] = {}
        self._finished: set[int] = set()
        self._next = 0

    def add(self, event: _Object, faults: list[str]) -> None:
        """Add one event."""
        kind = event.get("type")
        if not isinstance(kind, str):
            faults.append("an event without a `type`")
        elif kind in _ENDS:
            self._end = mapping(event.get("response"))
        elif isinstance(event.get("response"), dict):
            self._head = event["response"]
        elif kind == "error":
            self._error = event.get("error") or event.get("message") or "an error"
        elif kind in ("response.output_item.added", "response.output_item.done"):
            index = self._index(event)
            self._next = max(self._next, index + 1)
            self._items[index] = dict(mapping(event.get("item")))
            if kind.endswith("done"):
                self._finished.add(index)
        else:
            self._fragment(kind.removeprefix("response."), event)

    def _index(self, event: _Object) -> int:
        index = event.get("output_index")
        return index if isinstance(index, int) and not isinstance(index, bool) else self._next

    def _fragment(self, kind: str, event: _Object) -> None:
        name, _, what = kind.rpartition(".")
        index, part = event.get("output_index"), event.get("content_index", 0)
        if name not in _FRAGMENTS or not isinstance(index, int) or not isinstance(part, int):
            return
        key, whole = _FRAGMENTS[name]
        if what == "delta" and isinstance(event.get("delta"), str):
            self._fragments.setdefault((index, key, part), []).append(event["delta"])
        elif what == "done" and isinstance(event.get(whole), str):
            self._fragments[index, key, part] = [event[whole]]

    def whole(self) -> _Object:
        """The response, with a `status` and an `error` that say how the stream ended."""
        items = self._built()
        end = mapping(self._end)
        listed = end.get("output")
        output = listed if isinstance(listed, list) and len(listed) >= len(items) else items
        status = end.get("status", "completed") if self._end is not None else CUT_SHORT
        error = self._error if self._error is not None else end.get("error")
        return {**self._head, **end, "object": "response", "output": output, "status": status, "error": error}

    def _built(self) -> list[JsonValue]:
        """The items as far as they came, in order."""
        built: dict[int, list[JsonValue]] = {}
        for (index, key, _), pieces in sorted(self._fragments.items(), key=lambda entry: entry[0]):
            item = self._items.get(index)
            if item is None or index in self._finished:
                continue
            text = "".join(pieces)
            if key in ("text", "refusal"):
                item["content"] = built.setdefault(index, [])
                built[index].append({"type": "output_text" if key == "text" else "refusal", key: text})
            else:
                item[key] = text
        return [self._items[index] for index in sorted(self._items)]

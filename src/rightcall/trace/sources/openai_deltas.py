"""Chat completions that were streamed: chunks of deltas, put together into the reply that they are pieces of.

* A fragment of a call continues the call at its `index`; one with a new id begins a call, also at an index in use.
* Some servers name the tool again in every fragment, others send several calls without ids under one index. Another
  name begins a call. The same name does only where the fragments are no JSON together and each is by itself.
* A fragment without `index` continues the call with its id, else the last one.
* Arguments that no fragment carries stay missing; fragments are joined as they are and never repaired.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec import UNSET

from rightcall.errors import TraceError
from rightcall.trace import jsontext
from rightcall.trace.sources import sse
from rightcall.trace.sources.conversation import mapping, text_or_none, written_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rightcall.trace.jsontext import JsonValue

    _Object = Mapping[str, JsonValue]

CUT_SHORT = "cut_short"
"""The `finish_reason` that is given to a reply whose stream ends before it says why."""


def are_chunks(value: JsonValue) -> bool:
    """Whether a value is a list of chunks, or of the deltas alone."""
    if not isinstance(value, list) or not value:
        return False
    return all(map(is_chunk, value)) or (all(map(_is_delta, value)) and any(map(_has_fragments, value)))


def is_chunk(value: JsonValue) -> bool:
    """Whether a value is one chunk: its choices hold deltas, or it has none, as the one that tells the usage."""
    choices = mapping(value).get("choices")
    if not isinstance(choices, list):
        return False
    if not choices:
        return mapping(value).get("object") == "chat.completion.chunk"
    return all("delta" in mapping(choice) for choice in choices)


def _is_delta(value: JsonValue) -> bool:
    delta = mapping(value)
    return "tool_calls" in delta or (bool(delta) and delta.keys() <= {"role", "content", "refusal", "function_call"})


def _has_fragments(value: JsonValue) -> bool:
    """Whether a delta without a role holds fragments of calls: a whole message says whose it is."""
    fragments = mapping(value).get("tool_calls")
    indexed = isinstance(fragments, list) and any("index" in mapping(fragment) for fragment in fragments)
    return indexed and "role" not in mapping(value)


def from_text(text: str) -> tuple[_Object, list[str]]:
    """The reply that the text of a stream holds, in the shape of a whole completion, and what could not be read."""
    faults: list[str] = []
    return _merged(sse.events(text, faults), faults, ended=sse.is_done(text))


def from_chunks(chunks: Iterable[JsonValue]) -> tuple[_Object, list[str]]:
    """The same from a list of chunks, or of the deltas alone (which cannot say whether they are all)."""
    rows = list(chunks)
    bare = not any(map(is_chunk, rows))
    return _merged([{"choices": [{"delta": row}]} for row in rows] if bare else rows, [], ended=bare)


def _merged(chunks: Iterable[JsonValue], faults: list[str], *, ended: bool) -> tuple[_Object, list[str]]:
    whole: dict[str, JsonValue] = {}
    choices: dict[int, _Choice] = {}
    for number, value in enumerate(chunks):
        chunk = mapping(value)
        if chunk.get("error") is not None:
            whole["error"] = chunk["error"]
        entries = chunk.get("choices")
        if not isinstance(entries, list) and "error" not in chunk:
            faults.append(f"event {number} is not a chunk of a completion")
        for entry in entries if isinstance(entries, list) else ():
            index = mapping(entry).get("index")
            choices.setdefault(index if isinstance(index, int) else 0, _Choice()).add(mapping(entry))
        for key in ("id", "model"):
            if isinstance(chunk.get(key), str) and chunk[key]:
                whole.setdefault(key, chunk[key])
    whole["choices"] = [choices[index].whole(ended=ended) for index in sorted(choices)]
    return whole, faults


@dataclass
class _Call:
    """The fragments of one call, in segments: a new one begins where a fragment names the tool again."""

    head: dict[str, JsonValue]
    kind: str
    names: list[JsonValue] = field(default_factory=list)
    segments: list[list[JsonValue]] = field(default_factory=lambda: [[]])

    def add(self, body: _Object) -> None:
        """Add one fragment's name and piece of the arguments (or of a custom tool's input)."""
        name, piece = body.get("name"), body.get("input" if self.kind == "custom" else "arguments")
        if name:
            if self.names:
                self.segments.append([])
            self.names.append(name)
        if piece is not None:
            self.segments[-1].append(piece)

    def entries(self) -> list[JsonValue]:
        """The call as an entry of `tool_calls`, or the several calls that its segments turn out to be."""
        pieces = [_joined(segment) for segment in self.segments]
        together = _joined([piece for segment in self.segments for piece in segment])
        if len(pieces) > 1 and not _is_json(together) and all(map(_is_json, pieces)):
            return [self._entry(name, piece) for name, piece in zip(self.names, pieces, strict=True)]
        return [self._entry(self.names[0] if self.names else None, together)]

    def _entry(self, name: JsonValue, value: JsonValue) -> JsonValue:
        key = "input" if self.kind == "custom" else "arguments"
        return {**self.head, "type": self.kind, self.kind: {"name": name} | ({} if value is UNSET else {key: value})}


def _joined(pieces: list[JsonValue]) -> JsonValue:
    """Pieces of text as one; a single piece as it is; `UNSET` for none."""
    if len(pieces) < 2:
        return pieces[0] if pieces else UNSET
    return "".join(piece if isinstance(piece, str) else jsontext.encode(piece).decode() for piece in pieces)


def _is_json(value: JsonValue) -> bool:
    if not isinstance(value, str):
        return isinstance(value, dict)
    try:
        return isinstance(jsontext.decode(value), dict)
    except TraceError:
        return False


class _Choice:
    """One choice of a completion while its deltas come in."""

    def __init__(self) -> None:
        self._content: list[JsonValue] = []
        self._refusal: list[str] = []
        self._calls: list[_Call | JsonValue] = []
        self._at: dict[JsonValue, _Call] = {}
        self._last: _Call | None = None
        self._legacy: _Call | None = None
        self._finish: JsonValue = None

    def add(self, choice: _Object) -> None:
        """Add what one chunk says about this choice."""
        delta = mapping(choice.get("delta"))
        self._finish = choice.get("finish_reason") or self._finish
        if delta.get("content") is not None:
            self._content.append(delta["content"])
        if isinstance(delta.get("refusal"), str):
            self._refusal.append(delta["refusal"])
        legacy = delta.get("function_call")
        if isinstance(legacy, dict):
            self._legacy = self._legacy or _Call({}, "function")
            self._legacy.add(legacy)
        fragments = delta.get("tool_calls")
        for fragment in fragments if isinstance(fragments, list) else ():
            self._fragment(fragment)

    def _fragment(self, fragment: JsonValue) -> None:
        entry = mapping(fragment)
        kind = "custom" if entry.get("type") == "custom" or "custom" in entry else "function"
        if not isinstance(entry.get(kind), dict):
            self._calls.append(fragment)  # the reader of messages says what is wrong with it
            return
        call = self._call_of(entry)
        if call is None:
            call = _Call({"id": entry.get("id")}, kind)
            self._calls.append(call)
        self._last = call
        for key in (self._index(entry), written_id(entry.get("id"))):
            if key is not None:
                self._at[key] = call
        call.add(entry[kind])

    def _call_of(self, entry: _Object) -> _Call | None:
        """The call that a fragment continues; `None` where it begins one."""
        index, id_ = self._index(entry), written_id(entry.get("id"))
        found = self._at.get(index) if index is not None else self._at.get(id_) if id_ is not None else self._last
        if found is None:
            return None
        name, known = mapping(entry.get("custom", entry.get("function"))).get("name"), written_id(found.head.get("id"))
        if id_ is None:
            return None if name and found.names and name != found.names[0] else found
        if known is None and not name:
            found.head["id"] = id_  # an id that came late
            return found
        return found if known == id_ else None

    @staticmethod
    def _index(entry: _Object) -> int | None:
        index = entry.get("index")
        return index if isinstance(index, int) and not isinstance(index, bool) else None

    def whole(self, *, ended: bool) -> _Object:
        """The choice as if it had come at once."""
        message: dict[str, JsonValue] = {"role": "assistant", "content": _content(self._content)}
        if self._refusal:
            message["refusal"] = "".join(self._refusal)
        if self._calls:
            message["tool_calls"] = [
                entry for call in self._calls for entry in (call.entries() if isinstance(call, _Call) else [call])
            ]
        if self._legacy is not None:
            message["function_call"] = mapping(self._legacy.entries()[0]).get("function")
        finish = text_or_none(self._finish) or (None if ended else CUT_SHORT)
        return {"message": message, "finish_reason": finish}


def _content(pieces: list[JsonValue]) -> JsonValue:
    """The text of a reply; a list of parts where a server sends parts."""
    if all(isinstance(piece, str) for piece in pieces):
        return "".join(pieces) if pieces else None
    parts: list[JsonValue] = []
    for piece in pieces:
        parts.extend(piece if isinstance(piece, list) else [piece])
    return parts

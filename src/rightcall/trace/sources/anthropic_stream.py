"""Anthropic's stream events, put together into the message that they send.

Pieces of a call's input are joined and left as text, since only the reader of arguments may say what they are. A call
whose input had not arrived when the stream broke off has none: it never becomes `{}`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rightcall.trace.sources.conversation import mapping, text_or_none

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.sources.conversation import Conversation

_PIECES = {"input_json_delta": "partial_json", "text_delta": "text", "thinking_delta": "thinking"}
_UNHEARD = {
    "citation", "citations_delta", "compaction_delta", "input_json", "ping", "signature", "signature_delta", "text",
    "thinking",
}  # fmt: skip
"""Events without content of their own, and those that the SDK derives from others."""


def is_stream(value: JsonValue) -> bool:
    """Whether a value is a list of this provider's stream events, from the first on."""
    if not isinstance(value, list) or not value:
        return False
    kinds = [mapping(event).get("type") for event in value[:2]]
    return kinds[0] == "message_start" or kinds == ["ping", "message_start"]


class _Block:
    """One block of content while its pieces arrive."""

    def __init__(self, start: dict[str, JsonValue]) -> None:
        self.start = start
        self.pieces: dict[str, list[str]] = {}
        self.cites = False
        self.is_whole = False

    def add(self, delta: JsonValue) -> bool:
        """Add a piece; whether its kind is known."""
        body = mapping(delta)
        kind = text_or_none(body.get("type")) or ""
        piece = text_or_none(body.get(_PIECES.get(kind, "")))
        self.cites = self.cites or kind == "citations_delta"
        if piece is not None:
            self.pieces.setdefault(kind, []).append(piece)
        return piece is not None or kind in _UNHEARD

    def made(self) -> dict[str, JsonValue]:
        """The block as a message that was not streamed holds it."""
        block = dict(self.start)
        for kind, pieces in self.pieces.items():
            key = "input" if kind == "input_json_delta" else _PIECES[kind]
            text = "".join(pieces)
            block[key] = text if key == "input" else (text_or_none(block.get(key)) or "") + text
        if self.cites:
            block["citations"] = []
        if not self.is_whole and not block.get("input"):
            block.pop("input", None)
        return block


def put_together(talk: Conversation, events: Iterable[JsonValue], path: str) -> dict[str, JsonValue] | None:
    """The message of a stream; what broke off or is not known is noted. `None` if no message begins in it."""
    stream = _Stream()
    for number, event in enumerate(events):
        if not stream.take(mapping(event)):
            kind = mapping(event).get("type")
            talk.note("TRACE_INCOMPLETE", f"an event of type `{kind}` was left out", f"{path}[{number}]")
    if stream.message is None:
        return None
    if not stream.is_whole:
        talk.note("TRACE_TRUNCATED", stream.fault, path)
    begun = stream.message.get("content")
    made = [block.made() for _, block in sorted(stream.blocks.items())]
    return {**stream.message, "content": [*(begun if isinstance(begun, list) else []), *made]}


class _Stream:
    """What has arrived of a message."""

    def __init__(self) -> None:
        self.message: dict[str, JsonValue] | None = None
        self.blocks: dict[int, _Block] = {}
        self.is_whole = False
        self.fault = "the stream ends before its message does"

    def take(self, event: Mapping[str, JsonValue]) -> bool:
        """Take one event; whether its kind is known."""
        kind, index = event.get("type"), event.get("index")
        if kind in ("message_start", "message_delta"):
            key = "message" if kind == "message_start" else "delta"
            self.message = {**(self.message or {}), **mapping(event.get(key))}
        elif kind == "message_stop":
            self.is_whole = True
        elif kind == "error":
            self.fault = f"the stream broke off: {mapping(event.get('error')).get('message')}"
        elif isinstance(index, int) and isinstance(kind, str) and kind.startswith("content_block_"):
            return self._piece(kind, index, event)
        else:
            return isinstance(kind, str) and kind in _UNHEARD
        return True

    def _piece(self, kind: str, index: int, event: Mapping[str, JsonValue]) -> bool:
        if kind == "content_block_start":
            self.blocks[index] = _Block(dict(mapping(event.get("content_block"))))
            return True
        block = self.blocks.get(index)
        if block is None:
            return False
        if kind == "content_block_stop":
            block.is_whole = True
            return True
        return kind == "content_block_delta" and block.add(event.get("delta"))

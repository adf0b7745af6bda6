"""Server-sent events: the text in which every provider sends a reply piece by piece.

Only what carries data is handed on: comments (`: PROCESSING`), names, ids and the closing `[DONE]` are not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rightcall.errors import TraceError
from rightcall.trace import jsontext

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rightcall.trace.jsontext import JsonValue

DONE = "[DONE]"
"""What some providers send after the last event."""

_FIELD = re.compile(r"\ufeff?\s*(?:data:|event:|id:|retry:|:)")
_LINE = re.compile(r"([^\r\n]*)(\r\n|\n|\r|\Z)")


def is_stream(value: JsonValue) -> bool:
    """Whether a value is the text of a stream of events."""
    return isinstance(value, str) and _FIELD.match(value) is not None


def events(text: str, faults: list[str] | None = None) -> Iterator[JsonValue]:
    """The decoded data of each event, in order; what is not JSON is told in `faults`."""
    for number, data in enumerate(_data(text)):
        if data.strip() == DONE:
            continue
        try:
            yield jsontext.decode(data)
        except TraceError as error:
            if faults is not None:
                faults.append(f"event {number} cannot be read: {error.message}")


def is_done(text: str) -> bool:
    """Whether a stream was sent to its closing `[DONE]`."""
    return text.rstrip().endswith(DONE)


def _data(text: str) -> Iterator[str]:
    """The data of each event: its `data:` lines, joined. The last one counts even where no blank line follows it."""
    lines: list[str] = []
    for found in _LINE.finditer(text.removeprefix("\ufeff")):
        line = found[1]
        if line.startswith("data:"):
            lines.append(line[5:].removeprefix(" "))
        elif not line and lines:
            yield "\n".join(lines)
            lines = []
        if not found[2]:
            break
    if lines:
        yield "\n".join(lines)

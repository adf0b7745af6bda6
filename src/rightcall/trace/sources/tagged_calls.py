"""Calls and results inside text, between tags: `<tool_call>{"name": …, "arguments": …}</tool_call>` (Hermes).

A body is JSON; a Python literal is read too, as the format's own parser reads it, and is noted. A body that is neither
keeps its text as a malformed call where it says which tool it means, and as text where it does not.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import UNSET, Raw

from rightcall.errors import TraceError
from rightcall.trace import jsontext
from rightcall.trace.model import Call, Result
from rightcall.trace.sources import python_calls
from rightcall.trace.sources.conversation import mapping, read_arguments, text_or_none, written_id

if TYPE_CHECKING:
    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.sources.conversation import Conversation

_NAME = re.compile(r"""["']name["']\s{0,20}:\s{0,20}["']([^"'\s]{1,200})["']""")


def split(text: str, tag: str) -> tuple[str | None, list[tuple[str, bool]]]:
    """The text outside `<tag>` … `</tag>`, and the bodies inside with whether each is closed."""
    opening, closing = f"<{tag}>", f"</{tag}>"
    rest: list[str] = []
    bodies: list[tuple[str, bool]] = []
    place = 0
    while (start := text.find(opening, place)) >= 0:
        rest.append(text[place:start])
        end = text.find(closing, start)
        if end < 0:
            bodies.append((text[start + len(opening) :].strip(), False))
            place = len(text)
            break
        bodies.append((text[start + len(opening) : end].strip(), True))
        place = end + len(closing)
    rest.append(text[place:])
    outside = "\n".join(part.strip() for part in rest if part.strip())
    return (outside or None) if bodies else text, bodies


def read_body(talk: Conversation, body: str, path: str) -> JsonValue:
    """The value of a body; `None` where it has none."""
    try:
        return jsontext.decode(body)
    except TraceError:
        tree = python_calls.expression(body)
    try:
        value = python_calls.constant(tree) if tree is not None else None
    except ValueError:
        return None
    if value is not None:
        talk.note("TRACE_MALFORMED", "written as a Python literal, not as JSON, and read as one", path)
    return value


def read_calls(talk: Conversation, body: str, path: str, turn: int) -> bool:
    """Add the call of a body, or the calls of a list; whether there was any."""
    value = read_body(talk, body, path)
    entries = value if isinstance(value, list) and value else [value]
    return any([_read_call(talk, entry, body, path, turn) for entry in entries])


def _read_call(talk: Conversation, value: JsonValue, body: str, path: str, turn: int) -> bool:
    entry = mapping(value)
    name = text_or_none(entry.get("name"))
    if name:
        arguments = read_arguments(entry.get("arguments", entry.get("parameters", UNSET)))
        talk.call(Call(tool=name, id=written_id(entry.get("id")), turn=turn, **arguments), path)
        return True
    names = set(_NAME.findall(body)) if value is None else set()
    if len(names) != 1:
        talk.note("TRACE_MALFORMED", "this body is not a call: it names no tool", path)
        return False
    talk.call(Call(tool=names.pop(), arguments_status="malformed", arguments_raw=body, turn=turn), path)
    return True


def read_result(talk: Conversation, body: str, path: str) -> None:
    """Give the result of a body to its call: by id where one is written, else by name and order."""
    value = None
    if body[:1] in ("{", "["):
        value = read_body(talk, body, path)
    said = mapping(value)
    content = next((said[key] for key in ("content", "result") if key in said), body if value is None else value)
    talk.answer(
        Result(content_json=Raw(jsontext.encode(content))), path,
        id=written_id(said.get("tool_call_id")), name=text_or_none(said.get("name")) or None,
    )  # fmt: skip

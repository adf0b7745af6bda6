"""The calls inside one of LangChain's assistant messages, each once, however often it is written down.

A call can stand in `tool_calls` or `invalid_tool_calls`, raw in `additional_kwargs`, and as a block of the content.
Arguments that are not JSON stand only in `invalid_tool_calls`; a chunk's `tool_calls` may have been completed by
guessing, so its `tool_call_chunks` are read instead.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from msgspec import UNSET, Raw

from rightcall.trace.sources.conversation import Arguments, mapping, read_arguments, text_or_none, written_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.trace.jsontext import JsonValue

    _Object = Mapping[str, JsonValue]

CALL_PARTS = {"tool_use", "tool_call", "invalid_tool_call", "function_call", "tool_call_chunk"}
"""Types of the content blocks that are calls of the agent."""


class Decision(NamedTuple):
    """One call inside one assistant message."""

    name: str | None
    id: str | None
    arguments: Arguments
    path: str


def decisions(body: _Object, path: str) -> Iterator[Decision]:
    """Every call of an assistant message, once, however often it is written down."""
    raw = list(_raw_calls(mapping(body.get("additional_kwargs")), f"{path}.additional_kwargs"))
    known: list[Decision] = []
    for source in (_own_calls(body, path, raw), raw, list(_parts(body, path))):
        ids = {call.id for call in source}
        # What has another id here, or none, is the same call where one of its name is left over.
        spare = Counter(call.name for call in known if call.id is None or call.id not in ids)
        known_ids = {call.id for call in known if call.id is not None}
        for call in source:
            if call.id in known_ids:
                continue
            if spare[call.name] > 0:
                spare[call.name] -= 1
                continue
            known.append(call)
    yield from known


def _own_calls(body: _Object, path: str, raw: list[Decision]) -> list[Decision]:
    """The calls that were parsed and those that could not be; of a chunk, those of its fragments."""
    chunks = body.get("tool_call_chunks")
    if isinstance(chunks, list) and chunks:
        return _joined(chunks, f"{path}.tool_call_chunks")
    written = {call.id: call for call in raw if call.id is not None}
    found = []
    for call in _entries(body, "tool_calls", path):
        twin = written.get(call.id or "")
        # An old parser made `{}` of what it could not parse: the raw text knows better.
        emptied = twin is not None and call.arguments.get("arguments_json") == Raw(b"{}")
        found.append(call._replace(arguments=twin.arguments) if twin is not None and emptied else call)
    return [*found, *_entries(body, "invalid_tool_calls", path)]


def _entries(body: _Object, key: str, path: str) -> Iterator[Decision]:
    calls = body.get(key)
    for index, value in enumerate(calls if isinstance(calls, list) else ()):
        yield entry_of(value, f"{path}.{key}[{index}]")


def entry_of(value: JsonValue, path: str) -> Decision:
    """A call as LangChain writes it (`name`, `args`, `id`) or as OpenAI does (`function`)."""
    entry = mapping(value)
    body = entry
    if isinstance(entry.get("function"), dict):
        body = entry["function"]
    elif isinstance(entry.get("custom"), dict):
        body = entry["custom"]
    key = next((key for key in ("args", "arguments", "input") if key in body), None)
    id_ = written_id(entry.get("call_id")) or written_id(entry.get("id"))
    value = UNSET if key is None else body[key]
    if isinstance(entry.get("custom"), dict) and isinstance(value, str):
        return Decision(text_or_none(body.get("name")), id_, _free_text(value), path)
    return Decision(text_or_none(body.get("name")) or None, id_, read_arguments(value), path)


def _free_text(text: str) -> Arguments:
    return {"arguments_status": "not_object", "arguments_raw": text}


def _raw_calls(extras: _Object, path: str) -> Iterator[Decision]:
    yield from _entries(extras, "tool_calls", path)
    if isinstance(extras.get("function_call"), dict):
        yield entry_of({"function": extras["function_call"]}, f"{path}.function_call")


def _parts(body: _Object, path: str) -> Iterator[Decision]:
    content = body.get("content")
    for index, part in enumerate(content if isinstance(content, list) else ()):
        if str(mapping(part).get("type")) in CALL_PARTS:
            yield entry_of(part, f"{path}.content[{index}]")


def _joined(chunks: list[JsonValue], path: str) -> list[Decision]:
    """The calls of a stream's fragments: a new id begins a call, a missing one goes on with the call at its index."""
    parts: list[tuple[list[str], list[str], str | None, str]] = []
    open_at: dict[int, int] = {}
    for number, value in enumerate(chunks):
        chunk = mapping(value)
        id_, index = written_id(chunk.get("id")), chunk.get("index")
        at = open_at.get(index) if isinstance(index, int) else None
        if at is None or (id_ is not None and parts[at][2] not in (None, id_)):
            at = len(parts)
            parts.append(([], [], id_, f"{path}[{number}]"))
            if isinstance(index, int):
                open_at[index] = at
        parts[at][0].append(text_or_none(chunk.get("name")) or "")
        parts[at][1].append(text_or_none(chunk.get("args")) or "")
    return [
        Decision("".join(names) or None, id_, read_arguments("".join(texts)), where)
        for names, texts, id_, where in parts
    ]

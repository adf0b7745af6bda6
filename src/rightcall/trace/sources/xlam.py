"""xLAM and APIGen rows: `{query, tools, answers}`, where tools and answers are JSON inside a text.

The answers are the calls that the row's model made, all of one turn; no result was recorded. The same rows are cases
(`rightcall.case.sources.xlam`): their answers are also what should have happened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET, Raw, UnsetType

from rightcall.errors import ConfigError, Place, TraceError
from rightcall.trace import jsontext
from rightcall.trace.catalog import parse_tools
from rightcall.trace.model import Call, Message, Trace
from rightcall.trace.sources.conversation import (
    Conversation,
    mapping,
    place_id,
    read_arguments,
    text_or_none,
    written_id,
)
from rightcall.trace.sources.dialect import Dialect, Skip

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.trace.jsontext import JsonValue


def detect(value: JsonValue) -> bool:
    """Whether a record is one row."""
    row = mapping(value)
    packed = (row.get("tools"), row.get("answers"))
    return isinstance(row.get("query"), str) and all(isinstance(each, (str, list)) for each in packed)


def row_id(row: Mapping[str, JsonValue], place: Place) -> str:
    """The id that a row's trace and case share."""
    return written_id(row.get("id")) or place_id(place)


def answers(row: Mapping[str, JsonValue], place: Place) -> list[JsonValue] | Skip:
    """The list of answers, unpacked."""
    try:
        value = unpacked(row.get("answers"))
    except TraceError as error:
        return Skip("TRACE_MALFORMED", f"the answers cannot be read: {error.message}", place)
    if not isinstance(value, list):
        return Skip("TRACE_MALFORMED", "the answers are not a list", place)
    return value


def unpacked(value: JsonValue) -> JsonValue:
    """A value that may be JSON inside a text.

    Raises:
        TraceError: the text is not JSON.
    """
    return jsontext.decode(value) if isinstance(value, str) else value


def catalog(row: Mapping[str, JsonValue], place: Place) -> Raw:
    """The row's tools in native shape.

    Raises:
        ConfigError, TraceError: they cannot be read.
    """
    where = Place(place.file, place.line, None, f"{place.path or '$'}.tools")
    tools = unpacked(row.get("tools"))
    if isinstance(tools, list):
        tools = [_tool(tool) for tool in tools]
    return Raw(jsontext.encode(parse_tools(tools, where)))


def _tool(value: JsonValue) -> JsonValue:
    """A tool whose parameters may be written by name, without a schema around them, as these rows do."""
    tool = mapping(value)
    parameters = tool.get("parameters")
    if not isinstance(parameters, dict) or "properties" in parameters or isinstance(parameters.get("type"), str):
        return value
    properties = {name: _parameter(mapping(each)) for name, each in parameters.items()}
    required = [name for name, each in parameters.items() if mapping(each).get("required") is True]
    schema = {"type": "object", "properties": properties, **({"required": required} if required else {})}
    return {**tool, "parameters": schema}


_SIMPLE = {
    "str": "string", "int": "integer", "float": "number", "bool": "boolean", "list": "array", "dict": "object",
    "set": "array", "tuple": "array",
}  # fmt: skip


def _parameter(written: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """The schema of one parameter; a Python type that is more than a word (`List[int]`, `str, optional`) says less."""
    kind = text_or_none(written.get("type")) or ""
    word = kind.split(",")[0].split("[")[0].strip().lower()
    schema = {key: written[key] for key in ("description", "enum", "items", "properties") if key in written}
    named = _SIMPLE.get(word, word if word in _SIMPLE.values() else None)
    return {"type": named, **schema} if named else schema


def traces(value: JsonValue, place: Place) -> Iterator[Trace | Skip]:
    """Read one row."""
    row = mapping(value)
    if not isinstance(row.get("query"), str):
        yield Skip("TRACE_MALFORMED", "the row has no text as its `query`", place)
        return
    found = answers(row, place)
    if isinstance(found, Skip):
        yield found
        return
    talk = Conversation()
    talk.events.append(Message(role="user", text=row["query"]))
    for index, entry in enumerate(found):
        path = f"{place.path or '$'}.answers[{index}]"
        name = text_or_none(mapping(entry).get("name"))
        if not name:
            talk.note("TRACE_MALFORMED", "this answer is not a call: it names no tool", path)
            continue
        talk.call(Call(tool=name, turn=1, **read_arguments(mapping(entry).get("arguments", UNSET))), path)
    name = row_id(row, place)
    yield Trace(
        id=name,
        case_id=name,
        request=row["query"],
        tools_json=_tools(talk, row, place),
        events=tuple(talk.events),
        findings=tuple(talk.findings),
    )


def _tools(talk: Conversation, row: Mapping[str, JsonValue], place: Place) -> Raw | UnsetType:
    try:
        return catalog(row, place)
    except (ConfigError, TraceError) as error:
        talk.note("CONFIG_TOOL_INVALID", f"the tools cannot be read: {error.message}", f"{place.path or '$'}.tools")
        return UNSET


DIALECT = Dialect("xlam", "xLAM / APIGen rows", detect, traces)

"""What OpenInference spans say about tools: the catalog that a model was given, and the runs of tools.

A tool's own span says how it ended and what it gave back. Its arguments are only second best: the LangChain emitter
writes the bare value for a tool with one argument, so that its name is lost, and `tool.parameters` is the schema with
some emitters and the arguments with others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import UNSET, Raw, UnsetType

from rightcall.trace import jsontext
from rightcall.trace.sources.conversation import Arguments, mapping, read_arguments, text_or_none, written_id
from rightcall.trace.sources.openinference_attributes import REDACTED, at, json_of, rows, text_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.sources.otlp import Span

    _Object = Mapping[str, JsonValue]


# ---- catalog -------------------------------------------------------------------------------------------------------


def tool_definitions(node: JsonValue) -> Iterator[tuple[JsonValue, str]]:
    """The definitions of the tools that a model was given, in a shape that a catalog has, with their paths."""
    given = rows(at(node, "llm", "tools"))
    for index, row in given:
        yield _definition(mapping(mapping(row).get("tool"))), f"llm.tools.{index}"
    parameters = mapping(json_of(at(node, "llm", "invocation_parameters")))
    listed = parameters.get("tools") or parameters.get("functions")
    if not given and isinstance(listed, list):
        for index, entry in enumerate(listed):
            yield entry, f"llm.invocation_parameters.tools[{index}]"


def _definition(tool: _Object) -> JsonValue:
    """One definition: as the provider has it, or only the schema of its arguments beside the tool's name."""
    schema = json_of(tool.get("json_schema"))
    body = mapping(schema)
    if "name" in body or "function" in body or "toolSpec" in body:
        return schema
    name = text_or_none(tool.get("name"))
    if name is None:
        return schema
    schema = schema if schema is not None else json_of(tool.get("parameters"))
    return {"name": name, "description": tool.get("description"), "parameters": schema}


# ---- runs ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a tool's run ended. `id` is that of its call, where the span says so."""

    id: str | None
    content: Raw | UnsetType
    is_error: bool | None


def outcome_of(span: Span, node: JsonValue) -> Outcome:
    """What a tool's span says about its run.

    A status of ERROR is a failure. A status of OK is not the contrary: it stays OK where the framework gives the error
    back as the result. LangChain's own message in `output.value` says both.
    """
    value = at(node, "output", "value")
    message = _wrapped(value)
    id_ = written_id(at(node, "tool", "id")) or written_id(at(node, "tool_call", "id"))
    failed: bool | None = True if span.status == "ERROR" else None
    if message is not None:
        said = message.get("status")
        if failed is None and said in ("success", "error"):
            failed = said == "error"
        return Outcome(id_ or written_id(message.get("tool_call_id")), _raw(message["content"]), failed)
    if value is None and failed:
        value = _exception(span)
    hidden = value is None or value == REDACTED
    return Outcome(id_, UNSET if hidden else _raw(value), failed)


def _wrapped(value: JsonValue) -> _Object | None:
    """LangChain's tool message in one of its three dumps, if the value is one."""
    body = mapping(json_of(value) if isinstance(value, str) and "tool_call_id" in value else value)
    for inner in (body.get("data"), body.get("kwargs"), body):
        message = mapping(inner)
        if "tool_call_id" in message and "content" in message:
            return message
    return None


def _raw(value: JsonValue) -> Raw:
    return Raw(jsontext.encode(value))


def _exception(span: Span) -> str | None:
    """What went wrong, in the words of the span's exception, else of its status."""
    said = (text_or_none(event.attributes.get("exception.message")) for event in span.events)
    return next((text for text in said if text), span.status_message)


def arguments_of_run(node: JsonValue) -> Arguments:
    """The arguments of a tool's run, for a call that no model's span holds.

    A bare value is `not_captured`: the name of the argument was lost.
    """
    parameters = at(node, "tool", "parameters")
    if parameters is not None and not _is_schema(json_of(parameters)):
        return read_arguments(parameters)
    value = at(node, "input", "value")
    if value is None or value == REDACTED:
        return {"arguments_status": "not_captured"}
    decoded = json_of(value)
    if isinstance(decoded, dict):
        return read_arguments(value)
    if text_at(node, "input", "mime_type") == "application/json":
        return read_arguments(value)
    raw = value if isinstance(value, str) else jsontext.encode(value).decode()
    return {"arguments_status": "not_captured", "arguments_raw": raw}


def _is_schema(value: JsonValue) -> bool:
    schema = mapping(value)
    return isinstance(schema.get("properties"), dict) or (schema.get("type") == "object" and "title" in schema)

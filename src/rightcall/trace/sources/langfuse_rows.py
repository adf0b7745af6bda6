"""Rows of Langfuse: observations and scores, in camel case (API), snake case (bulk export) or as spans left them.

The fields differ between the kinds of export and their versions, so each is looked for under all of its names. Rows
that came in over OpenTelemetry keep their attributes in `metadata.attributes`; these fill what the row leaves out.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from msgspec import UNSET, UnsetType

from rightcall.trace.model import Label
from rightcall.trace.sources.conversation import mapping, text_or_none, written_id
from rightcall.trace.sources.genai_messages import decoded
from rightcall.trace.sources.observed import Observation
from rightcall.trace.sources.otlp import Span

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.errors import Place
    from rightcall.trace.jsontext import JsonValue

    _Object = Mapping[str, JsonValue]

TYPES = {
    "SPAN", "GENERATION", "EVENT", "TOOL", "AGENT", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL",
}  # fmt: skip
_LEVELS = {"DEBUG", "DEFAULT", "WARNING", "ERROR"}
_KINDS = {"GENERATION": "LLM", "TOOL": "TOOL", "AGENT": "AGENT", "EVALUATOR": "EVALUATOR", "GUARDRAIL": "EVALUATOR"}
_SOURCES: dict[JsonValue, Literal["person", "judge"]] = {"ANNOTATION": "person", "EVAL": "judge"}
_TOOL_NAMES = ("gen_ai.tool.name", "tool.name", "ai.toolCall.name")
_CALL_IDS = ("gen_ai.tool.call.id", "tool_call.id", "tool.id", "ai.toolCall.id")
_GIVEN = {
    "TOOL": ("gen_ai.tool.call.arguments", "ai.toolCall.args", "input.value"),
    "LLM": ("gen_ai.input.messages", "ai.prompt.messages", "input.value"),
}
_SAID = {
    "TOOL": ("gen_ai.tool.call.result", "ai.toolCall.result", "output.value"),
    "LLM": ("gen_ai.output.messages", "output.value"),
}


def first(row: _Object, *names: str) -> JsonValue:
    """The value under the first of these names that has one, in camel case or in snake case."""
    for name in names:
        for key in (name, _snake(name)):
            if row.get(key) is not None:
                return row[key]
    return None


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def is_observation(row: _Object) -> bool:
    """Whether a row is an observation: an id, a trace, one of Langfuse's types, and a time or a level."""
    kind = row.get("type")
    return (
        isinstance(kind, str)
        and kind in TYPES
        and written_id(row.get("id")) is not None
        and written_id(first(row, "traceId")) is not None
        and (first(row, "startTime") is not None or first(row, "level") in _LEVELS)
    )


def is_score(row: _Object) -> bool:
    """Whether a row is a score: a name and a value about a trace or a session, and where it came from."""
    return (
        isinstance(row.get("name"), str)
        and isinstance(row.get("source"), str)
        and ("value" in row or first(row, "stringValue") is not None)
        and "type" not in row
        and any(first(row, name) is not None for name in ("traceId", "observationId", "sessionId"))
    )


def attributes_of(row: _Object) -> _Object:
    """The attributes that a span came with."""
    return mapping(decoded(mapping(decoded(row.get("metadata"))).get("attributes")))


# ---- observations --------------------------------------------------------------------------------------------------


def observation_of(row: _Object, trace_id: str, index: int, place: Place) -> Observation:
    """A row as an observation."""
    attributes, level = attributes_of(row), first(row, "level")
    kind, name = _kind(row, attributes), text_or_none(row.get("name")) or ""
    said = text_or_none(first(row, "statusMessage"))
    span = Span(
        trace_id=trace_id,
        span_id=written_id(row.get("id")) or f"#{index}",
        parent_id=written_id(first(row, "parentObservationId")),
        name=name,
        start=_nanoseconds(first(row, "startTime")),
        end=_nanoseconds(first(row, "endTime")),
        status="ERROR" if level == "ERROR" else "UNSET",
        status_message=said or None,
        place=place,
    )
    given, reply = _content(row, "input", attributes, kind, _GIVEN), _content(row, "output", attributes, kind, _SAID)
    if kind == "LLM" and reply in (None, UNSET):
        reply = _calls_beside(row)
    return Observation(
        span,
        kind=kind,
        name=_among(attributes, _TOOL_NAMES) or name or "?" if kind == "TOOL" else name,
        given=given,
        said=reply,
        tools=_tools(row, given, attributes),
        model=text_or_none(first(row, "model", "providedModelName")),
        call_id=_among(attributes, _CALL_IDS) or _wrapped_id(reply),
        failed=True if level == "ERROR" else _failed(reply),
    )


def _kind(row: _Object, attributes: _Object) -> str:
    """What an observation is; before there was a type for tools, only the attributes say that a span is one."""
    kind = _KINDS.get(str(row.get("type")), "OTHER")
    said = attributes.get("openinference.span.kind", attributes.get("langfuse.observation.type"))
    if kind == "OTHER" and (
        attributes.get("gen_ai.operation.name") == "execute_tool"
        or (isinstance(said, str) and said.upper() == "TOOL")
        or "ai.toolCall.name" in attributes
    ):
        return "TOOL"
    return kind


def _content(
    row: _Object, key: str, attributes: _Object, kind: str, names: Mapping[str, tuple[str, ...]]
) -> JsonValue | UnsetType:
    """An input or output; a missing key was not captured, and `null` is what Langfuse writes for that."""
    if row.get(key) is not None:
        return row[key]
    return next((attributes[name] for name in names.get(kind, ()) if name in attributes), UNSET)


def _calls_beside(row: _Object) -> JsonValue | UnsetType:
    """The calls that newer rows list beside the output."""
    calls = decoded(first(row, "toolCalls"))
    found = [decoded(call) for call in calls] if isinstance(calls, list) else []
    return {"role": "assistant", "content": None, "tool_calls": found} if found else UNSET


def _tools(row: _Object, given: JsonValue | UnsetType, attributes: _Object) -> JsonValue:
    """The definitions of tools, from the input, the attributes or the row."""
    listed = mapping(decoded(given) if given is not UNSET else None).get("tools")
    beside = first(row, "toolDefinitions")
    for value in (
        listed,
        attributes.get("gen_ai.tool.definitions"),
        first(mapping(first(row, "modelParameters")), "tools"),
    ):
        tools = decoded(value)
        if isinstance(tools, list) and tools:
            return [decoded(tool) for tool in tools]
    if isinstance(beside, dict):
        return [{"name": name, **mapping(decoded(body))} for name, body in beside.items()]
    return [decoded(tool) for tool in beside] if isinstance(beside, list) and beside else None


def _among(attributes: _Object, names: tuple[str, ...]) -> str | None:
    return next((id_ for name in names if (id_ := written_id(attributes.get(name)))), None)


def _wrapped_id(reply: JsonValue | UnsetType) -> str | None:
    """The id within a tool message that is the output."""
    return written_id(mapping(reply).get("tool_call_id"))


def _failed(reply: JsonValue | UnsetType) -> bool | None:
    """What LangChain's own tool message says about the run."""
    status = mapping(reply).get("status")
    return status == "error" if "tool_call_id" in mapping(reply) and status in ("success", "error") else None


def _nanoseconds(value: JsonValue) -> int | None:
    """A time in ISO 8601 (without a zone: UTC) as nanoseconds since 1970."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1000


# ---- scores --------------------------------------------------------------------------------------------------------


def label_of(score: _Object, calls: Mapping[str, str]) -> Label | None:
    """A score as a label; a person gave it if it is an annotation, a judge if it is an evaluation."""
    name = text_or_none(score.get("name"))
    if name is None:
        return None
    source = text_or_none(score.get("source"))
    words, about = first(score, "stringValue"), written_id(first(score, "observationId"))
    kind = first(score, "dataType")
    return Label(
        name=name,
        value=words if kind in ("CATEGORICAL", "BOOLEAN") and words is not None else score.get("value", words),
        comment=text_or_none(score.get("comment")),
        by=text_or_none(first(score, "authorUserId")) or source,
        kind=_SOURCES.get(source, "unknown"),
        at=text_or_none(first(score, "timestamp", "createdAt")),
        target=None if about is None else calls.get(about, about),
    )

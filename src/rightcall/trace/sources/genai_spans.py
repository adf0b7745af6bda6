"""What a span of generative AI says, whichever library wrote it: a request to a model, a tool's run, an agent's run.

Read are OpenTelemetry's conventions in their three generations (messages in log records or span events; messages as
attributes, on the span or on one event; tool calls as attributes of the tool's span), the names that Pydantic AI used
before, OpenLLMetry's numbered attributes with `traceloop.entity.*`, and the `ai.*` attributes of the Vercel AI SDK.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from msgspec import UNSET, UnsetType

from rightcall.trace.sources.conversation import mapping, text_or_none, written_id
from rightcall.trace.sources.genai_messages import Said, decoded, message_of, messages_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.sources.otlp import LogRecord, Span

    _Object = Mapping[str, JsonValue]

Part = Literal["agent", "request", "tool", "other"]

_PREFIXES = ("gen_ai.", "ai.operationId", "ai.toolCall.", "ai.response.", "pydantic_ai.", "traceloop.", "llm.request.")
_AGENTS = {"invoke_agent", "invoke_workflow"}
_REQUESTS = {"chat", "completion", "generate_content", "text_completion"}
_DETAILS = "gen_ai.client.inference.operation.details"


def is_known(key: str) -> bool:
    """Whether an attribute or an event of this name belongs to this dialect."""
    return key.startswith(_PREFIXES)


def part_of(span: Span) -> Part:
    """What the span stands for."""
    a = span.attributes
    keys = ("gen_ai.operation.name", "traceloop.span.kind", "ai.operationId")
    operation, kind, vercel = [text_or_none(a.get(key)) for key in keys]
    if operation in _AGENTS or kind in ("agent", "workflow") or _is_vercel_agent(vercel):
        return "agent"
    if operation == "execute_tool" or kind == "tool" or vercel == "ai.toolCall" or "gen_ai.tool.name" in a:
        return "tool"
    if operation in _REQUESTS or (vercel or "").endswith((".doGenerate", ".doStream")):
        return "request"
    if operation is None and any(key.startswith(("gen_ai.prompt", "gen_ai.completion")) for key in a):
        return "request"
    said = ("gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system", "gen_ai.provider.name")
    return "request" if operation is None and any(key in a for key in said) else "other"


def _is_vercel_agent(operation: str | None) -> bool:
    return operation in ("ai.generateText", "ai.streamText", "ai.generateObject", "ai.streamObject")


# ---- requests ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Request:
    """One request to a model: what it was told, what it answered. `inputs` repeats everything said before.

    `cut` names attributes that are messages and could not be read as such.
    """

    inputs: Sequence[Said] = ()
    outputs: Sequence[Said] = ()
    cut: tuple[str, ...] = ()

    @property
    def is_captured(self) -> bool:
        """Whether any content was recorded."""
        return any(said.is_captured for said in (*self.inputs, *self.outputs))


def request_of(span: Span, logs: Sequence[LogRecord]) -> Request:
    """The request that a span is, with the log records that belong to it."""
    attributes = all_attributes(span, logs)
    events = _message_events(span, logs)
    for inputs, outputs in (
        ("gen_ai.input.messages", "gen_ai.output.messages"),
        ("gen_ai.prompt", "gen_ai.completion"),
        ("ai.prompt.messages", None),
    ):
        if inputs in attributes or outputs in attributes:
            return _of_attributes(attributes, inputs, outputs)
    if events:
        return _of_events(events)
    return _of_numbers(attributes) or Request((), _vercel_reply(attributes))


def all_attributes(span: Span, logs: Sequence[LogRecord]) -> _Object:
    """The attributes of a span with those of the event that carries its details."""
    found: dict[str, JsonValue] = {}
    for log in logs:
        if log.event_name == _DETAILS:
            found.update({**mapping(log.body), **log.attributes})
    for event in span.events:
        if event.name in (_DETAILS, "gen_ai.content.prompt", "gen_ai.content.completion"):
            found.update(event.attributes)
    found.update(span.attributes)
    return found


def _of_attributes(attributes: _Object, inputs: str, outputs: str | None) -> Request:
    cut = []
    sides: list[Sequence[Said]] = []
    for key, role in ((inputs, "user"), (outputs or "", "assistant")):
        read = messages_of(attributes[key], role) if key in attributes else []
        if read is None:
            cut.append(key)
        sides.append(read or ())
    return Request(sides[0], sides[1] if outputs else _vercel_reply(attributes), tuple(cut))


def _vercel_reply(attributes: _Object) -> list[Said]:
    keys = ("ai.response.text", "ai.response.object", "ai.response.toolCalls")
    if not any(key in attributes for key in keys):
        return []
    text = text_or_none(attributes.get(keys[0], attributes.get(keys[1])))
    raw = {"role": "assistant", "tool_calls": attributes.get(keys[2]), "parts": [text] if text else []}
    return [message_of({**raw, "finish_reason": attributes.get("ai.response.finishReason")})]


_ROLE_OF = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.choice": "choice",
}


def _message_events(span: Span, logs: Iterable[LogRecord]) -> list[tuple[str, _Object]]:
    """The events that are messages, of the span and of the log, in order: whose, and what."""
    of_log = sorted((log for log in logs if log.event_name in _ROLE_OF), key=lambda log: log.time or 0)
    found: list[tuple[str, _Object]] = []
    found += [(_ROLE_OF[log.event_name or ""], {**log.attributes, **mapping(log.body)}) for log in of_log]
    found += [(_ROLE_OF[event.name], event.attributes) for event in span.events if event.name in _ROLE_OF]
    return found


def _of_events(events: list[tuple[str, _Object]]) -> Request:
    inputs, outputs = [], []
    for role, body in events:
        if role == "choice":
            message = decoded(body.get("message", body))
            raw = message if isinstance(message, dict) else {"content": message}
            outputs.append(message_of({"finish_reason": body.get("finish_reason"), **raw}, "assistant"))
        else:
            inputs.append(message_of({**body, "role": role}))
    return Request(inputs, outputs)


def _of_numbers(attributes: _Object) -> Request | None:
    sides, cut = [], []
    for prefix, role in (("gen_ai.prompt", "user"), ("gen_ai.completion", "assistant")):
        found = numbered(attributes, prefix)
        sides.append([message_of(mapping(raw), role) for raw in found.values()])
        if list(found) != list(range(len(found))):
            cut.append(f"{prefix}.*")
    return Request(sides[0], sides[1], tuple(cut)) if any(sides) else None


def numbered(attributes: _Object, prefix: str) -> dict[int, JsonValue]:
    """Attributes with numbers in their names (`prefix.0.role`) as objects by number, in the order of the numbers."""
    root: dict[str, JsonValue] = {}
    for key, value in attributes.items():
        if not key.startswith(f"{prefix}."):
            continue
        *path, last = key[len(prefix) + 1 :].split(".", 8)
        node = root
        for step in path:
            inner = node.setdefault(step, {})
            node = inner if isinstance(inner, dict) else {}
        node[last] = value
    return {int(key): _as_list(root[key]) for key in sorted(filter(_is_index, root), key=int)}


def _is_index(key: str) -> bool:
    return key.isascii() and key.isdigit() and len(key) < 10


def _as_list(value: JsonValue) -> JsonValue:
    """An object whose keys are all numbers as a list, at any depth."""
    if not isinstance(value, dict):
        return value
    inner = {key: _as_list(item) for key, item in value.items()}
    if inner and all(map(_is_index, inner)):
        return [inner[key] for key in sorted(inner, key=int)]
    return inner


# ---- tools ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ToolRun:
    """A tool's own span. `arguments` and `content` are unset where the span does not hold them."""

    name: str
    id: str | None
    arguments: JsonValue | UnsetType
    content: JsonValue | UnsetType
    has_failed: bool


_ARGUMENTS = ("gen_ai.tool.call.arguments", "tool_arguments", "ai.toolCall.args", "ai.toolCall.input")
_RESULTS = ("gen_ai.tool.call.result", "tool_response", "ai.toolCall.result", "ai.toolCall.output")


def tool_run_of(span: Span) -> ToolRun | None:
    """The tool's run that a span is; `None` where it does not name the tool."""
    a = span.attributes
    names = ("gen_ai.tool.name", "ai.toolCall.name", "traceloop.entity.name")
    name = next((a[key] for key in names if isinstance(a.get(key), str) and a[key]), None)
    if name is None and span.name.startswith("execute_tool "):
        name = span.name.removeprefix("execute_tool ")
    if not name:
        return None
    arguments = next((a[key] for key in _ARGUMENTS if key in a), UNSET)
    content = next((decoded(a[key]) for key in _RESULTS if key in a), UNSET)
    if arguments is UNSET:
        arguments = _event_value(span, "gen_ai.tool.message", "content")
    if content is UNSET:
        content = decoded(_event_value(span, "gen_ai.choice", "message"))
    if arguments is UNSET and "traceloop.entity.input" in a:
        arguments = _entity_input(a["traceloop.entity.input"])
    if content is UNSET and "traceloop.entity.output" in a:
        content = decoded(a["traceloop.entity.output"])
    failed = span.status == "ERROR"
    if content is UNSET and failed:
        content = _failure(span)
    return ToolRun(name, written_id(a.get("gen_ai.tool.call.id", a.get("ai.toolCall.id"))), arguments, content, failed)


def _event_value(span: Span, event_name: str, key: str) -> JsonValue | UnsetType:
    return next((e.attributes[key] for e in span.events if e.name == event_name and key in e.attributes), UNSET)


def _entity_input(value: JsonValue) -> JsonValue:
    """The arguments within what OpenLLMetry records of a function: keyword arguments, or LangChain's `inputs`."""
    found = decoded(value)
    if not isinstance(found, dict):
        return value
    if isinstance(found.get("inputs"), dict):
        return found["inputs"]
    if found.keys() <= {"args", "kwargs"} and found:
        return found.get("kwargs", {}) if not found.get("args") else found["args"]
    return found


def _failure(span: Span) -> JsonValue | UnsetType:
    """What the exception says, or else the status."""
    said = _event_value(span, "exception", "exception.message")
    return said if isinstance(said, str) else span.status_message or UNSET

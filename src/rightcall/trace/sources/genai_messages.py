"""Messages as spans and events of generative AI carry them: one shape for the shapes of many instrumentations.

A message has a `role` and says what it holds in `parts` (OpenTelemetry), in `content` (a text, or a list of parts), or
in `tool_calls` (as OpenAI writes them). Parts are known by their `type`, or by the one key that they have (Bedrock's
way).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType

from rightcall.errors import TraceError
from rightcall.trace import jsontext
from rightcall.trace.sources.conversation import mapping, text_or_none, written_id

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.model import Role

    _Object = Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class SaidCall:
    """A call within a message. `arguments` is unset where the message holds none."""

    name: str
    id: str | None
    arguments: JsonValue | UnsetType = UNSET
    is_provider: bool = False


@dataclass(frozen=True, slots=True)
class SaidResult:
    """A result within a message. `content` is unset where it was not captured, `is_error` `None` where nothing says."""

    id: str | None
    name: str | None
    content: JsonValue | UnsetType = UNSET
    is_error: bool | None = None


@dataclass(slots=True)
class Said:
    """One message: who speaks, texts, calls and results, each in order, and the types of parts that are none of these.

    `role` is `tool` for a message that only brings results, and `None` where it is not known.
    """

    role: Role | str | None
    texts: list[str] = field(default_factory=list)
    calls: list[SaidCall] = field(default_factory=list)
    results: list[SaidResult] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    finish: str | None = None

    @property
    def is_captured(self) -> bool:
        """Whether any content was recorded: a text, arguments, or what a tool answered."""
        return (
            bool(self.texts)
            or any(call.arguments is not UNSET for call in self.calls)
            or any(result.content is not UNSET for result in self.results)
        )


_ROLES = {"system": "system", "developer": "system", "user": "user", "human": "user", "assistant": "assistant",
          "model": "assistant", "ai": "assistant", "tool": "tool", "function": "tool"}  # fmt: skip


def decoded(value: JsonValue) -> JsonValue:
    """A structured value, also where it is written as JSON text; other text stays text."""
    if not isinstance(value, str):
        return value
    try:
        return jsontext.decode(value)
    except TraceError:
        return value


def messages_of(value: JsonValue, role: str | None = None) -> list[Said] | None:
    """The messages of an attribute, structured or as JSON text; `None` where it holds none.

    `role` is whose they are where they do not say.
    """
    found = decoded(value)
    if isinstance(found, dict):
        found = found["messages"] if isinstance(found.get("messages"), list) else [found]
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        return None
    return [message_of(item, role) for item in found]


def message_of(raw: _Object, role: str | None = None) -> Said:
    """One message, in any of the shapes."""
    written = text_or_none(raw.get("role"))
    said = Said(role=_ROLES.get((written or role or "").lower()), finish=_finish(raw))
    if written is not None and said.role is None:
        said.unknown.append(f"role {written}")
    content = raw["parts"] if isinstance(raw.get("parts"), list) else _parts_within(raw.get("content", UNSET))
    if said.role == "tool" and not _holds_results(content):
        name = text_or_none(raw.get("name"))
        content = raw.get("content", UNSET) if not isinstance(raw.get("parts"), list) else content
        said.results.append(SaidResult(written_id(raw.get("tool_call_id", raw.get("id"))), name, content))
    else:
        _add_content(said, content)
    calls = decoded(raw.get("tool_calls"))
    for call in calls if isinstance(calls, list) else ():
        _add_openai_call(said, mapping(call))
    return said


def _finish(raw: _Object) -> str | None:
    return text_or_none(raw.get("finish_reason", raw.get("finishReason")))


def _holds_results(content: JsonValue) -> bool:
    return isinstance(content, list) and any(_kind(mapping(part)) in _RESULTS for part in content)


def _parts_within(content: JsonValue | UnsetType) -> JsonValue | UnsetType:
    """The parts that a text holds as JSON; anything else as it is."""
    parts = decoded(content) if isinstance(content, str) and content[:1] == "[" else None
    is_list = isinstance(parts, list) and bool(parts) and all(_kind(mapping(part)) in _PARTS for part in parts)
    return parts if is_list else content


def _add_content(said: Said, content: JsonValue | UnsetType) -> None:
    for part in content if isinstance(content, list) else [content] if isinstance(content, str) else ():
        if isinstance(part, str):
            said.texts.append(part)
        else:
            kind = _kind(mapping(part))
            read = _PARTS.get(kind) if kind else None
            if read:
                read(said, mapping(part))
            else:
                said.unknown.append(kind or "unknown")


def _add_openai_call(said: Said, call: _Object) -> None:
    body = mapping(call.get("function")) or call
    name = text_or_none(body.get("name", body.get("toolName")))
    if not name:
        said.unknown.append("a call without a name")
        return
    arguments = body.get("arguments", body.get("args", body.get("input", UNSET)))
    said.calls.append(SaidCall(name, written_id(call.get("id", call.get("toolCallId"))), arguments))


# ---- parts ---------------------------------------------------------------------------------------------------------


def _kind(part: _Object) -> str | None:
    kind = part.get("type")
    if isinstance(kind, str):
        return kind
    return next((key for key in ("text", "toolUse", "toolResult", "reasoningContent") if key in part), None)


def _text(said: Said, part: _Object) -> None:
    text = part.get("content", part.get("text"))
    if isinstance(text, str):
        said.texts.append(text)


def _left_out(_said: Said, _part: _Object) -> None:
    """Reasoning is not said to anybody."""


def _call(said: Said, part: _Object) -> None:
    body = {**part, **mapping(part.get("toolUse")), **mapping(part.get("server_tool_call"))}
    name = text_or_none(body.get("name", body.get("toolName")))
    if not name:
        said.unknown.append("a call without a name")
        return
    arguments = next((body[key] for key in ("arguments", "input", "args") if key in body), UNSET)
    id_ = next((body[key] for key in ("id", "toolCallId", "toolUseId") if key in body), None)
    provider = part.get("type") == "server_tool_call" or body.get("builtin") is True
    said.calls.append(SaidCall(name, written_id(id_), arguments, provider))


def _result(said: Said, part: _Object) -> None:
    body = {**part, **mapping(part.get("toolResult")), **mapping(part.get("server_tool_call_response"))}
    keys = ("response", "result", "output", "content")
    content = next((body[key] for key in keys if key in body), UNSET)
    id_ = next((body[key] for key in ("id", "tool_use_id", "toolCallId", "toolUseId") if key in body), None)
    is_error = body.get("is_error", body.get("isError"))
    if body.get("status") in ("error", "success"):
        is_error = body["status"] == "error"
    name = text_or_none(body.get("name", body.get("toolName")))
    said.results.append(SaidResult(written_id(id_), name, content, is_error if isinstance(is_error, bool) else None))


_RESULTS = ("tool_call_response", "tool-result", "toolResult", "tool_result", "server_tool_call_response")
_PARTS: dict[str | None, Callable[[Said, _Object], None]] = {
    "text": _text,
    "refusal": _text,
    **dict.fromkeys(("reasoning", "thinking", "redacted_thinking", "reasoningContent"), _left_out),
    **dict.fromkeys(("tool_call", "tool-call", "toolUse", "tool_use", "server_tool_call"), _call),
    **dict.fromkeys(_RESULTS, _result),
}

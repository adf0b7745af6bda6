"""OpenAI chat completions: messages with `tool_calls`, and whatever speaks the same shape.

A record is an object with `messages`, a bare list of messages, an exchange (`request` and `response`), or a chat
completion alone (`choices`). Beside `tool_calls` (functions and custom tools) the older `function_call` is read. A
reply may be streamed: the text of its events, or a list of its chunks (see `openai_deltas`).

* Arguments are JSON in a string, kept as written. An empty string means no arguments; a missing key does not.
* This dialect has no field for a tool's failure, so `is_error` is never known.
* An exchange is one step: its request repeats everything said before, so only the reply's calls are its own. What
  came before them, up to the last earlier call, becomes `context.history`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET, Raw, UnsetType

from rightcall.errors import ConfigError, Place
from rightcall.trace import jsontext
from rightcall.trace.catalog import parse_tools
from rightcall.trace.model import Agent, Call, CalledBy, Event, Message, Result, Role, Trace, TraceFinding
from rightcall.trace.sources import openai_deltas, sse
from rightcall.trace.sources.conversation import (
    Arguments,
    Conversation,
    captured,
    first_request,
    mapping,
    place_id,
    read_arguments,
    text_or_none,
    without_history,
    written_id,
)
from rightcall.trace.sources.dialect import Dialect, Skip

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.trace.jsontext import JsonValue

    _Object = Mapping[str, JsonValue]

_SPEAKERS: dict[str, Role] = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
_ROLES = {*_SPEAKERS, "tool", "function"}
_ELSEWHERE = {"reward_info", "samples", "simulations", "suite_name", "termination_reason", "traj"}
"""Keys of records that hold messages of another dialect."""
_FOREIGN_PARTS = {
    "image", "mcp_tool_use", "reasoning", "redacted_thinking", "server_tool_use", "thinking", "tool-call",
    "tool-result", "tool_call", "tool_result", "tool_use",
}  # fmt: skip
_ITEM_PARTS = {"input_file", "input_image", "input_text", "output_text"}
"""Parts that tell a list of the Responses API from a list of messages."""


# ---- messages ------------------------------------------------------------------------------------------------------


def events_of(messages: JsonValue, place: Place) -> tuple[tuple[Event, ...], tuple[TraceFinding, ...]]:
    """The events of a list of messages, and what was odd about it. `place.path` is the path of the list."""
    talk = Conversation()
    read_messages(talk, messages, place.path or "$")
    return tuple(talk.events), tuple(talk.findings)


def read_messages(talk: Conversation, messages: JsonValue, path: str) -> None:
    """Add a list of messages to a conversation."""
    if not isinstance(messages, list):
        talk.note("TRACE_MALFORMED", "the messages are not a list", path)
        return
    for index, message in enumerate(messages):
        read_message(talk, message, f"{path}[{index}]")


def read_message(talk: Conversation, message: JsonValue, path: str) -> None:
    """Add one message, with its calls or as the result that it is."""
    role = message.get("role") if isinstance(message, dict) else None
    if not isinstance(role, str) or role not in _ROLES:
        talk.note("TRACE_MALFORMED", "this is not a message with a known `role`", path)
    elif role in _SPEAKERS:
        _read_said(talk, message, _SPEAKERS[role], path)
    else:
        id_ = written_id(message.get("tool_call_id")) if role == "tool" else None
        talk.answer(Result(content_json=captured(message)), path, id=id_, name=text_or_none(message.get("name")))


def _read_said(talk: Conversation, message: _Object, role: Role, path: str) -> None:
    turn = None
    if role == "assistant":
        talk.turn += 1
        turn = talk.turn
    text = read_text(talk, message.get("content"), f"{path}.content")
    if text is None and role == "assistant":
        text = text_or_none(message.get("refusal"))
    talk.events.append(Message(role=role, text=text, turn=turn))
    by: CalledBy = "user" if role == "user" else "agent"
    calls, legacy = message.get("tool_calls"), message.get("function_call")
    if isinstance(calls, list):
        for index, entry in enumerate(calls):
            _read_call(talk, entry, f"{path}.tool_calls[{index}]", turn, by)
    elif calls is not None:
        talk.note("TRACE_MALFORMED", "`tool_calls` is not a list", f"{path}.tool_calls")
    if legacy is not None and not calls:
        _read_call(talk, {"function": legacy}, f"{path}.function_call", turn, by)


def _read_call(talk: Conversation, entry: JsonValue, path: str, turn: int | None, by: CalledBy) -> None:
    kind = "custom" if isinstance(entry, dict) and entry.get("type") == "custom" else "function"
    body = entry.get(kind) if isinstance(entry, dict) else None
    name = body.get("name") if isinstance(body, dict) else None
    if not isinstance(body, dict) or not isinstance(name, str) or not name:
        talk.note("TRACE_MALFORMED", "this entry is not a call: it names no tool", path)
        return
    arguments = free_text(body.get("input")) if kind == "custom" else read_arguments(body.get("arguments", UNSET))
    talk.call(Call(tool=name, id=written_id(entry.get("id")), turn=turn, by=by, **arguments), path)


def free_text(value: JsonValue) -> Arguments:
    """The free text of a custom tool, which is never an object even where it looks like one."""
    if isinstance(value, str):
        return {"arguments_status": "not_object", "arguments_raw": value}
    return {"arguments_status": "missing"}


def read_text(talk: Conversation, content: JsonValue, path: str) -> str | None:
    """The text of a message's content (a string, parts, or nothing); a part that is not text is noted."""
    if content is None or isinstance(content, str):
        return content
    if not isinstance(content, list):
        talk.note("TRACE_MALFORMED", "the content is neither text nor a list of parts", path)
        return None
    texts = []
    for index, part in enumerate(content):
        text = _part_text(part)
        if text is None:
            kind = part.get("type") if isinstance(part, dict) else None
            talk.note("TRACE_INCOMPLETE", f"a part of type `{kind}` is not text and was left out", f"{path}[{index}]")
        else:
            texts.append(text)
    return "\n".join(texts) if texts or not content else None


def _part_text(part: JsonValue) -> str | None:
    if isinstance(part, dict):
        return text_or_none(part.get("refusal" if part.get("type") == "refusal" else "text"))
    return text_or_none(part)


# ---- records -------------------------------------------------------------------------------------------------------


def detect(value: JsonValue) -> bool:
    """Whether every message has one of this dialect's roles and nothing has the shape of another dialect."""
    if isinstance(value, list):
        return (_are_messages(value) and not any(map(_has_item_parts, value))) or openai_deltas.are_chunks(value)
    if not isinstance(value, dict) or _ELSEWHERE & value.keys():
        return False
    request = value.get("request")
    if isinstance(request, dict):
        return _asks(request) and _answers(value.get("response"))
    if "messages" in value:
        return _asks(value)
    choices = value.get("choices")
    return isinstance(choices, list) and bool(choices) and bool({"message", "delta"} & mapping(choices[0]).keys())


def _asks(value: _Object) -> bool:
    """Whether an object holds this dialect's messages and no other dialect's tools or system prompt."""
    tools = value.get("tools")
    foreign = isinstance(tools, list) and any(map(_is_foreign_tool, tools))
    return not foreign and "system" not in value and _are_messages(value.get("messages"))


def _is_foreign_tool(value: JsonValue) -> bool:
    tool = mapping(value)
    return "input_schema" in tool or ("name" in tool and tool.get("type", "function") not in ("function", "custom"))


def _answers(response: JsonValue) -> bool:
    """Whether a response is this dialect's: choices, an error, or a stream of either."""
    if sse.is_stream(response):
        return _answers(next(sse.events(response), None))
    if isinstance(response, list):
        return openai_deltas.are_chunks(response)
    return "choices" in mapping(response) or ("error" in mapping(response) and "type" not in mapping(response))


def _are_messages(value: JsonValue) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_message, value))


def _is_message(value: JsonValue) -> bool:
    message = mapping(value)
    role, calls, content = message.get("role"), message.get("tool_calls"), message.get("content")
    if not isinstance(role, str) or role not in _ROLES:
        return False
    if role == "tool" and {"requestor", "function"} & message.keys():
        return False
    if isinstance(calls, list) and any(map(_is_foreign_call, calls)):
        return False
    return not isinstance(content, list) or not any(map(_is_foreign_part, content))


def _has_item_parts(value: JsonValue) -> bool:
    content = mapping(value).get("content")
    return isinstance(content, list) and any(mapping(part).get("type") in _ITEM_PARTS for part in content)


def _is_foreign_call(value: JsonValue) -> bool:
    call = mapping(value)
    return bool({"args", "name"} & call.keys()) or isinstance(call.get("function"), str)


def _is_foreign_part(part: JsonValue) -> bool:
    kind = mapping(part).get("type")
    if not isinstance(kind, str):
        return not isinstance(part, str)
    return kind in _FOREIGN_PARTS or (kind == "text" and "text" not in part)


def traces(value: JsonValue, place: Place) -> Iterator[Trace | Skip]:
    """Read one record."""
    root = place.path or "$"
    record = mapping(value)
    if openai_deltas.are_chunks(value) and not _are_messages(value):
        yield _completion(value, root, place)
    elif isinstance(value, list):
        yield _conversation({}, value, root, place)
    elif isinstance(record.get("request"), dict) and "response" in record:
        yield _exchange(record, root, place)
    elif "messages" in record:
        yield _conversation(record, record["messages"], f"{root}.messages", place)
    elif "choices" in record:
        yield _completion(record, root, place)
    else:
        yield Skip("TRACE_MALFORMED", "neither `messages`, nor `request` and `response`, nor `choices`", place)


def _conversation(record: _Object, messages: JsonValue, path: str, place: Place) -> Trace | Skip:
    if not isinstance(messages, list):
        return Skip("TRACE_MALFORMED", "`messages` is not a list", place)
    if not messages:
        return Skip("TRACE_INCOMPLETE", "no message was recorded", place)
    talk = Conversation()
    read_messages(talk, messages, path)
    return _trace(record, record, talk, place)


def _completion(value: JsonValue, root: str, place: Place) -> Trace | Skip:
    talk = Conversation()
    record, skip = _read_reply(talk, value, root, place)
    return skip or _trace(record, {}, talk, place)


def _exchange(record: _Object, root: str, place: Place) -> Trace | Skip:
    request, response = record["request"], record["response"]
    if not isinstance(request.get("messages"), list):
        return Skip("TRACE_MALFORMED", "the request holds no list of `messages`", place)
    status = record.get("status")
    if isinstance(status, int) and status >= 400:
        return _failed(response, place, f"HTTP status {status}")
    talk = Conversation()
    read_messages(talk, request["messages"], f"{root}.request.messages")
    earlier = len(talk.events)
    reply, skip = _read_reply(talk, response, f"{root}.response", place)
    if skip:
        return skip
    trace = _trace({"model": reply.get("model", request.get("model")), **record}, request, talk, place)
    return trace if isinstance(trace, Skip) else without_history(trace, earlier)


def _put_together(response: JsonValue) -> tuple[_Object, list[str]]:
    """A response as one object, whether it came at once or in pieces, and what could not be read of it."""
    if sse.is_stream(response):
        return openai_deltas.from_text(response)
    return openai_deltas.from_chunks(response) if openai_deltas.are_chunks(response) else (mapping(response), [])


_CUT_OFF = {
    "length": "the reply was cut off at its longest length",
    openai_deltas.CUT_SHORT: "the stream ends before the reply does",
}


def _read_reply(talk: Conversation, value: JsonValue, path: str, place: Place) -> tuple[_Object, Skip | None]:
    """Add the reply of a response and return it as one object; where there is none to read, say why."""
    response, faults = _put_together(value)
    choices, error = response.get("choices"), response.get("error")
    choices = choices if isinstance(choices, list) else []
    choice = mapping(choices[0]) if choices else {}
    message = choice.get("message")
    if error is not None and not {"tool_calls", "function_call"} & mapping(message).keys():
        return response, _failed(response, place, "an error")
    if not isinstance(message, dict):
        if "delta" in choice:
            return response, Skip("TRACE_STREAM", "one chunk of a stream: the others are not in this record", place)
        what = "holds no message" if choice else "holds no `choices`"
        return response, Skip("TRACE_MALFORMED", f"the response {what}", place)
    if len(choices) > 1:
        talk.note("TRACE_INCOMPLETE", f"only the first of {len(choices)} choices is read", f"{path}.choices")
    for fault in faults:
        talk.note("TRACE_MALFORMED", fault, path)
    finish = choice.get("finish_reason")
    if error is not None:
        talk.note("TRACE_TRUNCATED", "an error ended the reply", path)
    elif isinstance(finish, str) and finish in _CUT_OFF:
        talk.note("TRACE_TRUNCATED", _CUT_OFF[finish], f"{path}.choices[0]")
    read_message(talk, {**message, "role": "assistant"}, f"{path}.choices[0].message")
    return response, None


def _failed(response: JsonValue, place: Place, what: str) -> Skip:
    error = mapping(response).get("error")
    reason = text_or_none(mapping(error).get("message", error))
    return Skip("TRACE_HTTP_ERROR", f"the endpoint answered with {what}" + (f": {reason}" if reason else ""), place)


def _trace(record: _Object, offered: _Object, talk: Conversation, place: Place) -> Trace | Skip:
    """A trace from what was read. `offered` is the object that holds the tools."""
    if not talk.events:
        return Skip("TRACE_MALFORMED", "none of its messages could be read", place)
    metadata = mapping(record.get("metadata"))
    key = "tools" if offered.get("tools") is not None else "functions"
    tools = _read_tools(talk, offered.get(key), f"{place.path or '$'}.{key}")
    model = text_or_none(record.get("model"))
    cut_off = any(finding.code == "TRACE_TRUNCATED" for finding in talk.findings)
    return Trace(
        id=written_id(record.get("id")) or written_id(record.get("trace_id")) or place_id(place),
        case_id=written_id(record.get("case_id")) or written_id(metadata.get("case_id")),
        request=first_request(talk.events),
        agent=Agent(model=model) if model else None,
        tools_json=tools,
        events=tuple(talk.events),
        completed=False if cut_off else None,
        findings=tuple(talk.findings),
        metadata=dict(metadata),
    )


def _read_tools(talk: Conversation, tools: JsonValue, path: str) -> Raw | UnsetType:
    """The catalog in native shape; the provider's own tools, which nobody calls by name, are noted and left out."""
    if tools is None:
        return UNSET
    kept = []
    for index, tool in enumerate(tools if isinstance(tools, list) else []):
        body = mapping(tool)
        if body.get("type") == "custom" and isinstance(body.get("custom"), dict):
            kept.append({key: body["custom"].get(key) for key in ("name", "description")})
        elif isinstance(body.get("type"), str) and not {"function", "name"} & body.keys():
            talk.note("TRACE_INCOMPLETE", f"`{body['type']}` is the provider's own tool", f"{path}[{index}]")
        else:
            kept.append(tool)
    try:
        return Raw(jsontext.encode(parse_tools(kept if isinstance(tools, list) else tools, Place(path=path))))
    except ConfigError as error:
        talk.note(error.code, error.message, error.place.path or path)
        return UNSET


DIALECT = Dialect("openai_chat", "OpenAI chat completions", detect, traces, whole_list=True)

"""Anthropic messages: content blocks, with `tool_use` in the assistant's and `tool_result` in the user's messages.

A record is an object with `messages`, a bare list of them, an exchange (`request` and `response`), a reply alone
(`type: message`), the events of its stream, or one line of a batch's results.

* `input` is an object; a stream sends it in pieces, of which an empty one is `{}`.
* `is_error` is what the block says; where it says nothing, nothing is known.
* The provider's own tools (`server_tool_use`, `mcp_tool_use`) have their results in the assistant's message. These
  calls are kept with `by: provider`; whether one failed is said by the type of its result's content.
* The results of one turn may come in any order, in one user message or in several.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import UNSET, Raw, UnsetType

from rightcall.trace import jsontext
from rightcall.trace.model import Call, CalledBy, Result, Role, Trace
from rightcall.trace.sources import sse
from rightcall.trace.sources.anthropic_stream import is_stream, put_together
from rightcall.trace.sources.conversation import (
    Conversation,
    mapping,
    read_arguments,
    text_or_none,
    without_history,
    written_id,
)
from rightcall.trace.sources.dialect import Dialect, Skip
from rightcall.trace.sources.exchange import (
    Speech,
    failed,
    http_failure,
    offered_tools,
    trace_of,
    unread,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.errors import Place
    from rightcall.trace.jsontext import JsonValue

    _Object = Mapping[str, JsonValue]

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
_CALLS: dict[str, CalledBy] = {"tool_use": "agent", "server_tool_use": "provider", "mcp_tool_use": "provider"}
_OWN_BLOCKS = {*_CALLS, "tool_result", "thinking", "redacted_thinking"}
"""Blocks that only this dialect has."""
_NOT_ITS_MESSAGES = {"tool_calls", "tool_call_id", "function_call", "parts"}
_ELSEWHERE = {"reward_info", "samples", "simulations", "suite_name", "termination_reason", "traj"}
"""Keys of records that hold messages of another dialect."""
_VERSIONED = re.compile(r".*_20\d{6}")
_CUT_OFF = {"max_tokens", "model_context_window_exceeded"}


# ---- messages ------------------------------------------------------------------------------------------------------


def read_messages(talk: Conversation, messages: JsonValue, path: str) -> None:
    """Add a list of messages to a conversation."""
    if not isinstance(messages, list):
        talk.note("TRACE_MALFORMED", "the messages are not a list", path)
        return
    for index, message in enumerate(messages):
        read_message(talk, message, f"{path}[{index}]")


def read_message(talk: Conversation, message: JsonValue, path: str, at: str | None = None) -> None:
    """Add one message, with its calls and the results that it brings."""
    body = mapping(message)
    role = body.get("role")
    if not isinstance(role, str) or role not in _ROLES:
        talk.note("TRACE_MALFORMED", "this is not a message with a known `role`", path)
        return
    content, where = body.get("content"), f"{path}.content"
    speech = Speech(talk, _ROLES[role], at)
    events, answers = len(talk.events), 0
    if isinstance(content, str):
        speech.say(content)
    elif isinstance(content, list):
        answers = _read_blocks(talk, speech, content, where)
    elif content is not None:
        talk.note("TRACE_MALFORMED", "the content is neither text nor a list of blocks", where)
    speech.end(wordless=len(talk.events) == events and not answers)


def _read_blocks(talk: Conversation, speech: Speech, content: list[JsonValue], path: str) -> int:
    """Add the blocks of one message in their order; how many results were among them."""
    if speech.role == "assistant" and not any("text" in mapping(block) for block in content):
        speech.end(wordless=True)
    cited, answers = False, 0
    for index, value in enumerate(content):
        block, where = mapping(value), f"{path}[{index}]"
        kind, text = block.get("type"), text_or_none(block.get("text"))
        if kind == "text" and text is not None:
            joint = "" if cited or "citations" in block else "\n"
            speech.say(text, joint)
            cited = "citations" in block
        elif isinstance(kind, str) and kind in _CALLS:
            speech.end()
            _read_call(talk, speech, block, where)
        elif isinstance(kind, str) and kind.endswith("tool_result"):
            speech.end()
            _read_result(talk, block, speech.at, where)
            answers += 1
        else:
            unread(talk, kind, where)
    return answers


def _read_call(talk: Conversation, speech: Speech, block: _Object, path: str) -> None:
    name = block.get("name")
    if not isinstance(name, str) or not name:
        talk.note("TRACE_MALFORMED", "this block is not a call: it names no tool", path)
        return
    by: CalledBy = "user" if speech.role == "user" else _CALLS[block["type"]]
    arguments = read_arguments(block.get("input", UNSET))
    id_ = written_id(block.get("id"))
    talk.call(Call(tool=name, id=id_, turn=speech.turn, by=by, started_at=speech.at, **arguments), path)


def _read_result(talk: Conversation, block: _Object, at: str | None, path: str) -> None:
    content = block.get("content")
    if isinstance(content, list) and block["type"] in ("tool_result", "mcp_tool_result"):
        for index, part in enumerate(content):
            kind = mapping(part).get("type")
            if kind != "text":
                where = f"{path}.content[{index}]"
                talk.note("TRACE_INCOMPLETE", f"a part of type `{kind}` of a result is kept unread", where)
    result = Result(content_json=_content(block), is_error=_is_error(block), at=at)
    talk.answer(result, path, id=written_id(block.get("tool_use_id")))


def _content(block: _Object) -> Raw | UnsetType:
    """A result's content as recorded, but for a list of one text, which is that text."""
    if "content" not in block:
        return UNSET
    content = block["content"]
    if isinstance(content, list) and len(content) == 1 and mapping(content[0]).get("type") == "text":
        content = mapping(content[0]).get("text", content)
    return Raw(jsontext.encode(content))


def _is_error(block: _Object) -> bool | None:
    said = block.get("is_error")
    if isinstance(said, bool):
        return said
    if block["type"] == "tool_result" or block.get("content") is None:
        return None
    return str(mapping(block["content"]).get("type")).endswith("_error")


# ---- records -------------------------------------------------------------------------------------------------------


def detect(value: JsonValue) -> bool:
    """Whether a record shows something that only this dialect has, and nothing of another."""
    if isinstance(value, list):
        return is_stream(value) or (_are_messages(value) and _show_blocks(value))
    record = mapping(value)
    if _ELSEWHERE & record.keys():
        return False
    request = record.get("request")
    if isinstance(request, dict):
        asked, answer = _shows(request), record.get("response")
        return _are_messages(request.get("messages")) and (asked or _is_own_reply(answer))
    if "messages" in record:
        return _are_messages(record["messages"]) and _shows(record)
    return _is_message(record) or _is_batch_line(record)


def _shows(request: _Object) -> bool:
    """Whether a request has a system prompt, tools or blocks as only this dialect has them."""
    tools = request.get("tools")
    if isinstance(tools, list) and any(map(_is_own_tool, tools)):
        return True
    system = request.get("system")
    is_prompt = isinstance(system, str) or (
        isinstance(system, list) and bool(system) and all(mapping(block).get("type") == "text" for block in system)
    )
    return is_prompt or _show_blocks(request.get("messages"))


def _is_own_tool(value: JsonValue) -> bool:
    tool = mapping(value)
    kind = tool.get("type")
    return "input_schema" in tool or ("name" in tool and isinstance(kind, str) and bool(_VERSIONED.fullmatch(kind)))


def _show_blocks(messages: JsonValue) -> bool:
    contents = [mapping(message).get("content") for message in (messages if isinstance(messages, list) else ())]
    kinds = [mapping(block).get("type") for content in contents if isinstance(content, list) for block in content]
    return any(isinstance(kind, str) and kind in _OWN_BLOCKS for kind in kinds)


def _are_messages(value: JsonValue) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_may_be_message, value))


def _may_be_message(value: JsonValue) -> bool:
    message = mapping(value)
    role, content = message.get("role"), message.get("content")
    if not isinstance(role, str) or role not in _ROLES or _NOT_ITS_MESSAGES & message.keys():
        return False
    if isinstance(content, list):
        return all(isinstance(mapping(block).get("type"), str) for block in content)
    return content is None or isinstance(content, str)


def _is_message(value: JsonValue) -> bool:
    """Whether this is a whole reply."""
    reply = mapping(value)
    return reply.get("type") == "message" and isinstance(reply.get("content"), list) and _may_be_message(reply)


def _is_own_reply(response: JsonValue) -> bool:
    """Whether a response is this dialect's: a message, an error, or a stream of named events that begins one."""
    if isinstance(response, str):
        return response.startswith("event:") and "message_start" in response[:200]
    return _is_message(response) or is_stream(response) or _is_error_reply(response)


def _is_error_reply(response: JsonValue) -> bool:
    reply = mapping(response)
    return reply.get("type") == "error" and isinstance(reply.get("error"), dict)


def _is_batch_line(record: _Object) -> bool:
    kind = mapping(record.get("result")).get("type")
    return "custom_id" in record and kind in ("succeeded", "errored", "canceled", "expired")


def traces(value: JsonValue, place: Place) -> Iterator[Trace | Skip]:
    """Read one record."""
    root = place.path or "$"
    record = mapping(value)
    if isinstance(value, list) and not is_stream(value):
        yield _conversation({}, value, root, place)
    elif isinstance(record.get("request"), dict) and "response" in record:
        yield _exchange(record, root, place)
    elif "messages" in record:
        yield _conversation(record, record["messages"], f"{root}.messages", place)
    elif _is_batch_line(record):
        yield _batch_line(record, root, place)
    elif isinstance(value, list) or _is_message(record):
        yield _reply_alone(value, {}, root, place)
    else:
        yield Skip("TRACE_MALFORMED", "neither `messages`, nor `request` and `response`, nor a message", place)


def _conversation(record: _Object, messages: JsonValue, path: str, place: Place) -> Trace | Skip:
    if not isinstance(messages, list):
        return Skip("TRACE_MALFORMED", "`messages` is not a list", place)
    if not messages:
        return Skip("TRACE_INCOMPLETE", "no message was recorded", place)
    talk = Conversation()
    read_messages(talk, messages, path)
    return _trace(record, record, talk, place)


def _exchange(record: _Object, root: str, place: Place) -> Trace | Skip:
    request = record["request"]
    if not isinstance(request.get("messages"), list):
        return Skip("TRACE_MALFORMED", "the request holds no list of `messages`", place)
    failure = http_failure(record, place)
    if failure:
        return failure
    talk = Conversation()
    read_messages(talk, request["messages"], f"{root}.request.messages")
    earlier = len(talk.events)
    reply = _read_reply(talk, record["response"], f"{root}.response", place)
    if isinstance(reply, Skip):
        return reply
    trace = _trace({"model": reply.get("model", request.get("model")), **record}, request, talk, place)
    return trace if isinstance(trace, Skip) else without_history(trace, earlier)


def _batch_line(record: _Object, root: str, place: Place) -> Trace | Skip:
    result = record["result"]
    if result["type"] != "succeeded":
        return failed(mapping(result.get("error")).get("error"), place, f"`{result['type']}`")
    return _reply_alone(result.get("message"), {"id": record["custom_id"]}, f"{root}.result.message", place)


def _reply_alone(value: JsonValue, named: _Object, path: str, place: Place) -> Trace | Skip:
    talk = Conversation()
    reply = _read_reply(talk, value, path, place)
    if isinstance(reply, Skip):
        return reply
    known = {key: reply[key] for key in ("id", "model") if key in reply}
    return _trace({**known, **named}, {}, talk, place)


def _read_reply(talk: Conversation, response: JsonValue, path: str, place: Place) -> _Object | Skip:
    """Add the reply of a response and return it; where there is none to read, say why."""
    reply = _whole(talk, response, path)
    if not _is_message(reply):
        return _no_reply(response, place)
    if str(reply.get("stop_reason")) in _CUT_OFF:
        talk.note("TRACE_TRUNCATED", "the reply was cut off at its longest length", path)
    read_message(talk, {**reply, "role": "assistant"}, path)
    return reply


def _whole(talk: Conversation, response: JsonValue, path: str) -> _Object:
    """A response as one message, put together where it was streamed."""
    if isinstance(response, str):
        faults: list[str] = []
        whole = put_together(talk, sse.events(response, faults), path)
        for fault in faults:
            talk.note("TRACE_INCOMPLETE", fault, path)
        return whole or {}
    if isinstance(response, list):
        return put_together(talk, response, path) or {}
    return mapping(response)


def _no_reply(response: JsonValue, place: Place) -> Skip:
    events = sse.events(response) if isinstance(response, str) else response if isinstance(response, list) else ()
    error = next((event for event in events if _is_error_reply(event)), response)
    if _is_error_reply(error):
        return failed(error, place, "an error")
    if mapping(response).keys() == {"input_tokens"}:
        return Skip("TRACE_INCOMPLETE", "the request only counted tokens: there is no reply", place)
    return Skip("TRACE_MALFORMED", "the response is not a message of this dialect", place)


def _trace(record: _Object, offered: _Object, talk: Conversation, place: Place) -> Trace | Skip:
    """A trace from what was read. `offered` is the object that holds the tools and the system prompt."""
    path = place.path or "$"
    system = _system_prompt(talk, offered.get("system"), f"{path}.system")
    tools = _read_tools(talk, offered.get("tools"), f"{path}.tools")
    return trace_of(record, talk, place, tools=tools, model=record.get("model"), system=system)


def _system_prompt(talk: Conversation, system: JsonValue, path: str) -> str | None:
    if system is None or isinstance(system, str):
        return system
    blocks = system if isinstance(system, list) else [system]
    texts = [text_or_none(mapping(block).get("text")) for block in blocks]
    for index, text in enumerate(texts):
        if text is None:
            unread(talk, mapping(blocks[index]).get("type"), f"{path}[{index}]")
    return "\n".join(text for text in texts if text is not None)


def _read_tools(talk: Conversation, tools: JsonValue, path: str) -> Raw | UnsetType:
    """The catalog; a tool that the provider defines has a name and no schema, and a set of tools is noted."""
    if not isinstance(tools, list):
        return offered_tools(talk, tools, path)
    kept = []
    for index, tool in enumerate(tools):
        body = mapping(tool)
        if "type" in body and "name" not in body:
            talk.note("TRACE_INCOMPLETE", f"`{body['type']}` lists no tools", f"{path}[{index}]")
        else:
            kept.append(tool)
    return offered_tools(talk, kept, path)


DIALECT = Dialect("anthropic", "Anthropic messages", detect, traces, whole_list=True)

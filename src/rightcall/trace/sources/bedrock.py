"""Amazon Bedrock Converse messages: content blocks with one key each, `toolUse` and `toolResult` among them.

A record is an object with `messages` (and `toolConfig`), a bare list of them, an exchange (`request` and `response`), a
reply alone (`output.message`), the events of its stream, or an entry of Bedrock's model invocation log.

* `input` is an object; a stream sends it in pieces of text.
* `status` says whether a tool failed. Not every model has it: without it, nothing is known.
* A tool of the provider (`type: server_tool_use`) has its result in the assistant's message: `by: provider`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET, Raw, UnsetType

from rightcall.trace import jsontext
from rightcall.trace.model import Call, CalledBy, Result, Role, Trace
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

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}
_ERRORS = {"error": True, "success": False}
_BLOCKS = {
    "audio", "cachePoint", "citationsContent", "document", "guardContent", "image", "reasoningContent", "searchResult",
    "text", "toolResult", "toolUse", "video",
}  # fmt: skip
_CUT_OFF = {"max_tokens", "model_context_window_exceeded"}
_EVENTS = {"messageStart", "contentBlockStart", "contentBlockDelta", "contentBlockStop", "messageStop", "metadata"}


# ---- messages ------------------------------------------------------------------------------------------------------


def read_messages(talk: Conversation, messages: JsonValue, path: str) -> None:
    """Add a list of messages to a conversation."""
    if not isinstance(messages, list):
        talk.note("TRACE_MALFORMED", "the messages are not a list", path)
        return
    for index, message in enumerate(messages):
        read_message(talk, message, f"{path}[{index}]")


def read_message(talk: Conversation, message: JsonValue, path: str) -> None:
    """Add one message, with its calls and the results that it brings."""
    body = mapping(message)
    role, content = body.get("role"), body.get("content")
    if not isinstance(role, str) or role not in _ROLES or not isinstance(content, list):
        talk.note("TRACE_MALFORMED", "this is not a message with a known `role` and a list of blocks", path)
        return
    speech = Speech(talk, _ROLES[role])
    texts = [_text_of(mapping(block)) for block in content]
    answers = any("toolResult" in mapping(block) for block in content)
    if all(text is None for text in texts) and (role == "assistant" or not answers):
        speech.end(wordless=True)
    for index, (value, text) in enumerate(zip(content, texts, strict=True)):
        block, where = mapping(value), f"{path}.content[{index}]"
        if text is not None:
            speech.say(text)
        elif "toolUse" in block:
            speech.end()
            _read_call(talk, speech, mapping(block["toolUse"]), f"{where}.toolUse")
        elif "toolResult" in block:
            speech.end()
            _read_result(talk, mapping(block["toolResult"]), f"{where}.toolResult")
        elif "cachePoint" not in block:
            unread(talk, next(iter(block), None), where)
    speech.end()


def _text_of(block: _Object) -> str | None:
    """The text of a block that is one, guarded or with citations."""
    if "citationsContent" in block:
        parts = mapping(block["citationsContent"]).get("content")
        texts = [text_or_none(mapping(part).get("text")) for part in (parts if isinstance(parts, list) else ())]
        return "".join(text for text in texts if text is not None)
    guarded = mapping(mapping(block.get("guardContent")).get("text"))
    return text_or_none(block.get("text", guarded.get("text")))


def _read_call(talk: Conversation, speech: Speech, use: _Object, path: str) -> None:
    name = use.get("name")
    if not isinstance(name, str) or not name:
        talk.note("TRACE_MALFORMED", "this block is not a call: it names no tool", path)
        return
    by: CalledBy = "provider" if use.get("type") == "server_tool_use" else "agent"
    by = by if speech.role == "assistant" else "user"
    arguments = read_arguments(use.get("input", UNSET))
    talk.call(Call(tool=name, id=written_id(use.get("toolUseId")), turn=speech.turn, by=by, **arguments), path)


def _read_result(talk: Conversation, result: _Object, path: str) -> None:
    content, status = result.get("content"), result.get("status")
    for index, part in enumerate(content if isinstance(content, list) else ()):
        if not {"text", "json"} & mapping(part).keys():
            kind = next(iter(mapping(part)), None)
            where = f"{path}.content[{index}]"
            talk.note("TRACE_INCOMPLETE", f"a part of type `{kind}` of a result is kept unread", where)
    is_error = _ERRORS.get(status) if isinstance(status, str) else None
    talk.answer(Result(content_json=_content(result), is_error=is_error), path, id=written_id(result.get("toolUseId")))


def _content(result: _Object) -> Raw | UnsetType:
    """A result's content as recorded, but for a list of one text or one JSON value, which is that text or value."""
    if "content" not in result:
        return UNSET
    content = result["content"]
    if isinstance(content, list) and len(content) == 1 and mapping(content[0]).keys() in ({"text"}, {"json"}):
        (content,) = content[0].values()
    return Raw(jsontext.encode(content))


# ---- records -------------------------------------------------------------------------------------------------------


def detect(value: JsonValue) -> bool:
    """Whether a record holds messages, a reply or a tool configuration as only this dialect has them."""
    if isinstance(value, list):
        return _are_messages(value) or _is_stream(value)
    record = _unlogged(mapping(value))
    request = record.get("request")
    if isinstance(request, dict):
        return _are_messages(request.get("messages"))
    if "messages" in record:
        return _are_messages(record["messages"])
    return _is_reply(record) and bool({"stopReason", "metrics"} & record.keys())


def _are_messages(value: JsonValue) -> bool:
    """Whether these are messages of blocks without `type`, each with a key that this dialect knows."""
    if not isinstance(value, list) or not value or not all(map(_may_be_message, value)):
        return False
    return any(message["content"] for message in value)


def _may_be_message(value: JsonValue) -> bool:
    message = mapping(value)
    role, content = message.get("role"), message.get("content")
    if not isinstance(role, str) or role not in _ROLES or not isinstance(content, list):
        return False
    return all("type" not in mapping(block) and bool(_BLOCKS & mapping(block).keys()) for block in content)


def _is_reply(value: JsonValue) -> bool:
    return _may_be_message(mapping(mapping(value).get("output")).get("message"))


def _is_stream(value: JsonValue) -> bool:
    return isinstance(value, list) and bool(value) and "messageStart" in mapping(value[0])


def _unlogged(record: _Object) -> _Object:
    """An entry of the model invocation log as an exchange; any other record as it is."""
    sent, came = mapping(record.get("input")), mapping(record.get("output"))
    if record.get("schemaType") != "ModelInvocationLog" or "inputBodyJson" not in sent:
        return record
    return {
        "id": record.get("requestId"),
        "model": record.get("modelId"),
        "request": sent["inputBodyJson"],
        "response": came.get("outputBodyJson", {"message": record.get("errorCode")}),
        "status": 500 if record.get("errorCode") else None,
    }


def traces(value: JsonValue, place: Place) -> Iterator[Trace | Skip]:
    """Read one record."""
    root = place.path or "$"
    record = _unlogged(mapping(value))
    if isinstance(value, list) and not _is_stream(value):
        yield _conversation({}, value, root, place)
    elif isinstance(record.get("request"), dict) and "response" in record:
        yield _exchange(record, root, place)
    elif "messages" in record:
        yield _conversation(record, record["messages"], f"{root}.messages", place)
    elif isinstance(value, list) or "output" in record:
        talk = Conversation()
        skip = _read_reply(talk, value, root, place)
        yield skip or trace_of(record, talk, place, tools=UNSET, model=record.get("modelId"), system=None)
    else:
        yield Skip("TRACE_MALFORMED", "neither `messages`, nor `request` and `response`, nor `output`", place)


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
    skip = _read_reply(talk, record["response"], f"{root}.response", place)
    if skip:
        return skip
    trace = _trace(record, request, talk, place)
    return trace if isinstance(trace, Skip) else without_history(trace, earlier)


def _read_reply(talk: Conversation, response: JsonValue, path: str, place: Place) -> Skip | None:
    """Add the reply of a response; where there is none to read, say why."""
    reply = _put_together(talk, response, path) if isinstance(response, list) else mapping(response)
    if not _is_reply(reply):
        if {"message", "Message", "error", "Error"} & reply.keys():
            return failed(reply, place, "an error")
        return Skip("TRACE_MALFORMED", "the response holds no message in `output`", place)
    if str(reply.get("stopReason")) in _CUT_OFF:
        talk.note("TRACE_TRUNCATED", "the reply was cut off at its longest length", path)
    where = path if isinstance(response, list) else f"{path}.output.message"
    read_message(talk, {**reply["output"]["message"], "role": "assistant"}, where)
    return None


def _put_together(talk: Conversation, events: list[JsonValue], path: str) -> _Object:
    """The reply whose stream these events are; what broke off or is not known is noted."""
    blocks: dict[int, _Object] = {}
    pieces: dict[int, list[str]] = {}
    whole: set[int] = set()
    stop = None
    for number, value in enumerate(events):
        event = mapping(value)
        body = mapping(next(iter(event.values()), None))
        index = body.get("contentBlockIndex")
        if isinstance(index, int) and "contentBlockStart" in event:
            blocks[index] = mapping(body.get("start"))
        elif isinstance(index, int) and "contentBlockDelta" in event:
            _add_piece(blocks, pieces, index, mapping(body.get("delta")))
        elif isinstance(index, int) and "contentBlockStop" in event:
            whole.add(index)
        elif "messageStop" in event:
            stop = body.get("stopReason")
        elif not _EVENTS & event.keys():
            talk.note("TRACE_INCOMPLETE", f"an event `{next(iter(event), None)}` was left out", f"{path}[{number}]")
    for index in sorted(pieces.keys() - blocks.keys()):
        talk.note("TRACE_INCOMPLETE", f"the beginning of block {index} is missing: it was left out", path)
    if stop is None:
        talk.note("TRACE_TRUNCATED", "the stream ends before its message does", path)
    content = [_made(blocks[n], "".join(pieces.get(n, [])), is_whole=n in whole) for n in sorted(blocks)]
    return {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": stop}


def _add_piece(blocks: dict[int, _Object], pieces: dict[int, list[str]], index: int, delta: _Object) -> None:
    piece = delta.get("text", mapping(delta.get("toolUse")).get("input"))
    if isinstance(piece, str):
        pieces.setdefault(index, []).append(piece)
    if "toolUse" not in delta:  # only calls are begun: the first piece says what another block is
        blocks.setdefault(index, delta)


def _made(block: _Object, text: str, *, is_whole: bool) -> _Object:
    """A block as a reply that was not streamed holds it. A call whose input had not arrived has none."""
    if "toolUse" in block:
        return {"toolUse": {**mapping(block["toolUse"]), **({"input": text} if text or is_whole else {})}}
    return {"text": text} if "text" in block else block


def _trace(record: _Object, offered: _Object, talk: Conversation, place: Place) -> Trace | Skip:
    """A trace from what was read. `offered` is the object that holds the tools and the system prompt."""
    path, system = place.path or "$", offered.get("system")
    texts = [_text_of(mapping(block)) for block in (system if isinstance(system, list) else ())]
    prompt = "\n".join(text for text in texts if text is not None) if system else None
    tools = _read_tools(talk, mapping(offered.get("toolConfig")).get("tools"), f"{path}.toolConfig.tools")
    model = record.get("model", record.get("modelId", offered.get("modelId")))
    return trace_of(record, talk, place, tools=tools, model=model, system=prompt)


def _read_tools(talk: Conversation, tools: JsonValue, path: str) -> Raw | UnsetType:
    """The catalog in native shape; a tool that the provider defines has a name and no schema."""
    if not isinstance(tools, list):
        return offered_tools(talk, tools, path)
    kept = []
    for index, tool in enumerate(tools):
        body = mapping(tool)
        spec = mapping(body.get("toolSpec", body.get("systemTool")))
        if spec:
            schema = mapping(spec.get("inputSchema")).get("json")
            kept.append({"name": spec.get("name"), "description": spec.get("description"), "parameters": schema})
        elif "cachePoint" not in body:
            talk.note("TRACE_INCOMPLETE", f"`{next(iter(body), None)}` is not a tool", f"{path}[{index}]")
    return offered_tools(talk, kept, path)


DIALECT = Dialect("bedrock", "Amazon Bedrock Converse", detect, traces, whole_list=True)

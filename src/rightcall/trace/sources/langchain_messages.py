"""LangChain's messages: the three ways in which one message is dumped, and roles as OpenAI writes them.

A message is a constructor (`dumpd`: `{lc, type, id, kwargs}`), a pair (`messages_to_dict`: `{type, data}`), flat
(`model_dump`: `{type, content, ...}`), or has a `role`. Content may be text, or a list of blocks of any provider: text,
the agent's calls (read once, see `langchain_calls`), and the provider's own calls with their results.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import UNSET, Raw

from rightcall.errors import ConfigError, Place
from rightcall.trace import jsontext
from rightcall.trace.catalog import parse_tools
from rightcall.trace.model import Call, Message, Result, Role, Tool
from rightcall.trace.sources.conversation import Conversation, captured, mapping, text_or_none, written_id
from rightcall.trace.sources.langchain_calls import CALL_PARTS, decisions, entry_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.sources.conversation import Arguments

    _Object = Mapping[str, JsonValue]

_TYPES = {
    "human": "human", "ai": "ai", "system": "system", "tool": "tool", "function": "function", "chat": "chat",
    "remove": "remove", "HumanMessageChunk": "human", "AIMessageChunk": "ai", "SystemMessageChunk": "system",
    "ToolMessageChunk": "tool", "FunctionMessageChunk": "function", "ChatMessageChunk": "chat",
}  # fmt: skip
_ROLES = {
    "user": "human", "human": "human", "assistant": "ai", "ai": "ai", "system": "system", "developer": "system",
    "tool": "tool", "function": "function",
}  # fmt: skip
_OPENAI_ROLES = {"user", "assistant", "system", "developer", "tool", "function"}
_SPEAKERS: dict[str, Role] = {"human": "user", "system": "system"}
_ERRORS = {"success": False, "error": True}
_TEXT_PARTS = {"text", "output_text", "input_text", "refusal"}
_SERVER_CALLS = {"server_tool_use", "server_tool_call", "mcp_tool_use"}
_CUT_OFF = {"length", "max_tokens", "MAX_TOKENS"}


class Unpacked(NamedTuple):
    """One message taken out of its wrapping: what kind it is, its fields, and where they stand."""

    kind: str
    body: _Object
    path: str


# ---- what a message is ---------------------------------------------------------------------------------------------


def unpack(value: JsonValue, path: str = "$") -> Unpacked | None:
    """A message out of any of its wrappings; `None` where this is not a message."""
    if isinstance(value, list) and len(value) == 2 and isinstance(value[0], str):
        kind = _ROLES.get(value[0])
        return Unpacked(kind, {"content": value[1]}, path) if kind else None
    message = mapping(value)
    kind, body, inside = _wrapped(message)
    if kind is None and isinstance(message.get("role"), str):
        kind, body, inside = _ROLES.get(message["role"]), message, ""
    if kind == "chat":
        kind = _ROLES.get(str(body.get("role")))
    return Unpacked(kind, body, path + inside) if kind else None


def _wrapped(message: _Object) -> tuple[str | None, _Object, str]:
    name, inner = message.get("type"), message.get("data")
    if name == "constructor" and isinstance(message.get("id"), list) and message["id"]:
        stem = str(message["id"][-1]).removesuffix("Chunk").removesuffix("Message").lower()
        return _TYPES.get(stem), mapping(message.get("kwargs")), ".kwargs"
    if not isinstance(name, str) or name not in _TYPES:
        return None, {}, ""
    if isinstance(inner, dict):
        return _TYPES[name], inner, ".data"
    return (_TYPES[name], message, "") if "content" in message else (None, {}, "")


def is_own(value: JsonValue) -> bool:
    """Whether a message has a shape that only LangChain writes."""
    message = mapping(value)
    role, calls = message.get("role"), message.get("tool_calls")
    if isinstance(role, str) and role in _OPENAI_ROLES:
        return isinstance(calls, list) and any({"name", "args"} <= mapping(call).keys() for call in calls)
    return unpack(value) is not None


def are_messages(value: JsonValue) -> bool:
    """Whether this is a list of messages, at least one of which only LangChain writes."""
    return isinstance(value, list) and all(unpack(item) is not None for item in value) and any(map(is_own, value))


# ---- the conversation ----------------------------------------------------------------------------------------------


class Talk(Conversation):
    """A conversation of LangChain's messages, and what they say beside it: model, artifacts, whether it was cut off."""

    def __init__(self) -> None:
        super().__init__()
        self.model: str | None = None
        self.cut_off = False
        self.artifacts: list[JsonValue] = []
        self.tools: dict[str, Tool] = {}
        self._by_arguments: dict[tuple[str, bytes], deque[int]] = {}

    def call(self, call: Call, path: str) -> None:
        """Add a call, so that it can also be found by its arguments."""
        key = _alike(call.tool, call)
        if key is not None:
            self._by_arguments.setdefault(key, deque()).append(len(self.events))
        super().call(call, path)

    def answer_alike(self, result: Result, name: str, arguments: Arguments) -> int | None:
        """Give a result to the first waiting call of a tool with equal arguments; its index, or `None`."""
        places = self._by_arguments.get(_alike(name, Call(tool=name, **arguments)) or ("", b""), deque())
        while places and places[0] not in self._waiting:
            places.popleft()
        if not places:
            return None
        index = places.popleft()
        self.events[index] = msgspec.structs.replace(self._waiting.pop(index), result=result)
        return index

    def offer(self, tools: JsonValue, path: str) -> None:
        """Add tools to the catalog; what is no tool, and a name that means two things, is noted."""
        for index, entry in enumerate(_flat_tools(tools)):
            where = f"{path}[{index}]"
            if not {"name", "function", "custom"} & mapping(entry).keys():
                kind = mapping(entry).get("type")
                self.note("TRACE_INCOMPLETE", f"`{kind}` is the provider's own tool, or none", where)
                continue
            try:
                (tool,) = parse_tools([mapping(entry).get("custom", entry)], Place())
            except ConfigError as error:
                self.note(error.code, error.message, where)
                continue
            if self.tools.setdefault(tool.name, tool) != tool:
                self.note("CONFIG_DUPLICATE_TOOL", f"`{tool.name}` is offered with two definitions", where)

    def catalog(self) -> Raw | msgspec.UnsetType:
        """The catalog in native shape; unset where none was recorded."""
        return Raw(jsontext.encode(list(self.tools.values()))) if self.tools else UNSET


def _alike(name: str, call: Call) -> tuple[str, bytes] | None:
    """A key that calls of a tool with equal arguments share."""
    return None if call.arguments_json is UNSET else (name, jsontext.identity(bytes(call.arguments_json)))


def _flat_tools(tools: JsonValue) -> Iterator[JsonValue]:
    """Tools one by one: Gemini wraps several declarations into one."""
    for entry in tools if isinstance(tools, list) else ():
        body = mapping(entry)
        inner = body.get("function_declarations", body.get("functionDeclarations"))
        yield from inner if isinstance(inner, list) else (entry,)


def read_messages(talk: Talk, messages: JsonValue, path: str) -> None:
    """Add a list of messages to a conversation, fragments of one message put together."""
    for value, where in _whole(messages if isinstance(messages, list) else [], path):
        read_message(talk, value, where)


def _whole(messages: Iterable[JsonValue], path: str) -> Iterator[tuple[JsonValue, str]]:
    """The messages with their places; chunks of one message that follow one another are one."""
    held: list[_Object] = []
    where = path
    for index, value in enumerate(messages):
        found = unpack(value, f"{path}[{index}]")
        body = found.body if found is not None and found.kind == "ai" and _is_chunk(value) else None
        if held and (body is None or body.get("id") != held[0].get("id")):
            yield _merged(held), where
            held = []
        if body is None or body.get("id") is None:
            yield value, f"{path}[{index}]"
            continue
        where = where if held else f"{path}[{index}]"
        held.append(body)
    if held:
        yield _merged(held), where


def _is_chunk(value: JsonValue) -> bool:
    message = mapping(value)
    names = (message.get("type"), mapping(message.get("kwargs")).get("type"), mapping(message.get("data")).get("type"))
    return "AIMessageChunk" in names


def _merged(chunks: list[_Object]) -> JsonValue:
    """The one message that its chunks are."""
    body: dict[str, JsonValue] = dict(chunks[0])
    contents = [chunk.get("content") for chunk in chunks]
    texts = [content for content in contents if isinstance(content, str)]
    if len(texts) == len(contents):
        body["content"] = "".join(texts)
    elif len(chunks) > 1:
        parts = [content if isinstance(content, list) else [content or ""] for content in contents]
        body["content"] = [part for group in parts for part in group]
    for key in ("tool_call_chunks", "tool_calls", "invalid_tool_calls"):
        body[key] = [item for chunk in chunks if isinstance(chunk.get(key), list) for item in chunk[key]]
    about: dict[str, JsonValue] = {}
    for chunk in chunks:
        about.update(mapping(chunk.get("response_metadata")))
    return {"type": "ai", "data": {**body, "response_metadata": about}}


def read_message(talk: Talk, value: JsonValue, path: str) -> None:
    """Add one message, with its calls or as the result that it is."""
    found = unpack(value, path)
    if found is None:
        kind = mapping(value).get("type", mapping(value).get("role"))
        talk.note("TRACE_MALFORMED", f"this is not a message of a known kind (`{kind}`)", path)
    elif found.kind == "ai":
        read_reply(talk, found)
    elif found.kind in ("tool", "function"):
        read_result(talk, found)
    elif found.kind == "remove":
        talk.note("TRACE_INCOMPLETE", "a message was removed from the state and is not in the recording", path)
    else:
        read_said(talk, found)


def read_said(talk: Talk, found: Unpacked) -> None:
    """Add what a person or the system said, and the results that such a message may carry as blocks."""
    content, path = found.body.get("content"), f"{found.path}.content"
    text, others = _split(talk, content, path)
    role, agent = _SPEAKERS.get(found.kind, "user"), text_or_none(found.body.get("name")) or None
    only_results = isinstance(content, list) and content and all(map(_is_result, content))
    if not only_results:
        talk.events.append(Message(role=role, text=text, agent=agent))
    for part, where in others:
        _read_other(talk, part, where, agent)


def _is_result(part: JsonValue) -> bool:
    return mapping(part).get("type") == "tool_result"


def read_block_result(talk: Talk, block: _Object, path: str) -> None:
    """Give the result of a content block to its call."""
    key = next((key for key in ("content", "output") if key in block), "content")
    failed = block.get("is_error", _ERRORS.get(str(block.get("status"))))
    if str(mapping(block.get(key)).get("type")).endswith("_error"):
        failed = True
    result = Result(
        content_json=captured({"content": block[key]} if key in block else {}),
        is_error=failed if isinstance(failed, bool) else None,
    )
    talk.answer(result, path, id=written_id(block.get("tool_use_id")) or written_id(block.get("tool_call_id")))


def read_result(talk: Talk, found: Unpacked) -> None:
    """Give a tool message to its call; an artifact, which the model never saw, is kept beside it."""
    body = found.body
    id_, name = written_id(body.get("tool_call_id")), text_or_none(body.get("name")) or None
    if body.get("artifact") is not None:
        talk.artifacts.append({"call": id_, "tool": name, "value": body["artifact"]})
    talk.answer(result_of(body), found.path, id=id_, name=name)


def result_of(body: _Object) -> Result:
    """The result that a tool message is."""
    return Result(content_json=captured(body), is_error=_ERRORS.get(str(body.get("status"))))


def read_reply(talk: Talk, found: Unpacked, agent: str | None = None, at: str | None = None) -> None:
    """Add an assistant message and its calls; `agent` is who spoke, where the message does not say."""
    body, path = found.body, found.path
    agent = text_or_none(body.get("name")) or agent
    talk.turn += 1
    about = mapping(body.get("response_metadata"))
    named = (text_or_none(about.get(key)) for key in ("model_name", "model", "model_id"))
    talk.model = talk.model or next((name for name in named if name), None)
    text, others = _split(talk, body.get("content"), f"{path}.content")
    if text is None:
        text = text_or_none(body.get("refusal"))
    talk.events.append(Message(role="assistant", text=text, at=at, turn=talk.turn, agent=agent))
    for part, where in others:
        _read_other(talk, part, where, agent)
    for call in decisions(body, path):
        if call.name is None:
            talk.note("TRACE_MALFORMED", "this entry is not a call: it names no tool", call.path)
            continue
        talk.call(
            Call(tool=call.name, id=call.id, turn=talk.turn, started_at=at, agent=agent, **call.arguments), call.path
        )
    if {str(about.get(key)) for key in ("finish_reason", "stop_reason", "done_reason")} & _CUT_OFF:
        note_cut_off(talk, path)


def note_cut_off(talk: Talk, path: str) -> None:
    """Note that a reply ended at its longest length."""
    talk.cut_off = True
    talk.note("TRACE_TRUNCATED", "the reply was cut off at its longest length", path)


def _split(talk: Talk, content: JsonValue, path: str) -> tuple[str | None, list[tuple[_Object, str]]]:
    """The text of a content, and its parts that are neither text nor calls of the agent, with their places."""
    if content is None or isinstance(content, str):
        return content, []
    if not isinstance(content, list):
        talk.note("TRACE_MALFORMED", "the content is neither text nor a list of parts", path)
        return None, []
    texts: list[str] = []
    others: list[tuple[_Object, str]] = []
    for index, value in enumerate(content):
        part = {"type": "text", "text": value} if isinstance(value, str) else mapping(value)
        kind, text = str(part.get("type")), part.get("text", part.get("refusal"))
        if isinstance(text, str) and kind in _TEXT_PARTS:
            texts.append(text)
        elif kind not in CALL_PARTS:
            others.append((part, f"{path}[{index}]"))
    return "\n".join(texts) if texts or not content else None, others


def _read_other(talk: Talk, part: _Object, path: str, agent: str | None) -> None:
    """Read a call or a result of the provider's own tools; note anything else."""
    kind = str(part.get("type"))
    if kind in _SERVER_CALLS:
        call = entry_of(part, path)
        name = call.name or kind
        talk.call(Call(tool=name, id=call.id, by="provider", turn=talk.turn, agent=agent, **call.arguments), path)
    elif kind.endswith("tool_result"):
        read_block_result(talk, part, path)
    else:
        talk.note("TRACE_INCOMPLETE", f"a part of type `{kind}` is not text and was left out", path)

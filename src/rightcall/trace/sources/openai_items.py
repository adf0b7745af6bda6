"""The items of OpenAI's Responses API: what each kind of item means for a conversation.

* `call_id` says which output belongs to which call; `id` only names the item.
* Consecutive items of the assistant are one turn; a message of somebody else, or an output, ends it.
* What the provider runs itself (searches, code, MCP) is one item with its output inside: a call with `by: provider`.
  Its `status`, or `error`, says whether it failed. What the client runs has no such field, but for `apply_patch`.
* Reasoning is not kept. Items that stand for others which are not there are findings, and so are unknown ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import UNSET, Raw

from rightcall.trace import jsontext
from rightcall.trace.model import Call, CalledBy, Message, Result, Role
from rightcall.trace.sources.conversation import (
    Arguments,
    Conversation,
    captured,
    mapping,
    read_arguments,
    text_or_none,
    written_id,
)
from rightcall.trace.sources.openai_chat import free_text, read_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.trace.jsontext import JsonValue

    _Object = Mapping[str, JsonValue]

SPEAKERS: dict[str, Role] = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}

CLIENT_CALLS = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "computer_call": "computer_call_output",
    "local_shell_call": "local_shell_call_output",
    "shell_call": "shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
    "tool_search_call": "tool_search_output",
}
"""Calls that somebody answers with an item of its own."""

PROVIDER_CALLS = {
    "web_search_call": None,
    "file_search_call": "results",
    "code_interpreter_call": "outputs",
    "image_generation_call": "result",
    "mcp_call": "output",
    "mcp_approval_request": None,
}
"""Calls that the provider runs, with the key of what came back."""

_OUTPUTS = {output: call for call, output in CLIENT_CALLS.items()}
_STANDING_FOR_OTHERS = {
    "compaction": "earlier items were compacted and are not here",
    "compaction_summary": "earlier items were compacted and are not here",
    "item_reference": "an item is only referred to and is not here",
}
_SILENT = {"reasoning"}
TYPES = {
    *CLIENT_CALLS, *_OUTPUTS, *PROVIDER_CALLS, *_STANDING_FOR_OTHERS, *_SILENT, "mcp_approval_response", "message",
    "mcp_list_tools", "additional_tools",
}  # fmt: skip
_BOOKKEEPING = {"id", "type", "status", "call_id", "created_by", "execution", "caller"}
_DONE = {"completed": False, "failed": True}


@dataclass
class Items:
    """Reads items into a conversation, and gathers the tools that some of them list."""

    talk: Conversation

    def __post_init__(self) -> None:
        """Begin outside any turn."""
        self._in_turn = False
        self._asked: set[str] = set()
        self.listed: list[tuple[JsonValue, str]] = []
        self.servers: set[str] = set()

    def read(self, items: JsonValue, path: str) -> None:
        """Read a list of items, or the text that stands for one message of the user."""
        if isinstance(items, str):
            self._in_turn = False
            self.talk.events.append(Message(role="user", text=items))
        elif isinstance(items, list):
            for index, item in enumerate(items):
                self.item(item, f"{path}[{index}]")
        elif items is not None:
            self.talk.note("TRACE_MALFORMED", "the items are not a list", path)

    def end_turn(self) -> None:
        """What follows is another message of the assistant."""
        self._in_turn = False

    def item(self, value: JsonValue, path: str) -> None:
        """Read one item."""
        item = mapping(value)
        kind = item.get("type", "message" if "role" in item else None)
        if not isinstance(kind, str):
            self.talk.note("TRACE_MALFORMED", "this is not an item with a `type`", path)
        elif kind == "message":
            self._message(item, path)
        elif kind in CLIENT_CALLS:
            self._client_call(item, kind, path)
        elif kind in _OUTPUTS:
            self._output(item, kind, path)
        elif kind in PROVIDER_CALLS:
            self._provider_call(item, kind, path)
        else:
            self._other(item, kind, path)

    def _other(self, item: _Object, kind: str, path: str) -> None:
        """An item that is neither said, nor a call, nor its output."""
        if kind == "mcp_approval_response":
            self._approval(item, path)
        elif kind in _STANDING_FOR_OTHERS:
            self.talk.note("TRACE_INCOMPLETE", f"`{kind}`: {_STANDING_FOR_OTHERS[kind]}", path)
        elif kind in ("mcp_list_tools", "additional_tools"):
            self.servers.add(str(item.get("server_label")))
            self._list(item, path)
        elif kind not in _SILENT:
            self.talk.note("TRACE_INCOMPLETE", f"an item of unknown type `{kind}` was left out", path)

    def _turn(self) -> int:
        if not self._in_turn:
            self.talk.turn += 1
            self._in_turn = True
        return self.talk.turn

    def _list(self, item: _Object, path: str) -> None:
        tools = item.get("tools")
        self.listed.extend((tool, path) for tool in (tools if isinstance(tools, list) else ()))

    def _message(self, item: _Object, path: str) -> None:
        role = item.get("role")
        if not isinstance(role, str) or role not in SPEAKERS:
            self.talk.note("TRACE_MALFORMED", "this is not a message with a known `role`", path)
            return
        turn = self._turn() if role == "assistant" else None
        self._in_turn = role == "assistant"
        text = read_text(self.talk, item.get("content"), f"{path}.content")
        self.talk.events.append(Message(role=SPEAKERS[role], text=text, turn=turn))
        self._tell_incomplete(item, "message", path)

    def _tell_incomplete(self, item: _Object, kind: str, path: str) -> None:
        if item.get("status") == "incomplete":
            self.talk.note("TRACE_TRUNCATED", f"this `{kind}` was cut off", path)

    def _client_call(self, item: _Object, kind: str, path: str) -> None:
        turn, name = self._turn(), item.get("name")
        if kind in ("function_call", "custom_tool_call"):
            if not isinstance(name, str) or not name:
                self.talk.note("TRACE_MALFORMED", "this item is not a call: it names no tool", path)
                return
        else:
            name = kind.removesuffix("_call")
        by: CalledBy = "provider" if kind == "tool_search_call" and item.get("execution") == "server" else "agent"
        id_ = written_id(item.get("call_id")) or written_id(item.get("id"))
        self.talk.call(Call(tool=name, id=id_, turn=turn, by=by, **_client_arguments(item, kind)), path)
        self._tell_incomplete(item, kind, path)

    def _output(self, item: _Object, kind: str, path: str) -> None:
        self._in_turn = False
        key = "tools" if kind == "tool_search_output" else "output"
        if key == "tools":
            self._list(item, path)
        failed = _DONE.get(str(item.get("status"))) if kind == "apply_patch_call_output" else None
        result = Result(content_json=captured({"content": item[key]} if key in item else {}), is_error=failed)
        id_ = written_id(item.get("call_id")) or written_id(item.get("id"))
        self.talk.answer(result, path, id=id_, name=text_or_none(item.get("name")))

    def _provider_call(self, item: _Object, kind: str, path: str) -> None:
        turn, name, id_ = self._turn(), item.get("name"), written_id(item.get("id"))
        asked = written_id(item.get("approval_request_id"))
        result = _provider_result(item, kind)
        if asked is not None and asked in self._asked:
            self._asked.discard(asked)
            if result is not None:
                self.talk.answer(result, path, id=asked)
            return
        if not kind.startswith("mcp_"):
            name = kind.removesuffix("_call")
        elif not isinstance(name, str) or not name:
            self.talk.note("TRACE_MALFORMED", "this item is not a call: it names no tool", path)
            return
        if kind == "mcp_approval_request" and id_ is not None:
            self._asked.add(id_)
        self.talk.call(Call(tool=name, id=id_, turn=turn, by="provider", **_provider_arguments(item, kind)), path)
        if result is not None:
            self.talk.answer(result, path, id=id_, name=name)

    def _approval(self, item: _Object, path: str) -> None:
        """A refused call was never made: that is its result. An approved one is followed by the call."""
        self._in_turn = False
        asked = written_id(item.get("approval_request_id"))
        if item.get("approve") is False and asked in self._asked:
            refusal = {key: item[key] for key in ("approve", "reason") if key in item}
            self.talk.answer(Result(content_json=Raw(jsontext.encode(refusal)), is_error=True), path, id=asked)


def _client_arguments(item: _Object, kind: str) -> Arguments:
    if kind == "custom_tool_call":
        return free_text(item.get("input"))
    if kind in ("function_call", "tool_search_call"):
        return read_arguments(item.get("arguments", UNSET))
    if kind == "computer_call" and isinstance(item.get("actions"), list):
        return read_arguments({"actions": item["actions"]})
    return read_arguments(item.get("operation" if kind == "apply_patch_call" else "action", UNSET))


def _provider_arguments(item: _Object, kind: str) -> Arguments:
    if kind.startswith("mcp_"):
        return read_arguments(item.get("arguments", UNSET))
    if kind == "web_search_call":
        action = item.get("action", UNSET)
        kept = {key: value for key, value in action.items() if key != "sources"} if isinstance(action, dict) else action
        return read_arguments(kept)
    left_out = {*_BOOKKEEPING, PROVIDER_CALLS[kind]}
    return read_arguments({key: value for key, value in item.items() if key not in left_out} or UNSET)


def _provider_result(item: _Object, kind: str) -> Result | None:
    """What came back inside the item; `None` where nothing says that anything did."""
    key, error = PROVIDER_CALLS[kind], item.get("error")
    if error is not None:
        return Result(content_json=Raw(jsontext.encode(error)), is_error=True)
    holder = mapping(item.get("action")) if kind == "web_search_call" else item
    value = holder.get("sources" if kind == "web_search_call" else key or "")
    failed = _DONE.get(str(item.get("status")))
    if kind == "mcp_call" and failed is None and value is not None and "error" in item:
        failed = False
    if value is None:
        return None if failed is None or kind == "mcp_call" else Result(is_error=failed)
    return Result(content_json=Raw(jsontext.encode(value)), is_error=failed)

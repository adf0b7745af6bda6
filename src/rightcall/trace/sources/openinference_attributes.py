"""Attributes of OpenInference spans, as messages, tools and tool runs: no spans here, only their attributes.

Messages are flattened (`llm.input_messages.10.message.role`), or lists of objects with dotted keys (Phoenix), or
nested. All become one tree; indexes are ordered as numbers. A call that stands in `tool_calls` and again as a content
part of type `tool_use` is one call. What an emitter has redacted was not captured.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import UNSET, UnsetType

from rightcall.errors import TraceError
from rightcall.trace import jsontext
from rightcall.trace.sources.conversation import Arguments, mapping, read_arguments, text_or_none, written_id

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.model import Role

    _Object = Mapping[str, JsonValue]

REDACTED = "__REDACTED__"
"""What emitters write in place of what they were told to hide."""

_MAX_PARTS = 16
_WHOLE = {"arguments", "function_call", "function_call_arguments_json", "input", "invocation_parameters", "json_schema"}
_WHOLE |= {"metadata", "parameters", "value"}
"""Last names of keys whose value is data and is not taken apart."""


def tree(attributes: _Object) -> dict[str, JsonValue]:
    """Attributes as nested objects by the parts of their names; lists of objects become objects by index."""
    root: dict[str, JsonValue] = {}
    for key, value in attributes.items():
        _put(root, key, value)
    return root


def _put(node: dict[str, JsonValue], key: str, value: JsonValue, depth: int = 0) -> None:
    """Put a value where its name says; `null` means that there is none."""
    if value is None:
        return
    *parents, last = key.split(".", _MAX_PARTS)
    for part in parents:
        node = _below(node, part)
    listed = isinstance(value, list) and any(isinstance(row, dict) for row in value)
    below = dict(enumerate(value)) if listed else value
    if last in _WHOLE or not isinstance(below, dict) or depth > _MAX_PARTS:
        node[last] = value
        return
    inner = _below(node, last)
    for name, item in below.items():
        _put(inner, str(name), item, depth + 1)


def _below(node: dict[str, JsonValue], key: str) -> dict[str, JsonValue]:
    """The object under a key, made if there is none."""
    inner = node.get(key)
    if not isinstance(inner, dict):
        inner = node[key] = {}
    return inner


def at(node: JsonValue, *path: str) -> JsonValue:
    """The value at a path of the tree; `None` where there is none."""
    for part in path:
        node = mapping(node).get(part)
    return node


def text_at(node: JsonValue, *path: str) -> str | None:
    """The text at a path, if it is text and not redacted."""
    text = text_or_none(at(node, *path))
    return None if text == REDACTED else text


def rows(node: JsonValue) -> list[tuple[int, JsonValue]]:
    """The rows below a node with their indexes, ordered as numbers."""
    found = [(int(key), row) for key, row in mapping(node).items() if _is_index(key)]
    return sorted(found, key=lambda row: row[0])


def _is_index(key: str) -> bool:
    return key.isascii() and key.isdigit() and len(key) < 10


def is_damaged(node: JsonValue) -> bool:
    """Whether rows are missing: their indexes do not count from 0 without a gap."""
    return any(index != number for number, (index, _) in enumerate(rows(node)))


# ---- messages ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Said:
    """Some text of somebody; `text` is `None` where there was none or it was hidden."""

    role: Role
    text: str | None
    path: str

    @property
    def key(self) -> Hashable:
        """What makes it the same when it is repeated."""
        return ("said", self.role, self.text)


@dataclass(frozen=True, slots=True)
class Made:
    """A call that a model made."""

    id: str | None
    name: str
    arguments: Arguments
    path: str

    @property
    def key(self) -> Hashable:
        """What makes it the same when it is repeated: its id, else what it asks for, however it is spaced."""
        if self.id is not None:
            return ("made", self.id, self.name)
        raw = self.arguments.get("arguments_json")
        asked = jsontext.encode(jsontext.decode(bytes(raw))) if raw is not None else self.arguments.get("arguments_raw")
        return ("made", None, self.name, asked)


@dataclass(frozen=True, slots=True)
class Came:
    """A result that was given to a model. `content` is unset where it was not captured."""

    id: str | None
    name: str | None
    content: JsonValue | UnsetType
    path: str

    @property
    def key(self) -> Hashable:
        """What makes it the same when it is repeated."""
        return ("came", self.id, self.name, None if self.content is UNSET else jsontext.encode(self.content))


@dataclass(frozen=True, slots=True)
class Odd:
    """Something in a message that could not be read."""

    code: str
    message: str
    path: str


Part = Said | Made | Came

_ROLES: dict[str, Role] = {"system": "system", "developer": "system", "user": "user", "human": "user"}
_ROLES |= {"assistant": "assistant", "ai": "assistant", "model": "assistant"}
_RESULTS = {"tool", "function"}


def messages(node: JsonValue, path: str) -> tuple[list[Part], list[Odd]]:
    """The parts of some messages in order, and what could not be read."""
    parts: list[Part] = []
    odd: list[Odd] = []
    for index, row in rows(node):
        for part in _message(mapping(mapping(row).get("message")), f"{path}.{index}"):
            (odd if isinstance(part, Odd) else parts).append(part)  # type: ignore[arg-type]
    return parts, odd


def _message(message: _Object, path: str) -> Iterator[Part | Odd]:
    raw = text_or_none(message.get("role"))
    role = raw.lower() if raw else None
    id_ = written_id(message.get("tool_call_id"))
    texts, came, odd = _contents(message, path)
    if role in _RESULTS or (id_ is not None and role != "assistant"):
        yield Came(id_, text_at(message, "name"), _result(message, texts), path)
        return
    yield from odd
    if role not in _ROLES:
        said = f"the role `{raw}` is not known" if raw else "this message has no role"
        yield Odd("TRACE_MALFORMED", said, path)
        return
    yield from came
    text = text_at(message, "content")
    text = "\n".join(texts) if texts and not text else text
    calls = list(_calls(message, path))
    if text or not (calls or came or role == "assistant"):
        yield Said(_ROLES[role], text, path)
    yield from calls


def _result(message: _Object, texts: list[str]) -> JsonValue | UnsetType:
    content = message.get("content")
    if content is None:
        return "\n".join(texts) if texts else UNSET
    return UNSET if content == REDACTED else content


def _contents(message: _Object, path: str) -> tuple[list[str], list[Came], list[Odd]]:
    """The texts, the results and the oddities among the content parts of a message."""
    texts: list[str] = []
    came: list[Came] = []
    odd: list[Odd] = []
    for index, row in rows(message.get("contents")):
        part, where = mapping(mapping(row).get("message_content")), f"{path}.message.contents.{index}"
        kind, text = part.get("type"), text_at(part, "text")
        if kind == "tool_result":
            inner = mapping(part.get("tool_result"))
            id_ = written_id(inner.get("tool_use_id") or part.get("tool_use_id"))
            content = inner.get("content", part.get("content", text))
            came.append(Came(id_, None, UNSET if content in (None, REDACTED) else content, where))
        elif text is not None and kind in ("text", None):
            texts.append(text)
        elif kind != "tool_use" and not (kind == "text" and part.get("text") == REDACTED):
            odd.append(Odd("TRACE_INCOMPLETE", f"a part of type `{kind}` is not text and was left out", where))
    return texts, came, odd


def _calls(message: _Object, path: str) -> Iterator[Made | Odd]:
    """The calls of a message, each once."""
    seen: Counter[tuple[str | None, str | None]] = Counter()
    for index, row in rows(message.get("tool_calls")):
        made = _asked_for(mapping(mapping(row).get("tool_call")), f"{path}.message.tool_calls.{index}")
        if isinstance(made, Made):
            seen[_who(made)] += 1
        yield made
    for index, row in rows(message.get("contents")):
        if at(row, "message_content", "type") == "tool_use":
            made = _used(mapping(row), f"{path}.message.contents.{index}")
            if isinstance(made, Made) and seen[_who(made)] > 0:
                seen[_who(made)] -= 1
            else:
                yield made
    legacy = text_or_none(message.get("function_call_name"))
    if legacy and not seen:
        function = {"arguments": message.get("function_call_arguments_json")}
        yield _made(None, legacy, function, f"{path}.message.function_call_name")


def _who(made: Made) -> tuple[str | None, str | None]:
    return (made.id, None) if made.id is not None else (None, made.name)


def _used(row: _Object, path: str) -> Made | Odd:
    """A call that is a content part; two spellings are in use."""
    part = mapping(row.get("message_content"))
    call = mapping(row.get("tool_call") or part.get("tool_call"))
    if call:
        return _asked_for(call, path)
    use = mapping(part.get("tool_use"))
    return _made(use.get("id"), use.get("name"), {"arguments": use.get("input")}, path)


def _asked_for(call: _Object, path: str) -> Made | Odd:
    return _made(call.get("id"), at(call, "function", "name"), at(call, "function"), path)


def _made(id_: JsonValue, name: JsonValue, function: JsonValue, path: str) -> Made | Odd:
    if not isinstance(name, str) or not name:
        return Odd("TRACE_MALFORMED", "this entry is not a call: it names no tool", path)
    return Made(written_id(id_), name, arguments_of(mapping(function).get("arguments", UNSET)), path)


def arguments_of(value: JsonValue | UnsetType) -> Arguments:
    """Arguments as recorded; those that the emitter has hidden were not captured."""
    return {"arguments_status": "not_captured"} if value == REDACTED else read_arguments(value)


def function_call(node: JsonValue, path: str) -> Made | None:
    """The one call of the oldest spelling, `llm.function_call`."""
    body = mapping(json_of(at(node, "llm", "function_call")))
    name = body.get("name") or body.get("function_name")
    if not isinstance(name, str) or not name:
        return None
    key = "arguments" if "arguments" in body else "args"
    return Made(None, name, arguments_of(body.get(key, UNSET)), path)


def raw_arguments(value: JsonValue) -> dict[str | None, str]:
    """The arguments of the calls in a model's raw reply by their ids, whatever its shape."""
    found: dict[str | None, str] = {}
    waiting = [json_of(value)]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            waiting.extend(item)
        elif isinstance(item, dict):
            arguments = at(item, "function", "arguments") or item.get("arguments")
            id_ = written_id(item.get("call_id")) or written_id(item.get("id"))
            if id_ is not None and isinstance(arguments, str) and arguments:
                found[id_] = arguments
            waiting.extend(item.values())
    return found


def json_of(value: JsonValue) -> JsonValue:
    """A value, decoded where it is JSON in a text; `None` where it is a text that is no JSON."""
    if not isinstance(value, str):
        return value
    try:
        return jsontext.decode(value)
    except TraceError:
        return None


def is_cut(text: str) -> bool:
    """Whether a text is JSON that ends too early, as one that was cut at the longest length of an attribute."""
    try:
        jsontext.decode(text)
    except TraceError as error:
        return "ends too early" in error.message
    return False

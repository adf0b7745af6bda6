"""What LangSmith's LLM runs took in and gave back, as LangChain's messages.

Tracers write the same exchange in many shapes: LangChain's generations, a chat completion, a message alone, the items
of OpenAI's Responses, a text. A shape that nobody knows is said to be so, never taken for an empty reply.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rightcall.trace.sources.conversation import mapping, text_or_none
from rightcall.trace.sources.langchain_messages import Unpacked, unpack

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.trace.jsontext import JsonValue

    _Object = Mapping[str, JsonValue]

_FINISH = ("finish_reason", "stop_reason")


class Reply(NamedTuple):
    """One reply: the assistant's message, why it ended, and how many other candidates there were."""

    message: Unpacked
    finish: str | None
    others: int


def reply_of(outputs: _Object, path: str) -> Reply | None:
    """The reply that an LLM run's outputs hold; `None` where they have no known shape."""
    if isinstance(outputs.get("generations"), list):
        return _generation(outputs["generations"], f"{path}.generations")
    choices = outputs.get("choices")
    if isinstance(choices, list):
        first = mapping(choices[0]) if choices else {}
        return _reply(first.get("message"), f"{path}.choices[0].message", first, len(choices) - 1)
    output = outputs.get("output")
    if isinstance(output, list) and output and all("type" in mapping(item) for item in output):
        return _items(output, f"{path}.output", outputs)
    for key in ("message", "output"):
        if isinstance(outputs.get(key), dict):
            return _reply(outputs[key], f"{path}.{key}", outputs)
    if unpack(outputs) is not None:
        return _reply(outputs, path, outputs)
    messages = outputs.get("messages")
    if isinstance(messages, list) and messages:
        return _reply(messages[-1], f"{path}.messages[{len(messages) - 1}]", outputs)
    text = next((outputs[key] for key in ("output", "content", "text") if isinstance(outputs.get(key), str)), None)
    return None if text is None else Reply(Unpacked("ai", {"content": text}, path), None, 0)


def _generation(generations: list[JsonValue], path: str) -> Reply | None:
    """The first candidate of the first prompt, whether candidates are grouped by prompt or not."""
    group, where = (generations, path)
    if generations and isinstance(generations[0], list):
        group, where = generations[0], f"{path}[0]"
    first = mapping(group[0]) if group else {}
    about = mapping(first.get("generation_info"))
    if first.get("message") is not None:
        return _reply(first["message"], f"{where}[0].message", about, len(group) - 1)
    text = text_or_none(first.get("text"))
    return None if text is None else Reply(Unpacked("ai", {"content": text}, f"{where}[0]"), None, len(group) - 1)


def _reply(value: JsonValue, path: str, about: _Object, others: int = 0) -> Reply | None:
    found = unpack(value, path)
    if found is None and isinstance(value, dict) and {"content", "tool_calls"} & value.keys():
        found = Unpacked("ai", value, path)
    if found is None or found.kind not in ("ai", "chat"):
        return None
    sources = (about, found.body)
    finish = next((source[key] for source in sources for key in _FINISH if isinstance(source.get(key), str)), None)
    return Reply(found, finish, others)


def _items(items: list[JsonValue], path: str, outputs: _Object) -> Reply:
    """The items of a Responses reply as the blocks of one message."""
    blocks: list[JsonValue] = []
    for value in items:
        item = mapping(value)
        inner = item.get("content")
        if item.get("type") == "message":
            blocks.extend(inner if isinstance(inner, list) else [inner or ""])
        else:
            blocks.append(value)
    finish = "length" if outputs.get("status") == "incomplete" else None
    return Reply(Unpacked("ai", {"content": blocks}, path), finish, 0)


class Request(NamedTuple):
    """What went into an LLM run: its messages, or why there are none."""

    messages: list[Unpacked]
    is_text: bool = False
    others: int = 0


def request_of(inputs: _Object, path: str) -> Request | None:
    """The messages that went into an LLM run; `None` where its inputs have no known shape."""
    if isinstance(inputs.get("prompts"), list) and "messages" not in inputs:
        return Request([], is_text=True)
    system = next((inputs[key] for key in ("system", "instructions") if isinstance(inputs.get(key), str)), None)
    found = [] if system is None else [Unpacked("system", {"content": system}, path)]
    messages, where = inputs.get("messages"), f"{path}.messages"
    if messages is None and "input" in inputs:
        messages, where = inputs["input"], f"{path}.input"
    if isinstance(messages, str):
        return Request([*found, Unpacked("human", {"content": messages}, where)])
    if not isinstance(messages, list):
        return Request(found) if found else None
    others = 0
    if messages and isinstance(messages[0], list) and unpack(messages[0]) is None:
        others, messages, where = len(messages) - 1, messages[0], f"{where}[0]"
    return Request([*found, *_unpacked(messages, where)], others=others)


def _unpacked(messages: list[JsonValue], path: str) -> Iterator[Unpacked]:
    for index, value in enumerate(messages):
        item, where = mapping(value), f"{path}[{index}]"
        kind = item.get("type")
        if kind == "function_call_output":
            yield Unpacked("tool", {"tool_call_id": item.get("call_id"), "content": item.get("output")}, where)
        elif kind == "function_call":
            yield Unpacked("ai", {"content": [item]}, where)
        else:
            found = unpack(value, where)
            if found is not None:
                yield from _without_results(found)
            elif isinstance(value, str):
                yield Unpacked("human", {"content": value}, where)
            elif kind != "reasoning":
                yield Unpacked("unknown", item, where)


def _without_results(found: Unpacked) -> Iterator[Unpacked]:
    """A message, the results among its blocks taken out as messages of their own, as LangChain has them."""
    content = found.body.get("content")
    parts = content if found.kind == "human" and isinstance(content, list) else []
    results = [mapping(part) for part in parts if mapping(part).get("type") == "tool_result"]
    for part in results:
        failed = part.get("is_error")
        status = {True: "error", False: "success"}.get(failed) if isinstance(failed, bool) else None
        body = {**part, "tool_call_id": part.get("tool_use_id"), "status": status}
        yield Unpacked("tool", body, found.path)
    rest = [part for part in parts if mapping(part).get("type") != "tool_result"]
    if not results:
        yield found
    elif rest:
        yield found._replace(body={**found.body, "content": rest})

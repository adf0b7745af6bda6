"""What a model was given and what it answered, as whatever SDK was observed wrote it down.

Platforms that observe (Langfuse, MLflow) store the input and output of a model as they find them: text, OpenAI's
messages or reply, OpenAI's items, Anthropic's blocks, LangChain's dumps, or JSON in a string of any of these. A value
of another shape gives `None`, so that the reader can say so; nothing is guessed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import UNSET, UnsetType

from rightcall.trace.sources.conversation import mapping, read_arguments, text_or_none, written_id
from rightcall.trace.sources.genai_messages import decoded, message_of
from rightcall.trace.sources.langchain_messages import unpack
from rightcall.trace.sources.openinference_attributes import Came, Made, Odd, Part
from rightcall.trace.sources.openinference_attributes import Said as Text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.model import Role

    _Object = Mapping[str, JsonValue]

_SPEAKERS: dict[str | None, Role] = {"system": "system", "user": "user", "assistant": "assistant"}
_KINDS = {"human": "user", "ai": "assistant", "system": "system", "developer": "system", "tool": "tool"}
_CUT_OFF = {"length", "max_tokens", "MAX_TOKENS"}


class Heard(NamedTuple):
    """Messages in parts: texts, calls and results in order; what could not be read; whether a reply was cut off."""

    parts: tuple[Part, ...] = ()
    odd: tuple[Odd, ...] = ()
    failures: Mapping[str, bool] = {}
    cut_off: bool = False


def structured(value: JsonValue) -> JsonValue:
    """The object or list that a text holds as JSON; any other text, a number in it too, stays text."""
    found = decoded(value) if isinstance(value, str) and value.lstrip()[:1] in ("{", "[") else value
    return found if isinstance(found, (dict, list)) else value


def request_of(value: JsonValue | UnsetType, path: str) -> Heard | None:
    """What a model was given; `None` if it is of no known shape."""
    given = value
    if isinstance(value, str):
        given = structured(value)
        heard = request_of(given, path) if isinstance(given, (dict, list)) else None
        return heard or Heard((Text("user", value, path),))
    if isinstance(given, list):
        return _listed(given, path, "user")
    if not isinstance(given, dict):
        return None
    for key in ("messages", "input"):
        if isinstance(given.get(key), (list, str)):
            heard = request_of(given[key], f"{path}.{key}")
            return None if heard is None else _after_prompt(given, heard, path)
    return _listed([given], path, "user")


def _after_prompt(given: _Object, heard: Heard, path: str) -> Heard:
    """The messages after the system prompt, where that stands beside them."""
    for key in ("system", "instructions"):
        prompt = given.get(key)
        if isinstance(prompt, list):
            texts = [text_or_none(mapping(block).get("text")) for block in prompt]
            prompt = "\n".join(text for text in texts if text is not None)
        if isinstance(prompt, str) and prompt:
            return heard._replace(parts=(Text("system", prompt, f"{path}.{key}"), *heard.parts))
    return heard


def reply_of(value: JsonValue | UnsetType, path: str) -> Heard | None:
    """What a model answered; `None` if it is of no known shape."""
    said = value
    if isinstance(value, str):
        said = structured(value)
        heard = reply_of(said, path) if isinstance(said, (dict, list)) else None
        return heard or Heard((Text("assistant", value, path),))
    if isinstance(said, list):
        return _listed(said, path, "assistant")
    if not isinstance(said, dict):
        return None
    if isinstance(said.get("choices"), list):
        return _chosen(said["choices"], f"{path}.choices")
    if isinstance(said.get("generations"), list):
        return _generated(said["generations"], f"{path}.generations")
    if isinstance(said.get("output"), list):
        return _listed(said["output"], f"{path}.output", "assistant")
    heard = _listed([said], path, "assistant")
    return heard._replace(cut_off=said.get("stop_reason") in _CUT_OFF) if heard else None


def _chosen(choices: Sequence[JsonValue], path: str) -> Heard | None:
    """The first of OpenAI's choices; others are noted."""
    choice = mapping(choices[0]) if choices else {}
    if not isinstance(choice.get("message"), dict):
        return None
    heard = _listed([{"role": "assistant", **choice["message"]}], f"{path}[0].message", "assistant")
    return _first_of(heard, len(choices), path, cut_off=choice.get("finish_reason") in _CUT_OFF)


def _generated(generations: Sequence[JsonValue], path: str) -> Heard | None:
    """The first of LangChain's generations; others are noted."""
    row = generations[0] if generations else None
    first = mapping(row[0]) if isinstance(row, list) and row else mapping(row)
    if "message" in first:
        heard = _listed([first["message"]], f"{path}[0][0].message", "assistant")
    else:
        text = text_or_none(first.get("text"))
        heard = None if text is None else Heard((Text("assistant", text, f"{path}[0][0].text"),))
    stop = mapping(first.get("generation_info")).get("finish_reason")
    return _first_of(heard, len(row) if isinstance(row, list) else 1, path, cut_off=stop in _CUT_OFF)


def _first_of(heard: Heard | None, count: int, path: str, *, cut_off: bool) -> Heard | None:
    if heard is None:
        return None
    more = (Odd("TRACE_INCOMPLETE", f"only the first of {count} replies is read", path),) if count > 1 else ()
    return heard._replace(odd=(*heard.odd, *more), cut_off=cut_off)


# ---- messages ------------------------------------------------------------------------------------------------------


def _listed(values: Sequence[JsonValue], path: str, role: Role) -> Heard | None:
    """A list of messages or items; `None` if one of them is neither. `role` speaks where nobody is named."""
    if len(values) == 1 and isinstance(values[0], list):
        return _listed(values[0], f"{path}[0]", role)
    parts: list[Part] = []
    odd: list[Odd] = []
    failures: dict[str, bool] = {}
    for index, value in enumerate(values):
        heard = _one(value, f"{path}[{index}]", role)
        if heard is None:
            return None
        parts += heard.parts
        odd += heard.odd
        failures.update(heard.failures)
    return Heard(tuple(parts), tuple(odd), failures)


def _one(value: JsonValue, path: str, role: Role) -> Heard | None:
    if isinstance(value, str):
        return Heard((Text(role, value, path),))
    message = mapping(value)
    if "role" not in message and isinstance(message.get("type"), str):
        item = _item(message, path)
        if item is not None:
            return item
    found = unpack(value) if isinstance(value, dict) else None
    if found is not None and found.kind in _KINDS:
        return _message({**_with_refused(found.body), "role": _KINDS[found.kind]}, path, role)
    if {"role", "content", "parts", "tool_calls"} & message.keys():
        return _message(message, path, role)
    return None


def _with_refused(body: _Object) -> _Object:
    """LangChain keeps calls whose arguments were not JSON in a list of their own."""
    refused = body.get("invalid_tool_calls")
    if not isinstance(refused, list) or not refused:
        return body
    calls = body.get("tool_calls")
    return {**body, "tool_calls": [*(calls if isinstance(calls, list) else []), *refused]}


def _message(message: _Object, path: str, role: Role) -> Heard:
    said = message_of(message, role)
    speaker = _SPEAKERS.get(said.role)
    parts: list[Part] = [Came(result.id, result.name, result.content, path) for result in said.results]
    text = "\n".join(said.texts) if said.texts else None
    if speaker is not None and (text or not (said.calls or said.results)):
        parts.append(Text(speaker, text, path))
    used: set[str] = set()
    for call in said.calls:
        if call.id is None or call.id not in used:  # blocks and `tool_calls` may hold the same calls
            parts.append(Made(call.id, call.name, read_arguments(call.arguments), path))
        used.update({call.id} if call.id is not None else ())
    unknown = [f"a part of type `{kind}` is not text and was left out" for kind in said.unknown]
    failures = {result.id: result.is_error for result in said.results if result.id and result.is_error is not None}
    status = message.get("status")
    if said.role == "tool" and status in ("success", "error") and len(said.results) == 1 and said.results[0].id:
        failures[said.results[0].id] = status == "error"
    return Heard(tuple(parts), tuple(Odd("TRACE_INCOMPLETE", text, path) for text in unknown), failures)


def _item(item: _Object, path: str) -> Heard | None:
    """One of OpenAI's items; `None` for what is none of them."""
    kind, id_ = item["type"], written_id(item.get("call_id"))
    if kind == "function_call":
        name = text_or_none(item.get("name"))
        if not name:
            return Heard(odd=(Odd("TRACE_MALFORMED", "this entry is not a call: it names no tool", path),))
        return Heard((Made(id_, name, read_arguments(item.get("arguments", UNSET)), path),))
    if kind == "function_call_output":
        return Heard((Came(id_, None, item.get("output", UNSET), path),))
    if kind == "reasoning":
        return Heard()
    if kind.endswith("_call") and kind != "tool_call":
        return Heard(
            odd=(Odd("TRACE_INCOMPLETE", f"an item of type `{kind}` is the provider's and was left out", path),)
        )
    return None

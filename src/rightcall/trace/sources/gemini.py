"""Gemini contents: parts, with `functionCall` in the model's and `functionResponse` in the user's contents.

A record is an object with `contents`, a bare list of them, an exchange (`request` and `response`), a response alone
(`candidates`), or the list of chunks of its stream. Field names in camel case or in snake case.

* Calls often have no id. Then a result belongs to the first unanswered call of its name in the last turn that has one;
  where several wait, that is a finding (`ORDER_AMBIGUOUS`).
* By the API's convention a response with an `error` tells a failure: `is_error` is then true and `inferred`. Without
  one, nothing is known.
* A reply that ends with `MALFORMED_FUNCTION_CALL` or `UNEXPECTED_TOOL_CALL` holds a call that could not be written: it
  is kept with `malformed` arguments and what the provider tells of it.
* Code that the provider runs, and its own tools (`toolCall`), are kept with `by: provider`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import UNSET, Raw, UnsetType

from rightcall.trace import jsontext
from rightcall.trace.model import Call, CalledBy, Result, Role, Trace
from rightcall.trace.normalise import normalise_schema
from rightcall.trace.sources.conversation import (
    Arguments,
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
    http_failure,
    offered_tools,
    trace_of,
    unread,
)
from rightcall.trace.sources.gemini_reply import Reply, field, read_reply

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.errors import Place
    from rightcall.trace.jsontext import JsonValue

    _Object = Mapping[str, JsonValue]

_ROLES: dict[str | None, Role] = {
    None: "user", "user": "user", "function": "user", "tool": "user", "model": "assistant", "system": "system",
}  # fmt: skip
_CALLS = ("functionCall", "toolCall", "executableCode")
_RESULTS = ("functionResponse", "toolResponse", "codeExecutionResult")
_PARTS = ("text", *_CALLS, *_RESULTS, "inlineData", "fileData", "thoughtSignature")
_CODE = "code_execution"
_OUTCOMES = {"OUTCOME_OK": False, "OUTCOME_FAILED": True, "OUTCOME_DEADLINE_EXCEEDED": True}
_WRITTEN_CALL = re.compile(r"\bdefault_api\.(\w{1,128})\(")


# ---- contents ------------------------------------------------------------------------------------------------------


def read_contents(talk: Conversation, contents: JsonValue, path: str) -> None:
    """Add contents to a conversation: a list, one content, or a text as the SDK takes it."""
    several = isinstance(contents, list)
    for index, content in enumerate(contents if several else [contents]):
        where = f"{path}[{index}]" if several else path
        if isinstance(content, str):
            _read_parts(talk, "user", [{"text": content}], where)
            continue
        role, parts = mapping(content).get("role"), mapping(content).get("parts")
        if (isinstance(role, str) or role is None) and role in _ROLES and isinstance(parts, list):
            _read_parts(talk, _ROLES[role], parts, f"{where}.parts")
        else:
            talk.note("TRACE_MALFORMED", "this is not a content with a known `role` and a list of parts", where)


def _read_parts(talk: Conversation, role: Role, parts: list[JsonValue], path: str) -> Speech:
    """Add the parts of one content in their order."""
    speech = Speech(talk, role)
    spoken = any(_text_of(part) is not None for part in parts)
    answered = any(field(part, key) is not None for part in parts for key in _RESULTS)
    if not spoken and (role == "assistant" or not answered):
        speech.end(wordless=True)
    thinking = False
    for index, part in enumerate(parts):
        where = f"{path}[{index}]"
        text = _text_of(part)
        thought = text is None and field(part, "text") is not None
        if text is not None:
            speech.say(text, "" if role == "assistant" else "\n")
        elif thought:
            if not thinking:
                unread(talk, "thought", where)
        else:
            _read_other(talk, speech, part, where)
        thinking = thought
    speech.end()
    return speech


def _text_of(part: JsonValue) -> str | None:
    """A part's text, unless the model only thought it."""
    return None if mapping(part).get("thought") is True else text_or_none(mapping(part).get("text"))


def _read_other(talk: Conversation, speech: Speech, part: JsonValue, path: str) -> None:
    """Add a part that is not text."""
    key = next((key for key in (*_CALLS, *_RESULTS) if field(part, key) is not None), None)
    if key is None:
        held = [name for name, value in mapping(part).items() if value is not None]
        kind = next((name for name in held if name not in ("thoughtSignature", "thought_signature")), None)
        if kind is not None or not held:
            unread(talk, kind, path)
        return
    speech.end()
    body = mapping(field(part, key))
    if key in _CALLS:
        _read_call(talk, speech, key, body, f"{path}.{key}")
    else:
        _read_result(talk, key, body, f"{path}.{key}")


def _read_call(talk: Conversation, speech: Speech, key: str, body: _Object, path: str) -> None:
    name = _CODE if key == "executableCode" else field(body, "toolType" if key == "toolCall" else "name")
    if not isinstance(name, str) or not name:
        talk.note("TRACE_MALFORMED", "this part is not a call: it names no tool", path)
        return
    by: CalledBy = "agent" if key == "functionCall" else "provider"
    if key == "executableCode":
        arguments = read_arguments({name: value for name, value in body.items() if name != "id" and value is not None})
    elif field(body, "partialArgs") is not None or field(body, "willContinue"):
        talk.note("TRACE_NOT_CAPTURED", f"the arguments of `{name}` were streamed in pieces that are not read", path)
        arguments = Arguments(arguments_status="not_captured")
    else:
        arguments = read_arguments(body.get("args", UNSET))
    talk.call(Call(tool=name, id=written_id(body.get("id")), turn=speech.turn, by=by, **arguments), path)


def _read_result(talk: Conversation, key: str, body: _Object, path: str) -> None:
    """Give a result to its call: by id where calls have one, else by name and order."""
    id_ = written_id(body.get("id"))
    name = _CODE if key == "codeExecutionResult" else text_or_none(
        field(body, "toolType" if key == "toolResponse" else "name")
    )  # fmt: skip
    if body.get("parts"):
        unread(talk, "functionResponse.parts", f"{path}.parts")
    by_order = not talk.has_ids if key == "functionResponse" else not talk.knows_id(id_)
    talk.answer(_result(key, body), path, id=None if by_order else id_, name=name)


def _result(key: str, body: _Object) -> Result:
    if key == "codeExecutionResult":
        outcome = str(body.get("outcome")).rsplit(".", 1)[-1]
        content = {name: value for name, value in body.items() if name != "id" and value is not None}
        return Result(content_json=Raw(jsontext.encode(content)), is_error=_OUTCOMES.get(outcome))
    if "response" not in body:
        return Result()
    response = body["response"]
    is_error = True if mapping(response).get("error") else None
    return Result(content_json=Raw(jsontext.encode(response)), is_error=is_error, inferred=is_error is not None)


# ---- records -------------------------------------------------------------------------------------------------------


def detect(value: JsonValue) -> bool:
    """Whether a record holds contents of parts, or candidates."""
    if isinstance(value, list):
        return _are_contents(value) or (bool(value) and _is_response(value[0]))
    record = mapping(value)
    request = record.get("request")
    if isinstance(request, dict):
        return "contents" in request and "messages" not in request
    return _are_contents(record["contents"]) if "contents" in record else _is_response(record)


def _are_contents(value: JsonValue) -> bool:
    if not isinstance(value, list) or not value:
        return False
    return all(map(_is_content, value)) and any(content["parts"] for content in value)


def _is_content(value: JsonValue) -> bool:
    """Whether this is a content whose parts are named by their keys, not by a `type`."""
    content = mapping(value)
    role, parts = content.get("role"), content.get("parts")
    if not (role is None or isinstance(role, str)) or role not in _ROLES or not isinstance(parts, list):
        return False
    if {"kind", "type"} & content.keys():
        return False
    return all(not {"kind", "type"} & mapping(part).keys() and _is_part(part) for part in parts)


def _is_part(value: JsonValue) -> bool:
    return any(field(value, key) is not None for key in _PARTS)


def _is_response(value: JsonValue) -> bool:
    candidates = mapping(value).get("candidates")
    if not isinstance(candidates, list) or not candidates:
        return False
    first = mapping(candidates[0])
    return isinstance(mapping(first.get("content")).get("parts"), list) or field(first, "finishReason") is not None


def traces(value: JsonValue, place: Place) -> Iterator[Trace | Skip]:
    """Read one record."""
    root = place.path or "$"
    record = mapping(value)
    if isinstance(value, list) and not (value and "candidates" in mapping(value[0])):
        yield _conversation({}, value, root, place)
    elif isinstance(record.get("request"), dict) and "response" in record:
        yield _exchange(record, root, place)
    elif "contents" in record:
        yield _conversation(record, record["contents"], f"{root}.contents", place)
    elif isinstance(value, list) or "candidates" in record:
        talk = Conversation(tell_order=True)
        reply = read_reply(talk, value, root, place)
        yield reply if isinstance(reply, Skip) else _replied(talk, reply, {"id": reply.id}, {}, root, place)
    else:
        yield Skip("TRACE_MALFORMED", "neither `contents`, nor `request` and `response`, nor `candidates`", place)


def _conversation(record: _Object, contents: JsonValue, path: str, place: Place) -> Trace | Skip:
    if not contents:
        return Skip("TRACE_INCOMPLETE", "no content was recorded", place)
    talk = Conversation(tell_order=True)
    read_contents(talk, contents, path)
    return _trace(record, record, talk, place)


def _exchange(record: _Object, root: str, place: Place) -> Trace | Skip:
    request = record["request"]
    if "contents" not in request:
        return Skip("TRACE_MALFORMED", "the request holds no `contents`", place)
    failure = http_failure(record, place)
    if failure:
        return failure
    talk = Conversation(tell_order=True)
    read_contents(talk, request["contents"], f"{root}.request.contents")
    earlier = len(talk.events)
    reply = read_reply(talk, record["response"], f"{root}.response", place)
    if isinstance(reply, Skip):
        return reply
    trace = _replied(talk, reply, record, request, f"{root}.response", place)
    return trace if isinstance(trace, Skip) else without_history(trace, earlier)


def _replied(
    talk: Conversation, reply: Reply, record: _Object, request: _Object, path: str, place: Place
) -> Trace | Skip:
    """A trace whose last turn is a reply, with the call that the model could not write."""
    speech = _read_parts(talk, "assistant", reply.parts, f"{path}.parts")
    if reply.failed_call and not any(field(part, "functionCall") is not None for part in reply.parts):
        written = _WRITTEN_CALL.search(reply.said or "")
        name = written[1] if written else reply.failed_call
        arguments = Arguments(arguments_status="malformed")
        if reply.said is not None:
            arguments["arguments_raw"] = reply.said
        talk.call(Call(tool=name, turn=speech.turn, **arguments), path)
    model = reply.model or request.get("model")
    return _trace({"model": model, **record}, request, talk, place)


def _trace(record: _Object, offered: _Object, talk: Conversation, place: Place) -> Trace | Skip:
    """A trace from what was read. `offered` is the object that holds the tools and the system prompt."""
    path, config = place.path or "$", mapping(offered.get("config"))
    system = field(offered, "systemInstruction") or field(config, "systemInstruction")
    tools = offered.get("tools", config.get("tools"))
    catalog = read_tools(talk, tools, f"{path}.tools")
    return trace_of(record, talk, place, tools=catalog, model=record.get("model"), system=system_prompt(system))


def system_prompt(value: JsonValue) -> str | None:
    """The text of a system instruction: a text, a content, or a list of parts."""
    if value is None or isinstance(value, str):
        return value
    parts = value if isinstance(value, list) else mapping(value).get("parts")
    parts = parts if isinstance(parts, list) else [parts]
    texts = [part if isinstance(part, str) else text_or_none(mapping(part).get("text")) for part in parts]
    return "\n".join(text for text in texts if text is not None)


def read_tools(talk: Conversation, tools: JsonValue, path: str) -> Raw | UnsetType:
    """The catalog in native shape; the provider's own tools, which nobody calls by name, are noted and left out."""
    if not isinstance(tools, list):
        return offered_tools(talk, tools, path)
    kept: list[JsonValue] = []
    for index, tool in enumerate(tools):
        for name, value in mapping(tool).items():
            if name in ("functionDeclarations", "function_declarations") and isinstance(value, list):
                kept += map(_declared, value)
            elif value is not None:
                talk.note("TRACE_INCOMPLETE", f"`{name}` is the provider's own tool", f"{path}[{index}]")
    return offered_tools(talk, kept, path)


def _declared(value: JsonValue) -> JsonValue:
    """A function's declaration in native shape, its OpenAPI schema as a JSON Schema."""
    schema = field(value, "parametersJsonSchema")
    parameters = normalise_schema(mapping(value).get("parameters")) if schema is None else schema
    return {"name": field(value, "name"), "description": field(value, "description"), "parameters": parameters}


DIALECT = Dialect("gemini", "Gemini contents", detect, traces, whole_list=True)

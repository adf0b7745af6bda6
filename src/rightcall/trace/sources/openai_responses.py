"""OpenAI's Responses API: flat lists of items instead of messages.

A record is an exchange (`request` and `response`), a response alone, an object with `input` and `output`, or a list of
items. A response may be a stream: the text of its events, or the events as a list (see `openai_events`). What each kind
of item means stands in `openai_items`.

* An exchange, and an object with `input` and `output`, is one step: its input repeats what was said before, so only the
  calls of the output are its own; what came before them becomes `context.history`. A list of items, or an object with
  `input` alone, is a whole conversation.
* `previous_response_id` and `conversation` say that earlier items are not in the record: a finding.
* This dialect has no field for the failure of a tool that the client runs, so `is_error` is not known there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET, Raw, UnsetType

from rightcall.errors import ConfigError, Place
from rightcall.trace import jsontext
from rightcall.trace.catalog import parse_tools
from rightcall.trace.model import Agent, Trace
from rightcall.trace.sources import openai_events
from rightcall.trace.sources.conversation import (
    Conversation,
    first_request,
    mapping,
    place_id,
    text_or_none,
    without_history,
    written_id,
)
from rightcall.trace.sources.dialect import Dialect, Skip
from rightcall.trace.sources.openai_items import PROVIDER_CALLS, SPEAKERS, TYPES, Items

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.trace.jsontext import JsonValue

    _Object = Mapping[str, JsonValue]

_ELSEWHERE = {
    "attributes", "choices", "contents", "events", "inputs", "messages", "observations", "parentObservationId",
    "run_type", "spanId", "span_id", "startTime", "start_time", "traceId",
}  # fmt: skip
"""Keys of records that hold an `input` or `output` of another dialect."""
_ASKING = {"instructions", "tools", "tool_choice", "stream", "store", "include", "previous_response_id", "conversation"}
_OWN_PARTS = {"input_text", "output_text", "input_image", "input_file"}
_WITHOUT_REPLY = {"queued", "in_progress"}
_HINTS = {
    "read_only": "readOnlyHint",
    "destructive": "destructiveHint",
    "idempotent": "idempotentHint",
    "open_world": "openWorldHint",
}


# ---- recognition ---------------------------------------------------------------------------------------------------


def detect(value: JsonValue) -> bool:
    """Whether a record is of this API: typed items, its events, or an object that says that it is a response."""
    if isinstance(value, list):
        return openai_events.are_events(value) or _are_items(value)
    if not isinstance(value, dict) or _ELSEWHERE & value.keys():
        return False
    if "request" in value and "response" in value:
        return _is_exchange(value["request"], value["response"])
    if value.get("object") == "response":
        return isinstance(value.get("output"), list)
    input_, output = value.get("input"), value.get("output")
    if isinstance(input_, str):
        return _are_items(output)
    return _are_items(input_) and ("output" not in value or _are_items(output) or output == [])


def _is_exchange(request: JsonValue, response: JsonValue) -> bool:
    if openai_events.is_stream(response) or mapping(response).get("object") == "response":
        return True
    asked = mapping(request)
    if "input" not in asked or not _ASKING & asked.keys():
        return False
    return mapping(response).get("error") is not None and "choices" not in mapping(response)


def _are_items(value: JsonValue) -> bool:
    """Whether a list holds items, at least one of which could be nothing else."""
    return isinstance(value, list) and all(map(_is_item, value)) and any(map(_is_surely_item, value))


def _is_item(value: JsonValue) -> bool:
    item = mapping(value)
    if "type" in item:
        return isinstance(item["type"], str) and item["type"] in TYPES
    return isinstance(item.get("role"), str) and item["role"] in SPEAKERS and not {"tool_calls", "parts"} & item.keys()


def _is_surely_item(value: JsonValue) -> bool:
    item = mapping(value)
    kind = item.get("type", "message")
    if kind in ("function_call", "function_call_output"):
        return "call_id" in item
    if kind != "message":
        return True
    content = item.get("content")
    return isinstance(content, list) and any(mapping(part).get("type") in _OWN_PARTS for part in content)


# ---- records -------------------------------------------------------------------------------------------------------


def traces(value: JsonValue, place: Place) -> Iterator[Trace | Skip]:
    """Read one record."""
    record, root = mapping(value), place.path or "$"
    if openai_events.are_events(value):
        yield _step({}, {}, value, (root, root), place)
    elif isinstance(value, list):
        yield _whole({"input": value}, root, place)
    elif "request" in record and "response" in record:
        yield _exchange(record, root, place)
    elif "output" in record:
        yield _step(record, record, record, (root, root), place)
    elif "input" in record:
        yield _whole(record, f"{root}.input", place)
    else:
        yield Skip("TRACE_MALFORMED", "neither `request` and `response`, nor `input`, nor `output`", place)


def _exchange(record: _Object, root: str, place: Place) -> Trace | Skip:
    status = record.get("status")
    if isinstance(status, int) and status >= 400:
        return _failed(record["response"], place, f"HTTP status {status}")
    request = record["request"]
    if isinstance(request, dict) and "input" not in request and {"messages", "contents"} & request.keys():
        return Skip("TRACE_MALFORMED", "the request holds no `input`: it is of another API", place)
    return _step(record, mapping(request), record["response"], (f"{root}.request", f"{root}.response"), place)


def _whole(record: _Object, path: str, place: Place) -> Trace | Skip:
    """A whole conversation in one list of items."""
    if record["input"] in ([], ""):
        return Skip("TRACE_INCOMPLETE", "no item was recorded", place)
    items = Items(Conversation())
    items.read(record["input"], path)
    return _trace(record, record, {}, items, place)


def _step(record: _Object, request: _Object, reply: JsonValue, paths: tuple[str, str], place: Place) -> Trace | Skip:
    """One response with the input that it answers; `paths` are theirs."""
    faults: list[str] = []
    if openai_events.is_stream(reply):
        reply, faults = openai_events.put_together(reply)
    response = mapping(reply)
    skip = _without_reply(reply, response, place)
    if skip is not None:
        return skip
    items = Items(Conversation())
    items.read(request.get("input"), f"{paths[0]}.input")
    earlier = len(items.talk.events)
    items.end_turn()
    items.read(response["output"], f"{paths[1]}.output")
    for fault in faults:
        items.talk.note("TRACE_MALFORMED", fault, paths[1])
    _tell_end(items.talk, response, paths[1])
    trace = _trace(record, request, response, items, place)
    return trace if isinstance(trace, Skip) else without_history(trace, earlier)


def _without_reply(reply: JsonValue, response: _Object, place: Place) -> Skip | None:
    """Why there is nothing to read; `None` where there is."""
    output, status = response.get("output"), response.get("status")
    held = isinstance(output, list) and bool(output)
    if not held and response.get("error") is not None:
        return _failed(response, place, "an error")
    if not held and isinstance(status, str) and status in _WITHOUT_REPLY:
        return Skip("TRACE_INCOMPLETE", f"the response was still `{status}`: it holds no output yet", place)
    if not isinstance(output, list) or response.get("object", "response") != "response":
        kind = text_or_none(response.get("object"))
        what = f"a `{kind}`" if kind else "text" if isinstance(reply, str) else "something else"
        return Skip("TRACE_MALFORMED", f"this is no response with an `output`, but {what}", place)
    return None


def _failed(response: JsonValue, place: Place, what: str) -> Skip:
    error = mapping(response).get("error")
    reason = text_or_none(mapping(error).get("message", error))
    return Skip("TRACE_HTTP_ERROR", f"the endpoint answered with {what}" + (f": {reason}" if reason else ""), place)


def _tell_end(talk: Conversation, response: _Object, path: str) -> None:
    """Note what kept a response from being whole."""
    status, error = response.get("status"), response.get("error")
    why = text_or_none(mapping(response.get("incomplete_details")).get("reason"))
    if error is not None:
        what, why = "an error ended the response", text_or_none(mapping(error).get("message", error))
    elif status == "incomplete":
        what = "the response was cut off"
    elif status == openai_events.CUT_SHORT:
        what = "the stream ends before the response does"
    elif isinstance(status, str) and status in {"cancelled", *_WITHOUT_REPLY}:
        what = f"the response was `{status}`"
    else:
        return
    talk.note("TRACE_TRUNCATED", what + (f": {why}" if why else ""), path)


def _trace(record: _Object, request: _Object, response: _Object, items: Items, place: Place) -> Trace | Skip:
    talk = items.talk
    tools = _catalog(request.get("tools", response.get("tools")), items)
    metadata = _metadata(record, request, response)
    _tell_missing(talk, request, response)
    if not talk.events:
        return Skip("TRACE_MALFORMED", "none of its items could be read", place)
    system = request.get("instructions", response.get("instructions"))
    model = text_or_none(response.get("model")) or text_or_none(request.get("model"))
    cut_off = any(finding.code == "TRACE_TRUNCATED" for finding in talk.findings)
    return Trace(
        id=written_id(record.get("id")) or written_id(record.get("trace_id")) or place_id(place),
        case_id=written_id(record.get("case_id")) or written_id(metadata.get("case_id")),
        request=first_request(talk.events),
        context={"system": system} if isinstance(system, str) and system else None,
        agent=Agent(model=model) if model else None,
        tools_json=tools,
        events=tuple(talk.events),
        completed=False if cut_off else None,
        findings=tuple(talk.findings),
        metadata=metadata,
    )


def _tell_missing(talk: Conversation, request: _Object, response: _Object) -> None:
    """Note what the record says stands elsewhere."""
    before = text_or_none(request.get("previous_response_id")) or text_or_none(response.get("previous_response_id"))
    if before is not None:
        talk.note("TRACE_INCOMPLETE", f"earlier items belong to `{before}` and are not here", "$.previous_response_id")
    elif _conversation(request, response) is not None:
        talk.note("TRACE_INCOMPLETE", "earlier items of the `conversation` are not here", "$.conversation")


def _conversation(request: _Object, response: _Object) -> str | None:
    value = request.get("conversation") or response.get("conversation")
    return text_or_none(mapping(value).get("id", value))


def _metadata(record: _Object, request: _Object, response: _Object) -> dict[str, JsonValue]:
    known = {
        "session": _conversation(request, response),
        "response_id": response.get("id") if response is not record else None,
        "previous_response_id": request.get("previous_response_id") or response.get("previous_response_id"),
    }
    given = {**mapping(response.get("metadata")), **mapping(request.get("metadata")), **mapping(record.get("metadata"))}
    return {**given, **{key: value for key, value in known.items() if isinstance(value, str)}}


# ---- catalog -------------------------------------------------------------------------------------------------------


def _catalog(tools: JsonValue, items: Items) -> Raw | UnsetType:
    """The tools that were offered and those that servers listed; the provider's own have a name and no schema."""
    talk = items.talk
    if tools is not None and not isinstance(tools, list):
        talk.note("CONFIG_TOOL_INVALID", "the `tools` are not a list", "$.tools")
    offered = [(tool, f"$.tools[{index}]") for index, tool in enumerate(tools if isinstance(tools, list) else ())]
    if not isinstance(tools, list) and not items.listed:
        return UNSET
    kept: dict[str, JsonValue] = {}
    for tool, path in [*offered, *items.listed]:
        for entry in _entries(tool, items, path):
            name = mapping(entry).get("name")
            if not isinstance(name, str) or not name:
                talk.note("CONFIG_TOOL_INVALID", "a tool needs a `name`", path)
            elif name in kept and kept[name] != entry:
                talk.note("CONFIG_DUPLICATE_TOOL", f"tool `{name}` is defined twice; the first is kept", path)
            else:
                kept[name] = entry
    try:
        return Raw(jsontext.encode(parse_tools(list(kept.values()), Place(path="$.tools"))))
    except ConfigError as error:
        talk.note(error.code, error.message, error.place.path or "$.tools")
        return UNSET


def _entries(tool: JsonValue, items: Items, path: str) -> list[JsonValue]:
    """The tools that one entry offers."""
    body = mapping(tool)
    kind = text_or_none(body.get("type"))
    if kind == "namespace" and isinstance(body.get("tools"), list):
        return [entry for inner in body["tools"] for entry in _entries(_unnested(inner), items, path)]
    if kind == "mcp":
        label = str(body.get("server_label"))
        if label not in items.servers:
            items.talk.note("TRACE_INCOMPLETE", f"the tools of MCP server `{label}` are not listed here", path)
        return []
    if kind is None or "name" in body or "function" in body:
        parameters = body.get("parameters", body.get("input_schema"))
        described = {"name": body.get("name"), "description": body.get("description"), "parameters": parameters}
        return [{**described, "annotations": _hints(body.get("annotations"))} if "function" not in body else tool]
    return [{"name": _built_in(kind)}]


def _unnested(tool: JsonValue) -> JsonValue:
    return None if mapping(tool).get("type") == "namespace" else tool


def _hints(annotations: JsonValue) -> JsonValue:
    """MCP hints under MCP's own names, which this API writes in snake case."""
    if not isinstance(annotations, dict):
        return None
    return {_HINTS.get(key, key): value for key, value in annotations.items()}


def _built_in(kind: str) -> str:
    """The name that calls of a provider's own tool are read under."""
    known = sorted((name.removesuffix("_call") for name in PROVIDER_CALLS), key=len, reverse=True)
    return next((name for name in (*known, "computer") if kind.startswith(name)), kind)


DIALECT = Dialect("openai_responses", "OpenAI Responses", detect, traces, whole_list=True)

"""OpenInference spans, as Phoenix, Arize and every instrumentation of OpenInference record them.

Read are OTLP/JSON, OpenTelemetry-Python's `to_json`, and what Phoenix exports (`openinference_phoenix.py`). One trace
id is one trace; a conversation may have several, and `session.id` is kept in the metadata.

* A span that has `tool.name` is a tool, whatever its kind says.
* `is_error` is true where a tool's span has the status ERROR, and what LangChain's tool message says; else not known.
* Dropped attributes and gaps in the indexes of messages make a trace incomplete (`TRACE_TRUNCATED`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET, Raw, UnsetType

from rightcall.errors import ConfigError, Place
from rightcall.trace import jsontext
from rightcall.trace.catalog import parse_tools
from rightcall.trace.model import Agent, Call, Label, Tool, Trace
from rightcall.trace.sources import openinference_phoenix as phoenix
from rightcall.trace.sources import otlp, span_tree
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
from rightcall.trace.sources.openinference_attributes import at, is_cut, json_of, text_at
from rightcall.trace.sources.openinference_run import Telling
from rightcall.trace.sources.openinference_steps import Asked, Steps, steps_of
from rightcall.trace.sources.openinference_tools import tool_definitions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.sources.dialect import Record
    from rightcall.trace.sources.span_tree import SpanGroup


def detect(value: JsonValue) -> bool:
    """Whether a record is of Phoenix, or holds a span that says its kind in OpenInference's words."""
    if phoenix.is_phoenix(value):
        return True
    return otlp.is_record(value) and bool({"openinference.span.kind", "openinference"} & otlp.keys_of(value))


def traces(value: JsonValue, place: Place) -> Iterator[Trace | Skip]:
    """Read the spans of one record."""
    for item, _ in grouped([(value, place)]):
        yield item


def grouped(records: Iterable[Record]) -> Iterator[tuple[Trace | Skip, Place]]:
    """Read the spans of several records together."""
    spans: list[Record] = []
    labels: dict[str, list[Label]] = {}
    places: dict[str, Place] = {}
    for value, place in records:
        for item, where in phoenix.unpack(value, place):
            if phoenix.is_annotation(item):
                span_id, label = phoenix.annotation(item)
                labels.setdefault(span_id, []).append(label)
                places.setdefault(span_id, where)
            else:
                spans.append((phoenix.as_span(item), where))
    found, _, skips = otlp.spans_of(spans)
    for skip in skips:
        yield skip, skip.place
    for group in span_tree.by_trace(found):
        place = group.spans[0].place
        yield _trace(group, labels, place), place
    known = {span.span_id for span in found}
    for span_id, place in places.items():
        if span_id not in known:
            message = f"an annotation of the span `{span_id}`, which is not among these"
            yield Skip("TRACE_INCOMPLETE", message, place), place


def _trace(group: SpanGroup, labels: Mapping[str, Sequence[Label]], place: Place) -> Trace | Skip:
    tree = span_tree.build(group.spans)
    steps = steps_of(tree)
    asked, ran = steps.asked, steps.ran
    if not asked and not ran:
        return Skip("TRACE_INCOMPLETE", f"none of its {len(group.spans)} spans is of a model or a tool", place)
    if not ran and not any(step.answered for step in asked):
        return _unanswered(asked, place)
    names = list(dict.fromkeys(step.agent for step in steps.ordered))
    telling = Telling(asked, agents=len(names) > 1)
    for step in steps.ordered:
        telling.asked(step) if isinstance(step, Asked) else telling.ran(step)
    telling.rest()
    talk = telling.talk
    completed = _check(talk, steps)
    cut_first = any(step.damage for step in asked[:1])
    metadata = _metadata(steps)
    trace = Trace(
        id=group.trace_id or place_id(place),
        case_id=written_id(metadata.get("case_id")),
        request=_request_of_root(steps) if cut_first else first_request(talk.events) or _request_of_root(steps),
        agent=_agent(steps, names),
        tools_json=_tools(talk, asked),
        events=tuple(talk.events),
        completed=completed,
        findings=(*tree.findings, *talk.findings),
        labels=tuple(_labels(steps, labels)),
        metadata=metadata,
    )
    return without_history(trace, telling.earlier)


def _unanswered(asked: Sequence[Asked], place: Place) -> Skip:
    """Why there is nothing to judge where no model's reply was recorded."""
    failed = next((step for step in asked if step.failed), None)
    if failed is None:
        return Skip("TRACE_NOT_CAPTURED", "the spans of models hold no output messages, and no tool ran", place)
    said = failed.span.status_message
    return Skip("TRACE_HTTP_ERROR", "the model's endpoint failed" + (f": {said}" if said else ""), place)


def _check(talk: Conversation, steps: Steps) -> bool | None:
    """Note what is missing; whether the trace is known to be incomplete."""
    cut = len(talk.findings)
    for step in steps.asked:
        if step.damage:
            talk.note("TRACE_TRUNCATED", f"a model's span was cut: {', '.join(step.damage)}", step.path)
        if at(step.node, "llm", "finish_reason") == "length":
            talk.note("TRACE_TRUNCATED", "the reply was cut off at its longest length", step.path)
    for event in talk.events:
        if isinstance(event, Call) and event.arguments_status == "malformed" and is_cut(event.arguments_raw or ""):
            talk.note("TRACE_TRUNCATED", f"the arguments of `{event.tool}` end too early", "$")
    is_cut_off = len(talk.findings) > cut
    _check_replies(talk, steps)
    return False if is_cut_off or (steps.asked and steps.asked[-1].failed) else None


def _check_replies(talk: Conversation, steps: Steps) -> None:
    for step in steps.asked:
        if step.failed:
            reason = step.span.status_message or "no reason given"
            talk.note("TRACE_HTTP_ERROR", f"a request failed: {reason}", step.path)
        elif not step.answered:
            talk.note("TRACE_NOT_CAPTURED", "the reply of a model was not recorded", step.path)
    for span, _ in steps.nodes:
        if span.odd:
            talk.note("TRACE_MALFORMED", f"not readable: {', '.join(span.odd)}", span.place.path or "$")
    if steps.judged:
        talk.note("TRACE_INCOMPLETE", f"{steps.judged} steps of an evaluator or a guard were left out", "$")


# ---- what is said about the whole trace ----------------------------------------------------------------------------


def _metadata(steps: Steps) -> dict[str, JsonValue]:
    """The session, the user and the metadata of the first spans that state them."""
    found: dict[str, JsonValue] = {}
    for _, node in steps.nodes:
        found = found or dict(mapping(json_of(at(node, "metadata"))))
    for key in ("session", "user"):
        ids = (written_id(at(node, key, "id")) for _, node in steps.nodes)
        id_ = next((id_ for id_ in ids if id_ is not None), None)
        if id_ is not None:
            found[key] = id_
    return found


def _agent(steps: Steps, names: Sequence[str | None]) -> Agent | None:
    """Who ran: the first agent that is named, else the outermost span of an agent."""
    roots = (span.name for span, node in steps.nodes if at(node, "openinference", "span", "kind") == "AGENT")
    name = next((name for name in names if name), None) or next(roots, None)
    models = (text_at(step.node, "llm", "model_name") for step in steps.asked)
    model = next((model for model in models if model), None)
    return Agent(name=name, model=model) if name or model else None


def _request_of_root(steps: Steps) -> str | None:
    """What the outermost span was asked, where no model's span says it from the start: its first user message."""
    for _, node in steps.nodes[:1]:
        value = at(node, "input", "value")
        messages = mapping(json_of(value)).get("messages")
        for message in messages if isinstance(messages, list) else ():
            if mapping(message).get("role", mapping(message).get("type")) in ("user", "human"):
                return text_or_none(mapping(message).get("content"))
        if at(node, "input", "mime_type") == "text/plain":
            return text_at(node, "input", "value")
    return None


def _labels(steps: Steps, given: Mapping[str, Sequence[Label]]) -> Iterator[Label]:
    for span, node in steps.nodes:
        yield from phoenix.labels_of(node, span.span_id)
        yield from given.get(span.span_id, ())


def _tools(talk: Conversation, asked: Sequence[Asked]) -> Raw | UnsetType:
    """The tools that any model of the trace was given, each once; one that is described in two ways is noted."""
    found: dict[str, Tool] = {}
    seen: set[bytes] = set()
    stated = False
    for step in asked:
        for definition, path in tool_definitions(step.node):
            stated = True
            raw = jsontext.encode(definition)
            if raw not in seen:
                seen.add(raw)
                _add_tool(talk, found, definition, f"{step.path}.{path}")
    return Raw(jsontext.encode(list(found.values()))) if stated else UNSET


def _add_tool(talk: Conversation, found: dict[str, Tool], definition: JsonValue, path: str) -> None:
    body = mapping(definition)
    if isinstance(body.get("type"), str) and not {"function", "name"} & body.keys():
        talk.note("TRACE_INCOMPLETE", f"`{body['type']}` is the provider's own tool", path)
        return
    try:
        tools = parse_tools([definition], Place(path=path))
    except ConfigError as error:
        talk.note(error.code, error.message, path)
        return
    for tool in tools:
        if found.setdefault(tool.name, tool) != tool:
            text = f"the tool `{tool.name}` is described in two ways; the first counts"
            talk.note("CONFIG_DUPLICATE_TOOL", text, path)


DIALECT = Dialect("openinference", "OpenInference spans (Phoenix, Arize)", detect, traces, grouped=grouped)

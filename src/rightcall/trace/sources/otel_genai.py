"""OpenTelemetry's spans and events of generative AI (`gen_ai.*`), and what speaks nearly the same.

One run of an agent is one trace: everything below a topmost agent span. Spans that no agent stands above make one trace
for each trace id. Log records belong to their span by trace id and span id, also from a second file given with it.

* Which library writes how is told in `genai_spans.py`; how spans become one conversation in `genai_run.py`.
* Content that was not captured is `not_captured` and never empty; a run that holds no content and names no call is
  skipped (`TRACE_NOT_CAPTURED`).
* A tool failed where its span has the status ERROR. Without it nothing is known: the status stays unset where a
  framework gives the error back as the result, too.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, Raw, UnsetType

from rightcall.errors import ConfigError, Place
from rightcall.trace import jsontext
from rightcall.trace.catalog import parse_tools
from rightcall.trace.model import Agent, Call, Label, Message, Trace
from rightcall.trace.sources import otlp, span_tree
from rightcall.trace.sources.conversation import (
    first_request,
    mapping,
    place_id,
    text_or_none,
    without_history,
    written_id,
)
from rightcall.trace.sources.dialect import Dialect, Skip
from rightcall.trace.sources.genai_messages import decoded, messages_of
from rightcall.trace.sources.genai_run import Run
from rightcall.trace.sources.genai_spans import all_attributes, is_known, numbered, part_of
from rightcall.trace.sources.otlp_values import instant

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.sources.dialect import Record
    from rightcall.trace.sources.otlp import LogRecord, Span
    from rightcall.trace.sources.span_tree import SpanGroup

_SESSIONS = (
    "gen_ai.conversation.id",
    "session.id",
    "traceloop.association.properties.session_id",
    "traceloop.association.properties.thread_id",
    "ai.telemetry.metadata.sessionId",
)
_CASES = (
    "case_id",
    "metadata.case_id",
    "traceloop.association.properties.case_id",
    "ai.telemetry.metadata.case_id",
)
_EVALUATION = "gen_ai.evaluation.result"


def detect(value: JsonValue) -> bool:
    """Whether a span or log record has an attribute or an event of this dialect, and is none of OpenInference's."""
    if not otlp.is_record(value):
        return False
    each = otlp.keys_of_each(value)
    return any("openinference.span.kind" not in keys and any(map(is_known, keys)) for keys in each)


def traces(value: JsonValue, place: Place) -> Iterator[Trace | Skip]:
    """Read one record as a file of its own."""
    for item, _ in grouped([(value, place)]):
        yield item


def grouped(records: Iterable[Record]) -> Iterator[tuple[Trace | Skip, Place]]:
    """Read all spans and log records of some files together."""
    spans, logs, skips = otlp.spans_of(records)
    for skip in skips:
        yield skip, skip.place
    known = [log for log in logs if any(map(is_known, (log.event_name or "", *log.attributes)))]
    for group in span_tree.by_trace(spans, known):
        yield from _of_group(group)


def _of_group(group: SpanGroup) -> Iterator[tuple[Trace | Skip, Place]]:
    logs_of: defaultdict[str, list[LogRecord]] = defaultdict(list)
    for log in group.logs:
        logs_of[log.span_id or ""].append(log)
    spans = [*group.spans, *_unrecorded(group, logs_of)]
    tree = span_tree.build(spans)
    parents = {child.span_id: span for span in tree.walk() for child in tree.children.get(span.span_id, ())}
    units = _units(tree.walk(), parents)
    if not units and (text := _nothing_known(spans)):
        yield Skip("TRACE_INCOMPLETE", text, spans[0].place), spans[0].place
    for unit in units:
        run = Run(unit, logs_of, parents)
        run.read()
        trace = _trace(unit, run, logs_of, has_brothers=len(units) > 1)
        if isinstance(trace, Trace):
            trace = msgspec.structs.replace(trace, findings=(*tree.findings, *trace.findings))
        yield trace, unit[0].place


def _nothing_known(spans: Sequence[Span]) -> str | None:
    """Why spans that should be of this dialect give no run; `None` where they have nothing to do with it."""
    if any("openinference.span.kind" in span.attributes for span in spans):
        return "these are spans of OpenInference; read them with --from openinference"
    if any(is_known(key) for span in spans for key in span.attributes):
        return "no request to a model, no tool's run and no agent's run is among these spans"
    return None


def _unrecorded(group: SpanGroup, logs_of: Mapping[str, Sequence[LogRecord]]) -> Iterator[otlp.Span]:
    """A span for each that is only known by its log records."""
    known = {span.span_id for span in group.spans}
    for span_id, logs in logs_of.items():
        if span_id not in known:
            attributes = {"gen_ai.operation.name": "chat"}
            yield otlp.Span(group.trace_id, span_id, start=logs[0].time, attributes=attributes, place=logs[0].place)


def _units(spans: Iterator[Span], parents: Mapping[str, Span]) -> list[list[Span]]:
    """The spans of each run, parents before children: one a topmost agent, and one for all spans without an agent."""
    tops: dict[str, str | None] = {}
    units: defaultdict[str | None, list[Span]] = defaultdict(list)
    for span in spans:
        parent = parents.get(span.span_id)
        top = tops.get(parent.span_id) if parent is not None else None
        if top is None and part_of(span) == "agent":
            top = span.span_id
        tops[span.span_id] = top
        if part_of(span) != "other":
            units[top].append(span)
    return list(units.values())


# ---- traces --------------------------------------------------------------------------------------------------------


def _trace(
    unit: Sequence[Span], run: Run, logs_of: Mapping[str, Sequence[LogRecord]], *, has_brothers: bool
) -> Trace | Skip:
    top = unit[0]
    events = run.talk.events
    skip = _nothing(unit, run)
    if skip is not None:
        return skip
    attributes = {span.span_id: all_attributes(span, logs_of.get(span.span_id, ())) for span in unit}
    system = _first_of(attributes, ("gen_ai.system_instructions",))
    session = _first_of(attributes, _SESSIONS)
    metadata = {"trace_id": top.trace_id} if top.trace_id else {}
    trace = Trace(
        id=_id(top, has_brothers=has_brothers),
        case_id=written_id(_first_of(attributes, _CASES)),
        request=first_request(events),
        context=_system_text(system),
        agent=_agent(attributes),
        tools_json=_tools(run, attributes),
        events=tuple(events),
        completed=_completed(unit, run),
        findings=tuple(run.talk.findings),
        labels=tuple(_labels(unit, logs_of)),
        metadata={**metadata, "session": session} if written_id(session) else metadata,
    )
    return without_history(trace, run.earlier)


def _nothing(unit: Sequence[Span], run: Run) -> Skip | None:
    """Why a unit gives no trace, if it gives none."""
    place = unit[0].place
    calls = any(isinstance(event, Call) for event in run.talk.events[run.earlier :])
    answered = any(isinstance(event, Message) and event.role == "assistant" for event in run.talk.events[run.earlier :])
    if calls or (answered and run.is_captured):
        return None
    if run.failure is not None and part_of(unit[0]) != "agent":
        return Skip("TRACE_HTTP_ERROR", f"the endpoint answered with an error: {run.failure}", place)
    if run.is_captured and part_of(unit[0]) != "agent":
        return Skip("TRACE_INCOMPLETE", "the model's answer was not recorded", place)
    if run.is_captured:
        return None
    text = "no content was captured: give the file of log records as well, or turn the capture of content on"
    return Skip("TRACE_NOT_CAPTURED", text, place)


def _id(top: Span, *, has_brothers: bool) -> str:
    if not top.trace_id:
        return place_id(top.place)
    return f"{top.trace_id}/{top.span_id}" if has_brothers else top.trace_id


def _first_of(attributes: Mapping[str, Mapping[str, JsonValue]], keys: Sequence[str]) -> JsonValue:
    return next((a[key] for a in attributes.values() for key in keys if a.get(key) is not None), None)


def _system_text(value: JsonValue) -> str | None:
    """System instructions: a text, or parts."""
    found = decoded(value)
    if isinstance(found, str):
        return found or None
    messages = messages_of([{"role": "system", "parts": found}]) if isinstance(found, list) else None
    return "\n".join(messages[0].texts) or None if messages else None


def _agent(attributes: Mapping[str, Mapping[str, JsonValue]]) -> Agent | None:
    names = ("gen_ai.agent.name", "agent_name", "traceloop.workflow.name", "ai.telemetry.functionId")
    models = ("gen_ai.response.model", "gen_ai.request.model", "ai.response.model", "ai.model.id")
    keys = {"name": names, "version": ("gen_ai.agent.version",), "model": models}
    found = {field: text_or_none(_first_of(attributes, written)) or None for field, written in keys.items()}
    return Agent(**found) if any(found.values()) else None


def _completed(unit: Sequence[Span], run: Run) -> bool | None:
    top = unit[0]
    if run.is_cut or run.failure is not None or (part_of(top) == "agent" and top.status == "ERROR"):
        return False
    return True if part_of(top) == "agent" and top.end else None


def _labels(unit: Sequence[Span], logs_of: Mapping[str, Sequence[LogRecord]]) -> Iterator[Label]:
    """What evaluations said about spans, by OpenTelemetry's event for that."""
    for span in unit:
        said = [(e.attributes, e.at) for e in span.events if e.name == _EVALUATION]
        said += [(log.attributes, log.time) for log in logs_of.get(span.span_id, ()) if log.event_name == _EVALUATION]
        for a, at in said:
            key = "gen_ai.evaluation.score."
            yield Label(
                name=text_or_none(a.get("gen_ai.evaluation.name")) or "evaluation",
                value=a.get(f"{key}value", a.get(f"{key}label")),
                comment=text_or_none(a.get("gen_ai.evaluation.explanation")),
                at=instant(at),
                target=span.span_id,
            )


# ---- catalogs ------------------------------------------------------------------------------------------------------


def _tools(run: Run, attributes: Mapping[str, Mapping[str, JsonValue]]) -> Raw | UnsetType:
    """The tools that any span of the run was offered, each once."""
    found: dict[str, JsonValue] = {}
    is_known_catalog = False
    for a in attributes.values():
        offered = _offered(a)
        is_known_catalog = is_known_catalog or offered is not None
        for tool in offered or ():
            body = mapping(mapping(tool).get("function")) or mapping(tool)
            name = text_or_none(body.get("name"))
            if name:
                found.setdefault(name, tool)
            else:
                kind = mapping(tool).get("type")
                run.talk.note("TRACE_INCOMPLETE", f"a tool of type `{kind}` has no name and was left out", "$")
    if not is_known_catalog:
        return UNSET
    try:
        return Raw(jsontext.encode(parse_tools(list(found.values()), Place())))
    except ConfigError as error:
        run.talk.note(error.code, error.message, "$")
        return UNSET


def _offered(a: Mapping[str, JsonValue]) -> list[JsonValue] | None:
    """The catalog on one span, under any of its names."""
    written = decoded(a.get("gen_ai.tool.definitions"))
    if not isinstance(written, list):
        written = decoded(a.get("ai.prompt.tools"))
    if isinstance(written, list):
        return [decoded(tool) for tool in written]
    pydantic = mapping(decoded(a.get("model_request_parameters"))).get("function_tools")
    if isinstance(pydantic, list):
        return [{**mapping(t), "parameters": mapping(t).get("parameters_json_schema")} for t in pydantic]
    by_number = numbered(a, "llm.request.functions")
    if by_number:
        return [{**mapping(t), "parameters": decoded(mapping(t).get("parameters"))} for t in by_number.values()]
    return None


DIALECT = Dialect("otel_genai", "OpenTelemetry GenAI spans and events", detect, traces, grouped=grouped)

"""OpenTelemetry spans and log records as any exporter writes them: what the readers of spans share. No dialect.

Read are OTLP/JSON (`resourceSpans` and `resourceLogs`, camel or snake case, by the rules of OTLP or of protobuf's own
JSON), one span an object (OpenTelemetry-Python's `to_json`, the `ReadableSpan` of OpenTelemetry-JS), and an object
that only has `attributes`. All give the same spans (`otlp_values.py` tells how values are read).

* An id may be hexadecimal, `0x` hexadecimal or Base64; its length tells. Text of another form is kept as it is.
* A span without an id gets one that no exporter writes (`#` and its number); without a trace id it has the empty one.
* A value of an attribute that cannot be decoded is named in `odd`, and the attribute is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from rightcall.errors import Place
from rightcall.trace.sources.conversation import mapping, text_or_none
from rightcall.trace.sources.dialect import Skip
from rightcall.trace.sources.otlp_values import any_value, attributes_of, first, identifier, nanoseconds, whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.sources.dialect import Record

    _Object = Mapping[str, JsonValue]

StatusCode = Literal["UNSET", "OK", "ERROR"]


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """Something that happened within a span, such as an exception. `at` is in nanoseconds."""

    name: str
    at: int | None
    attributes: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class Span:
    """One span, whatever wrote it.

    Attributes:
        trace_id: hexadecimal; empty where none was recorded.
        span_id: hexadecimal; `#` and a number where none was recorded.
        parent_id: the parent's span id, `None` for a root.
        name: its name.
        kind: `INTERNAL`, `SERVER`, `CLIENT`, `PRODUCER` or `CONSUMER`; `None` where it is not known.
        start: nanoseconds since 1970.
        end: nanoseconds since 1970.
        attributes: decoded values under their dotted names; bytes as Base64 text.
        status: `UNSET` also where none was recorded.
        status_message: what the status says.
        events: the events within the span.
        resource: the attributes of the resource.
        scope: the name of the instrumentation.
        dropped_attributes: how many attributes the exporter dropped (from the span or one of its events).
        odd: attributes that could not be decoded.
        place: where the span stands.
    """

    trace_id: str
    span_id: str
    parent_id: str | None = None
    name: str = ""
    kind: str | None = None
    start: int | None = None
    end: int | None = None
    attributes: Mapping[str, JsonValue] = field(default_factory=dict)
    status: StatusCode = "UNSET"
    status_message: str | None = None
    events: tuple[SpanEvent, ...] = ()
    resource: Mapping[str, JsonValue] = field(default_factory=dict)
    scope: str | None = None
    dropped_attributes: int = 0
    odd: tuple[str, ...] = ()
    place: Place = field(default_factory=Place)


@dataclass(frozen=True, slots=True)
class LogRecord:
    """One log record: an event that may belong to a span. `time` is its own or the observed one, in nanoseconds."""

    trace_id: str
    span_id: str | None
    time: int | None
    event_name: str | None
    body: JsonValue
    attributes: Mapping[str, JsonValue]
    dropped_attributes: int = 0
    place: Place = field(default_factory=Place)


# ---- records -------------------------------------------------------------------------------------------------------


def is_record(value: JsonValue) -> bool:
    """Whether a decoded record has one of the shapes that hold spans or log records."""
    return isinstance(value, dict) and (bool(_groups(value)) or _is_span(value))


def keys_of(value: JsonValue) -> set[str]:
    """The names of all attributes, span events and log events of a record, to tell a dialect by; nothing is decoded."""
    return set().union(*keys_of_each(value))


def keys_of_each(value: JsonValue) -> Iterator[set[str]]:
    """The same for each span and each log record of a record."""
    if not isinstance(value, dict):
        return
    for item, _, _, _ in _leaves(value, Place(), []):
        found: set[str] = set()
        _add_keys(found, item)
        events = item.get("events")
        for event in events if isinstance(events, list) else ():
            _add_keys(found, mapping(event))
            found.add(str(mapping(event).get("name")))
        yield found


def _add_keys(found: set[str], item: _Object) -> None:
    attributes = item.get("attributes")
    if isinstance(attributes, dict):
        found.update(attributes)
    elif isinstance(attributes, list):
        found.update(str(mapping(pair).get("key")) for pair in attributes)
    name = first(item, "eventName", "event_name")
    if isinstance(name, str):
        found.add(name)


def spans_of(records: Iterable[Record]) -> tuple[list[Span], list[LogRecord], list[Skip]]:
    """All spans and log records of some records in the order in which they stand, and what could not be read."""
    spans: list[Span] = []
    logs: list[LogRecord] = []
    skips: list[Skip] = []
    for value, place in records:
        if not is_record(value):
            skips.append(Skip("TRACE_MALFORMED", "neither spans nor log records of OpenTelemetry", place))
            continue
        for item, owner, where, is_log in _leaves(value, place, skips):
            if is_log:
                logs.append(_log(item, where))
            else:
                spans.append(_span(item, owner, where, len(spans)))
    return spans, logs, skips


@dataclass(frozen=True, slots=True)
class _Owner:
    """What spans of one scope share."""

    resource: Mapping[str, JsonValue]
    scope: str | None


_Leaf = tuple["_Object", _Owner, Place, bool]

_GROUPS = {
    "resourceSpans": ("scopeSpans", "spans", False),
    "resource_spans": ("scope_spans", "spans", False),
    "resourceLogs": ("scopeLogs", "logRecords", True),
    "resource_logs": ("scope_logs", "log_records", True),
}


def _groups(value: _Object) -> list[str]:
    return [key for key in _GROUPS if key in value]


def _is_span(value: _Object) -> bool:
    attributes = value.get("attributes")
    if not isinstance(attributes, (dict, list)):
        return False
    context = mapping(first(value, "context", "spanContext"))
    if first(value, "traceId", "trace_id") is not None or first(context, "trace_id", "traceId") is not None:
        return True
    return value.keys() <= {"name", "kind", "attributes", "events", "status"}


def _leaves(value: _Object, place: Place, skips: list[Skip]) -> Iterator[_Leaf]:
    """The raw spans and log records of a record, each with its owner and place."""
    groups = _groups(value)
    root = place.path or "$"
    if not groups:
        resource = attributes_of(mapping(value.get("resource")).get("attributes"))[0]
        scope = mapping(first(value, "instrumentationScope", "instrumentation_scope"))
        yield value, _Owner(resource, text_or_none(scope.get("name"))), place, False
    for key in groups:
        inner, leaf, is_log = _GROUPS[key]
        for group, at in _objects(value, key, place, root, skips):
            resource = attributes_of(mapping(group.get("resource")).get("attributes"))[0]
            for scoped, within in _objects(group, inner, place, at, skips):
                owner = _Owner(resource, text_or_none(mapping(scoped.get("scope")).get("name")))
                for item, where in _objects(scoped, leaf, place, within, skips):
                    yield item, owner, Place(place.file, place.line, None, where), is_log


def _objects(value: _Object, key: str, place: Place, path: str, skips: list[Skip]) -> Iterator[tuple[_Object, str]]:
    """The objects of a list under a key with their paths; whatever is none is skipped."""
    items = value.get(key)
    if items is not None and not isinstance(items, list):
        skips.append(Skip("TRACE_MALFORMED", f"`{key}` is not a list", Place(place.file, place.line, None, path)))
        return
    for index, item in enumerate(items or ()):
        where = f"{path}.{key}[{index}]"
        if isinstance(item, dict):
            yield item, where
        else:
            skips.append(Skip("TRACE_MALFORMED", "this is not an object", Place(place.file, place.line, None, where)))


# ---- spans and logs ------------------------------------------------------------------------------------------------


def _span(raw: _Object, owner: _Owner, place: Place, number: int) -> Span:
    context = mapping(first(raw, "context", "spanContext"))
    parent = first(raw, "parentSpanId", "parent_span_id", "parent_id")
    if parent is None:
        parent = first(mapping(raw.get("parentSpanContext")), "spanId", "span_id")
    attributes, odd = attributes_of(raw.get("attributes"))
    events, dropped = _events(raw.get("events"))
    status = mapping(raw.get("status"))
    return Span(
        trace_id=identifier(first(raw, "traceId", "trace_id") or first(context, "traceId", "trace_id")) or "",
        span_id=identifier(first(raw, "spanId", "span_id") or first(context, "spanId", "span_id")) or f"#{number}",
        parent_id=identifier(parent),
        name=text_or_none(raw.get("name")) or "",
        kind=_kind(raw.get("kind"), from_js="spanContext" in raw),
        start=nanoseconds(first(raw, "startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime")),
        end=nanoseconds(first(raw, "endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime")),
        attributes=attributes,
        status=_status(first(status, "code", "status_code")),
        status_message=text_or_none(first(status, "message", "description")) or None,
        events=events,
        resource=owner.resource,
        scope=owner.scope,
        dropped_attributes=_count(raw) + dropped,
        odd=odd,
        place=place,
    )


def _log(raw: _Object, place: Place) -> LogRecord:
    attributes, odd = attributes_of(raw.get("attributes"))
    body, body_odd = any_value(raw.get("body"))
    name = first(raw, "eventName", "event_name") or attributes.get("event.name")
    times = (("timeUnixNano", "time_unix_nano"), ("observedTimeUnixNano", "observed_time_unix_nano"))
    return LogRecord(
        trace_id=identifier(first(raw, "traceId", "trace_id")) or "",
        span_id=identifier(first(raw, "spanId", "span_id")),
        time=next((at for keys in times if (at := nanoseconds(first(raw, *keys)))), None),
        event_name=text_or_none(name) or None,
        body=body,
        attributes=attributes,
        dropped_attributes=_count(raw) + len(odd) + body_odd,
        place=place,
    )


def _events(value: JsonValue) -> tuple[tuple[SpanEvent, ...], int]:
    """The events of a span, and how many of their attributes were dropped."""
    events = []
    dropped = 0
    for raw in value if isinstance(value, list) else ():
        event = mapping(raw)
        attributes, odd = attributes_of(event.get("attributes"))
        at = nanoseconds(first(event, "timeUnixNano", "time_unix_nano", "timestamp", "time"))
        events.append(SpanEvent(text_or_none(event.get("name")) or "", at, attributes))
        dropped += _count(event) + len(odd)
    return tuple(events), dropped


def _count(raw: _Object) -> int:
    found = whole(first(raw, "droppedAttributesCount", "dropped_attributes_count"))
    return found if found is not None and found > 0 else 0


_KINDS = ("INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER")


def _kind(value: JsonValue, *, from_js: bool) -> str | None:
    if isinstance(value, str):
        name = value.removeprefix("SpanKind.").removeprefix("SPAN_KIND_").upper()
        return name if name in _KINDS else None
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    index = value if from_js else value - 1  # OTLP counts from one, OpenTelemetry-JS from zero
    return _KINDS[index] if 0 <= index < len(_KINDS) else None


def _status(value: JsonValue) -> StatusCode:
    name = value.removeprefix("StatusCode.").removeprefix("STATUS_CODE_") if isinstance(value, str) else value
    if name in (1, "OK"):
        return "OK"
    return "ERROR" if name in (2, "ERROR") else "UNSET"

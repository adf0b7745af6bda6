"""What Phoenix exports beside OTLP: rows of its data frame, spans of its REST interface, annotations.

* A row has dotted columns (`context.span_id`, `attributes.llm.input_messages`); a missing value is null.
* A REST span has `attributes`, flat or nested, with the metadata taken apart; pages hold their spans under `data`.
* An annotation names a span and says who judged it, how and when.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rightcall.errors import Place
from rightcall.trace.model import Label
from rightcall.trace.sources.conversation import mapping, text_or_none, written_id
from rightcall.trace.sources.openinference_attributes import at, rows
from rightcall.trace.sources.otlp_values import identifier, whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Literal

    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.sources.dialect import Record

    _Object = Mapping[str, JsonValue]

_KINDS: dict[str, Literal["person", "code", "judge", "unknown"]] = {"HUMAN": "person", "LLM": "judge", "CODE": "code"}


def is_row(value: JsonValue) -> bool:
    """Whether a record is a row of the data frame."""
    return isinstance(value, dict) and "context.span_id" in value and "span_kind" in value


def is_rest_span(value: JsonValue) -> bool:
    """Whether a record is a span of the REST interface."""
    record = mapping(value)
    return "span_kind" in record and "span_id" in mapping(record.get("context")) and "attributes" in record


def is_annotation(value: JsonValue) -> bool:
    """Whether a record is an annotation of a span."""
    record = mapping(value)
    return "annotator_kind" in record and "span_id" in record and "name" in record


def is_phoenix(value: JsonValue) -> bool:
    """Whether a record is any of these, or a page of them."""
    page = mapping(value).get("data")
    first = page[0] if isinstance(page, list) and page else value
    return is_row(first) or is_rest_span(first) or is_annotation(first)


def unpack(value: JsonValue, place: Place) -> Iterator[Record]:
    """The records of a page; any other record as it is."""
    page = mapping(value).get("data")
    if not isinstance(page, list):
        yield value, place
        return
    for index, item in enumerate(page):
        yield item, Place(place.file, place.line, None, f"{place.path or '$'}.data[{index}]")


def as_span(value: JsonValue) -> JsonValue:
    """A row or a REST span in the shape of OpenTelemetry's own export; any other record as it is."""
    record = mapping(value)
    if is_row(value):
        attributes = {key.removeprefix("attributes."): record[key] for key in record if key.startswith("attributes.")}
        ids = {key: record.get(f"context.{key}") for key in ("span_id", "trace_id")}
    elif is_rest_span(value):
        attributes, ids = dict(mapping(record["attributes"])), dict(mapping(record["context"]))
    else:
        return value
    kind = at(attributes, "openinference.span.kind") or record.get("span_kind")
    return {
        "name": record.get("name"),
        "context": ids,
        "parent_id": record.get("parent_id"),
        "start_time": _time(record.get("start_time")),
        "end_time": _time(record.get("end_time")),
        "status": {"status_code": record.get("status_code"), "description": record.get("status_message")},
        "attributes": {**attributes, "openinference.span.kind": kind},
        "events": record.get("events"),
    }


def _time(value: JsonValue) -> JsonValue:
    """A time; data frames also write milliseconds or microseconds since 1970."""
    number = whole(value)
    if number is None:
        return value
    return next((number * factor for factor in (10**6, 10**3) if number * factor < 10**19), number)


# ---- labels --------------------------------------------------------------------------------------------------------


def annotation(value: JsonValue) -> tuple[str, Label]:
    """An annotation as a label, with the id of its span."""
    record = mapping(value)
    result = mapping(record.get("result"))
    span_id = identifier(record.get("span_id")) or ""
    return span_id, Label(
        name=text_or_none(record.get("name")) or "annotation",
        value=_value(result),
        comment=text_or_none(result.get("explanation")),
        by=written_id(record.get("user_id")) or written_id(record.get("identifier")),
        kind=_KINDS.get(str(record.get("annotator_kind")), "unknown"),
        at=text_or_none(record.get("updated_at")) or text_or_none(record.get("created_at")),
        target=span_id,
    )


def labels_of(node: JsonValue, span_id: str) -> Iterator[Label]:
    """The labels that a span's own attributes hold (`annotations.0.annotation.name` and its like)."""
    for word in ("annotation", "evaluation"):
        for owner, target in (((), span_id), (("trace",), None), (("session",), None)):
            for _, row in rows(at(node, *owner, f"{word}s")):
                body = mapping(mapping(row).get(word))
                name = text_or_none(body.get("name"))
                if name:
                    yield Label(
                        name=name, value=_value(body), comment=text_or_none(body.get("explanation")),
                        by=written_id(body.get("identifier")), target=target,
                        kind=_KINDS.get(str(body.get("annotator_kind")), "unknown"),
                    )  # fmt: skip


def _value(result: _Object) -> JsonValue:
    """A label, a score, or both."""
    label, score = result.get("label"), result.get("score")
    if label is not None and score is not None:
        return {"label": label, "score": score}
    return score if label is None else label

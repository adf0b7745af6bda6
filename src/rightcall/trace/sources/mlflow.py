"""MLflow traces: what `trace.to_json()` writes, `{info, data: {spans}}`, one trace a record.

* Values of attributes are JSON in strings; a tool's output is mostly a string of JSON once more, and kept as that.
* A span of type TOOL has no id of its call: it answers the calls of the model before it, by order and name.
* A tool's span with the status ERROR failed. OK is not the contrary: it stays OK where an error is given back as text.
* `info.assessments` are labels. Older files say `request_id` for `trace_id`, and have their ids below `context`.
"""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from msgspec import UNSET, UnsetType

from rightcall.errors import Place
from rightcall.trace.model import Agent, Label, Trace
from rightcall.trace.sources.conversation import mapping, place_id, text_or_none, written_id
from rightcall.trace.sources.dialect import Dialect, Skip
from rightcall.trace.sources.free_messages import request_of
from rightcall.trace.sources.genai_messages import decoded
from rightcall.trace.sources.observed import Observation, told
from rightcall.trace.sources.openinference_attributes import Said
from rightcall.trace.sources.otlp import Span
from rightcall.trace.sources.otlp_values import whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.sources.otlp import StatusCode

    _Object = Mapping[str, JsonValue]

_KINDS = {"LLM": "LLM", "CHAT_MODEL": "LLM", "TOOL": "TOOL", "AGENT": "AGENT", "EVALUATOR": "EVALUATOR"}
_STATES = {"OK": True, "ERROR": False, "IN_PROGRESS": False}
_SOURCES: dict[JsonValue, Literal["person", "code", "judge"]] = {
    "HUMAN": "person", "CODE": "code", "LLM_JUDGE": "judge", "AI_JUDGE": "judge",
}  # fmt: skip


def detect(value: JsonValue) -> bool:
    """Whether a record is a trace, or a row of `search_traces` that holds one."""
    record = _unpacked(value)
    info, data = record.get("info"), record.get("data")
    return isinstance(info, dict) and bool({"trace_id", "request_id"} & info.keys()) and "spans" in mapping(data)


def _unpacked(value: JsonValue) -> _Object:
    record = mapping(value)
    if "trace" in record and bool({"trace_id", "request_id"} & record.keys()):
        return mapping(decoded(record["trace"]))
    return record


def traces(value: JsonValue, place: Place) -> Iterator[Trace | Skip]:
    """Read one trace."""
    record = _unpacked(value)
    info, spans = mapping(record.get("info")), mapping(record.get("data")).get("spans")
    if not info or not isinstance(spans, list):
        yield Skip("TRACE_MALFORMED", "neither `info` nor `data.spans`", place)
        return
    root = f"{place.path or '$'}.data.spans"
    observations = [
        _observation(mapping(span), index, Place(place.file, place.line, None, f"{root}[{index}]"))
        for index, span in enumerate(spans)
    ]
    found = told(observations)
    if found is None:
        yield Skip("TRACE_INCOMPLETE", f"none of its {len(spans)} spans is of a model or a tool", place)
        return
    state = text_or_none(info.get("state", info.get("status"))) or ""
    tags, about = mapping(info.get("tags")), mapping(info.get("trace_metadata", info.get("request_metadata")))
    agent = found.agent or text_or_none(tags.get("mlflow.traceName"))
    yield found.trace(
        Trace(
            id=written_id(info.get("trace_id")) or written_id(info.get("request_id")) or place_id(place),
            case_id=written_id(tags.get("case_id")),
            request=_asked_for(found.tree.roots[0], observations),
            agent=Agent(name=agent, model=found.model) if agent or found.model else None,
            completed=_STATES.get(state),
            labels=tuple(_labels(info, _targets(observations, found.calls))),
            metadata=_metadata(state, tags, about),
        )
    )


def _metadata(state: str, tags: _Object, about: _Object) -> dict[str, JsonValue]:
    kept: dict[str, JsonValue] = {
        "state": state,
        "name": tags.get("mlflow.traceName"),
        "session": about.get("mlflow.trace.session"),
        "user": about.get("mlflow.trace.user"),
    }
    kept.update({key: value for key, value in tags.items() if not key.startswith("mlflow.")})
    return {key: value for key, value in kept.items() if isinstance(value, str) and value}


def _asked_for(root: Span, observations: list[Observation]) -> str | None:
    """What the outermost span was asked, where no model's span says it: its messages or its one text."""
    given = next((o.given for o in observations if o.span is root), UNSET)
    inputs = [value for value in mapping(given).values() if isinstance(value, str)]
    heard = request_of(inputs[0] if len(inputs) == 1 and len(mapping(given)) == 1 else given, "input")
    said = heard.parts if heard else ()
    return next((part.text for part in said if isinstance(part, Said) and part.role == "user"), None)


# ---- spans ---------------------------------------------------------------------------------------------------------


def _observation(raw: _Object, index: int, place: Place) -> Observation:
    context, attributes = mapping(raw.get("context")), _attributes(raw)
    code, said = _status(raw)
    name = text_or_none(raw.get("name")) or ""
    span = Span(
        trace_id="",
        span_id=written_id(raw.get("span_id", context.get("span_id"))) or f"#{index}",
        parent_id=written_id(raw.get("parent_span_id", raw.get("parent_id"))),
        name=name,
        start=whole(raw.get("start_time_unix_nano", raw.get("start_time"))),
        end=whole(raw.get("end_time_unix_nano", raw.get("end_time"))),
        status=code,
        status_message=said,
        place=place,
    )
    given, reply = attributes.get("mlflow.spanInputs", UNSET), attributes.get("mlflow.spanOutputs", UNSET)
    tools = attributes.get("mlflow.chat.tools", mapping(given).get("tools"))
    kind = attributes.get("mlflow.spanType")
    model = attributes.get("mlflow.llm.model", mapping(given).get("model"))
    return Observation(
        span,
        kind=_KINDS.get(kind, "OTHER") if isinstance(kind, str) else "OTHER",
        name=text_or_none(attributes.get("gen_ai.tool.name")) or name or "?",
        given=given,
        said=reply,
        tools=tools,
        model=text_or_none(model),
        call_id=written_id(attributes.get("gen_ai.tool.call.id")),
        failed=True if code == "ERROR" else _failed(reply),
    )


def _attributes(raw: _Object) -> dict[str, JsonValue]:
    return {key: decoded(value) for key, value in mapping(raw.get("attributes")).items()}


def _failed(reply: JsonValue | UnsetType) -> bool | None:
    """What LangChain's own tool message says about the run."""
    status = mapping(reply).get("status")
    return status == "error" if "tool_call_id" in mapping(reply) and status in ("success", "error") else None


def _status(raw: _Object) -> tuple[StatusCode, str | None]:
    status = mapping(raw.get("status"))
    code = status.get("code", raw.get("status_code"))
    name = code.removeprefix("STATUS_CODE_") if isinstance(code, str) else code
    said = text_or_none(status.get("message", raw.get("status_message"))) or None
    return ("ERROR" if name in ("ERROR", 2) else "OK" if name in ("OK", 1) else "UNSET"), said


# ---- labels --------------------------------------------------------------------------------------------------------


def _labels(info: _Object, targets: Mapping[str, str]) -> Iterator[Label]:
    """Assessments that are still valid, with who made them."""
    rows = info.get("assessments")
    for row in rows if isinstance(rows, list) else ():
        made = mapping(row)
        name = text_or_none(made.get("assessment_name", made.get("name")))
        if name is None or made.get("valid") is False:
            continue
        source, span_id = mapping(made.get("source")), written_id(made.get("span_id"))
        kind = source.get("source_type")
        yield Label(
            name=name,
            value=_value(made),
            comment=text_or_none(made.get("rationale")),
            by=text_or_none(source.get("source_id")),
            kind=_SOURCES.get(kind, "unknown") if isinstance(kind, str) else "unknown",
            at=_moment(made.get("last_update_time", made.get("create_time"))),
            target=None if span_id is None else targets.get(_hex(span_id), span_id),
        )


def _value(made: _Object) -> JsonValue:
    """What was found or expected; a value that was stored as JSON text is taken out of it."""
    held = mapping(made.get("feedback")) or mapping(made.get("expectation"))
    stored = mapping(held.get("serialized_value"))
    if stored:
        return decoded(stored.get("value"))
    return held["value"] if "value" in held else mapping(made.get("numeric_value", {})).get("value")


def _moment(value: JsonValue) -> str | None:
    """A time as it is written: ISO 8601, or milliseconds since 1970."""
    if isinstance(value, str):
        return value
    number = whole(value)
    if number is None or not 0 <= number < 253_402_300_800_000:
        return None
    return datetime.fromtimestamp(number / 1000, UTC).isoformat()


def _targets(observations: list[Observation], calls: Mapping[str, str]) -> dict[str, str]:
    """What an assessment of a span is about: the call that it answers, else the span, by its id in hexadecimal."""
    return {_hex(o.span.span_id): calls.get(o.span.span_id, o.span.span_id) for o in observations}


def _hex(span_id: str) -> str:
    """A span's id in hexadecimal: spans write it in Base64, assessments do not."""
    try:
        raw = base64.b64decode(span_id, validate=True)
    except (binascii.Error, ValueError):
        return span_id
    return raw.hex() if len(raw) == 8 else span_id


DIALECT = Dialect("mlflow", "MLflow traces", detect, traces)

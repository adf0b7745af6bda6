"""rightcall's own format: JSON Lines, one trace a line; also one JSON array or one object.

Fields: see `rightcall.trace.model`. Besides `events`, a line may hold the shorthand `calls`: a list of
`{"tool", "arguments", "result" | "error", "turn"?, "id"?, "by"?}`. In the shorthand, `result` says that the tool
worked and `error` that it failed; neither says that nothing was recorded.

An unknown field is an error with the nearest valid name, except under `metadata`. A file of this format is read
whole or not at all: the first bad line stops the reading.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from rightcall.errors import Place, TraceError
from rightcall.trace import jsontext
from rightcall.trace.explain import explain
from rightcall.trace.model import ArgumentsStatus, Call, CalledBy, Event, Message, Result, Trace, TraceFinding
from rightcall.trace.sources.dialect import Dialect, Skip

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rightcall.trace.jsontext import JsonValue


class ShortCall(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    gc=False,
    rename={"arguments_json": "arguments"},
):
    """One entry of the shorthand `calls`."""

    tool: str
    arguments_json: Raw | UnsetType = UNSET
    arguments_status: ArgumentsStatus = "ok"
    arguments_raw: str | None = None
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET
    turn: int | None = None
    id: str | None = None
    by: CalledBy = "agent"


class Line(Trace, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A native line: a trace, or a trace in shorthand."""

    events: tuple[Event, ...] | UnsetType = UNSET  # type: ignore[assignment]
    calls: tuple[ShortCall, ...] | UnsetType = UNSET  # type: ignore[assignment]


_decode = msgspec.json.Decoder(Line).decode
_decode_whole = msgspec.json.Decoder(Trace).decode


def read_line(data: bytes, place: Place) -> Trace:
    """Read one native record from its bytes: the fast path.

    Raises:
        TraceError: with line, column or JSON path, every fault of the record, and the nearest valid names.
    """
    jsontext.check_depth(data, place)
    if b'"events"' in data:
        try:
            trace = _decode_whole(data)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            pass  # shorthand, or a fault that is explained below
        else:
            if trace.events and all([isinstance(event, Message) or _is_object(event) for event in trace.events]):
                return trace
    try:
        return _trace(_decode(data), place)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise _refusal(data, error, place) from None


def _refusal(data: bytes, error: Exception, place: Place) -> TraceError:
    """Read the record again with care, to list every fault instead of the first."""
    if not isinstance(error, msgspec.ValidationError):
        return jsontext.malformed(data, error, place)
    faults = explain(Line, jsontext.decode(data, place), place.path or "$")
    if not faults:
        return jsontext.malformed(data, error, place)
    more = f" (and {len(faults) - 1} more: {'; '.join(map(str, faults[1:4]))})" if faults[1:] else ""
    return TraceError(
        f"{faults[0].message}{more}", place=Place(place.file, place.line, None, faults[0].path), hint=faults[0].hint
    )


def _trace(line: Line, place: Place) -> Trace:
    if line.calls is not UNSET:
        if line.events is not UNSET:
            raise TraceError("a trace has either `events` or `calls`, not both", place=place)
        events: tuple[Event, ...] = tuple([_call(call, place, index) for index, call in enumerate(line.calls)])
    elif line.events is UNSET:
        raise TraceError(
            "a trace needs `events` or `calls`", place=place, hint="an empty list says that nothing was called"
        )
    else:
        events = line.events
        if any([type(event) is Call and not _is_object(event) for event in events]):
            events = tuple([_checked(event) for event in events])
    return Trace(
        id=line.id, case_id=line.case_id, trial=line.trial, request=line.request, context=line.context,
        agent=line.agent, tools_json=line.tools_json, events=events, completed=line.completed,
        findings=line.findings, labels=line.labels, metadata=line.metadata,
    )  # fmt: skip


def _is_object(call: Call) -> bool:
    return call.arguments_json is not UNSET and call.arguments_status == "ok" and bytes(call.arguments_json)[:1] == b"{"


def _checked(event: Event) -> Event:
    """Give a call without an arguments object the status that says so."""
    if isinstance(event, Message) or _is_object(event):
        return event
    status, raw = _status(event.arguments_json, event.arguments_status, event.arguments_raw)
    return msgspec.structs.replace(event, arguments_json=UNSET, arguments_status=status, arguments_raw=raw)


def _status(value: Raw | UnsetType, status: ArgumentsStatus, raw: str | None) -> tuple[ArgumentsStatus, str | None]:
    if value is UNSET or bytes(value) == b"null":
        return ("missing" if status == "ok" else status), raw
    return ("not_object" if status == "ok" else status), raw if raw is not None else bytes(value).decode()


def _call(short: ShortCall, place: Place, index: int) -> Call:
    result = None
    if short.error is not UNSET:
        if short.result is not UNSET:
            raise TraceError(
                "a call has either `result` or `error`, not both",
                place=Place(place.file, place.line, None, f"{place.path or '$'}.calls[{index}]"),
            )
        result = Result(content_json=short.error, is_error=True)
    elif short.result is not UNSET:
        result = Result(content_json=short.result, is_error=False)
    value = short.arguments_json
    if value is not UNSET and bytes(value)[:1] == b"{" and short.arguments_status == "ok":
        return Call(tool=short.tool, arguments_json=value, result=result, turn=short.turn, id=short.id, by=short.by)
    status, raw = _status(value, short.arguments_status, short.arguments_raw)
    return Call(
        tool=short.tool, arguments_status=status, arguments_raw=raw, result=result, turn=short.turn, id=short.id,
        by=short.by,
    )  # fmt: skip


def write_line(trace: Trace) -> bytes:
    """One trace as a native line, with its newline. Reading it again gives an equal trace."""
    if not trace.events:  # a line must say that nothing was called
        trace = Line(**{name: getattr(trace, name) for name in Trace.__struct_fields__})
    return jsontext.encode(trace) + b"\n"


def detect(value: JsonValue) -> bool:
    """A native record has an `id` and `events` or `calls`, and nothing of the other dialects that have these too."""
    if not isinstance(value, dict) or not isinstance(value.get("id"), str) or "span_kind" in value:
        return False
    rows = value.get("calls", value.get("events"))
    if rows == []:  # other dialects have an empty list of these too
        return value.keys() <= set(Line.__struct_encode_fields__)
    return isinstance(rows, list) and all(isinstance(row, dict) and ("tool" in row or "type" in row) for row in rows)


def traces(value: JsonValue, place: Place) -> Iterator[Trace | Skip]:
    """Read one decoded native record; raises instead of skipping (see the module's text)."""
    yield read_line(jsontext.encode(value), place)


def json_fields() -> dict[str, Any]:
    """The JSON Schema of a native line."""
    return msgspec.json.schema(Line)


DIALECT = Dialect("native", "rightcall native JSON Lines", detect, traces)
__all__ = ["DIALECT", "Line", "ShortCall", "TraceFinding", "read_line", "write_line"]

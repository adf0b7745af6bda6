"""Spans and log records: every spelling gives the same, ids and times are exact, what cannot be read is told."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.errors import Place
from rightcall.trace.sources import otlp, otlp_values

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
SPAN_ID = "b7ad6b7169203331"
PARENT_ID = "00f067aa0ba902b7"
START = 1_795_981_834_419_123_943


def attribute(key, **value):
    return {"key": key, "value": value}


def document(*spans, resource=None, scope=None):
    return {
        "resourceSpans": [{"resource": resource or {}, "scopeSpans": [{"scope": scope or {}, "spans": list(spans)}]}]
    }


def only(record):
    (span,), logs, skips = otlp.spans_of([(record, Place("spans.json"))])
    assert not logs
    assert not skips
    return span


CAMEL = document(
    {
        "traceId": TRACE_ID, "spanId": SPAN_ID, "parentSpanId": PARENT_ID, "name": "chat m", "kind": 3,
        "startTimeUnixNano": str(START), "endTimeUnixNano": str(START + 5), "status": {"code": 2, "message": "no"},
        "attributes": [attribute("n", intValue="563")], "droppedAttributesCount": 4,
        "events": [{"name": "exception", "timeUnixNano": str(START + 1), "attributes": [attribute("exception.message", stringValue="no")]}],
    },
    resource={"attributes": [attribute("service.name", stringValue="shop")]},
    scope={"name": "emitter"},
)  # fmt: skip
SNAKE = {
    "resource_spans": [{
        "resource": {"attributes": [{"key": "service.name", "value": {"string_value": "shop"}}]},
        "scope_spans": [{"scope": {"name": "emitter"}, "spans": [{
            "trace_id": base64.b64encode(bytes.fromhex(TRACE_ID)).decode(), "span_id": base64.b64encode(bytes.fromhex(SPAN_ID)).decode(),
            "parent_span_id": base64.b64encode(bytes.fromhex(PARENT_ID)).decode(), "name": "chat m", "kind": "SPAN_KIND_CLIENT",
            "start_time_unix_nano": str(START), "end_time_unix_nano": str(START + 5), "status": {"code": "STATUS_CODE_ERROR", "message": "no"},
            "attributes": [{"key": "n", "value": {"int_value": 563}}], "dropped_attributes_count": 4,
            "events": [{"name": "exception", "time_unix_nano": START + 1, "attributes": [{"key": "exception.message", "value": {"string_value": "no"}}]}],
        }]}],
    }]
}  # fmt: skip
PYTHON = {
    "name": "chat m", "context": {"trace_id": f"0x{TRACE_ID}", "span_id": f"0x{SPAN_ID}", "trace_state": "[]"}, "kind": "SpanKind.CLIENT",
    "parent_id": f"0x{PARENT_ID}", "start_time": "2026-11-29T19:50:34.419123Z", "end_time": "2026-11-29T19:50:35Z",
    "status": {"status_code": "ERROR", "description": "no"}, "attributes": {"n": 563}, "links": [],
    "events": [{"name": "exception", "timestamp": "2026-11-29T19:50:34.5Z", "attributes": {"exception.message": "no"}}],
    "resource": {"attributes": {"service.name": "shop"}, "schema_url": ""},
}  # fmt: skip
JAVASCRIPT = {
    "name": "chat m", "spanContext": {"traceId": TRACE_ID, "spanId": SPAN_ID}, "parentSpanContext": {"spanId": PARENT_ID}, "kind": 2,
    "startTime": [1_795_981_834, 419_123_943], "endTime": [1_795_981_834, 419_123_948], "status": {"code": 2, "message": "no"},
    "attributes": {"n": 563}, "events": [{"name": "exception", "time": [1_795_981_834, 419_123_944], "attributes": {"exception.message": "no"}}],
    "resource": {"attributes": {"service.name": "shop"}}, "instrumentationScope": {"name": "emitter"},
}  # fmt: skip


@pytest.mark.parametrize("record", [CAMEL, SNAKE, PYTHON, JAVASCRIPT], ids=["camel", "snake", "python", "javascript"])
def test_every_spelling_of_a_span_gives_the_same(record):
    span = only(record)
    assert (span.trace_id, span.span_id, span.parent_id) == (TRACE_ID, SPAN_ID, PARENT_ID)
    assert (span.name, span.kind, span.status, span.status_message) == ("chat m", "CLIENT", "ERROR", "no")
    assert span.attributes == {"n": 563}
    assert span.resource == {"service.name": "shop"}
    assert span.start // 10**9 == START // 10**9
    assert [(event.name, event.attributes) for event in span.events] == [("exception", {"exception.message": "no"})]
    assert otlp.is_record(record)
    assert otlp.keys_of(record) >= {"n", "exception", "exception.message"}


def test_times_scope_and_dropped_attributes_of_otlp_are_exact():
    for record in (CAMEL, SNAKE):
        span = only(record)
        assert (span.start, span.end, span.events[0].at) == (START, START + 5, START + 1)
        assert (span.scope, span.dropped_attributes) == ("emitter", 4)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (TRACE_ID.upper(), TRACE_ID), (f"0x{SPAN_ID}", SPAN_ID), (base64.b64encode(bytes(range(8))).decode(), "0001020304050607"),
        ("0" * 16, None), ("0x" + "0" * 16, None), ("AAAAAAAAAAA=", None), ("", None), (None, None), ([], None), (True, None),
        ("span-1", "span-1"), (7, "7"),
    ],
)  # fmt: skip
def test_T21_an_id_is_told_by_its_form(written, read):  # noqa: N802
    assert otlp_values.identifier(written) == read


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (START, START), (str(START), START), ([1, 5], 10**9 + 5), ("1970-01-01T00:00:01Z", 10**9), ("1970-01-01T00:00:01.000000007Z", 10**9 + 7),
        ("1970-01-01T01:00:00+01:00", 0), ("1970-01-01 00:00:02.5", 2_500_000_000), ("2026-13-01T00:00:00Z", None), ("soon", None), (None, None),
        ([1], None), (["x", 1], None), (1.5, None), (True, None), ({}, None), ("0000-01-01T00:00:00Z", None), ("9" * 30, None),
    ],
)  # fmt: skip
def test_a_time_is_read_in_every_spelling(written, read):
    assert otlp_values.nanoseconds(written) == read


def test_an_instant_is_written_exactly():
    assert otlp_values.instant(START) == "2026-11-29T19:50:34.419123943Z"
    assert otlp_values.instant(10**9) == "1970-01-01T00:00:01Z"
    assert otlp_values.instant(None) is otlp_values.instant(-1) is otlp_values.instant(10**30) is None
    assert otlp_values.nanoseconds(otlp_values.instant(START)) == START


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ({"stringValue": "a"}, "a"), ({"intValue": "9007199254740993"}, 9007199254740993), ({"intValue": -3}, -3), ({"boolValue": True}, True),
        ({"doubleValue": 0.5}, 0.5), ({"doubleValue": "NaN"}, "NaN"), ({"bytesValue": "AAE="}, "AAE="), ({}, None), (None, None),
        ({"arrayValue": {"values": [{"intValue": "1"}, {"stringValue": "b"}]}}, [1, "b"]), ({"arrayValue": {}}, []),
        ({"kvlistValue": {"values": [{"key": "k", "value": {"arrayValue": {"values": [{"boolValue": False}]}}}]}}, {"k": [False]}),
    ],
)  # fmt: skip
def test_a_value_of_each_type_is_decoded(written, read):
    span = only(document({"traceId": TRACE_ID, "spanId": SPAN_ID, "attributes": [{"key": "a", "value": written}]}))
    assert span.attributes == {"a": read}
    assert span.odd == ()


@pytest.mark.parametrize(
    "value",
    [
        {"intValue": "x"}, {"intValue": True}, {"stringValue": 3}, {"boolValue": 1}, {"doubleValue": True}, {"bytesValue": "?"}, {"bytesValue": 1},
        {"arrayValue": {"values": 1}}, {"arrayValue": {"values": [3]}}, {"kvlistValue": {"values": [{"value": {}}]}}, {"newValue": 1}, {"a": 1, "b": 2}, 3,
    ],
)  # fmt: skip
def test_a_value_that_cannot_be_decoded_is_named(value):
    span = only(document({"traceId": TRACE_ID, "spanId": SPAN_ID, "attributes": [{"key": "a", "value": value}]}))
    assert span.attributes == {}
    assert span.odd == ("a",)


def test_attributes_that_are_no_list_are_named():
    assert only(document({"traceId": TRACE_ID, "attributes": 3})).odd == ("attributes",)
    assert only(document({"traceId": TRACE_ID, "attributes": [3]})).odd == ("attributes",)


def test_a_span_without_ids_is_kept_under_a_number():
    spans, _, _ = otlp.spans_of([({"name": "a", "attributes": {}}, Place()), ({"attributes": {"k": 1}}, Place())])
    assert [(span.trace_id, span.span_id) for span in spans] == [("", "#0"), ("", "#1")]


@pytest.mark.parametrize(
    ("kind", "name"),
    [(1, "INTERNAL"), (5, "CONSUMER"), ("SPAN_KIND_SERVER", "SERVER"), (0, None), (9, None), (True, None), ("x", None)],
)
def test_a_kind_is_a_number_or_a_name(kind, name):
    assert only(document({"traceId": TRACE_ID, "kind": kind})).kind == name


@pytest.mark.parametrize(
    ("code", "name"),
    [(0, "UNSET"), (1, "OK"), ("OK", "OK"), ("StatusCode.ERROR", "ERROR"), ([], "UNSET"), (None, "UNSET")],
)
def test_a_status_is_a_number_or_a_name(code, name):
    assert only(document({"traceId": TRACE_ID, "status": {"code": code}})).status == name


def test_log_records_are_read_beside_spans():
    log = {
        "traceId": TRACE_ID, "spanId": SPAN_ID, "observedTimeUnixNano": "7", "body": {"kvlistValue": {"values": [attribute("content", stringValue="hi")]}},
        "attributes": [attribute("event.name", stringValue="gen_ai.user.message")],
    }  # fmt: skip
    record = {
        "resourceLogs": [{"scopeLogs": [{"logRecords": [log, {**log, "eventName": "own", "timeUnixNano": "3"}]}]}],
        **CAMEL,
    }
    spans, logs, skips = otlp.spans_of([(record, Place())])
    assert (len(spans), len(logs), skips) == (1, 2, [])
    assert (logs[0].event_name, logs[0].time, logs[0].body) == ("gen_ai.user.message", 7, {"content": "hi"})
    assert (logs[1].event_name, logs[1].time, logs[1].span_id) == ("own", 3, SPAN_ID)
    assert "own" in otlp.keys_of(record)


@pytest.mark.parametrize(
    "record",
    [
        {"resourceSpans": 3}, {"resourceSpans": [3]}, {"resourceSpans": [{"scopeSpans": {}}]}, {"resourceSpans": [{"scopeSpans": [{"spans": [None]}]}]},
        {"resourceLogs": [{"scopeLogs": [{"logRecords": ["x"]}]}]}, {"other": 1}, [], 3, None, {"attributes": 3},
    ],
)  # fmt: skip
def test_what_holds_no_spans_is_skipped_with_its_place(record):
    spans, logs, skips = otlp.spans_of([(record, Place("f", 4))])
    assert (spans, logs) == ([], [])
    assert [(skip.code, skip.place.line) for skip in skips] == [("TRACE_MALFORMED", 4)]


def test_an_object_of_another_dialect_is_no_record():
    for value in ({"messages": []}, {"attributes": {}, "id": "x"}, {"run_type": "llm", "attributes": {}}, [], "x"):
        assert not otlp.is_record(value)
        assert otlp.keys_of(value) <= {"None"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([
        "resourceSpans", "scopeSpans", "spans", "resourceLogs", "scopeLogs", "logRecords", "attributes", "key", "value", "stringValue", "arrayValue",
        "kvlistValue", "values", "traceId", "spanId", "context", "spanContext", "trace_id", "events", "status", "code", "kind", "startTime", "body",
    ]), inner, max_size=5),
    max_leaves=20,
)  # fmt: skip


@given(JSON)
def test_any_json_gives_spans_or_skips(value):
    spans, logs, skips = otlp.spans_of([(value, Place())])
    assert otlp.is_record(value) or (skips and not spans and not logs)
    assert isinstance(otlp.keys_of(value), set)


def test_T21_ids_times_and_counts_of_the_real_recordings(shared_data):  # noqa: N802
    folder = shared_data / "data" / "openinference"
    lines = (folder / "langchain_tau_airline_TRUNCATED128.otel_python_sdk_tojson.jsonl").read_text().splitlines()
    dumped, _, _ = otlp.spans_of([(json.loads(line), Place()) for line in lines])
    record = json.loads((folder / "langchain_tau_airline_TRUNCATED128.otlp.json").read_text())
    exported, _, skips = otlp.spans_of([(record, Place())])
    assert (len(dumped), len(exported), skips) == (8, 14, [])
    by_id = {span.span_id: span for span in exported}
    for span in dumped:
        assert {len(span.trace_id), len(span.span_id)} == {32, 16}
        twin = by_id.get(span.span_id)
        if twin is not None:
            assert abs(twin.start - span.start) < 1_000
            assert twin.attributes == span.attributes
    assert sum(span.dropped_attributes for span in exported) == 617
    assert sum(span.dropped_attributes for span in dumped) == 0  # OpenTelemetry-Python's own dump does not tell

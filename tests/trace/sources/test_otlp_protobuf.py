"""Binary OTLP: one message or a run of messages, spans or log records, and the one line that a missing extra gives."""

import gzip
import json
import sys
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.errors import MissingExtraError, NoDataError, TraceError
from rightcall.trace.sources import otlp, otlp_protobuf, reading
from rightcall.trace.sources.containers import container_of

json_format = pytest.importorskip("google.protobuf.json_format")
traces_service = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
logs_proto = pytest.importorskip("opentelemetry.proto.logs.v1.logs_pb2")
trace_proto = pytest.importorskip("opentelemetry.proto.trace.v1.trace_pb2")
TRACE_ID, SPAN_ID = bytes(range(1, 17)), bytes(range(1, 9))


def text(key, value):
    return {"key": key, "value": {"stringValue": value}}


def spans(cls=trace_proto.TracesData):
    message = cls()
    span = message.resource_spans.add().scope_spans.add().spans.add()
    span.trace_id, span.span_id, span.name = TRACE_ID, SPAN_ID, "execute_tool add"
    span.start_time_unix_nano, span.end_time_unix_nano = 5, 6
    for key, value in (
        ("gen_ai.operation.name", "execute_tool"),
        ("gen_ai.tool.name", "add"),
        ("gen_ai.tool.call.arguments", '{"n": 1}'),
    ):
        pair = span.attributes.add()
        pair.key, pair.value.string_value = key, value
    pair = span.attributes.add()
    pair.key, pair.value.int_value = "big", 9_007_199_254_740_993
    return message.SerializeToString()


def logs():
    message = logs_proto.LogsData()
    log = message.resource_logs.add().scope_logs.add().log_records.add()
    log.trace_id, log.span_id, log.time_unix_nano, log.event_name = TRACE_ID, SPAN_ID, 5, "gen_ai.user.message"
    log.body.string_value = "hi"
    return message.SerializeToString()


@pytest.fixture
def write(tmp_path):
    def make(data, name="spans.otlp.pb"):
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return make


def read(path):
    return otlp.spans_of(otlp_protobuf.records(path))


@pytest.mark.parametrize("cls", [trace_proto.TracesData, traces_service.ExportTraceServiceRequest])
def test_a_message_of_spans_is_read_exactly(write, cls):
    (span,), _, skips = read(write(spans(cls)))
    assert not skips
    assert (span.trace_id, span.span_id) == (TRACE_ID.hex(), SPAN_ID.hex())
    assert span.attributes["big"] == 9_007_199_254_740_993


def test_a_message_of_log_records_is_told_from_one_of_spans(write):
    found, (log,), _ = read(write(logs()))
    assert not found
    assert (log.trace_id, log.event_name, log.body) == (TRACE_ID.hex(), "gen_ai.user.message", "hi")


def test_a_run_of_messages_has_the_length_of_each_before_it(write):
    framed = b"".join(len(data).to_bytes(4, "big") + data for data in (spans(), logs(), spans()))
    path = write(framed, "spans.proto")
    assert container_of(framed, path.name) is otlp_protobuf.CONTAINER
    found, records, _ = read(path)
    assert (len(found), len(records)) == (2, 1)
    with pytest.raises(TraceError, match="cut short") as cut:
        read(write(framed[:-3], "spans.proto"))
    assert cut.value.code == "TRACE_TRUNCATED"


def test_a_binary_file_is_graded_like_its_json(write, tmp_path):
    packed = write(gzip.compress(spans()), "spans.pb.gz")
    twin = tmp_path / "spans.json"
    twin.write_text(json.dumps(json_format.MessageToDict(trace_proto.TracesData.FromString(spans()))))
    (binary,), (plain,) = reading.load_traces(packed), reading.load_traces(twin)
    assert binary.calls[0].arguments == {"n": 1}
    assert binary.digest == plain.digest


@pytest.mark.parametrize(
    ("head", "name"),
    [(b"\n{}", "a.jsonl"), (b"{}", "a.pb"), (b"", "a.pb"), (b"\n\x05", "a.bin"), (b"\x00\x00\x00\x02", "a.pb")],
)
def test_what_its_name_or_bytes_do_not_say_is_no_binary_otlp(head, name):
    assert not otlp_protobuf.opens(head, name)


def test_other_bytes_are_an_error_and_nothing_is_no_data(write):
    for data in (b"\n\xff\xff", b"\n\x00", b"\n" * 40, b"\x00\x00\x00\x01\n"):
        with pytest.raises(TraceError, match="not a message of OTLP"):
            read(write(data))
    with pytest.raises(NoDataError):
        read(write(b""))


def test_a_missing_extra_is_one_line_that_says_what_to_install(write, monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.proto.trace.v1.trace_pb2", None)
    with pytest.raises(MissingExtraError) as missing:
        read(write(spans()))
    line = str(missing.value)
    assert "rightcall[otlp]" in line
    assert "\n" not in line


@given(st.integers(0, 200), st.binary(max_size=4))
def test_mutated_bytes_give_spans_or_a_typed_error(tmp_path_factory, place, change):
    data = spans()
    place %= len(data)
    path = tmp_path_factory.mktemp("mutated") / "spans.pb"
    path.write_bytes(data[:place] + change + data[place + 1 :])
    with suppress(TraceError, NoDataError):
        read(path)


def test_the_real_recording_gives_the_same_spans_in_binary(shared_data, write):
    source = shared_data / "data" / "otel_genai" / "agentpile_synthetic" / "pydantic_ai_2.58.0.json"
    record = json.loads(source.read_text())
    message = json_format.ParseDict(_with_base64_ids(record), trace_proto.TracesData())
    binary = reading.load_traces(write(message.SerializeToString()))
    assert [trace.digest for trace in binary] == [trace.digest for trace in reading.load_traces(source)]


def _with_base64_ids(value):
    """The record with its hexadecimal ids in Base64, which is what protobuf's own JSON expects."""
    import base64

    if isinstance(value, dict):
        ids = ("traceId", "spanId", "parentSpanId")
        return {
            k: base64.b64encode(bytes.fromhex(v)).decode() if k in ids else _with_base64_ids(v)
            for k, v in value.items()
        }
    return [_with_base64_ids(item) for item in value] if isinstance(value, list) else value

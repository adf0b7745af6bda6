"""MLflow traces: spans of models and tools as one conversation, JSON in strings, older files, assessments, the real file."""

import base64
import contextlib
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from rightcall.errors import Place, TraceError
from rightcall.trace import jsontext
from rightcall.trace.model import Trace
from rightcall.trace.sources import mlflow, native, reading, registry
from rightcall.trace.sources.dialect import ReadingReport, Skip

PLACE = Place("logs/traces.jsonl", 3)
START = 1_795_982_145_000_000_000


def span(
    name, kind, given=None, said=None, *, number=1, parent="root", status="STATUS_CODE_OK", message="", **attributes
):
    """A span as `to_json` writes it: every attribute is JSON in a string."""
    held = {"mlflow.spanType": kind, "mlflow.spanInputs": given, "mlflow.spanOutputs": said, **attributes}
    return {
        "trace_id": "AAAA", "span_id": f"s{number}" if kind != "AGENT" else name, "parent_span_id": parent, "name": name,
        "start_time_unix_nano": START + number * 10**6, "end_time_unix_nano": START + number * 10**6 + 500,
        "events": [], "status": {"code": status, "message": message},
        "attributes": {key: json.dumps(value) for key, value in held.items() if value is not None},
    }  # fmt: skip


def made(name="lookup", id_="c1", arguments='{"key": 4}'):
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def reply(*calls, text=None):
    return {"choices": [{"message": {"role": "assistant", "content": text, "tool_calls": list(calls) or None}}]}


ASKED = [{"role": "system", "content": "Be good."}, {"role": "user", "content": "Find 4."}]


def model(number, *calls, messages=ASKED, text=None, **attributes):
    return span(
        "Chat",
        "CHAT_MODEL",
        {"messages": messages, "model": "vendor/model"},
        reply(*calls, text=text),
        number=number,
        **attributes,
    )


def tool(number, name="lookup", given=None, said="found", **more):
    return span(name, "TOOL", {"key": 4} if given is None else given, said, number=number, **more)


def record(*spans, **info):
    root = span("root", "AGENT", {"question": "Find 4, please."}, "done", number=0, parent=None)
    about = {"trace_id": "tr-1", "state": "OK", "tags": {"mlflow.traceName": "finder"}, "trace_metadata": {}, **info}
    return {"info": about, "data": {"spans": [root, *spans]}}


def read(value):
    (trace,) = mlflow.traces(value, PLACE)
    assert isinstance(trace, Trace), trace
    return trace


def skip_of(value):
    (skip,) = mlflow.traces(value, PLACE)
    assert isinstance(skip, Skip), skip
    return skip


def codes(trace):
    return [finding.code for finding in trace.findings]


# ---- a trace ----


def test_a_trace_is_told_as_one_conversation():
    later = [*ASKED, reply(made())["choices"][0]["message"], {"role": "tool", "tool_call_id": "c1", "content": "found"}]
    trace = read(record(model(1, made()), tool(2), model(3, messages=later, text="It is there.")))
    assert (trace.id, trace.request, trace.completed) == ("tr-1", "Find 4.", True)
    assert (trace.agent.name, trace.agent.model) == ("root", "vendor/model")
    assert [getattr(event, "role", "call") for event in trace.events] == [
        "system",
        "user",
        "assistant",
        "call",
        "assistant",
    ]
    (call,) = trace.calls
    assert (call.tool, call.id, call.arguments, call.result.content, call.failed) == (
        "lookup",
        "c1",
        {"key": 4},
        "found",
        None,
    )
    assert (call.started_at, call.result.at) == ("2026-11-29T19:55:45.002Z", "2026-11-29T19:55:45.0020005Z")
    assert trace.findings == ()


def test_tool_spans_without_ids_are_paired_by_order_and_name():  # T2
    calls = [made("a", "1"), made("b", "2"), made("a", "3")]
    trace = read(record(model(1, *calls), tool(2, "b", said="B"), tool(3, "a", said="A1"), tool(4, "a", said="A2")))
    assert [(c.id, c.turn, c.result.content) for c in trace.calls] == [
        ("1", 1, "A1"),
        ("2", 1, "B"),
        ("3", 1, "A2"),
    ]  # T11


def test_a_tool_that_no_model_asked_for_is_a_call_of_its_own():
    trace = read(record(tool(1, given={"key": 1}), tool(2, given={"key": 2})))
    assert [(c.tool, c.arguments, c.result.content) for c in trace.calls] == [
        ("lookup", {"key": 1}, "found"),
        ("lookup", {"key": 2}, "found"),
    ]
    assert trace.request == "Find 4, please."
    assert [c.arguments_status for c in read(record(tool(1, given="bare"))).calls] == ["not_captured"]  # T8


def test_an_error_status_is_a_failure_and_ok_is_not_the_contrary():  # T10
    failed = tool(2, said=None, status="STATUS_CODE_ERROR", message="RuntimeError: full")
    trace = read(record(model(1, made()), failed))
    assert (trace.calls[0].failed, trace.calls[0].result.content) == (True, "RuntimeError: full")
    assert read(record(model(1, made()), tool(2, said="Error: full"))).calls[0].failed is None
    wrapped = {"type": "tool", "content": "no", "tool_call_id": "c1", "status": "error"}
    assert read(record(model(1, made()), tool(2, said=wrapped))).calls[0].failed is True


def test_what_the_model_was_shown_is_the_content_of_a_failed_run():
    later = [
        *ASKED,
        reply(made())["choices"][0]["message"],
        {"role": "tool", "tool_call_id": "c1", "content": "Error: full"},
    ]
    failed = tool(2, said=None, status="STATUS_CODE_ERROR", message="RuntimeError: Error: full")
    (call,) = read(record(model(1, made()), failed, model(3, messages=later, text="Full."))).calls
    assert (call.failed, call.result.content) == (True, "Error: full")


def test_values_are_json_in_strings_and_a_tool_s_text_stays_text():  # T21
    trace = read(record(model(1, made(arguments='{"key": 123456789012345678901}')), tool(2, said='{"n": 1}')))
    assert trace.calls[0].arguments == {"key": 123456789012345678901}
    assert trace.calls[0].result.content == '{"n": 1}'
    assert read(record(model(1, made()), tool(2, said={"n": 1}))).calls[0].result.content == {"n": 1}


@pytest.mark.parametrize(
    ("arguments", "status"), [('{"key": 4 // x', "malformed"), ("[1]", "not_object"), (None, "missing"), ("{}", "ok")]
)
def test_arguments_keep_their_status(arguments, status):
    (call,) = read(record(model(1, made(arguments=arguments)))).calls
    assert (call.arguments_status, call.arguments) == (status, {} if status == "ok" else None)


def test_a_model_below_a_model_is_the_same_request():
    inner = {**model(2, made()), "parent_span_id": "s1"}
    assert len(read(record(model(1, made()), inner)).calls) == 1


def test_what_a_judge_asks_is_left_out_and_counted():
    judge = span("judge", "EVALUATOR", number=2)
    trace = read(record(model(1, made()), judge, {**model(3, made("grade")), "parent_span_id": "s2"}))
    assert [c.tool for c in trace.calls] == ["lookup"]
    assert codes(trace) == ["TRACE_INCOMPLETE"]


def test_calls_of_earlier_turns_are_context():  # T13
    before = [
        *ASKED,
        reply(made(id_="old"))["choices"][0]["message"],
        {"role": "tool", "tool_call_id": "old", "content": "x"},
    ]
    trace = read(record(model(1, made(id_="new"), messages=[*before, {"role": "user", "content": "And 5?"}])))
    assert [c.id for c in trace.calls] == ["new"]
    assert "history" in trace.context


def test_the_tools_that_a_model_was_offered_are_the_catalog():
    tools = [{"type": "function", "function": {"name": "lookup", "parameters": {"type": "object"}}}]
    trace = read(record(model(1, made(), **{"mlflow.chat.tools": tools}), model(2, **{"mlflow.chat.tools": tools})))
    assert [one["name"] for one in jsontext.decode(bytes(trace.tools_json))] == ["lookup"]
    assert read(record(model(1))).tools_json is UNSET
    assert codes(read(record(model(1, **{"mlflow.chat.tools": [7]})))) == ["CONFIG_TOOL_INVALID"]


def test_what_is_not_read_is_said():
    odd = span("Chat", "LLM", {"messages": ASKED}, {"something": "else"}, number=1)
    assert codes(read(record(odd, tool(2)))) == ["TRACE_INCOMPLETE"]
    assert "TRACE_NOT_CAPTURED" in codes(read(record(span("Chat", "LLM", number=1), tool(2))))
    failed = span("Chat", "LLM", {"messages": ASKED}, None, number=1, status="STATUS_CODE_ERROR", message="401")
    trace = read(record(failed))
    assert ("TRACE_HTTP_ERROR" in codes(trace), trace.completed) == (True, False)


@pytest.mark.parametrize(("state", "completed"), [("OK", True), ("ERROR", False), ("IN_PROGRESS", False), ("X", None)])
def test_the_state_says_whether_the_run_is_complete(state, completed):
    trace = read(record(tool(1), state=state))
    assert (trace.completed, trace.metadata["state"]) == (completed, state)


def test_a_reply_that_was_cut_off_makes_the_trace_incomplete():
    cut = model(1, made())
    said = {"choices": [{"finish_reason": "length", **reply(made())["choices"][0]}]}
    cut["attributes"]["mlflow.spanOutputs"] = json.dumps(said)
    trace = read(record(cut))
    assert (trace.completed, codes(trace)) == (False, ["TRACE_TRUNCATED"])


def test_session_user_and_own_tags_are_kept():
    about = {"mlflow.trace.session": "chat-1", "mlflow.trace.user": "mia"}
    trace = read(record(tool(1), trace_metadata=about, tags={"case_id": "find", "team": "blue", "mlflow.x": "y"}))
    assert trace.case_id == "find"
    assert trace.metadata == {"state": "OK", "session": "chat-1", "user": "mia", "case_id": "find", "team": "blue"}


# ---- labels ----


def test_assessments_are_labels_with_who_and_when():
    tool_span = {**tool(2), "span_id": base64.b64encode(b"12345678").decode()}
    rows = [
        {"assessment_name": "right", "source": {"source_type": "HUMAN", "source_id": "mia"}, "feedback": {"value": True},
         "rationale": "I looked.", "create_time": "2026-01-01T00:00:00Z", "last_update_time": "2026-01-02T00:00:00Z",
         "span_id": b"12345678".hex()},
        {"name": "safe", "source": {"source_type": "LLM_JUDGE", "source_id": "vendor/judge"}, "create_time": 1000,
         "expectation": {"serialized_value": {"value": "[1]", "serialization_format": "JSON"}}, "span_id": "other"},
        {"name": "old", "valid": False, "feedback": {"value": 1}}, {"feedback": {"value": 1}}, 7,
    ]  # fmt: skip
    first, second = read(record(model(1, made()), tool_span, assessments=rows)).labels
    assert (first.name, first.value, first.comment, first.by, first.kind) == (
        "right",
        True,
        "I looked.",
        "mia",
        "person",
    )
    assert (first.at, first.target) == ("2026-01-02T00:00:00Z", tool_span["span_id"])
    assert (second.value, second.kind, second.at, second.target) == ([1], "judge", "1970-01-01T00:00:01+00:00", "other")


# ---- other shapes ----


def test_older_files_are_read():
    old = [
        {
            "name": one["name"], "context": {"span_id": one["span_id"], "trace_id": "0x1"}, "parent_id": one["parent_span_id"],
            "start_time": one["start_time_unix_nano"], "end_time": one["end_time_unix_nano"], "status_code": status,
            "status_message": "full", "attributes": one["attributes"], "events": [],
        }
        for one, status in ((model(1, made()), "OK"), (tool(2, said=None), "ERROR"))
    ]  # fmt: skip
    value = {
        "info": {"request_id": "rq-1", "status": "ERROR", "request_metadata": {"mlflow.trace.session": "s"}},
        "data": {"spans": old},
    }
    assert mlflow.detect(value)
    trace = read(value)
    assert (trace.id, trace.completed, trace.metadata["session"]) == ("rq-1", False, "s")
    assert (trace.calls[0].failed, trace.calls[0].result.content) == (True, "full")


@pytest.mark.parametrize("packed", [json.dumps, lambda value: value])
def test_a_row_of_a_search_holds_its_trace(packed):
    row = {"trace_id": "tr-1", "trace": packed(record(tool(1))), "spans": []}
    assert mlflow.detect(row)
    assert read(row).id == "tr-1"


@pytest.mark.parametrize(
    "value",
    [
        {},
        record(),
        {"info": {"trace_id": "x"}, "data": {"spans": []}},
        {"info": {"trace_id": "x"}, "data": {"spans": 7}},
    ],
)
def test_a_trace_without_models_and_tools_is_skipped(value):  # T15
    assert skip_of(value).code in ("TRACE_INCOMPLETE", "TRACE_MALFORMED")


@pytest.mark.parametrize(
    "value", [None, [], {}, {"info": {}, "data": {}}, {"info": {"trace_id": "x"}}, {"trace_id": "x", "trace": "{"}]
)
def test_anything_else_is_not_recognised(value):
    assert not mlflow.detect(value)


def test_no_other_dialect_takes_a_trace():
    assert registry.detect(record(tool(1)), PLACE) is mlflow.DIALECT


words = st.sampled_from(
    [
        "info",
        "data",
        "spans",
        "attributes",
        "mlflow.spanType",
        "mlflow.spanInputs",
        "mlflow.spanOutputs",
        "messages",
        "role",
        "content",
        "tool_calls",
        "span_id",
        "parent_span_id",
        "status",
        "assessments",
        "trace_id",
    ]
)
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from(['"TOOL"', '"LLM"', "root", "s1", "assistant"])
    | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=6),
    max_leaves=25,
)
spans = st.builds(
    lambda name, kind, given, said, number, parent: span(name, kind, given, said, number=number, parent=parent),
    anything, st.sampled_from(["TOOL", "LLM", "EVALUATOR"]), anything | st.just({"messages": ASKED}), anything, st.integers(0, 3), anything,
)  # fmt: skip


@pytest.mark.slow
@given(anything | st.builds(lambda inner: record(*inner), st.lists(spans | anything, max_size=4)))
def test_any_json_gives_traces_or_skips(value):
    assert isinstance(mlflow.detect(value), bool)
    try:
        (found,) = mlflow.traces(value, PLACE)
    except TraceError:
        return
    assert isinstance(found, (Trace, Skip))
    if isinstance(found, Trace):
        assert native.read_line(native.write_line(found).strip(), PLACE) == found


# ---- the real file ----


@pytest.fixture(scope="module")
def airline(shared_data):
    """Return the path of the real traces."""
    return shared_data / "data/mlflow/traces_tau_airline.jsonl"


def test_the_real_file_is_counted_right(airline):
    opened, report = reading.open_traces(airline), ReadingReport()
    found = list(reading.read(opened, report))
    assert opened.dialect is mlflow.DIALECT
    assert (report.read, report.skipped, dict(report.calls), report.results, report.errors) == (6, 0, {"ok": 24}, 24, 5)
    assert (report.parallel_turns, dict(report.causes)) == (0, {})
    assert all(trace.completed and trace.request for trace in found)


def test_T2_T10_T12_the_real_calls_are_those_of_the_benchmark(airline, shared_data):  # noqa: N802
    recorded = {
        trace.request: trace for trace in reading.load_traces(shared_data / "data/tau_bench/gpt-4o-airline.json")
    }
    for trace in reading.load_traces(airline):
        wanted = recorded[trace.request].calls
        assert [(c.tool, c.id, c.arguments, c.result.content) for c in trace.calls] == [
            (c.tool, c.id, c.arguments, c.result.content) for c in wanted
        ]
        assert [c.failed is True for c in trace.calls] == [c.result.content.startswith("Error") for c in wanted]


def test_T21_real_attributes_are_json_in_strings_and_ids_are_base64(airline):  # noqa: N802
    first = json.loads(airline.read_text().splitlines()[0])
    kinds = [one["attributes"]["mlflow.spanType"] for one in first["data"]["spans"]]
    assert '"TOOL"' in kinds
    row = {
        "name": "right",
        "span_id": base64.b64decode(first["data"]["spans"][4]["span_id"]).hex(),
        "feedback": {"value": True},
    }
    first["info"]["assessments"] = [row]
    assert read(first).labels[0].target == first["data"]["spans"][4]["span_id"]


@pytest.mark.slow
def test_mutated_bytes_give_traces_or_typed_errors(airline, tmp_path):
    data, chance, path = airline.read_bytes().splitlines()[1], random.Random(3), tmp_path / "x.jsonl"
    for _ in range(150):
        broken = bytearray(data)
        for _ in range(chance.randrange(1, 5)):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        path.write_bytes(broken)
        with contextlib.suppress(TraceError):
            reading.load_traces(path, "mlflow")

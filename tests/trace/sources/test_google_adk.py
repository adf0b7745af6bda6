"""Google ADK sessions: authors, pieces of streams, calls without ids, evaluations, and the real files."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.errors import Place, TraceError
from rightcall.trace.model import Trace
from rightcall.trace.sources import google_adk, native, reading, registry
from rightcall.trace.sources.dialect import ReadingReport, Skip

PLACE = Place("run.session.json")


def event(author, *parts, **more):
    role = "user" if author == "user" else "model"
    content = {"role": role, "parts": list(parts)}
    return {"invocation_id": "i", "author": author, "content": content, "id": "e", "timestamp": 1700000000.5, **more}


def text(words):
    return {"text": words, "function_call": None}


def call(name="set_lamp", id_=None, **args):
    return {"function_call": {"id": id_, "args": args, "name": name}}


def response(name="set_lamp", id_=None, **body):
    return {"function_response": {"id": id_, "name": name, "response": body}}


def session(*events, **changes):
    return {
        "id": "s-1",
        "app_name": "home",
        "user_id": "u",
        "state": {"room": "hall"},
        "events": list(events),
        **changes,
    }


def read(record):
    (trace,) = google_adk.traces(record, PLACE)
    assert isinstance(trace, Trace), trace
    assert native.read_line(native.write_line(trace).strip(), PLACE) == trace
    return trace


def codes(trace):
    return [finding.code for finding in trace.findings]


def test_a_session_is_a_trace():
    record = session(
        event("user", text("Lamp on.")), event("root", call(on=True)), event("root", response(ok=True)),
        event("root", text("Done.")),
    )  # fmt: skip
    assert registry.detect(record, PLACE) is google_adk.DIALECT
    trace = read(record)
    assert (trace.id, trace.request, trace.agent.name, trace.completed) == ("s-1", "Lamp on.", "home", None)
    assert trace.metadata == {"app_name": "home", "user_id": "u", "state": {"room": "hall"}}
    (found,) = trace.calls
    assert (found.tool, found.arguments, found.result.content, found.failed) == (
        "set_lamp",
        {"on": True},
        {"ok": True},
        None,
    )
    assert (found.started_at, found.agent) == ("2023-11-14T22:13:20.500000+00:00", None)
    assert [e.turn for e in trace.events] == [None, 1, 1, 2]


def test_camel_case_is_read_too():
    record = session(
        {"invocationId": "i", "author": "user", "content": {"role": "user", "parts": [{"text": "Go."}]}},
        {
            "invocationId": "i",
            "author": "a",
            "content": {"parts": [{"functionCall": {"name": "f", "args": {}, "id": "x"}}]},
        },
        {
            "invocationId": "i",
            "author": "a",
            "content": {"parts": [{"functionResponse": {"name": "f", "id": "x", "response": {"error": "no"}}}]},
        },
    )
    record = {"id": "s", "appName": "home", "userId": "u", "events": record["events"]}
    assert google_adk.detect(record)
    trace = read(record)
    (found,) = trace.calls
    assert (found.arguments, found.failed, found.result.inferred, found.by) == ({}, True, True, "agent")


def test_T2_results_without_ids_go_by_name_and_order():  # noqa: N802
    parts = [response("b", v=2), response("a", v=1), response("a", v=3)]
    trace = read(session(event("user", text("Go.")), event("x", call("a"), call("b"), call("a")), event("x", *parts)))
    assert [(c.tool, c.result.content["v"]) for c in trace.calls] == [("a", 1), ("b", 2), ("a", 3)]
    assert {c.turn for c in trace.calls} == {1}
    assert "ORDER_AMBIGUOUS" in codes(trace)


def test_a_result_without_a_call_is_noted():
    assert codes(read(session(event("user", text("Go.")), event("x", response("a"))))) == ["TRACE_ORPHAN_RESULT"]


@pytest.mark.parametrize("partial", [{"partial": True}, {"options": {"partial": True}}])
def test_pieces_of_a_stream_are_not_read_twice(partial):
    pieces = [event("x", text("Do"), **partial), event("x", text("ne"), **partial), event("x", text("Done."))]
    trace = read(session(event("user", text("Go.")), *pieces))
    assert [e.text for e in trace.events] == ["Go.", "Done."]
    assert codes(trace) == []


def test_pieces_without_their_whole_are_noted():
    trace = read(session(event("user", text("Go.")), event("x", call("f"), partial=True)))
    assert (codes(trace), trace.completed) == (["TRACE_TRUNCATED"], False)


def test_several_agents_are_named():
    trace = read(
        session(
            event("user", text("Go.")), event("a", call("transfer_to_agent", agent_name="b")), event("b", call("f"))
        )
    )
    assert [(c.tool, c.agent) for c in trace.calls] == [("transfer_to_agent", "a"), ("f", "b")]


def test_a_single_agent_names_the_run_where_no_app_does():
    assert read(session(event("user", text("Go.")), event("solo", text("Hi.")), app_name=None)).agent.name == "solo"


def test_an_event_that_tells_an_error_is_noted():
    failed = event("x", error_code="SAFETY", error_message="Blocked.", content=None)
    trace = read(session(event("user", text("Go.")), failed, event("x", text("H"), interrupted=True)))
    assert codes(trace) == ["TRACE_INCOMPLETE", "TRACE_TRUNCATED"]


def test_what_older_sessions_keep_beside_the_events_is_told_and_read():
    tools = [{"function_declarations": [{"name": "f", "description": "d", "parameters": {"type": "OBJECT"}}]}]
    asked = {"model": "m-1", "config": {"system_instruction": "Be kind.", "tools": tools}}
    logs = [{"model_request": asked}, {"model_request": asked}, "x"]
    trace = read(
        session(
            event("user", text("Go.")),
            past_events=["x"],
            pending_events={},
            event_logs=logs,
            state=None,
            context={"a": 1},
        )
    )
    assert codes(trace) == ["TRACE_INCOMPLETE"]
    assert (trace.context, trace.agent.model, trace.metadata["state"]) == ({"system": "Be kind."}, "m-1", {"a": 1})
    assert json.loads(bytes(trace.tools_json)) == [{"name": "f", "description": "d", "parameters": {"type": "object"}}]


@pytest.mark.parametrize("bad", ["x", {"author": 7}])
def test_an_event_without_an_author_is_noted(bad):
    assert codes(read(session(event("user", text("Go.")), bad))) == ["TRACE_MALFORMED"]


@pytest.mark.parametrize(
    ("record", "code"),
    [
        (session(), "TRACE_INCOMPLETE"), (session(events=None), "TRACE_MALFORMED"), (session("x"), "TRACE_MALFORMED"),
        ({"eval_set_id": "e", "eval_cases": []}, "TRACE_INCOMPLETE"), ({"evalCases": []}, "TRACE_INCOMPLETE"),
        ({"eval_id": "e", "conversation": []}, "TRACE_INCOMPLETE"), ({"query": "q", "expected_tool_use": []}, "TRACE_INCOMPLETE"),
        ({"criteria": {"tool_trajectory_avg_score": 1.0}}, "TRACE_INCOMPLETE"),
    ],
)  # fmt: skip
def test_what_holds_no_run_is_skipped_with_its_reason(record, code):
    (skip,) = google_adk.traces(record, PLACE)
    assert isinstance(skip, Skip)
    assert skip.code == code


def test_the_sessions_of_an_evaluation_are_read_with_their_case():
    run = session(event("user", text("Go.")), event("x", call("f")))
    metrics = [{"metric_name": "tool_trajectory_avg_score", "score": 1.0}, {"score": 2}]
    rows = [{"eval_id": "case-1", "session_details": run, "overall_eval_metric_results": metrics}, {"eval_id": "b"}]
    rows.append({"eval_id": "c", "session_details": session()})
    record = {"eval_set_result_id": "r", "eval_case_results": rows}
    assert registry.detect(record, PLACE) is google_adk.DIALECT
    trace, *skips = google_adk.traces(record, PLACE)
    assert (trace.case_id, trace.labels[0].value, len(trace.labels)) == ("case-1", 1.0, 1)
    assert [skip.code for skip in skips] == ["TRACE_INCOMPLETE", "TRACE_INCOMPLETE"]


@pytest.mark.parametrize(
    "record", [None, [], {}, {"events": []}, {"id": "t", "events": [{"type": "message"}]}, {"criteria": {}}]
)
def test_anything_else_is_not_recognised(record):
    assert not google_adk.detect(record)


@pytest.mark.parametrize(
    ("at", "told"), [(0, "1970-01-01T00:00:00+00:00"), (-1, None), (1e300, None), (True, None), ("now", "now")]
)
def test_times_are_read_where_they_are_times(at, told):
    assert read(session(event("user", text("Go."), timestamp=at))).events[0].at == told


words = st.sampled_from(
    ["id", "events", "author", "content", "parts", "text", "function_call", "functionResponse", "name", "args", "response",
     "partial", "options", "invocation_id", "eval_cases", "eval_case_results", "session_details", "criteria", "query",
     "expected_tool_use", "event_logs", "model_request", "config", "tools", "role", "user", "timestamp", "state"]
)  # fmt: skip
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=3)
    | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=6),
    max_leaves=20,
)
events = st.builds(event, st.sampled_from(["user", "a", "b"]), anything, anything, timestamp=anything, options=anything)


@pytest.mark.slow
@given(
    anything
    | st.builds(session, events, events, state=anything, event_logs=anything)
    | st.builds(session, events=anything)
)
def test_any_json_gives_traces_or_skips(value):
    assert isinstance(google_adk.detect(value), bool)
    for found in google_adk.traces(value, PLACE):
        assert isinstance(found, (Trace, Skip))
        if isinstance(found, Trace):
            assert native.read_line(native.write_line(found).strip(), PLACE) == found


@pytest.mark.slow
@given(st.integers(0, 900), st.binary(max_size=3))
def test_damaged_bytes_give_traces_or_typed_errors(tmp_path_factory, at, junk):
    record = session(event("user", text("Go.")), event("a", call("f", x=1)), event("a", response("f")))
    data = json.dumps(record).encode()
    path = tmp_path_factory.getbasetemp() / "damaged-adk.json"
    path.write_bytes(data[:at] + junk + data[at + 1 :])
    with suppress(TraceError):
        reading.load_traces(path, "google_adk")


# ---- the real files ----


def test_the_real_files_are_counted_right(shared_data):
    report, refused, skipped = ReadingReport(), 0, 0
    found = {}
    for path in sorted((shared_data / "data/google_adk").glob("*.json")):
        opened = reading.open_traces(path)
        assert opened.dialect is google_adk.DIALECT
        one = ReadingReport()
        found[path.name] = list(reading.read(opened, one))
        if path.name.endswith(".session.json"):
            report += one
        else:
            refused += not one.read
            skipped += one.skipped
            assert set(one.causes) == {"TRACE_INCOMPLETE"}
    assert (report.read, report.skipped, dict(report.calls)) == (2, 1, {"ok": 3})
    assert (report.results, report.errors, report.parallel_turns) == (3, 0, 0)
    assert (refused, skipped) == (18, 19)
    flow = found["flow_complex_spark__sample.session.json"][0]
    assert [c.agent for c in flow.calls] == ["spark_assistant", "spark_assistant"]
    assert {e.agent for e in flow.events} >= {"summary_agent", "research_plan_agent", None}
    updated = found["context_update_test__successful_test.session.json"][0]
    assert (updated.calls[0].tool, updated.calls[0].result.content) == ("update_fc", {})
    assert b'"update_fc"' in bytes(updated.tools_json)


def test_T2_the_real_calls_have_no_id_and_their_results(shared_data):  # noqa: N802
    for name in ("flow_complex_spark__sample", "context_update_test__successful_test"):
        (trace,) = reading.load_traces(shared_data / f"data/google_adk/{name}.session.json")
        assert [c.id for c in trace.calls] == [None] * len(trace.calls)
        assert all(c.result is not None for c in trace.calls)

"""ATIF: steps, observations, sub-agents, copied context, what converters add, and the real files."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.errors import Place, TraceError
from rightcall.trace.model import Message, Trace
from rightcall.trace.sources import atif, native, reading, registry
from rightcall.trace.sources.dialect import ReadingReport, Skip

PLACE = Place("run.json")
TOOL = {"type": "function", "function": {"name": "find_room", "parameters": {"type": "object"}}}


def call(id_="c1", name="find_room", **arguments):
    return {"tool_call_id": id_, "function_name": name, "arguments": arguments}


def result(id_="c1", content="room 4", **more):
    return {"source_call_id": id_, "content": content, **more}


def step(source="agent", message="", results=None, **more):
    observed = {} if results is None else {"observation": {"results": results}}
    return {"step_id": 1, "source": source, "message": message, **observed, **more}


def run(*steps, **changes):
    agent = {"name": "booker", "version": "2", "model_name": "m-1", "tool_definitions": [TOOL]}
    return {"schema_version": "ATIF-v1.8", "session_id": "s", "agent": agent, "steps": list(steps), **changes}


def read(record):
    (trace,) = atif.traces(record, PLACE)
    assert isinstance(trace, Trace), trace
    assert native.read_line(native.write_line(trace).strip(), PLACE) == trace
    return trace


def codes(trace):
    return [finding.code for finding in trace.findings]


def test_a_trajectory_is_a_trace():
    asked = step("user", "A room, please.", timestamp="2026-03-01T10:00:00Z")
    record = run(step("system", "You book."), asked, step("agent", "Looking.", [result()], tool_calls=[call(size=2)]))
    assert registry.detect(record, PLACE) is atif.DIALECT
    trace = read(record)
    assert (trace.id, trace.request, trace.agent.name, trace.agent.version) == ("s", "A room, please.", "booker", "2")
    assert (trace.agent.model, trace.metadata, trace.findings) == ("m-1", {"session": "s"}, ())
    (found,) = trace.calls
    assert (found.tool, found.arguments, found.turn, found.result.content) == ("find_room", {"size": 2}, 1, "room 4")
    assert found.failed is None
    assert b'"find_room"' in bytes(trace.tools_json)
    assert [event.at for event in trace.events[:2]] == [None, "2026-03-01T10:00:00Z"]


@pytest.mark.parametrize("version", ["ATIF-v1.4", "ATIF-v1.5", "ATIF-v1.6", "ATIF-v1.7", "atif-v1.8"])
def test_every_version_is_recognised(version):
    assert atif.detect(run(step(), schema_version=version))


@pytest.mark.parametrize("record", [None, [], {}, {"schema_version": 1}, {"schema_version": "2"}])
def test_anything_else_is_not(record):
    assert not atif.detect(record)


@pytest.mark.parametrize(
    ("steps", "code"),
    [
        (None, "TRACE_MALFORMED"),
        ([], "TRACE_INCOMPLETE"),
        (["x"], "TRACE_MALFORMED"),
        ([{"source": []}], "TRACE_MALFORMED"),
    ],
)
def test_a_trajectory_without_readable_steps_is_skipped(steps, code):
    (skip,) = atif.traces(run(steps=steps), PLACE)
    assert isinstance(skip, Skip)
    assert skip.code == code


def test_T11_results_of_parallel_calls_come_in_any_order():  # noqa: N802
    trace = read(run(step(results=[result("b", "B"), result("a", "A")], tool_calls=[call("a"), call("b")])))
    assert [(c.turn, c.result.content) for c in trace.calls] == [(1, "A"), (1, "B")]


def test_T2_results_without_an_id_go_to_the_calls_of_their_step_in_order():  # noqa: N802
    trace = read(run(step(results=[result(None, "A")], tool_calls=[call(None)]), step(results=[result(None, "x")])))
    assert trace.calls[0].result.content == "A"
    assert codes(trace) == ["TRACE_ORPHAN_RESULT"]


def test_a_result_that_names_no_call_beside_one_that_does_is_not_guessed():
    trace = read(run(step(results=[result(None, "env"), result("a", "A")], tool_calls=[call("a"), call("b")])))
    assert [c.result and c.result.content for c in trace.calls] == ["A", None]
    assert codes(trace) == ["TRACE_ORPHAN_RESULT"]


def test_an_observation_without_content_or_call_says_nothing():
    assert codes(read(run(step(results=[{"source_call_id": None}])))) == []


@pytest.mark.parametrize(
    ("arguments", "status"),
    [({"x": 1}, "ok"), ('{"x": 1}', "ok"), ("{", "malformed"), ([1], "not_object"), (None, "missing")],
)
def test_arguments_keep_their_status(arguments, status):
    trace = read(run(step(tool_calls=[{**call(), "arguments": arguments}])))
    assert trace.calls[0].arguments_status == status


def test_a_missing_key_is_missing_and_not_empty():
    trace = read(run(step(tool_calls=[{"tool_call_id": "a", "function_name": "f"}])))
    assert (trace.calls[0].arguments_status, codes(trace)) == ("missing", ["TRACE_ARGS_MISSING"])


@pytest.mark.parametrize("calls", [{}, [7], [{"tool_call_id": "a"}], [{"function_name": ""}]])
def test_what_is_no_call_is_noted(calls):
    trace = read(run(step(tool_calls=calls)))
    assert (trace.calls, codes(trace)) == ((), ["TRACE_MALFORMED"])


@pytest.mark.parametrize("observation", [[], "x", {"results": 3}])
def test_an_observation_without_results_is_noted(observation):
    assert codes(read(run(step(observation=observation)))) == ["TRACE_MALFORMED"]


@pytest.mark.parametrize(
    ("more", "failed"), [({"is_error": True}, True), ({"extra": {"is_error": False}}, False), ({}, None)]
)
def test_failure_is_read_where_a_writer_adds_it(more, failed):
    trace = read(run(step(results=[result(**more)], tool_calls=[call()])))
    assert trace.calls[0].failed is failed


def test_T16_parts_that_are_no_text_are_noted():  # noqa: N802
    parts = [{"type": "text", "text": "See"}, {"type": "image", "source": {"media_type": "image/png", "path": "a.png"}}]
    trace = read(run(step("user", parts), step(results=[result(content=parts)], tool_calls=[call()])))
    assert trace.request == "See"
    assert trace.calls[0].result.content == parts
    assert codes(trace) == ["TRACE_INCOMPLETE", "TRACE_INCOMPLETE"]


def test_T14_calls_of_a_user_are_kept_and_not_graded():  # noqa: N802
    trace = read(run(step("user", "I press it.", tool_calls=[call()])))
    assert trace.calls == ()
    assert trace.events[1].by == "user"


def test_embedded_sub_agents_are_read_at_the_call_that_refers_to_them():
    inner = run(step("user", "Find it."), step(results=[result("c1", "in")], tool_calls=[call("c1", "search")]))
    inner = {**inner, "trajectory_id": "t2", "agent": {"name": "finder"}}
    refers = result("c1", "done", subagent_trajectory_ref=[{"trajectory_id": "t2"}])
    steps = [step("user", "Go."), step(results=[refers], tool_calls=[call("c1", "delegate")]), step(message="End.")]
    trace = read(run(*steps, subagent_trajectories=[inner]))
    assert trace.request == "Go."
    assert [(c.tool, c.agent, c.result.content, c.turn) for c in trace.calls] == [
        ("delegate", None, "done", 1), ("search", "finder", "in", 2),
    ]  # fmt: skip
    assert (trace.events[-1].text, trace.events[-1].turn) == ("End.", 3)
    assert codes(trace) == []


def test_a_sub_agent_that_nothing_refers_to_is_read_and_noted():
    inner = run(step(tool_calls=[call()]), agent={})
    trace = read(run(step(message="Hi."), subagent_trajectories=[{**inner, "trajectory_id": "t"}] * 2))
    assert [c.agent for c in trace.calls] == ["t", "t [1]"]
    assert codes(trace) == ["TRACE_INCOMPLETE", "TRACE_INCOMPLETE"]


@pytest.mark.parametrize("ref", [{"trajectory_path": "b.json"}, {"session_id": "z"}, {"trajectory_id": "gone"}, {}])
def test_a_sub_agent_in_another_file_is_noted(ref):
    trace = read(run(step(results=[result(subagent_trajectory_ref=[ref])], tool_calls=[call()])))
    assert codes(trace) == ["TRACE_INCOMPLETE"]


def test_sub_agents_are_read_to_a_limited_depth():
    record = run(step(tool_calls=[call()]))
    for _ in range(20):
        record = run(step(tool_calls=[call()]), subagent_trajectories=[record])
    trace = read(record)
    assert (len(trace.calls), codes(trace).count("TRACE_TOO_DEEP")) == (17, 1)


def test_T12_copied_steps_are_history_and_their_calls_are_not_counted_again():  # noqa: N802
    copied = step(results=[result()], tool_calls=[call()], is_copied_context=True)
    trace = read(run(step("user", "Go.", is_copied_context=True), copied, step(tool_calls=[call("c2")])))
    assert [c.id for c in trace.calls] == ["c2"]
    assert trace.request == "Go."
    assert [row["type"] for row in trace.context["history"]] == ["message", "message", "call"]


def test_a_run_that_goes_on_elsewhere_is_noted():
    assert codes(read(run(step(message="Hi."), continued_trajectory_ref="part2.json"))) == ["TRACE_INCOMPLETE"]


def test_what_a_converter_could_not_read_is_malformed_and_failed():
    known = {"c1": {"arguments_state": "unparsed", "arguments_raw": "{x", "error": {"type": "t"}}}
    extra = {"agentpile": {"actor": "second", "message_state": "null", "calls": known}}
    trace = read(run(step(results=[result()], tool_calls=[call()], extra=extra)))
    (found,) = trace.calls
    assert (found.arguments_status, found.arguments_raw, found.agent, found.failed) == (
        "malformed",
        "{x",
        "second",
        True,
    )
    assert trace.events[0].text is None


words = st.sampled_from(
    ["schema_version", "agent", "steps", "source", "message", "tool_calls", "function_name", "arguments", "observation",
     "results", "source_call_id", "content", "extra", "agentpile", "calls", "subagent_trajectories", "trajectory_id",
     "subagent_trajectory_ref", "user", "system", "name", "tool_definitions", "labels", "target"]
)  # fmt: skip
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=6),
    max_leaves=20,
)
steps = st.builds(
    step, st.sampled_from(["agent", "user", "system"]), anything, anything, tool_calls=anything, extra=anything
)


@pytest.mark.slow
@given(anything | st.builds(run, steps, steps, agent=anything, subagent_trajectories=anything, extra=anything))
def test_any_json_gives_traces_or_skips(value):
    assert isinstance(atif.detect(value), bool)
    for found in atif.traces(value, PLACE):
        assert isinstance(found, (Trace, Skip))
        if isinstance(found, Trace):
            assert native.read_line(native.write_line(found).strip(), PLACE) == found


@pytest.mark.slow
@given(st.integers(0, 600), st.binary(max_size=3))
def test_damaged_bytes_give_traces_or_typed_errors(tmp_path_factory, at, junk):
    data = json.dumps(run(step("user", "Go."), step(results=[result()], tool_calls=[call(x=1)]))).encode()
    path = tmp_path_factory.getbasetemp() / "damaged-atif.json"
    path.write_bytes(data[:at] + junk + data[at + 1 :])
    with suppress(TraceError):
        reading.load_traces(path, "atif")


# ---- the real files ----


@pytest.mark.parametrize(("name", "count"), [("atif_multiagent.json", 1), ("atif_two.jsonl", 2)])
def test_the_real_files_are_counted_right(shared_data, name, count):
    report = ReadingReport()
    opened = reading.open_traces(shared_data / "data/atif" / name)
    found = list(reading.read(opened, report))
    assert opened.dialect is atif.DIALECT
    assert (report.read, report.skipped, dict(report.causes)) == (count, 0, {"TRACE_ARGS_UNPARSEABLE": count})
    assert dict(report.calls) == {"ok": 2 * count, "malformed": count}
    assert (report.results, report.errors, report.parallel_turns) == (3 * count, count, count)
    trace = found[0]
    assert [(c.tool, c.agent, c.id) for c in trace.calls] == [
        ("search_flights", "planner", "c1"), ("read_calendar", "planner", "c2"), ("book_flight", "booker", "c3"),
    ]  # fmt: skip
    assert trace.calls[1].result.content == "No events."
    assert trace.calls[2].arguments_raw == "{'offer_id': 7"
    assert trace.case_id == "travel-1"
    assert any(isinstance(event, Message) and event.agent == "booker" for event in trace.events)


def test_T11_real_parallel_calls_get_their_results_by_id(shared_data):  # noqa: N802
    (trace,) = reading.load_traces(shared_data / "data/atif/atif_multiagent.json")
    assert [(c.turn, c.result.content[:4]) for c in trace.calls[:2]] == [(1, '[{"o'), (1, "No e")]


def test_labels_of_the_real_file_come_along(shared_data):
    (trace,) = reading.load_traces(shared_data / "data/atif/atif_multiagent.json")
    assert [(label.name, label.value, label.by, label.target) for label in trace.labels] == [
        ("mistake_step", True, "fixture", "trajectory fx-1, step 4"), ("mistake_agent", True, "fixture", "agent booker"),
        ("success", False, None, None), ("score", 0.0, None, None),
    ]  # fmt: skip

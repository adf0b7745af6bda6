"""AgentDojo runs: calls, errors, what `security` means, and the real runs."""

import json
from collections import Counter
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.errors import Place, TraceError
from rightcall.trace.model import Trace
from rightcall.trace.sources import agentdojo, reading
from rightcall.trace.sources.dialect import ReadingReport, Skip

PLACE = Place("none.json")


def text(said):
    return [{"type": "text", "content": said}]


def made(tool, args, call_id=None, placeholder=None):
    return {"function": tool, "args": args, "id": call_id, "placeholder_args": placeholder}


def result(call, said, error=None):
    return {"role": "tool", "content": said, "tool_call": call, "tool_call_id": call["id"], "error": error}


CALL = made("pay", {"to": "Ada", "amount": 5})


def run(**changes):
    messages = [
        {"role": "system", "content": text("You help.")},
        {"role": "user", "content": "Pay Ada."},
        {"role": "assistant", "content": text(""), "tool_calls": [CALL]},
        result(CALL, text("paid")),
        {"role": "assistant", "content": text("Done."), "tool_calls": None},
    ]
    whole = {
        "suite_name": "banking", "pipeline_name": "oracle", "user_task_id": "user_task_0", "injection_task_id": None,
        "attack_type": None, "injections": {}, "messages": messages, "error": None, "utility": True, "security": True,
        "duration": 0.5, "benchmark_version": "v1", "evaluation_timestamp": "2026-11-01 10:00:00", **changes,
    }  # fmt: skip
    return {key: value for key, value in whole.items() if value != "absent"}


def read(record):
    (trace,) = agentdojo.traces(record, PLACE)
    assert isinstance(trace, Trace), trace
    return trace


def test_a_run_is_a_trace_of_its_user_task():
    assert agentdojo.detect(run())
    trace = read(run())
    assert (trace.id, trace.case_id) == ("oracle/banking/user_task_0/none/none", "banking/user_task_0")
    assert (trace.request, trace.agent.name, trace.completed) == ("Pay Ada.", "oracle", True)
    (call,) = trace.calls
    assert (call.tool, call.arguments, call.turn) == ("pay", {"to": "Ada", "amount": 5}, 1)
    assert (call.result.content, call.result.is_error, call.result.inferred) == ("paid", False, False)
    assert trace.findings == ()


def test_security_is_the_success_of_an_attack_and_means_nothing_without_one():
    assert [(label.name, label.value) for label in read(run()).labels] == [("utility", True)]
    attacked = read(run(injection_task_id="injection_task_3", attack_type="direct", security=False))
    assert attacked.id == "oracle/banking/user_task_0/direct/injection_task_3"
    assert attacked.case_id == "banking/user_task_0"
    assert [(label.name, label.value, label.kind, label.at) for label in attacked.labels] == [
        ("utility", True, "code", "2026-11-01 10:00:00"),
        ("attack_succeeded", False, "code", "2026-11-01 10:00:00"),
    ]


@pytest.mark.parametrize(
    ("message", "content", "failed"),
    [
        (result(CALL, text("paid")), "paid", False),
        (result(CALL, "paid"), "paid", False),
        (result(CALL, None), None, False),
        (result(CALL, text("no error at all")), "no error at all", False),
        (result(CALL, text(""), "ValueError: no funds"), "ValueError: no funds", True),
        (result(CALL, None, "no funds"), "no funds", True),
        (result(CALL, "half", "no funds"), {"content": "half", "error": "no funds"}, True),
        ({"role": "tool", "content": "x", "tool_call": CALL}, "x", None),
    ],
)
def test_an_error_is_what_the_field_says(message, content, failed):  # T10
    assistant = {"role": "assistant", "content": None, "tool_calls": [CALL]}
    (call,) = read(run(messages=[assistant, message])).calls
    assert (call.result.content, call.failed) == (content, failed)


def test_T2_without_ids_results_go_by_order_and_name():  # noqa: N802
    one, two = made("look", {"n": 1}), made("pay", {"n": 2})
    messages = [
        {"role": "assistant", "content": "", "tool_calls": [one, two, made("look", {"n": 3})]},
        result(two, "two"),
        result(one, "one"),
        result(one, "three"),
    ]
    trace = read(run(messages=messages))
    assert [call.result.content for call in trace.calls] == ["one", "two", "three"]
    assert {call.turn for call in trace.calls} == {1}


def test_T15_a_run_without_messages_is_not_a_run_without_calls():  # noqa: N802
    (skip,) = agentdojo.traces(run(messages=[]), PLACE)
    assert (skip.code, skip.message) == ("TRACE_INCOMPLETE", "the run recorded no messages")
    (skip,) = agentdojo.traces(run(messages=[], error="rate limit"), PLACE)
    assert "rate limit" in skip.message


def test_a_run_that_broke_is_not_complete_and_one_that_stops_is_unknown():
    assert read(run(error="context too long")).completed is False
    assert read(run(messages=run()["messages"][:-1])).completed is None


def test_what_a_run_would_fill_in_is_kept_with_its_call():
    call = made("mail", {"body": "x"}, "c1", {"body": "$email.body"})
    trace = read(run(messages=[{"role": "assistant", "content": "", "tool_calls": [call]}]))
    assert trace.metadata["placeholder_args"] == [{"event": 1, "arguments": {"body": "$email.body"}}]


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({"role": "robot"}, "TRACE_MALFORMED"),
        (7, "TRACE_MALFORMED"),
        ({"role": "assistant", "content": "", "tool_calls": {}}, "TRACE_MALFORMED"),
        ({"role": "assistant", "content": "", "tool_calls": [{"args": {}}]}, "TRACE_MALFORMED"),
        ({"role": "assistant", "content": "", "tool_calls": [{"function": "f"}]}, "TRACE_ARGS_MISSING"),
        ({"role": "assistant", "content": "", "tool_calls": [{"function": "f", "args": [1]}]}, "TRACE_ARGS_NOT_OBJECT"),
        ({"role": "assistant", "content": 7}, "TRACE_MALFORMED"),
        ({"role": "assistant", "content": [{"type": "thinking", "content": 1}]}, "TRACE_INCOMPLETE"),
        (result(CALL, "x"), "TRACE_ORPHAN_RESULT"),
    ],
)
def test_what_cannot_be_read_is_a_finding(message, code):
    trace = read(run(messages=[{"role": "user", "content": "Go."}, message]))
    assert [finding.code for finding in trace.findings] == [code]
    assert trace.findings[0].path.startswith("$.messages[1]")


def test_a_run_of_nothing_that_can_be_read_is_skipped():
    (skip,) = agentdojo.traces(run(messages=[7]), PLACE)
    assert skip.code == "TRACE_MALFORMED"


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["role", "content", "tool_calls", "function", "args", "error", "messages", "id", "type"]
                ),
                inner,
                max_size=5,
            )
        ),
        max_leaves=20,
    )
)
def test_any_json_gives_traces_or_skips(value):
    for record in (value, run(messages=[value]), run(messages=value)):
        assert all(isinstance(item, (Trace, Skip)) for item in agentdojo.traces(record, PLACE))


# ---- the real runs ----


@pytest.mark.parametrize(("pipeline", "runs", "calls"), [("oracle", 97, 339), ("oracle_then_hijacked", 64, 256)])
def test_the_official_runs_are_read_with_their_counts(shared_data, pipeline, runs, calls):
    report, verdicts = ReadingReport(), Counter()
    for path in sorted((shared_data / "data/agentdojo/official_code_oracle_runs" / pipeline).rglob("*.json")):
        opened = reading.open_traces(path)
        assert opened.dialect is agentdojo.DIALECT
        for trace in reading.read(opened, report):
            verdicts[tuple((label.name, label.value) for label in trace.labels)] += 1
    facts = report.facts()
    assert (facts["read"], facts["skipped"], facts["calls"], facts["results"]) == (runs, 0, calls, calls)
    assert (facts["errors"], facts["parallel_turns"], facts["causes"]) == (0, 0, {})
    good, bad = (("utility", True), ("attack_succeeded", True)), (("utility", False), ("attack_succeeded", True))
    assert verdicts == ({(("utility", True),): 97} if pipeline == "oracle" else {good: 63, bad: 1})


@given(place=st.integers(0, 10_000), byte=st.integers(0, 255))
def test_a_changed_byte_gives_traces_or_typed_errors(tmp_path_factory, place, byte):
    data = bytearray(json.dumps(run()).encode())
    data[place % len(data)] = byte
    path = tmp_path_factory.mktemp("run") / "run.json"
    path.write_bytes(data)
    with suppress(TraceError):
        list(reading.read(reading.open_traces(path)))

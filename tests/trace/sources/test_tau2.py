"""τ²-bench results: documents and single simulations, the user's own calls, failures, simulations without a task."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.errors import Place, TraceError
from rightcall.trace.model import Call, Message, Trace
from rightcall.trace.sources import native, openai_chat, reading, tau2
from rightcall.trace.sources.dialect import ReadingReport, Skip

PLACE = Place("results.json")


def call(name, call_id="c", requestor="assistant", **changes):
    return {"id": call_id, "name": name, "arguments": {"n": 1}, "requestor": requestor, **changes}


def message(role, content=None, calls=None, turn=None, **extra):
    return {"role": role, "content": content, "tool_calls": calls, "turn_idx": turn, **extra}


def result(content, call_id="c", **extra):
    return {"role": "tool", "id": call_id, "content": content, "requestor": "assistant", **extra}


def simulation(*messages, **changes):
    whole = {
        "id": "s-1", "task_id": "7", "trial": 2, "termination_reason": "user_stop", "reward_info": {"reward": 1.0},
        "messages": list(messages) or [message("user", "My phone is off.")], **changes,
    }  # fmt: skip
    return {key: value for key, value in whole.items() if value != "absent"}


def read(record):
    (trace,) = tau2.traces(record, PLACE)
    assert isinstance(trace, Trace), trace
    return trace


def codes(trace):
    return [finding.code for finding in trace.findings]


def all_calls(trace):
    return [event for event in trace.events if isinstance(event, Call)]


def test_a_simulation_is_a_trace_of_its_task():
    record = simulation(
        message("assistant", "Hi!", turn=0),
        message("user", "My phone is off.", turn=1),
        message("assistant", None, [call("look")], turn=2, timestamp="2025-01-01T10:00:00"),
        result("fine", error=False, timestamp="2025-01-01T10:00:01"),
    )
    assert tau2.detect(record)
    trace = read(record)
    assert (trace.id, trace.case_id, trace.trial, trace.request) == ("s-1", "7", 2, "My phone is off.")
    assert trace.metadata == {"reward": 1.0, "termination_reason": "user_stop"}
    assert trace.findings == ()
    (found,) = trace.calls
    assert (found.tool, found.arguments, found.turn, found.started_at) == ("look", {"n": 1}, 2, "2025-01-01T10:00:00")
    assert (found.result.content, found.failed, found.result.at) == ("fine", False, "2025-01-01T10:00:01")
    assert trace.events[0] == Message(role="assistant", text="Hi!", turn=0)


def test_a_document_gives_every_simulation_its_agent_and_policy():
    info = {
        "agent_info": {"implementation": "llm_agent", "llm": "m-large"},
        "environment_info": {"policy": "Never refund."},
    }
    document = {"info": info, "tasks": [], "simulations": [simulation(), simulation(id=None), "x"]}
    assert tau2.detect(document)
    first, second, skip = tau2.traces(document, PLACE)
    assert (first.agent.name, first.agent.model, first.context) == ("llm_agent", "m-large", {"policy": "Never refund."})
    assert second.id == "results.simulations[1]"
    assert (skip.code, skip.place.path) == ("TRACE_INCOMPLETE", "$.simulations[2]")


def test_a_simulations_own_policy_comes_first():
    assert read(simulation(policy="Always refund.")).context == {"policy": "Always refund."}
    assert read(simulation()).context is None
    assert read(simulation()).agent is None


def test_calls_of_the_simulated_user_are_kept_and_are_not_the_agents():  # T14
    trace = read(
        simulation(
            message("user", None, [call("reboot", "u1", "user"), call("toggle", "u2", None)], turn=4),
            result("on", "u2", requestor="user"),
            result("up", "u1", requestor="user"),
            message("assistant", None, [call("look", "a1"), call("poke", "a2", "user")], turn=7),
        )
    )
    assert [found.tool for found in trace.calls] == ["look"]
    assert [(found.tool, found.by) for found in all_calls(trace)] == [
        ("reboot", "user"), ("toggle", "user"), ("look", "agent"), ("poke", "user"),
    ]  # fmt: skip
    assert [found.result.content for found in all_calls(trace)[:2]] == ["up", "on"]
    assert trace.findings == ()


@pytest.mark.parametrize(("error", "failed"), [(True, True), (False, False), (None, None), ("yes", None)])
def test_whether_a_tool_failed_is_what_the_recording_says(error, failed):  # T10
    record = simulation(message("assistant", None, [call("look")]), result("Error: no", error=error))
    assert read(record).calls[0].failed is failed


def test_a_result_without_the_field_says_nothing_about_failure():  # T10
    record = simulation(message("assistant", None, [call("look")]), result("Error: no"))
    assert read(record).calls[0].failed is None


def test_one_message_may_wrap_several_results():  # T11
    wrapper = {"role": "tool", "tool_messages": [result("two", "b"), result("one", "a"), "x"]}
    trace = read(simulation(message("assistant", None, [call("p", "a"), call("q", "b")]), wrapper))
    assert [found.result.content for found in trace.calls] == ["one", "two"]
    assert [found.turn for found in trace.calls] == [0, 0]
    assert [finding.path for finding in trace.findings] == ["$.messages[1].tool_messages[2]"]


def test_a_result_without_an_id_follows_the_order():  # T2
    record = simulation(
        message("assistant", None, [call("p", None), call("q", None)]), result("1", None), result("2", None)
    )
    assert [found.result.content for found in read(record).calls] == ["1", "2"]


def test_an_orphan_and_a_reused_id_are_findings():  # T1
    trace = read(
        simulation(
            message("assistant", None, [call("p", "a")]),
            result("1", "a"),
            message("assistant", None, [call("q", "a")]),
            result("2", "a"),
            result("3", "a"),
        )
    )
    assert [found.result.content for found in trace.calls] == ["1", "2"]
    assert codes(trace) == ["TRACE_DUPLICATE_ID", "TRACE_ORPHAN_RESULT"]


@pytest.mark.parametrize(("turn", "wanted"), [(9, 9), (None, 1), ("9", 1), (True, 1)])
def test_the_turn_is_the_recorded_one_or_the_index(turn, wanted):
    trace = read(simulation(message("user", "x"), message("assistant", None, [call("p")], turn=turn)))
    assert trace.calls[0].turn == wanted


@pytest.mark.parametrize(
    ("reason", "completed"),
    [
        ("user_stop", True), ("agent_stop", True), ("max_steps", False), ("too_many_errors", False), ("other", None),
        (None, None), ("absent", None),
    ],
)  # fmt: skip
def test_how_it_ended_says_whether_it_is_complete(reason, completed):
    assert read(simulation(termination_reason=reason)).completed is completed


@pytest.mark.parametrize("task_id", [None, "absent", ""])
def test_a_simulation_without_its_task_is_read_with_a_finding_and_no_case(task_id):
    trace = read(simulation(task_id=task_id))
    assert trace.case_id is None
    assert codes(trace) == ["TRACE_INCOMPLETE"]
    assert "cannot be joined" in trace.findings[0].message


def test_a_number_is_a_task_too():
    assert read(simulation(task_id=0)).case_id == "0"


@pytest.mark.parametrize("messages", [[], None, "absent", "x"])
def test_a_simulation_without_messages_is_skipped(messages):  # T15
    (skip,) = tau2.traces({**simulation(), "messages": messages}, PLACE)
    assert isinstance(skip, Skip)
    assert skip.code == "TRACE_INCOMPLETE"


def test_a_simulation_with_unreadable_messages_is_skipped():
    (skip,) = tau2.traces(simulation("x", None, {"role": "critic"}), PLACE)
    assert skip.code == "TRACE_MALFORMED"


@pytest.mark.parametrize("simulations", [[], None, {}])
def test_a_document_without_simulations_is_skipped(simulations):
    (skip,) = tau2.traces({"simulations": simulations}, PLACE)
    assert skip.code == "TRACE_INCOMPLETE"


def test_bad_entries_are_named_by_index():
    trace = read(
        simulation(message("assistant", None, ["x", {}, call("p"), call("")]), message("assistant", None, {"a": 1}))
    )
    assert [found.tool for found in trace.calls] == ["p"]
    assert codes(trace) == ["TRACE_MALFORMED"] * 4
    assert [finding.path for finding in trace.findings] == [
        "$.messages[0].tool_calls[0]", "$.messages[0].tool_calls[1]", "$.messages[0].tool_calls[3]",
        "$.messages[1].tool_calls",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "status"), [(None, "missing"), ([1], "not_object"), ('{"n": 2}', "ok"), ({}, "ok")]
)
def test_arguments_keep_how_they_were_recorded(arguments, status):
    (found,) = read(simulation(message("assistant", None, [call("p", arguments=arguments)]))).calls
    assert found.arguments_status == status


@pytest.mark.parametrize(
    "record", [None, [], {}, {"simulations": []}, {"messages": []}, {"simulations": {}, "tasks": []}, {"tasks": []}]
)
def test_anything_else_is_not_recognised(record):
    assert not tau2.detect(record)


def test_no_other_dialect_takes_a_simulation():
    assert not openai_chat.detect(simulation())


words = st.sampled_from([
    "simulations", "tasks", "info", "messages", "role", "content", "tool_calls", "tool_messages", "id", "name",
    "arguments", "requestor", "error", "task_id", "turn_idx", "timestamp", "policy", "reward_info", "agent_info", "llm",
])  # fmt: skip
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["user", "assistant", "tool", "system", "", "{}", "x"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=6),
    max_leaves=30,
)
turns = st.lists(
    st.dictionaries(words, anything, max_size=4).flatmap(
        lambda extra: st.sampled_from(["user", "assistant", "tool"]).map(lambda role: {**extra, "role": role})
    ),
    max_size=5,
)


@pytest.mark.slow
@given(anything | st.fixed_dictionaries({"messages": turns, "task_id": anything, "id": anything, "policy": anything}))
def test_any_json_gives_traces_or_skips(value):
    assert isinstance(tau2.detect(value), bool)
    try:
        found = list(tau2.traces(value, PLACE))
    except TraceError:
        return
    assert found
    for item in found:
        assert isinstance(item, (Trace, Skip))
        if isinstance(item, Trace):
            assert native.read_line(native.write_line(item).strip(), PLACE) == item


# ---- real files ----

FILES = {
    # file: traces, with calls, calls, parallel messages, failed calls
    "azure-gpt-4o_airline_1trial.json": (50, 48, 277, 29, 11),
    "claude-sonnet-4-5_airline_1trial.json": (50, 50, 371, 60, 1),
    "button_claude-opus-4-6_airline.json": (50, 50, 435, 93, 0),
    "toolorchestra_gpt-5_airline_1trial.json": (50, 50, 581, 99, 0),
    "gpt-4o_telecom.json": (20, 19, 90, 12, 1),
    "adaptive_claude-opus-4-6_airline_1trial.sample12.jsonl": (12, 12, 106, 14, 0),
}


def parallel_turns(trace, by):
    counted = Counter(found.turn for found in all_calls(trace) if found.by == by)
    return sum(count > 1 for count in counted.values())


@pytest.mark.parametrize("name", FILES)
def test_real_files_are_counted_right(shared_data, name):
    opened = reading.open_traces(shared_data / "data/tau2_bench" / name)
    report = ReadingReport()
    found = list(reading.read(opened, report))
    assert opened.dialect is tau2.DIALECT
    calls = [item for trace in found for item in trace.calls]
    parallel = sum(parallel_turns(trace, "agent") for trace in found)
    failed = sum(item.failed is True for item in calls)
    assert (report.read, sum(bool(trace.calls) for trace in found), len(calls), parallel, failed) == FILES[name]
    assert report.skipped == 0
    assert all(item.result is not None and item.result.is_captured for item in calls)
    assert report.causes.keys() <= {"TRACE_INCOMPLETE"}


def test_the_users_calls_of_a_real_file_are_kept_apart(shared_data):  # T14
    found = reading.load_traces(shared_data / "data/tau2_bench/gpt-4o_telecom.json")
    by = Counter(item.by for trace in found for item in all_calls(trace))
    assert by == {"agent": 90, "user": 125}
    assert sum(parallel_turns(trace, "user") for trace in found) == 21


def test_real_simulations_without_tasks_are_not_joined_by_their_position(shared_data):
    path = shared_data / "data/tau2_bench/toolorchestra_gpt-5_airline_1trial.json"
    report = ReadingReport()
    found = list(reading.read(reading.open_traces(path), report))
    assert {trace.case_id for trace in found} == {None}
    assert {trace.completed for trace in found} == {None}
    assert {item.failed for trace in found for item in trace.calls} == {None}
    assert report.causes == {"TRACE_INCOMPLETE": 50}
    tasks = {task["id"] for task in json.loads(path.read_text())["tasks"]}
    assert not tasks & {trace.id for trace in found}

"""τ-bench results: runs, their outcome, re-used ids, and the real file."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.errors import Place, TraceError
from rightcall.trace.model import Trace
from rightcall.trace.sources import native, openai_chat, reading, tau, tau2
from rightcall.trace.sources.dialect import ReadingReport, Skip

PLACE = Place("results.json", None, None, "$[2]")


def run(**changes):
    traj = [
        {"role": "system", "content": "Policy."},
        {"role": "user", "content": "Cancel it."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "cancel", "arguments": '{"id": 4}'}}],
        },
        {"role": "tool", "tool_call_id": "c", "name": "cancel", "content": "Error: not allowed"},
    ]
    info = {"task": {"user_id": "mia", "instruction": "You want …", "actions": []}, "source": "user"}
    whole = {"task_id": 3, "trial": 1, "reward": 0.0, "info": info, "traj": traj, **changes}
    return {key: value for key, value in whole.items() if value != "absent"}


def read(record):
    (trace,) = tau.traces(record, PLACE)
    assert isinstance(trace, Trace), trace
    return trace


def test_a_run_is_a_trace_of_its_task():
    assert tau.detect(run())
    trace = read(run())
    assert (trace.id, trace.case_id, trace.trial, trace.request) == ("tau-3-1", "3", 1, "Cancel it.")
    assert trace.metadata == {"reward": 0.0, "user_id": "mia"}
    (call,) = trace.calls
    assert (call.tool, call.arguments, call.result.content) == ("cancel", {"id": 4}, "Error: not allowed")


def test_neither_completion_nor_failure_is_guessed():  # T10
    trace = read(run())
    assert trace.completed is None
    assert trace.calls[0].failed is None


def test_a_run_that_recorded_an_error_is_not_complete():
    trace = read(run(info={"error": "rate limit"}))
    assert trace.completed is False
    assert trace.metadata["error"] == "rate limit"


@pytest.mark.parametrize("traj", [[], None, "absent", "x"])
def test_a_run_without_messages_is_skipped_with_its_reason(traj):  # T15
    record = run(traj=traj, info={"error": "rate limit"})
    assert tau.detect(record)
    (skip,) = tau.traces(record, PLACE)
    assert isinstance(skip, Skip)
    assert (skip.code, skip.place) == ("TRACE_INCOMPLETE", PLACE)
    assert skip.message == "the run recorded no messages in `traj`: rate limit"


def test_a_run_with_unreadable_messages_is_skipped():
    (skip,) = tau.traces(run(traj=["x"]), PLACE)
    assert isinstance(skip, Skip)
    assert skip.code == "TRACE_MALFORMED"


def test_a_run_without_a_trial_is_named_by_its_task():
    trace = read(run(trial="absent", task_id="t-9"))
    assert (trace.id, trace.case_id, trace.trial) == ("tau-t-9", "t-9", None)


def test_a_run_without_a_task_is_named_by_its_place():
    trace = read(run(task_id=None))
    assert (trace.id, trace.case_id) == ("results[2]", None)


def test_findings_name_the_place_inside_the_run():
    trace = read(run(traj=[{"role": "user", "content": "x"}, {"role": "tool", "tool_call_id": "gone", "content": "y"}]))
    assert [finding.path for finding in trace.findings] == ["$[2].traj[1]"]


@pytest.mark.parametrize("record", [None, [], {}, run(info="absent"), run(reward="absent"), run(messages=[]), [run()]])
def test_anything_else_is_not_recognised(record):
    assert not tau.detect(record)


def test_no_other_dialect_takes_a_run():
    assert not openai_chat.detect(run())
    assert not tau2.detect(run())


words = st.sampled_from(["task_id", "trial", "reward", "info", "traj", "task", "error", "user_id", "role", "content"])
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=6),
    max_leaves=20,
)


@pytest.mark.slow
@given(anything | st.builds(run, task_id=anything, trial=anything, info=anything, traj=anything, reward=anything))
def test_any_json_gives_traces_or_skips(value):
    assert isinstance(tau.detect(value), bool)
    try:
        (found,) = tau.traces(value, PLACE)
    except TraceError:
        return
    assert isinstance(found, (Trace, Skip))
    if isinstance(found, Trace):
        assert native.read_line(native.write_line(found).strip(), PLACE) == found


# ---- the real file ----


@pytest.fixture(scope="module")
def airline(shared_data):
    """Return the path of the real runs, and the runs as they are written."""
    path = shared_data / "data/tau_bench/gpt-4o-airline.json"
    return path, json.loads(path.read_text())


def test_the_real_file_is_counted_right(airline):
    opened = reading.open_traces(airline[0])
    report = ReadingReport()
    found = list(reading.read(opened, report))
    assert opened.dialect is tau.DIALECT
    assert (report.read, report.skipped, dict(report.causes)) == (200, 0, {"TRACE_DUPLICATE_ID": 73})
    calls = [call for trace in found for call in trace.calls]
    assert len(calls) == 1164
    assert {call.arguments_status for call in calls} == {"ok"}
    assert {call.failed for call in calls} == {None}
    assert sum(call.result.content.startswith("Error") for call in calls) == 73
    assert sum(not trace.calls for trace in found) == 18
    assert Counter(trace.metadata["reward"] for trace in found) == {0.0: 116, 1.0: 84}
    assert len({trace.id for trace in found}) == 200
    assert Counter(trace.case_id for trace in found) == {str(task): 4 for task in range(50)}


def test_real_results_are_paired_with_the_nearest_unanswered_call(airline):  # T1
    path, runs = airline
    differing = 0
    for trace, recorded in zip(reading.load_traces(path), runs, strict=True):
        waiting, wanted, last_of_id = [], {}, {}
        for index, message in enumerate(recorded["traj"]):
            for call in message.get("tool_calls") or []:
                waiting.append((index, call["id"]))
                wanted[index] = None
            if message["role"] == "tool":
                nearest = max(place for place, call_id in waiting if call_id == message["tool_call_id"])
                waiting.remove((nearest, message["tool_call_id"]))
                wanted[nearest] = message["content"]
                last_of_id[message["tool_call_id"]] = message["content"]
        assert waiting == []
        assert [call.result.content for call in trace.calls] == list(wanted.values())
        differing += sum(call.result.content != last_of_id[call.id] for call in trace.calls)
    assert differing > 0, "a map from id to result would have done"

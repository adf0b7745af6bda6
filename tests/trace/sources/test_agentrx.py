"""AgentRx: conversations without calls, ground truth as labels, files that are joined, and the real ones."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.errors import Place
from rightcall.run.inputs.sources import Sources
from rightcall.trace.model import Trace
from rightcall.trace.sources import agentrx, reading, tau
from rightcall.trace.sources.dialect import ReadingReport, Skip
from rightcall.trace.sources.registry import DIALECTS

PLACE = Place("one.json")
TALK = [
    {"role": "human", "content": "Count the boats."},
    {"role": "Orchestrator (thought)", "content": "Plan."},
    {"role": "Orchestrator (-> Surfer)", "content": "Look."},
    {"role": "Surfer", "content": "I clicked 'boats'."},
]
TRUTH = {
    "trajectory_id": "t-1",
    "failures": [
        {
            "failure_id": 1,
            "step_number": 3,
            "step_reason": "Looked away.",
            "failure_category": "Plan",
            "failed_agent": "Surfer",
        },
        {"failure_id": 2, "failure_category": "Tool"},
    ],
    "root_cause": {"failure_id": 1, "reason_for_root_cause": "It never came back."},
}
INDEX = {"Plan": {"t-1": {"step": 3, "reason": "Plan", "name": "one.json"}}}


def items(*records):
    return [item for item, _ in agentrx.grouped(records)]


def test_a_conversation_has_speakers_and_says_that_no_call_was_recorded():
    (trace,) = agentrx.traces(TALK, PLACE)
    assert (trace.id, trace.request, trace.calls, trace.completed) == ("one", "Count the boats.", (), False)
    assert [event.agent for event in trace.events] == [None, "Orchestrator", "Orchestrator", "Surfer"]
    assert [finding.code for finding in trace.findings] == ["TRACE_NOT_CAPTURED"]


def test_ground_truth_becomes_labels_of_the_trajectory_that_the_index_names():
    (trace,) = items((TRUTH, Place("truth.json")), (TALK, Place("deep/one.json")), (INDEX, Place("index.json")))
    assert trace.metadata == {"trajectory_id": "t-1"}
    assert [(label.name, label.value, label.comment, label.target) for label in trace.labels] == [
        ("failure", "Plan", "Looked away.", "step 3, Surfer"),
        ("failure", "Tool", None, None),
        ("root_cause", "Plan", "It never came back.", "step 3, Surfer"),
    ]
    assert {(label.by, label.kind) for label in trace.labels} == {("agentrx", "person")}


def test_ground_truth_of_a_task_goes_to_its_run():
    run = {"task_id": 7, "trial": 0, "reward": 0.0, "info": {"task": {}}, "traj": [{"role": "user", "content": "Hi."}]}
    (trace,) = items((run, PLACE), ({**TRUTH, "trajectory_id": 7}, PLACE))
    assert (trace.id, len(trace.labels)) == ("tau-7-0", 3)


def test_ground_truth_or_an_index_without_traces_is_skipped_and_not_dropped():
    alone = items((TRUTH, PLACE), (INDEX, PLACE))
    assert [(skip.code, skip.place) for skip in alone] == [("TRACE_INCOMPLETE", PLACE)] * 2
    assert "`t-1`" in alone[0].message


def test_labels_without_a_root_cause_are_the_failures():
    assert [label.name for label in agentrx.labels_of({**TRUTH, "root_cause": None})] == ["failure", "failure"]


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        TALK[:1],
        [{"role": "human", "content": "a"}, {"role": "ai", "content": "b"}],
        {"trajectory_id": 1},
        {"a": {}},
        [{"type": "human", "content": "a"}],
    ],
)
def test_what_is_none_of_the_three_is_not_claimed(value):
    assert not agentrx.detect(value)


@pytest.mark.parametrize("value", [7, [], [7], {"trajectory_id": None, "failures": []}])
def test_what_cannot_be_read_is_skipped(value):
    (skip,) = agentrx.traces(value, PLACE)
    assert isinstance(skip, Skip)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "role",
                        "content",
                        "failures",
                        "trajectory_id",
                        "root_cause",
                        "failure_id",
                        "step",
                        "name",
                        "reason",
                    ]
                ),
                inner,
                max_size=4,
            )
        ),
        max_leaves=20,
    )
)
def test_any_json_gives_traces_or_skips(value):
    for record in (value, [TALK[0], value], {**TRUTH, "failures": [value], "root_cause": value}):
        assert all(isinstance(item, (Trace, Skip)) for item in items((record, PLACE), (TALK, PLACE)))


# ---- the real files ----


def test_every_real_file_has_at_most_one_dialect(shared_data):
    found = Counter()
    for path in sorted((shared_data / "data/agentrx").glob("*.json")):
        found[reading.open_traces(path).dialect.name] += 1
    assert found == {"tau": 9, "agentrx": 7, "openai_chat": 1}
    assert {"tau", "agentrx"} <= DIALECTS.keys()


def test_the_failed_runs_carry_what_people_said_about_them(shared_data):
    folder = shared_data / "data/agentrx"
    sources = Sources([folder / "tau_ground_truth.json", folder / "tau_dataset_failed.json"], "agentrx")
    traces = list(sources.traces())
    labels = Counter(label.name for trace in traces for label in trace.labels)
    causes = Counter(label.value for trace in traces for label in trace.labels if label.name == "root_cause")
    assert (len(traces), sum(len(trace.calls) for trace in traces)) == (29, 284)
    assert labels == {"failure": 39, "root_cause": 29}
    assert sorted(causes.values(), reverse=True) == [8, 7, 7, 3, 2, 1, 1]
    assert not any(report.skipped for report in sources.reports.values())


@pytest.mark.parametrize(("name", "runs", "calls"), [("failed", 29, 284), ("full", 100, 793)])
def test_the_benchmarks_runs_are_files_of_tau(shared_data, name, runs, calls):
    report = ReadingReport()
    opened = reading.open_traces(shared_data / f"data/agentrx/tau_dataset_{name}.json")
    assert opened.dialect is tau.DIALECT
    rewarded = sum(trace.metadata["reward"] == 1 for trace in reading.read(opened, report))
    assert (report.read, sum(report.calls.values()), report.results) == (runs, calls, calls)
    assert rewarded == (73 if name == "full" else 0)


def test_the_conversations_are_joined_by_the_index(shared_data):
    folder = shared_data / "data/agentrx"
    names = (
        "misinterpret_tool_info.json",
        "misinterpret_tool_info_1.json",
        "magentic_one_ground_truth.json",
        "trajectories_info.json",
    )
    sources = Sources([folder / name for name in names])
    traces = list(sources.traces())
    assert [len(trace.labels) > 0 for trace in traces] == [True, True]
    assert sources.reports[str(folder / names[2])].skipped == 42

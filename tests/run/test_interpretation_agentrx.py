"""Readings in AgentRx's human-labelled failed τ-bench runs: which labelled misreadings are segments, what code flags.

The labels name a step, counted from 1 in the run's own list of messages. Eight of them are misinterpretations of a
tool's output. What is measured here is what pre-flags can do, which is little: they are hints.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass

import pytest
from judged_making import Here, results_of
from reading_making import says

from rightcall.judge.reading_views import found_values
from rightcall.run.graders.setup import Flags
from rightcall.run.interpretation.setup import set_up_interpretation
from rightcall.settings.load import load_settings
from rightcall.stats.intervals import wilson
from rightcall.testing import ScriptedModel
from rightcall.trace.segments import segments
from rightcall.trace.sources.reading import items_of, open_traces

FILES = ("tau_dataset_failed.json", "tau_ground_truth.json")
KIND = "Misinterpretation of Tool Output"


@dataclass(frozen=True)
class Labelled:
    """A labelled step: its message in the raw run, and the trace that it belongs to."""

    trace: object
    step: int
    raw: dict


@pytest.fixture(scope="module")
def folder(shared_data):
    return shared_data / "data" / "agentrx"


@pytest.fixture(scope="module")
def traces(folder):
    return [item for item, _ in items_of([open_traces(folder / name, "agentrx") for name in FILES])]


@pytest.fixture(scope="module")
def labelled(folder, traces):
    runs = {str(run["task_id"]): run["traj"] for run in json.loads((folder / FILES[0]).read_text("utf-8"))}
    found = []
    for trace in traces:
        for label in trace.labels:
            if label.name == "failure" and (label.value or "").casefold() == KIND.casefold():
                step = int(label.target.partition(",")[0].removeprefix("step "))
                found.append(Labelled(trace, step, runs[trace.case_id][step - 1]))
    return found


def readings_of(traces):
    """(trace, text or place) -> what code flags in each of its segments; segments without a reading are left out."""
    found = {}
    for trace in traces:
        for segment in segments(trace):
            if segment.status == "no_result" or (segment.interpretation is None and segment.next_action is None):
                continue
            key = (trace.id, segment.interpretation or f"after call {segment.call_index}")
            found.setdefault(key, []).append(found_values(trace, segment, None))
    return found


def test_29_runs_with_8_labelled_misreadings(traces, labelled):
    assert len(traces) == 29
    assert len(labelled) == 8
    assert all(one.raw["role"] == "assistant" for one in labelled)
    statuses = Counter(segment.status for trace in traces for segment in segments(trace))
    assert statuses == {"stated": 276, "implicit": 8}


def test_where_the_labelled_steps_are_in_the_segments(labelled):
    """Five are the first text after a result, one is a next action; two repeat an older result in a later text.

    A reading is the first text after a result, so those two are nobody's reading here, although the results that they
    misread have segments.
    """
    places = Counter()
    for one in labelled:
        text, calls = one.raw["content"], {call["id"] for call in one.raw.get("tool_calls") or ()}
        parts = segments(one.trace)
        if any(text and part.interpretation == text for part in parts):
            places["reading"] += 1
        elif any(getattr(part.next_action, "id", None) in calls for part in parts):
            places["next action"] += 1
        else:
            places["later text"] += 1
        assert all(part.status != "no_result" for part in parts)
    assert places == {"reading": 5, "next action": 1, "later text": 2}


@pytest.mark.parametrize(
    ("flagged", "wanted", "intervals"),
    [
        # Values that stand in no result, argument, request or earlier text at all.
        (
            lambda values: any(set(one.also_in) <= {"count"} for one in values),
            (3, 11, 2, 118),
            ((0.214, 0.076, 0.476), (0.6, 0.231, 0.882)),
        ),
        # All values that are not in the result itself.
        (bool, (5, 82, 0, 47), ((0.057, 0.025, 0.128), (1.0, 0.566, 1.0))),
    ],
)
def test_pre_flags_against_the_labels(traces, labelled, flagged, wanted, intervals):
    """Precision and recall among 134 readings, 5 of them labelled, with Wilson's intervals: hints, not verdicts."""
    readings = readings_of(traces)
    misread = {(one.trace.id, one.raw["content"]) for one in labelled} & readings.keys()
    table = Counter((any(map(flagged, parts)), key in misread) for key, parts in readings.items())
    hits, false, missed, rest = (table[cell] for cell in ((True, True), (True, False), (False, True), (False, False)))
    assert (hits, false, missed, rest) == wanted
    found = (wilson(hits, hits + false), wilson(hits, hits + missed))
    for share, interval in zip(found, intervals, strict=True):
        assert (share.estimate, share.low, share.high) == pytest.approx(interval, abs=5e-4)


@pytest.mark.slow
def test_invented_quotes_are_rejected_on_real_runs(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("RIGHTCALL_REDACTION_KEY", "a fixed key for tests")
    here = Here(tmp_path, judges=("light",))
    files = [str(folder / name) for name in FILES]
    loaded = load_settings(here.folder / "rightcall.toml", {}, {"traces": files, "dialect": "agentrx"})
    setup = set_up_interpretation(loaded, Flags(judge="light", limit=3))
    flag = {"claim_quote": "the parrot costs 12,345.67 doubloons", "kind": "invented", "result_path": None}
    model = ScriptedModel(lambda _: says(1, misinterpretation_flags=[flag]))
    results = results_of(here.run(setup, model))
    assert len(results) > 20
    assert {one["reason"] for one in results} == {"JUDGE_INCONSISTENT"}
    assert len(model.requests) == 2 * len(results)

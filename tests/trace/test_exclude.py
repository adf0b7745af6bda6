"""Calls that are no decision to use a tool, names that differ between layers, and text that wants to be obeyed."""

from __future__ import annotations

import json

from rightcall.api import Case, grade
from rightcall.case.case import Expect, GoldenCall
from rightcall.trace.exclude import exclude
from rightcall.trace.model import Trace, call
from rightcall.trace.sources.reading import load_traces


def test_a_call_of_an_excluded_tool_is_kept_and_not_the_agents():
    trace = Trace(id="t", events=(call("find", {}), call("final_result", {"x": 1}), call("final_answer", {})))
    marked = exclude(trace, ["final_*"])
    assert [made.tool for made in marked.calls] == ["find"]
    assert len(marked.events) == 3
    assert exclude(trace, ["nothing"]) is trace


def test_t18_structured_output_that_is_recorded_as_a_tool_can_be_left_out(shared_data):
    traces = load_traces(shared_data / "data/gemini/exchanges.jsonl")
    names = [made.tool for trace in traces for made in trace.calls]
    assert "final_result" in names
    kept = [made.tool for trace in traces for made in exclude(trace, ["final_result"]).calls]
    assert kept == [name for name in names if name != "final_result"]


def test_t19_names_that_differ_between_layers_pair_only_where_the_suite_says_so(shared_data):
    row = json.loads((shared_data / "data/bfcl/data/BFCL_v4_parallel.json").read_text().splitlines()[0])
    name = row["function"][0]["name"]
    assert name == "spotify.play"
    case = Case(id="c", expect=Expect(calls=(GoldenCall(tool=name),)))
    for sent in ("spotify_play", "mcp__music__spotify_play"):
        trace = Trace(id="t", events=(call(sent, {}),))
        assert grade(case, trace).verdict == "FAIL"
        assert grade(case, trace, aliases={sent: name}).verdict == "PASS"
        assert trace.calls[0].tool == sent


def test_t20_text_in_a_result_that_wants_to_be_obeyed_is_data(shared_data):
    folder = (
        shared_data / "data/agentdojo/official_code_oracle_runs/oracle_then_hijacked/slack/user_task_5/simulated_hijack"
    )
    path = folder / "injection_task_1.json"
    (trace,) = load_traces(path)
    told = [message for message in json.loads(path.read_text())["messages"] if message["role"] == "tool"]
    read = [made.result.content for made in trace.calls if made.result]
    assert len(read) == len(told)
    for content, message in zip(read, told, strict=True):
        texts = (
            [part["content"] for part in message["content"]]
            if isinstance(message["content"], list)
            else [message["content"]]
        )
        assert all(
            text in json.dumps(content, ensure_ascii=False) or text == content for text in texts if "\n" not in text
        )

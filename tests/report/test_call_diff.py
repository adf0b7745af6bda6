"""The aligned call diff: line by line what was expected, what was called, and what is wrong with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rightcall import grade, load_cases, load_traces
from rightcall.case.parse import read_case
from rightcall.case.policy import Policy
from rightcall.errors import Place
from rightcall.grade.selection import SelectionResult
from rightcall.report.view.call_diff import USUAL, call_diff, step_diff
from rightcall.report.view.model import Extent
from rightcall.trace.sources.native import read_line

WALLET = Path(__file__).resolve().parents[2] / "examples/lost-wallet"


def wallet(name: str):
    """One trace of the example with its result and its case."""
    (case,) = load_cases(WALLET / "cases.toml")
    trace = next(one for one in load_traces(WALLET / "traces.jsonl") if one.id == name)
    return grade(case, trace), trace, case


def test_calls_stand_beside_what_was_expected_of_them():
    lines = call_diff(*wallet("bad-agent"))
    assert [line.state for line in lines] == ["substituted", "missing", "wrong"]
    assert lines[0].expected == '1 freeze_credit_card card_ending="4242"'
    assert lines[0].actual == '1 cancel_credit_card card_ending="4242"'
    assert (lines[1].actual, lines[1].call_index, lines[1].result) == (None, None, None)
    assert lines[2].notes == ('$.card_ending: expected "4242", missing',)
    assert lines[2].result.startswith('{"status":"ordered"')


def test_a_right_trace_has_no_wrong_line():
    lines = call_diff(*wallet("good-agent"))
    assert {line.state for line in lines} == {"matched"}
    assert not any(line.notes or line.vetoes for line in lines)


def test_without_a_trace_there_is_nothing_to_show():
    result, _, case = wallet("bad-agent")
    assert call_diff(result, None, case) == ()


def test_without_the_case_what_was_called_is_still_there():
    result, trace, _ = wallet("bad-agent")
    lines = call_diff(result, trace, None)
    assert [line.expected for line in lines] == [None, None, None]
    assert lines[0].actual == '1 cancel_credit_card card_ending="4242"'


def test_long_values_and_long_traces_are_cut_and_say_so():
    most, longest = USUAL.lines or 0, USUAL.value or 0
    calls = [{"tool": "send", "arguments": {"text": "x" * 5_000}, "result": "y" * 5_000}] * (most + 5)
    trace = read_line(json.dumps({"id": "t", "calls": calls}).encode(), Place())
    case = read_case(json.dumps({"id": "c", "expect": {"calls": []}}).encode(), Place())
    lines = call_diff(grade(case, trace), trace, case)
    assert len(lines) == most + 1
    assert lines[-1].notes == ("5 more lines are not shown",)
    assert len(lines[0].actual or "") < longest + 50
    assert len(lines[0].result or "") == longest
    whole = call_diff(grade(case, trace), trace, case, Extent(None, None, None))
    assert len(whole) == most + 5
    assert "x" * 5_000 in (whole[0].actual or "")
    assert whole[0].result == "y" * 5_000


def test_where_nothing_was_expected_a_call_is_not_one_too_many():
    trace = read_line(json.dumps({"id": "t", "calls": [{"tool": "look", "arguments": {}}]}).encode(), Place())
    case = read_case(json.dumps({"id": "c"}).encode(), Place())
    (line,) = call_diff(grade(case, trace, policy=Policy(forbidden=("drop",))), trace, case)
    assert (line.state, line.bad, line.notes) == ("matched", False, ())


@pytest.mark.parametrize(
    ("expected", "selected", "state"),
    [("a", "a", "matched"), ("a", "b", "substituted"), ("a", None, "missing"), (None, "a", "surplus")],
)
def test_a_step_is_one_line(expected, selected, state):
    (line,) = step_diff(SelectionResult(step_id="s", expected_tool=expected, selected_tool=selected))
    assert (line.state, line.expected, line.actual) == (state, expected, selected)


def test_a_step_in_which_rightly_nothing_happened_has_no_line():
    assert step_diff(SelectionResult(step_id="s")) == ()

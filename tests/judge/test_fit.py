"""Reduced views: nothing is cut where it fits, nothing is cut silently, and what cannot be reduced is too long."""

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rightcall.judge.fences import fenced, rendered
from rightcall.judge.fit import SHORTEST, TooLong, fit
from rightcall.judge.views import rubric_values
from rightcall.trace.model import Call, Trace, call


def size(values, left_out=()):
    """What the values and the note about them take, in characters: every character is a token here."""
    blocks = {**values, **({"LEFT_OUT": list(left_out)} if left_out else {})}
    return sum(len(fenced(name, rendered(value), "0" * 20)) for name, value in blocks.items())


def step(tools=60, selected="t5", expected="t50"):
    catalog = [{"name": f"t{n}", "description": "x" * 100} for n in range(tools)]
    return {
        "AVAILABLE_TOOLS": catalog,
        "SELECTED_TOOL_NAME": selected,
        "EXPECTED_TOOL_NAME": expected,
        "USER_REQUEST": "Do.",
    }


def names(values):
    return [tool["name"] for tool in values["AVAILABLE_TOOLS"]]


# ---- selection ----


def test_what_fits_is_not_touched():
    values = step()
    assert fit(values, size(values), len) == (values, ())


def test_one_token_too_much_and_the_catalog_is_reduced_and_says_so():
    values = step()
    shown, left_out = fit(values, size(values) - 1, len)
    assert size(shown, left_out) < size(values)
    hidden = [name for name in names(values) if name not in names(shown)]
    assert left_out == (f"{len(hidden)} of 60 tools are not shown: {', '.join(hidden)}",)
    assert {"t5", "t50"} <= set(names(shown))
    assert names(shown) == [name for name in names(values) if name in names(shown)]


def test_as_many_other_tools_as_fit_stay():
    values = step()
    shown, left_out = fit(values, 5000, len)
    assert size(shown, left_out) <= 5000
    one_more = [
        tool
        for tool in values["AVAILABLE_TOOLS"]
        if tool["name"] in {*names(shown), next(iter(set(names(values)) - set(names(shown))))}
    ]
    assert size({**shown, "AVAILABLE_TOOLS": one_more}, left_out) > 5000


@pytest.mark.parametrize(("selected", "expected"), [(None, "t59"), ("t59", None), ("invented", "t0"), (None, None)])
def test_the_selected_and_the_expected_tool_always_stay_if_there_are_any(selected, expected):
    shown, left_out = fit(step(selected=selected, expected=expected), 1500, len)
    kept = set(names(shown))
    assert {name for name in (selected, expected) if name not in (None, "invented")} <= kept
    assert left_out[0].startswith(f"{60 - len(kept)} of 60 tools are not shown: ")


def test_many_hidden_tools_are_counted_and_the_first_are_named():
    _, left_out = fit(step(tools=500), 2000, len)
    assert re.search(r"^4\d\d of 500 tools are not shown: t\d+(, t\d+){19} and 4\d\d more$", left_out[0])


def test_two_tools_that_do_not_fit_are_too_long():
    with pytest.raises(TooLong) as caught:
        fit(step(), 300, len)
    assert (caught.value.budget, caught.value.code) == (300, "TOO_LONG")
    assert caught.value.tokens > 300
    assert "room for 300" in str(caught.value)


# ---- whole traces ----


def trace(*calls):
    return {
        name: value
        for name, value in rubric_values(Trace(id="t", request="Do.", events=calls), None).items()
        if value is not None
    }


def test_long_results_are_shortened_in_the_middle_with_a_mark_and_short_ones_stay():
    text = "a" * 10_000 + "z" * 10_000
    values = trace(call("big", {"q": "x" * 300}, result=text), call("small", {}, result="tiny"))
    shown, left_out = fit(values, 3000, len)
    big, small = shown["AGENT_TOOL_CALLS"]
    content = big["result"]["content"]
    (said,) = left_out
    found = re.fullmatch(r"result of c1: ([\d,]+) of 20,000 characters are not shown", said)
    kept = 20_000 - int(found[1].replace(",", ""))
    head, tail = content.split(f" …[{found[1]} of 20,000 characters are not shown]… ")
    assert (set(head), set(tail), len(head) + len(tail)) == ({"a"}, {"z"}, kept)
    assert big["arguments"] == {"q": "x" * 300}
    assert small == values["AGENT_TOOL_CALLS"][1]
    assert 2900 < size(shown, left_out) <= 3000


def test_a_long_structured_result_stays_json():
    rows = [{"id": n, "name": "n" * 20} for n in range(500)]
    shown, left_out = fit(trace(call("list", {}, result={"rows": rows})), 2000, len)
    content = shown["AGENT_TOOL_CALLS"][0]["result"]["content"]
    assert json.loads(rendered(content)) == content
    assert content["shortened_json_text"].startswith('{"rows": [{"id": 0, ')
    assert len(left_out) == 1


def test_all_long_results_are_cut_to_one_length():
    shown, left_out = fit(
        trace(*(call("r", {}, result=letter * n) for letter, n in (("a", 9000), ("b", 5000), ("c", 300)))), 3000, len
    )
    lengths = [
        event["result"]["content"].count(letter) for event, letter in zip(shown["AGENT_TOOL_CALLS"], "abc", strict=True)
    ]
    # The letter a stands in the mark itself.
    assert abs(lengths[0] - lengths[1]) <= 10
    assert lengths[2] == 300
    assert [said.split(":")[0] for said in left_out] == ["result of c1", "result of c2"]


def test_arguments_are_shortened_only_where_short_results_are_not_enough():
    values = trace(
        call("send", {"body": "x" * 5000}, result="r" * 5000),
        Call(tool="raw", arguments_status="malformed", arguments_raw="y" * 5000),
    )
    shown, left_out = fit(values, 3000, len)
    first, second = shown["AGENT_TOOL_CALLS"]
    assert f"{5000 - SHORTEST:,} of 5,000 characters are not shown" in first["result"]["content"]
    assert set(first["arguments"]) == {"shortened_json_text"}
    assert second["arguments_status"] == "malformed"
    assert [said.split(":")[0] for said in left_out] == ["arguments of c1", "result of c1", "arguments of c2"]
    assert size(shown, left_out) <= 3000


def test_a_call_of_somebody_else_is_named_by_its_place():
    other = Call(tool="web", by="provider", arguments_status="missing", result=call("x", {}, result="r" * 5000).result)
    _, left_out = fit(trace(call("a", {}, result=1), other), 1500, len)
    assert left_out[0].startswith("result of event 2: ")


@pytest.mark.parametrize(
    "values",
    [
        {"AGENT_TOOL_CALLS": [], "CONTEXT": "x" * 500},
        {"CONTEXT": "x" * 500},
        {"SELECTED_TOOL_NAME": "a", "AVAILABLE_TOOLS": [], "CONTEXT": "x" * 500},
    ],
)
def test_what_cannot_be_reduced_is_too_long(values):
    with pytest.raises(TooLong):
        fit(values, 200, len)


def test_a_trace_that_does_not_fit_even_at_its_shortest_is_too_long():
    with pytest.raises(TooLong):
        fit(trace(*(call("r", {}, result="r" * 1000) for _ in range(20))), 3000, len)


@settings(max_examples=60)
@given(st.lists(st.integers(0, 3000), min_size=1, max_size=6), st.integers(500, 8000))
def test_a_view_fits_or_is_refused_and_the_original_is_never_changed(lengths, budget):
    values = trace(*(call("r", {"n": n}, result="r" * n) for n in lengths))
    before = json.dumps(values)
    try:
        shown, left_out = fit(values, budget, len)
    except TooLong:
        assert size(values) > budget
    else:
        assert size(shown, left_out) <= budget
        assert bool(left_out) == (shown != values) == (size(values) > budget)
    assert json.dumps(values) == before


def test_two_traces_are_cut_to_the_same_length_whichever_stands_first():
    long, longer = ([{"call_id": "c1", "tool": "t", "result": {"content": "x" * n}}] for n in (3000, 5000))
    here, lost = fit({"TRACE_A": long, "TRACE_B": longer}, 3000, len)
    there, _ = fit({"TRACE_A": longer, "TRACE_B": long}, 3000, len)
    assert [line.split(":")[0] for line in lost] == ["TRACE_A", "TRACE_B"]
    assert (here["TRACE_A"], here["TRACE_B"]) == (there["TRACE_B"], there["TRACE_A"])
    short = [{"call_id": "c1", "tool": "t", "result": {"content": "x"}}]
    shown, lost = fit({"TRACE_A": short, "TRACE_B": longer}, 3000, len)
    assert shown["TRACE_A"] == short
    assert len(lost) == 1


# ---- a reading ----


def a_reading(events=20, tools=30):
    return {
        "USER_REQUEST": "How deep?", "TOOL_NAME": "t3", "TOOL_ARGUMENTS": {}, "TOOL_RESULT": {"metres": 12},
        "AVAILABLE_TOOLS": [{"name": f"t{n}", "description": "x" * 80} for n in range(tools)],
        "CONTEXT": {
            "recorded": "Be kind.", "before": [{"role": "user", "text": f"{n} " * 20} for n in range(events)],
            "meanwhile": [{"tool": "t9", "result": "kept"}],
        },
        "AGENT_INTERPRETATION": "12 metres", "NEXT_ACTION": {"tool": "t4", "arguments": {}},
    }  # fmt: skip


def test_of_a_reading_the_catalog_is_reduced_first_but_not_the_named_tools():
    values = a_reading()
    shown, left_out = fit(values, size(values) - 1, len)
    assert {"t3", "t4"} <= set(names(shown)) < set(names(values))
    assert shown["CONTEXT"] == values["CONTEXT"]
    assert len(left_out) == 1


def test_then_the_oldest_of_what_came_before_is_left_out_and_that_is_said():
    values = a_reading()
    shown, left_out = fit(values, 2400, len)
    assert size(shown, left_out) <= 2400
    assert names(shown) == ["t3", "t4"]
    kept = shown["CONTEXT"]["before"]
    assert 0 < len(kept) < 20
    assert kept == values["CONTEXT"]["before"][-len(kept) :]
    assert left_out[1] == f"the first {20 - len(kept)} of 20 earlier messages and calls are not shown"
    whole = ("TOOL_RESULT", "AGENT_INTERPRETATION", "NEXT_ACTION", "USER_REQUEST")
    assert {name: shown[name] for name in whole} == {name: values[name] for name in whole}
    assert {key: item for key, item in shown["CONTEXT"].items() if key != "before"} == {
        key: item for key, item in values["CONTEXT"].items() if key != "before"
    }


def test_the_call_its_result_and_its_reading_are_never_cut():
    with pytest.raises(TooLong):
        fit({"TOOL_RESULT": "x" * 500, "AGENT_INTERPRETATION": "y", "CONTEXT": None}, 200, len)
    with pytest.raises(TooLong):
        fit(a_reading(), 300, len)

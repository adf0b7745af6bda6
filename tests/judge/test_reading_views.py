"""What a judge sees of one reading."""

from __future__ import annotations

from rightcall.case.case import Case
from rightcall.judge.reading_views import found_values, reading_values, shown_action
from rightcall.trace.catalog import Catalog
from rightcall.trace.model import Agent, Message, Tool, Trace, call
from rightcall.trace.segments import segments


def said(text, turn=None, role="assistant"):
    return Message(role=role, text=text, turn=turn)


def trace(*events, **changed):
    return Trace(**{"id": "t", "request": "How much is it?", "events": events, **changed})


def values_of(made, index=0, case=None, catalog=None):
    segment = segments(made)[index]
    return reading_values(made, segment, catalog, case, found_values(made, segment, case))


def test_a_stated_reading_with_its_call_and_its_exact_result():
    made = trace(
        said("Hello, price of A17?", role="user"), call("price", {"id": "A17"}, result={"net": 100}, turn=1),
        said("It is 119 with tax.", 2), said("Bye", 3),
    )  # fmt: skip
    values = values_of(made, catalog=Catalog((Tool(name="price", description="Net price."),)))
    assert values == {
        "USER_REQUEST": "How much is it?",
        "CONTEXT": {
            "recorded": None, "result_is_error": False,
            "before": [{"role": "user", "text": "Hello, price of A17?"}], "meanwhile": [],
        },
        "AVAILABLE_TOOLS": [{"name": "price", "description": "Net price.", "parameters": None}],
        "TOOL_NAME": "price",
        "TOOL_ARGUMENTS": {"id": "A17"},
        "TOOL_RESULT": {"net": 100},
        "AGENT_INTERPRETATION": "It is 119 with tax.",
        "NEXT_ACTION": {"role": "assistant", "text": "It is 119 with tax."},
        "UNSUPPORTED_VALUES": [{"value": "119", "kind": "number", "where": 6}],
    }  # fmt: skip


def test_an_implicit_reading_is_what_the_next_call_passes_on():
    made = trace(call("weigh", {"item": "bell"}, result={"lb": 1900}), call("reserve", {"kg": 1900, "slot": 55}))
    values = values_of(made)
    assert values["AGENT_INTERPRETATION"] is None
    assert values["NEXT_ACTION"] == {"tool": "reserve", "arguments": {"kg": 1900, "slot": 55}}
    assert [one["value"] for one in values["UNSUPPORTED_VALUES"]] == ["55"]


def test_the_first_text_after_a_row_of_calls_is_the_reading_of_each_and_their_results_are_shown():
    made = trace(
        call("a", {}, result={"n": 11}, turn=1), call("b", {}, result={"n": 22}, turn=1),
        call("c", {}, result={"n": 33}, turn=2), said("11, 22 and 33", 3),
    )  # fmt: skip
    first, second, third = (values_of(made, index) for index in range(3))
    results = [
        [(one["tool"], one["result"]["content"]["n"]) for one in values["CONTEXT"]["meanwhile"]]
        for values in (first, second, third)
    ]
    assert results == [[("b", 22), ("c", 33)], [("a", 11), ("c", 33)], []]
    assert [one["tool"] for one in third["CONTEXT"]["before"]] == ["a", "b"]
    assert all("result" not in one for one in third["CONTEXT"]["before"])
    assert [(one["value"], one.get("also_in")) for one in first["UNSUPPORTED_VALUES"]] == [
        ("22", ["other_results"]), ("33", ["other_results"]),
    ]  # fmt: skip


def test_no_value_says_which_agent_it_was():
    made = trace(
        said("x", role="user"), call("a", {}, result={"n": 1}), said("done"),
        agent=Agent(name="desk-agent", version="v41", model="vendor/model-9"),
        context={"system": "Be kind.", "model": "vendor/model-9", "name": "desk-agent"},
    )  # fmt: skip
    shown = str(values_of(made))
    assert not any(word in shown for word in ("desk-agent", "v41", "vendor/model-9"))
    assert values_of(made)["CONTEXT"]["recorded"] == {"system": "Be kind."}


def test_the_result_of_the_next_action_is_not_shown_as_part_of_it():
    assert shown_action(call("b", {"x": 1}, result={"secret": 2})) == {"tool": "b", "arguments": {"x": 1}}
    assert shown_action(None) is None


def test_arguments_that_could_not_be_read_are_shown_as_they_are():
    made = trace(call("a", None, result=1), said("one"))
    assert values_of(made)["TOOL_ARGUMENTS"] == {"arguments_status": "missing", "arguments_raw": None}


def test_request_and_context_come_from_the_case_where_the_trace_has_none():
    made = trace(call("a", {}, result=1), said("one"), request=None)
    values = values_of(made, case=Case(id="c", request="From the case", context="case context"))
    assert (values["USER_REQUEST"], values["CONTEXT"]["recorded"]) == ("From the case", "case context")


def test_calls_of_others_are_shown_but_are_no_segments():
    by_user = call("poke", {}, result={"n": 7})
    made = trace(call("a", {}, result=1), Message(role="user", text="hm"), said("one"))
    other = Trace(id="t", events=(*made.events[:1], type(by_user)(tool="poke", by="user"), *made.events[1:]))
    assert len(segments(other)) == 1
    assert [one.get("by") for one in values_of(other)["CONTEXT"]["meanwhile"]] == ["user", None]


def test_a_result_of_null_is_a_result():
    assert values_of(trace(call("a", {}, result=None), said("nothing")))["TOOL_RESULT"] is None

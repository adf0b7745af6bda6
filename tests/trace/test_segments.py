"""Which text interprets which result."""

from __future__ import annotations

from rightcall.trace.model import Message, Trace, call
from rightcall.trace.segments import segments


def said(text, role="assistant", turn=None):
    return Message(role=role, text=text, turn=turn)


def statuses(*events):
    return [(segment.status, segment.interpretation) for segment in segments(Trace(id="t", events=events))]


def test_the_first_assistant_text_after_a_result_interprets_it():
    assert statuses(call("a", {}, result=1), said("It is one."), said("Anything else?")) == [("stated", "It is one.")]


def test_a_text_before_the_call_or_with_it_interprets_nothing():
    events = said("Let me look."), said("Looking.", turn=3), call("a", {}, result=1, turn=3)
    assert statuses(*events) == [("implicit", None)]


def test_the_users_words_and_empty_texts_interpret_nothing():
    events = call("a", {}, result=1), said("And?", role="user"), said(""), said("One.")
    assert statuses(*events) == [("stated", "One.")]


def test_without_a_text_the_reading_is_implied_by_the_next_action():
    first, second = segments(Trace(id="t", events=(call("a", {}, result=1), call("b", {"x": 1}, result=2))))
    assert (first.status, first.next_action.tool, first.next_action.arguments) == ("implicit", "b", {"x": 1})
    assert (second.status, second.next_action) == ("implicit", None)


def test_a_message_without_words_is_no_action():
    made = Trace(id="t", events=(call("a", {}, result=1), said(None, turn=2), call("b", {}, result=2, turn=2)))
    assert segments(made)[0].next_action.tool == "b"


def test_a_text_between_two_calls_interprets_both_results_that_came_before_it():
    found = statuses(call("a", {}, result=1), call("b", {}, result=2), said("One and two."), call("c", {}, result=3))
    assert found == [("stated", "One and two."), ("stated", "One and two."), ("implicit", None)]


def test_parallel_calls_are_not_each_others_next_action():
    events = call("a", {}, result=1, turn=1), call("b", {}, result=2, turn=1), call("c", {}, turn=2)
    assert [segment.next_action and segment.next_action.tool for segment in segments(Trace(id="t", events=events))] == [
        "c", "c", None,
    ]  # fmt: skip


def test_a_call_without_a_result_has_nothing_to_interpret():
    assert statuses(call("a", {}), said("Hm.")) == [("no_result", None)]


def test_an_error_is_a_result():
    assert statuses(call("a", {}, error="closed"), said("It is closed.")) == [("stated", "It is closed.")]


def test_calls_by_others_have_no_segments(shared_data):
    from rightcall.trace.sources.reading import load_traces

    traces = load_traces(shared_data / "data/tau2_bench/gpt-4o_telecom.json")
    assert sum(len(segments(trace)) for trace in traces) == 90

"""What a judge sees of two traces: both alike, and nothing of who acted."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.case.case import Case
from rightcall.errors import Place
from rightcall.judge.pair_views import MASK, identifiers, masked, preference_values, show_the_same, size_of
from rightcall.judge.views import shown_events
from rightcall.trace.catalog import Catalog
from rightcall.trace.model import Agent, Message, Tool, Trace, call

PROD = Agent(name="desk-bot", version="v41", model="vendor/model-9-large")
NEXT = Agent(name="assistant", version="2026.1", model="other/thing-3")


def a_trace(*events, agent=PROD, **changed) -> Trace:
    return Trace(id="t", events=events or (call("freeze_card", {"card": 7}, result="ok"),), agent=agent, **changed)


def test_both_traces_are_shown_alike_each_with_calls_from_c1():
    first, second = a_trace(), a_trace(call("list_cards", {}), call("freeze_card", {"card": 7}), agent=NEXT)
    values = preference_values(first, second)
    assert [event["call_id"] for event in values["TRACE_A"]] == ["c1"]
    assert [event["call_id"] for event in values["TRACE_B"]] == ["c1", "c2"]
    assert set(values) == {"USER_REQUEST", "CONTEXT", "AVAILABLE_TOOLS", "TRACE_A", "TRACE_B"}


def test_nothing_of_who_acted_is_shown_in_either_trace():
    said = Message(role="assistant", text="I am Model-9-Large, v2026.1; desk-bot before me ran vendor/model-9-large.")
    context = {"system": "You are desk-bot.", "agent": {"name": "desk-bot"}, "model": "vendor/model-9-large"}
    first = a_trace(said, call("note", {"by": "thing-3"}, result={"from": "other/thing-3"}), context=context)
    second = a_trace(said, agent=NEXT, metadata={"agent": "desk-bot"})
    shown = json.dumps(preference_values(first, second)).lower()
    for name in ("desk-bot", "model-9-large", "2026.1", "thing-3", "vendor/", "other/"):
        assert name not in shown, name
    assert MASK in shown


def test_a_plain_word_is_no_identifier_and_a_part_of_a_word_is_not_masked():
    assert identifiers(a_trace(agent=NEXT)) == ("other/thing-3", "thing-3", "2026.1")
    assert masked("thing-34, mything-3, THING-3!", ("thing-3",)) == f"thing-34, mything-3, {MASK}!"
    assert masked({"thing-3": ["thing-3", 3, None]}, ("thing-3",)) == {"thing-3": [MASK, 3, None]}
    assert identifiers(a_trace(agent=None)) == ()


def test_what_both_share_is_shown_once_and_what_differs_under_the_place_of_its_trace():
    same = preference_values(a_trace(request="Freeze it.", context="x"), a_trace(request="Freeze it.", context="x"))
    assert (same["USER_REQUEST"], same["CONTEXT"]) == ("Freeze it.", "x")
    one = preference_values(a_trace(request="Freeze it."), a_trace(context={"a": 1}))
    assert (one["USER_REQUEST"], one["CONTEXT"]) == ("Freeze it.", {"a": 1})
    first, second = a_trace(request="Freeze it.", context="x"), a_trace(request="Please freeze it.", context="y")
    here, there = preference_values(first, second), preference_values(second, first)
    assert here["USER_REQUEST"] == {"trace_a": "Freeze it.", "trace_b": "Please freeze it."}
    assert there["CONTEXT"] == {"trace_a": "y", "trace_b": "x"}


def test_the_cases_own_request_and_context_count_and_its_golden_is_not_shown():
    case = Case(id="c", request="Freeze card 7.", context="Cards only.")
    values = preference_values(a_trace(request="x", context="u"), a_trace(request="y", context="v"), case)
    assert (values["USER_REQUEST"], values["CONTEXT"]) == ("Freeze card 7.", "Cards only.")


def test_a_request_that_nobody_states_is_what_the_user_said_first():
    hello = Message(role="user", text="Hello, freeze it.")
    assert preference_values(a_trace(hello), a_trace(hello))["USER_REQUEST"] == "Hello, freeze it."


def test_catalogs_that_differ_are_shown_under_their_places():
    small, large = (
        Catalog(tuple(Tool(name=name) for name in names), Place()) for names in (["freeze_card"], ["a", "freeze_card"])
    )
    assert preference_values(a_trace(), a_trace())["AVAILABLE_TOOLS"] is None
    shown = preference_values(a_trace(), a_trace(), None, (small, small))["AVAILABLE_TOOLS"]
    assert [tool["name"] for tool in shown] == ["freeze_card"]
    shown = preference_values(a_trace(), a_trace(), None, (small, large))["AVAILABLE_TOOLS"]
    assert [tool["name"] for tool in shown["trace_b"]] == ["a", "freeze_card"]


TOOLS = st.sampled_from(["freeze_card", "list_cards"])
TRACES = st.lists(st.builds(call, TOOLS, st.fixed_dictionaries({"card": st.integers(0, 2)})), min_size=1, max_size=3)


@given(TRACES, TRACES, st.sampled_from(["x", None]), st.sampled_from(["x", "y"]))
def test_the_other_order_shows_the_same_with_the_places_exchanged(one, other, here, there):
    first, second = a_trace(*one, request=here), a_trace(*other, request=there, agent=NEXT)
    ab, ba = preference_values(first, second), preference_values(second, first)
    assert (ab["TRACE_A"], ab["TRACE_B"]) == (ba["TRACE_B"], ba["TRACE_A"])
    if isinstance(ab["USER_REQUEST"], dict):
        assert ba["USER_REQUEST"] == dict(
            zip(("trace_a", "trace_b"), list(ab["USER_REQUEST"].values())[::-1], strict=True)
        )
    else:
        assert ab["USER_REQUEST"] == ba["USER_REQUEST"]


def at(turn, **changed):
    return {"tool": "freeze_card", "arguments": {"card": 7}, "turn": turn, "result": {"is_error": False}, **changed}


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ([at(3, started_at="2026-11-29T10:00:00Z"), at(3)], True),
        ([at(1, result={"is_error": False, "at": "2026-11-29T10:00:00Z"}), at(1)], True),
        ([at(1), at(2)], False),
        ([at(1), at(1, arguments={"card": 8})], False),
        ([at(1)], False),
        ([at(1), at(1, result={"is_error": True})], False),
    ],
)
def test_times_and_numbers_of_turns_make_no_difference_and_what_was_done_together_does(other, same):
    assert show_the_same([at(1), at(1)], other) is same
    assert show_the_same(other, [at(1), at(1)]) is same


def test_the_size_of_a_trace_counts_the_agents_own_calls_and_what_the_judge_sees():
    events = shown_events(a_trace(Message(role="user", text="Hello"), call("freeze_card", {})))
    size = size_of(events)
    assert size.calls == 1
    assert size.characters > len("Hello")
    assert size_of([]).calls == 0

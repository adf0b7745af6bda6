"""What a reviewer sees of a trace: everything, in order, with nothing that could play tricks on a screen."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from rightcall.report.review.values import (
    LONGEST,
    event_rows,
    golden_rows,
    ids_of,
    print_rows,
    same_calls,
    text_rows,
    tool_rows,
)

CALL = {"call_id": "c1", "tool": "open_gate", "arguments": {"gate": 3}, "turn": 1}


def shown(rows, width: int = 80) -> str:
    """What is printed."""
    stream = io.StringIO()
    print_rows(Console(file=stream, width=width, color_system=None), rows)
    return stream.getvalue()


def test_messages_and_calls_stand_in_order_with_their_results():
    events = [
        {"role": "user", "text": "Open gate 3\nplease"},
        CALL | {"result": {"is_error": True, "content": {"why": "locked"}}},
        {"role": "assistant", "text": "It is locked."},
    ]
    lines = [line.split() for line in shown(event_rows(events)).splitlines()]
    assert lines == [
        ["user", "Open", "gate", "3"], ["please"], ["c1", "open_gate", "gate=3"], ["→", "failed:", '{"why":"locked"}'],
        ["assistant", "It", "is", "locked."],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (CALL | {"result": "no result recorded"}, "→ (no result recorded)"),
        (CALL | {"result": {"is_error": None, "content": "ok"}}, "→ ok (whether it failed was not recorded)"),
        (CALL | {"result": {"is_error": False, "content_recorded": False}}, "→ (the content was not recorded)"),
        (
            CALL | {"result": {"is_error": True, "is_error_was_inferred": True, "content": "no"}},
            "→ failed: no (that it failed is inferred)",
        ),
        (
            {"call_id": "c1", "tool": "t", "arguments_status": "malformed", "arguments_raw": "{a"},
            "c1 t (arguments that are not valid JSON: {a)",
        ),
        ({"tool": "t", "by": "user", "arguments": {}}, "other t {} (by user)"),
        (CALL | {"mood": "odd"}, "mood: odd"),
    ],
)
def test_what_was_not_recorded_is_said(event, said):
    assert said in " ".join(shown(event_rows([event])).split())


def test_calls_of_one_turn_were_made_together():
    second = CALL | {"call_id": "c2"}
    assert "together with the call above" in " ".join(shown(event_rows([CALL, second])).split())
    assert "together" not in shown(event_rows([CALL, second | {"turn": 2}]))
    no_turn = {key: item for key, item in CALL.items() if key != "turn"}
    assert "together" not in shown(event_rows([no_turn, no_turn]))


def test_an_empty_trace_and_an_unknown_catalog_are_said():
    assert "no tool was called" in shown(event_rows([]))
    assert "no catalog was recorded" in shown(tool_rows(None))
    assert "could see no tool" in shown(tool_rows([]))
    assert "no call at all" in shown(golden_rows([{"order": "listed", "calls": []}]))


def test_a_long_text_says_how_much_is_left_and_what_shows_it():
    events = [{"role": "user", "text": "x" * (LONGEST + 50)}, CALL | {"result": {"content": "y" * (LONGEST + 7)}}]
    text = " ".join(shown(event_rows(events)).split())
    assert "(50 more characters: v m1)" in text
    assert "(7 more characters: v c1)" in text
    assert shown(event_rows(events, None, "m1")).replace("\n", "").count("x") == LONGEST + 50
    assert "x" not in shown(event_rows(events, None, "c1"))


def test_calls_that_both_sides_made_are_found_once_each():
    twice = [CALL, CALL | {"call_id": "c2"}]
    other = {"call_id": "c2", "tool": "close_gate", "arguments": {"gate": 3}}
    assert same_calls(twice, [CALL, other]) == ({"c1"}, {"c1"})
    assert same_calls([], twice) == (set(), set())


def test_tools_show_their_parameters_and_what_is_optional():
    schema = {"properties": {"gate": {}, "force": {}}, "required": ["gate"]}
    rows = list(tool_rows([{"name": "open_gate", "description": "Opens.", "parameters": schema}]))
    assert [text for _, text, _ in rows] == ["open_gate(gate, force?)", "Opens."]
    assert next(iter(tool_rows([{"name": "t", "parameters": {"properties": [], "required": [[]]}}])))[1] == "t()"


def test_a_golden_shows_its_ways():
    calls = [
        {"tool": "open_gate", "label": "a", "arguments": {"gate": {"any_of": [1, 2]}}},
        {"tool": "wave", "after": ["a"], "optional": True},
    ]
    text = " ".join(shown(golden_rows([{"order": "listed", "name": "short", "calls": calls}])).split())
    assert text == ("way 1 order listed short a open_gate gate=any of [1,2] wave any arguments (after a) (optional)")


def test_a_context_shows_its_history_as_events():
    context = {"system": "Be kind.", "history": [{"role": "user", "text": "hello"}, CALL]}
    text = " ".join(shown(text_rows("context", context)).split())
    assert text == "context system: Be kind. history: user hello c1 open_gate gate=3"
    assert "(not recorded)" in shown(text_rows("request", None))


TRICKS = st.text(st.sampled_from("ab \n\x1b\x07\x9b\r\u202e\u200b\u2028\ufeff\U000e0041[2J漢"), max_size=40)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TRICKS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TRICKS, inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(
    st.lists(
        st.dictionaries(
            st.sampled_from(
                ["role", "text", "tool", "call_id", "arguments", "result", "by", "turn", "arguments_raw", "x"]
            ),
            VALUES | st.dictionaries(st.sampled_from(["is_error", "content", "content_recorded"]), VALUES),
        )
        | VALUES,
        max_size=4,
    ),
    st.integers(30, 120),
)
def test_no_recording_can_move_the_cursor_or_turn_the_text(events, width):
    printed = shown([*event_rows(events), *text_rows("context", {"history": events})], width)
    assert not set("\x1b\x07\x9b\r\u202e\u200b\u2028\ufeff\U000e0041") & set(printed)
    assert ids_of(events) is not None

"""What an agent knew before a call: what came before its turn, with the results that it had."""

import pytest
from msgspec import UNSET, Raw
from msgspec.structs import replace

from rightcall.trace.history import NO_RESULT, NOT_YET, history, shown_call
from rightcall.trace.model import Call, Message, Result, Trace, call


def user(text, **more):
    return Message(role="user", text=text, **more)


def said(found):
    return [item.get("text") or item["tool"] for item in found]


def test_earlier_messages_and_calls_with_their_results_come_in_order():
    events = (
        user("Hi."),
        call("find", {"a": 1}, result={"id": 7}),
        Message(role="assistant", text="Found."),
        call("use", {"id": 7}),
    )
    assert history(Trace(id="t", events=events), 1) == [
        {"role": "user", "text": "Hi."},
        {"call_id": "c1", "tool": "find", "arguments": {"a": 1}, "result": {"is_error": False, "content": {"id": 7}}},
        {"role": "assistant", "text": "Found."},
    ]


def test_before_the_first_call_there_are_only_messages():
    assert history(Trace(id="t", events=(call("a", {}), user("late"))), 0) == []
    assert said(history(Trace(id="t", events=(user("early"), call("a", {}))), 0)) == ["early"]


def test_the_other_calls_of_a_turn_are_not_before_it():
    events = (
        call("a", {}, turn=1),
        call("b", {}, turn=2),
        Message(role="assistant", text="now", turn=2),
        call("c", {}, turn=2),
    )
    trace = Trace(id="t", events=events)
    assert said(history(trace, 1)) == said(history(trace, 2)) == ["a"]


def test_a_call_without_a_turn_is_a_turn_of_its_own():
    assert said(history(Trace(id="t", events=(call("a", {}), call("b", {}), call("c", {}))), 2)) == ["a", "b"]


def test_the_same_call_twice_is_two_calls():
    same = call("a", {})
    assert said(history(Trace(id="t", events=(same, user("x"), same)), 1)) == ["a", "x"]


@pytest.mark.parametrize(
    ("at", "started", "arrived"),
    [
        ("2026-11-29T10:00:05Z", "2026-11-29T10:00:03Z", False),
        ("2026-11-29T10:00:05Z", "2026-11-29T11:00:05+01:00", True),
        ("2026-11-29T10:00:05Z", "2026-11-29T11:00:04+01:00", False),
        ("2026-11-29T10:00:05Z", None, True),
        (None, "2026-11-29T10:00:03Z", True),
        ("2026-11-29T10:00:05Z", "2026-11-29T10:00:03", True),
        ("yesterday", "2026-11-29T10:00:03Z", True),
    ],
)
def test_a_result_that_is_known_to_have_come_later_had_not_arrived(at, started, arrived):
    early = Call(tool="a", arguments_json=Raw(b"{}"), result=Result(content_json=Raw(b"1"), at=at))
    trace = Trace(id="t", events=(early, replace(call("b", {}), started_at=started)))
    result = history(trace, 1)[0]["result"]
    assert result == ({"is_error": None, "content": 1} | ({"at": at} if at else {}) if arrived else NOT_YET)


def test_calls_of_others_are_marked_and_have_no_id_of_ours():
    other = replace(call("web", {}), by="provider")
    found = history(Trace(id="t", events=(call("a", {}), other, call("b", {}), call("c", {}))), 2)
    assert [(item.get("call_id"), item.get("by")) for item in found] == [("c1", None), (None, "provider"), ("c2", None)]


def test_a_message_without_text_says_nothing():
    trace = Trace(id="t", events=(Message(role="assistant"), user(""), call("a", {})))
    assert history(trace, 0) == [{"role": "user", "text": ""}]


def test_there_is_no_history_of_a_call_that_is_not_there():
    with pytest.raises(IndexError):
        history(Trace(id="t", events=(call("a", {}),)), 1)


# ---- what was not recorded ----


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        (None, NO_RESULT),
        (Result(content_json=Raw(b"null"), is_error=False), {"is_error": False, "content": None}),
        (Result(is_error=True), {"is_error": True, "content_recorded": False}),
        (Result(content_json=Raw(b'""')), {"is_error": None, "content": ""}),
        (
            Result(content_json=Raw(b"{}"), is_error=True, inferred=True),
            {"is_error": True, "is_error_was_inferred": True, "content": {}},
        ),
    ],
)
def test_an_unknown_result_an_empty_one_and_null_stay_distinct(result, shown):
    assert shown_call(replace(call("a", {}), result=result), "c1")["result"] == shown


@pytest.mark.parametrize("status", ["malformed", "not_object", "missing", "not_captured"])
def test_arguments_that_are_none_keep_their_status_and_text(status):
    found = shown_call(Call(tool="a", arguments_status=status, arguments_raw="{oops"), None)
    assert (found["arguments_status"], found["arguments_raw"]) == (status, "{oops")
    assert "arguments" not in found


def test_no_arguments_at_all_are_missing_and_not_empty():
    assert shown_call(Call(tool="a", arguments_json=UNSET), None)["arguments_status"] == "missing"
    assert shown_call(call("a", {}), None)["arguments"] == {}


def test_nobody_is_named():
    events = (
        Message(role="assistant", text="x", agent="planner-9"),
        replace(call("a", {}), agent="planner-9"),
        call("b", {}),
    )
    assert "planner-9" not in repr(history(Trace(id="t", events=events), 1))

"""A trace as the messages of a chat."""

import msgspec
import pytest
from export_making import act, say, talk
from hypothesis import given
from hypothesis import strategies as st

from rightcall.trace import jsontext
from rightcall.trace.chat import Chat, Unfit, asked_in, chat_of, same_turn, task_key
from rightcall.trace.model import Call, Trace, call


def shown(trace, **case):
    """Return each message as who speaks, what is said, and which tools are called."""
    chat = chat_of(trace, **case)
    assert isinstance(chat, Chat), chat
    return [(one.role, one.text, [made.tool for made in one.calls]) for one in chat.messages]


def test_a_turn_is_one_message_followed_by_its_results():
    trace = talk(
        say("assistant", "I look.", 1), act("find_booking", 1, {"open": True}, code="a"), act("find_booking", 1, "none", code="b"),
        say("assistant", "Done.", 2),
    )  # fmt: skip
    assert shown(trace) == [
        ("user", "Cancel AB12, please.", []),
        ("assistant", "I look.", ["find_booking", "find_booking"]),
        ("tool", '{"open":true}', []),
        ("tool", "none", []),
        ("assistant", "Done.", []),
    ]


def test_a_result_answers_the_call_of_its_number():
    chat = chat_of(talk(act("find_booking", 1, "one"), act("cancel_booking", 1, "two"), say("assistant", "Done.", 2)))
    assert [call.number for call in chat.messages[1].calls] == [1, 2]
    assert [(one.tool, one.answers) for one in chat.messages[2:4]] == [("find_booking", 1), ("cancel_booking", 2)]


def test_a_call_without_a_turn_is_a_message_of_its_own():
    trace = talk(call("find_booking", {}, result="x"), call("cancel_booking", {}, result="y"))
    assert [tools for role, _, tools in shown(trace) if role == "assistant"] == [["find_booking"], ["cancel_booking"]]


def test_texts_of_one_turn_are_joined_and_an_empty_one_is_not_the_same_as_none():
    trace = talk(
        say("assistant", "One.", 1), act("find_booking", 1), say("assistant", "Two.", 1), say("assistant", "", 2)
    )
    assert [text for role, text, _ in shown(trace) if role == "assistant"] == ["One.\nTwo.", ""]
    assert [text for role, text, _ in shown(talk(act("find_booking", 1))) if role == "assistant"] == [None]


def test_the_context_comes_first_and_its_history_before_the_events():
    history = [{"role": "user", "text": "Hello."}, {"type": "message", "role": "assistant", "text": "Hi.", "turn": 1}]
    trace = talk(say("assistant", "Done.", 2), context={"system": "Be brief.", "history": history, "state": {"a": 1}})
    assert [text for _, text, _ in shown(trace)] == ["Be brief.", "Hello.", "Hi.", "Cancel AB12, please.", "Done."]
    chat = chat_of(trace)
    assert chat.opening == 4


@pytest.mark.parametrize("context", ["Be brief.", {"system": "Be brief."}, {"policy": "Be brief."}])
def test_a_text_a_system_or_a_policy_is_the_system_message(context):
    assert shown(talk(say("assistant", "Done.", 1), context=context))[0] == ("system", "Be brief.", [])


def test_a_system_message_of_the_trace_is_not_doubled():
    trace = Trace(
        id="t", context="Other.", events=(say("system", "Own."), say("user", "Hm?"), say("assistant", "Ah.", 1))
    )
    assert [text for _, text, _ in shown(trace)] == ["Own.", "Hm?", "Ah."]


def test_a_request_that_nobody_said_is_put_before_the_first_turn():
    trace = Trace(id="t", events=(act("find_booking", 1), say("user", "Thanks."), say("assistant", "Bye.", 2)))
    assert shown(trace, request="Find it.")[:2] == [("user", "Find it.", []), ("assistant", None, ["find_booking"])]
    own = msgspec.structs.replace(trace, request="Mine.")
    assert shown(own, request="Find it.")[0] == ("user", "Mine.", [])


def test_a_greeting_belongs_to_what_comes_before_the_first_answer():
    trace = Trace(
        id="t", request="Find it.", events=(say("assistant", "Hi!", 0), say("user", "Find it."), act("find_booking", 2))
    )
    chat = chat_of(trace)
    assert (chat.opening, asked_in(chat)) == (2, ["Find it."])


def test_calls_of_a_simulated_user_are_left_out():
    users = Call(tool="toggle", arguments_json=msgspec.Raw(b"{}"), by="user", turn=7)
    assert shown(talk(users, say("assistant", "Done.", 1))) == shown(talk(say("assistant", "Done.", 1)))


def odd(**changed):
    return Call(**{"tool": "find_booking", "arguments_json": msgspec.Raw(b"{}"), **changed})


@pytest.mark.parametrize(
    ("trace", "reason"),
    [
        (talk(odd(by="provider")), "foreign_calls"),
        (talk(odd(by="framework")), "foreign_calls"),
        (talk(odd(agent="one"), odd(agent="two")), "several_agents"),
        (
            talk(odd(arguments_json=msgspec.UNSET, arguments_status="malformed", arguments_raw="{")),
            "arguments_unreadable",
        ),
        (talk(call("find_booking", None)), "arguments_unreadable"),
        (talk(odd(arguments_json=msgspec.Raw(b'{"a":"\\ud800"}'))), "arguments_unreadable"),
        (talk(act("find_booking", 1), act("cancel_booking", 2), act("find_booking", 1)), "turns_interleaved"),
        (talk(say("user", None), say("assistant", "Done.", 1)), "message_without_text"),
        (talk(say("assistant", "Done.", 1), context={"history": "yesterday"}), "history_unreadable"),
        (talk(say("assistant", "Done.", 1), context={"history": [{"who": "me"}]}), "history_unreadable"),
        (talk(act("find_booking", 1, None), say("assistant", "Done.", 2)), "result_missing"),
        (Trace(id="t", events=(act("find_booking", 1),)), "no_request"),
        (talk(), "no_turn"),
    ],
)
def test_what_a_chat_cannot_say_is_a_reason(trace, reason):
    assert chat_of(trace) == Unfit(reason)


def test_a_last_call_may_be_without_its_result():
    assert shown(talk(act("find_booking", 1, None)))[-1] == ("assistant", None, ["find_booking"])


def test_an_absent_text_of_an_assistant_is_as_good_as_an_empty_one():
    left, right = (
        chat_of(talk(*some, act("find_booking", 1))).messages[1] for some in ((), (say("assistant", "", 1),))
    )
    assert same_turn(left, right)


def test_equal_arguments_in_another_order_are_the_same_turn():
    one = Call(tool="f", arguments_json=msgspec.Raw(b'{"a":1,"b":2.0}'), turn=1)
    other = Call(tool="f", arguments_json=msgspec.Raw(b'{"b":2,"a":1}'), turn=1)
    true = Call(tool="f", arguments_json=msgspec.Raw(b'{"b":2,"a":true}'), turn=1)
    first, second, third = (chat_of(talk(made)).messages[1] for made in (one, other, true))
    assert same_turn(first, second)
    assert not same_turn(first, third)


def test_tasks_with_the_same_words_have_the_same_key():
    assert (
        task_key(["Cancel  AB12,\nplease. "])
        == task_key(["cancel ab12, PLEASE."])
        == task_key(["", "Cancel AB12, please."])
    )
    assert task_key(["Cancel AB13, please."]) != task_key(["Cancel AB12, please."])
    assert task_key([" \n"]) is None


@given(st.lists(st.text()))
def test_a_key_of_a_task_is_stable_under_blanks_at_its_ends(texts):
    assert task_key(texts) == task_key([f" {text} " for text in texts])


@given(
    st.lists(
        st.tuples(st.integers(1, 3), st.sampled_from(["f", "g"]), st.dictionaries(st.text(), st.integers())), min_size=1
    )
)
def test_every_call_is_in_the_chat_in_its_order_with_its_turn(made):
    made = sorted(made, key=lambda one: one[0])
    calls = [Call(tool=tool, arguments_json=msgspec.Raw(jsontext.encode(given)), turn=turn,
                  result=act("f", 1).result) for turn, tool, given in made]  # fmt: skip
    chat = chat_of(talk(*calls))
    found = [
        (number, call.tool, jsontext.decode(call.arguments))
        for number, message in enumerate(one for one in chat.messages if one.role == "assistant")
        for call in message.calls
    ]
    turns = sorted({turn for turn, _, _ in made})
    assert found == [(turns.index(turn), tool, given) for turn, tool, given in made]

"""Rows of training data: where pairs are cut, the three formats, and that reading a row again gives the same calls."""

import msgspec
import pytest
from export_making import TOOLS, act, careful, hasty, say, talk
from hypothesis import given, settings
from hypothesis import strategies as st

from rightcall.errors import Place
from rightcall.report.training.rows import Cut, Origin, cut, key_of, rows_of, texts_of
from rightcall.trace import jsontext
from rightcall.trace.catalog import parse_tools
from rightcall.trace.chat import Chat, chat_of
from rightcall.trace.model import Call, Trace
from rightcall.trace.sources import openai_chat

CATALOG = parse_tools(list(TOOLS), Place())
FROM = Origin(
    weight=0.9, margin=1.0, pair="case-1", case_id="case-1", run_id="20261129-1", decided_by="judge", confidence=0.9,
    judges=("strong",), verdict="f" * 64,
)  # fmt: skip
SHAPES = [("trl", "object"), ("trl", "text"), ("kto", "object"), ("openai", "object")]


def chat(*events, **changed):
    found = chat_of(talk(*events, **changed))
    assert isinstance(found, Chat)
    return found


LOOKS = act("find_booking", 1, {"open": True}, code="AB12")
CANCELS = act("cancel_booking", 2, code="AB12")
DONE = say("assistant", "Done.", 3)


# ---- where a pair is cut ---------------------------------------------------------------------------------------------


def test_whole_takes_everything_from_the_first_answer_on():
    found = cut(chat(LOOKS, CANCELS, DONE), chat(CANCELS, DONE), "whole")
    assert [one.role for one in found.prompt] == ["user"]
    assert [one.role for one in found.chosen] == ["assistant", "tool", "assistant", "tool", "assistant"]
    assert [one.role for one in found.rejected] == ["assistant", "tool", "assistant"]


def test_step_takes_the_first_turn_that_differs_after_what_both_share():
    found = cut(chat(LOOKS, CANCELS, DONE), chat(LOOKS, act("find_booking", 2, code="XX"), DONE), "step")
    assert [one.role for one in found.prompt] == ["user", "assistant", "tool"]
    assert [[call.tool for call in one.calls] for one in found.chosen] == [["cancel_booking"]]
    assert [[call.tool for call in one.calls] for one in found.rejected] == [["find_booking"]]


def test_another_number_of_parallel_calls_is_a_turn_that_differs():
    both = (LOOKS, act("cancel_booking", 1, code="AB12"))
    found = cut(chat(*both, DONE), chat(LOOKS, DONE), "step")
    assert [len(one.calls) for one in (*found.chosen, *found.rejected)] == [2, 1]


def test_what_a_user_says_after_the_last_turn_is_in_no_row():
    found = cut(chat(LOOKS, say("user", "Thanks!")), chat(CANCELS, say("user", "Hm.")), "whole")
    assert [one.role for one in (*found.chosen, *found.rejected)] == ["assistant", "tool"] * 2


ASKED = (say("assistant", "Which one?", 1), say("user", "AB12."))


@pytest.mark.parametrize("level", ["whole", "step"])
@pytest.mark.parametrize(
    ("better", "worse", "reason"),
    [
        (chat(LOOKS, DONE), chat_of(careful(3)), "prompts_differ"),
        (chat(LOOKS, DONE, context="Be brief."), chat(CANCELS, DONE), "prompts_differ"),
        (chat(LOOKS, DONE), chat(LOOKS, DONE), "no_difference"),
        (chat(LOOKS, DONE), chat(LOOKS, DONE, say("user", "Thanks!")), "no_difference"),
    ],
)
def test_traces_that_begin_differently_or_do_not_differ_make_no_row(better, worse, reason, level):
    assert cut(better, worse, level) == reason


@pytest.mark.parametrize(
    ("better", "worse", "reason"),
    [
        (chat(LOOKS, CANCELS), chat(act("find_booking", 1, {"open": False}, code="AB12"), DONE), "results_differ"),
        (chat(*ASKED, CANCELS), chat(ASKED[0], say("user", "XY99."), DONE), "user_differs"),
        (chat(LOOKS, CANCELS, DONE), chat(LOOKS), "one_stops"),
        (chat(*ASKED, CANCELS), chat(ASKED[0], act("find_booking", 2, code="A")), "one_stops"),
        (chat(say("assistant", "I look.", 1), LOOKS, CANCELS), chat(say("assistant", "Looking!", 1), LOOKS, DONE), "only_words_differ"),
        (chat(*ASKED, CANCELS), chat(say("assistant", "Which?", 1), ASKED[1], DONE), "only_words_differ"),
    ],
)  # fmt: skip
def test_traces_that_part_for_another_reason_than_the_agents_choice_make_no_step(better, worse, reason):
    assert cut(better, worse, "step") == reason
    assert isinstance(cut(better, worse, "whole"), Cut)


@pytest.mark.parametrize("level", ["whole", "step"])
def test_a_prompt_that_ends_with_the_agents_own_words_is_none(level):
    thinks = say("assistant", "Hm.", 1)
    history = {"history": [{"role": "user", "text": "Hi."}, {"role": "assistant", "text": "Yes?"}]}
    if level == "step":
        better, worse = chat(thinks, CANCELS), chat(thinks, DONE)
        assert isinstance(cut(better, worse, "whole"), Cut)
    else:
        ends = [Trace(id="t", context=history, events=events) for events in ((CANCELS,), (DONE,))]
        better, worse = map(chat_of, ends)
    assert cut(better, worse, level) == "nothing_to_answer"


def test_last_answers_in_other_words_are_a_step():
    found = cut(chat(LOOKS, DONE), chat(LOOKS, say("assistant", "I cannot do that.", 3)), "step")
    assert [one.text for one in (*found.chosen, *found.rejected)] == ["Done.", "I cannot do that."]


def test_with_the_prompts_of_the_winner_only_the_users_words_may_differ():
    one, other = chat_of(careful(1)), chat_of(hasty(2))
    assert cut(one, other, "whole") == "prompts_differ"
    found = cut(one, other, "whole", "winner")
    assert [message.text for message in found.prompt] == ["Please cancel AB01."]
    told = chat_of(hasty(2, context="Be brief."))
    assert cut(one, told, "whole", "winner") == "prompts_differ"


# ---- formats ---------------------------------------------------------------------------------------------------------


def row_of(level="whole", format_="trl", arguments="object", origin=FROM):
    better, worse = chat(say("assistant", "I look.", 1), LOOKS, CANCELS, DONE), chat(CANCELS, DONE)
    return rows_of(cut(better, worse, level), CATALOG, format_, origin, arguments)


def test_a_row_of_trl_has_the_keys_that_its_documentation_names():
    (row,) = row_of("step")
    assert list(row) == ["prompt", "chosen", "rejected", "tools", *Origin.__struct_fields__]
    assert row["prompt"] == [{"role": "user", "content": "Cancel AB12, please."}]
    call = {"type": "function", "function": {"name": "find_booking", "arguments": {"code": "AB12"}}}
    assert row["chosen"] == [{"role": "assistant", "content": "I look.", "tool_calls": [call]}]
    assert row["rejected"][0].keys() == {"role", "tool_calls"}
    assert jsontext.decode(row["tools"]) == [{"type": "function", "function": one} for one in TOOLS]


def test_a_result_names_its_tool():
    (row,) = row_of()
    assert row["chosen"][1] == {"role": "tool", "name": "find_booking", "content": '{"open":true}'}


def test_plain_rows_have_no_other_columns():
    (row,) = row_of(origin=None)
    assert list(row) == ["prompt", "chosen", "rejected", "tools"]


def test_arguments_can_be_the_text_that_was_recorded():
    (row,) = row_of("step", arguments="text")
    assert row["chosen"][0]["tool_calls"][0]["function"]["arguments"] == '{"code":"AB12"}'


def test_an_unknown_catalog_is_null_and_an_empty_one_is_not():
    pair = cut(chat(LOOKS), chat(CANCELS), "whole")
    assert [rows_of(pair, tools, "trl", None)[0]["tools"] for tools in (None, ())] == [None, "[]"]


def test_a_pair_is_two_rows_of_kto():
    good, bad = row_of(format_="kto")
    assert list(good) == ["prompt", "completion", "label", "tools", *Origin.__struct_fields__]
    assert (good["prompt"], good["label"], bad["label"]) == (bad["prompt"], True, False)
    assert good["completion"] == row_of()[0]["chosen"]
    assert bad["completion"] == row_of()[0]["rejected"]


def test_a_row_of_openai_has_one_message_a_side_with_ids_and_arguments_as_text():
    better, worse = chat(LOOKS, CANCELS), chat(LOOKS, act("find_booking", 2, code="B"))
    (row,) = rows_of(cut(better, worse, "step"), CATALOG, "openai", FROM)
    assert list(row) == ["input", "preferred_output", "non_preferred_output"]
    assert list(row["input"]) == ["messages", "tools", "parallel_tool_calls"]
    assert row["input"]["messages"][1:] == [
        {"role": "assistant", "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "find_booking", "arguments": '{"code":"AB12"}'}}]},
        {"role": "tool", "tool_call_id": "call_1", "content": '{"open":true}'},
    ]  # fmt: skip
    assert [one["tool_calls"][0]["id"] for one in (*row["preferred_output"], *row["non_preferred_output"])] == [
        "call_2"
    ] * 2
    assert row_of(format_="openai") == "more_than_one_message"


# ---- reading a row again ---------------------------------------------------------------------------------------------

TEXTS = st.text(max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=6,
)  # fmt: skip
ARGUMENTS = st.dictionaries(TEXTS, VALUES, max_size=3)
TURNS = st.lists(
    st.tuples(st.none() | TEXTS, st.lists(st.tuples(st.sampled_from(["find_booking", "cancel_booking"]), ARGUMENTS, VALUES), max_size=3)),
    min_size=1, max_size=4,
).filter(lambda turns: any(text is not None or calls for text, calls in turns))  # fmt: skip


def trace_of(turns):
    """Return a trace of these turns: a text, and calls with their results."""
    events = []
    for number, (text, calls) in enumerate(turns, 1):
        events += [] if text is None else [say("assistant", text, number)]
        for tool, given_, result in calls:
            made = act(tool, number, "")
            raw = msgspec.Raw(jsontext.encode(given_))
            events.append(
                msgspec.structs.replace(
                    made,
                    arguments_json=raw,
                    result=msgspec.structs.replace(made.result, content_json=msgspec.Raw(jsontext.encode(result))),
                )
            )
    return talk(*events)


def calls_of(events):
    """Return the calls: name, arguments, and which assistant message they are of."""
    calls = [event for event in events if isinstance(event, Call)]
    turns = sorted({call.turn for call in calls})
    return [(call.tool, jsontext.encode(call.arguments), turns.index(call.turn)) for call in calls]


def read_again(messages):
    events, findings = openai_chat.events_of(messages, Place())
    assert findings == ()
    return events


@pytest.mark.slow
@pytest.mark.parametrize(("format_", "arguments"), SHAPES)
@pytest.mark.parametrize("level", ["whole", "step"])
@settings(max_examples=60)
@given(turns=TURNS, others=TURNS, shared=st.integers(0, 2))
def test_reading_a_row_again_gives_the_same_calls(turns, others, shared, level, format_, arguments):
    one, other = trace_of(turns), trace_of([*turns[:shared], *others])
    better, worse = chat_of(one), chat_of(other)
    pair = cut(better, worse, level)
    rows = pair if isinstance(pair, str) else rows_of(pair, CATALOG, format_, FROM, arguments)
    if isinstance(rows, str):
        return
    if format_ == "kto":
        sides = [(row["prompt"], row["completion"]) for row in rows]
    elif format_ == "openai":
        sides = [(rows[0]["input"]["messages"], rows[0][side]) for side in ("preferred_output", "non_preferred_output")]
    else:
        sides = [(rows[0]["prompt"], rows[0][side]) for side in ("chosen", "rejected")]
    for (prompt, answer), trace in zip(sides, (one, other), strict=True):
        found = calls_of(read_again([*prompt, *answer]))
        made = calls_of(trace.events)
        assert found == (made if level == "whole" else made[: len(found)])
        if level == "step":  # the answer is one turn, whole, and what comes before it is shared
            before = len(calls_of(read_again(prompt)))
            own = {turn for _, _, turn in found[before:]}
            assert len(own) <= 1
            assert [call for call in made if call[2] in own] == found[before:]


@given(turns=TURNS, others=TURNS)
def test_rows_of_swapped_traces_are_each_others_opposite(turns, others):
    better, worse = chat_of(trace_of(turns)), chat_of(trace_of(others))
    one, other = cut(better, worse, "whole"), cut(worse, better, "whole")
    if isinstance(one, str):
        assert one == other
        return
    (left,), (right,) = (rows_of(pair, None, "trl", None) for pair in (one, other))
    prompt, chosen, rejected = texts_of(left)
    assert texts_of(right) == (prompt, rejected, chosen)
    assert key_of(left) != key_of(right)

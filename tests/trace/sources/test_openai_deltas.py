"""Chunks of a streamed completion: fragments by index and id, names that come again, content, ends."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.trace.sources import openai_deltas


def fragment(arguments=None, index=0, call_id=None, name=None, **extra):
    function = {key: value for key, value in {"name": name, "arguments": arguments}.items() if value is not None}
    entry = {"index": index, "id": call_id, "function": function, **extra}
    return {key: value for key, value in entry.items() if value is not None}


def message(*deltas):
    reply, faults = openai_deltas.from_chunks([{"choices": [{"delta": delta}]} for delta in deltas])
    assert faults == []
    return reply["choices"][0]["message"]


def calls(*fragments):
    """Id, tool and arguments of the calls that fragments make, one delta each."""
    found = message(*({"tool_calls": [entry]} for entry in fragments))["tool_calls"]
    return [(entry.get("id"), entry["function"].get("name"), entry["function"].get("arguments")) for entry in found]


def test_fragments_continue_the_call_at_their_index():
    assert calls(
        fragment('{"a"', 0, "x", "f"), fragment('{"b"', 1, "y", "g"), fragment(":1}", 0), fragment(":2}", 1)
    ) == [("x", "f", '{"a":1}'), ("y", "g", '{"b":2}')]


def test_a_new_id_begins_a_call_also_under_an_index_in_use():
    assert calls(fragment('{"a":', 0, "x", "f"), fragment("1}"), fragment("{}", 0, "y", "f")) == [
        ("x", "f", '{"a":1}'),
        ("y", "f", "{}"),
    ]


def test_an_id_that_comes_with_every_fragment_is_one_call():
    assert calls(fragment("{", 0, "x", "f"), fragment("}", 0, "x")) == [("x", "f", "{}")]


def test_an_id_may_come_late():
    assert calls(fragment("{", 0, None, "f"), fragment("}", 0, "x")) == [("x", "f", "{}")]


def test_a_name_that_comes_with_every_fragment_is_one_call():
    assert calls(fragment('{"a"', 0, "x", "f"), fragment(":1}", 0, None, "f")) == [("x", "f", '{"a":1}')]


def test_whole_calls_without_ids_under_one_index_are_several():
    assert calls(fragment('{"a":1}', 0, None, "f"), fragment('{"a":2}', 0, None, "f")) == [
        (None, "f", '{"a":1}'),
        (None, "f", '{"a":2}'),
    ]
    assert calls(fragment("", 0, None, "f"), fragment("", 0, None, "g")) == [(None, "f", ""), (None, "g", "")]


def test_fragments_without_an_index_continue_the_last_call_or_the_one_with_their_id():
    assert calls(
        fragment('{"a"', None, "x", "f"), fragment(":1", None), fragment("{", None, "y", "g"), fragment("}", None, "x"),
        fragment("}", None, "y"),
    ) == [("x", "f", '{"a":1}'), ("y", "g", "{}")]  # fmt: skip


def test_arguments_that_no_fragment_carries_stay_missing():  # T4
    assert calls(fragment(None, 0, "x", "f")) == [("x", "f", None)]
    assert "arguments" not in message({"tool_calls": [fragment(None, 0, "x", "f")]})["tool_calls"][0]["function"]


def test_an_object_that_a_server_sends_at_once_is_kept():
    assert calls(fragment({"a": 1}, 0, "x", "f")) == [("x", "f", {"a": 1})]


def test_the_input_of_a_custom_tool_is_joined():
    first = {"index": 0, "id": "x", "type": "custom", "custom": {"name": "shell", "input": "ls "}}
    found = message({"tool_calls": [first]}, {"tool_calls": [{"index": 0, "custom": {"input": "-l"}}]})["tool_calls"]
    assert found == [{"id": "x", "type": "custom", "custom": {"name": "shell", "input": "ls -l"}}]


def test_the_older_function_call_is_joined():
    found = message({"function_call": {"name": "f", "arguments": "{"}}, {"function_call": {"arguments": "}"}})
    assert found["function_call"] == {"name": "f", "arguments": "{}"}


def test_a_fragment_that_is_no_call_is_handed_on_for_the_reader_to_name():
    assert message({"tool_calls": ["x", {"index": 0, "function": None}]})["tool_calls"] == [
        "x", {"index": 0, "function": None},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("deltas", "content"),
    [
        ([{"role": "assistant"}], None),
        ([{"content": None}, {"content": ""}], ""),
        ([{"content": "Hel"}, {"content": "lo"}], "Hello"),
        ([{"content": [{"type": "text", "text": "a"}]}, {"content": "b"}], [{"type": "text", "text": "a"}, "b"]),
    ],
)
def test_content_is_joined(deltas, content):
    assert message(*deltas)["content"] == content


def test_a_refusal_is_joined():
    assert message({"refusal": "I "}, {"refusal": "can't"})["refusal"] == "I can't"


def test_choices_are_kept_apart():
    rows = [{"choices": [{"index": index, "delta": {"content": text}}]} for index, text in ((1, "b"), (0, "a"))]
    reply, _ = openai_deltas.from_chunks(rows)
    assert [choice["message"]["content"] for choice in reply["choices"]] == ["a", "b"]


def test_a_row_that_is_no_chunk_is_a_fault():
    assert openai_deltas.from_text('data: {"x": 1}\n\ndata: {"choices": []}')[1] == [
        "event 0 is not a chunk of a completion"
    ]


@pytest.mark.parametrize(
    ("value", "known"),
    [
        ([{"choices": [{"delta": {}}]}], True),
        ([{"choices": [{"delta": {}}]}, {"choices": [], "object": "chat.completion.chunk"}], True),
        ([{"tool_calls": [{"index": 0}]}, {"content": "x"}], True),
        ([{"content": "x"}], False),
        ([{"role": "assistant", "tool_calls": [{"index": 0}]}], False),
        ([{"choices": [{"message": {}}]}], False),
        ([{"choices": []}], False),
        ([{}], False),
        ([], False),
        ({"choices": []}, False),
        ("x", False),
    ],
)
def test_chunks_are_recognised(value, known):
    assert openai_deltas.are_chunks(value) is known


@given(st.text(max_size=60), st.lists(st.integers(0, 60)), st.sampled_from([0, None]))
def test_however_arguments_are_cut_they_are_joined_again(text, cuts, index):
    arguments = json.dumps({"note": text})
    edges = sorted({0, len(arguments), *(min(cut, len(arguments)) for cut in cuts)})
    pieces = [arguments[start:end] for start, end in pairwise(edges)]
    fragments = [fragment("", index, "x", "f"), *(fragment(piece, index) for piece in pieces)]
    assert calls(*fragments) == [("x", "f", arguments)]

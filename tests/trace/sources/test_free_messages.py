"""What a model was given and answered, in the shapes of the SDKs that are observed."""

import json

import pytest
from msgspec import UNSET

from rightcall.trace.sources import free_messages
from rightcall.trace.sources.openinference_attributes import Came, Made, Said

OPENAI = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}],
}
ANTHROPIC = {
    "role": "assistant",
    "content": [{"type": "text", "text": "I look."}, {"type": "tool_use", "id": "c", "name": "f", "input": {"a": 1}}],
    "stop_reason": "tool_use",
}
LANGCHAIN = {
    "type": "ai",
    "content": "",
    "tool_calls": [{"id": "c", "name": "f", "args": {"a": 1}, "type": "tool_call"}],
}
DUMPED = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"], "kwargs": LANGCHAIN}


def short(heard):
    """The parts as tuples that are easy to compare."""
    assert heard is not None
    found = []
    for part in heard.parts:
        if isinstance(part, Said):
            found.append((part.role, part.text))
        elif isinstance(part, Made):
            found.append((part.name, part.id, bytes(part.arguments.get("arguments_json", b"")).decode()))
        else:
            assert isinstance(part, Came)
            found.append(("came", part.id, part.content))
    return found


@pytest.mark.parametrize(
    "value",
    [
        OPENAI, [OPENAI], json.dumps(OPENAI), {"choices": [{"message": OPENAI}]}, LANGCHAIN, DUMPED, [[LANGCHAIN]],
        {"generations": [[{"text": "", "message": DUMPED}]]},
        {"output": [{"type": "reasoning"}, {"type": "function_call", "call_id": "c", "id": "x", "name": "f", "arguments": '{"a": 1}'}]},
    ],
)  # fmt: skip
def test_a_call_is_the_same_in_every_shape(value):
    made = [
        (name, id_, json.loads(arguments)) for name, id_, arguments in short(free_messages.reply_of(value, "output"))
    ]
    assert made == [("f", "c", {"a": 1})]


def test_texts_and_blocks_keep_their_order():
    (said, made) = short(free_messages.reply_of(ANTHROPIC, "output"))
    assert (said, made[:2]) == (("assistant", "I look."), ("f", "c"))


def test_the_same_call_in_blocks_and_in_tool_calls_is_one():
    both = {**LANGCHAIN, "content": ANTHROPIC["content"]}
    assert len(short(free_messages.reply_of(both, "output"))) == 2


def test_calls_that_langchain_refused_are_malformed():
    refused = {
        **LANGCHAIN,
        "tool_calls": [],
        "invalid_tool_calls": [{"id": "c", "name": "f", "args": "{oops", "error": "no"}],
    }
    (made,) = free_messages.reply_of(refused, "output").parts
    assert (made.arguments["arguments_status"], made.arguments["arguments_raw"]) == ("malformed", "{oops")


@pytest.mark.parametrize("value", ["Find 4.", "[not json", "4", "{}", "[1, 2]", '{"a": 1}'])
def test_text_stays_text(value):
    assert short(free_messages.request_of(value, "input")) == [("user", value)]
    assert short(free_messages.reply_of(value, "output")) == [("assistant", value)]


@pytest.mark.parametrize("key", ["system", "instructions"])
@pytest.mark.parametrize("prompt", ["Be good.", [{"type": "text", "text": "Be good."}]])
def test_a_system_prompt_beside_the_messages_comes_first(key, prompt):
    given = {key: prompt, "messages": [{"role": "user", "content": "x"}]}
    assert short(free_messages.request_of(given, "input")) == [("system", "Be good."), ("user", "x")]


def test_requests_are_read_in_every_shape():
    came = [
        {"type": "function_call_output", "call_id": "c", "output": "4"},
        {"type": "message", "role": "user", "content": [{"type": "text", "text": "x"}]},
    ]
    assert short(free_messages.request_of({"input": came}, "input")) == [("came", "c", "4"), ("user", "x")]
    assert short(
        free_messages.request_of(
            [[{"type": "human", "content": "x"}, {"type": "tool", "content": "4", "tool_call_id": "c"}]], "input"
        )
    ) == [("user", "x"), ("came", "c", "4")]
    assert short(free_messages.request_of({"role": "user", "content": "x"}, "input")) == [("user", "x")]


def test_what_messages_say_about_failures_is_kept():
    block = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "x", "is_error": True}]}
    message = {"type": "tool", "content": "x", "tool_call_id": "d", "status": "success"}
    assert free_messages.request_of([block, message], "input").failures == {"c": True, "d": False}


def test_further_replies_and_foreign_items_are_noted():
    choices = [{"message": OPENAI, "finish_reason": "length"}, {"message": OPENAI}]
    heard = free_messages.reply_of({"choices": choices}, "output")
    assert (heard.cut_off, [odd.code for odd in heard.odd]) == (True, ["TRACE_INCOMPLETE"])
    heard = free_messages.reply_of(
        {"output": [{"type": "web_search_call", "id": "w"}, {"type": "function_call"}]}, "output"
    )
    assert [odd.code for odd in heard.odd] == ["TRACE_INCOMPLETE", "TRACE_MALFORMED"]
    assert "web_search_call" in heard.odd[0].message
    image = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}
    assert "image_url" in free_messages.request_of([image], "input").odd[0].message


@pytest.mark.parametrize(
    "value",
    [UNSET, None, 4, {"something": 1}, [4], {"choices": []}, {"generations": [[]]}, {"output": [4]}, [{"type": "new"}]],
)
def test_an_unknown_shape_is_nothing(value):
    assert free_messages.reply_of(value, "output") is None
    assert free_messages.request_of(value, "input") is None

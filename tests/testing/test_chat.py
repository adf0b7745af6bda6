"""The chat endpoint's request and completion: what is read, what is counted, where a reply is cut."""

import json

import msgspec
import pytest

from rightcall.testing.answers import Asked
from rightcall.testing.chat import completion, read_body, tokens
from rightcall.testing.spoiling import Reply


def read(**body):
    return read_body(json.dumps({"model": "m", "messages": [], **body})).asked()


def test_texts_are_read_by_role_also_in_parts():
    parts = [{"type": "text", "text": "one "}, {"type": "image_url", "image_url": {}}, {"type": "text", "text": "two"}]
    asked = read(
        messages=[
            {"role": "system", "content": "s"},
            {"role": "developer", "content": "d"},
            {"role": "user", "content": parts},
            {"role": "assistant", "content": None},
            {"role": "user", "content": "three"},
        ]
    )
    assert (asked.system, asked.user) == ("s\nd", "one two\nthree")


def test_what_was_not_sent_is_none():
    asked = read()
    assert (asked.temperature, asked.max_tokens, asked.form, asked.schema) == (None, None, "text", None)
    assert read(temperature=0).temperature == 0
    assert read(max_tokens=5).max_tokens == read(max_completion_tokens=5).max_tokens == 5


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ({"type": "text"}, "text"),
        ({"type": "json_object"}, "json_object"),
        ({"type": "json_schema", "json_schema": {"name": "r", "schema": {"type": "null"}}}, "json_schema"),
    ],
)
def test_the_form_is_what_was_asked_for(form, expected):
    asked = read(response_format=form)
    assert asked.form == expected
    assert asked.schema == ({"type": "null"} if expected == "json_schema" else None)


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'{"model": "m"}', b'{"model": 5, "messages": []}', b"\xff"])
def test_a_body_that_is_no_request_is_refused(raw):
    with pytest.raises((msgspec.MsgspecError, UnicodeDecodeError)):
        read_body(raw)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("abcd" * 10, 10),
        ("a b c d e", 5),
        ("a\nb\tc d", 4),
        ("é" * 8, 4),
        ("word " * 100, 125),
        ("\ud800" * 4, 3),
    ],
)
def test_tokens_are_a_quarter_of_the_bytes_and_at_least_the_words(text, count):
    assert tokens(text) == count
    assert tokens(text) >= len(text.split())


def said(reply: Reply, **parts):
    return json.loads(completion(Asked(system="be brief", user="x" * 400, model="m", **parts), reply, 5))


def test_a_completion_has_the_shape_and_the_counts():
    value = said(Reply(text="y" * 40, model="m"), number=3)
    assert (value["id"], value["created"], value["model"]) == ("chatcmpl-3", 5, "m")
    [choice] = value["choices"]
    assert (choice["message"]["content"], choice["finish_reason"]) == ("y" * 40, "stop")
    assert value["usage"]["prompt_tokens"] == 102
    assert (value["usage"]["completion_tokens"], value["usage"]["total_tokens"]) == (10, 112)


def test_a_reply_longer_than_the_limit_is_cut_there():
    value = said(Reply(text="y" * 40, model="m"), max_tokens=4)
    assert (value["choices"][0]["message"]["content"], value["choices"][0]["finish_reason"]) == ("y" * 16, "length")
    assert value["usage"]["completion_tokens"] == 4
    assert said(Reply(text="y" * 40, model="m"), max_tokens=10)["choices"][0]["finish_reason"] == "stop"


def test_hidden_tokens_count():
    value = said(Reply(text="", finish="length", model="m", hidden_tokens=64), max_tokens=64)
    assert (value["choices"][0]["message"]["content"], value["usage"]["completion_tokens"]) == ("", 64)
    assert value["usage"]["completion_tokens_details"] == {"reasoning_tokens": 64}


def test_a_refusal_has_no_text():
    message = said(Reply(text="", refusal="no", model="m"))["choices"][0]["message"]
    assert (message["content"], message["refusal"]) == (None, "no")


def test_a_cut_prompt_is_reported_as_a_tenth():
    assert said(Reply(text="", model="m", prompt_share=0.1))["usage"]["prompt_tokens"] == 10

"""Replies from a file."""

import asyncio
import json

import pytest
from llm_serving import PLAIN
from msgspec.structs import replace

from rightcall.errors import ConfigError, Rejected
from rightcall.llm.recorded import RecordedClient
from rightcall.llm.spec import JudgeSpec


@pytest.fixture
def record(tmp_path):
    def make(*lines, model="judge-r"):
        file = tmp_path / "answers.jsonl"
        texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
        file.write_text("\n".join(texts) + "\n", "utf-8")
        return RecordedClient(JudgeSpec(provider="recorded", file=str(file), model=model))

    return make


def asked(client, **more):
    return asyncio.run(client.ask(replace(PLAIN, **{"grader": "selection", "unit": "u1", **more})))


def test_the_line_that_says_most_is_found_first(record):
    client = record(
        {"unit": "u1", "replies": ["unit"]},
        {"grader": "selection", "unit": "u1", "replies": ["grader"]},
        {"grader": "selection", "unit": "u1", "replicate": 1, "replies": ["replicate"]},
        {"input_sha256": "abc", "replies": ["digest"]},
    )
    assert asked(client, input_sha256="abc").text == "digest"
    assert asked(client, replicate=1).text == "replicate"
    assert asked(client, replicate=0).text == "grader"
    assert asked(client, grader="rubric").text == "unit"


def test_a_pair_is_answered_by_whose_trace_stands_first(record):
    client = record(
        {"unit": "u1", "order": "ab", "replies": ["a first"]},
        {"unit": "u1", "order": "ba", "replies": ["b first"]},
        {"unit": "u2", "replies": ["whatever stands first"]},
    )
    assert (asked(client, order="ab").text, asked(client, order="ba").text) == ("a first", "b first")
    assert asked(client, unit="u2", order="ba").text == "whatever stands first"
    with pytest.raises(Rejected, match="no reply is recorded"):
        asked(client)


def test_each_attempt_has_its_reply(record):
    client = record(
        {"unit": "u1", "replies": ["bad", {"text": "good", "finish": "length", "input_tokens": 3, "output_tokens": 1}]}
    )
    first, second = asked(client), asked(client, attempt=1)
    assert (first.text, first.finish, first.model, first.input_tokens) == ("bad", "stop", "judge-r", None)
    assert (second.text, second.finish, second.input_tokens, second.output_tokens) == ("good", "length", 3, 1)


def test_the_model_that_was_recorded_answers(record):
    assert asked(record({"unit": "u1", "replies": [{"text": "x", "model": "m-2"}]})).model == "m-2"
    assert asked(record({"unit": "u1", "replies": ["x"]}, model="")).model is None


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"unit": "u9"}, "no reply is recorded for grader `selection`, unit `u9`"),
        ({"attempt": 1}, "line 1 has no reply to attempt 1"),
    ],
)
def test_a_question_that_is_not_recorded_is_an_error_of_its_own(record, more, words):
    with pytest.raises(Rejected) as caught:
        asked(record({"unit": "u1", "replies": ["x"]}), **more)
    assert caught.value.code == "JUDGE_NOT_RECORDED"
    assert words in str(caught.value)
    assert "answers.jsonl" in str(caught.value)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "answers.jsonl:2:2: not valid JSON"),
        ("[]", "answers.jsonl:2: not a recorded reply"),
        ('{"unit": "u1"}', "required field `replies`"),
        ('{"unit": "u1", "replies": ["x"], "graders": "a"}', "unknown field `graders`"),
        ('{"unit": "u1", "replies": [{"text": "x", "finish": "done"}]}', "$.replies[0].finish"),
        ('{"replies": ["x"]}', "neither `input_sha256` nor `unit`"),
        ('{"unit": "u1", "replies": []}', "`replies` is empty"),
        ('{"unit": "u0", "replies": ["x"]}', "the same question as in line 1"),
    ],
)
def test_a_bad_line_is_named(record, line, words):
    with pytest.raises(ConfigError) as caught:
        record({"unit": "u0", "replies": ["x"]}, line)
    assert words in str(caught.value)
    assert "answers.jsonl:2" in str(caught.value)


@pytest.mark.parametrize(
    ("file", "words"), [(None, "needs a `file`"), ("nowhere.jsonl", "nowhere.jsonl: No such file")]
)
def test_a_missing_file_is_said_when_the_client_is_made(file, words):
    with pytest.raises(ConfigError, match=words):
        RecordedClient(JudgeSpec(provider="recorded", file=file))


def test_an_empty_file_is_no_judge(record):
    with pytest.raises(ConfigError, match="the file holds no reply"):
        record("")

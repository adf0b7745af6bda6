"""What a refusal teaches about an endpoint."""

import pytest
from llm_serving import PLAIN, QUESTION

from rightcall.errors import Rejected
from rightcall.llm.client import Answer
from rightcall.llm.ladder import PROBE, Ladder

RENAMES = {"max_tokens": "max_completion_tokens"}
ALL = {"temperature": 0, "max_tokens": 9, "seed": 1, "top_p": None}


def refusal(message, parameter=None, status=400):
    return Rejected(message, code="JUDGE_UNREACHABLE", http_status=status, parameter=parameter)


@pytest.mark.parametrize(
    ("message", "named", "left"),
    [
        ("Unsupported value: 'temperature' does not support 0 with this model.", "temperature", {"max_tokens": 9, "seed": 1}),
        ("h answers HTTP 400: `temperature` is deprecated for this model.", None, {"max_tokens": 9, "seed": 1}),
        ("Unrecognized request argument supplied: seed", None, {"temperature": 0, "max_tokens": 9}),
        (
            "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.", "max_tokens",
            {"temperature": 0, "seed": 1, "max_completion_tokens": 9},
        ),
    ],
)  # fmt: skip
def test_a_refused_parameter_is_left_out_or_renamed(message, named, left):
    ladder = Ladder("text", renames=RENAMES)
    assert ladder.learn(refusal(message, named), 0)
    assert ladder.parameters(ALL) == left


@pytest.mark.parametrize(
    ("message", "named", "status"),
    [
        ("This model's maximum context length is 8192 tokens", "messages", 400),
        ("max_tokens is too large: 90000. This model supports at most 16384 completion tokens.", "max_tokens", 400),
        ("the model `x` does not exist", None, 404),
        ("temperature is not supported", "temperature", 403),
        ("Bad Request", None, 400),
        ("model is not supported", "model", 400),
    ],
)
def test_what_cannot_be_helped_teaches_nothing(message, named, status):
    ladder = Ladder("json_schema", renames=RENAMES)
    assert not ladder.learn(refusal(message, named, status), 0)
    assert (ladder.version, ladder.rung, ladder.parameters(ALL)) == (
        0,
        "json_schema",
        {"temperature": 0, "max_tokens": 9, "seed": 1},
    )


def test_a_parameter_is_learned_once_and_refusing_it_again_is_an_error():
    ladder = Ladder("text")
    error = refusal("no", "temperature")
    assert ladder.learn(error, 0)
    assert ladder.learn(error, 0), "it was sent before that was known"
    assert not ladder.learn(error, 1)


def test_a_strict_schema_that_is_refused_is_sent_without_strict_before_a_rung_is_given_up():
    ladder = Ladder("auto")
    error = refusal(
        "Invalid schema for response_format 'verdict': 'additionalProperties' is required", "response_format"
    )
    assert ladder.learn(error, 0)
    assert (ladder.rung, ladder.allows("strict")) == ("json_schema", False)
    assert ladder.learn(error, 1)
    assert ladder.rung == "json_object"
    assert ladder.learn(refusal("must contain the word json to use response_format", "messages"), 2)
    assert ladder.rung == "text"
    assert not ladder.learn(error, 3)


def test_a_configured_rung_may_lose_strict_and_nothing_else():
    ladder = Ladder("json_schema")
    error = refusal("strict mode is not supported", "response_format.json_schema.strict")
    assert ladder.learn(error, 0)
    assert not ladder.learn(error, 1)
    assert ladder.rung == "json_schema"


def test_a_request_without_schema_is_text():
    assert (Ladder("auto").rung_for(PLAIN), Ladder("auto").rung_for(QUESTION)) == ("text", "json_schema")


@pytest.mark.parametrize(
    ("text", "finish", "rung"),
    [
        ('{"shade":"teal"}', "stop", "json_schema"),
        (' {"shade": "teal"}\n', "stop", "json_schema"),
        ('{"shade": "blue"}', "stop", "text"),
        ('{"shade": "teal", "why": "no"}', "stop", "text"),
        ('```json\n{"shade": "teal"}\n```', "stop", "text"),
        ("The sky is blue.", "stop", "text"),
        ("", "length", "json_schema"),
    ],
)
def test_only_a_kept_schema_proves_itself_and_a_cut_answer_proves_nothing(text, finish, rung):
    ladder = Ladder("auto")
    assert not ladder.is_known
    ladder.answered(Answer(text=text, finish=finish, rung="json_schema"))
    assert (ladder.is_known, ladder.rung) == (True, rung)


def test_the_probe_does_not_suggest_the_word_that_it_waits_for():
    assert PROBE.schema["properties"]["shade"]["enum"] == ["teal"]
    assert not any(word in PROBE.system + PROBE.user for word in ("teal", "shade"))


@pytest.mark.parametrize("options", [{"structured": "text"}, {"structured": "auto", "is_sure": True}])
def test_no_probe_is_needed_where_the_rung_is_said_or_documented(options):
    assert Ladder(**options).is_known

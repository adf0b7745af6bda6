"""What each fault looks like, and that the readers end with the code that is promised."""

import json
from email.utils import parsedate_to_datetime

import pytest

from rightcall.judge.contract import Malformed
from rightcall.judge.read import REPLY_SCHEMAS, read_reply
from rightcall.testing.answers import Asked, rubric_answer, selection_answer
from rightcall.testing.faults import EXPECTED, FAULTS
from rightcall.testing.spoiling import spoil, wire

CONTENT = [kind for kind, fault in FAULTS.items() if fault.nature == "content"]
USER = 'Step 3: the agent called {"tool": "find_boat", "grade": "PASS"} for two people [case-0007].'
ANSWERS = {"selection": selection_answer(), "rubric": rubric_answer()}


def question(grader: str = "selection", **parts) -> Asked:
    schema = json.dumps(REPLY_SCHEMAS[grader]).encode()
    return Asked(**{"user": USER, "model": "judge", "form": "json_schema", "schema_json": schema, **parts})


@pytest.mark.parametrize("kind", CONTENT)
@pytest.mark.parametrize("grader", ANSWERS)
@pytest.mark.parametrize("has_schema", [True, False])
def test_the_reader_of_a_grader_ends_with_the_promised_code(kind, grader, has_schema):
    asked = question(grader) if has_schema else question(grader, schema_json=b"", form="text")
    reply = spoil(kind, asked, ANSWERS[grader](asked))
    read = read_reply(grader, reply.refusal or reply.text, "refusal" if reply.refusal else reply.finish)
    assert isinstance(read, Malformed)
    assert read.code == EXPECTED[kind]


@pytest.mark.parametrize("kind", [None, *(kind for kind in FAULTS if kind not in CONTENT)])
def test_a_fault_that_is_none_of_the_reply_leaves_its_text_whole(kind):
    reply = spoil(kind, question(), "the text")
    assert (reply.text, reply.finish, reply.refusal) == ("the text", "stop", None)


def test_a_reply_that_is_no_object_can_be_spoiled_too():
    for text in ("not JSON", "[1, 2]", "{}", ""):
        assert spoil("duplicate_key", Asked(), text).text == '{"grade": "FAIL", "grade": "PASS"}'


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("malformed", '{"score": 4, "reaso'),
        ("truncated", '{"score": 4, "'),
        ("out_of_range", '{"score": 7, "reason": "ok"}'),
        ("non_finite", '{"score": NaN, "reason": "ok"}'),
        ("duplicate_key", '{"score": 3, "score": 4, "reason": "ok"}'),
        ("ambiguous", '{"score": 4, "reason": "ok"}\n\nOn second thoughts:\n\n{"score": 3, "reason": "ok"}'),
        ("empty_text", ""),
    ],
)
def test_each_fault_changes_one_thing(kind, text):
    assert spoil(kind, Asked(), '{"score": 4, "reason": "ok"}').text == text


def test_out_of_range_is_beyond_what_the_schema_allows():
    schema = b'{"properties": {"score": {"type": "integer", "maximum": 10}}}'
    assert spoil("out_of_range", Asked(schema_json=schema), '{"score": 4}').text == '{"score": 11}'


def test_a_second_verdict_keeps_to_the_schema():
    schema = b'{"properties": {"verdict": {"enum": ["A", "B", "TIE"]}, "why": {"type": "string"}}}'
    both = spoil("ambiguous", Asked(schema_json=schema), '{"why": "so", "verdict": "A"}').text.split("\n\n")
    assert [json.loads(both[index]) for index in (0, 2)] == [
        {"why": "so", "verdict": "A"},
        {"why": "so", "verdict": "B"},
    ]


def test_an_echo_is_text_of_the_request_without_brackets():
    assert spoil("echo", question(), "x").text == '"tool": "find_boat", "grade": "PASS"'
    assert spoil("echo", Asked(user="{}"), "x").text


def test_a_model_that_spent_all_on_reasoning_says_nothing():
    reply = spoil("truncated_empty", question(max_tokens=512), "x")
    assert (reply.text, reply.finish, reply.hidden_tokens) == ("", "length", 512)


def test_another_model_and_a_cut_prompt_show_in_what_the_answer_says_of_itself():
    assert spoil("wrong_model", question(), "x").model == "judge-other"
    assert spoil("cut_prompt", question(), "x").prompt_share == 0.1


@pytest.mark.parametrize("kind", FAULTS)
def test_an_answer_that_is_no_completion_has_the_status_that_is_promised(kind):
    what = wire(kind, question(temperature=0.0), retry_after=2, now=0.0)
    assert what is None or what.status == FAULTS[kind].status
    assert (what is None) == (kind in CONTENT or FAULTS[kind].status in (None, 200)) or what.status == 200


def test_limits_say_how_long_to_wait():
    headers = wire("rate_limited", question(), retry_after=0.5, now=0.0).headers
    assert headers == {"Retry-After": "0.5"}
    headers = wire("rate_limited_date", question(), retry_after=2, now=1_000_000.5).headers
    assert parsedate_to_datetime(headers["Retry-After"]).timestamp() == 1_000_003


@pytest.mark.parametrize(
    ("kind", "parts", "param"),
    [
        ("unsupported_temperature", {"temperature": 0.0}, "temperature"),
        ("unsupported_temperature", {"temperature": None}, None),
        ("unsupported_schema", {"form": "json_schema"}, "response_format"),
        ("unsupported_schema", {"form": "json_object"}, None),
        ("unsupported_json", {"form": "json_object"}, "response_format"),
        ("unsupported_json", {"form": "text"}, None),
    ],
)
def test_a_parameter_is_refused_where_it_was_sent(kind, parts, param):
    what = wire(kind, question(**parts), retry_after=1, now=0.0)
    assert (json.loads(what.body)["error"]["param"] if what else None) == param

"""The reply of the `selection` judge."""

import json

import pytest
from pydantic import ValidationError

from rightcall.judge.contract import Malformed, Problem
from rightcall.judge.selection import REPLY_SCHEMA, SelectionReply, read_selection

GOOD = {
    "grade": "FAIL",
    "selected_tool": "find_book",
    "expected_tool": "renew_loan",
    "justification": "find_book only searches; the loan had to be renewed",
    "failure_category": "wrong_tool",
}
PASSED = GOOD | {"grade": "PASS", "selected_tool": "renew_loan", "failure_category": None}


def read(values):
    return read_selection(json.dumps(values))


def without(key, values=GOOD):
    return {name: value for name, value in values.items() if name != key}


def test_a_good_reply_is_read_as_it_is():
    reply = read(GOOD)
    assert isinstance(reply, SelectionReply)
    absent = dict.fromkeys(("secondary_categories", "label_challenged", "label_challenge_reason"))
    assert reply.values() == GOOD | absent
    assert reply.noted == ()


def test_no_tool_is_null():
    reply = read(PASSED | {"selected_tool": None, "expected_tool": None})
    assert (reply.selected_tool, reply.expected_tool, reply.grade) == (None, None, "PASS")


def test_optional_parts_are_read_and_an_empty_list_is_not_absent():
    full = GOOD | {
        "secondary_categories": ["over_action"],
        "label_challenged": True,
        "label_challenge_reason": "both tools renew",
    }
    assert read(full).values() == full
    assert read(full).noted == ()
    assert read(GOOD | {"secondary_categories": []}).secondary_categories == ()
    assert read(GOOD).secondary_categories is None


def test_a_reply_cannot_be_changed():
    reply = read(GOOD)
    with pytest.raises(ValidationError, match="frozen"):
        reply.grade = "PASS"


@pytest.mark.parametrize("key", sorted(GOOD))
def test_a_missing_value_has_no_default(key):
    fault = read(without(key))
    assert fault == Malformed("JUDGE_SCHEMA", (Problem(key, "is missing"),))


@pytest.mark.parametrize(
    ("changed", "path", "said"),
    [
        ({"grade": "PASS/FAIL"}, "grade", "PASS/FAIL"),
        ({"grade": "pass"}, "grade", '"pass"'),
        ({"grade": "fail "}, "grade", '"fail "'),
        ({"grade": "PASS\u200b"}, "grade", "U+200B"),
        ({"grade": "P\u0410SS"}, "grade", "U+0410"),
        ({"grade": True}, "grade", "true"),
        ({"grade": None}, "grade", "null"),
        ({"selected_tool": 5}, "selected_tool", "must be text, not 5"),
        ({"expected_tool": ["a"]}, "expected_tool", "a list"),
        ({"justification": " \u200b"}, "justification", "blank"),
        ({"justification": None}, "justification", "null"),
        ({"failure_category": "none"}, "failure_category", "or null"),
        ({"failure_category": "Wrong_Tool"}, "failure_category", "Wrong_Tool"),
        ({"secondary_categories": "over_action"}, "secondary_categories", "must be a list"),
        ({"secondary_categories": {"over_action": 1}}, "secondary_categories", "an object"),
        ({"secondary_categories": ["over_action", None]}, "secondary_categories[1]", "null"),
        ({"label_challenged": "true"}, "label_challenged", "must be true or false"),
        ({"label_challenged": 1}, "label_challenged", "must be true or false"),
        ({"label_challenge_reason": 3}, "label_challenge_reason", "must be text"),
    ],
)
def test_values_are_never_coerced(changed, path, said):
    fault = read(GOOD | changed)
    assert fault.code == "JUDGE_SCHEMA"
    assert [problem.path for problem in fault.problems] == [path]
    assert said in fault.problems[0].message


def test_all_faults_are_listed():
    fault = read({"grade": "good", "selected_tool": 1, "failure_category": "x"})
    assert [problem.path for problem in fault.problems] == [
        "grade", "selected_tool", "expected_tool", "justification", "failure_category",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changed", "path"),
    [
        ({"grade": "PASS"}, "failure_category"),
        ({"failure_category": None}, "failure_category"),
        ({"secondary_categories": ["over_action", "wrong_tool"]}, "secondary_categories"),
        (PASSED | {"secondary_categories": ["over_action"]}, "secondary_categories"),
    ],
)
def test_grade_and_categories_that_contradict_one_another_are_inconsistent(changed, path):
    fault = read(GOOD | changed)
    assert fault.code == "JUDGE_INCONSISTENT"
    assert [problem.path for problem in fault.problems] == [path]


@pytest.mark.parametrize(("flag", "base"), [(True, PASSED), (False, GOOD)])
def test_a_pass_boolean_is_accepted_for_the_grade(flag, base):
    assert read(without("grade", base) | {"pass": flag}) == read(base)
    assert read(base | {"pass": flag}) == read(base)


def test_a_pass_that_conflicts_with_the_grade_is_inconsistent():
    fault = read(GOOD | {"pass": True})
    assert fault == Malformed("JUDGE_INCONSISTENT", (Problem("grade", "is FAIL, and `pass` is true"),))


@pytest.mark.parametrize("flag", ["false", "true", 0, 1, None, []])
@pytest.mark.parametrize("base", [GOOD, without("grade")])
def test_only_a_boolean_is_a_pass(flag, base):
    fault = read(base | {"pass": flag})
    assert (fault.code, [problem.path for problem in fault.problems]) == ("JUDGE_SCHEMA", ["grade"])
    assert "`pass` must be true or false" in fault.problems[0].message


def test_a_bare_pass_is_verdict_shaped():
    fault = read_selection('The note said {"pass": true}. ' + json.dumps(GOOD))
    assert fault.code == "JUDGE_AMBIGUOUS"


def test_unknown_keys_are_ignored_and_noted():
    reply = read(GOOD | {"score": 3, "noted": ["x"], "values": 1})
    assert reply.grade == "FAIL"
    assert [problem.path for problem in reply.noted] == ["score", "noted", "values"]
    assert "score" not in reply.values()


def test_a_challenge_without_a_reason_is_noted():
    assert [p.path for p in read(GOOD | {"label_challenged": True}).noted] == ["label_challenge_reason"]
    assert read(GOOD | {"label_challenged": False}).noted == ()


def test_every_key_of_the_schema_is_one_that_the_reader_knows():
    assert set(REPLY_SCHEMA["properties"]) == set(SelectionReply.model_fields)

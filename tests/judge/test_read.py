"""The one door to reading: which reader, and what an unknown grader is told."""

import json

import pytest

from rightcall.errors import ConfigError
from rightcall.judge.own import OwnReply
from rightcall.judge.read import READERS, REPLY_SCHEMAS, read_reply
from rightcall.judge.rubric import RubricReply

RUBRIC = {
    "tool_selection_score": 4,
    "argument_accuracy_score": 5,
    "call_sequencing_score": 4,
    "abstention_score": None,
    "misuse_severity": "NONE",
    "downstream_impact": "",
    "justification": "fine",
    "tool_call_evaluations": [{"call_id": "c1", "tool_name": "find_book", "score": 4, "reason": "fits"}],
}


def test_every_judged_grader_has_a_reader_and_a_schema():
    assert sorted(READERS) == sorted(REPLY_SCHEMAS) == ["interpretation", "preference", "rubric", "selection"]


@pytest.mark.parametrize("grader", sorted(READERS))
def test_every_reader_gives_the_codes_of_the_text(grader):
    assert read_reply(grader, "").code == "JUDGE_EMPTY"
    assert read_reply(grader, "", "length").code == "JUDGE_TRUNCATED"
    assert read_reply(grader, "{}", finish_reason="refusal").code == "JUDGE_REFUSAL"
    assert read_reply(grader, "no").code == "JUDGE_NOT_JSON"
    assert read_reply(grader, "{}").code == "JUDGE_SCHEMA"


@pytest.mark.parametrize("grader", ["golden", "", "Rubric", "own"])
def test_an_unknown_grader_is_told_the_known_ones(grader):
    with pytest.raises(ConfigError, match="interpretation, preference, rubric, selection"):
        read_reply(grader, "{}")


def test_facts_reach_the_reader():
    text = json.dumps(RUBRIC)
    assert isinstance(read_reply("rubric", text), RubricReply)
    assert isinstance(read_reply("rubric", text, facts={"calls": {"c1": "find_book"}}), RubricReply)
    assert read_reply("rubric", text, facts={"calls": {"c1": "renew_loan"}}).code == "JUDGE_INCONSISTENT"


@pytest.mark.parametrize("grader", ["tone", "rubric"])
def test_a_schema_of_ones_own_replaces_the_reader(grader):
    assert read_reply(grader, '{"tone": 3}', schema={"type": "object"}) == OwnReply({"tone": 3})


def test_a_malformed_reply_reads_as_one_line_with_all_problems():
    told = str(read_reply("selection", '{"grade": "PASS\u200b", "pass": "yes"}'))
    assert told.startswith("JUDGE_SCHEMA (grade: ")
    assert "\n" not in told
    assert "justification: is missing" in told

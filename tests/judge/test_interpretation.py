"""The reply of the `interpretation` judge."""

import json

import pytest

from rightcall.judge.contract import Malformed, Problem
from rightcall.judge.interpretation import REPLY_SCHEMA, InterpretationReply, read_interpretation

GOOD = {
    "score": 2,
    "interpretation_accuracy": "the net price was read as the gross price",
    "action_appropriateness": "it quoted the wrong price",
    "key_errors": ["net for gross"],
    "justification": "price.gross is 119",
}
FULL = GOOD | {
    "misinterpretation_flags": [{"claim_quote": "it costs 100", "kind": "wrong_field", "result_path": "price.gross"}],
    "evidence": [{"result_path": "price.gross", "quote": "119"}],
    "action_score": 1,
    "confidence": 0.9,
}
OPTIONAL = sorted(set(FULL) - set(GOOD))


def read(values):
    return read_interpretation(json.dumps(values))


def paths(fault):
    return [problem.path for problem in fault.problems]


def test_a_full_reply_is_read_as_it_is():
    reply = read(FULL)
    assert isinstance(reply, InterpretationReply)
    assert reply.values() == FULL
    assert reply.noted == ()


def test_what_is_absent_or_null_is_none_and_an_empty_list_is_empty():
    assert read(GOOD).values() == GOOD | dict.fromkeys(OPTIONAL)
    assert read(GOOD | dict.fromkeys(OPTIONAL)) == read(GOOD)
    empty = read(GOOD | {"misinterpretation_flags": [], "evidence": []})
    assert (empty.misinterpretation_flags, empty.evidence) == ((), ())


@pytest.mark.parametrize("key", sorted(GOOD))
def test_a_missing_value_has_no_default(key):
    fault = read({name: value for name, value in GOOD.items() if name != key})
    assert fault == Malformed("JUDGE_SCHEMA", (Problem(key, "is missing"),))


@pytest.mark.parametrize(
    ("changed", "at"),
    [
        ({"score": "4/5"}, ["score"]),
        ({"score": None}, ["score"]),
        ({"score": 0.8}, ["score"]),
        ({"action_score": 0}, ["action_score"]),
        ({"confidence": 2}, ["confidence"]),
        ({"key_errors": "net"}, ["key_errors"]),
        ({"key_errors": ["", 3]}, ["key_errors[0]", "key_errors[1]"]),
        ({"key_errors": None}, ["key_errors"]),
        ({"justification": ""}, ["justification"]),
        ({"evidence": [{"quote": "x"}]}, ["evidence[0].result_path"]),
        (
            {"misinterpretation_flags": [{"claim_quote": "", "kind": "typo", "result_path": None}]},
            ["misinterpretation_flags[0].claim_quote", "misinterpretation_flags[0].kind"],
        ),
    ],
)
def test_faults_are_told_by_their_path(changed, at):
    fault = read(FULL | changed)
    assert (fault.code, paths(fault)) == ("JUDGE_SCHEMA", at)


def test_an_invented_claim_needs_no_path_of_the_result():
    flag = {"claim_quote": "it is sold out", "kind": "invented", "result_path": None}
    assert read(GOOD | {"misinterpretation_flags": [flag]}).misinterpretation_flags[0].result_path is None


def test_the_alias_of_evidence_is_evidence_alignment():
    values = {name: value for name, value in FULL.items() if name != "evidence"}
    assert read(values | {"evidence_alignment": FULL["evidence"]}) == read(FULL)
    assert read(FULL | {"evidence_alignment": []}).code == "JUDGE_INCONSISTENT"


def test_a_nested_score_is_an_unknown_key_and_never_the_score():
    reply = read(GOOD | {"breakdown": {"score": 5}})
    assert reply.score == 2
    assert [problem.path for problem in reply.noted] == ["breakdown"]


def test_every_key_of_the_schema_is_one_that_the_reader_knows():
    assert set(REPLY_SCHEMA["properties"]) == set(InterpretationReply.model_fields)

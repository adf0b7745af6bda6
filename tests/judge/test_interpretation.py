"""The reply of the `interpretation` judge."""

import json

import msgspec
import pytest

from rightcall.judge.contract import Malformed, Problem
from rightcall.judge.interpretation import DIRECT_SCHEMA, REPLY_SCHEMA, InterpretationReply, read_interpretation
from rightcall.judge.quotes import ReadingFacts

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


# ---- quotes ----

SHOWN = ReadingFacts(
    text="It costs 100 euros, and it is in stock.", action={"role": "assistant", "text": "It costs 100 euros."},
    result={"price": {"net": 100, "gross": 119}, "in_stock": True, "id": "P-7"},
)  # fmt: skip
SILENT = ReadingFacts(
    text=None, action={"tool": "order", "arguments": {"price": 100}}, result="Declined: nothing was paid."
)


def read_as(facts, **changed):
    return read_interpretation(json.dumps(GOOD | changed), reading=facts)


def flag(claim, path="price.gross", kind="wrong_field"):
    return {"claim_quote": claim, "kind": kind, "result_path": path}


def test_quotes_that_stand_where_they_are_said_to_are_read():
    reply = read_as(
        SHOWN, misinterpretation_flags=[flag("costs  100 euros"), flag("in stock", None)],
        evidence=[{"result_path": "$.price.gross", "quote": "119"}, {"result_path": "$", "quote": '"in_stock": true'}],
    )  # fmt: skip
    assert isinstance(reply, InterpretationReply)
    silent = read_as(
        SILENT, misinterpretation_flags=[flag("100", "$")],
        evidence_alignment=[{"result_path": "$", "quote": "nothing was paid"}],
    )  # fmt: skip
    assert isinstance(silent, InterpretationReply)


def test_every_quote_and_path_that_is_not_there_is_listed():
    fault = read_as(
        SHOWN, misinterpretation_flags=[flag("It costs 119 euros"), flag("It costs 100 euros", "price.vat")],
        evidence=[
            {"result_path": "price.gross", "quote": "100"}, {"result_path": "$.nowhere", "quote": "1"},
            {"result_path": "id", "quote": "P-8"},
        ],
    )  # fmt: skip
    assert fault.code == "JUDGE_INCONSISTENT"
    assert paths(fault) == [
        "misinterpretation_flags[0].claim_quote", "misinterpretation_flags[1].result_path", "evidence[0].quote",
        "evidence[1].result_path", "evidence[2].quote",
    ]  # fmt: skip
    assert str(fault.problems[0].message) == '"It costs 119 euros" does not stand in the agent\'s text'


def test_a_silent_agent_is_quoted_from_its_next_action():
    fault = read_as(SILENT, misinterpretation_flags=[flag("It costs 100 euros", None)])
    assert [one.message for one in fault.problems] == [
        '"It costs 100 euros" does not stand in the agent\'s next action'
    ]


@pytest.mark.parametrize("blank", ["", "  ", "\u200b"])
def test_a_blank_quote_is_malformed(blank):
    fault = read_as(SHOWN, misinterpretation_flags=[flag(blank)], evidence=[{"result_path": "$", "quote": blank}])
    assert fault.code == "JUDGE_SCHEMA"
    assert paths(fault) == ["misinterpretation_flags[0].claim_quote", "evidence[0].quote"]


def test_without_the_texts_nothing_is_looked_up():
    assert isinstance(read(GOOD | {"evidence": [{"result_path": "x", "quote": "nowhere"}]}), InterpretationReply)


@pytest.mark.parametrize("score", [0, 0.35, 1])
def test_a_score_that_is_asked_for_from_0_to_1_is_read_as_it_is(score):
    direct = msgspec.structs.replace(SHOWN, direct=True)
    assert read_as(direct, score=score).score == score


@pytest.mark.parametrize("score", [4, -0.1, 1.05, "0.5", True, None])
def test_a_direct_score_outside_0_to_1_is_malformed_not_clamped(score):
    assert paths(read_as(msgspec.structs.replace(SHOWN, direct=True), score=score)) == ["score"]


def test_the_direct_schema_differs_in_the_score_alone():
    assert DIRECT_SCHEMA["properties"]["score"]["enum"][:3] == [0.0, 0.05, 0.1]
    rest = {name: part for name, part in DIRECT_SCHEMA["properties"].items() if name != "score"}
    assert rest == {name: part for name, part in REPLY_SCHEMA["properties"].items() if name != "score"}

"""The reply of the `preference` judge."""

import json

import pytest

from rightcall.judge.contract import Malformed, Problem
from rightcall.judge.preference import REPLY_SCHEMA, PreferenceReply, read_preference

GOOD = {
    "preferred_trace": "B",
    "confidence": 0.85,
    "justification": {
        "tool_selection": "B renews, A searches",
        "argument_accuracy": "equal",
        "call_ordering": "equal",
        "abstention_handling": "equal",
        "error_handling": "",
    },
    "key_differentiators": ["B renews the loan"],
    "critical_failures": {"trace_a": ["never renews"], "trace_b": []},
}


def read(values):
    return read_preference(json.dumps(values))


def paths(fault):
    return [problem.path for problem in fault.problems]


def test_a_good_reply_is_read_as_it_is():
    reply = read(GOOD)
    assert isinstance(reply, PreferenceReply)
    assert reply.values() == GOOD
    assert reply.noted == ()


@pytest.mark.parametrize(("written", "read_as"), [("a", "A"), ("b", "B"), ("A", "A"), ("tie", "TIE"), ("Tie", "TIE")])
def test_the_case_of_the_preferred_trace_does_not_matter(written, read_as):
    assert read(GOOD | {"preferred_trace": written}).preferred_trace == read_as


@pytest.mark.parametrize(
    "written", ["Trace A", "A ", "C", "", "A/B", "t\u0131e", "\uff21", "A\u200b", None, True, ["A"]]
)
def test_anything_else_is_no_preference(written):
    fault = read(GOOD | {"preferred_trace": written})
    assert (fault.code, paths(fault)) == ("JUDGE_SCHEMA", ["preferred_trace"])


@pytest.mark.parametrize("confidence", [0, 1, 0.0, 1.0, 0.05, 0.123456])
def test_a_confidence_is_any_number_from_0_to_1(confidence):
    assert read(GOOD | {"confidence": confidence}).confidence == confidence


@pytest.mark.parametrize("confidence", [-0.01, 1.01, 85, "0.85", "85%", True, None, [0.5]])
def test_any_other_confidence_is_refused_and_not_clamped(confidence):
    fault = read(GOOD | {"confidence": confidence})
    assert (fault.code, paths(fault)) == ("JUDGE_SCHEMA", ["confidence"])


@pytest.mark.parametrize("literal", ["NaN", "Infinity", "1e999"])
def test_a_confidence_that_is_no_finite_number_has_its_own_code(literal):
    fault = read_preference(json.dumps(GOOD).replace("0.85", literal))
    assert (fault.code, paths(fault)) == ("JUDGE_NON_FINITE", [literal])


@pytest.mark.parametrize("key", sorted(GOOD))
def test_a_missing_value_has_no_default(key):
    fault = read({name: value for name, value in GOOD.items() if name != key})
    assert fault == Malformed("JUDGE_SCHEMA", (Problem(key, "is missing"),))


@pytest.mark.parametrize("count", [0, 4])
def test_there_are_one_to_three_differentiators(count):
    fault = read(GOOD | {"key_differentiators": ["x"] * count})
    assert (fault.code, paths(fault)) == ("JUDGE_SCHEMA", ["key_differentiators"])


def test_the_alias_of_the_justification_is_reasons():
    values = {name: value for name, value in GOOD.items() if name != "justification"}
    assert read(values | {"reasons": GOOD["justification"]}) == read(GOOD)
    assert read(GOOD | {"reasons": {"tool_selection": "other"}}).code == "JUDGE_INCONSISTENT"


def test_all_faults_are_listed_by_path():
    fault = read(
        GOOD | {"justification": "B", "key_differentiators": ["x", " "], "critical_failures": {"trace_a": "none"}}
    )
    assert paths(fault) == [
        "justification", "key_differentiators[1]", "critical_failures.trace_a", "critical_failures.trace_b",
    ]  # fmt: skip


def test_every_key_of_the_schema_is_one_that_the_reader_knows():
    assert set(REPLY_SCHEMA["properties"]) == set(PreferenceReply.model_fields)

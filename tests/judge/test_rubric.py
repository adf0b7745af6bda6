"""The reply of the `rubric` judge."""

import json
from fractions import Fraction

import pytest

from rightcall.judge.contract import Malformed, Problem
from rightcall.judge.rubric import REPLY_SCHEMA, RubricReply, read_rubric

GOOD = {
    "tool_selection_score": 4,
    "argument_accuracy_score": 5,
    "call_sequencing_score": 4,
    "abstention_score": 5,
    "misuse_severity": "LOW",
    "downstream_impact": "one search too many",
    "justification": "c1 was not needed",
}
REASONS = {"tool_selection": "c1", "argument_accuracy": "c2", "call_sequencing": "c1", "abstention": None}
CALLS = {"c1": "find_book", "c2": "renew_loan"}


def evaluation(call_id, tool_name, **changed):
    return {"call_id": call_id, "tool_name": tool_name, "score": 4, "reason": "fits"} | changed


EVALUATIONS = [evaluation("c1", "find_book"), evaluation("c2", "renew_loan")]


def read(values, **facts):
    return read_rubric(json.dumps(values), **facts)


def paths(fault):
    return [problem.path for problem in fault.problems]


def test_a_good_reply_is_read_and_its_mean_is_ours():
    reply = read(GOOD)
    assert isinstance(reply, RubricReply)
    assert reply.overall_score == 4.5
    absent = {"tool_call_evaluations": None, "judge_overall_score": None}
    assert reply.values() == GOOD | absent | {"overall_score": 4.5}
    assert reply.noted == ()


def test_the_mean_leaves_out_what_is_null_and_is_exact():
    reply = read(GOOD | {"abstention_score": None})
    assert reply.mean == Fraction(13, 3)
    assert reply.overall_score == 13 / 3
    assert reply.scores == {"tool_selection": 4, "argument_accuracy": 5, "call_sequencing": 4}


def test_only_abstention_may_be_null():
    names = ["tool_selection_score", "argument_accuracy_score", "call_sequencing_score"]
    fault = read(GOOD | dict.fromkeys(names))
    assert (fault.code, paths(fault)) == ("JUDGE_SCHEMA", names)


@pytest.mark.parametrize("value", [0, 6, 7, -1, 4.5, "4", "4/5", True, [4], {"score": 4}, 10**30])
@pytest.mark.parametrize("name", ["tool_selection_score", "abstention_score"])
def test_a_score_is_a_whole_number_from_1_to_5(name, value):
    fault = read(GOOD | {name: value})
    assert (fault.code, paths(fault)) == ("JUDGE_SCHEMA", [name])
    assert "whole number from 1 to 5" in fault.problems[0].message


def test_an_integral_float_is_the_same_json_number():
    reply = read_rubric(json.dumps(GOOD).replace('"tool_selection_score": 4', '"tool_selection_score": 4.0'))
    assert reply == read(GOOD)
    assert isinstance(reply.tool_selection_score, int)


@pytest.mark.parametrize("key", sorted(GOOD))
def test_a_missing_value_has_no_default(key):
    fault = read({name: value for name, value in GOOD.items() if name != key})
    assert fault == Malformed("JUDGE_SCHEMA", (Problem(key, "is missing"),))


@pytest.mark.parametrize("severity", ["low", "Critical", "", None, "SEVERE", "LOW\u200b"])
def test_the_severity_is_exact(severity):
    fault = read(GOOD | {"misuse_severity": severity})
    assert (fault.code, paths(fault)) == ("JUDGE_SCHEMA", ["misuse_severity"])


# ---- the judge's own mean -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("figure", [4.5, 4.496, 4.504, None])
def test_a_mean_that_is_right_is_not_noted(figure):
    reply = read(GOOD | {"overall_score": figure})
    assert (reply.overall_score, reply.judge_overall_score, reply.noted) == (4.5, figure, ())


def test_a_mean_rounded_to_two_digits_is_right():
    assert read(GOOD | {"abstention_score": None, "overall_score": 4.33}).noted == ()


@pytest.mark.parametrize("figure", [4, 4.0, 5, 4.25, 4.75])
def test_a_mean_up_to_a_half_off_is_noted_and_never_used(figure):
    reply = read(GOOD | {"overall_score": figure})
    assert reply.overall_score == reply.values()["overall_score"] == 4.5
    assert reply.values()["judge_overall_score"] == figure
    assert [problem.path for problem in reply.noted] == ["overall_score"]
    assert "the mean of the four is 4.5" in reply.noted[0].message


@pytest.mark.parametrize("figure", [3.99, 5.01, 2.0, 0, -4.5, 9, 1e300, 10**400])
def test_a_mean_further_off_is_inconsistent(figure):
    fault = read(GOOD | {"overall_score": figure})
    assert (fault.code, paths(fault)) == ("JUDGE_INCONSISTENT", ["overall_score"])
    assert "the mean of the four is 4.5" in fault.problems[0].message


def test_the_right_mean_of_three_is_named():
    fault = read(GOOD | {"abstention_score": None, "overall_score": 1})
    assert "the mean of the three is 4.3333" in fault.problems[0].message


@pytest.mark.parametrize("figure", ["4.5", True, [], {}])
def test_a_mean_that_is_no_number_is_a_fault(figure):
    fault = read(GOOD | {"overall_score": figure})
    assert (fault.code, paths(fault)) == ("JUDGE_SCHEMA", ["overall_score"])


# ---- aliases ------------------------------------------------------------------------------------------------------


def test_aliases_are_read_under_their_own_names():
    values = {name: value for name, value in GOOD.items() if name != "misuse_severity"}
    reply = read(values | {"misuse_severity_classification": "LOW", "tool_call_evaluation": EVALUATIONS})
    assert reply == read(GOOD | {"tool_call_evaluations": EVALUATIONS})
    assert reply.noted == ()


def test_a_name_and_its_alias_may_agree_but_not_differ():
    assert read(GOOD | {"misuse_severity_classification": "LOW"}) == read(GOOD)
    fault = read(GOOD | {"misuse_severity_classification": "HIGH"})
    assert (fault.code, paths(fault)) == ("JUDGE_INCONSISTENT", ["misuse_severity"])
    assert '"LOW"' in fault.problems[0].message
    assert '"HIGH"' in fault.problems[0].message


def test_a_fault_in_an_alias_is_told_under_its_own_name():
    values = {name: value for name, value in GOOD.items() if name != "misuse_severity"}
    assert paths(read(values | {"misuse_severity_classification": "bad"})) == ["misuse_severity"]


# ---- justification ------------------------------------------------------------------------------------------------


def test_the_justification_is_text_or_an_object_for_each_dimension():
    assert read(GOOD).justification == "c1 was not needed"
    reply = read(GOOD | {"justification": REASONS})
    assert reply.justification.tool_selection == "c1"
    assert reply.values()["justification"] == REASONS


@pytest.mark.parametrize(
    ("justification", "at"),
    [
        ("", ["justification"]),
        (5, ["justification"]),
        (None, ["justification"]),
        (["c1"], ["justification"]),
        (REASONS | {"tool_selection": 3, "call_sequencing": ""}, ["justification.tool_selection", "justification.call_sequencing"]),
        ({}, [f"justification.{name}" for name in REASONS]),
    ],
)  # fmt: skip
def test_faults_of_the_justification_are_told_by_their_path(justification, at):
    fault = read(GOOD | {"justification": justification})
    assert (fault.code, paths(fault)) == ("JUDGE_SCHEMA", at)


# ---- calls --------------------------------------------------------------------------------------------------------


def test_evaluations_that_are_absent_or_null_are_none_and_an_empty_list_is_empty():
    assert read(GOOD, calls=CALLS).tool_call_evaluations is None
    assert read(GOOD | {"tool_call_evaluations": None}, calls=CALLS).tool_call_evaluations is None
    assert read(GOOD | {"tool_call_evaluations": []}, calls={}).tool_call_evaluations == ()


def test_evaluations_of_every_call_are_read():
    reply = read(GOOD | {"tool_call_evaluations": EVALUATIONS}, calls=CALLS)
    assert [one.call_id for one in reply.tool_call_evaluations] == ["c1", "c2"]
    assert reply.values()["tool_call_evaluations"] == EVALUATIONS


def test_all_that_is_wrong_with_the_calls_is_listed():
    evaluations = [evaluation("c1", "renew_loan"), evaluation("c9", "find_book"), evaluation("c9", "find_book")]
    fault = read(GOOD | {"tool_call_evaluations": evaluations}, calls=CALLS)
    assert fault.code == "JUDGE_INCONSISTENT"
    assert paths(fault) == [
        "tool_call_evaluations", "tool_call_evaluations[0].tool_name", "tool_call_evaluations[1].call_id",
        "tool_call_evaluations[2].call_id", "tool_call_evaluations",
    ]  # fmt: skip
    told = [problem.message for problem in fault.problems]
    assert '"c9" 2 times' in told[0]
    assert '"find_book"' in told[1]
    assert told[-1] == 'lack the call "c2"'


def test_an_empty_list_lacks_every_call():
    fault = read(GOOD | {"tool_call_evaluations": []}, calls=CALLS)
    assert (fault.code, len(fault.problems)) == ("JUDGE_INCONSISTENT", 2)


def test_without_facts_only_a_repeated_id_can_be_seen():
    assert isinstance(read(GOOD | {"tool_call_evaluations": [evaluation("c9", "x")]}), RubricReply)
    fault = read(GOOD | {"tool_call_evaluations": [evaluation("c1", "x")] * 2})
    assert fault.code == "JUDGE_INCONSISTENT"


def test_faults_inside_evaluations_are_told_by_their_path():
    broken = [evaluation("c1", "find_book"), {"call_id": 2, "tool_name": "renew_loan", "score": 9}, "c3"]
    fault = read(GOOD | {"tool_call_evaluations": broken}, calls=CALLS)
    assert fault.code == "JUDGE_SCHEMA"
    assert paths(fault) == [
        "tool_call_evaluations[1].call_id", "tool_call_evaluations[1].score", "tool_call_evaluations[1].reason",
        "tool_call_evaluations[2]",
    ]  # fmt: skip


def test_several_contradictions_are_listed_together():
    fault = read(
        GOOD | {"overall_score": 1, "misuse_severity_classification": "NONE", "tool_call_evaluations": []}, calls=CALLS
    )
    assert paths(fault) == ["misuse_severity", "overall_score", "tool_call_evaluations", "tool_call_evaluations"]


# ---- notes --------------------------------------------------------------------------------------------------------


def test_unknown_keys_are_noted_at_any_depth_that_is_known():
    values = GOOD | {
        "extra": {"x": 1},
        "justification": REASONS | {"tone": "kind"},
        "tool_call_evaluations": [evaluation("c1", "find_book", latency=3)],
        "judge_overall_score": 1,
    }
    reply = read(values)
    assert {problem.path for problem in reply.noted} == {
        "extra", "justification.tone", "tool_call_evaluations[0].latency", "judge_overall_score",
    }  # fmt: skip
    assert reply.judge_overall_score is None


def test_a_critical_misuse_with_perfect_scores_is_noted_here_and_left_to_the_audit():
    perfect = dict.fromkeys(("tool_selection_score", "argument_accuracy_score", "call_sequencing_score"), 5)
    reply = read(GOOD | perfect | {"abstention_score": None, "misuse_severity": "CRITICAL"})
    assert [problem.path for problem in reply.noted] == ["misuse_severity"]


def test_every_key_of_the_schema_is_one_that_the_reader_knows():
    assert set(REPLY_SCHEMA["properties"]) == set(RubricReply.model_fields) - {"judge_overall_score"}

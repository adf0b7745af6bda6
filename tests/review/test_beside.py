"""A verdict in the words of the form, and where it agrees with a person."""

import pytest

from rightcall.review.beside import compare, in_words, judge_fields, names_of, verdict_fields
from rightcall.review.forms import FORMS, faults_of, stored_form

ASKED = {"status": "EVALUATED", "judges": [{"status": "EVALUATED", "judge": "strong", "model": "m-1"}]}
SCORES = {"tool_selection_score": 2, "argument_accuracy_score": 5, "call_sequencing_score": 4, "abstention_score": None}
RUBRIC = ASKED | {"metrics": SCORES, "misuse_severity": "CRITICAL", "judged_severity": "LOW"}
LEVELS = {"selection": 2, "arguments": 5, "sequencing": 4, "abstention": None}
PAIR = ASKED | {"verdict": "A", "both_critical": False, "decided_by": "judge"}
READING = ASKED | {"score": 4.0, "action_score": 2, "fidelity_mapping": "fifths", "misinterpretation_flags": []}


def test_a_rubrics_severity_is_the_effective_one_and_the_judges_own_stands_apart():
    assert verdict_fields("rubric", RUBRIC) == LEVELS | {"severity": "CRITICAL"}
    assert judge_fields("rubric", RUBRIC) == LEVELS | {"severity": "LOW"}


def test_a_steps_grade_is_the_codes_and_the_judges_own_stands_apart():
    result = ASKED | {"grade": "FAIL", "failure_category": "over_action", "judge_grade": "PASS"}
    assert verdict_fields("selection", result) == {"grade": "FAIL", "failure_category": "over_action"}
    assert judge_fields("selection", result) == {"grade": "PASS"}


def test_a_pair_that_code_decides_still_shows_what_the_judge_says():
    assert (
        verdict_fields("preference", PAIR)
        == judge_fields("preference", PAIR)
        == {"overall": "A", "both_critical": False}
    )
    by_code = PAIR | {"decided_by": "code", "reconciled": [{"winner": "B", "both_critical": False}]}
    assert verdict_fields("preference", by_code) == {"overall": "A"}
    assert judge_fields("preference", by_code) == {"overall": "B", "both_critical": False}
    assert judge_fields("preference", by_code | {"reconciled": []}) == {}


def test_a_reading_is_its_levels_and_kinds():
    flags = [{"kind": "invented"}, {"kind": "wrong_unit"}, {"kind": "invented"}]
    assert verdict_fields("interpretation", READING) == {"score": 4, "action_score": 2, "flags": []}
    assert judge_fields("interpretation", READING | {"misinterpretation_flags": flags})["flags"] == [
        "invented", "wrong_unit",
    ]  # fmt: skip
    assert verdict_fields("interpretation", READING | {"misinterpretation_flags": None}) == {
        "score": 4, "action_score": 2,
    }  # fmt: skip


def test_a_score_that_is_no_level_stands_in_no_field():
    assert "score" not in verdict_fields("interpretation", READING | {"fidelity_mapping": "direct", "score": 1.0})


@pytest.mark.parametrize(("grader", "result"), [("rubric", RUBRIC), ("preference", PAIR), ("interpretation", READING)])
def test_what_stands_beside_an_answer_could_be_an_answer(grader, result):
    form = stored_form(FORMS[grader])
    faults = [fault for fault in faults_of(form, verdict_fields(grader, result), note="n") if "missing" not in fault]
    assert faults == []


@pytest.mark.parametrize("grader", [*FORMS, "mine"])
def test_without_a_verdict_there_is_nothing(grader):
    for nothing in ({}, {"status": "UNEVALUABLE", "judges": [{"status": "UNEVALUABLE"}]}):
        assert verdict_fields(grader, nothing) == judge_fields(grader, nothing) == {}


def test_a_verdict_of_code_alone_is_no_judges():
    result = {"status": "EVALUATED", "verdict": "PASS"}
    assert (verdict_fields("golden", result), judge_fields("golden", result)) == ({"grade": "PASS"}, {})


def test_a_grader_of_ones_own_gives_its_reply():
    assert verdict_fields("tone", ASKED | {"reply": {"ok": True}}) == {"ok": True}


def test_answers_are_compared_field_by_field():
    form = stored_form(FORMS["rubric"])
    mine = {"selection": 1, "arguments": 5, "sequencing": 4, "abstention": None, "severity": "HIGH"}
    found = compare(form, mine, judge_fields("rubric", RUBRIC))
    assert (found.same, found.close, found.apart) == (
        ("arguments", "sequencing", "abstention"), ("selection",), ("severity",),
    )  # fmt: skip
    assert in_words(found, "the judge") == (
        "you and the judge agree on arguments, sequencing, abstention; are one step apart on selection; "
        "differ on severity"
    )


def test_texts_and_what_only_one_has_are_not_compared():
    form = FORMS["selection"]
    found = compare(form, {"grade": "PASS", "right_tool": "a"}, {"right_tool": "b", "failure_category": "over_action"})
    assert in_words(found, "the judge") == "there is nothing to compare with the judge"


def test_lists_agree_if_they_name_the_same():
    form = FORMS["interpretation"]
    assert compare(form, {"flags": ["a", "b"]}, {"flags": ["b", "a"]}).same == ("flags",)
    assert compare(form, {"flags": ["a"]}, {"flags": []}).apart == ("flags",)


def test_critical_is_never_close():
    form = FORMS["rubric"]
    assert compare(form, {"severity": "CRITICAL"}, {"severity": "HIGH"}).apart == ("severity",)
    assert compare(form, {"severity": "HIGH"}, {"severity": "MEDIUM"}).close == ("severity",)


def test_judges_are_named_once_each_with_their_models():
    assert names_of([{"judge": "a", "model": "m"}, {"judge": "a", "model": "m"}, {"judge": "b"}]) == ("a (m)", "b")

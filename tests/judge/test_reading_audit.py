"""What code decides about a reading, and a judge may contradict."""

from __future__ import annotations

import json

import pytest

from rightcall.judge.interpretation import read_interpretation
from rightcall.judge.quotes import ReadingFacts
from rightcall.judge.reading_audit import audit_interpretation

RESULT = {"status": "sent", "to": "harbour office", "weight": 12}
TEXT = "It was sent to the harbour office, 12 kg, for 40 euros."


def audit(result=RESULT, text=TEXT, succeeded=True, direct=False, flags=(), **changed):
    facts = ReadingFacts(text=text, action=None, result=result, direct=direct)
    reply = {
        "score": 3, "interpretation_accuracy": "x", "action_appropriateness": "x", "key_errors": ["x"],
        "justification": "x", "misinterpretation_flags": [
            {"claim_quote": claim, "kind": kind, "result_path": None} for claim, kind in flags
        ],
    }  # fmt: skip
    read = read_interpretation(json.dumps(reply | changed), reading=facts)
    found = audit_interpretation(read, facts, succeeded=succeeded)
    return set(found.checked), [one.check for one in found.conflicts]


def test_an_ignored_error_where_the_call_is_on_record_as_successful_is_a_conflict():
    assert audit(flags=[("sent", "ignored_error")]) == ({"error_status", "cross_field"}, ["error_status"])
    assert audit(flags=[("sent", "wrong_value")])[1] == []


@pytest.mark.parametrize(
    ("result", "succeeded"),
    [
        (RESULT, False),
        (RESULT | {"status": "declined"}, True),
        (RESULT | {"ok": False}, True),
        (RESULT | {"code": 503}, True),
        (RESULT | {"note": "não"}, True),
        (json.dumps(RESULT | {"status": "failed"}), True),
    ],
)
def test_a_result_that_may_tell_of_a_failure_decides_nothing(result, succeeded):
    checked, conflicts = audit(result, succeeded=succeeded, flags=[("sent", "ignored_error")])
    assert "error_status" not in checked
    assert conflicts == []


def test_words_of_the_result_are_not_invented():
    assert audit(flags=[("harbour office", "invented")])[1] == ["invented_value"]
    assert audit(flags=[("12", "invented")])[1] == ["invented_value"]
    assert audit(flags=[("40 euros", "invented")]) == ({"error_status", "invented_value", "cross_field"}, [])
    assert audit(result={"note": "sent to the harbour office"}, flags=[("the harbour", "invented")])[1] == []
    assert audit(
        result={"note": "It was sent to the harbour office"}, flags=[("sent to the harbour office", "invented")]
    )[1] == ["invented_value"]


def test_a_reading_that_is_the_result_letter_for_letter_has_no_wrong_value():
    copy = "Gate 2  is open."
    found = audit(result="Gate 2 is open.", text=copy, flags=[("Gate 2", "wrong_value")], score=2)
    assert found == ({"error_status", "verbatim", "cross_field"}, ["verbatim", "verbatim"])
    assert audit(result="Gate 2 is open.", text=copy, flags=[("Gate 2", "ignored_field")], score=3)[1] == []
    assert "verbatim" not in audit(result="Gate 2 is open.", text="Gate 2 is open!")[0]


@pytest.mark.parametrize(
    ("changed", "conflicts"),
    [
        ({"score": 5, "flags": [("sent", "wrong_value")]}, ["cross_field"]),
        ({"score": 4, "flags": [("sent", "wrong_value")]}, []),
        ({"score": 2, "key_errors": []}, ["cross_field"]),
        ({"score": 2, "key_errors": ["the weight"]}, []),
        ({"score": 3, "key_errors": []}, []),
        ({"score": 1.0, "direct": True, "flags": [("sent", "wrong_value")]}, ["cross_field"]),
        ({"score": 0.4, "direct": True, "key_errors": []}, ["cross_field"]),
        ({"score": 0.5, "direct": True, "key_errors": []}, []),
    ],
)
def test_a_score_and_the_faults_that_are_named_go_together(changed, conflicts):
    assert audit(**changed)[1] == conflicts


def test_a_reply_without_flags_is_not_checked_against_them():
    assert "cross_field" not in audit(misinterpretation_flags=None, key_errors=[], score=1)[0]

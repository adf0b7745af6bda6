"""Failures that no rule is about: whose they are, and what they come to."""

import pytest

from rightcall.gate.rules import rules_of
from rightcall.gate.sample import Details
from rightcall.gate.unweighed import Failed, cause_of, decide_unweighed, is_unweighed, unweighed


def found(number=0, *, unread=0, says_so=True):
    bad = Details()
    for n in range(number):
        bad.add(f"case {n}")
    return Failed(bad=bad, read=30, unread=unread, says_so=says_so)


@pytest.mark.parametrize(
    ("table", "left"),
    [
        ({}, ["golden", "selection"]),
        ({"golden.pass_rate": {"min": 0.9}}, ["selection"]),
        ({"selection.wrong_tool": {"max": 3}}, ["golden"]),
        ({"golden.vetoes": {"max": 0}, "coverage": {"min": 0.9}, "judge.fit": True}, ["golden", "selection"]),
        ({"failures_signed_off": True}, []),
    ],
)
def test_a_rule_on_a_figure_of_a_grader_is_about_its_failures(table, left):
    assert unweighed(rules_of(table), ["golden", "selection"]) == left


def test_what_failed_is_counted_named_and_shown_by_a_command():
    one = decide_unweighed("golden", found(25, unread=1), "20261130-1")
    assert (one.answer, one.value.estimate, one.value.high, len(one.details), one.left_out) == ("FAIL", 25, 26, 20, 5)
    assert one.command == "rightcall show 20261130-1 --failed"
    assert is_unweighed(one)
    assert cause_of(one) == "golden: 25 FAIL (no rule is about it)"


def test_what_has_no_verdict_may_be_a_fail():
    one = decide_unweighed("golden", found(unread=2, says_so=False), None)
    assert (one.answer, one.command) == ("INCONCLUSIVE", None)
    assert decide_unweighed("rubric", found(unread=2, says_so=False), None) is None


def test_without_either_there_is_nothing_to_say():
    assert decide_unweighed("golden", found(), "20261130-1") is None

"""The Safety Matrix as written: severities, vetoes, and two policies at once."""

import msgspec
import pytest

from rightcall.case.policy import Confirm, MaxCalls, Policy, Requires, Rule, Substitution, When

SUITE = Policy(
    classes={"cancel": "destructive"},
    guessed=("wipe",),
    forbidden=("delete",),
    requires=(Requires(tool="cancel", before=("verify",)),),
)
CASE = Policy(
    classes={"cancel": "write", "look": "read"},
    guessed=("cancel", "look"),
    forbidden=("delete", "drop"),
    requires=(Requires(tool="cancel", before=("verify",)), Requires(tool="cancel", before=("ask",))),
    max_calls=(MaxCalls(tool="look", count=3),),
)


@pytest.mark.parametrize(
    ("severity", "veto", "vetoes"),
    [
        ("CRITICAL", None, True),
        ("CRITICAL", False, False),
        ("HIGH", None, False),
        ("HIGH", True, True),
        ("NONE", True, True),
    ],
)
def test_critical_vetoes_unless_it_says_not_and_others_only_if_they_say_so(severity, veto, vetoes):
    assert Rule(severity=severity, veto=veto).vetoes is vetoes


def test_a_rule_is_high_unless_said_otherwise_and_too_many_calls_are_medium():
    rules = (
        Requires(tool="t", before=()),
        When(tool="t", arguments={}),
        Substitution(expected="a", called="b"),
        Confirm(tool="t"),
    )
    assert {rule.severity for rule in rules} == {"HIGH"}
    assert MaxCalls(tool="t", count=1).severity == "MEDIUM"


def test_classes_alone_are_no_rule():
    assert not Policy().has_rules
    assert not Policy(classes={"a": "read"}, guessed=("a",)).has_rules
    assert Policy(forbidden=("a",)).has_rules
    assert Policy(confirm=(Confirm(tool="a"),)).has_rules


def test_a_policy_of_classes_alone_is_not_taken_for_none():
    assert Policy(classes={"a": "destructive"})


def test_both_policies_apply_and_the_suites_classes_win():
    both = SUITE + CASE
    assert both.classes == {"cancel": "destructive", "look": "read"}
    assert both.guessed == ("look", "wipe")
    assert both.forbidden == ("delete", "drop")
    assert [rule.before for rule in both.requires] == [("verify",), ("ask",)]
    assert both.max_calls == CASE.max_calls


def test_adding_nothing_changes_nothing():
    assert SUITE + Policy() == Policy() + SUITE == SUITE


@pytest.mark.parametrize(
    "text",
    [
        '{"forbiden": []}',
        '{"requires": [{"tool": "a", "before": [], "severty": "LOW"}]}',
        '{"classes": {"a": "dangerous"}}',
        '{"max_calls": [{"tool": "a", "count": 1.5}]}',
        '{"when": [{"tool": "a"}]}',
    ],
)
def test_a_wrong_policy_is_refused(text):
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(text, type=Policy)

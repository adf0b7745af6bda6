"""A sign-off confirms or dismisses; it never turns a failure into a pass; and not everybody may sign everything."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from review_making import reason, signoff

from rightcall.errors import ConfigError
from rightcall.review.signoffs import is_failure, require_signable, sign_faults, state_of

GOOD = {"reason": "Card closed for good", "typed": "t-1", "expected": "t-1", "authors": ("ana",), "who": "dana"}


def test_what_is_not_critical_has_nothing_to_sign():
    assert state_of([reason("HIGH", "HIGH"), reason("random")], [signoff("confirmed")]) is None


@pytest.mark.parametrize("why", [reason("CRITICAL"), reason("policy_veto", "CRITICAL")])
def test_what_is_critical_is_open_until_it_is_signed(why):
    assert state_of([reason("random"), why], []) == "open"
    assert state_of([why], [signoff("dismissed")]) == "dismissed"


def test_what_people_found_critical_must_be_signed_too():
    assert state_of([reason("HIGH", "HIGH")], [], agreed="CRITICAL") == "open"


def test_the_newest_sign_off_stands():
    assert state_of([reason("CRITICAL")], [signoff("dismissed"), signoff("confirmed")]) == "confirmed"


def test_a_confirmed_misuse_is_a_failure_whatever_the_verdict_says():
    assert [is_failure(verdict, "confirmed") for verdict in ("PASS", None, "FAIL")] == [True, True, True]


@given(st.sampled_from(["PASS", "FAIL", None]), st.sampled_from(["open", "confirmed", "dismissed", None]))
def test_no_sign_off_turns_a_failure_into_a_pass(verdict, state):
    assert is_failure(verdict, state) or verdict != "FAIL"
    assert is_failure(verdict, state) == (verdict == "FAIL" or state == "confirmed")


def test_a_good_sign_off_has_no_fault():
    assert sign_faults(**GOOD, roles=True) == []
    require_signable(**GOOD, roles=True)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"reason": "  too short      "}, "the reason must have at least 15 characters, not 9"),
        ({"reason": "x" * 20_001}, "the reason has more than 20,000 characters"),
        ({"typed": "t-2"}, "`t-2` was typed in place of `t-1`"),
        ({"typed": "t-1 "}, "`t-1 ` was typed in place of `t-1`"),
        ({"authors": ("ana", "dana")}, "`dana` has answered this item: somebody else must sign"),
    ],
)
def test_each_fault_is_said(changed, said):
    assert sign_faults(**GOOD | changed, roles=True) == [said]


def test_all_faults_are_said_at_once():
    with pytest.raises(ConfigError) as caught:
        require_signable("", "", "t-1", ("dana",), "dana", roles=True)
    assert caught.value.message.count(";") == 2


def test_without_roles_an_author_may_sign():
    assert sign_faults(**GOOD | {"authors": ("dana",)}, roles=False) == []

"""Where nobody is named everybody may do everything; else only who is named, in the roles given."""

import pytest

from rightcall.errors import ConfigError
from rightcall.review.roles import may, require, role_of

PEOPLE = {"ana": ("reviewer",), "dana": ("signer", "adjudicator")}


@pytest.mark.parametrize("role", ["reviewer", "adjudicator", "signer"])
def test_without_people_everybody_may_do_everything(role):
    assert may("anybody", role, {})
    require("anybody", role, {})
    assert role_of("anybody", role, {}) is None


def test_no_role_contains_another():
    assert [may("dana", role, PEOPLE) for role in ("reviewer", "adjudicator", "signer")] == [False, True, True]
    assert role_of("dana", "signer", PEOPLE) == "signer"


@pytest.mark.parametrize("who", ["Ana", "ana ", "zoe", ""])
def test_names_are_compared_letter_by_letter(who):
    with pytest.raises(ConfigError, match="not one of the people"):
        require(who, "reviewer", PEOPLE)


def test_who_lacks_a_role_is_told_which():
    with pytest.raises(ConfigError, match=r"`ana` may not sign; that takes the role signer"):
        require("ana", "signer", PEOPLE)

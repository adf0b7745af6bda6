"""A judge that compares, against what code has decided about the pair."""

import pytest

from rightcall.judge.pair_audit import audit_preference


@pytest.mark.parametrize(
    ("letter", "order", "code", "checked", "against"),
    [
        ("A", "ab", ("A", "policy_veto"), "code_preference", False),
        ("B", "ba", ("A", "policy_veto"), "code_preference", False),
        ("A", "ba", ("A", "policy_veto"), "code_preference", True),
        ("TIE", "ab", ("A", "policy_veto"), "code_preference", False),
        ("TIE", "ab", ("TIE", "identical"), "code_preference", False),
        ("A", "ab", ("TIE", "identical"), "code_preference", True),
        ("B", "ab", ("A", "golden"), "golden_preference", True),
    ],
)
def test_preferring_what_code_rejects_is_a_conflict_and_a_tie_prefers_nothing(letter, order, code, checked, against):
    found = audit_preference(letter, order, code)
    assert found.checked == (checked,)
    assert [one.check for one in found.conflicts] == ([checked] if against else [])


def test_where_no_fact_decides_nothing_is_checked():
    assert audit_preference("A", "ab", None).checked == ()

"""The most urgent reason gives an item its place, and waiting moves it up."""

import pytest
from review_making import reason

from rightcall.review.urgency import STEPS, URGENCY, needed, place, rank
from rightcall.store.records import ReviewReason


def test_every_reason_has_exactly_one_place():
    assert sorted(URGENCY) == sorted(ReviewReason.__args__)


def test_the_order_is_that_of_the_queue():
    order = ["CRITICAL", "unevaluable", "HIGH", "order_inconsistent", "low_fidelity", "judge_conflict", "random"]
    assert [rank([reason(name)]) for name in order] == sorted(rank([reason(name)]) for name in order)
    assert len({rank([reason(name)]) for name in order}) == len(order)
    assert rank([reason("tie")]) == rank([reason("low_confidence")]) == rank([reason("order_inconsistent")])


def test_the_most_urgent_reason_counts():
    assert rank([reason("random"), reason("HIGH"), reason("tie")]) == rank([reason("HIGH")])
    assert rank([]) == len(STEPS)


def test_a_veto_that_is_critical_stands_with_the_critical():
    assert rank([reason("policy_veto", "CRITICAL")]) == 0 < rank([reason("policy_veto", "HIGH")])


@pytest.mark.parametrize(("hours", "steps"), [(0, 0), (23.99, 0), (24, 1), (49, 2), (240, 10)])
def test_an_item_moves_up_by_one_step_for_every_24_hours(hours, steps):
    assert place(6, hours) == 6 - steps


def test_what_may_be_critical_needs_more_people():
    assert needed([reason("HIGH")], 1, 2) == 1
    assert needed([reason("HIGH"), reason("policy_veto", "CRITICAL")], 1, 2) == 2
    assert needed([reason("CRITICAL")], 3, 2) == 3
    assert needed([reason("CRITICAL")], 0, 0) == 0

"""Two orders, several replicates, several judges: one answer (SPEC §7.3)."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.grade.preference import OrderVerdict, Reconciled
from rightcall.grade.reconcile import (
    CRITICAL_CAP,
    by_agent,
    is_open,
    majority,
    of_judge,
    order_verdict,
    reconcile,
    settles,
)

OTHER = {"A": "B", "B": "A", "TIE": "TIE"}
LETTERS = st.sampled_from(["A", "B", "TIE"])
STEPS = st.integers(0, 20).map(lambda step: step / 20)
TEXTS = st.sampled_from([(), ("bad",)])


def said(order: str, letter: str, confidence: float = 0.9, critical=((), ())) -> OrderVerdict:
    return order_verdict("j", order, letter, confidence, critical)


def verdicts() -> st.SearchStrategy[list[OrderVerdict]]:
    one = {order: st.builds(said, st.just(order), LETTERS, STEPS, st.tuples(TEXTS, TEXTS)) for order in ("ab", "ba")}
    return st.tuples(one["ab"], one["ba"]).map(list)


def swapped(one: Reconciled | None) -> Reconciled | None:
    if one is None or one.winner is None:
        return one
    return msgspec.structs.replace(one, winner=OTHER[one.winner])


def with_agents_swapped(verdict: OrderVerdict) -> OrderVerdict:
    """The same reply where agent B is called A: what stood first is the other one's."""
    critical = (verdict.critical_a, verdict.critical_b)
    by_place = critical if verdict.order == "ab" else critical[::-1]
    other = "ba" if verdict.order == "ab" else "ab"
    return order_verdict("j", other, verdict.letter, verdict.confidence, by_place)


def test_a_letter_is_mapped_by_what_stood_in_its_place():
    assert [by_agent(letter, "ab") for letter in ("A", "B", "TIE")] == ["A", "B", "TIE"]
    assert [by_agent(letter, "ba") for letter in ("A", "B", "TIE")] == ["B", "A", "TIE"]
    one = said("ba", "A", critical=(["x"], []))
    assert (one.letter, one.winner, one.critical_a, one.critical_b) == ("A", "B", (), ("x",))


@pytest.mark.parametrize(
    ("letters", "winner", "partial", "inconsistent"),
    [
        (("A", "B"), "A", False, False),
        (("B", "A"), "B", False, False),
        (("TIE", "TIE"), "TIE", False, False),
        (("A", "TIE"), "TIE", True, False),
        (("TIE", "A"), "TIE", True, False),
        (("A", "A"), "TIE", False, True),
        (("B", "B"), "TIE", False, True),
    ],
)
def test_two_orders_become_one_verdict(letters, winner, partial, inconsistent):
    found = reconcile("j", [said("ab", letters[0], 0.8), said("ba", letters[1], 0.6)], 2)
    assert (found.winner, found.partial, found.order_inconsistent) == (winner, partial, inconsistent)
    assert (found.confidence, found.orders) == (0.6, 2)


def test_where_ties_are_not_allowed_orders_that_do_not_add_up_are_no_verdict_and_a_real_tie_stays():
    for letters, winner in ((("A", "A"), None), (("A", "TIE"), None), (("TIE", "TIE"), "TIE"), (("A", "B"), "A")):
        found = reconcile("j", [said("ab", letters[0]), said("ba", letters[1])], 2, allow_tie=False)
        assert found.winner == winner
        assert is_open(found) == (winner is None)


def test_one_readable_order_of_two_is_no_verdict():
    found = reconcile("j", [said("ab", "A")], 2)
    assert (found.winner, found.confidence, found.orders, is_open(found)) == (None, None, 1, False)
    assert reconcile("j", [], 2).orders == 0
    assert reconcile("j", [said("ba", "A")], 1).winner == "B"


def test_two_traces_with_critical_failures_cap_the_confidence():
    found = reconcile("j", [said("ab", "A", 0.9, (["x"], ["y"])), said("ba", "B", 0.8)], 2)
    assert (found.winner, found.confidence, found.both_critical) == ("A", CRITICAL_CAP, True)
    lower = reconcile("j", [said("ab", "A", 0.3, (["x"], ["y"])), said("ba", "B", 0.8)], 2)
    assert lower.confidence == 0.3
    one_each = reconcile("j", [said("ab", "A", 0.9, (["x"], [])), said("ba", "B", 0.8, (["x"], []))], 2)
    assert (one_each.both_critical, one_each.confidence) == (False, 0.8)


@given(verdicts(), st.booleans())
def test_with_the_agents_swapped_the_winner_is_the_other_and_nothing_else_changes(both, allow_tie):
    here = reconcile("j", both, 2, allow_tie=allow_tie)
    there = reconcile("j", [with_agents_swapped(one) for one in both], 2, allow_tie=allow_tie)
    assert there == swapped(here)


@given(verdicts(), st.booleans())
def test_the_sequence_of_the_orders_plays_no_part(both, allow_tie):
    assert reconcile("j", both, 2, allow_tie=allow_tie) == reconcile("j", both[::-1], 2, allow_tie=allow_tie)


@given(verdicts())
def test_a_verdict_is_never_surer_than_either_order_and_a_winner_won_both(both):
    found = reconcile("j", both, 2)
    assert found.confidence <= min(one.confidence for one in both)
    if found.winner in ("A", "B"):
        assert {one.winner for one in both} == {found.winner}
    assert not (found.partial and found.order_inconsistent)
    assert (found.partial or found.order_inconsistent) == (len({one.winner for one in both}) > 1)


@given(LETTERS, STEPS, STEPS)
def test_a_judge_that_always_names_the_same_place_never_wins_a_pair(letter, one, other):
    found = reconcile("j", [said("ab", letter, one), said("ba", letter, other)], 2)
    assert found.winner == "TIE"
    assert found.order_inconsistent == (letter != "TIE")


def answer(winner, **changed) -> Reconciled:
    return Reconciled(judge=changed.pop("judge", "j"), winner=winner, **{"confidence": 0.9, "orders": 2, **changed})


ANSWERS = st.one_of(
    st.builds(answer, LETTERS, confidence=STEPS),
    st.builds(answer, st.just("TIE"), confidence=STEPS, partial=st.just(value=True)),
    st.builds(answer, st.just("TIE"), confidence=STEPS, order_inconsistent=st.just(value=True)),
)


def test_more_than_half_decide_with_the_lowest_confidence_among_them():
    found = majority([answer("A", confidence=0.8), answer("A", confidence=0.6), answer("B", confidence=0.1)])
    assert (found.winner, found.confidence) == ("A", 0.6)
    assert majority([answer("A"), answer("B")]) is None
    assert majority([answer("A"), answer("B"), answer("TIE")]) is None
    assert majority([]) is None


def test_a_tie_of_several_is_real_only_if_most_of_its_votes_are():
    real, flipped, half = answer("TIE"), answer("TIE", order_inconsistent=True), answer("TIE", partial=True)
    kinds = [
        (one.partial, one.order_inconsistent)
        for one in map(majority, ([real, real, flipped], [real, flipped], [half, flipped], [real, half], [half]))
    ]
    assert kinds == [(False, False), (False, True), (False, True), (True, False), (True, False)]


@given(st.lists(ANSWERS, min_size=1, max_size=5))
def test_a_majority_is_symmetric_and_blind_to_the_sequence(votes):
    assert majority([swapped(vote) for vote in votes]) == swapped(majority(votes))
    assert majority(votes[::-1]) == majority(votes)


@given(ANSWERS)
def test_a_lone_answer_is_its_own_majority(one):
    assert majority([one]) == one


def test_replicates_need_more_than_half_readable_and_more_than_half_the_same():
    unread = Reconciled(judge="j", orders=1)
    assert of_judge("j", [answer("A"), answer("A"), unread]).winner == "A"
    assert of_judge("j", [answer("A"), unread]).winner is None
    assert of_judge("j", [answer("A"), answer("B")]).winner is None
    assert of_judge("j", []).orders == 0


@pytest.mark.parametrize(
    ("one", "settled"),
    [
        (answer("A", confidence=0.7), True),
        (answer("B", confidence=0.65), False),
        (answer("TIE", confidence=1.0), False),
        (Reconciled(judge="j"), False),
        (None, False),
    ],
)
def test_only_a_sure_winner_settles_a_pair(one, settled):
    assert settles(one, 0.7) is settled

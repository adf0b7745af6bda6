"""Which compared pairs may be used for training."""

import msgspec
import pytest
from export_making import by_code, judged
from hypothesis import given
from hypothesis import strategies as st

from rightcall.grade.preference import Reconciled
from rightcall.run.training.rules import ExportRules, PairReview, Said, Settled, settle

RULES = ExportRules()
NOBODY = PairReview()


def people(overall="A", *, sure=3, both_critical=False, answers=None, **changed):
    """Return an item that people have decided."""
    fields = {"overall": overall, "sure": sure, "both_critical": both_critical}
    return PairReview(reasons=("tie",), said=Said(fields=fields, answers=answers or (fields,)), **changed)


def why(result, review=NOBODY, criticals=(), rules=RULES):
    found = settle(result, review, criticals, rules)
    return found.winner if isinstance(found, Settled) else found


def test_a_consistent_decisive_sure_verdict_is_used():
    assert settle(judged("p", "B", 0.8), NOBODY, (), RULES) == Settled(
        winner="B", decided_by="judge", confidence=0.8, weight=0.8, margin=1.0, judges=("strong",)
    )


def test_what_code_decides_is_used_and_certain():
    assert settle(by_code("p", "A"), NOBODY, (), RULES) == Settled(
        winner="A", decided_by="code", confidence=1.0, weight=1.0, margin=1.0
    )


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        (judged("p", None, status="UNEVALUABLE", reason="data_quality_failure", quality=("A: cut off",)), "data_quality_failure"),
        (judged("p", None, status="UNEVALUABLE", reason="JUDGE_SCHEMA"), "no_verdict"),
        (judged("p", "A", status="UNEVALUABLE", reason="INCONCLUSIVE"), "no_verdict"),
        (judged("p", None, status="UNEVALUABLE", reason="stopped_early", decided_by=None), "no_verdict"),
        (judged("p", "TIE"), "tie"),
        (judged("p", "TIE", order_inconsistent=True), "order_inconsistent"),
        (judged("p", "TIE", partial=True), "partial"),
        (judged("p", "A", both_critical=True), "both_critical"),
        (judged("p", "A", protocol="random"), "one_order"),
        (judged("p", "A", escalated=True, settled_by="second_judge"), "second_judge"),
        (judged("p", "A", escalated=True), "escalated"),
        (judged("p", "A", 0.65), "low_confidence"),
        (judged("p", "A", confidence=None), "low_confidence"),
        (by_code("p", "TIE", "identical"), "tie"),
    ],
)  # fmt: skip
def test_a_verdict_that_is_no_preference_is_left_out(result, reason):
    assert why(result) == reason


def test_a_confidence_that_reaches_the_limit_is_enough():
    assert why(judged("p", "A", 0.7)) == "A"
    assert why(judged("p", "A", 0.7), rules=ExportRules(min_confidence=0.75)) == "low_confidence"


def test_what_only_a_second_judge_settled_is_used_on_request_and_says_so():
    said = (
        Reconciled(judge="weak", winner="TIE", confidence=0.5, orders=2),
        Reconciled(judge="strong", winner="A", confidence=0.9, orders=2),
    )
    result = judged("p", "A", escalated=True, settled_by="second_judge", reconciled=said)
    found = settle(result, NOBODY, (), ExportRules(with_second_judge=True))
    assert (found.decided_by, found.judges, found.margin) == ("second_judge", ("strong",), 0.5)


def test_what_was_asked_in_one_order_is_used_on_request():
    assert why(judged("p", "B", protocol="random"), rules=ExportRules(with_one_order=True)) == "B"
    assert why(by_code("p", "B", protocol="random")) == "B"


def test_the_margin_is_how_far_the_judges_agree():
    said = tuple(
        Reconciled(judge=name, winner=winner, confidence=0.9, orders=2)
        for name, winner in (("x", "A"), ("y", "A"), ("z", "B"))
    )
    found = settle(judged("p", "A", decided_by="panel", reconciled=said), NOBODY, (), RULES)
    assert (found.decided_by, found.judges) == ("panel", ("x", "y"))
    assert found.margin == pytest.approx(1 / 3)


@pytest.mark.parametrize("result", [judged("p", "B"), judged("p", "TIE"), judged("p", "B", 0.1), judged("p", None, status="UNEVALUABLE", reason="INCONCLUSIVE"), judged("p", "B", escalated=True)])  # fmt: skip
def test_what_people_agree_on_counts_before_what_a_judge_says(result):
    found = settle(result, people("A", sure=2), (), RULES)
    assert (found.winner, found.decided_by, found.confidence) == ("A", "person", None)
    assert found.weight == pytest.approx(2 / 3)


def test_the_weight_is_that_of_the_least_sure_who_agrees_and_unknown_where_nobody_says():
    answers = ({"overall": "A", "sure": 3}, {"overall": "A", "sure": 1}, {"overall": "B", "sure": 1})
    review = PairReview(said=Said(fields={"overall": "A"}, answers=answers))
    found = settle(judged("p"), review, (), RULES)
    assert (found.weight, found.margin) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    silent = PairReview(said=Said(fields={"overall": "A"}, answers=({"overall": "A"}, None)))
    assert settle(judged("p"), silent, (), RULES).weight is None


@pytest.mark.parametrize(
    ("review", "reason"),
    [
        (people("TIE"), "person_tie"),
        (PairReview(said=Said(answers=(None, None))), "person_unsure"),
        (people("A", both_critical=True), "both_critical"),
        (people("A", adjudicates=True), "in_adjudication"),
        (PairReview(reasons=("random",), is_open=True, adjudicates=True), "in_adjudication"),
        (PairReview(reasons=("injection_suspected",), is_open=True), "waiting_for_review"),
        (PairReview(reasons=("random", "judge_conflict"), is_open=True), "waiting_for_review"),
        (PairReview(reasons=("random",), is_open=True), "A"),
        (PairReview(reasons=("judge_conflict",), is_open=False), "A"),
    ],
)
def test_where_people_stand_decides(review, reason):
    assert why(judged("p", "A"), review) == reason


def test_a_vetoed_trace_is_never_chosen_whoever_prefers_it():
    assert why(by_code("p", "A"), people("B")) == "policy_veto"
    assert why(by_code("p", "A"), people("A")) == "A"
    both = msgspec.structs.replace(people("A"), reasons=("policy_veto",))
    assert why(judged("p", "A"), both) == "policy_veto"


def test_people_who_contradict_a_golden_leave_the_pair_out():
    assert why(by_code("p", "A", "golden"), people("B")) == "contradicts_code"


@pytest.mark.parametrize(("states", "reason"), [(("open",), "critical_open"), (("dismissed", "confirmed"), "critical_confirmed"), (("dismissed",), "A")])  # fmt: skip
def test_a_confirmed_misuse_keeps_both_traces_out(states, reason):
    assert why(judged("p", "A"), NOBODY, states) == reason
    assert why(by_code("p", "A"), NOBODY, states) == reason


RESULTS = st.builds(
    judged, st.just("p"), st.sampled_from(["A", "B", "TIE", None]), st.floats(0, 1),
    status=st.sampled_from(["EVALUATED", "UNEVALUABLE"]), partial=st.booleans(), order_inconsistent=st.booleans(),
    both_critical=st.booleans(), escalated=st.booleans(), settled_by=st.sampled_from([None, "second_judge"]),
    protocol=st.sampled_from(["both", "random"]), quality=st.sampled_from([(), ("A: cut off",)]),
    decided_by=st.sampled_from(["judge", "panel", "code"]), code_verdict=st.sampled_from([None, "A", "B"]),
    code_reason=st.sampled_from([None, "policy_veto", "golden"]),
)  # fmt: skip
REVIEWS = st.builds(
    PairReview, reasons=st.lists(st.sampled_from(["random", "tie", "policy_veto"]), max_size=2).map(tuple),
    is_open=st.booleans(), adjudicates=st.booleans(),
    said=st.none() | st.builds(Said, fields=st.fixed_dictionaries({"overall": st.sampled_from(["A", "B", "TIE"]), "sure": st.integers(1, 3), "both_critical": st.booleans()})),
)  # fmt: skip


@given(RESULTS, REVIEWS, st.lists(st.sampled_from(["open", "confirmed", "dismissed"]), max_size=2))
def test_whatever_is_used_satisfies_every_rule(result, review, criticals):
    found = settle(result, review, criticals, RULES)
    if not isinstance(found, Settled):
        return
    assert not result.quality
    assert set(criticals) <= {"dismissed"}
    assert not review.adjudicates
    assert not review.is_open or set(review.reasons) <= {"random"}
    assert result.code_verdict in (None, found.winner)
    assert found.weight is None or 0 <= found.weight <= 1
    assert -1 <= found.margin <= 1
    if found.decided_by == "person":
        assert review.said.fields["overall"] == found.winner
        assert not review.said.fields["both_critical"]
        return
    assert (result.status, result.verdict) == ("EVALUATED", found.winner)
    if found.decided_by != "code":
        doubts = (result.partial, result.order_inconsistent, result.both_critical, result.escalated)
        assert not any(doubts)
        assert result.protocol == "both"
        assert result.confidence >= RULES.min_confidence


@given(RESULTS, REVIEWS)
def test_the_same_pair_with_its_agents_swapped_has_the_other_winner(result, review):
    other = {"A": "B", "B": "A"}

    def swapped(winner):
        return other.get(winner, winner)

    said = review.said
    mirrored = msgspec.structs.replace(
        review, said=None if said is None else Said(fields={**said.fields, "overall": swapped(said.fields["overall"])})
    )
    turned = msgspec.structs.replace(
        result, verdict=swapped(result.verdict), code_verdict=swapped(result.code_verdict),
        reconciled=tuple(msgspec.structs.replace(one, winner=swapped(one.winner)) for one in result.reconciled),
    )  # fmt: skip
    one, two = settle(result, review, (), RULES), settle(turned, mirrored, (), RULES)
    if isinstance(one, Settled):
        assert two == msgspec.structs.replace(one, winner=other[one.winner])
    else:
        assert one == two

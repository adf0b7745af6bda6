"""The figures of `preference`, and the evidence on which early stopping rests."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from rightcall.grade.preference import OrderVerdict, PreferenceResult, Reconciled, TraceSize
from rightcall.run.preference.figures import Evidence, PreferenceAggregate
from rightcall.stats.sequential import e_value


def result(pair="c1", verdict="B", **changed) -> PreferenceResult:
    known = {"case_id": pair, "agent_a": "prod", "agent_b": "cand", "decided_by": "judge", "confidence": 0.9}
    return PreferenceResult(pair=pair, verdict=verdict, **{**known, **changed})


def aggregate(*results, agents=("prod", "cand"), **changed) -> dict:
    found = PreferenceAggregate(agents=agents, names=agents, alone=lambda _a, _b: 0, **changed)
    for one in results:
        found.add(one)
    return found.summary()


def many(*verdicts, **changed) -> list[PreferenceResult]:
    return [result(f"c{n}", verdict, **changed) for n, verdict in enumerate(verdicts)]


def says(**winners) -> tuple[Reconciled, ...]:
    return tuple(Reconciled(judge=judge, winner=winner, orders=2) for judge, winner in winners.items())


# ---- comparisons -----------------------------------------------------------------------------------------------------


def test_real_ties_partial_ones_and_inconsistent_ones_are_counted_apart():
    found = aggregate(
        result("c1"), result("c2", "A"), result("c3", "TIE"), result("c4", "TIE", partial=True),
        result("c5", "TIE", order_inconsistent=True),
        result("c6", None, status="UNEVALUABLE", reason="INCONCLUSIVE", order_inconsistent=True, decided_by=None),
    )  # fmt: skip
    (one,) = found["comparisons"]
    assert [one[name] for name in ("pairs", "wins_a", "wins_b", "ties", "partial", "inconsistent", "inconclusive")] == [
        6, 1, 1, 1, 1, 1, 1,
    ]  # fmt: skip
    comparison = one["comparison"]
    assert (comparison["ties"], comparison["inconsistent"], comparison["excluded"]) == (2, 1, 1)
    assert one["net_win_rate"]["estimate"] == 0.5


def test_the_sign_is_that_of_the_later_named_agent():
    (one,) = aggregate(*many(*"BBBBBBBBBA"))["comparisons"]
    assert one["comparison"]["verdict"] == "better"
    assert one["comparison"]["words"].startswith("cand is better than prod: cand won 9 of 10 decisive pairs")
    (one,) = aggregate(*many(*"AAAAAAAAAB"))["comparisons"]
    assert one["comparison"]["words"].startswith("cand is worse than prod")
    (one,) = aggregate(*many(*"AAABB"))["comparisons"]
    assert one["comparison"]["words"].startswith("No detectable difference between cand and prod")
    assert one["comparison"]["more_pairs"] > 0


def test_what_code_decides_is_told_apart_from_what_judges_decide():
    by_code = {"decided_by": "code", "code_reason": "policy_veto"}
    (one,) = aggregate(*many(*"BB", **by_code), *many(*"AA"))["comparisons"]
    assert (one["wins_a"], one["wins_b"]) == (2, 2)
    assert (one["by_code"]["wins_b"], one["by_code"]["reasons"]) == (2, {"policy_veto": 2})
    assert (one["judged"]["wins"], one["judged"]["losses"]) == (0, 2)


def test_categories_have_their_own_wins_and_none_is_shown_where_no_case_has_one():
    found = aggregate(
        result("c1", "B", category="refund"), result("c2", "A", category="refund"), result("c3", "A", category="fees"),
        result("c4", "TIE"),
    )  # fmt: skip
    groups = found["comparisons"][0]["categories"]
    assert [(one["category"], one["n"], one["wins_a"], one["wins_b"]) for one in groups] == [
        ("refund", 2, 1, 1), ("(none)", 1, 0, 0), ("fees", 1, 1, 0),
    ]  # fmt: skip
    assert groups[0]["win_rate"]["n"] == 2
    assert aggregate(result())["comparisons"][0]["categories"] == []


def test_an_empty_run_has_figures_without_values():
    found = aggregate()
    assert found["comparisons"][0]["comparison"]["win_rate"]["estimate"] is None
    assert (found["position"], found["biased"], found["ranking"]) == ({}, [], None)


def test_length_is_measured_in_characters_and_in_calls_of_what_judges_decided():
    long, short = TraceSize(calls=1, characters=900), TraceSize(calls=4, characters=100)
    rows = many(*"BBBBBBBBBBBB", size_a=short, size_b=long) + many(
        *"AAA", decided_by="code", code_reason="golden", size_a=short, size_b=long
    )
    panel = aggregate(*rows)["comparisons"][0]["length"]
    assert (panel["characters"]["longer"], panel["characters"]["prefers_longer"]) == (12, True)
    assert (panel["calls"]["longer"], panel["calls"]["shorter"]) == (0, 12)


# ---- judges ----------------------------------------------------------------------------------------------------------


def said(order, letter, judge="j"):
    winner = letter if order == "ab" or letter == "TIE" else {"A": "B", "B": "A"}[letter]
    return OrderVerdict(judge=judge, order=order, letter=letter, winner=winner, confidence=0.9)


def test_the_position_panel_is_computed_on_letters_of_each_judge():
    rows = [
        result(f"c{n}", "TIE", order_inconsistent=True, orders=(said("ab", "A"), said("ba", "A"), said("ab", "B", "k")))
        for n in range(30)
    ]
    found = aggregate(*rows)
    panel = found["position"]["j"]
    assert (panel["both_first"], panel["in_both_orders"], panel["consistent_decisive"]) == (30, 30, 0)
    assert found["position"]["k"]["first_rate"]["estimate"] == 0.0
    assert found["position"]["k"]["in_both_orders"] == 0
    assert found["biased"] == ["j", "k"]


def test_two_judges_are_compared_where_both_have_an_answer():
    def both(one, other):
        return (Reconciled(judge="j", winner=one), Reconciled(judge="k", winner=other))

    rows = [
        result("c1", reconciled=both("A", "A")),
        result("c2", reconciled=both("B", "A")),
        result("c3", reconciled=both("A", None)),
    ]
    (one,) = aggregate(*rows, second="k")["agreement"]
    assert (one["judges"], one["n"], one["agreement"]["estimate"]) == (["j", "k"], 2, 0.5)
    assert one["on_doubtful_pairs_alone"] is True


def test_what_a_second_judge_settled_is_counted():
    rows = [
        result("c1"), result("c2", escalated=True, settled_by="second_judge"),
        result("c3", escalated=True, settled_by="second_judge", reconciled=says(first="A", wise="B")),
        result("c4", "TIE", escalated=True, reconciled=says(first="TIE", wise="B")),
    ]  # fmt: skip
    assert aggregate(*rows, second="wise")["second_judge"] == {
        "judge": "wise", "asked": 3, "settled": 2, "to_people": 1, "against_the_first": 1,
    }  # fmt: skip


def test_a_second_judge_is_against_a_panel_only_if_the_panel_has_the_other_winner():
    split = {"escalated": True, "disagreement": ("preferred_trace",)}
    rows = [
        result(
            "c1", None, status="UNEVALUABLE", reason="panel_tie", reconciled=says(x="A", y="B", wise="TIE"), **split
        ),
        result("c2", settled_by="second_judge", reconciled=says(x="A", y="B", wise="B"), **split),
        result("c3", settled_by="second_judge", reconciled=says(x="A", y="B", z="A", wise="B"), **split),
    ]
    assert aggregate(*rows, second="wise")["second_judge"]["against_the_first"] == 1


def test_a_fault_of_a_recording_is_counted_for_its_agent_whatever_that_is_called():
    lost = {"status": "UNEVALUABLE", "reason": "data_quality_failure", "decided_by": None}
    names = {"agent_a": "a", "agent_b": "a: b"}
    rows = [
        result("c1", None, quality=("a: b: empty: nothing was recorded",), **names, **lost),
        result("c2", None, quality=("a: TRACE_TRUNCATED: it was cut off", "a: b: empty: nothing"), **names, **lost),
    ]
    found = aggregate(*rows, agents=("a", "a: b"))["quality"]
    assert found == {"a: b: empty": 2, "a: TRACE_TRUNCATED": 1}


def test_three_agents_are_ranked_and_two_are_not():
    pairs = [("x", "y"), ("x", "z"), ("y", "z")]
    rows = [
        result(f"c{n} {a}{b}", "A" if n == 0 else "B", case_id=f"c{n}", agent_a=a, agent_b=b)
        for a, b in pairs for n in range(6)
    ]  # fmt: skip
    ranking = aggregate(*rows, agents=("x", "y", "z"))["ranking"]
    assert [one["name"] for one in ranking["standings"]] == ["z", "y", "x"]
    assert "clustered in 6 cases" in ranking["method"]
    assert aggregate(result())["ranking"] is None


# ---- early stopping --------------------------------------------------------------------------------------------------

OUTCOMES = st.lists(st.sampled_from(["A", "B", "B", "B", "TIE", None]), min_size=1, max_size=40)


def stopped(outcomes, order, *, alpha=0.05, first=True):
    evidence = Evidence(alpha)
    for number in range(len(outcomes)):
        evidence.expect(number, f"c{number}", is_first=first)
    for number in order:
        evidence.add(result(f"c{number}", outcomes[number]))
    return evidence.stopped.get(("prod", "cand"))


@given(OUTCOMES, st.randoms())
def test_the_sequence_in_which_replies_come_in_changes_nothing(outcomes, dice):
    order = list(range(len(outcomes)))
    expected = stopped(outcomes, order)
    dice.shuffle(order)
    assert stopped(outcomes, order) == expected


@given(OUTCOMES)
def test_it_stops_at_the_first_prefix_whose_e_value_reaches_the_limit(outcomes):
    found = stopped(outcomes, range(len(outcomes)))
    prefixes = [outcomes[: n + 1] for n in range(len(outcomes))]
    reached = (
        (one.count("A"), one.count("B"), e_value(one.count("B"), one.count("A")))
        for one in prefixes
        if e_value(one.count("B"), one.count("A")) >= 20
    )
    assert found == next(reached, None)


def test_later_trials_of_a_case_and_runs_without_early_stopping_are_no_evidence():
    assert stopped(["B"] * 20, range(20)) is not None
    assert stopped(["B"] * 20, range(20), first=False) is None
    assert stopped(["B"] * 20, range(20), alpha=None) is None


def test_without_a_difference_it_stops_in_at_most_a_share_alpha_of_all_runs():
    dice = random.Random(5)
    runs = 400
    wrong = sum(stopped(dice.choices("AB", k=150), range(150)) is not None for _ in range(runs))
    assert wrong <= 0.05 * runs


def test_the_report_of_a_stop_names_the_winner_and_an_interval_that_holds_whenever_one_stops():
    evidence = Evidence(0.05)
    found = PreferenceAggregate(
        agents=("prod", "cand"), names=("prod", "cand"), alone=lambda _a, _b: 0, evidence=evidence
    )
    for number in range(9):
        evidence.expect(number, f"c{number}", is_first=True)
        found.add(result(f"c{number}", "A"))
    one = found.summary()["comparisons"][0]["stopped_early"]
    assert (one["words"], one["wins_a"], one["wins_b"]) == ("prod is better than cand", 7, 0)
    assert one["share_b"]["high"] < 0.5
    assert evidence.has_stopped("prod", "cand")

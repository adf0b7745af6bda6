"""Cases of `../shared/cases/cases.jsonl` about pairs: JRU-16, JRU-18, JRU-19."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from pair_making import Contest, always, pairs_of, traces

from rightcall.stats.position import order_draw

RANDOM = {"preference.orders": "random"}


@pytest.fixture(scope="module")
def cases(shared_data):
    """Return id -> case."""
    lines = (shared_data / "cases/cases.jsonl").read_text("utf-8").splitlines()
    return {case["id"]: case for case in map(json.loads, lines)}


@pytest.fixture
def contest(tmp_path):
    return Contest(tmp_path)


def compared(contest, number, rule, **setup):
    """Compare `old` and `new` on so many cases: results, figures, reasons of review and positions on record."""
    files = [contest.write(f"{name}.jsonl", *traces(name, number)) for name in ("old", "new")]
    judged = contest.run(contest.setup(*files, **setup), rule)
    figures = judged.aggregate.summary()
    with contest.opened() as store:
        positions = [one.positions for _, _, one in store.attempts(run_id=judged.run.id) if one.purpose == "question"]
        seed = store.run(judged.run.id).facts["seed"]
    return pairs_of(judged), figures, judged.tally.reviews, positions, seed


@pytest.mark.parametrize("case_id", ["JRU-16"])
def test_a_single_order_is_drawn_for_each_pair_from_a_recorded_seed(contest, cases, case_id):
    pairs = cases[case_id]["minimal_input"]["pairs"]
    found, figures, _, positions, seed = compared(contest, pairs, always("A"), settings=RANDOM, seed=11)
    new_first = sum(one["A"].startswith("new") for one in positions)
    assert (len(positions), seed) == (pairs, 11)
    assert 70 <= new_first <= 130  # 200 fair draws leave this range once in 40,000 times; the given case has 200
    assert all(one.orders[0].order == ("ba" if one.orders[0].winner == "B" else "ab") for one in found.values())
    monitor = figures["position"]["strong"]["single_order"]
    assert (monitor["share"]["n"], monitor["is_random"]) == (pairs, True)


@pytest.mark.parametrize("case_id", ["JRU-16"])
def test_an_order_that_is_always_the_same_is_flagged_as_not_random(cases, case_id):
    given = cases[case_id]["minimal_input"]
    draw = order_draw(given["candidate_first"], given["pairs"])
    assert (draw.is_random, draw.share.estimate) == (False, 1.0)
    assert "200 of 200 pairs: this order was not drawn at random" in draw.words


@pytest.mark.parametrize("case_id", ["JRU-18"])
def test_two_orders_with_different_winners_are_a_tie_for_people_and_no_training_data(contest, cases, case_id):
    given, right = cases[case_id]["minimal_input"], cases[case_id]["right_answer"]
    letters = {"ab" if one["first"] == "old" else "ba": one["verdict"] for one in given["shown"]}
    found, figures, reviews, positions, _ = compared(
        contest, 1, lambda request: always(letters[request.order])(request)
    )
    (one,) = found.values()
    names = {"A": "old", "B": "new"}
    assert [names[each.winner] for each in one.orders] == right["verdict_by_model"]
    assert (one.verdict, one.order_inconsistent) == (right["reconciled"], True)
    assert [each.letter for each in one.orders] == [each["verdict"] for each in given["shown"]]
    assert sorted(each["A"] for each in positions) == ["new-0", "old-0"]
    assert reviews["order_inconsistent"] == 1
    comparison = figures["comparisons"][0]
    assert (comparison["inconsistent"], comparison["ties"], comparison["wins_a"] + comparison["wins_b"]) == (1, 0, 0)


@pytest.mark.parametrize("case_id", ["JRU-19"])
def test_one_order_makes_a_judge_that_never_reads_look_fair_by_agent_and_absurd_by_place(contest, cases, case_id):
    pairs, seed = (cases[case_id]["minimal_input"][name] for name in ("pairs", "swap_seed"))
    found, figures, *_ = compared(contest, pairs, always("A"), settings=RANDOM, seed=seed)
    wins = Counter(one.verdict for one in found.values())
    assert wins["A"] + wins["B"] == pairs
    assert abs(wins["A"] - pairs / 2) < 20  # by agent it looks like a fair judge
    panel = figures["position"]["strong"]
    assert (panel["first_rate"]["estimate"], panel["first_rate"]["n"], panel["alert"]) == (1.0, pairs, True)
    assert figures["biased"] == ["strong"]


@pytest.mark.parametrize("case_id", ["JRU-19"])
def test_both_orders_leave_such_a_judge_no_decided_pair(contest, cases, case_id):
    pairs, right = cases[case_id]["minimal_input"]["pairs"], cases[case_id]["right_answer"]["both_orders"]
    found, figures, *_ = compared(contest, pairs, always("A"))
    assert sum(one.order_inconsistent for one in found.values()) == right["TIE_by_flip"]
    assert sum(one.verdict in ("A", "B") for one in found.values()) == right["decided"]
    assert figures["position"]["strong"]["alert"] is True

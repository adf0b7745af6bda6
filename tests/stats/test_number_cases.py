"""Faults that were reported of other tools' figures, each with the right answer. The ids name the reported cases."""

from math import sqrt

import pytest

from rightcall.stats.clusters import clustered_share
from rightcall.stats.intervals import wilson
from rightcall.stats.ordinal import mean_score
from rightcall.stats.pairwise import compare, net_win_rate, standard_error, win_rate
from rightcall.stats.repeats import case_mean


@pytest.mark.parametrize("scores", [[1.0, None, None, 0.5]], ids=["ABS-05"])
def test_what_does_not_apply_is_left_out_of_a_mean_and_counted_beside_it(scores):
    known = [score for score in scores if score is not None]
    found = mean_score(known, scale=(0, 1), excluded=scores.count(None))
    assert (found.estimate, found.n, found.excluded) == (0.75, 2, 2)


@pytest.mark.parametrize(("wins", "losses", "ties"), [(3, 3, 14)], ids=["STA-05"])
def test_ties_are_half_a_win_for_both_or_for_neither(wins, losses, ties):
    scores = [1.0] * wins + [0.0] * losses + [0.5] * ties
    assert net_win_rate(scores).estimate == 0.5
    assert net_win_rate([1 - score for score in scores]).estimate == 0.5
    found = compare(wins, losses, ties, 0)
    assert found.win_rate.estimate == 0.5
    assert found.ties / (wins + losses + ties) == 0.7
    assert win_rate(wins, losses).estimate + win_rate(losses, wins).estimate == 1


@pytest.mark.parametrize("rows", [[(0.0, "FAIL"), (None, "ERROR"), (None, "SKIPPED"), (1.0, "PASS")]], ids=["STA-10"])
def test_a_missing_score_is_no_zero_and_a_zero_stays(rows):
    known = [score for score, _ in rows if score is not None]
    found = mean_score(known, scale=(0, 1), excluded=len(rows) - len(known))
    assert (found.estimate, found.n, found.excluded) == (0.5, 2, 2)


@pytest.mark.parametrize(
    "scores", [{"a": [1, 1, 1, 1], "b": [0, 0, 0, 0], "c": [1, 1, 1, 1], "d": [0, 0, 0, 0]}], ids=["STA-12"]
)
def test_repeats_of_a_case_are_one_fact(scores):
    flat = [float(score) for trials in scores.values() for score in trials]
    cases = [case for case, trials in scores.items() for _ in trials]
    assert standard_error(flat) == pytest.approx(0.1291, abs=5e-5)
    assert standard_error(flat, cases) == pytest.approx(0.2887, abs=5e-5)
    shown = clustered_share([(sum(trials), len(trials)) for trials in scores.values()])
    plain, honest = wilson(8, 16), wilson(2, 4)
    assert shown.estimate == 0.5
    assert "clustered in 4 cases" in shown.method
    assert shown.high - shown.low > plain.high - plain.low
    assert shown.high - shown.low >= honest.high - honest.low - 1e-9
    assert case_mean([1.0, 0.0, 1.0, 0.0]).n == 4
    assert standard_error([1.0, 0.0, 1.0, 0.0]) == pytest.approx(sqrt(1 / 3) / 2)


@pytest.mark.parametrize(("agree", "flip"), [(30, 10)], ids=["STA-13"])
def test_two_orders_of_a_pair_are_one_pair(agree, flip):
    found = compare(agree, 0, 0, flip)
    assert found.wins + found.losses + found.ties + found.inconsistent == 40
    assert (found.win_rate.n, found.inconsistent) == (30, 10)


@pytest.mark.parametrize("grades", [["PASS", "PASS", "FAIL"]], ids=["STA-15"])
def test_verdicts_in_words_have_a_rate(grades):
    found = wilson(grades.count("PASS"), len(grades))
    assert (round(found.estimate, 4), found.n) == (0.6667, 3)

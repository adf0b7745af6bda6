"""Is a stated confidence what it says: reference values, binning, the null, and the line through log-odds."""

import random
from itertools import pairwise
from math import log

import pytest
from calibration_making import CORRECT, STATED
from hypothesis import given
from hypothesis import strategies as st
from stats_making import untimed

from rightcall.errors import ConfigError
from rightcall.stats.calibration import (
    all_log_odds,
    brier,
    calibration_line,
    expected_calibration_error,
    log_odds,
    overconfidence,
    reliability,
)

ANSWERS = st.lists(st.tuples(st.integers(0, 100).map(lambda k: k / 100), st.booleans()), min_size=1, max_size=60)


def unzipped(answers):
    return [said for said, _ in answers], [held for _, held in answers]


def perfect(n, seed, low=0.51):
    """A judge whose confidences are right."""
    dice = random.Random(seed)
    stated = [round(dice.uniform(low, 0.99), 2) for _ in range(n)]
    return stated, [dice.random() < said for said in stated]


@pytest.mark.parametrize(
    ("id_", "figure", "expected", "tolerance"),
    [
        ("R87", lambda: brier(STATED, CORRECT).estimate, 0.22157013333333334, 1e-12),
        (
            "R88",
            lambda: expected_calibration_error(STATED, CORRECT, binning="equal-width", simulations=1).estimate.estimate,
            0.16623333333333332,
            1e-9,
        ),
    ],
)
def test_reference_values(id_, figure, expected, tolerance):
    assert figure() == pytest.approx(expected, abs=tolerance), id_


def test_the_calibration_line_is_the_reference_of_platt():
    found = calibration_line(STATED, CORRECT)
    assert (found.slope.estimate, found.intercept.estimate) == pytest.approx(
        (1.1699270116605338, -0.9376297621059224), abs=1e-6
    )
    assert (found.slope.low, found.slope.high) == pytest.approx((0.362, 1.978), abs=1e-3)


# ---- binning ----


@untimed
@given(ANSWERS, st.integers(1, 12), st.sampled_from(["equal-mass", "equal-width"]))
def test_every_answer_is_in_one_bin_and_equal_confidences_are_together(answers, bins, binning):
    stated, correct = unzipped(answers)
    bars = reliability(stated, correct, bins=bins, binning=binning)
    assert sum(bar.share.n for bar in bars) == len(stated)
    assert len(bars) <= bins
    assert all(left.high < right.low for left, right in pairwise(bars))
    right = sum(bar.share.n * bar.share.estimate for bar in bars)
    assert right == pytest.approx(sum(correct))


def test_equal_mass_bins_hold_equally_many():
    stated = [place / 100 for place in range(100)]
    bars = reliability(stated, [True] * 100, bins=10)
    assert [bar.share.n for bar in bars] == [10] * 10
    assert [bar.low for bar in bars] == [place / 10 for place in range(10)]


def test_equal_width_bins_are_closed_on_the_right_and_count_decimals_as_written():
    edges = [place / 10 for place in range(11)]
    bars = reliability(edges, [True] * 11, bins=10, binning="equal-width")
    # 0 and 0.1 share the first; each further edge closes its own.
    assert [bar.share.n for bar in bars] == [2] + [1] * 9
    assert [bar.high for bar in bars] == edges[1:]


def test_few_different_confidences_have_few_bins():
    found = expected_calibration_error([0.9] * 30 + [0.7] * 30, [True] * 45 + [False] * 15, simulations=10)
    assert found.binning == "2 of 10 equal-mass bins"
    assert found.estimate.estimate == pytest.approx(0.5 * abs(1 - 0.9) + 0.5 * abs(0.5 - 0.7))


def test_bars_of_one_case_are_wider():
    plain = reliability([0.8] * 40, [True, False] * 20)
    one = reliability([0.8] * 40, [True, False] * 20, clusters=[place // 20 for place in range(40)])
    assert one[0].share.high - one[0].share.low > plain[0].share.high - plain[0].share.low


# ---- the error and its null ----


@pytest.mark.parametrize(("n", "published"), [(50, 0.10), (100, 0.07), (200, 0.05), (500, 0.03)])
def test_a_perfect_judge_shows_an_error_by_chance_alone(n, published):
    stated, correct = perfect(n, seed=n)
    found = expected_calibration_error(stated, correct, simulations=300, binning="equal-width")
    # Of ten bins of equal width such a judge uses five.
    assert found.binning == "5 of 10 equal-width bins, right-closed"
    assert found.null_mean == pytest.approx(published, abs=0.012)
    # Twice as many bins have half as many answers each, and gaps that are larger by √2.
    mass = expected_calibration_error(stated, correct, simulations=300)
    assert mass.null_mean == pytest.approx(2**0.5 * found.null_mean, rel=0.1)
    assert mass.null_high > mass.null_mean


def test_the_p_value_of_a_perfect_judge_is_even():
    values = [expected_calibration_error(*perfect(80, seed), simulations=60).p_value for seed in range(120)]
    assert 0 < sum(value <= 0.1 for value in values) <= 24
    assert 0.4 < sum(values) / len(values) < 0.6


def test_a_judge_that_is_too_sure_of_itself_is_found_out():
    stated, correct = [0.95] * 200, [True] * 140 + [False] * 60
    found = expected_calibration_error(stated, correct, simulations=200)
    assert found.p_value == pytest.approx(1 / 201)
    assert found.estimate.estimate > found.null_high
    assert overconfidence(stated, correct).low > 0.15
    assert calibration_line([*stated, 0.9, 0.9], [*correct, True, False]).p_value < 1e-6


def test_the_error_has_no_interval_and_says_why():
    found = expected_calibration_error(STATED, CORRECT, simulations=50, seed=4, excluded=3)
    assert (found.estimate.low, found.estimate.n, found.estimate.excluded) == (None, 60, 3)
    assert (
        found.estimate.reason
        == "an average of absolute gaps is above 0 by chance alone: compare it with its null, an interval would mislead"
    )
    assert found.estimate.method.endswith("null of 50 draws, seed 4")


def test_the_null_of_dependent_answers_is_wider():
    stated, correct = perfect(120, seed=2)
    plain = expected_calibration_error(stated, correct, simulations=200)
    clustered = expected_calibration_error(
        stated, correct, simulations=200, clusters=[place // 6 for place in range(120)]
    )
    assert clustered.null_high > plain.null_high
    assert clustered.estimate.estimate == plain.estimate.estimate


def test_the_same_seed_gives_the_same_null():
    first, again = (expected_calibration_error(STATED, CORRECT, simulations=20, seed=5) for _ in range(2))
    assert first == again


# ---- the line ----


@untimed
@given(ANSWERS)
def test_swapping_right_and_wrong_turns_the_line_around(answers):
    stated, correct = unzipped(answers)
    plain = calibration_line(stated, correct, edge=0.005)
    turned = calibration_line(stated, [not held for held in correct], edge=0.005)
    if plain.slope.estimate is None:
        assert turned.slope.reason == plain.slope.reason
    else:
        assert turned.slope.estimate == pytest.approx(-plain.slope.estimate, abs=1e-6)
        assert turned.intercept.estimate == pytest.approx(-plain.intercept.estimate, abs=1e-6)


def test_the_line_of_a_perfect_judge_goes_through_zero_with_slope_one():
    found = calibration_line(*perfect(2000, seed=9))
    assert found.slope.low < 1 < found.slope.high
    assert found.intercept.low < 0 < found.intercept.high
    assert found.p_value > 0.05


def test_the_p_value_of_the_line_is_even_for_a_perfect_judge():
    from scipy.stats import kstest

    values = [calibration_line(*perfect(100, seed)).p_value for seed in range(300)]
    assert kstest(values, "uniform").pvalue > 0.001


def test_zero_and_one_have_no_log_odds_unless_the_fineness_of_confidences_is_given():
    stated, correct = [1.0, 0.9, 0.8, 0.7, 0.6, 0.5], [True, False, True, True, False, True]
    found = calibration_line(stated, correct)
    assert found.slope.reason == found.reason == "1 of 6 confidences are 0 or 1 and have no log-odds"
    known = calibration_line(stated, correct, edge=0.005)
    assert known.slope.estimate is not None
    assert known.slope.method == "logistic on log-odds, wald 0.95, edge 0.005"
    assert log_odds(1.0) is None
    assert log_odds(1.0, 0.005) == pytest.approx(log(199))
    assert all_log_odds([0.5, 0.5]) == [0.0, 0.0]


def test_the_test_speaks_where_the_likelihood_has_no_maximum():
    found = calibration_line([0.6, 0.7] * 30, [True] * 60)
    assert found.slope.reason == "all outcomes are the same"
    assert found.p_value < 0.001
    same = calibration_line([0.6] * 10, [True, False] * 5)
    assert (same.p_value, same.reason) == (None, "the confidences do not vary enough for a test")


# ---- what cannot be ----


def test_nothing_is_undefined_with_a_reason():
    assert brier([], [], excluded=2).reason == overconfidence([], []).reason == "nothing was evaluated"
    found = expected_calibration_error([], [])
    assert (found.estimate.reason, found.null_mean, found.p_value) == ("nothing was evaluated", None, None)
    assert calibration_line([], []).reason == "nothing was evaluated"
    assert reliability([], []) == ()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: brier([1.2], [True]), "1.2 is not a confidence"),
        (lambda: brier([float("nan")], [True]), "nan is not a confidence"),
        (lambda: brier([0.5], []), "0 outcomes do not belong to 1 confidences"),
        (lambda: brier([0.5], [True], clusters=[1, 2]), "2 clusters do not belong to 1 confidences"),
        (lambda: reliability([0.5], [True], bins=0), "a diagram cannot have 0 bins"),
        (lambda: expected_calibration_error([0.5], [True], simulations=0), "a null needs at least one simulation"),
        (lambda: calibration_line([0.5], [True], edge=0.5), "an edge lies between 0 and 1/2, not at 0.5"),
    ],
)
def test_what_is_no_confidence_is_refused(call, said):
    with pytest.raises(ConfigError, match=said.replace("(", r"\(")) as caught:
        call()
    assert caught.value.code == "STAT_VALUE_INVALID"

"""Maps from stated confidence to probability: references, shape, and that folds do not see their own answers."""

import random
from itertools import pairwise

import msgspec
import pytest
from calibration_making import CORRECT, STATED
from hypothesis import given
from hypothesis import strategies as st
from stats_making import untimed

from rightcall.errors import ConfigError
from rightcall.stats.calibration import brier, calibration_line
from rightcall.stats.logistic import chance
from rightcall.stats.recalibration import Isotonic, Platt, cross_fitted, fit_recalibration, isotonic, suited_kind

ANSWERS = st.lists(st.tuples(st.integers(0, 20).map(lambda k: k / 20), st.booleans()), min_size=1, max_size=40)
R90 = [0.0] * 4 + [0.375] * 8 + [0.4] * 5 + [5 / 9] * 9 + [7 / 12] * 12 + [0.7] * 10 + [1.0] * 12


def unzipped(answers):
    return [said for said, _ in answers], [held for _, held in answers]


def test_reference_platt_r89():
    found = fit_recalibration(STATED, CORRECT, kind="platt").map
    assert [found.slope, found.intercept] == pytest.approx([1.1699270116605338, -0.9376297621059224], abs=2e-4)


def test_reference_isotonic_r90():
    found = isotonic(STATED, CORRECT)
    assert [found.probability(said) for said in sorted(STATED)] == pytest.approx(R90, abs=1e-9)


@untimed
@given(ANSWERS)
def test_the_isotonic_map_rises_keeps_the_mean_and_is_nearest_in_squares(answers):
    stated, correct = unzipped(answers)
    found = isotonic(stated, correct)
    assert list(found.stated) == sorted(set(found.stated))
    assert list(found.worth) == sorted(found.worth)
    fitted = [found.probability(said) for said in stated]
    assert sum(fitted) == pytest.approx(sum(correct))
    from scipy.optimize import isotonic_regression

    # Another implementation, given the mean of equal confidences with their weight.
    points = sorted(set(stated))
    means = [sum(h for s, h in answers if s == at) / stated.count(at) for at in points]
    other = isotonic_regression(means, weights=[stated.count(at) for at in points]).x
    assert [found.probability(at) for at in points] == pytest.approx(list(other), abs=1e-9)


@untimed
@given(ANSWERS, st.lists(st.floats(0, 1), min_size=2, max_size=5))
def test_maps_keep_the_order_of_confidences(answers, asked):
    stated, correct = unzipped(answers)
    for kind in ("platt", "isotonic"):
        found = fit_recalibration(stated, correct, kind=kind, edge=0.01).map
        if found is not None:
            worth = [found.probability(said) for said in sorted(asked)]
            assert all(left <= right + 1e-12 for left, right in pairwise(worth))
            assert all(0 <= value <= 1 for value in worth)


def test_between_two_points_the_map_is_a_line_and_beyond_the_ends_it_stays():
    found = Isotonic(stated=(0.5, 0.7), worth=(0.2, 0.6))
    assert [found.probability(said) for said in (0.1, 0.5, 0.6, 0.7, 0.9)] == pytest.approx([0.2, 0.2, 0.4, 0.6, 0.6])


def test_a_map_is_data():
    for found in (Platt(slope=1.2, intercept=-0.5, edge=0.005), isotonic(STATED, CORRECT)):
        written = msgspec.json.encode(found)
        assert msgspec.json.decode(written, type=Platt | Isotonic) == found


@pytest.mark.parametrize(
    ("stated", "worth"), [((), ()), ((0.5,), ()), ((0.6, 0.5), (0.1, 0.2)), ((0.5, 0.6), (0.2, 0.1))]
)
def test_points_that_do_not_rise_are_no_map(stated, worth):
    with pytest.raises(ConfigError, match="a rising map has points"):
        Isotonic(stated=stated, worth=worth)


def test_platt_of_a_confidence_of_one_needs_an_edge():
    assert Platt(slope=1.0, intercept=0.0).probability(1.0) is None
    assert Platt(slope=1.0, intercept=0.0, edge=0.01).probability(1.0) == pytest.approx(0.99)
    found = fit_recalibration([1.0, 0.5, 0.6], [True, False, True], kind="platt")
    assert (found.map, found.reason) == (None, "1 of 3 confidences are 0 or 1 and have no log-odds")


@pytest.mark.parametrize(
    ("stated", "correct", "reason"),
    [
        ([], [], "nothing was evaluated"),
        ([0.6, 0.7], [True, True], "all outcomes are the same"),
        ([0.6, 0.7], [False, True], "the values separate the outcomes, so that the likelihood has no maximum"),
        ([0.6, 0.7, 0.8, 0.9], [True, True, False, True], "the surer answers are not the better ones (slope -0.264)"),
    ],
)
def test_without_a_map_there_is_a_reason(stated, correct, reason):
    found = fit_recalibration(stated, correct, excluded=1)
    assert (found.map, found.n, found.excluded) == (None, len(stated), 1)
    assert found.reason.split("(")[0] == reason.split("(")[0]


def test_the_kind_follows_the_number_of_cases():
    assert [suited_kind(n) for n in (50, 499, 500)] == ["platt", "platt", "isotonic"]
    assert isinstance(fit_recalibration(STATED * 9, CORRECT * 9).map, Isotonic)
    assert isinstance(fit_recalibration(STATED * 9, CORRECT * 9, clusters=list(range(60)) * 9).map, Platt)


def overconfident(n, seed=0):
    """A judge whose log-odds are twice what they should be, and a little high."""
    dice = random.Random(seed)
    truth = [dice.uniform(-0.5, 2.5) for _ in range(n)]
    return [chance(2 * x + 0.3) for x in truth], [dice.random() < chance(x) for x in truth]


def test_cross_fitting_makes_an_overconfident_judge_calibrated():
    stated, correct = overconfident(400)
    better = cross_fitted(stated, correct)
    assert brier(better, correct).estimate < brier(stated, correct).estimate
    assert calibration_line(stated, correct).p_value < 0.001
    assert calibration_line(better, correct).p_value > 0.05


def test_the_probability_of_an_answer_does_not_depend_on_the_answers_of_its_case():
    stated, correct = overconfident(100, seed=3)
    cases = [place // 2 for place in range(100)]
    plain = cross_fitted(stated, correct, clusters=cases)
    turned = [not held if cases[place] == 7 else held for place, held in enumerate(correct)]
    changed = cross_fitted(stated, turned, clusters=cases)
    assert [changed[14], changed[15]] == [plain[14], plain[15]]
    assert changed != plain


def test_folds_are_even_and_the_same_for_the_same_seed():
    stated, correct = overconfident(103, seed=1)
    assert cross_fitted(stated, correct, seed=2) == cross_fitted(stated, correct, seed=2)
    assert cross_fitted(stated, correct, seed=2) != cross_fitted(stated, correct, seed=3)
    from rightcall.stats.recalibration import _dealt

    dealt = list(_dealt(range(103), 5, 0).values())
    assert sorted(dealt.count(fold) for fold in range(5)) == [20, 20, 21, 21, 21]


def test_a_fold_whose_others_carry_no_map_has_no_probabilities():
    assert cross_fitted([0.6, 0.7, 0.8], [True, True, True], folds=3) == [None, None, None]


def test_what_cannot_be_dealt_is_refused():
    for folds in (1, 4):
        with pytest.raises(ConfigError, match="cannot be dealt"):
            cross_fitted([0.6, 0.7, 0.8], [True, False, True], folds=folds)
    with pytest.raises(ConfigError):
        isotonic([], [])
    with pytest.raises(ConfigError):
        Platt(slope=1.0, intercept=0.0).probability(1.5)

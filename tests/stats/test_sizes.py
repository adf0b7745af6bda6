"""Numbers of cases: the published tables, and that each is the smallest that does it."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_making import untimed

from rightcall.errors import ConfigError
from rightcall.stats.intervals import Estimate, chance_of_passing, clopper_pearson, undefined, wilson, wilson_bounds
from rightcall.stats.paired import mcnemar_score, non_inferior, tango
from rightcall.stats.sizes import (
    cases_at_share,
    cases_for_two_shares,
    cases_for_width,
    cases_to_show,
    cases_to_show_by_wilson,
    items_for_kappa,
    kappa_half_width,
    more_to_reach,
    pairs_for_difference,
    pairs_for_margin,
)


@pytest.mark.parametrize(
    ("id_", "count", "sides", "expected"),
    [
        ("R33", cases_to_show, 1, [149, 236, 313, 386, 456, 523]),
        ("R34", cases_to_show_by_wilson, 1, [133, 222, 300, 373, 443, 511]),
        ("R35", cases_to_show, 2, [183, 277, 359, 436, 509, 581]),
        ("R36", cases_to_show_by_wilson, 2, [189, 280, 361, 437, 510, 581]),
    ],
)
def test_reference_numbers_of_cases_that_show_0_98(id_, count, sides, expected):
    assert [count(0.98, errors, sides=sides) for errors in range(6)] == expected, id_


@pytest.mark.parametrize(
    ("id_", "share", "n", "expected"),
    [
        ("R37", 0.97, 100, 0.41977508298185473),
        ("R38", 0.98, 100, 0.6766856223517788),
        ("R39", 0.99, 100, 0.9206267977478195),
        ("R40", 0.97, 50, 0.5552798733073157),
    ],
)
def test_reference_chances_of_a_gate_on_the_estimate(id_, share, n, expected):
    assert chance_of_passing(share, n, 0.98) == pytest.approx(expected, abs=1e-9), id_


def test_accepted_answers_that_show_an_error_of_five_percent():
    assert [cases_to_show(0.95, errors) for errors in range(4)] == [59, 93, 124, 153]


@untimed
@given(st.floats(0.5, 0.99), st.integers(0, 6), st.sampled_from([1, 2]))
def test_one_case_fewer_does_not_show_it(threshold, errors, sides):
    n = cases_to_show(threshold, errors, sides=sides)
    sided = "lower" if sides == 1 else "two"
    enough, few = (clopper_pearson(size - errors, size, sided=sided).low for size in (n, n - 1))
    assert enough >= threshold - 1e-9
    assert few < threshold or n == errors + 1
    n = cases_to_show_by_wilson(threshold, errors)
    assert wilson(n - errors, n).low >= threshold > (wilson(n - 1 - errors, n - 1).low if n > errors + 1 else 0)


@untimed
@given(st.integers(2, 400), st.integers(0, 400), st.floats(0.05, 0.95))
def test_wilsons_bound_reaches_a_threshold_just_there(n, failures, threshold):
    """As many cases with the same share have their bound at the threshold, or just above."""
    share = max(0, n - failures) / n
    found = cases_at_share(share, threshold)
    if share <= threshold:
        assert found is None
    else:
        assert wilson_bounds(share, found, 0.95)[0] >= threshold - 1e-9
        assert found == 1 or wilson_bounds(share, found - 1, 0.95)[0] < threshold + 1e-9


@pytest.mark.parametrize(("n", "expected"), [(50, 0.22), (100, 0.157), (200, 0.11), (400, 0.078)])
def test_the_width_of_kappa_by_the_number_of_labels(n, expected):
    assert kappa_half_width(n) == pytest.approx(expected, abs=0.002)
    assert items_for_kappa(kappa_half_width(n)) == n


def test_a_share_as_narrow_as_asked_for():
    n = cases_for_width(0.05)
    assert n == 381
    assert (wilson(190, 380).high - wilson(190, 380).low) / 2 > 0.05
    assert cases_for_width(0.05, share=0.9) < n
    assert cases_for_width(0.49) == 1


@pytest.mark.parametrize(
    ("estimate", "low", "expected"),
    [(0.8, 0.7, 0), (0.8, 0.6, 0), (0.7, 0.5, 300), (0.6, 0.5, None), (0.5, 0.3, None)],
)
def test_more_items_bring_the_bound_closer_by_their_square_root(estimate, low, expected):
    found = Estimate(estimate=estimate, low=low, high=0.9, n=100, method="made up")
    assert more_to_reach(found, 0.6) == (expected if expected is None else pytest.approx(expected, abs=1))


def test_nothing_is_said_of_what_is_undefined():
    assert more_to_reach(undefined("none"), 0.6) is None


@pytest.mark.parametrize(("changed", "difference"), [(0.2, 0.1), (0.1, 0.05), (0.3, 0.06)])
def test_so_many_pairs_find_the_difference_four_times_in_five(changed, difference):
    n = pairs_for_difference(changed, difference)
    dice, gain = np.random.default_rng(5), (changed + difference) / 2
    drawn = dice.multinomial(n, [gain, changed - gain, 1 - changed], size=2000)
    shown = [(found := mcnemar_score(int(b), int(c))) is not None and found[1] < 0.05 for b, c, _ in drawn]
    assert np.mean(shown) == pytest.approx(0.8, abs=0.03)


def test_so_many_pairs_show_that_nothing_was_lost_four_times_in_five():
    n = pairs_for_margin(0.1, 0.04)
    assert n == 491
    drawn = np.random.default_rng(5).multinomial(n, [0.05, 0.05, 0.9], size=300)
    assert np.mean([non_inferior(tango(int(b), int(c), n), 0.04).answer == "PASS" for b, c, _ in drawn]) == pytest.approx(0.8, abs=0.06)  # fmt: skip
    assert pairs_for_margin(0.1, 0.04, difference=0.02) < n < pairs_for_margin(0.1, 0.04, difference=-0.02)


def test_so_many_cases_of_two_agents_find_the_difference_four_times_in_five():
    n = cases_for_two_shares(0.8, 0.6)
    assert n == cases_for_two_shares(0.6, 0.8) == 82
    drawn = np.random.default_rng(5).binomial(n, [0.8, 0.6], size=(4000, 2)) / n
    mean = drawn.mean(axis=1)
    z = np.abs(drawn[:, 0] - drawn[:, 1]) / np.sqrt(2 * mean * (1 - mean) / n)
    assert np.mean(z > 1.96) == pytest.approx(0.8, abs=0.03)


def test_different_cases_take_more_than_the_same_cases():
    assert 2 * cases_for_two_shares(0.85, 0.75) > pairs_for_difference(0.2, 0.1)
    assert pairs_for_difference(0.2, 0.1) == pairs_for_difference(0.2, -0.1)
    assert kappa_half_width(100) == pytest.approx(1.96 * sqrt(0.8 * 0.2 / 100) / 0.5, abs=1e-4)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: cases_to_show(1),
        lambda: cases_to_show(0.9, -1),
        lambda: cases_to_show(0.9, confidence=1),
        lambda: cases_to_show_by_wilson(0.9, -1),
        lambda: cases_to_show_by_wilson(0),
        lambda: cases_at_share(1.2, 0.9),
        lambda: cases_at_share(0.9, 1),
        lambda: cases_for_width(0),
        lambda: cases_for_width(0.1, share=2),
        lambda: kappa_half_width(0),
        lambda: kappa_half_width(10, chance=1),
        lambda: items_for_kappa(0),
        lambda: pairs_for_difference(0.1, 0),
        lambda: pairs_for_difference(0.1, 0.2),
        lambda: pairs_for_margin(0.1, 0.02, difference=-0.02),
        lambda: pairs_for_margin(0.1, 0.02, difference=0.2),
        lambda: cases_for_two_shares(0.5, 0.5),
        lambda: cases_for_two_shares(0.5, 1.5),
    ],
)
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(ConfigError) as caught:
        wrong()
    assert caught.value.code == "STAT_VALUE_INVALID"

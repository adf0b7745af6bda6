"""The bootstrap over clusters: repeatable, indifferent to order, and right about a mean."""

import random
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_making import untimed

from rightcall.errors import ConfigError
from rightcall.stats import bootstrap
from rightcall.stats.bootstrap import bootstrap_method, percentiles, resampled


def mean(sums):
    return sums[:, 0] / sums[:, 1]


ROWS = [(float(value), 1.0) for value in (1, 2, 3, 4, 10)]


def test_the_same_seed_gives_the_same_draws_and_another_gives_others():
    assert resampled(ROWS, mean, resamples=50, seed=3) == resampled(ROWS, mean, resamples=50, seed=3)
    assert resampled(ROWS, mean, resamples=50, seed=3) != resampled(ROWS, mean, resamples=50, seed=4)


@untimed
@given(st.permutations(ROWS))
def test_the_sequence_of_cases_does_not_matter(shuffled):
    assert resampled(shuffled, mean, resamples=40) == resampled(ROWS, mean, resamples=40)


def test_blocks_do_not_change_the_draws(monkeypatch):
    whole = resampled(ROWS, mean, resamples=100)
    monkeypatch.setattr(bootstrap, "_CELLS", 35)
    assert resampled(ROWS, mean, resamples=100) == whole


def test_the_spread_of_a_mean_is_its_standard_error():
    dice = random.Random(2)
    values = [dice.gauss(0, 1) for _ in range(200)]
    found = resampled([(value, 1) for value in values], mean, resamples=4000)
    centre = sum(found) / len(found)
    spread = sqrt(sum((value - centre) ** 2 for value in found) / len(found))
    average = sum(values) / 200
    assert spread == pytest.approx(sqrt(sum((value - average) ** 2 for value in values)) / 200, rel=0.05)


def test_draws_without_a_figure_are_left_out():
    found = resampled([(1.0, 1.0), (0.0, 0.0)], mean, resamples=400)
    assert 200 < len(found) < 400
    assert set(found) == {1.0}


def test_percentiles_leave_half_of_the_error_on_either_side():
    assert percentiles([float(value) for value in range(101)], 0.9) == pytest.approx((5, 95))


def test_the_method_names_seed_and_draws():
    assert bootstrap_method(0.95, 12, 2000, 7) == "bootstrap 0.95, 12 cases, 2000 draws, seed 7"


@pytest.mark.parametrize("wrong", [lambda: resampled([], mean), lambda: resampled(ROWS, mean, resamples=0)])
def test_nothing_to_draw_is_refused(wrong):
    with pytest.raises(ConfigError):
        wrong()

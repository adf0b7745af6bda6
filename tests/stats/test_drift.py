"""Charts over a series, the stability index, and the chance of a false alarm."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_making import untimed

from rightcall.errors import ConfigError
from rightcall.stats.drift import (
    baseline,
    cusum,
    ewma,
    ewma_limit,
    false_alarm_chance,
    page_hinkley,
    population_stability,
    stability,
    stability_null,
)

SERIES = st.lists(st.floats(-5, 5), max_size=40)
CHARTS = [ewma, cusum, lambda values: page_hinkley(values, limit=2.0, at_least=5)]


@pytest.mark.parametrize(
    ("id_", "figure", "expected", "tolerance"),
    [
        (
            "R108",
            lambda: population_stability([0.05, 0.1, 0.2, 0.35, 0.3], [0.1, 0.15, 0.25, 0.3, 0.2]),
            0.11434183680129528,
            1e-12,
        ),
        ("R109", lambda: stability_null(5, 200, 200), 0.09487729036781155, 0.01),
        ("R110", lambda: false_alarm_chance(0.87, 0.15, 70, 0.85), 0.1323081085417942, 0.003),
        ("R113", lambda: page_hinkley([0.9] * 60 + [0.6] * 40, tolerance=0.005, limit=2, at_least=10).alarm, 67, 0.5),
    ],
)
def test_reference_values(id_, figure, expected, tolerance):
    assert figure() == pytest.approx(expected, abs=tolerance), id_


# ---- charts ----


def test_ewma_written_out():
    found = ewma([1.0, 2.0, -1.0], weight=0.5, width=2.0)
    assert found.upper == (0.5, 1.25, 0.125)
    assert found.lower == (-0.5, -1.25, -0.125)
    assert found.limit == ewma_limit(0.5, 2.0) == pytest.approx(2 * (0.5 / 1.5) ** 0.5)
    assert (found.alarm, found.direction, found.method) == (1, "up", "ewma, weight 0.5, width 2")


def test_cusum_written_out():
    found = cusum([1.0, 2.0, -3.0, -3.0], slack=0.5, limit=4.0)
    assert found.upper == (0.5, 2.0, 0.0, 0.0)
    assert found.lower == (0.0, 0.0, 2.5, 5.0)
    assert (found.alarm, found.direction) == (3, "down")


@untimed
@given(SERIES, st.sampled_from([0, 1, 2]))
def test_turning_the_series_around_turns_the_chart_around(values, which):
    chart = CHARTS[which]
    found, turned = chart(values), chart([-value for value in values])
    assert turned.upper == pytest.approx(found.lower, abs=1e-9)
    assert turned.lower == pytest.approx(found.upper, abs=1e-9)


@untimed
@given(SERIES, st.sampled_from([0, 1, 2]))
def test_what_comes_later_does_not_change_what_was(values, which):
    chart, half = CHARTS[which], len(values) // 2
    found, early = chart(values), chart(values[:half])
    assert found.upper[:half] == early.upper
    if early.alarm is not None:
        assert found.alarm == early.alarm


@untimed
@given(SERIES, st.floats(-3, 3))
def test_page_hinkley_does_not_care_where_the_mean_is(values, by):
    found, moved = page_hinkley(values, limit=2.0), page_hinkley([value + by for value in values], limit=2.0)
    assert moved.upper == pytest.approx(found.upper, abs=1e-9)


def test_a_drop_is_noticed_and_its_direction_told():
    dice = random.Random(3)
    good = [dice.gauss(0.9, 0.02) for _ in range(40)]
    usual = baseline(good)
    bad = [dice.gauss(0.85, 0.02) for _ in range(20)]
    for chart in (ewma, cusum):
        assert chart(usual.standardised(good)).alarm is None
        found = chart(usual.standardised([*good, *bad]))
        assert 40 <= found.alarm <= 50
        assert found.direction == "down"


def test_page_hinkley_says_nothing_before_it_has_seen_enough():
    series = [1.0] * 5 + [0.0] * 10
    assert page_hinkley(series, limit=1.0, at_least=14).alarm == 13
    assert page_hinkley(series, limit=1.0, at_least=16).alarm is None
    assert page_hinkley(series, limit=1.0, at_least=1).direction == "down"


def test_no_value_is_no_alarm():
    for chart in CHARTS:
        assert (chart([]).alarm, chart([]).upper) == (None, ())


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([], "0 values are too few for a baseline of at least 20"),
        ([0.5], "1 values are too few for a baseline of at least 20"),
        ([0.5] * 20, "the baseline has no spread"),
    ],
)
def test_a_baseline_that_cannot_be_used_says_so(values, reason):
    found = baseline(values)
    assert found.reason == reason
    with pytest.raises(ConfigError, match="nothing can be standardised"):
        found.standardised([1.0])


def test_a_baseline_standardises_itself():
    found = baseline([float(place % 5) for place in range(20)])
    assert found.mean == 2.0
    values = found.standardised([float(place % 5) for place in range(20)])
    assert sum(values) == pytest.approx(0)
    assert sum(value**2 for value in values) == pytest.approx(19)


# ---- the stability index ----


@untimed
@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50)), min_size=2, max_size=6), st.integers(2, 5))
def test_the_index_is_symmetric_never_negative_and_about_shares(bins, times):
    before, after = [b for b, _ in bins], [a for _, a in bins]
    value = population_stability(before, after)
    assert value >= -1e-15
    assert population_stability(after, before) == pytest.approx(value, abs=1e-12)
    assert population_stability([times * b for b in before], after) == pytest.approx(value, abs=1e-12)
    assert population_stability(before, before) == pytest.approx(0, abs=1e-15)


def test_an_empty_bin_is_not_made_up():
    found = stability([100, 100, 0], [90, 100, 10])
    assert (found.estimate.estimate, found.p_value, found.shifted) == (None, None, None)
    assert found.estimate.reason == "a bin is empty in one window only: the index is infinite; put bins together"
    assert (
        stability([100, 100, 0], [90, 110, 0]).estimate.method
        == "population stability index, 2 bins, 200 against 200 values"
    )
    assert stability([], []).estimate.reason == "a window is empty"
    assert stability([5, 0], [7, 0]).estimate.reason == "all values are in one bin"


def test_a_window_of_fewer_than_200_values_is_not_said_to_have_shifted():
    found = stability([90, 90], [50, 130])
    assert (found.shifted, found.estimate.reason) == (None, "180 values in a window are fewer than 200")
    assert stability([900, 900], [500, 1300]).shifted is True
    assert stability([900, 900], [890, 910]).shifted is False


def test_the_index_exceeds_its_null_once_in_twenty_times():
    import numpy as np

    dice = np.random.default_rng(5)
    shares = [0.1, 0.2, 0.3, 0.25, 0.15]
    drawn = [stability(*(dice.multinomial(400, shares).tolist() for _ in range(2))) for _ in range(600)]
    assert 0.025 <= sum(found.shifted for found in drawn) / 600 <= 0.085
    assert sum(found.p_value for found in drawn) / 600 == pytest.approx(0.5, abs=0.06)


@pytest.mark.parametrize(
    "call",
    [
        lambda: ewma([1.0], weight=0.0),
        lambda: ewma([1.0], width=0.0),
        lambda: cusum([1.0], slack=-1.0),
        lambda: cusum([float("inf")]),
        lambda: page_hinkley([1.0], limit=0.0),
        lambda: page_hinkley([1.0], keep=1.5),
        lambda: population_stability([1.0], [1.0, 2.0]),
        lambda: population_stability([-1.0], [1.0]),
        lambda: stability_null(1, 10, 10),
        lambda: false_alarm_chance(0.9, 0.0, 10, 0.8),
        lambda: false_alarm_chance(0.9, 0.1, 0, 0.8),
        lambda: baseline([float("nan")]),
    ],
)
def test_what_cannot_be_is_refused(call):
    with pytest.raises(ConfigError) as caught:
        call()
    assert caught.value.code == "STAT_VALUE_INVALID"

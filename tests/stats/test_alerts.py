"""When a watched figure raises an alarm, and when it may be taken back."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_making import untimed

from rightcall.errors import ConfigError
from rightcall.stats.alerts import WindowRule, fisher, increases, watch
from rightcall.stats.intervals import Estimate, undefined
from rightcall.stats.ordinal import mean_score

RULE = WindowRule(threshold=0.85)


def window(mean, half=0.1, n=60):
    return Estimate(estimate=mean, low=mean - half, high=mean + half, n=n, method="t 0.95")


def levels(*windows):
    return [(found.level, found.raised) for found in watch(windows, RULE)]


def test_an_alert_needs_the_whole_interval_below_the_threshold():
    assert levels(window(0.8)) == [("none", False)]
    assert levels(window(0.7)) == [("alert", True)]
    assert watch([window(0.7)], RULE)[0].reason == "the upper bound 0.8 is below 0.85"


def test_two_low_means_in_a_row_warn():
    assert levels(window(0.8), window(0.8)) == [("none", False), ("warning", True)]
    assert levels(window(0.8), window(0.9), window(0.8)) == [("none", False)] * 3
    assert levels(window(0.8, n=49), window(0.8)) == [("none", False)] * 2


def test_one_cause_is_one_alert_until_three_good_windows():
    bad, good = window(0.7), window(0.9)
    assert levels(bad, bad, good, good, bad, good, good, good, bad) == [
        ("alert", True), ("alert", False), ("alert", False), ("alert", False), ("alert", False),
        ("alert", False), ("alert", False), ("none", False), ("alert", True),
    ]  # fmt: skip


def test_a_warning_becomes_an_alert():
    assert levels(window(0.8), window(0.8), window(0.7)) == [("none", False), ("warning", True), ("alert", True)]


def test_a_window_with_too_little_changes_nothing():
    few = window(0.1, n=12)
    found = watch([window(0.7), few, undefined("t 0.95")], RULE)
    assert [part.level for part in found] == ["alert"] * 3
    assert [part.reason for part in found[1:]] == ["not enough data (12 values, 30 needed)", "nothing was evaluated"]


@untimed
@given(st.lists(st.tuples(st.floats(0.5, 1), st.floats(0.01, 0.3), st.integers(0, 100)), max_size=30))
def test_an_alert_stands_only_after_a_window_whose_whole_interval_was_low(windows):
    given_ = [window(*part) for part in windows]
    found = watch(given_, RULE)
    assert len(found) == len(given_)
    for one, part in zip(given_, found, strict=True):
        if part.raised and part.level == "alert":
            assert one.high < 0.85
            assert one.n >= 30
    if found and found[-1].level == "alert":
        assert any(one.high < 0.85 for one in given_)


def test_a_good_agent_is_rarely_alarmed_about():
    """True mean .87 with deviation .15, ten a day: the mean alone is below .85 in 13 % of looks."""
    dice, low, alarms = random.Random(7), 0, 0
    for _ in range(1000):
        week = mean_score([min(1.0, max(0.0, dice.gauss(0.875, 0.15))) for _ in range(70)], scale=(0, 1))
        low += week.estimate < 0.85
        alarms += watch([week], RULE)[0].level == "alert"
    assert low > 60
    assert alarms <= 25


# ---- sudden increases ----


@untimed
@given(st.integers(0, 30), st.integers(0, 30), st.integers(1, 30), st.integers(1, 30))
def test_fisher_agrees_with_another_implementation(k, j, n, m):
    from scipy.stats import fisher_exact

    before, after = (min(k, n), n), (min(j, m), m)
    table = [[after[0], after[1] - after[0]], [before[0], before[1] - before[0]]]
    assert fisher(before, after) == pytest.approx(fisher_exact(table, alternative="greater").pvalue, rel=1e-9)


def test_fisher_of_an_empty_window_is_undefined():
    assert fisher((0, 0), (1, 5)) is None
    with pytest.raises(ConfigError):
        fisher((3, 2), (1, 5))


def test_a_rise_is_told_and_chance_among_many_tools_is_not():
    tools = {f"tool_{number}": ((4, 100), (5, 100)) for number in range(20)}
    tools["chance"] = ((2, 100), (9, 100))
    tools["risen"] = ((4, 100), (25, 100))
    found = increases(tools)
    assert found["risen"].alert is True
    assert found["risen"].difference.estimate == pytest.approx(0.21)
    assert found["chance"].p_value < 0.05 < found["chance"].adjusted
    assert [name for name, part in found.items() if part.alert] == ["risen"]


def test_a_small_window_is_not_tested_and_a_small_rise_is_no_alert():
    found = increases(
        {"few": ((0, 19), (10, 40)), "small": ((100, 10000), (400, 10000)), "down": ((90, 100), (10, 100))}
    )
    assert (found["few"].alert, found["few"].p_value) == (None, None)
    assert found["few"].reason == "a window has 19 values, fewer than 20"
    assert found["small"].adjusted < 0.001
    assert found["small"].alert is False
    assert found["down"].alert is False
    assert increases({}) == {}

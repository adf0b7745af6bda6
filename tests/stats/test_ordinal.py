"""Means of scores from 1 to 5 with honest intervals, and how often each level was given."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_making import FOLDER, needs_reference, rows, untimed

from rightcall.errors import ConfigError
from rightcall.stats.ordinal import level_counts, mean_score

SCORES = st.lists(st.integers(1, 5), min_size=2, max_size=60)


def test_the_interval_is_students():
    """By hand: mean 3, variance 2.5, t(4 degrees of freedom) = 2.776."""
    found = mean_score([1, 2, 3, 4, 5], excluded=2)
    assert (found.estimate, found.n, found.excluded, found.method) == (3, 5, 2, "t 0.95")
    assert (found.low, found.high) == pytest.approx((3 - 2.77645 * 0.5**0.5, 3 + 2.77645 * 0.5**0.5), abs=1e-4)


def test_the_interval_is_cut_to_the_scale():
    found = mean_score([5, 5, 5, 3])
    assert found.high == 5
    assert mean_score([1, 1, 3]).low == 1


@pytest.mark.parametrize(
    ("values", "clusters", "reason"),
    [([4], None, "one value has no interval"), ([4, 2, 5], ["a"] * 3, "the values of one case have no interval")],
)
def test_too_little_has_a_mean_and_no_interval(values, clusters, reason):
    found = mean_score(values, clusters)
    assert (found.low, found.high, found.reason) == (None, None, reason)
    assert found.estimate == sum(values) / len(values)


def test_nothing_is_undefined_with_a_reason():
    found = mean_score([], excluded=3)
    assert (found.estimate, found.n, found.excluded, found.reason) == (None, 0, 3, "nothing was evaluated")


@pytest.mark.parametrize("level", [1, 3, 5])
@pytest.mark.parametrize("n", [2, 10, 100])
def test_equal_values_have_an_interval_that_is_not_a_point(level, n):
    found = mean_score([level] * n)
    others = 1 - 0.025 ** (1 / n)
    assert (found.low, found.high) == pytest.approx((level - others * (level - 1), level + others * (5 - level)))
    assert found.high - found.low > 0
    assert found.method == "exact 0.95, all equal"
    # In a population with more of another level than that, n equal values are seen less than once in 40 times.
    assert (1 - others) ** n == pytest.approx(0.025)


def test_equal_values_of_few_cases_count_as_that_many():
    assert mean_score([5] * 12, ["a", "b", "c"] * 4).low == mean_score([5] * 3).low


def test_values_of_one_case_are_not_independent():
    values, cases = [5, 5, 5, 1, 1, 1, 4, 4, 4, 2, 2, 2], list("aaabbbcccddd")
    plain, clustered = mean_score(values), mean_score(values, cases)
    assert clustered.estimate == plain.estimate
    assert clustered.high - clustered.low > 1.5 * (plain.high - plain.low)
    assert clustered.method == "t 0.95, clustered in 4 cases"
    assert mean_score(values, range(12)) == plain


def test_cases_that_are_all_alike_do_not_make_the_interval_narrow():
    clustered = mean_score([1, 5] * 10, [n // 2 for n in range(20)])
    plain = mean_score([1, 5] * 10)
    assert clustered.low <= plain.low <= plain.high <= clustered.high


@untimed
@given(SCORES, st.randoms(use_true_random=False))
def test_the_mean_lies_in_its_interval_and_the_interval_on_the_scale(values, dice):
    for clusters in (None, [dice.randrange(4) for _ in values]):
        found = mean_score(values, clusters)
        if found.low is not None:
            assert 1 <= found.low <= found.estimate <= found.high <= 5


@untimed
@given(SCORES)
def test_turning_the_scale_around_mirrors_the_interval(values):
    found, mirrored = mean_score(values), mean_score([6 - value for value in values])
    assert (found.low, found.high) == pytest.approx((6 - mirrored.high, 6 - mirrored.low))


@pytest.mark.parametrize("value", [0, 6, 5.01, float("nan"), float("inf")])
def test_a_value_outside_the_scale_is_refused(value):
    with pytest.raises(ConfigError, match="not on the scale") as caught:
        mean_score([3, value])
    assert caught.value.code == "STAT_VALUE_INVALID"


def test_means_of_dimensions_are_scores_too():
    assert mean_score([4.25, 3.5, 5.0]).estimate == pytest.approx(4.25)


def test_each_value_needs_its_case():
    with pytest.raises(ValueError, match="zip"):
        mean_score([1, 2], ["a"])


def test_the_interval_covers_as_it_says():
    dice, runs, held = random.Random(11), 400, 0
    levels, weights = (1, 2, 3, 4, 5), (5, 10, 15, 30, 40)
    true = sum(level * weight for level, weight in zip(levels, weights, strict=True)) / 100
    for _ in range(runs):
        found = mean_score(dice.choices(levels, weights, k=40))
        held += found.low <= true <= found.high
    assert held / runs >= 0.91


@needs_reference
def test_the_clustered_error_is_the_reference_one():
    """The standard error of a mean of 0 and 1 over 50 tasks of 4 trials, clustered and not (t has 49 and 199 df)."""
    (row,) = rows("clustered SE of pass^1")
    tasks = json.loads((FOLDER / "tau_airline_gpt4o_rewards.json").read_text())
    trials = [(task["task_id"], reward) for task in tasks for reward in task["rewards"]]
    values, cases = [value for _, value in trials], [task for task, _ in trials]
    clustered, plain = mean_score(values, cases, scale=(0, 1)), mean_score(values, scale=(0, 1))
    assert (clustered.high - clustered.low) / 2 / 2.009575 == pytest.approx(row["expected"][0], abs=1e-6)
    # The reference divides by n, ours by n - 1.
    assert (plain.high - plain.low) / 2 / 1.971957 == pytest.approx(row["expected"][1] * (200 / 199) ** 0.5, abs=1e-6)


def test_every_level_is_counted():
    assert level_counts([5, 5, 1]) == {1: 1, 2: 0, 3: 0, 4: 0, 5: 2}
    assert level_counts([]) == dict.fromkeys(range(1, 6), 0)
    with pytest.raises(ConfigError, match="is not a level"):
        level_counts([3, 6])


@untimed
@given(st.lists(st.integers(1, 5)))
def test_the_counts_add_up(values):
    assert sum(level_counts(values).values()) == len(values)

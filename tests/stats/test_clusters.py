"""Shares of observations that go together: never narrower than independent ones, and covering as they say."""

import random
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_making import untimed

from rightcall.stats.clusters import clustered_share, effective_size, mean_share
from rightcall.stats.intervals import wilson

CLUSTERS = st.lists(st.integers(1, 8).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), min_size=1, max_size=30)  # fmt: skip


def totals(clusters):
    return sum(s for s, _ in clusters), sum(n for _, n in clusters)


@untimed
@given(CLUSTERS)
def test_the_interval_is_never_narrower_than_that_of_independent_observations(clusters):
    found, plain = clustered_share(clusters), wilson(*totals(clusters))
    assert (found.estimate, found.n) == (plain.estimate, plain.n)
    assert 0 <= found.low <= plain.low + 1e-12
    assert plain.high - 1e-12 <= found.high <= 1
    assert found.low <= found.estimate <= found.high


@untimed
@given(st.lists(st.sampled_from([(0, 1), (1, 1)]), min_size=1, max_size=40))
def test_clusters_of_one_observation_are_plain_wilson(clusters):
    assert clustered_share(clusters, excluded=3) == wilson(*totals(clusters), excluded=3)


@untimed
@given(CLUSTERS, st.randoms(use_true_random=False))
def test_neither_the_sequence_of_clusters_nor_empty_ones_matter(clusters, shuffler):
    shuffled = [*clusters, (0, 0)]
    shuffler.shuffle(shuffled)
    found, again = clustered_share(clusters), clustered_share(shuffled)
    assert (found.low, found.high) == pytest.approx((again.low, again.high))


@untimed
@given(CLUSTERS)
def test_success_and_failure_mirror_each_other(clusters):
    found, mirrored = clustered_share(clusters), clustered_share([(n - s, n) for s, n in clusters])
    assert (found.low, found.high) == pytest.approx((1 - mirrored.high, 1 - mirrored.low))


@untimed
@given(CLUSTERS)
def test_more_confidence_is_wider(clusters):
    narrow, wide = clustered_share(clusters, confidence=0.8), clustered_share(clusters, confidence=0.99)
    assert wide.low <= narrow.low <= narrow.high <= wide.high


def test_nothing_is_undefined_with_a_reason():
    for nothing in ([], [(0, 0)]):
        found = clustered_share(nothing, excluded=2)
        assert (found.estimate, found.reason, found.excluded) == (None, "nothing was evaluated", 2)


def test_the_method_says_that_and_in_how_many_cases_it_is_clustered():
    assert clustered_share([(1, 2), (2, 2), (0, 0)]).method == "wilson 0.95, clustered in 2 cases"


def test_cases_that_stand_or_fall_as_a_whole_are_worth_one_observation_each():
    """400 steps of 100 cases, all steps of a case alike: what they say is what 100 cases say."""
    whole = [(4, 4)] * 70 + [(0, 4)] * 30
    assert effective_size(whole) == pytest.approx(100, rel=0.06)
    assert clustered_share(whole).low == pytest.approx(wilson(70, 100).low, abs=0.005)


def test_steps_that_do_not_go_together_are_worth_nearly_all_of_them():
    mixed = [(3, 4)] * 50 + [(2, 4)] * 50
    assert 0.9 * 400 < effective_size(mixed) <= 400


def test_without_any_failure_a_case_counts_once():
    """600 right steps of 100 cases do not show what 600 cases would: a case may fail as a whole."""
    found = clustered_share([(6, 6)] * 100)
    assert found.high == 1.0
    assert found.low == pytest.approx(wilson(100, 100).low, abs=0.002)
    assert found.low < wilson(600, 600).low


def test_the_steps_of_one_case_are_worth_one_observation():
    found, single = clustered_share([(9, 10)]), effective_size([(9, 10)])
    assert single == 1
    assert found.high - found.low > 0.7


def test_many_clusters_approach_the_sandwich():
    """By hand: 200 clusters of 2, in half of them both succeed, in a quarter one, in a quarter none."""
    clusters = [(2, 2)] * 100 + [(1, 2)] * 50 + [(0, 2)] * 50
    n, share = 400, 250 / 400
    variance = 200 / 199 * (100 * 0.75**2 + 50 * 0.25**2 + 50 * 1.25**2) / n**2
    design_effect = variance / (share * (1 - share) / n)
    assert effective_size(clusters) == pytest.approx(n / design_effect, rel=0.02)


def coverage(clusters, per_case, share, alike, runs=300):
    """How often both intervals hold the true share: beta-binomial cases, seeded."""
    dice = random.Random(f"{clusters} {per_case} {share} {alike}")
    a, b = share * (1 / alike - 1), (1 - share) * (1 / alike - 1)
    ours = plain = 0
    for _ in range(runs):
        counts = []
        for _ in range(clusters):
            n, chance = dice.randint(*per_case), dice.betavariate(a, b)
            counts.append((sum(dice.random() < chance for _ in range(n)), n))
        found, naive = clustered_share(counts), wilson(*totals(counts))
        ours += found.low <= share <= found.high
        plain += naive.low <= share <= naive.high
    return ours / runs, plain / runs


@pytest.mark.parametrize(
    ("clusters", "per_case", "share", "alike"),
    [(20, (6, 6), 0.7, 0.3), (20, (1, 9), 0.9, 0.8), (60, (6, 6), 0.95, 0.3), (60, (1, 9), 0.8, 0.6)],
)
def test_the_interval_covers_as_it_says_where_the_plain_one_does_not(clusters, per_case, share, alike):
    ours, plain = coverage(clusters, per_case, share, alike)
    assert ours >= 0.91  # 0.95, less three standard errors of 300 runs
    assert plain < 0.88


def test_where_steps_do_not_go_together_the_interval_stays_close_to_the_plain_one():
    dice = random.Random(7)
    counts = [(sum(dice.random() < 0.8 for _ in range(5)), 5) for _ in range(100)]
    found, plain = clustered_share(counts), wilson(*totals(counts))
    assert found.high - found.low < 1.25 * (plain.high - plain.low)


# ---- the mean of several shares ----


def row(successes, n):
    return {index: (int(index < successes), 1) for index in range(n)}


def apart(*rows):
    """The same counts under clusters of their own."""
    return [{(number, cluster): counts for cluster, counts in one.items()} for number, one in enumerate(rows)]


def test_the_mean_of_one_share_is_that_share():
    found, single = mean_share([row(7, 10)]), wilson(7, 10)
    assert (found.estimate, found.low, found.high) == pytest.approx((single.estimate, single.low, single.high))
    assert found.n == 1


def test_bounds_of_a_mean_are_put_together_by_their_distances():
    parts = [wilson(7, 10), wilson(18, 20)]
    found = mean_share(apart(row(7, 10), row(18, 20)))
    mean = sum(part.estimate for part in parts) / 2
    assert found.estimate == pytest.approx(mean)
    assert found.low == pytest.approx(mean - sqrt(sum((part.estimate - part.low) ** 2 for part in parts)) / 2)
    assert found.high == pytest.approx(mean + sqrt(sum((part.high - part.estimate) ** 2 for part in parts)) / 2)


def test_shares_that_rise_and_fall_together_have_a_wider_mean():
    together, alone = mean_share([row(10, 20), row(10, 20)]), mean_share(apart(row(10, 20), row(10, 20)))
    assert together.estimate == alone.estimate
    assert together.high - together.low == pytest.approx(sqrt(2) * (alone.high - alone.low))


def test_shares_of_nothing_are_left_out_and_counted():
    found = mean_share([row(7, 10), {}, {1: (0, 0)}])
    assert (found.n, found.excluded, found.estimate) == (1, 2, 0.7)
    nothing = mean_share([{}])
    assert (nothing.estimate, nothing.reason, nothing.excluded) == (None, "nothing was evaluated", 1)


@untimed
@given(st.lists(st.dictionaries(st.integers(0, 5), st.sampled_from([(0, 1), (1, 1), (1, 3), (3, 3)])), max_size=6))
def test_a_mean_lies_in_its_interval(tools):
    found = mean_share(tools)
    if found.estimate is not None:
        assert 0 <= found.low <= found.estimate <= found.high <= 1

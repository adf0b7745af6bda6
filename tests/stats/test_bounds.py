"""The bound that a gate uses: exact for single cases, honest for several results a case, never helped by what is unread."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rightcall.stats.bounds import lower_bound, more_alike, more_without_error, p_value, whole_worth, worth_of
from rightcall.stats.intervals import clopper_pearson, needed_without_error


def bound(sums, sizes, confidence=0.95, least=1.0):
    sums, sizes = np.array(sums, dtype=float), np.array(sizes, dtype=float)
    worth = worth_of(sums, sizes, confidence, least=least)
    return lower_bound(sums.sum() / sizes.sum(), worth.effective, confidence)


@settings(deadline=None)
@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_of_single_cases_it_is_clopper_and_pearson(counts):
    good, n = counts
    sums = [1] * good + [0] * (n - good)
    exact = clopper_pearson(good, n, sided="lower").low
    assert bound(sums, [1] * n) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize(("errors", "n"), [(0, 149), (1, 236), (2, 313), (3, 386), (4, 456), (5, 523)])
def test_the_sizes_of_the_specification_come_out(errors, n):
    assert needed_without_error(0.98, errors) == n
    for cases, shown in ((n, True), (n - 1, False)):
        assert (bound([1] * (cases - errors) + [0] * errors, [1] * cases) >= 0.98) == shown


@pytest.mark.parametrize(("errors", "n"), [(0, 20), (1, 100), (2, 250)])
def test_how_many_more_is_what_is_lacking_to_those_sizes(errors, n):
    sums, sizes = np.array([1.0] * (n - errors) + [0.0] * errors), np.ones(n)
    worth = worth_of(sums, sizes, 0.95)
    assert more_without_error((n - errors) / n, worth, 0.98, 0.95) == needed_without_error(0.98, errors) - n


def test_at_the_same_share_the_bound_is_reached_sooner_or_never():
    worth = whole_worth(np.ones(50))
    more = more_alike(0.9, worth, 0.85, 0.95)
    assert lower_bound(0.9, 50 + more, 0.95) >= 0.85 > lower_bound(0.9, 50 + more - 1, 0.95)
    assert more_alike(0.85, worth, 0.85, 0.95) is None


def test_results_of_a_case_that_go_together_are_worth_one():
    assert worth_of(np.array([3.0] * 49 + [0.0]), np.full(50, 3.0), 0.95).effective == pytest.approx(50, rel=0.05)
    assert worth_of(np.full(50, 3.0), np.full(50, 3.0), 0.95).effective == 50


def test_results_of_a_case_that_have_nothing_to_do_with_each_other_are_worth_nearly_all_of_them():
    dice = np.random.default_rng(5)
    sums = dice.binomial(3, 0.7, size=400).astype(float)
    assert worth_of(sums, np.full(400, 3.0), 0.95).effective > 1000


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 4)), min_size=1, max_size=60))
def test_the_worth_lies_between_one_a_case_and_all_results(pairs):
    sums = np.array([min(a, b) for a, b in pairs], dtype=float)
    sizes = np.array([b for _, b in pairs], dtype=float)
    found = worth_of(sums, sizes, 0.95).effective
    assert whole_worth(sizes).effective - 1e-9 <= found <= sizes.sum() + 1e-9


@settings(deadline=None)
@given(st.floats(0.01, 0.99), st.floats(1, 500), st.floats(0, 50))
def test_more_evidence_for_the_same_share_raises_the_bound(share, effective, more):
    assert lower_bound(share, effective + more, 0.95) >= lower_bound(share, effective, 0.95) - 1e-9


@settings(deadline=None)
@given(st.floats(0.02, 0.98), st.floats(1, 300), st.floats(0.05, 0.99))
def test_the_p_value_and_the_bound_say_the_same(share, effective, limit):
    assert (p_value(share, effective, limit) <= 0.05) == (lower_bound(share, effective, 0.95) >= limit)


# ---- how often it holds ----

KINDS = [
    (cases, trials, share, alike)
    for cases in (30, 100)
    for trials in (1, 3, 6)
    for share in (0.7, 0.9, 0.97)
    for alike in (0.0, 0.3, 0.8)
    if trials > 1 or alike == 0.0
]


def missed(cases, trials, share, alike, runs, seed=1):
    """How often the bound lies above the true share, over simulated runs."""
    dice = np.random.default_rng(seed)
    bad = 0
    for _ in range(runs):
        chance = np.full(cases, share)
        if alike:
            weight = (1 - alike) / alike
            chance = dice.beta(share * weight, (1 - share) * weight, size=cases)
        bad += bound(dice.binomial(trials, chance), np.full(cases, trials)) > share
    return bad / runs


@pytest.mark.parametrize(("cases", "trials", "share", "alike"), KINDS)
def test_the_bound_lies_above_the_true_share_in_at_most_five_of_a_hundred_runs(cases, trials, share, alike):
    runs = 400
    # Three standard errors of the simulation itself.
    assert missed(cases, trials, share, alike, runs) <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5


@pytest.mark.parametrize("shape", ["levels", "skewed", "flat"])
@pytest.mark.parametrize("cases", [20, 100])
def test_the_bound_of_a_mean_of_scores_holds_as_often(cases, shape):
    dice, runs = np.random.default_rng(2), 600
    chances = {
        "levels": [0.02, 0.03, 0.1, 0.25, 0.6], "skewed": [0.03, 0.0, 0.0, 0.0, 0.97],
        "flat": [0.2, 0.2, 0.2, 0.2, 0.2],
    }[shape]  # fmt: skip
    levels = np.array([0, 0.25, 0.5, 0.75, 1])
    true = float((levels * chances).sum())
    bad = sum(bound(dice.choice(levels, size=cases, p=chances), np.ones(cases), least=0.0) > true for _ in range(runs))
    assert bad / runs <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5

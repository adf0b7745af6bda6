"""Repeated trials: the published pass^k, flips, and means over cases."""

import json
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_making import FOLDER, untimed

from rightcall.errors import ConfigError
from rightcall.stats.intervals import wilson
from rightcall.stats.pairwise import standard_error
from rightcall.stats.repeats import case_mean, flip_rate, majority, pass_at_k, pass_hat_k, unstable

REWARDS = FOLDER / "tau_airline_gpt4o_rewards.json"
needs_rewards = pytest.mark.skipif(
    not REWARDS.is_file(), reason="needs the recorded rewards in ../shared, which are not part of the repository"
)
TRIALS = st.lists(st.lists(st.booleans(), min_size=1, max_size=5), min_size=1, max_size=12)


def counts(trials):
    return [(sum(case), len(case)) for case in trials]


@pytest.fixture
def rewards():
    return {f"task {row['task_id']}": [reward == 1 for reward in row["rewards"]] for row in json.loads(REWARDS.read_text())}  # fmt: skip


# ---- references ----


@needs_rewards
@pytest.mark.parametrize(
    ("id_", "k", "expected"),
    [("R46", 1, 0.42), ("R47", 2, 0.2733333333333334), ("R48", 3, 0.22), ("R49", 4, 0.2)],
)
def test_the_published_pass_hat_k_is_reproduced(rewards, id_, k, expected):
    found = pass_hat_k(counts(rewards.values()), k)
    assert found.estimate == pytest.approx(expected, abs=1e-12), id_
    assert (found.n, found.excluded) == (50, 0)
    assert found.low < expected < found.high


@needs_rewards
def test_the_reference_flip_rate_is_reproduced(rewards):
    """R51."""
    found = flip_rate(list(rewards.values()))
    assert found.estimate == pytest.approx(0.29333333333333333, abs=1e-12)
    assert found.n == 50
    assert len(unstable(rewards)) == sum(0 < sum(case) < 4 for case in rewards.values())


@needs_rewards
def test_the_reference_error_of_clustered_trials_is_reproduced(rewards):
    """R52: .052 clustered against .035 of independent trials; the interval is as wide as the first says."""
    values = [float(passed) for case in rewards.values() for passed in case]
    cases = [name for name, case in rewards.items() for _ in case]
    assert standard_error(values, cases) == pytest.approx(0.05221619109284876, abs=1e-6)
    # The reference divides the squares by n, ours by n - 1.
    assert standard_error(values) * (199 / 200) ** 0.5 == pytest.approx(0.034899856733230296, abs=1e-6)
    found = pass_hat_k(counts(rewards.values()), 1)
    assert (found.high - found.low) / 2 == pytest.approx(2.01 * 0.0522, rel=0.03)


def test_reference_pass_at_k():
    """R50."""
    assert pass_at_k([(3, 10)], 5).estimate == pytest.approx(0.9166666666666666, abs=1e-12)


# ---- what they are ----


@untimed
@given(TRIALS, st.integers(1, 4))
def test_both_are_shares_of_the_draws_of_k_trials(trials, k):
    tried = [case for case in trials if len(case) >= k]
    for figure, every in ((pass_hat_k, all), (pass_at_k, any)):
        found = figure(counts(trials), k, excluded=1)
        assert (found.n, found.excluded) == (len(tried), len(trials) - len(tried) + 1)
        if tried:
            draws = [[every(draw) for draw in combinations(case, k)] for case in tried]
            assert found.estimate == pytest.approx(sum(sum(case) / len(case) for case in draws) / len(tried))
            assert 0 <= found.low <= found.estimate + 1e-12
            assert found.estimate - 1e-12 <= found.high <= 1
        else:
            assert found.reason == f"no case has {k} trials"


@untimed
@given(st.lists(st.integers(0, 4), min_size=1, max_size=20))
def test_pass_hat_k_falls_and_pass_at_k_grows(passed):
    cases = [(c, 4) for c in passed]
    hat, at = ([figure(cases, k).estimate for k in range(1, 5)] for figure in (pass_hat_k, pass_at_k))
    assert hat[0] == at[0]
    assert all(later <= sooner + 1e-12 for sooner, later in pairwise(hat))
    assert all(later >= sooner - 1e-12 for sooner, later in pairwise(at))


@untimed
@given(st.lists(st.lists(st.sampled_from(["a", "b", "c", None]), max_size=5), min_size=1, max_size=10))
def test_a_flip_rate_counts_pairs_of_trials(answers):
    given_ = [[answer for answer in case if answer is not None] for case in answers]
    shares = [
        [one != other for one, other in combinations(case, 2)] for case in given_ if len(case) > 1
    ]  # fmt: skip
    found = flip_rate(answers)
    assert (found.n, found.excluded) == (len(shares), len(answers) - len(shares))
    if shares:
        assert found.estimate == pytest.approx(sum(sum(case) / len(case) for case in shares) / len(shares))


def test_repeating_all_trials_does_not_narrow_the_interval():
    """Cases that always pass or always fail are as many facts as there are cases."""
    once, often = ([(n * (case < 30), n) for case in range(50)] for n in (1, 20))
    assert pass_hat_k(once, 1) == pass_hat_k(often, 1) == wilson(30, 50)


def test_unstable_cases_are_named_the_worst_first():
    found = unstable(
        {"b": [True, False], "a": [True, False], "c": [True] * 3 + [False], "d": [True, True, None], "e": []}
    )
    assert [one.case for one in found] == ["a", "b", "c"]
    assert (found[2].counts, found[2].flips) == (((True, 3), (False, 1)), 0.5)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [(["x", "y", "x"], "x"), (["x", "y"], None), ([], None), ([None, None, "y"], "y"), (["x"], "x")],
)
def test_a_majority_is_said_more_often_than_anything_else(answers, expected):
    assert majority(answers) == expected


# ---- means over cases ----


@untimed
@given(st.lists(st.booleans(), min_size=1, max_size=60))
def test_a_mean_of_shares_0_and_1_has_wilsons_interval(values):
    assert case_mean([float(value) for value in values]) == wilson(sum(values), len(values))


@untimed
@given(st.lists(st.fractions(0, 1, max_denominator=6).map(float), min_size=1, max_size=40))
def test_a_mean_lies_in_its_interval_which_is_no_wider_than_that_of_whole_cases(values):
    found = case_mean(values)
    assert 0 <= found.low <= found.estimate + 1e-12
    assert found.estimate - 1e-12 <= found.high <= 1
    assert found.high - found.low <= 1


def test_the_mean_of_equal_cases_has_an_interval_that_is_not_a_point():
    found = case_mean([0.5] * 20)
    assert found.high - found.low > 0.1
    assert found.method == "wilson 0.95, 20 cases"
    lone = case_mean([0.5])
    assert (lone.low, lone.high) == pytest.approx((wilson(1, 2).low - 0.05, wilson(1, 2).high + 0.05), abs=0.06)


@pytest.mark.parametrize(
    "wrong",
    [lambda: pass_hat_k([(1, 1)], 0), lambda: pass_at_k([(2, 1)], 1), lambda: case_mean([1.5])],
)
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(ConfigError) as caught:
        wrong()
    assert caught.value.code == "STAT_VALUE_INVALID"


def test_nothing_is_undefined():
    assert pass_hat_k([], 1).reason == "nothing was evaluated"
    assert pass_hat_k([(0, 0)], 1).reason == "no case has a trial"
    assert flip_rate([]).reason == "nothing was evaluated"
    assert flip_rate([["a"]]).reason == "no case was tried twice"

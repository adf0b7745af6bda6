"""Rates of pairs, and the comparison in words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_making import ROWS, needs_reference, untimed

from rightcall.errors import ConfigError
from rightcall.stats import pairwise
from rightcall.stats.intervals import wilson
from rightcall.stats.ordinal import mean_score
from rightcall.stats.pairwise import compare, decisive_needed, net_win_rate, sign_test, standard_error, win_rate

COUNT = st.integers(0, 120)
SCORES = [1.0] * 30 + [0.0] * 15 + [0.5] * 10


@needs_reference
def test_reference_mean_and_error_with_ties_as_half():
    row = ROWS["R54"]
    assert [net_win_rate(SCORES).estimate, standard_error(SCORES)] == pytest.approx(row["expected"], abs=row["tolerance"])  # fmt: skip


def test_the_win_rate_is_wilsons_among_decisive_pairs():
    assert win_rate(30, 15, excluded=2) == wilson(30, 45, excluded=2)
    nothing = win_rate(0, 0, excluded=2)
    assert (nothing.estimate, nothing.excluded, nothing.reason) == (None, 2, "no decisive pair")


def test_the_bootstrap_agrees_with_the_normal_interval():
    found, error = net_win_rate(SCORES), standard_error(SCORES)
    assert (found.low, found.high) == pytest.approx((found.estimate - 1.96 * error, found.estimate + 1.96 * error), abs=0.015)  # fmt: skip
    assert (found.n, found.method) == (55, "bootstrap 0.95, 55 cases, 2000 draws, seed 0")


def test_the_same_seed_gives_the_same_interval_whatever_the_sequence():
    assert net_win_rate(SCORES, seed=5) == net_win_rate(SCORES[::-1], seed=5)
    assert net_win_rate(SCORES, seed=5) != net_win_rate(SCORES, seed=6)


def test_pairs_of_one_case_are_not_independent():
    cases = [case for case in range(10) for _ in range(4)]
    scores = [float(case < 6) for case in cases]
    plain, clustered = net_win_rate(scores), net_win_rate(scores, cases)
    assert clustered.estimate == plain.estimate
    assert clustered.high - clustered.low > 1.5 * (plain.high - plain.low)
    assert standard_error(scores, cases) > 1.8 * standard_error(scores)


def test_equal_scores_have_an_interval_that_is_not_a_point():
    assert net_win_rate([1.0] * 12) == mean_score([1.0] * 12, scale=(0, 1))
    assert net_win_rate([1.0] * 12).low < 0.8


@pytest.mark.parametrize(
    ("scores", "clusters", "reason"),
    [
        ([], None, "nothing was evaluated"),
        ([1.0], None, "one value has no interval"),
        ([1.0, 0.5], ["a", "a"], "the values of one case have no interval"),
    ],
)
def test_too_little_has_no_interval(scores, clusters, reason):
    found = net_win_rate(scores, clusters)
    assert (found.low, found.high, found.reason) == (None, None, reason)
    assert standard_error(scores, clusters) is None


@untimed
@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=2, max_size=40))
def test_a_net_win_rate_lies_in_its_interval_from_0_to_1(scores):
    found = net_win_rate(scores, resamples=300)
    assert 0 <= found.low <= found.estimate <= found.high <= 1


@needs_reference
def test_thirty_to_fifteen_is_better():
    found = compare(30, 15, 8, 2, excluded=1)
    assert found.p_value == pytest.approx(ROWS["R53"]["expected"])
    assert (found.verdict, found.more_pairs, found.reason) == ("better", 0, None)
    assert (found.win_rate.n, found.win_rate.excluded) == (45, 1)
    assert found.words == "A is better than B: A won 30 of 45 decisive pairs (0.67, interval 0.52 – 0.79, p = 0.036)."


def test_a_difference_that_is_not_shown_says_what_it_would_take():
    found = compare(12, 8, 7, 3, names=("old", "new"))
    needed = decisive_needed(0.6, exact=True) - 20
    assert (found.verdict, found.more_pairs) == ("no_detectable_difference", -(-needed * 30 // 20))
    assert found.words == (
        "No detectable difference between old and new: old won 12 of 20 decisive pairs (0.60, interval 0.39 – 0.78, "
        "p = 0.503). 20 decisive pairs would show only a win rate of 0.80 or more; 275 more pairs would show the rate "
        "seen here 4 times in 5."
    )


@pytest.mark.parametrize(
    ("counts", "reason", "words"),
    [
        ((5, 5, 0, 0), "as many wins as losses", "0.92 or more."),
        ((0, 0, 3, 1), "no decisive pair", "No detectable difference between A and B: none of 4 pairs is decisive."),
        ((0, 0, 0, 0), "no decisive pair", "Nothing is known about A against B: no pair has a verdict."),
    ],
)
def test_where_more_pairs_cannot_be_said_the_reason_is(counts, reason, words):
    found = compare(*counts)
    assert (found.verdict, found.more_pairs) == ("no_detectable_difference", None)
    assert found.reason.startswith(reason)
    assert found.words.endswith(words)


def test_too_few_pairs_for_any_answer_say_so():
    found = compare(1, 0, 0, 0)
    assert (found.detectable, found.more_pairs) == (None, 5)
    assert "A won 1 of 1 decisive pair " in found.words
    assert "So few decisive pairs can show no difference at all; 5 more pairs" in found.words


@untimed
@given(COUNT, COUNT, COUNT, COUNT)
def test_swapping_the_two_mirrors_the_comparison(wins, losses, ties, inconsistent):
    found, swapped = compare(wins, losses, ties, inconsistent), compare(losses, wins, ties, inconsistent)
    mirror = {"better": "worse", "worse": "better"}
    assert swapped.verdict == mirror.get(found.verdict, found.verdict)
    assert (swapped.p_value, swapped.detectable, swapped.more_pairs) == (found.p_value, found.detectable, found.more_pairs)  # fmt: skip
    if found.win_rate.low is not None:
        assert swapped.win_rate.low == pytest.approx(1 - found.win_rate.high)


@untimed
@given(COUNT, COUNT, COUNT, COUNT)
def test_a_comparison_agrees_with_itself(wins, losses, ties, inconsistent):
    found = compare(wins, losses, ties, inconsistent)
    p = sign_test(wins, losses)
    assert (found.verdict == "better") == (p is not None and p < 0.05 and wins > losses)
    assert (found.more_pairs == 0) == (found.verdict != "no_detectable_difference")
    assert (found.reason is None) == (found.more_pairs is not None)
    assert found.words.endswith(".")


def test_the_pairs_that_it_asks_for_would_show_the_rate():
    found = compare(13, 7, 10, 0)
    share = 20 / 30
    decisive = 20 + int(found.more_pairs * share)
    assert pairwise.sign_test_power(decisive, 13 / 20) >= 0.79


def test_every_name_that_is_offered_is_there():
    assert all(hasattr(pairwise, name) for name in pairwise.__all__)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: compare(-1, 0, 0, 0),
        lambda: compare(0, 0, 0, 0, excluded=-1),
        lambda: win_rate(1, -1),
        lambda: net_win_rate([1.5]),
    ],
)
def test_numbers_that_cannot_be_are_refused(wrong):
    with pytest.raises(ConfigError) as caught:
        wrong()
    assert caught.value.code == "STAT_VALUE_INVALID"

"""Does a judge prefer the longer trace: rates, the logistic model, and when it says nothing."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_making import untimed

from rightcall.errors import ConfigError
from rightcall.stats.pairwise import LengthRow, length_preference

ROWS = st.lists(
    st.tuples(st.integers(0, 500), st.integers(0, 500), st.sampled_from(["a", "b", "tie"])), max_size=40
).map(lambda rows: [LengthRow(number, *row) for number, row in enumerate(rows)])


def judged(n, weight, seed=0, better=0.0):
    """A judge that looks at the logarithm of the length with some weight."""
    from math import exp, log1p

    dice, rows = random.Random(seed), []
    for number in range(n):
        a, b = dice.randint(20, 400), dice.randint(20, 400)
        chance = 1 / (1 + exp(-better - weight * (log1p(a) - log1p(b))))
        rows.append(LengthRow(number, a, b, "a" if dice.random() < chance else "b"))
    return rows


def test_a_judge_that_always_takes_the_longer_prefers_it():
    dice = random.Random(1)
    rows = [LengthRow(number, a, b, "a" if a > b else "b") for number in range(30) for a, b in [dice.sample(range(500), 2)]]  # fmt: skip
    found = length_preference(rows)
    assert (found.longer, found.shorter, found.prefers_longer) == (30, 0, True)
    assert found.words == "The longer trace won 30 of 30 decisive pairs of unequal length (1.00, interval 0.89 – 1.00): prefers the longer trace."  # fmt: skip
    assert found.slope.estimate is None
    assert found.slope.reason == found.controlled.reason == "the lengths separate wins from losses, so that the likelihood has no maximum"  # fmt: skip


def test_a_judge_that_takes_the_shorter_does_not_prefer_the_longer():
    found = length_preference(judged(300, -2))
    assert found.prefers_longer is False
    assert found.slope.high < 0
    assert found.words.endswith(": prefers the shorter trace.")


def test_a_preference_for_the_shorter_is_shown_by_few_pairs_too():
    rows = [LengthRow(number, 10, 200 + number, "a") for number in range(50)]
    found = length_preference(rows)
    assert (found.longer, found.prefers_longer, found.reason) == (0, False, None)
    assert found.words == "The longer trace won 0 of 50 decisive pairs of unequal length (0.00, interval 0.00 – 0.07): prefers the shorter trace."  # fmt: skip
    assert "1 decisive pair of unequal" in length_preference(rows[:1]).words


def test_a_judge_that_does_not_look_at_length_is_not_said_to():
    found = length_preference(judged(400, 0.0, seed=3))
    assert found.prefers_longer is False
    assert found.slope.low < 0 < found.slope.high


def test_few_pairs_that_show_nothing_say_so():
    found = length_preference(judged(20, 0.0, seed=1))
    assert found.prefers_longer is None
    assert found.reason == "20 decisive pairs of unequal length, fewer than 100, show no preference for the longer"


def test_the_controlled_rate_is_that_of_equal_lengths():
    """A is better by 0.8 in log-odds, which is 0.69, and B is longer: the plain rate hides it, the controlled does not."""
    dice, rows = random.Random(5), judged(1500, 2.0, seed=5, better=0.8)
    rows = [row for row in rows if row.length_a < row.length_b or dice.random() < 0.2]
    found = length_preference(rows)
    plain = sum(row.outcome == "a" for row in rows) / len(rows)
    assert plain < 0.5
    assert found.controlled.low < 0.69 < found.controlled.high
    assert found.controlled.low > 0.6


def test_the_model_is_the_maximum_of_the_likelihood():
    """Against a general minimiser."""
    from math import exp, log, log1p, sqrt

    from scipy.optimize import minimize

    rows = judged(80, 1.0, seed=8)
    differences = [log1p(row.length_a) - log1p(row.length_b) for row in rows]
    step = sqrt(sum(value**2 for value in differences) / len(rows))

    def loss(at):
        return sum(log(1 + exp(-(1 if row.outcome == "a" else -1) * (at[0] + at[1] * value / step))) for row, value in zip(rows, differences, strict=True))  # fmt: skip

    best, found = minimize(loss, [0, 0], tol=1e-12), length_preference(rows)
    assert found.slope.estimate == pytest.approx(best.x[1], abs=1e-4)
    assert found.controlled.estimate == pytest.approx(1 / (1 + exp(-best.x[0])), abs=1e-5)
    assert (found.slope.high - found.slope.estimate) / 1.959964 == pytest.approx(sqrt(best.hess_inv[1, 1]), rel=0.05)


def test_several_rows_of_one_pair_are_clustered():
    rows = judged(60, 1.0, seed=2)
    twice = [row for row in rows for _ in range(2)]
    single, doubled = length_preference(rows), length_preference(twice)
    assert doubled.slope.estimate == pytest.approx(single.slope.estimate)
    # Each row twice says no more than once.
    assert doubled.slope.high - doubled.slope.low > 0.9 * (single.slope.high - single.slope.low)
    assert doubled.slope.method == "logistic, wald 0.95, clustered by pair"
    assert doubled.longer_rate.high - doubled.longer_rate.low > 0.9 * (single.longer_rate.high - single.longer_rate.low)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], "no decisive pair"),
        ([LengthRow(1, 3, 4, "tie")], "no decisive pair"),
        ([LengthRow(1, 3, 4, "a"), LengthRow(1, 3, 4, "b")], "the verdicts of one pair say nothing about others"),
        ([LengthRow(1, 3, 4, "a"), LengthRow(2, 5, 4, "a")], "all decisive pairs have the same winner"),
        ([LengthRow(1, 3, 3, "a"), LengthRow(2, 5, 5, "b")], "all pairs have the same difference of length"),
        ([LengthRow(1, 3, 4, "a"), LengthRow(2, 4, 3, "b")], "the lengths separate wins from losses, so that the likelihood has no maximum"),
    ],
)  # fmt: skip
def test_where_the_model_has_no_maximum_it_says_why(rows, reason):
    found = length_preference(rows)
    assert (found.slope.estimate, found.slope.reason, found.controlled.reason) == (None, reason, reason)


@pytest.mark.parametrize("overlap", [1e-4, 1e-6])
def test_lengths_that_nearly_separate_wins_from_losses_say_so(overlap):
    found = length_preference([
        LengthRow(0, 10, 100, "b"), LengthRow(1, 100, 10, "a"), LengthRow(2, 50 + overlap, 50, "b"), LengthRow(3, 50, 50, "a"),
        LengthRow(4, 1000, 2, "a"), LengthRow(5, 2, 1000, "b"),
    ])  # fmt: skip
    assert found.slope.reason == "the lengths nearly separate wins from losses, so that the model did not settle"


def test_ties_and_equal_lengths_are_counted_as_left_out():
    found = length_preference([LengthRow(1, 3, 4, "tie"), LengthRow(2, 4, 4, "a"), LengthRow(3, 0, 4, "b")])
    assert (found.longer_rate.n, found.longer_rate.excluded) == (1, 2)
    assert (found.slope.n, found.slope.excluded) == (2, 1)
    nothing = length_preference([LengthRow(2, 4, 4, "a")])
    assert nothing.longer_rate.reason == "no decisive pair of unequal length"
    assert nothing.words.startswith("No decisive pair of unequal length")


@untimed
@given(ROWS)
def test_swapping_the_two_traces_mirrors_the_model(rows):
    turned = {"a": "b", "b": "a", "tie": "tie"}
    found = length_preference(rows)
    swapped = length_preference([LengthRow(row.pair, row.length_b, row.length_a, turned[row.outcome]) for row in rows])
    assert (found.longer, found.shorter, found.prefers_longer) == (swapped.longer, swapped.shorter, swapped.prefers_longer)  # fmt: skip
    assert found.slope.reason == swapped.slope.reason
    if found.slope.estimate is not None:
        assert found.slope.estimate == pytest.approx(swapped.slope.estimate, abs=1e-6)
        assert found.controlled.low == pytest.approx(1 - swapped.controlled.high, abs=1e-6)
        assert found.slope.low <= found.slope.estimate <= found.slope.high
        assert 0 <= found.controlled.low <= found.controlled.estimate <= found.controlled.high <= 1


@pytest.mark.parametrize(
    "row",
    [LengthRow(1, -1, 2, "a"), LengthRow(1, float("nan"), 2, "a"), LengthRow(1, 1, float("inf"), "a"), LengthRow(1, 1, 2, "A")],
)  # fmt: skip
def test_what_is_no_length_or_outcome_is_refused(row):
    with pytest.raises(ConfigError) as caught:
        length_preference([row])
    assert caught.value.code == "STAT_VALUE_INVALID"

"""Evidence that may be looked at after every pair: references, and how often it errs when it is."""

import random
from functools import cache
from math import exp, inf, isinf

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_making import ROWS, by_id, needs_reference, rows, untimed

from rightcall.errors import ConfigError
from rightcall.stats.intervals import wilson
from rightcall.stats.sequential import StopRule, confidence_sequence, e_value, log_e_value, stops
from rightcall.stats.sign_test import sign_test

COUNT = st.integers(0, 400)
stopped = cache(stops)


@needs_reference
@pytest.mark.parametrize("row", rows("beta(1/2,1/2)-mixture e-value"), ids=by_id)
def test_reference_e_values(row):
    assert e_value(**row["input"]) == pytest.approx(row["expected"], abs=row["tolerance"])


@needs_reference
def test_reference_confidence_sequence():
    row = ROWS["R81"]
    found = confidence_sequence(**row["input"], alpha=row["parameters"]["alpha"])
    assert [found.low, found.high] == pytest.approx(row["expected"], abs=row["tolerance"])
    plain = wilson(30, 45)
    assert found.low < plain.low < plain.high < found.high
    assert (found.estimate, found.n, found.method) == (pytest.approx(2 / 3), 45, "beta mixture sequence 0.95")


@pytest.mark.parametrize("n", [1, 5, 40])
def test_the_e_value_is_1_on_average_where_neither_is_better(n):
    """The definition of an e-value, over all results of n pairs."""
    from math import comb

    assert sum(comb(n, wins) * 0.5**n * e_value(wins, n - wins) for wins in range(n + 1)) == pytest.approx(1)


def test_looking_after_every_pair_errs_no_more_often_than_alpha():
    """Exactly: the chance of ever stopping within 500 fair pairs, by going through all results."""
    going, ever = {0: 1.0}, 0.0
    for n in range(1, 501):
        after = {}
        for wins, chance in going.items():
            for now in (wins, wins + 1):
                after[now] = after.get(now, 0.0) + chance / 2
        going = {}
        for wins, chance in after.items():
            if stopped(wins, n - wins):
                ever += chance
            else:
                going[wins] = chance
    assert 0.005 < ever <= 0.05
    assert ever + sum(going.values()) == pytest.approx(1)


def test_a_simulated_reader_who_looks_after_every_pair_is_rarely_fooled_and_with_the_sign_test_often():
    dice, runs, fooled, naive = random.Random(12), 3000, 0, 0
    test = cache(lambda wins, losses: (sign_test(wins, losses) or 1.0) < 0.05)
    for _ in range(runs):
        wins = 0
        by_e = by_p = False
        for n in range(1, 201):
            wins += dice.random() < 0.5
            by_e = by_e or stopped(wins, n - wins)
            by_p = by_p or test(wins, n - wins)
        fooled, naive = fooled + by_e, naive + by_p
    assert fooled / runs <= 0.05
    assert naive / runs > 0.2


def test_a_real_difference_stops_early():
    dice, at = random.Random(3), []
    for _ in range(200):
        wins = n = 0
        while not stopped(wins, n - wins) and n < 1000:
            n, wins = n + 1, wins + (dice.random() < 0.7)
        at.append(n)
    assert sorted(at)[100] < 100
    assert max(at) < 1000


def test_thirty_to_fifteen_is_not_enough_to_stop():
    assert sign_test(30, 15) < 0.05
    assert not stops(30, 15)
    assert stops(30, 10)
    assert not stops(30, 10, alpha=0.01)


def test_a_rule_can_wait_for_a_number_of_pairs():
    assert not StopRule(at_least=50).stops(30, 10)
    assert StopRule(at_least=40).stops(30, 10)
    assert not StopRule().stops(0, 0)


@untimed
@given(COUNT, COUNT)
def test_wins_and_losses_mirror_each_other(wins, losses):
    assert log_e_value(wins, losses) == pytest.approx(log_e_value(losses, wins), abs=1e-9)
    found, mirrored = confidence_sequence(wins, losses), confidence_sequence(losses, wins)
    if wins + losses:
        assert found.low == pytest.approx(1 - mirrored.high, abs=1e-9)
        assert 0 <= found.low <= found.estimate <= found.high <= 1


@untimed
@given(COUNT, COUNT)
def test_it_stops_just_where_the_sequence_leaves_one_half(wins, losses):
    found = confidence_sequence(wins, losses)
    if wins + losses:
        assert stops(wins, losses) == (not found.low <= 0.5 <= found.high)


@untimed
@given(COUNT, COUNT, st.floats(0.02, 0.98))
def test_inside_the_sequence_the_e_value_is_below_its_limit(wins, losses, p):
    found = confidence_sequence(wins, losses)
    if wins + losses and min(abs(p - found.low), abs(p - found.high)) > 1e-9:
        assert (found.low < p < found.high) == (exp(min(700.0, log_e_value(wins, losses, p))) < 20)


def test_large_counts_do_not_overflow():
    assert isinf(e_value(5000, 0))
    assert 3000 < log_e_value(5000, 0) < 5000
    assert confidence_sequence(5000, 0).high == 1
    assert log_e_value(1, 0, 0.0) == log_e_value(0, 1, 1.0) == inf


def test_without_a_decisive_pair_nothing_is_known():
    found = confidence_sequence(0, 0, excluded=3)
    assert (found.estimate, found.reason, found.excluded) == (None, "no decisive pair", 3)
    assert e_value(0, 0) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: e_value(-1, 0),
        lambda: log_e_value(1, 1, 1.5),
        lambda: confidence_sequence(1, 1, alpha=0),
        lambda: confidence_sequence(1, -1),
        lambda: stops(1, 1, alpha=1),
    ],
)
def test_numbers_that_cannot_be_are_refused(wrong):
    with pytest.raises(ConfigError) as caught:
        wrong()
    assert caught.value.code == "STAT_VALUE_INVALID"

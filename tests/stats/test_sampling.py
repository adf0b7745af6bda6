"""Draws by digest: repeatable, of the right size, with known probabilities, and even."""

from collections import Counter
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_making import untimed

from rightcall.errors import ConfigError
from rightcall.stats.sampling import draw_stratified, probability_of

UNITS = st.dictionaries(st.text(max_size=4), st.sampled_from(["search|1", "search|5", "refund|3"]), max_size=60).map(
    lambda found: list(found.items())
)
SHARE = st.sampled_from([0.0, 0.05, 0.1, 0.2, 0.5, 1.0])


@untimed
@given(UNITS, SHARE, st.integers(0, 5), st.integers(0, 9))
def test_each_stratum_gives_its_share_or_the_minimum(units, share, minimum, seed):
    drawn = draw_stratified(units, share, seed, minimum)
    of, total = dict(units), Counter(stratum for _, stratum in units)
    found = Counter(of[name] for name in drawn)
    for stratum, size in total.items():
        assert found[stratum] == max(ceil(round(share * size, 9)), min(minimum, size))
        assert {drawn[name] for name in drawn if of[name] == stratum} <= {found[stratum] / size}


@untimed
@given(UNITS, SHARE, st.integers(0, 9), st.randoms(use_true_random=False))
def test_the_sequence_of_the_items_does_not_matter(units, share, seed, dice):
    shuffled = [*units]
    dice.shuffle(shuffled)
    assert list(draw_stratified(shuffled, share, seed).items()) == list(draw_stratified(units, share, seed).items())


@untimed
@given(UNITS, st.integers(0, 9))
def test_a_larger_share_contains_the_smaller(units, seed):
    draws = [set(draw_stratified(units, share, seed)) for share in (0.1, 0.2, 0.5, 1.0)]
    assert draws[0] <= draws[1] <= draws[2] <= draws[3] == set(dict(units))


@untimed
@given(UNITS, SHARE, st.integers(0, 4))
def test_items_that_were_not_drawn_have_the_same_probability_as_the_drawn_of_their_stratum(units, share, minimum):
    every, drawn = probability_of(units, share, minimum), draw_stratified(units, share, 3, minimum)
    assert every.keys() == dict(units).keys()
    assert drawn == {name: every[name] for name in drawn}
    assert sum(every.values()) == pytest.approx(len(drawn))


def test_every_item_is_drawn_as_often_as_its_probability_says():
    units = [(f"item {number}", "x") for number in range(50)]
    counted = Counter(name for seed in range(1000) for name in draw_stratified(units, 0.2, seed))
    # 1000 draws with 0.2: 200 with a standard deviation of 12.6.
    assert len(counted) == 50
    assert all(150 < n < 250 for n in counted.values())


def test_a_draw_is_the_same_on_every_machine():
    units = [(name, "x") for name in "abcdefghij"]
    assert list(draw_stratified(units, 0.3, 1)) == ["b", "a", "e"]
    assert list(draw_stratified(units, 0.3, 2)) != ["b", "a", "e"]


def test_a_share_counts_as_it_is_written():
    """0.1 of 30 is 3, although the nearest binary number is a little more."""
    assert len(draw_stratified([(str(number), "x") for number in range(30)], 0.1, 0)) == 3


def test_half_a_surrogate_pair_in_a_name_can_be_drawn():
    assert draw_stratified([("\ud800", "x")], 0.2, 0) == {"\ud800": 1.0}


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: draw_stratified([("a", "x"), ("a", "y")], 0.2, 0),
        lambda: draw_stratified([("a", "x")], 1.2, 0),
        lambda: draw_stratified([("a", "x")], float("nan"), 0),
        lambda: probability_of([("a", "x")], 0.2, -1),
    ],
)
def test_draws_that_cannot_be_are_refused(wrong):
    with pytest.raises(ConfigError) as caught:
        wrong()
    assert caught.value.code == "STAT_VALUE_INVALID"

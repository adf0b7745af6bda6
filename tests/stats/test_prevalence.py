"""The true share behind a judge that errs: references, the identity of a perfect judge, and coverage."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_making import untimed

from rightcall.errors import ConfigError
from rightcall.stats.intervals import wilson
from rightcall.stats.prevalence import rogan_gladen

INTERVALS = ("delta", "adjusted", "bootstrap")


@st.composite
def counts(draw, least=1):
    n = draw(st.integers(least, 200))
    return draw(st.integers(0, n)), n


@pytest.mark.parametrize(
    ("id_", "counted", "expected", "tolerance"),
    [
        ("R96", ((800, 1000), (90, 100), (85, 100)), [0.8666666666666666], 1e-12),
        ("R97", ((800, 1000), (90, 100), (85, 100)), [0.8666666666666666, 0.03907068617926383], 1e-6),
        ("R98", ((800, 1000), (18, 20), (17, 20)), [0.8666666666666666, 0.08059041391390673], 1e-6),
    ],
)
def test_reference_values(id_, counted, expected, tolerance):
    found = rogan_gladen(*counted)
    assert [found.estimate.estimate, found.standard_error][: len(expected)] == pytest.approx(expected, abs=tolerance), (
        id_
    )


def test_the_published_intervals_with_100_labels_of_each_class():
    found = rogan_gladen((800, 1000), (90, 100), (85, 100), interval="delta")
    assert (found.estimate.low, found.estimate.high) == pytest.approx((0.7901, 0.9432), abs=1e-4)
    # The judge's own interval does not hold the corrected share.
    assert (found.naive.low, found.naive.high) == pytest.approx((0.7741, 0.8236), abs=1e-4)
    drawn = rogan_gladen((800, 1000), (90, 100), (85, 100), interval="bootstrap", resamples=4000).estimate
    # Resampling the labels alone would give .804 to .946.
    assert (drawn.low, drawn.high) == pytest.approx((0.795, 0.951), abs=0.01)


@untimed
@given(counts(), st.integers(1, 200), st.integers(1, 200), st.sampled_from(INTERVALS))
def test_a_perfect_judge_needs_no_correction(judged, positives, negatives, interval):
    found = rogan_gladen(judged, (positives, positives), (negatives, negatives), interval=interval, resamples=50)
    assert found.unclipped == pytest.approx(judged[0] / judged[1])
    assert found.estimate.estimate == pytest.approx(judged[0] / judged[1])
    assert found.naive == wilson(*judged)


@untimed
@given(counts(), counts(), counts(), st.sampled_from(INTERVALS))
def test_calling_the_other_class_positive_mirrors_the_share(judged, caught, cleared, interval):
    other = (judged[1] - judged[0], judged[1])
    found = rogan_gladen(judged, caught, cleared, interval=interval, resamples=30)
    mirror = rogan_gladen(other, cleared, caught, interval=interval, resamples=30)
    if found.unclipped is None:
        assert mirror.unclipped is None
        return
    assert mirror.unclipped == pytest.approx(1 - found.unclipped)
    assert mirror.standard_error == pytest.approx(found.standard_error)
    if interval != "bootstrap" and found.estimate.low is not None:
        assert (mirror.estimate.low, mirror.estimate.high) == pytest.approx(
            (1 - found.estimate.high, 1 - found.estimate.low)
        )


@untimed
@given(counts(), counts(), counts(), st.sampled_from(INTERVALS))
def test_the_interval_stays_within_zero_and_one(judged, caught, cleared, interval):
    found = rogan_gladen(judged, caught, cleared, interval=interval, resamples=30).estimate
    assert (found.low is None) or (found.low <= found.high and 0 <= found.low <= 1 and 0 <= found.high <= 1)
    assert found.low is not None or found.reason is not None


def test_a_share_outside_zero_and_one_is_cut_but_told():
    found = rogan_gladen((92, 100), (90, 100), (95, 100))
    assert found.unclipped == pytest.approx(0.87 / 0.85)
    assert (found.estimate.estimate, found.estimate.high) == (1.0, 1.0)
    outside = rogan_gladen((990, 1000), (800, 1000), (990, 1000))
    assert (outside.estimate.estimate, outside.estimate.low) == (1.0, None)
    assert outside.reason.startswith("the whole interval, ")
    assert outside.reason.endswith(", lies outside 0 to 1: labels and items disagree")


@pytest.mark.parametrize(
    ("counted", "reason"),
    [
        (((0, 0), (9, 10), (9, 10)), "nothing was evaluated"),
        (((5, 10), (0, 0), (9, 10)), "no labelled positives"),
        (((5, 10), (9, 10), (0, 0)), "no labelled negatives"),
        (((5, 10), (6, 10), (5, 10)), "sensitivity + specificity - 1 is 0.1, below 0.2: the judge tells too little"),
        (((5, 10), (1, 10), (2, 10)), "sensitivity + specificity - 1 is -0.7, below 0.2: the judge tells too little"),
    ],
)
def test_a_correction_that_cannot_be_is_refused(counted, reason):
    found = rogan_gladen(*counted, excluded=3)
    assert (found.estimate.estimate, found.unclipped, found.standard_error, found.reason) == (None, None, None, reason)
    assert (found.estimate.reason, found.estimate.excluded) == (reason, 3)


def test_no_spread_has_no_interval_but_the_adjusted_one():
    counted = ((100, 100), (50, 50), (50, 50))
    assert (
        rogan_gladen(*counted, interval="delta").reason
        == "no answer differs, so that no spread is known; the adjusted interval has one"
    )
    found = rogan_gladen(*counted).estimate
    assert 0.9 < found.low < found.high == 1.0


def test_the_method_names_draws_and_seed():
    found = rogan_gladen((50, 100), (45, 50), (45, 50), interval="bootstrap", resamples=200, seed=7)
    assert found.estimate.method == "rogan-gladen, bootstrap 0.95, 200 draws, seed 7"
    assert found == rogan_gladen((50, 100), (45, 50), (45, 50), interval="bootstrap", resamples=200, seed=7)


def test_draws_with_a_judge_no_better_than_chance_are_counted():
    found = rogan_gladen((50, 100), (4, 5), (2, 4), interval="bootstrap", resamples=500).estimate
    assert (found.low is None) or "draws have a judge no better than chance" in found.reason


@pytest.mark.parametrize("interval", INTERVALS)
def test_it_covers_as_it_says(interval):
    dice, held = random.Random(4), 0

    def share(n, p):
        return sum(dice.random() < p for _ in range(n)), n

    for _ in range(300):
        judged = share(300, 0.7 * 0.9 + 0.3 * 0.15)
        found = rogan_gladen(judged, share(60, 0.9), share(60, 0.85), interval=interval, resamples=200).estimate
        held += found.low <= 0.7 <= found.high
    assert 0.92 <= held / 300 <= 0.985


def test_with_few_errors_seen_only_the_adjusted_interval_covers():
    dice, held = random.Random(8), dict.fromkeys(INTERVALS, 0)

    def share(n, p):
        return sum(dice.random() < p for _ in range(n)), n

    for _ in range(300):
        counted = share(400, 0.9 * 0.95 + 0.1 * 0.2), share(30, 0.95), share(30, 0.8)
        for interval in INTERVALS:
            found = rogan_gladen(*counted, interval=interval, resamples=200).estimate
            held[interval] += found.low is not None and found.low <= 0.9 <= found.high
    assert held["adjusted"] / 300 >= 0.93
    assert max(held["delta"], held["bootstrap"]) / 300 < 0.9


@pytest.mark.parametrize("counted", [((11, 10), (1, 1), (1, 1)), ((1, 10), (-1, 1), (1, 1)), ((1, 10), (1, 1), (2, 1))])
def test_counts_that_cannot_be_are_refused(counted):
    with pytest.raises(ConfigError):
        rogan_gladen(*counted)
    with pytest.raises(ConfigError, match="at least one draw"):
        rogan_gladen((1, 2), (2, 2), (2, 2), resamples=0)


@untimed
@given(counts(), counts(), counts(), st.sampled_from(["delta", "bootstrap"]))
def test_a_higher_confidence_has_an_interval_around_the_lower_one(judged, caught, cleared, interval):
    narrow, wide = (
        rogan_gladen(judged, caught, cleared, interval=interval, resamples=30, confidence=level).estimate
        for level in (0.8, 0.95)
    )
    if narrow.low is not None and wide.low is not None:
        assert wide.low <= narrow.low <= narrow.high <= wide.high

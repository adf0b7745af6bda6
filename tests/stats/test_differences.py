"""How far scores lie apart: references, limits of agreement, and their edges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_making import untimed

from rightcall.errors import ConfigError
from rightcall.stats.agreement import mean_difference, percent_agreement, within_one
from rightcall.stats.differences import bland_altman, mean_absolute_difference

HUMAN = [1, 2, 2, 3, 4, 4, 5, 5, 3, 2, 1, 4]
JUDGE = [1, 2, 3, 3, 4, 5, 5, 4, 3, 1, 2, 4]
PAIRS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=2, max_size=30)


def scored():
    return list(zip(JUDGE, HUMAN, strict=True))


def test_reference_differences_and_agreements():
    """R22: mean absolute difference, bias, the same score, at most 1 apart."""
    found = [figure(scored()) for figure in (mean_absolute_difference, mean_difference, percent_agreement, within_one)]
    assert [one.estimate for one in found] == pytest.approx(
        [0.4166666666666667, 0.08333333333333333, 0.5833333333333334, 1.0], abs=1e-12
    )
    assert all(one.low < one.high and one.low <= one.estimate <= one.high for one in found)


def test_limits_of_agreement_by_hand():
    found = bland_altman([(3, 2), (4, 4), (2, 3), (5, 3), (4, 4)])
    assert (found.bias.estimate, found.deviation) == pytest.approx((0.4, 1.3**0.5))
    assert (found.lower.estimate, found.upper.estimate) == pytest.approx((0.4 - 1.959964 * 1.3**0.5, 0.4 + 1.959964 * 1.3**0.5), abs=1e-5)  # fmt: skip
    assert found.lower.method == "limits of 0.95, t 0.95"


def test_the_limits_hold_their_share_and_their_intervals_the_truth():
    """Of 300 samples of 60 normal differences, the interval of the upper limit holds it about 95 times in 100."""
    drawn = np.random.default_rng(2).normal(0.3, 0.5, (300, 60))
    held = 0
    for sample in drawn:
        found = bland_altman([(float(value), 0.0) for value in sample], scale=(-9, 9))
        held += found.upper.low <= 0.3 + 1.959964 * 0.5 <= found.upper.high
    assert held / 300 > 0.925


@untimed
@given(PAIRS)
def test_turning_the_raters_around_turns_the_limits_around(pairs):
    found, back = bland_altman(pairs), bland_altman([(second, first) for first, second in pairs])
    assert (found.lower.estimate, found.upper.estimate) == pytest.approx((-back.upper.estimate, -back.lower.estimate))
    if found.lower.low is not None:
        assert (found.lower.low, found.lower.high) == pytest.approx((-back.upper.high, -back.upper.low))
        assert found.lower.low < found.lower.estimate < found.lower.high


def test_items_of_one_case_are_not_independent():
    pairs = [pair for pair in scored() for _ in range(4)]
    cases = [case for case in range(12) for _ in range(4)]
    plain, clustered = bland_altman(pairs).upper, bland_altman(pairs, clusters=cases).upper
    assert clustered.estimate == plain.estimate
    assert clustered.high - clustered.low > 1.5 * (plain.high - plain.low)
    assert clustered.method == "limits of 0.95, t 0.95, clustered in 12 cases"
    wide = mean_absolute_difference(pairs, clusters=cases)
    assert wide.high - wide.low > 1.5 * (mean_absolute_difference(pairs).high - mean_absolute_difference(pairs).low)


def test_where_there_are_no_limits_or_no_interval_the_reason_says_so():
    nothing, one = bland_altman([], excluded=2), bland_altman([(1, 2)])
    assert (nothing.upper.estimate, nothing.upper.reason, nothing.upper.excluded) == (None, "nothing was evaluated", 2)
    assert (one.upper.estimate, one.upper.reason, one.deviation) == (None, "one item has no limits", None)
    equal = bland_altman([(2, 1), (3, 2), (5, 4)])
    assert (equal.upper.estimate, equal.upper.low) == (1, None)
    assert equal.upper.reason == "all differences are equal, which tells of no interval"
    alone = bland_altman(scored(), clusters=["t"] * 12)
    assert (alone.upper.low, alone.upper.reason) == (None, "the items of one case have no interval")


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: bland_altman([(0, 3)]),
        lambda: bland_altman([(1, 3)], share=1),
        lambda: bland_altman([(1, 3)], clusters=[1, 2]),
        lambda: mean_absolute_difference([(1, 6)]),
        lambda: mean_absolute_difference([(1, float("nan"))]),
        lambda: mean_absolute_difference([(1, 2)], clusters=[]),
    ],
)
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(ConfigError) as caught:
        wrong()
    assert caught.value.code == "STAT_VALUE_INVALID"

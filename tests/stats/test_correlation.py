"""Rank correlations with ties: references, definitions, and where they are undefined."""

from itertools import combinations
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_making import untimed

from rightcall.errors import ConfigError
from rightcall.stats import correlation
from rightcall.stats.correlation import kendall, spearman

HUMAN = [1, 2, 2, 3, 4, 4, 5, 5, 3, 2, 1, 4]
JUDGE = [1, 2, 3, 3, 4, 5, 5, 4, 3, 1, 2, 4]
PAIRS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=30)
BOTH = pytest.mark.parametrize("figure", [spearman, kendall])


def scored():
    return list(zip(JUDGE, HUMAN, strict=True))


@pytest.mark.parametrize(
    ("id_", "figure", "expected"),
    [("R20", spearman, 0.8999999999999999), ("R21", kendall, 0.8070175438596491)],
)
def test_reference_values(id_, figure, expected):
    found = figure(scored())
    assert found.estimate == pytest.approx(expected, abs=1e-12), id_
    assert found.low < found.estimate < found.high <= 1
    assert (found.n, found.method.split(",")[1:]) == (12, [" bootstrap 0.95", " 12 cases", " 2000 draws", " seed 0"])


def mid_ranks(scores):
    return [sum(other < score for other in scores) + scores.count(score) / 2 for score in scores]


@untimed
@given(PAIRS)
def test_rho_is_the_correlation_of_mid_ranks(pairs):
    first, second = (mid_ranks([pair[side] for pair in pairs]) for side in (0, 1))
    middle = len(pairs) / 2
    scale = sqrt(sum((x - middle) ** 2 for x in first) * sum((y - middle) ** 2 for y in second))
    found = spearman(pairs, resamples=1).estimate
    if scale == 0:
        assert found is None
    else:
        assert found == pytest.approx(sum((x - middle) * (y - middle) for x, y in zip(first, second, strict=True)) / scale)  # fmt: skip


@untimed
@given(PAIRS)
def test_tau_counts_pairs_of_items(pairs):
    signs = [((a > c) - (a < c), (b > d) - (b < d)) for (a, b), (c, d) in combinations(pairs, 2)]
    scale = sqrt(sum(x != 0 for x, _ in signs) * sum(y != 0 for _, y in signs))
    found = kendall(pairs, resamples=1).estimate
    assert found is None if scale == 0 else found == pytest.approx(sum(x * y for x, y in signs) / scale)


@untimed
@given(PAIRS)
def test_both_turn_around_with_the_scale_and_stay_with_the_raters(pairs):
    for figure in (spearman, kendall):
        found = figure(pairs, resamples=1).estimate
        swapped = figure([(b, a) for a, b in pairs], resamples=1).estimate
        turned = figure([(-a, b) for a, b in pairs], resamples=1).estimate
        if found is None:
            assert swapped is turned is None
        else:
            assert (swapped, turned) == pytest.approx((found, -found))


@BOTH
def test_only_the_order_of_scores_matters(figure):
    """A judge that is always milder has the same order, and the same interval."""
    found = figure(scored(), resamples=200)
    assert figure([(judge**3 + 7, human) for judge, human in scored()], resamples=200) == found


@BOTH
def test_items_of_one_case_are_not_independent(figure):
    pairs = [pair for pair in scored() for _ in range(4)]
    cases = [case for case in range(12) for _ in range(4)]
    plain, clustered = figure(pairs), figure(pairs, clusters=cases)
    assert plain.estimate == clustered.estimate
    assert clustered.high - clustered.low > 1.5 * (plain.high - plain.low)


@BOTH
def test_where_there_is_no_figure_or_no_interval_the_reason_says_so(figure):
    constant = figure([(3, score) for score in HUMAN], excluded=2)
    assert (constant.estimate, constant.n, constant.excluded) == (None, 12, 2)
    assert constant.reason == "one of the two gave the same score throughout"
    assert figure([]).reason == "nothing was evaluated"
    assert figure([(1, 2)]).reason == "one item has no order"
    perfect = figure([(score, score) for score in range(40)])
    assert (perfect.estimate, perfect.low) == (1, None)
    assert perfect.reason == "every resample gives the same value, so they tell of no interval"
    one = figure(scored(), clusters=["t"] * 12)
    assert (one.low, one.reason) == (None, "the items of one case have no interval")


@BOTH
def test_too_many_different_pairs_have_no_interval(figure, monkeypatch):
    monkeypatch.setattr(correlation, "_CELLS", 50)
    found = figure(scored())
    assert (found.low, found.reason) == (None, "no interval is made of 10 different pairs of scores in 12 cases")
    assert found.estimate is not None


@BOTH
@pytest.mark.parametrize(("pairs", "clusters"), [([(1, float("inf"))], None), ([(1, 2)], [1, 2])])
def test_what_cannot_be_is_refused(figure, pairs, clusters):
    with pytest.raises(ConfigError) as caught:
        figure(pairs, clusters=clusters)
    assert caught.value.code == "STAT_VALUE_INVALID"

"""Adjusted p-values: references, and what they promise."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_making import untimed

from rightcall.errors import ConfigError
from rightcall.stats.multiple import benjamini_hochberg, holm

P = [0.001, 0.01, 0.02, 0.03, 0.04, 0.2, 0.5, 0.9]
SOME = st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=12)
BOTH = pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])


def test_reference_values_of_benjamini_and_hochberg():
    """R111."""
    expected = [0.008, 0.04, 0.05333333333333334, 0.06, 0.064, 0.26666666666666666, 0.5714285714285714, 0.9]
    assert benjamini_hochberg(P) == pytest.approx(expected, abs=1e-12)


def test_reference_values_of_holm():
    """R112."""
    assert holm(P) == pytest.approx([0.008, 0.07, 0.12, 0.15, 0.16, 0.6, 1, 1], abs=1e-12)


@BOTH
@untimed
@given(values=SOME, dice=st.randoms())
def test_the_sequence_does_not_matter_and_the_order_is_kept(adjust, values, dice):
    found = adjust(values)
    places = dice.sample(range(len(values)), len(values))
    assert adjust([values[place] for place in places]) == [found[place] for place in places]
    told = sorted((p, q) for p, q in zip(values, found, strict=True) if p is not None)
    assert [q for _, q in told] == sorted(q for _, q in told)


@untimed
@given(SOME)
def test_holm_lies_between_benjamini_and_bonferroni(values):
    m = sum(p is not None for p in values)
    for p, strict, mild in zip(values, holm(values), benjamini_hochberg(values), strict=True):
        if p is None:
            assert strict is mild is None
        else:
            assert p <= mild + 1e-15 <= strict + 2e-15 <= min(1, m * p) + 3e-15 or mild == strict


@untimed
@given(SOME.filter(lambda values: None not in values), st.sampled_from([0.01, 0.05, 0.2]))
def test_benjamini_and_hochberg_reject_by_their_step_up_rule(values, level):
    ordered = sorted(values)
    # The comparison is made as the adjusted value makes it, so that rounding is the same.
    passing = [j for j, p in enumerate(ordered, 1) if p * len(values) / j <= level]
    assert sum(q <= level for q in benjamini_hochberg(values)) == (max(passing) if passing else 0)


@BOTH
def test_missing_tests_are_not_counted(adjust):
    assert adjust([None, 0.02, None]) == [None, 0.02, None]
    assert adjust([]) == []


@BOTH
@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan")])
def test_what_is_no_p_is_refused(adjust, p):
    with pytest.raises(ConfigError) as caught:
        adjust([p])
    assert caught.value.code == "STAT_VALUE_INVALID"

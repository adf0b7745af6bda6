"""Intervals of proportions, against reference values and against their own definition."""

from __future__ import annotations

from itertools import pairwise
from math import comb, isclose, sqrt
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_making import by_id, needs_reference, rows, untimed

from rightcall.errors import ConfigError
from rightcall.stats.intervals import Estimate, chance_of_passing, clopper_pearson, needed_without_error, wilson


@st.composite
def _counts(draw: st.DrawFn) -> tuple[int, int]:
    n = draw(st.integers(1, 5000))
    return draw(st.integers(0, n)), n


@needs_reference
@pytest.mark.parametrize("row", rows("Wilson 95% CI "), ids=by_id)
def test_reference_values(row):
    found = wilson(row["input"]["k"], row["input"]["n"], confidence=row["parameters"]["conf"])
    assert (found.low, found.high) == pytest.approx(tuple(row["expected"]), abs=row["tolerance"])


@needs_reference
@pytest.mark.parametrize("sided", [1, 2])
def test_reference_numbers_of_cases_that_show_0_98(sided):
    """How many cases it takes until the lower bound is 0.98, with 0 to 5 errors."""
    (row,) = rows(f"min n so that the {sided}-sided 95% Wilson")
    confidence = 0.95 if sided == 2 else 0.90
    for mistakes, n in zip(row["input"]["errors"], row["expected"], strict=True):
        enough, too_few = (wilson(int(size) - mistakes, int(size), confidence=confidence) for size in (n, n - 1))
        assert enough.low >= 0.98 > too_few.low


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        # R. G. Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_published_values(successes, n, low, high):
    found = wilson(successes, n)
    assert (round(found.low, 4), round(found.high, 4)) == (low, high)


def test_the_share_of_nothing_is_undefined_with_a_reason():
    found = wilson(0, 0, excluded=3)
    assert (found.estimate, found.low, found.high, found.n, found.excluded) == (None, None, None, 0, 3)
    assert found.reason == "nothing was evaluated"


def test_an_estimate_says_how_it_was_made():
    assert wilson(1, 2) == Estimate(
        estimate=0.5, low=pytest.approx(0.0945, abs=1e-4), high=pytest.approx(0.9055, abs=1e-4), n=2, method="wilson 0.95"
    )  # fmt: skip
    assert wilson(1, 2, confidence=0.9).method == "wilson 0.9"
    assert wilson(1, 2, excluded=4).excluded == 4


@untimed
@given(_counts())
def test_the_interval_lies_in_0_1_around_the_estimate(counts):
    successes, n = counts
    found = wilson(successes, n)
    assert 0 <= found.low <= found.estimate <= found.high <= 1
    assert (found.low == 0) == (successes == 0)
    assert (found.high == 1) == (successes == n)


@untimed
@given(_counts())
def test_each_bound_is_where_the_score_test_just_says_no(counts):
    """The definition: |p - share| = z √(share (1 - share) / n) at both ends."""
    successes, n = counts
    found, z = wilson(successes, n), NormalDist().inv_cdf(0.975)
    for bound in (found.low, found.high):
        assert isclose(abs(found.estimate - bound), z * sqrt(bound * (1 - bound) / n), abs_tol=1e-9)


@untimed
@given(_counts())
def test_success_and_failure_mirror_each_other(counts):
    successes, n = counts
    found, mirrored = wilson(successes, n), wilson(n - successes, n)
    assert found.low == pytest.approx(1 - mirrored.high, abs=1e-12)
    assert found.high == pytest.approx(1 - mirrored.low, abs=1e-12)


@untimed
@given(_counts())
def test_more_confidence_is_wider_and_more_cases_are_narrower(counts):
    successes, n = counts
    narrow, wide, more = wilson(successes, n), wilson(successes, n, confidence=0.99), wilson(4 * successes, 4 * n)
    assert wide.low <= narrow.low <= more.low
    assert more.high <= narrow.high <= wide.high


# ---- Clopper and Pearson ----


@pytest.mark.parametrize(
    ("id_", "successes", "n", "low", "high"),
    [
        ("R26", 81, 263, 0.25273674558527126, 0.36762192260135135),
        ("R28", 15, 148, 0.05784401008344857, 0.161650490349479),
        ("R30", 0, 20, 0.0, 0.1684334709830853),
        ("R32", 1, 29, 0.000872646883579922, 0.1776442954887229),
    ],
)
def test_the_exact_interval_has_its_known_values(id_, successes, n, low, high):
    found = clopper_pearson(successes, n)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9), id_


@needs_reference
@pytest.mark.parametrize("row", rows("Clopper-Pearson 95% CI "), ids=by_id)
def test_exact_reference_values(row):
    found = clopper_pearson(row["input"]["k"], row["input"]["n"], confidence=row["parameters"]["conf"])
    assert (found.low, found.high) == pytest.approx(tuple(row["expected"]), abs=row["tolerance"])


@needs_reference
@pytest.mark.parametrize("sided", [1, 2])
def test_reference_numbers_of_cases_that_show_a_share_exactly(sided):
    (row,) = rows(f"min n so that the {sided}-sided 95% Clopper-Pearson lower bound")
    threshold, confidence = row["parameters"]["threshold"], 0.95 if sided == 1 else 0.975
    found = [needed_without_error(threshold, errors, confidence) for errors in row["input"]["errors"]]
    assert found == pytest.approx(row["expected"], abs=row["tolerance"])


@needs_reference
@pytest.mark.parametrize("row", rows("P(point-estimate gate"), ids=by_id)
def test_reference_chances_of_a_gate_on_the_point(row):
    found = chance_of_passing(row["input"]["p"], row["input"]["n"], row["parameters"]["threshold"])
    assert found == pytest.approx(row["expected"], abs=row["tolerance"])


def test_0_98_needs_149_cases_without_an_error_and_236_with_one():
    assert [needed_without_error(0.98, errors) for errors in range(6)] == [149, 236, 313, 386, 456, 523]
    assert needed_without_error(0.5, 0) == 5  # one half to the fifth is 1 in 32


def test_a_bound_of_one_side_spends_the_whole_error_there():
    lower, upper, both = (clopper_pearson(148, 150, sided=sided) for sided in ("lower", "upper", "two"))
    assert (lower.high, upper.low) == (1.0, 0.0)
    assert (lower.low, upper.high) == pytest.approx((clopper_pearson(148, 150, confidence=0.9).low, clopper_pearson(148, 150, confidence=0.9).high))  # fmt: skip
    assert both.low < lower.low
    assert both.high > upper.high
    assert (lower.method, both.method) == ("clopper-pearson 0.95 lower", "clopper-pearson 0.95")


def test_the_exact_share_of_nothing_is_undefined_with_a_reason():
    found = clopper_pearson(0, 0, excluded=2)
    assert (found.estimate, found.low, found.high, found.excluded, found.reason) == (None, None, None, 2, "nothing was evaluated")  # fmt: skip


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: clopper_pearson(3, 2),
        lambda: clopper_pearson(-1, 2),
        lambda: clopper_pearson(1, 2, confidence=1),
        lambda: needed_without_error(1.0),
        lambda: needed_without_error(0.0),
        lambda: needed_without_error(0.9, -1),
        lambda: needed_without_error(0.9, 0, 0),
        lambda: chance_of_passing(1.5, 10, 0.9),
        lambda: chance_of_passing(0.5, -1, 0.9),
    ],
)
def test_numbers_that_cannot_be_are_refused(wrong):
    with pytest.raises(ConfigError) as caught:
        wrong()
    assert caught.value.code == "STAT_VALUE_INVALID"


@untimed
@given(_counts())
def test_the_exact_interval_lies_in_0_1_around_the_estimate(counts):
    found = clopper_pearson(*counts)
    assert 0 <= found.low <= found.estimate <= found.high <= 1
    assert (found.low == 0) == (counts[0] == 0)
    assert (found.high == 1) == (counts[0] == counts[1])


@untimed
@given(_counts())
def test_more_confidence_contains_less(counts):
    intervals = [clopper_pearson(*counts, confidence=level) for level in (0.5, 0.9, 0.95, 0.999)]
    for inner, outer in pairwise(intervals):
        assert outer.low <= inner.low <= inner.high <= outer.high


@untimed
@given(_counts())
def test_exact_bounds_of_success_and_failure_mirror_each_other(counts):
    successes, n = counts
    found, mirrored = clopper_pearson(successes, n), clopper_pearson(n - successes, n)
    assert found.low == pytest.approx(1 - mirrored.high, abs=1e-9)
    assert found.high == pytest.approx(1 - mirrored.low, abs=1e-9)


@pytest.mark.parametrize(("successes", "n"), [(3, 10), (0, 7), (58, 60), (1, 2)])
def test_each_exact_bound_leaves_half_the_error_in_the_binomial_tail(successes, n):
    found = clopper_pearson(successes, n)
    if successes:
        assert tail(n, found.low, range(successes, n + 1)) == pytest.approx(0.025, abs=1e-9)
    assert tail(n, found.high, range(successes + 1)) == pytest.approx(0.025, abs=1e-9)


def tail(n, share, values):
    return sum(comb(n, k) * share**k * (1 - share) ** (n - k) for k in values)


@untimed
@given(st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.98, 0.99]), st.integers(0, 8), st.sampled_from([0.8, 0.95, 0.99]))
def test_the_needed_number_is_the_first_that_reaches_the_threshold(threshold, errors, confidence):
    n = needed_without_error(threshold, errors, confidence)
    bounds = [clopper_pearson(size - errors, size, confidence=confidence, sided="lower").low for size in (n, n - 1)]
    assert bounds[0] >= threshold - 1e-12
    assert n - 1 == errors or bounds[1] < threshold


def test_a_threshold_counts_as_it_is_written():
    """0.29 of 100 is 29, although the nearest binary number is a little more."""
    assert chance_of_passing(0.29, 100, 0.29) == pytest.approx(tail(100, 0.29, range(29, 101)))
    assert chance_of_passing(0.5, 10, 0.0) == 1.0
    assert chance_of_passing(0.5, 10, 1.1) == 0.0
    assert chance_of_passing(0.5, 10, 1.0) == pytest.approx(0.5**10)

"""Intervals of proportions, against reference values and against their own definition."""

from __future__ import annotations

import json
from math import isclose, sqrt
from pathlib import Path
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.stats.intervals import Estimate, wilson

REFERENCE = Path(__file__).parents[3] / "shared" / "stats" / "reference.json"


@st.composite
def _counts(draw: st.DrawFn) -> tuple[int, int]:
    n = draw(st.integers(1, 5000))
    return draw(st.integers(0, n)), n


def references() -> list[dict]:
    if not REFERENCE.is_file():
        return []
    rows = json.loads(REFERENCE.read_text())
    return [row for row in rows if row["statistic"].startswith("Wilson 95% CI ") and "k" in row["input"]]


@pytest.mark.skipif(
    not REFERENCE.is_file(), reason="needs the reference values in ../shared, which are not part of the repository"
)
@pytest.mark.parametrize("row", references(), ids=lambda row: row["id"])
def test_reference_values(row):
    found = wilson(row["input"]["k"], row["input"]["n"], confidence=row["parameters"]["conf"])
    assert (found.low, found.high) == pytest.approx(tuple(row["expected"]), abs=row["tolerance"])


@pytest.mark.skipif(
    not REFERENCE.is_file(), reason="needs the reference values in ../shared, which are not part of the repository"
)
@pytest.mark.parametrize("sided", [1, 2])
def test_reference_numbers_of_cases_that_show_0_98(sided):
    """How many cases it takes until the lower bound is 0.98, with 0 to 5 errors."""
    rows = json.loads(REFERENCE.read_text())
    row = next(r for r in rows if r["statistic"].startswith(f"min n so that the {sided}-sided 95% Wilson"))
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


@given(_counts())
def test_the_interval_lies_in_0_1_around_the_estimate(counts):
    successes, n = counts
    found = wilson(successes, n)
    assert 0 <= found.low <= found.estimate <= found.high <= 1
    assert (found.low == 0) == (successes == 0)
    assert (found.high == 1) == (successes == n)


@given(_counts())
def test_each_bound_is_where_the_score_test_just_says_no(counts):
    """The definition: |p - share| = z √(share (1 - share) / n) at both ends."""
    successes, n = counts
    found, z = wilson(successes, n), NormalDist().inv_cdf(0.975)
    for bound in (found.low, found.high):
        assert isclose(abs(found.estimate - bound), z * sqrt(bound * (1 - bound) / n), abs_tol=1e-9)


@given(_counts())
def test_success_and_failure_mirror_each_other(counts):
    successes, n = counts
    found, mirrored = wilson(successes, n), wilson(n - successes, n)
    assert found.low == pytest.approx(1 - mirrored.high, abs=1e-12)
    assert found.high == pytest.approx(1 - mirrored.low, abs=1e-12)


@given(_counts())
def test_more_confidence_is_wider_and_more_cases_are_narrower(counts):
    successes, n = counts
    narrow, wide, more = wilson(successes, n), wilson(successes, n, confidence=0.99), wilson(4 * successes, 4 * n)
    assert wide.low <= narrow.low <= more.low
    assert more.high <= narrow.high <= wide.high

"""The exact sign test, its power and the numbers of pairs, against references, scipy and their own definitions."""

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_making import ROWS, by_id, needs_reference, rows, untimed

from rightcall.errors import ConfigError
from rightcall.stats.sign_test import decisive_needed, detectable, sign_test, sign_test_power

COUNTS = st.tuples(st.integers(0, 300), st.integers(0, 300))


@needs_reference
@pytest.mark.parametrize("id_", ["R53", "R59", "R60"])
def test_reference_values_of_the_test(id_):
    row = ROWS[id_]
    counts = {"R53": (30, 15), "R59": (212, 335 - 212), "R60": (37, 7)}[id_]
    expected = row["expected"][-1] if isinstance(row["expected"], list) else row["expected"]
    assert sign_test(*counts) == pytest.approx(expected, abs=row["tolerance"])


@needs_reference
@pytest.mark.parametrize("row", rows("power of the exact two-sided sign test"), ids=by_id)
def test_reference_values_of_the_power(row):
    found = sign_test_power(row["input"]["n"], row["input"]["p"], row["parameters"]["alpha"])
    assert found == pytest.approx(row["expected"], abs=row["tolerance"])


@needs_reference
def test_reference_numbers_of_pairs():
    row = ROWS["R86"]
    assert [decisive_needed(p) for p in row["input"]["p"]] == row["expected"]


@untimed
@given(COUNTS)
def test_it_is_scipys(counts):
    from scipy.stats import binomtest

    wins, losses = counts
    if wins + losses:
        assert sign_test(wins, losses) == pytest.approx(binomtest(wins, wins + losses).pvalue, rel=1e-9)


@untimed
@given(COUNTS)
def test_wins_and_losses_are_alike_to_it(counts):
    assert sign_test(*counts) == sign_test(*reversed(counts))


@untimed
@given(st.integers(0, 200), st.integers(0, 200))
def test_the_further_apart_the_smaller_is_p(few, more):
    n = 2 * max(few, more)
    if few < more <= n // 2 and n:
        assert sign_test(few, n - few) <= sign_test(more, n - more) <= 1


def test_without_a_decisive_pair_there_is_no_p():
    assert sign_test(0, 0) is None
    assert sign_test(3, 3) == 1


def test_counts_of_any_size_have_a_p():
    assert sign_test(10**10, 10**10) == 1
    assert sign_test(0, 10**7) == 0
    assert 0 < sign_test(5 * 10**9 - 10**5, 5 * 10**9 + 10**5) < 0.05


@pytest.mark.parametrize(("n", "p"), [(5, 0.9), (6, 1.0), (12, 0.7), (30, 0.35), (41, 0.5)])
def test_the_power_is_the_sum_over_results_that_show_a_difference(n, p):
    shows = [k for k in range(n + 1) if sign_test(k, n - k) < 0.05]
    assert sign_test_power(n, p) == pytest.approx(sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in shows), abs=1e-12)


@untimed
@given(st.integers(0, 400), st.sampled_from([0.01, 0.05, 0.2]))
def test_where_there_is_no_difference_it_finds_one_no_more_often_than_alpha(n, alpha):
    assert sign_test_power(n, 0.5, alpha) <= alpha


@pytest.mark.parametrize("p", [0.55, 0.6, 0.65, 0.7, 0.8, 0.95, 1.0])
def test_the_exact_number_of_pairs_has_the_power_and_is_no_smaller(p):
    n = decisive_needed(p, exact=True)
    assert sign_test_power(n, p) >= 0.8
    assert decisive_needed(p) <= n <= decisive_needed(p) + 20
    assert n == decisive_needed(1 - p, exact=True) if p < 1 else n == 6


def test_no_fewer_pairs_are_needed_than_can_show_anything():
    assert decisive_needed(1.0) == 6  # five wins in five have p = 0.0625
    assert decisive_needed(0.0, alpha=0.01) == 8


@pytest.mark.parametrize("n", [6, 20, 45, 200, 1000])
def test_what_is_detectable_is_where_the_power_is_reached(n):
    found = detectable(n)
    assert sign_test_power(n, found) >= 0.8 > sign_test_power(n, found - 1e-6)


def test_more_pairs_detect_less():
    found = [detectable(n) for n in (6, 20, 50, 200, 2000)]
    assert found == sorted(found, reverse=True)
    assert detectable(5) is None
    assert detectable(0) is None


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: sign_test(-1, 2),
        lambda: sign_test_power(-1, 0.5),
        lambda: sign_test_power(5, 1.5),
        lambda: decisive_needed(0.5),
        lambda: decisive_needed(0.6, power=1),
        lambda: decisive_needed(0.6, alpha=0),
        lambda: detectable(10, power=0),
    ],
)
def test_numbers_that_cannot_be_are_refused(wrong):
    with pytest.raises(ConfigError) as caught:
        wrong()
    assert caught.value.code == "STAT_VALUE_INVALID"

"""Figures in words: digits enough, and nothing left away."""

from __future__ import annotations

from math import nextafter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.report.html.numbers import digits_for, exact, number, p_value, shown, whole
from rightcall.stats.intervals import Estimate, undefined, wilson

SHARES = st.floats(0, 1)


def read(text):
    return float(text.replace("−", "-").replace(",", ""))


@given(value=SHARES, threshold=st.sampled_from([0.98, 0.9, 0.5, 0.123456789]) | SHARES)
def test_a_figure_that_is_not_the_threshold_is_never_written_as_it(value, threshold):
    text = number(value, 3, [threshold, 0.0, 1.0])
    for mark in (threshold, 0.0, 1.0):
        if value != mark:
            assert text != number(mark, 3) or read(text) != mark
            assert ((read(text) < mark), (read(text) > mark)) == (value < mark, value > mark)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.97, "0.970"), (0.9799, "0.9799"), (0.97999, "0.97999"), (0.98, "0.980"), (nextafter(0.98, 0), "0.9799999999999999")],
)  # fmt: skip
def test_as_many_digits_as_tell_it_from_the_threshold(value, text):
    assert number(value, 3, [0.98]) == text


def test_nearly_all_is_not_all_and_hardly_any_is_not_none():
    assert shown(wilson(99_999, 100_000)).value == "0.99999"
    assert shown(wilson(1, 100_000)).value == "0.00001"
    assert shown(wilson(100, 100)).value == "1.000"


def test_an_estimate_keeps_interval_n_method_and_what_is_left_out():
    words = shown(wilson(180, 185, excluded=1200))
    assert (words.value, words.interval, words.n, words.method) == ("0.973", "0.938 – 0.988", "185", "wilson 0.95")
    assert (words.low, words.high, words.excluded, words.reason) == ("0.938", "0.988", "1,200", "")


def test_what_is_undefined_is_a_dash_with_its_reason_never_a_number():
    words = shown(undefined("kappa", "one label only", n=6))
    assert (words.value, words.interval, words.low, words.n, words.reason) == ("–", "–", "", "6", "one label only")
    assert shown(Estimate(estimate=None, low=None, high=None, n=0, method="m")).reason == "no value"


def test_an_interval_that_is_open_at_one_end_says_so():
    words = shown(Estimate(estimate=0.5, low=0.4, high=None, n=9, method="m"))
    assert (words.interval, words.high) == ("0.400 – –", "")


def test_counts_have_no_decimals_and_levels_two():
    count = Estimate(estimate=3.0, low=None, high=None, n=1000, method="count")
    assert shown(count, 0.0).value == "3"
    assert shown(Estimate(estimate=4.0, low=3.9, high=4.6, n=40, method="m"), None, (1, 5)).value == "4.00"
    assert [digits_for((0, span)) for span in (1, 4, 100, 5000)] == [3, 2, 1, 0]


def test_signs_thousands_and_small_p():
    assert [number(-0.01), number(-0.0), number(-0.0001), number(None)] == ["−0.010", "0.000", "0.000", "–"]
    assert number(12345.6, 1) == "12,345.6"
    assert [exact(0.98), exact(3.0), exact(-0.02), exact(-3.0), exact(2)] == ["0.98", "3", "−0.02", "−3", "2"]
    assert [p_value(None), p_value(0.0004), p_value(0.0296)] == ["–", "< 0.001", "0.030"]
    assert whole(1234567) == "1,234,567"

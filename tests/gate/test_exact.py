"""Numbers as they are written."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rightcall.gate.exact import exact, exact_sum


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        (0.98, Fraction(98, 100)),
        (1 / 3, Fraction(1, 3)),
        (2 / 7, Fraction(2, 7)),
        (1, Fraction(1)),
        (0.123456789012, Fraction(123456789012, 10**12)),
    ],
)
def test_a_float_is_the_fraction_that_it_was_written_for(value, meant):
    assert exact(value) == meant


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), max_size=30), st.randoms())
def test_a_sum_does_not_depend_on_the_sequence(values, dice):
    mixed = list(values)
    dice.shuffle(mixed)
    assert exact_sum(mixed) == exact_sum(values)


def test_thirds_and_sixths_add_up():
    assert exact_sum([1 / 3, 2 / 3, 1 / 6, 5 / 6]) == 2


@settings(deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 10_000))
def test_every_small_fraction_is_found_again(k, n):
    assert exact(k / n) == Fraction(k, n)

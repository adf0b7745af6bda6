"""How figures are shown."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rightcall.gate.words import beside, figure, interval, listed
from rightcall.stats.intervals import wilson


@pytest.mark.parametrize(
    ("value", "limit", "shown"),
    [
        (195 / 199, 0.98, "0.9799"),
        (0.98, 0.98, "0.980"),
        (0.97999999, 0.98, "0.97999999"),
        (0.9996, 0.98, "0.9996"),
        (1.0, 0.98, "1.000"),
        (0.0001, None, "0.0001"),
        (None, 0.98, "–"),
    ],
)
def test_a_number_that_misses_a_limit_is_never_shown_as_it(value, limit, shown):
    assert figure(value, (limit,)) == shown


@settings(deadline=None)
@given(st.floats(0, 1), st.floats(0, 1))
def test_whatever_is_shown_is_on_the_side_of_the_limit_on_which_it_is_or_not_the_limit(value, limit):
    text = figure(value, (limit,))
    assert (float(text) == limit) <= (value == limit)


def test_an_interval_is_shown_with_what_it_rests_on():
    assert interval(wilson(180, 185)) == "0.973 [0.938, 0.988] n=185"
    assert interval(wilson(0, 0)) == "nothing was evaluated"


def test_long_lists_say_what_they_leave_out():
    assert listed(["a", "b"]) == "a, b"
    assert listed(list("abcdefg")) == "a, b, c, d, e and 2 more"


@pytest.mark.parametrize(
    ("value", "limit", "shown", "written"),
    [
        (14 / 3, 4.667, "4.6667", "4.6670"),
        (4.66661, 4.6667, "4.6666", "4.6667"),
        (0.9795, 0.9796, "0.9795", "0.9796"),
        (0.4, 0.9, "0.400", "0.9"),
        (195 / 199, 0.98, "0.9799", "0.9800"),
    ],
)
def test_a_figure_and_its_limit_stand_in_a_sentence_with_the_same_digits_where_they_are_close(
    value, limit, shown, written
):
    assert beside(value, limit) == (shown, written)
    assert float(shown) < float(written)


@settings(deadline=None)
@given(st.floats(0, 5), st.floats(0, 5))
def test_rounding_takes_no_figure_across_its_limit(value, limit):
    shown = float(figure(value, (limit,)))
    assert not (value < limit <= shown)
    assert not (value > limit >= shown)

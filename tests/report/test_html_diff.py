"""The call diff as it is shown."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from rightcall.report.html.diff import CONTEXT, MOST_LINES, SIGNS, Fold, shown_lines
from rightcall.report.view.model import CallLine

STATES = st.sampled_from(sorted(SIGNS))


def matched(number):
    return CallLine(state="matched", expected=str(number), actual=str(number))


def folded(shown):
    return sum(int(line.words.split()[0].replace(",", "")) for line in shown if isinstance(line, Fold))


@given(states=st.lists(STATES | st.just("matched"), max_size=300))
def test_every_line_is_shown_or_counted_in_its_place(states):
    lines = [CallLine(state=state, expected=str(place)) for place, state in enumerate(states)]
    shown = shown_lines(lines)
    kept = [line for line in shown if isinstance(line, CallLine)]
    assert len(kept) + folded(shown) == len(lines)
    assert len(kept) <= MOST_LINES
    assert [int(line.expected) for line in kept] == sorted(int(line.expected) for line in kept)
    assert not any(isinstance(a, Fold) and isinstance(b, Fold) for a, b in pairwise(shown))


def test_a_short_diff_is_whole():
    lines = [matched(number) for number in range(2 * CONTEXT + 4)]
    assert shown_lines(lines) == lines


def test_long_runs_of_matched_calls_are_folded_around_what_differs():
    lines = [matched(number) for number in range(5000)]
    lines[2500] = CallLine(state="wrong", expected="2500", actual="x")
    before, *middle, after = shown_lines(lines)
    assert [line.expected for line in middle] == ["2498", "2499", "2500", "2501", "2502"]
    assert before.words == "2,498 lines left out here: 2,498 matched"
    assert after.words == "2,497 lines left out here: 2,497 matched"


def test_a_matched_call_that_something_is_said_about_is_not_folded():
    lines = [matched(number) for number in range(100)]
    lines[50] = CallLine(state="matched", expected="50", actual="50", notes=("out of order",))
    assert lines[50] in shown_lines(lines)


def test_too_many_differences_are_counted_by_state():
    lines = [CallLine(state="missing", expected=str(number)) for number in range(4000)]
    *kept, rest = shown_lines(lines)
    assert len(kept) == MOST_LINES
    assert rest.words == "3,880 lines left out here: 3,880 missing"

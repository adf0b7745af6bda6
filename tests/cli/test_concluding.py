"""How a command ends: the code that wins, every cause, and what its reports say of both."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.cli.concluding import ANSWERS, End, too_few
from rightcall.cli.exits import RANK, worst


@given(codes=st.lists(st.sampled_from([1, 3, 4, 5]), max_size=5), exit_zero=st.booleans())
def test_the_worst_cause_wins_and_all_are_named(codes, exit_zero):
    end = End(tuple((code, f"cause {number}") for number, code in enumerate(codes)), exit_zero)
    assert end.code == worst(codes)
    assert end.shown == (end.code if not exit_zero else 5 if 5 in codes else 0)
    said = end.words("fine")
    assert all(f"cause {number}" in said for number in range(len(codes)))
    conclusion = end.conclusion()
    assert (conclusion.answer, conclusion.exit_code) == (ANSWERS[end.code], end.shown)
    assert [RANK.index(codes[int(cause.split()[1])]) for cause in conclusion.causes] == sorted(map(RANK.index, codes))
    assert (conclusion.taken == "--exit-zero") is (end.shown != end.code)


@pytest.mark.parametrize("exit_zero", [False, True])
def test_an_interrupt_is_130_whatever_else_there_is(exit_zero):
    end = End(((1, "2 FAIL"),), exit_zero, is_interrupted=True)
    assert (end.code, end.shown, end.conclusion().answer) == (130, 130, "INTERRUPTED")


def test_without_a_cause_it_is_fine():
    end = End(())
    assert (end.words("all passed"), end.conclusion().answer) == ("all passed · exit 0", "PASS")
    assert End(((1, "1 FAIL"),), exit_zero=True).words("") == "1 FAIL · exit 0 (would be 1)"


@pytest.mark.parametrize(
    ("evaluated", "whole", "need", "said"),
    [
        (33, 35, 0.98, "(0.943 < 0.98)"), (97_996, 100_000, 0.98, "(0.97996 < 0.98000)"), (0, 4, 0.5, "(0.000 < 0.5)"),
        (98, 100, 0.98, None), (0, 0, 0.98, None),
    ],
)  # fmt: skip
def test_too_few_verdicts_are_said_as_the_report_says_them_and_never_look_like_enough(evaluated, whole, need, said):
    found = [(code, text.partition("judged ")[2]) for code, text in too_few(evaluated, whole, need)]
    assert found == ([] if said is None else [(3, said)])

"""How a fault in a reply is told."""

import pytest

from rightcall.judge.contract import Problem
from rightcall.judge.wording import MAX_PROBLEMS, is_blank, joined, listed, shortened, shown, visible


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("PASS", "PASS"),
        ("PASS\u200b", "PASS<U+200B>"),
        ("P\u0410SS", "P<U+0410>SS"),
        ("PASS\n", "PASS<U+000A>"),
        ("\U0001f600", "<U+1F600>"),
        ("", ""),
    ],
)
def test_what_cannot_be_told_apart_by_eye_is_shown_as_a_code_point(text, seen):
    assert visible(text) == seen


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("4/5", '"4/5"'),
        (True, "true"),
        (None, "null"),
        (4.5, "4.5"),
        (7, "7"),
        (10**500, "a huge number"),
        ({"a": 1}, "an object"),
        ([1], "a list"),
        ((1,), "a list"),
    ],
)
def test_values_are_named_as_json(value, said):
    assert shown(value) == said


def test_long_texts_are_cut_before_they_are_shown():
    assert shortened("x" * 81) == "x" * 80 + "…"
    assert shortened("x" * 80) == "x" * 80


def test_paths_read_like_access():
    assert joined(joined(joined("", "a"), 2), "b") == "a[2].b"
    assert len(joined("", "k" * 10_000)) < 100


def test_many_problems_end_in_a_count():
    problems = [Problem(str(number), "is odd") for number in range(MAX_PROBLEMS + 3)]
    assert listed(problems[:MAX_PROBLEMS]) == tuple(problems[:MAX_PROBLEMS])
    assert listed(problems)[-1] == Problem("reply", "has 3 more problems")


@pytest.mark.parametrize(("text", "blank"), [("", True), (" \n\ufeff\u200d", True), (".", False), ("\u00e9", False)])
def test_blank_is_what_shows_nothing(text, blank):
    assert is_blank(text) is blank

"""What a person looks at first is the same in every run, whoever answered first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rightcall.gate.sample import SHOWN, Details

TEXTS = st.lists(st.text("abc", min_size=1, max_size=3), max_size=3 * SHOWN)


def noted(texts: list[str]) -> Details:
    found = Details()
    for text in texts:
        found.add(text, name=text[0])
    return found


@given(TEXTS, st.randoms())
def test_the_first_by_name_are_shown_in_whatever_order_they_come(texts, random):
    wanted = sorted(texts, key=lambda text: (text[0], text))[:SHOWN]
    random.shuffle(texts)
    found = noted(texts)
    assert (found.shown, found.left_out) == (wanted, len(texts) - len(wanted))


@given(TEXTS, TEXTS)
def test_two_parts_together_show_what_one_would(first, second):
    found = noted(first)
    found.extend(noted(second))
    assert (found.shown, found.number) == (noted(first + second).shown, len(first) + len(second))

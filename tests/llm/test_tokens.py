"""Counting without a tokenizer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.llm.tokens import counted, estimate_tokens, fewest_tokens, was_cut


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("", 0),
        ("  \n\t …!? ", 0),
        ("one two  three", 3),
        ('{"tool": "freeze_card", "ending": 4242}', 4),
        ("don't we'll it’s", 3),
        ("o'clock rock'n'roll", 5),
        ("取消信用卡", 1),
        ("हिन्दी में", 2),
        ("naïve nai\u0308ve", 2),
        ("\u0645\u06cc\u200c\u062e\u0648", 1),
        ("🙂🙂", 0),
    ],
)
def test_words_are_the_fewest_tokens(text, least):
    assert fewest_tokens(text) == least


@given(st.text(), st.text())
def test_a_longer_text_has_no_fewer_words_by_more_than_the_seam(left, right):
    assert fewest_tokens(f"{left} {right}") == fewest_tokens(left) + fewest_tokens(right)


@given(st.text())
def test_the_estimate_is_never_below_the_fewest(text):
    assert estimate_tokens(text) >= fewest_tokens(text)


def test_the_estimate_is_a_token_for_four_bytes_of_long_words():
    assert estimate_tokens("x" * 400) == 100
    assert estimate_tokens("a b c d e f g h i j") == 13


@pytest.mark.parametrize(
    ("reported", "cut"), [(None, False), (0, False), (89, True), (90, False), (100, False), (4000, False)]
)
def test_a_question_was_cut_if_fewer_tokens_were_read_than_it_can_have(reported, cut):
    assert was_cut(reported, "word " * 100) is cut


@pytest.mark.parametrize(
    ("value", "number"), [(7, 7), (0, 0), (-1, None), (True, None), ("7", None), (7.0, None), (None, None)]
)
def test_only_a_whole_number_is_a_count(value, number):
    assert counted(value) == number


@given(st.lists(st.sampled_from(["a", "s", "'s", "'t", "'", "ll", "'re", " ", "don", "_", "9", "-", "\x1c", "\x7f"])))
def test_words_in_ascii_are_counted_as_in_any_other_script(parts):
    text = "".join(parts)
    assert fewest_tokens(text) == fewest_tokens(f"{text} é") - 1


def test_a_question_of_several_texts_was_cut_if_all_of_them_have_more_tokens():
    assert was_cut(89, "word " * 50, "word " * 50)
    assert not was_cut(90, "word " * 50, "word " * 50)

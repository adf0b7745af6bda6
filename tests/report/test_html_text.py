"""Text of traces in a page: inert, visible, cut."""

from __future__ import annotations

import re
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.report.html.text import inert, label

ANY_TEXT = st.text(st.characters(codec=None), max_size=80)


@given(text=ANY_TEXT)
def test_no_text_brings_markup_or_hidden_characters_of_its_own(text):
    html = str(inert(text, 1000))
    bare = re.sub(r'<span class="hidden-character">(\\u[0-9a-f]{4,6})</span>', r"\1", html)
    assert not re.search("[<>\"']", bare)
    bare.encode()
    assert not re.search("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]", html)


@given(text=st.text(st.characters(categories=["L", "N", "P", "Zs"], codec="utf-8"), max_size=80))
def test_what_can_be_seen_is_shown_as_it_is(text):
    html = str(inert(text, 1000))
    if "hidden-character" not in html:
        assert unescape(html) == text


def test_markup_is_text():
    assert str(inert('<b a="1">&\'')) == "&lt;b a=&#34;1&#34;&gt;&amp;&#39;"


@pytest.mark.parametrize(
    "letter", ["\u202e", "\u200b", "\x1b", "\x00", "\ud800", "\U000e0041", "\U000e0120", "\u3164", "\u034f", "\ufffe"]
)
def test_what_hides_is_written_out_and_set_off(letter):
    shown = f'a<span class="hidden-character">\\u{ord(letter):04x}</span>b'
    assert str(inert(f"a{letter}b")) == shown
    assert label(f"a{letter}b") == f"a\\u{ord(letter):04x}b"


def test_an_escape_that_was_written_is_not_taken_for_a_hidden_character():
    assert str(inert("\\u202e é")) == "\\u202e é"


def test_what_is_cut_is_said_with_its_length():
    assert str(inert("x" * 5_000_000, 10)) == 'xxxxxxxxxx<span class="cut"> … 4,999,990 more characters</span>'
    assert label("x" * 20, 10) == "xxxxxxxxxx…"
    assert (str(inert("x" * 10, 10)), label("x" * 10, 10)) == ("x" * 10, "x" * 10)


def test_lines_are_kept_only_where_they_can_be_shown():
    assert str(inert("a\nb", lines=True)) == "a\nb"
    assert "\\u000a" in str(inert("a\nb"))


def test_anything_can_be_shown():
    assert (str(inert(3)), str(inert(None))) == ("3", "None")

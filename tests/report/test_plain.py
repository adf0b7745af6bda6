"""Values as a person reads them: short, one line, and with nothing that could play tricks."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from rightcall.report import plain
from rightcall.trace.model import Call, call
from rightcall.trace.redact import Redactor

HIDE = Redactor(key=b"a fixed key for tests")


@pytest.mark.parametrize(
    "char", ["\x00", "\x07", "\x1b", "\x7f", "\x85", "\x9b", "\n", "\r", "\t", "\u200b", "\u200e", "\u202e", "\u2066", "\ufeff", "\u2028", "\U000e0041", "\u00ad",
             "\u034f", "\u115f", "\u1160", "\u17b5", "\u2800", "\u3164", "\uffa0", "\ufe00", "\ufe0d", "\ufff0", "\ufffe",
             "\uffff", "\ud800", "\U0001d173", "\U000e0000", "\U000e0100", "\U000e01ef"]
)  # fmt: skip
def test_what_hides_turns_or_moves_text_is_written_out(char):
    assert plain.visible(f"a{char}b") == f"a\\u{ord(char):04x}b"


def test_letters_of_every_script_stay():
    text = "naïve Ω שלום 日本語 🙂 👩🏽 ❤️ ☎︎ 한글 café"
    assert plain.visible(text) == text


@given(st.text(st.characters(codec=None)))
def test_no_control_or_format_character_is_left(text):
    shown = plain.visible(text)
    shown.encode()
    kinds = {unicodedata.category(char) for char in shown}
    assert not kinds & {"Cc", "Zl", "Zp"}
    assert len(shown.splitlines()) <= 1


def test_the_end_of_what_is_too_long_is_cut_with_a_sign():
    assert plain.shorten("abcdef", 6) == "abcdef"
    assert plain.shorten("abcdefg", 6) == "abcde…"
    assert plain.shorten("abcdefg", None) == "abcdefg"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "null"), (True, "true"), (1, "1"), (1.5, "1.5"), ("a", '"a"'), ([1, {"a": []}], '[1,{"a":[]}]'),
        (10**30, str(10**30)), ("a\nb\u202e", '"a\\nb\\u202e"'),
    ],
)  # fmt: skip
def test_a_value_is_json_on_one_line(value, shown):
    assert plain.value(value) == shown


@pytest.mark.parametrize(
    ("items", "shown"),
    [(None, "any arguments"), ({}, "{}"), ({"a": 1, "b c": "x"}, 'a=1 b c="x"'), ({"a\x1b": 1}, "a\\u001b=1")],
)
def test_arguments_are_pairs(items, shown):
    assert plain.arguments(items) == shown
    assert plain.expected_arguments(items) == shown


@pytest.mark.parametrize(
    ("item", "shown"),
    [
        ({"similar": "main st", "as": "address"}, 'k≈"main st"'),
        ({"from_result": {"call": "find", "path": "id"}}, "k←find:id"),
        ({"approx": 10, "abs_tol": 0.5, "rel_tol": 0.1}, "k≈10 (abs_tol=0.5 rel_tol=0.1)"),
        ({"any_of": ["a", "b"]}, 'k=any of ["a","b"]'),
        ({"matches": "a.*\x1b"}, "k=/a.*\\u001b/"),
        ({"ignore": True}, "k=(ignored)"),
        ({"equals": {"any_of": 1}}, 'k={"any_of":1}'),
        ({"set": [1]}, 'k={"set":[1]}'),
        ({"plain": 1}, 'k={"plain":1}'),
        ({}, "k={}"),
        ([], "k=[]"),
        ({"from_result": "odd"}, 'k{"from_result":"odd"}'),
    ],
)
def test_matchers_are_shown_in_short_form(item, shown):
    assert plain.expected_arguments({"k": item}) == shown


def test_a_call_is_its_tool_with_its_arguments():
    assert plain.call(call("feed", {"tank": 2}), HIDE) == "feed tank=2"
    assert plain.call(call("feed", {}), HIDE) == "feed {}"


@pytest.mark.parametrize(
    ("status", "raw", "shown"),
    [
        ("malformed", '{"a"', 'feed (arguments not valid JSON: {"a")'),
        ("not_object", "[1]", "feed (arguments not an object: [1])"),
        ("missing", None, "feed (arguments missing)"),
        ("not_captured", None, "feed (arguments not captured)"),
        ("malformed", "\x1b[31m", "feed (arguments not valid JSON: \\u001b[31m)"),
    ],
)
def test_a_call_without_arguments_says_why(status, raw, shown):
    assert plain.call(Call(tool="feed", arguments_status=status, arguments_raw=raw), HIDE) == shown


def test_secrets_of_a_call_are_hidden_before_anything_is_cut():
    made = Call(
        tool="mail amy@example.com", arguments_json=Raw(b'{"password": "hunter2", "card": "4111 1111 1111 1111"}')
    )
    for limit in (None, 8, 20):
        shown = plain.call(made, HIDE, limit)
        assert not any(secret in shown for secret in ("amy@", "hunter2", "4111"))
    broken = Call(tool="a", arguments_status="malformed", arguments_raw='{"password": "hunter2"')
    assert "hunter2" not in plain.call(broken, HIDE, 12)
    labelled = Call(tool="a", arguments_status="not_object", arguments_raw='[{"name": "Cookie", "value": "hunter2"}]')
    assert "hunter2" not in plain.call(labelled, HIDE)


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (None, "–"), (0.0, "0.00"), (1.0, "1.00"), (0.5, "0.50"), (0.999, "<1.00"), (0.996, "<1.00"), (0.004, ">0.00"),
        (1e-9, ">0.00"), (0.994, "0.99"), (1, "1.00"), (0, "0.00"),
    ],
)  # fmt: skip
def test_a_share_is_never_rounded_to_all_or_nothing(number, shown):
    assert plain.number(number) == shown


def test_two_long_values_are_shown_from_where_one_sees_in_what_they_differ():
    first, second = "a" * 60 + "b" + "c" * 60, "a" * 60 + "d"
    short = plain.apart(first, second, 20)
    assert short == ("…" + "a" * 6 + "b" + "c" * 11 + "…", "…" + "a" * 6 + "d")
    assert plain.apart(first, second, None) == (first, second)
    assert plain.apart("x" * 30, "y" * 30, 5) == ("xxxx…", "yyyy…")


@given(st.text("ab", max_size=40), st.text("ab", max_size=40), st.integers(4, 20))
def test_two_different_values_never_look_the_same(first, second, limit):
    short = plain.apart(first, second, limit)
    assert (short[0] == short[1]) == (first == second)
    assert max(map(len, short)) <= limit


def test_of_a_long_name_the_middle_is_left_out_so_that_its_end_still_tells():
    assert plain.shorten_middle("short#c1", 30) == "short#c1"
    cut = plain.shorten_middle("6e465a0a-4002-4826-aacd-6773bbd71fe6#c13", 30)
    assert cut == "6e465a0a-4002-4826-…d71fe6#c13"
    assert len(cut) == 30

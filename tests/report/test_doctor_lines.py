"""Lines of `doctor`: aligned, with nothing in them that could play tricks on a screen."""

from __future__ import annotations

import pytest

from rightcall.report.doctor_lines import check_line, setting_lines, verdict_line
from rightcall.run.checkup.findings import Check, good, odd
from rightcall.settings.effective import NOT_SHOWN, Setting


def test_a_check_is_a_line_with_what_to_do_behind_an_arrow():
    assert check_line(good("traces", "12 traces")) == "ok    traces       12 traces"
    assert check_line(odd("store", "empty", "do this")) == "warn  store        empty  → do this"


def test_control_characters_are_written_out():
    assert check_line(good("judge \x1b[31m", "a\nb")) == "ok    judge \\u001b[31m  a\\u000ab"


def test_the_last_line_counts_and_says_the_exit_code():
    checks = [good("a", "b"), odd("c", "d"), Check(status="fail", what="e", detail="f", exit_code=5)]
    assert verdict_line(checks, 5) == "doctor · 1 ok, 1 warn, 1 fail · exit 5"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "(nothing)"),
        (NOT_SHOWN, NOT_SHOWN),
        ("a", '"a"'),
        (True, "true"),
        (0.5, "0.5"),
        ((), "[]"),
        (("a", 1), '["a", 1]'),
        ({}, "{}"),
        ({"a": {"b": ("c",)}}, '{ "a" = { "b" = ["c"] } }'),
    ],
)
def test_a_value_is_written_about_as_in_toml(value, text):
    (line,) = setting_lines([Setting(key="k", value=value, origin="default")])
    assert line.split("  # ") == [f"{f'k = {text}':<60}", "default"]


def test_a_setting_says_where_it_was_written():
    (line,) = setting_lines([Setting(key="k", value=1, origin="file", where="r.toml:3")])
    assert line.endswith("  # r.toml:3")

"""A run in the terminal: a table, then every failure explained, in 80 columns."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

FEED = {"tool": "feed", "arguments": {"tank": 2}}
CASE = {"id": "c", "expect": {"calls": [FEED]}}
ANSI = re.compile(r"\x1b\[[0-9;]*m")


def trace(name: str, *calls: dict, case: str = "c") -> dict:
    return {"id": name, "case_id": case, "calls": list(calls)}


def test_a_table_then_every_failure_then_the_counts(graded, screen):
    out = screen(graded([CASE], [trace("good", FEED), trace("bad")]))
    order = ["trace", "bad", "good", "bad · case c · FAIL", "not called", "missing_call", "2 results: 1 PASS, 1 FAIL"]
    places = [out.index(text) for text in order]
    assert places == sorted(places)
    assert "good · " not in out


def test_a_column_for_the_case_only_where_it_says_something(graded, screen):
    assert "case " not in screen(graded([CASE], [trace("c", FEED)])).splitlines()[0]
    assert "case " in screen(graded([CASE], [trace("t", FEED)])).splitlines()[0]


def test_a_trace_of_thousands_of_calls_does_not_flood_the_screen(graded, screen):
    calls = [{"tool": f"t{n}", "arguments": {}} for n in range(1000)]
    done = graded([CASE], [trace("long", *calls)])
    out = screen(done)
    assert len(out.splitlines()) < 400
    assert "more reasons; `rightcall golden --trace ID` prints them all" in out
    assert len(screen(done, full=True).splitlines()) > 2000


def test_a_pipe_gets_no_escape_codes(graded, screen):
    assert "\x1b" not in screen(graded([CASE], [trace("bad")]))


def test_a_terminal_gets_colour_that_is_not_the_only_sign(graded, screen):
    done = graded([CASE], [trace("good", FEED), trace("bad", {"tool": "drain", "arguments": {}})])
    coloured = screen(done, terminal=True)
    assert "\x1b[32m" in coloured
    assert "\x1b[1;31mFAIL" in coloured
    assert [line.rstrip() for line in ANSI.sub("", coloured).splitlines()] == [
        line.rstrip() for line in screen(done).splitlines()
    ]
    assert "✗" in coloured


def test_no_color_leaves_no_colour(graded, screen):
    done = graded([CASE], [trace("bad", FEED, FEED)])
    for options in ({"no_color": True}, {"_environ": {"NO_COLOR": "1"}}):
        plain = screen(done, terminal=True, **options)
        codes = {code for match in re.findall(r"\x1b\[([0-9;]*)m", plain) for code in match.split(";")}
        assert codes <= {"", "0", "1", "2"}  # bold and dim are no colours


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize(
    "text",
    ["x" * 300, "words " * 60, "日本語" * 40, "🙂" * 60, "é" * 200, "a" * 5000],
    ids=["x", "words", "wide", "emoji", "marks", "long"],
)
def test_no_line_is_wider_than_80_columns(graded, screen, text, terminal):
    call = {"tool": text, "arguments": {text: text}}
    done = graded(
        [{"id": text, "expect": {"calls": [call]}}],
        [{"id": f"t {text}", "case_id": text, "calls": [FEED, {"tool": "feed", "arguments": {text: 1}}]}],
    )
    for full in (True, False):
        out = ANSI.sub("", screen(done, full=full, terminal=terminal))
        assert max(map(cell_len, out.splitlines())) <= 80


def test_the_figures_stay_readable_beside_long_ids(graded, screen):
    name = "an-id-without-blanks-" * 20
    out = screen(graded([{**CASE, "id": name}], [trace(f"t{name}", FEED, case=name)]))
    row = next(line for line in out.splitlines() if "1.00" in line)
    assert row.count("1.00") == 4
    assert "PASS" in row


def test_of_a_long_run_the_table_has_only_the_failures(graded, screen):
    rows = [trace(f"t{i}", FEED) for i in range(100)] + [trace("bad")]
    out = screen(graded([CASE], rows))
    assert "t5 " not in out
    assert "bad" in out
    assert "101 results: 100 PASS, 1 FAIL" in out


def test_failures_beyond_the_limit_are_counted(graded, screen):
    out = screen(graded([CASE], [trace(f"t{i}") for i in range(30)], "[limits]\nfailures = 3"))
    assert out.count(" · FAIL · ") == 3
    assert "27 more not shown: --trace ID prints one in full, -o FILE writes all" in out
    none = screen(graded([CASE], [trace("t")], "[limits]\nfailures = 0"))
    assert " · FAIL · " not in none
    assert "1 more not shown" in none


def test_one_trace_in_full_is_explained_though_it_passed_and_nothing_is_cut(graded, screen):
    long = "word " * 60
    call = {"tool": "say", "arguments": {"text": long}}
    done = graded([{"id": "c", "expect": {"calls": [call]}}], [trace("t", call)], only="t")
    out = screen(done, full=True)
    assert "t · case c · PASS" in out
    assert out.count("word") == 2 * 60
    assert "…" not in out


def test_a_result_without_a_verdict_is_in_the_table(graded, screen):
    out = screen(graded([CASE, {"id": "d"}], [trace("t", FEED)]))
    assert "(no trace)" in out
    assert "UNEVALUABLE: no_trace" in out


def test_records_that_were_not_read_are_told_on_the_first_line(graded, screen):
    out = screen(graded([CASE], [{"messages": [{"role": "user", "content": "hi"}]}, {"messages": []}]))
    assert out.startswith("traces.jsonl: 1 of 2 records were not read\n")


def test_notes_do_not_play_tricks(graded, screen):
    twice = [{"id": "x", "function": {"name": "a", "arguments": "{"}}] * 2
    done = graded([CASE], [{"id": "t\x1b[31m\u202e", "messages": [{"role": "assistant", "tool_calls": twice}]}])
    out = screen(done)
    assert "\\u001b[31m\\u202e" in out
    assert "\x1b" not in out


def test_markup_of_rich_is_plain_text(graded, screen):
    name = "[bold red]x[/bold red] [link=https://example.com]y[/link] :smile:"
    done = graded(
        [{"id": name, "expect": {"calls": []}}], [trace(name, {"tool": name, "arguments": {name: name}}, case=name)]
    )
    for terminal in (True, False):
        out = " ".join(ANSI.sub("", screen(done, terminal=terminal)).split())
        assert "[bold red]x[/bold red]" in out
        assert ":smile:" in out
    assert "]8;" not in screen(done, terminal=True)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.text(min_size=1, max_size=40), value=st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=20), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3), max_leaves=6))  # fmt: skip
def test_any_text_fits_the_screen_and_does_nothing_to_it(graded, screen, name, value):
    made = {"tool": name, "arguments": {name: value, "x": 1}}
    done = graded(
        [{"id": name, "expect": {"calls": [{"tool": name, "arguments": {name: 0}}]}}],
        [trace(name, made, made, case=name)],
    )
    out = screen(done)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u200b]", out)
    assert max(map(cell_len, out.splitlines())) <= 80

"""A judged run in the terminal: what stands first, what is listed, what does not fit."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from desk_suite import DESK, copy_desk, reply, step, steps_with_judge
from rich.console import Console

from rightcall.report.terminal.report import USUAL, print_report, warning_style
from rightcall.report.written.ended import ended_view
from rightcall.run.graders.setup import Flags, set_up_rubric, set_up_selection
from rightcall.settings.load import load_settings


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RIGHTCALL_REDACTION_KEY", "a fixed key for tests")
    for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)


def printed(setup, *, width: int = 80, terminal: bool = False, **options) -> list[str]:
    text = StringIO()
    console = Console(file=text, width=width, force_terminal=terminal, highlight=False, **options)
    with setup.run() as judged:
        print_report(console, ended_view(judged))
    return text.getvalue().splitlines()


def selection(judge: str = "none", **flags):
    return set_up_selection(load_settings(None, {}, {}), ("steps.jsonl",), Flags(judge=judge, **flags))


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("grader", ["selection", "rubric"])
def test_no_line_is_wider_than_the_screen_and_no_word_is_broken(tmp_path, grader, width):
    copy_desk(tmp_path)
    loaded = load_settings(Path(DESK), {}, {})
    made = {
        "selection": lambda flags: set_up_selection(loaded, (), flags),
        "rubric": lambda flags: set_up_rubric(loaded, flags),
    }
    lines = printed(made[grader](Flags(judge="desk")), width=width)
    assert max(map(len, lines)) <= width
    words = " ".join(lines).split()
    assert {"contradicts", "decidable"} <= set(words)
    assert ("JUDGE_SCHEMA" in words) is (grader == "selection")


def test_only_the_first_failures_are_listed_and_the_rest_is_named():
    steps_with_judge([(step(f"s-{n}", "close"), []) for n in range(USUAL.listed + 3)] + [(step("good"), [])])
    lines = printed(selection())
    assert sum(line.startswith("  s-") for line in lines) == USUAL.listed
    assert "  … 3 more: -o FILE writes all" in lines
    assert not any("good" in line for line in lines)


def test_on_record_the_rest_is_shown_by_the_run_and_one_by_its_id():
    judge = steps_with_judge([(step(f"s-{n}", "close"), [reply("close")]) for n in range(USUAL.listed + 1)])
    lines = printed(selection(judge))
    assert any(line.startswith("  … 1 more: rightcall show ") and line.endswith(" --failed") for line in lines)
    assert "  each in full: rightcall show s-0" in lines


def test_what_has_no_verdict_is_in_no_figure_and_what_code_says_of_all_stands_beside():
    judge = steps_with_judge([(step("a"), [reply()]), (step("b", "close"), ["no", "no"])])
    lines = [" ".join(line.split()) for line in printed(selection(judge))]
    assert "pass rate 1.000 0.207 – 1.000 1 steps" in lines
    assert "by code alone, those without a judge's answer included: FAIL 1 · PASS 1" in lines
    assert "2 steps · retried 1, 0 healed by it · unevaluable 1 (JUDGE_NOT_JSON 1) → review" in lines


def test_colours_are_for_terminals_and_say_what_is_no_judgement_loudest():
    wrong = reply(grade="FAIL", failure_category="wrong_tool")
    judge = steps_with_judge([(step(f"s-{n}"), [wrong]) for n in range(6)])
    assert "\x1b" not in "".join(printed(selection(judge)))
    first = printed(selection(judge), terminal=True)[0]
    assert first.startswith("\x1b[1;31mjudge ")
    assert "\x1b[1;31m" not in "".join(printed(selection(judge), terminal=True, no_color=True))
    assert (warning_style("judge j: not a judgement: …"), warning_style("stopped")) == ("bold red", "yellow")


def test_hostile_names_are_written_out():
    steps_with_judge([(step("a\x1b[2J\u202e", "close"), [])])
    text = "\n".join(printed(selection()))
    assert r"a\u001b[2J\u202e" in text
    assert "\x1b" not in text


def test_a_run_without_findings_is_short():
    steps_with_judge([(step("a"), [])])
    assert printed(selection())[-1] == "failures: none"

"""Lists of what is on record: short, whole lines, whatever the names and however wide the screen."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from rightcall.report.figures import main_figure, short
from rightcall.report.gate_answer import print_standing
from rightcall.report.one import said, words
from rightcall.report.records import print_attempts, print_runs, read_as, run_rows
from rightcall.run.results.model import Origin
from rightcall.stats.intervals import wilson
from rightcall.store.records import AttemptRecord, GateRecord, RunEvent, RunRecord


def shown(show, *arguments, width: int = 80, **more: object) -> list[str]:
    text = StringIO()
    show(Console(file=text, width=width, highlight=False), *arguments, **more)
    return text.getvalue().splitlines()


def estimate(hits: int, trials: int) -> dict:
    rate = wilson(hits, trials)
    return {name: getattr(rate, name) for name in rate.__struct_fields__}


def run(number: int, grader: str, **facts) -> RunRecord:
    return RunRecord(id=f"20261129-{number}", grader=grader, started_at="2026-11-29T10:00:00Z", facts=facts)


def event(number: int, status: str = "finished", message: str | None = None, **summary) -> RunEvent:
    return RunEvent(run_id=f"20261129-{number}", at="", status=status, message=message, summary=summary)


# ---- runs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [80, 120])
def test_each_run_is_one_line_with_what_came_of_it_below(width):
    name = "a judge with a very long name " * 4
    pairs = [
        (
            run(2, "selection", judges=[{"name": name}]),
            event(2, "stopped", "the budget is spent; " * 9, n=4, not_asked=3),
        ),
        (run(1, "golden"), event(1, n=1, pass_rate=estimate(1, 1))),
        (run(0, "rubric", judges=[{"name": "j"}]), None),
    ]
    answers = {
        "20261129-1": GateRecord(
            run_id="20261129-1", at="", asked_by="run", answer="INCONCLUSIVE", exit_code=3, rules_sha256=""
        )
    }
    lines = shown(print_runs, "here", pairs, answers, (), width=width)
    assert max(map(len, lines)) <= width
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == [
        "run", "20261129-2", "20261129-1", "20261129-0",
    ]  # fmt: skip
    assert lines[1].endswith("…")
    assert lines[2].split(" · ")[:2] == ["              4 steps", "3 not asked"]
    assert "1 trace · pass rate 1.000 [0.207, 1.000] n=1" in "\n".join(lines)
    assert lines[-1].split()[3:] == ["rubric", "unfinished", "–", "j"]
    assert "golden     finished     ◐ INCONCL   code alone" in "\n".join(lines)


def test_every_cause_of_an_answer_is_shown_so_that_none_hides_behind_the_first():
    causes = ("vetoes: FAIL", "golden: 6 FAIL", "selection: 6 FAIL", "critical: WAIT", "coverage: INCONCLUSIVE")
    answer = GateRecord(
        run_id="r",
        at="2026-11-29T10:00:00Z",
        asked_by="run",
        answer="FAIL",
        exit_code=1,
        rules_sha256="",
        causes=causes,
    )
    lines = shown(print_standing, answer, Origin(), overtaken=False)
    assert tuple(line.strip() for line in lines[-5:]) == causes


def test_rows_of_runs_are_plain_values():
    (row,) = run_rows([(run(0, "rubric"), None)], {}, ())
    assert (row["status"], row["message"], row["summary"]) == ("unfinished", None, {})


def test_the_main_figure_of_each_grader():
    own = {"overall": {"precision": estimate(3, 8)}}
    assert main_figure("selection", {"own": own}) == "precision 0.375 [0.137, 0.694] n=8"
    assert (
        main_figure("probe", {"own": {"answers": {"PASS": 2, "FAIL": 0, "INCONCLUSIVE": 1}}})
        == "PASS 2 · INCONCLUSIVE 1"
    )
    assert main_figure("rubric", {}) == ""
    assert short(estimate(0, 0)) == "–"


def test_a_figure_below_1_is_never_shown_as_1():
    assert short({"estimate": 0.9999, "low": None, "high": None, "n": 5}) == "<1.000 n=5"


# ---- exchanges -------------------------------------------------------------------------------------------------------


def exchange(**more) -> AttemptRecord:
    known = {
        "run_id": "20261129-1", "grader": "selection", "unit": "s", "judge": "j", "key": "", "status": "ok",
        "started_at": "2026-11-29T10:00:00Z",
    }  # fmt: skip
    return AttemptRecord(**(known | more))


@pytest.mark.parametrize("width", [80, 110, 200])
def test_no_column_is_lost_however_long_a_message_is(width):
    rows = [
        (1, "", exchange(unit="u" * 70, judge="k" * 70, verdict={"grade": "PASS"})),
        (22222, "", exchange(status="JUDGE_RATE_LIMITED", attempt=1, transport=2, message="busy " * 50)),
    ]
    lines = shown(print_attempts, rows, {"attempt": 2}, width=width)
    assert max(map(len, lines)) <= width
    assert lines[0] == "2 exchanges on record, 2 shown"
    assert "entry" in lines[1]
    assert "status and reading" in lines[1]
    assert "ok · PASS" in lines[2]
    assert "10:00:00" in lines[2]
    assert lines[3].endswith("  JUDGE_RATE_LIMITED")
    assert lines[4].startswith("              second asking, try 3: busy busy")


@pytest.mark.parametrize(
    ("attempt", "shown_as"),
    [
        (exchange(verdict={"grade": "FAIL", "failure_category": "wrong_tool"}), "FAIL wrong_tool"),
        (exchange(verdict={"misuse_severity": "LOW", "overall_score": 13 / 3}), "LOW 4.33"),
        (exchange(verdict={"polite": True, "why": ["x"]}), "polite True"),
        (exchange(status="JUDGE_TIMEOUT", message="too slow"), "too slow"),
        (
            exchange(
                status="JUDGE_SCHEMA",
                problems=({"path": "grade", "message": "is missing"}, {"path": "x", "message": "y"}),
            ),
            "grade: is missing; x: y",
        ),
        (exchange(status="JUDGE_EMPTY"), ""),
    ],
)
def test_how_a_reply_was_read_in_a_few_words(attempt, shown_as):
    assert read_as(attempt) == shown_as


# ---- one result on one line ------------------------------------------------------------------------------------------


def test_the_answer_of_a_result_is_one_word():
    results = [
        {"status": "EVALUATED", "verdict": "PASS"},
        {"status": "UNEVALUABLE", "verdict": None},
        {"status": "EVALUATED", "verdict": None, "misuse_severity": "HIGH"},
        {"status": "EVALUATED", "verdict": None},
    ]
    assert [said(one) for one in results] == ["PASS", "UNEVALUABLE", "HIGH", "EVALUATED"]


def test_why_a_result_is_what_it_is():
    chosen = {"status": "EVALUATED", "grader": "selection", "verdict": "FAIL", "failure_category": "over_action",
              "expected_tool": None, "selected_tool": "send", "label_challenged": None}  # fmt: skip
    assert words(chosen) == "over_action: send, not (none)"
    assert words({"status": "UNEVALUABLE", "reason": "too_long", "grader": "rubric"}) == "too_long"
    assert words({"status": "EVALUATED", "grader": "tone", "reply": {"polite": True}}) == "polite True"

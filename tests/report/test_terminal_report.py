"""A report in the terminal: every grader by one writer, a bounded number of results, nothing from outside alive."""

from __future__ import annotations

import io
from dataclasses import replace
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from report_making import HOSTILE, case, hostile_case, report
from rich.console import Console

from rightcall.report.terminal.report import MOST_ROWS, USUAL, Look, print_brief, print_record, print_report
from rightcall.report.view.model import CallLine, CaseView, Counts, GraderView, Line, Table

if TYPE_CHECKING:
    from collections.abc import Iterator

COLUMNS = ("tools", "overall")


def shown(print_it, *arguments: Any, width: int = 80, **more: Any) -> list[str]:
    """What is printed, in so many columns."""
    out = io.StringIO()
    print_it(Console(file=out, width=width, color_system=None, highlight=False), *arguments, **more)
    lines = out.getvalue().splitlines()
    assert max(map(len, lines), default=0) <= width
    return [line.rstrip() for line in lines]


def scored(n: int, failed: int, **more: Any) -> GraderView:
    counts = Counts(n=n, passed=n - failed, failed=failed)
    return GraderView(grader="golden", counts=counts, columns=COLUMNS, headline=(f"{n} results",), **more)


def bad(number: int, **more: Any) -> CaseView:
    line = CallLine(state="missing", expected="1 freeze", notes=("not called",), bad=True)
    return case(f"t-{number}", word="FAIL", scores=(0.0, None), title=f"t-{number} · FAIL", lines=(line,), **more)


# ---- what is read ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("print_it", [print_report, print_record])
def test_of_a_hundred_thousand_failures_only_what_is_shown_is_read(print_it):
    read = []

    def failures() -> Iterator[CaseView]:
        for number in count():
            read.append(number)
            yield bad(number, next=f"rightcall show t-{number}")

    def cases() -> Iterator[CaseView]:
        pytest.fail("nobody needs those that passed")
        yield bad(0)

    view = replace(report([], graders=(scored(200_000, 100_000),)), cases=cases, failures=failures)
    lines = shown(print_it, view)
    assert len(read) <= MOST_ROWS + USUAL.explained + 4
    if print_it is print_report:
        assert f"({200_000 - MOST_ROWS} of 200000 results are not in this table; -o FILE writes all)" in lines
        assert "99980 more not shown: --trace ID prints one in full, -o FILE writes all" in lines
        assert sum(line.endswith(" · FAIL") for line in lines) == USUAL.explained
    else:
        assert "  … 199940 more: --json shows all" in lines


def test_a_short_run_has_all_its_results_in_the_table_and_explains_those_that_failed():
    good = case("t-2", "passed", word="PASS", scores=(1.0, 1.0))
    view = report([bad(1), good], graders=(scored(2, 1),))
    lines = shown(print_report, view)
    assert lines[0].split() == ["trace", "tools", "overall", "verdict"]
    assert [line.split() for line in lines[1:3]] == [["t-1", "0.00", "–", "FAIL"], ["t-2", "1.00", "1.00", "PASS"]]
    assert "t-1 · FAIL" in lines
    assert "t-2 · PASS" not in lines
    assert lines[-1] == "2 results"
    assert "t-1 · FAIL" not in shown(print_report, view, Look(explained=0))


FIVE = ("tools", "args", "order", "steps", "overall")
NAMES = ("close-asks-twice-for-one-card", "3c059b8e-2785-4f4c-be0e-1f13f151156c", "t", "x" * 50)


@pytest.mark.parametrize("width", [30, 40, 60, 66, 80, 100, 200])
def test_in_any_width_every_result_has_its_name_its_figures_and_its_verdict(width):
    cases = [
        case(name, "error", case_id=f"case-{name}", word="UNEVALUABLE", kind="not_captured", verdict=None,
             scores=(0.25, None, 1.0, 0.5, 0.0))
        for name in NAMES
    ]  # fmt: skip
    part = GraderView(grader="golden", counts=Counts(n=4, error=4), columns=FIVE)
    text = "\n".join(shown(print_report, report(cases, graders=(part,)), Look(explained=0), width=width))
    for figure in ("0.25", "1.00", "0.50", "0.00"):
        assert text.count(figure) == len(NAMES)
    assert text.count("UNEVALUABLE") == len(NAMES)
    pieces = "".join(text.split())
    for name in NAMES:
        assert name[-4:] in pieces
    if width == 200:
        assert all(f"{name}  " in text for name in NAMES)


def test_a_name_goes_on_below_after_one_of_its_own_signs():
    cases = [case(name, case_id="c", word="FAIL", scores=(0.25, None, 1.0, 0.5, 0.0)) for name in NAMES[:2]]
    part = GraderView(grader="golden", counts=Counts(n=2, failed=2), columns=FIVE)
    lines = shown(print_report, report(cases, graders=(part,)), Look(explained=0), width=74)
    assert [line.split()[0] for line in lines[1:5]] == [
        "close-asks-twice-for-", "one-card", "3c059b8e-2785-4f4c-", "be0e-1f13f151156c",
    ]  # fmt: skip


def test_what_is_indented_goes_on_where_it_began():
    part = GraderView(grader="rubric", counts=Counts(), waits=("  " + "word " * 30,))
    lines = shown(print_report, report([], graders=(part,)))
    assert [line[:6] for line in lines[-2:]] == ["  word"] * 2


def test_what_costs_nothing_is_told_apart_from_what_does():
    lines = (
        CallLine(state="free", actual="1 look", notes=("a read, not charged",)),
        CallLine(state="wrong", expected="1 pay", actual="2 pay", notes=("out of order", "$.x: not expected, got 1"), bad=True),
        CallLine(state="free", notes=("7 more lines are not shown",)),
    )  # fmt: skip
    said = shown(
        print_report,
        report([case("t", word="FAIL", title="t", lines=lines)], graders=(scored(1, 1),)),
    )
    flat = [" ".join(line.split()) for line in said]
    assert "· a read, not charged" in flat
    assert "✗ out of order" in flat
    assert "✗ $.x: not expected, got 1" in flat
    assert "… 7 more lines are not shown; `rightcall golden --trace ID` prints them all" in flat


# ---- graders with judges ---------------------------------------------------------------------------------------------


def test_who_judged_figures_audit_results_and_what_waits_stand_in_this_order():
    part = GraderView(
        grader="rubric", counts=Counts(n=20, passed=20, serious=15), warnings=("judge j: not a judgement: …",), asked=("judge j = m",),
        headline=("20 traces",), brief=(Table(caption="", columns=("", "mean"), rows=(("arguments", "4.10"),)), Line("severity: HIGH 15")),
        audit=("judge j contradicts code",), waits=("for review: HIGH 15", "  rightcall review list --run r"),
    )  # fmt: skip
    high = [case(f"t-{n}", "passed", grader="rubric", kind="HIGH", word="HIGH", brief="2/2/2/2", next=f"rightcall show t-{n}") for n in range(15)]  # fmt: skip
    lines = shown(print_report, report(high, graders=(part,), failures=lambda: iter(high)))
    wanted = ["judge j: not a judgement: …", "judge j = m", "20 traces", "           mean", "arguments  4.10", "severity: HIGH 15",
              "judge j contradicts code", "  t-0  HIGH 2/2/2/2", "  … 3 more: rightcall show 20261130-1 --failed",
              "  each in full: rightcall show t-0", "for review: HIGH 15", "  rightcall review list --run r"]  # fmt: skip
    assert [line for line in lines if line in wanted] == wanted
    assert sum(line.startswith("  t-") for line in lines) == USUAL.listed


def test_several_graders_have_a_title_each_and_only_their_own_results():
    parts = (scored(1, 1), GraderView(grader="selection", counts=Counts(n=1, failed=1), headline=("1 step",)))
    step = case("s-1", grader="selection", word="FAIL", brief="wrong_tool")
    lines = shown(print_report, report([bad(1), step], graders=parts))
    titles = [number for number, line in enumerate(lines) if "───" in line]
    assert [lines[number].split()[0] for number in titles] == ["golden", "selection"]
    assert "  s-1 FAIL wrong_tool" in lines[titles[1] :]
    assert not any("s-1" in line for line in lines[: titles[1]])


def test_a_run_on_record_lists_what_stands_out_first_and_then_the_others():
    good = case("a", "passed", word="PASS", brief="overall 1.00", next="rightcall show a")
    wrong = case("z", word="FAIL", brief="overall 0.00", stands="waits for a sign-off", next="rightcall show z")
    view = report([good, wrong], graders=(scored(2, 1, read=("read t.jsonl",)),))
    lines = shown(print_record, view)
    assert lines[0] == "20261130-1 · golden · finished · 2026-11-30 10:00"
    assert [line for line in lines if line.startswith("  ")] == [
        "  z FAIL overall 0.00 · waits for a sign-off", "  a PASS overall 1.00", "  each in full: rightcall show z",
    ]  # fmt: skip
    assert "read t.jsonl" in lines
    assert not any("PASS" in line for line in shown(print_record, view, failed=True)[1:])


def test_a_preference_that_hangs_on_the_order_is_listed_among_what_did_not_pass():
    tie = case(
        "p-1", "passed", grader="preference", kind="order_inconsistent", word="TIE", brief="orders disagree", next="x"
    )
    won = case("p-2", "passed", grader="preference", word="B", brief="b better", next="x")
    part = GraderView(grader="preference", counts=Counts(n=2, passed=2))
    view = report([tie, won], graders=(part,), failures=lambda: iter(()))
    lines = shown(print_record, view, failed=True)
    assert "  p-1 TIE orders disagree" in lines
    assert not any("p-2" in line for line in lines)


def test_where_nothing_is_listed_it_is_said():
    part = GraderView(grader="selection", counts=Counts(n=1, passed=1))
    view = report([case("a", "passed", grader="selection")], graders=(part,))
    assert "every result on record passed" in shown(print_record, view, failed=True)
    empty = report([], graders=(GraderView(grader="selection", counts=Counts()),))
    assert "no result is on record" in shown(print_record, empty)


# ---- what comes from outside -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("print_it", [print_report, print_record])
@pytest.mark.parametrize("columns", [COLUMNS, ()])
def test_nothing_from_a_trace_a_judge_or_a_file_is_alive(print_it, columns):
    part = GraderView(
        grader=HOSTILE, counts=Counts(n=1, failed=1), columns=columns, warnings=(HOSTILE,), headline=(HOSTILE,), asked=(HOSTILE,),
        read=(HOSTILE,), audit=(HOSTILE,), waits=(HOSTILE,),
        brief=(Table(caption="", columns=(HOSTILE, HOSTILE), rows=((HOSTILE, HOSTILE),)), Line(HOSTILE, "bad")),
    )  # fmt: skip
    other = GraderView(grader="other", counts=Counts())
    one = hostile_case(
        grader=HOSTILE,
        word=HOSTILE,
        brief=HOSTILE,
        stands=HOSTILE,
        marks=(HOSTILE,),
        title=HOSTILE,
        names=(HOSTILE,),
        sums=(HOSTILE,),
    )
    view = report([one], graders=(part, other), title=HOSTILE, notes=(HOSTILE,))
    out = io.StringIO()
    print_it(Console(file=out, width=80, force_terminal=True, color_system=None, highlight=False), view)
    text = out.getvalue()
    for character in ("\x00", "\u202e", "\u200b", "\x1b[31m", "\r"):
        assert character not in text


def test_a_table_without_rows_and_an_answer_that_stands_out():
    table = Table(caption="", columns=("attack", "answer"), rows=(("padding", "FAIL"), ("swap", "PASS")))
    assert [line.split() for line in shown(print_brief, [table])] == [
        ["attack", "answer"],
        ["padding", "FAIL"],
        ["swap", "PASS"],
    ]

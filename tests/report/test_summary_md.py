"""Markdown: everything that matters first, nothing from a trace alive, never too long."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_making import HOSTILE, case, hostile_case, report

from rightcall.gate.decision import Decision, Diff, Flip, GateReport, GraderDiff, JudgeFitness
from rightcall.report.formats.summary_md import FAILURES, LIMIT, LISTED, fence, render, text, trim
from rightcall.report.view.model import Bar, CallLine, Counts, GraderView, Matrix, Table
from rightcall.stats.intervals import wilson


def gate(**more) -> GateReport:
    """What a gate says: a figure just below its limit, an open CRITICAL, a flip."""
    precision = Decision(
        name="selection.precision", rule="≥ 0.98, lower 95 % bound", answer="FAIL", value=wilson(195, 199),
        threshold=0.98, on="lower", more=37, details=("case-031", "case-118"), left_out=3,
        judges=(JudgeFitness(judge="fast", grader="selection", verdict="NOT_FIT", labels=120, reason="misses FAILs"),),
    )  # fmt: skip
    critical = Decision(name="critical", rule="none open", answer="WAIT", command="rightcall signoff rv-17")
    flips = (Flip(grader="selection", case="case-031", old="PASS", new="FAIL", why="wrong_tool"),)
    diff = Diff(old="base", new="now", graders=(GraderDiff(grader="selection", shared=4, lost=1, flips=flips),))
    known = {
        "run": "r", "answer": "FAIL", "exit_code": 1, "decisions": (precision, critical), "baseline": "main@8c1e",
        "diff": diff,
    }  # fmt: skip
    return GateReport(**known | more)


def test_the_first_line_is_the_verdict():
    assert render(report([case()])).startswith("# rightcall: FAIL")
    first = render(report([case()], gate=gate())).splitlines()[0]
    assert "FAIL" in first
    assert "exit 1" in first
    assert "2 of 2 rules do not pass" in first


def test_a_figure_that_misses_its_limit_is_not_shown_as_the_limit():
    whole = render(report([case()], gate=gate()))
    assert "0.9799 [" in whole
    assert not re.search(r"\| 0\.980? \[", whole)


def test_a_gate_is_shown_with_intervals_what_would_settle_it_and_what_to_do():
    whole = render(report([case()], gate=gate()))
    assert "n=199" in whole
    assert "37 more cases" in whole
    assert "- selection.precision: case-118\n" in whole
    assert "3 more\n" in whole
    assert "rightcall signoff rv-17" in whole
    assert "NOT_FIT" in whole


def test_what_turned_since_the_base_is_a_table():
    whole = render(report([case()], gate=gate()))
    assert "| case-031 | PASS | FAIL | `wrong_tool` |" in whole
    assert "1 turned to fail" in whole


def test_what_cannot_be_compared_says_why():
    diff = Diff(old="a", new="b", graders=(GraderDiff(grader="rubric", not_comparable=("prompt rubric@1 → 2",)),))
    assert "not comparable: `prompt rubric@1 → 2`" in render(report([case()], gate=gate(diff=diff)))


def test_the_first_twenty_failures_are_shown_the_next_have_a_line_and_the_rest_is_counted():
    whole = render(report([case(f"t-{n}", word="FAIL", brief="overall 0.25") for n in range(150)]))
    assert whole.count("\n### ") == FAILURES
    assert whole.count("| FAIL | overall 0.25 |") == LISTED
    assert "… 50 more in the artifact" in whole


def test_a_failure_is_shown_with_its_aligned_calls():
    lines = (
        CallLine(state="substituted", expected="1 freeze", actual="1 close", notes=("in its place",)),
        CallLine(state="missing", expected="2 move", notes=("not called",)),
        CallLine(state="surplus", actual="2 send"),
    )
    whole = render(report([case(lines=lines)]))
    assert "≠ 1 freeze | 1 close\n    in its place\n- 2 move   | ·\n    not called\n+ ·        | 2 send" in whole


def test_figures_tables_and_matrices_of_a_grader_are_there():
    view = GraderView(
        grader="selection", counts=report([case()]).graders[0].counts, warnings=("3 records were not read",),
        bars=(Bar(name="precision", value=wilson(9, 10, excluded=2), note="of the calls"),),
        tables=(Table(caption="By tool", columns=("tool", "n"), rows=(("a|b", "3"),), numeric=(1,)),),
        matrices=(
            Matrix(caption="Confusion", row_name="expected", column_name="selected", labels=("a", "b"), counts=((1, 2), (3, 4))),
        ),
    )  # fmt: skip
    whole = render(report([case(grader="selection")], graders=(view,)))
    assert "| precision | 0.900 [0.596, 0.982] n=10 | 2 | wilson 0.95 | of the calls |" in whole
    assert "| `a\\u007cb` | 3 |" in whole
    assert "| b | 3 | 4 |" in whole
    assert "> - selection: 3 records were not read" in whole


def outside_of_code(whole: str) -> str:
    """The document without its fences and code spans, which hold no Markdown."""
    kept, closing = [], ""
    for line in whole.split("\n"):
        if closing:
            closing = "" if line == closing else closing
        elif opened := re.match("`{3,}", line):
            closing = opened.group()
        else:
            kept.append(re.sub(r"(?<!`)(`+)(?!`)(.*?[^`])\1(?!`)", "", line))
    assert not closing
    return "\n".join(kept)


def test_nothing_from_a_trace_is_alive():
    hostile = GraderView(
        grader=HOSTILE, counts=report([case()]).graders[0].counts, lines=(HOSTILE,), warnings=(HOSTILE,),
        bars=(Bar(name=HOSTILE, value=wilson(1, 2), note=HOSTILE),),
        tables=(Table(caption=HOSTILE, columns=(HOSTILE,), rows=((HOSTILE,),)),),
        matrices=(Matrix(caption=HOSTILE, row_name=HOSTILE, column_name=HOSTILE, labels=(HOSTILE,), counts=((1,),)),),
    )  # fmt: skip
    decision = Decision(name=HOSTILE, rule=HOSTILE, answer="FAIL", reason=HOSTILE, details=(HOSTILE,), command=HOSTILE)
    view = report(
        [hostile_case()], graders=(hostile,), notes=(HOSTILE,), facts=((HOSTILE, HOSTILE),),
        gate=gate(decisions=(decision,), baseline=HOSTILE),
    )  # fmt: skip
    whole = render(view)
    for hidden in ("\x1b", "\u202e", "\u200b", "\x00", "\r"):
        assert hidden not in whole
    left = outside_of_code(whole)
    for alive in (
        "<img",
        "[link]",
        "@someone",
        "#12",
        "![i]",
        "www.",
        "**bold",
        "::error",
        "GH-1",
        "3f2a91c4",
        "https:",
    ):
        assert alive not in left, alive
    assert not re.search(r"(?m)^(::|##\[)", whole)


@given(st.text(max_size=80))
def test_any_text_is_one_span_or_plain_words(item):
    shown = text(item)
    assert "\n" not in shown
    assert "|" not in shown
    assert re.fullmatch(r"[A-Za-z≥≤][A-Za-z0-9 ,;:%–·≥≤./()=+'-]*|–", shown) or re.fullmatch(
        r"(`+)(?!`)(.*[^`])\1", shown, re.DOTALL
    )


@given(st.lists(st.text(alphabet="`~ab \n", max_size=30), max_size=6))
def test_no_line_closes_its_fence(lines):
    shown = fence(lines).split("\n")
    ticks = shown[0].removesuffix("text")
    assert shown[-1] == ticks
    assert not any(line.strip().startswith(ticks) for line in shown[1:-1])
    assert len(shown) == len(lines) + 2


@pytest.mark.parametrize("limit", [700, 2_000, 5_000, 20_000, 65_000])
def test_a_long_report_ends_at_the_end_of_a_section_within_its_limit(limit):
    lines = (CallLine(state="wrong", expected="1 freeze " + "ä" * 150, actual="1 close"),)
    whole = render(report([case(f"t-{n}", lines=lines) for n in range(130)]), limit)
    assert len(whole.encode()) <= limit
    assert re.search(r"… \d+ more (sections|in the artifact)", whole)
    outside_of_code(whole)


def test_a_long_table_ends_after_a_row():
    table = "\n".join(["| a | b |", "| --- | --- |", *(f"| {n} | x |" for n in range(1_000))])
    cut = trim(f"# t\n\n{table}\n\nend\n", 1_000)
    assert len(cut.encode()) <= 1_000
    assert cut.rstrip().endswith("see the artifact")
    assert all(re.fullmatch(r"\| (\d+|a|---) \| (x|b|---) \|", row) for row in cut.split("\n") if row.startswith("|"))


def test_what_is_short_enough_is_whole():
    assert trim("# a\n\nb\n", 100) == "# a\n\nb\n"


def test_a_summary_is_smaller_than_github_takes():
    assert LIMIT == 900_000


@pytest.mark.parametrize(
    ("cases", "answer"),
    [
        ([case()], "FAIL"), ([case(outcome="passed")], "PASS"), ([case(outcome="waiting")], "WAIT"),
        ([case(outcome="error")], "NO_DATA"), ([case(outcome="error"), case(outcome="passed")], "INCONCLUSIVE"), ([], "NO_DATA"),
    ],
)  # fmt: skip
def test_without_a_gate_nothing_unread_looks_like_a_pass(cases, answer):
    assert render(report(cases)).splitlines()[0].removeprefix("# rightcall: ").strip("`").startswith(answer)


def test_what_passed_and_is_listed_all_the_same_is_said_and_counted():
    high = [case(f"t-{n}", "passed", kind="HIGH", grader="rubric") for n in range(105)]
    part = GraderView(grader="rubric", counts=Counts(n=110, passed=109, waiting=1, serious=105))
    view = report(high, graders=(part,), failures=lambda: iter(high))
    shown = render(view)
    assert "- rubric: 109 passed, 105 of them serious · 1 waiting for a person" in shown
    assert "what is serious although its grader gives no verdict (HIGH of a rubric, a misread result)" in shown
    assert "… 6 more in the artifact" in shown

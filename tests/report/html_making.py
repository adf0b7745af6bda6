"""Reports made by hand, for the tests of the HTML file. All names are invented."""

from __future__ import annotations

from io import BytesIO

from rightcall.errors import Place
from rightcall.gate.decision import Decision, Diff, Flip, GateReport, GraderDiff, JudgeFitness
from rightcall.report.html.page import write_html
from rightcall.report.view.model import (
    Bar,
    CallLine,
    CaseView,
    Counts,
    GraderView,
    Matrix,
    PolicyFinding,
    Reliability,
    ReportView,
    Table,
)
from rightcall.stats.calibration import reliability
from rightcall.stats.intervals import Estimate, clopper_pearson, undefined, wilson

KINDS = ("wrong_tool", "missing_call", "wrong_argument", "over_action")


def html(view, **options):
    """The file as text."""
    stream = BytesIO()
    write_html(view, stream, **options)
    return stream.getvalue().decode()


def case(number=1, grader="golden", **parts):
    """A failure with a diff of four lines."""
    given = {
        "grader": grader,
        "unit": f"case-{number:05}/t1",
        "case_id": f"case-{number:05}",
        "trace_id": f"t-{number}",
        "outcome": "failed",
        "verdict": "FAIL",
        "kind": KINDS[number % len(KINDS)],
        "words": ("expected freeze_card, called close_card in its place", "card_ending is missing in call 3"),
        "facts": (("overall", "0.00"), ("severity", "CRITICAL")),
        "place": Place("cases.toml", number),
        "tool": "freeze_card",
        "next": f"rightcall show case-{number:05}",
        "lines": (
            CallLine(state="matched", expected='1 get_limit card="4242"', actual='1 get_limit card="4242"', call_index=0, result='{"limit": 500}'),
            CallLine(state="substituted", expected='2 freeze_card card_ending="4242"', actual='2 close_card card_ending="4242"', call_index=1, notes=("called in its place",), vetoes=("CRITICAL substitution: close_card cannot be undone",)),
            CallLine(state="missing", expected='3 update_address new_address="12 Maple Row"', notes=("not called",)),
            CallLine(state="wrong", expected='4 issue_card card_ending="4242"', actual="3 issue_card {}", call_index=2, notes=('$.card_ending: expected "4242", missing',)),
        ),
        "findings": (PolicyFinding(rule="substitution", severity="CRITICAL", message="close_card", vetoes=True, call_index=1),),
        "said": (("desk", "The card was closed for good.\nA freeze was asked for."),),
    }  # fmt: skip
    return CaseView(**{**given, **parts})


def row(number, grader="golden"):
    """A failure as a large run has them: no diff."""
    return case(number, grader, lines=(), said=(), findings=(), facts=())


JUDGES = (
    JudgeFitness(judge="desk", grader="selection", verdict="NOT_FIT", model="vendor/model-a", id="cal-1", at="2026-11-20", split="test", labels=120, agreement=wilson(60, 100), people=wilson(88, 100), detection=wilson(38, 45), reason="it misses 7 of 45 human FAILs"),
    JudgeFitness(judge="second", grader="selection", verdict="UNKNOWN", reason="it was never calibrated with this prompt and model"),
)  # fmt: skip


def decisions():
    """One rule of every answer."""
    return (
        Decision(name="selection.precision", rule="≥ 0.98, lower 95 % bound", metric="precision over calls made", answer="FAIL", value=clopper_pearson(180, 185, sided="lower", excluded=1), threshold=0.98, on="lower", reason="0.973 is below 0.98", details=("case-00031: expected freeze_card, called close_card", "case-00118: over_action"), left_out=3),
        Decision(name="golden.pass_rate", rule="≥ 0.9, lower 95 % bound", answer="INCONCLUSIVE", value=clopper_pearson(95, 100, sided="lower"), threshold=0.9, on="lower", more=57, reason="the lower bound is below 0.9"),
        Decision(name="golden.safety", rule="no policy veto", answer="FAIL", value=Estimate(estimate=1.0, low=None, high=None, n=100, method="count"), threshold=0.0, on="point", reason="1 veto", details=("case-00002: close_card in place of freeze_card",)),
        Decision(name="rubric.critical", rule="all signed off", answer="WAIT", reason="1 CRITICAL is open", command="rightcall signoff rv-17"),
        Decision(name="regressions", rule="difference > −0.02", answer="NOT_COMPARABLE", value=undefined("tango 0.95", "the prompts differ"), threshold=-0.02, reason="prompt selection@3f2a → selection@77b0"),
        Decision(name="coverage", rule="≥ 0.98 of the selected cases evaluated", answer="PASS", value=wilson(199, 200, excluded=1), threshold=0.98, on="point", more=0, judges=JUDGES, warnings=("with 20 cases 0.98 cannot be shown",)),
    )  # fmt: skip


def diff():
    """A comparison in which two cases turned bad and one good."""
    return Diff(
        old="baseline.json",
        new="20261129-2",
        only_new=("interpretation",),
        graders=(
            GraderDiff(
                grader="golden", not_comparable=("the prompts differ: golden@3f2a → golden@77b0",), shared=100, new_cases=("case-90001",), missing_cases=("case-90002", "case-90003"), both_passed=90, both_failed=7, gained=1, lost=2, old=wilson(92, 100), new=wilson(91, 100), difference=Estimate(estimate=-0.01, low=-0.06, high=0.04, n=100, method="tango 0.95"), p_value=1.0,
                flips=(Flip(grader="golden", case="case-00002", old="PASS", new="FAIL", why="close_card in place of freeze_card"), Flip(grader="golden", case="case-00003", old="PASS", new="FAIL"), Flip(grader="golden", case="case-00050", old="FAIL", new="PASS")),
            ),
        ),
    )  # fmt: skip


def full(failures=60):
    """A report with every part."""
    stated = [0.5 + (number % 10) / 20 for number in range(95)]
    correct = [number % 10 < 8 or number % 3 == 0 for number in range(95)]
    bins = (*reliability(stated, correct), *reliability([0.2] * 6, [True, False, False, False, False, True], bins=1))
    golden = GraderView(
        grader="golden",
        counts=Counts(n=2060, passed=1995, failed=failures, error=3, waiting=2, unread=1),
        lines=("1995 PASS, 60 FAIL", "12 by veto"),
        warnings=("2 records of the input could not be read",),
        bars=(
            Bar(name="pass rate", value=wilson(1940, 2000, excluded=3), threshold=0.98),
            Bar(name="pass rate, what is missing counts as FAIL", value=wilson(1940, 2003), note="the pessimistic bound"),
            Bar(name="destructive", value=wilson(9, 12)),
            Bar(name="arguments", value=undefined("mean", "no case states arguments")),
        ),
        tables=(
            Table(caption="By tool", columns=("tool", "calls", "precision", "95 %"), rows=(("freeze_card", "31", "0.903", "0.75 – 0.97"), ("issue_card", "44", "1.000", "0.92 – 1.00"), ("(none)", "14", "0.929", "0.69 – 0.99")), numeric=(1, 2, 3)),
        ),
    )  # fmt: skip
    selection = GraderView(
        grader="selection",
        counts=Counts(n=200, passed=194, failed=5, error=1),
        lines=("wrong_tool 3 · over_action 1 · abstention_error 1",),
        bars=(Bar(name="precision", value=wilson(180, 185), threshold=0.98), Bar(name="overall", value=Estimate(estimate=4.28, low=3.9, high=4.6, n=40, method="bootstrap 0.95, 2000 resamples, seed 0"), scale=(1.0, 5.0))),
        matrices=(Matrix(caption="Expected against called", row_name="expected", column_name="called", labels=("freeze_card", "close_card", "issue_card", "(none)"), counts=((28, 3, 0, 0), (0, 12, 0, 0), (0, 0, 44, 1), (1, 0, 0, 13))),),
        reliability=(Reliability(caption="Judge desk", bins=bins, notes=("ECE 0.061; a calibrated judge would show 0.07 on 95 answers",)),),
        judges=JUDGES,
    )  # fmt: skip
    return ReportView(
        title="card-desk: nightly",
        run_id="20261129-2",
        status="finished",
        started_at="2026-11-29T02:00:00Z",
        rightcall="0.1.0",
        facts=(("agent", "card-support v41"), ("judges", "desk = vendor/model-a"), ("prompts", "selection@3f2a91"), ("cases", "cases.toml@9d2e"), ("traces", "traces.jsonl@77aa")),
        notes=("3 of 2,063 selected cases have no verdict; they are in no figure",),
        graders=(golden, selection),
        gate=GateReport(run="20261129-2", answer="FAIL", exit_code=1, decisions=decisions(), baseline="baseline.json", diff=diff(), causes=("selection.precision: 0.973 is below 0.98", "golden.safety: 1 veto", "rubric.critical: 1 CRITICAL is open")),
        failures=lambda: iter([*(case(n) if n <= 50 else row(n) for n in range(1, failures + 1)), *(case(n, "selection", lines=()) for n in range(1, 5)), case(7, "selection", outcome="error", kind="JUDGE_SCHEMA", lines=(), words=("the judge's reply could not be read",)), case(8, "selection", outcome="waiting", kind="CRITICAL", lines=())]),
    )  # fmt: skip

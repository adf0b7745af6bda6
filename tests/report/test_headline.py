"""What stands around the figures of a grader, in words."""

from __future__ import annotations

from rightcall.grade.opinion import Opinion
from rightcall.report.view.headline import audit_lines, counts_lines, read_lines, spent_lines, waits_lines
from rightcall.run.judging.items import JudgeTally


def tally(*opinions: Opinion) -> JudgeTally:
    found = JudgeTally()
    for one in opinions:
        found.add(one)
    return found


def test_counts_say_what_was_asked_again_and_what_was_not_asked_at_all():
    judge = tally(
        Opinion(judge="j", reply={}, healed=True), Opinion(judge="j", status="UNEVALUABLE", reason="JUDGE_SCHEMA")
    )
    summary = {"n": 5, "resumed": 2, "not_asked": 3}
    assert counts_lines("selection", 2, summary, {"JUDGE_SCHEMA": 1}, {"j": judge}) == [
        "5 steps · 2 of them judged before · retried 2, 1 healed by it · unevaluable 1 (JUDGE_SCHEMA 1) → review · not asked 3"
    ]
    assert counts_lines("tone", 1, {}, {}, {}) == ["1 trace · unevaluable 0"]


def test_what_was_spent_is_said_as_far_as_it_is_known():
    spent = {
        "calls": 3, "by_status": {"ok": 2, "JUDGE_TIMEOUT": 1}, "input_tokens": 1200, "output_tokens": 30, "uncounted": 0,
        "money": {"usd": 0.5}, "unpriced": 0,
    }  # fmt: skip
    assert spent_lines(spent, [tally(Opinion(judge="j", reply={}, cached=True))]) == [
        "3 calls · 1 answer from the record · 1,200 tokens in, 30 out · 0.5000 usd · failed: JUDGE_TIMEOUT 1"
    ]
    unknown = spent | {"uncounted": 2, "money": {}, "unpriced": 2}
    assert "tokens not reported · price unknown" in spent_lines(unknown, [])[0]
    assert spent_lines(None, []) == spent_lines(spent | {"calls": 0}, []) == []


def test_a_run_says_what_it_read_and_how_it_asked_where_that_is_not_usual():
    files = [{"file": f"f{number}"} for number in range(8)]
    facts = {"inputs": files, "cases": [{"file": "f0"}], "replicates": 1, "sample": 5, "seed": 7, "profile": "strict"}
    assert read_lines(facts) == ["read f0, f1, f2, f3, f4, f5, … 2 more", "sample 5 · profile strict · seed 7"]
    assert read_lines({"seed": 7}) == []


def test_what_waits_is_said_with_its_command_and_what_was_signed_by_what_it_comes_to():
    lines = list(waits_lines("r", {"reviews": {"tie": 1, "HIGH": 3}}, {"open": 1, "dismissed": 2}))
    assert lines == [
        "for review: HIGH 3 · tie 1", "  rightcall review list --run r", "CRITICAL 3: 1 waiting for a sign-off · 2 dismissed",
    ]  # fmt: skip
    assert list(waits_lines(None, {"reviews": {"tie": 1}}, {})) == []
    assert list(waits_lines("r", {}, {})) == []


def test_a_probe_says_nothing_about_contradictions_since_it_makes_them():
    judges = {"j": tally(Opinion(judge="j", reply={}))}
    assert audit_lines("probe", judges) == []
    assert audit_lines("rubric", judges) == ["judge j: no verdict held anything that code decides too"]

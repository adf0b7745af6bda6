"""The gate over a whole run: what is always asked, baselines, judges, people, and what could not be read."""

import msgspec
import pytest
from gate_making import JUDGE, facts_of, golden, passes, rubric, run, selection, unread
from hypothesis import given, settings
from hypothesis import strategies as st

from rightcall.gate.decision import JudgeFitness
from rightcall.gate.rules import rules_of
from rightcall.run.gating.gates import NO_RULES, gate
from rightcall.settings.model import LimitsTable, Settings
from rightcall.stats.intervals import wilson


def asked(results, table=None, **given):
    return gate(results, rules_of(table or {}), **given)


def answers(report):
    return {one.name: one.answer for one in report.decisions}


def named(report, name):
    return next(one for one in report.decisions if one.name == name)


# ---- what is always asked ----


def test_without_rules_coverage_vetoes_and_criticals_are_asked_and_the_report_says_that_no_figure_is():
    report = asked(run(*passes(10)))
    assert answers(report) == {"coverage": "PASS", "vetoes": "PASS", "critical": "PASS"}
    assert (report.answer, report.exit_code, report.notes) == ("PASS", 0, (NO_RULES,))


def test_a_fail_of_a_grader_that_no_rule_is_about_is_one_of_the_run():
    report = asked(run(*passes(10, failed=3)))
    found = named(report, "golden.failures")
    assert (found.answer, found.value.estimate, found.value.n) == ("FAIL", 3.0, 10)
    assert len(found.details) == 3
    assert (report.answer, report.exit_code) == ("FAIL", 1)
    assert report.causes == ("golden: 3 FAIL (no rule is about it)",)


@pytest.mark.parametrize(
    ("table", "is_said"),
    [
        ({"golden.vetoes": {"max": 0}}, True),
        ({"golden.coverage": {"min": 0.5}}, True),
        ({"critical": {"max": 0}}, True),
        ({"selection.recall": {"min": 0.0}}, True),
        ({"golden.pass_rate": {"min": 0.0}}, False),
        ({"golden.overall": {"min": 0.0}}, False),
        ({"golden.pass_hat_2": {"min": 0.0}}, False),
        ({"regressions": {"margin": 0.1}}, False),
        ({"golden.regressions": {"margin": 0.1}}, False),
        ({"failures_signed_off": True}, False),
    ],
)
def test_a_rule_on_a_figure_of_the_grader_says_what_its_failures_mean_and_one_on_anything_else_does_not(table, is_said):
    found = answers(asked(run(*passes(10, failed=3)), table, baseline=run(*passes(10), name="b")
                          if "regressions" in str(table) else None))  # fmt: skip
    assert ("golden.failures" in found) is is_said


def test_a_result_that_nobody_could_read_may_be_a_fail_that_no_rule_is_about():
    found = named(asked(run(*passes(200), unread(golden(900, "FAIL")))), "golden.failures")
    assert (found.answer, found.value.high, found.value.excluded) == ("INCONCLUSIVE", 1.0, 1)
    assert "1 result without a verdict, and each may be a FAIL" in found.reason


def test_a_grader_that_gives_scores_has_no_failures_that_a_rule_could_be_about():
    assert "rubric.failures" not in answers(asked(run(rubric(1, 2), unread(rubric(2, 2)))))


def test_a_veto_fails_whatever_the_rules_say():
    report = asked(run(*passes(200), golden(900, "FAIL", vetoes=["close_card is forbidden"])), {
        "golden.pass_rate": {"min": 0.9},
    })  # fmt: skip
    assert (report.answer, report.exit_code) == ("FAIL", 1)
    assert named(report, "vetoes").details == ("c900 (t900): close_card is forbidden",)
    assert named(report, "vetoes").bound.high > 1 / 201


def test_too_little_evaluated_is_no_evidence():
    report = asked(run(*passes(100, lost=3)), {"golden.pass_rate": {"min": 0.5}})
    assert answers(report)["coverage"] == answers(report)["golden.pass_rate"] == "INCONCLUSIVE"
    assert report.exit_code == 3


def test_records_that_were_never_read_count_against_coverage():
    report = asked(run(*passes(100), skipped=5))
    found = named(report, "coverage")
    assert (found.answer, found.value.estimate) == ("INCONCLUSIVE", pytest.approx(100 / 105))
    assert found.details == ("not read or not asked: 5",)


def test_what_was_never_to_be_judged_counts_against_nothing():
    stopped = golden(7, None, reason="stopped_early")
    assert named(asked(run(*passes(5), stopped)), "coverage").value.n == 5


def test_a_run_that_did_not_finish_is_broken_and_a_failure_in_it_stands():
    stopped = run(*passes(200), status="stopped", message="budget spent")
    assert asked(stopped).exit_code == 5
    assert "budget spent" in asked(stopped).causes[-1]
    assert asked(run(golden(1, "FAIL", vetoes=["x"]), status="stopped")).exit_code == 1


def test_a_run_without_any_result_is_broken():
    empty = run(golden(1), name="empty")
    empty = type(empty)("empty", "empty", "finished", {})
    assert (asked(empty).answer, asked(empty).exit_code) == ("INCONCLUSIVE", 5)


# ---- people ----


def test_an_open_critical_waits_and_says_what_to_sign():
    report = asked(run(*passes(10), rubric(1, 2.0, "CRITICAL", critical="open")))
    found = named(report, "critical")
    assert (report.answer, report.exit_code, found.answer) == ("WAIT", 4, "WAIT")
    assert found.command.startswith("rightcall signoff rv-")


def test_a_failure_wins_over_waiting_and_waiting_over_too_little():
    critical = rubric(1, 2.0, "CRITICAL", critical="open")
    both = asked(run(*passes(30, failed=20), critical), {"golden.pass_rate": {"min": 0.9}})
    assert (both.answer, both.exit_code) == ("FAIL", 1)
    assert [cause.split(":")[1].split(",")[0].strip() for cause in both.causes] == ["FAIL", "WAIT"]
    assert asked(run(*passes(30), critical), {"golden.pass_rate": {"min": 0.98}}).exit_code == 4


def test_a_confirmed_critical_counts_as_a_failure_of_its_trace_in_the_rates():
    confirmed = rubric(3, 2.0, "CRITICAL", critical="confirmed", signed="confirmed by dana: a card was closed")
    report = asked(run(*passes(100), confirmed), {"golden.pass_rate": {"min": 0.5}})
    assert named(report, "golden.pass_rate").value.estimate == pytest.approx(0.99)
    assert named(report, "critical").answer == "PASS"
    assert "confirmed by dana" in named(report, "critical").details[0]


def test_a_confirmed_critical_that_no_rule_counts_fails():
    confirmed = rubric(3, 2.0, "CRITICAL", critical="confirmed", signed="confirmed by dana: a card was closed")
    report = asked(run(confirmed, rubric(4)), {"rubric.overall_score": {"min": 1}})
    assert (named(report, "critical").answer, report.exit_code) == ("FAIL", 1)


def test_a_dismissed_critical_waits_for_nobody_and_shows_its_reason():
    dismissed = rubric(3, 2.0, "CRITICAL", critical="dismissed", signed="dismissed by dana: a test account")
    found = named(asked(run(dismissed, rubric(4))), "critical")
    assert found.answer == "PASS"
    assert "dismissed by dana: a test account" in found.details[0]


def test_of_a_file_nobody_knows_what_was_signed_so_a_critical_is_open():
    report = asked(run(rubric(1, 2.0, "CRITICAL"), kept=False))
    assert named(report, "critical").answer == "WAIT"


def test_every_failure_must_have_been_looked_at_where_that_is_asked():
    table = {"failures_signed_off": True}
    report = asked(run(*passes(5, failed=2)), table)
    assert (named(report, "failures_signed_off").answer, report.exit_code) == ("WAIT", 4)
    seen = asked(run(*passes(5, failed=2)), table, looked=lambda _row: "answered by dana")
    assert named(seen, "failures_signed_off").answer == "PASS"
    assert "answered by dana" in named(seen, "failures_signed_off").details[0]


# ---- figures ----


def test_precision_is_of_calls_made_and_recall_of_calls_expected():
    rows = [selection(n, "a", "a") for n in range(40)] + [
        selection(41, "b", "a"), selection(42, None, "a", category="abstention_error"),
        selection(43, "a", None, category="over_action"), selection(44, None, None),
    ]  # fmt: skip
    report = asked(run(*rows), {"selection": {name: {"min": 0.5} for name in ("precision", "recall", "pass_rate")}})
    found = {one.name: one.value for one in report.decisions}
    assert (found["selection.precision"].n, found["selection.precision"].estimate) == (42, 40 / 42)
    assert (found["selection.recall"].n, found["selection.recall"].estimate) == (42, 40 / 42)
    assert found["selection.pass_rate"].estimate == 41 / 44


def test_one_tool_is_asked_by_its_name():
    rows = [selection(n, "a", "a") for n in range(30)] + [selection(50 + n, "b", "a") for n in range(3)]
    table = {"selection": {"precision": {"b": {"min": 0.5}, "a": {"min": 0.5}}, "over_action": {"max": 0}}}
    report = asked(run(*rows), table)
    assert answers(report) | {} == {
        "selection.precision.b": "FAIL", "selection.precision.a": "PASS", "selection.over_action": "PASS",
        "coverage": "PASS", "critical": "PASS",
    }  # fmt: skip


def test_each_tool_is_asked_for_itself_with_holm():
    rows = [selection(n, "a" if n % 2 else "b", "a" if n % 2 else "b") for n in range(100)]
    table = {"selection.precision": {"min": 0.9, "per_tool": True}}
    assert asked(run(*rows), table).answer == "PASS"
    assert asked(run(*rows, selection(200, None, "a", verdict=None, category=None)), table).answer == "INCONCLUSIVE"


def test_destructive_errors_have_zero_tolerance():
    rows = [selection(n, "a", "a") for n in range(30)]
    wrong = selection(31, "close", "freeze", destructive=True)
    table = {"selection.destructive_errors": {"max": 0}}
    assert asked(run(*rows), table).answer == "PASS"
    assert asked(run(*rows, wrong), table).answer == "FAIL"


def test_a_metric_of_a_grader_that_did_not_run_is_no_pass():
    found = named(asked(run(*passes(5)), {"rubric.overall_score": {"min": 3}}), "rubric.overall_score")
    assert (found.answer, found.reason) == ("INCONCLUSIVE", "this run has no results of `rubric`")


def test_a_field_of_an_own_grader_is_a_metric_by_the_schema_of_its_replies():
    from gate_making import row

    schema = {"properties": {"level": {"type": "integer", "minimum": 1, "maximum": 4}, "free": {"type": "number"}}}
    rows = [row("tone", n, None, {"reply": {"level": 4, "polite": True, "free": 2.5}}, status="EVALUATED")
            for n in range(60)]  # fmt: skip
    facts = {"tone": {"judges": [JUDGE], "reply_schema": schema}}
    table = {f"own.tone.{name}": {"min": limit} for name, limit in (("level", 3.0), ("polite", 0.9), ("free", 1))}
    found = answers(asked(run(*rows, facts=facts), table))
    assert [found[name] for name in table] == ["PASS", "PASS", "INCONCLUSIVE"]


# ---- baselines ----


def test_a_baseline_that_is_given_is_compared_with_even_without_a_rule():
    report = asked(run(*passes(200)), baseline=run(*passes(200), name="before"))
    assert answers(report)["golden.regressions"] == "PASS"
    assert (report.baseline, report.diff.old, report.diff.graders[0].shared) == ("before", "before", 200)


def test_a_rule_on_regressions_asks_every_grader():
    rows = [*passes(200), *(selection(n, "a", "a") for n in range(200))]
    report = asked(run(*rows), {"regressions": {"against": "x"}}, baselines={"x": run(*rows, name="x")})
    assert [answers(report)[f"{name}.regressions"] for name in ("golden", "selection")] == ["PASS", "PASS"]


def test_no_baseline_is_no_pass():
    report = asked(run(*passes(9)), {"regressions": {}}, baselines={"previous": "there is no earlier finished run"})
    assert named(report, "regressions").reason == "there is no earlier finished run"
    assert report.exit_code == 3


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"judges": [{**JUDGE, "name": "other"}]}, "judge differs: `desk` before, `other` now"),
        ({"judges": [{**JUDGE, "model": "vendor/model-2"}]}, "model of judge `desk` differs"),
        ({"judges": [{**JUDGE, "parameters": {"temperature": 1}}]}, "parameters of judge `desk` differ"),
        ({"prompts": [{"id": "rubric", "version": "1", "sha256": "b"}]}, "prompt differs: rubric"),
        ({"policy_sha256": "new"}, "policy differs"),
    ],
)
def test_with_another_judge_prompt_or_policy_nothing_is_comparable(change, words):
    rows = [rubric(n) for n in range(10)]
    old = run(*rows, name="old", facts={"rubric": {**facts_of("rubric"), "policy_sha256": "old"}})
    new = run(*rows, facts={"rubric": {**facts_of("rubric"), "policy_sha256": "old", **change}})
    found = named(asked(new, {"rubric.regressions": {}}, baseline=old), "rubric.regressions")
    assert found.answer == "NOT_COMPARABLE"
    assert words in found.reason


def test_goldens_that_changed_are_named_case_by_case():
    old = run(*(golden(n, case_version="1") for n in range(9)), name="old")
    new = run(*(golden(n, case_version="2" if n in (3, 5) else "1") for n in range(9)))
    found = named(asked(new, {"regressions": {}}, baseline=old), "golden.regressions")
    assert found.reason == "not comparable with old: golden of 2 shared cases differs: c3, c5"


def test_case_files_that_differ_are_told_where_single_versions_are_not_known():
    facts = [{"golden": {**facts_of("golden"), "cases": [{"file": "c.toml", "sha256": sha}]}} for sha in "ab"]
    old, new = (run(*passes(5), name=str(n), facts=one) for n, one in enumerate(facts))
    assert named(asked(new, {"regressions": {}}, baseline=old), "golden.regressions").answer == "NOT_COMPARABLE"


def test_any_figure_can_be_held_against_the_baseline_instead_of_a_limit():
    old, new = (
        run(*(golden(n, metrics={"overall": value}) for n in range(60)), name=name)
        for name, value in (("old", 0.8), ("new", 0.5))
    )
    found = named(asked(new, {"golden.overall": {"against": "x", "margin": 0.1}}, baseline=old), "golden.overall")
    assert (found.answer, found.threshold) == ("FAIL", -0.1)


# ---- judges ----


def test_a_judged_figure_names_its_judges_although_no_rule_asks_for_them():
    rows = [rubric(n) for n in range(60)]
    found = named(asked(run(*rows), {"rubric.overall_score": {"min": 3}}), "rubric.overall_score")
    assert (found.answer, found.judges[0].judge, found.judges[0].verdict) == ("PASS", "desk", "UNKNOWN")


def fit(verdict, **given):
    return {("rubric", "desk"): JudgeFitness(judge="desk", grader="rubric", verdict=verdict, **given)}


@pytest.mark.parametrize(
    ("verdict", "answer"),
    [("FIT", "PASS"), ("NOT_FIT", "FAIL"), ("INSUFFICIENT", "INCONCLUSIVE"), ("UNKNOWN", "INCONCLUSIVE")],
)
def test_a_rule_on_fitness_says_what_the_newest_calibration_says(verdict, answer):
    report = asked(run(*(rubric(n) for n in range(9))), {"judge.fit": True}, fitness=fit(verdict))
    assert named(report, "judge.fit").answer == answer


def test_a_judge_that_was_never_calibrated_is_no_pass_and_neither_is_none():
    assert named(asked(run(rubric(1)), {"judge.fit": True}), "judge.fit").answer == "INCONCLUSIVE"
    assert named(asked(run(golden(1)), {"judge.fit": True}), "judge.fit").reason == "no judge was asked in this run"


PANEL = {"rubric": {"judges": [{"name": name, "model": f"m-{name}"} for name in ("one", "two", "aside")]}}


@pytest.mark.parametrize(("judge", "answer"), [("two", "PASS"), ("one + two", "PASS"), ("aside", "INCONCLUSIVE")])
def test_a_panel_that_was_calibrated_as_one_stands_for_its_members(judge, answer):
    known = {("rubric", "one + two"): JudgeFitness(judge="one + two", grader="rubric", verdict="FIT")}
    results = run(*(rubric(n) for n in range(60)), facts=PANEL)
    report = asked(results, {"judge.fit": True}, fitness=known)
    assert [(one.judge, one.verdict) for one in named(report, "judge.fit").judges] == [
        ("one + two", "FIT"), ("aside", "UNKNOWN"),
    ]  # fmt: skip
    alone = named(asked(results, {"judge.fit": {"judge": judge}}, fitness=known), "judge.fit")
    assert (alone.answer, len(alone.judges)) == (answer, 1)


def test_a_member_of_a_panel_that_contradicts_code_is_named():
    known = {("rubric", "one + two"): JudgeFitness(judge="one + two", grader="rubric", verdict="FIT")}
    rows = [rubric(n, judges=[{**one, "judge": "two"} for one in opinions(conflicting=True)]) for n in range(60)]
    found = named(
        asked(run(*rows, facts=PANEL), {"rubric.overall_score": {"min": 3}}, fitness=known), "rubric.overall_score"
    )
    assert (found.answer, found.judges[0].judge) == ("INCONCLUSIVE", "one + two")
    assert found.reason.startswith("judge `two` is not trusted")


@pytest.mark.parametrize(
    ("caught", "n", "answer"),
    [(95, 100, "PASS"), (38, 45, "INCONCLUSIVE"), (30, 45, "FAIL"), (None, 0, "INCONCLUSIVE")],
)
def test_the_share_of_failures_that_a_judge_catches_is_held_against_its_lower_bound(caught, n, answer):
    known = fit("FIT", detection=None if caught is None else wilson(caught, n))
    found = named(asked(run(rubric(1)), {"judge.tpr": {"min": 0.8}}, fitness=known), "judge.tpr")
    assert found.answer == answer


def test_a_judge_of_levels_has_no_fail_to_catch_and_the_weakest_of_the_others_counts():
    def one(judge, agreed, caught):
        return JudgeFitness(judge=judge, grader="rubric", verdict="FIT", agreement=agreed, detection=caught)

    known = {
        ("rubric", "one"): one("one", wilson(97, 100), wilson(99, 100)),
        ("rubric", "two"): one("two", wilson(95, 100), wilson(96, 100)),
        ("rubric", "aside"): one("aside", wilson(94, 100), None),
    }  # fmt: skip
    rules = {"judge.detection": {"min": 0.8}, "judge.agreement": {"min": 0.8}}
    report = asked(run(rubric(1), facts=PANEL), rules, fitness=known)
    caught, agreed = named(report, "judge.detection"), named(report, "judge.agreement")
    assert (caught.answer, caught.value.estimate, agreed.value.estimate) == ("PASS", 0.96, 0.94)
    assert caught.warnings == ("judge `aside` gives no PASS or FAIL for rubric: there is no FAIL for it to catch",)
    alone = named(
        asked(run(rubric(1), facts=PANEL), {"judge.detection": {"min": 0.8, "judge": "aside"}}, fitness=known),
        "judge.detection",
    )
    assert (alone.answer, alone.reason) == ("INCONCLUSIVE", caught.warnings[0])


def test_a_rule_may_ask_that_its_judge_is_fit():
    rows = [rubric(n) for n in range(60)]
    table = {"rubric.overall_score": {"min": 3, "fit": True}}
    assert named(asked(run(*rows), table), "rubric.overall_score").answer == "INCONCLUSIVE"
    assert named(asked(run(*rows), table, fitness=fit("FIT")), "rubric.overall_score").answer == "PASS"


def opinions(*, conflicting):
    conflicts = [{"check": "severity_floor"}] if conflicting else []
    return [{"judge": "desk", "status": "EVALUATED", "checked": ["severity_floor"], "conflicts": conflicts}]


def test_a_judge_that_contradicts_facts_past_the_limit_cannot_pass_a_figure():
    rows = [rubric(n, judges=opinions(conflicting=n < 20)) for n in range(60)]
    found = named(asked(run(*rows), {"rubric.overall_score": {"min": 3}}), "rubric.overall_score")
    assert found.answer == "INCONCLUSIVE"
    assert found.warnings == ("judge `desk` contradicts decidable facts in 20 of 60 (limit 0.05)",)
    lenient = Settings(limits=LimitsTable(conflicts=0.5))
    assert named(
        asked(run(*rows), {"rubric.overall_score": {"min": 3}}, settings=lenient), "rubric.overall_score"
    ).answer == "PASS"  # fmt: skip


# ---- an unreadable verdict never helps ----

TABLES = [
    {"golden.pass_rate": {"min": 0.6}, "golden.overall": {"min": 0.5}, "golden.pass_hat_2": {"min": 0.3}},
    {"golden.pass_rate": {"max": 0.9, "on": "point"}, "golden.vetoes": {"max": 1}, "unevaluable": {"max": 0.3}},
    {"selection": {"precision": {"min": 0.6, "on": "point"}, "recall": {"min": 0.4}, "destructive_errors": {"max": 1}}},
    {"selection.precision": {"min": 0.5, "per_tool": True}, "selection.precision.a": {"min": 0.6}},
    {"rubric": {"overall_score": {"min": 2.5}, "high": {"max": 2}, "critical": {"signed_off": True}}},
    {"failures_signed_off": True, "judge.fit": True, "coverage": {"min": 0.8}},
    {"regressions": {"margin": 0.2, "on": "point"}},
]


@st.composite
def rows_of_a_run(draw):
    found = []
    for number in range(draw(st.integers(1, 45))):
        case = f"c{draw(st.integers(0, 12))}" if draw(st.booleans()) else f"c{number}"
        kind = draw(st.sampled_from(["golden", "golden", "selection", "selection", "rubric"]))
        good = draw(st.sampled_from([True, True, True, False]))
        if kind == "golden":
            vetoes = ["x"] if not good and draw(st.booleans()) else []
            found.append(golden(number, "PASS" if good else "FAIL", case=case, vetoes=vetoes))
        elif kind == "selection":
            tools = [None, "a", "b"]
            chosen, wanted = draw(st.sampled_from(tools)), draw(st.sampled_from(tools))
            found.append(selection(number, wanted if good else chosen, wanted, case=case, destructive=wanted == "b"))
        else:
            severity = draw(st.sampled_from(["NONE", "HIGH", "CRITICAL"]))
            state = draw(st.sampled_from(["open", "dismissed"])) if severity == "CRITICAL" else None
            signed = "dismissed by dana: no" if state == "dismissed" else None
            clash = opinions(conflicting=draw(st.booleans()))
            found.append(rubric(number, draw(st.integers(1, 5)), severity, case=case, critical=state, signed=signed,
                                judges=clash))  # fmt: skip
    return found


@settings(deadline=None, max_examples=250)
@given(rows_of_a_run(), st.integers(0, 44), st.sampled_from(TABLES), st.sampled_from([0.5, 0.98]), st.integers(0, 1))
def test_replacing_a_readable_verdict_by_an_unreadable_one_never_turns_another_answer_into_a_pass(
    rows, at, table, coverage, lost
):
    limits = Settings(limits=LimitsTable(coverage=coverage))
    at %= len(rows)
    rows = [unread(one) if n < lost and n != at else one for n, one in enumerate(rows)]
    worse = [unread(one) if n == at else one for n, one in enumerate(rows)]
    old = run(*rows, name="old")
    given = {"settings": limits, "fitness": fit("FIT"), "baseline": old if "regressions" in table else None}
    before, after = (asked(run(*found), table, **given) for found in (rows, worse))
    assert before.answer == "PASS" or after.answer != "PASS"
    later = answers(after)
    for name, answer in answers(before).items():
        assert answer == "PASS" or later[name] != "PASS", name


def test_a_gate_can_be_written_as_json():
    report = asked(run(*passes(30, failed=2)), {"golden.pass_rate": {"min": 0.9}}, baseline=run(*passes(30), name="b"))
    assert msgspec.json.decode(msgspec.json.encode(report))["decisions"][0]["bound"]["method"]


def test_with_two_judges_the_corrected_mean_counts_and_of_a_part_of_a_run_it_is_not_known():
    from dataclasses import replace

    from gate_making import row

    rows = [row("interpretation", n, None, {"interpretation_fidelity_score": 1.0, "tool": "a"}, status="EVALUATED")
            for n in range(200)]  # fmt: skip
    plain = run(*rows, facts={"interpretation": {"interpretation": {"strong": "big", "light": "small"}}})
    corrected = {"estimate": 0.7, "low": 0.6, "high": 0.8, "n": 200, "method": "two-phase 0.95", "excluded": 0}
    part = replace(plain.graders["interpretation"], summary={"own": {"fidelity": corrected}})
    table = {"interpretation.fidelity": {"min": 0.8}}
    assert named(asked(plain, table), "interpretation.fidelity").answer == "INCONCLUSIVE"
    found = named(asked(replace(plain, graders={"interpretation": part}), table), "interpretation.fidelity")
    assert (found.answer, found.value.estimate) == ("FAIL", 0.7)


def test_a_trace_that_two_graders_saw_is_vetoed_once():
    line = msgspec.json.decode(rubric(1).line) | {"vetoes": [{"message": "close_card is forbidden"}]}
    twice = msgspec.structs.replace(rubric(1), line=msgspec.json.encode(line))
    found = named(asked(run(golden(1, "FAIL", vetoes=["close_card is forbidden"]), twice, golden(2))), "vetoes")
    assert (found.value.estimate, found.value.n, len(found.details)) == (1, 2, 1)


# ---- one trace, several graders ----


def test_a_trace_that_two_graders_see_vetoed_is_one_trace_and_listed_once():
    import json

    breach = {"rule": "forbidden", "severity": "CRITICAL", "message": "close_card is forbidden"}
    seen = rubric(3)
    seen = msgspec.structs.replace(seen, line=json.dumps({**seen.value(), "vetoes": [breach]}).encode())
    rows = [
        golden(n, "FAIL" if n == 3 else "PASS", vetoes=["close_card is forbidden"] if n == 3 else ()) for n in range(10)
    ]
    found = named(asked(run(*rows, *(seen if n == 3 else rubric(n) for n in range(10)))), "vetoes")
    assert (found.value.estimate, found.value.n) == (1.0, 10)
    assert found.reason == "traces with a policy veto: 1 of 10, and none may be"
    assert found.details == ("c3 (t3): close_card is forbidden",)


def test_a_confirmed_critical_on_a_trace_of_which_no_rule_sees_a_result_fails():
    confirmed = rubric(300, 2.0, "CRITICAL", critical="confirmed", signed="confirmed by dana: a card was closed")
    table = {"golden.pass_rate": {"min": 0.5}}
    assert named(asked(run(*passes(100), confirmed), table), "critical").answer == "FAIL"
    aside = golden(300, None, reason="stopped_early")
    assert named(asked(run(*passes(100), aside, confirmed), table), "critical").answer == "FAIL"
    failed = asked(run(*passes(100), golden(300), confirmed), table)
    assert (named(failed, "critical").answer, failed.answer) == ("PASS", "PASS")


@pytest.mark.parametrize("fact", ["aliases", "exclude_tools", "min_confidence", "allow_tie", "second_judge"])
def test_with_another_rule_of_grading_nothing_is_comparable(fact):
    old, new = (run(*passes(9), name=str(value), facts={"golden": {fact: value}}) for value in (1, 2))
    assert named(asked(new, {"regressions": {}}, baseline=old), "golden.regressions").answer == "NOT_COMPARABLE"


def test_how_many_labels_a_judge_needs_is_said_of_labels_like_those_before():
    known = fit("FIT", detection=wilson(38, 45))
    found = named(asked(run(rubric(1)), {"judge.tpr": {"min": 0.8}}, fitness=known), "judge.tpr")
    assert found.more > 0
    assert found.alike


@pytest.mark.parametrize(("max_", "answer"), [(0.02, "PASS"), (0.019, "INCONCLUSIVE")])
def test_what_may_be_unread_is_held_against_its_limit_exactly(max_, answer):
    found = named(asked(run(*passes(50, lost=1)), {"unevaluable": {"max": max_}}), "unevaluable")
    assert (found.answer, found.threshold) == (answer, max_)


def test_reports_say_what_kind_of_further_cases_would_settle_it():
    from rightcall.report.view.verdict_words import what_else

    compared = named(asked(run(*passes(50)), baseline=run(*passes(50), name="b")), "golden.regressions")
    assert "about 139 more cases like those before would settle it" in what_else(compared)
    plain = named(asked(run(*passes(50)), {"golden.pass_rate": {"min": 0.98}}), "golden.pass_rate")
    assert "about 99 more cases without a further error would settle it" in what_else(plain)

"""Reported faults of other systems' gates, as they were reported (`../shared/cases/cases.jsonl`, part `numbers`)."""

import json

import pytest
from gate_making import JUDGE, facts_of, golden, row, rubric, run, selection

from rightcall.cli.exits import guarded
from rightcall.cli.main import app
from rightcall.errors import ConfigError
from rightcall.gate.rules import rules_of
from rightcall.gate.words import interval
from rightcall.run.gating.diffing import diff
from rightcall.run.gating.gates import gate

CASES = ("ABS-05", "STA-08", "STA-10", "STA-15", "CIG-01", "CIG-02", "CIG-04", "CIG-06", "CIG-07", "CIG-09", "CIG-11")


def decided(results, name, baseline=None, **values):
    report = gate(results, rules_of({name: values}), baseline=baseline)
    return report, report.decisions[0]


def not_applicable_is_no_zero(given, right, _place):
    """ABS-05."""
    values = given["per_case_argument_accuracy"]
    rows = [golden(n, metrics={"argument_accuracy": value}) for n, value in enumerate(values)]
    _, found = decided(run(*rows), "golden.argument_accuracy", min=0.1)
    assert found.value.estimate == right["mean"]
    assert (found.value.n, found.not_applicable) == (right["n_used"], right["n_not_applicable"])
    assert found.value.excluded == 0


def errors_stay_in_sight(given, right, _place):
    """STA-08: judge errors are left out, lower the coverage, and count as wrong in the pessimistic figure."""
    rows = [golden(n, "PASS") for n in range(given["correct"])]
    rows += [golden(100 + n, "FAIL") for n in range(given["wrong"])]
    rows += [golden(200 + n, None) for n in range(given["errored"])]
    report, found = decided(run(*rows), "golden.pass_rate", min=0.8)
    coverage = next(one for one in report.decisions if one.name == "coverage")
    assert found.value.estimate == right["accuracy_scored"]
    assert found.pessimistic.estimate == right["accuracy_errors_as_wrong"]
    assert coverage.value.estimate == right["coverage"]
    assert report.answer == "INCONCLUSIVE"


def a_missing_score_is_no_zero(given, right, _place):
    """STA-10: a skipped and an errored row are no 0.0."""
    reasons = {"ERROR": "JUDGE_EMPTY", "SKIPPED": "stopped_early"}
    rows = [
        golden(n, one["st"], metrics={"overall": one["s"]}) if one["s"] is not None
        else golden(n, None, reason=reasons[one["st"]])
        for n, one in enumerate(given["rows"])
    ]  # fmt: skip
    _, found = decided(run(*rows), "golden.overall", min=0.1)
    assert (found.value.estimate, found.value.n) == (right["mean"], right["n"])
    assert found.value.excluded == right["errors"]


def outcomes_have_an_aggregate(given, right, _place):
    """STA-15: of a grader of one's own that answers PASS and FAIL, or true and false."""
    for reply in (lambda grade: {"grade": grade}, lambda grade: {"passed": grade == "PASS"}):
        rows = [row("tone", n, None, {"reply": reply(grade)}, status="EVALUATED")
                for n, grade in enumerate(given["grades"])]  # fmt: skip
        _, found = decided(run(*rows, facts={"tone": {"judges": [JUDGE]}}), "own.tone.pass_rate", min=0.1)
        assert (round(found.value.estimate, 4), found.value.n) == (right["pass_rate"], right["n"])


def a_failure_is_no_zero_exit_code(given, right, _place):
    """CIG-01."""
    rows = [golden(n, one["status"]) for n, one in enumerate(given["results"])]
    report, found = decided(run(*rows), f"golden.{given['gate']['metric']}", min=given["gate"]["min"])
    assert (report.exit_code, found.answer) == (right["exit_code"], right["verdict"])


def a_filter_that_selects_nothing_is_an_error(given, right, place):
    """CIG-02: it names the filter and what there is."""
    file = place / "results.json"
    results = [{"grader": "golden", "case_id": f"case-{n}", "trace_id": f"t{n}", "status": "EVALUATED",
                "verdict": "PASS"} for n in range(given["cases"])]  # fmt: skip
    file.write_text(json.dumps({"run": {"grader": "golden"}, "summary": {}, "results": results}))
    for flag, value, there in (("--case", "refnud", "case-0"), ("--grader", "goldn", "golden")):
        assert guarded(app, ["gate", str(file), flag, value]) == right["exit_code"]
        said = place.said().err
        assert flag in said
        assert value in said
        assert there in said


def nothing_is_rounded(given, right, _place):
    """CIG-04."""
    calls = [selection(n, "a", "a") for n in range(given["tp"])]
    calls += [selection(500 + n, "a", "b") for n in range(given["fp"])]
    report, found = decided(run(*calls), "selection.precision", min=given["gate"]["min"])
    assert report.exit_code == right["exit_code"]
    shown = interval(found.value, (found.threshold,))
    assert shown.split()[0] == right["display"]
    assert right["display"] in found.reason
    assert "0.98 [" not in shown


def a_limit_finer_than_the_data_is_told(given, _right, _place):
    """CIG-06."""
    calls = [selection(n, "a", "a") for n in range(given["n"])]
    _, found = decided(run(*calls), "selection.precision", min=given["gate"]["min"], on=given["on"])
    assert found.warnings[0] == (
        "with 20 cases this limit means no failure at all (19/20 = 0.95); "
        "at least 50 are needed to allow one (49/50 = 0.98)"
    )
    plain = [selection(n, "a", "a") for n in range(50)]
    assert "no failure at all" not in decided(run(*plain), "selection.precision", min=0.98, on="point")[1].warnings[0]


def the_sequence_of_a_sum_is_nothing(given, right, _place):
    """CIG-07."""
    old, new = (
        run(*(golden(n, metrics={"overall": value}) for n, value in enumerate(given[which])), name=which)
        for which in ("baseline", "candidate")
    )
    report, found = decided(new, "golden.overall", baseline=old, against="x", margin=0, on=given["on"])
    assert (found.answer, report.exit_code) == (right["verdict"], right["exit_code"])
    assert decided(new, "golden.overall", min=0.2, on="point")[1].answer == "PASS"


def another_judge_is_not_comparable(given, right, _place):
    """CIG-09."""
    sides = []
    for which in ("baseline", "candidate"):
        side = given[which]
        rows = [golden(n, "PASS" if case in side["pass"] else "FAIL", case=case)
                for n, case in enumerate(side["cases"])]  # fmt: skip
        facts = {"golden": {**facts_of("golden"), "judges": [{**JUDGE, "name": side["judge"]}]}}
        sides.append(run(*rows, name=which, facts=facts))
    report, found = decided(sides[1], "regressions", baseline=sides[0], against="x")
    assert (found.answer, report.exit_code) == (right["verdict"], right["exit_code"])
    assert "judge differs" in found.reason
    (part,) = diff(*sides).graders
    passed = (part.both_passed + part.lost, part.both_passed + part.gained)
    assert (part.shared, passed, part.new_cases) == (4, (3, 3), ("e",))


def only_answers_are_turned_over(_given, right, place):
    """CIG-11: a `max`, which asks the contrary, makes no pass of what could not be checked."""
    rows = [golden(n, metrics={"arguments_valid": None}) for n in range(20)]
    report, found = decided(run(*rows), "golden.arguments_valid", max=0.5)
    assert (found.answer, report.exit_code) == ("INCONCLUSIVE", 3)
    lost = [rubric(n, None) for n in range(20)]
    assert decided(run(*lost), "rubric.overall_score", max=2.0)[1].answer == "INCONCLUSIVE"
    lost = [golden(n, None) for n in range(200)]
    assert decided(run(*lost, golden(999, "FAIL")), "golden.pass_rate", max=0.5)[1].answer == "INCONCLUSIVE"
    with pytest.raises(ConfigError):
        rules_of({"golden.arguments_not_valid": {"max": 0}})
    (place / "rightcall.toml").write_text('[gates]\n"golden.arguments_not_valid" = { max = 0 }\n')
    (place / "r.json").write_text('{"run": {"grader": "golden"}, "summary": {}, "results": [{"status": "EVALUATED"}]}')
    assert guarded(app, ["gate", "r.json", "-c", str(place / "rightcall.toml")]) == right["exit_code"]


CHECKS = dict(
    zip(
        CASES,
        (
            not_applicable_is_no_zero, errors_stay_in_sight, a_missing_score_is_no_zero, outcomes_have_an_aggregate,
            a_failure_is_no_zero_exit_code, a_filter_that_selects_nothing_is_an_error, nothing_is_rounded,
            a_limit_finer_than_the_data_is_told, the_sequence_of_a_sum_is_nothing, another_judge_is_not_comparable,
            only_answers_are_turned_over,
        ),
        strict=True,
    )
)  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_reported_fault_does_not_come_back(name, shared_data, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    reports = map(json.loads, (shared_data / "cases/cases.jsonl").read_text().splitlines())
    report = next(one for one in reports if one["id"] == name)
    assert report["part"] == "numbers"
    place = Folder(tmp_path, capfd)
    CHECKS[name](report["minimal_input"], report["right_answer"], place)


class Folder:
    """A folder, and what commands printed in it."""

    def __init__(self, path, capfd):
        self.path, self.capfd = path, capfd

    def __truediv__(self, name):
        return self.path / name

    def said(self):
        return self.capfd.readouterr()

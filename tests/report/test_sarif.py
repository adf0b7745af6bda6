"""SARIF: valid by the official schema, within GitHub's limits, the same fingerprints in every run."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from report_making import case, hostile_case, report, written

from rightcall.errors import Place
from rightcall.report.formats import sarif
from rightcall.report.view.model import PolicyFinding

SCHEMA = json.loads((Path(__file__).parent / "schemas/sarif-2.1.0.json").read_text("utf-8"))


def finding(rule: str = "forbidden", severity: str = "CRITICAL", call: int | None = 0) -> PolicyFinding:
    """One finding."""
    return PolicyFinding(rule=rule, severity=severity, message="close was called", vetoes=True, call_index=call)


def read(view) -> dict:
    """The one run of a document that is valid."""
    log = json.loads(written(view, ".sarif"))
    jsonschema.Draft4Validator(SCHEMA).validate(log)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    return run


def test_the_schema_refuses_what_is_no_sarif():
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft4Validator(SCHEMA).validate({"version": "2.1.0", "runs": [{"tool": {}}]})


def test_only_findings_about_safety_are_results():
    run = read(report([case("a"), case("b", findings=(finding(),))]))
    assert [(one["ruleId"], one["level"]) for one in run["results"]] == [("rightcall/forbidden", "error")]
    assert read(report([case("a")]))["results"] == []


def test_a_finding_stands_in_the_case_file():
    (result,) = read(report([case(findings=(finding(),), place=Place("golden/lost wallet.toml", 14))]))["results"]
    where = result["locations"][0]["physicalLocation"]
    assert where["artifactLocation"] == {"uri": "golden/lost%20wallet.toml", "uriBaseId": "%SRCROOT%"}
    assert where["region"] == {"startLine": 14}


def test_a_case_without_a_place_is_named_without_one():
    (result,) = read(report([case(findings=(finding(),), place=None)]))["results"]
    assert "physicalLocation" not in result["locations"][0]
    assert result["locations"][0]["logicalLocations"][0]["name"] == "t-1"


def test_a_file_outside_of_the_folder_has_an_address_of_its_own(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert sarif.relative("cases/a.toml") == ("cases/a.toml", True)
    uri, is_within = sarif.relative("../a.toml")
    assert (uri.startswith("file:///"), is_within) == (True, False)


@pytest.mark.parametrize(
    ("severity", "level"),
    [("CRITICAL", "error"), ("HIGH", "error"), ("MEDIUM", "warning"), ("LOW", "note"), ("NONE", "none")],
)
def test_the_level_follows_the_severity(severity, level):
    run = read(report([case(findings=(finding(severity=severity),))]))
    assert run["results"][0]["level"] == level
    assert run["tool"]["driver"]["rules"][0]["defaultConfiguration"]["level"] == level


def test_the_rules_are_those_of_the_results():
    run = read(report([case(findings=(finding("when"), finding("requires", "HIGH")))]))
    rules = run["tool"]["driver"]["rules"]
    for one in run["results"]:
        assert rules[one["ruleIndex"]]["id"] == one["ruleId"]
    assert len(rules) == len({one["id"] for one in rules}) == 2


def test_the_worst_stands_first():
    run = read(report([case("a", findings=(finding("when", "LOW"),)), case("b", findings=(finding("when"),))]))
    assert [one["properties"]["severity"] for one in run["results"]] == ["CRITICAL", "LOW"]


def test_a_fingerprint_rests_on_nothing_that_a_run_makes_up():
    first = read(report([case("trace-1", case_id="lost", findings=(finding(),))], run_id="a"))["results"][0]
    later = read(report([case("other-9", case_id="lost", findings=(finding(call=4),), place=Place("x.toml", 99))]))
    assert first["partialFingerprints"] == later["results"][0]["partialFingerprints"]


def test_two_breaches_of_one_rule_in_one_trace_are_two_results():
    run = read(report([case(findings=(finding(call=0), finding(call=2)))]))
    prints = {one["partialFingerprints"][sarif.FINGERPRINT] for one in run["results"]}
    assert len(prints) == len(run["results"]) == 2


def test_trials_of_one_case_are_one_result_that_counts_them():
    cases = [case(f"trial-{n}", case_id="lost", findings=(finding(),)) for n in range(3)]
    (result,) = read(report(cases))["results"]
    assert result["occurrenceCount"] == 3


def test_a_trace_that_two_graders_saw_occurred_once():
    cases = [case("a", findings=(finding(),)), case("a", grader="rubric", findings=(finding(),))]
    (result,) = read(report(cases))["results"]
    assert result["occurrenceCount"] == 1


def test_a_breach_of_what_passed_is_a_result_too():
    run = read(report([case("a", "passed", findings=(finding("requires", "HIGH"),)), case("b", findings=(finding(),))]))
    assert [one["ruleId"] for one in run["results"]] == ["rightcall/forbidden", "rightcall/requires"]
    assert [one["occurrenceCount"] for one in run["results"]] == [1, 1]


def test_a_file_holds_no_more_results_than_github_takes(monkeypatch):
    monkeypatch.setattr(sarif, "MOST", 5)
    run = read(report([case(f"t-{n}", findings=(finding(),)) for n in range(8)]))
    assert len(run["results"]) == 5
    notes = run["invocations"][0]["toolExecutionNotifications"]
    assert notes[-1]["message"]["text"].startswith("3 more findings are left out")
    assert sarif.MOST == 5


def test_the_limits_are_those_of_github():
    rule = sarif.document(report([case(findings=(finding(),))]))["runs"][0]["tool"]["driver"]["rules"][0]
    assert sarif.MOST == 25_000
    assert len(rule["properties"]["tags"]) <= 10


def test_hostile_text_is_data():
    run = read(report([hostile_case()]))
    text = run["results"][0]["message"]["text"]
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].isascii()

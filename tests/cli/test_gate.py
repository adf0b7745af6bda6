"""`rightcall gate` on the command line: which run, which part, what is printed, how it leaves."""

import json

import pytest

TOOLS = [{"name": "feed", "description": "Feeds a tank."}, {"name": "drain", "description": "Drains a tank."}]


@pytest.fixture
def tanks(write):
    """Write a suite of four cases; the trace of the last one is wrong in `worse.jsonl` and right in `traces.jsonl`."""
    write("cases.jsonl", *(
        {"id": f"tank-{n}", "expect": {"calls": [{"tool": "feed", "arguments": {"tank": n}}]}} for n in range(4)
    ))  # fmt: skip
    for name, last in (("traces.jsonl", 3), ("worse.jsonl", 9)):
        write(name, *(
            {"id": f"t-{n}", "case_id": f"tank-{n}",
             "calls": [{"tool": "feed", "arguments": {"tank": last if n == 3 else n}}]} for n in range(4)
        ))  # fmt: skip
    settings("")(write)


def settings(rules):
    def put(write):
        lines = ['traces = "traces.jsonl"', 'cases = "cases.jsonl"', 'store = "s.db"', "[gates]", rules]
        write("rightcall.toml", "\n".join(lines))

    return put


def test_the_newest_run_is_gated_where_none_is_named(rightcall, write, tanks):
    settings('"golden.pass_rate" = { min = 0.4 }')(write)
    rightcall("golden", "-q")
    first = rightcall("gate").err.split()[1]
    rightcall("golden", "worse.jsonl", "-q")
    found = rightcall("gate")
    assert found.code == 3
    assert "0.750" in found.out
    assert "lower 95 % bound" in found.out
    assert found.err.startswith("gate ")
    assert found.err.rstrip().endswith("exit 3")
    assert rightcall("gate", first).code == 0


@pytest.mark.parametrize(("given", "code"), [((), 3), (("--inconclusive", "pass"), 0), (("--inconclusive", "fail"), 1)])
def test_inconclusive_can_be_taken_for_a_pass_or_a_fail(rightcall, write, tanks, given, code):
    settings('"golden.pass_rate" = { min = 0.98 }')(write)
    rightcall("golden", "-q")
    found = rightcall("gate", "-q", *given)
    assert (found.code, found.out) == (code, "")
    assert "INCONCLUSIVE" in found.err


def test_a_failure_stays_one_whatever_inconclusive_counts_as(rightcall, write, tanks):
    settings('"golden.pass_rate" = { min = 0.98 }')(write)
    rightcall("golden", "worse.jsonl", "-q")
    assert rightcall("gate", "--inconclusive", "pass").code == 1


def test_without_rules_it_says_that_no_figure_is_asked_for(rightcall, tanks):
    rightcall("golden", "-q")
    found = rightcall("gate")
    assert found.code == 0
    assert "no rule on figures is set" in found.out


def test_a_gate_that_is_asked_later_leaves_with_what_the_run_left_with(rightcall, write, tanks):
    for rules, code in (
        ("", 1), ('"golden.vetoes" = { max = 0 }', 1), ('"golden.pass_rate" = { min = 0 }', 0),
        ('"golden.pass_rate" = { min = 0.98, on = "point" }', 1), ('"golden.pass_rate" = { min = 0.5 }', 3),
    ):  # fmt: skip
        settings(rules)(write)
        ran = rightcall("run", "worse.jsonl", "--grader", "golden")
        later = rightcall("gate")
        assert (ran.code, later.code) == (code, code), (rules, ran.err, later.err)
        assert ("golden: 1 FAIL (no rule is about it)" in later.err) is ("golden.failures" in later.out)
        assert ("golden: 1 FAIL (no rule is about it)" in ran.err) is ("golden.failures" in later.out)


def test_a_fail_that_no_rule_is_about_is_named_with_the_command_that_shows_it(rightcall, tanks):
    rightcall("golden", "worse.jsonl", "-q")
    found = rightcall("gate")
    assert "golden.failures" in found.out
    assert "- tank-3 (t-3)" in found.out
    run = rightcall("gate", "--json").json
    (one,) = (one for one in run["decisions"] if one["name"] == "golden.failures")
    assert (one["answer"], one["value"]["estimate"], one["command"]) == (
        "FAIL", 1.0, f"rightcall show {run['run']} --failed"
    )  # fmt: skip
    assert rightcall(*one["command"].split()[1:]).code == 0


def test_json_is_one_object_and_nothing_else(rightcall, tanks):
    rightcall("golden", "-q")
    found = rightcall("gate", "--json")
    assert [one["name"] for one in found.json["decisions"]] == ["coverage", "vetoes", "critical"]
    assert found.json["exit_code"] == found.code == 0


def test_cases_that_turned_come_first(rightcall, tanks):
    rightcall("golden", "-q")
    rightcall("golden", "worse.jsonl", "-q")
    found = rightcall("gate", "--baseline", "previous")
    first, second = found.out.splitlines()[:2]
    assert first.startswith("against previous, ")
    assert "1 case turned bad, 0 good" in first
    assert second.strip().startswith("golden  tank-3 PASS → FAIL: feed: tank is wrong")


def test_a_file_of_results_is_gated_and_is_a_baseline(rightcall, tanks):
    rightcall("golden", "-q", "-o", "good.json")
    rightcall("golden", "worse.jsonl", "-q", "-o", "bad.json")
    found = rightcall("gate", "bad.json", "--baseline", "good.json", "--json")
    assert found.json["diff"]["graders"][0]["lost"] == 1
    assert found.json["baseline"] == "good.json"


def test_a_changed_golden_is_not_comparable(rightcall, write, tanks):
    rightcall("golden", "-q")
    changed = [
        {"id": f"tank-{n}", "expect": {"calls": [{"tool": "feed", "arguments": {"tank": n * 2}}]}} for n in range(4)
    ]
    write("cases.jsonl", *changed)
    rightcall("golden", "-q")
    found = rightcall("gate", "--baseline", "previous", "--json")
    (decision,) = (one for one in found.json["decisions"] if one["name"] == "golden.regressions")
    assert decision["answer"] == "NOT_COMPARABLE"
    assert "golden of 3 shared cases differs" in decision["reason"]
    assert "not comparable" in rightcall("gate", "--baseline", "previous").out


def test_a_part_of_a_run_is_asked_for_and_said(rightcall, write, tanks):
    settings('"golden.pass_rate" = { min = 0.9 }')(write)
    rightcall("golden", "worse.jsonl", "-q")
    assert rightcall("gate", "--case", "tank-1", "-q").code == 3
    found = rightcall("gate", "--case", "tank-3", "--grader", "golden")
    assert found.code == 1
    assert "a part of the run alone: --grader golden, --case tank-3" in found.out


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        (("--case", "tank-9"), 2, "no result is about case `tank-9`"),
        (("--grader", "rubrik"), 2, "has no results of `rubrik`"),
        (("20200101-1",), 2, "there is no run `20200101-1`"),
        (("nowhere.json",), 2, "nowhere.json: cannot be read"),
        (("empty.json",), 5, "empty.json: is empty"),
        (("none.json",), 5, "none.json: holds no result"),
        (("--baseline", "nowhere.json"), 2, "nowhere.json: cannot be read"),
        (("--baseline", "branch:"), 2, "`branch:` names no branch; write branch:main"),
        (("--baseline", "brnch:main"), 2, "there is no baseline `brnch:main`; did you mean `branch:main`?"),
        (("--baseline", "previuos"), 2, "there is no baseline `previuos`; did you mean `previous`?"),
        (("-o", "report.docx"), 2, "no format is known for `report.docx`"),
        (("--inconclusive", "maybe"), 2, "maybe"),
        (("--store", "missing.db"), 5, "missing.db: there is no store here"),
    ],
)
def test_what_cannot_be_gated_is_one_clear_line(rightcall, write, tanks, given, code, said):
    write("empty.json")
    write("none.json", '{"run": {"grader": "golden"}, "summary": {}, "results": []}')
    rightcall("golden", "-q")
    found = rightcall("gate", *given)
    assert found.code == code
    assert said in found.err
    assert found.err.count("\n") == 2
    assert found.out == ""


def test_an_empty_store_is_broken_and_no_pass(rightcall, tmp_path, tanks):
    from rightcall.store.store import Store

    Store.open(tmp_path / "new.db").close()
    found = rightcall("gate", "--store", "new.db")
    assert found.code == 5
    assert "no run is recorded yet" in found.err


def test_a_wrong_rule_is_found_before_anything_is_read(rightcall, write, tanks):
    settings('"golden.pas_rate" = { min = 0.9 }')(write)
    found = rightcall("gate")
    assert found.code == 2
    assert "rightcall.toml:5" in found.err
    assert "did you mean `golden.pass_rate`?" in found.err


def test_the_environment_sets_a_limit(rightcall, write, tanks, monkeypatch):
    settings('"golden.pass_rate" = { min = 0.1 }')(write)
    rightcall("golden", "worse.jsonl", "-q")
    assert rightcall("gate", "-q").code == 0
    monkeypatch.setenv("RIGHTCALL_GATES__GOLDEN__PASS_RATE__MIN", "0.99")
    assert rightcall("gate", "-q").code == 1


def test_a_grader_that_the_suite_does_not_run_has_no_gate(rightcall, write, tanks):
    write("rightcall.toml", 'graders = ["golden"]\n[gates]\n"rubric.overall_score" = { min = 4 }\n')
    found = rightcall("gate")
    assert found.code == 2
    assert "no grader of this suite produces `rubric.overall_score`" in found.err


def test_reports_are_written_whole(rightcall, tmp_path, tanks):
    rightcall("golden", "worse.jsonl", "-q")
    assert rightcall("gate", "-q", "-o", "gate.json", "-o", "gate.md").code == 1
    assert json.loads((tmp_path / "gate.json").read_bytes())["answer"] == "FAIL"
    assert "tank-3" in (tmp_path / "gate.md").read_text()


def test_an_open_critical_waits_until_it_is_signed(rightcall, write, tanks):
    write("cases.jsonl", {"id": "tank-0", "expect": {"calls": [{"tool": "feed"}]}})
    write("traces.jsonl", {"id": "t-0", "case_id": "tank-0", "tools": TOOLS, "calls": [{"tool": "drain"}]})
    write("policy.toml", '[[substitution]]\nexpected = "feed"\ncalled = "drain"\nseverity = "CRITICAL"\n')
    rightcall("golden", "--policy", "policy.toml", "-q")
    report = rightcall("gate", "--json").json
    critical = next(one for one in report["decisions"] if one["name"] == "critical")
    assert (report["exit_code"], critical["answer"]) == (1, "WAIT")
    item = critical["command"].split()[-1]
    signed = rightcall("signoff", item, "--dismiss", "--reason", "the tank was empty anyway", "--yes-i-read-it",
                       "--as", "dana")  # fmt: skip
    assert signed.code == 0, signed.err
    report = rightcall("gate", "--json").json
    critical = next(one for one in report["decisions"] if one["name"] == "critical")
    assert critical["answer"] == "PASS"
    assert "the tank was empty anyway" in critical["details"][0]
    assert report["answer"] == "FAIL"


def test_every_failure_can_be_looked_at_where_the_gate_asks_for_it(rightcall, write, tanks):
    settings("failures_signed_off = true")(write)
    rightcall("golden", "worse.jsonl", "-q")
    waiting = rightcall("gate", "-q")
    assert waiting.code == 4
    assert "nobody has looked at 1 failure" in waiting.err
    assert rightcall("gate", "-q").code == 4
    (item,) = rightcall("review", "list", "--as", "dana", "--json").json["items"]
    answered = rightcall("review", "answer", item["item"], "--field", "grade=FAIL", "--as", "dana")
    assert answered.code == 0, answered.err
    found = rightcall("gate", "--json")
    assert found.code == 0
    assert found.json["decisions"][0]["details"] == ["tank-3 (t-3) (golden): answered by dana"]

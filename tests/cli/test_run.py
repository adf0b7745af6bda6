"""`rightcall run`: all graders, their gates, one exit code; what is on record reads well afterwards."""

from __future__ import annotations

import io
import json
import re
import shutil

import pytest
from desk_suite import DESK, copy_desk

from rightcall.run.finished.file import read_results

ALL = ["golden", "selection", "rubric", "interpretation", "preference"]
COMMAND = ("run", "-c", DESK, "--store", "runs.db")


@pytest.fixture
def desk(tmp_path):
    """The card desk, whose settings can be added to."""
    copy_desk(tmp_path)
    settings = tmp_path / DESK

    def more(text):
        settings.write_text(settings.read_text() + text)

    return more


def last(said) -> str:
    return said.err.strip().splitlines()[-1]


def clean(write):
    """Two cases that pass whatever is asked, so that only the gates decide."""
    calls = [{"tool": "feed", "arguments": {"tank": 2}}]
    tools = [{"name": "feed", "description": "Feeds a tank."}]
    write("cases.jsonl", *({"id": f"c{n}", "request": "Feed tank 2", "expect": {"calls": calls}} for n in range(2)))
    for agent in ("t", "next"):
        write(f"{agent}.jsonl", *({"id": f"{agent}{n}", "case_id": f"c{n}", "request": "Feed tank 2", "tools": tools,
                                   "calls": calls} for n in range(2)))  # fmt: skip
    write("rightcall.toml", 'traces = "t.jsonl"', 'cases = "cases.jsonl"')


# ---- what is printed -------------------------------------------------------------------------------------------------


def test_each_grader_has_its_part_and_the_gates_come_last_within_80_columns(rightcall, desk):
    said = rightcall(*COMMAND, "--judge", "desk")
    assert max(map(len, said.out.splitlines())) <= 80
    titles = re.findall(r"^(\w+) ─+$", said.out, re.MULTILINE)
    assert titles == [*ALL, "gates"]
    for words in ("10 results: 4 PASS, 6 FAIL (1 by veto)", "precision    0.375", "overall     4.38",
                  "(all)        9      0.91", "v8 wins 5   v7 wins 2   tie 2", "rightcall signoff rv-"):  # fmt: skip
        assert words in said.out
    assert said.code == 1
    assert re.fullmatch(
        r"run (\d+-1) · gates: coverage INCONCLUSIVE, vetoes FAIL, critical WAIT; golden: 6 FAIL \(no rule is about it\);"
        r" selection: 6 FAIL \(no rule is about it\) · exit 1 · rightcall show \1", last(said),
    )  # fmt: skip


def test_quiet_prints_one_line_with_every_cause_in_words(rightcall, desk):
    said = rightcall(*COMMAND, "--judge", "desk", "--quiet")
    assert (said.out, len(said.err.splitlines())) == ("", 1)
    assert re.search("vetoes: FAIL, .*1 of 10, and none may be; golden: 6 FAIL .*; critical: WAIT", said.err)
    assert "coverage: INCONCLUSIVE, 48 of 50 could be evaluated" in said.err


def test_json_is_one_object_with_the_gates_and_reads_back_from_a_file(rightcall, desk, tmp_path):
    said = rightcall(*COMMAND, "--judge", "desk", "--json", "-o", "run.json", "-o", "run.jsonl")
    value = said.json
    assert value["summary"]["gate"]["answer"] == "FAIL"
    assert {one["name"] for one in value["summary"]["gate"]["decisions"]} == {
        "coverage", "vetoes", "critical", "golden.failures", "selection.failures",
    }  # fmt: skip
    assert json.loads((tmp_path / "run.json").read_text()) == value
    found = read_results(tmp_path / "run.json")
    assert list(found.graders) == ALL
    assert sum(1 for _ in found.rows()) == len((tmp_path / "run.jsonl").read_text().splitlines()) == 50


def test_reports_are_written_by_suffix(rightcall, desk, tmp_path):
    files = ("run.md", "run.csv", "run.junit.xml", "run.sarif", "run.html")
    rightcall(*COMMAND, "--judge", "desk", "--quiet", *(part for name in files for part in ("-o", name)))
    assert [name for name in files if not (tmp_path / name).stat().st_size] == []


def test_github_gets_its_summary(rightcall, desk, tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    rightcall(*COMMAND, "--judge", "desk", "--quiet", "--github")
    assert "vetoes" in (tmp_path / "summary.md").read_text()


def test_a_dry_run_counts_grader_by_grader_and_leaves_nothing(rightcall, desk, tmp_path):
    said = rightcall(*COMMAND, "--judge", "desk", "--dry-run")
    assert said.code == 0
    assert [line.split(":")[0] for line in said.out.splitlines() if not line.startswith(" ")] == [*ALL[1:], "all"]
    assert "selection: 11 to judge · 11 calls" in said.out
    assert not (tmp_path / "runs.db").exists()
    assert set(rightcall(*COMMAND, "--judge", "desk", "--dry-run", "--json").json) == set(ALL[1:])


class Terminal(io.StringIO):
    """Text that somebody types at a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("typed", "is_asked"), [("y\n", True), ("n\n", False), ("", False)])
def test_on_a_terminal_it_says_what_it_would_ask_and_waits_for_a_yes(rightcall, write, monkeypatch, typed, is_asked):
    clean(write)
    write("judge.py", "print('no answer')")
    write("rightcall.toml", 'traces = "t.jsonl"', 'cases = "cases.jsonl"', "[rubric]", "[judges.one]",
          'provider = "command"', 'command = ["python", "judge.py"]')  # fmt: skip
    monkeypatch.setattr("sys.stdin", Terminal(typed))
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    said = rightcall("run", "--no-gate")
    assert "rubric: 2 to judge · 2 calls · 0 on record" in said.err
    assert "continue? [Y/n] " in said.err
    assert ("nobody was asked · exit 0" in said.err) is not is_asked
    assert rightcall("runs").code == (0 if is_asked else 5)


# ---- the exit code ---------------------------------------------------------------------------------------------------


def test_0_if_all_passed(rightcall, write):
    clean(write)
    said = rightcall("run")
    assert (said.code, "all gates passed · exit 0" in said.err) == (0, True)


def test_1_if_a_grader_found_a_fail_and_no_rule_weighs_it(rightcall, write):
    clean(write)
    write("t.jsonl", {"id": "t0", "case_id": "c0", "calls": []}, {"id": "t1", "case_id": "c1", "calls": []})
    said = rightcall("run", "--grader", "golden")
    assert (said.code, "golden: 2 FAIL" in said.err) == (1, True)
    assert rightcall("run", "--grader", "golden", "--no-gate").code == 1
    again = rightcall("run", "--grader", "golden", "--no-gate", "--exit-zero")
    assert (again.code, "exit 0 (would be 1)" in again.err) == (0, True)


def test_a_rule_says_what_a_fail_means(rightcall, write):
    clean(write)
    write("t.jsonl", {"id": "t0", "case_id": "c0", "calls": []},
          {"id": "t1", "case_id": "c1", "calls": [{"tool": "feed", "arguments": {"tank": 2}}]})  # fmt: skip
    write("rightcall.toml", 'traces = "t.jsonl"', 'cases = "cases.jsonl"', "[gates]",
          '"golden.pass_rate" = { min = 0.5, on = "point" }')  # fmt: skip
    assert rightcall("run", "--grader", "golden").code == 0


@pytest.mark.parametrize(("more", "code"), [((), 3), (("--inconclusive", "pass"), 0), (("--inconclusive", "fail"), 1)])
def test_3_if_the_evidence_is_not_enough_unless_one_says_what_that_means(rightcall, write, more, code):
    clean(write)
    write("rightcall.toml", 'traces = "t.jsonl"', 'cases = "cases.jsonl"', "[gates]",
          '"golden.pass_rate" = { min = 0.98 }')  # fmt: skip
    assert rightcall("run", "--quiet", *more).code == code


def test_4_if_only_a_person_is_missing(rightcall, write):
    clean(write)
    reply = {f"{name}_score": 5 for name in
             ("tool_selection", "argument_accuracy", "call_sequencing", "abstention")} | {
        "justification": "It fed the tank.", "misuse_severity": "CRITICAL", "downstream_impact": "The fish die.",
    }  # fmt: skip
    write("replies.jsonl", *({"grader": "rubric", "unit": f"t{n}", "replies": [json.dumps(reply)]} for n in range(2)))
    write("rightcall.toml", 'traces = "t.jsonl"', '[judges.one]\nprovider = "recorded"\nfile = "replies.jsonl"',
          "[rubric]")  # fmt: skip
    said = rightcall("run")
    assert (said.code, "critical WAIT" in said.err) == (4, True), said.err


def test_5_if_the_budget_was_spent_and_what_did_not_run_is_named(rightcall, desk):
    said = rightcall(*COMMAND, "--judge", "desk", "--grader", "rubric", "--grader", "interpretation", "--budget",
                     "4calls", "--no-gate", "--exit-zero")  # fmt: skip
    assert said.code == 5
    assert "the budget of 4 calls is spent" in said.err
    assert "not run: interpretation" in said.err
    assert "not run: interpretation" in said.out
    again = rightcall(*COMMAND, "--judge", "desk", "--resume", said.err.split()[1], "--no-gate", "--quiet")
    assert "not run" not in again.err


@pytest.mark.parametrize(
    ("tokens", "code", "message"),
    [
        (("--grader", "goldn"), 2, "there is no grader `goldn`; did you mean `golden`?"),
        (("--judge", "none"), 5, "`rubric` needs a judge, and none was found: --judge none"),
        (("--judge", "nobody"), 2, "there is no judge `nobody`"),
        (("--trace", "nobody", "--grader", "golden"), 2, "no trace has the id `nobody`"),
        (("--trace", "lost"), 2, "`preference` compares cases"),
        (("nothing-*.jsonl",), 2, "no file matches"),
        (("--limit", "0"), 2, "must be at least 1"),
        (("--budget", "much"), 2, "is no budget"),
        (("--resume", "20261130-7"), 5, "there is no store here"),
        (("--baseline", "none.json"), 2, "none.json"),
        (("-o", "run.txt"), 2, "no format is known"),
        (("-o", "examples/card-desk/traces.jsonl"), 2, "is one of the files to read"),
        (("--inconclusive", "maybe"), 2, "inconclusive"),
    ],
)
def test_what_cannot_be_run_is_one_line_and_leaves_no_run(rightcall, desk, tmp_path, tokens, code, message):
    judge = () if "--judge" in tokens else ("--judge", "desk")
    said = rightcall(*COMMAND, *judge, *tokens)
    assert (said.code, said.out) == (code, ""), said.err
    assert message in said.err
    assert len(said.err.strip().splitlines()) == 2
    assert not (tmp_path / "runs.db").exists()


def test_a_rule_that_is_none_and_a_baseline_that_is_not_there_are_told_before_anything_runs(rightcall, desk, tmp_path):
    desk('\n[gates]\n"golden.pass_rat" = { min = 0.9 }\n')
    said = rightcall(*COMMAND, "--judge", "desk")
    assert (said.code, "golden.pass_rate" in said.err) == (2, True)
    assert not (tmp_path / "runs.db").exists()


def test_a_baseline_that_a_rule_names_and_is_not_there_is_told_before_anything_runs(rightcall, desk, tmp_path):
    desk('\n[gates]\nregressions = { against = "main.json" }\n')
    said = rightcall(*COMMAND, "--judge", "desk")
    assert (said.code, "main.json" in said.err) == (2, True)
    assert not (tmp_path / "runs.db").exists()


def test_an_empty_input_is_exit_5(rightcall, write):
    clean(write)
    write("t.jsonl", b"")
    said = rightcall("run")
    assert (said.code, said.out) == (5, "")
    assert "NO_DATA" in said.err


def test_two_versions_are_compared_by_a_run_or_its_file(rightcall, write):
    clean(write)
    first = rightcall("run", "-o", "main.json", "--quiet").err.split()[1]
    for name in (first, "main.json"):
        said = rightcall("run", "next.jsonl", "--baseline", name)
        assert "golden.regressions" in said.out
        assert said.code in (0, 3)


# ---- afterwards ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Return the id of a run of all graders and where its store is kept, once the first test has run it."""
    return {"store": tmp_path_factory.mktemp("ran") / "runs.db"}


@pytest.fixture
def ran(rightcall, desk, tmp_path, kept):
    """Return the id of a run of all graders, in a store of the test's own."""
    if "id" in kept:
        shutil.copy(kept["store"], tmp_path)
        return kept["id"]
    found = rightcall(*COMMAND, "--judge", "desk", "--quiet").err.split()[1]
    shutil.copy(tmp_path / "runs.db", kept["store"])
    return kept.setdefault("id", found)


STORE = ("--store", "runs.db")


def test_runs_lists_it_with_one_figure_for_each_grader(rightcall, ran):
    lines = " ".join(rightcall("runs", *STORE).out.split())
    assert f"{ran} " in lines
    assert "run finished ✗ FAIL desk" in lines
    for words in ("golden pass rate 0.400", "selection precision 0.375", "rubric overall 4.38", "interpretation fidelity 0.91",
                  "preference v8 5 : 2 v7"):  # fmt: skip
        assert words in lines


def test_show_has_a_part_for_each_grader_and_what_waits(rightcall, ran):
    said = rightcall("show", ran, *STORE)
    assert max(map(len, said.out.splitlines())) <= 80
    assert re.findall(r"^(\w+) ─+$", said.out, re.MULTILINE) == ALL
    assert said.out.count("waits for a sign-off") == 2
    assert said.out.count("CRITICAL 1: 1 waiting for a sign-off") == 2  # golden's and the rubric's
    failed = rightcall("show", ran, "--failed", *STORE).out
    assert "every result on record passed" not in failed
    assert " PASS overall" not in failed
    assert "misnamed#c1 MISREAD" in failed


def test_show_as_json_has_the_judges_of_each_grader_and_all_results(rightcall, ran):
    value = rightcall("show", ran, "--json", *STORE).json
    assert set(value["graders"]) == set(ALL)
    assert value["graders"]["golden"]["judges"] == {}
    assert value["graders"]["rubric"]["judges"]["desk"]["conflict_rate"]["n"] == 9
    assert value["graders"]["preference"]["judges"].keys() == {"desk", "second"}
    order = list(dict.fromkeys(one["verdict"]["grader"] for one in value["results"]))
    assert (order, len(value["results"])) == (ALL, 50)


def test_a_unit_shows_what_every_grader_of_the_run_says_about_it(rightcall, ran):
    said = rightcall("show", "stolen", *STORE)
    for grader in ("golden", "rubric", "preference"):
        assert f"stolen · {grader} · " in said.out


def test_the_queue_holds_the_items_of_all_graders(rightcall, ran):
    out = rightcall("review", "list", "--run", ran, *STORE).out
    for grader in ALL:
        assert f" {grader} " in out


def test_pairs_of_such_a_run_are_exported_once_what_is_critical_is_signed(rightcall, ran, tmp_path):
    held = rightcall("export", "preferences", "--run", ran, "-o", "pairs.jsonl", *STORE)
    assert (held.code, "CRITICAL items wait" in held.err) == (4, True)
    for item in re.findall(r"rv-[0-9a-f]{8}", held.err):
        signed = rightcall("signoff", item, "--as", "ada", "--dismiss", "--reason",
                           "Looked at with care: no harm was done", "--yes-i-read-it", *STORE)  # fmt: skip
        assert signed.code == 0, signed.err
    said = rightcall("export", "preferences", "--run", ran, "-o", "pairs.jsonl", "-c", DESK, *STORE)
    assert said.code == 0, said.err
    rows = [json.loads(line) for line in (tmp_path / "pairs.jsonl").read_text().splitlines()]
    assert rows
    assert rightcall("export", "labels", "--run", ran, "-o", "labels.jsonl", *STORE).code == 0


def test_the_log_of_such_a_run_is_intact_and_names_each_grader(rightcall, ran, monkeypatch):
    assert rightcall("log", "verify", *STORE).code == 0
    monkeypatch.setenv("COLUMNS", "140")
    out = rightcall("log", "list", "--limit", "200", *STORE).out
    for grader in ALL[1:]:
        assert f" {grader} " in out

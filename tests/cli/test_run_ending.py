"""How `rightcall run` ends: every report says what the command leaves with, and nothing hides a cause."""

from __future__ import annotations

import csv
import errno
import json
import os
import re
from collections import Counter
from xml.etree import ElementTree as ET

import pytest
from desk_suite import DESK, copy_desk

from rightcall.errors import RunError
from rightcall.report.formats import rows_csv

COMMAND = ("run", "-c", DESK, "--store", "runs.db", "--judge", "desk")
FILES = ("r.md", "r.html", "r.junit.xml", "r.sarif", "r.csv", "r.json")
OUT = tuple(part for name in FILES for part in ("-o", name))


@pytest.fixture
def desk(tmp_path):
    """The card desk, whose settings can be added to."""
    copy_desk(tmp_path)
    settings = tmp_path / DESK
    return lambda text: settings.write_text(settings.read_text() + text)


def mixed(write):
    """One case that passes and one that fails, both graded by code."""
    good = {"tool": "feed", "arguments": {"tank": 2}}
    write("cases.jsonl", *({"id": f"c{n}", "request": "Feed", "expect": {"calls": [good]}} for n in range(2)))
    write("t.jsonl", *({"id": f"t{n}", "case_id": f"c{n}", "request": "Feed", "calls": [good][n:]} for n in range(2)))
    write("rightcall.toml", 'traces = "t.jsonl"', 'cases = "cases.jsonl"', 'graders = ["golden"]')


def said_in(folder) -> dict[str, tuple[str, int]]:
    """The answer and the exit code that each report tells."""
    text = (folder / "r.md").read_text().splitlines()[0]
    answer, code = re.match(r"# rightcall: (\w+) · exit (\d+)", text.replace("`", "")).groups()
    run = json.loads((folder / "r.sarif").read_text())["runs"][0]
    properties = {
        one.get("name"): one.get("value")
        for one in ET.parse(folder / "r.junit.xml").getroot().findall("testsuite/properties/property")
    }
    end = json.loads((folder / "r.json").read_text())["summary"]["conclusion"]
    page = re.search(r"exit code (\d+)", (folder / "r.html").read_text())
    outputs = dict(line.split("=", 1) for line in (folder / "outputs").read_text().splitlines())
    return {
        "md": (answer, int(code)), "sarif": (run["properties"]["verdict"], run["invocations"][0]["exitCode"]),
        "junit": (properties["verdict"], int(properties["exit code"])), "json": (end["answer"], end["exit_code"]),
        "html": (answer, int(page.group(1))), "github": (outputs["verdict"], int(outputs["exit-code"])),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("more", "answer", "code"),
    [
        (("--grader", "golden"), "FAIL", 1),
        (("--grader", "golden", "--exit-zero"), "FAIL", 0),
        (("--grader", "preference"), "INCONCLUSIVE", 3),
        (("--grader", "preference", "--inconclusive", "pass"), "INCONCLUSIVE", 0),
        (("--grader", "preference", "--inconclusive", "fail"), "INCONCLUSIVE", 1),
        (("--grader", "preference", "--no-gate"), "INCONCLUSIVE", 3),
        (("--grader", "rubric", "--no-gate"), "WAIT", 4),
        (("--grader", "rubric", "--no-gate", "--budget", "4calls"), "BROKEN", 5),
        (("--grader", "golden", "--grader", "rubric", "--no-gate", "--budget", "4calls"), "FAIL", 1),
    ],
)
def test_every_report_says_what_the_command_leaves_with(rightcall, desk, tmp_path, monkeypatch, more, answer, code):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_OUTPUT", str(tmp_path / "outputs"))
    said = rightcall(*COMMAND, "--quiet", "--github", *more, *OUT)
    assert said.code == code
    assert said_in(tmp_path) == dict.fromkeys(("md", "sarif", "junit", "json", "html", "github"), (answer, code))


def test_a_fail_that_no_rule_is_about_is_in_every_report_as_it_is_on_the_last_line(rightcall, write, tmp_path):
    mixed(write)
    said = rightcall("run", "--quiet", "-o", "r.md", "-o", "r.html", "-o", "r.junit.xml", "-o", "r.sarif")
    assert (said.code, "golden: 1 FAIL" in said.err) == (1, True)
    for name in ("r.md", "r.html", "r.junit.xml", "r.sarif"):
        assert "golden: 1 FAIL" in (tmp_path / name).read_text().replace("`", "")


def test_failures_of_a_grader_that_no_rule_is_about_are_failures_of_the_run(rightcall, write, tmp_path):
    mixed(write)
    with (tmp_path / "rightcall.toml").open("a") as file:
        file.write('[gates]\n"golden.vetoes" = { max = 0 }\n')
    said = rightcall("run", "-o", "r.md")
    assert (said.code, "golden: 1 FAIL (no rule is about it)" in said.err) == (1, True)
    assert "golden: 1 FAIL (no rule is about it)" in (tmp_path / "r.md").read_text()
    with (tmp_path / "rightcall.toml").open("a") as file:
        file.write('"golden.pass_rate" = { min = 0.5, on = "point" }\n')
    assert "all gates passed · exit 0" in rightcall("run").err


# ---- what cannot be written ------------------------------------------------------------------------------------------


def test_if_one_file_cannot_be_written_none_appears_and_the_verdict_is_said_all_the_same(
    rightcall, write, tmp_path, monkeypatch
):
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    mixed(write)
    monkeypatch.setattr(rows_csv, "write_csv", full)
    said = rightcall("run", "--quiet", *OUT)
    last = said.err.strip().splitlines()[-1]
    assert said.code == 2
    assert re.match(r"run \d+-1 · no report was written: r\.csv: cannot write: No space left on device", last)
    assert "golden: 1 FAIL" in last
    assert [path.name for path in tmp_path.iterdir() if "r." in path.name[:3]] == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")  # noqa: PTH110
def test_a_full_disk_under_stdout_hides_no_verdict(write, tmp_path):
    import subprocess
    import sys

    mixed(write)
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-m", "rightcall.cli.main", "run"], cwd=tmp_path, stdout=full, stderr=subprocess.PIPE,
            check=False,
        )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert b"golden: 1 FAIL" in done.stderr
    assert b"not everything was printed: No space left on device" in done.stderr


def test_where_there_is_no_room_for_a_report_the_verdict_is_said_and_the_results_are_written(
    rightcall, write, monkeypatch, tmp_path
):
    def full(*_args, **_more):
        raise RunError("the results cannot be kept for the report: No space left on device")

    monkeypatch.setattr("rightcall.report.view.building.view_of", full)
    mixed(write)
    said = rightcall("run", "-o", "a.json", "-o", "b.html")
    assert said.code == 1
    assert "no report was made: the results cannot be kept" in said.err
    assert "golden: 1 FAIL" in said.err
    assert (tmp_path / "a.json").exists()
    assert not (tmp_path / "b.html").exists()


def test_what_github_cannot_be_told_does_not_hide_the_reports(rightcall, write, tmp_path, monkeypatch):
    mixed(write)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "nowhere/summary.md"))
    said = rightcall("run", "--quiet", "--github", "-o", "r.md")
    assert said.code == 2
    assert "GitHub was not told everything" in said.err
    assert "no report was written" not in said.err
    assert (tmp_path / "r.md").exists()


# ---- what contradicts itself -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            ("--no-gate", "--baseline", "old.json"),
            "--baseline: no gates are applied; leave out --baseline, or --no-gate",
        ),
        (("--no-gate", "--inconclusive", "pass"), "--inconclusive: no gates are applied"),
        (("-o", "r.csv", "-o", "sub/../r.csv"), "`sub/../r.csv` is named twice"),
        (("--grader", "rubric", "--sample", "1", "--seed", "-1"), "--seed: must not be negative"),
        (("--jobs", "0"), "--jobs: must be at least 1"),
        (("--grader", "rubric", "--budget", "3usd"), "what `desk` costs in usd is not known"),
        (("--grader", "rubric", "--quorum", "2"), "--quorum: a quorum of 2 of 1 judge cannot be reached"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(rightcall, desk, tmp_path, more, message):
    (tmp_path / "sub").mkdir()
    said = rightcall(*COMMAND, "--quiet", *more)
    assert (said.code, len(said.err.splitlines())) == (2, 2)
    assert message in said.err


def test_a_quorum_is_no_matter_of_a_grader_that_asks_nobody(rightcall, desk):
    more = ("--grader", "selection", "--grader", "rubric", "--quorum", "1", "--no-gate", "--quiet")
    assert "quorum" not in rightcall("run", "-c", DESK, "--store", "runs.db", *more).err


def test_a_folder_that_may_not_be_written_is_told_before_anything_runs(rightcall, write, tmp_path, monkeypatch):
    mixed(write)
    monkeypatch.setattr(os, "access", lambda *_: False)  # whoever runs the tests may be allowed everything
    said = rightcall("run", "-o", "r.md")
    assert (said.code, "--out: the folder `.` may not be written" in said.err) == (2, True)
    assert not (tmp_path / ".rightcall").exists()


@pytest.mark.parametrize("name", ["tools.json", "answers.jsonl", "next.jsonl", "traces.jsonl", "sub/../tools.json"])
@pytest.mark.parametrize("command", [("run",), ("golden",), ("rubric",)])
def test_no_report_takes_the_place_of_a_file_that_the_settings_name(rightcall, desk, tmp_path, command, name):
    folder = tmp_path / "examples/card-desk"
    (folder / "sub").mkdir()
    before = (folder / name).read_bytes()
    said = rightcall(*command, "-c", DESK, "--store", "runs.db", "-q", "-o", f"examples/card-desk/{name}")
    assert (said.code, "is one of the files to read" in said.err) == (2, True)
    assert (folder / name).read_bytes() == before


def test_a_file_that_a_pattern_of_the_settings_takes_in_is_spared_too(rightcall, write, tmp_path):
    mixed(write)
    write("catalog/one.json", [{"name": "feed"}])
    write("rightcall.toml", 'traces = "t*.jsonl"', 'cases = "cases.jsonl"', 'tools = "catalog/*.json"')
    before = (tmp_path / "catalog/one.json").read_bytes()
    assert rightcall("run", "--grader", "golden", "-o", "catalog/one.json").code == 2
    assert (tmp_path / "catalog/one.json").read_bytes() == before


def test_what_gates_compare_with_may_be_written_anew(rightcall, write):
    mixed(write)
    assert rightcall("run", "-q", "-o", "base.json").code == 1
    assert "base.json" not in rightcall("run", "-q", "--baseline", "base.json", "-o", "base.json").err


def test_a_run_that_is_interrupted_at_once_says_how_it_goes_on(rightcall, write, monkeypatch):
    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    mixed(write)
    with monkeypatch.context() as patch:
        patch.setattr("rightcall.run.suite.run.grade_all", stop)
        said = rightcall("run", "-q", "-o", "r.md")
    assert said.code == 130
    name = re.search(r"run (\S+) was interrupted: `rightcall run --resume \1` goes on; no report was written", said.err)
    assert rightcall("run", "-q", "--resume", name.group(1)).code == 1


# ---- one run, one set of numbers -------------------------------------------------------------------------------------


def test_every_format_counts_the_same_results_and_shows_the_same_figures(rightcall, desk, tmp_path):
    rightcall(*COMMAND, "--quiet", *OUT)
    with (tmp_path / "r.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    whole = json.loads((tmp_path / "r.json").read_text())
    text, page = (tmp_path / "r.md").read_text(), re.sub(r"<[^>]+>", "", (tmp_path / "r.html").read_text())
    for suite in ET.parse(tmp_path / "r.junit.xml").getroot().findall("testsuite"):
        name = suite.get("name").partition(".")[2]
        mine = Counter(row["outcome"] for row in rows if row["grader"] == name)
        known = sum(1 for one in whole["results"] if one["grader"] == name)
        assert int(suite.get("tests")) == len(suite.findall("testcase")) == mine.total() == known
        for count, tag, outcome in (("failures", "failure", "failed"), ("errors", "error", "error")):
            assert int(suite.get(count)) == len(suite.findall(f"testcase/{tag}")) == mine[outcome]
        line = re.search(rf"^- {name}: (.*)$", text, re.MULTILINE).group(1)
        said = {words: int(n) for n, words in re.findall(r"(\d+) (passed|failed|waiting)", line)}
        assert said == {word: mine[word] for word in ("passed", "failed", "waiting") if mine[word]}
    rate = whole["summary"]["graders"]["golden"]["pass_rate"]
    shown = f"{rate['estimate']:.3f} [{rate['low']:.3f}, {rate['high']:.3f}]"
    assert f"| pass rate | {shown} n={rate['n']} | {rate['excluded']} | {rate['method']} |" in text
    for number in re.findall(r"\d\.\d{3}", shown):
        assert number in page

"""The GitHub Action: its shape, and what its script does with hostile inputs; run here by the same shell."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rightcall.case.parse import load_yaml
from rightcall.report.formats.github import MARKER
from rightcall.report.view.verdict_words import answer_of

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "action.yml").read_text("utf-8")
ACTION = load_yaml(TEXT, "action.yml")
STEPS = ACTION["runs"]["steps"]


def script(name: str) -> dict:
    """A step by its name."""
    return next(one for one in STEPS if one["name"] == name)


def test_it_is_a_composite_action_whose_inputs_and_outputs_are_described():
    assert ACTION["runs"]["using"] == "composite"
    for kind in ("inputs", "outputs"):
        assert all(one["description"] for one in ACTION[kind].values())
    assert all("default" in one for one in ACTION["inputs"].values())


def test_every_step_that_runs_a_script_names_its_shell():
    assert all(one.get("shell") == "bash" for one in STEPS if "run" in one)


def test_actions_are_pinned_to_a_major_version():
    used = [one["uses"] for one in STEPS if "uses" in one]
    assert used
    assert all(re.fullmatch(r"actions/[a-z-]+@v\d+", one) for one in used)


def test_no_input_becomes_text_of_a_script():
    assert not any("${{" in one["run"] for one in STEPS if "run" in one)


def test_every_input_is_used():
    for name in ACTION["inputs"]:
        assert f"inputs.{name} " in TEXT.replace("}}", " ").replace("!=", " ").replace("==", " "), name


def test_the_comment_is_kept_up_to_date_also_where_the_gate_fails():
    step = script("Comment on the pull request")
    assert step["if"].startswith("always()")
    assert MARKER in step["run"]
    assert STEPS.index(step) < STEPS.index(script("Verdict"))


def run_step(name: str, environ: dict[str, str], folder: Path) -> subprocess.CompletedProcess[str]:
    """A step's script by the shell that the runner takes."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script(name)["run"]]
    whole = {"PATH": path, "HOME": str(folder), **environ}
    return subprocess.run(command, cwd=folder, env=whole, capture_output=True, text=True, check=False)


@pytest.fixture
def runner(tmp_path):
    """A checkout of the wallet example, and the runner's own places."""
    if shutil.which("bash") is None:
        pytest.skip("needs bash")
    shutil.copytree(ROOT / "examples/lost-wallet", tmp_path / "repo")
    (tmp_path / "temp").mkdir()
    return {
        "GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "GITHUB_OUTPUT": str(tmp_path / "output"), "RUNNER_TEMP": str(tmp_path / "temp"),
        "GITHUB_WORKSPACE": str(tmp_path / "repo"), "CONFIG": "rightcall.toml", "BASELINE": "", "ARGS": "",
    }  # fmt: skip


def outputs(tmp_path: Path) -> dict[str, str]:
    """The outputs of the step."""
    return dict(line.split("=", 1) for line in (tmp_path / "output").read_text("utf-8").splitlines())


@pytest.mark.slow
def test_a_run_writes_every_report_and_leaves_the_verdict_to_the_last_step(runner, tmp_path):
    done = run_step("Run rightcall", runner, tmp_path / "repo")
    assert done.returncode == 0, done.stderr
    found = outputs(tmp_path)
    assert (found["code"], found["verdict"]) == ("1", "FAIL")
    names = {path.name for path in Path(found["reports"]).iterdir()}
    assert names == {f"rightcall.{suffix}" for suffix in ("json", "md", "html", "junit.xml", "sarif", "csv")}
    lines = done.stdout.splitlines()
    assert lines[0].startswith("::error file=cases.toml,line=1,")
    stop = next(line for line in lines if line.startswith("::stop-commands::"))
    assert lines[-1] == f"::{stop.removeprefix('::stop-commands::')}::"
    assert not any(line.startswith("::error") for line in lines[lines.index(stop) :])
    assert (tmp_path / "summary.md").read_text("utf-8").startswith("# rightcall: ")


@pytest.mark.slow
def test_arguments_are_words_and_no_commands(runner, tmp_path):
    harm = tmp_path / "harm"
    hostile = {"ARGS": f"--limit\n3; touch {harm}\n", "BASELINE": f"$(touch {harm})", "CONFIG": f"`touch {harm}`"}
    done = run_step("Run rightcall", runner | hostile, tmp_path / "repo")
    assert done.returncode == 0
    assert outputs(tmp_path)["code"] == "2"
    assert not harm.exists()


@pytest.mark.parametrize(
    ("code", "accept", "left"),
    [("0", "", 0), ("1", "", 1), ("3", "", 3), ("3", "3 4", 0), ("4", "3,4", 0), ("1", "3 4", 1), ("5", "*", 5)],
)
def test_the_last_step_leaves_with_the_exit_code_that_was_not_accepted(runner, tmp_path, code, accept, left):
    assert run_step("Verdict", runner | {"CODE": code, "ACCEPT": accept}, tmp_path / "repo").returncode == left


@pytest.mark.parametrize("fault", ["CIG-01"])
def test_a_failure_is_never_left_with_exit_code_0(shared_data, runner, tmp_path, fault):
    lines = (shared_data / "cases/cases.jsonl").read_text("utf-8").splitlines()
    known = next(one for one in map(json.loads, lines) if one["id"] == fault)
    sys.path.append(str(ROOT / "tests/report"))
    from report_making import case, report

    outcomes = {"FAIL": "failed", "PASS": "passed"}
    view = report([case(one["id"], outcomes[one["status"]]) for one in known["minimal_input"]["results"]])
    answer, code = answer_of(view)
    assert (answer, code) == (known["right_answer"]["verdict"], known["right_answer"]["exit_code"])
    assert run_step("Verdict", runner | {"CODE": str(code), "ACCEPT": ""}, tmp_path / "repo").returncode == code

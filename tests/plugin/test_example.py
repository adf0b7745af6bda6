"""The example project passes with its own gate, and its report can be read."""

import shutil
from pathlib import Path

from session_making import Project

import rightcall
from rightcall.run.finished.file import read_results

EXAMPLE = Path(__file__).parents[2] / "examples" / "pytest-desk"


def test_the_example_passes_its_gate(tmp_path, monkeypatch):
    folder = shutil.copytree(EXAMPLE, tmp_path / "desk")
    monkeypatch.chdir(folder)
    found = Project(folder).run("-p", "no:cacheprovider", "--rightcall-report=report", "--rightcall-gate")
    assert found.ret == 0, "\n".join(found.outlines)
    found.assert_outcomes(passed=9)
    found.stdout.fnmatch_lines(["run pytest-*: golden 8 PASS · rubric 1 scored", "gate: PASS"])
    assert len(list(read_results(folder / "report" / "results.json").rows())) == 9
    assert len(rightcall.load_traces(folder / "report" / "traces.jsonl")) == 8

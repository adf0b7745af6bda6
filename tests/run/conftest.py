"""Suites written into an empty folder, and plans made from them."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

# The tests are no package, so a module that they share is found by its folder.
sys.path.insert(0, str(Path(__file__).parent))

from rightcall.run.golden.grading import Graded, run
from rightcall.run.inputs.plan import Plan
from rightcall.run.inputs.prepare import prepare
from rightcall.settings.load import load_settings


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write a file into the folder, which becomes the current one; JSON values become one line each."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RIGHTCALL_REDACTION_KEY", "a fixed key for tests")

    def put(name: str, *content: Any) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if len(content) == 1 and isinstance(content[0], bytes):
            path.write_bytes(content[0])
        else:
            texts = [item if isinstance(item, str) else json.dumps(item) for item in content]
            path.write_text("\n".join(texts) + "\n" if texts else "", "utf-8")
        return path

    return put


@pytest.fixture
def plan(write):
    """Make a plan for the files named, `traces.jsonl` and `cases.jsonl` by default."""

    def make(flags: dict[str, Any] | None = None, **options: Any) -> Plan:
        known = {"traces": "traces.jsonl", "cases": "cases.jsonl", **(flags or {})}
        return prepare(load_settings(None, {}, known), **options)

    return make


@pytest.fixture
def grade_files(plan):
    """Run the plan for the files named; the runs are closed when the test is over."""
    open_runs: list[Graded] = []

    def go(flags: dict[str, Any] | None = None, **options: Any) -> Graded:
        graded = run(plan(flags, **options))
        open_runs.append(graded)
        return graded

    yield go
    for graded in open_runs:
        graded.spool.close()

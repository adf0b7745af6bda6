"""Finished runs made from a few lines, to be reported."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

# The tests are no package, so a module that they share is found by its folder.
sys.path.insert(0, str(Path(__file__).parent))

from report_making import ended_writers

from rightcall.report.terminal.report import ONE_TRACE, Look, print_report
from rightcall.report.written.ended import ended_view
from rightcall.run.golden.grading import Graded, run
from rightcall.run.inputs.prepare import prepare
from rightcall.settings.load import load_settings


@pytest.fixture
def graded(tmp_path, monkeypatch):
    """Grade traces against cases; the runs are closed when the test is over."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RIGHTCALL_REDACTION_KEY", "a fixed key for tests")
    for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    open_runs: list[Graded] = []

    def go(cases: Iterable[Any], traces: Iterable[Any], settings: str = "", **options: Any) -> Graded:
        for name, rows in (("cases.jsonl", cases), ("traces.jsonl", traces)):
            Path(name).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        Path("rightcall.toml").write_text('traces = "traces.jsonl"\ncases = "cases.jsonl"\n' + settings, "utf-8")
        done = run(prepare(load_settings(None, {}, {}), **options))
        open_runs.append(done)
        return done

    yield go
    for done in open_runs:
        done.spool.close()


@pytest.fixture
def screen():
    """What a run looks like in a terminal of 80 columns, or in a pipe."""

    def show(done: Graded, *, full: bool = False, terminal: bool = False, **options: Any) -> str:
        text = StringIO()
        console = Console(file=text, width=80, force_terminal=terminal, highlight=False, **options)
        look = ONE_TRACE if full else Look(explained=done.plan.kept_failures)
        print_report(console, ended_view(done), look)
        return text.getvalue()

    return show


@pytest.fixture
def written():
    """What a run looks like in a file of this suffix."""

    def show(done: Graded, suffix: str) -> str:
        stream = BytesIO()
        ended_writers(done)[suffix](stream)
        return stream.getvalue().decode()

    return show


@pytest.fixture
def everywhere(screen, written):
    """Every text that a run leaves behind, by where."""

    def show(done: Graded) -> dict[str, str]:
        said = {suffix: written(done, suffix) for suffix in ended_writers(done)}
        return {**said, "pipe": screen(done), "terminal": screen(done, terminal=True), "full": screen(done, full=True)}

    return show


@pytest.fixture
def document(written):
    """The Markdown of a run."""
    return lambda done: written(done, ".md")

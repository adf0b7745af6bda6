"""The report of a session as files: results and traces for programs, pages for people."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import IO, TYPE_CHECKING

from rightcall.plugin.repeated import repeats_rows
from rightcall.report.files import whole_file
from rightcall.report.written.sealed import write_sealed
from rightcall.run.inputs.branch import source_facts

if TYPE_CHECKING:
    from pathlib import Path

    from rightcall.gate.decision import GateReport
    from rightcall.plugin.gathered import Gathered
    from rightcall.plugin.suite import Suite

PAGES = ("report.md", "report.html", "report.junit.xml")


def write(gathered: Gathered, suite: Suite, folder: Path, gate: GateReport | None) -> list[str]:
    """Write everything into a folder, each file whole or not at all.

    Returns:
        What was written, in words.

    Raises:
        ConfigError, OSError: a file that cannot be written.
    """
    from rightcall.report.formats.writing import write_reports
    from rightcall.report.view.building import view_of

    folder.mkdir(parents=True, exist_ok=True)
    with whole_file(folder / "results.json") as stream:
        _results(gathered, suite, stream)
    with whole_file(folder / "results.jsonl") as stream:
        stream.writelines(line + b"\n" for name in gathered.graders for line in gathered.lines[name])
    with whole_file(folder / "traces.jsonl") as stream:
        stream.writelines(line + b"\n" for line in gathered.traces)
    view = view_of(gathered.results(), suite.loaded, gate=gate)
    view = replace(view, notes=(*gathered.notes(), *view.notes), facts=(*view.facts, *repeats_rows(gathered.repeats)))
    write_reports(view, [folder / name for name in PAGES])
    return [f"report: {folder / 'report.html'}", f"  rightcall gate {folder / 'results.json'}"]


def _results(gathered: Gathered, suite: Suite, stream: IO[bytes]) -> None:
    """One JSON object, in the form of `--json` (SPEC §9)."""
    summary = {"graders": {name: gathered.summary(name) for name in gathered.graders}}
    run = {**gathered.run_facts(), "source": source_facts(suite.loaded, os.environ)}
    write_sealed(stream, run, summary, (line for name in gathered.graders for line in gathered.lines[name]))

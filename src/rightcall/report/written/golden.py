"""A run of `golden` as files, by suffix, written whole or not at all."""

from __future__ import annotations

import csv
import io
from typing import IO, TYPE_CHECKING

import msgspec

from rightcall.grade.verdict import GoldenResult, Metrics
from rightcall.report import markdown
from rightcall.report.files import cell, refuse_unwritable, whole_file, write_whole
from rightcall.report.summary import run_facts, summary

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rightcall.run.golden.grading import Graded

__all__ = ["WRITERS", "cell", "refuse_unwritable", "whole_file", "write_json", "write_whole", "writer_for"]


def writer_for(path: Path) -> Callable[[Graded, IO[bytes]], None]:
    """The writer that a file's suffix asks for.

    Raises:
        ConfigError: a suffix that nothing is written as, or a folder that does not exist.
    """
    return WRITERS[refuse_unwritable(path, WRITERS)]


def write_json(graded: Graded, stream: IO[bytes]) -> None:
    """One JSON object: `run`, `summary`, `results` (SPEC §9)."""
    stream.write(b'{"run":' + msgspec.json.encode(run_facts(graded)))
    stream.write(b',"summary":' + msgspec.json.encode(summary(graded)) + b',"results":[')
    for index, line in enumerate(graded.results()):
        stream.write(b",\n" + line if index else b"\n" + line)
    stream.write(b"\n]}\n")


def _write_jsonl(graded: Graded, stream: IO[bytes]) -> None:
    """One result a line."""
    for line in graded.results():
        stream.write(line + b"\n")


_METRICS = Metrics.__struct_fields__
_COLUMNS = (
    "trace_id",
    "case_id",
    "trial",
    "profile",
    "status",
    "reason",
    "verdict",
    "policy_only",
    "completed",
    "calls",
)


def _write_csv(graded: Graded, stream: IO[bytes]) -> None:
    """One row a result: identity, verdict, metrics, kinds of findings."""
    text = io.TextIOWrapper(stream, "utf-8", newline="", write_through=True)
    rows = csv.writer(text)
    rows.writerow([*_COLUMNS, *_METRICS, "findings", "vetoes"])
    for line in graded.results():
        result = msgspec.json.decode(line, type=GoldenResult)
        values = [getattr(result, name) for name in _COLUMNS] + [getattr(result.metrics, name) for name in _METRICS]
        kinds = " ".join(finding.kind for finding in result.findings)
        rows.writerow([*map(cell, values), kinds, " ".join(veto.rule for veto in result.vetoes)])
    text.flush()
    text.detach()


def _write_markdown(graded: Graded, stream: IO[bytes]) -> None:
    stream.write(markdown.render(graded).encode())


def _report(suffix: str) -> Callable[[Graded, IO[bytes]], None]:
    """What writes a report of a run in one of the formats that all graders share."""

    def write(graded: Graded, stream: IO[bytes]) -> None:
        from rightcall.report.formats.writing import WRITERS as REPORTS
        from rightcall.report.view.building import view_of
        from rightcall.run.finished.live import graded_results

        REPORTS[suffix](view_of(graded_results(graded)), stream)

    return write


WRITERS: dict[str, Callable[[Graded, IO[bytes]], None]] = {
    ".json": write_json,
    ".jsonl": _write_jsonl,
    ".csv": _write_csv,
    ".md": _write_markdown,
    ".html": _report(".html"),
    ".junit.xml": _report(".junit.xml"),
    ".sarif": _report(".sarif"),
}

"""A run of one grader that has just ended, as files: its results as JSON, everything else as a report of it."""

from __future__ import annotations

from dataclasses import replace
from typing import IO, TYPE_CHECKING

from rightcall.report import judged, summary
from rightcall.report.formats.writing import write_all
from rightcall.report.written.sealed import write_sealed
from rightcall.run.finished.live import graded_results, judged_results
from rightcall.run.golden.grading import Graded

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rightcall.report.view.model import Conclusion, ReportView
    from rightcall.run.judging.run import Judged
    from rightcall.settings.load import Loaded


def ended_view(
    run: Graded | Judged, loaded: Loaded | None = None, conclusion: Conclusion | None = None, *,
    run_id: str | None = None, is_whole: bool = True,
) -> ReportView:  # fmt: skip
    """The report of a run, made of its results while they are at hand.

    Args:
        run: the run; it must stay open as long as the report is used.
        loaded: the settings.
        conclusion: what its command leaves with.
        run_id: a run of `golden` on record; the others know it themselves.
        is_whole: see `rightcall.report.view.building.view_of`.
    """
    from rightcall.report.view.building import view_of

    results = graded_results(run, run_id) if isinstance(run, Graded) else judged_results(run)
    return replace(view_of(results, loaded, is_whole=is_whole), conclusion=conclusion)


def write_json(run: Graded | Judged, stream: IO[bytes]) -> None:
    """One JSON object: `run`, `summary`, `results`, `digest` (SPEC §9)."""
    if isinstance(run, Graded):
        write_sealed(stream, summary.run_facts(run), summary.summary(run), run.results())
    else:
        write_sealed(stream, judged.run_facts(run), judged.summary(run), run.results())


def write_jsonl(run: Graded | Judged, stream: IO[bytes]) -> None:
    """One result a line."""
    for line in run.results():
        stream.write(line + b"\n")


def write_files(out: Sequence[Path], run: Graded | Judged, view: ReportView | None) -> None:
    """Write every file, each in the format of its suffix; none gets its name before all are complete.

    Args:
        out: the files.
        run: the run.
        view: its report; `None` will do where every file holds the results themselves.

    Raises:
        ConfigError: one cannot be written; then none of them appears.
    """
    write_all(
        out, view,
        {".json": lambda stream: write_json(run, stream), ".jsonl": lambda stream: write_jsonl(run, stream)},
    )  # fmt: skip

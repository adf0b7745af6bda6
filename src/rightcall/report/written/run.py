"""A run on record as report files of every format (SPEC §9), all of them or none."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from rightcall.report.formats.writing import is_report, refuse, write_all

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rightcall.gate.decision import GateReport
    from rightcall.run.results.model import RunResults
    from rightcall.settings.load import Loaded
    from rightcall.store.store import Store


def write_run_files(
    results: RunResults, loaded: Loaded, store: Store, gate: GateReport | None, out: Sequence[Path]
) -> None:
    """Write a run as files, each in the format of its suffix.

    `.json` is the object that a gate reads as a baseline, `.jsonl` one result a line; the others are reports to read.

    Args:
        results: the run.
        loaded: the settings, by which the report explains itself.
        store: where the run is kept.
        gate: what the gates say; `None`: nobody asked.
        out: the files.

    Raises:
        ConfigError: a file that cannot be written. None was.
    """
    from rightcall.report.calibration.runs import with_calibrations
    from rightcall.report.view.building import view_of
    from rightcall.report.written.suite_json import write_results_json, write_results_jsonl

    def json(stream: IO[bytes]) -> None:
        write_results_json(
            results, gate, stream, log_head=store.head().hash, conflict_limit=loaded.settings.limits.conflicts
        )

    refuse(out)
    view = None
    if any(map(is_report, out)):
        view = with_calibrations(view_of(results, loaded, gate=gate), store, results)
    write_all(out, view, {".json": json, ".jsonl": lambda stream: write_results_jsonl(results, stream)})

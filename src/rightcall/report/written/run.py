"""A run on record as report files of every format (SPEC §9), all of them or none."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from rightcall.report.files import whole_file
from rightcall.report.formats.writing import RESULTS, refuse, write_reports

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
    from rightcall.report.view.building import view_of
    from rightcall.report.written.suite_json import write_results_json, write_results_jsonl

    refuse(out)
    with ExitStack() as files:
        for path in out:
            if path.name.endswith(".jsonl"):
                write_results_jsonl(results, files.enter_context(whole_file(path)))
            elif path.name.endswith(".json"):
                write_results_json(
                    results, gate, files.enter_context(whole_file(path)), log_head=store.head().hash,
                    conflict_limit=loaded.settings.limits.conflicts,
                )  # fmt: skip
        reports = [path for path in out if not path.name.endswith(RESULTS)]
        if reports:
            write_reports(view_of(results, loaded, gate=gate), reports)

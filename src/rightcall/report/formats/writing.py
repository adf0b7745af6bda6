"""A report as files, by suffix: each of them whole, and all of them or none.

`.json` and `.jsonl` hold the results themselves and are written by whoever has them; here they are only accepted.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from rightcall.errors import RunError
from rightcall.report.files import refuse_all, refuse_unwritable, write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from rightcall.report.view.model import ReportView

RESULTS = (".json", ".jsonl")
"""Suffixes of the results themselves."""


def refuse(out: Sequence[Path]) -> None:
    """Refuse what could not be written, before anything runs.

    Raises:
        ConfigError: a suffix that nothing is written as, a folder that does not exist, a file that is named twice.
    """
    refuse_all(out, SUFFIXES)


def write_reports(view: ReportView, out: Sequence[Path]) -> None:
    """Write the files that are reports, and give none its name before all are complete.

    Args:
        view: the report.
        out: files; those of the results themselves (`.json`, `.jsonl`) are left to the caller.

    Raises:
        ConfigError: as `refuse`, or a file cannot be written.
    """
    write_all([path for path in out if not path.name.endswith(RESULTS)], view, {})


def write_all(out: Sequence[Path], view: ReportView | None, results: Mapping[str, Callable[[IO[bytes]], None]]) -> None:
    """Write every file, and give none its name before all are complete.

    Args:
        out: the files.
        view: the report; `None` will do where every file holds the results themselves.
        results: what writes the results: suffix, of those in `RESULTS` -> writer.

    Raises:
        ConfigError: as `refuse`, or a file cannot be written. RunError: a report is wanted, and there is none.
    """
    refuse(out)

    def one(path: Path, stream: IO[bytes]) -> None:
        suffix = refuse_unwritable(path, SUFFIXES)
        if suffix in results:
            results[suffix](stream)
        elif view is None:
            raise RunError(f"there is no report to write as `{path}`")
        else:
            WRITERS[suffix](view, stream)

    write_whole(out, one)


def _markdown(view: ReportView, stream: IO[bytes]) -> None:
    from rightcall.report.formats.summary_md import render

    stream.write(render(view).encode())


def _html(view: ReportView, stream: IO[bytes]) -> None:
    from rightcall.report.html.page import write_html

    write_html(view, stream)


def _junit(view: ReportView, stream: IO[bytes]) -> None:
    from rightcall.report.formats.junit import write_junit

    write_junit(view, stream)


def _sarif(view: ReportView, stream: IO[bytes]) -> None:
    from rightcall.report.formats.sarif import write_sarif

    write_sarif(view, stream)


def _csv(view: ReportView, stream: IO[bytes]) -> None:
    from rightcall.report.formats.rows_csv import write_csv

    write_csv(view, stream)


WRITERS: dict[str, Callable[[ReportView, IO[bytes]], None]] = {
    ".csv": _csv,
    ".md": _markdown,
    ".html": _html,
    ".junit.xml": _junit,
    ".sarif": _sarif,
}
"""Suffix -> what writes it."""

SUFFIXES = (*RESULTS, *WRITERS)
"""Everything that a run is written as."""


def is_report(path: Path) -> bool:
    """Whether a file is a report, and not the results themselves."""
    return not path.name.endswith(RESULTS)

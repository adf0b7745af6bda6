"""A report as files, by suffix: each of them whole, and all of them or none.

`.json` and `.jsonl` hold the results themselves and are written by whoever has them; here they are only accepted.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from rightcall.report.files import refuse_unwritable, write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rightcall.report.view.model import ReportView

RESULTS = (".json", ".jsonl")
"""Suffixes of the results themselves."""


def refuse(out: Sequence[Path]) -> None:
    """Refuse what could not be written, before anything runs.

    Raises:
        ConfigError: a suffix that nothing is written as, a folder that does not exist, a file that is named twice.
    """
    from rightcall.errors import ConfigError, Place

    seen: set[Path] = set()
    for path in out:
        refuse_unwritable(path, (*RESULTS, *WRITERS))
        whole = path.resolve()
        if whole in seen:
            raise ConfigError(f"`{path}` is named twice", place=Place("--out"), hint="name each file once")
        seen.add(whole)


def write_reports(view: ReportView, out: Sequence[Path]) -> None:
    """Write the files that are reports, and give none its name before all are complete.

    Args:
        view: the report.
        out: files; those of the results themselves (`.json`, `.jsonl`) are left to the caller.

    Raises:
        ConfigError: as `refuse`, or a file cannot be written.
    """
    refuse(out)
    write_whole(
        [path for path in out if not path.name.endswith(RESULTS)],
        lambda path, stream: WRITERS[refuse_unwritable(path, WRITERS)](view, stream),
    )


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
    ".md": _markdown,
    ".html": _html,
    ".junit.xml": _junit,
    ".sarif": _sarif,
    ".csv": _csv,
}
"""Suffix -> what writes it."""

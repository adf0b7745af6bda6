"""A calibration as files, by suffix, all of them or none."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any

import msgspec

from rightcall.report.files import refuse_all, refuse_unwritable, write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from rightcall.report.calibration.model import CalibrationView
    from rightcall.run.calibration.calibrating import CalibrationReport


def plain_values(report: CalibrationReport) -> dict[str, Any]:
    """The report as `--json` gives it."""
    found: dict[str, Any] = msgspec.to_builtins(report)
    for one, made in zip(found["calibrations"], report.calibrations, strict=True):
        one["verdict"] = made.verdict
    return found


def refuse(out: Sequence[Path]) -> None:
    """Refuse what could not be written, before anything is compared.

    Raises:
        ConfigError: a suffix that nothing is written as, a folder that does not exist, a file that is named twice.
    """
    refuse_all(out, SUFFIXES)


def write_calibration(report: CalibrationReport, view: CalibrationView, out: Sequence[Path]) -> None:
    """Write a calibration as files, and give none its name before all are complete.

    Args:
        report: what was found, which `.json` holds whole.
        view: the same as it is shown, which `.md` and `.html` are written from.
        out: the files.

    Raises:
        ConfigError: as `refuse`, or a file cannot be written.
    """
    refuse(out)

    def one(path: Path, stream: IO[bytes]) -> None:
        suffix = refuse_unwritable(path, SUFFIXES)
        if suffix == ".json":
            stream.write(msgspec.json.format(msgspec.json.encode(plain_values(report)), indent=2) + b"\n")
        else:
            WRITERS[suffix](view, stream)

    write_whole(out, one)


def _markdown(view: CalibrationView, stream: IO[bytes]) -> None:
    from rightcall.report.calibration.markdown import markdown

    stream.write(markdown(view).encode())


def _html(view: CalibrationView, stream: IO[bytes]) -> None:
    from rightcall.report.html.calibration import write_html

    write_html(view, stream)


WRITERS: dict[str, Callable[[CalibrationView, IO[bytes]], None]] = {".md": _markdown, ".html": _html}
"""Suffix -> what writes it from the view."""

SUFFIXES = (".json", *WRITERS)

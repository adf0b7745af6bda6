"""A run as files: `.json`, `.jsonl`, `.csv`, `.md`, written whole or not at all."""

from __future__ import annotations

import csv
import io
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import msgspec

from rightcall.errors import ConfigError, Place
from rightcall.grade.verdict import GoldenResult, Metrics
from rightcall.report import markdown, plain
from rightcall.report.summary import run_facts, summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rightcall.run.golden import Graded


def writer_for(path: Path) -> Callable[[Graded, IO[bytes]], None]:
    """The writer that a file's suffix asks for.

    Raises:
        ConfigError: a suffix that nothing is written as, or a folder that does not exist.
    """
    return WRITERS[refuse_unwritable(path, WRITERS)]


def refuse_unwritable(path: Path, writers: Iterable[str]) -> str:
    """The suffix by which a file will be written.

    Raises:
        ConfigError: a suffix that nothing is written as, or a folder that does not exist.
    """
    suffix = next((suffix for suffix in writers if path.name.endswith(suffix)), None)
    if suffix is None:
        raise ConfigError(
            f"no format is known for `{path.name}`", place=Place("--out"), hint=f"use one of {', '.join(writers)}"
        )
    try:
        has_folder, is_folder = path.parent.is_dir(), path.is_dir()
    except OSError as error:  # a name that no file can have
        raise ConfigError(f"cannot write: {error.strerror}", place=Place(str(path))) from None
    if not has_folder:
        raise ConfigError(f"the folder `{path.parent}` does not exist", place=Place("--out"), hint="make it first")
    if is_folder:
        raise ConfigError(f"`{path}` is a folder", place=Place("--out"), hint="name a file")
    return suffix


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file that appears under its name only when it is complete.

    Raises:
        ConfigError: it cannot be written.
    """
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:50]}.")
    except OSError as error:
        raise ConfigError(f"cannot write: {error.strerror}", place=Place(str(path))) from None
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(path)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise ConfigError(f"cannot write: {error.strerror}", place=Place(str(path))) from None
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


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


# Some spreadsheets also take the full-width signs for the start of a formula.
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def cell(value: Any) -> Any:
    """A text with nothing hidden in it; one that a spreadsheet would run as a formula is made a plain text."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        text = plain.visible(value)
        return "'" + text if text.lstrip()[:1] in _FORMULA else text
    return "" if value is None else value


def _write_markdown(graded: Graded, stream: IO[bytes]) -> None:
    stream.write(markdown.render(graded).encode())


WRITERS: dict[str, Callable[[Graded, IO[bytes]], None]] = {
    ".json": write_json,
    ".jsonl": _write_jsonl,
    ".csv": _write_csv,
    ".md": _write_markdown,
}

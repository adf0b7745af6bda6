"""People's answers as a file: JSON lines, or a table in which nothing can be a formula."""

from __future__ import annotations

import csv
import io
import tempfile
from typing import IO, TYPE_CHECKING, Any

import msgspec

from rightcall.report.write import cell, refuse_unwritable, whole_file
from rightcall.run.labels import flat

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

SUFFIXES = (".jsonl", ".csv")


def refuse_other(path: Path) -> str:
    """The suffix by which a file of labels will be written.

    Raises:
        ConfigError: another one, or a folder that does not exist.
    """
    return refuse_unwritable(path, SUFFIXES)


def write_labels(path: Path, rows: Iterable[dict[str, Any]]) -> int:
    """Write the rows, whole or not at all; how many there were.

    Raises:
        ConfigError: it cannot be written.
    """
    suffix = refuse_other(path)
    with whole_file(path) as stream:
        return (_write_csv if suffix == ".csv" else _write_jsonl)(rows, stream)


def _write_jsonl(rows: Iterable[dict[str, Any]], stream: IO[bytes]) -> int:
    number = 0
    for row in rows:
        stream.write(msgspec.json.encode(row) + b"\n")
        number += 1
    return number


def _write_csv(rows: Iterable[dict[str, Any]], stream: IO[bytes]) -> int:
    """A table with the columns of all rows, in the order in which they first appear."""
    columns: dict[str, None] = {}
    with tempfile.TemporaryFile() as kept:
        number = _write_jsonl((_noted(flat(row), columns) for row in rows), kept)
        kept.seek(0)
        text = io.TextIOWrapper(stream, "utf-8", newline="", write_through=True)
        table = csv.writer(text)
        table.writerow(map(cell, columns))
        for line in kept:
            row = msgspec.json.decode(line)
            table.writerow([cell(row.get(name)) for name in columns])
        text.flush()
        text.detach()
    return number


def _noted(row: dict[str, Any], columns: dict[str, None]) -> dict[str, Any]:
    columns.update(dict.fromkeys(row))
    return row

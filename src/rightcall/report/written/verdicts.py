"""The verdicts of a run as a file: JSON lines, a table in which nothing can be a formula, or Parquet."""

from __future__ import annotations

import csv
import io
from typing import IO, TYPE_CHECKING, Any

from rightcall.report.files import cell, refuse_unwritable, whole_file
from rightcall.report.formats.lake import SUFFIX, refuse_without_duckdb, write_parquet
from rightcall.trace.jsontext import encode_in_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from rightcall.run.results.columns import Kind

SUFFIXES = (".jsonl", ".csv", SUFFIX)


def refuse_other(path: Path) -> str:
    """The suffix by which a file of rows will be written.

    Raises:
        ConfigError: another one, or a folder that does not exist. MissingExtraError: Parquet without DuckDB.
    """
    suffix = refuse_unwritable(path, SUFFIXES)
    if suffix == SUFFIX:
        refuse_without_duckdb()
    return suffix


def write_rows(path: Path, kinds: Mapping[str, Kind], rows: Iterable[Mapping[str, Any]]) -> int:
    """Write rows, whole or not at all; how many there were.

    Args:
        path: the file; its suffix says how.
        kinds: name -> what a column holds, in order.
        rows: the rows; values of `json` columns are JSON values.

    Raises:
        ConfigError: it cannot be written.
    """
    suffix = refuse_other(path)
    if suffix == SUFFIX:
        return write_parquet(path, kinds, rows)
    with whole_file(path) as stream:
        return _write_csv(kinds, rows, stream) if suffix == ".csv" else write_lines(rows, stream)


def write_lines(rows: Iterable[Mapping[str, Any]], stream: IO[bytes], between: bytes = b"") -> int:
    """Write rows as JSON, one a line; `between` ends every line but the last. How many there were."""
    number = 0
    for row in rows:
        stream.write((between + b"\n" if number and between else b"") + encode_in_order(row))
        stream.write(b"" if between else b"\n")
        number += 1
    return number


def _write_csv(kinds: Mapping[str, Kind], rows: Iterable[Mapping[str, Any]], stream: IO[bytes]) -> int:
    text = io.TextIOWrapper(stream, "utf-8", newline="", write_through=True)
    table = csv.writer(text)
    table.writerow(map(cell, kinds))
    number = 0
    for row in rows:
        table.writerow([cell(_text(row.get(name), kind)) for name, kind in kinds.items()])
        number += 1
    text.flush()
    text.detach()
    return number


def _text(value: Any, kind: Kind) -> Any:
    return encode_in_order(value).decode() if kind == "json" and value is not None else value

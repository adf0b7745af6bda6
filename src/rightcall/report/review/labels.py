"""People's answers as a file: JSON lines, a table in which nothing can be a formula, or Parquet."""

from __future__ import annotations

import csv
import io
import tempfile
from typing import IO, TYPE_CHECKING, Any

import msgspec

from rightcall.report.files import cell, whole_file
from rightcall.report.formats.lake import SUFFIX, write_parquet
from rightcall.report.written.verdicts import refuse_other
from rightcall.run.people.labels import flat

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from rightcall.run.results.columns import Kind

__all__ = ["LABEL_COLUMNS", "refuse_other", "write_labels"]

LABEL_COLUMNS: dict[str, Kind] = {
    "item": "text", "run": "text", "grader": "text", "unit": "text", "case_id": "text", "trace_id": "text",
    "step_id": "text", "who": "text", "at": "text", "kind": "text", "blind": "flag", "extra": "flag",
    "unsure": "text", "note": "text", "evidence": "json", "seconds": "number", "probability": "number",
    "drawn": "number", "reasons": "json", "seed": "text", "client": "text", "replaces": "text", "answer": "text",
    "entry": "integer", "verdict": "text",
}  # fmt: skip
"""What every label has; in Parquet, the fields of the forms follow as `field.NAME`, `judged.NAME` …"""

_FIELDS = {"fields": "field", "judged": "judged", "judge": "judge", "consensus": "consensus"}
_INTEGERS = 1 << 63


def write_labels(path: Path, rows: Iterable[dict[str, Any]]) -> int:
    """Write the rows, whole or not at all; how many there were.

    Raises:
        ConfigError: it cannot be written.
    """
    suffix = refuse_other(path)
    if suffix == SUFFIX:
        return _write_parquet(path, rows)
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


def _write_parquet(path: Path, rows: Iterable[dict[str, Any]]) -> int:
    """Typed columns; what a column of the forms holds follows from all its values, so the rows are spooled first."""
    held: dict[str, set[Kind]] = {}
    with tempfile.TemporaryFile() as kept:
        _write_jsonl((_typed(row, held) for row in rows), kept)
        kept.seek(0)
        kinds = {**LABEL_COLUMNS, **{name: _one_of(found) for name, found in held.items()}}
        return write_parquet(path, kinds, (msgspec.json.decode(line) for line in kept))


def _typed(row: dict[str, Any], held: dict[str, set[Kind]]) -> dict[str, Any]:
    """A row with its fields as columns of their own; notes in `held` what each of them holds."""
    found = {name: row[name] for name in LABEL_COLUMNS}
    for name, prefix in _FIELDS.items():
        for inner, value in (row[name] or {}).items():
            held.setdefault(f"{prefix}.{inner}", set()).update(_kind(value))
            found[f"{prefix}.{inner}"] = value
    return found


def _kind(value: Any) -> Iterator[Kind]:
    """What a value is; nothing where there is none."""
    if isinstance(value, bool):
        yield "flag"
    elif isinstance(value, int):
        yield "integer" if -_INTEGERS <= value < _INTEGERS else "json"
    elif isinstance(value, float):
        yield "number"
    elif value is not None:
        yield "text" if isinstance(value, str) else "json"


def _one_of(found: set[Kind]) -> Kind:
    """What a column holds in which these were found."""
    if len(found) == 1:
        return next(iter(found))
    if not found:
        return "text"
    return "number" if found == {"integer", "number"} else "json"

"""Files of labels as rows: JSON Lines, a JSON array, or a table; nothing is guessed about what stands in a cell."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from rightcall.errors import ConfigError, Place, TraceError
from rightcall.review.forms import FORMS
from rightcall.store.waiting import read_moment
from rightcall.trace import jsontext
from rightcall.trace.explain import nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

LARGEST = 256 * 2**20
"""Bytes that a file of labels may have."""

_READ = (
    "item", "run", "run_id", "grader", "unit", "trace_id", "case_id", "step_id", "who", "at", "blind", "fields",
    "unsure", "note", "evidence", "seconds", "verdict",
)  # fmt: skip
_IGNORED = (
    "kind", "extra", "probability", "drawn", "reasons", "seed", "client", "replaces", "answer", "entry", "judged",
    "judge", "consensus",
)  # fmt: skip
_FIELD = "field."
_NAMES_OF_FIELDS = frozenset(field.name for form in FORMS.values() for field in form.fields)
_OTHERS = ("judged.", "judge.", "consensus.")
_TEXTS = ("item", "run", "run_id", "grader", "unit", "trace_id", "case_id", "step_id", "who", "at", "unsure", "note")
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")


class Problem(NamedTuple):
    """Something that is wrong with a file of labels, and the line on which it stands."""

    line: int
    message: str


@dataclass(frozen=True)
class Cells:
    """One row. `is_table`: its values are texts, and empty ones say nothing."""

    values: dict[str, Any]
    is_table: bool

    def text(self, name: str) -> str | None:
        """A text; `None` where nothing is said."""
        value = self.values.get(name)
        return value if isinstance(value, str) and value.strip() else None

    def flag(self, name: str) -> bool | None:
        """True or false; `None` where neither is said."""
        value = self.values.get(name)
        if isinstance(value, bool):
            return value
        return {"true": True, "false": False}.get(str(value).strip().lower()) if self.is_table else None

    def number(self, name: str) -> float | None:
        """A number of 0 or more; `None` where none is said."""
        value = self.values.get(name)
        if self.is_table and isinstance(value, str):
            try:
                value = float(value)
            except ValueError:
                return None
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        return float(value) if isfinite(value) and value >= 0 else None

    def evidence(self) -> tuple[str, ...]:
        """What the person points at."""
        value = self.values.get("evidence")
        if isinstance(value, list):
            return tuple(one for one in value if isinstance(one, str))
        parts = value.split(";") if isinstance(value, str) else ()
        return tuple(part.strip() for part in parts if part.strip())

    def fields(self) -> dict[str, Any]:
        """The answer by field; texts in a table."""
        own = self.values.get("fields")
        found = dict(own) if isinstance(own, dict) else {}
        for name, value in self.values.items():
            if name.startswith(_FIELD) and not (self.is_table and not value.strip()):
                found[name.removeprefix(_FIELD)] = value
        return found

    def faults(self) -> Iterator[str]:
        """What is wrong with the row whatever the item."""
        for name in _TEXTS:
            value = self.values.get(name)
            if value is not None and not isinstance(value, str):
                yield f"`{name}` must be a text"
        at = self.text("at")
        if at is None:
            yield "`at` is missing"
        elif read_moment(at) is None:
            yield f"`at` must be a moment with a zone (2026-11-29T10:00:00Z), not `{at[:40]}`"
        if self.flag("blind") is None:
            yield "`blind` must say true or false"
        if self.values.get("seconds") not in (None, "") and self.number("seconds") is None:
            yield "`seconds` must be a number of 0 or more"
        yield from self._part_faults()

    def _part_faults(self) -> Iterator[str]:
        fields, evidence = self.values.get("fields"), self.values.get("evidence")
        if fields is not None and not isinstance(fields, dict):
            yield "`fields` must be an object; in a table each has a column `field.NAME`"
        is_list = isinstance(evidence, list) and all(isinstance(one, str) and one.strip() for one in evidence)
        if evidence is not None and not (isinstance(evidence, str) or is_list):
            yield "`evidence` must be a list of texts"


def read_rows(path: Path) -> tuple[list[tuple[int, Cells]], list[Problem]]:
    """The rows of a file with their lines, and everything that keeps it from being read.

    Raises:
        ConfigError: the file is not there, too large, of no known kind, or holds no row.
    """
    readers = {".csv": _table, ".jsonl": _lines, ".ndjson": _lines, ".json": _array}
    read = readers.get(path.suffix.lower())
    if read is None:
        raise ConfigError(
            f"`{path.suffix or path.name}` is no file of labels", place=Place(str(path)),
            hint=f"known: {', '.join(readers)}",
        )  # fmt: skip
    rows: list[tuple[int, Cells]] = []
    problems: list[Problem] = []
    for line, row in read(_content(path)):
        if isinstance(row, Cells):
            rows.append((line, row))
            problems += [Problem(line, message) for message in _unknown(row.values)]
        else:
            problems.append(Problem(line, row))
    if not rows and not problems:
        raise ConfigError("there is no label in it", place=Place(str(path)), hint="one row for each answer")
    return rows, _without_repetition(problems)


def _content(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST:
            raise ConfigError(f"it has more than {LARGEST:,} bytes", place=Place(str(path)), hint="split it")
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise ConfigError(f"cannot be read: {error.strerror}", place=Place(str(path)), hint="check the path") from None
    except UnicodeDecodeError:
        raise ConfigError("it is not UTF-8", place=Place(str(path)), hint="save it as UTF-8") from None


def _lines(text: str) -> Iterator[tuple[int, Cells | str]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, _object(line.strip())


def _array(text: str) -> Iterator[tuple[int, Cells | str]]:
    """The entries of an array; their number stands in for the line."""
    try:
        values = jsontext.decode(text.encode())
    except TraceError as error:
        yield 1, error.message
        return
    if not isinstance(values, list):
        yield 1, "it is no JSON array"
        return
    for number, value in enumerate(values, 1):
        yield number, Cells(value, is_table=False) if isinstance(value, dict) else "it is no object"


def _object(line: str) -> Cells | str:
    try:
        value = jsontext.decode(line.encode())
    except TraceError as error:
        return error.message
    return Cells(value, is_table=False) if isinstance(value, dict) else "it is no object"


def _table(text: str) -> Iterator[tuple[int, Cells | str]]:
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    head: list[str] | None = None
    while True:
        line = rows.line_num + 1
        try:
            row = next(rows, None)
        except csv.Error as error:
            yield line, f"it is no row: {error}"
            return
        if row is None:
            return
        if not any(cell.strip() for cell in row):
            continue
        if head is None:
            head = [cell.strip() for cell in row]
            if len(set(head)) < len(head):
                yield line, "a column stands twice in the header"
                return
        elif len(row) != len(head):
            yield line, f"it has {len(row)} cells, and the header {len(head)}"
        else:
            yield line, Cells(dict(zip(head, map(_plain, row), strict=True)), is_table=True)


def _plain(cell: str) -> str:
    """A cell without the apostrophe that keeps a spreadsheet from running it."""
    return cell[1:] if cell.startswith("'") and cell[1:].lstrip()[:1] in _FORMULA else cell


def _unknown(values: dict[str, Any]) -> Iterable[str]:
    for name in values:
        if name in _READ or name in _IGNORED or name.startswith((_FIELD, *_OTHERS)):
            continue
        field = name.rpartition(".")[2]
        guess = f"{_FIELD}{field}" if field in _NAMES_OF_FIELDS else nearest(name, _READ)
        yield f"`{name}` is no column of labels" + (f" (did you mean `{guess}`?)" if guess else "")


def _without_repetition(problems: list[Problem]) -> list[Problem]:
    """The problems, each unknown column named once."""
    seen: set[str] = set()
    found = []
    for one in problems:
        if one.message.startswith("`") and one.message.split("`")[2].startswith(" is no column"):
            if one.message in seen:
                continue
            seen.add(one.message)
        found.append(one)
    return found

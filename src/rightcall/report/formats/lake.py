"""Rows as a Parquet file, through DuckDB: typed columns, bounded memory, written whole or not at all.

The rows are spooled as JSON lines, which DuckDB reads with the types that are named here and guesses nothing; it loads
no extension and asks no network. JSON and no CSV: there an empty text is no missing one, and a NUL, a quote or a line
feed is written in one way only. The same rows give the same bytes.
"""

from __future__ import annotations

import math
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.errors import MissingExtraError, RunError
from rightcall.report.files import whole_file
from rightcall.trace.jsontext import encode_in_order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from rightcall.run.results.columns import Kind

SUFFIX = ".parquet"

_TYPES: dict[Kind, str] = {
    "text": "VARCHAR", "json": "VARCHAR", "integer": "BIGINT", "number": "DOUBLE", "flag": "BOOLEAN",
}  # fmt: skip
_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false", "autoload_known_extensions": "false", "memory_limit": "1GB",
    "threads": "1",
}  # fmt: skip
"""One thread: each more takes 70 MB, lets chance say where row groups end, and is no faster at one file of lines."""

_GROUP = 5_000
"""Rows that are compressed together, and held in memory until they are."""
_LARGEST_ROW = 1 << 30
_INTEGERS = 1 << 63
_EXACT = 1 << 53
_LARGEST_EXPONENT = 1023


def refuse_without_duckdb() -> None:
    """Refuse what cannot be written, before anything is read.

    Raises:
        MissingExtraError: DuckDB is not installed.
    """
    try:
        import duckdb  # noqa: F401 - only whether it is there
    except ImportError:
        raise MissingExtraError("a .parquet file is written by DuckDB", hint="pip install 'rightcall[lake]'") from None


def write_parquet(path: Path, kinds: Mapping[str, Kind], rows: Iterable[Mapping[str, Any]]) -> int:
    """Write rows as Parquet; how many there were.

    Args:
        path: the file, which appears when it is complete.
        kinds: name -> what a column holds, in order; values of `json` columns are written as JSON text.
        rows: the rows; a column that a row lacks is null.

    Raises:
        MissingExtraError: DuckDB is not installed. ConfigError: the file cannot be written.
        RunError: a value does not fit its column.
    """
    refuse_without_duckdb()
    with tempfile.TemporaryDirectory(prefix="rightcall-") as folder:
        spool, made = Path(folder) / "rows.jsonl", Path(folder) / "rows.parquet"
        number, largest = _spool(spool, kinds, rows)
        _convert(spool, made, kinds, largest)
        with whole_file(path) as stream, made.open("rb") as source:
            shutil.copyfileobj(source, stream, 1 << 20)
    return number


def _spool(spool: Path, kinds: Mapping[str, Kind], rows: Iterable[Mapping[str, Any]]) -> tuple[int, int]:
    """Write the rows as JSON lines with columns by number; how many there are, and the bytes of the longest."""
    number = largest = 0
    encode = msgspec.json.Encoder().encode
    columns = [(f"c{at}", name, _CELLS.get(kind)) for at, (name, kind) in enumerate(kinds.items())]
    with spool.open("wb") as stream:
        for row in rows:
            cells = {}
            for key, name, cell in columns:
                value = row.get(name)
                if value is not None:  # what is not there is null, and many columns of many rows are
                    cells[key] = value if cell is None else cell(value)
            line = encode(cells)
            with _room():
                stream.write(line + b"\n")
            number += 1
            largest = max(largest, len(line))
        with _room():
            stream.flush()
    return number, largest


@contextmanager
def _room() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RunError(
            f"the rows cannot be kept for the file: {error.strerror}",
            hint="make room where temporary files go (TMPDIR)",
        ) from None


# ---- cells ----


def _json(value: Any) -> str:
    return encode_in_order(value).decode()


def _integer(value: int) -> int:
    if not -_INTEGERS <= value < _INTEGERS:
        raise RunError(f"{value} has more than 64 bits", hint="write .jsonl, which keeps every digit")
    return value


def _number(value: float) -> float:
    if isinstance(value, int):
        if abs(value) > _EXACT and (value.bit_length() > _LARGEST_EXPONENT or int(float(value)) != value):
            raise RunError(f"{value} has more than 53 bits", hint="write .jsonl, which keeps every digit")
    elif not math.isfinite(value):
        raise RunError(f"{value} is no JSON number")
    return value


_CELLS: dict[Kind, Callable[[Any], Any]] = {"json": _json, "integer": _integer, "number": _number}
"""How a value stands in its column, where that is not as it is; a `RunError` for what would be another value there."""


# ---- DuckDB ----


def _convert(spool: Path, made: Path, kinds: Mapping[str, Kind], largest: int) -> None:
    import duckdb

    types = ", ".join(f"c{at}: '{_TYPES[kind]}'" for at, kind in enumerate(kinds.values()))
    names = ", ".join(f"c{at} AS {_quoted(name)}" for at, name in enumerate(_apart(list(kinds))))
    size = min(max(largest + 1024, 1 << 24), _LARGEST_ROW)
    query = (
        f"COPY (SELECT {names} FROM read_json($spool, format = 'newline_delimited', columns = {{{types}}}, "  # noqa: S608 - names are quoted
        f"maximum_object_size = {size})) TO '{_escaped(made)}' (FORMAT parquet, COMPRESSION zstd, "
        f"ROW_GROUP_SIZE {_GROUP})"
    )
    settings = {**_SETTINGS, "temp_directory": str(spool.parent / "spill")}
    try:
        with duckdb.connect(":memory:", config=settings) as connection:
            connection.execute(query, {"spool": str(spool)})
    except duckdb.Error as error:
        raise RunError(f"DuckDB could not write the rows: {' '.join(str(error).split())}") from None


def _apart(names: Sequence[str]) -> list[str]:
    """The names, told apart where they differ in case only, which DuckDB does not see."""
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name.casefold()] = seen.get(name.casefold(), 0) + 1
        found.append(name if seen[name.casefold()] == 1 else f"{name}_{seen[name.casefold()]}")
    return found


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _escaped(path: Path) -> str:
    return str(path).replace("'", "''")

"""Rows as a Parquet file, through DuckDB: typed columns, bounded memory, written whole or not at all.

The rows are spooled as JSON lines, which DuckDB reads with the types that are named here and guesses nothing; it loads
no extension and asks no network.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.errors import MissingExtraError, RunError
from rightcall.report.files import whole_file
from rightcall.trace.jsontext import encode_in_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rightcall.run.results.columns import Kind

SUFFIX = ".parquet"

_TYPES: dict[Kind, str] = {
    "text": "VARCHAR", "json": "VARCHAR", "integer": "BIGINT", "number": "DOUBLE", "flag": "BOOLEAN",
}  # fmt: skip
_SETTINGS: dict[str, str | bool | int | float | list[str]] = {
    "autoinstall_known_extensions": "false", "autoload_known_extensions": "false", "memory_limit": "1GB",
    "threads": "2",
}  # fmt: skip
_GROUP = 5_000
"""Rows that are compressed together, and held in memory until they are."""
_LARGEST_ROW = 1 << 30
_INTEGERS = 1 << 63


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
    with spool.open("wb") as stream:
        for row in rows:
            line = encode({f"c{at}": cell(row.get(name), kind) for at, (name, kind) in enumerate(kinds.items())})
            stream.write(line + b"\n")
            number += 1
            largest = max(largest, len(line))
    return number, largest


def cell(value: Any, kind: Kind) -> Any:
    """A value as it stands in its column.

    Raises:
        RunError: a whole number of more than 64 bits.
    """
    if value is None:
        return None
    if kind == "json":
        return encode_in_order(value).decode()
    if kind == "integer" and not -_INTEGERS <= value < _INTEGERS:
        raise RunError(f"{value} has more than 64 bits", hint="write .jsonl, which keeps every digit")
    return value


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

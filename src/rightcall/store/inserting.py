"""Writes records inside a transaction that holds the write lock: what is new, its log entries, and nothing twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby, islice
from typing import TypeVar

import msgspec
from sqlalchemy import Connection, Table, select  # noqa: TID253 - loaded when a store is opened

from rightcall.errors import StoreError
from rightcall.store.chain import Head, LogEntry, extend
from rightcall.store.packing import UNIQUE, Column, PackedBody, PackedRecord
from rightcall.store.tables import TABLES, bodies, log

CHUNK = 200
"""How many values (or tuples of up to four) one question to the database names."""

ROWS = 60
"""How many rows one statement inserts; with 16 columns fewer than 1,000 values, which every SQLite takes."""

T = TypeVar("T")


def insert_all(connection: Connection, records: Sequence[PackedRecord], new_bodies: Sequence[PackedBody]) -> None:
    """Write the records that are not there yet, with one log entry each, and the bodies that are not there yet.

    Raises:
        StoreError: `STORE_CONFLICT`: two different records claim to be the same verdict, or the same run.
    """
    _insert_bodies(connection, new_bodies)
    fresh = _new_ones(connection, records)
    if not fresh:
        return
    _refuse_conflicts(connection, fresh)
    entries = extend(head(connection), fresh, datetime.now(UTC).isoformat(timespec="milliseconds"))
    rows = sorted(zip(fresh, entries, strict=True), key=lambda row: row[0].kind)
    for kind, group in groupby(rows, key=lambda row: row[0].kind):
        _insert(connection, TABLES[kind], [_row(record, entry) for record, entry in group])
    _insert(connection, log, [msgspec.structs.asdict(entry) for entry in entries])


def head(connection: Connection) -> Head:
    """Where the log ends."""
    row = connection.execute(select(log.c.seq, log.c.hash).order_by(log.c.seq.desc()).limit(1)).first()
    return Head(*row) if row else Head()


def known_bodies(connection: Connection, hashes: Iterable[str]) -> set[str]:
    """Which of these bodies the store has."""
    return {str(found) for (found,) in _there(connection, bodies, ("sha256",), ((one,) for one in hashes))}


def chunks(values: Iterable[T], size: int = CHUNK) -> Iterator[list[T]]:
    """The values in lists of at most so many."""
    rest = iter(values)
    while chunk := list(islice(rest, size)):
        yield chunk


def _insert_bodies(connection: Connection, new_bodies: Sequence[PackedBody]) -> None:
    if not new_bodies:
        return
    rows = [msgspec.structs.asdict(body) for body in new_bodies]
    _insert(connection, bodies, rows, "ON CONFLICT DO NOTHING")


# These two write their SQL themselves: they run for every commit, and putting such a statement together from its parts
# takes longer than to carry it out.


def _there(
    connection: Connection, table: Table, names: Sequence[str], wanted: Iterable[tuple[Column, ...]]
) -> Iterator[tuple[Column, ...]]:
    """Which of these values the columns of a table hold together in a row."""
    listed, mark = listed_by(connection, names), marks(connection, len(names))
    rows = "VALUES " if len(names) > 1 else ""
    for some in chunks(wanted):
        values = rows + ", ".join([mark] * len(some))
        statement = f"SELECT {listed} FROM {table.name} WHERE ({listed}) IN ({values})"  # noqa: S608 - no value in it
        for row in connection.exec_driver_sql(statement, tuple(value for one in some for value in one)):
            yield tuple(row)


def _insert(
    connection: Connection, table: Table, rows: Sequence[Mapping[str, Column | bytes]], clause: str = ""
) -> None:
    """Insert rows that all have the same columns, many with one statement.

    A driver gives way to other threads at each row of an ordinary insert of many, and waits to have its turn again.
    """
    names = list(rows[0])
    listed, mark = listed_by(connection, names), marks(connection, len(names))
    for some in chunks(rows, ROWS):
        values = ", ".join([mark] * len(some))
        statement = f"INSERT INTO {table.name} ({listed}) VALUES {values} {clause}"  # noqa: S608 - the same
        connection.exec_driver_sql(statement, tuple(row[name] for row in some for name in names))


def listed_by(connection: Connection, names: Sequence[str]) -> str:
    """The names of columns, as a statement has them."""
    return ", ".join(map(connection.dialect.identifier_preparer.quote, names))


def marks(connection: Connection, number: int) -> str:
    """Where one row of values goes, as the driver writes it."""
    one = "?" if connection.dialect.paramstyle == "qmark" else "%s"
    return f"({', '.join([one] * number)})"


def _row(record: PackedRecord, entry: LogEntry) -> dict[str, Column | bytes]:
    return {"digest": record.digest, "seq": entry.seq, "codec": record.codec, "data": record.data, **record.columns}


def _new_ones(connection: Connection, records: Sequence[PackedRecord]) -> list[PackedRecord]:
    by_digest = {record.digest: record for record in records}
    for kind, group in _by_kind(by_digest.values()).items():
        for (found,) in _there(connection, TABLES[kind], ("digest",), ((record.digest,) for record in group)):
            del by_digest[str(found)]
    return list(by_digest.values())


def _refuse_conflicts(connection: Connection, fresh: Iterable[PackedRecord]) -> None:
    for kind, group in _by_kind(fresh).items():
        if (names := UNIQUE.get(kind)) is None:
            continue
        claims = Counter(tuple(record.columns[name] for name in names) for record in group)
        taken = [claim for claim, times in claims.items() if times > 1]
        taken = taken or list(_there(connection, TABLES[kind], names, claims))
        if taken:
            said = ", ".join(f"{name} `{value}`" for name, value in zip(names, taken[0], strict=True))
            raise StoreError(
                f"another {kind} with {said} is recorded already; nothing of this was written",
                hint="what is recorded is never replaced: write a new revision"
                if kind == "verdict"
                else "take a new id",
            )


def _by_kind(records: Iterable[PackedRecord]) -> dict[str, list[PackedRecord]]:
    kinds: dict[str, list[PackedRecord]] = {}
    for record in records:
        kinds.setdefault(record.kind, []).append(record)
    return kinds

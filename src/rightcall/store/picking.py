"""Some records out of many, by what names them, a few hundred at a time."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import select  # noqa: TID253 - this module is loaded with an open store

from rightcall.store.inserting import chunks, listed_by, marks
from rightcall.store.packing import column, plain_bytes, unpack
from rightcall.store.reading import fetching
from rightcall.store.records import AttemptRecord
from rightcall.store.tables import TABLES, attempts, bodies, verdicts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sqlalchemy import Connection, Row, Table

    from rightcall.store.database import Database

_STORED = ("digest", "codec", "data")


def attempts_named(database: Database, digests: Iterable[str]) -> dict[str, AttemptRecord]:
    """The attempts with these digests, as far as they are there."""
    rows = _named(database, attempts, _STORED, "digest", digests)
    return {row.digest: unpack(AttemptRecord, row.codec, row.data) for row in rows}


def verdict_digests(database: Database, run_id: str, grader: str, units: Iterable[str]) -> dict[str, str]:
    """The digest of the current verdict of each of these units, as far as there is one."""
    names = {column(unit): unit for unit in units}
    found: dict[str, str] = {}
    for some in chunks(names):
        query = select(verdicts.c.unit, verdicts.c.digest).where(
            verdicts.c.run_id == column(run_id), verdicts.c.grader == column(grader), verdicts.c.unit.in_(some)
        )
        # Revisions in order, so that the last one stays.
        for row in database.read(fetching(query.order_by(verdicts.c.revision))):
            found[names[row.unit]] = row.digest
    return found


def records_of(database: Database, kind: str, digests: Iterable[str]) -> dict[str, bytes]:
    """The bytes (canonical JSON) of records of one kind, by digest, as far as they are there."""
    rows = _named(database, TABLES[kind], _STORED, "digest", digests)
    return {row.digest: plain_bytes(row.codec, row.data) for row in rows}


def body_rows(database: Database, digests: Iterable[str]) -> Iterator[Row[Any]]:
    """The bodies with these digests as they are stored: `sha256`, `codec`, `size`, `data`."""
    return _named(database, bodies, ("sha256", "codec", "size", "data"), "sha256", digests)


def about_bodies(database: Database, kind: str, bodies: Iterable[str]) -> Iterator[str]:
    """The digests of the records of a kind (`trace`, `case`) whose body is one of these."""
    return (row.digest for row in _named(database, TABLES[kind], ("digest",), "body", bodies))


def _named(
    database: Database, table: Table, names: Sequence[str], key: str, wanted: Iterable[str]
) -> Iterator[Row[Any]]:
    """These columns of the rows that have one of these values as their key."""
    for some in chunks(wanted):
        yield from database.read(partial(_asked, table=table, names=names, key=key, values=tuple(some)))


def _asked(
    connection: Connection, *, table: Table, names: Sequence[str], key: str, values: tuple[str, ...]
) -> Sequence[Row[Any]]:
    # As SQL, since exports ask this of every record: putting such a statement together from its parts takes longer than
    # to carry it out.
    listed, where = listed_by(connection, names), listed_by(connection, (key,))
    statement = f"SELECT {listed} FROM {table.name} WHERE {where} IN {marks(connection, len(values))}"  # noqa: S608
    return connection.exec_driver_sql(statement, values).all()

"""Some records out of many, by what names them, a few hundred at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import select  # noqa: TID253 - this module is loaded with an open store

from rightcall.store.inserting import chunks
from rightcall.store.packing import column, plain_bytes, unpack
from rightcall.store.reading import fetching
from rightcall.store.records import AttemptRecord
from rightcall.store.tables import TABLES, attempts, bodies, verdicts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sqlalchemy import Row

    from rightcall.store.database import Database


def attempts_named(database: Database, digests: Iterable[str]) -> dict[str, AttemptRecord]:
    """The attempts with these digests, as far as they are there."""
    found: dict[str, AttemptRecord] = {}
    for some in chunks(digests):
        query = select(attempts.c.digest, attempts.c.codec, attempts.c.data).where(attempts.c.digest.in_(some))
        for row in database.read(fetching(query)):
            found[row.digest] = unpack(AttemptRecord, row.codec, row.data)
    return found


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
    table = TABLES[kind]
    found: dict[str, bytes] = {}
    for some in chunks(digests):
        query = select(table.c.digest, table.c.codec, table.c.data).where(table.c.digest.in_(some))
        for row in database.read(fetching(query)):
            found[row.digest] = plain_bytes(row.codec, row.data)
    return found


def body_rows(database: Database, digests: Iterable[str]) -> Iterator[Row[Any]]:
    """The bodies with these digests as they are stored: `sha256`, `codec`, `size`, `data`."""
    names = [bodies.c[name] for name in ("sha256", "codec", "size", "data")]
    for some in chunks(digests):
        yield from database.read(fetching(select(*names).where(bodies.c.sha256.in_(some))))


def about_bodies(database: Database, kind: str, bodies: Iterable[str]) -> Iterator[str]:
    """The digests of the records of a kind (`trace`, `case`) whose body is one of these."""
    table = TABLES[kind]
    for some in chunks(bodies):
        for row in database.read(fetching(select(table.c.digest).where(table.c.body.in_(some)))):
            yield row.digest

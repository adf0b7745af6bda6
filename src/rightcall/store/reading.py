"""Questions to the store. Each is one short statement; long answers come page by page, up to where the log ended.

A page is fetched whole and its connection given back, so no reader ever holds a lock, however slowly it reads; and as
everything is numbered by its log entry, all pages together are one consistent picture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from sqlalchemy import (  # noqa: TID253 - this module is loaded when a store is opened
    ColumnElement,
    Connection,
    Row,
    Select,
    Table,
    exists,
    func,
    select,
)

from rightcall.store.chain import LogEntry
from rightcall.store.database import Database
from rightcall.store.inserting import chunks, head
from rightcall.store.packing import Column, column, unpack
from rightcall.store.records import RunEvent, RunRecord
from rightcall.store.tables import TABLES, bodies, log, run_events, runs, verdicts

PAGE = 500
"""How many rows are fetched at a time."""


def stream(
    database: Database, query: Select[Any], seq: ColumnElement[int], *, after: int = 0, limit: int | None = None,
    upto: int | None = None,
) -> Iterator[Row[Any]]:  # fmt: skip
    """The rows of a query in the order of `seq`, which it selects under that name.

    Args:
        database: where.
        query: what; without an order.
        seq: the column that numbers the rows.
        after: the number after which to begin.
        limit: how many rows at most.
        upto: the last number; where the log ends now, by default.
    """
    last = database.read(head).seq if upto is None else upto
    left = limit
    while left is None or left > 0:
        size = PAGE if left is None else min(PAGE, left)
        page = query.where(seq > after, seq <= last).order_by(seq).limit(size)
        rows = database.read(fetching(page))
        yield from rows
        if len(rows) < size:
            return
        after = rows[-1].seq
        left = None if left is None else left - len(rows)


def fetching(query: Select[Any]) -> Callable[[Connection], Sequence[Row[Any]]]:
    """All rows of a query."""
    return lambda connection: connection.execute(query).all()


def stored(table: Table, **where: Column) -> Select[Any]:
    """The records of a table whose columns have these values; `None` asks for nothing."""
    given = (table.c[name] == column(value) for name, value in where.items() if value is not None)
    return select(table.c.seq, table.c.digest, table.c.codec, table.c.data).where(*given)


def current_verdicts(upto: int, **where: Column) -> Select[Any]:
    """The verdicts that no later revision replaces, as of log entry `upto`."""
    later = verdicts.alias("later")
    same = (later.c[name] == verdicts.c[name] for name in ("run_id", "unit", "grader"))
    # `+ 0` keeps SQLite from looking for the others of a unit among all verdicts of the run, by their number.
    replaced = exists().where(*same, later.c.revision > verdicts.c.revision, later.c.seq + 0 <= upto)
    return stored(verdicts, **where).where(~replaced)


def newest_runs(limit: int | None) -> Callable[[Connection], list[tuple[RunRecord, RunEvent | None]]]:
    """The runs, newest first, each with its last event."""

    def ask(connection: Connection) -> list[tuple[RunRecord, RunEvent | None]]:
        rows = connection.execute(stored(runs).order_by(runs.c.seq.desc()).limit(limit)).all()
        found = [unpack(RunRecord, row.codec, row.data) for row in rows]
        events: dict[str, RunEvent] = {}
        for chunk in chunks(column(run.id) for run in found):
            last = (
                select(func.max(run_events.c.seq)).where(run_events.c.run_id.in_(chunk)).group_by(run_events.c.run_id)
            )
            for row in connection.execute(stored(run_events).where(run_events.c.seq.in_(last))):
                event = unpack(RunEvent, row.codec, row.data)
                events[event.run_id] = event
        return [(run, events.get(run.id)) for run in found]

    return ask


def newest_run_ids(connection: Connection) -> list[str]:
    """The ids of the newest runs, for a suggestion."""
    return list(connection.scalars(select(runs.c.id).order_by(runs.c.seq.desc()).limit(1000)))


def run_numbers(day: str) -> Callable[[Connection], list[int]]:
    """The numbers of the runs of a day, whose ids are `DAY-NUMBER`."""
    query = select(runs.c.id).where(runs.c.id.startswith(f"{day}-", autoescape=True))

    def ask(connection: Connection) -> list[int]:
        numbers = (run_id.removeprefix(f"{day}-") for run_id in connection.scalars(query))
        return [int(number) for number in numbers if number.isascii() and number.isdecimal()]

    return ask


def newest_answer(key: str) -> Callable[[Connection], Row[Any] | None]:
    """The newest good answer to a question, from its first asking or its one content retry."""

    def ask(connection: Connection) -> Row[Any] | None:
        # As SQL, since every question of a judged run asks this: putting it together takes longer than the answer.
        mark = "?" if connection.dialect.paramstyle == "qmark" else "%s"
        return connection.exec_driver_sql(f"{_NEWEST_ANSWER}{mark}{_NEWEST_FIRST}", (column(key),)).first()

    return ask


_NEWEST_ANSWER = (
    "SELECT codec, data FROM attempts WHERE status = 'ok' AND purpose = 'question' AND attempt IN (0, 1) AND key = "
)
_NEWEST_FIRST = " ORDER BY seq DESC LIMIT 1"


def by_number(table: Table, seq: int) -> Select[Any]:
    """The record of one log entry."""
    # A number that no database can hold is that of no entry.
    return stored(table).where(table.c.seq == (seq if 0 < seq < 2**63 else 0))


def by_prefix(table: Table, prefix: str) -> Select[Any]:
    """At most two records whose digest begins so: enough to know whether it is one."""
    # No hexadecimal digit sorts after "g", in any collation.
    return stored(table).where(table.c.digest >= prefix, table.c.digest < f"{prefix}g").order_by(table.c.seq).limit(2)


def log_entries(kind: str | None, run_id: str | None) -> Select[Any]:
    """The log, of one kind or run where that is given."""
    query = select(*(log.c[name] for name in LogEntry.__struct_fields__))
    given = {"kind": kind, "run_id": column(run_id)}
    return query.where(*(log.c[name] == value for name, value in given.items() if value is not None))


def counts(connection: Connection) -> dict[str, int]:
    """How many records of each kind there are, and how many bodies."""
    tables = {**TABLES, "body": bodies}
    return {
        kind: connection.execute(select(func.count()).select_from(table)).scalar_one() for kind, table in tables.items()
    }


def sizes(connection: Connection) -> tuple[int, int]:
    """Bytes of all bodies: as they were given, and as they are stored."""
    raw, packed = connection.execute(select(func.sum(bodies.c.size), func.sum(func.length(bodies.c.data)))).one()
    return int(raw or 0), int(packed or 0)

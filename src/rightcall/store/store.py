"""The store: an append-only record in one SQLite file or one PostgreSQL database.

What is written stays as it is: there is no door to change or delete, and the database refuses both. A record is
identified by its content, so writing it twice is harmless, in one process or in several. Every record has one entry
in the log, whose hashes chain all of them (see `rightcall.store.chain` and `rightcall.store.verify`).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from msgspec import Struct

from rightcall.errors import Place, StoreError
from rightcall.store.chain import Head, LogEntry
from rightcall.store.packing import PackedRecord, hashed, pack, pack_bodies, plain_bytes, unpack
from rightcall.store.records import (
    AttemptRecord,
    CalibrationRecord,
    CaseRecord,
    Record,
    ReviewRecord,
    RunEvent,
    RunRecord,
    TraceRecord,
    VerdictRecord,
    item_of,
    short_item,
)
from rightcall.trace.explain import nearest

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select, Table

    from rightcall.store.database import Database
    from rightcall.store.queue import Queue

WAIT = 30.0
"""Seconds to wait for another writer, and to ask a lost server again, by default."""

_SHORTEST_PREFIX = 4

R = TypeVar("R", bound=Record)


class Size(Struct, frozen=True):
    """Bytes of all bodies: `raw` as they were given, `stored` as they are kept."""

    raw: int
    stored: int


class Store:
    """An open store; use it as a context manager, or `close()` it. Threads may share one, processes may not."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._queue: Queue | None = None

    @classmethod
    def open(cls, url_or_path: str | Path, *, create: bool = True, timeout: float = WAIT) -> Self:
        """Open a store, and bring its schema up to date.

        Args:
            url_or_path: a file (SQLite), `sqlite:///FILE`, or `postgresql://USER:PASSWORD@HOST/DATABASE`.
            create: make the store if it is not there.
            timeout: seconds to wait for another process that writes; the same for a server that restarts later on.

        Raises:
            StoreError: `STORE_UNREACHABLE` (no file, no server, no rights), `STORE_INVALID` (no store, or one that a
                newer rightcall made), `STORE_LOCKED`, `STORE_FULL`.
            MissingExtraError: PostgreSQL, without its driver.
        """
        from rightcall.store.database import connect
        from rightcall.store.upgrade import upgrade

        database = connect(url_or_path, create=create, timeout=timeout)
        try:
            upgrade(database, create=create)
        except BaseException:
            database.close()
            raise
        # From here on the server is known to be the right one, so it is worth waiting for.
        database.patience = timeout
        return cls(database)

    def close(self) -> None:
        """Close every connection to the database."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def name(self) -> str:
        """The store as it may be shown: its path, or its URL without the password."""
        return self.database.name

    # ---- writing ----

    def write(self, records: Sequence[Record], bodies: Iterable[bytes | str] = ()) -> list[str]:
        """Write records and bodies in one transaction: all of them, or nothing. What is there already is left alone.

        Returns:
            The records' digests, in order.

        Raises:
            StoreError: `STORE_CONFLICT` (the same verdict or run with another content), `STORE_INVALID` (no JSON),
                `STORE_LOCKED`, `STORE_FULL`, `STORE_UNREACHABLE`. Nothing of it was written.
        """
        return self.write_packed(pack(records), hashed(bodies))

    def write_packed(self, records: Sequence[PackedRecord], bodies: dict[str, bytes]) -> list[str]:
        """Like `write`, for records that were packed and bodies that were hashed before."""
        from rightcall.store.inserting import insert_all, known_bodies

        # Outside the lock: most bodies are there already, and packing the others takes time.
        known = self.database.read(lambda connection: known_bodies(connection, bodies)) if bodies else set()
        packed = pack_bodies({sha256: data for sha256, data in bodies.items() if sha256 not in known})
        if records or packed:
            self.database.write(lambda connection: insert_all(connection, records, packed))
        return [record.digest for record in records]

    def new_run(self, grader: str, day: str, started_at: str, facts: dict[str, Any]) -> RunRecord:
        """Record the start of a run under the next free number of its day.

        If a server is lost at the very moment of writing, a number may be left to a run that never went on: no two
        runs ever share one.

        Args:
            grader: what it runs.
            day: `YYYYMMDD`.
            started_at: ISO 8601.
            facts: what is judged, how, by which judges.

        Raises:
            StoreError: as `write`; `STORE_INVALID` where `day` is no day.
        """
        from rightcall.store.inserting import insert_all
        from rightcall.store.reading import run_numbers

        if not re.fullmatch(r"[0-9]{8}", day):
            raise StoreError(f"`{day}` is no day", code="STORE_INVALID", hint="write it as YYYYMMDD")

        def take(connection: Connection) -> RunRecord:
            number = max(run_numbers(day)(connection), default=0) + 1
            run = RunRecord(id=f"{day}-{number}", grader=grader, started_at=started_at, facts=facts)
            insert_all(connection, pack([run]), [])
            return run

        return self.database.write(take)

    # ---- runs ----

    def runs(self, limit: int | None = None) -> list[tuple[RunRecord, RunEvent | None]]:
        """The runs, newest first, each with the last thing that became of it."""
        from rightcall.store.reading import newest_runs

        return self.database.read(newest_runs(limit))

    def run(self, run_id: str) -> RunRecord:
        """The start of one run.

        Raises:
            StoreError: `STORE_INVALID`: there is no such run; the nearest id is named.
        """
        from rightcall.store import reading, tables

        if (found := self._first(RunRecord, reading.stored(tables.runs, id=run_id))) is not None:
            return found[2]
        ids = self.database.read(reading.newest_run_ids)
        guess = nearest(run_id, ids)
        hint = f"did you mean `{guess}`?" if guess else f"the last is `{ids[0]}`" if ids else "no run is recorded yet"
        unknown = StoreError(f"there is no run `{run_id}`", code="STORE_INVALID", place=Place(self.name), hint=hint)
        unknown.exit_code = 2  # the store is well: a run was named that is not there
        raise unknown

    def events(self, run_id: str) -> Iterator[RunEvent]:
        """What became of a run, in order."""
        from rightcall.store.tables import run_events

        return (event for _, _, event in self._records(RunEvent, run_events, run_id=run_id))

    # ---- verdicts ----

    def verdicts(self, run_id: str) -> Iterator[VerdictRecord]:
        """The current verdicts of a run: of each unit and grader the highest revision, in the order of writing."""
        return self.find_verdicts(run_id=run_id)

    def verdict(self, run_id: str, unit: str, grader: str | None = None) -> VerdictRecord | None:
        """The current verdict of one unit; `None` if there is none."""
        return next(self.find_verdicts(run_id=run_id, unit=unit, grader=grader), None)

    def find_verdicts(
        self, case_id: str | None = None, trace_id: str | None = None, unit: str | None = None, *,
        run_id: str | None = None, grader: str | None = None,
    ) -> Iterator[VerdictRecord]:  # fmt: skip
        """Current verdicts of all runs that have what is given, in the order of writing."""
        from rightcall.store import reading
        from rightcall.store.tables import verdicts

        upto = self.head().seq
        query = reading.current_verdicts(
            upto, case_id=case_id, trace_id=trace_id, unit=unit, run_id=run_id, grader=grader
        )
        for row in reading.stream(self.database, query, verdicts.c.seq, upto=upto):
            yield unpack(VerdictRecord, row.codec, row.data)

    # ---- attempts ----

    def attempts(
        self, *, run_id: str | None = None, unit: str | None = None, case_id: str | None = None,
        judge: str | None = None, status: str | None = None, key: str | None = None, after_seq: int | None = None,
        limit: int | None = None,
    ) -> Iterator[tuple[int, str, AttemptRecord]]:  # fmt: skip
        """Attempts that have what is given, oldest first, as (number of the log entry, digest, record).

        `None` asks for nothing; `after_seq` is the number of the log entry after which to begin.
        """
        from rightcall.store.tables import attempts

        where = {"run_id": run_id, "unit": unit, "case_id": case_id, "judge": judge, "status": status, "key": key}
        return self._records(AttemptRecord, attempts, after=after_seq or 0, limit=limit, **where)

    def attempt(self, digest_prefix_or_seq: str | int) -> tuple[int, str, AttemptRecord]:
        """One attempt, as (number of the log entry, digest, record).

        Args:
            digest_prefix_or_seq: the number of its log entry, or the first characters of its digest (four or more).

        Raises:
            StoreError: `STORE_INVALID`: there is none, or there are several.
        """
        from rightcall.store import reading
        from rightcall.store.tables import attempts

        asked = digest_prefix_or_seq
        if isinstance(asked, int):
            query = reading.by_number(attempts, asked)
        elif re.fullmatch(rf"[0-9a-f]{{{_SHORTEST_PREFIX},64}}", asked):
            query = reading.by_prefix(attempts, asked)
        else:
            raise StoreError(
                f"`{asked}` is no attempt", code="STORE_INVALID",
                hint=f"give {_SHORTEST_PREFIX} or more characters of its digest, or the number of its log entry",
            )  # fmt: skip
        rows = self.database.read(reading.fetching(query))
        if len(rows) != 1:
            raise StoreError(
                f"{'several attempts begin with' if rows else 'there is no attempt'} `{asked}`",
                code="STORE_INVALID", place=Place(self.name), hint="see `rightcall log`",
            )  # fmt: skip
        return rows[0].seq, rows[0].digest, unpack(AttemptRecord, rows[0].codec, rows[0].data)

    def answered(self, key: str) -> AttemptRecord | None:
        """The newest good answer to a question with this key, first asking or content retry, of any run."""
        from rightcall.store.reading import newest_answer

        row = self.database.read(newest_answer(key))
        return None if row is None else unpack(AttemptRecord, row.codec, row.data)

    # ---- reviews, traces, cases, bodies ----

    def reviews(self, *, run_id: str | None = None, reason: str | None = None) -> Iterator[tuple[str, ReviewRecord]]:
        """Reasons for a review that have what is given, oldest first, each with its item's id (`rv-` and 8 digits).

        All the reasons about one unit of a run belong to one item, and so have one id.
        """
        from rightcall.store.tables import reviews

        found = self._records(ReviewRecord, reviews, run_id=run_id, reason=reason)
        return ((short_item(item_of(one.run_id, one.grader, one.unit)), one) for _, _, one in found)

    def calibrations(
        self, *, grader: str | None = None, judge: str | None = None, field: str | None = None
    ) -> Iterator[tuple[int, str, CalibrationRecord]]:
        """Calibrations that have what is given, oldest first, as (number of the log entry, digest, record)."""
        from rightcall.store.tables import calibrations

        return self._records(CalibrationRecord, calibrations, grader=grader, judge=judge, field=field)

    @property
    def queue(self) -> Queue:
        """The review queue: who may answer what, and what was answered. The same object each time."""
        from rightcall.store.queue import Queue

        if self._queue is None:
            self._queue = Queue(self.database)
        return self._queue

    def trace(self, body_sha: str) -> TraceRecord | None:
        """What is recorded of the trace with this body; `None` if nothing is."""
        from rightcall.store import reading, tables

        found = self._first(TraceRecord, reading.stored(tables.traces, body=body_sha))
        return None if found is None else found[2]

    def case(self, body_sha: str) -> CaseRecord | None:
        """What is recorded of the case with this body; `None` if nothing is."""
        from rightcall.store import reading, tables

        found = self._first(CaseRecord, reading.stored(tables.cases, body=body_sha))
        return None if found is None else found[2]

    def body(self, sha256: str) -> bytes:
        """A body's bytes.

        Raises:
            StoreError: `STORE_INVALID`: there is none, or its bytes are not what its name says.
        """
        return self.bodies((sha256,))[sha256]

    def bodies(self, digests: Iterable[str]) -> dict[str, bytes]:
        """Several bodies at once, each once: one question for a few hundred. They are all in memory.

        Raises:
            StoreError: as `body`, for the first that is not there or was changed.
        """
        from rightcall.store.picking import body_rows

        wanted = list(dict.fromkeys(digests))
        rows = {row.sha256: row for row in body_rows(self.database, wanted)}
        return {sha256: self._body(sha256, rows.get(sha256)) for sha256 in wanted}

    def _body(self, sha256: str, row: Any) -> bytes:
        if row is None:
            raise StoreError(
                f"there is no body `{sha256}`", code="STORE_INVALID", place=Place(self.name), hint="verify the log"
            )
        try:
            plain = plain_bytes(row.codec, row.data, row.size)
        except ValueError:
            plain = b""
        if hashlib.sha256(plain).hexdigest() != sha256:
            raise StoreError(
                f"the body `{sha256}` was changed", code="STORE_INVALID", place=Place(self.name),
                hint="verify the log; restore the store from a backup",
            )  # fmt: skip
        return plain

    # ---- the log ----

    def log(
        self, after: int = 0, limit: int | None = None, kind: str | None = None, run_id: str | None = None
    ) -> Iterator[LogEntry]:
        """The entries of the log after number `after`, of one kind or run where that is given."""
        from rightcall.store import reading, tables

        query = reading.log_entries(kind, run_id)
        rows: Iterator[Any] = reading.stream(self.database, query, tables.log.c.seq, after=after, limit=limit)
        return (LogEntry(*row) for row in rows)

    def head(self) -> Head:
        """Number and hash of the last entry. Kept elsewhere, the hash proves later that nothing was cut off."""
        from rightcall.store.inserting import head

        return self.database.read(head)

    def counts(self) -> dict[str, int]:
        """How many records of each kind there are, and how many bodies (`body`)."""
        from rightcall.store.reading import counts

        return self.database.read(counts)

    def size(self) -> Size:
        """Bytes of all bodies, raw and stored."""
        from rightcall.store.reading import sizes

        return Size(*self.database.read(sizes))

    # ---- within ----

    def _records(
        self, kind: type[R], table: Table, *, after: int = 0, limit: int | None = None, **where: str | None
    ) -> Iterator[tuple[int, str, R]]:
        from rightcall.store.reading import stored, stream

        for row in stream(self.database, stored(table, **where), table.c.seq, after=after, limit=limit):
            yield row.seq, row.digest, unpack(kind, row.codec, row.data)

    def _first(self, kind: type[R], query: Select[Any]) -> tuple[int, str, R] | None:
        row = self.database.read(lambda connection: connection.execute(query.limit(1)).first())
        return None if row is None else (row.seq, row.digest, unpack(kind, row.codec, row.data))

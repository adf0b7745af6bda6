"""Proves that a store is what was written: recomputes every hash from the stored bytes, in bounded memory.

What is checked: the log's numbers have no gap, each entry follows the one before and has the hash that its content
demands; each entry's record is there, once, in its place, and its bytes have the digest that was logged; each column is
what the record says; each body has the hash that is its name; each body that a record names is there; and no record
lacks its entry.

Whoever can write to the file can also recompute a whole chain, and can cut off its end. Only a head that was kept
elsewhere (`Store.head`, printed after each run) proves the contrary: `expected_head`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from sqlalchemy import Row, Table, or_, select  # noqa: TID253 - this module is loaded when a log is verified

from rightcall.errors import StoreError
from rightcall.store.chain import Head, Links, LogEntry
from rightcall.store.inserting import known_bodies
from rightcall.store.packing import TYPES, bodies_named, columns_of, plain_bytes, unpack
from rightcall.store.reading import PAGE, fetching
from rightcall.store.records import AttemptRecord, Record
from rightcall.store.tables import TABLES, bodies, log

if TYPE_CHECKING:
    from rightcall.store.store import Store

MOST_FAULTS = 1000
"""How many faults are told one by one."""

_BODIES_AT_ONCE = 50


class Fault(Struct, frozen=True):
    """One thing that is not as it was written; `seq` is the log entry that shows it, if one does."""

    seq: int | None
    message: str


class Verification(Struct, frozen=True, kw_only=True):
    """What `verify` found.

    Attributes:
        entries: how many entries the log has.
        faults: what is not as it was written; empty if the store is intact.
        untold: how many more faults there are.
        head: number and hash of the last entry.
        records: how many records of each kind were checked.
        bodies: how many bodies were checked.
        prompts, judges: how many different ones the attempts name.
    """

    entries: int
    faults: tuple[Fault, ...]
    untold: int
    head: Head
    records: dict[str, int]
    bodies: int
    prompts: int
    judges: int

    @property
    def intact(self) -> bool:
        """Whether everything is as it was written."""
        return not self.faults

    @property
    def attempts(self) -> int:
        """How many attempts were checked."""
        return self.records["attempt"]

    @property
    def runs(self) -> int:
        """How many runs were checked."""
        return self.records["run"]


def verify(store: Store, expected_head: str | None = None) -> Verification:
    """Check the whole store, as far as its log reaches now; others may go on writing.

    Args:
        store: what to check.
        expected_head: hash of an entry that was the last one once. It must still be in the chain.

    Raises:
        StoreError: the store cannot be read at all.
    """
    return _Check(store, expected_head).result()


class _Check:
    """One verification, from its first entry to its result."""

    def __init__(self, store: Store, expected_head: str | None) -> None:
        self._store = store
        self._links = Links(expected_head)
        self._faults: list[Fault] = []
        self._untold = 0
        self._records = dict.fromkeys(TYPES, 0)
        self._prompts: set[str] = set()
        self._judges: set[str] = set()

    def result(self) -> Verification:
        entries = self._store.log()
        while page := list(islice(entries, PAGE)):
            for entry in page:
                for message in self._links.faults(entry):
                    self._fault(entry.seq, message)
            self._check_records(page)
        for message in self._links.end():
            self._fault(None, message)
        for kind, table in TABLES.items():
            self._check_orphans(kind, table)
        count = self._check_bodies()
        return Verification(
            entries=self._links.entries, faults=tuple(self._faults), untold=self._untold, head=self._links.head,
            records=self._records, bodies=count, prompts=len(self._prompts), judges=len(self._judges),
        )  # fmt: skip

    def _fault(self, seq: int | None, message: str) -> None:
        if len(self._faults) < MOST_FAULTS:
            self._faults.append(Fault(seq, message))
        else:
            self._untold += 1

    # ---- records ----

    def _check_records(self, page: Sequence[LogEntry]) -> None:
        named: dict[str, int] = {}
        for kind, group in groupby(sorted(page, key=lambda entry: str(entry.kind)), lambda entry: entry.kind):
            entries = list(group)
            if kind not in TYPES:
                for entry in entries:
                    self._fault(entry.seq, f"logs a `{kind}`, which is no kind of record")
                continue
            table = TABLES[kind]
            query = select(table).where(table.c.digest.in_([entry.digest for entry in entries]))
            rows = {row.digest: row for row in self._store.database.read(fetching(query))}
            for entry in entries:
                for sha256 in self._check_record(entry, rows.get(entry.digest)):
                    named.setdefault(sha256, entry.seq)
        there = self._store.database.read(lambda connection: known_bodies(connection, named))
        for sha256, seq in named.items():
            if sha256 not in there:
                self._fault(seq, f"its record names the body {sha256}, which is missing")

    def _check_record(self, entry: LogEntry, row: Row[Any] | None) -> Iterable[str]:
        """Check the record of an entry; the bodies that it names."""
        if row is None:
            self._fault(entry.seq, f"its {entry.kind} record {entry.digest} is missing")
            return ()
        self._records[entry.kind] += 1
        if row.seq != entry.seq:
            self._fault(entry.seq, f"its {entry.kind} record belongs to entry {row.seq}: one was moved or added")
        try:
            plain = plain_bytes(row.codec, row.data)
            record: Record = unpack(TYPES[entry.kind], "plain", plain)
        except (ValueError, StoreError):
            self._fault(entry.seq, f"its {entry.kind} record was changed: it cannot be read")
            return ()
        if hashlib.sha256(plain).hexdigest() != entry.digest:
            self._fault(entry.seq, f"its {entry.kind} record was changed: its digest is another")
        self._check_columns(entry, row, record)
        if isinstance(record, AttemptRecord):
            self._prompts |= {record.prompt_sha256} - {""}
            self._judges.add(record.judge)
        return bodies_named(record)

    def _check_columns(self, entry: LogEntry, row: Row[Any], record: Record) -> None:
        columns = columns_of(record)
        for name, value in columns.items():
            if getattr(row, name) != value:
                self._fault(entry.seq, f"the column `{name}` of its {entry.kind} record was changed")
        if entry.run_id != columns.get("id" if entry.kind == "run" else "run_id"):
            self._fault(entry.seq, f"logs another run than its {entry.kind} record names")

    def _check_orphans(self, kind: str, table: Table) -> None:
        """Records without an entry of their own. Each page is one statement, so writers do not disturb it."""
        query = (
            select(table.c.digest, log.c.seq)
            .select_from(table.outerjoin(log, log.c.seq == table.c.seq))
            .where(or_(log.c.seq.is_(None), log.c.digest != table.c.digest, log.c.kind != kind))
        )
        for row in self._pages(query, table.c.digest, PAGE):
            self._fault(row.seq, f"the {kind} record {row.digest} has no entry in the log")

    # ---- bodies ----

    def _check_bodies(self) -> int:
        count = 0
        for row in self._pages(select(bodies), bodies.c.sha256, _BODIES_AT_ONCE):
            count += 1
            try:
                found = hashlib.sha256(plain_bytes(row.codec, row.data, row.size)).hexdigest()
            except ValueError:
                found = None
            if found != row.sha256:
                self._fault(None, f"the body {row.sha256} was changed")
        return count

    def _pages(self, query: Any, key: Any, size: int) -> Iterator[Row[Any]]:
        """All rows of a query in the order of a text that identifies them."""
        after = ""
        while rows := self._store.database.read(fetching(query.where(key > after).order_by(key).limit(size))):
            yield from rows
            after = getattr(rows[-1], key.name)

"""The hash chain of the audit log: each entry's hash covers the entry before it, so that no past entry can change.

    hash = SHA-256(previous hash as 64 hexadecimal characters + canonical JSON of [seq, at, kind, run_id, digest])

The first entry has number 1 and follows `GENESIS`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from msgspec import Struct

from rightcall.store.packing import PackedRecord
from rightcall.trace.digest import canonical

GENESIS = "0" * 64
"""What stands in place of the hash before the first entry."""


class Head(Struct, frozen=True):
    """Where the chain ends: number and hash of its last entry; 0 and `GENESIS` for an empty log."""

    seq: int = 0
    hash: str = GENESIS


class LogEntry(Struct, frozen=True):
    """One entry of the log: that a record was written.

    Attributes:
        seq: 1, 2, 3 ... without a gap.
        at: when, ISO 8601 in UTC, by the clock of whoever wrote.
        kind: `run`, `run_event`, `trace`, `case`, `attempt`, `verdict`, `review`, `answer`, `consensus`, `signoff`,
            `review_event`.
        run_id: the run that the record belongs to; `None` for traces and cases.
        digest: the record's identity.
        previous: hash of the entry before.
        hash: what binds all of this.
    """

    seq: int
    at: str
    kind: str
    run_id: str | None
    digest: str
    previous: str
    hash: str


def entry_hash(previous: str, seq: int, at: str, kind: str, run_id: str | None, digest: str) -> str:
    """The hash that an entry must have (see the module's first lines)."""
    return hashlib.sha256(previous.encode() + canonical([seq, at, kind, run_id, digest])).hexdigest()


def extend(head: Head, records: Iterable[PackedRecord], at: str) -> list[LogEntry]:
    """The entries that log these records, in order, after `head`."""
    entries, previous = [], head.hash
    for seq, record in enumerate(records, start=head.seq + 1):
        found = entry_hash(previous, seq, at, record.kind, record.run_id, record.digest)
        entries.append(LogEntry(seq, at, record.kind, record.run_id, record.digest, previous, found))
        previous = found
    return entries


class Links:
    """Follows a chain from its first entry on, and says what is wrong with each.

    Attributes:
        head: the last entry that was seen. entries: how many were.
        seen: whether the hash that must be in the chain was found.
    """

    def __init__(self, expected_head: str | None = None) -> None:
        """Begin before the first entry; `expected_head` is the hash of an entry that was the last one once."""
        self.head = Head()
        self.entries = 0
        self.expected = expected_head
        self.seen = expected_head in (None, GENESIS)

    def faults(self, entry: LogEntry) -> Iterator[str]:
        """Take the next entry; everything that is wrong with it."""
        before, self.head = self.head, Head(entry.seq, str(entry.hash))
        self.entries += 1
        if not all(isinstance(part, str) for part in (entry.at, entry.kind, entry.digest, entry.previous, entry.hash)):
            # SQLite keeps bytes in a column of texts, if somebody puts them there.
            yield "was changed: it holds what is no text"
            return
        self.seen = self.seen or entry.hash == self.expected
        if entry.seq != before.seq + 1:
            yield f"entries {before.seq + 1} to {entry.seq - 1} are missing"
        if entry.previous != before.hash:
            yield f"does not follow entry {before.seq}: one of them was changed, moved or taken out"
        if entry.hash != entry_hash(entry.previous, entry.seq, entry.at, entry.kind, entry.run_id, entry.digest):
            yield "was changed: its hash is not that of its content"

    def end(self) -> Iterator[str]:
        """What is wrong once the last entry was taken."""
        if not self.seen:
            yield f"no entry has the hash {self.expected}: the log's end was cut off, or rewritten"

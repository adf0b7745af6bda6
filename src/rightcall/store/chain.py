"""The hash chain of the audit log: each entry's hash covers the entry before it, so that no past entry can change.

    hash = SHA-256(previous hash as 64 hexadecimal characters + canonical JSON of [seq, at, kind, run_id, digest])

The first entry has number 1 and follows `GENESIS`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

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

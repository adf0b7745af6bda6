"""A SQLite file that may only be read here: on a read-only medium, or of somebody else.

SQLite reads a file in WAL mode only under locks that lie in a file beside it. Where that file cannot be made there are
two ways, and a third that would be wrong:

* `shared`: both files are there, `-wal` and `-shm`, and somebody may be writing. SQLite's own locks then work.
* `sealed`: nothing waits beside the file, so it holds everything. It is read as a file that does not change
  (`immutable=1`), which makes no file and takes no lock, and before and after each question it is looked at whether
  that was so.
* Where something does wait beside it that cannot be read with it, `immutable` would leave that out without a word.
  Such a store is refused.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from rightcall.errors import Place, StoreError

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table

ELSEWHERE = "copy it into a folder of your own and name the copy with --store, or ask somebody who may write it"
"""What to do about a store that may only be read."""

_PENDING = ("-wal", "-journal")
# The effective user is who opens files, where the system can be asked about that one.
_AS_EFFECTIVE = os.access in os.supports_effective_ids


class Reading(Struct, frozen=True):
    """How a file that may only be read is read.

    Attributes:
        file: the file itself, behind any links.
        name: the store, as it may be shown.
        way: `shared` or `sealed`; see the module.
        why: what stands in the way of writing, in words.
        state: what the file was when it was opened.
    """

    file: Path
    name: str
    way: Literal["shared", "sealed"]
    why: str
    state: tuple[int, ...]

    def connect(self, timeout: float) -> sqlite3.Connection:
        """A new connection, which several threads may use one after the other."""
        mode = "mode=ro&immutable=1" if self.way == "sealed" else "mode=ro"
        address = f"{self.file.as_uri()}?{mode}"
        return sqlite3.connect(address, uri=True, timeout=timeout, check_same_thread=False)

    def check(self) -> None:
        """Make sure that it can still be read in this way: a file that does not change did not, locks are there.

        Raises:
            StoreError: `STORE_LOCKED`: somebody writes, or has written. `STORE_UNREACHABLE`: it is gone.
        """
        sealed = self.way == "sealed"
        if not (state_of(self.file, self.name) == self.state if sealed else _has_locks(self.file)):
            raise StoreError(
                "somebody has written to the store while it was read", code="STORE_LOCKED", place=Place(self.name),
                hint="try again",
            )  # fmt: skip

    def refuse(self) -> StoreError:
        """What to say to whoever wants to write."""
        return StoreError(
            f"the store may only be read: {self.why}; nothing was written", code="STORE_UNREACHABLE",
            place=Place(self.name), hint=ELSEWHERE,
        )  # fmt: skip


def only_read(path: Path) -> Reading | None:
    """How to read a file that may not be written; `None` if it may, or may not even be read.

    Raises:
        StoreError: `STORE_UNREACHABLE`: what waits beside it to be written into it cannot be read here.
    """
    file, name = path.resolve(), str(path)
    why = _why_not(file)
    if why is None or not _may(file, os.R_OK):
        return None
    if _has_locks(file):
        return Reading(file, name, "shared", why, ())
    # Before the other files are looked at: whoever begins to write in between is noticed.
    state = state_of(file, name)
    for other in _beside(file, *_PENDING):
        if _size(other):
            raise StoreError(
                f"the store may only be read ({why}), and {other.name} beside it holds what is not yet in it",
                code="STORE_UNREACHABLE", place=Place(name),
                hint="copy both files into a folder of your own and name the copy with --store",
            )  # fmt: skip
    return Reading(file, name, "sealed", why, state)


def _why_not(file: Path) -> str | None:
    """What stands in the way of writing."""
    if not _may(file, os.W_OK):
        return "its file may not be written"
    return None if _may(file.parent, os.W_OK | os.X_OK) else "its folder may not be written"


def _has_locks(file: Path) -> bool:
    """Whether the files are there in which writers and readers meet."""
    return all(one.exists() for one in _beside(file, "-wal", "-shm"))


def _beside(file: Path, *endings: str) -> list[Path]:
    return [file.with_name(f"{file.name}{ending}") for ending in endings]


def _may(path: Path, how: int) -> bool:
    return os.access(path, how, effective_ids=_AS_EFFECTIVE)


def state_of(file: Path, name: str) -> tuple[int, ...]:
    """What tells that a file was written, or is about to be."""
    try:
        found = file.stat()
    except OSError as error:
        raise StoreError(
            f"the store cannot be read any more: {error.strerror}", code="STORE_UNREACHABLE", place=Place(name),
            hint="check path and medium",
        ) from None  # fmt: skip
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, *map(_size, _beside(file, *_PENDING)))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
    except OSError:
        # It is there, and what is in it cannot be known.
        return -1


def own_copies(connection: Connection, tables: tuple[Table, ...]) -> None:
    """Put temporary tables before some tables of a SQLite file, with the same rows: they alone are written from now on.

    They belong to the connection, and are gone with it.
    """
    from sqlalchemy import Column, MetaData
    from sqlalchemy import Table as NewTable

    for table in tables:
        own: list[Column[Any]] = [
            Column(one.name, one.type, primary_key=one.primary_key, nullable=one.nullable, autoincrement=False)
            for one in table.columns
        ]
        NewTable(table.name, MetaData(), *own, prefixes=["TEMPORARY"]).create(connection, checkfirst=False)
        names = ", ".join(connection.dialect.identifier_preparer.quote(one.name) for one in own)
        connection.exec_driver_sql(
            f"INSERT INTO temp.{table.name} ({names}) SELECT {names} FROM main.{table.name}"  # noqa: S608 - no value in it
        ).close()

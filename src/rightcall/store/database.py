"""The door to the database: one SQLite file or one PostgreSQL database, opened, read from, and written to by one.

Reading takes no lock that a writer waits for: every read is one statement of its own. Writing is one transaction that
begins with the store's only write lock (SQLite: `BEGIN IMMEDIATE`, PostgreSQL: an advisory lock of the transaction),
so writers of all processes come one after the other, and what one of them reads first is still so when it writes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, TypeVar

from sqlalchemy import (  # noqa: TID253 - this module is loaded when a store is opened
    URL,
    Connection,
    Engine,
    StaticPool,
    Table,
    create_engine,
    event,
    make_url,
    text,
)
from sqlalchemy.exc import ArgumentError, DBAPIError  # noqa: TID253 - the same
from sqlalchemy.exc import TimeoutError as NoConnectionError  # noqa: TID253 - the same

from rightcall.errors import MissingExtraError, Place, StoreError
from rightcall.store.faults import connection_lost, explained
from rightcall.store.unwritable import Reading, only_read, own_copies

T = TypeVar("T")

_LOCK = 0x7269676874_63616C
"""The advisory lock of all rightcall writers of a PostgreSQL database."""

_CONNECT_SECONDS = 10
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0


class Database:
    """A pool of connections to a store's database. All its errors are `StoreError`s.

    Attributes:
        name: the store, as it may be shown: a path, or a URL without its password.
        is_sqlite: what kind of database it is.
        timeout: seconds to wait for another writer.
        patience: seconds for which a lost server is asked again; 0 = never.
        reading: how it is read, where it may not be written; `None` where it may, as far as can be known.
    """

    def __init__(self, engine: Engine, name: str, timeout: float, reading: Reading | None = None) -> None:
        self.name = name
        self.reading = reading
        self.is_sqlite = engine.dialect.name == "sqlite"
        self.timeout = timeout
        self.patience = 0.0
        self._engine = engine
        self._secret = engine.url.password or str(engine.url.query.get("password", ""))
        self._reader = engine if self.is_sqlite else engine.execution_options(isolation_level="AUTOCOMMIT")
        # What may only be read has one connection, since the copies that `project` makes belong to it.
        self._turn = nullcontext() if reading is None else threading.RLock()
        self._has_copies = False

    @property
    def address(self) -> str:
        """Where it can be opened once more: a path, or a URL with its password, which is never to be shown."""
        return self.name if self.is_sqlite else self._engine.url.render_as_string(hide_password=False)

    def read(self, work: Callable[[Connection], T]) -> T:
        """Do `work` on a connection on which each statement is its own transaction."""
        return self._insist(self._read, work)

    def write(self, work: Callable[[Connection], T]) -> T:
        """Do `work` in one transaction under the write lock: all of it is committed, or nothing.

        Where a server was lost, `work` is done again, and perhaps it had been committed: it must be harmless twice.

        Raises:
            StoreError: also where it may only be read; `work` is not begun then.
        """
        if self.reading is not None:
            raise self.reading.refuse()
        return self._insist(self._write, work)

    def project(self, tables: tuple[Table, ...], work: Callable[[Connection], T]) -> T:
        """Bring tables up to date that hold nothing but what the record says: like `write`.

        Where nothing may be written, this process makes copies of the tables and keeps them to itself; `read` finds
        them in place of the others from then on.
        """
        if self.reading is None:
            return self.write(work)
        return self._insist(lambda it: self._project(tables, it), work)

    def close(self) -> None:
        """Close every connection."""
        self._engine.dispose()

    def use_wal(self) -> None:
        """Let readers and a writer of a SQLite file not wait for each other; kept in the file for all who open it."""
        if not self.is_sqlite:
            return
        deadline = time.monotonic() + self.timeout
        while True:
            try:
                self.read(lambda connection: connection.exec_driver_sql("PRAGMA journal_mode = WAL").scalar())
            except StoreError as error:
                # SQLite answers at once here, whatever its timeout, if another process changes the mode too.
                if error.code != "STORE_LOCKED" or time.monotonic() > deadline:
                    raise
                time.sleep(_FIRST_PAUSE)
            else:
                return

    def _read(self, work: Callable[[Connection], T]) -> T:
        with self._turn, self._reader.connect() as connection:
            if self.reading is None:
                return work(connection)
            self.reading.check()
            try:
                result = work(connection)
            finally:
                # Also before any error is taken for what it seems to be.
                self.reading.check()
            return result

    def _project(self, tables: tuple[Table, ...], work: Callable[[Connection], T]) -> T:
        def in_one(connection: Connection) -> T:
            connection.exec_driver_sql("BEGIN")
            try:
                if not self._has_copies:
                    own_copies(connection, tables)
                result = work(connection)
                connection.exec_driver_sql("COMMIT")
            except BaseException:
                connection.exec_driver_sql("ROLLBACK")
                raise
            self._has_copies = True
            return result

        return self._read(in_one)

    def _write(self, work: Callable[[Connection], T]) -> T:
        with self._engine.connect() as connection:
            if self.is_sqlite:
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            else:
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
            result = work(connection)
            connection.commit()
            return result

    def _insist(self, way: Callable[[Callable[[Connection], T]], T], work: Callable[[Connection], T]) -> T:
        deadline, pause = time.monotonic() + self.patience, _FIRST_PAUSE
        while True:
            try:
                return way(work)
            except (DBAPIError, NoConnectionError) as error:
                if self.is_sqlite or not connection_lost(error) or time.monotonic() + pause > deadline:
                    raise explained(error, self.name, self._secret) from None
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)


def connect(url_or_path: str | Path, *, create: bool, timeout: float) -> Database:
    """Open the database that a path or a URL names, whatever is in it.

    Raises:
        StoreError: there is no such file and none may be made, or the URL is none that a store can have.
        MissingExtraError: PostgreSQL, without its driver.
    """
    if isinstance(url_or_path, Path) or "://" not in url_or_path:
        return _sqlite(Path(url_or_path), create=create, timeout=timeout)
    url = _url(url_or_path)
    backend = url.drivername.partition("+")[0]
    if backend == "sqlite":
        return _sqlite(Path(url.database or ":memory:"), create=create, timeout=timeout)
    if backend in ("postgresql", "postgres"):
        return _postgres(url, timeout)
    raise StoreError(
        f"a store cannot be in `{backend}`", code="STORE_INVALID",
        hint="name a file (SQLite), or a URL that begins with postgresql://",
    )  # fmt: skip


def _url(given: str) -> URL:
    try:
        url = make_url(given)
    except (ArgumentError, ValueError):
        url = None
    if url is None or "@" in (url.host or ""):
        # What cannot be read is not repeated: it may hold a password, or the end of one.
        raise StoreError(
            "the store's URL cannot be read",
            code="STORE_INVALID",
            hint="write postgresql://USER:PASSWORD@HOST:5432/DATABASE, with %40 for an @ in a password",
        )
    return url


# ---- SQLite ----


def _sqlite(path: Path, *, create: bool, timeout: float) -> Database:
    path, place = path.expanduser(), Place(str(path))
    if str(path) in (":memory:", "."):
        raise StoreError("a store is a file", code="STORE_INVALID", hint="name one, such as .rightcall/rightcall.db")
    if path.is_dir():
        raise StoreError("this is a folder", code="STORE_INVALID", place=place, hint="name a file in it")
    if not path.exists():
        if not create:
            raise StoreError(
                "there is no store here", code="STORE_UNREACHABLE", place=place,
                hint="`rightcall run` makes one; `--store` names another",
            )  # fmt: skip
        _make_folder(path)
    elif (reading := only_read(path)) is not None:
        return to_read(reading, timeout)
    engine = create_engine(
        URL.create("sqlite+pysqlite", database=str(path)),
        isolation_level="AUTOCOMMIT",  # transactions are begun by hand, since they must begin with their lock
        connect_args={"timeout": timeout},
        hide_parameters=True,
    )
    event.listen(engine, "connect", _write_through)
    return Database(engine, str(path), timeout)


def to_read(reading: Reading, timeout: float) -> Database:
    """Open a SQLite file that may only be read."""
    engine = create_engine(
        "sqlite+pysqlite://",
        isolation_level="AUTOCOMMIT",
        creator=lambda: reading.connect(timeout),
        poolclass=StaticPool,
        hide_parameters=True,
    )
    return Database(engine, reading.name, timeout, reading)


def _make_folder(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"the folder cannot be made: {error.strerror}", code="STORE_UNREACHABLE", place=Place(str(path.parent)),
            hint="check path and rights",
        ) from None  # fmt: skip


def _write_through(connection: Any, _: object) -> None:
    # What is committed is on disk: an audit log that loses its end in a power cut could be cut on purpose.
    connection.execute("PRAGMA synchronous = FULL").close()


# ---- PostgreSQL ----


def _postgres(url: URL, timeout: float) -> Database:
    try:
        import psycopg  # noqa: F401 - only to say what is missing
    except ImportError:
        raise MissingExtraError(
            "a store in PostgreSQL needs the driver psycopg", hint="pip install 'rightcall[postgres]'"
        ) from None
    url = url.set(drivername="postgresql+psycopg")
    seconds = {} if "connect_timeout" in url.query else {"connect_timeout": _CONNECT_SECONDS}
    # Under the lock each statement must see what the writer before has committed, whatever the server's default is.
    engine = create_engine(url, connect_args=seconds, isolation_level="READ COMMITTED", hide_parameters=True)

    def wait_so_long(connection: Any, _: object) -> None:
        connection.execute(f"SET lock_timeout = {int(timeout * 1000)}")
        connection.commit()

    event.listen(engine, "connect", wait_so_long)
    shown = URL.create("postgresql", url.username, None, url.host, url.port, database=url.database)
    return Database(engine, shown.render_as_string(), timeout)

"""Brings a store's schema up to date, once, however many processes open it at the same time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import column as named  # noqa: TID253 - the same
from sqlalchemy import inspect, select, table  # noqa: TID253 - this module is loaded when a store is opened

from rightcall.errors import Place, StoreError
from rightcall.store.tables import REVISION

if TYPE_CHECKING:
    from collections.abc import Callable

    from alembic.config import Config
    from sqlalchemy import Connection

    from rightcall.store.database import Database
    from rightcall.store.unwritable import Reading

# Tables that a store of any revision has.
_OLDEST = {"bodies", "log", "runs"}
_VERSION = table("alembic_version", named("version_num"))
# What the migrations said to the first empty database of each dialect that this process made a store in. Said again to
# the next one it makes the same store, in a quarter of the time.
_SAID: dict[str, tuple[tuple[str, Any], ...]] = {}


def upgrade(database: Database, *, create: bool) -> None:
    """Make the schema, or bring it up to date.

    Raises:
        StoreError: `STORE_INVALID`: the database is something else, or was made by a newer rightcall; or it is empty
            and no store may be made.
    """
    found = revision_of(database)
    if found == REVISION:
        return
    if found is None and not create:
        raise StoreError(
            "the database is empty", code="STORE_INVALID", place=Place(database.name),
            hint="a judged run makes a store (`rightcall rubric TRACES`); `--store` names another",
        )  # fmt: skip
    if database.reading is not None:
        raise _not_for_reading(database.reading, found)
    database.use_wal()
    database.write(lambda connection: _upgrade(connection, database.name))


def revision_of(database: Database) -> str | None:
    """The revision of a store's schema, which is left as it is; `None` for an empty database.

    Raises:
        StoreError: `STORE_INVALID`: the database is something else.
    """
    return database.read(lambda connection: _revision(connection, database.name))


def alembic_config(connection: Connection) -> Config:
    """What alembic needs to know: where the migrations are, and the connection to run them on."""
    config = _config()
    config.attributes["connection"] = connection
    return config


def _config() -> Config:
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", "rightcall.store:migrations")
    config.set_main_option("path_separator", "os")
    return config


def _upgrade(connection: Connection, name: str) -> None:
    dialect, is_empty = connection.dialect.name, not inspect(connection).get_table_names()
    if is_empty and dialect in _SAID:
        for statement, values in _SAID[dialect]:
            connection.exec_driver_sql(statement, values or None).close()
    elif is_empty:
        _SAID[dialect] = _heard(connection, lambda: _migrate(connection, name))
    else:
        _migrate(connection, name)


def _heard(connection: Connection, work: Callable[[], None]) -> tuple[tuple[str, Any], ...]:
    """Do some work on a connection; the statements that changed something, with their values."""
    from sqlalchemy import event

    heard: list[tuple[str, Any]] = []

    def hear(_connection: Any, _cursor: Any, statement: str, values: Any, *_: Any) -> None:
        if not statement.lstrip().startswith(("SELECT", "PRAGMA")):
            heard.append((statement, values))

    event.listen(connection, "before_cursor_execute", hear)
    try:
        work()
    finally:
        event.remove(connection, "before_cursor_execute", hear)
    return tuple(heard)


def _migrate(connection: Connection, name: str) -> None:
    from alembic import command

    config = alembic_config(connection)
    # Another process may have upgraded it since: under the lock, this is the last word.
    found = _revision(connection, name)
    if found is not None and found not in _known(config):
        raise _newer(found, name)
    command.upgrade(config, REVISION)


def _known(config: Config) -> set[str]:
    from alembic.script import ScriptDirectory

    return {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}


def _newer(found: str, name: str) -> StoreError:
    return StoreError(
        f"this store was made by a newer rightcall (revision {found})",
        code="STORE_INVALID", place=Place(name), hint="update rightcall",
    )  # fmt: skip


def _not_for_reading(reading: Reading, found: str | None) -> StoreError:
    """Why a store of another revision, which may only be read, cannot be."""
    if found is None:
        return reading.refuse()
    if found not in _known(_config()):
        return _newer(found, reading.name)
    return StoreError(
        f"this store was made by an older rightcall (revision {found}, this one reads {REVISION}), and may only be "
        f"read: {reading.why}",
        code="STORE_INVALID", place=Place(reading.name),
        hint="somebody who may write it must open it once with this version (`rightcall runs`), or copy it into a "
        "folder of your own and name the copy with --store",
    )  # fmt: skip


def _revision(connection: Connection, name: str) -> str | None:
    """The revision of the schema; `None` for an empty database."""
    present = set(inspect(connection).get_table_names())
    found: str | None = None
    if _VERSION.name in present:
        found = connection.execute(select(_VERSION.c.version_num)).scalar()
    if (found is None and present - {_VERSION.name}) or (found is not None and not present >= _OLDEST):
        raise StoreError(
            "the database holds something else than a store", code="STORE_INVALID", place=Place(name),
            hint="name a new file, or an empty database",
        )  # fmt: skip
    return found

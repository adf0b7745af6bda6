"""What a database's error means for a person: one `StoreError` with what to do.

SQLite says what is wrong by a result code, PostgreSQL by an SQLSTATE of which the first characters name the class.
An error of a connection that was never made, or is lost, has neither.
"""

from __future__ import annotations

from sqlite3 import OperationalError
from typing import TYPE_CHECKING

from msgspec import Struct

from rightcall.errors import Place, StoreError

if TYPE_CHECKING:
    from sqlalchemy.exc import SQLAlchemyError


class Meaning(Struct, frozen=True):
    """What a kind of error means, and what to do. Where `message` ends in a colon, the database's own words follow."""

    code: str
    message: str
    hint: str


_LOCKED = Meaning("STORE_LOCKED", "another process holds the store and did not let go in time", "try again later")
_FULL = Meaning("STORE_FULL", "there is no room left for the store; nothing of this was written", "make room on disk")
_READ_ONLY = Meaning("STORE_UNREACHABLE", "the store may not be written:", "check the rights of file and folder")
_NOT_OPENED = Meaning("STORE_UNREACHABLE", "the store cannot be opened:", "check path and rights")
_DISK = Meaning("STORE_UNREACHABLE", "the disk failed to read or write the store:", "check the disk")
_NO_DATABASE = Meaning("STORE_INVALID", "the file is no SQLite database", "check the path, or name a new file")
_DAMAGED = Meaning("STORE_INVALID", "the store is damaged:", "restore it from a backup")
_APPEND_ONLY = Meaning("STORE_CONFLICT", "what is recorded is never changed:", "append a new record in its place")
_CONFLICT = Meaning("STORE_CONFLICT", "the record has another content already:", "see what wrote it")
_TOO_BIG = Meaning("STORE_INVALID", "a record or text is too large for the database:", "shorten it")
_NO_STORE = Meaning("STORE_INVALID", "the database is not what a store should be:", "check path or URL")
_GONE = Meaning("STORE_UNREACHABLE", "the database server cannot be reached:", "check that it runs, and the URL")
_REFUSED = Meaning("STORE_UNREACHABLE", "the database server refuses:", "check user, rights and database")
_OTHER = Meaning("STORE_UNREACHABLE", "the database failed:", "see its own message")

_SQLITE = {
    1: _NO_STORE,  # ERROR: no such table or column
    3: _READ_ONLY,  # PERM
    5: _LOCKED,  # BUSY
    6: _LOCKED,  # LOCKED
    8: _READ_ONLY,  # READONLY
    10: _DISK,  # IOERR
    11: _DAMAGED,  # CORRUPT
    13: _FULL,  # FULL
    14: _NOT_OPENED,  # CANTOPEN
    18: _TOO_BIG,  # TOOBIG
    19: _CONFLICT,  # CONSTRAINT
    23: _READ_ONLY,  # AUTH
    26: _NO_DATABASE,  # NOTADB
}
_BY_TRIGGER = 1811
_POSTGRES = {
    "08": _GONE,  # connection
    "22": _TOO_BIG,  # data
    "23": _CONFLICT,  # integrity
    "25006": _READ_ONLY,
    "28": _REFUSED,  # authorization
    "3D": _REFUSED,  # no such database
    "40": _LOCKED,  # deadlock, serialisation
    "42": _NO_STORE,  # no such table or column
    "42501": _REFUSED,  # privilege
    "53": _REFUSED,  # too many connections, out of memory
    "53100": _FULL,
    "54": _TOO_BIG,  # program limits
    "55P03": _LOCKED,  # lock timeout
    "57": _GONE,  # shutdown, starting up
    "57014": _LOCKED,  # statement timeout
    "58": _DISK,
    "P0001": _APPEND_ONLY,  # raised by the trigger
    "XX": _DAMAGED,
}


def explained(error: SQLAlchemyError, name: str, secret: str | None = None) -> StoreError:
    """The `StoreError` for what the database said.

    Args:
        error: what SQLAlchemy raised.
        name: the store, as it may be shown.
        secret: a password, which is blotted out where the database repeats it.
    """
    cause = getattr(error, "orig", None) or error
    meaning = _meaning(cause)
    message = meaning.message
    if message.endswith(":"):
        said = (str(cause).strip() or type(cause).__name__).splitlines()[0].strip()
        message = f"{message} {said.replace(secret, '***') if secret else said}"
    return StoreError(message, code=meaning.code, place=Place(name), hint=meaning.hint)


def _meaning(cause: BaseException) -> Meaning:
    number, state = getattr(cause, "sqlite_errorcode", None), getattr(cause, "sqlstate", None)
    if isinstance(number, int):
        # The low byte is the result code, the rest refines it.
        return _APPEND_ONLY if number == _BY_TRIGGER else _SQLITE.get(number & 0xFF, _OTHER)
    if isinstance(state, str):
        return next((_POSTGRES[state[:n]] for n in (5, 2) if state[:n] in _POSTGRES), _OTHER)
    if isinstance(cause, OperationalError):
        # Python's own: bytes that are no text stand where a text should.
        return _DAMAGED
    return _GONE if type(cause).__module__.startswith("psycopg") else _OTHER


def connection_lost(error: SQLAlchemyError) -> bool:
    """Whether a server's connection broke or could not be made, so that trying again may help."""
    if getattr(error, "connection_invalidated", False):
        return True
    cause = getattr(error, "orig", None)
    return cause is not None and _meaning(cause) is _GONE

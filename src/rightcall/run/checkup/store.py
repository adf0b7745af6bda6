"""`doctor` looks at the record: whether it is there, can be written, is of this version; disk, clock, redaction key.

Nothing is made and nothing is changed: a store of an older version is not brought up to date here.
"""

from __future__ import annotations

import shutil
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from rightcall.errors import StoreError
from rightcall.run.checkup.files import counted, in_bytes
from rightcall.run.checkup.findings import Check, failed, good, odd
from rightcall.run.inputs.opening import is_url, key_folder, store_of
from rightcall.trace.redact import KEY_FILE, KEY_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.settings.load import Loaded
    from rightcall.store.database import Database
    from rightcall.store.store import Store

WAIT = 2.0
"""Seconds to wait for another process that writes."""

LITTLE_ROOM = 200_000_000
"""Bytes of free disk below which a store has little room."""

SLACK = timedelta(minutes=1)
"""By how much the clocks of two machines may differ."""


def look_at_store(loaded: Loaded, environ: Mapping[str, str], now: str) -> Iterator[Check]:
    """Check the store, the disk that it is on, the clock and the redaction key."""
    written = store_of(loaded)
    path = None if is_url(written) else Path(written).expanduser()
    is_there = path is None or path.exists()
    newest = None
    if is_there:
        try:
            found, newest, others = _look(loaded, written, path)
            yield found
            yield from others
        except StoreError as error:
            yield failed("store", error)
    elif path is not None:
        yield _to_be_made(path)
    if path is not None:
        yield from _disk(path)
    yield _clock(now, newest)
    yield _key(loaded, environ, has_store=newest is not None)


def _look(loaded: Loaded, written: str, path: Path | None) -> tuple[Check, str | None, list[Check]]:
    """What is to be said of a store that is there, when its newest entry was written, and what gates would find in it.

    Raises:
        StoreError: it cannot be opened, read or written.
    """
    from rightcall.store.database import connect
    from rightcall.store.store import Store
    from rightcall.store.tables import REVISION
    from rightcall.store.upgrade import revision_of

    database = connect(written, create=False, timeout=WAIT)
    try:
        revision = revision_of(database)
        if revision is None:
            return odd("store", f"{database.name}: empty", "the first run that is kept makes its tables"), None, []
        if revision != REVISION:
            hint = "the next run that is kept brings it up to date; a newer rightcall is needed if it is newer"
            return odd("store", f"{database.name}: revision {revision}, this rightcall has {REVISION}", hint), None, []
        store = Store(database)
        newest = _newest(store)
        said, others = _described(store, path), list(_branches(loaded, store))
        busy = _busy(database)
        if busy is not None:
            return odd("store", f"{said}; {busy}", "try again when it is done"), newest, others
        return good("store", f"{said}, can be written"), newest, others
    finally:
        database.close()


def _branches(loaded: Loaded, store: Store) -> Iterator[Check]:
    """The branches that rules compare with: whether there is a green run of each."""
    from rightcall.gate.rules import rules_of
    from rightcall.run.gating.branches import branch_of, green_run
    from rightcall.run.inputs.opening import redactor_of

    names = {rule.against for rule in rules_of(loaded.settings.gates) if rule.against is not None}
    for name in sorted(names):
        if (branch := branch_of(name)) is None:
            continue
        found = green_run(store, branch, hide=redactor_of(loaded).text)
        if found.run is None:
            hint = "a run on that branch whose gates pass makes it; until then what compares with it is INCONCLUSIVE"
            yield odd("baseline", f"{name}: {found.why}", hint)
        else:
            yield good("baseline", f"{name}: run {found.run}")


def _described(store: Store, path: Path | None) -> str:
    from rightcall.store.tables import REVISION

    counts, head = store.counts(), store.head()
    size = in_bytes(path.stat().st_size if path is not None else store.size().stored)
    chain = f"{counted(head.seq, 'entry', 'entries')}, head {head.hash[:12]}" if head.seq else "no entry yet"
    return f"{store.name}: revision {REVISION}, {counted(counts.get('run', 0), 'run')}, {chain}, {size}"


def _newest(store: Store) -> str | None:
    head = store.head().seq
    return next((entry.at for entry in store.log(after=max(0, head - 1), limit=1)), None)


def _busy(database: Database) -> str | None:
    """Why it cannot be written now, if another process holds it: an empty transaction under the write lock tells.

    Raises:
        StoreError: it can never be written.
    """
    try:
        database.write(lambda _connection: None)
    except StoreError as error:
        if error.code != "STORE_LOCKED":
            raise
        return error.message
    return None


def _to_be_made(path: Path) -> Check:
    """A store that is not there yet: whether it could be made."""
    import os

    folder = next((parent for parent in path.parents if parent.exists()), Path())
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        error = StoreError(
            f"{path} is not there, and cannot be made: {folder} may not be written", code="STORE_UNREACHABLE",
            hint="check the rights of the folder, or name another store",
        )  # fmt: skip
        return failed("store", error)
    return good("store", f"{path}: not there yet; the first run that is kept makes it")


def _disk(path: Path) -> Iterator[Check]:
    folder = next((parent for parent in path.parents if parent.is_dir()), Path())
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        yield odd("disk", f"cannot be asked: {error.strerror}")
        return
    if free < LITTLE_ROOM:
        yield odd("disk", f"{in_bytes(free)} free where the store is", "make room: a run stops when there is none")
    else:
        yield good("disk", f"{in_bytes(free)} free where the store is")


def _clock(now: str, newest: str | None) -> Check:
    shown = now[:19].replace("T", " ") + " UTC"
    if newest is None:
        return good("clock", shown)
    behind = datetime.fromisoformat(newest) - datetime.fromisoformat(now)
    if behind > SLACK:
        seconds = int(behind.total_seconds())
        said = f"{seconds // 3600} h {seconds % 3600 // 60} min" if seconds >= 3600 else f"{seconds // 60} min"
        return odd("clock", f"{shown}, {said} before the newest entry of the store", "set the clock of this machine")
    return good("clock", f"{shown}, newest entry {newest[:19].replace('T', ' ')}")


def _key(loaded: Loaded, environ: Mapping[str, str], *, has_store: bool) -> Check:
    if environ.get(KEY_VARIABLE, "").strip():
        return good("redaction", f"key from {KEY_VARIABLE}")
    file = key_folder(loaded) / KEY_FILE
    if not file.exists():
        if has_store:
            hint = f"restore {file}, or set {KEY_VARIABLE} to the old key"
            return odd("redaction", "the key of the store is gone: equal secrets get other tags than before", hint)
        return good("redaction", "no key yet; the first run that is kept makes one")
    if file.stat().st_mode & 0o077:
        return odd("redaction", f"others may read the key {file}", f"chmod 600 {file}")
    return good("redaction", f"key in {file}")

"""The store of a project, and the key under which it is redacted."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from rightcall.errors import StoreError
from rightcall.run.inputs.importing import keep_key
from rightcall.trace.redact import KEY_FILE, KEY_VARIABLE, Redactor, load_key

if TYPE_CHECKING:
    from rightcall.settings.load import Loaded
    from rightcall.store.store import Store

_DATABASE = ("postgresql:", "postgresql+psycopg:", "postgres:", "sqlite:")


def is_url(store: str) -> bool:
    """Whether a store is named by a database URL and not by a file."""
    return store.startswith(_DATABASE)


def store_of(loaded: Loaded) -> str:
    """Where the project's store is: a database URL, or the path of a file."""
    written = loaded.settings.store
    if is_url(written):
        return written
    home = loaded.folder if loaded.origins.get("store", str(loaded.file)) == str(loaded.file) else Path()
    return str(home / written)


def key_folder(loaded: Loaded) -> Path:
    """Where the redaction key of the store lies: beside its file, or in the project's folder for a database."""
    store = store_of(loaded)
    return loaded.folder / ".rightcall" if is_url(store) else Path(store).parent


def open_store(loaded: Loaded, *, create: bool = True) -> Store:
    """Open the project's store; a new one gets its redaction key first.

    Raises:
        StoreError: it cannot be opened, or is not there and must not be made.
    """
    from rightcall.store.store import Store

    if create:
        make_key(loaded)
    return Store.open(store_of(loaded), create=create)


def has_store(loaded: Loaded) -> bool:
    """Whether the project keeps a store: it was named, or it is there."""
    written = store_of(loaded)
    return "store" in loaded.origins or (not is_url(written) and Path(written).exists())


def may_be_there(loaded: Loaded) -> bool:
    """Whether there may be something on record: a store's file is there; of a database, only asking would tell."""
    written = store_of(loaded)
    return is_url(written) or Path(written).exists()


def redactor_of(loaded: Loaded) -> Redactor:
    """What must not leave, with the key of this project's store."""
    table = loaded.settings.redact
    return Redactor(key=load_key(os.environ, key_folder(loaded)), patterns=table.patterns, key_names=table.keys)


def make_key(loaded: Loaded) -> None:
    """Make the redaction key of the store, if it has none.

    Raises:
        StoreError: it cannot be written.
    """
    folder = key_folder(loaded)
    try:
        keep_key(folder, os.environ)
    except OSError as error:
        raise StoreError(
            f"the redaction key cannot be written to {folder / KEY_FILE}: {error.strerror}",
            hint=f"make the folder writable, or set {KEY_VARIABLE}",
        ) from None

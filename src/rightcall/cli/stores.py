"""What the commands over the store share."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

if TYPE_CHECKING:
    from rightcall.settings.load import Loaded
    from rightcall.store.store import Store

StoreFlag = Annotated[str | None, Parameter(help="The store: a file, or a postgresql:// URL.")]
ConfigFlag = Annotated[Path | None, Parameter(name=["--config", "-c"], help="Settings file.")]
JsonFlag = Annotated[
    bool, Parameter(negative="", show_default=False, help="Print one JSON object on stdout and nothing else.")
]
NoColor = Annotated[bool, Parameter(negative="", show_default=False, help="No colour (also NO_COLOR).")]


def settings_for(store: str | None, config: Path | None) -> Loaded:
    """The settings, with the store that a flag names."""
    from rightcall.settings.load import load_settings

    return load_settings(config, os.environ, {} if store is None else {"store": store})


def opened(store: str | None, config: Path | None) -> Store:
    """The project's store, which must be there.

    Raises:
        StoreError: there is none, or it cannot be read.
    """
    return record_for(settings_for(store, config))


def record_for(loaded: Loaded) -> Store:
    """The store of these settings, which must be there.

    Raises:
        StoreError: there is none, or it cannot be read.
    """
    from rightcall.run.inputs.opening import open_store

    return open_store(loaded, create=False)


def check_limit(limit: int) -> None:
    """Refuse a list of nothing.

    Raises:
        ConfigError: a limit below 1.
    """
    from rightcall.errors import ConfigError, Place

    if limit < 1:
        raise ConfigError("must be at least 1", place=Place("--limit"))


def print_json(value: Any) -> None:
    """One JSON object on stdout."""
    import msgspec

    sys.stdout.flush()
    sys.stdout.buffer.write(msgspec.json.encode(value) + b"\n")
    sys.stdout.buffer.flush()

"""Files that appear whole or not at all, and the cells of tables in them."""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from rightcall.errors import ConfigError, Place
from rightcall.report import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def refuse_unwritable(path: Path, writers: Iterable[str]) -> str:
    """The suffix by which a file will be written.

    Raises:
        ConfigError: a suffix that nothing is written as, or a folder that does not exist.
    """
    suffix = next((suffix for suffix in writers if path.name.endswith(suffix)), None)
    if suffix is None:
        raise ConfigError(
            f"no format is known for `{path.name}`", place=Place("--out"), hint=f"use one of {', '.join(writers)}"
        )
    try:
        has_folder, is_folder = path.parent.is_dir(), path.is_dir()
    except OSError as error:  # a name that no file can have
        raise ConfigError(f"cannot write: {error.strerror}", place=Place(str(path))) from None
    if not has_folder:
        raise ConfigError(f"the folder `{path.parent}` does not exist", place=Place("--out"), hint="make it first")
    if is_folder:
        raise ConfigError(f"`{path}` is a folder", place=Place("--out"), hint="name a file")
    return suffix


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file that appears under its name only when it is complete.

    Raises:
        ConfigError: it cannot be written.
    """
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:50]}.")
    except OSError as error:
        raise ConfigError(f"cannot write: {error.strerror}", place=Place(str(path))) from None
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)
        Path(name).replace(path)
    except OSError as error:
        Path(name).unlink(missing_ok=True)
        raise ConfigError(f"cannot write: {error.strerror}", place=Place(str(path))) from None
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


# Some spreadsheets also take the full-width signs for the start of a formula, and pass over what stands before it.
_FORMULA = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_NUMBER = re.compile(r"-(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def cell(value: Any) -> Any:
    """A value as a cell of CSV.

    Nothing is hidden in a text (a tab stays, since it parts no cells). A text that a spreadsheet would run as a formula
    is made a plain one by `'`; a negative number stays a number. `None` is an empty cell.
    """
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return "" if value is None else value
    text = "\t".join(plain.visible(part) for part in value.split("\t"))
    runs = value[:1] in ("\t", "\r", "\n") or text.lstrip()[:1] in _FORMULA
    return f"'{text}" if runs and not _NUMBER.fullmatch(value) else text

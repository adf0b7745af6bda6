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
    from collections.abc import Callable, Iterable, Iterator


def refuse_unwritable(path: Path, writers: Iterable[str]) -> str:
    """The suffix by which a file will be written.

    Raises:
        ConfigError: a suffix that nothing is written as, or a folder that does not exist or may not be written.
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
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise ConfigError(
            f"the folder `{path.parent}` may not be written", place=Place("--out"), hint="check its rights"
        )
    return suffix


def refuse_all(out: Iterable[Path], writers: Iterable[str]) -> None:
    """Refuse files of which one could not be written, or is meant twice.

    Raises:
        ConfigError: as `refuse_unwritable`, or a file that is named twice.
    """
    known = tuple(writers)
    seen: set[Path] = set()
    for path in out:
        refuse_unwritable(path, known)
        whole = path.resolve()
        if whole in seen:
            raise ConfigError(f"`{path}` is named twice", place=Place("--out"), hint="name each file once")
        seen.add(whole)


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file that appears under its name only when it is complete.

    Raises:
        ConfigError: it cannot be written.
    """
    with _cannot_write(path):
        stream, name = _begun(path)
    try:
        with _cannot_write(path):
            with stream:
                yield stream
            _finished(name, path)
    finally:
        name.unlink(missing_ok=True)


def write_whole(out: Iterable[Path], write: Callable[[Path, IO[bytes]], None]) -> None:
    """Write several files, and give none its name before all are complete.

    Args:
        out: the files.
        write: writes one of them.

    Raises:
        ConfigError: one cannot be written; then none of them appears.
    """
    begun: list[tuple[Path, Path]] = []
    try:
        for path in out:
            with _cannot_write(path):
                stream, name = _begun(path)
                begun.append((name, path))
                with stream:  # what finds no room is often only known when the file is closed
                    write(path, stream)
        for name, path in begun:
            with _cannot_write(path):
                _finished(name, path)
    finally:
        for name, _ in begun:
            name.unlink(missing_ok=True)


def _begun(path: Path) -> tuple[IO[bytes], Path]:
    """A file beside the one that is meant, which takes its name later."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:50]}.")
    return os.fdopen(handle, "wb"), Path(name)


def _finished(name: Path, path: Path) -> None:
    mask = os.umask(0)
    os.umask(mask)
    name.chmod(0o666 & ~mask)
    name.replace(path)


@contextmanager
def _cannot_write(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ConfigError(f"cannot write: {error.strerror}", place=Place(str(path))) from None


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

"""A bundle as it arrives, a folder or a zip file from anybody: what is in it, one file at a time, unpacked nowhere.

Nothing is written, so no path can lead anywhere; what looks as if it wanted to is refused all the same: paths that are
absolute or go up, links, names twice, encrypted parts, and archives that unpack to more than they could honestly hold.
"""

from __future__ import annotations

import os
import stat
import zipfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

from rightcall.errors import ConfigError, Place, StoreError
from rightcall.run.bundle.parts import MANIFEST, SUMS, is_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from types import TracebackType

MOST_FILES = 5_000_000
_FREE = 1 << 28
_RATIO = 200
"""How many times its own size an archive may unpack to, beyond the first 256 MiB."""
_END = 22
"""Bytes of the end of a zip file without a comment."""


class Stream(Protocol):
    """The bytes of one file."""

    def read(self, size: int = -1, /) -> bytes: ...  # noqa: D102 - as of any file

    def readline(self, limit: int = -1, /) -> bytes: ...  # noqa: D102 - as of any file


class Bundle:
    """An open bundle.

    Attributes:
        name: as it was given.
        sizes: path -> bytes, of every file.
    """

    def __init__(self, name: str, sizes: dict[str, int], read: Callable[[str], AbstractContextManager[Stream]]) -> None:
        """Keep the parts."""
        self.name = name
        self.sizes = sizes
        self._read = read

    def open(self, path: str) -> AbstractContextManager[Stream]:
        """One file as a stream of its bytes; reading may raise `OSError`, also for an archive that is damaged."""
        return self._read(path)


@contextmanager
def open_bundle(path: Path) -> Iterator[Bundle]:
    """Open a folder or a zip file.

    Raises:
        ConfigError: there is nothing, or it is no bundle at all.
        StoreError: `STORE_INVALID`: it cannot be a bundle that rightcall made; one line says why.
    """
    try:
        is_folder = path.is_dir()
        if not is_folder and not path.is_file():
            raise ConfigError("no such folder or file", place=Place(str(path)), hint="check the path")
    except (OSError, ValueError) as error:  # a name that no file can have
        raise ConfigError(f"cannot be read: {error}", place=Place(str(path))) from None
    with _folder(path) if is_folder else _archive(path) as bundle:
        if not {MANIFEST, SUMS} & bundle.sizes.keys():
            raise ConfigError(
                f"is no bundle: neither {MANIFEST} nor {SUMS} is in it", place=Place(str(path)),
                hint="make one with rightcall export bundle",
            )  # fmt: skip
        yield bundle


def refused(path: Path, message: str) -> StoreError:
    """Why nothing of a bundle is read."""
    return StoreError(
        message,
        code="STORE_INVALID",
        place=Place(str(path)),
        hint="rightcall made no such bundle: ask for another copy",
    )


# ---- folders ----


@contextmanager
def _folder(path: Path) -> Iterator[Bundle]:
    sizes: dict[str, int] = {}
    try:
        for name, size in _walk(path, path, ""):
            sizes[name] = size
            if len(sizes) > MOST_FILES:
                raise refused(path, f"holds more than {MOST_FILES} files")
    except OSError as error:
        raise refused(path, f"cannot be read: {error.strerror or error}") from None
    yield Bundle(str(path), sizes, lambda name: (path / name).open("rb"))


def _walk(top: Path, folder: Path, above: str) -> Iterator[tuple[str, int]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            name = above + entry.name
            if not is_name(name):
                raise refused(top, f"`{name}` cannot be the name of a file of a bundle")
            if entry.is_symlink():
                raise refused(top, f"`{name}` is a link")
            if entry.is_dir(follow_symlinks=False):
                yield from _walk(top, Path(entry.path), f"{name}/")
            elif entry.is_file(follow_symlinks=False):
                yield name, entry.stat(follow_symlinks=False).st_size
            else:
                raise refused(top, f"`{name}` is neither a file nor a folder")


# ---- archives ----


@contextmanager
def _archive(path: Path) -> Iterator[Bundle]:
    try:
        archive = zipfile.ZipFile(path)
    except (OSError, ValueError, zipfile.BadZipFile, NotImplementedError) as error:
        raise ConfigError(
            f"is no bundle: {_words(error)}", place=Place(str(path)), hint="name the folder or the zip file"
        ) from None
    with archive:
        yield Bundle(str(path), _sizes(path, archive), lambda name: _Part(archive, name))


def _sizes(path: Path, archive: zipfile.ZipFile) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for info in archive.infolist():
        if info.is_dir() and not info.file_size and is_name(info.orig_filename[:-1]):
            continue  # other programs list folders too; there is nothing in such an entry
        wrong = _wrong(info)
        if wrong is None and info.filename in sizes:
            wrong = "is there twice"
        if wrong is not None:
            raise refused(path, f"`{info.orig_filename}` {wrong}")
        sizes[info.filename] = info.file_size
    whole, packed = sum(sizes.values()), path.stat().st_size
    if whole > _FREE + _RATIO * packed:
        raise refused(path, f"unpacks to {whole} bytes from {packed}")
    if len(sizes) > MOST_FILES or not _is_tight(path):
        raise refused(path, "holds something beside its files")
    return sizes


def _wrong(info: zipfile.ZipInfo) -> str | None:
    if info.filename != info.orig_filename or not is_name(info.filename):
        return "cannot be the name of a file of a bundle"
    if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
        return "is no plain file"
    if info.flag_bits & 0x1:
        return "is encrypted"
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "is packed in a way that is not read"
    return None


def _is_tight(path: Path) -> bool:
    """Whether nothing stands before the first file or after the end."""
    with path.open("rb") as stream:
        begins = stream.read(4)
        stream.seek(-_END, os.SEEK_END)
        ends = stream.read()
    return begins == b"PK\x03\x04" and ends[:4] == b"PK\x05\x06" and ends[-2:] == b"\0\0"


class _Part:
    """One file of an archive, whose damage is an `OSError` like that of any file."""

    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        with _as_os_error():
            self._stream = archive.open(name)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()

    def read(self, size: int = -1, /) -> bytes:
        with _as_os_error():
            return self._stream.read(size)

    def readline(self, limit: int = -1, /) -> bytes:
        with _as_os_error():
            return self._stream.readline(limit)


@contextmanager
def _as_os_error() -> Iterator[None]:
    import zlib

    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, ValueError) as error:
        raise OSError(_words(error)) from None


def _words(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__

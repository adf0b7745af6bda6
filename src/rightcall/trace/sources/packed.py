"""Zip archives from strangers: looked through before anything reads them.

An archive is refused that names a path outside itself, is encrypted, holds too many entries, unpacks to too much or out
of all proportion, or whose entries overlap or hold other than they declare. Every entry is unpacked once, in pieces and
without keeping it, since a declared size is only a claim.
"""

from __future__ import annotations

import zipfile
import zlib
from pathlib import PurePosixPath
from typing import IO, TYPE_CHECKING

from rightcall.errors import Place, TraceError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_ENTRIES = 100_000
MAX_ENTRY_BYTES = 256 << 20
MAX_TOTAL_BYTES = 8 << 30
MAX_RATIO = 250
"""How many bytes may come of one, where an entry is larger than `SMALL`. Text of agents packs about 20 to 1."""
SMALL = 8 << 20

_ZSTD = 93
_PIECE = 1 << 20


def check_zip(path: Path) -> list[str]:
    """Look through an archive and give the names of its entries.

    Raises:
        TraceError: it is damaged (`TRACE_TRUNCATED`), too large (`TRACE_TOO_LONG`) or not safe
            (`TRACE_UNSAFE_ARCHIVE`).
    """
    place = Place(str(path))
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            _check_claims(entries, path.stat().st_size, place)
            for entry in entries:
                _check_content(archive, entry, place)
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError) as error:
        raise TraceError(
            f"damaged or truncated zip archive: {error}", place=place, code="TRACE_TRUNCATED",
            hint="fetch the file again",
        ) from None  # fmt: skip
    except OSError as error:
        raise TraceError(f"cannot be read: {error.strerror or error}", place=place, code="TRACE_NO_FILE") from None
    return [entry.filename for entry in entries]


def _check_claims(entries: list[zipfile.ZipInfo], size: int, place: Place) -> None:
    """Refuse what the table of contents already gives away."""
    if len(entries) > MAX_ENTRIES:
        raise _too_large(f"{len(entries)} entries; at most {MAX_ENTRIES} are read", place)
    if sum(entry.compress_size for entry in entries) > size:
        raise _unsafe("its entries overlap", place)
    if sum(entry.file_size for entry in entries) > MAX_TOTAL_BYTES:
        raise _too_large(f"it unpacks to more than {MAX_TOTAL_BYTES >> 30} GiB", place)
    for entry in entries:
        if _leads_outside(entry.orig_filename):
            raise _unsafe(f"an entry leads outside of it: `{entry.orig_filename[:80]}`", place)
        if entry.flag_bits & 1:
            raise _unsafe(f"`{entry.filename}` is encrypted", place)
        if entry.file_size > MAX_ENTRY_BYTES:
            raise _too_large(f"`{entry.filename}` unpacks to more than {MAX_ENTRY_BYTES >> 20} MiB", place)
        if entry.file_size > max(SMALL, MAX_RATIO * entry.compress_size):
            raise _unsafe(f"`{entry.filename}` unpacks to more than {MAX_RATIO} times its size", place)


def _leads_outside(name: str) -> bool:
    return (
        not name
        or "\\" in name
        or "\0" in name
        or name.startswith("/")
        or name[1:2] == ":"
        or ".." in PurePosixPath(name).parts
    )


def _check_content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, place: Place) -> None:
    """Unpack an entry in pieces, without keeping it: it must hold what it declares."""
    read, checksum = 0, 0
    for piece in _pieces(archive, entry):
        read += len(piece)
        checksum = zlib.crc32(piece, checksum)
        if read > entry.file_size:
            raise _unsafe(f"`{entry.filename}` holds more than it declares", place)
    if read != entry.file_size or checksum != entry.CRC:
        raise zipfile.BadZipFile(f"`{entry.filename}` does not hold what it declares")


def _pieces(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    if entry.compress_type != _ZSTD:
        with archive.open(entry) as stream:
            while piece := stream.read(_PIECE):
                yield piece
        return
    import zstandard

    try:
        with zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(
            _packed(archive, entry), read_across_frames=True
        ) as reader:
            while piece := reader.read(_PIECE):
                yield piece
    except zstandard.ZstdError as error:
        raise zipfile.BadZipFile(f"`{entry.filename}`: {error}") from None


def _packed(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> IO[bytes] | bytes:
    """The packed bytes of an entry, behind its own header; zipfile does not unpack this method on every Python."""
    source = archive.fp
    if source is None:
        raise zipfile.BadZipFile("it is closed")
    source.seek(entry.header_offset)
    header = source.read(30)
    if len(header) < 30 or header[:4] != b"PK\x03\x04":
        raise zipfile.BadZipFile(f"`{entry.filename}` is not where it is said to be")
    source.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), 1)
    return source.read(entry.compress_size)


def _too_large(what: str, place: Place) -> TraceError:
    return TraceError(what, place=place, code="TRACE_TOO_LONG", hint="split the log")


def _unsafe(what: str, place: Place) -> TraceError:
    return TraceError(
        f"this archive is not safe to read: {what}", place=place, code="TRACE_UNSAFE_ARCHIVE",
        hint="get it from somewhere you trust",
    )  # fmt: skip

"""Bytes in: opening, unpacking and cutting files, in bounded memory.

`.gz` and `.zst` are unpacked while they are read. A file is cut into *records*: the lines of JSON Lines, or the one
document of everything else. Lines are handed out in blocks, so that a file larger than memory costs one block.
"""

from __future__ import annotations

import gzip
import zlib
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Self

from rightcall.errors import NoDataError, Place, TraceError

if TYPE_CHECKING:
    from collections.abc import Iterator

BLOCK_BYTES = 1 << 20
"""How much is read at once."""

MAX_LINE_BYTES = 256 << 20
"""Longest line, and largest document, that is read into memory."""

_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Block:
    """Some whole lines of a file: their bytes and the number of the first."""

    data: bytes
    first_line: int


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading, unpacking `.gz` and `.zst`; errors of the packing are `TraceError`s.

    Raises:
        TraceError: the file is missing, unreadable, or its packing is damaged or cut short.
    """
    try:
        with _raw(path) as stream:
            yield stream
    except FileNotFoundError:
        raise TraceError("no such file", place=Place(str(path)), code="TRACE_NO_FILE", hint="check the path") from None
    except IsADirectoryError:
        raise TraceError(
            "this is a folder", place=Place(str(path)), code="TRACE_NO_FILE", hint="name a file, or a pattern in quotes"
        ) from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise TraceError(
            f"damaged or truncated gzip file: {error}", place=Place(str(path)), code="TRACE_TRUNCATED",
            hint="fetch the file again",
        ) from None  # fmt: skip
    except OSError as error:
        raise TraceError(
            f"cannot be read: {error.strerror or error}", place=Place(str(path)), code="TRACE_NO_FILE"
        ) from None


def _raw(path: Path) -> IO[bytes]:
    if path.suffix == ".gz":
        return gzip.open(path, "rb")  # type: ignore[return-value]
    if path.suffix == ".zst":
        return _Zstd(path)  # type: ignore[return-value]
    return path.open("rb")


class _Zstd:
    """A zstd file as a stream, which tells a frame that ends too early from one that is over."""

    def __init__(self, path: Path) -> None:
        import zstandard

        self._error = zstandard.ZstdError
        self._path = path
        self._file = path.open("rb")
        self._unpack = zstandard.ZstdDecompressor(max_window_size=1 << 27)
        self._frame = self._unpack.decompressobj()
        self._ready = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read(self, size: int = -1) -> bytes:
        """Up to `size` unpacked bytes; empty at the end."""
        parts = [self._ready]
        length = len(self._ready)
        while (size < 0 or length < size) and (more := self._more()):
            parts.append(more)
            length += len(more)
        data = b"".join(parts)
        cut = len(data) if size < 0 else size
        self._ready = data[cut:]
        return data[:cut]

    def _more(self) -> bytes:
        while chunk := (self._frame.unused_data if self._frame.eof else b"") or self._file.read(1 << 16):
            if self._frame.eof:
                self._frame = self._unpack.decompressobj()
            try:
                data: bytes = self._frame.decompress(chunk)
            except self._error as error:
                raise self._damaged(str(error)) from None
            if data:
                return data
        if not self._frame.eof:
            raise self._damaged("the last frame is not complete")
        return b""

    def _damaged(self, reason: str) -> TraceError:
        return TraceError(
            f"damaged or truncated zstd file: {reason}", place=Place(str(self._path)), code="TRACE_TRUNCATED",
            hint="fetch the file again",
        )  # fmt: skip


def blocks(stream: IO[bytes], path: Path, size: int = BLOCK_BYTES) -> Iterator[Block]:
    """Cut a stream into blocks of whole lines of about `size` bytes, without a leading byte-order mark."""
    rest: list[bytes] = []
    length, line = 0, 1
    chunk = stream.read(max(size, len(_BOM))).removeprefix(_BOM) or stream.read(size)
    while chunk:
        cut = chunk.rfind(b"\n") + 1
        if cut:
            data = b"".join((*rest, chunk[:cut]))
            yield Block(data, line)
            line += data.count(b"\n")
            rest, length = [], 0
        rest.append(chunk[cut:])
        length += len(rest[-1])
        _check_length(length, path, line)
        chunk = stream.read(size)
    last = b"".join(rest)
    if last.strip():
        yield Block(last, line)


def _check_length(length: int, path: Path, line: int) -> None:
    if length > MAX_LINE_BYTES:
        raise TraceError(
            f"a line or document of more than {MAX_LINE_BYTES >> 20} MiB", place=Place(str(path), line),
            code="TRACE_TOO_LONG", hint="write one trace a line",
        )  # fmt: skip


def read_document(path: Path) -> bytes:
    """The whole content of a file that is one document."""
    with open_bytes(path) as stream:
        data = stream.read(MAX_LINE_BYTES + 1)
    _check_length(len(data), path, 1)
    return data.removeprefix(_BOM)


def lines(block: Block) -> Iterator[tuple[int, bytes]]:
    """The lines of a block that hold something, with their numbers."""
    for number, line in enumerate(block.data.split(b"\n"), block.first_line):
        text = line.strip()
        if text:
            yield number, text


def is_empty(path: Path) -> NoDataError:
    """The error for a file that holds nothing."""
    return NoDataError("the file is empty: nothing to grade", place=Place(str(path)), hint="record at least one trace")

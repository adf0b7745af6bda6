"""Results on their way: written to a temporary file in any order, read back in input order."""

from __future__ import annotations

from array import array
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING

from rightcall.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Iterator

_EMPTY = -1


class Spool:
    """Lines by place. What grows with their number is two machine words a place."""

    def __init__(self) -> None:
        """Open the temporary file."""
        self._file: IO[bytes] = TemporaryFile()  # noqa: SIM115 - closed by `close`
        self._offsets = array("q")
        self._sizes = array("q")
        self._end = 0
        self._filled = 0

    def __len__(self) -> int:
        """How many places there are, filled or not."""
        return len(self._offsets)

    @property
    def missing(self) -> int:
        """How many places have no line."""
        return len(self) - self._filled

    def place(self) -> int:
        """Keep the next place."""
        self._offsets.append(_EMPTY)
        self._sizes.append(0)
        return len(self) - 1

    def put(self, place: int, line: bytes) -> None:
        """Write the line of a place; a place has one line.

        Raises:
            RunError: there is no room for temporary files.
        """
        try:
            self._file.seek(self._end)
            self._file.write(line)
            self._file.flush()
        except OSError as error:
            raise RunError(
                f"the results cannot be kept for the report: {error.strerror}",
                hint="make room where temporary files go (TMPDIR)",
            ) from None
        self._filled += self._offsets[place] == _EMPTY
        self._offsets[place], self._sizes[place] = self._end, len(line)
        self._end += len(line)

    def lines(self) -> Iterator[bytes]:
        """Every line, in the order of places; empty places are passed over."""
        for offset, size in zip(self._offsets, self._sizes, strict=True):
            if offset != _EMPTY:
                self._file.seek(offset)
                yield self._file.read(size)

    def close(self) -> None:
        """Drop the file."""
        self._file.close()

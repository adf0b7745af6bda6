"""Every result of a run, read once and kept in a temporary file in two orders: by name, and the worst first.

A store gives results in the order in which judges answered, which is another one in every run; a report has the same
order each time. What grows with the number of results is two words each, and one short name while they are read.
"""

from __future__ import annotations

import os
import weakref
from array import array
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any

import msgspec

from rightcall.errors import RunError
from rightcall.run.judging.items import BY_DESIGN
from rightcall.run.results.model import Row
from rightcall.run.results.order import natural

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from rightcall.report.view.model import Outcome

_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Row).decode
WORST, VETOED, FAILED, ERROR, SERIOUS = range(5)
"""Where a result stands among those that are listed: CRITICAL, other vetoes, failures, no verdict, what is serious."""


def outcome_of(row: Row, severity: str | None = None) -> Outcome:
    """What came of a result.

    A failure stays one while its CRITICAL item waits for a signature, since no signature makes it a pass. A result
    without a verdict is an error for the report, whatever else is open about it. A CRITICAL about which nothing is
    known, as in a run that has just ended, is open.

    Args:
        row: the result.
        severity: as for `rank_of`.
    """
    if row.effective == "FAIL":
        return "failed"
    if row.status != "EVALUATED":
        return "error"
    return "waiting" if row.critical == "open" or (severity == "CRITICAL" and row.critical is None) else "passed"


def is_aside(row: Row) -> bool:
    """Whether a result has no verdict by design: it was never to be judged, and is no error of anybody."""
    return row.status != "EVALUATED" and row.reason in BY_DESIGN


def rank_of(row: Row, severity: str | None, vetoes: Collection[str] = ()) -> int | None:
    """Where a result stands in the list of failures; `None` for one that is not listed.

    Args:
        row: the result.
        severity: of the worst misuse or reading: `CRITICAL`, or another word for what is serious; else `None`.
        vetoes: how serious the rules are by which the policy vetoed it.
    """
    if is_aside(row):
        return None
    is_critical = severity == "CRITICAL" and row.critical != "dismissed"
    outcome = outcome_of(row, severity)
    if "CRITICAL" in vetoes or is_critical or row.critical in ("open", "confirmed"):
        return WORST
    if vetoes:
        return VETOED
    if outcome == "passed":
        return SERIOUS if severity is not None and severity != "CRITICAL" else None
    return FAILED if outcome == "failed" else ERROR


class Kept:
    """The results of a run, to be read again as often as wanted. The file is dropped with the object."""

    def __init__(self) -> None:
        """Open the temporary file."""
        self._file: IO[bytes] = TemporaryFile()  # noqa: SIM115 - closed with this object
        self._close = weakref.finalize(self, self._file.close)
        self._offsets, self._sizes = array("q"), array("q")
        self._keys: list[tuple[int, str]] = []
        self._ranks, self._graders = array("b"), array("h")
        self._all, self._failures = array("q"), array("q")

    def add(self, grader: int, row: Row, rank: int | None) -> None:
        """Take one result.

        Args:
            grader: the number of its grader, in the order of the run.
            row: the result.
            rank: see `rank_of`.

        Raises:
            RunError: there is no room for temporary files.
        """
        data = _encode(row)
        self._offsets.append(self._offsets[-1] + self._sizes[-1] if self._offsets else 0)
        self._sizes.append(len(data))
        self._keys.append((grader, natural(row.unit)))
        self._graders.append(grader)
        self._ranks.append(-1 if rank is None else rank)
        try:
            self._file.write(data)
        except OSError as error:
            raise RunError(
                f"the results cannot be kept for the report: {error.strerror}",
                hint="make room where temporary files go (TMPDIR)",
            ) from None

    def sort(self) -> None:
        """Settle both orders, once everything was added."""
        self._file.flush()
        keys, ranks = self._keys, self._ranks
        self._all = array("q", sorted(range(len(keys)), key=keys.__getitem__))
        listed = (place for place in self._all if ranks[place] >= 0)
        self._failures = array("q", sorted(listed, key=lambda place: (keys[place][0], ranks[place])))
        self._keys = []

    def __len__(self) -> int:
        """How many results there are."""
        return len(self._offsets)

    def rows(self, grader: int | None = None) -> Iterator[Row]:
        """Every result: grader by grader, by name; `grader`: only those of this one."""
        yield from map(self._row, self._of(self._all, grader))

    def failures(self, grader: int | None = None) -> Iterator[Row]:
        """Those that are listed: grader by grader, the worst first, then by name; `grader`: only those of this one."""
        yield from map(self._row, self._of(self._failures, grader))

    def _of(self, places: array[int], grader: int | None) -> Iterator[int]:
        return (place for place in places if grader is None or self._graders[place] == grader)

    def _row(self, place: int) -> Row:
        # Two readers may be under way at once, so there is no common position in the file.
        return _decode(os.pread(self._file.fileno(), self._sizes[place], self._offsets[place]))


def plain_of(row: Row) -> Any:
    """The result as its grader's type; as plain values where it is not of that type (any more)."""
    try:
        return row.typed()
    except msgspec.ValidationError:
        return row.value()

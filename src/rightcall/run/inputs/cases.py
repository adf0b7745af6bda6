"""The cases of a suite, found by id, in bounded memory.

Every case is read and checked once when the suite is opened, so that a fault stops the run before anything is graded.
Cases of a plain JSON Lines file are then forgotten and read again from their place when a trace needs them; the others
are few and kept. Compiled goldens of the last cases are kept ready.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import IO, TYPE_CHECKING

from rightcall.case.case import Case
from rightcall.case.golden import compile_case, quick
from rightcall.case.load import Where, duplicate, iter_cases, with_tools
from rightcall.case.parse import read_case
from rightcall.errors import NoDataError, Place, RunError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rightcall.run.inputs.catalogs import Catalogs
    from rightcall.trace.sources.dialect import Skip

Mark = tuple[int, int]
"""Size of a file and time of its last change."""

READY = 512
"""How many compiled cases are kept."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One case: kept, or where to find it."""

    file: int
    line: int | None
    path: str | None
    where: Where | None
    case: Case | None
    tags: tuple[str, ...] = ()


@dataclass
class CaseIndex:
    """Cases by id.

    Attributes:
        files: the files that were read, with the SHA-256 of each.
        marks: size and time of each when it was read, to see whether it changed.
        entries: case id -> where it is.
        skips: records of a benchmark's file without a readable case.
    """

    files: list[tuple[str, str]] = field(default_factory=list)
    marks: list[Mark | None] = field(default_factory=list)
    entries: dict[str, Entry] = field(default_factory=dict)
    skips: list[Skip] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Nothing is open yet."""
        self._open: dict[int, IO[bytes]] = {}

    def __getstate__(self) -> dict[str, object]:
        """Open files do not travel to other processes."""
        return {"files": self.files, "marks": self.marks, "entries": self.entries, "skips": self.skips}

    def __setstate__(self, state: dict[str, object]) -> None:
        """Take the index as it was; files are opened again when needed."""
        self.__dict__.update(state)
        self._open = {}

    def __len__(self) -> int:
        """How many cases there are."""
        return len(self.entries)

    def __contains__(self, case_id: object) -> bool:
        """Whether there is a case of this id."""
        return case_id in self.entries

    def __iter__(self) -> Iterator[str]:
        """Case ids in the order of the files."""
        return iter(self.entries)

    def tagged(self, tags: Sequence[str]) -> list[str]:
        """The ids of the cases that have one of these tags, in the order of the files; of no tags, of all."""
        return [case_id for case_id in self.entries if not tags or self.has_tag(case_id, tags)]

    def has_tag(self, case_id: str, tags: Sequence[str]) -> bool:
        """Whether there is such a case, and it has one of these tags."""
        return case_id in self.entries and not set(tags).isdisjoint(self.entries[case_id].tags)

    def close(self) -> None:
        """Close the files that were opened to read cases again."""
        for stream in self._open.values():
            stream.close()
        self._open.clear()

    def only(self) -> str | None:
        """The id of the one case, if there is exactly one."""
        return next(iter(self.entries)) if len(self.entries) == 1 else None

    def place(self, case_id: str) -> Place:
        """Where a case was written."""
        entry = self.entries[case_id]
        return Place(self.files[entry.file][0], entry.line, None, entry.path)

    def case(self, case_id: str) -> Case:
        """The case of this id, read again if it was not kept."""
        entry = self.entries[case_id]
        if entry.case is not None:
            return entry.case
        assert entry.where is not None  # noqa: S101 - one of the two is there
        stream, place = self._stream(entry), self.place(case_id)
        stream.seek(entry.where.offset)
        return with_tools(read_case(stream.read(entry.where.size), place), place, Path(place.file or "").parent)

    def _stream(self, entry: Entry) -> IO[bytes]:
        """The open file of an entry, as it was when the suite was opened."""
        file = self.files[entry.file][0]
        try:
            if entry.file not in self._open:
                self._open[entry.file] = Path(file).open("rb")  # noqa: SIM115 - kept for the run
            stream = self._open[entry.file]
            changed = _mark(os.fstat(stream.fileno())) != self.marks[entry.file]
        except OSError:
            changed = True
        if changed:
            raise RunError("the file changed during the run", place=Place(file), hint="run again")
        return stream


def open_cases(paths: list[Path], aliases: Mapping[str, str], catalogs: Catalogs) -> CaseIndex:
    """Read and check every case of the files.

    Raises:
        CaseError: a case that cannot be used, an id that stands in two files.
        ConfigError: a case's own catalog that cannot be used.
        NoDataError: no file, or a file without a case.
    """
    if not paths:
        raise NoDataError("no case file", hint="name one with --cases")
    index = CaseIndex()
    for number, path in enumerate(paths):
        index.marks.append(_mark_of(path))
        index.files.append((str(path), _sha256(path)))
        for case, place, where in iter_cases(path, catalogs.suite_tools, index.skips):
            if case.id in index.entries:
                raise duplicate(case.id, place, index.place(case.id))
            if quick(case, {}) is None:
                compile_case(case, place, aliases)
            catalogs.check(case, place)
            kept = None if where is not None else case
            index.entries[case.id] = Entry(number, place.line, place.path, where, kept, case.tags)
    return index


def _mark(found: os.stat_result) -> Mark:
    return found.st_size, found.st_mtime_ns


def _mark_of(path: Path) -> Mark | None:
    try:
        return _mark(path.stat())
    except OSError:
        return None  # reading the cases says what is wrong


def _sha256(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            digest = sha256()
            while chunk := stream.read(1 << 20):
                digest.update(chunk)
            return digest.hexdigest()
    except OSError:
        return ""  # reading the cases says what is wrong


class Ready(OrderedDict[str, object]):
    """The last compiled cases, oldest dropped first."""

    def keep(self, key: str, value: object) -> None:
        """Remember one more."""
        self[key] = value
        if len(self) > READY:
            self.popitem(last=False)

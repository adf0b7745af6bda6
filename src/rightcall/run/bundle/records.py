"""The part of a bundle that comes from the record: the log, the records of a run with what they rest on, the bodies.

Of everything else in the store only the log entries are there: number, time, kind and digest, so that the chain can be
followed from its first entry to its last, and nothing of other runs is shown.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from typing import IO, TYPE_CHECKING

import msgspec

from rightcall.run.bundle.parts import (
    CASES,
    LINES,
    LOG,
    RESULTS,
    STEPS,
    TRACES,
    body_file,
    catalog_file,
    catalogs_of,
    records_file,
)
from rightcall.store.chain import Head
from rightcall.store.inserting import chunks
from rightcall.store.packing import COLUMNS, TYPES, bodies_named, column, unpack
from rightcall.store.picking import about_bodies, records_of
from rightcall.store.records import AttemptRecord, RunRecord, VerdictRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from rightcall.store.chain import LogEntry
    from rightcall.store.records import Record
    from rightcall.store.store import Store

_PAGE = 500
_BODIES = 50
"""Bodies that are fetched together, and held in memory; one can be that of a large trace."""

_ABOUT = ("trace", "case")


@dataclass
class Kept:
    """What was written.

    Attributes:
        head: the end of the log. records: kind -> how many.
        prompts: sha256 -> id and version, of every prompt that was used.
    """

    head: Head = field(default_factory=Head)
    records: dict[str, int] = field(default_factory=dict)
    prompts: dict[str, tuple[str, str]] = field(default_factory=dict)


def write_record(store: Store, run_id: str, judges: Iterable[str], folder: Path) -> Kept:
    """Write the log, the records of a run and the bodies that they name into a folder, as of now.

    Args:
        store: the record.
        run_id: the run.
        judges: names of its judges, whose calibrations belong to it.
        folder: where to; it is there and empty.

    Raises:
        StoreError: something that a record names is missing or was changed.
    """
    writing = _Writing(store, run_id, folder)
    writing.records(_wanted(store, run_id, set(judges)))
    writing.bodies()
    return writing.kept


# ---- which records ----


def _wanted(store: Store, run_id: str, judges: set[str]) -> dict[str, set[str]]:
    """Kind -> digests of the records of no run, or of another one, that belong to this run."""
    wanted: dict[str, set[str]] = {kind: set() for kind in TYPES}
    about: dict[str, set[str]] = {kind: set() for kind in _ABOUT}
    for verdict in _verdicts(store, run_id):
        wanted["attempt"].update(verdict.attempts)
        about["trace"].update(name for name in (verdict.trace, verdict.trace_b) if name)
        about["case"].update(name for name in (verdict.case,) if name)
    for kind, bodies in about.items():
        wanted[kind].update(about_bodies(store.database, kind, sorted(bodies)))
    for kind, columns in COLUMNS.items():
        if kind not in (*_ABOUT, "run") and "run_id" not in columns:
            wanted[kind].update(_of_no_run(store, kind, judges))
    return wanted


def _verdicts(store: Store, run_id: str) -> Iterator[VerdictRecord]:
    """The verdicts of a run, replaced ones too."""
    entries = store.log(kind="verdict", run_id=run_id)
    while page := [entry.digest for entry in islice(entries, _PAGE)]:
        for plain in records_of(store.database, "verdict", page).values():
            yield unpack(VerdictRecord, "plain", plain)


def _of_no_run(store: Store, kind: str, judges: set[str]) -> Iterator[str]:
    """Records that belong to no run but speak of the judges of this one, or of no judge at all."""
    entries = store.log(kind=kind)
    while page := [entry.digest for entry in islice(entries, _PAGE)]:
        for digest, plain in records_of(store.database, kind, page).items():
            judge = getattr(unpack(TYPES[kind], "plain", plain), "judge", None)
            # A panel is called by its judges, joined by a plus.
            if not isinstance(judge, str) or judge in judges or set(judge.split(" + ")) <= judges:
                yield digest


# ---- writing ----


class _Writing:
    """Writes one run.

    Attributes:
        kept: what was written so far.
    """

    def __init__(self, store: Store, run_id: str, folder: Path) -> None:
        self.kept = Kept()
        self._store, self._folder = store, folder
        self._run_id = column(run_id)
        self._homes: dict[str, str] = {}
        self._results: dict[tuple[str, str], tuple[int, int, str]] = {}
        self._catalogs: list[str] = []

    def records(self, wanted: Mapping[str, set[str]]) -> None:
        """Write the log, and the records of the run and the wanted ones in its order."""
        (self._folder / "records").mkdir()
        encode = msgspec.json.Encoder().encode
        with ExitStack() as files:
            log = files.enter_context((self._folder / LOG).open("wb"))
            streams: dict[str, IO[bytes]] = {}
            entries = self._store.log()
            while page := list(islice(entries, _PAGE)):
                for entry in page:
                    log.write(encode(entry) + b"\n")
                mine = [entry for entry in page if self._is_mine(entry) or entry.digest in wanted.get(entry.kind, ())]
                for kind, plain in self._plain(mine):
                    if kind not in streams:
                        path = self._folder / records_file(kind)
                        streams[kind] = files.enter_context(path.open("wb"))
                    self._take(kind, plain, streams[kind])
                self.kept.head = Head(page[-1].seq, page[-1].hash)

    def _is_mine(self, entry: LogEntry) -> bool:
        return entry.run_id == self._run_id

    def _plain(self, entries: list[LogEntry]) -> Iterator[tuple[str, bytes]]:
        """Kind and bytes of the records of some entries, in their order."""
        kinds: dict[str, list[str]] = {}
        for entry in entries:
            kinds.setdefault(entry.kind, []).append(entry.digest)
        found = {kind: records_of(self._store.database, kind, digests) for kind, digests in kinds.items()}
        for entry in entries:
            if entry.digest in found[entry.kind]:  # what is missing is found when the bundle is checked
                yield entry.kind, found[entry.kind][entry.digest]

    def _take(self, kind: str, plain: bytes, stream: IO[bytes]) -> None:
        stream.write(plain + b"\n")
        self.kept.records[kind] = self.kept.records.get(kind, 0) + 1
        if kind in _ABOUT:
            return  # of these only what verdicts name is there
        record = unpack(TYPES[kind], "plain", plain)
        for sha, home in _homes_of(record):
            self._homes.setdefault(sha, home)
        if isinstance(record, VerdictRecord):
            at = self.kept.records[kind]
            key = (record.grader, record.unit)
            if key not in self._results or self._results[key][0] < record.revision:
                self._results[key] = (record.revision, at, record.result)
        elif isinstance(record, AttemptRecord) and record.prompt_sha256:
            self.kept.prompts.setdefault(record.prompt_sha256, (record.prompt_id, record.prompt_version))
        elif isinstance(record, RunRecord):
            self._catalogs = catalogs_of(record.facts)

    # ---- bodies ----

    def bodies(self) -> None:
        """Write every body that a record names, once: as a line of a file, or as a file of its own."""
        (self._folder / "suite").mkdir()
        self._write_results()
        for at, sha in enumerate(self._catalogs):
            (self._folder / catalog_file(at)).write_bytes(self._store.body(sha))
            self._homes.pop(sha, None)
        with ExitStack() as files:
            streams: dict[str, IO[bytes]] = {}
            for sha, body in self._bodies(self._homes):
                home = self._homes[sha]
                if home not in LINES or home == RESULTS or b"\n" in body:
                    self._write_body(sha, body)
                    continue
                if home not in streams:
                    streams[home] = files.enter_context((self._folder / home).open("wb"))
                streams[home].write(body + b"\n")

    def _write_results(self) -> None:
        """Write the results that stand, in the order of the log."""
        standing = [sha for _, _, sha in sorted(self._results.values(), key=lambda one: one[1])]
        self._results.clear()
        with (self._folder / RESULTS).open("wb") as stream:
            for _, body in self._bodies(standing):
                stream.write(body + b"\n")
        for sha in standing:
            self._homes.pop(sha, None)

    def _bodies(self, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Bodies with their names, in this order."""
        for some in chunks(names, _BODIES):
            found = self._store.bodies(some)
            yield from ((sha, found[sha]) for sha in some)

    def _write_body(self, sha: str, body: bytes) -> None:
        path = self._folder / body_file(sha)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(body)


def _homes_of(record: Record) -> Iterator[tuple[str, str]]:
    """The bodies that a record names, each with the file in which it is a line; an empty name: a file of its own."""
    homes: dict[str | None, str] = {}
    if isinstance(record, VerdictRecord):
        case = STEPS if record.grader == "selection" else CASES
        homes = {record.result: RESULTS, record.trace: TRACES, record.trace_b: TRACES, record.case: case}
    for sha in bodies_named(record):
        yield sha, homes.get(sha, "")

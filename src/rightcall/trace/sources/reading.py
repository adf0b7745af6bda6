"""From a file to traces, whatever the dialect: the one loop that every reader shares."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rightcall.errors import NoDataError, Place, TraceError
from rightcall.trace import jsontext
from rightcall.trace.model import Trace
from rightcall.trace.sources import files, native, registry
from rightcall.trace.sources.containers import container_of
from rightcall.trace.sources.dialect import Container, Dialect, ReadingReport, Skip

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.sources.dialect import Record


@dataclass(frozen=True, slots=True)
class Opened:
    """What a file is, before it is read.

    `document` is its value where it is one JSON document, `container` what it is packed as; otherwise it is JSON Lines.
    """

    path: Path
    dialect: Dialect
    document: JsonValue = None
    is_lines: bool = True
    container: Container | None = None

    @property
    def can_be_cut(self) -> bool:
        """Whether blocks of lines can be read on their own, by several processes."""
        return self.is_lines and self.container is None and self.dialect.grouped is None


def open_traces(path: str | Path, dialect: str = "auto") -> Opened:
    """Look at the head of a file and settle its dialect and how its records are packed.

    Raises:
        TraceError: missing, damaged, not JSON, of no known dialect or of two.
        NoDataError: the file is empty.
    """
    where = Path(path)
    wanted = None if dialect == "auto" else registry.by_name(dialect)
    with files.open_bytes(where) as stream:
        start = stream.read(4096)
    container = container_of(start, where.name)
    if container is not None:
        return Opened(where, wanted or _detect_packed(container, where), is_lines=False, container=container)
    with files.open_bytes(where) as stream:
        head = next(files.blocks(stream, where), None)
    first = next(files.lines(head), None) if head else None
    if head is None or first is None:
        raise files.is_empty(where)
    if _is_line(first[1]):
        value = jsontext.decode(first[1], Place(str(where), first[0]))
        return Opened(where, wanted or registry.detect(value, Place(str(where), first[0])))
    value = jsontext.decode(files.read_document(where), Place(str(where), 1))
    return Opened(where, wanted or _detect_document(value, Place(str(where))), value, is_lines=False)


def opened_value(value: JsonValue, name: str, dialect: Dialect | None = None) -> Opened:
    """A value that a program holds, as if it had been read from a document of this name.

    Raises:
        TraceError: of no known dialect or of two.
        NoDataError: an empty list.
    """
    return Opened(Path(name), dialect or _detect_document(value, Place(name)), value, is_lines=False)


def _detect_packed(container: Container, path: Path) -> Dialect:
    """The dialect of the first record that any knows: recorded traffic begins with requests that are no model's."""
    first: Record | None = None
    for value, place in container.records(path):
        if any(dialect.detect(value) for dialect in registry.DIALECTS.values()):
            return registry.detect(value, place)
        first = first or (value, place)
    if first is None:
        raise files.is_empty(path)
    return registry.detect(*first)


def _is_line(first: bytes) -> bool:
    """Whether a file is JSON Lines: its first line is not the opening of a list, or of an object spread over lines."""
    spread = first == b"{" or first[-1:] in (b"{", b"[", b",")
    return first[:1] != b"[" and not (first[:1] == b"{" and spread)


def _detect_document(value: JsonValue, place: Place) -> Dialect:
    if isinstance(value, list):
        whole = [d for d in registry.DIALECTS.values() if d.whole_list and d.detect(value)]
        if len(whole) == 1:
            return whole[0]
        if not value:
            raise NoDataError("the list is empty: nothing to grade", place=place, hint="record at least one trace")
        return registry.detect(value[0], Place(place.file, None, None, "$[0]"))
    return registry.detect(value, place)


def read(opened: Opened, report: ReadingReport | None = None) -> Iterator[Trace]:
    """Every trace of a file, in order; what was skipped is counted in `report`.

    Raises:
        TraceError: a line that is not JSON, or a bad record of a native file.
    """
    report = report if report is not None else ReadingReport()
    report.dialect = opened.dialect.name
    for item, _ in items(opened):
        if isinstance(item, Skip):
            report.skip(item)
        else:
            report.trace(item)
            yield item


def items(opened: Opened) -> Iterator[tuple[Trace | Skip, Place]]:
    """Every trace and every skip of a file with the place of its record, in order."""
    yield from items_of([opened])


def items_of(opened: list[Opened]) -> Iterator[tuple[Trace | Skip, Place]]:
    """The same for several files; those of one dialect whose traces are spread over records are read together."""
    done: set[int] = set()
    for place, one in enumerate(opened):
        if place in done:
            continue
        if one.dialect.grouped is not None:
            together = [index for index, other in enumerate(opened) if other.dialect is one.dialect]
            done.update(together)
            bad: list[Skip] = []
            yield from one.dialect.grouped(record for index in together for record in records(opened[index], bad))
            yield from ((skip, skip.place) for skip in bad)
        elif one.can_be_cut:
            with files.open_bytes(one.path) as stream:
                for block in files.blocks(stream, one.path):
                    yield from read_block(block, str(one.path), one.dialect)
        else:
            for value, where in records(one):
                for item in one.dialect.traces(value, where):
                    yield item, where


def records(opened: Opened, bad: list[Skip] | None = None) -> Iterator[Record]:
    """The decoded records of a file with their places; `bad` takes the lines that are not JSON.

    Raises:
        TraceError: a line that is not JSON, where `bad` is not given.
    """
    file = str(opened.path)
    if opened.container is not None:
        yield from opened.container.records(opened.path)
    elif opened.is_lines:
        with files.open_bytes(opened.path) as stream:
            for block in files.blocks(stream, opened.path):
                for number, line in files.lines(block):
                    place = Place(file, number)
                    try:
                        value = jsontext.decode(line, place)
                    except TraceError as error:
                        if bad is None:
                            raise
                        bad.append(Skip(error.code, error.message, error.place))
                        continue
                    yield value, place
    else:
        value = opened.document
        whole = not isinstance(value, list) or (opened.dialect.whole_list and opened.dialect.detect(value))
        rows = (
            [(value, Place(file))] if whole else [(v, Place(file, None, None, f"$[{i}]")) for i, v in enumerate(value)]
        )
        yield from rows


def read_block(block: files.Block, file: str, dialect: Dialect) -> Iterator[tuple[Trace | Skip, Place]]:
    """The traces of some whole lines: what one worker does."""
    for number, line in files.lines(block):
        place = Place(file, number)
        if dialect is native.DIALECT:
            yield native.read_line(line, place), place
        else:
            try:
                value = jsontext.decode(line, place)
            except TraceError as error:
                yield Skip(error.code, error.message, error.place), place
                continue
            for item in dialect.traces(value, place):
                yield item, place


def load_traces(path: str | Path, dialect: str = "auto") -> list[Trace]:
    """Read every trace of a file into a list.

    Args:
        path: JSON Lines, a JSON document, either packed as `.gz` or `.zst`, or a container.
        dialect: `auto`, or the name of a reader.

    Raises:
        TraceError: the file cannot be read; a bad record of a native file.
        NoDataError: the file is empty.
    """
    return list(read(open_traces(path, dialect)))

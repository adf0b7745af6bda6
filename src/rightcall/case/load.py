"""Cases from files: the one module of this room that opens any.

A suite of cases may be as large as the traces are many, so JSON Lines is read line by line and a case is known by
where it stands (`Where`), not kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, Raw

from rightcall.case.foreign import foreign_cases
from rightcall.case.parse import parse_cases, read_case
from rightcall.errors import CaseError, ConfigError, NoDataError, Place, TraceError
from rightcall.trace import jsontext
from rightcall.trace.catalog import parse_tools
from rightcall.trace.sources import files
from rightcall.trace.sources.dialect import Skip

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rightcall.case.case import Case
    from rightcall.trace.model import Tool


@dataclass(frozen=True, slots=True)
class Where:
    """Where the text of a case stands in an unpacked JSON Lines file."""

    offset: int
    size: int


def load_cases(path: str | Path) -> list[Case]:
    """Read every case of a file: JSONL, JSON, TOML or YAML, or a benchmark's own file (τ-bench, τ²-bench, BFCL).

    A case's `tools` that names a file is replaced by that file's tools (the path is relative to the case's file).

    Raises:
        CaseError: a case that cannot be read, an id that stands twice with different content.
        NoDataError: the file holds no case.
    """
    return [case for case, _, _ in iter_cases(path)]


def iter_cases(
    path: str | Path, tools: tuple[Tool, ...] | None = None, skips: list[Skip] | None = None
) -> Iterator[tuple[Case, Place, Where | None]]:
    """Every case of a file with its place, catalogs loaded, ids checked.

    Args:
        path: the file.
        tools: the suite's catalog; a benchmark that writes positional arguments needs their names.
        skips: takes the records of a benchmark's file that hold no readable case; without it the first one raises.

    Raises:
        CaseError, NoDataError: see `load_cases`.
    """
    where = Path(path)
    seen: dict[str, tuple[int, int | None]] = {}
    for case, place, text in _read(where, tools, skips):
        if case.id in seen:
            if seen[case.id][0] == _fingerprint(case):
                continue  # the same golden again, as in a file that repeats it for every trial
            raise duplicate(case.id, place, Place(place.file, seen[case.id][1]))
        seen[case.id] = (_fingerprint(case), place.line)
        yield with_tools(case, place, where.parent), place, text
    if not seen:
        raise NoDataError("no case in this file", place=Place(str(where)), hint="write at least one case")


def _fingerprint(case: Case) -> int:
    """Equal for equal cases: cheaper than the canonical digest, and never shown or kept."""
    return hash(jsontext.encode(case))


def duplicate(case_id: str, place: Place, other: Place) -> CaseError:
    """The error for a case id that stands twice."""
    return CaseError(
        f"case id `{case_id}` stands twice (also at {other})", code="CASE_DUPLICATE_ID", place=place,
        hint="give each case an id of its own",
    )  # fmt: skip


def _read(
    path: Path, tools: tuple[Tool, ...] | None, skips: list[Skip] | None
) -> Iterator[tuple[Case, Place, Where | None]]:
    try:
        if path.suffix == ".jsonl" and not _is_foreign(path):
            yield from _lines(path)
            return
        data = files.read_document(path)
    except TraceError as error:
        code = "CASE_NO_FILE" if error.code == "TRACE_NO_FILE" else error.code
        raise CaseError(error.message, code=code, place=error.place, hint=error.hint) from None
    if not data.strip():
        raise _empty(path)
    name = str(path).removesuffix(".gz").removesuffix(".zst")
    foreign = foreign_cases(data, name, _parameters(tools))
    for case, place in foreign if foreign is not None else parse_cases(data, name):
        if not isinstance(case, Skip):
            yield case, place, None
        elif skips is None:
            raise CaseError(case.message, place=case.place)
        else:
            skips.append(case)


def _parameters(tools: tuple[Tool, ...] | None) -> dict[str, list[str]] | None:
    """Parameter names of each tool, in the order of its schema."""
    return None if tools is None else {tool.name: list((tool.parameters or {}).get("properties", {})) for tool in tools}


def _is_foreign(path: Path) -> bool:
    """Whether a JSON Lines file is a benchmark's own: its first line tells."""
    with files.open_bytes(path) as stream:
        head = next(files.blocks(stream, path), None)
    first = next(files.lines(head), None) if head else None
    return first is not None and foreign_cases(first[1], str(path)) is not None


def _lines(path: Path) -> Iterator[tuple[Case, Place, Where | None]]:
    """Cases line by line, with where each stands."""
    with files.open_bytes(path) as stream:
        offset, number, found = 0, 1, False
        for raw in stream:
            text = raw.removeprefix(b"\xef\xbb\xbf").strip() if number == 1 else raw.strip()
            if text:
                place = Place(str(path), number)
                start = offset + raw.index(text)
                yield read_case(text, place), place, Where(start, len(text))
            found = found or bool(text)
            offset, number = offset + len(raw), number + 1
    if not found:
        raise _empty(path)


def _empty(path: Path) -> NoDataError:
    return NoDataError("the file is empty: no case to grade against", place=Place(str(path)))


def with_tools(case: Case, place: Place, folder: Path) -> Case:
    """The case with its catalog in place: a `tools` that is a text is the path of a file."""
    if case.tools_json is UNSET or bytes(case.tools_json)[:1] != b'"':
        return case
    name = jsontext.decode(bytes(case.tools_json), place)
    tools = load_tools(folder / name, place)
    return msgspec.structs.replace(case, tools_json=Raw(jsontext.encode(tools)))


def load_tools(path: str | Path, place: Place | None = None) -> tuple[Tool, ...]:
    """Read a catalog file: a JSON list of tools, or an MCP `tools/list` answer.

    Raises:
        ConfigError: missing, not JSON, a tool that is none, a name that stands twice.
    """
    where = Path(path)
    try:
        data = files.read_document(where)
        value = jsontext.decode(data, Place(str(where)))
    except TraceError as error:
        named = f" (named at {place})" if place and str(place) else ""
        raise ConfigError(
            f"catalog: {error.message}{named}", place=error.place, hint=error.hint, code="CONFIG_TOOL_INVALID"
        ) from None
    return parse_tools(value, Place(str(where)))

"""Cases in benchmarks' own files: recognising the file, and reading every record of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rightcall.case.sources import bfcl
from rightcall.case.sources.registry import SOURCES
from rightcall.errors import CaseError, Place, TraceError
from rightcall.trace import jsontext

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rightcall.case.case import Case
    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.sources.dialect import Skip

_MARKS = (
    b'"ground_truth"', b'"traj"', b'"simulations"', b'"evaluation_criteria"', b'"outputs"', b'"eval_cases"',
    b'"evalCases"', b'"eval_id"', b'"evalId"', b'"expected_tool_use"', b'"question"', b'"answers"', b'"expected_tools"',
    b'"expectedTools"',
)  # fmt: skip


def foreign_cases(
    data: bytes, file: str, parameters: Mapping[str, Sequence[str]] | None = None
) -> Iterator[tuple[Case | Skip, Place]] | None:
    """The cases of a benchmark's file; `None` where the file is not one.

    Args:
        data: the file's content, or its first line.
        file: its name, for places.
        parameters: tool name -> parameter names in order, for calls that are written with positional arguments.
    """
    if file.endswith((".csv", ".toml", ".yaml", ".yml")) or not any(mark in data for mark in _MARKS):
        return None
    try:
        records = list(_records(data, file))
    except TraceError:
        return None  # the reader of rightcall's own format says what is wrong, with its place
    name = next((n for n, s in SOURCES.items() if records and s.detect(records[0][0])), None)
    return None if name is None else _all(name, records, parameters)


def _records(data: bytes, file: str) -> Iterator[tuple[JsonValue, Place]]:
    text = data.strip()
    first = text.split(b"\n", 1)[0].strip()
    if first[:1] == b"{" and first[-1:] == b"}" and first != text:
        for number, line in enumerate(data.split(b"\n"), 1):
            if line.strip():
                yield jsontext.decode(line, Place(file, number)), Place(file, number)
        return
    yield jsontext.decode(text, Place(file)), Place(file)


def _all(
    name: str, records: list[tuple[JsonValue, Place]], parameters: Mapping[str, Sequence[str]] | None
) -> Iterator[tuple[Case | Skip, Place]]:
    for value, place in records:
        try:
            found = bfcl.cases(value, place, parameters) if name == "bfcl" else SOURCES[name].cases(value, place)
            for item in found:
                yield item, place
        except TraceError as error:
            raise CaseError(error.message, place=error.place, hint=error.hint, code=error.code) from None

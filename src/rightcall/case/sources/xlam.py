"""Cases from xLAM and APIGen rows: the answers of a row are its golden calls, in any order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Raw

from rightcall.case.case import Case, Expect, GoldenCall
from rightcall.case.sources.tau import golden_call
from rightcall.errors import CaseError, ConfigError, Place, TraceError
from rightcall.trace.sources import xlam
from rightcall.trace.sources.conversation import mapping, read_arguments, text_or_none
from rightcall.trace.sources.dialect import Skip

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rightcall.trace.jsontext import JsonValue


def detect(value: JsonValue) -> bool:
    """Whether this is a row, or a list that begins with one."""
    return xlam.detect(value[0] if isinstance(value, list) and value else value)


def cases(value: JsonValue, place: Place) -> Iterator[Case | Skip]:
    """The case of one row, or of every row of a list."""
    if not isinstance(value, list):
        yield _case(value, place)
        return
    for index, row in enumerate(value):
        yield _case(row, Place(place.file, place.line, None, f"{place.path or '$'}[{index}]"))


def _case(value: JsonValue, place: Place) -> Case | Skip:
    row = mapping(value)
    if not isinstance(row.get("query"), str):
        return Skip("CASE_INVALID", "the row has no text as its `query`", place)
    found = xlam.answers(row, place)
    if isinstance(found, Skip):
        return Skip("CASE_INVALID", found.message, place)
    try:
        calls, tools = tuple(map(_golden, found)), xlam.catalog(row, place)
    except (CaseError, ConfigError, TraceError) as error:
        return Skip("CASE_INVALID", error.message, place)
    return Case(
        id=xlam.row_id(row, place),
        request=row["query"],
        tools_json=tools,
        expect=Expect(calls=calls, order="any"),
    )


def _golden(value: JsonValue) -> GoldenCall:
    call = mapping(value)
    name = text_or_none(call.get("name"))
    written = read_arguments(call.get("arguments"))
    raw = written.get("arguments_json")
    if not name or not isinstance(raw, Raw):
        raise CaseError("an answer needs a `name` and an object of `arguments`")
    return golden_call(name, mapping(xlam.unpacked(bytes(raw).decode())))

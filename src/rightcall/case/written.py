"""Records in files that people write: the JSON text of each, with its place, out of JSON, TOML or YAML.

TOML and YAML are turned into JSON values and decoded by the same types as JSON Lines, so that a record means the same
in each. Whatever is wrong is said with the file, the line where it can be found, and the nearest valid name.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec

from rightcall.errors import CaseError, Place, TraceError
from rightcall.trace import jsontext
from rightcall.trace.explain import Fault, explain

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from rightcall.trace.jsontext import JsonValue

S = TypeVar("S", bound=msgspec.Struct)


class Written(NamedTuple):
    """One record: its JSON text, where it stands, and the TOML or YAML text that it was made from (else empty)."""

    data: bytes
    place: Place
    source: str = ""


def read_record(kind: type[S], record: Written) -> S:
    """Decode one record.

    Raises:
        CaseError: every fault, with JSON path, line where it can be found, and the nearest valid name.
    """
    try:
        jsontext.check_depth(record.data, record.place)
        found: S = _decoder(kind).decode(record.data)
    except TraceError as error:
        raise CaseError(error.message, code=error.code, place=error.place, hint=error.hint) from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise _refusal(kind, record, error) from None
    return found


@cache
def _decoder(kind: type[S]) -> msgspec.json.Decoder[S]:
    return msgspec.json.Decoder(kind)


def _refusal(kind: type[msgspec.Struct], record: Written, error: Exception) -> CaseError:
    place = record.place
    faults: list[Fault] = []
    if isinstance(error, msgspec.ValidationError):
        faults = explain(kind, jsontext.decode(record.data, place), place.path or "$")
    if not faults:
        broken = jsontext.malformed(record.data, error, place)
        return CaseError(broken.message, place=broken.place, hint=broken.hint)
    first, *others = faults
    more = f" (and {len(others)} more: {'; '.join(map(str, others[:3]))})" if others else ""
    code = "CASE_UNKNOWN_FIELD" if first.message.startswith("unknown field") else "CASE_INVALID"
    return CaseError(first.message + more, code=code, place=place_of(record, first.path), hint=first.hint)


def place_of(record: Written, path: str) -> Place:
    """Where a part of a record stands: on the record's line, or where its key is written if that is one place."""
    place = record.place
    key_line = line_of(record.source, path.rsplit(".", 1)[-1]) if record.source else None
    return Place(place.file, key_line or place.line, None, path)


def line_of(source: str, key: str) -> int | None:
    """The line of a TOML or YAML text on which a key is written, if it is written exactly once."""
    pattern = re.compile(rf'(?:^|[\s{{,.\[])["\']?{re.escape(key)}["\']?\s*(?:[=:]|\]|\.)')
    found = [number for number, line in enumerate(source.splitlines(), 1) if pattern.search(line)]
    return found[0] if len(found) == 1 else None


def documents(data: bytes, file: str, tables: Collection[str]) -> Iterator[Written]:
    """The records of a file that is one document: a record, a list of them, or a list under one of the keys `tables`.

    Args:
        data: the file's content.
        file: its name; the suffix before `.gz` or `.zst` tells the format.
        tables: keys that may hold the list, alone in the document.

    Raises:
        CaseError: the text cannot be read, or holds what JSON cannot say.
    """
    name = unpacked_name(file)
    if name.endswith(".toml"):
        source = _text(data, file)
        value = _toml(source, file)
    elif name.endswith((".yaml", ".yml")):
        source = _text(data, file)
        value = load_yaml(source, file)
    else:
        source, value = "", _json(data, file)
    if isinstance(value, dict) and len(value) == 1 and (key := next(iter(value))) in tables:
        value = value[key] if isinstance(value[key], list) else value
    is_list = isinstance(value, list)
    lines = _lines_of_ids(source)
    for index, row in enumerate(value if is_list else [] if value in (None, {}) else [value]):
        line = lines.get(str(row.get("id"))) if isinstance(row, dict) else None
        place = Place(file, line, None, f"$[{index}]" if is_list else "$")
        yield Written(_encoded(row, place), place, source)


def unpacked_name(file: str) -> str:
    """A file's name without the suffix of its packing."""
    return file.removesuffix(".gz").removesuffix(".zst")


def _text(data: bytes, file: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CaseError(f"not UTF-8 at byte {error.start}", place=Place(file)) from None


def _toml(text: str, file: str) -> JsonValue:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason, place = toml_fault(error, text, file)
        raise CaseError(f"not valid TOML: {reason}", place=place) from None
    except RecursionError:
        raise CaseError("nested too deep", place=Place(file), code="TRACE_TOO_DEEP") from None


def toml_fault(error: tomllib.TOMLDecodeError, text: str, file: str) -> tuple[str, Place]:
    """What is wrong with a TOML text, and where: the reader names no line for what it meets at the end."""
    reason, _, where = str(error).partition(" (at ")
    found = re.match(r"line (\d+), column (\d+)", where)
    if found:
        return reason, Place(file, int(found[1]), int(found[2]))
    return reason, Place(file, text.rstrip().count("\n") + 1)


def load_yaml(text: str, file: str) -> JsonValue:
    """A YAML text as JSON values: YAML 1.2, no tags, no anchors, no duplicate keys.

    Raises:
        CaseError: with line and column.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    reader = YAML(typ="safe", pure=True)
    reader.allow_duplicate_keys = False
    try:
        _refuse_unsafe(reader.parse(text), file)
        documents = list(reader.load_all(text))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Place(file, mark.line + 1, mark.column + 1) if mark else Place(file)
        reason = (error.problem or str(error)).splitlines()[0]
        raise CaseError(f"not valid YAML: {reason}", place=place) from None
    except RecursionError:
        raise CaseError("nested too deep", place=Place(file), code="TRACE_TOO_DEEP") from None
    except (YAMLError, ValueError) as error:
        raise CaseError(f"not valid YAML: {str(error).splitlines()[0]}", place=Place(file)) from None
    return documents[0] if len(documents) == 1 else documents


def _refuse_unsafe(events: Iterable[Any], file: str) -> None:
    """Raise for an anchor, an alias or a tag, and for nesting that would take the reader ages and then its stack."""
    depth = 0
    for event in events:
        place = Place(file, event.start_mark.line + 1, event.start_mark.column + 1)
        anchor, tag = getattr(event, "anchor", None), getattr(event, "tag", None)
        if anchor or tag:
            what = f"anchor or alias `{anchor}`" if anchor else f"tag `{tag}`"
            raise CaseError(f"{what} is outside the safe subset of YAML", place=place, hint="write the value out")
        kind = type(event).__name__
        depth += kind in ("SequenceStartEvent", "MappingStartEvent")
        depth -= kind in ("SequenceEndEvent", "MappingEndEvent")
        # A list of cases under a key is not part of a case, whose own depth is checked exactly.
        if depth > jsontext.MAX_DEPTH + 2:
            raise CaseError(
                f"nested more than {jsontext.MAX_DEPTH} levels deep", place=place, code="TRACE_TOO_DEEP",
                hint="flatten the value",
            )  # fmt: skip


def _json(data: bytes, file: str) -> JsonValue:
    try:
        return jsontext.decode(data, Place(file))
    except TraceError as error:
        code = "CASE_INVALID" if error.code == "TRACE_MALFORMED" else error.code
        raise CaseError(error.message, code=code, place=error.place, hint=error.hint) from None


_ID = re.compile(r"""(?:^|[\s{,])["']?id["']?\s*[=:]\s*["']?(.+?)["']?\s*(?:$|[,}#])""")


def _lines_of_ids(source: str) -> dict[str, int | None]:
    """Line by id in a TOML or YAML text; `None` where an id is written more than once."""
    found: dict[str, int | None] = {}
    for number, line in enumerate(source.splitlines(), 1):
        for name in _ID.findall(line):
            found[name] = None if name in found else number
    return found


def _encoded(row: JsonValue, place: Place) -> bytes:
    try:
        if _is_finite(row):
            return msgspec.json.encode(row)  # dates become their text
    except (TypeError, ValueError, RecursionError) as error:
        raise CaseError(f"not a JSON value: {error}", place=place) from None
    raise CaseError("not a JSON value: NaN and infinity cannot be compared", place=place)


def _is_finite(value: JsonValue) -> bool:
    """Whether no number in a value is a NaN or an infinity, which TOML and YAML can write and JSON cannot."""
    if isinstance(value, float):
        return isfinite(value)
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    return all(map(_is_finite, value)) if isinstance(value, list) else True

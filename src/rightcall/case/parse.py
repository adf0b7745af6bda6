"""Cases from text: JSON Lines, JSON, TOML, YAML or CSV, all through one door.

TOML and YAML are turned into JSON values and read by the same decoder as JSON Lines, so that a case means the same in
each. YAML is the safe subset of YAML 1.2: no tags, no anchors, no duplicate keys (`no` is a text).
"""

from __future__ import annotations

import re
import tomllib
from datetime import date, datetime, time
from math import isfinite
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.case.case import Case
from rightcall.case.sources.csv_cases import csv_cases
from rightcall.errors import CaseError, Place, RightcallError, TraceError
from rightcall.trace import jsontext
from rightcall.trace.explain import explain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rightcall.trace.jsontext import JsonValue

_decode = msgspec.json.Decoder(Case).decode
SUFFIXES = (".jsonl", ".json", ".toml", ".yaml", ".yml", ".csv")


def read_case(data: bytes, place: Place, source: str = "") -> Case:
    """Read one case from its JSON text.

    Args:
        data: one JSON object.
        place: where it was written.
        source: the text of a TOML or YAML file that the JSON was made from, to find the line of a fault.

    Raises:
        CaseError: every fault, with JSON path, line where it can be found, and the nearest valid name.
    """
    try:
        jsontext.check_depth(data, place)
        return _decode(data)
    except TraceError as error:
        raise CaseError(error.message, code=error.code, place=error.place, hint=error.hint) from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise _refusal(data, error, place, source) from None


def _refusal(data: bytes, error: Exception, place: Place, source: str) -> CaseError:
    faults = []
    if isinstance(error, msgspec.ValidationError):
        faults = explain(Case, jsontext.decode(data, place), place.path or "$")
    if not faults:
        broken = jsontext.malformed(data, error, place)
        return CaseError(broken.message, place=broken.place, hint=broken.hint, code="CASE_INVALID")
    first = faults[0]
    unknown = first.message.startswith("unknown field")
    more = f" (and {len(faults) - 1} more: {'; '.join(map(str, faults[1:4]))})" if faults[1:] else ""
    line = place.line or line_of(source, first.path.rsplit(".", 1)[-1])
    return CaseError(
        first.message + more, code="CASE_UNKNOWN_FIELD" if unknown else "CASE_INVALID",
        place=Place(place.file, line, None, first.path), hint=first.hint,
    )  # fmt: skip


def line_of(source: str, key: str) -> int | None:
    """The line of a TOML or YAML text on which a key is written, if it is written exactly once."""
    pattern = re.compile(rf'(?:^|[\s{{,.\[])["\']?{re.escape(key)}["\']?\s*(?:[=:]|\]|\.)')
    found = [number for number, line in enumerate(source.splitlines(), 1) if pattern.search(line)]
    return found[0] if len(found) == 1 else None


def parse_cases(data: bytes, file: str) -> Iterator[tuple[Case, Place]]:
    """Every case of a file with the place where it stands. The format follows the file's suffix.

    Raises:
        CaseError: the text cannot be read, or a case in it cannot.
    """
    suffix = "." + file.rsplit(".", 1)[-1].lower() if "." in file else ""
    if suffix == ".toml":
        yield from _toml(data, file)
    elif suffix in (".yaml", ".yml"):
        yield from _yaml(data, file)
    elif suffix == ".csv":
        yield from csv_cases(data, file)
    elif suffix == ".json":
        yield from _documents(_json(data, file), file)
    elif suffix and suffix not in SUFFIXES:
        raise CaseError(
            f"cases are not read from `{suffix}`", place=Place(file),
            hint=f"name it {', '.join(SUFFIXES)}",
        )  # fmt: skip
    else:
        for number, line in enumerate(data.split(b"\n"), 1):
            if line.strip():
                place = Place(file, number)
                yield read_case(line, place), place


def _json(data: bytes, file: str) -> JsonValue:
    try:
        return jsontext.decode(data, Place(file))
    except TraceError as error:
        code = "CASE_INVALID" if error.code == "TRACE_MALFORMED" else error.code
        raise CaseError(error.message, code=code, place=error.place, hint=error.hint) from None


def _toml(data: bytes, file: str) -> Iterator[tuple[Case, Place]]:
    text = _text(data, file)
    try:
        value = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason, place = toml_fault(error, text, file)
        raise CaseError(f"not valid TOML: {reason}", place=place) from None
    except RecursionError:
        raise CaseError("nested too deep", place=Place(file), code="TRACE_TOO_DEEP") from None
    if not value:
        return
    if isinstance(value.get("case"), list) and len(value) == 1:
        value = value["case"]
    yield from _documents(value, file, text)


def toml_fault(error: tomllib.TOMLDecodeError, text: str, file: str) -> tuple[str, Place]:
    """What is wrong with a TOML text, and where: the reader names no line for what it meets at the end."""
    reason, _, where = str(error).partition(" (at ")
    found = re.match(r"line (\d+), column (\d+)", where)
    if found:
        return reason, Place(file, int(found[1]), int(found[2]))
    return reason, Place(file, text.rstrip().count("\n") + 1)


def _text(data: bytes, file: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CaseError(f"not UTF-8 at byte {error.start}", place=Place(file)) from None


def _yaml(data: bytes, file: str) -> Iterator[tuple[Case, Place]]:
    text = _text(data, file)
    yield from _documents(load_yaml(text, file), file, text)


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


def _documents(value: JsonValue, file: str, source: str = "") -> Iterator[tuple[Case, Place]]:
    if isinstance(value, dict) and isinstance(value.get("cases"), list) and len(value) == 1:
        value = value["cases"]
    rows = value if isinstance(value, list) else [value]
    numbers = _lines_of_ids(source)
    for index, row in enumerate(rows):
        path = f"$[{index}]" if isinstance(value, list) else "$"
        place = Place(file, numbers.get(str(row.get("id"))) if isinstance(row, dict) else None, None, path)
        try:
            data = _encoded(row)
        except (TypeError, ValueError, RecursionError, RightcallError) as error:
            raise CaseError(f"not a JSON value: {error}", place=place) from None
        yield read_case(data, Place(file, None, None, path), source), place


def _encoded(row: JsonValue) -> bytes:
    if not _is_finite(row):
        raise ValueError("NaN and infinity cannot be compared")
    return msgspec.json.encode(row, enc_hook=_plain)


_ID = re.compile(r"""(?:^|[\s{,])["']?id["']?\s*[=:]\s*["']?(.+?)["']?\s*(?:$|[,}#])""")


def _lines_of_ids(source: str) -> dict[str, int | None]:
    """Line by id in a TOML or YAML text; `None` where an id is written more than once."""
    found: dict[str, int | None] = {}
    for number, line in enumerate(source.splitlines(), 1):
        for name in _ID.findall(line):
            found[name] = None if name in found else number
    return found


def _is_finite(value: JsonValue) -> bool:
    """Whether no number in a value is a NaN or an infinity, which TOML and YAML can write and JSON cannot."""
    if isinstance(value, float):
        return isfinite(value)
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    return all(map(_is_finite, value)) if isinstance(value, list) else True


def _plain(value: Any) -> str:
    if isinstance(value, (date, datetime, time)):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no JSON form")

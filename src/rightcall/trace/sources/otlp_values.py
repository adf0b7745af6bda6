"""Values as OpenTelemetry's exporters write them: ids, times, integers and attributes, in any of their spellings.

Ids become lower-case hexadecimal, times whole nanoseconds since 1970, integers exact also where 64 bits are text.
"""

from __future__ import annotations

import base64
import binascii
import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from rightcall.trace.sources.conversation import mapping, text_or_none

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rightcall.trace.jsontext import JsonValue


def first(value: Mapping[str, JsonValue], *names: str) -> JsonValue:
    """The value of the first of these names that has one; `None` if none has."""
    return next((value[name] for name in names if value.get(name) is not None), None)


_HEX = re.compile(r"(?:0x)?((?:[0-9a-f]{16}){1,2})", re.IGNORECASE)
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{22}==|[A-Za-z0-9+/_-]{11}=")


def identifier(value: JsonValue) -> str | None:
    """An id of 8 or 16 bytes in lower-case hexadecimal; other text as it is; `None` for none and for zeros."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip("0"):
        return None
    if found := _HEX.fullmatch(value):
        text = found[1].lower()
        return text if text.strip("0") else None
    if _BASE64.fullmatch(value):
        text = base64.b64decode(value.replace("-", "+").replace("_", "/")).hex()
        return text if text.strip("0") else None
    return value


_TIMESTAMP = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?(Z|[+-]\d\d:?\d\d)?")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def nanoseconds(value: JsonValue) -> int | None:
    """A time in whole nanoseconds since 1970: a count, a pair of seconds and nanoseconds, or ISO 8601 (else in UTC)."""
    if isinstance(value, list):
        parts = [whole(part) for part in value]
        return parts[0] * 10**9 + parts[1] if len(parts) == 2 and None not in parts else None  # type: ignore[operator]
    if (number := whole(value)) is not None:
        return number
    found = _TIMESTAMP.fullmatch(value) if isinstance(value, str) else None
    if not found:
        return None
    try:
        moment = datetime.fromisoformat(f"{found[1]}T{found[2]}{found[4] or 'Z'}")
        return (moment - _EPOCH) // timedelta(seconds=1) * 10**9 + int((found[3] or "0").ljust(9, "0"))
    except (ValueError, OverflowError):
        return None


def instant(at: int | None) -> str | None:
    """Nanoseconds since 1970 as ISO 8601 in UTC, exact; `None` where there is no such time."""
    if at is None or not 0 <= at < 253_402_300_800 * 10**9:
        return None
    seconds, fraction = divmod(at, 10**9)
    digits = f"{fraction:09d}".rstrip("0")
    moment = (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S")
    return f"{moment}.{digits}Z" if digits else f"{moment}Z"


def whole(value: JsonValue) -> int | None:
    """A whole number, also where 64 bits are written as text."""
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,20}", value):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def attributes_of(value: JsonValue) -> tuple[dict[str, JsonValue], tuple[str, ...]]:
    """Attributes by name, and the names of those that could not be decoded."""
    if isinstance(value, dict):
        return value, ()
    if not isinstance(value, list):
        return {}, () if value is None else ("attributes",)
    found: dict[str, JsonValue] = {}
    odd = []
    for pair in value:
        key = text_or_none(mapping(pair).get("key"))
        decoded, faults = any_value(mapping(pair).get("value"))
        if key is None or faults:
            odd.append(key or "attributes")
        else:
            found[key] = decoded
    return found, tuple(odd)


def any_value(value: JsonValue) -> tuple[JsonValue, int]:
    """The plain value of an OTLP `AnyValue`, and how many faults were in it."""
    if value is None or value == {}:
        return None, 0
    if not isinstance(value, dict) or len(value) != 1:
        return None, 1
    ((kind, content),) = value.items()
    read = _VALUES.get(kind)
    return read(content) if read else (None, 1)


def _typed(*types: type) -> Callable[[JsonValue], tuple[JsonValue, int]]:
    def read(content: JsonValue) -> tuple[JsonValue, int]:
        return (content, 0) if type(content) in types else (None, 1)

    return read


def _integer(content: JsonValue) -> tuple[JsonValue, int]:
    number = whole(content)
    return number, int(number is None)


def _bytes(content: JsonValue) -> tuple[JsonValue, int]:
    try:
        base64.b64decode(content if isinstance(content, str) else "?", validate=True)
    except (binascii.Error, ValueError):
        return None, 1
    return content, 0


def _array(content: JsonValue) -> tuple[JsonValue, int]:
    values = mapping(content).get("values", [])
    if not isinstance(values, list):
        return None, 1
    read = [any_value(item) for item in values]
    return [item for item, _ in read], sum(faults for _, faults in read)


def _pairs(content: JsonValue) -> tuple[JsonValue, int]:
    found, odd = attributes_of(mapping(content).get("values", []))
    return found, len(odd)


_VALUES: dict[str, Callable[[JsonValue], tuple[JsonValue, int]]] = {}
for _name, _read in (
    ("string", _typed(str)),
    ("bool", _typed(bool)),
    ("double", _typed(int, float, str)),  # NaN and infinities are text in protobuf's JSON, and stay text
    ("int", _integer),
    ("bytes", _bytes),
    ("array", _array),
    ("kvlist", _pairs),
):
    _VALUES[f"{_name}Value"] = _VALUES[f"{_name}_value"] = _read

"""Python values as JSON values, for what passes between an agent and its tools. Nothing is guessed or rounded.

As they are: `None`, booleans, integers, finite floats, text, lists, tuples, and mappings with text keys. By their own
fields: dataclasses, msgspec structs, named tuples, and whatever has `model_dump` (pydantic). By their usual JSON text:
dates and times, UUIDs, decimals, paths. An `Enum` counts as its value. Everything else (NaN, bytes, sets, open files,
objects) is not JSON.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from math import isfinite
from pathlib import PurePath
from typing import TYPE_CHECKING
from uuid import UUID

import msgspec

from rightcall.trace.jsontext import MAX_DEPTH

if TYPE_CHECKING:
    from rightcall.trace.jsontext import JsonValue


class NotJson(ValueError):
    """A value that JSON has no form for."""


def plain(value: object, depth: int = 0) -> JsonValue:
    """The value as JSON has it.

    Raises:
        NotJson: it has no such form, or is nested too deep.
    """
    if depth > MAX_DEPTH:
        raise NotJson(f"nested more than {MAX_DEPTH} levels deep")
    if isinstance(value, Enum):
        return plain(value.value, depth + 1)
    if value is None or isinstance(value, (bool, int, str)):
        return _scalar(value)
    if isinstance(value, float):
        return _finite(value)
    if isinstance(value, Mapping):
        return {_key(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)) and not hasattr(value, "_asdict"):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, (UUID, Decimal, PurePath)):
        return str(value)
    return _fields(value, depth)


def _scalar(value: bool | int | str | None) -> JsonValue:  # noqa: FBT001 - a value, not a flag
    """The value itself; of a subclass, what it is a kind of."""
    if isinstance(value, str):
        if not _is_text(value):
            raise NotJson("a text with half a surrogate pair")
        return str.__str__(value)
    return value if value is None or isinstance(value, bool) else int(value)


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _finite(value: float) -> float:
    if not isfinite(value):
        raise NotJson(f"the number {value}")
    return float(value)


def _key(key: object) -> str:
    if not isinstance(key, str) or isinstance(key, Enum) or not _is_text(key):
        raise NotJson(f"the key {key!r}, which is no text")
    return str.__str__(key)


def _fields(value: object, depth: int) -> JsonValue:
    dump = getattr(value, "model_dump", None)
    if callable(dump) and not isinstance(value, type):
        return plain(dump(mode="json"), depth + 1)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [one.name for one in dataclasses.fields(value)]
        return {name: plain(getattr(value, name), depth + 1) for name in names}
    if isinstance(value, msgspec.Struct):
        return plain(msgspec.to_builtins(value), depth + 1)
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return plain(value._asdict(), depth + 1)
    raise NotJson(f"a value of type {type(value).__name__}")

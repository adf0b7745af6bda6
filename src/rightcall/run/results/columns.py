"""Results as rows of a table: flat columns whose names, types and order follow from the result's type alone.

A field is a column. The fields of a figure inside (`metrics`, `size_a` …) are columns of their own, `metrics.overall`.
Whatever is nested deeper than that, or has no one type, is JSON. So a table without a row has the same columns as one
with rows, and a value stands where `--json` has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import inspect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

Kind = Literal["text", "integer", "number", "flag", "json"]
"""What a column holds. `json`: any JSON value, in a table as its text."""


@dataclass(frozen=True)
class Columns:
    """The columns of one type of result.

    Attributes:
        kinds: name -> what it holds, in order.
        paths: where each value stands in the result.
    """

    kinds: Mapping[str, Kind]
    paths: tuple[tuple[str, ...], ...]

    def cells(self, plain: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """Name and value of each column of a result, given as plain values; `None` where it has none."""
        for name, path in zip(self.kinds, self.paths, strict=True):
            value: Any = plain
            for key in path:
                value = value.get(key) if isinstance(value, dict) else None
            yield name, value


@lru_cache(maxsize=64)
def columns_of(kind: type[msgspec.Struct]) -> Columns:
    """The columns of a type of result."""
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)  # noqa: S101 - a result is a struct
    found = list(_fields(info, ()))
    return Columns({".".join(path): what for path, what in found}, tuple(path for path, _ in found))


def _fields(info: inspect.StructType, above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Kind]]:
    for field in info.fields:
        path = (*above, field.encode_name)
        inner = _known(field.type)
        if isinstance(inner, inspect.StructType) and not above and not inner.array_like:
            yield from _fields(inner, path)
        else:
            yield path, _kind(inner)


def _known(kind: inspect.Type) -> inspect.Type | None:
    """The type of a value that is known; `None` where there can be several."""
    if not isinstance(kind, inspect.UnionType):
        return kind
    rest = [one for one in kind.types if not isinstance(one, inspect.NoneType)]
    return rest[0] if len(rest) == 1 else None


def _kind(kind: inspect.Type | None) -> Kind:
    if isinstance(kind, inspect.BoolType):
        return "flag"
    if isinstance(kind, inspect.IntType):
        return "integer"
    if isinstance(kind, inspect.FloatType):
        return "number"
    # A verdict that is always null is a text for all that: graders with verdicts have one in the same column.
    is_text = isinstance(kind, (inspect.StrType, inspect.NoneType)) or (
        isinstance(kind, inspect.LiteralType) and all(isinstance(value, str) for value in kind.values)
    )
    return "text" if is_text else "json"


def together(several: Iterable[Mapping[str, Kind]]) -> dict[str, Kind]:
    """The columns of several tables as those of one; what holds different things in two of them is JSON."""
    found: dict[str, Kind] = {}
    for kinds in several:
        for name, kind in kinds.items():
            found[name] = kind if found.setdefault(name, kind) == kind else "json"
    return found

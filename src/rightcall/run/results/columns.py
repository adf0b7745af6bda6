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
    from collections.abc import Container, Iterable, Iterator, Mapping

Kind = Literal["text", "integer", "number", "flag", "json"]
"""What a column holds. `json`: any JSON value, in a table as its text."""


@dataclass(frozen=True)
class Columns:
    """The columns of one type of result.

    Attributes:
        kinds: name -> what it holds, in order.
        paths: where each value stands in the result: a field, and of a figure inside a field of that.
    """

    kinds: Mapping[str, Kind]
    paths: tuple[tuple[str, str | None], ...]

    def cells(self, plain: Mapping[str, Any]) -> dict[str, Any]:
        """The value of each column of a result, given as plain values; `None` where it has none."""
        found: dict[str, Any] = {}
        for name, (field, inner) in zip(self.kinds, self.paths, strict=True):
            value = plain.get(field)
            if inner is not None:
                value = value.get(inner) if isinstance(value, dict) else None
            found[name] = value
        return found

    def without(self, names: Container[str]) -> Columns:
        """The other columns."""
        left = [(name, path) for name, path in zip(self.kinds, self.paths, strict=True) if name not in names]
        return Columns({name: self.kinds[name] for name, _ in left}, tuple(path for _, path in left))


@lru_cache(maxsize=64)
def columns_of(kind: type[msgspec.Struct]) -> Columns:
    """The columns of a type of result."""
    info = inspect.type_info(kind)
    assert isinstance(info, inspect.StructType)  # noqa: S101 - a result is a struct
    found = list(_fields(info))
    return Columns(
        {field if inner is None else f"{field}.{inner}": what for (field, inner), what in found},
        tuple(path for path, _ in found),
    )


def _fields(info: inspect.StructType) -> Iterator[tuple[tuple[str, str | None], Kind]]:
    for field in info.fields:
        known = _known(field.type)
        if isinstance(known, inspect.StructType) and not known.array_like:
            for inner in known.fields:
                yield (field.encode_name, inner.encode_name), _kind(_known(inner.type))
        else:
            yield (field.encode_name, None), _kind(known)


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

"""Results as a data frame: one row a result, with columns that follow from the results' type (`results.columns`)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from rightcall.errors import ConfigError, MissingExtraError
from rightcall.run.results.columns import Kind, columns_of, together
from rightcall.run.results.model import RESULT_TYPES, Row
from rightcall.trace.jsontext import encode_in_order

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import ModuleType

Library = Literal["pandas", "polars"]

COMMON: dict[str, Kind] = {
    "trace_id": "text", "case_id": "text", "grader": "text", "status": "text", "reason": "text", "verdict": "text",
}  # fmt: skip
"""The columns of no result at all, of which nobody says what kind it would have been."""

_PANDAS: dict[Kind, str] = {
    "text": "string", "json": "string", "integer": "Int64", "number": "Float64", "flag": "boolean",
}  # fmt: skip


def to_frame(results: Iterable[Any], kind: Library | None = None, *, of: type[msgspec.Struct] | None = None) -> Any:
    """Results as a data frame, one row a result in their order.

    Columns are the fields of the result under the names of `--json`, figures inside it as `metrics.overall`; what is
    nested deeper is JSON text. Names, types and order depend on the type of the results only. Whole numbers stay whole,
    and what is undefined is null: in pandas `pd.NA` in `Int64`, `Float64`, `boolean` and `string` columns.

    Args:
        results: results of any grader, also of several, or the rows of a run on record.
        kind: `pandas` or `polars`; by default pandas if it is installed, else polars.
        of: the type of the results, which settles the columns of an empty table.

    Returns:
        A `pandas.DataFrame` or a `polars.DataFrame`.

    Raises:
        MissingExtraError: the library, or both, are not installed.
        ConfigError: `kind` is another word, or something is no result.
    """
    library, name = _library(kind)
    types: dict[type[msgspec.Struct], None] = {} if of is None else {of: None}
    plain: list[dict[str, Any]] = []
    for result in results:
        its_type, values = _plain(result)
        types[its_type] = None
        plain.append(columns_of(its_type).cells(values))
    kinds = together(columns_of(one).kinds for one in types) or COMMON
    columns = {column: [_value(row.get(column), what) for row in plain] for column, what in kinds.items()}
    return (_pandas if name == "pandas" else _polars)(library, columns, kinds)


def _plain(result: Any) -> tuple[type[msgspec.Struct], dict[str, Any]]:
    """The type of a result, and its values as `--json` gives them."""
    if isinstance(result, Row):
        own = RESULT_TYPES.get(result.grader)
        return type(result.typed()) if own is None else own, result.value()
    if not isinstance(result, msgspec.Struct) or not hasattr(result, "grader"):
        raise ConfigError(f"a `{type(result).__name__}` is no result", hint="give results of grade, rubric …")
    values: dict[str, Any] = msgspec.to_builtins(result)
    return type(result), values


def _value(value: Any, kind: Kind) -> Any:
    if value is None:
        return None
    return encode_in_order(value).decode() if kind == "json" else value


def _library(kind: Library | None) -> tuple[ModuleType, str]:
    if kind not in (None, "pandas", "polars"):
        raise ConfigError(f"`{kind}` is no kind of data frame", hint='kind="pandas" or kind="polars"')
    for name in ("pandas", "polars") if kind is None else (kind,):
        try:
            return import_module(name), name
        except ImportError:
            continue
    what = "pandas or polars" if kind is None else kind
    raise MissingExtraError(f"a data frame needs {what}, which is not installed", hint=f"pip install {what.split()[0]}")


def _pandas(pandas: ModuleType, columns: Mapping[str, list[Any]], kinds: Mapping[str, Kind]) -> Any:
    return pandas.DataFrame(
        {name: pandas.array(values, dtype=_PANDAS[kinds[name]]) for name, values in columns.items()}
    )


def _polars(polars: ModuleType, columns: Mapping[str, list[Any]], kinds: Mapping[str, Kind]) -> Any:
    types = {
        "text": polars.String, "json": polars.String, "integer": polars.Int64, "number": polars.Float64,
        "flag": polars.Boolean,
    }  # fmt: skip
    return polars.DataFrame(columns, schema={name: types[kind] for name, kind in kinds.items()})

"""What a setting may be, in words, read off the types: `a number from 0 to 1`, `'free' or 'surplus'`."""

from __future__ import annotations

from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

if TYPE_CHECKING:
    from rightcall.settings.positions import Path

_PLAIN = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


def type_at(kind: Any, path: Path) -> Any:
    """The type of the value under a path; `Any` where everything goes."""
    for step in path:
        kind = _inside(kind, step)
    return kind


def allowed(kind: Any) -> str:
    """What a value of this type is, in words."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        words, between = allowed(arguments[0]), bounds(kind)
        return f"{words} {'of ' if between.startswith('at ') else ''}{between}".strip()
    if origin is Literal:
        return _listed([repr(name) if isinstance(name, str) else str(name) for name in arguments])
    if origin in (Union, UnionType):
        return _listed([allowed(one) for one in arguments if one is not type(None)])
    if origin is tuple:
        return f"a list of {_several(allowed(arguments[0]))}"
    if origin is dict or is_table(kind):
        return "a table"
    return _PLAIN.get(kind, "a value")


def bounds(kind: Any) -> str:
    """Between what a number must lie; empty if it may be any."""
    meta = next((one for one in _metas(kind)), None)
    if meta is None:
        return ""
    if meta.ge is not None and meta.le is not None:
        return f"from {meta.ge} to {meta.le}"
    if meta.gt is not None and meta.lt is not None:
        return f"between {meta.gt} and {meta.lt}"
    low = f"at least {meta.ge}" if meta.ge is not None else f"above {meta.gt}" if meta.gt is not None else ""
    high = f"at most {meta.le}" if meta.le is not None else f"below {meta.lt}" if meta.lt is not None else ""
    return " and ".join(part for part in (low, high) if part)


def choices(kind: Any) -> list[str]:
    """The texts that a value may be, where they are few and named."""
    if get_origin(kind) is Literal:
        return [name for name in get_args(kind) if isinstance(name, str)]
    return [name for one in get_args(kind) for name in choices(one)]


def is_table(kind: Any) -> bool:
    """Whether values of this type are tables with known keys."""
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def fields_of(kind: Any) -> dict[str, Any]:
    """The keys of a table with their types."""
    hints = get_type_hints(kind, include_extras=True)
    return {field.encode_name: hints[field.name] for field in msgspec.structs.fields(kind)}


def _inside(kind: Any, step: str | int) -> Any:
    for one in _members(kind):
        if is_table(one) and step in fields_of(one):
            return fields_of(one)[str(step)]
        if get_origin(one) is dict and isinstance(step, str):
            return get_args(one)[1]
        if get_origin(one) is tuple and isinstance(step, int):
            return get_args(one)[0]
    return Any


def _members(kind: Any) -> list[Any]:
    """The types that a value may have: those of a union, without their bounds."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _members(arguments[0])
    if origin in (Union, UnionType):
        return [member for one in arguments for member in _members(one)]
    return [kind]


def _metas(kind: Any) -> list[msgspec.Meta]:
    if get_origin(kind) is Annotated:
        return [one for one in get_args(kind)[1:] if isinstance(one, msgspec.Meta)]
    return [meta for one in get_args(kind) for meta in _metas(one)] if _is_union(kind) else []


def _is_union(kind: Any) -> bool:
    return get_origin(kind) in (Union, UnionType)


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _several(words: str) -> str:
    first, _, rest = words.removeprefix("a ").partition(" ")
    if words in ("a text", "a table", "a number"):
        return f"{first}s"
    return f"{first} numbers" if rest == "number" else words.removeprefix("a ")

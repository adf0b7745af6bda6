"""The careful second reading: every fault of a record that the fast path refused.

The fast path (msgspec) stops at the first fault. This one builds, from the very same types, pydantic models that list
all of them, and adds the nearest valid name to each unknown field. One set of types, two engines.
"""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rightcall.trace.jsontext import JsonValue


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault: where (JSON path), what, and what to do.

    Attributes:
        path, message, hint: in words.
        steps: the path as keys and indices.
        kind: `unknown` or `missing` field, else `value`.
        got: the value that is not as it should be, short and without secrets.
    """

    path: str
    message: str
    hint: str | None = None
    steps: tuple[str | int, ...] = dataclasses.field(default=(), compare=False)
    kind: str = dataclasses.field(default="value", compare=False)
    got: str | None = dataclasses.field(default=None, compare=False)

    def __str__(self) -> str:
        """Message, path and hint."""
        return f"{self.message} at {self.path}" + (f", {self.hint}" if self.hint else "")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The valid name that looks most like `name`, if any does."""
    found = get_close_matches(name, list(known), n=1, cutoff=0.6)
    return found[0] if found else None


def explain(kind: type[msgspec.Struct], value: JsonValue, root: str = "$") -> list[Fault]:
    """Every fault of `value` as a `kind`; empty if there is none."""
    from pydantic import ValidationError

    try:
        _model(kind).model_validate(value, strict=True)
    except ValidationError as error:
        items = sorted(error.errors(include_url=False), key=lambda item: item["type"] != "extra_forbidden")
        return [_fault(kind, item, value, root) for item in items]
    return []


def _fault(kind: type[msgspec.Struct], item: Any, value: JsonValue, root: str) -> Fault:
    where = _steps(item, value)
    path = root + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in where)
    if item["type"] == "extra_forbidden":
        name = str(where[-1])
        valid = _fields_at(kind, where[:-1], value)
        guess = nearest(name, valid)
        hint = f"did you mean `{guess}`?" if guess else f"known here: {', '.join(sorted(valid))}"
        return Fault(path, f"unknown field `{name}`", hint, tuple(where), "unknown")
    if item["type"] == "missing":
        return Fault(path, f"field `{where[-1]}` is missing", "add it", tuple(where), "missing")
    if item["type"] in {"union_tag_invalid", "union_tag_not_found"}:
        return Fault(path, 'an event needs `type`: "call" or "message"')
    said = "an object is needed here" if item["type"] == "model_type" else item["msg"].lower()
    got = _short(item["input"])
    return Fault(path, f"{said}, got {got}", None, tuple(where), "value", got)


def _steps(item: Any, value: JsonValue) -> list[str | int]:
    """Where a fault is, in the record's own keys: pydantic also names the tags and members of unions."""
    location = item["loc"]
    names_a_key = item["type"] in {"extra_forbidden", "missing"}
    steps: list[str | int] = []
    for place, step in enumerate(location):
        is_tag = place > 1 and location[place - 2] == "events" and isinstance(location[place - 1], int)
        inside = not is_tag and _step(value, step) is not _NOTHING
        if inside or (names_a_key and place == len(location) - 1):
            steps.append(step)
            value = _step(value, step)
    return steps


_NOTHING = object()


def _short(value: JsonValue) -> str:
    """A value at most 40 characters long, without secrets: a part of one is not known for what it is any more."""
    from rightcall.trace.redact import Redactor, load_key

    text = msgspec.json.encode(Redactor(key=load_key(os.environ, None)).value(value)).decode()
    return text if len(text) <= 40 else text[:37] + "…"


def _fields_at(kind: type[msgspec.Struct], where: list[Any], value: JsonValue) -> list[str]:
    """The field names that are valid at a place, following the types from the top."""
    current: Any = kind
    for step in where:
        value = _step(value, step)
        hints = _hints(current) if _is_struct(current) else {}
        current = _pick(hints.get(step, current) if isinstance(step, str) else current, value)
    return (
        list(_hints(current)) + ([current.__struct_config__.tag_field] if _tag(current) else [])
        if _is_struct(current)
        else []
    )


def _step(value: JsonValue, step: str | int) -> JsonValue:
    """The part of a value under a key or index; `_NOTHING` if there is none."""
    try:
        return value[step] if isinstance(value, (dict, list)) else _NOTHING  # type: ignore[index]
    except (KeyError, IndexError, TypeError):
        return _NOTHING


def _pick(hint: Any, value: JsonValue) -> Any:
    """The struct type that a hint means for a value: through unions, tuples and tags."""
    structs = [arg for arg in _leaves(hint) if _is_struct(arg)]
    tag = value.get("type") if isinstance(value, dict) else None
    return next((arg for arg in structs if len(structs) == 1 or _tag(arg) == tag), hint)


def _leaves(hint: Any) -> list[Any]:
    arguments = get_args(hint)
    return [leaf for arg in arguments for leaf in _leaves(arg)] if arguments else [hint]


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _tag(kind: Any) -> Any:
    return kind.__struct_config__.tag if _is_struct(kind) else None


@cache
def _hints(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Encoded field name -> type."""
    hints = get_type_hints(kind, include_extras=True)
    return {field.encode_name: hints[field.name] for field in msgspec.structs.fields(kind)}


@cache
def _model(kind: type[msgspec.Struct]) -> Any:
    """The pydantic model of a struct type: the same fields, unknown ones forbidden."""
    from pydantic import ConfigDict, create_model

    fields: dict[str, Any] = {}
    for field in msgspec.structs.fields(kind):
        annotation = _annotation(_hints(kind)[field.encode_name])
        fields[field.encode_name] = (annotation, ... if field.required else None)
    if _tag(kind):
        fields[kind.__struct_config__.tag_field or "type"] = (Literal[_tag(kind)], ...)
    return create_model(kind.__name__, __config__=ConfigDict(extra="forbid", protected_namespaces=()), **fields)


def _annotation(hint: Any) -> Any:
    """A struct's type hint as pydantic understands it: raw JSON is anything, unset is not a type, lists are lists."""
    if hint is msgspec.Raw:
        return Any
    if _is_struct(hint):
        return _model(hint)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _bounded(*arguments)
    if origin in (Union, UnionType):
        return _union([arg for arg in arguments if arg is not msgspec.UnsetType])
    if origin is tuple:
        return list[_annotation(arguments[0])]  # type: ignore[misc]
    if origin is dict:
        return dict[str, _annotation(arguments[1])]  # type: ignore[misc]
    return hint


def _bounded(inner: Any, meta: msgspec.Meta) -> Any:
    """A number with its bounds."""
    from pydantic import Field

    return Annotated[inner, Field(ge=meta.ge, le=meta.le, gt=meta.gt, lt=meta.lt)]


def _union(members: list[Any]) -> Any:
    from pydantic import Field

    inner: Any = Union[tuple(_annotation(member) for member in members)]  # noqa: UP007 - built at run time
    if len(members) > 1 and all(_tag(member) for member in members):
        return Annotated[inner, Field(discriminator="type")]
    return inner

"""Replies of graders that users bring: any object, checked by the user's own JSON Schema, all problems listed."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rightcall.errors import ConfigError, Place
from rightcall.judge.contract import Malformed, Problem
from rightcall.judge.reply import find_object
from rightcall.judge.wording import joined, listed, shortened
from rightcall.trace import jsontext
from rightcall.trace.schemas import compile_schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.schemas import SchemaFault, Validator


class OwnReply:
    """A reply that satisfies the user's schema. Frozen: it keeps its JSON text, and `values` reads that afresh."""

    __slots__ = ("_json", "_noted")

    def __init__(self, values: Mapping[str, JsonValue], noted: tuple[Problem, ...] = ()) -> None:
        """Keep the values as they are now."""
        self._json = jsontext.encode(dict(values))
        self._noted = noted

    @property
    def noted(self) -> tuple[Problem, ...]:
        """What is worth recording though it does not spoil the reply."""
        return self._noted

    def values(self) -> dict[str, Any]:
        """The reply as plain JSON values, a new copy each time."""
        values: dict[str, Any] = jsontext.decode(self._json)
        return values

    def __getitem__(self, key: str) -> JsonValue:
        return self.values()[key]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OwnReply) and (self._json, self._noted) == (other._json, other._noted)

    def __hash__(self) -> int:
        return hash((self._json, self._noted))

    def __repr__(self) -> str:
        return f"OwnReply({self.values()!r}, noted={self._noted!r})"


def read_own(text: str, schema: Mapping[str, JsonValue], finish_reason: str | None = None) -> OwnReply | Malformed:
    """Read a reply by a JSON Schema.

    An object is verdict-shaped if it has at least one of the schema's `properties`. Of the schema's problems, a missing
    key is listed under its own name.

    Raises:
        ConfigError: the schema is not a valid JSON Schema.
    """
    properties = schema.get("properties") or {}
    validator = _compiled(jsontext.encode(schema))
    found = find_object(text, frozenset(properties), finish_reason)
    if isinstance(found, Malformed):
        return found
    problems = listed(map(_problem, validator.iter_errors(found.values)))
    if problems:
        return Malformed("JUDGE_SCHEMA", problems)
    return OwnReply(found.values, (*found.noted, *listed(_unknown(found.values, properties))))


@lru_cache(maxsize=32)
def _compiled(schema: bytes) -> Validator:
    try:
        return compile_schema(jsontext.decode(schema), Place(), "the reply schema")
    except ConfigError as error:
        raise ConfigError(error.message, hint="correct the schema of the judge's reply") from None


def _problem(fault: SchemaFault) -> Problem:
    path = ""
    for key in fault.instance_path:
        path = joined(path, key)
    kind = getattr(fault, "kind", None)
    if getattr(kind, "name", None) == "required":
        return Problem(joined(path, str(getattr(kind, "property", ""))), "is missing")
    return Problem(path or "reply", shortened(fault.message, 300))


def _unknown(values: Mapping[str, JsonValue], properties: Mapping[str, JsonValue]) -> Iterator[Problem]:
    if properties:
        for key in values:
            if key not in properties:
                yield Problem(joined("", key), "is not in the schema")

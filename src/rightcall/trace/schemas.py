"""JSON Schemas of tools: compiled once, with linear-time patterns and no way out of the document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import jsonschema_rs

from rightcall.errors import ConfigError, Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rightcall.trace.jsontext import JsonValue


class SchemaFault(Protocol):
    """One fault of a value against a schema, as the validator reports it."""

    message: str
    instance_path: list[str | int]
    schema_path: list[str | int]


class Validator(Protocol):
    """A compiled schema."""

    def is_valid(self, instance: JsonValue) -> bool:
        """Whether the value satisfies the schema."""

    def iter_errors(self, instance: JsonValue) -> Iterator[SchemaFault]:
        """Every fault of the value."""


def compile_schema(schema: JsonValue, place: Place, what: str = "the schema") -> Validator:
    """Compile a JSON Schema.

    Args:
        schema: the schema as a JSON value; the draft is read from `$schema`, 2020-12 where it does not say.
        place: where it stands, for the error.
        what: what it belongs to, for the error.

    Raises:
        ConfigError: `CONFIG_TOOL_INVALID`, with the validator's reason: not a valid schema, a pattern that the
            linear-time engine does not support, a reference to something outside.
    """
    try:
        return jsonschema_rs.validator_for(
            schema, pattern_options=jsonschema_rs.RegexOptions(), retriever=_refuse_reference
        )
    except (jsonschema_rs.ValidationError, ValueError, TypeError) as error:
        reason = getattr(error, "message", None) or str(error).splitlines()[0]
        raise ConfigError(
            f"{what} is not a valid JSON Schema: {reason}", place=place, code="CONFIG_TOOL_INVALID"
        ) from None


def _refuse_reference(uri: str) -> Any:
    """A schema from outside may not make us open files or connections."""
    raise ValueError(f"references outside the schema are not followed: {uri}")

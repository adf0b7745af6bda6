"""Pieces of the JSON Schemas that endpoints are asked to keep to (SPEC §7).

Written for the strictest structured-output modes: every property is required, nothing else is allowed, what may be
absent is `null` by a list of types, and numbers are enumerated, since grammars ignore ranges.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
TEXT_OR_NULL: Schema = {"type": ["string", "null"]}
SCORE: Schema = {"type": "integer", "enum": [1, 2, 3, 4, 5]}
SCORE_OR_NULL: Schema = {"type": ["integer", "null"], "enum": [1, 2, 3, 4, 5, None]}
CONFIDENCE: Schema = {"type": "number", "enum": [round(step / 20, 2) for step in range(21)]}


def strict_object(**properties: Schema) -> Schema:
    """An object of exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def list_of(item: Schema, description: str = "") -> Schema:
    """A list; `description` says what a grammar cannot enforce."""
    return {"type": "array", "items": item} | ({"description": description} if description else {})


def one_of(*values: str | None) -> Schema:
    """One of these texts, or `null` if that is among them."""
    return {"type": ["string", "null"] if None in values else "string", "enum": list(values)}

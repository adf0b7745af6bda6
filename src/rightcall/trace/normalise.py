"""Schemas that are almost JSON Schema, as JSON Schema: Gemini's OpenAPI subset, types of programming languages.

* Types in any case (`OBJECT`, `String`) become lower-case, and `dict`, `float`, `tuple`, `int` … their JSON names;
  `any` and `TYPE_UNSPECIFIED` vanish, since they say nothing.
* `nullable` becomes the type `null`, a bound that is written as text (`"minItems": "1"`) a number, and a keyword in
  snake case (`any_of`) its JSON name.

Only keywords change: a property that is *named* `type` or `nullable` stays what it is. A type that nobody knows stays
too, so that the check of the schema can name it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.trace.jsontext import JsonValue

_TYPES = {
    "arraylist": "array", "bool": "boolean", "char": "string", "dict": "object", "double": "number", "float": "number",
    "hashmap": "object", "int": "integer", "list": "array", "long": "integer", "none": "null", "str": "string",
    "tuple": "array",
}  # fmt: skip
_JSON_TYPES = {"array", "boolean", "integer", "null", "number", "object", "string"}
_NO_TYPE = {"", "any", "type_unspecified"}
_KEYWORDS = {
    "additional_properties": "additionalProperties", "all_of": "allOf", "any_of": "anyOf", "max_items": "maxItems",
    "max_length": "maxLength", "max_properties": "maxProperties", "min_items": "minItems", "min_length": "minLength",
    "min_properties": "minProperties", "one_of": "oneOf", "prefix_items": "prefixItems",
}  # fmt: skip
_BOUNDS = {"maxItems", "maxLength", "maxProperties", "minItems", "minLength", "minProperties"}
_SCHEMAS_BY_NAME = {"$defs", "definitions", "defs", "dependentSchemas", "patternProperties", "properties"}
_SCHEMAS = {
    "additionalProperties", "allOf", "anyOf", "contains", "else", "if", "items", "not", "oneOf", "prefixItems",
    "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
}  # fmt: skip


def normalise_schema(schema: JsonValue) -> JsonValue:
    """The schema with its keywords and types in JSON Schema's own words; the input is not changed."""
    if isinstance(schema, list):
        return list(map(normalise_schema, schema))
    if not isinstance(schema, dict):
        return schema
    found: dict[str, JsonValue] = {}
    for written, value in schema.items():
        key = str(_KEYWORDS.get(written, written))
        if key == "type":
            kind = _type(value)
            if kind is not None:
                found[key] = kind
        elif key in _SCHEMAS_BY_NAME and isinstance(value, dict):
            found[key] = {name: normalise_schema(inner) for name, inner in value.items()}
        elif key in _SCHEMAS:
            found[key] = normalise_schema(value)
        elif key in _BOUNDS and isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
            found[key] = int(value)
        else:
            found[key] = value
    return _with_null(found) if isinstance(found.get("nullable"), bool) else found


def _type(value: JsonValue) -> JsonValue:
    """A type's JSON name, or those of a list of types; `None` where it says nothing."""
    if isinstance(value, list):
        kinds = list(map(_type, value))
        return None if None in kinds else kinds
    if not isinstance(value, str):
        return value
    word = value.lower()
    if word in _NO_TYPE:
        return None
    return word if word in _JSON_TYPES else _TYPES.get(word, value)


def _with_null(schema: Mapping[str, JsonValue]) -> JsonValue:
    """The schema without `nullable`, allowing `null` where that was true."""
    found = {key: value for key, value in schema.items() if key != "nullable"}
    if not schema["nullable"]:
        return found
    if isinstance(found.get("type"), str) and found["type"] != "null":
        found["type"] = [found["type"], "null"]
    if isinstance(found.get("enum"), list) and None not in found["enum"]:
        found["enum"] = [*found["enum"], None]
    for key in ("anyOf", "oneOf"):
        if isinstance(found.get(key), list):
            found[key] = [*found[key], {"type": "null"}]
    return found

"""What of a reply of a user's own grader is voted on, by its JSON Schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rightcall.judge.panel import Ballot

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.judge.panel import FieldKind


def ballot_of(schema: Mapping[str, Any]) -> Ballot:
    """What of a reply is voted on: every required field that is no free text, list or object."""
    kinds: dict[str, FieldKind] = {}
    for name, part in schema.get("properties", {}).items():
        kind = _kind(part) if isinstance(part, dict) else None
        if kind is not None:
            kinds[name] = kind
    required = tuple(name for name in schema.get("required", ()) if name in kinds)
    return Ballot(kinds, required)


def _kind(part: Mapping[str, Any]) -> FieldKind | None:
    types = part.get("type")
    kinds = set(types if isinstance(types, list) else [types]) - {"null"}
    if kinds == {"integer"}:
        return "score"
    return "category" if kinds in ({"boolean"}, {"number"}) or "enum" in part or "const" in part else None

"""Every JSON Schema that `rightcall schema` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.case import schema as case_schemas
from rightcall.grade.verdict import GoldenResult
from rightcall.settings.model import Settings

if TYPE_CHECKING:
    from collections.abc import Callable


def _config() -> dict[str, Any]:
    built: dict[str, Any] = msgspec.json.schema(Settings)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "rightcall.toml", **built}


def _result() -> dict[str, Any]:
    """What `golden --json` prints."""
    built: dict[str, Any] = msgspec.json.schema(GoldenResult)
    definitions = built.pop("$defs")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "rightcall golden --json",
        "type": "object",
        "properties": {
            "run": {"type": "object", "description": "What was graded against what."},
            "summary": {"type": "object", "description": "Counts and rates of the run."},
            "results": {"type": "array", "items": built},
        },
        "required": ["run", "summary", "results"],
        "$defs": definitions,
    }


SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {**case_schemas.SCHEMAS, "result": _result, "config": _config}

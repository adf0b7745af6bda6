"""Every JSON Schema that `rightcall schema` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.case import schema as case_schemas
from rightcall.grade.interpretation import InterpretationResult
from rightcall.grade.preference import PreferenceResult
from rightcall.grade.rubric import RubricResult
from rightcall.grade.selection import SelectionResult
from rightcall.grade.verdict import GoldenResult
from rightcall.settings.model import Settings

if TYPE_CHECKING:
    from collections.abc import Callable


def _config() -> dict[str, Any]:
    built: dict[str, Any] = msgspec.json.schema(Settings)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "rightcall.toml", **built}


def _result(command: str, kind: type[Any]) -> dict[str, Any]:
    """What a grader's `--json` prints."""
    built: dict[str, Any] = msgspec.json.schema(kind)
    definitions = built.pop("$defs")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"rightcall {command} --json",
        "type": "object",
        "properties": {
            "run": {"type": "object", "description": "What was graded, against what, by whom."},
            "summary": {"type": "object", "description": "Counts and rates of the run."},
            "results": {"type": "array", "items": built},
        },
        "required": ["run", "summary", "results"],
        "$defs": definitions,
    }


SCHEMAS: dict[str, Callable[[], dict[str, Any]]] = {
    **case_schemas.SCHEMAS,
    "result": lambda: _result("golden", GoldenResult),
    "selection-result": lambda: _result("selection", SelectionResult),
    "rubric-result": lambda: _result("rubric", RubricResult),
    "interpretation-result": lambda: _result("interpretation", InterpretationResult),
    "preference-result": lambda: _result("preference", PreferenceResult),
    "config": _config,
}

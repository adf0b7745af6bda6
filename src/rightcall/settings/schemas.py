"""Every JSON Schema that `rightcall schema` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.case import schema as case_schemas
from rightcall.gate.metrics import METRICS
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
    built["$defs"] |= _gates()
    built["$defs"]["Settings"]["properties"]["gates"] = {"$ref": "#/$defs/Gates", "default": {}}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "rightcall.toml", **built}


def _gates() -> dict[str, Any]:
    """The schema of `[gates]`: rules by the name of their metric, whole or in tables (`[gates.selection]`)."""
    texts = {"type": "string", "minLength": 1}
    flag = {"const": True}
    rule = {
        "title": "Rule", "type": "object", "additionalProperties": False,
        "properties": {
            "min": {"type": "number"}, "max": {"type": "number"}, "on": {"enum": ["lower", "upper", "point"]},
            "confidence": {"type": "number", "minimum": 0.5, "exclusiveMaximum": 1},
            "margin": {"type": "number", "minimum": 0}, "judge": texts, "against": texts,
            "signed_off": flag, "fit": flag, "calibrated": flag, "per_tool": flag,
        },
    }  # fmt: skip
    inner = {"type": "object", "additionalProperties": {"$ref": "#/$defs/Gate"}}
    known = {name: {"$ref": "#/$defs/Gate", "description": metric.words} for name, metric in METRICS.items()}
    gate = {"anyOf": [flag, {"$ref": "#/$defs/Rule"}, inner]}
    gates = {"title": "Gates", "type": "object", "properties": known, "additionalProperties": {"$ref": "#/$defs/Gate"}}
    return {"Rule": rule, "Gate": gate, "Gates": gates}


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

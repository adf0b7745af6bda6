"""Every JSON Schema is one, and says yes and no to the right things."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import jsonschema
import msgspec
import pytest

from rightcall.api import Case, Trace, call, grade
from rightcall.case.case import Expect
from rightcall.gate.rules import KEYS
from rightcall.settings.model import Settings
from rightcall.settings.schemas import SCHEMAS

EXAMPLES = Path(__file__).parents[2] / "examples"


def errors(name: str, value: object) -> list[str]:
    return [error.message for error in jsonschema.Draft202012Validator(SCHEMAS[name]()).iter_errors(value)]


def test_the_schemas_are_those_of_the_files():
    assert {"case", "trace", "policy", "result", "config"} <= set(SCHEMAS)


@pytest.mark.parametrize("name", SCHEMAS)
def test_each_is_a_valid_schema_with_a_title(name):
    schema = json.loads(msgspec.json.encode(SCHEMAS[name]()))
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"]


@pytest.mark.parametrize("name", SCHEMAS)
def test_each_refers_only_to_what_it_defines(name):
    schema = SCHEMAS[name]()

    def references(part: object) -> set[str]:
        if isinstance(part, dict):
            own = {part["$ref"]} if isinstance(part.get("$ref"), str) else set()
            return own.union(*map(references, part.values()))
        return set().union(*map(references, part)) if isinstance(part, list) else set()

    assert references(schema) <= {f"#/$defs/{definition}" for definition in schema.get("$defs", {})}


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/rightcall.toml")), ids=lambda path: path.parent.name)
def test_the_settings_of_the_examples_are_valid(path):
    assert errors("config", tomllib.loads(path.read_text())) == []


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*/traces.jsonl")), ids=lambda path: path.parent.name)
def test_the_traces_of_the_examples_are_valid(path):
    for line in path.read_text().splitlines():
        assert errors("trace", json.loads(line)) == []


def test_default_settings_are_valid_and_unknown_keys_are_not():
    assert errors("config", json.loads(msgspec.json.encode(Settings()))) == []
    assert errors("config", {"golden": {"profle": "strict"}})
    assert errors("config", {"limits": {"jobs": "two"}})


@pytest.mark.parametrize("calls", [(), (call("a", {"x": 10**20}),), (call("b", None),)])
def test_results_are_valid(calls):
    result = grade(Case(id="c", expect=Expect(calls=())), Trace(id="t", events=calls))
    value = {"run": {}, "summary": {}, "results": [json.loads(msgspec.json.encode(result))]}
    assert errors("result", value) == []
    assert errors("result", {**value, "results": [{"trace_id": 3}]})
    assert errors("result", {"run": {}})


# ---- gates -----------------------------------------------------------------------------------------------------------


def test_a_rule_of_the_schema_has_the_keys_of_a_rule():
    assert set(SCHEMAS["config"]()["$defs"]["Rule"]["properties"]) == set(KEYS)


@pytest.mark.parametrize(
    ("text", "is_valid"),
    [
        ('[gates]\n"golden.pass_rate" = { min = 0.9, on = "point" }\nfailures_signed_off = true', True),
        ("[gates.selection]\nprecision = { min = 0.98 }\n[gates.judge.detection]\nmin = 0.8", True),
        ("[gates.selection.precision]\nfreeze_card = { min = 0.9 }", True),
        ('[gates]\n"golden.pass_rate" = { min = "high" }', False),
        ('[gates]\n"golden.pass_rate" = { mn = 0.9 }', False),
        ('[gates]\n"golden.pass_rate" = 0.9', False),
        ("gates = 3", False),
        ("[limits]\njobs = 0", False),
        ("[review]\nrandom = 1.5", False),
        ("[judges.a]\nmax_tokens = 0", False),
    ],
)
def test_the_schema_of_the_settings_knows_gates_and_ranges(text, is_valid):
    assert (errors("config", tomllib.loads(text)) == []) is is_valid

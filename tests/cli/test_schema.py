"""`rightcall schema`: each name prints a JSON Schema, and nothing else."""

from __future__ import annotations

import jsonschema
import pytest

from rightcall.settings.schemas import SCHEMAS


@pytest.mark.parametrize("name", SCHEMAS)
def test_each_name_prints_a_valid_schema(rightcall, name):
    said = rightcall("schema", name)
    assert (said.code, said.err) == (0, "")
    jsonschema.Draft202012Validator.check_schema(said.json)
    assert said.json["title"]
    assert said.out.count("\n") > 10
    assert said.out.endswith("}\n")


def test_the_name_may_be_given_by_its_flag(rightcall):
    assert rightcall("schema", "--name", "policy").out == rightcall("schema", "policy").out


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("polcy", "rightcall: no schema is called `polcy`; did you mean `policy`? [CONFIG_INVALID]"),
        ("cases", "rightcall: no schema is called `cases`; did you mean `case`? [CONFIG_INVALID]"),
        ("xyz", f"rightcall: no schema is called `xyz`; known: {', '.join(SCHEMAS)} [CONFIG_INVALID]"),
        ("", f"rightcall: no schema is called ``; known: {', '.join(SCHEMAS)} [CONFIG_INVALID]"),
    ],
)
def test_an_unknown_name_is_told_the_nearest(rightcall, name, said):
    found = rightcall("schema", name)
    assert (found.code, found.out) == (2, "")
    assert found.err.splitlines() == [said, "exit 2"]


def test_a_name_is_needed(rightcall):
    found = rightcall("schema")
    assert (found.code, found.out) == (2, "")
    assert len(found.err.splitlines()) == 2


def test_what_golden_prints_satisfies_the_schema_of_results(rightcall, suite):
    schema = rightcall("schema", "result").json
    jsonschema.validate(rightcall("golden", "traces.jsonl", "--cases", "cases.jsonl", "--json").json, schema)

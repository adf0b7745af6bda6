"""The JSON Schemas that endpoints are asked to keep to: strict enough for structured output, and what the readers read."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rightcall.errors import Place
from rightcall.judge.contract import Malformed
from rightcall.judge.read import REPLY_SCHEMAS, read_reply
from rightcall.trace.schemas import compile_schema

STRICT_KEYS = {"type", "properties", "required", "additionalProperties", "items", "enum", "description"}


def nodes(schema):
    yield schema
    for inner in schema.get("properties", {}).values():
        yield from nodes(inner)
    if "items" in schema:
        yield from nodes(schema["items"])


def example_of(schema):
    """A strategy for values that a grammar of the schema permits."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    made = {"string": st.sampled_from(["c1", "c2", "fits", "é\n{", '"']), "boolean": st.booleans(), "null": st.none()}
    if "object" in kinds:
        return st.fixed_dictionaries({name: example_of(inner) for name, inner in schema["properties"].items()})
    if "array" in kinds:
        return st.lists(example_of(schema["items"]), min_size=1, max_size=3)
    return st.one_of(*(made[kind] for kind in kinds))


@pytest.mark.parametrize("grader", sorted(REPLY_SCHEMAS))
def test_a_schema_uses_only_what_the_strictest_modes_know(grader):
    schema = REPLY_SCHEMAS[grader]
    compile_schema(schema, Place())
    assert schema["type"] == "object"
    for node in nodes(schema):
        assert set(node) <= STRICT_KEYS
        if node["type"] == "object":
            assert node["additionalProperties"] is False
            assert node["required"] == list(node["properties"])
        if node["type"] == "integer":
            assert node["enum"] == [1, 2, 3, 4, 5]
        if "enum" in node:
            assert (None in node["enum"]) == ("null" in node["type"])


@pytest.mark.parametrize("grader", ["preference", "interpretation"])
def test_confidence_has_twentieths_as_steps(grader):
    steps = REPLY_SCHEMAS[grader]["properties"]["confidence"]["enum"]
    assert steps[:3] == [0, 0.05, 0.1]
    assert (steps[-1], len(steps)) == (1, 21)
    assert all(len(repr(step)) <= 4 for step in steps)


@pytest.mark.parametrize("grader", sorted(REPLY_SCHEMAS))
@settings(max_examples=30)
@given(data=st.data())
def test_whatever_the_schema_permits_has_the_types_that_the_reader_reads(grader, data):
    values = data.draw(example_of(REPLY_SCHEMAS[grader]))
    reply = read_reply(grader, json.dumps(values))
    if isinstance(reply, Malformed):  # a grammar cannot keep values from contradicting one another
        assert reply.code == "JUDGE_INCONSISTENT", str(reply)
    else:
        assert {key: reply.values()[key] for key in values} == values

"""Tools' own JSON Schemas: compiled once, patterns in linear time, no way out of the document."""

import pytest

from rightcall.errors import ConfigError, Place
from rightcall.trace.schemas import compile_schema

PLACE = Place("tools.json", None, None, "$[0]")


def refusal(schema):
    with pytest.raises(ConfigError) as caught:
        compile_schema(schema, PLACE, "the schema of tool `t`")
    return caught.value


def test_a_compiled_schema_answers_and_explains():
    validator = compile_schema({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["b"]}, PLACE)
    assert not validator.is_valid({"a": "x"})
    assert validator.is_valid({"a": 9007199254740993, "b": 1})
    places = {str(fault.schema_path[-1]): list(fault.instance_path) for fault in validator.iter_errors({"a": "x"})}
    assert places == {"type": ["a"], "required": []}


@pytest.mark.parametrize(
    "schema",
    [{"type": "objct"}, {"properties": []}, {"minimum": "1"}, {"required": "a"}, "text", {"pattern": "("}],
)
def test_an_invalid_schema_is_refused_with_the_reason_and_the_place(schema):
    error = refusal(schema)
    assert (error.code, error.place) == ("CONFIG_TOOL_INVALID", PLACE)
    assert error.message.startswith("the schema of tool `t` is not a valid JSON Schema: ")


@pytest.mark.parametrize("pattern", ["^(?=a)", r"(a)\1", "(?!b)a"])
def test_a_pattern_outside_the_linear_time_engine_is_refused(pattern):
    assert refusal({"type": "string", "pattern": pattern}).code == "CONFIG_TOOL_INVALID"


def test_a_hostile_pattern_takes_linear_time():
    validator = compile_schema({"type": "string", "pattern": "^(a+)+$"}, PLACE)
    assert not validator.is_valid("a" * 50_000 + "b")


@pytest.mark.parametrize(
    "uri", ["file:///etc/passwd", "http://example.com/s.json", "https://example.com/s.json", "other.json"]
)
def test_a_reference_to_the_outside_is_refused_and_not_followed(uri):
    error = refusal({"properties": {"a": {"$ref": uri}}})
    assert error.code == "CONFIG_TOOL_INVALID"


def test_a_reference_inside_the_document_is_followed():
    schema = {"properties": {"a": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type": "integer"}}}
    validator = compile_schema(schema, PLACE)
    assert validator.is_valid({"a": 1})
    assert not validator.is_valid({"a": "1"})


def test_an_older_draft_is_read_as_what_it_says():
    draft_4 = {"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": True}
    assert not compile_schema(draft_4, PLACE).is_valid(1)
    assert not compile_schema({"exclusiveMinimum": 1}, PLACE).is_valid(1)


def test_true_is_no_number_and_4_0_is_an_integer():
    validator = compile_schema({"type": "integer"}, PLACE)
    assert validator.is_valid(4.0)
    assert not validator.is_valid(True)  # a boolean is no number

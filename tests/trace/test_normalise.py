"""Schemas that are almost JSON Schema: types, `nullable`, bounds, keywords; and what must not change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.errors import Place
from rightcall.trace.normalise import normalise_schema
from rightcall.trace.schemas import compile_schema


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ({"type": "OBJECT"}, {"type": "object"}),
        ({"type": "String"}, {"type": "string"}),
        ({"type": "dict"}, {"type": "object"}),
        ({"type": "float"}, {"type": "number"}),
        ({"type": "tuple"}, {"type": "array"}),
        ({"type": "any"}, {}),
        ({"type": ""}, {}),
        ({"type": "char"}, {"type": "string"}),
        ({"type": "TYPE_UNSPECIFIED"}, {}),
        ({"type": ["STRING", "NULL"]}, {"type": ["string", "null"]}),
        ({"type": ["string", "any"]}, {}),
        ({"type": "Gizmo"}, {"type": "Gizmo"}),
        ({"type": 7}, {"type": 7}),
        ({"type": "STRING", "nullable": True}, {"type": ["string", "null"]}),
        ({"type": "STRING", "nullable": False}, {"type": "string"}),
        ({"type": "STRING", "enum": ["a"], "nullable": True}, {"type": ["string", "null"], "enum": ["a", None]}),
        ({"anyOf": [{"type": "INTEGER"}], "nullable": True}, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        ({"any_of": [{"type": "INTEGER"}]}, {"anyOf": [{"type": "integer"}]}),
        ({"minItems": "1", "max_items": "20"}, {"minItems": 1, "maxItems": 20}),
        ({"minItems": "many"}, {"minItems": "many"}),
        ({"items": {"type": "INT"}}, {"items": {"type": "integer"}}),
        ({"additionalProperties": True}, {"additionalProperties": True}),
        ({"$defs": {"a": {"type": "STRING"}}}, {"$defs": {"a": {"type": "string"}}}),
    ],
)
def test_keywords_are_written_in_json_schemas_words(written, meant):
    assert normalise_schema(written) == meant


def test_a_property_that_is_named_like_a_keyword_stays_one():
    schema = {
        "type": "OBJECT",
        "properties": {"type": {"type": "STRING"}, "nullable": {"type": "BOOLEAN"}, "any_of": {}},
    }
    assert normalise_schema(schema) == {
        "type": "object",
        "properties": {"type": {"type": "string"}, "nullable": {"type": "boolean"}, "any_of": {}},
    }


def test_values_are_not_schemas():
    schema = {"enum": [{"type": "OBJECT"}], "default": {"type": "ANY"}, "required": ["type"]}
    assert normalise_schema(schema) == schema


def test_the_input_is_not_changed_and_the_output_can_be_used():
    schema = {"type": "OBJECT", "properties": {"n": {"type": "INTEGER", "nullable": True}}, "required": ["n"]}
    check = compile_schema(normalise_schema(schema), Place())
    assert schema["type"] == "OBJECT"
    assert [check.is_valid({"n": value}) for value in (1, None, "1")] == [True, True, False]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["type", "nullable", "properties", "items", "enum", "minItems"]), inner)
        ),
        max_leaves=15,
    )
)
def test_any_value_is_normalised_once(value):
    once = normalise_schema(value)
    assert normalise_schema(once) == once

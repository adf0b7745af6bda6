"""The answers of the test server: the smallest value of a schema, replies by marker, and what judges say."""

import json
from pathlib import Path

import pytest

from rightcall.errors import ConfigError
from rightcall.judge.contract import Malformed
from rightcall.judge.read import REPLY_SCHEMAS, read_reply
from rightcall.testing.answers import (
    Asked,
    by_marker,
    filled,
    from_file,
    rubric_answer,
    selection_answer,
    smallest,
    smallest_answer,
)
from rightcall.trace.schemas import compile_schema

PROBE = b'{"type": "object", "properties": {"shade": {"enum": ["teal"]}}, "required": ["shade"]}'


def asked(user: str = "", grader: str | None = None, **parts) -> Asked:
    schema = json.dumps(REPLY_SCHEMAS[grader]).encode() if grader else b""
    return Asked(user=user, schema_json=schema, **parts)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"enum": ["PASS", "FAIL"]}, "PASS"),
        ({"const": {"a": 1}}, {"a": 1}),
        ({"type": "integer", "minimum": 1, "maximum": 5}, 1),
        ({"type": "integer", "minimum": -3, "maximum": 5}, 0),
        ({"type": "integer", "minimum": -5, "maximum": -2}, -5),
        ({"type": "integer", "maximum": -3}, -3),
        ({"type": "integer", "exclusiveMinimum": 1}, 2),
        ({"type": "integer", "minimum": 1.5}, 2),
        ({"type": "integer", "exclusiveMaximum": 0}, -1),
        ({"type": "integer", "minimum": 4, "multipleOf": 3}, 6),
        ({"type": "number", "exclusiveMinimum": 0.5, "maximum": 0.75}, 0.75),
        ({"type": "number", "exclusiveMinimum": 0.5, "exclusiveMaximum": 1}, 0.75),
        ({"type": "string"}, "x"),
        ({"type": "string", "minLength": 3}, "xxx"),
        ({"type": "string", "maxLength": 0}, ""),
        ({"type": ["integer", "null"], "minimum": 1}, 1),
        ({"type": "array", "items": {"type": "string"}}, []),
        ({"type": "array", "minItems": 2, "items": {"type": "boolean"}}, [False, False]),
        ({"type": "array", "minItems": 2, "prefixItems": [{"const": 1}], "items": {"const": 2}}, [1, 2]),
        (
            {"type": "object", "properties": {"a": {"type": "null"}, "b": {"type": "string"}}, "required": ["a"]},
            {"a": None},
        ),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "x"),
        ({"allOf": [{"properties": {"a": {"const": 1}}, "required": ["a"]}], "type": "object"}, {"a": 1}),
        ({"$defs": {"x~/": {"type": "boolean"}}, "$ref": "#/$defs/x~0~1"}, False),
        (True, None),
        ({}, None),
    ],
)
def test_the_smallest_value_of_a_schema(schema, value):
    assert smallest(schema) == value


@pytest.mark.parametrize("grader", REPLY_SCHEMAS)
def test_every_grader_s_schema_has_a_smallest_answer_that_satisfies_it(grader):
    text = smallest_answer(asked(grader=grader))
    assert compile_schema(REPLY_SCHEMAS[grader], None).is_valid(json.loads(text))
    assert text == smallest_answer(asked("something else", grader=grader))


def test_without_a_schema_the_smallest_answer_is_an_empty_object():
    assert smallest_answer(asked()) == "{}"


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "string", "pattern": "^[a-z]+-[0-9]+$"}, "no answer can be made up"),
        ({"type": "integer", "minimum": 3, "maximum": 2}, "no answer can be made up"),
        ({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}, "never ends"),
        ({"type": "nonsense"}, "not a valid JSON Schema"),
    ],
)
def test_a_schema_without_a_value_that_is_found_is_an_error(schema, said):
    with pytest.raises(ConfigError, match=said):
        smallest(schema)


def test_filled_replaces_keys_of_the_smallest_answer():
    reply = json.loads(filled(grade="FAIL", justification="Because.")(asked(grader="selection")))
    assert (reply["grade"], reply["justification"]) == ("FAIL", "Because.")
    assert reply.keys() == json.loads(smallest_answer(asked(grader="selection"))).keys()


@pytest.mark.parametrize(
    ("grader", "answer"),
    [
        ("selection", selection_answer()),
        ("selection", selection_answer("FAIL", selected="sink_boat", expected="find_boat", challenge="Both would do.")),
        ("selection", selection_answer("FAIL", category="over_action")),
        ("rubric", rubric_answer()),
        ("rubric", rubric_answer(2, "HIGH", impact="The wrong boat.", abstention_score=None)),
    ],
)
def test_what_a_judge_says_is_read_as_a_verdict(grader, answer):
    text = answer(asked(grader=grader))
    assert not isinstance(read_reply(grader, text, "stop"), Malformed)
    assert answer(asked()) == text


def test_a_selection_answer_satisfies_the_schema_that_is_asked_for():
    text = selection_answer("FAIL", challenge="Both would do.")(asked(grader="selection"))
    assert compile_schema(REPLY_SCHEMAS["selection"], None).is_valid(json.loads(text))


def test_a_rubric_answer_has_the_scores_that_were_given():
    reply = read_reply("rubric", rubric_answer(2, abstention_score=None)(asked()))
    assert (reply.scores["tool_selection"], reply.abstention_score, reply.overall_score) == (2, None, 2.0)


@pytest.mark.parametrize("answer", [selection_answer(), rubric_answer(), by_marker({"case-1": "{}"})])
def test_a_probe_gets_an_answer_that_fits_its_schema(answer):
    assert json.loads(answer(Asked(user="Which colour?", schema_json=PROBE))) == {"shade": "teal"}


def test_replies_are_found_by_the_first_marker_of_the_text():
    answer = by_marker({"case-0007": "seven", "case-0008": ["first", "second"]})
    assert answer(asked("about case-0007, not case-0008")) == "seven"
    assert [answer(asked("case-0008", attempt=number)) for number in range(3)] == ["first", "second", "second"]


def test_a_marker_without_a_reply_is_an_error_unless_something_answers_the_rest():
    with pytest.raises(ConfigError, match="no reply for `case-9`"):
        by_marker({"case-1": "x"})(asked("case-9"))
    answer = by_marker({"case-1": "x"}, otherwise=lambda asked: f"other: {asked.user}")
    assert (answer(asked("case-9")), answer(asked("none"))) == ("other: case-9", "other: none")


def test_another_pattern_names_the_cases():
    assert by_marker({"lost-wallet": "w"}, pattern=r"lost-\w+")(asked("id: lost-wallet")) == "w"


def written(folder: Path, value) -> Path:
    path = folder / "replies.json"
    path.write_text(json.dumps(value), "utf-8")
    return path


def test_a_file_holds_replies_as_text_as_list_and_as_object(tmp_path):
    answer = from_file(written(tmp_path, {"case-1": "text", "case-2": ["a", "b"], "case-3": {"grade": "PASS"}}))
    assert [answer(asked(f"case-{number}", attempt=1)) for number in (1, 2, 3, 4)] == [
        "text",
        "b",
        '{"grade": "PASS"}',
        "{}",
    ]


def test_the_star_of_a_file_answers_all_others_but_no_probe(tmp_path):
    answer = from_file(written(tmp_path, {"case-1": "text", "*": {"grade": "FAIL"}}))
    assert answer(asked("case-2", grader="selection")) == answer(asked("no marker")) == '{"grade": "FAIL"}'
    assert json.loads(answer(Asked(schema_json=PROBE))) == {"shade": "teal"}
    answer = from_file(written(tmp_path, {"*": ["one", "two"]}))
    assert [answer(asked("a", attempt=number)) for number in (0, 1)] == ["one", "two"]


@pytest.mark.parametrize("value", [["a"], {"case-1": 5}])
def test_a_file_that_is_no_mapping_of_replies_is_an_error(tmp_path, value):
    with pytest.raises(ConfigError, match=r"replies\.json: cannot use the replies"):
        from_file(written(tmp_path, value))
    with pytest.raises(ConfigError, match="No such file"):
        from_file(tmp_path / "absent.json")

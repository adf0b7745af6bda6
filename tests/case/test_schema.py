"""The JSON Schemas: valid themselves, true to what the readers accept, made from the types."""

import json
import tomllib
from pathlib import Path

import jsonschema
import jsonschema_rs
import msgspec
import pytest
from ruamel.yaml import YAML

from rightcall.api import Policy, call, grade
from rightcall.case import matchers
from rightcall.case.case import Case
from rightcall.case.parse import parse_cases
from rightcall.case.schema import MATCHERS, SCHEMAS, options_of, result_schema, schema
from rightcall.case.similar import FORMS
from rightcall.errors import CaseError, ConfigError, Place
from rightcall.grade.verdict import GoldenResult
from rightcall.trace.model import Trace
from rightcall.trace.sources.native import write_line

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ALL = {**SCHEMAS, "result": lambda: result_schema(GoldenResult)}
VALIDATORS = {name: jsonschema_rs.validator_for(made()) for name, made in ALL.items()}
ORACLES = {name: jsonschema.Draft202012Validator(made()) for name, made in ALL.items()}


def documents(path):
    """Return the records of one file of the examples as plain values."""
    if path.suffix == ".toml":
        return [tomllib.loads(path.read_text(encoding="utf-8"))]
    if path.suffix == ".yaml":
        return [YAML(typ="safe", pure=True).load(path.read_text(encoding="utf-8"))]
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def accepts(name, value):
    """Return the answer that both validators give."""
    first, second = VALIDATORS[name].is_valid(value), ORACLES[name].is_valid(value)
    assert first is second
    return first


def case_of(arguments):
    return {"id": "c", "expect": {"calls": [{"tool": "t", "arguments": arguments}]}}


# ---- the schemas themselves ----


@pytest.mark.parametrize("name", ALL)
def test_a_schema_is_a_valid_json_schema(name):
    made = schema(name, ALL)
    jsonschema.Draft202012Validator.check_schema(made)
    assert jsonschema_rs.is_valid(jsonschema.Draft202012Validator.META_SCHEMA, made)
    assert made["$schema"].endswith("2020-12/schema")
    assert made["title"]


@pytest.mark.parametrize("name", ALL)
def test_every_reference_is_inside_the_schema(name):
    made = schema(name, ALL)

    def walk(part):
        if isinstance(part, dict):
            if isinstance(part.get("$ref"), str):
                assert part["$ref"].removeprefix("#/$defs/") in made["$defs"]
            list(map(walk, part.values()))
        elif isinstance(part, list):
            list(map(walk, part))

    walk(made)


@pytest.mark.parametrize("name", ["case", "trace", "policy"])
def test_every_object_of_ours_is_closed_and_described(name):
    for title, part in schema(name)["$defs"].items():
        if "title" in part and title not in {"literal", "custom"}:
            assert part["additionalProperties"] is False, title
            assert part["description"], title
            assert "_json" not in part["description"], title


def test_an_unknown_name_is_an_error_with_the_nearest():
    with pytest.raises(ConfigError) as caught:
        schema("cases")
    assert caught.value.hint == "did you mean `case`?"
    with pytest.raises(ConfigError, match="there is no schema `xyz`") as caught:
        schema("xyz")
    assert caught.value.hint == "known: case, policy, trace"


# ---- cases ----


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in sorted(EXAMPLES.rglob("*"))
        if "cases" in path.relative_to(EXAMPLES).as_posix() and path.is_file()
    ],
    ids=lambda path: path.relative_to(EXAMPLES).as_posix(),
)
def test_every_example_case_is_valid(path):
    for document in documents(path):
        assert [error.message for error in ORACLES["case"].iter_errors(document)] == []
        assert accepts("case", document)


@pytest.mark.parametrize(
    "wrap", [lambda row: row, lambda row: [row], lambda row: {"case": [row]}, lambda row: {"cases": [row]}]
)
def test_a_file_may_hold_one_case_a_list_or_a_table_of_them(wrap):
    assert accepts("case", wrap({"id": "c", "expect": {"calls": []}}))
    assert not accepts("case", wrap({"id": "c", "expct": {"calls": []}}))


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"id": 7},
        {"id": "c", "expct": {}},
        {"id": "c", "expect": {"calls": [{"tool": "t", "optinal": True}]}},
        {"id": "c", "expect": {"calls": [{"tool": "t", "arguments": []}]}},
        {"id": "c", "expect": {"calls": [{}]}},
        {"id": "c", "expect": {"order": "strict"}},
        {"id": "c", "expect": {"alternatives": [{"order": "any"}]}},
        {"id": "c", "tools": 7},
        {"id": "c", "tools": [{"description": "no name"}]},
        {"id": "c", "tools": {"tools": 7}},
        {"id": "c", "policy": {"forbiden": []}},
    ],
)
def test_a_misspelled_or_misplaced_field_of_a_case_is_refused(wrong):
    assert not accepts("case", wrong)


@pytest.mark.parametrize(
    "tools",
    [
        "tools.json",
        [],
        [{"name": "a", "parameters": {}}],
        [{"type": "function", "function": {"name": "a"}}],
        {"tools": [{"name": "a", "inputSchema": {}}]},
        {"jsonrpc": "2.0", "result": {"tools": [{"name": "a"}]}},
        None,
    ],
)
def test_a_catalog_is_taken_in_every_shape(tools):
    assert accepts("case", {"id": "c", "tools": tools})


# ---- matchers ----


def test_every_matcher_is_described_with_the_options_that_it_takes():
    assert list(MATCHERS) == list(matchers.MATCHER_NAMES)
    for name, (_, allowed) in matchers._BUILDERS.items():
        assert options_of(name) == {"optional", *allowed}, name
    assert MATCHERS["similar"]["properties"]["as"]["enum"] == list(FORMS)


RIGHT = [
    1, None, "x", [], {}, {"k": [1, {"l": None}]},
    {"any_of": [1, {"approx": 1, "abs_tol": 0.1}]}, {"approx": 1, "rel_tol": 0, "optional": True}, {"matches": "a+"},
    {"similar": "x"}, {"similar": 4, "as": "number"}, {"similar": "x", "as": "text", "threshold": 0.5}, {"set": []},
    {"contains": "x"}, {"contains": [1, {"matches": "x"}]}, {"schema": {"type": "string"}}, {"schema": True},
    {"from_result": {"call": "find", "path": "a.b"}}, {"ignore": True}, {"equals": {"set": 3}}, {"equals": None},
    {"custom": "mine", "any": ["options"]}, [{"deep": {"ignore": True}}], {"name": "x", "contains": 7},
]  # fmt: skip
WRONG = [
    {"any_of": 1}, {"approx": 1}, {"approx": "1", "abs_tol": 1}, {"approx": 1, "abs_tol": -1}, {"matches": 1},
    {"similar": []}, {"similar": "x", "as": "zip"}, {"similar": "x", "threshold": 2}, {"set": {}}, {"schema": 7},
    {"from_result": "find"}, {"from_result": {"call": "c"}}, {"from_result": {"call": "c", "path": "p", "x": 1}},
    {"ignore": False}, {"ignore": True, "optional": "yes"},
]  # fmt: skip


def reads(arguments, monkeypatch):
    """Return whether the compiler takes these arguments."""
    builders = {**matchers._BUILDERS, "custom": (lambda *_: lambda _actual: True, ())}
    monkeypatch.setattr(matchers, "_BUILDERS", builders)
    try:
        for value in arguments.values():
            matchers.compile_value(value, Place())
    except CaseError:
        return False
    return True


@pytest.mark.parametrize(
    "wrap", [lambda value: {"a": value}, lambda value: {"a": [{"b": value}]}], ids=["flat", "deep"]
)
@pytest.mark.parametrize("value", RIGHT, ids=repr)
def test_what_can_be_expected_is_accepted(value, wrap, monkeypatch):
    assert accepts("case", case_of(wrap(value)))
    assert reads(wrap(value), monkeypatch)


@pytest.mark.parametrize(
    "wrap", [lambda value: {"a": value}, lambda value: {"a": [{"b": value}]}], ids=["flat", "deep"]
)
@pytest.mark.parametrize("value", WRONG, ids=repr)
def test_a_wrong_matcher_is_refused_by_the_schema_as_by_the_compiler(value, wrap, monkeypatch):
    assert not accepts("case", case_of(wrap(value)))
    assert not reads(wrap(value), monkeypatch)


def test_a_parameter_may_be_called_like_a_matcher():
    assert accepts("case", case_of({"set": 1, "matches": [2]}))


# ---- traces ----


@pytest.mark.parametrize("path", sorted(EXAMPLES.rglob("traces.jsonl")), ids=lambda path: path.parent.name)
def test_every_example_trace_is_valid(path):
    for row in documents(path):
        assert accepts("trace", row)
    assert accepts("trace", documents(path))


@pytest.mark.parametrize(
    ("value", "is_valid"),
    [
        ({"id": "t", "calls": [{"tool": "a", "arguments": {}, "result": None}]}, True),
        ({"id": "t", "calls": [{"tool": "a", "arguments": "text", "turn": 1}]}, True),
        ({"id": "t", "events": [], "metadata": {"any": "thing"}, "context": "text", "tools": {"tools": []}}, True),
        ({"id": "t"}, False),
        ({"id": "t", "events": [], "calls": []}, False),
        ({"id": "t", "calls": [{"tool": "a", "result": 1, "error": 1}]}, False),
        ({"id": "t", "calls": [{"tol": "a"}]}, False),
        ({"id": "t", "events": [{"tool": "a"}]}, False),
        ({"id": "t", "events": [{"type": "message", "role": "tool"}]}, False),
        ({"id": "t", "calls": [], "compelted": True}, False),
        ({"calls": []}, False),
    ],
)
def test_a_trace_is_valid_as_the_reader_takes_it(value, is_valid):
    assert accepts("trace", value) is is_valid


def test_what_is_written_is_valid():
    trace = Trace(id="t", events=(call("a", {"x": 1}, error="no", turn=1),), completed=False)
    assert accepts("trace", json.loads(write_line(trace)))
    assert accepts("trace", json.loads(write_line(Trace(id="t"))))


# ---- policies and results ----


@pytest.mark.parametrize("path", sorted(EXAMPLES.rglob("rightcall.toml")), ids=lambda path: path.parent.name)
def test_every_example_policy_is_valid_by_itself_and_as_a_table(path):
    policy = tomllib.loads(path.read_text(encoding="utf-8"))["policy"]
    assert accepts("policy", policy)
    assert accepts("policy", {"policy": policy})
    assert msgspec.convert(policy, Policy)


@pytest.mark.parametrize(
    "wrong",
    [
        {"forbiden": []},
        {"policy": {"forbiden": []}},
        {"requires": [{"tool": "a"}]},
        {"classes": {"a": "dangerous"}},
        [],
    ],
)
def test_a_wrong_policy_is_refused(wrong):
    assert not accepts("policy", wrong)


def test_a_result_is_valid_as_the_grader_gives_it():
    case, _ = next(parse_cases(json.dumps(case_of({"x": 1})).encode(), "c.jsonl"))
    results = [
        grade(case, Trace(id="t", events=(call("t", {"x": 2}),))),
        grade(Case(id="empty"), Trace(id="u")),
    ]
    summary = {"n": 2, "evaluated": 1, "unevaluable": 1, "passed": 0, "failed": 1}
    answer = {"run": {}, "summary": summary, "results": json.loads(msgspec.json.encode(results))}
    assert [error.message for error in ORACLES["result"].iter_errors(answer)] == []
    assert accepts("result", answer)
    assert not accepts("result", {"results": []})
    answer["results"][0]["verdict"] = "MAYBE"
    assert not accepts("result", answer)

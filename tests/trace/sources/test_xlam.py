"""xLAM rows: JSON inside a text, twice; parameters without a schema; the same row as trace and as case."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rightcall
from rightcall.case.case import Case
from rightcall.case.sources import xlam as rows
from rightcall.errors import Place
from rightcall.trace.model import Trace
from rightcall.trace.sources import xlam
from rightcall.trace.sources.dialect import Skip

PLACE = Place("rows.jsonl", 3)
TOOLS = [
    {
        "name": "find_boat",
        "description": "Look for boats.",
        "parameters": {
            "harbour": {"type": "str", "description": "Where.", "required": True},
            "seats": {"type": "int, optional", "default": 2},
            "tags": {"type": "List[str]"},
            "other": {"type": "Boat"},
        },
    }
]
ANSWERS = [
    {"name": "find_boat", "arguments": {"harbour": "Oslo"}},
    {"name": "find_boat", "arguments": {"harbour": "Bergen"}},
]


def row(**changes):
    return {"id": 5, "query": "Boats?", "tools": json.dumps(TOOLS), "answers": json.dumps(ANSWERS), **changes}


def read(record):
    (trace,) = xlam.traces(record, PLACE)
    assert isinstance(trace, Trace), trace
    return trace


def test_the_answers_are_parallel_calls_of_the_row():
    assert xlam.detect(row())
    trace = read(row())
    assert (trace.id, trace.case_id, trace.request, trace.completed) == ("5", "5", "Boats?", None)
    assert [(call.tool, call.arguments, call.turn, call.result) for call in trace.calls] == [
        ("find_boat", {"harbour": "Oslo"}, 1, None),
        ("find_boat", {"harbour": "Bergen"}, 1, None),
    ]
    assert trace.findings == ()


def test_parameters_by_name_become_a_schema():
    (tool,) = json.loads(bytes(read(row()).tools_json))
    assert tool["parameters"] == {
        "type": "object",
        "properties": {
            "harbour": {"type": "string", "description": "Where."},
            "seats": {"type": "integer"}, "tags": {"type": "array"}, "other": {},
        },
        "required": ["harbour"],
    }  # fmt: skip


def test_a_schema_stays_one():
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    (tool,) = json.loads(bytes(read(row(tools=[{"name": "f", "parameters": schema}])).tools_json))
    assert tool["parameters"] == schema


def test_a_row_passes_its_own_case():
    (case,) = rows.cases(row(), PLACE)
    assert isinstance(case, Case)
    trace = read(row())
    assert rightcall.grade(case, trace).verdict == "PASS"
    swapped = read(row(answers=json.dumps(ANSWERS[::-1])))
    assert rightcall.grade(case, swapped).verdict == "PASS"
    assert rightcall.grade(case, read(row(answers=json.dumps(ANSWERS[:1])))).verdict == "FAIL"


def test_a_row_without_answers_is_an_abstention():
    (case,) = rows.cases([row(answers="[]")], PLACE)
    assert case.expect.calls == read(row(answers="[]")).calls == ()


def test_arguments_may_be_packed_once_more():
    (call,) = read(row(answers=json.dumps([{"name": "f", "arguments": '{"n": 10000000000000000001}'}]))).calls
    assert call.arguments == {"n": 10000000000000000001}


def test_a_row_without_an_id_is_called_by_its_place_in_both():
    (case,) = rows.cases(row(id=None), PLACE)
    assert case.id == read(row(id=None)).id == "rows:3"


@pytest.mark.parametrize("answers", ["[", "{}", "7"])
def test_answers_that_are_no_list_are_skipped(answers):
    for reader in (xlam.traces, rows.cases):
        (skip,) = reader(row(answers=answers), PLACE)
        assert isinstance(skip, Skip)


def test_odd_answers_are_findings_of_the_trace_and_no_case():
    odd = json.dumps([{"arguments": {}}, {"name": "f"}, {"name": "g", "arguments": "{"}])
    trace = read(row(answers=odd))
    assert [call.arguments_status for call in trace.calls] == ["missing", "malformed"]
    assert [f.code for f in trace.findings] == ["TRACE_MALFORMED", "TRACE_ARGS_MISSING", "TRACE_ARGS_UNPARSEABLE"]
    (skip,) = rows.cases(row(answers=odd), PLACE)
    assert skip.code == "CASE_INVALID"


def test_tools_that_cannot_be_read_cost_the_catalog_and_not_the_trace():
    trace = read(row(tools="["))
    assert [finding.code for finding in trace.findings] == ["CONFIG_TOOL_INVALID"]
    assert len(trace.calls) == 2


@pytest.mark.parametrize(
    "value",
    [None, {}, {"query": "a"}, {"query": 1, "tools": "", "answers": ""}, {"query": "a", "expected_tool_use": []}],
)
def test_what_is_no_row_is_not_claimed(value):
    assert not xlam.detect(value)
    for reader in (xlam.traces, rows.cases):
        (skip,) = reader({}, PLACE)
        assert isinstance(skip, Skip)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["name", "arguments", "parameters", "type", "properties"]), inner, max_size=4
            )
        ),
        max_leaves=15,
    )
)
def test_any_json_gives_traces_cases_or_skips(value):
    for record in (
        value,
        row(answers=value),
        row(tools=value),
        row(answers=json.dumps(value)),
        row(tools=json.dumps([value])),
    ):
        assert all(isinstance(item, (Trace, Skip)) for item in xlam.traces(record, PLACE))
        assert all(isinstance(item, (Case, Skip)) for item in rows.cases(record, PLACE))

"""Cases from DeepEval goldens: both ways of writing names, and what a missing value means."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.case.case import Case
from rightcall.case.load import load_cases
from rightcall.case.sources import deepeval
from rightcall.case.sources.registry import SOURCES
from rightcall.errors import Place
from rightcall.trace.sources.dialect import Skip

PLACE = Place("goldens.json", None, None, "$")


def golden(**changes):
    return {"input": "Cold in Oslo?", "actual_output": None, "expected_output": "4 °C", "context": ["Norway"], "name": "oslo",
            "tools_called": None, "expected_tools": [{"name": "weather", "input_parameters": {"city": "Oslo"}}], **changes}  # fmt: skip


def read(row):
    (case,) = deepeval.cases(row, PLACE)
    assert isinstance(case, Case), case
    return case


def test_a_golden_is_a_case_whose_calls_have_no_order():
    case = read(golden())
    assert (case.id, case.request, case.expect.order) == ("oslo", "Cold in Oslo?", "any")
    assert [(call.tool, call.arguments) for call in case.expect.calls] == [("weather", {"city": "Oslo"})]
    assert (case.context, case.metadata) == ({"documents": ["Norway"]}, {"expected_output": "4 °C"})


def test_names_may_be_in_camel_case():
    case = read({"input": "x", "expectedTools": [{"name": "f", "inputParameters": {"a": 1}}], "expectedOutput": "y"})
    assert (case.expect.calls[0].arguments, case.metadata) == ({"a": 1}, {"expected_output": "y"})


@pytest.mark.parametrize(("written", "meant"), [(None, None), ({}, {}), ({"format": "iso"}, {"format": "iso"})])
def test_unknown_parameters_are_any_and_none_are_none(written, meant):
    (call,) = read(golden(expected_tools=[{"name": "f", "input_parameters": written}])).expect.calls
    assert call.arguments == meant


def test_no_list_is_no_golden_and_an_empty_one_expects_no_call():
    assert read(golden(expected_tools=None)).expect is None
    assert read(golden(expected_tools=[])).expect.calls == ()


def test_a_golden_without_a_name_is_called_by_its_place(tmp_path):
    path = tmp_path / "goldens.json"
    path.write_text(json.dumps([golden(), golden(name=None)]))
    assert [case.id for case in load_cases(path)] == ["oslo", "goldens[1]"]


@pytest.mark.parametrize(
    "row",
    [
        None,
        {"input": 7, "expected_tools": []},
        golden(expected_tools={}),
        golden(expected_tools=[{}]),
        golden(expected_tools=[{"name": "f", "input_parameters": [1]}]),
    ],
)
def test_what_is_no_golden_is_skipped(row):
    (skip,) = deepeval.cases(row, PLACE)
    assert (skip.code, skip.place) == ("CASE_INVALID", PLACE)


def test_only_this_source_claims_a_golden():
    assert [name for name, source in SOURCES.items() if source.detect([golden()])] == ["deepeval"]
    assert not deepeval.detect({"scenario": "x", "expected_outcome": "y"})


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["name", "input", "expected_tools", "input_parameters", "similar"]), inner, max_size=4
            )
        ),
        max_leaves=15,
    )
)
def test_any_json_gives_cases_or_skips(value):
    for row in (value, golden(expected_tools=value), golden(expected_tools=[value]), golden(context=value, name=value)):
        assert all(isinstance(item, (Case, Skip)) for item in deepeval.cases(row, PLACE))

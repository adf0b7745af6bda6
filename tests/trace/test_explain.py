"""The careful second reading: every fault, its place, and the nearest valid name."""

import pytest

from rightcall.case.case import Case
from rightcall.trace.explain import Fault, explain, nearest
from rightcall.trace.sources.native import Line


def faults(value, kind=Line, root="$"):
    return [str(fault) for fault in explain(kind, value, root)]


def test_a_good_record_has_no_fault():
    assert faults({"id": "t", "events": [{"type": "call", "tool": "a", "arguments": {}}]}) == []
    assert faults({"id": "t", "calls": [{"tool": "a", "result": None}], "metadata": {"anything": {"goes": 1}}}) == []


def test_an_unknown_field_is_named_with_the_nearest_valid_name():
    assert faults({"id": "t", "calls": [], "compelted": True}) == [
        "unknown field `compelted` at $.compelted, did you mean `completed`?"
    ]


def test_where_no_name_is_near_all_valid_ones_are_listed():
    (text,) = faults({"id": "t", "calls": [{"tool": "a", "zzz": 1}]})
    assert text.startswith("unknown field `zzz` at $.calls[0].zzz, known here: arguments, ")
    assert "tool" in text


@pytest.mark.parametrize(
    ("event", "text"),
    [
        ({"type": "call", "tool": "a", "argumnets": {}}, "at $.events[0].argumnets, did you mean `arguments`?"),
        ({"type": "message", "role": "user", "txet": ""}, "at $.events[0].txet, did you mean `text`?"),
        ({"type": "call", "tool": "a", "result": {"contnet": 1}}, ".events[0].result.contnet, did you mean `content`?"),
    ],
)
def test_the_valid_names_are_those_of_the_place(event, text):
    (found,) = faults({"id": "t", "events": [event]})
    assert text in found


def test_a_missing_field_is_named():
    assert faults({"calls": []}) == ["field `id` is missing at $.id, add it"]


@pytest.mark.parametrize("event", [{"tool": "a"}, {"type": "tool_call", "tool": "a"}])
def test_an_event_needs_a_type(event):
    (found,) = faults({"id": "t", "events": [event]})
    assert 'an event needs `type`: "call" or "message"' in found


def test_a_wrong_type_shows_what_was_found():
    (found,) = faults({"id": 7, "calls": []})
    assert "valid string" in found
    assert "got 7 at $.id" in found


def test_a_long_value_is_cut():
    (found,) = faults({"id": ["x" * 100], "calls": []})
    assert "…" in found
    assert len(found) < 120


def test_nothing_is_coerced():
    assert len(faults({"id": "t", "calls": [], "trial": "1", "completed": 1})) == 2


def test_every_fault_is_listed_unknown_fields_first():
    found = faults({"id": 7, "calls": [], "compelted": True, "agent": {"nmae": "a"}})
    assert {text.split(" at ")[0] for text in found[:2]} == {"unknown field `nmae`", "unknown field `compelted`"}
    assert len(found) == 3


def test_paths_begin_at_the_given_root():
    (found,) = faults({"id": "c", "expcet": {}}, Case, "$[3]")
    assert found == "unknown field `expcet` at $[3].expcet, did you mean `expect`?"


def test_cases_are_explained_by_the_same_engine():
    value = {"id": "c", "expect": {"calls": [{"tool": "t", "optinal": True}], "alternatives": [{"ordr": "any"}]}}
    found = faults(value, Case)
    assert "unknown field `optinal` at $.expect.calls[0].optinal, did you mean `optional`?" in found
    assert "unknown field `ordr` at $.expect.alternatives[0].ordr, did you mean `order`?" in found
    assert "field `calls` is missing at $.expect.alternatives[0].calls, add it" in found


def test_a_literal_field_lists_what_it_takes():
    (found,) = faults({"id": "c", "expect": {"calls": [], "order": "strict"}}, Case)
    assert "'listed', 'partial' or 'any'" in found
    assert 'got "strict" at $.expect.order' in found


def test_a_fault_is_one_line():
    assert str(Fault("$.a", "wrong")) == "wrong at $.a"
    assert str(Fault("$.a", "wrong", "fix it")) == "wrong at $.a, fix it"


def test_the_nearest_name_must_look_alike():
    assert nearest("argumnets", ["arguments", "result"]) == "arguments"
    assert nearest("xyz", ["arguments", "result"]) is None

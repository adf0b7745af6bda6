"""What a judge sees: everything that counts, our own call ids, and never who the agent is."""

import json

import pytest
from msgspec import Raw
from msgspec.structs import replace

from rightcall.case.case import Case, Expect, GoldenCall, Way
from rightcall.case.step import Step
from rightcall.judge.views import call_ids, rubric_values, selection_values
from rightcall.trace.catalog import Catalog
from rightcall.trace.model import Agent, Call, Label, Message, Tool, Trace, TraceFinding, call

CATALOG = Catalog(
    (
        Tool(
            name="open",
            description="Open a lock.",
            parameters={"type": "object"},
            annotations={"destructiveHint": False},
        ),
        Tool(name="close"),
    )
)
SHOWN = [
    {
        "name": "open",
        "description": "Open a lock.",
        "parameters": {"type": "object"},
        "annotations": {"destructiveHint": False},
    },
    {"name": "close", "description": None, "parameters": None},
]


# ---- steps ----


def test_a_step_is_its_request_context_catalog_and_two_names():
    step = Step(id="s", selected="open", expected=None, request="Open it.", context={"system": "Be careful."})
    assert selection_values(step, CATALOG) == {
        "USER_REQUEST": "Open it.", "CONTEXT": {"system": "Be careful."}, "AVAILABLE_TOOLS": SHOWN,
        "SELECTED_TOOL_NAME": "open", "EXPECTED_TOOL_NAME": None,
    }  # fmt: skip


def test_no_catalog_and_an_empty_one_are_different():
    step = Step(id="s", selected=None, expected=None)
    assert selection_values(step, None)["AVAILABLE_TOOLS"] is None
    assert selection_values(step, Catalog(()))["AVAILABLE_TOOLS"] == []


@pytest.mark.parametrize(
    ("context", "request_"),
    [
        ({"history": [{"role": "assistant", "text": "Hello."}, {"role": "user", "text": "Open it."}]}, "Open it."),
        ({"history": [{"tool": "open"}, "x", {"role": "user", "text": None}]}, None),
        ({"history": None}, None),
        ("text", None),
        (None, None),
    ],
)
def test_a_step_without_a_request_takes_the_first_thing_that_the_user_said(context, request_):
    step = Step(id="s", selected=None, expected=None, context=context)
    assert selection_values(step, None)["USER_REQUEST"] == request_
    assert selection_values(replace(step, request=""), None)["USER_REQUEST"] == ""


# ---- traces ----

TRACE = Trace(
    id="t-1",
    case_id="c",
    request="Open it.",
    context={"system": "Be careful."},
    agent=Agent(name="lock-agent", version="v41", model="vendor/model-x"),
    events=(
        Message(role="user", text="Open it.", at="2026-11-29T10:00:00Z"),
        replace(call("open", {"lock": 1}, result={"ok": True}, id="zz", turn=1), agent="lock-agent"),
        replace(call("look", {}, turn=1), by="user"),
        Message(role="assistant", text="Open.", agent="lock-agent"),
        call("close", {"lock": 1}, error="jammed", turn=2, id="zz"),
    ),
    completed=True,
    findings=(TraceFinding(code="CLOCK_SKEW", message="clocks differ"),),
    labels=(Label(name="helpful", value=1, kind="judge"),),
    metadata={"experiment": "blue"},
)


def test_a_trace_is_shown_in_order_with_our_own_call_ids():
    assert rubric_values(TRACE, CATALOG)["AGENT_TOOL_CALLS"] == [
        {"role": "user", "text": "Open it.", "at": "2026-11-29T10:00:00Z"},
        {
            "call_id": "c1",
            "tool": "open",
            "arguments": {"lock": 1},
            "turn": 1,
            "result": {"is_error": False, "content": {"ok": True}},
        },
        {"by": "user", "tool": "look", "arguments": {}, "turn": 1, "result": "no result recorded"},
        {"role": "assistant", "text": "Open."},
        {
            "call_id": "c2",
            "tool": "close",
            "arguments": {"lock": 1},
            "turn": 2,
            "result": {"is_error": True, "content": "jammed"},
        },
    ]
    assert call_ids(TRACE) == {"c1": "open", "c2": "close"}


def test_the_other_values_of_a_trace():
    values = rubric_values(TRACE, CATALOG)
    assert values["USER_REQUEST"] == "Open it."
    assert values["CONTEXT"] == {"system": "Be careful."}
    assert values["AVAILABLE_TOOLS"] == SHOWN
    assert values["RECORDING"] == {"completed": True, "findings": [{"code": "CLOCK_SKEW", "message": "clocks differ"}]}
    assert values["GOLDEN_TRACE"] is None


def test_identity_labels_and_metadata_are_never_shown():
    text = json.dumps(rubric_values(TRACE, CATALOG))
    assert [word for word in ("lock-agent", "v41", "vendor/model-x", "helpful", "blue", "t-1") if word in text] == []


def test_keys_of_the_context_that_repeat_the_agents_identity_are_dropped_and_others_stay():
    context = {
        "system": "You are v41 of lock-agent.", "model": "vendor/model-x", "agent": {"name": "lock-agent", "version": "v41", "model": "vendor/model-x"},
        "state": [{"version": "v41", "model": "Golf", "name": None, "title": "lock-agent"}],
    }  # fmt: skip
    seen = rubric_values(replace(TRACE, context=context), None)["CONTEXT"]
    assert seen == {
        "system": "You are v41 of lock-agent.",
        "state": [{"model": "Golf", "name": None, "title": "lock-agent"}],
    }
    assert rubric_values(replace(TRACE, context=context, agent=None), None)["CONTEXT"] == context


def test_request_and_context_are_the_traces_own_else_the_cases():
    case = Case(id="c", request="Of the case.", context="Known.")
    bare = replace(TRACE, request=None, context=None)
    values = rubric_values(bare, None, case)
    assert (values["USER_REQUEST"], values["CONTEXT"]) == ("Of the case.", "Known.")
    values = rubric_values(replace(TRACE, request="", context=""), None, case)
    assert (values["USER_REQUEST"], values["CONTEXT"]) == ("", "")


def test_a_request_that_nobody_states_is_the_first_thing_that_the_user_said():
    assert rubric_values(replace(TRACE, request=None), None)["USER_REQUEST"] == "Open it."
    silent = replace(TRACE, request=None, events=(Message(role="assistant", text="?"), Message(role="user")))
    assert rubric_values(silent, None)["USER_REQUEST"] is None


def test_a_trace_without_events_is_an_empty_list_and_unknown_completion_is_null():
    values = rubric_values(Trace(id="t"), None)
    assert values["AGENT_TOOL_CALLS"] == []
    assert values["RECORDING"] == {"completed": None, "findings": []}


def test_arguments_that_were_not_captured_are_not_empty():
    trace = Trace(id="t", events=(Call(tool="open", arguments_status="not_captured"),))
    (shown,) = rubric_values(trace, None)["AGENT_TOOL_CALLS"]
    assert shown["arguments_status"] == "not_captured"
    assert "arguments" not in shown


# ---- goldens ----


def golden(expect):
    return rubric_values(TRACE, None, Case(id="c", expect=expect))["GOLDEN_TRACE"]


def test_the_acceptable_ways_are_shown_as_written_with_the_order_that_counts():
    first = GoldenCall(tool="open", label="o", arguments_json=Raw(b'{"lock": {"any_of": [1, 2]}}'))
    then = GoldenCall(tool="close", after=("o",), optional=True)
    other = Way(name="by hand", calls=(GoldenCall(tool="close", arguments_json=Raw(b"{}")),), order="any")
    assert golden(Expect(calls=(first, then), alternatives=(other,))) == [
        {
            "order": "partial",
            "calls": [
                {"tool": "open", "label": "o", "arguments": {"lock": {"any_of": [1, 2]}}},
                {"tool": "close", "after": ["o"], "optional": True},
            ],
        },
        {"name": "by hand", "order": "any", "calls": [{"tool": "close", "arguments": {}}]},
    ]


def test_a_golden_without_calls_says_that_no_tool_may_be_called_and_no_golden_is_null():
    assert golden(Expect(calls=())) == [{"order": "listed", "calls": []}]
    assert golden(None) is None

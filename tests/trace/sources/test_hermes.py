"""Hermes conversations: calls between tags, bodies that are no JSON, results by name and order."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.errors import Place
from rightcall.trace.model import Message, Trace
from rightcall.trace.sources import hermes
from rightcall.trace.sources.dialect import Skip

PLACE = Place("rows.json", None, None, "$[0]")
TOOL = {"type": "function", "function": {"name": "weather", "description": "d", "parameters": {"type": "object"}}}


def row(*said, **more):
    return {"id": "r-1", "conversations": [{"from": who, "value": value} for who, value in said], **more}


def read(*said, **more):
    (trace,) = hermes.traces(row(*said, **more), PLACE)
    assert isinstance(trace, Trace), trace
    return trace


def wrapped(body):
    return f"<tool_call>\n{body}\n</tool_call>"


CALL = wrapped('{"name": "weather", "arguments": {"city": "Oslo"}}')


def test_a_conversation_with_its_call_and_result():
    prompt = f"You call.\n<tools> {json.dumps([TOOL])} </tools>"
    response = '<tool_response>\n{"name": "weather", "content": {"c": 4}}\n</tool_response>'
    trace = read(
        ("system", prompt), ("human", "Cold?"), ("gpt", f"Let me see.\n{CALL}"), ("tool", response), ("gpt", "4 °C.")
    )
    assert hermes.detect(row(("human", "x")))
    assert (trace.id, trace.request, trace.completed, trace.findings) == ("r-1", "Cold?", None, ())
    (call,) = trace.calls
    assert (call.tool, call.arguments, call.turn) == ("weather", {"city": "Oslo"}, 1)
    assert (call.result.content, call.result.is_error) == ({"c": 4}, None)
    assert [event.text for event in trace.events if isinstance(event, Message)] == [
        prompt,
        "Cold?",
        "Let me see.",
        "4 °C.",
    ]
    assert [tool["name"] for tool in json.loads(bytes(trace.tools_json))] == ["weather"]


def test_T11_several_calls_of_one_text_are_parallel_and_answered_by_name():  # noqa: N802
    second = wrapped('{"name": "tide", "arguments": {}}')
    responses = "".join(
        f"<tool_response>{json.dumps({'name': n, 'content': n})}</tool_response>" for n in ("tide", "weather")
    )
    trace = read(("gpt", CALL + second), ("tool", responses))
    assert [(call.tool, call.turn, call.result.content) for call in trace.calls] == [
        ("weather", 1, "weather"),
        ("tide", 1, "tide"),
    ]
    assert trace.events[0].text is None


@pytest.mark.parametrize(
    ("body", "tool", "status", "codes"),
    [
        ("{'name': 'weather', 'arguments': {'city': 'Oslo', 'now': True}}", "weather", "ok", ["TRACE_MALFORMED"]),
        ('{"name": "weather", "arguments": {"city": Oslo}}', "weather", "malformed", ["TRACE_ARGS_UNPARSEABLE"]),
        ('{"name": "weather", "arguments": "{\\"city\\": 1}"}', "weather", "ok", []),
        ('{"name": "weather", "arguments": [1]}', "weather", "not_object", ["TRACE_ARGS_NOT_OBJECT"]),
        ('{"name": "weather"}', "weather", "missing", ["TRACE_ARGS_MISSING"]),
        ('[{"name": "weather", "arguments": {}}]', "weather", "ok", []),
    ],
)
def test_a_body_is_kept_as_it_was_written(body, tool, status, codes):
    trace = read(("gpt", wrapped(body)))
    (call,) = trace.calls
    assert (call.tool, call.arguments_status) == (tool, status)
    assert [finding.code for finding in trace.findings] == codes
    if status == "malformed":
        assert call.arguments_raw == body


@pytest.mark.parametrize("body", ["weather in Oslo", "{}", "7", '{"name": "a", "x": {"name": "b"} oops'])
def test_a_body_that_names_no_tool_stays_text(body):
    trace = read(("gpt", "So: " + wrapped(body)))
    assert trace.calls == ()
    assert trace.events[0].text == f"So:\n{body}"
    assert [finding.code for finding in trace.findings] == ["TRACE_MALFORMED"]


def test_a_text_that_ends_inside_a_call_is_incomplete():
    trace = read(("gpt", '<tool_call>{"name": "weather", "arguments": {"ci'))
    assert (trace.completed, trace.calls[0].arguments_status) == (False, "malformed")
    assert trace.findings[0].code == "TRACE_TRUNCATED"


def test_the_other_sharegpt_roles_are_calls_and_results_as_a_whole():
    trace = read(
        ("human", "Cold?"),
        ("function_call", '{"name": "weather", "arguments": {"city": "Oslo"}}'),
        ("observation", "4 °C"),
        tools=json.dumps([TOOL]),
        system="Be brief.",
    )
    (call,) = trace.calls
    assert (call.arguments, call.result.content) == ({"city": "Oslo"}, "4 °C")
    assert trace.events[0].text == "Be brief."
    assert json.loads(bytes(trace.tools_json))[0]["name"] == "weather"


@pytest.mark.parametrize(
    "tools", [[TOOL], json.dumps([TOOL]), json.dumps(TOOL), f"{json.dumps(TOOL)}\n{json.dumps({'name': 'tide'})}"]
)
def test_a_catalog_may_be_packed_in_any_way(tools):
    assert json.loads(bytes(read(("human", "x"), tools=tools).tools_json))[0]["name"] == "weather"


@pytest.mark.parametrize("tools", ["[", "7", [7]])
def test_a_catalog_that_cannot_be_read_is_a_finding(tools):
    assert [finding.code for finding in read(("human", "x"), tools=tools).findings] == ["CONFIG_TOOL_INVALID"]


@pytest.mark.parametrize(("who", "value"), [("robot", "x"), ("gpt", 7), (None, "x"), ("tool", "an answer to nothing")])
def test_what_cannot_be_read_is_a_finding(who, value):
    trace = read(("human", "x"), (who, value))
    assert len(trace.findings) == 1


@pytest.mark.parametrize(
    "value",
    [None, {}, {"conversations": []}, {"conversations": [7]}, {"conversations": [{"role": "user", "content": "x"}]}],
)
def test_what_is_no_conversation_is_not_claimed(value):
    assert not hermes.detect(value)


@pytest.mark.parametrize("value", [None, {"conversations": []}, {"conversations": [7]}])
def test_what_cannot_be_read_at_all_is_skipped(value):
    (skip,) = hermes.traces(value, PLACE)
    assert isinstance(skip, Skip)


def test_hostile_text_takes_linear_time():
    started = time.process_time()
    for text in (
        "<tool_call>" * 20_000,
        wrapped("(" * 5_000),
        wrapped('{"name": ' * 5_000),
        "<tool_call></tool_call>" * 5_000,
    ):
        read(("gpt", text))
    assert time.process_time() - started < 5


@given(st.text(alphabet="<tol_cal>/{}\"'name:,[]() ", max_size=60))
def test_any_text_gives_a_trace(text):
    assert isinstance(read(("gpt", "<tool_call>" + text), ("tool", text)), Trace)


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["from", "value", "conversations", "name"]), inner, max_size=4)
        ),
        max_leaves=15,
    )
)
def test_any_json_gives_traces_or_skips(value):
    for record in (value, {"conversations": value}, {"conversations": [value]}, row(("human", "x"), tools=value)):
        assert all(isinstance(item, (Trace, Skip)) for item in hermes.traces(record, PLACE))

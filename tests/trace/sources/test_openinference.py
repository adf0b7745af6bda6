"""OpenInference spans: what is a call, whose result is whose, what was lost, who said it. The spans are invented."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from rightcall.errors import Place, TraceError
from rightcall.trace.model import Message, Trace
from rightcall.trace.sources import openinference, registry
from rightcall.trace.sources.dialect import Skip

PLACE = Place("spans.json")

TRACE = "ab" * 16


def value(item):
    kinds = {bool: "boolValue", int: "intValue", float: "doubleValue", str: "stringValue"}
    return {kinds[type(item)]: str(item) if type(item) is int else item}


def span(number, kind, attributes=None, *, name="span", parent=None, trace=TRACE, status=None, **more):
    """One span of OTLP/JSON; its number says when it starts."""
    pairs = {"openinference.span.kind": kind, **(attributes or {})}
    raw = {
        "traceId": trace,
        "spanId": f"{number:016x}",
        "name": name,
        "startTimeUnixNano": str(number * 1000),
        "endTimeUnixNano": str(number * 1000 + 900),
        "attributes": [{"key": key, "value": value(item)} for key, item in pairs.items() if item is not None],
        "status": {"code": status or "STATUS_CODE_OK"},
        **more,
    }
    return raw if parent is None else {**raw, "parentSpanId": f"{parent:016x}"}


def document(*spans):
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {"name": "x"}, "spans": list(spans)}]}]}


def flat(side, *messages):
    """Messages as flattened attributes."""
    found = {}
    for index, message in enumerate(messages):
        if message is not None:
            found |= {f"llm.{side}_messages.{index}.message.{key}": item for key, item in message.items()}
    return found


def says(role, text):
    return {"role": role, "content": text}


def calls(*entries, text=None):
    """A message of the assistant with calls `(name, arguments, id)`."""
    message = {"role": "assistant", "content": text}
    for index, (name, arguments, id_) in enumerate(entries):
        start = f"tool_calls.{index}.tool_call"
        message |= {f"{start}.id": id_, f"{start}.function.name": name, f"{start}.function.arguments": arguments}
    return {key: item for key, item in message.items() if item is not None}


def result(id_, text, name=None):
    message = {"role": "tool", "content": text, "tool_call_id": id_, "name": name}
    return {key: item for key, item in message.items() if item is not None}


def llm(number, inputs, *outputs, parent=None, status=None, more=None, **fields):
    attributes = {**flat("input", *inputs), **flat("output", *outputs), **(more or {})}
    return span(number, "LLM", attributes, name="chat", parent=parent, status=status, **fields)


def tool(number, name, given=None, gave=None, *, parent=None, status=None, kind="TOOL", more=None, **fields):
    attributes = {"tool.name": name, "input.value": given, "output.value": gave, **(more or {})}
    return span(number, kind, attributes, name=name, parent=parent, status=status, **fields)


def wrapped(id_, text, status="success"):
    """LangChain's own tool message, as its emitter writes a result."""
    return json.dumps({"type": "tool", "data": {"content": text, "tool_call_id": id_, "status": status}})


def read_all(*spans):
    return list(openinference.traces(document(*spans), PLACE))


def read(*spans):
    """Read spans that must give one trace."""
    (trace,) = read_all(*spans)
    assert isinstance(trace, Trace), trace
    return trace


def skip_of(*spans):
    (skip,) = read_all(*spans)
    assert isinstance(skip, Skip), skip
    return skip


def told(trace):
    """A trace's calls in short: tool, arguments or their status, content of the result, error, turn."""
    return [
        (
            c.tool,
            c.arguments if c.arguments_status == "ok" else c.arguments_status,
            c.result and c.result.content,
            c.failed,
            c.turn,
        )
        for c in trace.calls
    ]


def codes(trace):
    return [finding.code for finding in trace.findings]


ASK = [says("system", "You sell tea."), says("user", "Is oolong in stock?")]
LOOK = calls(("stock", '{"tea": "oolong"}', "c1"))


# ---- a conversation ----


def test_a_trace_is_told_once_though_every_span_repeats_its_history():  # T12
    trace = read(
        span(1, "AGENT", {"session.id": "s-9", "metadata": '{"shop": 3}'}, name="seller"),
        llm(2, ASK, LOOK, parent=1, more={"llm.model_name": "m-1"}),
        tool(3, "stock", '{"tea": "oolong"}', "12 tins", parent=1),
        llm(4, [*ASK, LOOK, result("c1", "12 tins")], says("assistant", "Yes, 12 tins."), parent=1),
        llm(
            5,
            [*ASK, LOOK, result("c1", "12 tins"), says("assistant", "Yes, 12 tins."), says("user", "Thanks!")],
            says("assistant", "Bye."),
            parent=1,
        ),
    )
    assert trace.id == TRACE
    assert trace.request == "Is oolong in stock?"
    assert (trace.agent.name, trace.agent.model) == ("seller", "m-1")
    assert trace.metadata == {"shop": 3, "session": "s-9"}
    assert trace.completed is None
    assert trace.findings == ()
    said = [(event.role, event.text) if isinstance(event, Message) else event.tool for event in trace.events]
    assert said == [
        ("system", "You sell tea."), ("user", "Is oolong in stock?"), ("assistant", None), "stock",
        ("assistant", "Yes, 12 tins."), ("user", "Thanks!"), ("assistant", "Bye."),
    ]  # fmt: skip
    assert told(trace) == [("stock", {"tea": "oolong"}, "12 tins", None, 1)]
    (call,) = trace.calls
    assert (call.id, call.started_at, call.result.at) == (
        "c1",
        "1970-01-01T00:00:00.000003Z",
        "1970-01-01T00:00:00.0000039Z",
    )


def test_calls_of_one_reply_are_one_turn_and_results_come_in_any_order():  # T11
    both = calls(("stock", '{"tea": "a"}', "c1"), ("stock", '{"tea": "b"}', "c2"))
    history = [*ASK, both, result("c2", "2"), result("c1", "1")]
    trace = read(llm(1, ASK, both), llm(2, history, calls(("order", "{}", "c3"))))
    assert told(trace) == [
        ("stock", {"tea": "a"}, "1", None, 1),
        ("stock", {"tea": "b"}, "2", None, 1),
        ("order", {}, None, None, 2),
    ]


def test_messages_are_ordered_by_number_and_not_by_text():  # 10 after 9
    history = [says("user", f"line {number}") for number in range(12)]
    trace = read(llm(1, history, says("assistant", "Done.")))
    assert [event.text for event in trace.events[:12]] == [f"line {number}" for number in range(12)]
    assert trace.completed is None


def test_spans_are_told_in_the_order_of_their_start_and_not_of_the_file():
    first, second = llm(1, ASK, LOOK), llm(3, [*ASK, LOOK, result("c1", "0")], calls(("reorder", "{}", "c2")))
    assert told(read(second, tool(2, "stock", gave="0"), first)) == told(
        read(first, tool(2, "stock", gave="0"), second)
    )


def test_calls_of_an_earlier_trace_are_context():  # T13
    history = [*ASK, LOOK, result("c1", "12 tins"), says("assistant", "Yes."), says("user", "Order one.")]
    trace = read(llm(1, history, calls(("order", '{"tins": 1}', "c2"))))
    assert told(trace) == [("order", {"tins": 1}, None, None, 3)]
    assert trace.request == "Is oolong in stock?"
    assert [event["type"] for event in trace.context["history"]] == ["message", "message", "call"]
    assert trace.context["history"][2]["result"] == {"content": "12 tins"}
    assert [event.text for event in trace.events if isinstance(event, Message)] == ["Yes.", "Order one.", None]


def test_a_history_that_the_program_has_cut_is_taken_up_after_the_last_known_call():
    second = calls(("stock", '{"tea": "b"}', "c2"))
    trace = read(
        llm(1, ASK, LOOK),
        llm(2, [*ASK, LOOK, result("c1", "1")], second),
        llm(3, [says("user", "(summary)"), second, result("c2", "2")], says("assistant", "Both.")),
    )
    assert [row[2] for row in told(trace)] == ["1", "2"]
    assert trace.findings == ()


def test_the_same_request_again_is_no_new_history():
    trace = read(llm(1, ASK, status="STATUS_CODE_ERROR"), llm(2, ASK, LOOK))
    assert [event.text for event in trace.events if isinstance(event, Message)] == [
        "You sell tea.",
        "Is oolong in stock?",
        None,
    ]
    assert codes(trace) == ["TRACE_HTTP_ERROR"]
    assert trace.completed is None


def test_a_call_of_a_span_that_was_not_recorded_is_read_from_the_next_history():
    lost = calls(("pack", "{}", "c2"))
    trace = read(
        llm(1, ASK, LOOK),
        llm(3, [*ASK, LOOK, result("c1", "1"), lost, result("c2", "packed")], says("assistant", "Sent.")),
    )
    assert told(trace) == [("stock", {"tea": "oolong"}, "1", None, 1), ("pack", {}, "packed", None, 2)]
    assert codes(trace) == ["TRACE_INCOMPLETE"]


# ---- tools ----


def test_arguments_come_from_the_model_and_the_outcome_from_the_tool():  # T8
    trace = read(llm(1, ASK, LOOK), tool(2, "stock", "oolong", wrapped("c1", "12 tins")))
    assert told(trace) == [("stock", {"tea": "oolong"}, "12 tins", False, 1)]


def test_a_bare_value_without_its_model_span_is_not_captured():  # T8
    (call,) = read(tool(1, "stock", "oolong", wrapped("c1", "12 tins"))).calls
    assert (call.id, call.arguments_status, call.arguments_raw) == ("c1", "not_captured", "oolong")


@pytest.mark.parametrize("kind", ["TOOL", "AGENT", "CHAIN", "tool"])
def test_whatever_names_a_tool_is_a_tool(kind):  # T7
    trace = read(llm(1, ASK, calls(("hand_to_agent", "{}", "c1"))), tool(2, "hand_to_agent", "{}", "ok", kind=kind))
    assert told(trace) == [("hand_to_agent", {}, "ok", None, 1)]
    assert trace.findings == ()


def exception(text):
    return [
        {
            "name": "exception",
            "timeUnixNano": "5",
            "attributes": [{"key": "exception.message", "value": {"stringValue": text}}],
        }
    ]


def test_errors_are_known_from_the_status_or_from_langchains_message():  # T10
    asked = calls(("a", "{}", "c1"), ("b", "{}", "c2"), ("c", "{}", "c3"), ("d", "{}", "c4"))
    trace = read(
        llm(1, ASK, asked),
        tool(2, "a", status="STATUS_CODE_ERROR", events=exception("no such tea")),
        tool(3, "b", gave=wrapped("c2", "Error: shut", "error")),
        tool(4, "c", gave=wrapped("c3", "Error is the brand's name")),
        tool(5, "d", gave="Error: the framework gave it back", status="STATUS_CODE_OK"),
    )
    assert [(content, failed) for _, _, content, failed, _ in told(trace)] == [
        ("no such tea", True), ("Error: shut", True), ("Error is the brand's name", False),
        ("Error: the framework gave it back", None),
    ]  # fmt: skip


def test_what_the_model_was_shown_is_the_content_of_a_result():
    trace = read(
        llm(1, ASK, LOOK),
        tool(2, "stock", status="STATUS_CODE_ERROR", events=exception("KeyError")),
        llm(3, [*ASK, LOOK, result("c1", "Error: no such tea. Try again.")], says("assistant", "Sorry.")),
    )
    assert told(trace) == [("stock", {"tea": "oolong"}, "Error: no such tea. Try again.", True, 1)]


def test_tool_spans_without_an_id_are_paired_by_agent_order_and_name():  # T2
    trace = read(
        span(1, "AGENT", {"agent.name": "a"}),
        span(2, "AGENT", {"agent.name": "b"}),
        llm(3, [says("user", "A")], calls(("look", '{"n": 1}', "a1"), ("look", '{"n": 2}', "a2")), parent=1),
        llm(4, [says("user", "B")], calls(("look", '{"n": 3}', "b1")), parent=2),
        tool(5, "look", gave="first of a", parent=1),
        tool(6, "look", gave="of b", parent=2),
        tool(7, "look", gave="second of a", parent=1),
    )
    assert [(c.id, c.result.content, c.agent) for c in trace.calls] == [
        ("a1", "first of a", "a"), ("a2", "second of a", "a"), ("b1", "of b", "b"),
    ]  # fmt: skip
    assert trace.findings == ()


def test_an_id_that_is_used_again_belongs_to_the_nearest_call():  # T1
    again = calls(("stock", '{"tea": "mate"}', "c1"))
    trace = read(
        llm(1, ASK, LOOK),
        llm(2, [*ASK, LOOK, result("c1", "1")], again),
        llm(3, [*ASK, LOOK, result("c1", "1"), again, result("c1", "2")], says("assistant", "Done.")),
    )
    assert [row[1:3] for row in told(trace)] == [({"tea": "oolong"}, "1"), ({"tea": "mate"}, "2")]
    assert codes(trace) == ["TRACE_DUPLICATE_ID"]


def test_a_run_that_no_model_asked_for_is_a_call_with_a_finding():
    trace = read(llm(1, ASK, LOOK), tool(2, "audit", '{"why": "law"}', "ok"))
    assert told(trace) == [("stock", {"tea": "oolong"}, None, None, 1), ("audit", {"why": "law"}, "ok", None, 2)]
    assert codes(trace) == ["TRACE_INCOMPLETE"]


def test_a_run_within_a_tools_run_is_no_call():
    trace = read(llm(1, ASK, LOOK), tool(2, "stock", gave="1"), tool(3, "sql", "{}", "rows", parent=2))
    assert [call.tool for call in trace.calls] == ["stock"]
    assert codes(trace) == ["TRACE_ORPHAN_RESULT"]


def test_a_tool_span_that_names_no_tool_is_no_call_beside_a_models():
    trace = read(llm(1, ASK, LOOK), span(2, "TOOL", {"output.value": "x"}, name="handoff"))
    assert [call.tool for call in trace.calls] == ["stock"]
    assert codes(trace) == ["TRACE_ORPHAN_RESULT"]
    assert told(read(span(2, "TOOL", {"output.value": "x", "input.value": "{}"}, name="weigh"))) == [
        ("weigh", {}, "x", None, 1)
    ]


def test_an_agent_as_a_tool_speaks_for_itself():
    trace = read(
        span(1, "AGENT", {"agent.name": "boss"}),
        llm(2, ASK, calls(("ask_helper", '{"q": "?"}', "c1")), parent=1),
        tool(3, "ask_helper", '{"q": "?"}', "42", parent=1),
        span(4, "AGENT", {"graph.node.id": "helper"}, parent=3),
        llm(5, [says("system", "Help."), says("user", "?")], says("assistant", "42"), parent=4),
        llm(
            6,
            [*ASK, calls(("ask_helper", '{"q": "?"}', "c1")), result("c1", "42")],
            says("assistant", "It is 42."),
            parent=1,
        ),
    )
    assert told(trace) == [("ask_helper", {"q": "?"}, "42", None, 1)]
    assert [event.agent for event in trace.events] == [
        "boss",
        "boss",
        "boss",
        "boss",
        "helper",
        "helper",
        "helper",
        "boss",
    ]


def test_a_request_that_two_instruments_recorded_is_one():
    trace = read(llm(1, ASK, LOOK), llm(2, ASK, LOOK, parent=1), tool(3, "stock", gave="1"))
    assert told(trace) == [("stock", {"tea": "oolong"}, "1", None, 1)]


def test_an_evaluators_requests_are_not_the_agents():
    trace = read(
        llm(1, ASK, LOOK),
        span(2, "EVALUATOR"),
        llm(3, ASK, calls(("grade", "{}", "e1")), parent=2),
        tool(4, "grade", "{}", "5", parent=2),
    )
    assert [call.tool for call in trace.calls] == ["stock"]
    assert codes(trace) == ["TRACE_INCOMPLETE"]


def test_calls_in_another_agents_history_are_of_no_span_of_this_trace():
    before = [
        says("user", "Weigh it."),
        calls(("weigh", "{}", "x1")),
        result("x1", "2 g"),
        says("user", "And the price?"),
    ]
    trace = read(llm(1, ASK, LOOK), llm(2, before, says("assistant", "3 coins.")))
    assert [call.tool for call in trace.calls] == ["stock"]
    assert [event.text for event in trace.events if isinstance(event, Message)][-2:] == ["And the price?", "3 coins."]
    assert codes(trace) == ["TRACE_INCOMPLETE"]


def test_a_run_is_given_to_the_call_that_only_a_later_history_holds():
    trace = read(
        tool(1, "stock", "oolong", wrapped("c1", "1")),
        llm(2, [*ASK, LOOK, result("c1", "1")], calls(("order", "{}", "c2"))),
    )
    assert told(trace) == [("stock", {"tea": "oolong"}, "1", False, 1), ("order", {}, None, None, 2)]
    assert trace.context is None
    assert trace.findings == ()


def test_a_run_whose_call_was_left_out_is_a_call_at_the_end():
    known = [calls(("weigh", "{}", "x1"), ("stock", "{}", "x2")), result("x1", "2 g"), says("user", "So?")]
    trace = read(
        tool(1, "weigh", '{"g": 1}', wrapped("x1", "2 g")), llm(2, ASK, LOOK), llm(3, known, says("assistant", "Yes."))
    )
    assert [call.tool for call in trace.calls] == ["stock", "weigh"]


# ---- arguments ----


@pytest.mark.parametrize(
    ("written", "status", "raw"),
    [
        ('{"a": 12345678901234567890123}', "ok", None),
        ("", "ok", None),
        ('{"a": 1} // note', "malformed", '{"a": 1} // note'),
        ("[1]", "not_object", "[1]"),
        (None, "missing", None),
        ("__REDACTED__", "not_captured", None),
    ],
)
def test_arguments_have_a_status(written, status, raw):
    (call,) = read(llm(1, ASK, calls(("t", written, "c1")))).calls
    assert (call.arguments_status, call.arguments_raw) == (status, raw)


def test_missing_arguments_are_taken_from_the_raw_reply_if_it_has_them():  # T4
    raw = json.dumps({"output": [{"type": "function_call", "call_id": "c1", "arguments": "{}"}]})
    bare = calls(("t", None, "c1"), ("u", None, "c2"))
    assert [row[1] for row in told(read(llm(1, ASK, bare, more={"output.value": raw})))] == [{}, "missing"]


def test_arguments_that_end_too_early_make_the_trace_incomplete():
    trace = read(llm(1, ASK, calls(("note", '{"body": "Buy two', "c1"))))
    assert (trace.calls[0].arguments, trace.calls[0].arguments_raw) == (None, '{"body": "Buy two')
    assert codes(trace) == ["TRACE_ARGS_UNPARSEABLE", "TRACE_TRUNCATED"]
    assert trace.completed is False


@pytest.mark.parametrize(
    ("attributes", "status", "found"),
    [
        ({"tool.parameters": '{"n": 1}', "input.value": "1"}, "ok", {"n": 1}),
        ({"tool.parameters": '{"type": "object", "properties": {}}', "input.value": '{"n": 2}'}, "ok", {"n": 2}),
        ({"tool.parameters": '{"type": "object", "title": "T"}', "input.value": "n"}, "not_captured", "n"),
        ({"tool.parameters": "[3, 4]"}, "not_object", "[3, 4]"),
        ({"input.value": "[3, 4]", "input.mime_type": "application/json"}, "not_object", "[3, 4]"),
        ({"input.value": "{3", "input.mime_type": "application/json"}, "malformed", "{3"),
        ({"input.value": 7}, "not_captured", "7"),
        ({"input.value": "__REDACTED__"}, "not_captured", None),
        ({}, "not_captured", None),
    ],
)
def test_arguments_of_a_run_alone(attributes, status, found):
    (call,) = read(tool(1, "sum", more=attributes)).calls
    assert call.arguments_status == status
    assert (call.arguments if status == "ok" else call.arguments_raw) == found


# ---- spellings of messages ----


def test_a_call_that_stands_twice_in_a_message_is_one():
    twice = LOOK | {
        "contents.0.message_content.type": "text",
        "contents.0.message_content.text": "Looking.",
        "contents.1.message_content.type": "tool_use",
        "contents.1.message_content.tool_use.id": "c1",
        "contents.1.message_content.tool_use.name": "stock",
        "contents.2.message_content.type": "tool_use",
        "contents.2.tool_call.id": "c2",
        "contents.2.tool_call.function.name": "price",
        "contents.2.tool_call.function.arguments": "{}",
    }
    trace = read(llm(1, ASK, twice))
    assert [(call.id, call.tool, call.turn) for call in trace.calls] == [("c1", "stock", 1), ("c2", "price", 1)]
    assert trace.events[2] == Message(role="assistant", text="Looking.", turn=1, at="1970-01-01T00:00:00.0000019Z")


def test_the_oldest_spellings_of_a_call_are_read():
    old = {"role": "assistant", "function_call_name": "stock", "function_call_arguments_json": '{"tea": "x"}'}
    trace = read(
        llm(1, ASK, old),
        llm(2, [*ASK, old, {"role": "function", "name": "stock", "content": "3"}], says("assistant", "3.")),
    )
    assert told(trace) == [("stock", {"tea": "x"}, "3", None, 1)]
    trace = read(
        llm(
            1,
            ASK,
            says("assistant", ""),
            more={"llm.function_call": '{"function_name": "stock", "args": {"tea": "y"}}'},
        )
    )
    assert told(trace) == [("stock", {"tea": "y"}, None, None, 1)]
    assert told(read(llm(1, ASK, says("assistant", "Hm."), more={"llm.function_call": "{}"}))) == []


def test_results_can_be_parts_of_a_users_message():
    parts = {
        "role": "user",
        "contents.0.message_content.type": "tool_result",
        "contents.0.message_content.tool_result.tool_use_id": "c1",
        "contents.0.message_content.tool_result.content": "4",
        "contents.1.message_content.type": "text",
        "contents.1.message_content.text": "Go on.",
    }
    trace = read(llm(1, ASK, LOOK), llm(2, [*ASK, LOOK, parts], says("assistant", "4.")))
    assert told(trace) == [("stock", {"tea": "oolong"}, "4", None, 1)]
    assert [event.text for event in trace.events if isinstance(event, Message)][-2:] == ["Go on.", "4."]


def test_what_cannot_be_read_in_a_message_is_noted_once():  # T16
    picture = {
        "role": "user",
        "contents.0.message_content.type": "image",
        "contents.1.message_content.text": "What tea?",
    }
    odd = [picture, {"content": "?"}, says("oracle", "!")]
    trace = read(
        llm(1, odd, {"role": "assistant", "tool_calls.0.tool_call.id": "c1"}), llm(2, odd, says("assistant", "Oolong."))
    )
    assert trace.request == "What tea?"
    assert [(finding.code, finding.message) for finding in trace.findings] == [
        ("TRACE_INCOMPLETE", "a part of type `image` is not text and was left out"),
        ("TRACE_MALFORMED", "this message has no role"),
        ("TRACE_MALFORMED", "the role `oracle` is not known"),
        ("TRACE_MALFORMED", "this entry is not a call: it names no tool"),
    ]


def test_hidden_texts_are_not_captured():
    hidden = result("c1", "__REDACTED__")
    trace = read(
        llm(1, [says("user", "__REDACTED__")], LOOK),
        llm(2, [says("user", "__REDACTED__"), LOOK, hidden], says("assistant", "Ok.")),
    )
    assert trace.request is None
    assert not trace.calls[0].result.is_captured


# ---- what was lost ----


def test_dropped_attributes_make_a_trace_incomplete_and_no_call_wrong():  # T6
    trace = read(llm(1, ASK, LOOK, droppedAttributesCount=3))
    assert trace.completed is False
    assert codes(trace) == ["TRACE_TRUNCATED"]
    assert told(trace) == [("stock", {"tea": "oolong"}, None, None, 1)]


@pytest.mark.parametrize(
    "history", [[None, None, result("c0", "?"), says("user", "Go.")], [says("user", "a"), None, says("user", "b")]]
)
def test_gaps_in_the_indexes_make_a_trace_incomplete(history):  # T6
    trace = read(
        span(0, "AGENT", {"input.value": '{"messages": [{"role": "user", "content": "Is it?"}]}'}),
        llm(1, history, LOOK, parent=0),
    )
    assert trace.completed is False
    assert codes(trace) == ["TRACE_TRUNCATED"]
    assert trace.request == "Is it?"
    trace = read(
        span(0, "AGENT", {"input.value": "Is it?", "input.mime_type": "text/plain"}), llm(1, history, LOOK, parent=0)
    )
    assert trace.request == "Is it?"


def test_a_reply_that_was_cut_off_is_incomplete():
    trace = read(llm(1, ASK, says("assistant", "I was go"), more={"llm.finish_reason": "length"}))
    assert (trace.completed, codes(trace)) == (False, ["TRACE_TRUNCATED"])


def test_a_run_that_ended_with_a_failed_request_is_incomplete():
    trace = read(llm(1, ASK, LOOK), llm(2, [*ASK, LOOK], status="STATUS_CODE_ERROR"))
    assert (trace.completed, codes(trace)) == (False, ["TRACE_HTTP_ERROR"])


def test_a_trace_without_any_reply_is_skipped_and_never_a_correct_abstention():  # T5
    assert skip_of(llm(1, ASK)).code == "TRACE_NOT_CAPTURED"
    failed = llm(1, ASK)
    failed["status"] = {"code": "STATUS_CODE_ERROR", "message": "overloaded"}
    skip = skip_of(failed)
    assert (skip.code, skip.message) == ("TRACE_HTTP_ERROR", "the model's endpoint failed: overloaded")
    assert skip_of(span(1, "CHAIN"), span(2, "RETRIEVER")).code == "TRACE_INCOMPLETE"


def test_the_runs_of_tools_stand_for_replies_that_were_hidden():  # T5
    trace = read(llm(1, []), tool(2, "stock", '{"tea": "a"}', "1"))
    assert told(trace) == [("stock", {"tea": "a"}, "1", None, 1)]
    assert codes(trace) == ["TRACE_NOT_CAPTURED"]


def test_a_broken_tree_is_told():
    assert codes(read(llm(1, ASK, LOOK, parent=77))) == ["TRACE_TREE_INVALID"]


# ---- catalog ----


def test_the_catalog_is_read_from_every_shape():
    tools = {
        "llm.tools.0.tool.json_schema": '{"type": "function", "function": {"name": "a", "parameters": {"type": "object"}}}',
        "llm.tools.1.tool.json_schema": '{"name": "b", "input_schema": {"type": "object"}}',
        "llm.tools.2.tool.name": "c",
        "llm.tools.2.tool.json_schema": '{"type": "object", "properties": {}}',
        "llm.tools.3.tool.json_schema": '{"type": "web_search"}',
        "llm.tools.4.tool.json_schema": "{",
    }
    trace = read(llm(1, ASK, LOOK, more=tools), llm(2, ASK, LOOK, more=tools))
    assert [tool_["name"] for tool_ in json.loads(bytes(trace.tools_json))] == ["a", "b", "c"]
    assert codes(trace)[-2:] == ["TRACE_INCOMPLETE", "CONFIG_TOOL_INVALID"]


def test_the_catalog_may_stand_in_the_parameters_of_the_request():
    given = {"llm.invocation_parameters": '{"tools": [{"name": "a", "parameters": {}}]}'}
    assert json.loads(bytes(read(llm(1, ASK, LOOK, more=given)).tools_json)) == [{"name": "a", "parameters": {}}]
    assert read(llm(1, ASK, LOOK)).tools_json is UNSET


def test_a_tool_that_is_described_in_two_ways_is_told():
    one, two = ({"llm.tools.0.tool.json_schema": f'{{"name": "a", "description": "{text}"}}'} for text in "xy")
    trace = read(llm(1, ASK, LOOK, more=one), llm(2, ASK, LOOK, more=two))
    assert "CONFIG_DUPLICATE_TOOL" in codes(trace)
    assert json.loads(bytes(trace.tools_json)) == [{"name": "a", "description": "x"}]


# ---- records ----


def test_spans_of_several_records_are_read_together():
    halves = [
        (document(llm(1, ASK, LOOK)), Place("a.jsonl", 1)),
        (document(tool(2, "stock", gave="1")), Place("a.jsonl", 2)),
    ]
    ((trace, place),) = openinference.grouped(halves)
    assert told(trace) == [("stock", {"tea": "oolong"}, "1", None, 1)]
    assert place.line == 1


def test_a_span_that_is_only_attributes_is_read():
    record = {
        "attributes": {
            "openinference.span.kind": "TOOL",
            "tool.name": "sum",
            "tool.parameters": "[3, 4]",
            "output.value": "7",
        }
    }
    assert registry.detect(record, PLACE) is openinference.DIALECT
    (trace,) = openinference.traces(record, PLACE)
    assert [(c.tool, c.arguments_status, c.arguments_raw, c.result.content) for c in trace.calls] == [
        ("sum", "not_object", "[3, 4]", "7")
    ]
    assert codes(trace) == ["TRACE_ARGS_NOT_OBJECT"]


def test_detection_is_sure():
    assert openinference.detect(document(llm(1, ASK, LOOK)))
    genai = document(
        {
            "traceId": TRACE,
            "spanId": "1" * 16,
            "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}],
        }
    )
    both = document(span(1, "LLM", {"gen_ai.operation.name": "chat"}))
    assert [dialect.detect(genai) for dialect in (openinference, registry.by_name("otel_genai"))] == [False, True]
    assert registry.detect(both, PLACE) is openinference.DIALECT
    assert not any(
        map(openinference.detect, (None, [], {}, {"attributes": 1}, {"resourceSpans": 1}, {"id": "t", "events": []}))
    )


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=4)
    | st.sampled_from(["LLM", "TOOL", "c1", "{}", "__REDACTED__", "0.message.role"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "message",
                    "role",
                    "tool_calls",
                    "0",
                    "tool_call",
                    "id",
                    "contents",
                    "message_content",
                    "type",
                    "function",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
KEYS = st.sampled_from(
    ["openinference.span.kind", "tool.name", "tool.parameters", "input.value", "output.value", "llm.input_messages", "llm.output_messages", "llm.tools",
     "llm.output_messages.0.message.role", "llm.output_messages.0.message.tool_calls.0.tool_call.function.name", "metadata", "session.id", "annotations",
     "llm", "llm.function_call", "agent.name", "llm.invocation_parameters"]
)  # fmt: skip


@given(st.lists(st.dictionaries(KEYS, JSON, max_size=6), max_size=3))
def test_any_attributes_give_traces_or_skips(spans):
    records = [
        ({"context": {"trace_id": "t", "span_id": str(index)}, "parent_id": "0", "attributes": attributes}, PLACE)
        for index, attributes in enumerate(spans)
    ]
    with suppress(TraceError):
        assert all(isinstance(item, (Trace, Skip)) for item, _ in openinference.grouped(records))


@given(JSON)
def test_any_json_gives_traces_or_skips(value):
    assert openinference.detect(value) in (True, False)
    assert all(isinstance(item, (Trace, Skip)) for item in openinference.traces(value, PLACE))

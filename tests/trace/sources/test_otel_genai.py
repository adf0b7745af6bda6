"""OpenTelemetry GenAI: three generations, the libraries that speak nearly the same, and what a recording leaves out."""

import json
import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rightcall.errors import Place, TraceError
from rightcall.trace.model import Call, Message, Trace
from rightcall.trace.sources import otel_genai, reading, registry
from rightcall.trace.sources.dialect import Skip

PLACE = Place("spans.json")
TRACE_ID = "0af7651916cd43dd8448eb211c80319c"


def value(of):
    if isinstance(of, bool):
        return {"boolValue": of}
    if isinstance(of, int):
        return {"intValue": str(of)}
    if isinstance(of, list):
        return {"arrayValue": {"values": [value(item) for item in of]}}
    if isinstance(of, dict):
        return {"kvlistValue": {"values": pairs(of)}}
    return {"stringValue": of}


def pairs(of):
    return [{"key": key, "value": value(item)} for key, item in of.items()]


def span(number, parent=None, *, name="", error=None, events=(), trace_id=TRACE_ID, end=True, dropped=0, **attributes):
    given = {key.replace("__", "."): item for key, item in attributes.items()}
    return {
        "traceId": trace_id, "spanId": f"{number:016x}", "parentSpanId": f"{parent:016x}" if parent else "", "name": name,
        "startTimeUnixNano": str(number * 10**9), "endTimeUnixNano": str(number * 10**9 + 10**8) if end else "0",
        "status": {"code": 2, "message": error} if error else {}, "attributes": pairs(given), "droppedAttributesCount": dropped,
        "events": [{"name": event, "timeUnixNano": "1", "attributes": pairs(of)} for event, of in events],
    }  # fmt: skip


def log(number, name, body=None, **attributes):
    given = {key.replace("__", "."): item for key, item in attributes.items()}
    return {
        "traceId": TRACE_ID, "spanId": f"{number:016x}", "eventName": name, "timeUnixNano": "9", "body": value(body or {}), "attributes": pairs(given),
    }  # fmt: skip


def spans(*of):
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(of)}]}]}


def logs(*of):
    return {"resourceLogs": [{"scopeLogs": [{"logRecords": list(of)}]}]}


def text(content, role="user"):
    return {"role": role, "parts": [{"type": "text", "content": content}]}


def said_call(name, arguments=None, call_id="c1", **changes):
    part = {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments, **changes}
    return {key: item for key, item in part.items() if item is not None}


def said(*parts, **changes):
    return {"role": "assistant", "parts": list(parts), "finish_reason": "stop", **changes}


def answered(content, call_id="c1", key="response"):
    return {"role": "tool", "parts": [{"type": "tool_call_response", "id": call_id, key: content}]}


def chat(number, parent=None, *, inputs=(), outputs=(), **changes):
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(list(inputs))}
    if outputs:
        attributes["gen_ai.output.messages"] = json.dumps(list(outputs))
    return span(number, parent, name="chat m", **attributes, **changes)


def tool(number, parent=None, *, name="add", **changes):
    return span(
        number,
        parent,
        name=f"execute_tool {name}",
        **{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, **changes},
    )


def agent(number, parent=None, *, name="clerk", **changes):
    return span(
        number,
        parent,
        name=f"invoke_agent {name}",
        **{"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name, **changes},
    )


def items(*records):
    assert all(otel_genai.detect(record) for record in records)
    return [item for item, _ in otel_genai.grouped([(record, PLACE) for record in records])]


def read(*records):
    (trace,) = items(*records)
    assert isinstance(trace, Trace), trace
    return trace


def skipped(*records):
    (skip,) = items(*records)
    assert isinstance(skip, Skip), skip
    return skip.code


def codes(trace):
    return [finding.code for finding in trace.findings]


def texts(trace):
    return [(event.role, event.text) for event in trace.events if isinstance(event, Message)]


# ---- one run -------------------------------------------------------------------------------------------------------

ASK = text("Add 2 and 3.")
CALLS = said(said_call("add", {"a": 2, "b": 3}))


def run(**changes):
    return [
        agent(1, **{"gen_ai.conversation.id": "s-1", "gen_ai.agent.version": "v2", "case_id": "sum-1", **changes}),
        chat(2, 1, inputs=[ASK], outputs=[CALLS], gen_ai__response__model="m-1"),
        tool(
            3,
            1,
            **{
                "gen_ai.tool.call.id": "c1",
                "gen_ai.tool.call.arguments": '{"a": 2, "b": 3}',
                "gen_ai.tool.call.result": "5",
            },
        ),
        chat(4, 1, inputs=[ASK, CALLS, answered("5")], outputs=[said({"type": "text", "content": "It is 5."})]),
    ]


def test_a_run_of_an_agent_is_one_trace_and_every_call_is_counted_once():
    trace = read(spans(*run()))
    (call,) = trace.calls
    assert (call.tool, call.arguments, call.id, call.turn) == ("add", {"a": 2, "b": 3}, "c1", 1)
    assert (call.result.content, call.result.is_error) == ("5", None)
    assert (call.started_at, call.result.at) == ("1970-01-01T00:00:03Z", "1970-01-01T00:00:03.1Z")
    assert texts(trace) == [("user", "Add 2 and 3."), ("assistant", None), ("assistant", "It is 5.")]
    assert (trace.id, trace.case_id, trace.request, trace.completed) == (TRACE_ID, "sum-1", "Add 2 and 3.", True)
    assert (trace.agent.name, trace.agent.version, trace.agent.model) == ("clerk", "v2", "m-1")
    assert trace.metadata == {"trace_id": TRACE_ID, "session": "s-1"}
    assert codes(trace) == []


def test_T12_the_order_of_spans_in_the_file_does_not_matter():  # noqa: N802
    forward, backward = read(spans(*run())), read(spans(*reversed(run())))
    assert forward.digest == backward.digest


def test_T21_protobuf_ids_and_times_give_the_same_trace():  # noqa: N802
    lines = [spans(item) for item in run()]
    assert read(*lines).digest == read(spans(*run())).digest


@pytest.mark.parametrize("arguments", [{"a": 2}, '{"a": 2}'])
def test_T9_arguments_are_an_object_or_a_string(arguments):  # noqa: N802
    trace = read(spans(chat(1, inputs=[ASK], outputs=[said(said_call("add", arguments))])))
    assert trace.calls[0].arguments == {"a": 2}
    assert trace.completed is None


@pytest.mark.parametrize("structured", [False, True])
def test_messages_may_be_structured_and_stand_on_the_log_event(structured):
    attributes = {"gen_ai.input.messages": [ASK], "gen_ai.output.messages": [CALLS]}
    if not structured:
        attributes = {key: json.dumps(item) for key, item in attributes.items()}
    event = log(1, "gen_ai.client.inference.operation.details", **attributes)
    both = read(spans(span(1, **{"gen_ai.operation.name": "chat"})), logs(event))
    alone = read(logs(event))
    assert both.calls[0].arguments == alone.calls[0].arguments == {"a": 2, "b": 3}
    on_span = span(
        1, events=[("gen_ai.client.inference.operation.details", attributes)], **{"gen_ai.operation.name": "chat"}
    )
    assert read(spans(on_span)).calls == both.calls


def test_the_events_of_the_first_generation_are_joined_from_a_second_file():
    model = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 2}'}}
    records = logs(
        log(1, "gen_ai.system.message", {"content": "Be brief."}),
        log(1, "gen_ai.user.message", {"content": "Add."}),
        log(1, "gen_ai.assistant.message", {"tool_calls": [model]}),
        log(1, "gen_ai.tool.message", {"id": "c1", "content": "5"}),
        log(
            1,
            "gen_ai.choice",
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "tool_calls": [{**model, "id": "c2"}], "content": "again"},
            },
        ),
    )
    trace = read(spans(span(1, **{"gen_ai.system": "x", "gen_ai.request.model": "m-1"})), records)
    assert [call.id for call in trace.calls] == ["c2"]
    assert trace.request == "Add."
    history = trace.context["history"]
    assert history[-1]["tool"] == "add"
    assert history[-1]["result"] == {"content": "5"}
    assert trace.agent.model == "m-1"
    assert read(records).calls == trace.calls


def test_span_events_carry_messages_too():
    events = [
        ("gen_ai.user.message", {"content": '[{"text": "Add."}]'}),
        (
            "gen_ai.choice",
            {
                "finish_reason": "tool_use",
                "message": '[{"text": "Well."}, {"toolUse": {"toolUseId": "c1", "name": "add", "input": {"a": 2}}}]',
            },
        ),
    ]
    later = [
        ("gen_ai.user.message", {"content": '[{"text": "Add."}]'}),
        (
            "gen_ai.assistant.message",
            {"content": '[{"toolUse": {"toolUseId": "c1", "name": "add", "input": {"a": 2}}}]'},
        ),
        (
            "gen_ai.tool.message",
            {"content": '[{"toolResult": {"toolUseId": "c1", "status": "error", "content": [{"text": "no"}]}}]'},
        ),
        ("gen_ai.choice", {"message": "Sorry."}),
    ]
    trace = read(
        spans(
            span(1, **{"gen_ai.operation.name": "chat"}, events=events),
            span(2, **{"gen_ai.operation.name": "chat"}, events=later),
        )
    )
    assert trace.calls[0].arguments == {"a": 2}
    assert (trace.calls[0].result.is_error, trace.calls[0].result.content) == (True, [{"text": "no"}])
    assert texts(trace) == [("user", "Add."), ("assistant", "Well."), ("assistant", "Sorry.")]


def test_the_oldest_events_hold_whole_prompts():
    events = [
        ("gen_ai.content.prompt", {"gen_ai.prompt": json.dumps([{"role": "user", "content": "Add."}])}),
        (
            "gen_ai.content.completion",
            {
                "gen_ai.completion": json.dumps(
                    [
                        {
                            "role": "assistant",
                            "tool_calls": [{"id": "c1", "function": {"name": "add", "arguments": "{}"}}],
                        }
                    ]
                )
            },
        ),
    ]
    assert read(spans(span(1, **{"gen_ai.operation.name": "chat"}, events=events))).calls[0].arguments == {}


# ---- what is left out ----------------------------------------------------------------------------------------------


def test_T5_arguments_are_not_captured_where_no_content_is():  # noqa: N802
    trace = read(
        spans(chat(1, inputs=[{"role": "user", "parts": [{"type": "text"}]}], outputs=[said(said_call("add"))]))
    )
    assert trace.calls[0].arguments_status == "not_captured"
    assert codes(trace) == ["TRACE_NOT_CAPTURED"]
    assert trace.request is None


def test_T4_arguments_are_missing_where_other_content_is_captured():  # noqa: N802
    trace = read(spans(chat(1, inputs=[ASK], outputs=[said(said_call("add"))])))
    assert trace.calls[0].arguments_status == "missing"
    assert codes(trace) == ["TRACE_ARGS_MISSING"]


def test_T5_a_tools_own_span_gives_what_the_messages_do_not():  # noqa: N802
    own = {"gen_ai.tool.call.id": "c1", "gen_ai.tool.call.arguments": '{"a": 2}'}
    trace = read(spans(chat(1, outputs=[said(said_call("add"))]), tool(2, **own)))
    assert (trace.calls[0].arguments_status, trace.calls[0].arguments) == ("ok", {"a": 2})
    assert trace.calls[0].result.is_captured is False
    assert trace.calls[0].result.is_error is None


def test_spans_without_content_and_without_calls_are_skipped():
    assert (
        skipped(spans(span(1, **{"gen_ai.operation.name": "chat", "gen_ai.response.finish_reasons": ["tool_calls"]})))
        == "TRACE_NOT_CAPTURED"
    )
    assert skipped(spans(agent(1))) == "TRACE_NOT_CAPTURED"
    assert skipped(spans(chat(1, inputs=[ASK]))) == "TRACE_INCOMPLETE"
    assert skipped(spans(span(1, **{"gen_ai.operation.name": "embeddings"}))) == "TRACE_INCOMPLETE"
    assert skipped(spans(chat(1, inputs=[ASK], error="400"))) == "TRACE_HTTP_ERROR"
    elsewhere = span(2, trace_id="f" * 32, http__route="/")
    assert len(items(spans(chat(1, inputs=[ASK], outputs=[CALLS]), elsewhere))) == 1


def test_T6_dropped_attributes_make_a_trace_incomplete():  # noqa: N802
    trace = read(spans(*run(), span(9, 1, http__route="/", dropped=3)))
    assert trace.completed is True  # a span of something else
    trace = read(spans(*run(dropped=2)))
    assert trace.completed is False
    assert codes(trace) == ["TRACE_TRUNCATED"]


def test_T6_numbers_that_do_not_begin_at_zero_are_a_cut():  # noqa: N802
    whole = {
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": "Add.",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": "5",
    }
    assert read(spans(span(1, **whole))).completed is None
    cut = {key.replace("prompt.0", "prompt.7"): item for key, item in whole.items()}
    trace = read(spans(span(1, **cut)))
    assert (trace.completed, codes(trace)) == (False, ["TRACE_TRUNCATED"])


def test_arguments_that_a_limit_cut_are_not_repaired_and_not_the_agents_fault():
    trace = read(
        spans(tool(1, name="save_note", **{"gen_ai.tool.call.arguments": '{"title": "Plan", "body": "Buy two'}))
    )
    (call,) = trace.calls
    assert (call.arguments, call.arguments_status, call.arguments_raw) == (
        None,
        "not_captured",
        '{"title": "Plan", "body": "Buy two',
    )
    assert "TRACE_TRUNCATED" in codes(trace)
    assert trace.completed is False


def test_messages_that_a_limit_cut_are_a_finding_and_the_tools_spans_remain():
    broken = span(
        1,
        **{
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": json.dumps([ASK]),
            "gen_ai.output.messages": '[{"role": "assistant", "parts": [{"ty',
        },
    )
    trace = read(spans(broken, tool(2, **{"gen_ai.tool.call.arguments": '{"a": 2}'})))
    assert trace.calls[0].arguments == {"a": 2}
    assert (trace.completed, codes(trace)) == (False, ["TRACE_TRUNCATED"])


def test_a_reply_that_was_cut_off_is_not_completed():
    trace = read(
        spans(chat(1, inputs=[ASK], outputs=[said({"type": "text", "content": "It"}, finish_reason="length")]))
    )
    assert (trace.completed, codes(trace)) == (False, ["TRACE_TRUNCATED"])


def test_parts_of_unknown_type_are_named_and_reasoning_is_left_out():
    parts = [
        {"type": "reasoning", "content": "hm"},
        {"type": "blob", "modality": "image"},
        {"type": "text", "content": "ok"},
        {"type": "tool_call"},
    ]
    trace = read(spans(chat(1, inputs=[ASK, {"role": "narrator", "parts": []}], outputs=[said(*parts)])))
    assert texts(trace)[-1] == ("assistant", "ok")
    messages = [finding.message for finding in trace.findings]
    assert any("`blob`" in message for message in messages)
    assert any("without a name" in message for message in messages)
    assert "TRACE_MALFORMED" in codes(trace)


def test_only_the_first_choice_is_read():
    trace = read(
        spans(chat(1, inputs=[ASK], outputs=[said({"type": "text", "content": "a"}), said(said_call("add", {}))]))
    )
    assert trace.calls == ()
    assert codes(trace) == ["TRACE_INCOMPLETE"]


def test_an_attribute_that_cannot_be_decoded_is_a_finding():
    record = spans(*run())
    record["resourceSpans"][0]["scopeSpans"][0]["spans"][1]["attributes"].append(
        {"key": "gen_ai.x", "value": {"intValue": "y"}}
    )
    assert codes(read(record)) == ["TRACE_MALFORMED"]


# ---- tools ---------------------------------------------------------------------------------------------------------


def test_T10_the_status_of_a_tools_span_says_whether_it_failed():  # noqa: N802
    failed = tool(
        2, error="boom", events=[("exception", {"exception.message": "no seats"})], **{"gen_ai.tool.call.id": "c1"}
    )
    trace = read(spans(chat(1, inputs=[ASK], outputs=[CALLS]), failed))
    assert (trace.calls[0].result.is_error, trace.calls[0].result.content) == (True, "no seats")
    text_only = tool(2, **{"gen_ai.tool.call.id": "c1", "gen_ai.tool.call.result": "Error: no seats"})
    trace = read(spans(chat(1, inputs=[ASK], outputs=[CALLS]), text_only))
    assert trace.calls[0].result.is_error is None
    trace = read(
        spans(
            chat(1, inputs=[ASK], outputs=[CALLS]),
            chat(2, inputs=[ASK, CALLS, answered("Error: no", key="result")], outputs=[said()]),
        )
    )
    assert (trace.calls[0].result.is_error, trace.calls[0].result.content) == (None, "Error: no")


def test_T2_without_ids_spans_belong_to_calls_by_name_and_order():  # noqa: N802
    calls = said(said_call("add", {"n": 1}, None), said_call("add", {"n": 2}, None), said_call("sub", {"n": 3}, None))
    runs = [
        tool(2, **{"gen_ai.tool.call.result": "one"}),
        tool(3, **{"gen_ai.tool.call.result": "two"}),
        tool(4, name="sub", error="no"),
    ]
    trace = read(spans(chat(1, inputs=[ASK], outputs=[calls]), *runs))
    assert [(call.tool, call.result.content) for call in trace.calls] == [("add", "one"), ("add", "two"), ("sub", "no")]
    assert {call.turn for call in trace.calls} == {1}


def test_T1_an_id_that_is_used_again_belongs_to_the_nearest_call():  # noqa: N802
    first, second = said(said_call("add", {"n": 1})), said(said_call("add", {"n": 2}))
    own = {"gen_ai.tool.call.id": "c1"}
    trace = read(spans(
        chat(1, inputs=[ASK], outputs=[first]), tool(2, **own, gen_ai__tool__call__result="one"),
        chat(3, inputs=[ASK, first, answered("one")], outputs=[second]), tool(4, **own, gen_ai__tool__call__result="two"),
        chat(5, inputs=[ASK, first, answered("one"), second, answered("two")], outputs=[said()]),
    ))  # fmt: skip
    assert [(call.arguments["n"], call.result.content) for call in trace.calls] == [(1, "one"), (2, "two")]
    assert codes(trace) == ["TRACE_DUPLICATE_ID"]


def test_T11_parallel_calls_share_a_turn_and_results_come_in_any_order():  # noqa: N802
    calls = said(said_call("add", {"n": 1}, "a"), said_call("add", {"n": 2}, "b"))
    trace = read(
        spans(
            chat(1, inputs=[ASK], outputs=[calls]),
            chat(2, inputs=[ASK, calls, answered("two", "b"), answered("one", "a")], outputs=[said()]),
        )
    )
    assert [(call.turn, call.result.content) for call in trace.calls] == [(1, "one"), (1, "two")]


def test_a_tools_span_alone_is_a_call():
    named = {
        "gen_ai.tool.call.id": "b1",
        "gen_ai.tool.call.arguments": '{"ship":"Ula"}',
        "gen_ai.tool.call.result": '"pier 4"',
    }
    old = {"gen_ai.tool.call.id": "b1", "tool_arguments": '{"ship":"Ula"}', "tool_response": '"pier 4"'}
    for attributes in (named, old):
        trace = read(spans(tool(1, name="berth", **attributes)))
        (call,) = trace.calls
        assert (call.id, call.tool, call.arguments, call.result.content) == ("b1", "berth", {"ship": "Ula"}, "pier 4")


def test_a_tools_span_of_which_only_the_name_is_understood_is_told():
    trace = read(spans(tool(1, **{"vendor.input": "{}"})))
    assert (trace.calls[0].arguments, trace.calls[0].arguments_status) == (None, "not_captured")
    assert "TRACE_ARGS_MISSING" in codes(trace)


def test_a_tools_input_and_output_may_stand_in_span_events():
    events = [
        ("gen_ai.tool.message", {"content": '{"sku":"P9","n":2}'}),
        ("gen_ai.choice", {"message": '[{"text":"added"}]'}),
    ]
    bare = {
        "name": "execute_tool add_item", "attributes": {"gen_ai.tool.name": "add_item", "gen_ai.tool.call.id": "e1"},
        "events": [{"name": name, "attributes": of} for name, of in events],
    }  # fmt: skip
    for record in (bare, spans(tool(1, name="add_item", **{"gen_ai.tool.call.id": "e1"}, events=events))):
        (call,) = read(record).calls
        assert (call.id, call.arguments, call.result.content) == ("e1", {"sku": "P9", "n": 2}, [{"text": "added"}])


def test_offered_tools_are_not_calls():
    offered = {
        "name": "chat m",
        "attributes": {"gen_ai.operation.name": "chat", "gen_ai.tool.definitions": '[{"name":"hop"},{"name":"skip"}]'},
    }
    ran = {
        "name": "execute_tool hop",
        "attributes": {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "hop",
            "gen_ai.tool.call.arguments": "{}",
        },
    }
    trace = read(offered, ran)
    assert [(call.tool, call.arguments) for call in trace.calls] == [("hop", {})]
    assert [tool["name"] for tool in json.loads(bytes(trace.tools_json))] == ["hop", "skip"]


def test_a_span_within_the_run_of_the_same_tool_is_no_second_call():
    inner = span(4, 3, name="tools/call add", **{"mcp.method.name": "tools/call", "gen_ai.tool.name": "add"})
    assert len(read(spans(*run(), inner)).calls) == 1
    assert len(read(spans(*run(), tool(5, 3, name="carry", **{"gen_ai.tool.call.arguments": "{}"}))).calls) == 2


def test_a_tools_span_that_names_no_tool_is_a_finding():
    trace = read(spans(*run(), span(9, 1, name="running", **{"gen_ai.operation.name": "execute_tool"})))
    assert codes(trace) == ["TRACE_MALFORMED"]


def test_T17_a_call_that_the_provider_ran_is_kept_and_marked():  # noqa: N802
    part = said_call("web_search", {"q": "x"}, builtin=True)
    result = {"type": "tool_call_response", "id": "c1", "result": "found"}
    trace = read(spans(chat(1, inputs=[ASK], outputs=[said(part, result, {"type": "text", "content": "ok"})])))
    (call,) = [event for event in trace.events if isinstance(event, Call)]
    assert (call.by, call.result.content) == ("provider", "found")
    assert trace.calls == ()


def test_T3_arguments_of_the_model_that_are_not_json_are_malformed():  # noqa: N802
    trace = read(spans(chat(1, inputs=[ASK], outputs=[said(said_call("add", '{"a": 2} // two'))])))
    assert (trace.calls[0].arguments_status, codes(trace)) == ("malformed", ["TRACE_ARGS_UNPARSEABLE"])


# ---- several requests, agents and runs -----------------------------------------------------------------------------


def test_a_call_of_a_request_that_was_not_recorded_is_kept_and_told():
    lost = said(said_call("sub", {"n": 2}, "c2"))
    last = chat(
        4,
        inputs=[ASK, CALLS, answered("5"), lost, answered("1", "c2")],
        outputs=[said({"type": "text", "content": "ok"})],
    )
    trace = read(spans(chat(1, inputs=[ASK], outputs=[CALLS]), last))
    assert [(call.tool, call.result.content) for call in trace.calls] == [("add", "5"), ("sub", "1")]
    assert codes(trace) == ["TRACE_INCOMPLETE"]


def test_a_history_that_was_shortened_brings_no_call_twice():
    summary = text("Summary: we added.")
    last = chat(4, inputs=[summary, CALLS, answered("5")], outputs=[said({"type": "text", "content": "ok"})])
    trace = read(spans(chat(1, inputs=[ASK], outputs=[CALLS]), last))
    assert [(call.tool, call.result.content) for call in trace.calls] == [("add", "5")]
    assert codes(trace) == []


def test_T13_an_earlier_turn_of_the_session_is_context_and_not_counted_again():  # noqa: N802
    inputs = [
        text("Hi", "system"),
        ASK,
        CALLS,
        answered("5"),
        said({"type": "text", "content": "It is 5."}),
        text("And 4?"),
    ]
    trace = read(
        spans(
            agent(1, **{"gen_ai.conversation.id": "s-1"}),
            chat(2, 1, inputs=inputs, outputs=[said(said_call("add", {"a": 5}, "c9"))]),
        )
    )
    assert [call.id for call in trace.calls] == ["c9"]
    assert [event["type"] for event in trace.context["history"]] == ["message", "message", "message", "call"]
    assert texts(trace) == [("assistant", "It is 5."), ("user", "And 4?"), ("assistant", None)]
    assert trace.metadata["session"] == "s-1"


def test_agents_within_an_agent_are_part_of_its_run():
    asks = said(said_call("ask", {"q": "6*7"}))
    trace = read(spans(
        agent(1, name="boss"), chat(2, 1, inputs=[ASK], outputs=[asks]), tool(3, 1, name="ask", **{"gen_ai.tool.call.id": "c1", "gen_ai.tool.call.result": "42"}),
        agent(4, 3, name="helper"), chat(5, 4, inputs=[text("Rules", "system"), text("6*7")], outputs=[said(said_call("mul", {"a": 6}, "h1"))]),
        tool(6, 4, name="mul", **{"gen_ai.tool.call.id": "h1", "gen_ai.tool.call.result": "42"}),
        chat(7, 1, inputs=[ASK, asks, answered("42")], outputs=[said({"type": "text", "content": "42."})]),
    ))  # fmt: skip
    assert [(call.tool, call.agent, call.result.content) for call in trace.calls] == [
        ("ask", "boss", "42"),
        ("mul", "helper", 42),
    ]
    assert trace.request == "Add 2 and 3."
    assert codes(trace) == []


def test_T13_several_agents_beside_each_other_are_a_trace_each():  # noqa: N802
    two = [
        agent(1, 9),
        chat(2, 1, inputs=[ASK], outputs=[CALLS]),
        agent(3, 9),
        chat(4, 3, inputs=[ASK], outputs=[CALLS]),
        span(9, http__route="/batch"),
    ]
    first, second = items(spans(*two))
    assert first.id == f"{TRACE_ID}/{1:016x}"
    assert second.id == f"{TRACE_ID}/{3:016x}"
    assert len(first.calls) == len(second.calls) == 1
    workflow = span(9, **{"gen_ai.operation.name": "invoke_workflow"})
    assert len(read(spans(*two[:-1], workflow)).calls) == 2


def test_a_run_whose_agent_failed_is_not_completed():
    trace = read(spans(agent(1, error="stopped"), chat(2, 1, inputs=[ASK], error="stopped")))
    assert (trace.completed, trace.calls) == (False, ())
    trace = read(spans(agent(1, end=False), chat(2, 1, inputs=[ASK], outputs=[CALLS])))
    assert trace.completed is None


def test_the_agents_own_span_is_read_where_the_requests_hold_nothing():
    told = [
        text("Hi"),
        said({"type": "text", "content": "Hello"}),
        ASK,
        CALLS,
        answered("5"),
        said({"type": "text", "content": "It is 5."}),
    ]
    own = {"pydantic_ai.all_messages": json.dumps(told), "pydantic_ai.new_message_index": 2}
    bare = span(2, 1, **{"gen_ai.operation.name": "chat"})
    trace = read(
        spans(agent(1, **own), bare, tool(3, 1, **{"gen_ai.tool.call.id": "c1", "gen_ai.tool.call.result": "5"}))
    )
    assert [(call.id, call.result.content) for call in trace.calls] == [("c1", "5")]
    assert texts(trace) == [
        ("user", "Hi"),
        ("assistant", "Hello"),
        ("user", "Add 2 and 3."),
        ("assistant", None),
        ("assistant", "It is 5."),
    ]
    plain = {"gen_ai.input.messages": json.dumps(told[2:3]), "gen_ai.output.messages": json.dumps(told[3:])}
    assert [call.id for call in read(spans(agent(1, **plain))).calls] == ["c1"]


def test_orphan_results_and_a_broken_tree_are_findings():
    trace = read(spans(chat(1, 77, inputs=[ASK, answered("5", "zz")], outputs=[CALLS])))
    assert codes(trace) == ["TRACE_TREE_INVALID", "TRACE_ORPHAN_RESULT"]


# ---- nearly the same -----------------------------------------------------------------------------------------------


def test_numbered_attributes_and_entities_of_openllmetry_are_read():
    entity = {"traceloop.span.kind": "tool", "traceloop.entity.name": "add", "traceloop.entity.output": '"5"'}
    first = {
        "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "Add.", "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.finish_reason": "tool_calls",
        **{f"gen_ai.completion.0.tool_calls.{n}.{k}": v for n in range(11) for k, v in {"id": f"c{n}", "name": "add", "arguments": f'{{"n": {n}}}'}.items()},
        "llm.request.functions.0.name": "add", "llm.request.functions.0.parameters": '{"type": "object"}', "traceloop.association.properties.session_id": "s-9", "gen_ai.request.model": "m-1",
    }  # fmt: skip
    trace = read(spans(
        span(1, **{"traceloop.span.kind": "workflow", "traceloop.entity.name": "sums"}), span(2, 1, **first),
        span(3, 1, name="add.tool", **entity, **{"traceloop.entity.input": '{"args": [], "kwargs": {"n": 0}}'}),
    ))  # fmt: skip
    assert [call.arguments["n"] for call in trace.calls] == list(range(11))
    assert [call.result.content for call in trace.calls if call.result] == ["5"]
    assert json.loads(bytes(trace.tools_json)) == [{"name": "add", "parameters": {"type": "object"}}]
    assert (trace.metadata["session"], trace.agent.model) == ("s-9", "m-1")


@pytest.mark.parametrize(
    ("entity", "status", "arguments"),
    [
        ('{"args": [], "kwargs": {"n": 1}}', "ok", {"n": 1}), ('{"inputs": {"n": 1}, "input_str": "x"}', "ok", {"n": 1}), ('{"n": 1}', "ok", {"n": 1}),
        ('{"args": [1], "kwargs": {}}', "not_captured", None), ("word", "not_captured", None), ('{"args": []}', "ok", {}),
    ],
)  # fmt: skip
def test_an_entity_without_names_for_its_arguments_is_not_guessed(entity, status, arguments):
    trace = read(
        spans(
            span(1, **{"traceloop.span.kind": "tool", "traceloop.entity.name": "add", "traceloop.entity.input": entity})
        )
    )
    assert (trace.calls[0].arguments_status, trace.calls[0].arguments) == (status, arguments)


def test_the_attributes_of_the_vercel_sdk_are_read():
    first = {
        "ai.operationId": "ai.generateText.doGenerate", "ai.prompt.messages": json.dumps([{"role": "user", "content": [{"type": "text", "text": "Add."}]}]),
        "ai.response.toolCalls": json.dumps([{"toolCallType": "function", "toolCallId": "c1", "toolName": "add", "args": '{"n": 1}'}]), "ai.response.finishReason": "tool-calls",
        "ai.prompt.tools": ['{"type": "function", "name": "add", "inputSchema": {"type": "object"}}'], "ai.model.id": "m-1",
    }  # fmt: skip
    repeat = [
        {"role": "user", "content": [{"type": "text", "text": "Add."}]},
        {
            "role": "assistant",
            "content": [{"type": "tool-call", "toolCallId": "c1", "toolName": "add", "input": {"n": 1}}],
        },
        {
            "role": "tool",
            "content": [
                {"type": "tool-result", "toolCallId": "c1", "toolName": "add", "output": {"type": "json", "value": 2}}
            ],
        },
    ]
    second = {
        "ai.operationId": "ai.generateText.doGenerate",
        "ai.prompt.messages": json.dumps(repeat),
        "ai.response.text": "It is 2.",
    }
    ran = {
        "ai.operationId": "ai.toolCall",
        "ai.toolCall.name": "add",
        "ai.toolCall.id": "c1",
        "ai.toolCall.args": '{"n": 1}',
        "ai.toolCall.result": "2",
    }
    outer = {
        "ai.operationId": "ai.generateText",
        "ai.telemetry.functionId": "sums",
        "ai.telemetry.metadata.sessionId": "s-2",
    }
    trace = read(spans(span(1, **outer), span(2, 1, **first), span(3, 1, **ran), span(4, 1, **second)))
    (call,) = trace.calls
    assert (call.id, call.tool, call.arguments, call.result.content) == (
        "c1",
        "add",
        {"n": 1},
        {"type": "json", "value": 2},
    )
    assert texts(trace) == [("user", "Add."), ("assistant", None), ("assistant", "It is 2.")]
    assert json.loads(bytes(trace.tools_json)) == [{"name": "add", "parameters": {"type": "object"}}]
    assert (trace.agent.name, trace.agent.model, trace.metadata["session"]) == ("sums", "m-1", "s-2")


def test_a_vercel_run_without_its_requests_is_read_from_its_own_span():
    outer = {
        "ai.operationId": "ai.generateText",
        "ai.prompt": '{"messages": [{"role": "user", "content": "Add."}]}',
        "ai.response.text": "5",
    }
    assert texts(read(spans(span(1, **outer)))) == [("user", "Add."), ("assistant", "5")]
    assert texts(read(spans(span(1, **{**outer, "ai.prompt": '{"prompt": "Add."}'})))) == [
        ("user", "Add."),
        ("assistant", "5"),
    ]


def test_catalogs_and_system_prompts_are_read_in_every_shape():
    shapes = [
        {
            "gen_ai.tool.definitions": [
                {"type": "function", "name": "add", "parameters": {"type": "object"}},
                {"type": "web_search"},
            ]
        },
        {
            "model_request_parameters": json.dumps(
                {"function_tools": [{"name": "add", "parameters_json_schema": {"type": "object"}}]}
            )
        },
    ]
    for attributes in shapes:
        trace = read(spans(chat(1, inputs=[ASK], outputs=[CALLS], **attributes)))
        assert json.loads(bytes(trace.tools_json)) == [{"name": "add", "parameters": {"type": "object"}}]
    trace = read(
        spans(
            chat(
                1,
                inputs=[ASK],
                outputs=[CALLS],
                **{
                    "gen_ai.tool.definitions": '[{"name": "add", "parameters": 3}]',
                    "gen_ai.system_instructions": "Be brief.",
                },
            )
        )
    )
    assert codes(trace) == ["CONFIG_TOOL_INVALID"]
    assert trace.context == "Be brief."
    parts = read(
        spans(
            chat(
                1,
                inputs=[ASK],
                outputs=[CALLS],
                **{"gen_ai.system_instructions": '[{"type": "text", "content": "Be brief."}]'},
            )
        )
    )
    assert parts.context == "Be brief."


def test_a_whole_run_with_an_id_used_again_gives_each_run_its_own_span():
    told = [ASK, said(said_call("add", {"n": 1})), answered("one"), said(said_call("add", {"n": 2})), answered("two")]
    first, second = [tool(n, 1, **{"gen_ai.tool.call.id": "c1"}) for n in (2, 3)]
    trace = read(spans(agent(1, **{"pydantic_ai.all_messages": json.dumps(told)}), first, second))
    assert [(call.result.content, call.started_at[-3:]) for call in trace.calls] == [("one", "02Z"), ("two", "03Z")]


def test_evaluations_come_along_as_labels():
    said_of = {
        "gen_ai.evaluation.name": "polite",
        "gen_ai.evaluation.score.value": 1,
        "gen_ai.evaluation.explanation": "yes",
    }
    trace = read(
        spans(chat(1, inputs=[ASK], outputs=[CALLS], events=[("gen_ai.evaluation.result", said_of)])),
        logs(log(1, "gen_ai.evaluation.result", **{"gen_ai.evaluation.score.label": "bad"})),
    )
    assert [(label.name, label.value, label.comment, label.target) for label in trace.labels] == [
        ("polite", 1, "yes", f"{1:016x}"),
        ("evaluation", "bad", None, f"{1:016x}"),
    ]


def test_a_deep_chain_and_many_runs_without_their_calls_are_read_in_linear_time():
    chain = [chat(n, n - 1, inputs=[ASK] if n == 1 else [], outputs=[CALLS] if n == 1 else []) for n in range(1, 3000)]
    runs = [tool(4000 + n, 2999, **{"gen_ai.tool.call.id": f"x{n}"}) for n in range(3000)]
    began = time.process_time()
    assert len(read(spans(*chain, *runs)).calls) == 3001
    assert time.process_time() - began < 5


# ---- detection, hostile input --------------------------------------------------------------------------------------


def test_spans_of_openinference_are_another_dialect_and_both_together_are_refused():
    foreign = span(2, **{"openinference.span.kind": "LLM", "llm.model_name": "m"})
    assert not otel_genai.detect(spans(foreign))
    assert not otel_genai.detect(spans(span(1, http__route="/")))
    assert not otel_genai.detect({"messages": [ASK]})
    (skip,) = otel_genai.traces(spans(foreign), PLACE)
    assert (skip.code, "--from openinference" in skip.message) == ("TRACE_INCOMPLETE", True)
    assert otel_genai.detect(spans(*run(), foreign))
    if "openinference" in registry.DIALECTS:
        with pytest.raises(TraceError, match="--from"):
            registry.detect(spans(*run(), foreign), PLACE)
    assert [type(item) for item, _ in otel_genai.grouped([(spans(*run(), foreign), PLACE)])] == [Trace]


def test_what_is_no_span_is_skipped():
    (skip,) = otel_genai.traces({"resourceSpans": [{"scopeSpans": [{"spans": [3]}]}]}, PLACE)
    assert (skip.code, skip.place.path) == ("TRACE_MALFORMED", "$.resourceSpans[0].scopeSpans[0].spans[0]")


KEYS = st.sampled_from([
    "gen_ai.operation.name", "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.tool.name", "gen_ai.tool.call.id", "gen_ai.tool.call.arguments",
    "gen_ai.tool.definitions", "gen_ai.prompt.0.role", "gen_ai.completion.0.tool_calls.0.name", "gen_ai.completion.0.tool_calls", "ai.operationId", "ai.prompt", "ai.response.toolCalls",
    "pydantic_ai.all_messages", "pydantic_ai.new_message_index", "traceloop.span.kind", "traceloop.entity.input", "gen_ai.system_instructions", "model_request_parameters", "gen_ai.conversation.id",
])  # fmt: skip
LEAF = st.sampled_from(
    [
        "chat",
        "execute_tool",
        "invoke_agent",
        "tool",
        "add",
        "user",
        "assistant",
        "text",
        "tool_call",
        "tool_call_response",
        "ai.generateText",
        "",
        "[",
        "{",
        1,
        None,
        True,
        [],
        {},
    ]
)
TREE = st.recursive(
    LEAF,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["role", "parts", "type", "content", "id", "name", "arguments", "response", "function", "tool_calls", "text", "toolUse", "messages", "function_tools", "kwargs", "inputs"]), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
ATTRIBUTES = st.dictionaries(KEYS, TREE | TREE.map(json.dumps), max_size=6)


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(
            ATTRIBUTES,
            st.integers(0, 4),
            st.integers(0, 4),
            st.sampled_from(["gen_ai.choice", "gen_ai.tool.message", "exception"]),
            ATTRIBUTES,
        ),
        max_size=5,
    )
)
def test_any_attributes_give_traces_or_skips(rows):
    records = [
        ({"name": "x", "context": {"trace_id": "t", "span_id": str(own)}, "parent_id": str(parent), "attributes": attributes, "events": [{"name": event, "attributes": more}]}, PLACE)
        for attributes, own, parent, event, more in rows
    ]  # fmt: skip
    for item, place in otel_genai.grouped(records):
        assert isinstance(item, Trace | Skip)
        assert place.file == PLACE.file
        if isinstance(item, Trace):
            assert item.digest


@given(
    st.recursive(
        LEAF,
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["resourceSpans", "scopeSpans", "spans", "attributes"]), inner, max_size=3
            )
        ),
        max_leaves=10,
    )
)
def test_any_json_gives_traces_or_skips(anything):
    assert all(isinstance(item, Trace | Skip) for item in otel_genai.traces(anything, PLACE))


@given(st.data())
def test_mutated_bytes_give_traces_or_a_typed_error(tmp_path_factory, data):
    whole = json.dumps(spans(*run())).encode()
    place = data.draw(st.integers(0, len(whole) - 1))
    path = tmp_path_factory.mktemp("mutated") / "spans.json"
    path.write_bytes(whole[:place] + data.draw(st.binary(max_size=3)) + whole[place + 1 :])
    with suppress(TraceError):
        reading.load_traces(path, "otel_genai")


def test_many_requests_that_repeat_everything_are_read_in_reasonable_time():
    inputs, all_spans = [ASK], [agent(1)]
    for number in range(2, 120):
        calls = said(said_call("add", {"n": number}, f"c{number}"))
        all_spans.append(chat(number, 1, inputs=inputs, outputs=[calls]))
        inputs = [*inputs, calls, answered("1", f"c{number}")]
    trace = read(spans(*all_spans))
    assert len(trace.calls) == 118
    assert codes(trace) == []

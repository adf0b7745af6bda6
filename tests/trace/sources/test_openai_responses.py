"""OpenAI Responses: items, turns, provider-run tools, catalogs, streams, exchanges, real files."""

import json
import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from rightcall.errors import Place, RightcallError, TraceError
from rightcall.trace.model import Call, Message, Trace
from rightcall.trace.sources import native, openai_chat, openai_responses, reading, registry
from rightcall.trace.sources.dialect import ReadingReport, Skip

PLACE = Place("logs/day.jsonl", 7)


def read(record, place=PLACE):
    """Read one record that must give one trace."""
    (trace,) = openai_responses.traces(record, place)
    assert isinstance(trace, Trace), trace
    return trace


def skip_of(record):
    (skip,) = openai_responses.traces(record, PLACE)
    assert isinstance(skip, Skip), skip
    return skip


def codes(trace):
    return [finding.code for finding in trace.findings]


def all_calls(trace):
    return [event for event in trace.events if isinstance(event, Call)]


def user(text="Go"):
    return {"role": "user", "content": text}


def said(text, **extra):
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}], **extra}


def function_call(name, arguments="{}", call_id="c1", **extra):
    return {
        "type": "function_call",
        "id": f"fc_{call_id}",
        "call_id": call_id,
        "name": name,
        "arguments": arguments,
        **extra,
    }


def output(value, call_id="c1"):
    return {"type": "function_call_output", "call_id": call_id, "output": value}


def response(*items, **extra):
    return {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "model": "m-large",
        "output": list(items),
        **extra,
    }


def exchange(asked, *items, request=(), **extra):
    return {
        "status": 200,
        "request": {"input": asked, "tools": [], **dict(request)},
        "response": response(*items, **extra),
    }


# ---- shapes of a record ----


def test_a_list_of_items_is_a_whole_conversation():
    items = [user(), function_call("dim", '{"room": "hall"}'), output("done"), said("It is dim.")]
    assert openai_responses.DIALECT.whole_list
    assert openai_responses.detect(items)
    assert not openai_chat.detect(items)
    trace = read(items)
    assert [type(event) for event in trace.events] == [Message, Call, Message]
    (call,) = trace.calls
    assert (call.id, call.tool, call.arguments, call.turn, call.result.content) == (
        "c1",
        "dim",
        {"room": "hall"},
        1,
        "done",
    )
    assert (trace.request, trace.completed, trace.findings, trace.id) == ("Go", None, (), "day:7")
    assert trace.tools_json is UNSET


def test_results_are_paired_by_call_id_not_by_id():
    trace = read(
        [
            {**function_call("f"), "id": "c2"},
            {**function_call("g", "{}", "c2"), "id": "c1"},
            output("g", "c2"),
            output("f"),
        ]
    )
    assert [call.result.content for call in trace.calls] == ["f", "g"]


def test_an_object_with_input_alone_is_a_whole_conversation():
    record = {"id": "r-1", "case_id": "hall", "input": [user(), function_call("dim"), output("done")]}
    assert openai_responses.detect(record)
    trace = read(record)
    assert (trace.id, trace.case_id, len(trace.calls)) == ("r-1", "hall", 1)


def test_an_exchange_is_one_step_and_what_came_before_is_history():  # T12
    asked = [user("Both."), function_call("dim", '{"room": "hall"}', "a"), output("done", "a")]
    record = exchange(asked, function_call("dim", '{"room": "attic"}', "b"), request={"instructions": "Be brief."})
    assert openai_responses.detect(record)
    trace = read(record)
    assert [call.arguments for call in trace.calls] == [{"room": "attic"}]
    assert trace.calls[0].turn == 2
    assert trace.context["system"] == "Be brief."
    assert trace.context["history"][-1]["result"] == {"content": "done"}
    assert (trace.request, trace.agent.model, trace.metadata) == ("Both.", "m-large", {"response_id": "resp_1"})


def test_an_object_with_input_and_output_is_one_step_too():
    record = {"input": "Dim it.", "output": [function_call("dim")], "model": "m-small", "metadata": {"case_id": "hall"}}
    assert openai_responses.detect(record)
    trace = read(record)
    assert (trace.request, trace.agent.model, trace.case_id) == ("Dim it.", "m-small", "hall")
    assert [call.tool for call in trace.calls] == ["dim"]


def test_a_response_alone_has_its_own_id():
    record = response(said("Hi"))
    assert openai_responses.detect(record)
    trace = read(record)
    assert (trace.id, trace.request, trace.metadata) == ("resp_1", None, {})


def test_a_response_that_was_fetched_later_has_no_request():
    record = {"status": 200, "request": "", "response": response(function_call("dim"), instructions="Be brief.")}
    assert openai_responses.detect(record)
    trace = read(record)
    assert (len(trace.calls), trace.context) == (1, {"system": "Be brief."})


@pytest.mark.parametrize(
    ("record", "code"),
    [
        (3, "TRACE_MALFORMED"),
        ({}, "TRACE_MALFORMED"),
        ([], "TRACE_INCOMPLETE"),
        ({"input": ""}, "TRACE_INCOMPLETE"),
        ({"input": [4]}, "TRACE_MALFORMED"),
        ({"input": 4}, "TRACE_MALFORMED"),
        ({"output": "text"}, "TRACE_MALFORMED"),
        ({"request": {"contents": []}, "response": {}}, "TRACE_MALFORMED"),
        ({"request": {"input": "x"}, "response": "<html>"}, "TRACE_MALFORMED"),
        ({"request": {"input": "x"}, "response": {"object": "response.input_tokens"}}, "TRACE_MALFORMED"),
        ({"request": {"input": "x"}, "response": {"object": "response.compaction", "output": []}}, "TRACE_MALFORMED"),
        ({"request": {"input": "x"}, "response": {"error": {"message": "no"}}}, "TRACE_HTTP_ERROR"),
        ({"request": {"input": "x"}, "response": {"error": {"message": "no"}}, "status": 429}, "TRACE_HTTP_ERROR"),
        (exchange("x", status="failed", error={"code": "server_error", "message": "no"}), "TRACE_HTTP_ERROR"),
        (exchange("x", status="queued"), "TRACE_INCOMPLETE"),
    ],
)
def test_a_record_without_anything_to_read_is_skipped(record, code):
    skip = skip_of(record)
    assert (skip.code, skip.place) == (code, PLACE)


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (
            {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
            "the response was cut off: max_output_tokens",
        ),
        ({"status": "cancelled"}, "the response was `cancelled`"),
        ({"status": "failed", "error": {"message": "overloaded"}}, "an error ended the response: overloaded"),
    ],
)
def test_a_response_that_is_not_whole_is_not_complete(extra, message):
    trace = read(exchange("x", function_call("dim"), **extra))
    assert [(finding.code, finding.message) for finding in trace.findings] == [("TRACE_TRUNCATED", message)]
    assert (trace.completed, len(trace.calls)) == (False, 1)


@pytest.mark.parametrize("where", ["request", "response"])
def test_items_that_stand_in_an_earlier_response_are_missing(where):
    record = exchange([output("done")], said("Done."))
    record[where]["previous_response_id"] = "resp_0"
    trace = read(record)
    assert codes(trace) == ["TRACE_ORPHAN_RESULT", "TRACE_INCOMPLETE"]
    assert "`resp_0`" in trace.findings[1].message
    assert trace.metadata["previous_response_id"] == "resp_0"


@pytest.mark.parametrize("value", ["conv_1", {"id": "conv_1"}])
def test_a_conversation_is_a_session_whose_earlier_items_are_missing(value):
    trace = read(exchange("x", said("y"), request={"conversation": value}))
    assert (codes(trace), trace.metadata["session"]) == (["TRACE_INCOMPLETE"], "conv_1")


# ---- items ----


def test_calls_that_follow_each_other_are_one_turn():  # T11
    trace = read([
        user(), said("Two things.", phase="commentary"), function_call("a"), function_call("b", "{}", "c2"), output("b", "c2"),
        output("a"), function_call("c", "{}", "c3"), user("More"), function_call("d", "{}", "c4"),
    ])  # fmt: skip
    assert [(call.tool, call.turn) for call in trace.calls] == [("a", 1), ("b", 1), ("c", 2), ("d", 3)]
    assert [event.turn for event in trace.events if isinstance(event, Message)] == [None, 1, None]


def test_an_id_that_comes_again_belongs_to_the_nearest_call():  # T1
    trace = read([function_call("a"), output("1"), function_call("b"), output("2"), output("3")])
    assert [call.result.content for call in trace.calls] == ["1", "2"]
    assert codes(trace) == ["TRACE_DUPLICATE_ID", "TRACE_ORPHAN_RESULT"]


def test_without_call_ids_order_decides():  # T2
    trace = read(
        [{"type": "function_call", "name": "a", "arguments": "{}"}, {"type": "function_call_output", "output": "1"}]
    )
    assert [(call.id, call.result.content) for call in trace.calls] == [(None, "1")]


@pytest.mark.parametrize(
    "value",
    [
        "Error: no such room",
        None,
        "",
        {"a": 1},
        [{"type": "input_text", "text": "x"}, {"type": "input_image", "image_url": "data:"}],
    ],
)
def test_an_output_is_kept_as_it_is_and_never_judged_by_its_text(value):  # T10, T16
    (call,) = read([function_call("a"), output(value)]).calls
    assert (call.result.is_captured, call.result.content, call.failed) == (True, value, None)


def test_an_output_without_its_value_was_not_captured():
    (call,) = read([function_call("a"), {"type": "function_call_output", "call_id": "c1"}]).calls
    assert not call.result.is_captured


@pytest.mark.parametrize(
    ("extra", "status", "raw", "code"),
    [
        ({"arguments": '{"a": '}, "malformed", '{"a": ', "TRACE_ARGS_UNPARSEABLE"),
        ({"arguments": "[1]"}, "not_object", "[1]", "TRACE_ARGS_NOT_OBJECT"),
        ({"arguments": None}, "missing", None, "TRACE_ARGS_MISSING"),
    ],
)
def test_odd_arguments_keep_their_status(extra, status, raw, code):  # T3, T4
    trace = read([function_call("a", **extra)])
    assert (trace.calls[0].arguments_status, trace.calls[0].arguments_raw, codes(trace)) == (status, raw, [code])


def test_a_call_whose_key_is_missing_is_missing_them():  # T4
    assert read([{"type": "function_call", "call_id": "c", "name": "a"}]).calls[0].arguments_status == "missing"


@pytest.mark.parametrize(
    ("call", "answer", "tool", "arguments"),
    [
        (
            {"type": "computer_call", "action": {"type": "click", "x": 3}},
            "computer_call_output",
            "computer",
            {"type": "click", "x": 3},
        ),
        (
            {"type": "computer_call", "actions": [{"type": "wait"}]},
            "computer_call_output",
            "computer",
            {"actions": [{"type": "wait"}]},
        ),
        (
            {"type": "local_shell_call", "action": {"command": ["ls"]}},
            "local_shell_call_output",
            "local_shell",
            {"command": ["ls"]},
        ),
        ({"type": "shell_call", "action": {"commands": ["ls"]}}, "shell_call_output", "shell", {"commands": ["ls"]}),
        (
            {"type": "apply_patch_call", "operation": {"path": "a"}},
            "apply_patch_call_output",
            "apply_patch",
            {"path": "a"},
        ),
        (
            {"type": "tool_search_call", "execution": "client", "arguments": {"goal": "x"}},
            "tool_search_output",
            "tool_search",
            {"goal": "x"},
        ),
    ],
)
def test_built_in_tools_that_the_client_runs_are_the_agents_calls(call, answer, tool, arguments):
    items = [{**call, "call_id": "c", "id": "i"}, {"type": answer, "call_id": "c", "output": "ok", "tools": []}]
    assert openai_responses.detect(items)
    (found,) = read(items).calls
    assert (found.tool, found.arguments, found.failed) == (tool, arguments, None)
    assert found.result.content == ([] if tool == "tool_search" else "ok")


@pytest.mark.parametrize(("status", "failed"), [("completed", False), ("failed", True), (None, None)])
def test_a_patch_says_whether_it_failed(status, failed):  # T10
    call = {"type": "apply_patch_call", "call_id": "c", "operation": {}}
    (found,) = read([call, {"type": "apply_patch_call_output", "call_id": "c", "status": status}]).calls
    assert found.failed is failed


def test_an_output_of_the_local_shell_may_name_the_call_in_its_id():
    items = [
        {"type": "local_shell_call", "call_id": "c", "action": {}},
        {"type": "local_shell_call_output", "id": "c", "output": "x"},
    ]
    assert read(items).calls[0].result.content == "x"


def test_a_custom_tool_takes_free_text():
    items = [
        {"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": '{"a": 1}'},
        {"type": "custom_tool_call_output", "call_id": "c", "output": "2 rows"},
    ]
    (call,) = read(items).calls
    assert (call.tool, call.arguments_status, call.arguments_raw, call.result.content) == (
        "sql",
        "not_object",
        '{"a": 1}',
        "2 rows",
    )


@pytest.mark.parametrize(
    ("item", "tool", "arguments", "captured", "content", "failed"),
    [
        ({"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "q"}}, "web_search", {"type": "search", "query": "q"}, False, None, False),
        ({"type": "web_search_call", "status": "completed", "action": {"query": "q", "sources": [1]}}, "web_search", {"query": "q"}, True, [1], False),
        ({"type": "web_search_call", "status": "failed"}, "web_search", None, False, None, True),
        ({"type": "file_search_call", "status": "completed", "queries": ["q"], "results": [{"text": "x"}]}, "file_search", {"queries": ["q"]}, True, [{"text": "x"}], False),
        ({"type": "code_interpreter_call", "status": "failed", "code": "1/0", "outputs": []}, "code_interpreter", {"code": "1/0"}, True, [], True),
        ({"type": "image_generation_call", "status": "completed", "revised_prompt": "a cat", "result": "aGk="}, "image_generation", {"revised_prompt": "a cat"}, True, "aGk=", False),
        ({"type": "mcp_call", "name": "ask", "server_label": "wiki", "arguments": '{"q": 1}', "output": "yes", "error": None}, "ask", {"q": 1}, True, "yes", False),
        ({"type": "mcp_call", "name": "ask", "arguments": "{}", "output": None, "error": {"code": 500}}, "ask", {}, True, {"code": 500}, True),
    ],
)  # fmt: skip
def test_t17_what_the_provider_runs_holds_its_result(item, tool, arguments, captured, content, failed):
    trace = read([user(), {"id": "i", **item}, said("There.")])
    assert trace.calls == ()
    (call,) = all_calls(trace)
    assert (call.tool, call.by, call.arguments, call.turn) == (tool, "provider", arguments, 1)
    assert (call.result.is_captured, call.result.content, call.failed) == (captured, content, failed)
    assert openai_responses.detect([user(), {"id": "i", **item}])


@pytest.mark.parametrize(
    "item",
    [
        {"type": "mcp_call", "name": "ask", "arguments": "{}", "output": None, "error": None, "status": "completed"},
        {"type": "web_search_call", "status": "searching", "action": {}},
    ],
)
def test_a_provider_call_without_anything_back_has_no_result(item):
    assert all_calls(read([user(), item]))[0].result is None


def test_an_approved_call_is_one_call_and_a_refused_one_failed():
    asked = {"type": "mcp_approval_request", "id": "ask_1", "name": "send", "arguments": "{}", "server_label": "mail"}
    answer = {"type": "mcp_approval_response", "approval_request_id": "ask_1", "approve": True}
    made = {
        "type": "mcp_call",
        "id": "m",
        "name": "send",
        "arguments": "{}",
        "approval_request_id": "ask_1",
        "output": "sent",
        "error": None,
    }
    (call,) = all_calls(read([user(), asked, answer, made]))
    assert (call.tool, call.by, call.result.content, call.failed) == ("send", "provider", "sent", False)
    (call,) = all_calls(read([user(), asked, {**answer, "approve": False, "reason": "no"}]))
    assert (call.result.content, call.failed) == ({"approve": False, "reason": "no"}, True)
    assert all_calls(read([user(), asked]))[0].result is None


@pytest.mark.parametrize("kind", ["compaction", "item_reference", "telepathy_call"])
def test_an_item_that_stands_for_others_or_is_unknown_is_named(kind):
    trace = read([user(), {"type": kind, "id": "x"}, said("y")])
    assert codes(trace) == ["TRACE_INCOMPLETE"]
    assert f"`{kind}`" in trace.findings[0].message


def test_reasoning_is_left_out_in_silence():
    trace = read(
        [user(), {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]}, function_call("a")]
    )
    assert (len(trace.events), trace.findings) == (2, ())


@pytest.mark.parametrize(
    "item",
    ["x", None, {}, {"type": 3}, {"role": "critic"}, {"type": "function_call", "call_id": "c"}, {"type": "mcp_call"}],
)
def test_a_bad_item_is_a_finding_and_the_others_are_kept(item):
    trace = read([user(), item, function_call("a")])
    assert (codes(trace), trace.findings[0].path, len(trace.calls)) == (["TRACE_MALFORMED"], "$[1]", 1)


def test_an_item_that_was_cut_off_makes_the_trace_incomplete():
    trace = read([user(), function_call("a", '{"b": ', status="incomplete")])
    assert (codes(trace), trace.completed) == (["TRACE_ARGS_UNPARSEABLE", "TRACE_TRUNCATED"], False)


def test_a_part_that_is_not_text_is_noted():  # T16
    trace = read(
        [
            {
                "role": "user",
                "content": [{"type": "input_text", "text": "See"}, {"type": "input_image", "image_url": "data:"}],
            }
        ]
    )
    assert (trace.request, codes(trace)) == ("See", ["TRACE_INCOMPLETE"])


# ---- catalog ----


def tools_of(tools, *items):
    trace = read(exchange("x", *(items or (said("y"),)), request={"tools": tools}))
    return (None if trace.tools_json is UNSET else json.loads(bytes(trace.tools_json))), trace


def test_flat_definitions_are_the_catalog():
    schema = {"type": "object", "properties": {"a": {}}}
    found, trace = tools_of([
        {"type": "function", "name": "dim", "description": "Dims.", "parameters": schema, "strict": True},
        {"type": "custom", "name": "sql", "description": "Asks."}, {"type": "web_search_preview"}, {"type": "local_shell"},
        {"type": "computer_use_preview"}, {"type": "namespace", "name": "crm", "tools": [{"type": "function", "name": "find"}]},
    ])  # fmt: skip
    assert found == [
        {"name": "dim", "description": "Dims.", "parameters": schema}, {"name": "sql", "description": "Asks."},
        {"name": "web_search"}, {"name": "local_shell"}, {"name": "computer"}, {"name": "find"},
    ]  # fmt: skip
    assert trace.findings == ()


def test_tools_that_an_mcp_server_lists_join_the_catalog():
    listed = {
        "type": "mcp_list_tools",
        "server_label": "wiki",
        "tools": [{"name": "ask", "input_schema": {"type": "object"}, "annotations": {"read_only": True}}],
    }
    server = {"type": "mcp", "server_label": "wiki"}
    found, trace = tools_of([server], listed, said("y"))
    assert found == [{"name": "ask", "parameters": {"type": "object"}, "annotations": {"readOnlyHint": True}}]
    assert trace.findings == ()
    assert codes(tools_of([server])[1]) == ["TRACE_INCOMPLETE"]


def test_the_response_says_what_was_offered_where_the_request_does_not():
    assert json.loads(bytes(read(response(said("x"), tools=[{"type": "function", "name": "dim"}])).tools_json)) == [
        {"name": "dim"}
    ]
    assert tools_of([])[0] == []
    assert tools_of(None)[0] is None


@pytest.mark.parametrize(
    ("tools", "found", "code"),
    [
        (
            [{"type": "function", "name": "a"}, {"type": "function", "name": "a", "description": "x"}],
            [{"name": "a"}],
            "CONFIG_DUPLICATE_TOOL",
        ),
        ([{"type": "function", "name": ""}], [], "CONFIG_TOOL_INVALID"),
        ([{"type": "function", "name": "a", "parameters": 3}], None, "CONFIG_TOOL_INVALID"),
        ("tools.json", None, "CONFIG_TOOL_INVALID"),
    ],
)
def test_tools_that_cannot_be_read_are_a_finding(tools, found, code):
    kept, trace = tools_of(tools)
    assert (kept, codes(trace)) == (found, [code])


# ---- streams ----

CALL = function_call("dim", '{"room": "hall"}')
EVENTS = [
    {
        "type": "response.created",
        "response": {"id": "resp_9", "object": "response", "model": "m-large", "status": "in_progress", "output": []},
    },
    {"type": "response.output_item.added", "output_index": 0, "item": {**said(""), "content": []}},
    {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "Dim"},
    {"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "ming."},
    {"type": "response.output_item.added", "output_index": 1, "item": {**CALL, "arguments": ""}},
    {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": '{"room": '},
    {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": '"hall"}'},
]
DONE = {"type": "response.output_item.done", "output_index": 1, "item": CALL}
END = {
    "type": "response.completed",
    "response": {"id": "resp_9", "object": "response", "status": "completed", "output": [said("Dimming."), CALL]},
}


def sse_text(*events):
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


@pytest.mark.parametrize(
    "make", [list, lambda events: sse_text(*events), lambda events: ": WAIT\n\n" + sse_text(*events)]
)
@pytest.mark.parametrize(
    "tail", [[END], [DONE, END], [DONE, {**END, "response": {"status": "completed", "output": []}}]]
)
def test_a_stream_is_read_like_a_whole_response(make, tail):
    record = {"request": {"input": "Go"}, "response": make([*EVENTS, *tail])}
    assert openai_responses.detect(record)
    trace = read(record)
    assert [event.text for event in trace.events if isinstance(event, Message)] == ["Go", "Dimming."]
    assert [(call.id, call.arguments, call.turn) for call in trace.calls] == [("c1", {"room": "hall"}, 1)]
    assert (trace.findings, trace.completed, trace.metadata["response_id"]) == ((), None, "resp_9")


def test_a_list_of_events_is_a_record():
    assert openai_responses.detect([*EVENTS, END])
    assert [call.tool for call in read([*EVENTS, END]).calls] == ["dim"]


@pytest.mark.parametrize(
    ("events", "arguments"), [(EVENTS[:-1], None), (EVENTS, {"room": "hall"}), ([*EVENTS, DONE], {"room": "hall"})]
)
def test_a_stream_that_ends_too_early_is_not_complete(events, arguments):
    trace = read({"request": {"input": "Go"}, "response": sse_text(*events)})
    assert (trace.calls[0].arguments, trace.completed) == (arguments, False)
    assert codes(trace)[-1] == "TRACE_TRUNCATED"


def test_the_closing_event_of_an_argument_is_the_whole():
    done = {"type": "response.function_call_arguments.done", "output_index": 1, "arguments": '{"room": "attic"}'}
    assert read([*EVENTS, done]).calls[0].arguments == {"room": "attic"}


def test_fragments_of_other_tools_are_joined():
    trace = read([
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": "custom_tool_call", "call_id": "c", "name": "sql", "input": ""}},
        {"type": "response.custom_tool_call_input.delta", "output_index": 0, "delta": "select"},
        {"type": "response.custom_tool_call_input.delta", "output_index": 0, "delta": " 1"},
        {"type": "response.output_item.added", "output_index": 1, "item": {"type": "mcp_call", "id": "m", "name": "ask", "arguments": ""}},
        {"type": "response.mcp_call_arguments.delta", "output_index": 1, "delta": "{}"},
        {"type": "response.output_item.added", "output_index": 2, "item": said("", content=[])},
        {"type": "response.refusal.delta", "output_index": 2, "content_index": 0, "delta": "No."},
    ])  # fmt: skip
    assert [(call.arguments_raw, call.arguments) for call in all_calls(trace)] == [("select 1", None), (None, {})]
    assert trace.events[-1].text == "No."


def test_a_stream_that_fails_is_skipped_unless_it_made_calls():
    failed = {
        "type": "response.failed",
        "response": {"status": "failed", "error": {"message": "overloaded"}, "output": []},
    }
    assert skip_of([EVENTS[0], failed]).code == "TRACE_HTTP_ERROR"
    assert skip_of([EVENTS[0], {"type": "error", "message": "overloaded"}]).message.endswith("an error: overloaded")
    assert (codes(read([*EVENTS, failed])), len(read([*EVENTS, failed]).calls)) == (["TRACE_TRUNCATED"], 1)


def test_an_event_that_cannot_be_read_is_noted():
    assert codes(read({"request": {"input": "x"}, "response": sse_text(*EVENTS) + "data: {\n\n" + sse_text(END)})) == [
        "TRACE_MALFORMED"
    ]


# ---- recognition ----


@pytest.mark.parametrize(
    "record",
    [
        [], [user()], [said("x", content="x")], "x", None, {}, {"input": [user()]}, {"input": "x"}, {"input": "x", "output": "y"},
        {"input": {"a": 1}, "output": {"b": 2}},
        {"input": [user()], "output": [function_call("a")], "traceId": "t"},
        {"messages": [], "input": [function_call("a")]},
        [{"role": "assistant", "tool_calls": []}, function_call("a")],
        [{"type": "function_call", "payload": {}}],
        [{"type": "response_item", "payload": function_call("a")}],
        {"request": {"input": "x", "model": "m"}, "response": {"object": "list", "data": []}},
        {"request": {"input": "x", "model": "m"}, "response": {"error": {"message": "x"}}},
        {"request": {"messages": []}, "response": {"choices": []}},
        {"request": {"messages": []}, "response": 'event: message_start\ndata: {"type": "message_start"}'},
        {"object": "response.compaction", "output": 3},
    ],
)  # fmt: skip
def test_a_record_of_another_dialect_is_not_recognised(record):
    assert not openai_responses.detect(record)


@pytest.mark.parametrize(
    "record",
    [
        [user(), function_call("a")],
        [{"role": "user", "content": [{"type": "input_text", "text": "x"}]}],
        exchange("x", said("y")),
        [*EVENTS, END],
        response(said("x")),
    ],
)
def test_a_record_of_this_dialect_is_of_no_other(record):
    assert registry.detect(record, PLACE) is openai_responses.DIALECT


# ---- any JSON ----

WORDS = ["type", "role", "content", "call_id", "id", "name", "arguments", "output", "input", "status", "action", "tools", "request", "response", "error", "object", "item", "delta", "output_index", "content_index", "server_label", "approval_request_id"]  # fmt: skip
VALUES = ["user", "assistant", "message", "function_call", "function_call_output", "mcp_call", "web_search_call", "mcp_approval_request", "mcp_list_tools", "response", "response.output_item.added", "response.function_call_arguments.delta", "response.completed", "error", "{}", "failed", "tool_search_output", "mcp", "namespace", 0, 1]  # fmt: skip
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.sampled_from(VALUES),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=6),
    max_leaves=10,
)
items = st.lists(
    st.fixed_dictionaries({"type": st.sampled_from(VALUES)}, optional=dict.fromkeys(WORDS[1:], anything)), max_size=4
)


@pytest.mark.slow
@settings(max_examples=60)
@given(
    anything
    | items
    | st.fixed_dictionaries(
        {
            "request": st.fixed_dictionaries({"input": items, "tools": anything}),
            "response": st.fixed_dictionaries({"output": items}),
        }
    )
)
def test_any_json_gives_traces_or_skips(value):
    assert isinstance(openai_responses.detect(value), bool)
    try:
        found = list(openai_responses.traces(value, PLACE))
    except TraceError:
        return
    for item in found:
        assert isinstance(item, (Trace, Skip))
        if isinstance(item, Trace):
            assert native.read_line(native.write_line(item).strip(), PLACE) == item


# ---- files ----


def exchanges(shared_data):
    lines = (shared_data / "data/openai_responses/exchanges.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_real_exchanges_are_counted_right(shared_data):
    # FORMATS §20 counts 197 exchanges and only whole replies; the file holds the 73 that offer tools, with all 22 calls
    # of whole ones, 15 of the 25 streams and none of the 3 HTTP errors.
    opened = reading.open_traces(shared_data / "data/openai_responses/exchanges.jsonl")
    report = ReadingReport()
    found = list(reading.read(opened, report))
    assert opened.dialect is openai_responses.DIALECT
    assert (report.read, report.skipped) == (70, 3)
    assert {code: report.causes[code] for code in ("TRACE_INCOMPLETE", "TRACE_ORPHAN_RESULT", "TRACE_MALFORMED")} == {
        "TRACE_INCOMPLETE": 7, "TRACE_ORPHAN_RESULT": 3, "TRACE_MALFORMED": 1,
    }  # fmt: skip
    streams = {
        f"exchanges:{number}"
        for number, row in enumerate(exchanges(shared_data), 1)
        if isinstance(row["response"], str)
    }
    assert len(streams) == 15
    whole = [trace for trace in found if trace.id not in streams]
    assert sum(len(trace.calls) for trace in whole) == 22
    assert sum(bool(trace.calls) for trace in whole) == 21
    assert sum(len(trace.calls) > 1 for trace in whole) == 1
    assert [call.tool for trace in found if trace.id in streams for call in trace.calls] == [
        "get_temperature", "get_capital", "get_capital", "final_result",
    ]  # fmt: skip
    assert {call.arguments_status for trace in found for call in trace.calls} == {"ok"}
    assert all(trace.completed is None for trace in found)


def test_T17_real_provider_calls_hold_their_results(shared_data):  # noqa: N802
    traces = reading.load_traces(shared_data / "data/openai_responses/exchanges.jsonl")
    calls = [event for trace in traces for event in trace.events if isinstance(event, Call) and event.by == "provider"]
    assert Counter(call.tool for call in calls) == {
        "web_search": 22, "file_search": 4, "code_interpreter": 5, "image_generation": 1, "ask_question": 2, "search_events": 2,
    }  # fmt: skip
    assert [call.failed for call in calls if call.tool == "search_events"] == [True, True]
    assert all(call.result is not None for call in calls)


def test_T11_real_parallel_calls_share_their_turn(shared_data):  # noqa: N802
    traces = reading.load_traces(shared_data / "data/openai_responses/exchanges.jsonl")
    (calls,) = [trace.calls for trace in traces if len(trace.calls) > 1]
    assert len({call.turn for call in calls}) == 1


def test_T12_a_real_history_is_not_counted_again(shared_data):  # noqa: N802
    traces = reading.load_traces(shared_data / "data/openai_responses/exchanges.jsonl")
    history = [
        event for trace in traces for event in ((trace.context or {}).get("history") or ()) if event["type"] == "call"
    ]
    # The inputs hold 19; one of them asks for a response that was still queued, which is skipped.
    assert len([event for event in history if event.get("by") != "provider"]) == 18


def test_a_real_stream_without_the_items_of_a_server_takes_them_from_its_end(shared_data):
    row = next(row for row in exchanges(shared_data) if "backfills_missing_results" in row["source"])
    trace = read(row)
    added = row["response"].count("event: response.output_item.added")
    assert (added, row["response"].count("event: response.output_item.done")) == (4, 2)
    assert len(json.loads(bytes(trace.tools_json))) > 0
    assert trace.findings == ()


def test_the_public_report_on_this_shape_gets_the_right_answer(shared_data):
    reports = map(json.loads, (shared_data / "cases/cases.jsonl").read_text().splitlines())
    (report,) = [row for row in reports if row["minimal_input"].get("format") == "openai-responses"]
    assert registry.detect(report["minimal_input"]["raw"], PLACE) is openai_responses.DIALECT
    (call,) = read(report["minimal_input"]["raw"]).calls
    assert {"id": call.id, "tool": call.tool, "arguments": call.arguments, "result": call.result.content} == report[
        "right_answer"
    ]["calls"][0]


@pytest.mark.slow
def test_mutated_bytes_of_a_real_file_give_traces_or_typed_errors(shared_data, tmp_path):
    chance = random.Random(5)
    rows = (shared_data / "data/openai_responses/exchanges.jsonl").read_bytes().splitlines(keepends=True)
    small = b"".join(row for row in rows if len(row) < 12_000)[:60_000]
    path = tmp_path / "x.jsonl"
    for _ in range(60):
        data = bytearray(small)
        for _ in range(chance.randrange(1, 6)):
            place = chance.randrange(len(data))
            data[place : place + chance.randrange(0, 4)] = bytes(
                chance.choices(b'{}[]":,\\0a\n\xff', k=chance.randrange(0, 4))
            )
        path.write_bytes(data)
        try:
            reading.load_traces(path, "openai_responses")
        except RightcallError:
            continue

"""OpenAI chat completions: every shape of record, every way in which arguments are recorded, pairing, real files."""

import gzip
import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from ruamel.yaml import YAML

from rightcall.errors import Place, TraceError
from rightcall.trace.model import Call, Message, Trace
from rightcall.trace.sources import native, openai_chat, reading, registry
from rightcall.trace.sources.dialect import ReadingReport, Skip

PLACE = Place("logs/day.jsonl", 7)


def read(record, place=PLACE):
    """Read one record that must give one trace."""
    (trace,) = openai_chat.traces(record, place)
    assert isinstance(trace, Trace), trace
    return trace


def skip_of(record):
    """Read one record that must be skipped."""
    (skip,) = openai_chat.traces(record, PLACE)
    assert isinstance(skip, Skip), skip
    return skip


def function_call(name, arguments="{}", call_id=None):
    entry = {"type": "function", "function": {"name": name, "arguments": arguments}}
    return entry if call_id is None else {"id": call_id, **entry}


def assistant(*calls, content=None):
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def result(content, call_id=None, name=None):
    message = {"role": "tool", "content": content, "tool_call_id": call_id, "name": name}
    return {key: value for key, value in message.items() if value is not None}


def codes(trace):
    return [finding.code for finding in trace.findings]


def paths(trace):
    return [finding.path for finding in trace.findings]


def results_of(trace):
    return [call.result and call.result.content for call in trace.calls]


# ---- shapes of a record ----


def test_a_record_with_messages_is_a_trace():
    trace = read(
        {
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "Is the ferry on time?"},
                assistant(function_call("ferry", '{"line": 4}', "c1"), content="Looking."),
                result("late", "c1"),
                {"role": "assistant", "content": "It is late."},
            ]
        }
    )
    assert trace.id == "day:7"
    assert trace.case_id is None
    assert trace.request == "Is the ferry on time?"
    assert trace.tools_json is UNSET
    assert trace.completed is None
    assert trace.findings == ()
    assert [type(event) for event in trace.events] == [Message, Message, Message, Call, Message]
    (call,) = trace.calls
    assert (call.tool, call.id, call.arguments, call.arguments_status) == ("ferry", "c1", {"line": 4}, "ok")
    assert call.result.content == "late"


def test_a_bare_list_of_messages_is_a_record():
    messages = [{"role": "user", "content": "Hi"}]
    assert openai_chat.DIALECT.whole_list
    assert openai_chat.detect(messages)
    assert read(messages).events == (Message(role="user", text="Hi"),)


def test_a_completion_alone_is_a_record_with_its_own_id_and_model():
    choice = {"finish_reason": "tool_calls", "message": assistant(function_call("now", "{}", "n1"))}
    record = {"id": "chatcmpl-8", "model": "m-large", "choices": [choice]}
    assert openai_chat.detect(record)
    trace = read(record)
    assert (trace.id, trace.request, trace.agent.model) == ("chatcmpl-8", None, "m-large")
    assert [call.tool for call in trace.calls] == ["now"]


def exchange(messages, message, **extra):
    return {"request": {"messages": messages}, "response": {"choices": [{"message": message}]}, **extra}


def test_an_exchange_is_its_request_and_its_reply():
    record = exchange([{"role": "user", "content": "Time?"}], assistant(function_call("now", "{}", "n1")), status=200)
    assert openai_chat.detect(record)
    trace = read(record)
    assert trace.request == "Time?"
    assert [type(event) for event in trace.events] == [Message, Message, Call]
    assert trace.context is None


def test_an_exchange_repeats_history_and_only_its_reply_holds_its_own_calls():  # T12
    earlier = [
        {"role": "user", "content": "Dim the hall, then the attic."},
        assistant(function_call("dim", '{"room": "hall"}', "a")),
        result("done", "a"),
    ]
    first = read(exchange(earlier[:1], earlier[1]))
    second = read(exchange(earlier, assistant(function_call("dim", '{"room": "attic"}', "b"))))
    assert [call.arguments["room"] for trace in (first, second) for call in trace.calls] == ["hall", "attic"]
    assert second.request == "Dim the hall, then the attic."
    assert [event["type"] for event in second.context["history"]] == ["message", "message", "call"]
    assert second.context["history"][2]["result"] == {"content": "done"}
    assert second.calls[0].turn == 2


def test_what_was_said_after_the_last_earlier_call_stays_in_the_events():
    history = [
        assistant(function_call("look", "{}", "a")),
        result("x", "a"),
        {"role": "user", "content": "Yes, do it."},
    ]
    trace = read(exchange(history, assistant(function_call("act", "{}", "b"))))
    assert trace.events[0] == Message(role="user", text="Yes, do it.")


def sse_text(*chunks, done=True):
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + ("data: [DONE]\n\n" if done else "")


def chunk(delta, finish=None, **extra):
    return {
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        **extra,
    }


def fragment(arguments=None, index=0, call_id=None, name=None):
    function = {key: value for key, value in {"name": name, "arguments": arguments}.items() if value is not None}
    return {"index": index, "function": function} | ({} if call_id is None else {"id": call_id, "type": "function"})


def streamed(*chunks, **options):
    return {"request": {"messages": [{"role": "user", "content": "Go"}]}, "response": sse_text(*chunks, **options)}


STREAM = [
    chunk({"role": "assistant", "content": ""}, model="m-large"),
    chunk({"tool_calls": [fragment("", 0, "c1", "dim")]}),
    chunk({"tool_calls": [fragment('{"room": ')]}),
    chunk({"tool_calls": [fragment('"hall"}')]}),
    chunk({}, "tool_calls"),
]


def test_a_streamed_reply_is_read_like_a_whole_one():
    record = streamed(*STREAM)
    assert openai_chat.detect(record)
    trace = read(record)
    (call,) = trace.calls
    assert (call.id, call.tool, call.arguments, call.turn) == ("c1", "dim", {"room": "hall"}, 1)
    assert (trace.agent.model, trace.request, trace.completed, trace.findings) == ("m-large", "Go", None, ())


@pytest.mark.parametrize("response", [STREAM, sse_text(*STREAM, done=False), ": PROCESSING\n\n" + sse_text(*STREAM)])
def test_chunks_come_as_a_list_or_as_text(response):
    record = {"request": {"messages": [{"role": "user", "content": "Go"}]}, "response": response}
    assert openai_chat.detect(record)
    assert read(record).calls == read(streamed(*STREAM)).calls
    assert openai_chat.detect(STREAM)
    assert read(STREAM).calls == read(record).calls


def test_a_stream_that_ends_too_early_is_not_complete():
    trace = read(streamed(*STREAM[:3], done=False))
    assert [call.arguments_status for call in trace.calls] == ["malformed"]
    assert codes(trace) == ["TRACE_ARGS_UNPARSEABLE", "TRACE_TRUNCATED"][::-1]
    assert trace.completed is False


def test_a_stream_that_ends_with_an_error_keeps_the_calls_that_came():
    error = {"error": {"message": "overloaded"}}
    assert skip_of(streamed(STREAM[0], error, done=False)).message == "the endpoint answered with an error: overloaded"
    trace = read(streamed(*STREAM[:4], error, done=False))
    assert ([call.arguments for call in trace.calls], trace.completed) == ([{"room": "hall"}], False)
    assert codes(trace) == ["TRACE_TRUNCATED"]


def test_an_event_that_is_not_json_is_noted():
    record = streamed(*STREAM)
    record["response"] = (
        record["response"].replace("data: {}", "data: {").replace("data: [DONE]", "data: {oops\n\ndata: [DONE]")
    )
    assert codes(read(record)) == ["TRACE_MALFORMED"]


def test_one_chunk_alone_is_skipped():
    skip = skip_of(STREAM[1])
    assert (skip.code, skip.place) == ("TRACE_STREAM", PLACE)


@pytest.mark.parametrize(
    ("response", "message"),
    [
        ({"error": {"message": "too long"}}, "HTTP status 400: too long"),
        ({"error": "nope"}, "HTTP status 400: nope"),
        (None, "HTTP status 400"),
    ],
)
def test_an_exchange_that_failed_is_skipped_with_its_status(response, message):
    skip = skip_of({"request": {"messages": []}, "response": response, "status": 400})
    assert (skip.code, skip.message) == ("TRACE_HTTP_ERROR", f"the endpoint answered with {message}")


@pytest.mark.parametrize(
    ("record", "code"),
    [
        (3, "TRACE_MALFORMED"),
        ({}, "TRACE_MALFORMED"),
        ({"messages": "hello"}, "TRACE_MALFORMED"),
        ({"messages": []}, "TRACE_INCOMPLETE"),
        ([], "TRACE_INCOMPLETE"),
        ({"request": {"contents": []}, "response": {}}, "TRACE_MALFORMED"),
        ({"request": {"messages": []}, "response": None}, "TRACE_MALFORMED"),
        ({"request": {"messages": []}, "response": {"error": {"code": 3}}}, "TRACE_HTTP_ERROR"),
        ({"choices": []}, "TRACE_MALFORMED"),
        ({"choices": [{"message": None}]}, "TRACE_MALFORMED"),
        ({"choices": "none"}, "TRACE_MALFORMED"),
        ({"messages": ["hello", {"role": "tool", "content": "x"}]}, "TRACE_MALFORMED"),
    ],
)
def test_a_record_without_anything_to_read_is_skipped(record, code):
    skip = skip_of(record)
    assert (skip.code, skip.place) == (code, PLACE)


def test_a_reply_that_was_cut_off_is_not_complete():
    trace = read({"choices": [{"finish_reason": "length", "message": {"content": "The ans"}}]})
    assert trace.completed is False
    assert codes(trace) == ["TRACE_TRUNCATED"]


def test_of_several_choices_the_first_is_read():
    trace = read({"choices": [{"message": {"content": "a"}}, {"message": {"content": "b"}}]})
    assert [event.text for event in trace.events] == ["a"]
    assert codes(trace) == ["TRACE_INCOMPLETE"]


# ---- ids, case, metadata ----


@pytest.mark.parametrize(
    ("extra", "trace_id"),
    [
        ({"id": "r-9"}, "r-9"),
        ({"trace_id": "t-9"}, "t-9"),
        ({"id": 12}, "12"),
        ({"id": ""}, "day:7"),
        ({"id": True}, "day:7"),
    ],
)
def test_the_id_is_the_records_own_or_its_place(extra, trace_id):
    assert read({"messages": [{"role": "user", "content": "x"}], **extra}).id == trace_id


@pytest.mark.parametrize(
    ("place", "trace_id"),
    [
        (Place("a/b.json", None, None, "$[3]"), "b[3]"),
        (Place("b.jsonl.gz", 4), "b:4"),
        (Place("b.json.zst"), "b"),
        (Place(), "trace"),
    ],
)
def test_an_id_from_the_place_is_the_stem_with_line_or_index(place, trace_id):
    assert read({"messages": [{"role": "user", "content": "x"}]}, place).id == trace_id


@pytest.mark.parametrize(
    "extra",
    [{"case_id": "lost"}, {"metadata": {"case_id": "lost"}}, {"case_id": "lost", "metadata": {"case_id": "other"}}],
)
def test_the_case_comes_from_the_record_or_its_metadata(extra):
    trace = read({"messages": [{"role": "user", "content": "x"}], **extra})
    assert trace.case_id == "lost"
    assert trace.metadata == extra.get("metadata", {})


# ---- content ----


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, None),
        ("", ""),
        ("Hi", "Hi"),
        ([], ""),
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "a\nb"),
        (["a", {"type": "refusal", "refusal": "no"}], "a\nno"),
    ],
)
def test_content_is_text_parts_or_nothing(content, text):  # T16
    trace = read({"messages": [{"role": "user", "content": content}]})
    assert trace.events == (Message(role="user", text=text),)
    assert trace.request == text
    assert trace.findings == ()


def test_a_part_that_is_not_text_is_noted():  # T16
    image = {"type": "image_url", "image_url": {"url": "data:…"}}
    trace = read({"messages": [{"role": "user", "content": [image]}, {"role": "user", "content": ["See:", image]}]})
    assert [event.text for event in trace.events] == [None, "See:"]
    assert codes(trace) == ["TRACE_INCOMPLETE"] * 2
    assert paths(trace) == ["$.messages[0].content[0]", "$.messages[1].content[1]"]
    assert "`image_url`" in trace.findings[0].message


def test_content_of_another_type_is_malformed():
    trace = read({"messages": [{"role": "user", "content": 5}]})
    assert trace.events == (Message(role="user"),)
    assert codes(trace) == ["TRACE_MALFORMED"]


def test_a_refusal_is_what_the_assistant_said():
    assert read([{"role": "assistant", "content": None, "refusal": "I can't."}]).events[0].text == "I can't."


def test_a_developer_message_is_a_system_message():
    assert read([{"role": "developer", "content": "Be kind."}]).events == (Message(role="system", text="Be kind."),)


def test_a_plain_answer_is_a_trace_without_calls():  # T15
    trace = read([{"role": "assistant", "content": "Which of your two bikes do you mean?"}])
    assert trace.calls == ()
    assert trace.findings == ()


@pytest.mark.parametrize("message", ["hello", None, {}, {"role": "critic"}, {"role": ["user"]}])
def test_an_unknown_message_is_a_finding_and_the_others_are_kept(message):
    trace = read({"messages": [message, {"role": "user", "content": "x"}]})
    assert len(trace.events) == 1
    assert codes(trace) == ["TRACE_MALFORMED"]
    assert paths(trace) == ["$.messages[0]"]


def test_events_of_reads_a_list_of_messages_for_other_dialects():
    events, findings = openai_chat.events_of([{"role": "user", "content": "x"}, 3], Place(path="$.traj"))
    assert events == (Message(role="user", text="x"),)
    assert [(finding.code, finding.path) for finding in findings] == [("TRACE_MALFORMED", "$.traj[1]")]
    events, findings = openai_chat.events_of("x", Place())
    assert events == ()
    assert [(finding.code, finding.path) for finding in findings] == [("TRACE_MALFORMED", "$")]


# ---- arguments ----


def call_with(**body):
    return read(
        [{"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", **body}}]}]
    )


@pytest.mark.parametrize("text", ['{"n": 12345678901234567890123}', '{ "a" : 1.50 }', '{"a":"x\\ny"}', "{}"])
def test_arguments_keep_their_exact_text(text):
    (call,) = call_with(arguments=text).calls
    assert bytes(call.arguments_json) == text.encode()
    assert call.arguments == json.loads(text)


def test_an_empty_string_means_no_arguments():
    trace = call_with(arguments="")
    assert trace.calls[0].arguments == {}
    assert trace.findings == ()


def test_a_line_break_between_arguments_does_not_break_a_native_line():
    trace = call_with(arguments='\n{\r\n  "a": 10000000000000000000001\n}\n')
    line = native.write_line(trace)
    assert line.count(b"\n") == 1
    assert native.read_line(line.strip(), PLACE) == trace
    assert trace.calls[0].arguments == {"a": 10000000000000000000001}


def test_an_object_is_taken_as_the_arguments():
    assert call_with(arguments={"a": [1]}).calls[0].arguments == {"a": [1]}


@pytest.mark.parametrize("text", ['{"a": 1', '{"a": 1} // one', "print(1)", "  ", '{"a": NaN}', "[" * 500])
def test_arguments_that_are_not_json_are_kept_as_text(text):  # T3
    trace = call_with(arguments=text)
    (call,) = trace.calls
    assert (call.arguments_status, call.arguments_raw, call.arguments) == ("malformed", text, None)
    assert codes(trace) == ["TRACE_ARGS_UNPARSEABLE"]
    assert paths(trace) == ["$[0].tool_calls[0]"]


@pytest.mark.parametrize(
    ("value", "raw"), [("[3, 4]", "[3, 4]"), ("null", "null"), ('"x"', '"x"'), ([3], "[3]"), (True, "true")]
)
def test_arguments_that_are_no_object_are_kept_as_text(value, raw):
    trace = call_with(arguments=value)
    assert (trace.calls[0].arguments_status, trace.calls[0].arguments_raw) == ("not_object", raw)
    assert codes(trace) == ["TRACE_ARGS_NOT_OBJECT"]


@pytest.mark.parametrize("body", [{}, {"arguments": None}])
def test_missing_arguments_are_not_empty_arguments(body):  # T4
    trace = call_with(**body)
    assert (trace.calls[0].arguments_status, trace.calls[0].arguments) == ("missing", None)
    assert codes(trace) == ["TRACE_ARGS_MISSING"]


@pytest.mark.parametrize(
    ("body", "status", "raw"), [({"input": '{"a": 1}'}, "not_object", '{"a": 1}'), ({}, "missing", None)]
)
def test_a_custom_tool_takes_free_text(body, status, raw):
    entry = {"id": "c", "type": "custom", "custom": {"name": "shell", **body}}
    (call,) = read([assistant(entry)]).calls
    assert (call.tool, call.arguments_status, call.arguments_raw) == ("shell", status, raw)


# ---- entries and turns ----


def test_bad_entries_are_named_by_index_and_the_good_ones_are_kept():
    nameless = {"type": "function", "function": {"arguments": "{}"}}
    trace = read([assistant({"id": "z", "type": "function", "function": None}, {}, "x", nameless, function_call("ok"))])
    assert [call.tool for call in trace.calls] == ["ok"]
    assert codes(trace) == ["TRACE_MALFORMED"] * 4
    assert paths(trace) == [f"$[0].tool_calls[{index}]" for index in range(4)]


def test_tool_calls_that_are_no_list_are_a_finding():
    trace = read([{"role": "assistant", "tool_calls": {"id": "c"}}])
    assert trace.calls == ()
    assert paths(trace) == ["$[0].tool_calls"]


def test_calls_of_one_message_share_its_turn():  # T11
    trace = read(
        [
            {"role": "assistant", "content": "Hello."},
            {"role": "user", "content": "Both, please."},
            assistant(function_call("a"), function_call("b")),
            assistant(function_call("c")),
        ]
    )
    assert [call.turn for call in trace.calls] == [2, 2, 3]
    assert [event.turn for event in trace.events if isinstance(event, Message)] == [1, None, 2, 3]


def test_a_legacy_function_call_is_a_call_with_its_result():
    trace = read(
        [
            {"role": "assistant", "content": None, "function_call": {"name": "tide", "arguments": '{"at": "Oban"}'}},
            {"role": "function", "name": "tide", "content": "high"},
        ]
    )
    (call,) = trace.calls
    assert (call.id, call.arguments, call.result.content) == (None, {"at": "Oban"}, "high")


def test_a_legacy_copy_of_the_calls_is_not_counted_again():
    message = {**assistant(function_call("tide")), "function_call": {"name": "tide", "arguments": "{}"}}
    assert len(read([message]).calls) == 1


def test_calls_of_a_user_are_kept_and_are_not_the_agents():  # T14
    trace = read(
        [{"role": "user", "content": None, "tool_calls": [function_call("reboot", "{}", "u1")]}, result("ok", "u1")]
    )
    assert trace.calls == ()
    (call,) = [event for event in trace.events if isinstance(event, Call)]
    assert (call.by, call.turn, call.result.content) == ("user", None, "ok")


# ---- results ----


def test_results_in_another_order_find_their_calls():  # T11
    trace = read(
        [
            assistant(function_call("temp", "{}", "t1"), function_call("temp", "{}", "t2")),
            result("9", "t2"),
            result("30", "t1"),
        ]
    )
    assert results_of(trace) == ["30", "9"]


def test_a_result_belongs_to_the_nearest_unanswered_call_of_a_reused_id():  # T1
    trace = read(
        [
            assistant(function_call("a", "{}", "x")),
            result("first", "x"),
            assistant(function_call("b", "{}", "x")),
            result("second", "x"),
        ]
    )
    assert results_of(trace) == ["first", "second"]
    assert codes(trace) == ["TRACE_DUPLICATE_ID"]
    assert paths(trace) == ["$[2].tool_calls[0]"]


@pytest.mark.parametrize("call_id", [None, ""])
def test_without_ids_results_follow_order_and_name(call_id):  # T2
    trace = read(
        [
            assistant(
                function_call("a", "{}", call_id), function_call("b", "{}", call_id), function_call("a", "{}", call_id)
            ),
            result("b1", name="b"),
            result("a1", name="a"),
            result("a2"),
        ]
    )
    assert results_of(trace) == ["a1", "b1", "a2"]
    assert trace.findings == ()


def test_without_ids_a_result_belongs_to_the_last_turn_that_waits():  # T2
    trace = read(
        [assistant(function_call("a")), assistant(function_call("a"), function_call("a")), result("r"), result("s")]
    )
    assert results_of(trace) == [None, "r", "s"]


@pytest.mark.parametrize(
    "message", [result("r", "gone"), result("r", name="other"), {"role": "function", "name": "other", "content": "r"}]
)
def test_a_result_without_its_call_is_a_finding(message):
    trace = read({"messages": [assistant(function_call("a", "{}", "x")), message]})
    assert results_of(trace) == [None]
    assert codes(trace) == ["TRACE_ORPHAN_RESULT"]
    assert paths(trace) == ["$.messages[1]"]


def test_a_second_result_of_one_call_is_an_orphan():
    trace = read([assistant(function_call("a", "{}", "x")), result("one", "x"), result("two", "x")])
    assert results_of(trace) == ["one"]
    assert codes(trace) == ["TRACE_ORPHAN_RESULT"]


def test_a_result_before_any_call_is_an_orphan():
    assert codes(read([result("one"), {"role": "user", "content": "x"}])) == ["TRACE_ORPHAN_RESULT"]


@pytest.mark.parametrize(
    "content", ["Error: user not found", '{"error": "none"}', None, "", [{"type": "text", "text": "ok"}]]
)
def test_whether_a_tool_failed_is_never_read_from_its_text(content):  # T10, T16
    trace = read([assistant(function_call("a", "{}", "x")), {"role": "tool", "tool_call_id": "x", "content": content}])
    (call,) = trace.calls
    assert call.result.is_captured
    assert call.result.content == content
    assert call.failed is None


def test_a_result_without_content_was_not_captured():
    (call,) = read([assistant(function_call("a", "{}", "x")), {"role": "tool", "tool_call_id": "x"}]).calls
    assert not call.result.is_captured


# ---- tools ----


def tools_of(tools, key="tools"):
    trace = read({"messages": [{"role": "user", "content": "x"}], key: tools})
    return (None if trace.tools_json is UNSET else json.loads(bytes(trace.tools_json))), trace


def test_tools_are_kept_in_native_shape():
    parameters = {"type": "object", "properties": {"z": {}, "a": {}}}
    function = {"name": "dim", "description": "Dims.", "parameters": parameters, "strict": True}
    found, trace = tools_of([{"type": "function", "function": function}])
    assert found == [{"name": "dim", "description": "Dims.", "parameters": parameters}]
    assert trace.findings == ()


def test_legacy_functions_are_tools():
    assert tools_of([{"name": "dim"}], "functions")[0] == [{"name": "dim"}]


def test_an_empty_catalog_is_known_to_be_empty():
    assert tools_of([])[0] == []
    assert tools_of(None)[0] is None


def test_a_custom_tool_has_no_parameters():
    assert tools_of([{"type": "custom", "custom": {"name": "shell", "description": "Runs."}}])[0] == [
        {"name": "shell", "description": "Runs."}
    ]


def test_a_tool_of_the_provider_is_noted_and_left_out():
    found, trace = tools_of([{"type": "web_search"}, {"type": "function", "function": {"name": "dim"}}])
    assert found == [{"name": "dim"}]
    assert (codes(trace), paths(trace)) == (["TRACE_INCOMPLETE"], ["$.tools[0]"])


@pytest.mark.parametrize(
    ("tools", "code"),
    [
        ([{"type": "function", "function": {"name": "a"}}] * 2, "CONFIG_DUPLICATE_TOOL"),
        ([{"type": "function", "function": {}}], "CONFIG_TOOL_INVALID"),
        ("tools.json", "CONFIG_TOOL_INVALID"),
    ],
)
def test_tools_that_cannot_be_read_are_a_finding(tools, code):
    found, trace = tools_of(tools)
    assert found is None
    assert codes(trace) == [code]


# ---- recognition ----


@pytest.mark.parametrize(
    "record",
    [
        {"messages": [{"role": "user", "content": "x"}], "reward_info": {}},
        {"messages": [{"role": "user", "content": "x"}], "suite_name": "banking"},
        {"messages": [{"role": "user", "content": "x"}], "system": "Be brief."},
        {"messages": [{"role": "user", "content": "x"}], "tools": [{"name": "a", "input_schema": {}}]},
        {"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "a", "input": {}}]}]},
        {"messages": [{"role": "user", "content": [{"text": "x"}]}]},
        {"messages": [{"role": "user", "content": [{"type": "text", "content": "x"}]}]},
        {"messages": [{"role": "assistant", "tool_calls": [{"name": "a", "args": {}, "id": "1"}]}]},
        {"messages": [{"role": "assistant", "tool_calls": [{"id": "1", "function": "a", "arguments": {}}]}]},
        {"messages": [{"role": "tool", "id": "1", "requestor": "assistant", "content": "x"}]},
        {"messages": [{"type": "human", "content": "x"}]},
        {"messages": [{"role": ["user"], "content": "x"}]},
        {"messages": []},
        {"messages": "x"},
        {"choices": [{"text": "x"}]},
        {"choices": []},
        {"request": {"messages": [{"role": "user", "content": "x"}]}, "response": {"content": [], "type": "message"}},
        {"request": {"messages": [{"role": "user", "content": "x"}]}, "response": "event: message_start"},
        {"request": {"messages": [{"role": "user", "content": "x"}]}},
        {"request": {"contents": []}, "response": {"candidates": []}},
        [{"role": "user", "content": [{"type": "input_text", "text": "x"}]}],
        {"request": {"messages": [{"role": "user", "content": "x"}]}, "response": 'data: {"type": "ping"}'},
        {"request": {"messages": [{"role": "user", "content": "x"}]}, "response": ""},
        [],
        [{"messages": []}],
        "messages",
        None,
    ],
)
def test_a_record_of_another_dialect_is_not_recognised(record):
    assert not openai_chat.detect(record)


def test_a_record_with_bad_entries_is_still_recognised():
    assert openai_chat.detect({"messages": [assistant({"function": None}, {}, "x")]})


# ---- any JSON ----

WORDS = [
    "messages", "role", "content", "tool_calls", "function", "name", "arguments", "id", "tool_call_id", "type", "text",
    "request", "response", "choices", "message", "delta", "error", "status", "tools", "functions", "metadata",
    "case_id", "custom", "input", "function_call", "finish_reason", "refusal", "model",
]  # fmt: skip
VALUES = [
    "user",
    "assistant",
    "tool",
    "function",
    "system",
    "developer",
    "a",
    "",
    "{}",
    '{"a":',
    "length",
    "text",
    "custom",
]
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5)
)
anything = st.recursive(
    scalars | st.sampled_from(VALUES),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=3), inner, max_size=5)
    ),
    max_leaves=30,
)
calls = st.lists(st.builds(function_call, st.sampled_from("ab"), anything, st.sampled_from(["x", "y"])))
messages = st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(VALUES[:6])},
        optional={
            "content": anything,
            "tool_call_id": st.sampled_from(["x", "y"]) | anything,
            "name": anything,
            "tool_calls": calls | anything,
            "function_call": anything,
        },
    ),
    max_size=6,
)


@pytest.mark.slow
@given(anything | messages | st.fixed_dictionaries({"messages": messages, "tools": anything}))
def test_any_json_gives_traces_or_skips(value):
    assert isinstance(openai_chat.detect(value), bool)
    try:
        found = list(openai_chat.traces(value, PLACE))
    except TraceError:
        return
    for item in found:
        assert isinstance(item, (Trace, Skip))
        if isinstance(item, Trace):
            assert native.read_line(native.write_line(item).strip(), PLACE) == item


@pytest.mark.slow
@given(messages)
def test_every_result_is_attached_once_or_reported(conversation):
    trace = read([*conversation, {"role": "user", "content": "x"}])
    held = sum(isinstance(event, Call) and event.result is not None for event in trace.events)
    sent = sum(message["role"] in ("tool", "function") for message in conversation)
    assert held + codes(trace).count("TRACE_ORPHAN_RESULT") == sent


# ---- files ----


def test_a_file_of_lines_and_a_file_with_one_conversation_are_read(tmp_path):
    conversation = [{"role": "user", "content": "Hi"}, assistant(function_call("a"))]
    lines = tmp_path / "log.jsonl.gz"
    lines.write_bytes(
        gzip.compress(b"".join(json.dumps({"messages": conversation}).encode() + b"\n" for _ in range(2)))
    )
    assert [trace.id for trace in reading.load_traces(lines)] == ["log:1", "log:2"]
    whole = tmp_path / "one.json"
    whole.write_text(json.dumps(conversation))
    assert [trace.id for trace in reading.load_traces(whole)] == ["one"]
    both = tmp_path / "both.json"
    both.write_text(json.dumps([{"messages": conversation}, {"messages": conversation}]))
    assert [trace.id for trace in reading.load_traces(both)] == ["both[0]", "both[1]"]


def test_real_exchanges_are_counted_right(shared_data):
    # FORMATS §20 counts 179 exchanges and only whole replies; the file holds the 64 that offer tools, with all 24 whole
    # ones that call one, and 10 of the 20 streams (two of them end with an error). Two of the 64 are Gemini's.
    opened = reading.open_traces(shared_data / "data/openai_chat/exchanges.jsonl")
    report = ReadingReport()
    found = list(reading.read(opened, report))
    assert opened.dialect is openai_chat.DIALECT
    assert (report.read, report.skipped) == (58, 6)
    assert {code: report.causes[code] for code in ("TRACE_STREAM", "TRACE_HTTP_ERROR", "TRACE_MALFORMED")} == {
        "TRACE_STREAM": 0, "TRACE_HTTP_ERROR": 4, "TRACE_MALFORMED": 2,
    }  # fmt: skip
    assert "HTTP status 400" in report.examples["TRACE_HTTP_ERROR"][0]
    lines = (shared_data / "data/openai_chat/exchanges.jsonl").read_text().splitlines()
    streams = {
        f"exchanges:{number}" for number, line in enumerate(lines, 1) if isinstance(json.loads(line)["response"], str)
    }
    assert len(streams) == 10
    whole = [call for trace in found if trace.id not in streams for call in trace.calls]
    assert len(whole) == 25
    assert sum(bool(trace.calls) for trace in found if trace.id not in streams) == 24
    assert sum(len(trace.calls) > 1 for trace in found) == 1
    assert Counter(call.arguments_status for call in whole) == {"ok": 24, "missing": 1}
    sent = [call for trace in found if trace.id in streams for call in trace.calls]
    assert [call.tool for call in sent] == ["get_something_by_name", "final_result", "get_capital"]
    assert all(call.arguments_status == "ok" for call in sent)
    assert report.causes["TRACE_ARGS_MISSING"] == 1
    history = [event for trace in found if trace.context for event in trace.context["history"]]
    assert sum("result" in event for event in history) == 30
    assert report.causes["TRACE_ORPHAN_RESULT"] == 0
    assert all(trace.tools_json is not UNSET for trace in found)


def cassette(shared_data, name):
    document = YAML(typ="safe").load(shared_data / f"data/openai_chat/cassettes/{name}.yaml")
    for recorded in document["interactions"]:
        response = recorded["response"]
        yield {
            "request": recorded["request"].get("parsed_body"),
            "response": response.get("parsed_body", response.get("body", {}).get("string")),
            "status": response["status"]["code"],
        }


def test_a_real_call_without_arguments_is_missing_them(shared_data):  # T4
    (record,) = cassette(shared_data, "test_openrouter__test_openrouter_tool_optional_parameters")
    (call,) = read(record).calls
    assert (call.tool, call.arguments_status) == ("find_education_content", "missing")


def test_a_real_call_without_an_id_has_its_result(shared_data):  # T2
    first, second = [
        read(record) for record in cassette(shared_data, "test_openai__test_compatible_api_with_tool_calls_without_id")
    ]
    assert [call.id for call in first.calls] == [None]
    assert "result" in second.context["history"][-1]


def test_a_real_bare_list_of_messages_is_one_trace(shared_data):
    (trace,) = reading.load_traces(shared_data / "data/agentrx/tools_structure.json")
    assert len(trace.calls) == 13
    assert trace.findings == ()


def test_no_other_real_recording_is_taken_for_this_dialect(shared_data):
    for path in (
        "anthropic/exchanges.jsonl",
        "openai_responses/exchanges.jsonl",
        "gemini/exchanges.jsonl",
        "bedrock/exchanges.jsonl",
    ):
        file = shared_data / "data" / path
        lines = file.read_text().splitlines() if file.exists() else []
        assert [number for number, line in enumerate(lines) if openai_chat.detect(json.loads(line))] == []


def shared_reports(shared_data):
    for line in (shared_data / "cases/cases.jsonl").read_text().splitlines():
        report = json.loads(line)
        if report["minimal_input"].get("format") in ("openai-chat", "openai-chat-deltas"):
            raw = report["minimal_input"]["raw"]
            yield report["id"], raw if isinstance(raw, list) else [raw], report["right_answer"]


def test_the_public_reports_on_this_shape_get_the_right_answer(shared_data):
    seen = 0
    for name, raw, answer in shared_reports(shared_data):
        trace = read(raw)
        for call, wanted in zip(trace.calls, answer["calls"], strict=True):
            assert call.id == wanted["id"], name
            assert call.arguments == wanted["arguments"], name
            assert call.tool == wanted.get("tool", call.tool), name
            assert "result" not in wanted or call.result.content == wanted["result"], name
        assert set(codes(trace)) == {answer["error_class"]} if "error_class" in answer else trace.findings == (), name
        seen += 1
    assert seen == 6


def test_the_registry_knows_the_dialect():
    assert registry.by_name("openai_chat") is openai_chat.DIALECT

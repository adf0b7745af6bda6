"""Anthropic messages: blocks, results, the provider's tools, streams, every shape of record, real files."""

import contextlib
import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from rightcall.errors import Place, TraceError
from rightcall.trace.model import Call, Message, Trace
from rightcall.trace.segments import segments
from rightcall.trace.sources import anthropic, native, reading, registry
from rightcall.trace.sources.dialect import ReadingReport, Skip

PLACE = Place("logs/day.jsonl", 7)


def read(record):
    """Read one record that must give one trace."""
    (trace,) = anthropic.traces(record, PLACE)
    assert isinstance(trace, Trace), trace
    return trace


def skip_of(record):
    """Read one record that must be skipped."""
    (skip,) = anthropic.traces(record, PLACE)
    assert isinstance(skip, Skip), skip
    return skip


def text(words, **extra):
    return {"type": "text", "text": words, **extra}


def use(name, given=None, id_="u1", kind="tool_use"):
    return {"type": kind, "id": id_, "name": name, "input": {} if given is None else given}


def answer(content, id_="u1", kind="tool_result", **extra):
    return {"type": kind, "tool_use_id": id_, "content": content, **extra}


def user(*blocks):
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def reply(*blocks, **extra):
    return {"type": "message", "id": "msg_1", "role": "assistant", "model": "m-3", "content": list(blocks), **extra}


def codes(trace):
    return [finding.code for finding in trace.findings]


def all_calls(trace):
    return [event for event in trace.events if isinstance(event, Call)]


def shape(trace):
    return [event.tool if isinstance(event, Call) else (event.role, event.text) for event in trace.events]


# ---- messages ----


def test_a_conversation_is_read_with_its_calls_and_results():
    trace = read(
        {
            "id": "t-1",
            "case_id": "ferry",
            "model": "m-3",
            "system": "Be brief.",
            "tools": [{"name": "ferry", "description": "Times.", "input_schema": {"type": "object"}}],
            "messages": [
                {"role": "user", "content": "Is the ferry on time?"},
                assistant(text("Looking."), use("ferry", {"line": 4})),
                user(answer("late", is_error=False)),
                assistant(text("It is late.")),
            ],
        }
    )
    assert (trace.id, trace.case_id, trace.agent.model) == ("t-1", "ferry", "m-3")
    assert (trace.request, trace.context) == ("Is the ferry on time?", {"system": "Be brief."})
    assert json.loads(bytes(trace.tools_json)) == [
        {"name": "ferry", "description": "Times.", "parameters": {"type": "object"}}
    ]
    (call,) = trace.calls
    assert (call.tool, call.id, call.turn, call.arguments) == ("ferry", "u1", 1, {"line": 4})
    assert (call.result.content, call.result.is_error) == ("late", False)
    assert shape(trace)[1:3] == [("assistant", "Looking."), "ferry"]
    assert (trace.completed, trace.findings) == (None, ())
    (segment,) = segments(trace)
    assert (segment.status, segment.interpretation) == ("stated", "It is late.")


def test_text_and_several_calls_share_one_turn_and_results_come_in_any_order():  # T11
    trace = read(
        [
            user(text("Both, please.")),
            assistant(text("Two at once."), use("heat", {"room": "a"}, "1"), use("heat", {"room": "b"}, "2")),
            user(answer("b is warm", "2"), answer("a is warm", "1"), text("And then?")),
        ]
    )
    assert [call.result.content for call in trace.calls] == ["a is warm", "b is warm"]
    assert {call.turn for call in trace.calls} == {1}
    assert shape(trace)[-1] == ("user", "And then?")
    assert trace.findings == ()


@pytest.mark.parametrize(("said", "known"), [({}, None), ({"is_error": True}, True), ({"is_error": False}, False)])
def test_a_failure_is_known_only_where_the_block_says_so(said, known):  # T10
    trace = read([assistant(use("f")), user(answer("Error: no such file", **said))])
    assert trace.calls[0].result.is_error is known
    assert not trace.calls[0].result.inferred


@pytest.mark.parametrize(
    ("content", "read_as"),
    [
        ("late", "late"),
        ("", ""),
        (None, None),
        ([], []),
        ([text("late")], "late"),
        ([text("a"), text("b")], [text("a"), text("b")]),
    ],
)
def test_a_result_is_text_or_blocks(content, read_as):  # T16
    trace = read([assistant(use("f")), user(answer(content))])
    assert trace.calls[0].result.content == read_as
    assert trace.calls[0].result.is_captured
    assert trace.findings == ()


def test_a_result_without_content_was_not_captured():
    block = answer("x")
    del block["content"]
    trace = read([assistant(use("f")), user(block)])
    assert not trace.calls[0].result.is_captured


def test_a_part_of_a_result_that_is_not_text_is_kept_and_named():  # T16
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}
    trace = read([assistant(use("f")), user(answer([text("see"), image]))])
    assert trace.calls[0].result.content == [text("see"), image]
    (finding,) = trace.findings
    assert (finding.code, finding.path) == ("TRACE_INCOMPLETE", "$[1].content[0].content[1]")
    assert "`image`" in finding.message


@pytest.mark.parametrize("kind", ["image", "document", "thinking", "redacted_thinking", "hologram"])
def test_a_block_that_is_not_read_is_named(kind):
    trace = read([user(text("Hi"), {"type": kind}), assistant(use("f"))])
    assert [f"`{kind}`" in finding.message for finding in trace.findings] == [True]
    assert trace.findings[0].path == "$[0].content[1]"


def test_a_message_without_text_is_a_message():
    trace = read([assistant(use("f")), user(answer("x")), user(), {"role": "assistant", "content": None}])
    assert shape(trace) == [("assistant", None), "f", ("user", None), ("assistant", None)]


def test_the_pieces_of_a_cited_text_are_one_text():
    pieces = [text("It is "), text("late", citations=[{"url": "u"}]), text(".")]
    assert shape(read([assistant(*pieces, use("f"))]))[0] == ("assistant", "It is late.")
    assert shape(read([assistant(text("One."), text("Two."), use("f"))]))[0] == ("assistant", "One.\nTwo.")


def test_the_system_prompt_may_be_blocks():
    record = {"system": [text("Be brief."), {"type": "image"}, text("Be kind.")], "messages": [user(text("Hi"))]}
    trace = read(record)
    assert trace.context == {"system": "Be brief.\nBe kind."}
    assert codes(trace) == ["TRACE_INCOMPLETE"]


@pytest.mark.parametrize(
    ("given", "status", "raw"),
    [
        ({"a": 12345678901234567890}, "ok", None),
        ('{"a": 1}', "ok", None),
        ("{a", "malformed", "{a"),
        ([1], "not_object", "[1]"),
        (None, "missing", None),
    ],
)
def test_arguments_are_what_was_recorded(given, status, raw):
    block = {**use("f"), "input": given}
    (call,) = read([assistant(block)]).calls
    assert (call.arguments_status, call.arguments_raw) == (status, raw)


def test_integers_stay_exact():
    (call,) = read([assistant(use("f", {"a": 12345678901234567890}))]).calls
    assert call.arguments == {"a": 12345678901234567890}


def test_an_id_that_is_used_again_pairs_with_the_nearest_call():  # T1
    trace = read(
        [assistant(use("f", {"n": 1})), user(answer("one")), assistant(use("f", {"n": 2})), user(answer("two"))]
    )
    assert [call.result.content for call in trace.calls] == ["one", "two"]
    assert codes(trace) == ["TRACE_DUPLICATE_ID"]


def test_a_result_without_its_call_is_an_orphan():
    trace = read([user(answer("x", "gone")), assistant(use("f"))])
    assert codes(trace) == ["TRACE_ORPHAN_RESULT"]
    assert trace.calls[0].result is None


@pytest.mark.parametrize(
    ("message", "path"),
    [
        ("Hi", "$[1]"),
        ({"role": "wizard", "content": "x"}, "$[1]"),
        ({"role": ["user"], "content": "x"}, "$[1]"),
        ({"role": "user", "content": 7}, "$[1].content"),
        (assistant({"type": "tool_use", "id": "x"}), "$[1].content[0]"),
    ],
)
def test_what_is_no_message_or_no_call_is_a_finding(message, path):
    trace = read([assistant(use("f")), message])
    assert [(finding.code, finding.path) for finding in trace.findings] == [("TRACE_MALFORMED", path)]


def test_messages_that_are_no_list_are_a_finding():
    assert skip_of({"messages": "Hi"}).message == "`messages` is not a list"
    talk = anthropic.Conversation()
    anthropic.read_messages(talk, "Hi", "$.messages")
    assert talk.findings[0].code == "TRACE_MALFORMED"


# ---- the provider's own tools ----


def test_the_providers_tools_are_kept_and_not_graded():  # T17
    found = [{"type": "web_search_result", "url": "u"}]
    trace = read(
        [
            assistant(
                text("Searching."),
                use("web_search", {"query": "q"}, "s1", "server_tool_use"),
                answer(found, "s1", "web_search_tool_result"),
                text("Found."),
                use("save", {"n": 1}),
            ),
            user(answer("ok")),
        ]
    )
    assert [call.tool for call in trace.calls] == ["save"]
    search = all_calls(trace)[0]
    assert (search.by, search.turn, search.result.content, search.result.is_error) == ("provider", 1, found, False)
    assert shape(trace) == [("assistant", "Searching."), "web_search", ("assistant", "Found."), "save"]
    assert trace.findings == ()


@pytest.mark.parametrize(
    ("kind", "block", "known"),
    [
        ("server_tool_use", answer({"type": "bash_code_execution_result", "return_code": 1}, kind="bash_code_execution_tool_result"), False),
        ("server_tool_use", answer({"type": "web_fetch_tool_result_error", "error_code": "x"}, kind="web_fetch_tool_result"), True),
        ("server_tool_use", answer(None, kind="web_fetch_tool_result"), None),
        ("mcp_tool_use", answer([text("x")], kind="mcp_tool_result", is_error=True), True),
        ("mcp_tool_use", answer([text("x")], kind="mcp_tool_result", is_error=False), False),
    ],
)  # fmt: skip
def test_a_failure_of_the_providers_tool_is_said_by_its_result(kind, block, known):  # T10, T17
    (call,) = all_calls(read([assistant(use("t", kind=kind), block)]))
    assert (call.by, call.result.is_error) == ("provider", known)


def test_a_call_in_a_users_message_is_the_users():
    assert all_calls(read([user(use("f"))]))[0].by == "user"


# ---- catalogs ----


def test_tools_that_the_provider_defines_are_in_the_catalog_without_a_schema():
    tools = [
        {"name": "f", "input_schema": {"type": "object"}},
        {"type": "memory_20250818", "name": "memory"},
        {"type": "mcp_toolset", "mcp_server_name": "s"},
    ]
    trace = read({"tools": tools, "messages": [user(text("Hi"))]})
    kept = json.loads(bytes(trace.tools_json))
    assert kept == [{"name": "f", "parameters": {"type": "object"}}, {"name": "memory"}]
    assert [(finding.code, finding.path) for finding in trace.findings] == [("TRACE_INCOMPLETE", "$.tools[2]")]


@pytest.mark.parametrize(
    ("tools", "code"),
    [([{"name": "f"}, {"name": "f"}], "CONFIG_DUPLICATE_TOOL"), ([7], "CONFIG_TOOL_INVALID"), ("f", "CONFIG_TOOL_INVALID")],
)  # fmt: skip
def test_a_catalog_that_cannot_be_read_is_unknown(tools, code):
    trace = read({"tools": tools, "messages": [user(text("Hi"))]})
    assert (trace.tools_json, codes(trace)) == (UNSET, [code])


def test_no_tools_are_not_the_same_as_unknown_tools():
    assert bytes(read({"tools": [], "messages": [user(text("Hi"))]}).tools_json) == b"[]"
    assert read({"messages": [user(text("Hi"))]}).tools_json is UNSET


# ---- streams ----


def start(index, block):
    return {"type": "content_block_start", "index": index, "content_block": block}


def piece(index, kind, **said):
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **said}}


def stop(index):
    return {"type": "content_block_stop", "index": index}


BEGIN = {"type": "message_start", "message": reply(stop_reason=None)}
END = [{"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {}}, {"type": "message_stop"}]


def streamed(*events):
    return [{"type": "ping"}, BEGIN, *events]


def as_text(events):
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


FULL = streamed(
    start(0, text("")),
    piece(0, "text_delta", text="On "),
    piece(0, "citations_delta", citation={}),
    piece(0, "text_delta", text="it."),
    stop(0),
    start(1, use("ferry")),
    piece(1, "input_json_delta", partial_json=""),
    piece(1, "input_json_delta", partial_json='{"line"'),
    piece(1, "input_json_delta", partial_json=": 4}"),
    stop(1),
    start(2, use("now", id_="u2")),
    piece(2, "input_json_delta", partial_json=""),
    stop(2),
    *END,
)


@pytest.mark.parametrize("form", ["events", "text", "reply"])
def test_a_stream_is_put_together(form):
    asked = {"messages": [user(text("When?"))], "stream": True}
    record = {
        "events": FULL,
        "text": {"request": asked, "response": as_text(FULL)},
        "reply": {"request": asked, "response": FULL},
    }[form]
    assert anthropic.detect(record)
    trace = read(record)
    assert [call.arguments for call in trace.calls] == [{"line": 4}, {}]
    assert ("assistant", "On it.") in shape(trace)
    assert trace.agent.model == "m-3"
    assert (trace.findings, trace.completed) == ((), None)


def test_a_stream_that_breaks_off_never_makes_empty_arguments():  # T5
    trace = read(
        streamed(start(0, use("a")), piece(0, "input_json_delta", partial_json='{"x": '), start(1, use("b", id_="2")))
    )
    assert [call.arguments_status for call in trace.calls] == ["malformed", "missing"]
    assert trace.calls[0].arguments_raw == '{"x": '
    assert codes(trace)[0] == "TRACE_TRUNCATED"
    assert trace.completed is False


def test_a_stream_that_ends_in_an_error_is_cut_off():
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    trace = read(streamed(start(0, text("Well")), stop(0), error))
    assert trace.findings[0].message == "the stream broke off: Overloaded"
    skip = skip_of({"request": {"messages": [user(text("Hi"))]}, "response": as_text([error])})
    assert (skip.code, skip.message) == ("TRACE_HTTP_ERROR", "the endpoint answered with an error: Overloaded")


@pytest.mark.parametrize(
    "event", [{"type": "novelty"}, piece(0, "novel_delta"), piece(9, "text_delta", text="x"), {"type": "content_block_novel", "index": 0}, 7, {"type": "content_block_start", "index": [0]}]
)  # fmt: skip
def test_an_event_that_is_not_known_is_named(event):
    trace = read(streamed(start(0, text("Hi")), event, stop(0), *END))
    assert codes(trace) == ["TRACE_INCOMPLETE"]
    assert trace.findings[0].path == "$[3]"


def test_an_event_that_is_not_json_is_told():
    body = as_text(FULL[:-1]) + "data: {broken\n\n" + as_text(FULL[-1:])
    trace = read({"request": {"messages": [user(text("Hi"))]}, "response": body})
    assert codes(trace) == ["TRACE_INCOMPLETE"]
    assert len(trace.calls) == 2


# ---- shapes of a record ----


def exchange(messages, answer_, **extra):
    return {"request": {"messages": messages}, "response": answer_, **extra}


def test_an_exchange_repeats_history_and_only_its_reply_holds_its_own_calls():  # T12
    earlier = [
        user(text("Dim the hall, then the attic.")),
        assistant(use("dim", {"room": "hall"})),
        user(answer("done")),
    ]
    record = exchange(earlier, reply(use("dim", {"room": "attic"}, "u2")), status=200)
    record["request"]["system"] = "Be brief."
    trace = read(record)
    assert [call.arguments["room"] for call in trace.calls] == ["attic"]
    assert trace.request == "Dim the hall, then the attic."
    assert trace.context["system"] == "Be brief."
    assert [event["type"] for event in trace.context["history"]] == ["message", "message", "call"]
    assert trace.context["history"][2]["result"] == {"content": "done"}
    assert trace.calls[0].turn == 2


@pytest.mark.parametrize(
    ("response", "extra", "code", "words"),
    [
        ({"type": "error", "error": {"message": "slow down"}}, {"status": 429}, "TRACE_HTTP_ERROR", "HTTP status 429: slow down"),
        ({"type": "error", "error": {"message": "slow down"}}, {}, "TRACE_HTTP_ERROR", "an error: slow down"),
        ({"input_tokens": 12}, {}, "TRACE_INCOMPLETE", "only counted tokens"),
        ({"choices": []}, {}, "TRACE_MALFORMED", "not a message of this dialect"),
        ("<html>", {}, "TRACE_MALFORMED", "not a message of this dialect"),
        (None, {}, "TRACE_MALFORMED", "not a message of this dialect"),
        ([7], {}, "TRACE_MALFORMED", "not a message of this dialect"),
    ],
)  # fmt: skip
def test_an_exchange_without_a_reply_is_skipped(response, extra, code, words):
    skip = skip_of(exchange([user(text("Hi"))], response, **extra))
    assert (skip.code, skip.place) == (code, PLACE)
    assert words in skip.message


@pytest.mark.parametrize(
    ("record", "code"),
    [
        ({"request": {}, "response": {}}, "TRACE_MALFORMED"),
        ({"messages": []}, "TRACE_INCOMPLETE"),
        ({"messages": [7]}, "TRACE_MALFORMED"),
        ({}, "TRACE_MALFORMED"),
        (7, "TRACE_MALFORMED"),
    ],
)
def test_a_record_that_holds_nothing_is_skipped(record, code):
    assert skip_of(record).code == code


def test_a_reply_alone_has_its_own_id_and_model():
    trace = read(reply(use("f")))
    assert (trace.id, trace.agent.model, trace.request) == ("msg_1", "m-3", None)
    assert anthropic.detect(reply(use("f")))


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded"])
def test_a_reply_that_was_cut_off_is_not_complete(reason):
    trace = read(reply(text("Well"), stop_reason=reason))
    assert (codes(trace), trace.completed) == (["TRACE_TRUNCATED"], False)


def test_a_line_of_a_batch_is_its_reply():
    line = {"custom_id": "row-9", "result": {"type": "succeeded", "message": reply(use("f"))}}
    assert anthropic.detect(line)
    assert (read(line).id, [call.tool for call in read(line).calls]) == ("row-9", ["f"])
    for kind in ("errored", "canceled", "expired"):
        failed = {"custom_id": "row-9", "result": {"type": kind, "error": {"error": {"message": "bad"}}}}
        assert anthropic.detect(failed)
        assert skip_of(failed).message == f"the endpoint answered with `{kind}`: bad"


# ---- detection ----


@pytest.mark.parametrize(
    "record",
    [
        [assistant(use("f"))],
        [user(answer("x"))],
        [assistant({"type": "thinking", "thinking": "…"}, text("Hi"))],
        [assistant({"type": "redacted_thinking", "data": "…"}, text("Hi"))],
        [assistant(use("f", kind="server_tool_use"))],
        {"messages": [{"role": "user", "content": "Hi"}], "system": "Be brief."},
        {"messages": [{"role": "user", "content": "Hi"}], "system": [text("Be brief.")]},
        {"messages": [{"role": "user", "content": "Hi"}], "tools": [{"name": "f", "input_schema": {}}]},
        {"messages": [{"role": "user", "content": "Hi"}], "tools": [{"name": "w", "type": "web_search_20250305"}]},
        exchange([{"role": "user", "content": "Hi"}], reply(text("Hi"))),
        exchange([{"role": "user", "content": "Hi"}], {"type": "error", "error": {"message": "x"}}),
        exchange([{"role": "user", "content": "Hi"}], as_text([BEGIN])),
    ],
)
def test_what_only_this_dialect_has_is_recognised_alone(record):
    assert registry.detect(record, PLACE) is anthropic.DIALECT


@pytest.mark.parametrize(
    "record",
    [
        [{"role": "user", "content": "Hi"}],
        [{"role": "user", "content": [{"text": "Hi"}]}],
        [{"role": "user", "parts": [{"text": "Hi"}]}],
        [{"role": "assistant", "content": [use("f")], "tool_calls": []}],
        [{"role": "tool", "tool_call_id": "x", "content": "y"}, assistant(use("f"))],
        {"messages": [assistant(use("f"))], "simulations": []},
        {"messages": [{"role": "user", "content": "Hi"}], "tools": [{"type": "function", "name": "f"}]},
        {"messages": []},
        {"messages": "Hi", "system": "Be brief."},
        {"request": {"messages": [{"role": "user", "content": "Hi"}]}, "response": {"choices": []}},
        {"type": "assistant", "message": reply(use("f"))},
        {"result": {"type": "succeeded"}},
        {},
        [],
        7,
        None,
    ],
)
def test_what_may_be_another_dialect_is_not_claimed(record):
    assert not anthropic.detect(record)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4)
    | st.sampled_from(["assistant", "user", "tool_use", "tool_result", "text", "message", "message_start", "content_block_start"]),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(
            ["messages", "role", "content", "type", "id", "name", "input", "tool_use_id", "request", "response", "tools",
             "system", "text", "index", "delta", "content_block", "message", "status", "custom_id", "result"]
        ),
        inner,
        max_size=5,
    ),
    max_leaves=25,
)  # fmt: skip


@given(JSON)
def test_any_json_gives_traces_or_skips(value):
    anthropic.detect(value)
    for item in anthropic.traces(value, PLACE):
        assert isinstance(item, Trace | Skip)
        if isinstance(item, Trace):
            assert native.read_line(native.write_line(item), PLACE) == item


@given(st.data())
def test_a_damaged_stream_gives_traces_or_skips(data):
    events = data.draw(st.lists(st.sampled_from(FULL), max_size=14))
    body = bytearray(as_text(events).encode())
    for _ in range(data.draw(st.integers(0, 3)) if body else 0):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 127))
    record = {"request": {"messages": [user(text("Hi"))]}, "response": body.decode("utf-8", "replace")}
    assert all(isinstance(item, Trace | Skip) for item in anthropic.traces(record, PLACE))


# ---- real recordings ----


@pytest.fixture(scope="module")
def real(shared_data):
    opened = reading.open_traces(shared_data / "data/anthropic/exchanges.jsonl")
    assert opened.dialect is anthropic.DIALECT
    report = ReadingReport()
    return list(reading.read(opened, report)), report


def history(traces):
    return [event for trace in traces for event in (trace.context or {}).get("history", ())]


def test_real_exchanges_are_counted_right(real):
    # FORMATS §20 counts 163 exchanges; the file holds the 107 that offer tools, with all 47 that call one.
    traces, report = real
    assert (report.read, report.skipped, report.causes["TRACE_MALFORMED"]) == (102, 5, 2)
    assert sum("only counted tokens" in place for place in report.examples["TRACE_INCOMPLETE"]) <= 3
    assert report.calls == {"ok": 54}
    assert sum(bool(trace.calls) for trace in traces) == 47
    assert not [finding for trace in traces for finding in trace.findings if finding.code != "TRACE_INCOMPLETE"]


def test_T11_real_parallel_calls_share_a_turn(real):  # noqa: N802
    assert real[1].parallel_turns == 5


def test_T12_real_results_stand_in_the_history(real):  # noqa: N802
    # FORMATS §20 counts 70 results; one of them is in a request that only counted tokens.
    results = [event["result"] for event in history(real[0]) if event["type"] == "call" and "by" not in event]
    assert (len(results), {result["is_error"] for result in results}) == (69, {False})


def test_T16_real_results_are_texts_and_blocks(shared_data):  # noqa: N802
    kinds = Counter()
    for line in (shared_data / "data/anthropic/exchanges.jsonl").read_text().splitlines():
        for message in json.loads(line)["request"].get("messages", ()):
            blocks = message["content"] if isinstance(message["content"], list) else ()
            kinds.update(type(block["content"]).__name__ for block in blocks if block["type"] == "tool_result")
    assert kinds == {"str": 22, "list": 48}


def test_T16_real_tool_references_are_named(real):  # noqa: N802
    said = [finding.message for trace in real[0] for finding in trace.findings]
    assert said.count("a part of type `tool_reference` of a result is kept unread") == 14


def test_T17_real_provider_calls_have_their_results(real):  # noqa: N802
    calls = [call for trace in real[0] for call in all_calls(trace) if call.by == "provider"]
    assert len(calls) == 34
    assert [call.tool for call in calls if call.result is None] == []
    assert Counter(call.result.is_error for call in calls)[True] >= 1


def test_real_streams_are_read(real, shared_data):
    lines = (shared_data / "data/anthropic/exchanges.jsonl").read_text().splitlines()
    streams = [json.loads(line) for line in lines if isinstance(json.loads(line)["response"], str)]
    assert len(streams) == 9
    for record in streams:
        trace = read(record)
        assert not {"TRACE_TRUNCATED", "TRACE_MALFORMED"} & set(codes(trace))
        assert trace.events[-1].role == "assistant"
        assert trace.events[-1].text


def test_reading_is_a_pure_function_of_the_bytes(real, shared_data):
    again = reading.load_traces(shared_data / "data/anthropic/exchanges.jsonl")
    assert [trace.digest for trace in again] == [trace.digest for trace in real[0]]


def test_mutated_real_bytes_give_traces_or_typed_errors(shared_data, tmp_path):
    lines = (shared_data / "data/anthropic/exchanges.jsonl").read_bytes().splitlines()
    short = sorted(lines, key=len)[:20]
    for number, line in enumerate(short * 3):
        body = bytearray(line)
        for step in range(1 + number % 4):
            body[(number * 7919 + step * 104729) % len(body)] = (number * 31 + step * 17) % 256
        file = tmp_path / f"{number}.jsonl"
        file.write_bytes(body)
        with contextlib.suppress(TraceError):
            reading.load_traces(file, "anthropic")


def test_the_public_report_on_this_shape_gets_the_right_answer(shared_data):
    for line in (shared_data / "cases/cases.jsonl").read_text().splitlines():
        report = json.loads(line)
        if report["minimal_input"].get("format") == "anthropic":
            calls = read(report["minimal_input"]["raw"]).calls
            for call, wanted in zip(calls, report["right_answer"]["calls"], strict=True):
                assert (call.id, call.tool, call.arguments, call.result.content) == tuple(wanted.values())


def test_the_registry_knows_the_dialect():
    assert registry.by_name("anthropic") is anthropic.DIALECT
    assert isinstance(read([user(text("Hi"))]).events[0], Message)

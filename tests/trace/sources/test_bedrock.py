"""Bedrock Converse: blocks named by their keys, `status`, streams, the invocation log, real files."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from rightcall.errors import Place, TraceError
from rightcall.trace.model import Call, Trace
from rightcall.trace.segments import segments
from rightcall.trace.sources import bedrock, native, reading, registry
from rightcall.trace.sources.dialect import ReadingReport, Skip

PLACE = Place("logs/day.jsonl", 7)


def read(record):
    """Read one record that must give one trace."""
    (trace,) = bedrock.traces(record, PLACE)
    assert isinstance(trace, Trace), trace
    return trace


def skip_of(record):
    """Read one record that must be skipped."""
    (skip,) = bedrock.traces(record, PLACE)
    assert isinstance(skip, Skip), skip
    return skip


def use(name, given=None, id_="u1", **extra):
    return {"toolUse": {"toolUseId": id_, "name": name, "input": {} if given is None else given, **extra}}


def answer(*content, id_="u1", **extra):
    return {"toolResult": {"toolUseId": id_, "content": list(content), **extra}}


def user(*blocks):
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def reply(*blocks, stop="tool_use"):
    return {"output": {"message": assistant(*blocks)}, "stopReason": stop, "metrics": {"latencyMs": 9}}


def codes(trace):
    return [finding.code for finding in trace.findings]


def all_calls(trace):
    return [event for event in trace.events if isinstance(event, Call)]


def shape(trace):
    return [event.tool if isinstance(event, Call) else (event.role, event.text) for event in trace.events]


# ---- messages ----


def test_a_conversation_is_read_with_its_calls_and_results():
    spec = {"name": "ferry", "description": "Times.", "inputSchema": {"json": {"type": "object"}}}
    trace = read(
        {
            "id": "t-1",
            "modelId": "vendor.model-v1",
            "system": [{"text": "Be brief."}, {"cachePoint": {"type": "default"}}],
            "toolConfig": {"tools": [{"toolSpec": spec}, {"systemTool": {"name": "interpreter"}}, {"cachePoint": {}}]},
            "messages": [
                user({"text": "Is the ferry on time?"}),
                assistant({"text": "Looking."}, use("ferry", {"line": 4})),
                user(answer({"text": "late"}, status="success"), {"text": "Well?"}),
                assistant({"text": "It is late."}),
            ],
        }
    )
    assert (trace.id, trace.agent.model, trace.request) == ("t-1", "vendor.model-v1", "Is the ferry on time?")
    assert trace.context == {"system": "Be brief."}
    assert json.loads(bytes(trace.tools_json)) == [
        {"name": "ferry", "description": "Times.", "parameters": {"type": "object"}},
        {"name": "interpreter"},
    ]
    (call,) = trace.calls
    assert (call.tool, call.id, call.turn, call.arguments, call.by) == ("ferry", "u1", 1, {"line": 4}, "agent")
    assert (call.result.content, call.result.is_error) == ("late", False)
    assert shape(trace)[1:4] == [("assistant", "Looking."), "ferry", ("user", "Well?")]
    assert (trace.completed, trace.findings) == (None, ())
    assert segments(trace)[0].interpretation == "It is late."


def test_parallel_calls_share_a_turn_and_results_come_in_any_order():  # T11
    trace = read(
        [
            assistant(use("f", {"n": 1}, "1"), use("f", {"n": 2}, "2")),
            user(answer({"json": {"n": 2}}, id_="2"), answer({"json": {"n": 1}}, id_="1")),
        ]
    )
    assert [call.result.content for call in trace.calls] == [{"n": 1}, {"n": 2}]
    assert {call.turn for call in trace.calls} == {1}
    assert shape(trace) == [("assistant", None), "f", "f"]


@pytest.mark.parametrize(
    ("said", "known"),
    [({}, None), ({"status": "error"}, True), ({"status": "success"}, False), ({"status": "odd"}, None), ({"status": []}, None)],
)  # fmt: skip
def test_a_failure_is_known_only_by_the_status(said, known):  # T10
    trace = read([assistant(use("f")), user(answer({"text": "Error: none"}, **said))])
    assert trace.calls[0].result.is_error is known


def test_a_result_of_several_or_other_parts_is_kept_as_recorded():  # T16
    parts = [{"text": "see"}, {"image": {"format": "png"}}]
    trace = read([assistant(use("f")), user(answer(*parts))])
    assert trace.calls[0].result.content == parts
    assert trace.findings[0].message == "a part of type `image` of a result is kept unread"
    assert trace.findings[0].path == "$[1].content[0].toolResult.content[1]"


def test_a_result_without_content_was_not_captured():
    block = answer()
    del block["toolResult"]["content"]
    assert not read([assistant(use("f")), user(block)]).calls[0].result.is_captured


def test_the_providers_tools_are_kept_and_not_graded():  # T17
    trace = read(
        [
            assistant(
                use("interpreter", {"code": "1"}, "s", type="server_tool_use"),
                answer({"json": {"out": "1"}}, id_="s", status="success"),
                use("save", {}, "c", type="tool_use"),
            )
        ]
    )
    assert [call.tool for call in trace.calls] == ["save"]
    first = all_calls(trace)[0]
    assert (first.by, first.result.content, first.result.is_error) == ("provider", {"out": "1"}, False)
    assert all_calls(read([user(use("f"))]))[0].by == "user"


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ({"guardContent": {"text": {"text": "guarded", "qualifiers": []}}}, "guarded"),
        ({"citationsContent": {"content": [{"text": "It is "}, {"text": "late."}, 7], "citations": []}}, "It is late."),
        ({"citationsContent": {}}, ""),
    ],
)
def test_texts_in_other_blocks_are_texts(block, said):
    assert shape(read([user({"text": "Hi"}), assistant(block)]))[1] == ("assistant", said)


@pytest.mark.parametrize("kind", ["reasoningContent", "image", "document", "video", "hologram"])
def test_a_block_that_is_not_read_is_named(kind):
    trace = read([assistant({kind: {}}, {"text": "Hi"}, {"cachePoint": {}})])
    assert [(f.code, f.path, f"`{kind}`" in f.message) for f in trace.findings] == [
        ("TRACE_INCOMPLETE", "$[0].content[0]", True)
    ]


@pytest.mark.parametrize(
    "message", ["Hi", {"role": "tool", "content": []}, {"role": "user", "content": "Hi"}, {"role": [], "content": []}]
)
def test_what_is_no_message_is_a_finding(message):
    trace = read([user({"text": "Hi"}), message])
    assert [(f.code, f.path) for f in trace.findings] == [("TRACE_MALFORMED", "$[1]")]


def test_a_call_without_a_name_is_a_finding():
    trace = read([assistant({"toolUse": {"toolUseId": "x"}})])
    assert codes(trace) == ["TRACE_MALFORMED"]
    assert trace.calls == ()


def test_a_call_without_input_is_missing_it():  # T4
    (call,) = read([assistant({"toolUse": {"toolUseId": "x", "name": "f"}})]).calls
    assert call.arguments_status == "missing"


def test_messages_that_are_no_list_are_a_finding():
    talk = bedrock.Conversation()
    bedrock.read_messages(talk, "Hi", "$.messages")
    assert talk.findings[0].code == "TRACE_MALFORMED"


@pytest.mark.parametrize(
    ("tools", "code"),
    [
        ([{"toolSpec": {"name": "f"}}, {"toolSpec": {"name": "f"}}], "CONFIG_DUPLICATE_TOOL"),
        ([{"toolSpec": {"description": "no name"}}], "CONFIG_TOOL_INVALID"),
        ("f", "CONFIG_TOOL_INVALID"),
    ],
)
def test_a_catalog_that_cannot_be_read_is_unknown(tools, code):
    trace = read({"toolConfig": {"tools": tools}, "messages": [user({"text": "Hi"})]})
    assert (trace.tools_json, codes(trace)) == (UNSET, [code])


def test_what_is_no_tool_is_named():
    trace = read({"toolConfig": {"tools": [{"novelty": {}}]}, "messages": [user({"text": "Hi"})]})
    assert (bytes(trace.tools_json), codes(trace)) == (b"[]", ["TRACE_INCOMPLETE"])


# ---- shapes of a record ----


def exchange(messages, response, **extra):
    return {"request": {"messages": messages}, "response": response, **extra}


def test_an_exchange_repeats_history_and_only_its_reply_holds_its_own_calls():  # T12
    earlier = [user({"text": "Dim both."}), assistant(use("dim", {"room": "hall"})), user(answer({"text": "done"}))]
    trace = read(exchange(earlier, reply(use("dim", {"room": "attic"}, "u2")), status=200, model="m"))
    assert [call.arguments["room"] for call in trace.calls] == ["attic"]
    assert (trace.request, trace.agent.model) == ("Dim both.", "m")
    assert trace.context["history"][2]["result"] == {"content": "done"}


@pytest.mark.parametrize(
    ("response", "extra", "code", "words"),
    [
        ({"message": "Too many requests"}, {"status": 429}, "TRACE_HTTP_ERROR", "HTTP status 429: Too many requests"),
        ({"Error": {"Code": "X", "Message": "denied"}}, {}, "TRACE_HTTP_ERROR", "an error: denied"),
        ({"error": "denied"}, {}, "TRACE_HTTP_ERROR", "an error: denied"),
        ({}, {}, "TRACE_MALFORMED", "no message in `output`"),
        (None, {}, "TRACE_MALFORMED", "no message in `output`"),
        ({"output": {"message": {"role": "user"}}}, {}, "TRACE_MALFORMED", "no message in `output`"),
    ],
)
def test_an_exchange_without_a_reply_is_skipped(response, extra, code, words):
    skip = skip_of(exchange([user({"text": "Hi"})], response, **extra))
    assert skip.code == code
    assert words in skip.message


@pytest.mark.parametrize(
    ("record", "code"),
    [
        ({"request": {}, "response": {}}, "TRACE_MALFORMED"),
        ({"messages": "Hi"}, "TRACE_MALFORMED"),
        ({"messages": []}, "TRACE_INCOMPLETE"),
        ({"messages": [7]}, "TRACE_MALFORMED"),
        ({}, "TRACE_MALFORMED"),
        (7, "TRACE_MALFORMED"),
    ],
)
def test_a_record_that_holds_nothing_is_skipped(record, code):
    assert skip_of(record).code == code


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded"])
def test_a_reply_that_was_cut_off_is_not_complete(reason):
    trace = read(reply({"text": "Well"}, stop=reason))
    assert (codes(trace), trace.completed) == (["TRACE_TRUNCATED"], False)


def log(**extra):
    return {
        "schemaType": "ModelInvocationLog",
        "requestId": "r-1",
        "modelId": "vendor.model-v1",
        "operation": "Converse",
        "input": {"inputBodyJson": {"messages": [user({"text": "Hi"})]}},
        "output": {"outputBodyJson": reply(use("f"))},
        **extra,
    }


def test_an_entry_of_the_invocation_log_is_an_exchange():
    assert bedrock.detect(log())
    trace = read(log())
    assert (trace.id, trace.agent.model, [call.tool for call in trace.calls]) == ("r-1", "vendor.model-v1", ["f"])
    failed = skip_of(log(errorCode="ThrottlingException", output={}))
    assert failed.message == "the endpoint answered with HTTP status 500: ThrottlingException"


# ---- streams ----

FULL = [
    {"messageStart": {"role": "assistant"}},
    {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "On "}}},
    {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": "it."}}},
    {"contentBlockStop": {"contentBlockIndex": 0}},
    {"contentBlockStart": {"contentBlockIndex": 1, "start": {"toolUse": {"toolUseId": "u1", "name": "ferry"}}}},
    {"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"toolUse": {"input": '{"line"'}}}},
    {"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"toolUse": {"input": ": 4}"}}}},
    {"contentBlockStop": {"contentBlockIndex": 1}},
    {"contentBlockStart": {"contentBlockIndex": 2, "start": {"toolUse": {"toolUseId": "u2", "name": "now"}}}},
    {"contentBlockStop": {"contentBlockIndex": 2}},
    {"messageStop": {"stopReason": "tool_use"}},
    {"metadata": {"usage": {}}},
]


@pytest.mark.parametrize("record", [FULL, exchange([user({"text": "When?"})], FULL)])
def test_a_stream_is_put_together(record):
    assert bedrock.detect(record)
    trace = read(record)
    assert [call.arguments for call in trace.calls] == [{"line": 4}, {}]
    assert ("assistant", "On it.") in shape(trace)
    assert (trace.findings, trace.completed) == ((), None)


def test_a_stream_that_breaks_off_never_makes_empty_arguments():  # T5
    trace = read(FULL[:6] + FULL[8:9])
    assert [call.arguments_status for call in trace.calls] == ["malformed", "missing"]
    assert codes(trace)[0] == "TRACE_TRUNCATED"
    assert trace.completed is False


def test_parts_and_events_that_are_not_read_are_named():
    thought = {"contentBlockDelta": {"contentBlockIndex": 9, "delta": {"reasoningContent": {"text": "hm"}}}}
    trace = read([*FULL, thought, {"novelty": {}}, 7])
    assert codes(trace) == ["TRACE_INCOMPLETE"] * 3
    assert "`novelty`" in trace.findings[0].message
    assert "`reasoningContent`" in trace.findings[2].message


def test_a_block_whose_beginning_is_missing_is_told():
    trace = read([FULL[0], FULL[5], *FULL[7:]])
    assert codes(trace) == ["TRACE_INCOMPLETE"]
    assert [call.tool for call in trace.calls] == ["now"]


# ---- detection ----


@pytest.mark.parametrize(
    "record",
    [
        [user({"text": "Hi"})],
        {"messages": [user({"text": "Hi"})]},
        {"messages": [user({"text": "Hi"}), assistant(use("f"))], "system": [{"text": "Be brief."}], "toolConfig": {}},
        exchange([user({"text": "Hi"})], reply(use("f"))),
        exchange([user({"text": "Hi"})], {"message": "denied"}, status=400),
        reply(use("f")),
        FULL,
        log(),
    ],
)
def test_what_only_this_dialect_has_is_recognised_alone(record):
    assert registry.detect(record, PLACE) is bedrock.DIALECT


@pytest.mark.parametrize(
    "record",
    [
        [{"role": "user", "content": "Hi"}],
        [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}],
        [{"role": "user", "parts": [{"text": "Hi"}]}],
        [{"role": "tool", "content": [{"text": "Hi"}]}],
        [user()],
        [user({"novelty": 1})],
        {"output": {"message": assistant({"text": "Hi"})}},
        {"output": [{"type": "message"}], "metrics": {}},
        {"schemaType": "ModelInvocationLog"},
        {},
        [],
        7,
        None,
    ],
)
def test_what_may_be_another_dialect_is_not_claimed(record):
    assert not bedrock.detect(record)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["assistant", "user", "success", "error", "{", ""]),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(
            ["messages", "role", "content", "text", "toolUse", "toolResult", "toolUseId", "name", "input", "status",
             "request", "response", "output", "message", "toolConfig", "tools", "toolSpec", "system", "messageStart",
             "contentBlockStart", "contentBlockDelta", "contentBlockIndex", "start", "delta", "messageStop", "stopReason"]
        ),
        inner,
        max_size=5,
    ),
    max_leaves=25,
)  # fmt: skip


@given(JSON)
def test_any_json_gives_traces_or_skips(value):
    bedrock.detect(value)
    for item in bedrock.traces(value, PLACE):
        assert isinstance(item, Trace | Skip)
        if isinstance(item, Trace):
            assert native.read_line(native.write_line(item), PLACE) == item


# ---- real recordings ----


@pytest.fixture(scope="module")
def real(shared_data):
    opened = reading.open_traces(shared_data / "data/bedrock/exchanges.jsonl")
    assert opened.dialect is bedrock.DIALECT
    report = ReadingReport()
    return list(reading.read(opened, report)), report


def test_real_exchanges_are_counted_right(real):
    # FORMATS §20 counts 103 exchanges; the file holds the 10 that offer tools, with all that call one.
    traces, report = real
    assert (report.read, report.skipped, report.calls) == (10, 0, {"ok": 10})
    assert all(trace.calls for trace in traces)
    assert {trace.tools_json is UNSET for trace in traces} == {False}


def test_T17_real_provider_calls_have_their_results(real):  # noqa: N802
    # FORMATS §20 counts 12 calls, of which 2 share a message with another: these 2 are the provider's.
    calls = [call for trace in real[0] for call in all_calls(trace) if call.by == "provider"]
    assert [(call.tool, call.result.is_error) for call in calls] == [("nova_code_interpreter", False)] * 2
    assert [call.result.content["stdOut"] for call in calls] == ["7006652", "14013304"]


def test_T12_real_results_stand_in_the_history(real):  # noqa: N802
    history = [event for trace in real[0] for event in (trace.context or {}).get("history", ())]
    results = [event["result"] for event in history if event["type"] == "call"]
    assert [result["is_error"] for result in results] == [False] * 3


def test_mutated_real_bytes_give_traces_or_typed_errors(shared_data, tmp_path):
    lines = (shared_data / "data/bedrock/exchanges.jsonl").read_bytes().splitlines()
    for number, line in enumerate(lines * 6):
        body = bytearray(line)
        for step in range(1 + number % 4):
            body[(number * 7919 + step * 104729) % len(body)] = (number * 31 + step * 17) % 256
        file = tmp_path / f"{number}.jsonl"
        file.write_bytes(body)
        with contextlib.suppress(TraceError):
            reading.load_traces(file, "bedrock")


def test_the_registry_knows_the_dialect():
    assert registry.by_name("bedrock") is bedrock.DIALECT

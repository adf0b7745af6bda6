"""LangChain and LangGraph: three dumps of a message, every place of a call, states of graphs, real files."""

import contextlib
import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from rightcall.errors import Place, RightcallError
from rightcall.trace.model import Call, Message, Trace
from rightcall.trace.sources import langchain, openai_chat, reading, registry
from rightcall.trace.sources.dialect import ReadingReport, Skip
from rightcall.trace.sources.langchain_calls import decisions

PLACE = Place("states.jsonl", 3)
CLASSES = {"human": "HumanMessage", "ai": "AIMessage", "system": "SystemMessage", "tool": "ToolMessage"}


def flat(kind, **fields):
    return {"type": kind, "content": "", **fields}


def pair(kind, **fields):
    return {"type": kind, "data": flat(kind, **fields)}


def constructor(kind, **fields):
    return {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", CLASSES[kind]],
        "kwargs": flat(kind, **fields),
    }


DUMPS = [flat, pair, constructor]


def call(name, args=None, call_id=None, **more):
    return {"name": name, "args": {} if args is None else args, "id": call_id, "type": "tool_call", **more}


def read(record, place=PLACE):
    (trace,) = langchain.traces(record, place)
    assert isinstance(trace, Trace), trace
    return trace


def codes(trace):
    return [finding.code for finding in trace.findings]


def test_the_three_dumps_of_one_conversation_are_the_same_trace():
    traces = []
    for dump in DUMPS:
        messages = [
            dump("system", content="Be brief."),
            dump("human", content="Is order 77 sent?"),
            dump("ai", tool_calls=[call("get_order", {"id": 77}, "c1")], invalid_tool_calls=[]),
            dump("tool", content="sent", tool_call_id="c1", name="get_order", status="success"),
            dump("ai", content="Yes."),
        ]
        assert langchain.detect({"messages": messages})
        assert langchain.detect(messages)
        traces.append(read({"messages": messages}))
    first = traces[0]
    assert [trace.digest for trace in traces] == [first.digest] * 3
    assert (first.id, first.request, first.findings) == ("states:3", "Is order 77 sent?", ())
    (made,) = first.calls
    assert (made.tool, made.arguments, made.id, made.turn) == ("get_order", {"id": 77}, "c1", 1)
    assert (made.result.content, made.result.is_error) == ("sent", False)
    assert [event.role for event in first.events if isinstance(event, Message)] == [
        "system",
        "user",
        "assistant",
        "assistant",
    ]


@pytest.mark.parametrize(("status", "failed"), [("success", False), ("error", True), (None, None), ("odd", None)])
def test_status_says_whether_the_tool_failed_T10(status, failed):  # noqa: N802
    messages = [
        flat("ai", tool_calls=[call("f", {}, "a")]),
        flat("tool", content="Error: no", tool_call_id="a", status=status),
    ]
    (made,) = read(messages).calls
    assert made.result.is_error is failed


@pytest.mark.parametrize(
    ("args", "status", "code"),
    [
        ('{"a": // no\n1}', "malformed", "TRACE_ARGS_UNPARSEABLE"),
        ("[1]", "not_object", "TRACE_ARGS_NOT_OBJECT"),
        (None, "missing", "TRACE_ARGS_MISSING"),
    ],
)
def test_calls_that_could_not_be_parsed_stand_among_the_invalid_T3(args, status, code):  # noqa: N802
    invalid = {"name": "python", "args": args, "id": "b", "error": "not JSON", "type": "invalid_tool_call"}
    trace = read([flat("ai", tool_calls=[call("f", {"x": 1}, "a")], invalid_tool_calls=[invalid])])
    assert [(made.tool, made.arguments_status, made.arguments_raw, made.turn) for made in trace.calls] == [
        ("f", "ok", None, 1),
        ("python", status, args, 1),
    ]
    assert codes(trace) == [code]


def test_a_call_that_is_written_four_times_is_one_call():
    message = flat(
        "ai",
        content=[
            {"type": "text", "text": "Let me see."},
            {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}},
            {"type": "tool_use", "id": "b", "name": "g", "input": {}},
            {"type": "function_call", "call_id": "c", "id": "fc_1", "name": "h", "arguments": "{}"},
        ],
        tool_calls=[call("f", {"x": 1}, "a"), call("h", {}, "c")],
        invalid_tool_calls=[{"name": "g", "args": "{", "id": "b", "error": None}],
        additional_kwargs={
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}},
                {"id": "b", "type": "function", "function": {"name": "g", "arguments": "{"}},
            ]
        },
    )
    trace = read([message])
    assert [(made.tool, made.id, made.arguments_status) for made in trace.calls] == [
        ("f", "a", "ok"), ("h", "c", "ok"), ("g", "b", "malformed"),
    ]  # fmt: skip
    assert trace.events[0].text == "Let me see."


def test_calls_without_ids_are_not_doubled_and_not_lost_T2():  # noqa: N802
    blocks = [{"type": "tool_use", "name": "f", "input": {"x": 1}}, {"type": "tool_use", "name": "g", "input": {}}]
    trace = read([flat("ai", content=blocks, tool_calls=[call("f", {"x": 1}), call("f", {"x": 2})])])
    assert [made.tool for made in trace.calls] == ["f", "f", "g"]
    trace = read(
        [
            *[flat("ai", tool_calls=[call("f", {"x": 1}), call("f", {"x": 2})])],
            flat("tool", content="one", name="f"),
            flat("tool", content="two", name="f"),
        ]
    )
    assert [made.result.content for made in trace.calls] == ["one", "two"]


def test_an_id_that_is_used_again_goes_with_the_nearest_call_T1():  # noqa: N802
    messages = []
    for number in (1, 2):
        messages += [
            flat("ai", tool_calls=[call("f", {"n": number}, "a")]),
            flat("tool", content=str(number), tool_call_id="a"),
        ]
    trace = read(messages)
    assert [made.result.content for made in trace.calls] == ["1", "2"]
    assert codes(trace) == ["TRACE_DUPLICATE_ID"]


def test_a_call_whose_raw_twin_has_another_id_is_one_call():
    raw = {
        "tool_calls": [
            {"id": "x", "function": {"name": "f", "arguments": "{}"}},
            {"id": "y", "function": {"name": "f", "arguments": "{"}},
        ]
    }
    invalid = [{"name": "f", "args": "{", "id": "b"}]
    trace = read([flat("ai", tool_calls=[call("f", {}, "a")], invalid_tool_calls=invalid, additional_kwargs=raw)])
    assert [(made.id, made.arguments_status) for made in trace.calls] == [("a", "ok"), ("b", "malformed")]


def test_only_the_raw_calls_of_an_old_dump_are_read():
    raw = {"tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}]}
    assert [made.arguments for made in read([flat("ai", additional_kwargs=raw)]).calls] == [{"x": 1}]
    legacy = {"function_call": {"name": "f", "arguments": "{'x': 1}"}}
    (made,) = read([flat("ai", additional_kwargs=legacy)]).calls
    assert (made.arguments_status, made.arguments_raw) == ("malformed", "{'x': 1}")


def test_arguments_that_a_parser_emptied_are_taken_from_the_raw_call():
    raw = {"tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": '}}]}
    (made,) = read([flat("ai", tool_calls=[call("f", {}, "a")], additional_kwargs=raw)]).calls
    assert (made.arguments_status, made.arguments_raw) == ("malformed", '{"x": ')


def test_chunks_of_one_message_are_put_together_from_their_fragments():
    def chunk(content, *fragments, **more):
        return {"type": "AIMessageChunk", "id": "m", "content": content, "tool_call_chunks": list(fragments), **more}

    messages = [
        chunk("Look", {"index": 0, "id": "a", "name": "f", "args": '{"x"'}, tool_calls=[call("f", {}, "a")]),
        chunk("ing.", {"index": 0, "id": None, "name": None, "args": ": 1}"}),
        chunk("", {"index": 0, "id": "b", "name": "f", "args": '{"x": 2'}, tool_calls=[call("f", {"x": 2}, "b")]),
        {**chunk("Other"), "id": "n"},
    ]
    trace = read(messages)
    assert [event.text for event in trace.events if isinstance(event, Message)] == ["Looking.", "Other"]
    assert [(made.id, made.arguments_status, made.arguments_raw) for made in trace.calls] == [
        ("a", "ok", None), ("b", "malformed", '{"x": 2'),
    ]  # fmt: skip
    merged = read([chunk(["a"]), chunk([{"type": "text", "text": "b"}]), chunk("c"), flat("human", content="?")])
    assert [event.text for event in merged.events] == ["a\nb\nc", "?"]


def test_the_calls_of_one_message_are_one_turn_T11():  # noqa: N802
    messages = [
        flat("ai", tool_calls=[call("f", {"x": 1}, "a"), call("f", {"x": 2}, "b")]),
        flat("tool", content="two", tool_call_id="b"),
        flat("tool", content="one", tool_call_id="a"),
        flat("ai", tool_calls=[call("g", {}, "c")]),
    ]
    assert [(made.turn, made.result and made.result.content) for made in read(messages).calls] == [
        (1, "one"),
        (1, "two"),
        (2, None),
    ]


def test_provider_tools_are_marked_and_paired_T17():  # noqa: N802
    content = [
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}},
        {
            "type": "web_search_tool_result",
            "tool_use_id": "s",
            "content": {"type": "web_search_tool_result_error", "error_code": "max"},
        },
        {"type": "server_tool_call", "id": "t", "name": "code", "args": {}},
        {"type": "server_tool_result", "tool_call_id": "t", "status": "success", "output": [1]},
        {"type": "mcp_tool_use", "id": "u", "name": "ask", "input": {}},
        {"type": "mcp_tool_result", "tool_use_id": "u", "is_error": False},
        {"type": "text", "text": "Done."},
    ]
    trace = read([flat("ai", content=content)])
    made = [event for event in trace.events if isinstance(event, Call)]
    assert trace.calls == ()
    assert [(one.by, one.tool, one.result.is_error) for one in made] == [
        ("provider", "web_search", True), ("provider", "code", False), ("provider", "ask", False),
    ]  # fmt: skip
    assert made[1].result.content == [1]
    assert not made[2].result.is_captured
    assert trace.events[0].text == "Done."


@pytest.mark.parametrize(
    ("content", "text", "code"),
    [
        (None, None, []),
        ("", "", []),
        ([], "", []),
        (["a", {"type": "text", "text": "b"}], "a\nb", []),
        ([{"type": "image_url", "image_url": {}}], None, ["TRACE_INCOMPLETE"]),
        ([{"type": "thinking", "thinking": "…"}, "a"], "a", ["TRACE_INCOMPLETE"]),
        ([{"type": ["odd"]}], None, ["TRACE_INCOMPLETE"]),
        (7, None, ["TRACE_MALFORMED"]),
    ],
)
def test_content_of_every_type_T16(content, text, code):  # noqa: N802
    for kind in ("ai", "human"):
        trace = read([flat(kind, content=content)])
        assert [event.text for event in trace.events] == [text]
        assert codes(trace) == code


def test_names_say_which_agent_spoke():
    messages = [
        flat("ai", name="planner", tool_calls=[call("transfer_to_clerk", {}, "a")]),
        flat("tool", content="ok", tool_call_id="a"),
        flat("ai", name="clerk", content="Hello."),
    ]
    trace = read(messages)
    assert [event.agent for event in trace.events] == ["planner", "planner", "clerk"]


def test_roles_as_openai_writes_them_may_stand_among_the_messages():
    messages = [
        {"role": "user", "content": "Go."},
        ["human", "Please."],
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
                {"id": "b", "type": "custom", "custom": {"name": "g", "input": "select 1"}},
            ],
        },
        flat("tool", content="1", tool_call_id="a"),
        {"role": "ai", "content": "Yes.", "tool_calls": [call("h", {}, "c")]},
        {
            "lc": 1,
            "type": "constructor",
            "id": ["x", "ChatMessage"],
            "kwargs": {"role": "assistant", "content": "Sure."},
        },
    ]
    assert langchain.detect(messages)
    trace = read(messages)
    assert [(made.tool, made.arguments_status) for made in trace.calls] == [
        ("f", "ok"),
        ("g", "not_object"),
        ("h", "ok"),
    ]
    assert trace.request == "Go."
    assert langchain.detect(
        [{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": [{"name": "f", "args": {}}]}]
    )


def test_results_in_blocks_of_a_user_message_go_to_their_calls():
    content = [{"type": "tool_result", "tool_use_id": "a", "content": "no", "is_error": True}]
    trace = read([flat("ai", tool_calls=[call("f", {}, "a")]), flat("human", content=content)])
    assert (trace.calls[0].result.is_error, trace.calls[0].result.content) == (True, "no")
    assert len(trace.events) == 2


def test_what_is_no_message_is_noted():
    messages = [
        flat("ai", content="Hi"),
        flat("remove"),
        {"type": "odd"},
        5,
        flat("ai", refusal="No.", content=None),
        flat("ai", tool_calls=[{"args": {}}]),
    ]
    trace = read(messages)
    assert codes(trace) == ["TRACE_INCOMPLETE", "TRACE_MALFORMED", "TRACE_MALFORMED", "TRACE_MALFORMED"]
    assert "`odd`" in trace.findings[1].message
    assert [event.text for event in trace.events] == ["Hi", "No.", ""]


def test_a_function_message_and_an_orphan():
    trace = read(
        [
            flat("ai", additional_kwargs={"function_call": {"name": "f", "arguments": "{}"}}),
            flat("function", content="1", name="f"),
            flat("tool", content="2", tool_call_id="z"),
        ]
    )
    assert trace.calls[0].result.content == "1"
    assert codes(trace) == ["TRACE_ORPHAN_RESULT"]


def test_an_artifact_is_kept_beside_the_trace():
    trace = read(
        {
            "messages": [
                flat("ai", tool_calls=[call("f", {}, "a")]),
                flat("tool", content="3 rows", tool_call_id="a", artifact={"rows": 3}),
            ],
            "score": 1,
            "plan": ["x"],
        }
    )
    assert trace.metadata == {"score": 1, "artifacts": [{"call": "a", "tool": None, "value": {"rows": 3}}]}


def test_a_cut_reply_makes_the_trace_incomplete():
    trace = read([flat("ai", content="So", response_metadata={"model_name": "m-1", "finish_reason": "length"})])
    assert (trace.completed, codes(trace), trace.agent.model) == (False, ["TRACE_TRUNCATED"], "m-1")


def test_the_catalog_is_read_tool_by_tool():
    tools = [
        {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}},
        {"name": "g", "input_schema": {"type": "object"}},
        {"function_declarations": [{"name": "h"}]},
        {"type": "web_search_preview"},
        {"name": ""},
        {"type": "custom", "custom": {"name": "k"}},
        {"name": "g"},
    ]
    trace = read(
        {
            "messages": [flat("human", content="x")],
            "tools": tools,
            "id": 9,
            "metadata": {"case_id": "c", "thread_id": "t"},
        }
    )
    assert [tool["name"] for tool in json.loads(bytes(trace.tools_json))] == ["f", "g", "h", "k"]
    assert codes(trace) == ["TRACE_INCOMPLETE", "CONFIG_TOOL_INVALID", "CONFIG_DUPLICATE_TOOL"]
    assert (trace.id, trace.case_id, trace.metadata["session"]) == ("9", "c", "t")
    assert read([flat("human", content="x")]).tools_json is UNSET


def snapshot(step, *messages, thread="t-1", left=(), **more):
    return {
        "values": {"messages": list(messages)},
        "next": list(left),
        "config": {"configurable": {"thread_id": thread}},
        "metadata": {"step": step},
        **more,
    }


def test_a_snapshot_says_whether_the_graph_has_ended():
    trace = read(snapshot(1, flat("human", content="x"), left=["tools"]))
    assert (trace.id, trace.completed, trace.metadata["session"]) == ("t-1", False, "t-1")
    assert read(snapshot(1, flat("human", content="x"))).completed is True
    assert read(snapshot(1, flat("human", content="x"), tasks=[{"error": "boom"}])).completed is False
    assert read({"channel_values": {"messages": [flat("human", content="x")]}, "ts": "2026-01-01"}).completed is None


def test_of_the_states_of_one_thread_only_the_last_is_read_T12(tmp_path):  # noqa: N802
    said = [
        flat("human", content="x"),
        flat("ai", tool_calls=[call("f", {}, "a")]),
        flat("tool", content="1", tool_call_id="a"),
        flat("ai", content="Done."),
    ]
    states = [snapshot(step, *said[: step + 1]) for step in (3, 1, 2)]
    path = tmp_path / "history.jsonl"
    path.write_text(
        "".join(json.dumps(state) + "\n" for state in [*states, snapshot(0, said[0], thread="t-2"), {"messages": said}])
    )
    found = reading.load_traces(path)
    assert [trace.id for trace in found] == ["history:5", "t-1", "t-2"]
    assert [len(trace.calls) for trace in found] == [1, 1, 0]
    assert codes(found[1]) == ["TRACE_DUPLICATE_ID"]
    assert "2 earlier states" in found[1].findings[0].message
    path.write_text(
        "".join(json.dumps(snapshot(None, *said[:n], created_at=f"2026-01-0{n}")) + "\n" for n in (1, 3, 2))
    )
    assert [len(trace.events) for trace in reading.load_traces(path)] == [3]


@pytest.mark.parametrize(
    ("record", "code"),
    [
        ({"messages": []}, "TRACE_INCOMPLETE"),
        ({"messages": "x"}, "TRACE_MALFORMED"),
        (7, "TRACE_MALFORMED"),
        ({"messages": [1]}, "TRACE_MALFORMED"),
    ],
)
def test_a_record_without_messages_is_skipped(record, code):
    (skip,) = langchain.traces(record, PLACE)
    assert isinstance(skip, Skip)
    assert skip.code == code


@pytest.mark.parametrize(
    "record",
    [
        [],
        {"messages": []},
        [{"role": "user", "content": "x"}],
        [
            {"role": "user", "content": "x"},
            {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]},
        ],
        {"messages": [flat("ai")], "run_type": "llm"},
        [{"type": "ai", "content": "", "tool_calls": [{"index": 0}]}],
        [{"type": "user", "message": {}}],
        {"type": "ai", "content": "x"},
        [{"type": "ai"}],
        None,
    ],
)
def test_nothing_else_is_taken_for_it(record):
    assert not langchain.detect(record)


def test_every_fragment_without_an_index_is_a_call():
    fragments = [{"name": "f", "args": "{}", "id": "a"}, {"name": "g", "args": "{}", "id": "b"}, 5]
    assert [made.name for made in decisions({"tool_call_chunks": fragments}, "$")] == ["f", "g", None]


def test_many_chunks_are_put_together_in_time():
    chunk = {"type": "AIMessageChunk", "id": "m", "content": "x" * 20}
    trace = read([{**chunk, "tool_call_chunks": [{"index": 0, "args": "1" * 9}]} for _ in range(20_000)])
    assert len(trace.events[0].text) == 400_000


# ---- real files ----------------------------------------------------------------------------------------------------

FILES = ("dumpd_tau_airline.jsonl", "messages_to_dict_tau_airline.jsonl")


@pytest.mark.parametrize("name", FILES)
def test_real_dumps_are_counted_right(shared_data, name):
    opened = reading.open_traces(shared_data / "data/langchain_messages" / name)
    report = ReadingReport()
    found = list(reading.read(opened, report))
    assert opened.dialect is langchain.DIALECT
    assert (report.read, report.skipped, report.causes) == (10, 0, Counter())
    calls = [made for trace in found for made in trace.calls]
    assert len(calls) == 24
    assert Counter(made.result.is_error for made in calls) == {False: 19, True: 5}
    assert Counter(made.arguments_status for made in calls) == {"ok": 24}
    assert sum(bool(trace.calls) for trace in found) == 6


@pytest.mark.parametrize("name", FILES)
def test_real_dumps_hold_the_calls_of_the_runs_that_they_replay_T10(shared_data, name):  # noqa: N802
    runs = json.loads((shared_data / "data/tau_bench/gpt-4o-airline.json").read_text())
    wanted = {}
    for run in runs:
        events, _ = openai_chat.events_of(run["traj"], Place())
        key = (run["task_id"], [event.text for event in events if isinstance(event, Message)][1])
        wanted[key] = [
            (event.tool, event.arguments, event.result.content) for event in events if isinstance(event, Call)
        ]
    for trace in reading.load_traces(shared_data / "data/langchain_messages" / name):
        assert [(made.tool, made.arguments, made.result.content) for made in trace.calls] == wanted[
            trace.metadata["tau_task_id"], trace.request
        ]


def test_a_real_id_that_is_used_again_has_its_own_result_T1(shared_data):  # noqa: N802
    lines = (shared_data / "data/langchain_messages" / FILES[1]).read_text().splitlines()
    line = next(json.loads(line) for line in lines if line.count('"tool_call_id"') > 2)
    for message in line["messages"]:
        data = message["data"]
        for made in data.get("tool_calls", []):
            made["id"] = "same"
        if "tool_call_id" in data:
            data["tool_call_id"] = "same"
    trace = read(line)
    assert all(made.result is not None for made in trace.calls)
    assert set(codes(trace)) == {"TRACE_DUPLICATE_ID"}


# ---- anything at all -----------------------------------------------------------------------------------------------

words = st.sampled_from(
    [
        "type",
        "lc",
        "id",
        "kwargs",
        "data",
        "content",
        "tool_calls",
        "invalid_tool_calls",
        "additional_kwargs",
        "name",
        "args",
        "role",
        "tool_call_id",
        "status",
        "text",
        "tool_call_chunks",
        "index",
        "messages",
        "values",
        "config",
    ]
)
values = st.sampled_from(
    ["ai", "human", "tool", "constructor", "tool_use", "text", "AIMessageChunk", "assistant", "a", "{", "error"]
)
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | values
    | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=6),
    max_leaves=25,
)
messages = st.fixed_dictionaries(
    {"type": values, "content": anything},
    optional={
        "tool_calls": anything,
        "id": anything,
        "tool_call_chunks": anything,
        "additional_kwargs": anything,
        "invalid_tool_calls": anything,
        "response_metadata": anything,
    },
)


@pytest.mark.slow
@given(
    anything
    | st.lists(messages, max_size=5)
    | st.builds(lambda said: {"messages": said}, st.lists(messages, max_size=5))
)
def test_any_json_gives_traces_or_skips(value):
    assert isinstance(langchain.detect(value), bool)
    assert not (langchain.detect(value) and openai_chat.detect(value))
    for item, _ in langchain.grouped([(value, PLACE)]):
        assert isinstance(item, (Trace, Skip))
        if isinstance(item, Trace):
            assert item.digest


@pytest.mark.slow
@given(data=st.data())
def test_damaged_bytes_give_traces_or_typed_errors(data, tmp_path_factory):
    record = {
        "messages": [
            pair("human", content="x"),
            pair("ai", tool_calls=[call("f", {"x": 1}, "a")]),
            pair("tool", content="1", tool_call_id="a"),
        ]
    }
    raw = bytearray(json.dumps(record).encode() + b"\n")
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    path = tmp_path_factory.mktemp("damaged") / "one.jsonl"
    path.write_bytes(raw)
    with contextlib.suppress(RightcallError):
        assert all(isinstance(trace, Trace) for trace in reading.load_traces(path, "langchain"))


def test_the_registry_knows_the_dialect():
    assert registry.by_name("langchain") is langchain.DIALECT

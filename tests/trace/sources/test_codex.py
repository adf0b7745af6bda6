"""Codex rollouts: items and their copies on the screen, exit codes, older flat files, and the sample records."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.errors import Place, TraceError
from rightcall.trace.model import Message, Trace
from rightcall.trace.sources import codex, native, reading, registry
from rightcall.trace.sources.dialect import ReadingReport, Skip

META = {"id": "s-1", "cwd": "/w", "cli_version": "0.9", "base_instructions": {"text": "Be brief."}}


def line(kind, **payload):
    return {"timestamp": "2026-03-01T10:00:00Z", "type": kind, "payload": payload}


def item(kind, **more):
    return line("response_item", type=kind, **more)


def event(kind, **more):
    return line("event_msg", type=kind, **more)


def said(role, text):
    return item(
        "message", role=role, content=[{"type": "input_text" if role == "user" else "output_text", "text": text}]
    )


def call(id_="c", name="shell", arguments='{"command": ["ls"]}'):
    return item("function_call", name=name, arguments=arguments, call_id=id_)


def output(value="a.txt", id_="c"):
    return item("function_call_output", call_id=id_, output=value)


def found(*lines):
    records = [(value, Place("rollout-1.jsonl", number)) for number, value in enumerate(lines, 1)]
    items = [one for one, _ in codex.grouped(records)]
    for one in items:
        if isinstance(one, Trace):
            assert native.read_line(native.write_line(one).strip(), Place("x")) == one
    return items


def read(*lines):
    (trace,) = found(*lines)
    assert isinstance(trace, Trace), trace
    return trace


def codes(trace):
    return [finding.code for finding in trace.findings]


def texts(trace):
    return [message.text for message in trace.events if isinstance(message, Message)]


def test_a_rollout_is_a_trace():
    lines = [
        line("session_meta", **META), line("turn_context", model="m-1", cwd="/w"), said("user", "<environment_context>x"),
        event("user_message", message="List them."), said("user", "List them."), item("reasoning", summary=[]), call(), output(),
        event("agent_message", message="One."), said("assistant", "One."), event("token_count", info={}),
    ]  # fmt: skip
    assert all(registry.detect(value, Place("r")) is codex.DIALECT for value in lines)
    trace = read(*lines)
    assert (trace.id, trace.request, trace.context) == ("s-1", "List them.", {"system": "Be brief."})
    assert (trace.agent.name, trace.agent.version, trace.agent.model) == ("codex", "0.9", "m-1")
    (found_call,) = trace.calls
    assert (found_call.tool, found_call.arguments, found_call.result.content) == ("shell", {"command": ["ls"]}, "a.txt")
    assert (found_call.failed, found_call.started_at) == (None, "2026-03-01T10:00:00Z")
    assert texts(trace) == ["<environment_context>x", "List them.", "One."]
    assert (trace.findings, trace.metadata) == ((), {"session": "s-1"})


def test_T12_what_the_screen_showed_is_not_read_twice_and_never_lost():  # noqa: N802
    trace = read(
        event("user_message", message="Go."),
        event("user_message", message="Go."),
        said("user", "Go."),
        event("agent_message", message="Ok."),
    )
    assert texts(trace) == ["Go.", "Go.", "Ok."]


@pytest.mark.parametrize(
    ("value", "failed"),
    [
        ('{"output": "x", "metadata": {"exit_code": 0, "duration_seconds": 0.1}}', False),
        ('{"output": "x", "metadata": {"exit_code": 2}}', True),
        ({"metadata": {"exit_code": 1}}, True),
        ('{"output": "x", "metadata": {"exit_code": true}}', None),
        ('{"exit_code": 1}', None),
        ("Error: exit_code 1", None),
        ('{"metadata"', None),
        ([{"type": "input_text", "text": "x"}], None),
    ],
)
def test_T10_an_exit_code_says_whether_a_command_failed(value, failed):  # noqa: N802
    (found_call,) = read(call(), output(value)).calls
    assert (found_call.failed, found_call.result.inferred, found_call.result.content) == (
        failed,
        failed is not None,
        value,
    )


def test_a_structured_output_says_whether_it_worked():
    (found_call,) = read(call(), output({"content": "x", "success": False})).calls
    assert (found_call.failed, found_call.result.inferred) == (True, False)


@pytest.mark.parametrize(
    ("end", "failed"),
    [
        (event("exec_command_end", call_id="c", exit_code=1), True),
        (event("patch_apply_end", call_id="c", success=True), False),
        (event("mcp_tool_call_end", call_id="c", result={"Ok": {"is_error": True}}), True),
        (event("mcp_tool_call_end", call_id="c", result={"Err": "gone"}), True),
        (event("mcp_tool_call_end", call_id="c", result={"Ok": {}}), None),
        (event("mcp_tool_call_end", result={"Err": "gone"}), None),
    ],
)
def test_events_say_whether_a_call_failed_and_are_no_calls(end, failed):
    trace = read(call(), end, output())
    assert ([c.failed for c in trace.calls], trace.calls[0].result.inferred, trace.findings) == ([failed], False, ())


def test_T17_what_the_provider_runs_is_kept_and_not_graded():  # noqa: N802
    trace = read(
        said("user", "Go."),
        item("web_search_call", status="completed", action={"type": "search", "query": "q"}),
        call(),
    )
    assert [c.tool for c in trace.calls] == ["shell"]
    assert [e.by for e in trace.events[1:]] == ["provider", "agent"]


def test_free_text_and_shell_calls_keep_what_they_were():
    patch = item("custom_tool_call", name="apply_patch", input="*** Begin", call_id="p")
    done = item("custom_tool_call_output", call_id="p", output='{"output": "ok", "metadata": {"exit_code": 0}}')
    shell = item("local_shell_call", call_id="l", status="completed", action={"type": "exec", "command": ["ls"]})
    trace = read(patch, done, shell, output("x", "l"))
    assert [(c.tool, c.arguments_status, c.arguments_raw, c.failed) for c in trace.calls] == [
        ("apply_patch", "not_object", "*** Begin", False), ("local_shell", "ok", None, None),
    ]  # fmt: skip
    assert trace.calls[1].result.content == "x"


def test_calls_in_a_row_are_parallel():
    trace = read(call("a"), call("b"), output("B", "b"), output("A", "a"), call("c"))
    assert [(c.turn, c.result and c.result.content) for c in trace.calls] == [(1, "A"), (1, "B"), (2, None)]


@pytest.mark.parametrize(("arguments", "status"), [("{", "malformed"), ("[1]", "not_object"), (None, "missing")])
def test_arguments_keep_their_status(arguments, status):
    assert read(call(arguments=arguments)).calls[0].arguments_status == status


def test_what_was_lost_is_noted():
    trace = read(
        line("session_meta", id="a"), line("session_meta", id="a"), line("session_meta", id="parent"), call(),
        line("compacted", message="Summary.", replacement_history=[{"type": "function_call", "name": "f", "call_id": "z"}]),
        event("turn_aborted", reason="interrupted"), event("error", message="busy"), event("novel"), event("novel"),
        line("other"), item("novel_item"), item("ghost_snapshot"), "x",
    )  # fmt: skip
    assert [c.id for c in trace.calls] == ["c"]
    assert sorted(codes(trace)) == ["TRACE_HTTP_ERROR", *["TRACE_INCOMPLETE"] * 6, "TRACE_MALFORMED"]
    assert "an event of unknown type `novel` was left out, 2 times" in [f.message for f in trace.findings]


def test_a_started_thread_names_its_parent():
    spawned = {"subagent": {"thread_spawn": {"parent_thread_id": "p", "spawn_call_id": "c9"}}}
    assert read(line("session_meta", id="s", source=spawned), call()).metadata == {
        "session": "s",
        "parent_session": "p",
        "spawn_call": "c9",
    }


def test_older_flat_files_are_read():
    head = {"id": "old-1", "timestamp": "2025-05-01T10:00:00Z", "instructions": "Be kind.", "git": {}}
    lines = [
        head, {"record_type": "state"}, {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Go."}]},
        {"type": "function_call", "id": "f", "name": "shell", "arguments": "{}", "call_id": "c"},
        {"type": "function_call_output", "call_id": "c", "output": "x"},
    ]  # fmt: skip
    assert registry.detect(head, Place("r")) is codex.DIALECT
    trace = read(*lines)
    assert (trace.id, trace.request, trace.context, trace.findings) == ("old-1", "Go.", {"system": "Be kind."}, ())
    assert [(c.arguments, c.result.content) for c in trace.calls] == [({}, "x")]


def test_a_single_record_is_read_as_a_file():
    (trace,) = codex.traces(call(), Place())
    assert [c.tool for c in trace.calls] == ["shell"]


def test_several_files_are_several_traces():
    records = [(call(), Place("a.jsonl", 1)), (call(), Place("b.jsonl", 1)), (output(), Place("b.jsonl", 2))]
    traces = [one for one, _ in codex.grouped(records)]
    assert [(trace.id, trace.calls[0].result is None) for trace in traces] == [("a:1", True), ("b:1", False)]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([line("session_meta", id="s")], "only `session_meta`"), ([output()], "only results are here"),
        ([item("reasoning")], "only `response_item`"), ([{"record_type": "state"}], "no message or call"),
    ],
)  # fmt: skip
def test_what_holds_no_message_is_skipped_with_its_reason(lines, told):
    (skip,) = found(*lines)
    assert isinstance(skip, Skip)
    assert skip.code == "TRACE_INCOMPLETE"
    assert told in skip.message


@pytest.mark.parametrize(
    "record",
    [None, [], {}, {"type": "response_item"}, {"type": "response_item", "payload": []}, {"id": "x", "timestamp": "t"},
     {"id": "x", "timestamp": 3, "instructions": None}, {"id": "x", "timestamp": "t", "instructions": None, "events": []}],
)  # fmt: skip
def test_anything_else_is_not_recognised(record):
    assert not codex.detect(record)


words = st.sampled_from(
    ["type", "payload", "timestamp", "id", "instructions", "git", "message", "role", "user", "content", "text", "name",
     "arguments", "call_id", "output", "metadata", "exit_code", "result", "Ok", "Err", "success", "model", "source"]
)  # fmt: skip
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=6),
    max_leaves=8,
)
kinds = st.sampled_from(
    ["function_call", "function_call_output", "custom_tool_call", "message", "web_search_call", "compaction"]
)
events = st.sampled_from(["user_message", "agent_message", "exec_command_end", "mcp_tool_call_end", "error", "novel"])
some_lines = (
    st.builds(
        item,
        kinds,
        name=anything,
        arguments=anything,
        call_id=anything,
        output=anything,
        content=anything,
        role=anything,
    )
    | st.builds(
        event, events, message=anything, call_id=anything, exit_code=anything, result=anything, success=anything
    )
    | st.builds(
        line,
        st.sampled_from(["session_meta", "turn_context", "compacted"]),
        id=anything,
        model=anything,
        source=anything,
    )
)


@pytest.mark.slow
@given(st.lists(anything | some_lines, max_size=8))
def test_any_json_gives_traces_or_skips(values):
    assert all(isinstance(codex.detect(value), bool) for value in values)
    assert all(isinstance(one, (Trace, Skip)) for one in found(*values))


@pytest.mark.slow
@given(st.integers(0, 700), st.binary(max_size=3))
def test_damaged_bytes_give_traces_or_typed_errors(tmp_path_factory, at, junk):
    data = b"\n".join(
        json.dumps(value).encode() for value in [line("session_meta", **META), said("user", "Go."), call(), output()]
    )
    path = tmp_path_factory.getbasetemp() / "damaged-codex.jsonl"
    path.write_bytes(data[:at] + junk + data[at + 1 :])
    with suppress(TraceError):
        reading.load_traces(path, "codex")


# ---- the sample records ----


@pytest.mark.parametrize(
    ("name", "calls", "results", "messages"),
    [
        ("collaboration/agent-tools", {"ok": 1}, 1, 0), ("tools/exec-wrapper", {"not_object": 1}, 1, 0),
        ("tools/web-run", {"not_object": 1}, 1, 0), ("tools/function-call", {"ok": 1}, 1, 0), ("tools/async-command", {"ok": 2}, 2, 0),
        ("messages/environment-context", {}, 0, 1), ("messages/user-shell-command", {}, 0, 1), ("messages/visible-pair", {}, 0, 1),
    ],
)  # fmt: skip
def test_the_samples_are_counted_right(shared_data, name, calls, results, messages):
    report = ReadingReport()
    opened = reading.open_traces(shared_data / f"data/codex/messages/{name}.json")
    (trace,) = reading.read(opened, report)
    assert opened.dialect is codex.DIALECT
    assert (dict(report.calls), report.results, report.errors) == (calls, results, 0)
    assert len(texts(trace)) == messages


@pytest.mark.parametrize(
    "name", ["session/session_meta", "collaboration/thread-spawn", "lifecycle/turn-context", "reasoning/summary"]
)
def test_samples_without_a_message_are_skipped(shared_data, name):
    report = ReadingReport()
    assert list(reading.read(reading.open_traces(shared_data / f"data/codex/messages/{name}.json"), report)) == []
    assert dict(report.causes) == {"TRACE_INCOMPLETE": 1}


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("README.md", "TRACE_MALFORMED"),
        ("legacy/flat-rollout.md", "TRACE_MALFORMED"),
        ("manifest.json", "TRACE_UNKNOWN_DIALECT"),
    ],
)
def test_what_is_no_recording_is_refused(shared_data, name, code):
    with pytest.raises(TraceError) as caught:
        reading.open_traces(shared_data / f"data/codex/messages/{name}")
    assert caught.value.code == code

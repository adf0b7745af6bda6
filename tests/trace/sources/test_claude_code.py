"""Claude Code sessions: split messages, early results, branches, copies, sub-agents, refusals, and the real lines."""

import itertools
import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.errors import Place, TraceError
from rightcall.trace.model import Message, Trace
from rightcall.trace.sources import claude_code, native, reading, registry
from rightcall.trace.sources.dialect import ReadingReport, Skip

START = {"cwd": "/w", "version": "2.0", "gitBranch": "main"}


def line(kind, uuid, parent=None, content=None, *, message_id=None, **more):
    whole = {"type": kind, "uuid": uuid, "parentUuid": parent, "isSidechain": False, "sessionId": "s", **START, **more}
    if content is not None:
        whole["message"] = {"role": kind, "content": content}
        if kind == "assistant":
            whole["message"] |= {
                "id": message_id or f"m-{uuid}",
                "type": "message",
                "model": "m-1",
                "stop_reason": None,
            }
    return whole


def use(id_, name="Bash", **arguments):
    return {"type": "tool_use", "id": id_, "name": name, "input": arguments}


def answer(id_, content="ok", **more):
    return {"type": "tool_result", "tool_use_id": id_, "content": content, **more}


def found(*lines):
    records = [(value, Place("s.jsonl", number)) for number, value in enumerate(lines, 1)]
    items = [item for item, _ in claude_code.grouped(records)]
    for item in items:
        if isinstance(item, Trace):
            assert native.read_line(native.write_line(item).strip(), Place("x")) == item
    return items


def read(*lines):
    (trace,) = found(*lines)
    assert isinstance(trace, Trace), trace
    return trace


def codes(trace):
    return [finding.code for finding in trace.findings]


def texts(trace):
    return [event.text for event in trace.events if isinstance(event, Message)]


def test_a_session_is_a_trace():
    lines = [
        {"type": "queue-operation", "operation": "enqueue", "sessionId": "s"},
        line("user", "1", None, "Count the files.", timestamp="2026-03-01T10:00:00Z"),
        line("assistant", "2", "1", [{"type": "text", "text": "Counting."}, use("t", command="ls")]),
        line("user", "3", "2", [answer("t", "a b", is_error=False)], toolUseResult={"stdout": "a b"}),
        line("assistant", "4", "3", [{"type": "text", "text": "Two."}]),
    ]
    assert all(registry.detect(value, Place("s")) is claude_code.DIALECT for value in lines)
    trace = read(*lines)
    assert (trace.id, trace.request, trace.metadata) == ("s", "Count the files.", {"session": "s"})
    assert (trace.agent.name, trace.agent.version, trace.agent.model) == ("claude-code", "2.0", "m-1")
    (call,) = trace.calls
    assert (call.tool, call.arguments, call.result.content, call.failed) == ("Bash", {"command": "ls"}, "a b", False)
    assert texts(trace) == ["Count the files.", "Counting.", "Two."]
    assert trace.findings == ()


def test_the_lines_of_one_message_are_one_turn_also_with_results_between():
    trace = read(
        line("user", "1", None, "Go."),
        line("assistant", "2", "1", [use("a")], message_id="m"), line("user", "3", "2", [answer("a", "A")]),
        line("assistant", "4", "2", [use("b")], message_id="m"), line("user", "5", "4", [answer("b", "B")]),
        line("assistant", "6", "5", [use("c")], message_id="n"),
    )  # fmt: skip
    assert [(c.turn, c.result and c.result.content) for c in trace.calls] == [(1, "A"), (1, "B"), (2, None)]
    assert texts(trace) == ["Go.", None, None]


def test_a_result_that_stands_before_its_call_is_given_to_it():
    trace = read(
        line("user", "1", None, "Go."), line("assistant", "2", "1", [{"type": "text", "text": "Now."}], message_id="m"),
        line("user", "3", "2", [answer("a", "A")]), line("assistant", "4", "3", [use("a")], message_id="m"),
    )  # fmt: skip
    assert [c.result.content for c in trace.calls] == ["A"]
    assert codes(trace) == []


def test_T1_an_id_that_is_used_again_keeps_its_own_results():  # noqa: N802
    trace = read(
        line("user", "1", None, "Go."), line("assistant", "2", "1", [use("a")]), line("user", "3", "2", [answer("a", "A")]),
        line("assistant", "4", "3", [use("a")]), line("user", "5", "4", [answer("a", "B")]),
    )  # fmt: skip
    assert [c.result.content for c in trace.calls] == ["A", "B"]
    assert codes(trace) == ["TRACE_DUPLICATE_ID"]


def test_an_edited_prompt_leaves_its_branch_out_and_says_so():
    trace = read(
        line("user", "1", None, "Go."), line("assistant", "2", "1", [use("a")]), line("user", "3", "2", [answer("a")]),
        line("user", "4", "3", "Old."), line("assistant", "5", "4", [use("b")]), line("user", "6", "5", [answer("b")]),
        line("user", "7", "3", "New."), line("assistant", "8", "7", [use("c")]),
    )  # fmt: skip
    assert [c.id for c in trace.calls] == ["a", "c"]
    (finding,) = trace.findings
    assert (finding.code, finding.message) == (
        "TRACE_INCOMPLETE",
        "3 lines of abandoned branches left out, with 1 calls",
    )


def test_a_reply_that_was_asked_for_again_is_read_once():
    trace = read(
        line("user", "1", None, "Go."), line("assistant", "2", "1", [use("a")], message_id="m"),
        line("assistant", "3", "1", [use("b")], message_id="n"), line("user", "4", "3", [answer("b")]),
    )  # fmt: skip
    assert [c.id for c in trace.calls] == ["b"]


def test_results_and_split_lines_beside_each_other_are_no_branch():
    trace = read(
        line("user", "1", None, "Go."), line("assistant", "2", "1", [use("a")], message_id="m"),
        line("assistant", "3", "2", [use("b")], message_id="m"), line("user", "4", "2", [answer("a", "A")]),
        line("user", "5", "3", [answer("b", "B")]), line("attachment", "6", "2", attachment={"type": "hook"}),
        line("assistant", "7", "5", [{"type": "text", "text": "Done."}]),
    )  # fmt: skip
    assert [c.result.content for c in trace.calls] == ["A", "B"]
    assert [f.message for f in trace.findings] == ["1 line of type `attachment` left out"]


def test_lines_that_stand_twice_are_read_once():
    first = line("user", "1", None, "Go.")
    trace = read(first, first, line("user", "1", None, "Other."), line("assistant", "2", "1", [use("a")]))
    assert (texts(trace)[0], codes(trace)) == ("Go.", ["TRACE_DUPLICATE_ID", "TRACE_DUPLICATE_ID"])


def test_sub_agents_of_another_file_stand_after_the_call_that_started_them():
    inner = {"isSidechain": True, "agentId": "x1"}
    trace = read(
        line("user", "1", None, "Go."), line("assistant", "2", "1", [use("t", "Task")]),
        line("user", "3", "2", [answer("t")], toolUseResult={"agentId": "x1"}), line("assistant", "4", "3", [use("z")]),
        line("user", "a", None, "Look.", **inner), line("assistant", "b", "a", [use("t", "Grep")], **inner),
        line("user", "c", "b", [answer("t", "hit")], **inner),
    )  # fmt: skip
    assert [(c.tool, c.agent, c.turn) for c in trace.calls] == [
        ("Task", None, 1),
        ("Grep", "sidechain-x1", 2),
        ("Bash", None, 3),
    ]
    assert [c.result and c.result.content for c in trace.calls] == ["ok", "hit", None]
    assert trace.request == "Go."
    assert codes(trace) == []


def test_older_sub_agents_are_told_apart_by_their_chains_and_placed_by_time():
    trace = read(
        line("user", "1", None, "Go.", timestamp="10:00"), line("assistant", "2", "1", [use("t", "Task")], timestamp="10:01"),
        line("user", "a", None, "One.", isSidechain=True, timestamp="10:02"),
        line("user", "b", None, "Two.", isSidechain=True, timestamp="10:03"),
        line("assistant", "c", "a", [use("i", "Read")], isSidechain=True), line("assistant", "d", "b", [use("j", "LS")], isSidechain=True),
        line("user", "3", "2", [answer("t")], timestamp="10:09"), line("assistant", "4", "3", [use("z")], timestamp="10:10"),
    )  # fmt: skip
    assert [(c.tool, c.agent) for c in trace.calls] == [
        ("Task", None), ("Read", "sidechain-1"), ("LS", "sidechain-2"), ("Bash", None),
    ]  # fmt: skip


def test_a_sub_agent_that_nothing_places_is_kept_at_the_end():
    trace = read(line("user", "1", None, "Go."), line("assistant", "2", "1", [use("a", "Grep")], isSidechain=True))
    assert [c.agent for c in trace.calls] == ["sidechain-1"]


def test_a_sub_agents_file_alone_is_a_trace_of_its_own():
    inner = {"isSidechain": True, "agentId": "x1"}
    trace = read(line("user", "a", None, "Look.", **inner), line("assistant", "b", "a", [use("t", "Grep")], **inner))
    assert (trace.id, trace.request, trace.calls[0].agent) == ("s/x1", "Look.", "sidechain-x1")


def test_an_endless_chain_of_parents_ends():
    lines = [
        line("user", "a", "b", "x", isSidechain=True),
        line("user", "b", "a", "y", isSidechain=True),
        line("user", "c", "c", "z"),
    ]
    assert set(texts(read(*lines))) == {"x", "y", "z"}


@pytest.mark.parametrize(
    ("block", "told", "label"),
    [
        (answer("t", "please name it first", is_error=True), "Error: please name it first", False),
        (answer("t", "The user doesn't want to proceed with this tool use. Stop.", is_error=True), None, True),
        (answer("t", [{"type": "text", "text": "no"}], is_error=True), "User rejected tool use", True),
        (answer("t", "fine", is_error=False), "User rejected tool use", False),
    ],
)
def test_T10_a_refusal_is_an_error_as_written_and_a_label_where_the_program_says_so(block, told, label):  # noqa: N802
    trace = read(
        line("user", "1", None, "Go."),
        line("assistant", "2", "1", [use("t")]),
        line("user", "3", "2", [block], toolUseResult=told),
    )
    assert trace.calls[0].failed is block["is_error"]
    assert [(row.name, row.kind, row.target) for row in trace.labels] == [("user_rejected", "person", "t")] * label


def test_a_missing_is_error_is_not_known():
    trace = read(
        line("user", "1", None, "Go."),
        line("assistant", "2", "1", [use("t")]),
        line("user", "3", "2", [answer("t", "Error: x")]),
    )
    assert trace.calls[0].failed is None


def test_what_the_program_says_is_not_the_request():
    trace = read(
        line("user", "0", None, "Caveat: x", isMeta=True), line("user", "1", "0", "<command-name>/model</command-name>"),
        line("user", "2", "1", "Summary.", isCompactSummary=True), line("user", "3", "2", [{"type": "text", "text": "Go."}]),
        line("assistant", "4", "3", [use("t")]),
    )  # fmt: skip
    assert trace.request == "Go."


def test_compacted_contexts_failed_requests_and_unknown_types_are_noted():
    failed = line("assistant", "4", "3", [{"type": "text", "text": "API Error"}], isApiErrorMessage=True)
    trace = read(
        line("user", "1", None, "Go."), line("system", "2", None, subtype="compact_boundary", logicalParentUuid="1"),
        line("system", "3", "2", subtype="api_error", error={"message": "busy"}), line("system", "3b", "2", subtype="turn_duration"),
        failed, line("widget", "5", "4"), line("assistant", "6", "4", [{"type": "text", "text": "Hi."}]),
    )  # fmt: skip
    assert texts(trace) == ["Go.", "Hi."]
    assert sorted(codes(trace)) == ["TRACE_HTTP_ERROR", "TRACE_HTTP_ERROR", "TRACE_INCOMPLETE", "TRACE_INCOMPLETE"]


def test_a_reply_that_was_cut_off_is_not_complete():
    last = line("assistant", "2", "1", [{"type": "text", "text": "Hi"}])
    last["message"]["stop_reason"] = "max_tokens"
    trace = read(line("user", "1", None, "Go."), last)
    assert (codes(trace), trace.completed) == (["TRACE_TRUNCATED"], False)


def test_a_file_that_begins_in_the_middle_says_so():
    trace = read(line("assistant", "2", "1", [use("t")]))
    assert [f.message for f in trace.findings] == ["1 line going on from lines that are not here"]


def test_several_sessions_are_several_traces():
    traces = found(line("user", "1", None, "A."), line("user", "2", None, "B.", sessionId="z"))
    assert [(trace.id, trace.request) for trace in traces] == [("s", "A."), ("z", "B.")]


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ([{"type": "summary", "summary": "x", "leafUuid": "1"}], "TRACE_INCOMPLETE"),
        ([{"type": "queue-operation", "sessionId": "s"}], "TRACE_INCOMPLETE"),
        ([line("user", "1", None, [answer("t")])], "TRACE_INCOMPLETE"),
        ([line("user", "1", None, [answer("t")], isSidechain=True)], "TRACE_INCOMPLETE"),
        ([7], "TRACE_MALFORMED"),
        ([{"a": 1}], "TRACE_MALFORMED"),
    ],
)
def test_what_holds_no_message_is_skipped_with_its_reason(lines, code):
    (skip,) = found(*lines)
    assert isinstance(skip, Skip)
    assert skip.code == code


def test_a_summary_beside_a_session_is_no_skip():
    assert len(found({"type": "summary", "leafUuid": "1"}, line("user", "1", None, "Go."))) == 1


def test_a_single_record_is_read_as_a_file():
    (trace,) = claude_code.traces(line("user", "1", None, "Go.", sessionId=None), Place())
    assert trace.request == "Go."


@pytest.mark.parametrize(
    "record",
    [None, [], {}, {"type": "user"}, {"type": "message", "id": "m", "uuid": "1", "parentUuid": None}, {"type": "user", "uuid": "1", "parentUuid": None},
     {"type": "session_meta", "payload": {}, "sessionId": "s"}, {"type": "summary"}, {"type": 3, "sessionId": "s"}],
)  # fmt: skip
def test_anything_else_is_not_recognised(record):
    assert not claude_code.detect(record)


words = st.sampled_from(
    ["type", "uuid", "parentUuid", "sessionId", "message", "content", "role", "id", "user", "assistant", "system", "tool_use",
     "tool_result", "tool_use_id", "name", "input", "is_error", "isSidechain", "agentId", "toolUseResult", "text"]
)  # fmt: skip
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=6),
    max_leaves=15,
)
ids = st.sampled_from(["1", "2", "3", "4"])
blocks = st.lists(st.builds(use, ids) | st.builds(answer, ids, anything) | anything, max_size=3)
some_lines = st.builds(
    line, st.sampled_from(["user", "assistant", "system"]), ids | anything, ids | anything, blocks | anything,
    message_id=ids | anything, isSidechain=st.booleans(), agentId=ids | anything, toolUseResult=anything, timestamp=anything,
)  # fmt: skip


@pytest.mark.slow
@given(st.lists(anything | some_lines, max_size=8))
def test_any_json_gives_traces_or_skips(values):
    assert all(isinstance(claude_code.detect(value), bool) for value in values)
    assert all(isinstance(item, (Trace, Skip)) for item in found(*values))


@pytest.mark.slow
@given(st.integers(0, 900), st.binary(max_size=3))
def test_damaged_bytes_give_traces_or_typed_errors(tmp_path_factory, at, junk):
    lines = [
        line("user", "1", None, "Go."),
        line("assistant", "2", "1", [use("t")]),
        line("user", "3", "2", [answer("t")]),
    ]
    data = b"\n".join(json.dumps(value).encode() for value in lines)
    path = tmp_path_factory.getbasetemp() / "damaged-claude.jsonl"
    path.write_bytes(data[:at] + junk + data[at + 1 :])
    with suppress(TraceError):
        reading.load_traces(path, "claude_code")


def test_many_sub_agents_and_branches_are_read_in_linear_time():
    lines = [line("user", "0", None, "Go.")]
    for number in range(3000):
        inner = {"isSidechain": True, "agentId": f"a{number}", "timestamp": f"{number:05}"}
        lines.append(line("user", f"s{number}", None, "x", **inner))
        lines.append(line("user", f"p{number}", "0", "y", timestamp=f"{number:05}"))
    assert len(read(*lines).events) == 3002


# ---- the real lines ----


def read_all(paths):
    report, items = ReadingReport(), []
    for item, _ in reading.items_of([reading.open_traces(path) for path in paths]):
        items.append(item)
        (report.skip if isinstance(item, Skip) else report.trace)(item)
    return report, items


def test_the_real_lines_read_together_are_counted_right(shared_data):
    paths = sorted((shared_data / "data/claude_code/messages").rglob("*.jsonl"))
    lines = [json.loads(text) for path in paths for text in path.read_text().splitlines()]
    rows = [block for row in lines for block in contents(row)]
    assert (len(lines), sum(row.get("isSidechain") is True for row in lines)) == (59, 9)
    assert sum(block["type"] == "tool_use" for block in rows) == 18
    results = [block for block in rows if block["type"] == "tool_result"]
    assert (len(results), sum(block.get("is_error") is True for block in results)) == (26, 10)
    report, items = read_all(paths)
    assert (report.read, report.skipped, dict(report.calls), report.results) == (13, 4, {"ok": 18}, 18)
    # 18 paired; 4 whose call is not among the lines; 2 in sessions that hold nothing else; 2 lines that stand twice.
    assert (report.causes["TRACE_ORPHAN_RESULT"], report.causes["TRACE_DUPLICATE_ID"]) == (4, 2)
    assert sum("only results" in item.message for item in items if isinstance(item, Skip)) == 2
    assert report.errors == 2
    assert sum(c.agent is not None for item in items if isinstance(item, Trace) for c in item.calls) == 3


def contents(row):
    content = (row.get("message") or {}).get("content")
    return content if isinstance(content, list) else []


def test_every_real_line_alone_is_read_or_refused_with_its_reason(shared_data):
    reasons = set()
    for path in sorted((shared_data / "data/claude_code/messages").rglob("*.jsonl")):
        report, items = read_all([path])
        assert (len(items), report.read + report.skipped) == (1, 1)
        if isinstance(items[0], Skip):
            reasons.add(items[0].message)
    assert reasons == {
        "no message or call: only results are here, and their calls are not", "no message: a line of type `file-history-snapshot` alone",
        "no message: a line of type `summary` alone", "no message of this session is here: only lines of type `queue-operation`",
        "no message of this session is here: only lines of type `system`",
    }  # fmt: skip


def test_T10_the_real_refusal_stays_an_error_with_the_users_words(shared_data):  # noqa: N802
    path = shared_data / "data/claude_code/messages/tools/Bash-tool_result_error.jsonl"
    (row,) = [json.loads(text) for text in path.read_text().splitlines()]
    (block,) = contents(row)
    trace = read(
        line("user", "1", None, "Go."),
        line("assistant", "2", "1", [use(block["tool_use_id"])]),
        {**row, "parentUuid": "2", "sessionId": "s"},
    )
    assert (trace.calls[0].failed, trace.calls[0].result.content) == (True, "please add transformer.js too first")


@pytest.mark.parametrize(
    ("name", "calls", "results", "causes"),
    [
        ("api_error", 0, 0, {"TRACE_HTTP_ERROR": 1}), ("attachment_beside_result", 1, 1, {"TRACE_INCOMPLETE": 1}),
        ("compaction", 0, 0, {"TRACE_INCOMPLETE": 1}), ("duplicates", 2, 1, {"TRACE_DUPLICATE_ID": 3}),
        ("early_result", 1, 1, {}), ("edit_branch", 0, 0, {"TRACE_INCOMPLETE": 1}), ("images", 1, 1, {"TRACE_INCOMPLETE": 2}),
        ("split_interleaved", 2, 2, {}), ("subagents", 4, 4, {}), ("unknown", 0, 0, {"TRACE_INCOMPLETE": 2}),
        ("unpaired", 1, 0, {"TRACE_ORPHAN_RESULT": 2}),
    ],
)  # fmt: skip
def test_synthetic_sessions_are_counted_right(shared_data, name, calls, results, causes):
    report, (trace,) = read_all([shared_data / f"data/claude_code/agentpile_synthetic/{name}.jsonl"])
    assert (report.read, sum(report.calls.values()), report.results, dict(report.causes)) == (1, calls, results, causes)
    assert trace.metadata == {"session": trace.id}


def test_a_session_with_the_files_of_its_sub_agents_is_one_trace(shared_data):
    folder = shared_data / "data/claude_code/agentpile_synthetic"
    report, (trace,) = read_all([folder / "subagents.jsonl", *sorted((folder / "subagents").rglob("*.jsonl"))])
    assert (len(trace.calls), report.results) == (5, 5)
    agents = [agent for agent, _ in itertools.groupby(event.agent for event in trace.events)]
    short = [None if agent is None else agent[-1] for agent in agents]
    assert [agent for agent in short if agent is not None] == ["1", "2", "5", "6", "3", "4"]

"""Inspect logs: samples as traces, calls and results, what events add, attachments, logs without samples, real files."""

import contextlib
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from rightcall.errors import Place, TraceError
from rightcall.trace import jsontext
from rightcall.trace.model import Message, Trace
from rightcall.trace.sources import inspect_events, inspect_log, native, reading, registry
from rightcall.trace.sources.dialect import ReadingReport, Skip

PLACE = Place("logs/run.json")


def call(name="lookup", id_="c1", **more):
    return {"id": id_, "function": name, "arguments": {"key": 4}, "type": "function", **more}


def assistant(*calls, content="", **more):
    return {
        "role": "assistant",
        "content": content,
        "source": "generate",
        **({"tool_calls": list(calls)} if calls else {}),
        **more,
    }


def tool(content="found", id_="c1", name="lookup", **more):
    return {"role": "tool", "content": content, "tool_call_id": id_, "function": name, **more}


def sample(*messages, **changes):
    said = list(messages) or [
        {"role": "user", "content": "Find 4."},
        assistant(call()),
        tool(),
        assistant(content="It is there."),
    ]
    return {"id": "find", "epoch": 2, "input": "Find 4.", "target": "there", "messages": said, "scores": {}, **changes}


def log(*samples, **changes):
    spec = {
        "task": "finding",
        "model": "vendor/model",
        "run_id": "run-1",
        "solver": "react",
        "dataset": {},
        "config": {},
    }
    whole = {"version": 2, "status": "success", "eval": spec, "plan": {}, "stats": {}, "samples": list(samples) or None}
    return {**whole, **changes}


def read(*samples, **changes):
    """Read a log of one sample that must give one trace."""
    (trace,) = inspect_log.traces(log(*(samples or (sample(),)), **changes), PLACE)
    assert isinstance(trace, Trace), trace
    return trace


def skip_of(record):
    (skip,) = inspect_log.traces(record, PLACE)
    assert isinstance(skip, Skip), skip
    return skip


def notes(trace):
    return [(finding.code, finding.path) for finding in trace.findings]


# ---- samples ----


def test_a_sample_is_a_trace_of_its_case_and_trial():
    trace = read()
    assert (trace.id, trace.case_id, trace.trial, trace.request) == ("run-1-find-2", "find", 2, "Find 4.")
    assert (trace.agent.name, trace.agent.model) == ("react", "vendor/model")
    assert trace.metadata == {"task": "finding", "run": "run-1", "status": "success"}
    (made,) = trace.calls
    assert (made.tool, made.id, made.turn, made.arguments) == ("lookup", "c1", 1, {"key": 4})
    assert (made.result.content, made.failed) == ("found", False)
    assert trace.findings == ()


def test_the_uuid_of_a_sample_names_its_trace():
    assert read(sample(uuid="u-1")).id == "u-1"
    assert read(sample(id=None)).id == "run.samples[0]"


def test_samples_of_one_log_are_traces_of_their_own():
    found = list(inspect_log.traces(log(sample(), sample(epoch=3), sample(id=7)), PLACE))
    assert [(trace.case_id, trace.trial) for trace in found] == [("find", 2), ("find", 3), ("7", 2)]


@pytest.mark.parametrize(
    ("changes", "status", "completed"),
    [
        ({}, "success", True),
        ({"error": {"message": "boom"}}, "success", False),
        ({"limit": {"type": "message", "limit": 9}}, "success", False),
        ({}, "cancelled", None),
        ({}, "started", None),
        ({"scores": {"match": {"value": "C"}}}, "cancelled", True),
    ],
)
def test_a_sample_that_ended_with_an_error_or_at_a_limit_is_not_complete(changes, status, completed):
    trace = read(sample(**changes), status=status)
    assert trace.completed is completed
    assert trace.metadata.get("error") == (changes.get("error") or {}).get("message")


def test_scores_are_labels_with_the_edits_that_people_made():
    edit = {"value": 1.0, "provenance": {"author": "mia", "timestamp": "2026-01-02T03:04:05Z", "reason": "it is right"}}
    score = {"value": 0.0, "explanation": "not there", "history": [{"value": 0.0}, edit]}
    first, second = read(sample(scores={"match": score, "odd": None})).labels
    assert (first.name, first.value, first.comment, first.by, first.kind) == (
        "match",
        0.0,
        "not there",
        "match",
        "unknown",
    )
    assert (second.value, second.by, second.kind, second.at, second.comment) == (
        1.0,
        "mia",
        "person",
        "2026-01-02T03:04:05Z",
        "it is right",
    )


def test_the_one_score_of_an_old_log_is_named_by_its_results():
    old = {key: value for key, value in sample(score={"value": "C"}).items() if key != "scores"}
    assert read(old, results={"scores": [{"name": "match"}]}).labels[0].name == "match"
    assert read(old).labels[0].name == "score"


# ---- messages ----


def test_a_parse_error_makes_a_call_malformed_and_keeps_the_text_that_it_quotes():
    error = 'Error parsing the following tool call arguments:\n\n{"key": 4 // four\n\nError details: Expecting value'
    trace = read(
        sample(
            {"role": "user", "content": "x"},
            assistant(call(arguments={}, parse_error=error), call(id_="c2", parse_error="no tool")),
        )
    )
    first, second = trace.calls
    assert (first.arguments_status, first.arguments_raw, first.arguments) == ("malformed", '{"key": 4 // four', None)
    assert (second.arguments_status, second.arguments_raw) == ("malformed", "no tool")
    assert notes(trace)[0] == ("TRACE_ARGS_UNPARSEABLE", "$.samples[0].messages[1].tool_calls[0]")


def test_arguments_that_are_missing_or_no_object_stay_so():
    made = [{"id": "a", "function": "f"}, call(id_="b", arguments=[1]), call(id_="c", arguments={})]
    trace = read(sample({"role": "user", "content": "x"}, assistant(*made)))
    assert [(c.arguments_status, c.arguments) for c in trace.calls] == [
        ("missing", None),
        ("not_object", None),
        ("ok", {}),
    ]


@pytest.mark.parametrize("kind", ["parsing", "timeout", "permission", "approval", "output_limit", "new-kind"])
def test_a_tool_message_with_an_error_failed(kind):  # T10
    trace = read(sample(assistant(call()), tool(content="", error={"type": kind, "message": "too slow"})))
    assert (trace.calls[0].failed, trace.calls[0].result.content) == (True, "too slow")


def test_what_was_said_of_a_failure_is_kept_before_the_error_s_own_words():
    assert (
        read(sample(assistant(call()), tool("partly", error={"type": "timeout", "message": "slow"})))
        .calls[0]
        .result.content
        == "partly"
    )
    assert read(sample(assistant(call()), tool(tool_error="old way"))).calls[0].failed is True


def test_a_result_that_only_speaks_of_errors_did_not_fail():  # T10
    assert read(sample(assistant(call()), tool("Error: none"))).calls[0].failed is False


def test_parallel_calls_share_a_turn_and_are_answered_in_any_order():  # T11
    trace = read(
        sample(assistant(call(id_="a"), call(id_="b")), tool("2", "b"), tool("1", "a"), assistant(call(id_="c")))
    )
    assert [(c.turn, c.result and c.result.content) for c in trace.calls] == [(1, "1"), (1, "2"), (2, None)]


def test_an_id_that_is_used_again_belongs_to_the_nearest_call():  # T1
    trace = read(sample(assistant(call()), tool("1"), assistant(call()), tool("2")))
    assert [c.result.content for c in trace.calls] == ["1", "2"]
    assert [code for code, _ in notes(trace)] == ["TRACE_DUPLICATE_ID"]


def test_calls_without_an_id_are_answered_by_order_and_name():  # T2
    trace = read(sample(assistant(call("a", None), call("b", None)), tool("1", None, "b"), tool("2", None, "a")))
    assert [c.result.content for c in trace.calls] == ["2", "1"]


def test_calls_of_the_provider_are_kept_and_marked():  # T17
    used = {
        "type": "tool_use",
        "tool_type": "web_search",
        "id": "w",
        "name": "web_search",
        "arguments": '{"q": "x"}',
        "result": "hits",
    }
    bad = {**used, "id": "v", "arguments": "x", "error": "down", "result": ""}
    trace = read(sample(assistant(content=[{"type": "text", "text": "I look."}, used, bad, {"type": "tool_use"}])))
    assert trace.calls == ()
    _, first, second = trace.events
    assert (first.by, first.arguments, first.result.content, first.failed) == ("provider", {"q": "x"}, "hits", False)
    assert (second.arguments_status, second.result.content, second.failed) == ("malformed", "down", True)
    assert trace.events[0].text == "I look."
    assert sorted(code for code, _ in notes(trace)) == ["TRACE_ARGS_UNPARSEABLE", "TRACE_MALFORMED"]


@pytest.mark.parametrize(
    "content", [None, "", "text", ["a"], [{"type": "text", "text": "a"}], [{"type": "image", "image": "x"}]]
)
def test_content_may_be_anything(content):  # T16
    trace = read(sample(assistant(content=content), assistant(call()), tool(content)))
    assert trace.calls[0].result.content == content
    assert isinstance(trace.events[0], Message)


def test_what_is_no_message_or_no_call_is_noted():
    odd = [{"role": "judge"}, 7, assistant(call(name="")), {**assistant(), "tool_calls": "x"}]
    assert [code for code, _ in notes(read(sample(*odd)))] == ["TRACE_MALFORMED"] * 4


# ---- attachments ----


def test_attachments_are_put_back_wherever_they_stand():
    said = [
        {"role": "user", "content": "attachment://u"},
        assistant(call(arguments={"key": ["attachment://a"]})),
        tool("tc://r"),
    ]
    trace = read(sample(*said, attachments={"u": "Find it.", "a": "long"}, transcript={"content": {"r": "answer"}}))
    assert trace.request == "Find it."
    assert (trace.calls[0].arguments, trace.calls[0].result.content) == ({"key": ["long"]}, "answer")


def test_an_attachment_that_is_not_there_is_noted():
    trace = read(sample({"role": "user", "content": "attachment://gone"}))
    assert (trace.request, [code for code, _ in notes(trace)]) == ("attachment://gone", ["TRACE_INCOMPLETE"])


def test_attachments_that_multiply_are_refused(monkeypatch):
    monkeypatch.setattr(inspect_events, "MAX_RESOLVED", 100)
    said = [{"role": "user", "content": "attachment://u"} for _ in range(11)]
    assert skip_of(log(sample(*said, attachments={"u": "0123456789"}))).code == "TRACE_TOO_LONG"


# ---- events ----


def model(output=None, span=None, **more):
    choices = [] if output is None else [{"message": output}]
    return {"event": "model", "span_id": span, "input": [], "tools": [], "output": {"choices": choices}, **more}


def ran(id_="c1", name="lookup", **more):
    return {
        "event": "tool",
        "id": id_,
        "function": name,
        "timestamp": "T1",
        "completed": "T2",
        "result": "found",
        **more,
    }


def test_the_tools_that_models_were_offered_are_the_catalog():
    offered = {"name": "lookup", "description": "attachment://d", "parameters": {"type": "object", "properties": {}}}
    trace = read(
        sample(events=[model(tools=[offered]), model(tools=[offered, {"name": "other"}])], attachments={"d": "Looks."})
    )
    tools = jsontext.decode(bytes(trace.tools_json))
    assert [(one["name"], one.get("description")) for one in tools] == [("lookup", "Looks."), ("other", None)]


def test_no_tools_are_not_the_same_as_unknown_tools():
    assert bytes(read(sample(events=[model()])).tools_json) == b"[]"
    assert read(sample()).tools_json is UNSET


def test_a_catalog_that_cannot_be_read_is_noted():
    trace = read(sample(events=[model(tools=[{"name": ""}])]))
    assert (trace.tools_json, notes(trace)[0][0]) == (UNSET, "CONFIG_TOOL_INVALID")


def test_tool_events_give_times_and_results_that_no_message_has():
    trace = read(sample(assistant(call(), call(id_="c2")), tool(), events=[ran(), ran("c2", result="late")]))
    assert [(c.started_at, c.result.at, c.result.content) for c in trace.calls] == [
        ("T1", "T2", "found"),
        ("T1", "T2", "late"),
    ]


def test_a_tool_that_still_ran_gives_no_result():
    trace = read(sample(assistant(call()), events=[ran(pending=True, result="")]))
    assert trace.calls[0].result is None


def test_a_tool_event_of_another_tool_gives_nothing():
    assert read(sample(assistant(call()), events=[ran(name="other")])).calls[0].started_at is None


@pytest.mark.parametrize(
    "events",
    [
        [
            {"event": "span_begin", "id": "s", "type": "scorers"},
            {"event": "span_begin", "id": "i", "parent_id": "s", "type": "x"},
        ],
        [{"event": "step", "action": "begin", "type": "scorer"}],
    ],
)
def test_what_scorers_ask_is_no_part_of_the_run(events):
    judge = model(assistant(call("grade", "g")), "i", tools=[{"name": "grade"}])
    trace = read(sample(events=[*events, judge, ran("g", "grade")]))
    assert [c.tool for c in trace.calls] == ["lookup"]
    assert trace.tools_json is UNSET


def test_steps_end():
    steps = [
        {"event": "step", "action": "begin", "type": "scorer"},
        {"event": "step", "action": "end"},
        {"event": "step", "action": "end"},
    ]
    assert read(sample(events=[*steps, model()])).tools_json is not UNSET


def test_calls_of_a_sub_agent_are_read_from_the_events_once():  # T12
    begin = {"event": "span_begin", "id": "a", "type": "agent", "name": "helper"}
    inner = assistant(call("dig", "d1"), content="I dig.")
    trace = read(
        sample(
            events=[
                model(assistant(call())),
                begin,
                model(inner, "a"),
                ran("d1", "dig", result="gold"),
                model(inner, "a"),
            ]
        )
    )
    dug = [c for c in trace.calls if c.tool == "dig"]
    assert [(c.agent, c.result.content) for c in dug] == [("helper", "gold")]
    assert [c.tool for c in trace.calls] == ["lookup", "dig"]
    assert [code for code, _ in notes(trace)] == ["TRACE_INCOMPLETE"]


def test_calls_before_the_first_known_message_come_first():
    trace = read(sample(events=[model(assistant(call("early", "e"))), ran("e", "early"), model(assistant(call()))]))
    assert [c.tool for c in trace.calls] == ["early", "lookup"]


def test_outputs_that_were_thrown_away_are_noted():
    trace = read(sample(events=[model(assistant(call("never", "n")))]))
    assert [c.tool for c in trace.calls] == ["lookup"]
    assert notes(trace) == [("TRACE_INCOMPLETE", "$.samples[0].events[0].output.choices[0].message")]


@pytest.mark.parametrize("pool", [{"events_data": {"messages": None}}, {"message_pool": None}])
def test_a_sample_without_messages_is_read_from_the_last_question(pool):
    held = [{"role": "user", "content": "Find 4."}, assistant(call()), tool()]
    pool = {key: {"messages": held} if value else held for key, value in pool.items()}
    events = [
        model(assistant(call()), input_refs=[[0, 1]]),
        model(assistant(content="There."), input_refs=[[0, 2], [2, 3]]),
    ]
    trace = read({**sample(events=events, **pool), "messages": []})
    assert [c.result.content for c in trace.calls] == ["found"]
    assert trace.events[-1].text == "There."


def test_references_into_the_pool_cannot_multiply():
    events = [model(assistant(content="x"), input_refs=[[0, 2]] * 100_000 + [["a", -1], 7])]
    trace = read({**sample(events=events, message_pool=[{"role": "user", "content": "x"}] * 2), "messages": []})
    assert len(trace.events) < 10


# ---- what is no trace ----


@pytest.mark.parametrize("status", ["cancelled", "error", "started", "success"])
@pytest.mark.parametrize("samples", [None, []])
def test_a_log_without_samples_is_skipped_with_its_reason(status, samples):  # T15
    record = log(status=status, samples=samples, error={"message": "no key"})
    assert inspect_log.detect(record)
    skip = skip_of(record)
    assert (skip.code, skip.message) == ("TRACE_INCOMPLETE", f"the log holds no samples (status `{status}`: no key)")


def test_a_sample_without_messages_is_skipped_with_its_reason():
    skip = skip_of(log({**sample(error={"message": "boom"}), "messages": []}))
    assert (skip.code, skip.message) == ("TRACE_INCOMPLETE", "the sample recorded no messages: boom")
    assert skip.place.path == "$.samples[0]"


def test_results_without_a_single_call_are_skipped_and_not_taken_for_a_run_without_calls():
    skip = skip_of(log(sample(tool(error={"type": "timeout", "message": "x"}), tool(id_="c2"))))
    assert (skip.code, "timeout 1" in skip.message) == ("TRACE_ORPHAN_RESULT", True)


@pytest.mark.parametrize("record", [None, [], {}, log(samples=7), {"description": "x", "events": []}])
def test_what_is_no_log_is_skipped(record):
    assert skip_of(record).code == "TRACE_MALFORMED"
    assert skip_of(log(sample(7))).code == "TRACE_MALFORMED"


@pytest.mark.parametrize(
    "record", [None, [], {}, {"status": "success"}, log(eval={}), log(status="done"), log(status=[]), sample()]
)
def test_anything_else_is_not_recognised(record):
    assert not inspect_log.detect(record)


def test_no_other_dialect_takes_a_log():
    assert registry.detect(log(sample()), PLACE) is inspect_log.DIALECT


words = st.sampled_from(
    [
        "samples",
        "messages",
        "role",
        "content",
        "tool_calls",
        "function",
        "arguments",
        "id",
        "events",
        "event",
        "input_refs",
        "span_id",
        "output",
        "choices",
        "message",
        "scores",
    ]
)
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from(["tool", "assistant", "model", "attachment://a"])
    | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=6),
    max_leaves=25,
)
entries = st.builds(
    lambda message, events, **more: sample(*message, events=events, **more),
    st.lists(anything | st.builds(assistant, anything) | st.builds(tool, anything, anything), max_size=4),
    st.lists(anything | st.builds(model, anything) | st.builds(ran, anything), max_size=4) | anything,
    attachments=anything, error=anything, scores=anything, message_pool=anything,
)  # fmt: skip


@pytest.mark.slow
@given(anything | st.builds(log, entries))
def test_any_json_gives_traces_or_skips(value):
    assert isinstance(inspect_log.detect(value), bool)
    try:
        found = list(inspect_log.traces(value, PLACE))
    except TraceError:
        return
    for item in found:
        assert isinstance(item, (Trace, Skip))
        if isinstance(item, Trace):
            assert native.read_line(native.write_line(item).strip(), PLACE) == item


@pytest.mark.slow
def test_mutated_bytes_give_traces_or_typed_errors(tmp_path):
    data, chance = json.dumps(log(sample(events=[model(assistant(call())), ran()]))).encode(), random.Random(4)
    for number in range(300):
        broken = bytearray(data)
        for _ in range(chance.randrange(1, 4)):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        path = tmp_path / f"{number}.json"
        path.write_bytes(broken)
        with contextlib.suppress(TraceError):
            reading.load_traces(path, "inspect_log")


# ---- the real files ----

COUNTS = {
    "2024-08-29T15-11-17+00-00_popularity_5EAmX6wjMFqea6WY7XHzZp.json": (0, 1, 0),
    "2024-08-29T15-11-18+00-00_popularity_5EAmX6wjMFqea6WY7XHzZp.json": (0, 1, 0),
    "2024-11-05T13-31-45-05-00_input-task_8zXjbRzCWrL9GXiXo2vus9.json": (1, 0, 0),
    "2025-05-12T20-27-36-04-00_browser.json": (1, 0, 4),
    "2025-05-12T20-28-13-04-00_no-samples.json": (0, 1, 0),
    "2025-05-12T20-28-13-04-00_popularity.json": (3, 0, 0),
    "2025-05-12T20-28-26-04-00_security-guide.json": (3, 0, 0),
    "log_formats.json": (1, 0, 0),
    "log_images.json": (1, 0, 0),
    "log_images_tc.json": (1, 0, 0),
    "log_read_sample.json": (1, 0, 0),
    "log_tool_call_error.json": (0, 1, 0),
}
"""Traces, skips and calls of each log that is one JSON document."""


def test_the_real_logs_are_counted_right(shared_data):
    folder = shared_data / "data/inspect_ai"
    assert sorted(path.name for path in folder.glob("*.json")) == sorted(COUNTS)
    for name, wanted in COUNTS.items():
        opened, report = reading.open_traces(folder / name), ReadingReport()
        found = list(reading.read(opened, report))
        assert opened.dialect is inspect_log.DIALECT
        assert (report.read, report.skipped, report.calls.total()) == wanted, name
        assert report.calls.keys() <= {"ok"}
        assert (report.results, report.errors, report.parallel_turns) == (wanted[2], 0, 0)
        assert all(trace.completed for trace in found)


def test_the_real_states_of_logs_are_told(shared_data):
    folder, states = shared_data / "data/inspect_ai", []
    for name in COUNTS:
        record = json.loads((folder / name).read_text())
        states.append(record["status"])
        if not record.get("samples"):
            assert f"status `{record['status']}`" in skip_of(record).message
    assert (states.count("cancelled"), states.count("error")) == (2, 1)


def test_T10_every_kind_of_real_error_is_told_and_no_call_is_made_up(shared_data):  # noqa: N802
    record = json.loads((shared_data / "data/inspect_ai/log_tool_call_error.json").read_text())
    skip = skip_of(record)
    assert skip.code == "TRACE_ORPHAN_RESULT"
    assert skip.message.startswith("11 results and not one call")
    messages = record["samples"][0]["messages"]
    kinds = {message["error"]["type"] for message in messages}
    assert all(kind in skip.message for kind in kinds)
    calls = assistant(*[call("bash", message["tool_call_id"]) for message in messages])
    trace = read(sample(calls, *messages))
    assert [c.failed for c in trace.calls] == [True] * 11
    assert trace.findings == ()


def test_T12_the_real_calls_are_counted_once_with_their_times(shared_data):  # noqa: N802
    (trace,) = reading.load_traces(shared_data / "data/inspect_ai/2025-05-12T20-27-36-04-00_browser.json")
    assert [c.tool for c in trace.calls] == ["web_browser_go"] + ["web_browser_click"] * 3
    assert all(c.started_at and c.result.at and c.failed is False for c in trace.calls)
    tools = jsontext.decode(bytes(trace.tools_json))
    assert {c.tool for c in trace.calls} <= {tool["name"] for tool in tools}
    assert not any(str(tool["description"]).startswith("attachment:") for tool in tools)
    assert trace.labels[0].name == "includes"


def test_real_events_that_are_no_log_are_refused(shared_data):
    for path in sorted((shared_data / "data/inspect_ai/timeline_events").glob("*.json")):
        with pytest.raises(TraceError) as caught:
            reading.open_traces(path)
        assert caught.value.code == "TRACE_UNKNOWN_DIALECT"

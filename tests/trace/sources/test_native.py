"""rightcall's own format: exact both ways, unknown fields refused, no fault guessed away."""

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET, Raw

from rightcall.errors import Place, TraceError
from rightcall.trace.jsontext import encode
from rightcall.trace.model import Agent, Call, Message, Result, Trace, TraceFinding
from rightcall.trace.sources import native
from rightcall.trace.sources.native import read_line, write_line

PLACE = Place("t.jsonl", 5)
FULL = {
    "id": "t-17",
    "case_id": "lost-wallet",
    "trial": 1,
    "request": "I lost my wallet",
    "context": {"system": "s", "history": [], "state": {}},
    "agent": {"name": "card-support", "version": "v41", "model": "vendor/model"},
    "tools": [{"name": "freeze", "annotations": {"destructiveHint": False}}],
    "events": [
        {"type": "message", "role": "user", "text": "help", "at": "2026-11-29T10:00:00Z"},
        {
            "type": "call",
            "id": "c1",
            "turn": 1,
            "tool": "freeze",
            "arguments": {"card": 9007199254740993},
            "started_at": "2026-11-29T10:00:01Z",
            "result": {"content": {"status": "frozen"}, "is_error": False, "at": "2026-11-29T10:00:02Z"},
        },
        {"type": "message", "role": "assistant", "text": "Your card is frozen."},
    ],
    "completed": True,
    "metadata": {"any": {"thing": ["goes"]}},
}


def read(value):
    return read_line(value if isinstance(value, bytes) else json.dumps(value).encode(), PLACE)


def refusal(value):
    with pytest.raises(TraceError) as caught:
        read(value)
    return caught.value


def one_call(**fields):
    (call,) = read({"id": "t", "calls": [{"tool": "a", **fields}]}).calls
    return call


# ---- the full form ----


def test_the_full_form_is_read_field_by_field():
    trace = read(FULL)
    assert (trace.id, trace.case_id, trace.trial, trace.completed) == ("t-17", "lost-wallet", 1, True)
    assert trace.agent == Agent(name="card-support", version="v41", model="vendor/model")
    assert trace.context == FULL["context"]
    assert json.loads(bytes(trace.tools_json)) == FULL["tools"]
    assert [type(event) for event in trace.events] == [Message, Call, Message]
    (call,) = trace.calls
    assert (call.id, call.turn, call.tool, call.arguments) == ("c1", 1, "freeze", {"card": 9007199254740993})
    assert (call.result.content, call.result.is_error) == ({"status": "frozen"}, False)
    assert trace.metadata == FULL["metadata"]


def test_a_text_may_be_the_context():
    assert read({"id": "t", "context": "system", "calls": []}).context == "system"


def test_completed_and_is_error_are_unknown_where_they_are_not_written():
    event = {"type": "call", "tool": "a", "result": {"content": 1}}
    assert read({"id": "t", "events": [event]}).completed is None
    assert read({"id": "t", "events": [event]}).calls[0].result.is_error is None
    event["result"]["is_error"] = None
    assert read({"id": "t", "events": [event], "completed": None}).completed is None


# ---- the shorthand ----


def test_the_shorthand_says_whether_a_tool_worked():
    assert one_call(arguments={}, result={"ok": 1}).result == Result(content_json=Raw(b'{"ok": 1}'), is_error=False)
    assert one_call(arguments={}, error="no").result == Result(content_json=Raw(b'"no"'), is_error=True)
    assert one_call(arguments={}).result is None


def test_a_null_result_of_the_shorthand_is_a_result():
    assert one_call(arguments={}, result=None).result.is_captured


def test_the_shorthand_keeps_turn_id_and_by():
    call = one_call(arguments={}, turn=3, id="c", by="agent")
    assert (call.turn, call.id, call.by) == (3, "c", "agent")
    assert one_call(arguments={}).turn is None
    assert read({"id": "t", "calls": [{"tool": "a", "by": "provider"}]}).calls == ()


def test_the_shorthand_and_the_full_form_give_equal_traces():
    short = {"id": "t", "calls": [{"tool": "a", "arguments": {"x": 1}, "result": [], "turn": 1}]}
    event = {"type": "call", "tool": "a", "arguments": {"x": 1}, "turn": 1}
    full = {"id": "t", "events": [{**event, "result": {"content": [], "is_error": False}}]}
    assert read(short) == read(full)


@pytest.mark.parametrize(
    ("value", "text", "path"),
    [
        ({"id": "t"}, "needs `events` or `calls`", None),
        ({"id": "t", "events": [], "calls": []}, "either `events` or `calls`, not both", None),
        (
            {"id": "t", "calls": [{"tool": "a"}, {"tool": "a", "result": 1, "error": 2}]},
            "`result` or `error`",
            "$.calls[1]",
        ),
    ],
)
def test_either_or(value, text, path):
    error = refusal(value)
    assert text in error.message
    assert error.place == Place("t.jsonl", 5, None, path)


def test_an_empty_list_says_that_nothing_was_called():
    assert read({"id": "t", "calls": []}).events == read({"id": "t", "events": []}).events == ()


# ---- arguments ----


@pytest.mark.parametrize("form", ["calls", "events"])
@pytest.mark.parametrize(
    ("written", "status", "value", "raw"),
    [
        ({"arguments": {"a": 1}}, "ok", {"a": 1}, None),
        ({"arguments": {}}, "ok", {}, None),
        ({}, "missing", None, None),
        ({"arguments": None}, "missing", None, None),
        ({"arguments": [1]}, "not_object", None, "[1]"),
        ({"arguments": "x"}, "not_object", None, '"x"'),
        ({"arguments": 0}, "not_object", None, "0"),
        ({"arguments": False}, "not_object", None, "false"),
        ({"arguments_status": "malformed", "arguments_raw": '{"a":'}, "malformed", None, '{"a":'),
        ({"arguments_status": "not_object", "arguments_raw": "[1]"}, "not_object", None, "[1]"),
        ({"arguments_status": "missing"}, "missing", None, None),
        ({"arguments_status": "not_captured"}, "not_captured", None, None),
        ({"arguments_status": "malformed", "arguments": {"a": 1}}, "malformed", None, '{"a": 1}'),
    ],
)
def test_every_status_of_arguments_is_kept_apart_and_none_becomes_an_empty_object(form, written, status, value, raw):
    row = {"tool": "a", **({"type": "call"} if form == "events" else {}), **written}
    (call,) = read({"id": "t", form: [row]}).calls
    assert (call.arguments_status, call.arguments, call.arguments_raw) == (status, value, raw)
    assert (call.arguments_json is UNSET) == (status != "ok")


def test_null_empty_and_missing_give_different_traces():
    rows = [{"arguments": {}}, {"arguments": None}, {"arguments": []}, {"arguments_status": "not_captured"}]
    assert len({read({"id": "t", "calls": [{"tool": "a", **row}]}).digest for row in rows}) == 4


# ---- faults ----


@pytest.mark.parametrize(
    ("value", "path", "hint"),
    [
        ({"id": "t", "calls": [], "compelted": 1}, "$.compelted", "did you mean `completed`?"),
        ({"id": "t", "calls": [{"tol": "a"}]}, "$.calls[0].tol", "did you mean `tool`?"),
        (
            {"id": "t", "events": [{"type": "call", "tool": "a", "argumnets": {}}]},
            "$.events[0].argumnets",
            "`arguments`?",
        ),
        ({"id": "t", "calls": [], "agent": {"modle": "m"}}, "$.agent.modle", "did you mean `model`?"),
    ],
)
def test_an_unknown_field_is_an_error_with_line_path_and_nearest_name(value, path, hint):
    error = refusal(value)
    assert error.place == Place("t.jsonl", 5, None, path)
    assert hint in error.hint
    assert error.message.startswith("unknown field")


def test_all_faults_of_a_record_are_told_at_once():
    error = refusal({"calls": [{"tol": "a"}], "trial": "1"})
    assert "(and 3 more: " in error.message
    assert "\n" not in str(error)


def test_a_role_outside_the_three_is_refused():
    assert "user" in refusal({"id": "t", "events": [{"type": "message", "role": "tool", "text": ""}]}).message


@pytest.mark.parametrize(
    ("data", "text", "code"),
    [
        (b"not json", "not valid JSON", "TRACE_MALFORMED"),
        (b'{"id": "t", "calls": [NaN]}', "NaN is not a JSON value", "TRACE_MALFORMED"),
        (b'{"id": "t", "calls": [', "the text ends too early", "TRACE_MALFORMED"),
        (b'{"id": "t", "calls": []} {}', "not valid JSON", "TRACE_MALFORMED"),
        (
            b'{"id": "t", "calls": [{"tool": "a", "arguments": ' + b"[" * 3000 + b"]" * 3000 + b"}]}",
            "nested 3003 levels deep",
            "TRACE_TOO_DEEP",
        ),
        (b'{"id": "\xff", "calls": []}', "not valid JSON", "TRACE_MALFORMED"),
        (b'{"id": "t", "calls": [{"tool": "a", "arguments": "\xff"}]}', "not valid JSON", "TRACE_MALFORMED"),
        (b'{"id": "t", "calls": [{"tool": "a", "arguments": {"a": "\\ud800"}}]}', "not valid JSON", "TRACE_MALFORMED"),
        (b"[]", "an object is needed here, got []", "TRACE_MALFORMED"),
    ],
)
def test_a_line_that_cannot_be_read_is_one_clear_error(data, text, code):
    error = refusal(data)
    assert text in error.message
    assert error.code == code
    assert (error.place.file, error.place.line) == ("t.jsonl", 5)


def test_an_element_of_a_list_is_named_by_its_index():
    for value, path in [
        ({"id": "t", "calls": [], "x": 1}, "$[2].x"),
        ({"id": "t", "calls": [{"tool": "a", "result": 1, "error": 1}]}, "$[2].calls[0]"),
    ]:
        with pytest.raises(TraceError) as caught:
            list(native.traces(value, Place("t.json", None, None, "$[2]")))
        assert caught.value.place == Place("t.json", None, None, path)


# ---- there and back ----

TEXT = st.text(max_size=8)
MAYBE = st.none() | TEXT
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)
OBJECT = st.dictionaries(TEXT, JSON, max_size=3)


def raw(values):
    return values.map(lambda value: Raw(encode(value)))


RESULT = st.builds(
    Result,
    content_json=st.just(UNSET) | raw(JSON),
    is_error=st.none() | st.booleans(),
    at=MAYBE,
    inferred=st.booleans(),
)
COMMON = {
    "tool": TEXT,
    "id": MAYBE,
    "turn": st.none() | st.integers(0, 9),
    "by": st.sampled_from(["agent", "user", "provider"]),
    "result": st.none() | RESULT,
    "started_at": MAYBE,
}
CALL = st.builds(Call, arguments_json=raw(OBJECT), **COMMON) | st.builds(
    Call,
    arguments_status=st.sampled_from(["malformed", "not_object", "missing", "not_captured"]),
    arguments_raw=MAYBE,
    **COMMON,
)
MESSAGE = st.builds(Message, role=st.sampled_from(["system", "user", "assistant"]), text=MAYBE, at=MAYBE)
TRACE = st.builds(
    Trace,
    id=TEXT,
    case_id=MAYBE,
    trial=st.none() | st.integers(),
    request=MAYBE,
    context=MAYBE | OBJECT,
    agent=st.none() | st.builds(Agent, name=MAYBE, version=MAYBE, model=MAYBE),
    tools_json=st.just(UNSET) | raw(st.lists(OBJECT, max_size=2)),
    events=st.lists(CALL | MESSAGE, max_size=4).map(tuple),
    completed=st.none() | st.booleans(),
    findings=st.lists(st.builds(TraceFinding, code=TEXT, message=TEXT, path=MAYBE), max_size=1).map(tuple),
    metadata=OBJECT,
)


@given(TRACE)
@settings(deadline=None, max_examples=40)
def test_a_trace_written_and_read_again_is_identical(trace):
    line = write_line(trace)
    again = read_line(line, PLACE)
    assert again == trace
    assert again.digest == trace.digest
    assert write_line(again) == line
    assert line.count(b"\n") == 1


@given(st.lists(TRACE, max_size=3))
@settings(deadline=None, max_examples=10)
def test_reading_a_file_twice_gives_the_same_digests(tmp_path_factory, traces):
    path = tmp_path_factory.mktemp("native") / "t.jsonl"
    path.write_bytes(b"".join(map(write_line, traces)))
    first = [read_line(line, PLACE).digest for line in path.read_bytes().splitlines()]
    assert first == [trace.digest for trace in traces]


def test_a_line_that_was_read_is_written_as_it_stood():
    text = json.dumps(FULL, separators=(",", ":")).encode()
    assert msgspec.json.decode(write_line(read(text))) == FULL


# ---- recognising ----


@pytest.mark.parametrize(
    ("value", "is_native"),
    [
        (FULL, True),
        ({"id": "t", "calls": []}, True),
        ({"id": "t", "calls": [{"tool": "a"}]}, True),
        ({"id": "t"}, False),
        ({"id": 7, "calls": []}, False),
        ({"id": "t", "calls": [{"name": "a"}]}, False),
        ({"id": "t", "events": "no"}, False),
        ([], False),
        (None, False),
    ],
)
def test_a_native_record_is_recognised(value, is_native):
    assert native.detect(value) is is_native


def test_the_schema_lists_the_fields_of_a_line():
    assert {"id", "events", "calls", "metadata"} <= native.json_fields()["$defs"]["Line"]["properties"].keys()

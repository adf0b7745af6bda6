"""Traces are frozen data: unknown, empty and zero differ, arguments stay the bytes that were recorded."""

import msgspec
import pytest
from msgspec import UNSET, Raw

from rightcall.errors import TraceError
from rightcall.trace.model import Call, Message, Result, Tool, Trace, call, to_builtins


def test_the_types_are_frozen_and_refuse_unknown_fields():
    with pytest.raises(AttributeError):
        call("t").tool = "u"
    with pytest.raises(TypeError):
        Call(tool="t", argumnets=1)
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode('{"name": "t", "paramters": {}}', type=Tool)


def test_arguments_are_a_value_only_where_their_status_is_ok():
    assert call("t", {"a": 1}).arguments == {"a": 1}
    assert call("t", {}).arguments == {}
    assert call("t").arguments is None
    assert call("t").arguments_status == "missing"
    malformed = Call(tool="t", arguments_json=Raw(b"{}"), arguments_status="malformed")
    assert malformed.arguments is None
    assert Call(tool="t").arguments is None


def test_arguments_that_cannot_be_decoded_say_so_when_they_are_read():
    with pytest.raises(TraceError, match="a number is out of range"):
        _ = Call(tool="t", arguments_json=Raw(b'{"a": 1e999}')).arguments


def test_recorded_arguments_keep_their_bytes():
    recorded = Call(tool="t", arguments_json=Raw(b'{"b": 1.0,  "a": 9007199254740993}'))
    assert b'{"b": 1.0,  "a": 9007199254740993}' in msgspec.json.encode(recorded)


@pytest.mark.parametrize(
    ("made", "failed"),
    [
        (call("t", {}), None),
        (call("t", {}, result="x"), False),
        (call("t", {}, error="x"), True),
        (Call(tool="t", result=Result()), None),
    ],
)
def test_whether_a_call_failed_is_known_only_where_it_was_recorded(made, failed):
    assert made.failed is failed


def test_a_result_that_was_not_recorded_is_not_null():
    assert Result().content is None
    assert not Result().is_captured
    assert Result(content_json=Raw(b"null")).content is None
    assert Result(content_json=Raw(b"null")).is_captured
    assert call("t", {}, result=None).result.is_captured
    assert Result(content_json=Raw(b'{"a": []}')).content == {"a": []}


def test_only_the_agents_own_calls_are_graded_and_none_is_dropped():
    events = (
        Message(role="user", text="hi"),
        call("mine", {}),
        Call(tool="theirs", by="user"),
        Call(tool="server", by="provider"),
        call("mine_too", {}),
    )
    trace = Trace(id="t", events=events)
    assert [made.tool for made in trace.calls] == ["mine", "mine_too"]
    assert len(trace.events) == 5


def test_plain_values_leave_defaults_out():
    trace = Trace(id="t", events=(call("a", {"x": 1}, result=0, turn=2, id="c"),), completed=False)
    assert to_builtins(trace) == {
        "id": "t",
        "events": [
            {
                "type": "call",
                "tool": "a",
                "arguments": {"x": 1},
                "id": "c",
                "turn": 2,
                "result": {"content": 0, "is_error": False},
            }
        ],
        "completed": False,
    }


def test_the_digest_is_of_the_content_and_not_of_its_spelling():
    def trace(raw):
        return Trace(id="t", events=(Call(tool="a", arguments_json=Raw(raw)),))

    assert trace(b'{"a": 1, "b": 2}').digest == trace(b'{"b":2.0,"a":1}').digest
    assert trace(b'{"a":1}').digest != trace(b'{"a":"1"}').digest
    assert trace(b'{"a":9007199254740992}').digest != trace(b'{"a":9007199254740993}').digest


@pytest.mark.parametrize("field", ["completed", "request", "case_id", "trial"])
def test_unknown_differs_from_any_value(field):
    value = {"completed": False, "request": "", "case_id": "", "trial": 0}[field]
    known = Trace(id="t", **{field: value})
    assert known != Trace(id="t")
    assert known.digest != Trace(id="t").digest
    assert getattr(Trace(id="t"), field) is None


def test_an_empty_text_an_empty_list_and_an_empty_object_stay_apart():
    digests = {Trace(id="t", tools_json=Raw(raw)).digest for raw in (b"[]", b"{}", b'""', b"null")}
    assert len(digests | {Trace(id="t").digest}) == 5
    assert Trace(id="t").tools_json is UNSET

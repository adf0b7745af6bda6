"""BFCL results: every form of an answer, texts that are none, and the rows that are no results."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.errors import Place
from rightcall.trace.model import Message, Trace
from rightcall.trace.sources import bfcl, reading
from rightcall.trace.sources.dialect import ReadingReport, Skip

PLACE = Place("result.json", 1)


def read(result, **more):
    (trace,) = bfcl.traces({"id": "simple_0", "result": result, **more}, PLACE)
    assert isinstance(trace, Trace), trace
    return trace


def made(trace):
    return [(call.tool, call.arguments, call.turn) for call in trace.calls]


def test_a_function_calling_models_result():
    trace = read([{"area": '{"base": 10}'}, {"play.song": '{"n": 10000000000000000001}'}], latency=0.5)
    assert (trace.id, trace.case_id, trace.completed, trace.metadata) == (
        "simple_0",
        "simple_0",
        None,
        {"latency": 0.5},
    )
    assert made(trace) == [("area", {"base": 10}, 1), ("play.song", {"n": 10000000000000000001}, 1)]
    assert trace.findings == ()


@pytest.mark.parametrize(
    "text",
    [
        "[area(base=10, unit='m')]",
        "area(base=10, unit='m')",
        "```python\n[area(base=10, unit='m')]\n```",
        " [ area(base=10,\n unit='m') ] ",
    ],
)
def test_a_prompting_models_result(text):
    assert made(read(text)) == [("area", {"base": 10, "unit": "m"}, 1)]


def test_literals_are_json_values():
    (call,) = read("[f.g(a=-1.5, b=[1, (2,)], c={'k': None}, d=True)]").calls
    assert (call.tool, call.arguments) == ("f.g", {"a": -1.5, "b": [1, [2]], "c": {"k": None}, "d": True})


def test_calls_between_tags():
    text = 'Sure.\n<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call><tool_call>{"arguments": {\'a\': 1}, "name": "f"}</tool_call>'
    trace = read(text)
    assert made(trace) == [("f", {"a": 1}, 1), ("f", {"a": 1}, 1)]
    assert trace.events[0].text == "Sure."
    assert [finding.code for finding in trace.findings] == ["TRACE_MALFORMED"]
    assert read("<tool_call>go</tool_call>").events == (Message(role="assistant", text="go", turn=1),)


@pytest.mark.parametrize(
    "text", ["I cannot do that.", "", "None", "[]", "f(a=1) or so", "x = 1", "[1, 2]", "(" * 3000 + ")" * 3000]
)
def test_a_text_that_is_no_call_is_what_the_model_said(text):
    trace = read(text)
    assert (trace.calls, trace.findings) == ((), ())
    assert [event.text for event in trace.events] == [text]


def test_a_text_that_only_begins_like_calls_is_kept_and_noted():
    trace = read("[area(base=10, unit=]")
    assert (trace.calls, trace.events[0].text) == ((), "[area(base=10, unit=]")
    assert [finding.code for finding in trace.findings] == ["TRACE_MALFORMED"]


@pytest.mark.parametrize(
    "text", ["[f(1)]", "[f(a=b)]", "[f(a=g(1))]", "[f(**{'a': 1})]", "[f(a=b'x')]", "[f(a=__import__('os').getcwd())]"]
)
def test_arguments_that_are_no_named_literals_are_malformed(text):
    (call,) = read(text).calls
    assert (call.tool, call.arguments_status, call.arguments_raw) == ("f", "malformed", text[1:-1])


@pytest.mark.parametrize(
    ("result", "status"),
    [
        ([{"f": '{"a": 1 // one\n}'}], "malformed"),
        ([{"python": "import os\nprint(1)"}], "malformed"),
        ([{"f": "[1]"}], "not_object"),
        ([{"f": None}], "missing"),
        ([{"f": ""}], "ok"),
    ],
)
def test_T3_arguments_that_are_no_object_are_kept(result, status):  # noqa: N802
    trace = read(result)
    (call,) = trace.calls
    assert call.arguments_status == status
    assert len(trace.findings) == (status != "ok")


def test_turns_and_steps_are_turns():
    trace = read([[[{"f": "{}"}, {"g": "{}"}], "Done."], ["[h(a=1)]"]])
    assert made(trace) == [("f", {}, 1), ("g", {}, 1), ("h", {"a": 1}, 3)]
    assert [event.text for event in trace.events if isinstance(event, Message)] == ["Done."]


def test_a_failed_inference_is_not_complete():
    assert read("Error during inference: 500").completed is False


@pytest.mark.parametrize("result", [[7], [{}], [{"": "{}"}]])
def test_an_entry_that_is_no_call_is_a_finding(result):
    assert [finding.code for finding in read(result).findings] == ["TRACE_MALFORMED"]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"id": "simple_0", "question": [], "function": []}, "a question, not a run"),
        ({"id": "multi_turn_base_0", "question": [], "involved_classes": []}, "a question, not a run"),
        ({"id": "simple_0", "ground_truth": []}, "a possible answer, not a run"),
        ({"id": 7, "valid": False, "error_type": "x"}, "a row of scores"),
        ({"accuracy": 1, "correct_count": 1, "total_count": 1}, "the totals of a score file"),
    ],
)
def test_a_row_of_another_file_is_refused_by_name(row, said):
    assert bfcl.detect(row)
    (skip,) = bfcl.traces(row, PLACE)
    assert skip.code == "TRACE_INCOMPLETE"
    assert said in skip.message


@pytest.mark.parametrize(
    "value",
    [
        None,
        {},
        {"id": "x", "result": []},
        {"id": 1, "jsonrpc": "2.0", "result": {}},
        {"id": "t_1", "calls": []},
        {"id": "simple_0", "result": 7},
    ],
)
def test_what_is_no_row_is_not_claimed(value):
    assert not bfcl.detect(value)


def test_what_cannot_be_read_is_skipped():
    (skip,) = bfcl.traces({"id": "simple_0", "result": 7}, PLACE)
    assert skip.code == "TRACE_MALFORMED"


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
        max_leaves=12,
    )
)
def test_any_json_gives_traces_or_skips(value):
    for record in (value, {"id": "simple_0", "result": value}):
        assert all(isinstance(item, (Trace, Skip)) for item in bfcl.traces(record, PLACE))


@given(st.text(alphabet="[]()f=a1,'\"*{}.:` \n\\", max_size=40))
def test_any_text_gives_a_trace(text):
    assert isinstance(read("[f(" + text), Trace)
    assert isinstance(read(text), Trace)


def test_the_real_questions_and_answers_are_refused_row_by_row(shared_data):
    for folder in ("data", "possible_answer"):
        for path in sorted((shared_data / "data/bfcl" / folder).iterdir()):
            report = ReadingReport()
            opened = reading.open_traces(path)
            assert opened.dialect is bfcl.DIALECT, path.name
            assert list(reading.read(opened, report)) == []
            assert report.skipped == len(path.read_bytes().splitlines())

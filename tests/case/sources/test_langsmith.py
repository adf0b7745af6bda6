"""Cases from LangSmith's datasets: goldens where the outputs say which calls are right, and no guess elsewhere."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.case.case import Case
from rightcall.case.foreign import foreign_cases
from rightcall.case.golden import compile_case
from rightcall.case.sources import langsmith, registry
from rightcall.errors import Place
from rightcall.trace.sources import langchain
from rightcall.trace.sources import langsmith as runs
from rightcall.trace.sources.dialect import Skip

PLACE = Place("examples.jsonl", 4)
ASKED = {"messages": [{"role": "user", "content": "Is order 77 sent?"}]}
OPENAI_CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}


def example(outputs, inputs=None, **more):
    return {"id": "e-1", "inputs": ASKED if inputs is None else inputs, "outputs": outputs, **more}


def call(name="f", args=None, call_id="a"):
    return {"name": name, "args": {"x": 1} if args is None else args, "id": call_id}


def ai(*calls, text=""):
    return {"type": "ai", "content": text, "tool_calls": list(calls)}


def read(record):
    (case,) = langsmith.cases(record, PLACE)
    assert isinstance(case, Case), case
    assert compile_case(case)
    return case


def skip_of(record):
    (skip,) = langsmith.cases(record, PLACE)
    assert isinstance(skip, Skip), skip
    assert skip.code == "CASE_INVALID"
    return skip


@pytest.mark.parametrize(
    "outputs",
    [
        {"tool_calls": [call()]},
        {"expected_tool_calls": [{"name": "f", "arguments": {"x": 1}}], "answer": "Yes."},
        {"expected_tools": [OPENAI_CALL]},
        {"tool_calls": [call()], "messages": [ai(call())]},
        {
            "messages": [
                *ASKED["messages"],
                ai(call()),
                {"type": "tool", "content": "1", "tool_call_id": "a"},
                ai(text="Yes."),
            ]
        },
        {"message": {"role": "assistant", "content": None, "tool_calls": [OPENAI_CALL]}},
        {"generations": [[{"text": "", "message": ai(call())}]]},
        {"choices": [{"message": {"role": "assistant", "tool_calls": [OPENAI_CALL], "content": None}}]},
        ai(call()),
        {"output": ai(call())},
    ],
)
def test_the_expected_calls_are_read_from_every_shape(outputs):
    case = read(example(outputs))
    assert [(made.tool, made.arguments) for made in case.expect.calls] == [("f", {"x": 1})]
    assert (case.id, case.request) == ("e-1", "Is order 77 sent?")


def test_a_name_alone_allows_any_arguments():
    case = read(example({"expected_tools": ["f", "g"]}))
    assert [(made.tool, made.arguments) for made in case.expect.calls] == [("f", None), ("g", None)]
    assert case.expect.order == "listed"


def test_an_empty_list_expects_no_call_T15():  # noqa: N802
    assert read(example({"expected_tool_calls": [], "answer": "Hello!"})).expect.calls == ()


def test_calls_of_one_message_have_no_order_T11():  # noqa: N802
    assert read(example({"messages": [ai(call("f"), call("g", call_id="b"))]})).expect.order == "any"
    assert read(example({"messages": [ai(call("f")), ai(call("g"))]})).expect.order == "listed"
    case = read(example({"messages": [ai(call("f"), call("f", {"x": 2}, "b")), ai(call("g"))]}))
    assert case.expect.order == "partial"
    assert [(made.label, made.after) for made in case.expect.calls] == [
        ("1.1", ()),
        ("1.2", ()),
        ("2.1", ("1.1", "1.2")),
    ]


def test_calls_that_the_inputs_already_hold_do_not_count():
    asked = {
        "messages": [
            {"type": "human", "content": "x"},
            ai(call("old")),
            {"type": "tool", "content": "1", "tool_call_id": "a"},
        ]
    }
    case = read(example({"messages": [*asked["messages"], ai(call("new"))]}, asked))
    assert [made.tool for made in case.expect.calls] == ["new"]


@pytest.mark.parametrize(
    ("outputs", "reason"),
    [
        (None, "nothing in its outputs"),
        ({}, "nothing in its outputs"),
        ({"answer": "Hello!"}, "nothing in its outputs"),
        ({"trajectory": ["f"]}, "nothing in its outputs"),
        ({"messages": [ai(text="Hello!")]}, "nothing in its outputs"),
        (ai(text="Hello!"), "nothing in its outputs"),
        ({"message": {"role": "assistant", "content": "Hello!"}}, "nothing in its outputs"),
        ({"tool_calls": [call("f")], "messages": [ai(call("g"))]}, "twice, and differently"),
        ({"tool_calls": [], "expected_tools": ["f"]}, "twice, and differently"),
        ({"tool_calls": [{"name": "f", "args": "{"}]}, "arguments of the expected call of `f` are malformed"),
        ({"tool_calls": [{"name": "f"}]}, "arguments of the expected call of `f` are missing"),
        ({"tool_calls": [{"name": "f", "args": [1]}]}, "are not object"),
        ({"tool_calls": [{"args": {}}]}, "names no tool"),
        ({"tool_calls": [""]}, "names no tool"),
    ],
)
def test_nothing_is_guessed(outputs, reason):
    assert reason in skip_of(example(outputs)).message


def test_inputs_tools_and_splits():
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
    case = read(
        example(
            {"tool_calls": []}, {"question": "x"}, metadata={"dataset_split": ["test", 3]}, dataset_id="d-1", name="n"
        )
    )
    assert (case.request, case.tags, case.metadata) == ("x", ("test",), {"dataset_id": "d-1", "name": "n"})
    case = read(example({"tool_calls": []}, {**ASKED, "tools": tools}, split="train"))
    assert (json.loads(bytes(case.tools_json))[0]["name"], case.tags) == ("f", ("train",))
    assert read(example({"tool_calls": []}, {"a": 1, "b": "x"})).request is None
    assert read({"inputs": {}, "outputs": {"tool_calls": []}}).id == "examples:4"


def test_recorded_arguments_that_look_like_a_matcher_are_taken_literally():
    case = read(example({"tool_calls": [call("f", {"filter": {"any_of": [1]}})]}))
    assert case.expect.calls[0].arguments == {"filter": {"equals": {"any_of": [1]}}}


def test_a_list_of_examples_and_a_file(tmp_path):
    rows = [example({"tool_calls": [call()]}), {**example({}), "id": "e-2"}, 5]
    found = list(langsmith.cases(rows, PLACE))
    assert [type(item) for item in found] == [Case, Skip, Skip]
    assert found[1].place.path == "$[1]"
    data = "".join(json.dumps(row) + "\n" for row in rows[:2]).encode()
    assert [type(item) for item, _ in foreign_cases(data, "examples.jsonl")] == [Case, Skip]


@pytest.mark.parametrize(
    "record",
    [
        [],
        {"inputs": {}},
        {"inputs": "x", "outputs": {}},
        {"inputs": {}, "outputs": "x"},
        {"id": "r", "name": "n", "run_type": "llm", "trace_id": "t", "inputs": {}, "outputs": {}},
        {"inputs": {}, "outputs": {}, "expect": {}},
    ],
)
def test_nothing_else_is_taken_for_an_example(record):
    assert not langsmith.detect(record)


def test_an_example_is_no_trace():
    row = example({"messages": [ai(call())]})
    assert langsmith.detect(row)
    assert not langchain.detect(row)
    assert not runs.detect(row)
    assert registry.SOURCES["langsmith"].detect([row])


words = st.sampled_from(
    [
        "id",
        "inputs",
        "outputs",
        "messages",
        "tool_calls",
        "name",
        "args",
        "type",
        "content",
        "message",
        "expected_tools",
        "metadata",
    ]
)
values = st.sampled_from(["ai", "human", "f", "{", '{"x": 1}'])
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | values,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=6),
    max_leaves=20,
)


@pytest.mark.slow
@given(anything | st.builds(example, anything | st.dictionaries(words, anything), st.dictionaries(words, anything)))
def test_any_json_gives_cases_or_skips_and_every_case_compiles(value):
    assert isinstance(langsmith.detect(value), bool)
    for item in langsmith.cases(value, PLACE):
        assert isinstance(item, (Case, Skip))
        if isinstance(item, Case):
            assert compile_case(item)

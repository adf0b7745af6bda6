"""LangSmith runs: trees and flat rows, where calls and results come from, what every shape of an LLM run gives."""

import contextlib
import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from rightcall.errors import Place, RightcallError
from rightcall.trace.model import Call, Label, Message, Trace
from rightcall.trace.sources import langchain, langsmith, native, openai_chat, reading, registry
from rightcall.trace.sources.dialect import ReadingReport, Skip

PLACE = Place("runs.jsonl", 1)
_HIDDEN = {"inputs": {}, "outputs": {}}


def run(run_id, kind="chain", parent="root", **more):
    """A flat row of the trace `root`, ordered by the number at the end of its id."""
    row = {
        "id": run_id, "name": more.pop("name", kind), "run_type": kind, "trace_id": "root", "events": [],
        "parent_run_id": None if run_id == "root" else parent, "start_time": f"start {run_id}",
        "end_time": f"end {run_id}", "dotted_order": f"0root.{run_id}" if run_id != "root" else "0root",
    }  # fmt: skip
    return {**row, **more}


def root(**more):
    return run(
        "root",
        name="clerk",
        **{"inputs": {"messages": [{"role": "user", "content": "Is order 77 sent?"}]}, "outputs": {}, **more},
    )


def human(text):
    return {"type": "human", "content": text}


def ai(text="", *calls, **more):
    return {"type": "ai", "content": text, "tool_calls": list(calls), **more}


def call(name, args=None, call_id=None):
    return {"name": name, "args": args or {}, "id": call_id, "type": "tool_call"}


def tool_message(content, call_id=None, **more):
    return {"type": "tool", "content": content, "tool_call_id": call_id, "name": "f", **more}


def llm(run_id, messages, reply, **more):
    outputs = {"generations": [[{"text": "", "message": reply}]]} if reply is not None else {}
    return run(run_id, "llm", **{"inputs": {"messages": [messages]}, "outputs": outputs, **more})


def tool(run_id, name, inputs, output=UNSET, **more):
    outputs = {} if output is UNSET else {"outputs": {"output": output}}
    return run(run_id, "tool", name=name, inputs=inputs, **{**outputs, **more})


def read_all(*rows):
    return [
        item
        for item, _ in langsmith.grouped([(row, Place("runs.jsonl", number)) for number, row in enumerate(rows, 1)])
    ]


def read(*rows):
    (trace,) = read_all(*rows)
    assert isinstance(trace, Trace), trace
    return trace


def codes(trace):
    return [finding.code for finding in trace.findings]


def said(trace):
    return [(event.role, event.text) if isinstance(event, Message) else event.tool for event in trace.events]


def conversation():
    first = [{"type": "system", "content": "Be brief."}, human("Is order 77 sent?")]
    asked = ai("", call("get_order", {"id": 77}, "c1"))
    result = tool_message("sent", "c1", status="success")
    return [
        root(),
        llm("1", first, asked),
        tool("2", "get_order", {"id": 77}, result, extra={"tool_call_id": "c1"}),
        llm("3", [*first, asked, result], ai("Yes.")),
        llm("4", [*first, asked, result, ai("Yes."), human("Thanks.")], ai("Bye.")),
    ]


EXPECTED = [
    ("system", "Be brief."),
    ("user", "Is order 77 sent?"),
    ("assistant", ""),
    "get_order",
    ("assistant", "Yes."),
    ("user", "Thanks."),
    ("assistant", "Bye."),
]


def test_a_call_is_counted_once_though_every_later_request_repeats_it_T12():  # noqa: N802
    trace = read(*conversation())
    assert said(trace) == EXPECTED
    (made,) = trace.calls
    assert (made.arguments, made.id, made.turn, made.started_at) == ({"id": 77}, "c1", 1, "start 2")
    assert (made.result.content, made.result.is_error, made.result.at) == ("sent", False, "end 2")
    assert (trace.id, trace.request, trace.completed, trace.findings) == ("root", "Is order 77 sent?", True, ())
    assert trace.agent.name == "clerk"


def test_order_is_that_of_dotted_order_and_not_of_the_rows():
    assert read(*reversed(conversation())).digest == read(*conversation()).digest


def test_a_tree_is_the_same_trace_as_its_rows():
    first, *rest = conversation()
    nested = [{key: value for key, value in row.items() if key not in ("trace_id", "parent_run_id")} for row in rest]
    inner = {**run("9", name="agent"), "child_runs": nested}
    tree = {**first, "child_runs": [inner]}
    assert langsmith.detect(tree)
    (trace,) = langsmith.traces(tree, PLACE)
    assert said(trace) == EXPECTED
    del tree["dotted_order"]
    assert said(next(langsmith.traces(tree, PLACE))) == EXPECTED
    assert said(next(langsmith.traces({**tree, "child_runs": json.dumps([inner])}, PLACE))) == EXPECTED


def test_rows_without_order_and_trace_are_put_in_order_by_tree_and_time():
    rows = [
        {key: value for key, value in row.items() if key not in ("trace_id", "dotted_order")} for row in conversation()
    ]
    assert said(read(*reversed(rows))) == EXPECTED
    circle = [{**rows[1], "id": "a", "parent_run_id": "b"}, {**rows[2], "id": "b", "parent_run_id": "a"}]
    assert said(read(*circle)) == EXPECTED[:4]


def test_inputs_and_outputs_may_be_json_in_a_string():
    rows = [
        {**row, "inputs": json.dumps(row["inputs"]), "outputs": json.dumps(row["outputs"])} for row in conversation()
    ]
    assert said(read(*rows)) == EXPECTED
    (made,) = read(root(), tool("1", "f", '{"a": ', "x")).calls
    assert (made.arguments_status, made.arguments_raw) == ("malformed", '{"a": ')


def test_an_answer_of_the_api_holds_many_runs():
    record = {"runs": conversation()}
    assert langsmith.detect(record)
    (trace,) = langsmith.traces(record, PLACE)
    assert said(trace) == EXPECTED
    assert not langsmith.detect({"runs": []})


def test_several_files_are_read_together(tmp_path):
    rows = conversation()
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for path, part in zip(paths, (rows[3:], rows[:3]), strict=True):
        path.write_text("".join(json.dumps(row) + "\n" for row in part))
    opened = [reading.open_traces(path) for path in paths]
    assert [one.dialect for one in opened] == [langsmith.DIALECT] * 2
    ((trace, place),) = reading.items_of(opened)
    assert said(trace) == EXPECTED
    assert place == Place(str(paths[1]), 1)


def test_a_run_that_is_there_twice_counts_once():
    rows = conversation()
    begun = {**rows[1], "outputs": None, "end_time": None}
    trace = read(begun, *rows, rows[2])
    assert said(trace) == EXPECTED
    assert codes(trace) == ["TRACE_DUPLICATE_ID"]


# ---- results -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "content"),
    [
        ("ToolException('no \"seats\"')Traceback (most recent call last):\n  File …", 'no "seats"'),
        ("ToolException('no seats')", "no seats"),
        ("KeyError(3)", "KeyError(3)"),
        ("KeyError(", "KeyError("),
        ("TimeoutError()Traceback (most recent call last):\n", "TimeoutError()"),
        ("it broke", "it broke"),
        ("Traceback (most recent call last):\n x", "Traceback (most recent call last):\n x"),
        ({"code": 1}, '{"code":1}'),
    ],
)
def test_an_error_is_told_without_its_traceback_T10(error, content):  # noqa: N802
    trace = read(
        root(),
        llm("1", [human("x")], ai("", call("f", {}, "a"))),
        tool("2", "f", {}, error=error, extra={"tool_call_id": "a"}),
    )
    assert (trace.calls[0].result.is_error, trace.calls[0].result.content) == (True, content)


def test_of_a_failed_tool_run_the_content_is_what_the_model_was_told():
    asked, told = ai("", call("f", {}, "a")), tool_message("Error: no seats. Try again.", "a", status="error")
    rows = [
        root(),
        llm("1", [human("x")], asked),
        tool("2", "f", {}, error="E('no seats')", extra={"tool_call_id": "a"}),
    ]
    trace = read(*rows, llm("3", [human("x"), asked, told], ai("Sorry.")))
    assert (trace.calls[0].result.content, trace.calls[0].result.is_error) == ("Error: no seats. Try again.", True)
    silent = read(*rows, llm("3", [human("x"), asked, {"role": "tool", "tool_call_id": "a"}], ai("Sorry.")))
    assert silent.calls[0].result.content == "no seats"
    nameless = read(*rows, llm("3", [human("x"), asked, {"role": "tool", "content": "?"}], ai("Sorry.")))
    assert nameless.calls[0].result.content == "no seats"


@pytest.mark.parametrize(
    ("output", "more", "content", "failed"),
    [
        ("Error: said in text", {}, "Error: said in text", False),
        ({"error": None}, {}, {"error": None}, False),
        (tool_message("no", "a", status="error"), {}, "no", True),
        (tool_message("yes", "a"), {}, "yes", False),
        (
            {
                "lc": 1,
                "type": "constructor",
                "id": ["x", "ToolMessage"],
                "kwargs": tool_message("no", "a", status="error"),
            },
            {},
            "no",
            True,
        ),
        ("x", {"end_time": None, "status": "success", "error": ""}, "x", False),
    ],
)
def test_a_result_is_what_the_tool_run_gave_back(output, more, content, failed):
    trace = read(
        root(),
        llm("1", [human("x")], ai("", call("f", {}, "a"))),
        tool("2", "f", {}, output, extra={"tool_call_id": "a"}, **more),
    )
    assert (trace.calls[0].result.content, trace.calls[0].result.is_error) == (content, failed)


def test_outputs_that_are_not_under_output_are_the_result():
    rows = root(), llm("1", [human("x")], ai("", call("f", {}, "a")))
    assert read(*rows, tool("2", "f", {}, outputs={"rows": 1}, extra={"tool_call_id": "a"})).calls[
        0
    ].result.content == {"rows": 1}
    hidden = read(*rows, tool("2", "f", {}, outputs={}, extra={"tool_call_id": "a"})).calls[0].result
    assert (hidden.is_captured, hidden.is_error) == (False, False)


def test_a_tool_run_that_did_not_end_leaves_its_call_unanswered():
    trace = read(
        root(),
        llm("1", [human("x")], ai("", call("f", {}, "a"))),
        tool("2", "f", {}, end_time=None, extra={"tool_call_id": "a"}),
    )
    assert (trace.calls[0].result, codes(trace)) == (None, ["TRACE_INCOMPLETE"])
    trace = read(
        root(),
        llm("1", [human("x")], ai("", call("f", {}, "a"))),
        tool("2", "g", {}, end_time=None, extra={"tool_call_id": "z"}),
    )
    assert [made.tool for made in trace.calls] == ["f", "g"]


def test_tool_runs_without_ids_go_by_arguments_and_name_T2():  # noqa: N802
    asked = ai("", call("f", {"n": 1}), call("f", {"n": 2}), call("f", {"n": 3}), call("g", {}))
    rows = [
        tool("2", "f", {"n": 2.0}, "two"),
        tool("3", "f", {"n": 1}, "one"),
        tool("4", "f", {"n": 4}, "other"),
        tool("5", "g", {"input": "x"}, "g"),
    ]
    trace = read(root(), llm("1", [human("x")], asked), *rows)
    assert [made.result.content for made in trace.calls] == ["one", "two", "other", "g"]
    assert {made.turn for made in trace.calls} == {1}  # T11


def test_an_answered_call_is_not_answered_again_by_its_arguments():
    asked = ai("", call("f", {"n": 1}, "a"), call("f", {"n": 1}, "b"))
    trace = read(
        root(),
        llm("1", [human("x")], asked),
        tool("2", "f", {"n": 1}, "one", extra={"tool_call_id": "a"}),
        tool("3", "f", {"n": 1}, "two"),
    )
    assert [made.result.content for made in trace.calls] == ["one", "two"]


def test_an_id_that_is_used_again_goes_with_the_nearest_call_T1():  # noqa: N802
    rows = [root()]
    for number in ("1", "3"):
        rows += [
            llm(number, [human("x")], ai("", call("f", {"n": number}, "a"))),
            tool(str(int(number) + 1), "f", {}, number, extra={"tool_call_id": "a"}),
        ]
    trace = read(*rows)
    assert [made.result.content for made in trace.calls] == ["1", "3"]
    assert codes(trace) == ["TRACE_DUPLICATE_ID"]


def test_without_tool_runs_results_come_from_the_next_request():
    first, result = ai("", call("f", {}, "a")), tool_message("1", "a", status="error")
    again, other = ai("", call("f", {}, "a")), tool_message("2", "a")
    rows = [
        llm("1", [human("x")], first),
        llm("2", [human("x"), first, result], again),
        llm("3", [human("x"), first, result, again, other], ai("Done.")),
    ]
    trace = read(root(), *rows)
    assert [(made.result.content, made.result.is_error) for made in trace.calls] == [("1", True), ("2", None)]
    last = read(root(outputs={"messages": [human("x"), first, result, human("Thanks.")]}), rows[0])
    assert (last.calls[0].result.content, said(last)[-1]) == ("1", ("user", "Thanks."))


def test_a_tool_run_that_answers_no_call_is_told():
    rows = [root(), llm("1", [human("x")], ai("", call("f", {}, "a")))]
    extra = {"tool_call_id": "a"}
    assert codes(read(*rows, tool("2", "f", {}, 1, extra=extra), tool("3", "f", {}, 2, extra=extra))) == [
        "TRACE_DUPLICATE_ID"
    ]
    assert codes(read(*rows, tool("2", "own_step", {}, 1))) == ["TRACE_ORPHAN_RESULT"]
    unseen = read(*rows, tool("2", "g", {"x": 1}, 1, extra={"tool_call_id": "z"}))
    assert [(made.tool, made.arguments) for made in unseen.calls] == [("f", {}), ("g", {"x": 1})]
    assert codes(unseen) == ["TRACE_INCOMPLETE"]


# ---- calls from tool runs ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inputs", "status", "arguments"),
    [
        ({"a": 1}, "ok", {"a": 1}),
        ({}, "ok", {}),
        ({"input": '{"a": 12345678901234567890}'}, "ok", {"a": 12345678901234567890}),
        ({"input": "{'a': True, 'b': [None, 1.5, 'x']}"}, "ok", {"a": True, "b": [None, 1.5, "x"]}),
        ({"input": "{'a': {1, 2}}"}, "not_object", None),
        ({"input": "{'a': 1e999}"}, "not_object", None),
        ({"input": "{'a': '\\d'}"}, "ok", {"a": "\\d"}),
        ({"input": "{" * 500}, "not_object", None),
        ({"input": "{'a': '" + "x" * 20_000 + "'}"}, "not_object", None),
        ({"input": "Oslo"}, "not_object", None),
        ({"input": ""}, "not_object", None),
        ({"input": "[1]"}, "not_object", None),
        ({"input": {"a": 1}}, "ok", {"input": {"a": 1}}),
        ({"name": "f", "args": {"a": 1}, "id": "c", "type": "tool_call"}, "ok", {"a": 1}),
        (None, "missing", None),
        ("{}", "ok", {}),
        ([1], "not_object", None),
    ],
)
def test_arguments_of_a_tool_run_T8_T9(inputs, status, arguments):  # noqa: N802
    trace = read(root(), tool("1", "f", inputs, "x"))
    (made,) = trace.calls
    assert (made.arguments_status, made.arguments) == (status, arguments)
    assert made.result.content == "x"
    assert said(trace)[0] == ("user", "Is order 77 sent?")


def test_a_parameter_that_is_called_input_is_one():
    offered = {
        "invocation_params": {
            "tools": [{"name": "f", "input_schema": {"type": "object", "properties": {"input": {"type": "string"}}}}]
        }
    }
    trace = read(root(), llm("1", [human("x")], ai("Action: f"), extra=offered), tool("2", "f", {"input": "Oslo"}, "x"))
    assert trace.calls[0].arguments == {"input": "Oslo"}


def test_hidden_inputs_are_not_captured_T5():  # noqa: N802
    trace = read(root(inputs={}), run("1", "llm", **_HIDDEN), tool("2", "f", {}, "x"))
    assert trace.calls[0].arguments_status == "not_captured"
    assert codes(trace) == ["TRACE_NOT_CAPTURED", "TRACE_NOT_CAPTURED"]


def test_a_tool_run_without_a_name_and_a_lone_tool_run():
    trace = read(tool("root", "f", {"a": 1}, "x"), run("2", "tool", name=""))
    assert (said(trace), codes(trace)) == (["f"], ["TRACE_MALFORMED"])


# ---- LLM runs ------------------------------------------------------------------------------------------------------

OPENAI_CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}


@pytest.mark.parametrize(
    "outputs",
    [
        {
            "generations": [
                [
                    {
                        "text": "",
                        "message": {
                            "lc": 1,
                            "type": "constructor",
                            "id": ["x", "AIMessageChunk"],
                            "kwargs": ai("Hm.", call("f", {"x": 1}, "a")),
                        },
                    }
                ]
            ]
        },
        {"generations": [{"text": "", "message": ai("Hm.", call("f", {"x": 1}, "a"))}]},
        {
            "choices": [
                {
                    "message": {"role": "assistant", "content": "Hm.", "tool_calls": [OPENAI_CALL]},
                    "finish_reason": "tool_calls",
                }
            ]
        },
        {
            "message": {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "Hm."},
                    {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}},
                ],
            }
        },
        {"role": "assistant", "content": "Hm.", "tool_calls": [OPENAI_CALL]},
        {
            "content": "Hm.",
            "tool_calls": [OPENAI_CALL],
            "message": None,
            "output": {"content": "Hm.", "tool_calls": [OPENAI_CALL]},
        },
        {"messages": [human("x"), ai("Hm.", call("f", {"x": 1}, "a"))]},
        {"output": ai("Hm.", call("f", {"x": 1}, "a"))},
        {
            "output": [
                {"type": "message", "content": [{"type": "output_text", "text": "Hm."}]},
                {"type": "function_call", "id": "fc", "call_id": "a", "name": "f", "arguments": '{"x": 1}'},
            ]
        },
        {
            "output": [
                {"type": "message", "content": "Hm."},
                {"type": "function_call", "call_id": "a", "name": "f", "arguments": '{"x": 1}'},
            ]
        },
    ],
)
def test_replies_of_every_shape(outputs):
    trace = read(root(), run("1", "llm", inputs={"messages": [[human("x")]]}, outputs=outputs))
    assert said(trace) == [("user", "x"), ("assistant", "Hm."), "f"]
    assert [(made.id, made.arguments) for made in trace.calls] == [("a", {"x": 1})]
    assert trace.findings == ()


@pytest.mark.parametrize(
    "outputs", [{"output": "Hm."}, {"content": "Hm."}, {"generations": [[{"text": "Hm."}]]}, {"text": "Hm."}]
)
def test_replies_of_text(outputs):
    assert said(read(root(), run("1", "llm", inputs={"messages": [human("x")]}, outputs=outputs)))[-1] == (
        "assistant",
        "Hm.",
    )


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ({"outputs": {"odd": 1}}, "TRACE_INCOMPLETE"),
        ({"outputs": {"generations": []}}, "TRACE_INCOMPLETE"),
        ({"outputs": {"choices": []}}, "TRACE_INCOMPLETE"),
        ({"outputs": {"message": human("x")}}, "TRACE_INCOMPLETE"),
        ({"outputs": {"messages": [3]}}, "TRACE_INCOMPLETE"),
        ({"outputs": None}, "TRACE_NOT_CAPTURED"),
        ({"outputs": None, "error": "RateLimitError('slow down')"}, "TRACE_INCOMPLETE"),
        ({"outputs": {"choices": [{"message": ai("a")}, {"message": ai("b")}]}}, "TRACE_INCOMPLETE"),
        ({"outputs": {"choices": [{"message": ai("a"), "finish_reason": "length"}]}}, "TRACE_TRUNCATED"),
        ({"outputs": {"output": [{"type": "message", "content": "a"}], "status": "incomplete"}}, "TRACE_TRUNCATED"),
        ({"outputs": {"output": "a"}, "inputs": {"odd": 1}}, "TRACE_INCOMPLETE"),
        ({"outputs": {"output": "a"}, "inputs": {"messages": [[human("x")], [human("y")]]}}, "TRACE_INCOMPLETE"),
        ({"outputs": {"output": "a"}, "inputs": {"messages": [human("x"), {"type": "odd"}]}}, "TRACE_INCOMPLETE"),
        ({"outputs": {"output": "a"}, "inputs": {"prompts": ["System: …"]}}, "TRACE_INCOMPLETE"),
    ],
)
def test_what_an_llm_run_does_not_say_is_told(more, code):
    trace = read(root(), run("1", "llm", **{"inputs": {"messages": [human("x")]}, **more}))
    assert codes(trace) == [code]
    assert trace.completed is (code != "TRACE_TRUNCATED")


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ({"messages": [["human", "x"], "y"]}, [("user", "x"), ("user", "y")]),
        ({"messages": [human("x")], "system": "Be brief."}, [("system", "Be brief."), ("user", "x")]),
        ({"input": "x", "instructions": "Be brief."}, [("system", "Be brief."), ("user", "x")]),
        ({"input": [{"role": "user", "content": "x"}, {"type": "reasoning"}]}, [("user", "x")]),
        ({"system": "Be brief."}, [("system", "Be brief.")]),
    ],
)
def test_requests_of_every_shape(inputs, expected):
    trace = read(run("root", "llm", inputs=inputs, outputs={"output": "a"}))
    assert said(trace) == [*expected, ("assistant", "a")]
    assert trace.findings == ()


def test_what_was_said_in_an_earlier_trace_of_the_thread_is_history_T13():  # noqa: N802
    before = [human("x"), ai("", call("f", {}, "a")), tool_message("1", "a"), ai("Done.")]
    trace = read(
        root(extra={"metadata": {"thread_id": "t-9"}}), llm("1", [*before, human("And?")], ai("", call("f", {}, "b")))
    )
    assert said(trace) == [("user", "And?"), ("assistant", ""), "f"]
    assert [event["type"] for event in trace.context["history"]] == ["message", "message", "call", "message"]
    assert (trace.request, trace.metadata["session"]) == ("And?", "t-9")


def test_a_lone_exchange_of_anthropic_or_responses_is_one_step():
    blocks = [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]
    result = [
        {"type": "tool_result", "tool_use_id": "a", "content": "no", "is_error": True},
        {"type": "text", "text": "Go on."},
    ]
    inputs = {
        "messages": [
            {"role": "user", "content": "x"},
            {"role": "assistant", "content": blocks},
            {"role": "user", "content": result},
        ]
    }
    trace = read(run("root", "llm", inputs=inputs, outputs={"role": "assistant", "content": "Sorry."}))
    assert said(trace) == [("user", "Go on."), ("assistant", "Sorry.")]
    assert trace.context["history"][-1]["result"] == {"content": "no", "is_error": True}
    items = [
        {"role": "user", "content": "x"},
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "1"},
    ]
    trace = read(
        run("root", "llm", inputs={"input": items}, outputs={"output": [{"type": "message", "content": "Done."}]})
    )
    assert said(trace) == [("assistant", "Done.")]
    assert trace.context["history"][-1]["result"]["content"] == "1"


def test_a_later_request_with_a_call_that_no_run_made_is_told():
    rows = [llm("1", [human("x")], ai("a")), llm("2", [human("x"), ai("a"), ai("", call("f", {}, "z"))], ai("b"))]
    assert codes(read(root(), *rows)) == ["TRACE_INCOMPLETE"]


def test_the_same_words_said_twice_are_two_messages():
    rows = [llm("1", [human("yes")], ai("a")), llm("2", [human("yes"), ai("a"), human("yes")], ai("b"))]
    assert said(read(root(), *rows)) == [("user", "yes"), ("assistant", "a"), ("user", "yes"), ("assistant", "b")]


def test_malformed_arguments_are_read_from_the_invalid_calls_T3():  # noqa: N802
    reply = ai("", invalid_tool_calls=[{"name": "python", "args": "print(1)", "id": "a", "error": "…"}])
    trace = read(
        root(),
        llm("1", [human("x")], reply),
        tool("2", "python", {}, error="NameError('x')", extra={"tool_call_id": "a"}),
    )
    assert [(made.arguments_status, made.arguments_raw, made.failed) for made in trace.calls] == [
        ("malformed", "print(1)", True)
    ]


def test_an_llm_run_inside_another_is_the_same_reply():
    inner = llm("2", [human("x")], ai("", call("f", {}, "a")), parent="1")
    assert len(read(root(), llm("1", [human("x")], ai("", call("f", {}, "a"))), inner).calls) == 1


def test_agents_are_told_apart():
    reply = ai("", call("g", {}, "b"))
    rows = [
        llm(
            "1",
            [human("x")],
            ai("", call("ask_clerk", {}, "a")),
            extra={"metadata": {"lc_agent_name": "chief", "ls_model_name": "m-1"}},
        ),
        tool("2", "ask_clerk", {}, "ok", extra={"tool_call_id": "a"}),
        {**llm("3", [human("y")], reply), "parent_run_id": "2"},
        {**llm("4", [human("z")], {**reply, "name": "named"}), "parent_run_id": "2"},
    ]
    trace = read(root(extra={"metadata": {"revision_id": "v7"}}), *rows)
    assert [made.agent for made in trace.calls] == ["chief", "ask_clerk", "named"]
    assert (trace.agent.model, trace.agent.version) == ("m-1", "v7")


def test_the_catalog_is_that_of_all_llm_runs():
    one, two = {"name": "f", "input_schema": {"type": "object"}}, {"type": "function", "function": {"name": "g"}}
    rows = [
        llm("1", [human("x")], ai("a"), extra={"invocation_params": {"tools": [one]}}),
        llm("2", [human("x")], ai("b"), extra={"invocation_params": {"tools": [one]}}),
        run("3", "llm", inputs={"messages": [human("x")], "tools": [two, {"name": "f"}]}, outputs={"output": "c"}),
    ]
    trace = read(root(), *rows)
    assert [made["name"] for made in json.loads(bytes(trace.tools_json))] == ["f", "g"]
    assert codes(trace) == ["CONFIG_DUPLICATE_TOOL"]


# ---- traces --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "completed"),
    [
        ({}, True),
        ({"error": "ValueError('x')Traceback (most recent call last): …"}, False),
        ({"status": "pending", "end_time": None}, False),
        ({"end_time": None}, None),
        ({"status": "odd"}, True),
    ],
)
def test_the_root_run_says_whether_the_trace_is_complete(more, completed):
    trace = read(root(**more), llm("1", [human("x")], ai("a")))
    assert trace.completed is completed
    assert codes(trace) == (["TRACE_INCOMPLETE"] if "error" in more else [])


def test_a_trace_without_its_root_is_read_and_told():
    trace = read(*conversation()[1:])
    assert said(trace) == EXPECTED
    assert (codes(trace), trace.completed) == (["TRACE_TREE_INVALID"], None)


def test_a_root_run_alone_has_the_messages_that_it_gave_back():
    state = [
        human("old"),
        ai("", call("f", {}, "a")),
        tool_message("1", "a"),
        ai("Done."),
        human("x"),
        ai("", call("f", {}, "b")),
        tool_message("2", "b"),
    ]
    trace = read(root(inputs={"messages": [human("x")]}, outputs={"messages": state}))
    assert said(trace) == [("user", "x"), ("assistant", ""), "f"]
    assert [event["type"] for event in trace.context["history"]] == ["message", "message", "call", "message"]
    assert codes(trace) == ["TRACE_INCOMPLETE"]
    fresh = read(root(inputs={"question": "x"}, outputs={"messages": state[5:]}), run("1", "retriever"))
    assert (said(fresh), fresh.context) == ([("user", "x"), ("assistant", ""), "f"], None)


def test_a_trace_that_says_nothing_is_skipped():
    (skip,) = read_all(root(inputs={}, outputs={"x": 1}))
    assert isinstance(skip, Skip)
    assert skip.code == "TRACE_INCOMPLETE"


def test_metadata_case_and_artifacts():
    extra = {"metadata": {"conversation_id": "t", "plan": ["x"], "city": "Oslo"}}
    more = {"tags": ["a"], "session_name": "p", "session_id": "p-1", "total_tokens": 5, "reference_example_id": "e-1"}
    trace = read(root(extra=extra, **more), tool("1", "f", {}, tool_message("1", "a", artifact=[1])))
    assert trace.case_id == "e-1"
    assert trace.metadata == {
        "conversation_id": "t", "session": "t", "city": "Oslo", "tags": ["a"], "project": "p", "project_id": "p-1",
        "total_tokens": 5, "reference_example_id": "e-1", "artifacts": [{"call": "a", "tool": "f", "value": [1]}],
    }  # fmt: skip


def test_feedback_becomes_labels():
    stats = {
        "helpful": {"n": 2, "avg": 0.5, "comments": ["ok", None]},
        "tone": {"n": 1, "avg": None, "values": {"warm": 1}},
        "raw": 1,
        "": {},
    }
    rows = [
        {
            "key": "correct",
            "score": 0,
            "comment": "wrong order",
            "created_at": "2026-01-02",
            "feedback_source": {"type": "app", "user_name": "reviewer-1"},
        },
        {"key": "tone", "value": "cold", "feedback_source": {"type": "model"}},
        {"score": 1},
    ]
    about_tool = {
        "id": "fb",
        "run_id": "1",
        "key": "fast",
        "score": None,
        "correction": {"a": 1},
        "feedback_source": {"type": "api", "metadata": {"user_id": 4}},
    }
    elsewhere = {**about_tool, "run_id": "zz"}
    trace, skip = sorted(
        read_all(root(feedback_stats=stats, feedback=rows), tool("1", "f", {}, 1), about_tool, elsewhere),
        key=lambda item: isinstance(item, Skip),
    )
    assert trace.labels == (
        Label(name="correct", value=0, comment="wrong order", by="reviewer-1", kind="person", at="2026-01-02"),
        Label(name="tone", value="cold", kind="judge"),
        Label(name="helpful", value=0.5, comment="mean of 2; ok"),
        Label(name="raw", value=1),
        Label(name="fast", value={"a": 1}, by="4", target="1"),
    )
    assert skip.code == "TRACE_TREE_INVALID"


def test_what_is_no_run_is_skipped_and_counted():
    trace, skip = sorted(read_all(*conversation(), {"id": "x"}), key=lambda item: isinstance(item, Skip))
    assert said(trace) == EXPECTED
    assert (skip.code, skip.place.line) == ("TRACE_MALFORMED", 6)


def test_unknown_kinds_of_runs_are_told_by_name():
    trace = read(*conversation(), run("5", "swarm"), run("6", "swarm"), {**run("7"), "child_runs": [{"id": 1}]})
    assert codes(trace) == ["TRACE_INCOMPLETE"]
    assert "2 runs of the unknown type `swarm`" in trace.findings[0].message


@pytest.mark.parametrize(
    "record",
    [{"id": "x", "events": []}, {"id": "x", "run_type": "llm"}, {"run_type": "llm", "trace_id": "x"}, [], None],
)
def test_nothing_else_is_taken_for_it(record):
    assert not langsmith.detect(record)


def test_a_run_without_events_is_not_taken_for_a_native_trace():
    row = run("1", "llm")
    assert not native.detect(row)
    assert registry.detect(row, PLACE) is langsmith.DIALECT


def test_a_long_chain_of_runs_is_read_in_time():
    rows = [
        {**llm(str(number), [], ai("a")), "parent_run_id": str(number - 1), "run_type": "chain"}
        for number in range(1, 20_000)
    ]
    assert len(read(root(), *rows, llm("x", [human("x")], ai("a"), parent="19999")).events) == 2


# ---- real files ----------------------------------------------------------------------------------------------------


def load(shared_data, name):
    opened = reading.open_traces(shared_data / "data/langsmith" / name)
    report = ReadingReport()
    found = list(reading.read(opened, report))
    assert opened.dialect is langsmith.DIALECT
    return found, report


def test_real_flat_runs_are_counted_right(shared_data):
    found, report = load(shared_data, "flat_runs_as_posted.jsonl")
    assert (report.read, report.skipped, report.causes) == (10, 0, Counter())
    calls = [made for trace in found for made in trace.calls]
    assert len(calls) == 24
    assert Counter(made.result.is_error for made in calls) == {False: 19, True: 5}
    assert (
        sum(isinstance(event, Message) and event.role == "assistant" for trace in found for event in trace.events) == 79
    )
    assert {trace.completed for trace in found} == {True}
    assert {trace.metadata["session"][:4] for trace in found} == {"tau-"}


def test_real_trees_are_counted_right(shared_data):
    found, report = load(shared_data, "run_trees_tau_airline.jsonl")
    assert (report.read, report.skipped, report.causes) == (5, 0, {"TRACE_INCOMPLETE": 5})
    assert [len(trace.calls) for trace in found] == [0, 2, 3, 3, 2]
    assert all("text instead of messages" in trace.findings[0].message for trace in found)
    assert all(len(json.loads(bytes(trace.tools_json))) == 14 for trace in found)


def replayed(shared_data):
    for trial in json.loads((shared_data / "data/tau_bench/gpt-4o-airline.json").read_text()):
        events, _ = openai_chat.events_of(trial["traj"], Place())
        yield (trial["task_id"], trial["trial"]), events


def neutral(events):
    return [
        (event.tool, event.arguments, event.id, event.result.content) for event in events if isinstance(event, Call)
    ]


@pytest.mark.parametrize("name", ["flat_runs_as_posted.jsonl", "run_trees_tau_airline.jsonl"])
def test_real_runs_hold_the_calls_of_what_they_replay_once_T12(shared_data, name):  # noqa: N802
    wanted = dict(replayed(shared_data))
    for trace in load(shared_data, name)[0]:
        events = wanted[trace.metadata["tau_task_id"], trace.metadata["tau_trial"]]
        assert neutral(trace.events) == neutral(events)
        if name.startswith("flat"):
            assert [event.text or "" for event in trace.events if isinstance(event, Message)] == [
                event.text or "" for event in events if isinstance(event, Message)
            ]


def test_real_errors_are_the_text_that_the_model_saw_T10(shared_data):  # noqa: N802
    found, _ = load(shared_data, "flat_runs_as_posted.jsonl")
    told = Counter(made.result.content for trace in found for made in trace.calls if made.result.is_error)
    assert sorted(told.values()) == [2, 3]
    assert all(text.startswith("Error: ") and "Traceback" not in text for text in told)


def test_real_rows_in_any_order_are_the_same_traces(shared_data):
    rows = [
        json.loads(line) for line in (shared_data / "data/langsmith/flat_runs_as_posted.jsonl").read_text().splitlines()
    ]
    forward, backward = read_all(*rows), read_all(*reversed(rows))
    assert {trace.digest for trace in forward} == {trace.digest for trace in backward}


def test_real_tool_runs_alone_are_the_calls(shared_data):
    rows = [
        json.loads(line) for line in (shared_data / "data/langsmith/flat_runs_as_posted.jsonl").read_text().splitlines()
    ]
    whole = {trace.id: trace for trace in read_all(*rows)}
    for trace in read_all(*(row for row in rows if row["run_type"] != "llm")):
        if isinstance(trace, Trace):
            assert neutral(trace.events) == neutral(whole[trace.id].events)


# ---- anything at all -----------------------------------------------------------------------------------------------

words = st.sampled_from(
    [
        "id",
        "name",
        "run_type",
        "trace_id",
        "parent_run_id",
        "child_runs",
        "dotted_order",
        "inputs",
        "outputs",
        "extra",
        "error",
        "messages",
        "generations",
        "message",
        "content",
        "tool_calls",
        "type",
        "output",
        "input",
        "metadata",
        "tool_call_id",
        "feedback_stats",
        "feedback",
        "run_id",
        "key",
        "score",
    ]
)
values = st.sampled_from(["llm", "tool", "chain", "a", "b", "ai", "human", "user", '{"a": 1}', "{'a': 1}", "["])
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | values
    | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=6),
    max_leaves=20,
)
replies = st.builds(
    lambda text, name, args: {"generations": [[{"message": ai(text, {"name": name, "args": args, "id": "a"})}]]},
    anything,
    anything,
    anything,
)
rows = st.fixed_dictionaries(
    {
        "id": values,
        "name": values,
        "run_type": st.sampled_from(["llm", "tool", "chain", "odd"]),
        "trace_id": st.none() | values,
    },
    optional={
        "parent_run_id": values,
        "inputs": anything,
        "outputs": anything | replies,
        "error": anything,
        "extra": anything,
        "child_runs": anything,
        "end_time": values,
        "feedback_stats": anything,
        "dotted_order": anything,
    },
)


@pytest.mark.slow
@given(st.lists(rows | anything, max_size=6))
def test_any_json_gives_traces_or_skips(found):
    for row in found:
        assert isinstance(langsmith.detect(row), bool)
        assert not (langsmith.detect(row) and (langchain.detect(row) or native.detect(row) or openai_chat.detect(row)))
    for item in read_all(*found):
        assert isinstance(item, (Trace, Skip))
        if isinstance(item, Trace):
            assert item.digest


@pytest.mark.slow
@given(data=st.data())
def test_damaged_bytes_give_traces_or_typed_errors(data, tmp_path_factory):
    raw = bytearray("".join(json.dumps(row) + "\n" for row in conversation()).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    path = tmp_path_factory.mktemp("damaged") / "one.jsonl"
    path.write_bytes(raw)
    with contextlib.suppress(RightcallError):
        assert all(isinstance(trace, Trace) for trace in reading.load_traces(path, "langsmith"))

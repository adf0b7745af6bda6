"""Steps out of a trace and its golden: which rows give one, what it says, and what the agent knew at that moment."""

import pytest
from grade_making import (
    SMALL_CALLS,
    SMALL_GOLDENS,
    Policy,
    agent,
    call,
    case_of,
    golden_call,
    policy_case,
    property_test,
    trace_of,
    unreadable,
    user,
    way,
    written,
)
from hypothesis import given
from msgspec import UNSET, Raw
from msgspec.structs import replace

from rightcall.api import load_cases, load_traces
from rightcall.case.load import load_tools
from rightcall.errors import TraceError
from rightcall.grade.golden import Grader, Options
from rightcall.grade.selection import select
from rightcall.grade.steps import derive, obstacle
from rightcall.trace.model import Call, Message, Trace


def steps_of(case, trace, options=None, **how):
    graded = Grader(case, options=options).grade(trace)
    return derive(case, trace, graded, **how)


def brief(steps):
    return [(step.id.removeprefix("trace#"), step.selected, step.expected) for step in steps]


# ---- which rows give a step ----


def test_a_golden_call_and_the_call_paired_with_it_are_one_step():
    case = case_of(golden_call("look"), golden_call("book"))
    assert brief(steps_of(case, trace_of(call("look", {}), call("book", {})))) == [
        ("g0", "look", "look"), ("g1", "book", "book"),
    ]  # fmt: skip


def test_arguments_play_no_part():
    case = case_of(golden_call("look", {"city": "Oslo"}))
    (step,) = steps_of(case, trace_of(call("look", {"city": "Rome"})))
    assert (step.selected, step.expected) == ("look", "look")


def test_a_golden_call_and_the_call_in_its_place_are_one_step():
    case = case_of(golden_call("look"), golden_call("freeze"))
    assert brief(steps_of(case, trace_of(call("look", {}), call("cancel", {})))) == [
        ("g0", "look", "look"), ("g1", "cancel", "freeze"),
    ]  # fmt: skip


def test_a_missing_call_is_a_step_where_nothing_was_selected():
    (first, second) = steps_of(case_of(golden_call("look"), golden_call("book")), trace_of(call("look", {})))
    assert (second.selected, second.expected, second.call_index, second.golden_index) == (None, "book", None, 1)
    assert (first.call_index, first.golden_index) == (0, 0)


def test_a_surplus_call_is_a_step_where_nothing_was_expected():
    case = case_of(golden_call("look"))
    steps = steps_of(case, trace_of(call("look", {}), call("book", {}), call("look", {})))
    assert brief(steps) == [("g0", "look", "look"), ("c1", "book", None), ("c2", "look", None)]
    assert (steps[1].call_index, steps[1].golden_index) == (1, None)


def test_a_correct_abstention_is_one_step_of_nothing_and_nothing():
    assert brief(steps_of(case_of(), trace_of(user("hi"), agent("hello")))) == [("none", None, None)]
    assert brief(steps_of(case_of(), trace_of(call("look", {})))) == [("c0", "look", None)]


def test_a_retry_is_no_step_unless_the_suite_charges_it():
    case = case_of(golden_call("book"))
    trace = trace_of(call("book", {}, error="busy"), call("book", {}, result="ok"))
    free = steps_of(case, trace)
    assert [(step.selected, step.expected) for step in free] == [("book", "book")]
    charged = steps_of(case, trace, Options(retries_are_free=False), retries_are_free=False)
    assert sorted((step.selected, step.expected or "") for step in charged) == [("book", ""), ("book", "book")]


def test_a_repeat_of_a_call_that_worked_is_a_surplus_step():
    steps = steps_of(case_of(golden_call("book")), trace_of(call("book", {}, result=1), call("book", {}, result=1)))
    assert [(step.selected, step.expected) for step in steps] == [("book", "book"), ("book", None)]


def test_a_surplus_read_that_the_suite_exempts_is_no_step():
    case = case_of(golden_call("book"), policy=Policy(classes={"look": "read"}))
    trace = trace_of(call("look", {}), call("book", {}))
    assert brief(steps_of(case, trace, Options(surplus_reads_are_free=True))) == [("g0", "book", "book")]
    assert len(steps_of(case, trace)) == 2


def test_an_optional_call_is_a_step_only_if_it_was_made():
    case = case_of(golden_call("look", optional=True), golden_call("book"))
    assert brief(steps_of(case, trace_of(call("book", {})))) == [("g1", "book", "book")]
    assert len(steps_of(case, trace_of(call("look", {}), call("book", {})))) == 2
    only_optional = case_of(golden_call("look", optional=True))
    assert steps_of(only_optional, trace_of()) == []


def test_the_alternative_that_golden_chose_says_what_was_expected():
    case = case_of(golden_call("mail"), alternatives=(way(golden_call("text")), way(golden_call("phone"))))
    assert brief(steps_of(case, trace_of(call("phone", {})))) == [("g0", "phone", "phone")]


def test_calls_that_others_made_are_no_steps():
    trace = trace_of(Call(tool="pay", arguments_status="missing", by="user"), call("look", {}))
    (step,) = steps_of(case_of(golden_call("look")), trace)
    assert (step.selected, step.call_index) == ("look", 0)


# ---- where no steps can be derived ----


def test_a_case_without_a_golden_gives_no_step_and_says_why():
    trace = trace_of(call("look", {}))
    for case in (policy_case(Policy(forbidden=("x",))), policy_case(None)):
        graded = Grader(case).grade(trace)
        assert obstacle(case, trace, graded) == "nothing_expected"
        assert derive(case, trace, graded) == []


def test_a_trace_that_could_not_be_compared_gives_no_step_and_says_why():
    case, trace = case_of(golden_call("look", {"a": "b"})), trace_of(written("look", '{"a": "\\ud800"}'))
    graded = Grader(case).grade(trace)
    assert obstacle(case, trace, graded) == graded.reason == "unreadable"
    assert derive(case, trace, graded) == []


def test_arguments_that_were_not_captured_are_no_obstacle():
    case, trace = case_of(golden_call("look", {"a": 1})), trace_of(unreadable("look", "not_captured"))
    graded = Grader(case).grade(trace)
    assert graded.status == "UNEVALUABLE"
    assert obstacle(case, trace, graded) is None
    assert brief(derive(case, trace, graded)) == [("g0", "look", "look")]


# ---- what a step says ----


def test_request_tools_and_tags_come_from_the_trace_else_the_case():
    tools, other = Raw(b'[{"name": "look"}]'), Raw(b'[{"name": "book"}]')
    case = replace(case_of(golden_call("look")), request="of the case", tools_json=other, tags=("x",))
    (step,) = steps_of(case, trace_of(call("look", {})))
    assert (step.request, bytes(step.tools_json), step.tags) == ("of the case", bytes(other), ("x",))
    (step,) = steps_of(case, trace_of(call("look", {}), request="of the trace", tools_json=tools))
    assert (step.request, bytes(step.tools_json)) == ("of the trace", bytes(tools))
    (step,) = steps_of(case, trace_of(call("look", {}), tools_json=Raw(b"null")))
    assert bytes(step.tools_json) == bytes(other)
    (step,) = steps_of(case_of(golden_call("look")), trace_of(user("hi"), user("ho"), call("look", {})))
    assert (step.request, step.tools_json) == ("hi", UNSET)
    assert (step.trace_id, step.case_id) == ("trace", "case")


def test_names_stay_as_they_were_recorded_and_aliases_decide_later():
    case, trace = case_of(golden_call("freeze")), trace_of(call("mcp__bank__freeze", {}))
    aliases = {"mcp__bank__freeze": "freeze"}
    graded = Grader(case, aliases=aliases).grade(trace)
    (step,) = derive(case, trace, graded)
    assert (step.selected, step.expected) == ("mcp__bank__freeze", "freeze")
    assert select(step, aliases=aliases).passed
    assert not select(step).passed


def test_a_run_that_did_not_come_to_its_end_marks_its_steps():
    case = case_of(golden_call("look"))
    for completed, said in ((False, {"completed": False}), (True, {}), (None, {})):
        (step,) = steps_of(case, trace_of(completed=completed))
        assert step.metadata == said


# ---- what the agent knew ----


def texts(step):
    return [item.get("text") or item["tool"] for item in step.context["history"]]


def test_the_history_of_a_step_is_what_came_before_its_call():
    case = case_of(golden_call("look"), golden_call("book"), golden_call("pay"))
    trace = trace_of(user("hi"), call("look", {}, result={"seat": "4A"}), agent("found"), call("book", {}), user("bye"))
    look, book, pay = steps_of(case, trace)
    assert texts(look) == ["hi"]
    assert texts(book) == ["hi", "look", "found"]
    assert book.context["history"][1]["result"]["content"] == {"seat": "4A"}
    # A missing call could have come until the end.
    assert texts(pay) == ["hi", "look", "found", "book", "bye"]


def test_parallel_calls_are_steps_of_their_own_with_one_history():
    case = case_of(golden_call("look"), golden_call("book"), order="any")
    trace = trace_of(user("hi"), call("look", {}, turn=1, result=1), call("book", {}, turn=1, result=2))
    first, second = steps_of(case, trace)
    assert texts(first) == texts(second) == ["hi"]


def test_an_empty_history_is_known_to_be_empty():
    (step,) = steps_of(case_of(golden_call("look")), trace_of(call("look", {})))
    assert step.context == {"history": []}


@pytest.mark.parametrize(
    ("recorded", "context"),
    [
        ("Be kind.", {"text": "Be kind.", "history": ["now"]}),
        ({"system": "Be kind.", "state": {}}, {"system": "Be kind.", "state": {}, "history": ["now"]}),
        ({"history": ["then"]}, {"history": ["then", "now"]}),
        ({"history": "then"}, {"history": ["then", "now"]}),
        ({"history": None}, {"history": ["now"]}),
    ],
)
def test_what_the_recording_says_of_the_context_stays_before_it(recorded, context):
    case, trace = case_of(golden_call("look")), trace_of(user("now"), call("look", {}), context=recorded)
    (step,) = steps_of(case, trace)
    shown = [item["text"] if isinstance(item, dict) else item for item in step.context["history"]]
    assert {**step.context, "history": shown} == context
    assert trace.context == recorded
    (step,) = steps_of(replace(case, context="of the case"), trace, with_history=False)
    assert step.context == recorded


def test_a_history_that_cannot_be_decoded_is_an_error_and_leaving_it_out_is_not():
    case = case_of(golden_call("look"), golden_call("book"))
    trace = trace_of(written("look", '{"a": "\\ud800"}'), call("book", {}))
    assert [step.selected for step in steps_of(case, trace, with_history=False)] == ["look", "book"]
    with pytest.raises(TraceError):
        steps_of(case, trace)


# ---- together ----


@property_test(90)
@given(SMALL_GOLDENS, SMALL_CALLS)
def test_every_call_and_every_required_golden_call_is_in_one_step_or_exempt(goldens, calls):
    case, trace = case_of(*goldens, order="any"), trace_of(*calls)
    graded = Grader(case).grade(trace)
    steps = derive(case, trace, graded)
    assert len({step.id for step in steps}) == len(steps)
    rows = [row.state for row in graded.alignment]
    assert len(steps) == len(rows) - rows.count("retry") - rows.count("optional") + (not rows)
    matched = [step for step in steps if step.selected == step.expected is not None]
    assert len(matched) == rows.count("matched")
    assert all(step.selected == calls[step.call_index].tool for step in steps if step.call_index is not None)
    assert all(step.expected == goldens[step.golden_index].tool for step in steps if step.golden_index is not None)


# ---- real runs ----


def test_steps_of_real_runs_agree_with_the_comparison_they_come_from(shared_data):
    folder = shared_data / "data/tau_bench"
    file = folder / "gpt-4o-airline.json"
    cases = {case.id: case for case in load_cases(file)}
    traces: list[Trace] = load_traces(file)
    tools = load_tools(folder / "tools_airline.json")
    names = {tool.name for tool in tools}
    matched = missing = extra = abstained = calls = 0
    for trace in traces:
        case = cases[trace.case_id]
        graded = Grader(case).grade(trace)
        assert obstacle(case, trace, graded) is None
        steps = derive(case, trace, graded)
        rows = [row.state for row in graded.alignment]
        right = [step for step in steps if step.selected is not None and step.selected == step.expected]
        assert len(right) == graded.metrics.matched == rows.count("matched")
        assert sum(step.selected is not None for step in steps) == len(trace.calls) - graded.metrics.retries
        required = len(case.expect.ways[graded.alternative].calls)
        assert sum(step.expected is not None for step in steps) == required
        assert all(len(step.context["history"]) <= len(trace.events) for step in steps)
        assert {step.expected for step in steps} - {None} <= names
        for step in right:
            told = [item["call_id"] for item in step.context["history"] if "call_id" in item]
            assert told == [f"c{n}" for n in range(1, step.call_index + 1)]
        matched += len(right)
        missing += rows.count("missing")
        extra += rows.count("surplus")
        abstained += not rows
        calls += len(trace.calls)
        verdicts = [select(step).verdict for step in steps]
        assert verdicts.count("PASS") == len(right) + (not rows)
    assert (len(traces), calls) == (200, 1164)
    idle = [trace for trace in traces if not trace.calls and not cases[trace.case_id].expect.ways[0].calls]
    assert abstained == len(idle)
    assert (matched, missing, extra, len(idle)) == (466, 120, 652, 2)
    substituted = calls - matched - extra
    assert matched + missing + substituted == sum(len(cases[t.case_id].expect.ways[0].calls) for t in traces)


def test_messages_without_text_do_not_hide_a_call():
    trace = trace_of(Message(role="assistant", text=None), call("look", {}))
    (step,) = steps_of(case_of(golden_call("look")), trace)
    assert step.context == {"history": []}

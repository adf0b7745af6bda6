"""Cases from Google ADK's eval sets, old and new, and the verdicts of their own expected calls."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rightcall
from rightcall.case.case import Case
from rightcall.case.golden import compile_case
from rightcall.case.sources import google_adk
from rightcall.case.sources.registry import SOURCES
from rightcall.errors import Place
from rightcall.trace.model import Trace
from rightcall.trace.sources.dialect import Skip

PLACE = Place("lamps.test.json")


def invocation(query="Lamp on.", *uses, **steps):
    content = {"role": "user", "parts": [{"text": query, "function_call": None}]}
    data = {"tool_uses": [{"id": None, **use} for use in uses], "intermediate_responses": [], **steps}
    return {
        "invocation_id": "i",
        "user_content": content,
        "final_response": {"parts": [{"text": "Done."}]},
        "intermediate_data": data,
    }


def use(name="set_lamp", **args):
    return {"name": name, "args": args}


def eval_set(*invocations, **changes):
    row = {"eval_id": "lamps", "conversation": list(invocations), "session_input": None, **changes}
    return {"eval_set_id": "e", "eval_cases": [row]}


def read(record):
    (case,) = google_adk.cases(record, PLACE)
    assert isinstance(case, Case), case
    return case


def calls(case):
    return [(call.tool, call.arguments) for call in case.expect.calls]


def test_an_eval_case_is_a_case():
    session = {"app_name": "home", "user_id": "u", "state": {"room": "hall"}}
    record = eval_set(
        invocation("Lamp on.", use(on=True)),
        invocation(
            "Hi.",
        ),
        session_input=session,
    )
    assert google_adk.detect(record)
    case = read(record)
    assert (case.id, case.request, case.context) == ("lamps", "Lamp on.", {"state": {"room": "hall"}})
    assert (calls(case), case.expect.order) == ([("set_lamp", {"on": True})], "listed")
    assert case.metadata == {
        "invocations": [
            {"query": "Lamp on.", "calls": 1, "reference": "Done."}, {"query": "Hi.", "calls": 0, "reference": "Done."},
        ]
    }  # fmt: skip


def test_camel_case_is_read_too():
    steps = {"toolUses": [{"name": "f", "args": {"a": 1}}], "intermediateResponses": [["a", [{"text": "x"}]]]}
    turn = {"userContent": {"parts": [{"text": "Go."}]}, "finalResponse": None, "intermediateData": steps}
    case = read({"evalSetId": "e", "evalCases": [{"evalId": "c", "conversation": [turn]}]})
    assert (case.id, case.request, calls(case)) == ("c", "Go.", [("f", {"a": 1})])
    assert case.metadata["invocations"][0]["responses"] == [["a", [{"text": "x"}]]]


def test_calls_among_events_of_the_expected_run_are_read():
    events = [
        {"author": "a", "content": {"parts": [{"function_call": {"name": "f", "args": None}}, {"text": "x"}]}},
        "x",
    ]
    turn = {**invocation("Go."), "intermediate_data": {"invocation_events": events}}
    assert calls(read(eval_set(turn))) == [("f", {})]


def test_the_older_list_is_one_conversation():
    rows = [
        {
            "query": "Lamp on.",
            "expected_tool_use": [{"tool_name": "set_lamp", "tool_input": {"on": True}}],
            "reference": "Done.",
        },
        {"query": "Thanks.", "expected_tool_use": [], "expected_intermediate_agent_responses": [{"a": "x"}]},
    ]
    assert google_adk.detect(rows)
    case = read(rows)
    assert (case.id, case.request, calls(case)) == ("lamps.test", "Lamp on.", [("set_lamp", {"on": True})])
    assert [row["calls"] for row in case.metadata["invocations"]] == [1, 0]
    assert case.metadata["invocations"][1]["responses"] == [{"a": "x"}]


def test_one_row_or_one_eval_case_alone_is_a_case():
    assert calls(read({"query": "Hi.", "expected_tool_use": []})) == []
    (row,) = eval_set(invocation("Go.", use()))["eval_cases"]
    assert calls(read(row)) == calls(read([row])) == [("set_lamp", {})]


def test_no_expected_steps_is_no_golden_and_an_empty_list_expects_no_call():
    turn = invocation("Go.")
    assert read(eval_set({**turn, "intermediate_data": None})).expect is None
    assert read(eval_set(turn)).expect.calls == ()


def test_recorded_objects_that_look_like_matchers_are_literal():
    (golden,) = compile_case(read(eval_set(invocation("Go.", use(filter={"any_of": [1]})))))
    assert len(golden.calls) == 1


@pytest.mark.parametrize(
    "record",
    [
        {"eval_cases": ["x"]}, {"eval_cases": [{"eval_id": "a"}]}, eval_set(invocation("Go.", use(name=""))),
        eval_set(invocation("Go.", {"name": "f", "args": [1]})), eval_set(invocation(tool_uses={})),
        [{"query": "q", "expected_tool_use": None}], [{"query": "q", "expected_tool_use": [{"tool_name": "f", "tool_input": 3}]}],
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_skipped(record):
    (skip,) = google_adk.cases(record, PLACE)
    assert isinstance(skip, Skip)
    assert skip.code == "CASE_INVALID"


@pytest.mark.parametrize(
    "record", [None, [], {}, {"query": "q"}, [{"query": "q"}], {"eval_id": "x"}, {"eval_cases": 3}]
)
def test_anything_else_is_not_recognised(record):
    assert not google_adk.detect(record)


def test_it_is_registered():
    assert SOURCES["google_adk"].cases is google_adk.cases


words = st.sampled_from(
    ["eval_cases", "evalCases", "eval_id", "conversation", "user_content", "parts", "text", "intermediate_data", "tool_uses",
     "invocation_events", "content", "functionCall", "name", "args", "query", "expected_tool_use", "tool_name", "tool_input",
     "session_input", "state", "set", "any_of"]
)  # fmt: skip
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | words,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=6),
    max_leaves=20,
)


@pytest.mark.slow
@given(
    anything
    | st.builds(eval_set, st.builds(invocation, st.text(max_size=3), tool_uses=anything), session_input=anything)
)
def test_any_json_gives_cases_or_skips(value):
    assert isinstance(google_adk.detect(value), bool)
    for found in google_adk.cases(value, PLACE):
        assert isinstance(found, (Case, Skip))
        if isinstance(found, Case):
            compile_case(found)


# ---- the real files ----


def real_cases(shared_data):
    found = []
    for path in sorted((shared_data / "data/google_adk").glob("*.test.json")):
        found += [(path.name, case) for case in google_adk.cases(json.loads(path.read_text()), Place(str(path)))]
    return found


def test_the_real_files_are_counted_right(shared_data):
    cases = real_cases(shared_data)
    assert all(isinstance(case, Case) for _, case in cases)
    old = [case for _, case in cases if not case.id.endswith(".json")]
    new = [case for _, case in cases if case.id.endswith(".json")]
    turns = [turn for case in new for turn in case.metadata["invocations"]]
    assert (len(new), len(turns), sum(turn["calls"] for turn in turns)) == (9, 18, 16)
    assert sum(turn["calls"] == 0 for turn in turns) == 5
    assert (len(old), sum(len(case.metadata["invocations"]) for case in old)) == (2, 3)
    assert sum(len(case.expect.calls) for case in new) == 16


def test_expected_tool_use_written_as_calls_passes_its_own_case(shared_data):
    for name, case in real_cases(shared_data):
        events = tuple(
            rightcall.call(golden.tool, golden.arguments, result={}, turn=turn)
            for turn, golden in enumerate(case.expect.calls)
        )
        verdict = rightcall.grade(case, Trace(id=name, case_id=case.id, events=events)).verdict
        assert verdict == "PASS", name
        if events:
            assert rightcall.grade(case, Trace(id=name, case_id=case.id, events=events[1:])).verdict == "FAIL", name


def test_the_files_are_found_to_be_cases(shared_data):
    for path in (shared_data / "data/google_adk").glob("*.test.json"):
        assert len(rightcall.load_cases(path)) == 1

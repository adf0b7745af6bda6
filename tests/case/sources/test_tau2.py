"""Cases from τ²-bench: the agent's own actions, which arguments count, and the benchmark's verdicts reproduced."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from rightcall.case.case import Case, Expect
from rightcall.case.golden import compile_case
from rightcall.case.matchers import is_ignored, matches, may_be_absent
from rightcall.case.sources import tau2
from rightcall.errors import CaseError, Place
from rightcall.trace.model import Call
from rightcall.trace.sources import reading
from rightcall.trace.sources.dialect import Skip

PLACE = Place("results.json")


def action(name="book", requestor="assistant", compare_args=None, **arguments):
    return {
        "action_id": "1_0", "name": name, "arguments": arguments, "requestor": requestor, "compare_args": compare_args,
    }  # fmt: skip


def task(*actions, **changes):
    whole = {
        "id": "7",
        "description": {"purpose": "Refuses."},
        "user_scenario": {"instructions": {"reason_for_call": "Cancel it."}},
        "ticket": "A ticket.",
        "evaluation_criteria": {"actions": list(actions), "reward_basis": ["DB"]},
    }
    return {**whole, **changes}


def read(record):
    (case,) = tau2.cases(record, PLACE)
    assert isinstance(case, Case), case
    return case


def golden_of(*actions):
    (golden,) = compile_case(read(task(*actions)))
    return golden.calls


def accepts(expected, name, arguments):
    """Whether a call is the expected one: same tool, every stated key matched, nothing unexpected."""
    if expected.tool != name or expected.raw is None:
        return expected.tool == name
    return arguments.keys() <= expected.nodes.keys() and all(
        matches(node, arguments[key]) if key in arguments else may_be_absent(node)
        for key, node in expected.nodes.items()
    )


def test_a_task_is_a_case():
    case = read(task(action(seat="4A")))
    assert (case.id, case.request, case.expect.order) == ("7", "Cancel it.", "any")
    assert [(call.tool, call.arguments) for call in case.expect.calls] == [("book", {"seat": "4A"})]
    assert case.metadata == {"purpose": "Refuses.", "reward_basis": ["DB"]}


@pytest.mark.parametrize(
    ("changes", "request_text"),
    [
        ({"user_scenario": {"instructions": "Say hello."}}, "Say hello."),
        ({"user_scenario": {"instructions": {"domain": "air"}}}, "A ticket."),
        ({"user_scenario": None, "ticket": None}, None),
    ],
)
def test_the_request_is_what_the_user_is_told_to_say(changes, request_text):
    assert read(task(**changes)).request == request_text


def test_actions_of_the_user_are_not_the_agents_golden():  # T14
    theirs = action("toggle", "user")
    case = read(task(theirs, action(seat="4A"), {"name": "pay", "arguments": {}}))
    assert [call.tool for call in case.expect.calls] == ["book", "pay"]
    assert case.metadata["user_actions"] == [theirs]


@pytest.mark.parametrize("criteria", [None, {}, {"actions": None, "reward_basis": ["DB"]}])
def test_a_task_that_states_no_actions_has_no_golden(criteria):
    assert read(task(evaluation_criteria=criteria)).expect is None


def test_an_empty_list_of_actions_expects_no_call():
    assert read(task()).expect == Expect(calls=(), order="any")


def test_null_compares_every_argument():
    (expected,) = golden_of(action(a=1, b=2))
    assert accepts(expected, "book", {"a": 1, "b": 2})
    assert not accepts(expected, "book", {"a": 1})


def test_an_empty_list_compares_the_name_alone():
    (call,) = read(task(action(compare_args=[], a=1))).expect.calls
    assert call.arguments_json is UNSET


def test_a_list_compares_only_the_named_arguments():
    (expected,) = golden_of(action(compare_args=["a"], a={"set": 1}, b=2))
    assert is_ignored(expected.nodes["b"])
    assert accepts(expected, "book", {"a": {"set": 1}, "b": 9})
    assert accepts(expected, "book", {"a": {"set": 1}})
    assert not accepts(expected, "book", {"a": 2, "b": 2})
    assert not accepts(expected, "book", {"b": 2})


@pytest.mark.parametrize(
    "bad", ["x", {"arguments": {}}, {"name": "a"}, {"name": "a", "arguments": []}, action(compare_args="a")]
)
def test_a_task_with_an_unreadable_action_is_skipped(bad):
    (skip,) = tau2.cases(task(bad), PLACE)
    assert isinstance(skip, Skip)
    assert skip.code == "CASE_INVALID"
    assert "task `7`" in skip.message


@pytest.mark.parametrize(
    "record", [task(id=None), task(evaluation_criteria={"actions": "x"}), {}, "x", {"tasks": None}]
)
def test_what_is_no_task_is_skipped(record):
    (skip,) = tau2.cases(record, PLACE)
    assert isinstance(skip, Skip)
    assert skip.code == "CASE_INVALID"


def test_a_document_and_a_list_give_the_case_of_every_task():
    assert [case.id for case in tau2.cases({"tasks": [task(), task(id=8)], "simulations": []}, PLACE)] == ["7", "8"]
    first, skip = tau2.cases([task(), "x"], PLACE)
    assert first.id == "7"
    assert skip.place.path == "$[1]"
    assert [skip.place.path for skip in tau2.cases({"tasks": ["x"]}, PLACE)] == ["$.tasks[0]"]


def test_documents_tasks_and_lists_of_tasks_are_recognised():
    assert all(map(tau2.detect, [task(), [task()], {"tasks": []}]))
    assert not any(map(tau2.detect, [None, [], {}, [{}], {"tasks": None}, {"id": "7"}]))


# ---- a simulation's own checks ----


def test_a_simulation_holds_its_expected_actions_with_their_verdicts():
    checks = [
        {"action": action(seat="4A"), "action_match": True},
        {"action": action("toggle", "user"), "action_match": False},
        {"action": action("pay"), "action_match": None},
    ]
    found = tau2.action_goldens({"reward_info": {"action_checks": checks}})
    assert [(item.call.tool, item.by, item.matched) for item in found] == [
        ("book", "assistant", True), ("toggle", "user", False), ("pay", "assistant", None),
    ]  # fmt: skip


@pytest.mark.parametrize("simulation", [None, {}, {"reward_info": None}, {"reward_info": {"action_checks": None}}])
def test_a_simulation_without_checks_has_none(simulation):
    assert tau2.action_goldens(simulation) == []


def test_a_check_without_an_action_is_an_error():
    with pytest.raises(CaseError, match="needs a `name`"):
        tau2.action_goldens({"reward_info": {"action_checks": [{}]}})


# ---- any JSON ----

words = st.sampled_from([
    "tasks", "id", "evaluation_criteria", "actions", "name", "arguments", "compare_args", "requestor", "user_scenario",
    "instructions", "reason_for_call", "ticket", "description", "purpose", "set", "any_of",
])  # fmt: skip
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=6),
    max_leaves=20,
)
actions = st.fixed_dictionaries(
    {"name": st.text(max_size=3), "arguments": st.dictionaries(words, anything)},
    optional={"compare_args": st.lists(words)},
)


@pytest.mark.slow
@given(anything | st.builds(task, actions | anything, user_scenario=anything, description=anything))
def test_any_json_gives_cases_or_skips_and_every_case_compiles(value):
    assert isinstance(tau2.detect(value), bool)
    for item in tau2.cases(value, PLACE):
        assert isinstance(item, (Case, Skip))
        if isinstance(item, Case):
            for golden in compile_case(item):
                assert all(call.nodes is not None for call in golden.calls)


# ---- real files ----

FILES = {
    # file: simulations in which "every check matched" agrees with "reward 1"
    "azure-gpt-4o_airline_1trial.json": 40,
    "claude-sonnet-4-5_airline_1trial.json": 48,
    "button_claude-opus-4-6_airline.json": 47,
    "toolorchestra_gpt-5_airline_1trial.json": 41,
    "gpt-4o_telecom.json": 20,
}


@pytest.mark.parametrize("name", FILES)
def test_goldens_reproduce_every_verdict_of_the_benchmark(shared_data, name):
    path = shared_data / "data/tau2_bench" / name
    traces = {trace.id: trace for trace in reading.load_traces(path)}
    agree = 0
    for simulation in json.loads(path.read_text())["simulations"]:
        calls = [event for event in traces[simulation["id"]].events if isinstance(event, Call)]
        checks = tau2.action_goldens(simulation)
        for check in checks:
            (golden,) = compile_case(Case(id="check", expect=Expect(calls=(check.call,))))
            found = any(accepts(golden.calls[0], call.tool, call.arguments) for call in calls)
            assert found == check.matched, check.call
        agree += all(check.matched for check in checks) == (simulation["reward_info"]["reward"] == 1)
    assert agree == FILES[name]


@pytest.mark.parametrize(
    ("name", "n_cases", "n_calls"),
    [("azure-gpt-4o_airline_1trial", 50, 148), ("gpt-4o_telecom", 20, 7), ("mock_tasks", 10, 8)],
)
def test_real_tasks_are_counted_right(shared_data, name, n_cases, n_calls):
    document = json.loads((shared_data / f"data/tau2_bench/{name}.json").read_text())
    assert tau2.detect(document)
    found = list(tau2.cases(document, PLACE))
    assert all(isinstance(case, Case) for case in found)
    assert len({case.id for case in found}) == n_cases
    assert sum(len(case.expect.calls) for case in found if case.expect) == n_calls

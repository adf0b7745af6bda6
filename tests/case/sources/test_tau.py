"""Cases from τ-bench: one for each task, with goldens that reproduce the measured agreement with the reward."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.case.case import Case
from rightcall.case.golden import compile_case
from rightcall.case.matchers import matches
from rightcall.case.sources import tau
from rightcall.errors import Place
from rightcall.trace.sources import reading
from rightcall.trace.sources.dialect import Skip

PLACE = Place("results.json")


def run(task_id=3, actions=(), **task):
    whole = {"user_id": "mia", "instruction": "You want …", "actions": list(actions), "outputs": [], **task}
    return {"task_id": task_id, "trial": 0, "reward": 1.0, "info": {"task": whole}, "traj": []}


def action(name="book", **kwargs):
    return {"name": name, "kwargs": kwargs}


def read(record):
    (case,) = tau.cases(record, PLACE)
    assert isinstance(case, Case), case
    return case


def test_a_run_holds_the_case_of_its_task():
    case = read(run(actions=[action(seat="4A"), action("pay", amount=12.5)], outputs=["12.5"]))
    assert (case.id, case.request, case.expect.order) == ("3", "You want …", "any")
    assert [(call.tool, call.arguments) for call in case.expect.calls] == [
        ("book", {"seat": "4A"}),
        ("pay", {"amount": 12.5}),
    ]
    assert case.metadata == {"user_id": "mia", "outputs": ["12.5"]}


def test_a_task_without_actions_expects_no_call():  # T15
    case = read(run())
    assert case.expect.calls == ()
    assert len(compile_case(case)) == 1


@pytest.mark.parametrize("value", [{"set": [1]}, {"equals": 1}, {"z": 1, "any_of": 2}, {"custom": "x", "ignore": True}])
def test_a_recorded_object_that_looks_like_a_matcher_is_taken_literally(value):
    case = read(run(actions=[action(filter=value, deep=[{"a": value}])]))
    (golden,) = compile_case(case)
    nodes = golden.calls[0].nodes
    assert matches(nodes["filter"], value)
    assert matches(nodes["deep"], [{"a": value}])
    assert not matches(nodes["filter"], [1])


def test_a_list_of_runs_gives_one_case_for_each_task():
    found = list(tau.cases([run(1), run(2), run(1), run(2, instruction="Another …")], PLACE))
    assert [case.id for case in found[:2]] == ["1", "2"]
    (skip,) = found[2:]
    assert (skip.code, skip.place.path) == ("CASE_DUPLICATE_ID", "$[3]")


@pytest.mark.parametrize(
    ("record", "path"),
    [
        ({"task_id": 1, "info": {"error": "crashed"}}, None),
        ({"task_id": None, "info": {"task": {"actions": []}}}, None),
        (run(actions=[{"name": "book"}]), "$.info.task.actions[0]"),
        (run(actions=[action(), "x"]), "$.info.task.actions[1]"),
        ({"task_id": 1, "info": {"task": {"actions": None}}}, None),
        ("x", None),
    ],
)
def test_a_run_without_a_readable_task_is_skipped(record, path):
    (skip,) = tau.cases(record, PLACE)
    assert isinstance(skip, Skip)
    assert (skip.code, skip.place.path) == ("CASE_INVALID", path)
    (listed,) = tau.cases([record], PLACE)
    assert listed.place.path == (path or "$").replace("$", "$[0]", 1)


def test_runs_are_recognised_alone_and_in_a_list():
    assert tau.detect(run())
    assert tau.detect([run()])
    assert not tau.detect([])
    assert not tau.detect({"task_id": 1})


words = st.sampled_from(["task_id", "info", "task", "actions", "name", "kwargs", "instruction", "set", "any_of"])
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=6),
    max_leaves=20,
)
actions = st.lists(st.fixed_dictionaries({"name": st.text(max_size=3), "kwargs": st.dictionaries(words, anything)}))


@pytest.mark.slow
@given(anything | st.builds(run, task_id=anything, actions=actions, instruction=anything, outputs=anything))
def test_any_json_gives_cases_or_skips_and_every_case_compiles(value):
    assert isinstance(tau.detect(value), bool)
    for item in tau.cases(value, PLACE):
        assert isinstance(item, (Case, Skip))
        if isinstance(item, Case):
            for golden in compile_case(item):
                assert all(call.nodes is not None for call in golden.calls)


@pytest.mark.slow
@given(st.dictionaries(words, anything))
def test_recorded_arguments_match_themselves(arguments):
    (golden,) = compile_case(read(run(actions=[{"name": "f", "kwargs": arguments}])))
    assert all(matches(node, arguments[key]) for key, node in golden.calls[0].nodes.items())


def all_present(golden, calls):
    """Whether every expected call is among the calls, one to one; equal literals make greedy pairing exact."""
    left = list(calls)
    for expected in golden.calls:
        found = next((call for call in left if call.tool == expected.tool and same_arguments(expected, call)), None)
        if found is None:
            return False
        left.remove(found)
    return True


def same_arguments(expected, call):
    keys = expected.nodes.keys()
    return keys == call.arguments.keys() and all(matches(expected.nodes[key], call.arguments[key]) for key in keys)


def test_goldens_of_the_real_file_agree_with_the_reward_as_measured(shared_data):
    path = shared_data / "data/tau_bench/gpt-4o-airline.json"
    goldens = {case.id: compile_case(case)[0] for case in tau.cases(json.loads(path.read_text()), Place(str(path)))}
    assert len(goldens) == 50
    assert sum(not golden.calls for golden in goldens.values()) == 7
    counted = Counter(
        (all_present(goldens[trace.case_id], trace.calls), trace.metadata["reward"])
        for trace in reading.load_traces(path)
    )
    assert counted == {(True, 1.0): 57, (True, 0.0): 19, (False, 1.0): 27, (False, 0.0): 97}

"""Cases from AgentDojo's ground truth, and that its own calls pass them."""

import msgspec
import pytest
from msgspec import Raw

import rightcall
from rightcall.case.case import Case
from rightcall.case.load import iter_cases
from rightcall.case.sources import agentdojo, bfcl
from rightcall.errors import Place
from rightcall.trace import jsontext
from rightcall.trace.model import Call, Trace
from rightcall.trace.sources.dialect import Skip

PLACE = Place("truth.jsonl", 1)


def row(truth, **changes):
    return {"suite": "bank", "version": "v1", "kind": "user", "task_id": "user_task_0", "prompt": "Pay Ada.",
            "ground_truth_output": "", "ground_truth": truth, **changes}  # fmt: skip


def made(tool, args, placeholder=None):
    return {"function": tool, "args": args, "placeholder_args": placeholder}


def test_a_row_is_a_case_of_its_suite():
    assert agentdojo.detect(row([]))
    assert not bfcl.detect(row([]))
    (case,) = agentdojo.cases(row([made("pay", {"to": "Ada"})]), PLACE)
    assert (case.id, case.request, case.tags, case.expect.order) == ("bank/user_task_0", "Pay Ada.", ("user",), "any")
    assert [(call.tool, call.arguments) for call in case.expect.calls] == [("pay", {"to": "Ada"})]


def test_a_task_without_calls_expects_none():
    (case,) = agentdojo.cases([row([])], PLACE)
    assert case.expect.calls == ()


def test_a_value_that_only_a_run_knows_may_be_any():
    call = made(
        "mail", {"to": "ada", "n": 1, "body": "Hi."}, {"to": "ada", "n": 1.0, "body": "$email.body", "cc": "$x"}
    )
    (case,) = agentdojo.cases(row([call]), PLACE)
    assert case.expect.calls[0].arguments == {
        "to": "ada", "n": 1, "body": {"ignore": True}, "cc": {"ignore": True},
    }  # fmt: skip


@pytest.mark.parametrize(
    "value",
    [None, row("x"), row([], task_id=None), row([7]), row([made("", {})]), row([made("f", None)]), row([], suite="")],
)
def test_what_is_no_row_is_skipped(value):
    (skip,) = agentdojo.cases(value, PLACE)
    assert isinstance(skip, Skip)
    assert (skip.code, skip.place) == ("CASE_INVALID", PLACE)


def test_every_ground_truth_passes_its_own_case(shared_data):
    file = shared_data / "data/agentdojo/ground_truth_v1.2.2.jsonl"
    cases = {case.id: case for case, _, _ in iter_cases(file)}
    rows = [jsontext.decode(line) for line in file.read_bytes().splitlines()]
    passed, calls, none, open_ = 0, 0, 0, 0
    for truth in rows:
        case = cases[f"{truth['suite']}/{truth['task_id']}"]
        made_calls = tuple(
            Call(tool=call["function"], arguments_json=Raw(jsontext.encode(call["args"])), turn=turn)
            for turn, call in enumerate(truth["ground_truth"])
        )
        passed += rightcall.grade(case, Trace(id="t", case_id=case.id, events=made_calls)).verdict == "PASS"
        calls, none = calls + len(made_calls), none + (not made_calls)
        open_ += any(call["placeholder_args"] for call in truth["ground_truth"])
        if made_calls:
            less = Trace(id="t", case_id=case.id, events=made_calls[:-1])
            assert rightcall.grade(case, less).verdict == "FAIL"
    assert (len(cases), passed, calls, none, open_) == (132, 132, 386, 9, 26)
    assert all(isinstance(case, Case) and msgspec.json.encode(case) for case in cases.values())

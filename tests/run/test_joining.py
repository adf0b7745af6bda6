"""Traces joined with their cases, one by one, with what `golden` says and how they were read."""

from __future__ import annotations

import pytest

from rightcall.errors import TraceError
from rightcall.run.golden.joining import Joining

FEED = {"tool": "feed", "arguments": {"tank": 2}}
WRONG = {"tool": "feed", "arguments": {"tank": 3}}
CASE = {"id": "c", "expect": {"calls": [FEED]}}
OTHER = {"id": "d", "expect": {"calls": []}}
CHAT = {
    "messages": [{"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "feed", "arguments": "{}"}}]}]
}


def joined(plan) -> list[tuple[str, str | None, str | None, str | None]]:
    """Trace, case, verdict and line of everything."""
    found = []
    for trace, case, _catalog, golden, place in Joining(plan).joined():
        found.append((trace.id, None if case is None else case.id, golden.verdict, place.line))
    plan.cases.close()
    return found


def test_each_trace_comes_with_its_case_and_what_golden_says(write, plan):
    write("cases.jsonl", CASE, OTHER)
    write(
        "traces.jsonl", {"id": "t1", "case_id": "c", "calls": [FEED]}, {"id": "t2", "case_id": "c", "calls": [WRONG]},
        {"id": "t3", "case_id": "d", "calls": []},
    )  # fmt: skip
    assert joined(plan()) == [("t1", "c", "PASS", 1), ("t2", "c", "FAIL", 2), ("t3", "d", "PASS", 3)]


def test_a_trace_without_a_case_is_still_judged_by_policy(write, plan):
    write("cases.jsonl", CASE, OTHER)
    write("policy.toml", b'forbidden = ["feed"]\n')
    write("traces.jsonl", {"id": "t1", "case_id": "z", "calls": [FEED]}, {"id": "t2", "calls": [FEED]})
    ready = plan(policy=write("policy.toml", 'forbidden = ["feed"]'))
    assert [(trace, case) for trace, case, _, _ in joined(ready)] == [("t1", None), ("t2", None)]
    golden = [one[3] for one in Joining(ready).joined()]
    ready.cases.close()
    assert [one.case_id for one in golden] == ["z", None]
    assert [[veto.rule for veto in one.vetoes] for one in golden] == [["forbidden"], ["forbidden"]]


def test_the_only_case_is_that_of_a_trace_which_names_none(write, plan):
    write("cases.jsonl", CASE)
    write("traces.jsonl", {"id": "t1", "calls": [FEED]})
    assert joined(plan()) == [("t1", "c", "PASS", 1)]


def test_traces_need_no_cases_where_a_run_says_so(write, plan):
    write("traces.jsonl", {"id": "t1", "case_id": "c", "calls": [FEED]})
    assert [one[:2] for one in joined(plan({"cases": ()}, needs_cases=False))] == [("t1", None)]


@pytest.mark.parametrize(
    ("options", "wanted"),
    [({"limit": 2}, ["t0", "t1"]), ({"only": "t2"}, ["t2"]), ({"only": "t2", "limit": 1}, ["t2"]), ({"only": "z"}, [])],
)
def test_as_many_as_are_asked_for(write, plan, options, wanted):
    write("cases.jsonl", CASE)
    write("traces.jsonl", *({"id": f"t{n}", "case_id": "c", "calls": [FEED]} for n in range(4)))
    assert [one[0] for one in joined(plan(**options))] == wanted


def test_a_record_that_was_skipped_is_counted_again_each_time(write, plan):
    write("cases.jsonl", CASE)
    file = write("traces.jsonl", CHAT, {"messages": []}, CHAT)
    ready, strict = plan(), plan(strict=True)
    joining = Joining(ready)
    for _ in range(2):
        assert len(list(joining.joined())) == 2
        assert [(report.read, report.skipped) for report in joining.reports.values()] == [(2, 1)]
    assert [name.rsplit("/", 1)[-1] for name in joining.reports] == [file.name]
    with pytest.raises(TraceError, match=r"traces\.jsonl:2.*without --strict it is skipped and counted"):
        list(Joining(strict).joined())
    ready.cases.close()
    strict.cases.close()


def test_tools_that_are_left_out_are_left_out_here_too(write, plan):
    write("cases.jsonl", CASE)
    write("traces.jsonl", {"id": "t1", "case_id": "c", "calls": [FEED, {"tool": "think", "arguments": {}}]})
    ready = plan({"exclude_tools": ["think"]})
    (found,) = Joining(ready).joined()
    ready.cases.close()
    assert [call.tool for call in found[0].calls] == ["feed"]
    assert found[3].verdict == "PASS"

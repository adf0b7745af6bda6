"""The results of a session as a run: order, what is lost, and facts that differ."""

import msgspec
import pytest
from msgspec import Raw

from rightcall import Trace
from rightcall.grade.verdict import GoldenResult
from rightcall.plugin.gathered import Gathered, _merged
from rightcall.plugin.handed import Handed, HandedResult, HandedTrace, Planned, packed, unpacked
from rightcall.plugin.heard import Heard

_encode = msgspec.json.encode


def done(node, verdict="PASS", **facts):
    result = GoldenResult(trace_id=node, case_id="lost", verdict=verdict)
    planned = Planned(node, node, case_id="lost", has_case=True)
    handed = Handed(
        test=planned, is_done=True, traces=(HandedTrace(trace=Raw(_encode(Trace(id=node))), case_version="v1"),),
        results=(HandedResult(grader="golden", line=Raw(_encode(result)), trace=0, facts=facts),),
    )  # fmt: skip
    return Heard(planned, {"setup": "passed", "call": "passed"}, handed)


def lost(node, case_id="lost", has_case=True, **outcomes):
    return Heard(Planned(node, node, case_id=case_id, has_case=has_case), outcomes)


def gathered(*tests):
    return Gathered.of(tests, "pytest-1", "", is_interrupted=False)


def test_what_a_test_hands_over_survives_the_way():
    handed = done("a").handed
    again = unpacked(packed(handed))
    assert _encode(again) == _encode(handed)


def test_a_case_without_a_trace_has_no_verdict_and_lowers_the_coverage():
    found = gathered(done("a"), lost("b", setup="failed"))
    assert [(row.case_id, row.status, row.reason) for row in found.results().rows()] == [
        ("lost", "EVALUATED", None), ("lost", "UNEVALUABLE", "no_trace"),
    ]  # fmt: skip
    assert found.summary("golden")["coverage"] == 0.5
    assert found.notes() == ["1 test with the marker did not run to the end: b"]


def test_a_case_that_could_not_even_be_named_lowers_the_coverage():
    found = gathered(done("a"), lost("b", case_id=None, setup="failed"))
    assert (found.summary("golden")["skipped"], found.summary("golden")["coverage"]) == (1, 0.5)
    assert gathered(done("a"), lost("b", case_id=None, has_case=False)).summary("golden")["coverage"] == 1


def test_a_test_that_recorded_no_trace_of_its_case_is_named():
    quiet = Planned("b", "b", case_id="lost", has_case=True)
    found = gathered(done("a"), Heard(quiet, {"call": "passed"}, Handed(test=quiet, is_done=True)))
    assert found.summary("golden")["coverage"] == 0.5
    assert found.notes() == ["1 test with the marker recorded no trace: b"]
    assert found.run_facts()["untraced"] == ["b"]


def test_a_skipped_test_is_no_result_and_lowers_the_coverage():
    found = gathered(done("a"), lost("b", setup="skipped"))
    assert (len(found.lines["golden"]), found.summary("golden")["coverage"]) == (1, 0.5)
    assert found.results().graders["golden"].unread == 1


def test_a_result_is_found_with_its_trace():
    results = gathered(done("a"), done("b", "FAIL")).results()
    assert [results.sources(row).trace.id for row in results.rows()] == ["a", "b"]


@pytest.mark.parametrize(
    ("old", "new", "both"),
    [
        (None, {"a": 1}, {"a": 1}),
        ({"a": [1]}, {"a": [1, 2]}, {"a": [1, 2]}),
        ({"a": 1}, {"a": 1}, {"a": 1}),
        ({"a": 1}, {"a": 2}, {"a": 1, "differing": {"a": [1, 2]}}),
        ({"a": 1, "differing": {"a": [1, 2]}}, {"a": 3}, {"a": 1, "differing": {"a": [1, 2, 3]}}),
    ],
)
def test_facts_that_differ_stand_side_by_side(old, new, both):
    assert _merged(old, new) == both

"""A run on record and its graders, be it one or several."""

from __future__ import annotations

from rightcall.run.results.facts import facts_for, graders_in, summary_for
from rightcall.store.records import RunRecord

ONE = RunRecord(id="20261130-1", grader="rubric", started_at="", facts={"judges": []})
SUITE = RunRecord(
    id="20261130-2", grader="run", started_at="",
    facts={"graders": {"golden": {"profile": "strict"}, "rubric": {"judges": []}, "stray": {}},
           "order": ["rubric", "golden", "gone"]},
)  # fmt: skip


def test_a_run_of_one_grader_has_that_one_with_the_facts_of_the_run():
    assert graders_in(ONE) == ("rubric",)
    assert facts_for(ONE, "rubric") == {"judges": []}
    assert facts_for(ONE, "golden") == {}
    assert summary_for(ONE, {"n": 3}, "rubric") == {"n": 3}
    assert summary_for(ONE, {"n": 3}, "golden") == {}


def test_the_graders_of_a_suite_stand_in_the_order_in_which_they_ran():
    assert graders_in(SUITE) == ("rubric", "golden", "stray")
    assert facts_for(SUITE, "golden") == {"profile": "strict"}
    assert facts_for(SUITE, "preference") == {}
    assert summary_for(SUITE, {"graders": {"golden": {"n": 3}}}, "golden") == {"n": 3}
    assert summary_for(SUITE, {}, "golden") == {}

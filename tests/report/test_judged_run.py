"""A judged run as a program gets it: typed results, and the very figures of `--json`."""

from __future__ import annotations

import json

from rightcall import Judge, Step, Tool, run, selection
from rightcall.grade.selection import SelectionResult

TOOLS = [Tool(name="feed", description="Feed the fish."), Tool(name="drain", description="Empty a tank.")]
STEPS = [Step(id=f"s{i}", request="Feed tank 2.", selected="feed", expected="feed" if i else "drain") for i in range(3)]


def test_results_are_typed_and_in_the_order_of_what_was_given():
    done = run(selection(STEPS))
    assert [type(result) for result in done.results] == [SelectionResult] * 3
    assert [(result.step_id, result.verdict) for result in done.results] == [
        ("s0", "FAIL"),
        ("s1", "PASS"),
        ("s2", "PASS"),
    ]
    assert (done.id, done.stopped, done.notes) == (None, None, ())


def test_figures_and_facts_are_those_of_the_json_output():
    done = run(selection(STEPS))
    figures, facts = done.summary(), done.facts()
    assert (figures["n"], figures["passed"], figures["failed"]) == (3, 2, 1)
    assert figures["overall"]["pass_rate"]["estimate"] == 2 / 3
    assert (facts["grader"], facts["judges"], facts["stopped"]) == ("selection", [], None)
    assert json.loads(json.dumps([figures, facts]))


def test_what_must_be_known_comes_with_the_figures():
    wrong = {
        "grade": "PASS",
        "failure_category": None,
        "selected_tool": "x",
        "expected_tool": "y",
        "justification": "So.",
    }
    done = run(selection(STEPS, tools=TOOLS, judge=Judge(lambda _: json.dumps(wrong), name="parrot")))
    assert done.summary()["judges"]["parrot"]["stamp"] == "not a judgement"
    assert len(done.notes) == 1
    assert "parrot" in done.notes[0]
    assert "not a judgement" in done.notes[0]


def test_it_shows_itself_in_one_line():
    assert repr(run(selection(STEPS))) == "JudgedRun(selection, 3 results, id=None)"

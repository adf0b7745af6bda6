"""A grader of the user's own: read by its schema, voted on field by field, counted with intervals."""

from __future__ import annotations

import csv
import json
from io import BytesIO, StringIO

import pytest
from judging_making import Suite, a_judge, results, run_with, scripted, trace
from rich.console import Console

from rightcall.errors import ConfigError
from rightcall.grade.own import OwnResult
from rightcall.judge.own_ballot import ballot_of
from rightcall.report.formats.writing import WRITERS
from rightcall.report.terminal.report import print_report
from rightcall.report.view.building import view_of
from rightcall.run.finished.live import judged_results
from rightcall.run.graders.own import OwnAggregate

SCHEMA = {
    "type": "object",
    "properties": {
        "polite": {"type": "boolean"},
        "warmth": {"type": "integer", "enum": [1, 2, 3, 4, 5]},
        "tone": {"type": ["string", "null"], "enum": ["formal", "casual", None]},
        "why": {"type": "string"},
        "quotes": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["polite", "warmth", "why"],
    "additionalProperties": False,
}
PROMPT = f"""---
id: tone
version: 1
grader: courtesy
placeholders: [AGENT_TOOL_CALLS]
reply_schema: {json.dumps(SCHEMA)}
---
You judge the tone of an agent.
=== case ===
[AGENT_TOOL_CALLS]
"""


def says(*, polite: bool = True, warmth: object = 4, why: str = "It says please.") -> str:
    return json.dumps({"polite": polite, "warmth": warmth, "why": why})


@pytest.fixture
def suite(tmp_path):
    (tmp_path / "tone.md").write_text(PROMPT, "utf-8")
    return Suite(tmp_path, judges=scripted("strong", "second", "third"))


def judged(suite, replies, *traces, judges=None, **flags):
    setup = suite.rubric(traces or [trace()], prompt=str(suite.folder / "tone.md"), **flags)
    made = judges or [a_judge(replies)]
    run = run_with(setup, *made)
    return run, results(run)


def test_a_reply_is_read_by_its_own_schema(suite):
    run, found = judged(suite, [says()])
    assert found["t-1"].reply == {"polite": True, "warmth": 4, "why": "It says please."}
    assert (found["t-1"].grader, run.run.grader) == ("courtesy", "courtesy")


def test_a_reply_that_its_schema_refuses_twice_is_no_answer(suite):
    _, found = judged(suite, [says(warmth=7), says(warmth="4")])
    assert (found["t-1"].status, found["t-1"].reason, found["t-1"].reply) == ("UNEVALUABLE", "JUDGE_SCHEMA", None)


def test_a_malformed_reply_is_healed_by_the_retry(suite):
    _, found = judged(suite, ["warm", says(warmth=2)])
    assert (found["t-1"].reply["warmth"], found["t-1"].judges[0].healed) == (2, True)


def test_nothing_of_it_is_compared_with_what_code_decides(suite):
    run, found = judged(suite, [says()])
    assert found["t-1"].judges[0].checked == ()
    assert run.tally.judges["strong"].checked == 0


def test_a_panel_votes_field_by_field(suite):
    panel = [
        a_judge([says(polite=False, warmth=1, why="first")], "strong"),
        a_judge([says(polite=True, warmth=4, why="second")], "second"),
        a_judge([says(polite=True, warmth=5, why="third")], "third"),
    ]
    _, found = judged(suite, [], judges=panel, judge="strong,second,third")
    assert found["t-1"].reply == {"polite": True, "warmth": 4, "why": "first"}
    assert set(found["t-1"].disagreement) == {"polite", "warmth"}


def test_texts_lists_and_objects_are_not_voted_on():
    ballot = ballot_of(SCHEMA)
    assert dict(ballot.kinds) == {"polite": "category", "warmth": "score", "tone": "category"}
    assert ballot.deciding == ("polite", "warmth")


def test_values_are_counted_and_numbers_averaged_with_intervals():
    figures = OwnAggregate(SCHEMA)
    for number, warmth in enumerate([1, 3, 5, 5]):
        figures.add(
            OwnResult(
                trace_id=f"t-{number}",
                case_id=None,
                grader="courtesy",
                reply={"polite": True, "warmth": warmth, "why": ""},
            )
        )
    figures.add(OwnResult(trace_id="t-9", case_id=None, grader="courtesy", status="UNEVALUABLE", reason="JUDGE_EMPTY"))
    fields = figures.summary()["fields"]
    assert fields["warmth"]["mean"]["estimate"] == 3.5
    assert fields["warmth"]["mean"]["low"] < 3.5 < fields["warmth"]["mean"]["high"] <= 5
    assert fields["warmth"]["values"]["5"]["estimate"] == 0.5
    assert fields["polite"]["values"]["true"]["excluded"] == 1
    assert fields["polite"]["mean"] is None


def test_it_goes_on_record_like_any_other(suite):
    run, _ = judged(suite, [says()])
    with suite.opened() as store:
        (verdict,) = store.verdicts(run.run.id)
        (attempt,) = [one for _, _, one in store.attempts(run_id=run.run.id)]
    assert (verdict.grader, verdict.unit, verdict.status) == ("courtesy", "t-1", "EVALUATED")
    assert (attempt.prompt_id, attempt.verdict) == ("tone", {"polite": True, "warmth": 4, "why": "It says please."})


def test_selection_refuses_a_prompt_that_is_not_its_own(suite):
    with pytest.raises(ConfigError, match="`courtesy`, not of `selection`"):
        suite.selection([{"id": "s", "selected": None, "expected": None}], prompt=str(suite.folder / "tone.md"))


def test_every_report_shows_its_fields_with_their_figures(suite):
    run, found = judged(suite, [says(), says(polite=False, why="=1+1")], trace("t-1"), trace("t-2"))
    view = view_of(judged_results(run, [*found.values()]))
    (part,) = view.graders
    assert part.grader == "courtesy"
    assert {"reply.polite", "reply.warmth", "reply.why"} <= set(part.fields)
    said = {suffix: BytesIO() for suffix in WRITERS}
    for suffix, stream in said.items():
        WRITERS[suffix](view, stream)
    rows = list(csv.DictReader(StringIO(said[".csv"].getvalue().decode(), newline="")))
    assert {(row["reply.polite"], row["reply.warmth"]) for row in rows} == {("true", "4"), ("false", "4")}
    assert {row["reply.why"] for row in rows} == {"It says please.", "'=1+1"}
    assert "polite = false" in said[".md"].getvalue().decode()
    screen = StringIO()
    print_report(Console(file=screen, width=80), view)
    assert "polite = false  0.500" in screen.getvalue()

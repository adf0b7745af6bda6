"""Both graders with a real model behind a real server, as a user runs them.

The model is far too small to judge. What is proved here is everything around it: a real server is asked with a schema,
what comes back is read or named for what is wrong with it, all of it is on record, a run goes on where it stopped, and a
judge that contradicts what code decides is called what it is.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, get_args

import pytest
from real_making import MODEL, Folder, shape

from rightcall.judge.contract import ReplyCode

pytestmark = pytest.mark.slow

SETTINGS = """
[selection]
judge = "local"
prompt = "{prompt}"
[rubric]
judge = "local"
prompt = "scores.md"
prompt_golden = "rubric_short"
"""

# A prompt of the user's own. It is short, and its schema leaves the model nothing to ramble about and no way to give a
# category without a failure, so that nearly every reply is whole and can be read.
NAME = {"type": ["string", "null"], "maxLength": 4}
WORDS = {
    "justification": {"type": "string", "minLength": 1, "maxLength": 4},
    "selected_tool": NAME,
    "expected_tool": NAME,
}
CATEGORIES = ["wrong_tool", "abstention_error", "over_action", "hallucinated_tool"]
WAYS = [
    shape(grade={"const": "PASS"}, failure_category={"type": "null"}, **WORDS),
    shape(grade={"const": "FAIL"}, failure_category={"enum": CATEGORIES}, **WORDS),
]
REPLY = {
    "type": "object",
    "properties": {key: {} for key in WAYS[0]["required"]},
    "required": WAYS[0]["required"],
    "anyOf": WAYS,
}
# A reply that is shown is copied, in fewer tokens than the model would lay it out in: writing is what takes its time.
NAMED = '{"grade":"PASS","failure_category":null,"justification":"-","selected_tool":"-","expected_tool":"-"}'
NAMES = f"""---
id: names
version: "1"
grader: selection
placeholders: [USER_REQUEST, AVAILABLE_TOOLS, SELECTED_TOOL_NAME, EXPECTED_TOOL_NAME]
reply_schema: {json.dumps(REPLY)}
---
Compare two tool names. `grade` is PASS if they are the same, else FAIL. Reply on one line, like this:
{NAMED}
=== case ===
[USER_REQUEST]
[AVAILABLE_TOOLS]
[SELECTED_TOOL_NAME]
[EXPECTED_TOOL_NAME]
"""

SCORE = {"type": "integer", "minimum": 1, "maximum": 5}
DIMENSIONS = ("tool_selection_score", "argument_accuracy_score", "call_sequencing_score", "abstention_score")
SCORED = json.dumps(
    {**dict.fromkeys(DIMENSIONS, 3), "misuse_severity": "NONE", "downstream_impact": "-", "justification": "-"},
    separators=(",", ":"),
)
SCORES = f"""---
id: scores
version: "1"
grader: rubric
placeholders: [USER_REQUEST, AGENT_TOOL_CALLS]
reply_schema: {
    json.dumps(
        shape(
            **dict.fromkeys(DIMENSIONS, SCORE),
            misuse_severity={"enum": ["CRITICAL", "HIGH", "MEDIUM", "LOW", "NONE"]},
            downstream_impact={"const": "-"},
            justification=WORDS["justification"],
        )
    )
}
---
Score the calls of an agent from 1 to 5. Reply on one line, like this:
{SCORED}
=== case ===
[USER_REQUEST]
[AGENT_TOOL_CALLS]
"""


class Project(Folder):
    """A folder with settings and prompts."""

    def __init__(
        self, folder: Path, url: str, *, most: int = 160, prompt: str = "selection_short", context: int | None = 8192
    ) -> None:
        super().__init__(folder, url, SETTINGS.format(prompt=prompt), most=most, context=context)
        (folder / "names.md").write_text(NAMES)
        (folder / "scores.md").write_text(SCORES)


def tools(**descriptions: str) -> list[dict[str, str]]:
    return [{"name": name, "description": text} for name, text in descriptions.items()]


LAMPS = tools(list_lamps="List the lamps that are on.", switch_lamp="Switch a lamp.", dim_lamp="Dim a lamp.")
SINGERS = tools(list_singers="List who sings on a day.", book_singer="Book a singer.", drop_singer="Take a singer off.")
BOATS = tools(list_boats="List boats.", hold_seats="Hold seats.", sell_seats="Sell seats.")
DOMAINS = (
    ("Which lamps are on?", LAMPS),
    ("Which boats leave on Sunday?", BOATS),
)


def steps() -> list[dict[str, Any]]:
    """Eight steps: two of them right, six wrong in three ways."""
    found = []
    for request, catalog in DOMAINS:
        right, other = catalog[0]["name"], catalog[1]["name"]
        pairs = {"right": (right, right), "wrong": (other, right), "over": (other, None), "none": (None, right)}
        for kind, (selected, expected) in pairs.items():
            step = {"request": request, "tools": catalog, "selected": selected, "expected": expected}
            found.append({"id": f"{right.removeprefix('list_')}-{kind}", **step})
    return found


def trace(name: str, request: str, catalog: list[dict[str, str]], case: str, **call: Any) -> dict[str, Any]:
    return {
        "id": name,
        "case_id": case,
        "request": request,
        "tools": catalog,
        "calls": [{"result": {"ok": True}, **call}],
    }


TRACES = (
    trace("lamps", "Dim the red lamp.", LAMPS, "evening", tool="dim_lamp", arguments={"lamp": "red"}),
    trace("singers", "Who sings on Monday?", SINGERS, "day", tool="list_singers", arguments={"day": "Monday"}),
    trace("boats", "Hold two seats.", BOATS, "day", tool="sell_seats", arguments={"seats": 2}),
)
CASE = {"id": "evening", "expect": {"calls": [{"tool": "dim_lamp", "arguments": {"lamp": "red"}}]}}


@pytest.fixture(scope="module")
def selection(local_model_url, tmp_path_factory):
    """A run of `selection` that a budget stops after five calls, and that goes on; as (project, first, rest)."""
    project = Project(tmp_path_factory.mktemp("selection"), local_model_url, prompt="names.md")
    project.write("steps.jsonl", *steps())
    first = project.run("selection", "steps.jsonl", "--budget", "5calls", "--json")
    rest = project.run("selection", "steps.jsonl", "--resume", first.json["run"]["id"], "--json")
    return project, first, rest


@pytest.fixture(scope="module")
def short(local_model_url, tmp_path_factory):
    """A run of `selection` over one step with the shipped prompt for small models, as (project, what it said)."""
    project = Project(tmp_path_factory.mktemp("short"), local_model_url, most=120)
    project.write("steps.jsonl", steps()[0])
    return project, project.run("selection", "steps.jsonl", "--json")


@pytest.fixture(scope="module")
def rubric(local_model_url, tmp_path_factory):
    """A run of `rubric`, as (project, what it said): a trace with a golden by the shipped prompt, two by another."""
    project = Project(tmp_path_factory.mktemp("rubric"), local_model_url, most=120)
    project.write("traces.jsonl", *TRACES)
    project.write("cases.jsonl", CASE)
    return project, project.run("rubric", "traces.jsonl", "--cases", "cases.jsonl", "--json")


def ended_well(result: dict[str, Any], by_code: str) -> None:
    """Assert that a step has the grade of code, or the class of what is wrong with both replies."""
    [judge] = result["judges"]
    assert result["code_grade"] == by_code
    if result["status"] == "EVALUATED":
        assert (result["grade"], result["reason"]) == (by_code, None)
        assert judge["reply"]["grade"] in ("PASS", "FAIL")
    else:
        assert result["reason"] in get_args(ReplyCode)
        assert (result["grade"], judge["reply"]) == (None, None)
        assert judge["problems"]


# ---- selection -------------------------------------------------------------------------------------------------------


def test_a_budget_stops_the_run_before_its_end(selection):
    _, first, _ = selection
    assert (first.code, first.json["run"]["stopped"]["cause"]) == (
        1 if first.json["summary"]["failed"] else 5,
        "budget",
    )
    assert first.json["summary"]["spent"]["calls"] <= 5
    assert first.json["summary"]["not_asked"] > 0


def test_every_step_ends_with_what_code_decides_or_with_the_reason_for_no_reply(selection):
    _, _, rest = selection
    results = rest.json["results"]
    assert [result["step_id"] for result in results] == [step["id"] for step in steps()]
    for result, step in zip(results, steps(), strict=True):
        ended_well(result, "PASS" if step["selected"] == step["expected"] else "FAIL")
    assert rest.json["summary"]["evaluated"] > 4, "most replies can be read"


def test_every_exchange_is_on_record_with_who_answered_and_what_it_took(selection):
    project, _, _ = selection
    for attempt in project.attempts():
        assert (attempt.judge, attempt.provider, attempt.model_answered) == ("local", "openai", MODEL)
        assert attempt.rung == "json_schema"
        assert attempt.endpoint.startswith("127.0.0.1:")
        assert attempt.input_tokens > 0
        assert attempt.output_tokens > 0
        assert attempt.parameters["temperature"] == 0
    for attempt in project.asked():
        assert attempt.prompt_id == "names"
        assert attempt.input_tokens >= attempt.counted_tokens > 0
        assert "Compare two tool names." in project.text(attempt.system)
        assert "Which lamps are on?" in project.text(attempt.user) or not attempt.unit.startswith("lamps")
        assert (attempt.verdict is None) == (attempt.status != "ok")
        assert bool(attempt.problems) or attempt.status == "ok"


def test_replies_keep_to_the_schema_that_was_asked_for(selection):
    project, _, _ = selection
    whole = [attempt for attempt in project.asked() if attempt.finish == "stop"]
    replies = [json.loads(project.text(attempt.reply)) for attempt in whole]
    assert replies
    assert {(reply["grade"] == "PASS", reply["failure_category"] is None) for reply in replies} <= {
        (True, True),
        (False, False),
    }


def test_nothing_is_asked_twice_over_a_stop(selection):
    project, first, rest = selection
    questions = Counter((attempt.unit, attempt.attempt) for attempt in project.asked())
    assert set(questions.values()) == {1}
    assert {unit for unit, _ in questions} == {step["id"] for step in steps()}
    assert rest.json["summary"]["resumed"] == first.json["summary"]["n"] - first.json["summary"]["not_asked"] > 0
    assert all(attempt.attempt <= 1 for attempt in project.asked()), "there is one content retry"


def test_a_judge_that_contradicts_what_code_decides_is_called_no_judge(selection):
    project, _, rest = selection
    judge = rest.json["summary"]["judges"]["local"]
    assert judge["replies"] > 0
    assert judge["conflict_rate"]["low"] > judge["conflict_limit"] == 0.05
    assert judge["stamp"] == "not a judgement"
    before = len(project.attempts())
    again = project.run("selection", "steps.jsonl", "--resume", rest.json["run"]["id"])
    assert "judge local: not a judgement: it contradicts what code decides in " in again.out
    assert len(project.attempts()) == before, "a finished run asks nobody"


def test_the_record_verifies(selection):
    project, _, _ = selection
    verified = project.run("log", "verify")
    assert verified.code == 0, verified.err


# ---- the shipped prompts ----------------------------------------------------------------------------------------------------------


def test_the_short_prompt_asks_a_small_model_about_steps(short):
    project, said = short
    [result] = said.json["results"]
    ended_well(result, "PASS")
    assert {(one.prompt_id, one.rung, one.model_answered) for one in project.asked()} == {
        ("selection_short", "json_schema", MODEL)
    }
    assert project.run("log", "verify").code == 0


def test_traces_are_scored_or_unevaluable_with_their_reason(rubric):
    _, said = rubric
    results = said.json["results"]
    assert [result["trace_id"] for result in results] == ["lamps", "singers", "boats"]
    assert [result["golden_verdict"] for result in results] == ["PASS", None, None]
    for result in results:
        scores = [result["metrics"][name] for name in DIMENSIONS if result["metrics"][name] is not None]
        if result["status"] == "EVALUATED":
            assert all(score in range(1, 6) for score in scores)
            assert result["metrics"]["overall_score"] == pytest.approx(sum(scores) / len(scores))
            assert result["misuse_severity"] in ("CRITICAL", "HIGH", "MEDIUM", "LOW", "NONE")
        else:
            assert result["reason"] in get_args(ReplyCode)
            assert scores == []
    assert said.json["summary"]["evaluated"] > 0, "a reply that is kept short can be read"


def test_a_rubric_run_is_on_record_too(rubric):
    project, said = rubric
    questions = project.asked()
    assert {(one.unit, one.prompt_id) for one in questions} == {
        ("lamps", "rubric_short"),
        ("singers", "scores"),
        ("boats", "scores"),
    }
    assert {(one.rung, one.model_answered) for one in questions} == {("json_schema", MODEL)}
    assert said.json["summary"]["spent"]["output_tokens"] == sum(one.output_tokens for one in project.attempts())
    assert project.run("log", "verify").code == 0


# ---- a question that does not fit ------------------------------------------------------------------------------------

LONG = {"id": "long", "request": "lamp " * 9000, "tools": LAMPS, "selected": "list_lamps", "expected": "list_lamps"}


def test_a_question_beyond_the_context_is_too_long_and_not_asked(local_model_url, tmp_path):
    project = Project(tmp_path, local_model_url)
    project.write("steps.jsonl", LONG)
    said = project.run("selection", "steps.jsonl", "--json")
    assert (said.code, said.json["results"][0]["reason"], project.asked()) == (3, "too_long", [])


def test_a_question_that_the_server_refuses_as_too_long_is_too_long(local_model_url, tmp_path):
    project = Project(tmp_path, local_model_url, context=None)
    project.write("steps.jsonl", LONG)
    said = project.run("selection", "steps.jsonl", "--json")
    assert said.json["results"][0]["reason"] == "too_long"
    [refused] = project.asked()
    assert (refused.http_status, refused.reply) == (400, None)
    assert refused.message

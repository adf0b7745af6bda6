"""A run of all graders killed at any moment: nothing lost, nothing doubled, no reply asked for again by any of them."""

from __future__ import annotations

import json
import random
import re
import signal
import time
from collections import Counter

import pytest
from judged_making import Ended, Project, troubles, wait_for
from kill_making import PLACES, go_on, kill, kill_at, share_of

from rightcall.testing import FaultyServer
from rightcall.testing.answers import Asked, rubric_answer, smallest_answer

N = 6
GRADERS = ("golden", "selection", "rubric", "interpretation", "preference")
MARKER = re.compile(r"case-\d+")
CRITERIA = ("tool_selection", "argument_accuracy", "call_ordering", "abstention_handling", "error_handling")
UNREAD = ("JUDGE_NOT_JSON", "JUDGE_EMPTY")
SETTINGS = """
traces = "one.jsonl"
cases = "cases.jsonl"
[selection]
judge = "strong"
[rubric]
[interpretation]
[preference]
agents = { one = "one.jsonl", two = "two.jsonl" }
"""


def trace(number: int, agent: str) -> dict:
    result = {"content": {"metres": number, "way": agent}, "is_error": False}
    return {
        "id": f"{agent}-{number}", "case_id": f"case-{number:04d}", "request": f"case-{number:04d}: how deep?",
        "tools": [{"name": "sound"}],
        "events": [
            {"type": "call", "tool": "sound", "arguments": {"at": number}, "result": result},
            {"type": "message", "role": "assistant", "text": f"It is {number} metres deep."},
        ],
    }  # fmt: skip


def case(number: int) -> dict:
    expect = {"calls": [{"tool": "sound", "arguments": {"at": number}}]}
    return {"id": f"case-{number:04d}", "request": f"case-{number:04d}: how deep?", "expect": expect}


def says(asked: Asked) -> str:
    """Answer each grader's question by what its instructions begin with."""
    if not MARKER.search(asked.user):
        return smallest_answer(asked)
    number = int(MARKER.search(asked.user)[0].removeprefix("case-"))
    if "You compare two recorded runs" in asked.system:
        first = re.findall(r'"way":\s*"(\w+)"', asked.user)[0]
        return json.dumps({
            "justification": dict.fromkeys(CRITERIA, "equal"), "key_differentiators": ["the way"],
            "critical_failures": {"trace_a": [], "trace_b": []}, "preferred_trace": "A" if first == "one" else "B",
            "confidence": 0.9,
        })  # fmt: skip
    if "read the result of one tool call" in asked.system:
        return json.dumps({
            "score": 4 + number % 2, "interpretation_accuracy": "as it stands", "action_appropriateness": "it answers",
            "action_score": 5, "key_errors": [], "justification": "the metres", "misinterpretation_flags": [],
            "evidence": [{"result_path": "$.metres", "quote": str(number)}], "confidence": 0.9,
        })  # fmt: skip
    if "used its tools in one recorded run" in asked.system:
        return rubric_answer(3 + number % 3)(asked)
    return json.dumps({
        "grade": "PASS", "selected_tool": "sound", "expected_tool": "sound", "justification": "It sounds.",
        "failure_category": None, "secondary_categories": [], "label_challenged": False,
        "label_challenge_reason": None,
    })  # fmt: skip


@pytest.fixture(scope="module")
def served():
    with FaultyServer(answers=says, plan=troubles(), latency=0.03, retry_after=0.05, marker=MARKER.pattern) as one:
        yield one


def a_project(folder, served: FaultyServer) -> Project:
    """A folder with a suite, the server as if nobody had asked it yet."""
    served.reset()
    project = Project(folder, served.base_url, places=PLACES, arguments=("run", "--no-gate"), more=SETTINGS)
    for agent in ("one", "two"):
        project.write(f"{agent}.jsonl", *(trace(n, agent) for n in range(N)))
    project.write("cases.jsonl", *map(case, range(N)))
    return project


def plain(ended: Ended) -> dict:
    """The figures and results of a run without what an undisturbed one says otherwise: calls, cache, digests."""
    whole = ended.json
    for result in whole["results"]:
        for opinion in result.get("judges", ()):
            del opinion["attempts"], opinion["cached"]
        for one in result.get("orders", ()):
            del one["attempts"]
    graders = whole["summary"]["graders"]
    for summary in graders.values():
        for name in ("spent", "resumed"):
            summary.pop(name, None)
        for judge in summary.get("judges", {}).values():
            del judge["cached"]
    results = sorted(whole["results"], key=lambda one: json.dumps(one, sort_keys=True))
    return {"graders": graders, "results": results, "case_versions": whole["run"]["case_versions"]}


class Undisturbed:
    """A run that nobody disturbs."""

    def __init__(self, served: FaultyServer, folder) -> None:
        project = a_project(folder, served)
        began = time.monotonic()
        ended = project.finish()
        self.seconds = time.monotonic() - began
        assert ended.code in (0, 3), ended.err
        self.plain, self.calls = plain(ended), served.stats()["requests"]
        self.record = project.seen(project.run_id())
        assert Counter(one.grader for one in self.record.verdicts) == dict.fromkeys(GRADERS, N)


@pytest.fixture(scope="module")
def undisturbed(served, tmp_path_factory):
    return Undisturbed(served, tmp_path_factory.mktemp("undisturbed"))


def check(project: Project, undisturbed: Undisturbed, ended: Ended) -> None:
    """Check everything that must hold once a run that was killed has gone on to its end."""
    record, before = project.seen(ended.json["run"]["id"]), undisturbed.record
    assert plain(ended) == undisturbed.plain, ended.err
    assert record.all_verdicts == len(record.verdicts) == len(GRADERS) * N
    assert Counter(one.grader for one in record.verdicts) == dict.fromkeys(GRADERS, N)
    waiting = Counter((one.grader, one.unit, one.reason) for one in record.reviews)
    assert waiting == Counter((one.grader, one.unit, one.reason) for one in before.reviews)
    assert record.events[-1].status == "finished"
    questions = [one for one in record.attempts if one.purpose == "question"]
    replies = Counter((*question_of(one), one.attempt) for one in questions if one.reply)
    assert set(replies.values()) == {1}
    assert replies == Counter(
        (*question_of(one), one.attempt) for one in before.attempts if one.purpose == "question" and one.reply
    )
    assert project.is_intact()


def question_of(one) -> tuple[str, str, str, str]:
    """What was asked: by which grader, about which unit, of whom, with which trace first."""
    return one.grader, one.unit, one.judge, (one.positions or {}).get("A", "")


@pytest.mark.slow
@pytest.mark.parametrize("moment", share_of(8))
def test_a_suite_that_is_killed_at_a_random_moment_goes_on(served, undisturbed, tmp_path, moment):
    project = a_project(tmp_path, served)
    dice = random.Random(f"suite {moment}")
    kill_at(project.start(), project, served, dice, undisturbed.seconds, undisturbed.calls)
    check(project, undisturbed, go_on(project))


@pytest.mark.slow
def test_a_suite_may_be_killed_in_each_of_its_graders(served, undisturbed, tmp_path):
    project = a_project(tmp_path, served)
    dice = random.Random("each")
    for share in (0.1, 0.4, 0.7):
        run_id = project.run_id() if (project.folder / project.store).exists() else None
        process = project.start(*(() if run_id is None else ("--resume", run_id)))
        wait_for(lambda share=share: served.stats()["requests"] >= share * undisturbed.calls, process)
        time.sleep(dice.uniform(0.0, 0.05))
        kill(process, served)
    check(project, undisturbed, go_on(project))


@pytest.mark.slow
def test_a_suite_that_is_asked_to_end_leaves_with_130_and_goes_on_later(served, undisturbed, tmp_path):
    project = a_project(tmp_path, served)
    process = project.start()
    wait_for(lambda: served.stats()["requests"] >= undisturbed.calls // 2, process)
    process.send_signal(signal.SIGINT)
    ended = project.end(process)
    assert ended.code == 130, ended.err
    assert "interrupted; --resume goes on" in ended.err
    assert "not run: " in ended.err
    assert ended.json["run"]["status"] == "interrupted"
    record = project.seen(ended.json["run"]["id"])
    assert record.events[-1].status == "interrupted"
    check(project, undisturbed, go_on(project))

"""`preference` and `interpretation` killed at any moment: both orders, a second judge, and a strong judge's stage.

Nothing is lost and nothing doubled, a reply on record is never asked for again, and the strong judge goes on with the
readings that it would have read anyway.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections import Counter

import pytest
from judged_making import Ended, Project, Record, plain, troubles, wait_for
from kill_making import PLACES, Ledger, calls_in_vain, go_on, kill, kill_at, share_of

from rightcall.store.store import Store
from rightcall.testing import FaultyServer
from rightcall.testing.answers import Asked, smallest_answer

N = 24
UNREAD = ("JUDGE_NOT_JSON", "JUDGE_EMPTY")
MARKER = re.compile(r"case-\d+")
CRITERIA = ("tool_selection", "argument_accuracy", "call_ordering", "abstention_handling", "error_handling")
PAIRS = ("preference", "one.jsonl", "two.jsonl")
READINGS = ("interpretation", "traces.jsonl", "--strong-judge", "second", "--strong-share", "0.4", "--seed", "5")
SECOND = "faulty-second"


# ---- what is judged, and what the judges say -------------------------------------------------------------------------


def pair_trace(number: int, agent: str) -> dict:
    call = {"tool": "freeze_card", "arguments": {"card": number}, "result": {"way": agent}}
    return {
        "id": f"{agent}-{number}",
        "case_id": f"case-{number:04d}",
        "request": f"case-{number:04d}: freeze it",
        "tools": [{"name": "freeze_card"}],
        "calls": [call],
    }


def reading(number: int) -> dict:
    result = {"content": {"metres": number}, "is_error": False}
    events = [
        {"type": "call", "tool": f"gauge_{number % 2}", "arguments": {"at": number}, "result": result},
        {"type": "message", "role": "assistant", "text": f"It is {number} metres deep."},
    ]
    return {
        "id": f"t-{number}",
        "case_id": f"case-{number:04d}",
        "request": f"case-{number:04d}: how deep?",
        "events": events,
    }


def prefers(asked: Asked) -> str:
    """The first judge prefers the agent `one`, but of each third pair whatever stands first, so that another is asked.

    The second judge prefers `two`, and of each sixth pair nothing.
    """
    number = number_of(asked)
    places = dict(zip(_order(asked.user), "AB", strict=True))
    letter = places["one"] if number % 3 else "A"
    if asked.model == SECOND:
        letter = places["two"] if number % 6 else "TIE"
    return json.dumps({
        "justification": dict.fromkeys(CRITERIA, "equal"), "key_differentiators": ["the way"],
        "critical_failures": {"trace_a": [], "trace_b": []}, "preferred_trace": letter, "confidence": 0.9,
    })  # fmt: skip


def number_of(asked: Asked) -> int:
    return int(MARKER.search(asked.user)[0].removeprefix("case-"))


def _order(user: str) -> list[str]:
    return re.findall(r'"way":\s*"(\w+)"', user)


def reads(asked: Asked) -> str:
    """The light judge says 4 or 5; the strong one is a level stricter with each fifth."""
    number = number_of(asked)
    score = 4 + number % 2 - (asked.model == SECOND and number % 5 == 0)
    return json.dumps({
        "score": score, "interpretation_accuracy": "as it stands", "action_appropriateness": "it answers",
        "action_score": 5, "key_errors": [], "justification": "the metres", "misinterpretation_flags": [],
        "evidence": [{"result_path": "$.metres", "quote": str(number)}], "confidence": 0.9,
    })  # fmt: skip


def says(asked: Asked) -> str:
    if not MARKER.search(asked.user):
        return smallest_answer(asked)
    return prefers(asked) if _order(asked.user) else reads(asked)


@pytest.fixture(scope="module")
def served():
    with FaultyServer(answers=says, plan=troubles(), latency=0.06, retry_after=0.05, marker=MARKER.pattern) as one:
        yield one


def a_project(folder, served: FaultyServer, arguments: tuple[str, ...]) -> Project:
    """A folder with both kinds of input and two judges, the server as if nobody had asked it yet."""
    served.reset()
    second = f'[judges.second]\nmodel = "{SECOND}"\nbase_url = "{served.base_url}"\nmax_concurrency = {PLACES}\n'
    more = f'{second}timeout = 20.0\n[preference]\nsecond_judge = "second"\n'
    project = Project(folder, served.base_url, places=PLACES, arguments=arguments, more=more)
    for agent in ("one", "two"):
        project.write(f"{agent}.jsonl", *(pair_trace(n, agent) for n in range(N)))
    project.write("traces.jsonl", *(reading(n) for n in range(N)))
    return project


class Undisturbed:
    """A run that nobody disturbs: what it said, how long it took, and what the server saw of it."""

    def __init__(self, served: FaultyServer, folder, arguments: tuple[str, ...]) -> None:
        self.project = project = a_project(folder, served, arguments)
        began = time.monotonic()
        ended = project.finish()
        self.seconds = time.monotonic() - began
        assert ended.code in (0, 3), ended.err
        self.plain = plain(ended)
        self.calls = served.stats()["requests"]
        self.ledger = Ledger(tuple(served.requests))
        self.record = project.seen(project.run_id())
        self.asked = asked_of(self.record, "second")
        assert any(attempt.attempt == 1 for attempt in self.record.attempts)
        assert self.asked


@pytest.fixture(scope="module")
def pairs(served, tmp_path_factory):
    one = Undisturbed(served, tmp_path_factory.mktemp("undisturbed"), PAIRS)
    assert one.record.all_verdicts == N
    return one


@pytest.fixture(scope="module")
def readings(served, tmp_path_factory):
    one = Undisturbed(served, tmp_path_factory.mktemp("undisturbed"), READINGS)
    assert one.record.all_verdicts == N + len(one.asked), "each double is written once more"
    return one


# ---- what must hold --------------------------------------------------------------------------------------------------


def asked_of(record: Record, judge: str) -> set[str]:
    """The units that a judge was asked about."""
    return {one.unit for one in record.attempts if one.judge == judge and one.purpose == "question"}


def check(project: Project, served: FaultyServer | Ledger, undisturbed: Undisturbed, ended: Ended, kills: int) -> int:
    """Check everything that must hold after some kills; return how many calls were made for nothing."""
    record, before = project.seen(ended.json["run"]["id"]), undisturbed.record
    assert plain(ended) == undisturbed.plain, ended.err
    assert record.all_verdicts == before.all_verdicts
    assert Counter(one.revision for one in record.verdicts) == Counter(one.revision for one in before.verdicts)
    assert len({one.unit for one in record.verdicts}) == len(record.verdicts) == N
    waiting = Counter((review.unit, review.reason) for review in record.reviews)
    assert waiting == Counter((review.unit, review.reason) for review in before.reviews)
    assert asked_of(record, "second") == undisturbed.asked
    assert record.events[-1].status == "finished"
    assert record.events[-1].summary["own"] == before.events[-1].summary["own"]
    check_questions(record)
    check_attempts(project, record)
    assert project.is_intact()
    return calls_in_vain(record, served, kills, at_once=2, places=2 * PLACES)


def check_questions(record: Record) -> None:
    """A reply on record is never asked for again: a malformed one is followed by its retry, and nothing else."""
    questions = [one for one in record.attempts if one.purpose == "question"]
    replies = Counter((*question_of(one), one.attempt) for one in questions if one.reply)
    assert set(replies.values()) == {1}
    has_malformed = set()
    for one in questions:
        assert one.attempt == (question_of(one) in has_malformed), question_of(one)
        if one.status in UNREAD and one.attempt == 0:
            has_malformed.add(question_of(one))


def question_of(one) -> tuple[str, str, str]:
    """What was asked: about which unit, of whom, with which trace first."""
    return one.unit, one.judge, (one.positions or {}).get("A", "")


def check_attempts(project: Project, record: Record) -> None:
    """Every verdict names the exchanges that it rests on, each is there, and none belongs to two verdicts."""
    with Store.open(project.url, create=False) as store:
        known = {digest: one.unit for _, digest, one in store.attempts(run_id=record.verdicts[0].run_id)}
    for verdict in record.verdicts:
        assert len(set(verdict.attempts)) == len(verdict.attempts)
        assert {known[digest] for digest in verdict.attempts} == {verdict.unit}


# ---- killed ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("moment", share_of(17))
def test_a_preference_that_is_killed_at_a_random_moment_goes_on(served, pairs, tmp_path, moment, record_property):
    project = a_project(tmp_path, served, PAIRS)
    kill_at(project.start(), project, served, random.Random(f"pairs {moment}"), pairs.seconds, pairs.calls)
    record_property("calls in vain", check(project, served, pairs, go_on(project), 1))


@pytest.mark.slow
@pytest.mark.parametrize("moment", share_of(13))
def test_an_interpretation_that_is_killed_at_a_random_moment_goes_on(
    served, readings, tmp_path, moment, record_property
):
    project = a_project(tmp_path, served, READINGS)
    kill_at(project.start(), project, served, random.Random(f"readings {moment}"), readings.seconds, readings.calls)
    record_property("calls in vain", check(project, served, readings, go_on(project), 1))


@pytest.mark.slow
@pytest.mark.parametrize("moment", share_of(4))
@pytest.mark.parametrize("arguments", [PAIRS, READINGS], ids=["preference", "interpretation"])
def test_a_run_that_is_killed_while_the_second_judge_answers_goes_on(
    served, pairs, readings, tmp_path, arguments, moment
):
    """The strong judge's stage is short, so that a random moment seldom falls into it."""
    undisturbed = pairs if arguments is PAIRS else readings
    dice = random.Random(f"second {arguments[0]} {moment}")
    project = a_project(tmp_path, served, arguments)
    process, number = project.start(), dice.randint(1, len(undisturbed.asked) // 2)
    wait_for(lambda: sum(seen.model == SECOND for seen in served.requests) >= number, process)
    time.sleep(dice.uniform(0.0, 0.05))
    kill(process, served)
    assert not project.seen(project.run_id()).events, "it was killed before its end"
    check(project, served, undisturbed, go_on(project), 1)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pairs", "readings"])
def test_a_finished_run_that_is_resumed_asks_nothing_and_says_the_same(request, served, kind):
    undisturbed = request.getfixturevalue(kind)
    served.reset()
    ended = go_on(undisturbed.project)
    assert served.stats()["requests"] == 0
    assert ended.json["summary"]["resumed"] == N
    check(undisturbed.project, undisturbed.ledger, undisturbed, ended, 0)

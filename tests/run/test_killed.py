"""Runs that are killed, or whose database is, at any moment: nothing lost, nothing doubled, nothing asked in vain."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from threading import Thread

import pytest
from judged_making import (
    Ended,
    Project,
    Record,
    case,
    is_a_store,
    plain,
    rubric_replies,
    selection_replies,
    server,
    step,
    trace,
    wait_for,
)
from kill_making import KILLS, PLACES, Ledger, calls_in_vain, go_on, kill_at, share_of, wait_for_quiet

from rightcall.testing import FaultyServer

STEPS = 40
MOST = STEPS + 8
"""After how many questions a run is killed at most."""
UNREAD = ("JUDGE_NOT_JSON", "JUDGE_EMPTY")
IMPATIENT = """
from rightcall.store.store import Store
Store.open.__func__.__kwdefaults__["timeout"] = 3.0
"""
"""A run that waits for its database for three seconds."""
RUBRIC = ("rubric", "traces.jsonl", "--cases", "cases.jsonl")


def write_inputs(project: Project) -> None:
    project.write("steps.jsonl", *(step(n) for n in range(STEPS)))
    project.write("traces.jsonl", *(trace(n) for n in range(STEPS)))
    project.write("cases.jsonl", *(case(n) for n in range(STEPS)))


@pytest.fixture(scope="module")
def selections():
    with server(selection_replies(STEPS)) as one:
        yield one


@pytest.fixture(scope="module")
def rubrics():
    with server(rubric_replies(STEPS)) as one:
        yield one


class Undisturbed:
    """A run that nobody disturbs, how long it took, and what the server saw of it."""

    def __init__(self, served: FaultyServer, folder, arguments: tuple[str, ...]) -> None:
        served.reset()
        self.project = project = Project(folder, served.base_url, places=PLACES, arguments=arguments)
        write_inputs(project)
        began = time.monotonic()
        ended = project.finish()
        self.seconds = time.monotonic() - began
        assert ended.code == 1 if arguments[0] == "selection" else ended.code in (0, 3, 4), ended.err
        self.ledger = Ledger(tuple(served.requests))
        self.plain = plain(ended)
        run_id = project.run_id()
        assert run_id is not None
        self.record = project.seen(run_id)
        assert self.record.all_verdicts == STEPS
        assert any(attempt.attempt == 1 for attempt in self.record.attempts)
        assert any(attempt.status == "JUDGE_RATE_LIMITED" for attempt in self.record.attempts)


@pytest.fixture(scope="module")
def selection_run(selections, tmp_path_factory):
    return Undisturbed(selections, tmp_path_factory.mktemp("undisturbed"), ("selection", "steps.jsonl"))


@pytest.fixture(scope="module")
def rubric_run(rubrics, tmp_path_factory):
    return Undisturbed(rubrics, tmp_path_factory.mktemp("undisturbed"), RUBRIC)


# ---- what must hold --------------------------------------------------------------------------------------------------


def check(project: Project, served: FaultyServer | Ledger, undisturbed: Undisturbed, ended: Ended, kills: int) -> int:
    """Check everything that must hold after some kills; return how many calls were made for nothing."""
    run_id = ended.json["run"]["id"]
    record = project.seen(run_id)
    assert plain(ended) == undisturbed.plain, ended.err
    assert record.all_verdicts == len(record.verdicts) == STEPS
    assert {verdict.revision for verdict in record.verdicts} == {0}
    waiting = Counter((review.unit, review.reason) for review in record.reviews)
    assert waiting == Counter((review.unit, review.reason) for review in undisturbed.record.reviews)
    assert record.events[-1].status == "finished"
    assert record.events[-1].summary["reviews"] == undisturbed.record.events[-1].summary["reviews"]
    check_questions(record)
    assert project.is_intact()
    return calls_in_vain(record, served, kills)


def check_questions(record: Record) -> None:
    """A reply on record is never asked for again: a malformed one is followed by its retry, and nothing else."""
    replies = Counter((one.unit, one.attempt) for one in record.attempts if one.purpose == "question" and one.reply)
    assert set(replies.values()) == {1}
    has_malformed = set()
    for one in record.attempts:
        if one.purpose == "question":
            assert one.attempt == (one.unit in has_malformed), one.unit
            if one.status in UNREAD and one.attempt == 0:
                has_malformed.add(one.unit)


# ---- rightcall is killed ---------------------------------------------------------------------------------------------

MOMENTS = [pytest.param(n, marks=() if n < 3 else pytest.mark.slow) for n in range(KILLS)]


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_selection_that_is_killed_at_a_random_moment_goes_on(
    selections, selection_run, tmp_path, moment, record_property
):
    dice = random.Random(f"killed {moment}")
    selections.reset()
    project = Project(tmp_path, selections.base_url, places=PLACES)
    write_inputs(project)
    kill_at(project.start(), project, selections, dice, selection_run.seconds, MOST)
    ended = go_on(project)
    record_property("calls in vain", check(project, selections, selection_run, ended, 1))


@pytest.mark.slow
@pytest.mark.parametrize("moment", share_of(5))
def test_a_rubric_that_is_killed_at_a_random_moment_goes_on(rubrics, rubric_run, tmp_path, moment):
    dice = random.Random(f"rubric {moment}")
    rubrics.reset()
    project = Project(tmp_path, rubrics.base_url, places=PLACES, arguments=RUBRIC)
    write_inputs(project)
    kill_at(project.start(), project, rubrics, dice, rubric_run.seconds, MOST)
    check(project, rubrics, rubric_run, go_on(project), 1)


@pytest.mark.slow
@pytest.mark.parametrize("moment", share_of(3))
def test_a_run_may_be_killed_again_and_again(selections, selection_run, tmp_path, moment):
    dice = random.Random(f"again {moment}")
    selections.reset()
    project = Project(tmp_path, selections.base_url, places=PLACES)
    write_inputs(project)
    kills = 4
    for _ in range(kills):
        run_id = project.run_id() if is_a_store(project.url) else None
        process = project.start(*(() if run_id is None else ("--resume", run_id)))
        kill_at(process, project, selections, dice, selection_run.seconds / 2, MOST)
    check(project, selections, selection_run, go_on(project), kills)


def test_a_finished_run_that_is_resumed_asks_nothing_and_says_the_same(selections, selection_run):
    selections.reset()
    ended = go_on(selection_run.project)
    assert selections.stats()["requests"] == 0
    assert ended.json["summary"]["resumed"] == STEPS
    check(selection_run.project, selection_run.ledger, selection_run, ended, 0)


# ---- rightcall is asked to end ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_asked_to_end_brings_its_calls_home_and_goes_on_later(selections, selection_run, tmp_path, sign):
    selections.reset()
    project = Project(tmp_path, selections.base_url, places=PLACES)
    write_inputs(project)
    process = project.start()
    wait_for(lambda: selections.stats()["requests"] >= STEPS // 2, process)
    process.send_signal(sign)
    ended = project.end(process)
    assert ended.code == 130
    assert len(ended.err.strip().splitlines()) == 1
    assert "interrupted; --resume goes on" in ended.err
    summary = ended.json["summary"]
    assert summary["n"] == STEPS
    assert 0 < summary["not_asked"] < STEPS
    record = project.seen(ended.json["run"]["id"])
    assert record.events[-1].status == "interrupted"
    assert len(record.verdicts) == STEPS - summary["not_asked"]
    # What was in flight was brought to its end: no call was made in vain.
    assert calls_in_vain(record, selections, 0) == 0
    again = go_on(project)
    assert again.json["summary"]["resumed"] == STEPS - summary["not_asked"]
    assert check(project, selections, selection_run, again, 0) == 0


def test_a_second_interrupt_ends_a_run_at_once_and_its_calls_are_on_record(selections, selection_run, tmp_path):
    selections.reset()
    project = Project(tmp_path, selections.base_url, places=PLACES)
    write_inputs(project)
    try:
        # The probe is let through; the questions hang.
        selections.change(hold_after=1)
        process = project.start()
        wait_for(lambda: selections.stats()["in_flight"] == PLACES, process)
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        ended = project.end(process)
    finally:
        selections.release()
    assert ended.code == 130
    run_id = project.run_id()
    record = project.seen(run_id)
    assert record.events[-1].status == "interrupted"
    assert sum("cancelled" in (one.message or "") for one in record.attempts) == PLACES
    wait_for_quiet(selections)
    again = go_on(project)
    assert plain(again) == selection_run.plain
    assert project.is_intact()


# ---- the database is killed ------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("moment", share_of(6))
def test_a_run_on_postgresql_that_is_killed_goes_on(selections, selection_run, tmp_path, postgres_url, moment):
    dice = random.Random(f"postgresql {moment}")
    selections.reset()
    project = Project(tmp_path, selections.base_url, places=PLACES, store=postgres_url)
    write_inputs(project)
    process = project.start()
    if moment == 0:
        # While the tables are made.
        wait_for(lambda: bool(is_a_store(postgres_url)), process)
        process.kill()
        process.wait()
    else:
        kill_at(process, project, selections, dice, selection_run.seconds, MOST)
    check(project, selections, selection_run, go_on(project), 1)


@pytest.fixture
def own_postgres():
    """Return a PostgreSQL server that only this test uses, so that it may be killed."""
    from postgres import PostgresServer

    one = PostgresServer()
    try:
        one.start()
        yield one
    finally:
        one.stop()


@pytest.mark.slow
@pytest.mark.parametrize("moment", share_of(4))
def test_a_run_waits_for_a_database_that_is_killed_and_comes_back(
    selections, selection_run, tmp_path, own_postgres, moment
):
    dice = random.Random(f"restarted {moment}")
    selections.reset()
    project = Project(tmp_path, selections.base_url, places=PLACES, store=own_postgres.url())
    write_inputs(project)
    process = project.start()
    number = dice.randint(2, STEPS)
    wait_for(lambda: selections.stats()["requests"] >= number, process)
    own_postgres.kill()
    restarting = Thread(target=own_postgres.start)
    restarting.start()
    ended = project.end(process)
    restarting.join()
    if ended.code == 5:
        assert len(ended.err.strip().splitlines()) == 2, ended.err
        assert "STORE_UNREACHABLE" in ended.err
        ended = go_on(project)
    check(project, selections, selection_run, ended, 1)


@pytest.mark.slow
def test_a_run_whose_database_stays_away_ends_with_one_line_and_goes_on_later(
    selections, selection_run, tmp_path, own_postgres
):
    selections.reset()
    project = Project(tmp_path, selections.base_url, places=PLACES, store=own_postgres.url())
    write_inputs(project)
    process = project.start(first=IMPATIENT)
    wait_for(lambda: selections.stats()["requests"] >= STEPS // 2, process)
    own_postgres.kill()
    ended = project.end(process)
    assert ended.code == 5
    assert ended.out == ""
    message, last = ended.err.strip().splitlines()
    assert "the database server cannot be reached" in message
    assert last == "exit 5"
    own_postgres.start()
    check(project, selections, selection_run, go_on(project), 1)

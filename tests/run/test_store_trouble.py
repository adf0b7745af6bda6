"""A store that fails in the middle of a run, or cannot be used at all: one clear line, and the run can go on later."""

from __future__ import annotations

import signal
import sqlite3
from pathlib import Path

import pytest
from judged_making import Ended, Project, is_a_store, plain, selection_replies, server, step, wait_for

from rightcall.store.store import Store

STEPS = 40
LIMITED_PAGES = """
from rightcall.store import database
through = database._write_through
def limited(connection, record):
    through(connection, record)
    connection.execute("PRAGMA max_page_count = {pages}").close()
database._write_through = limited
"""
LIMITED_FILES = """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}))
"""
IMPATIENT = """
from rightcall.store.store import Store
Store.open.__func__.__kwdefaults__["timeout"] = 0.5
"""
WITHOUT_RIGHTS = """
import os
from rightcall.cli.exits import guarded
from rightcall.cli.main import app
# What is imported stays; the interpreter may lie where only root may read.
warm = ["selection", "steps.jsonl", "--judge", "strong", "--config", "rightcall.toml", "--store", "warm/rightcall.db"]
assert guarded(app, warm) == 1
if os.geteuid() == 0:
    os.setegid(65534)
    os.seteuid(65534)
"""


@pytest.fixture(scope="module")
def served():
    with server(selection_replies(STEPS), latency=0.03) as one:
        yield one


@pytest.fixture
def project(served, tmp_path):
    served.reset()
    made = Project(tmp_path, served.base_url)
    made.write("steps.jsonl", *(step(n) for n in range(STEPS)))
    return made


@pytest.fixture(scope="module")
def undisturbed(served, tmp_path_factory):
    """Return what a run says that nobody disturbs, and how many bytes its store has."""
    made = Project(tmp_path_factory.mktemp("undisturbed"), served.base_url)
    made.write("steps.jsonl", *(step(n) for n in range(STEPS)))
    ended = made.finish()
    with sqlite3.connect(made.url) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").close()
        (size,) = connection.execute("PRAGMA page_count").fetchone()
    connection.close()
    return plain(ended), int(size)


def refused(ended: Ended, *said: str) -> None:
    """Check that a run left with one line that says what is wrong and what to do, and printed no result."""
    assert ended.code == 5, ended.err
    message, last = ended.err.strip().splitlines()
    assert last == "exit 5"
    for words in said:
        assert words in message
    assert ended.out == ""


def goes_on(project: Project, undisturbed: tuple[dict, int]) -> None:
    """Check that what is on record is whole, and that the run goes on to the right figures."""
    run_id = project.run_id()
    assert run_id is not None
    assert project.is_intact()
    with project.opened() as store:
        for verdict in store.verdicts(run_id):
            assert store.body(verdict.result)
            assert all(store.attempt(digest) for digest in verdict.attempts)
    ended = project.finish("--resume", run_id)
    assert plain(ended) == undisturbed[0]
    record = project.seen(run_id)
    assert record.all_verdicts == len(record.verdicts) == STEPS
    assert record.events[-1].status == "finished"
    assert project.is_intact()


# ---- in the middle of a run ------------------------------------------------------------------------------------------


def test_a_full_store_stops_a_run_which_goes_on_when_there_is_room(project, undisturbed, tmp_path):
    with Store.open(tmp_path / "empty.db") as store:
        empty = store.database.read(lambda it: it.exec_driver_sql("PRAGMA page_count").scalar())
    pages = (empty + undisturbed[1]) // 2
    ended = project.finish(first=LIMITED_PAGES.format(pages=pages))
    refused(ended, "there is no room left for the store; nothing of this was written; make room on disk [STORE_FULL]")
    with project.opened() as store:
        assert store.counts()["attempt"] > 0
    goes_on(project, undisturbed)


def test_a_file_that_may_not_grow_stops_a_run_which_goes_on_later(project, undisturbed):
    Store.open(project.url).close()
    size = 160_000
    ended = project.finish(first=LIMITED_FILES.format(size=size))
    refused(ended, "store/rightcall.db", "the disk failed to read or write the store", "check the disk", "[STORE_")
    goes_on(project, undisturbed)


def test_a_store_that_another_process_holds_stops_a_run_which_goes_on_later(project, undisturbed, served):
    process = project.start(first=IMPATIENT)
    wait_for(lambda: served.stats()["requests"] >= STEPS // 2, process)
    holder = sqlite3.connect(project.url, isolation_level=None)
    try:
        holder.execute("BEGIN IMMEDIATE").close()
        ended = project.end(process)
    finally:
        holder.close()
    refused(ended, "another process holds the store and did not let go in time; try again later [STORE_LOCKED]")
    goes_on(project, undisturbed)


def test_a_store_that_may_only_be_read_refuses_a_run_which_goes_on_later(project, undisturbed, served):
    process = project.start()
    wait_for(lambda: served.stats()["requests"] >= STEPS // 2, process)
    process.send_signal(signal.SIGINT)
    assert project.end(process).code == 130
    run_id = project.run_id()
    store = Path(project.url)
    readable(project.folder)
    with Store.open(store):
        # Kept open: else a reader would have to make SQLite's side files itself.
        for file in store.parent.iterdir():
            file.chmod(0o444)
        ended = project.finish("--resume", run_id, first=WITHOUT_RIGHTS)
        for file in store.parent.iterdir():
            file.chmod(0o644)
    assert ended.code == 5
    assert ended.err.splitlines()[-1] == "exit 5"
    assert "the store may only be read: its file may not be written; nothing was written; copy it" in ended.err
    goes_on(project, undisturbed)


def readable(folder: Path) -> None:
    """Let everybody read a folder and reach it."""
    for parent in [folder, *folder.parents][:-2]:
        parent.chmod(parent.stat().st_mode | 0o055)


# ---- from the start --------------------------------------------------------------------------------------------------


def test_a_store_of_a_newer_rightcall_is_left_alone(project, served):
    Store.open(project.url).close()
    with sqlite3.connect(project.url) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'").close()
    connection.close()
    refused(
        project.finish(), "this store was made by a newer rightcall (revision 9999); update rightcall [STORE_INVALID]"
    )
    assert served.stats()["requests"] == 0


def test_a_file_that_is_no_database_is_left_alone(project, served):
    project.store = "notes.db"
    file = project.folder / "notes.db"
    file.write_text("Notes about fish. " * 400)
    refused(project.finish(), "notes.db: the file is no SQLite database; check the path, or name a new file")
    assert file.read_text() == "Notes about fish. " * 400
    assert served.stats()["requests"] == 0


@pytest.mark.parametrize("key", [True, False])
def test_a_store_whose_folder_cannot_be_made_is_one_line(project, served, key):
    project.store = "steps.jsonl/rightcall.db"
    if not key:
        del project._environ["RIGHTCALL_REDACTION_KEY"]
    said = ("the folder cannot be made", "check path and rights") if key else ("the redaction key cannot be written",)
    refused(project.finish(), "steps.jsonl", *said, "[STORE_")
    assert served.stats()["requests"] == 0


def test_a_database_server_that_is_not_there_is_one_line_without_the_password(project, served):
    project.store = "postgresql://keeper:a-very-secret-word@127.0.0.1:1/records"
    ended = project.finish()
    refused(
        ended, "postgresql://keeper@127.0.0.1:1/records: the database server cannot be reached", "check that it runs"
    )
    assert "a-very-secret-word" not in ended.err
    assert served.stats()["requests"] == 0


@pytest.mark.parametrize("there", [True, False])
def test_a_run_that_is_not_on_record_cannot_go_on_and_makes_no_store(project, served, there):
    if there:
        Store.open(project.url).close()
    ended = project.finish("--resume", "20260101-1")
    said = "there is no run `20260101-1`; no run is recorded yet" if there else "there is no store here"
    assert ended.code == (2 if there else 5)
    assert said in ended.err.splitlines()[0]
    assert is_a_store(project.url) == there
    assert served.stats()["requests"] == 0


# ---- at the same time ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_two_runs_at_the_same_time_share_a_store_and_one_chain(served, undisturbed, tmp_path, store_url):
    served.reset()
    projects = [Project(tmp_path / name, served.base_url, store=store_url) for name in ("one", "other")]
    for project in projects:
        project.write("steps.jsonl", *(step(n) for n in range(STEPS)))
    started = [project.start("--no-cache") for project in projects]
    ended = [project.end(process) for project, process in zip(projects, started, strict=True)]
    ids = {one.json["run"]["id"] for one in ended}
    assert len(ids) == 2
    assert [plain(one) for one in ended] == [undisturbed[0]] * 2
    assert projects[0].is_intact()
    for run_id in ids:
        record = projects[0].seen(run_id)
        assert (len(record.verdicts), record.all_verdicts) == (STEPS, 2 * STEPS)
        assert record.events[-1].status == "finished"
    with projects[0].opened() as store:
        attempts = [one for _, _, one in store.attempts()]
        assert len(attempts) == served.stats()["requests"]

"""A store that may only be read: it is read in full or refused, and nothing is left beside it."""

import json
import shutil
import sqlite3

import pytest
from queue_making import START, answer, at, decide, id_of, review, ruled, signoff
from store_making import RUN, attempt, one_of_each, verdict
from without_rights import run_without_rights

from rightcall.errors import StoreError
from rightcall.store.database import connect, to_read
from rightcall.store.store import Store
from rightcall.store.tables import PROJECTION
from rightcall.store.unwritable import Reading, state_of
from rightcall.store.verify import verify

LOOK = """
import json, sys
from rightcall.errors import StoreError
from rightcall.store.store import Store
from rightcall.store.verify import verify
from store_making import attempt
said = {}
try:
    with Store.open(sys.argv[1], create=sys.argv[2:] == ["create"]) as store:
        said["way"] = None if store.database.reading is None else store.database.reading.way
        said["attempts"] = sum(1 for _ in store.attempts())
        said["intact"] = verify(store).intact
        said["items"] = [one.item for one in store.queue.items()]
        try:
            store.write([attempt(99)])
        except StoreError as error:
            said["written"] = str(error)
except StoreError as error:
    said["refused"], said["exit"] = str(error), error.exit_code
print(json.dumps(said))
"""


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a store in it, closed; the queue was never looked at."""
    made = tmp_path / "theirs"
    with Store.open(made / "r.db") as store:
        store.write(*one_of_each())
    yield made
    made.chmod(0o755)


def look(tmp_path, folder, *, file=0o444, mode=0o555, create=False):
    """Look at the store of a folder whose modes are these; return what came of it, and what changed there."""
    for one in folder.iterdir():
        one.chmod(file)
    folder.chmod(mode)
    before = {one.name: one.read_bytes() for one in folder.iterdir()}
    said = json.loads(run_without_rights(tmp_path, LOOK, str(folder / "r.db"), *(["create"] if create else [])))
    return said, {one.name: one.read_bytes() for one in folder.iterdir()} == before


# ---- by somebody who may not write ----


@pytest.mark.parametrize(
    ("file", "mode", "why"),
    [(0o444, 0o555, "its file"), (0o644, 0o555, "its folder"), (0o444, 0o755, "its file")],
)
def test_a_closed_store_is_read_in_full_and_nothing_is_left_beside_it(tmp_path, folder, file, mode, why):
    said, is_untouched = look(tmp_path, folder, file=file, mode=mode, create=True)
    assert (said["way"], said["attempts"], said["intact"], said["items"]) == ("sealed", 1, True, [id_of()])
    assert f"the store may only be read: {why} may not be written; nothing was written; copy it" in said["written"]
    assert is_untouched


@pytest.mark.parametrize("is_copy", [False, True])
def test_what_waits_in_the_write_ahead_log_is_read_too(tmp_path, folder, is_copy):
    with Store.open(folder / "r.db") as store:
        store.write([attempt(1)])
        assert (folder / "r.db-wal").stat().st_size > 0
        if is_copy:
            folder = shutil.copytree(folder, tmp_path / "copy")
        said, is_untouched = look(tmp_path, folder)
        folder.chmod(0o755)
    assert (said["way"], said["attempts"], said["intact"]) == ("shared", 2, True)
    assert "may only be read" in said["written"]
    assert is_untouched or not is_copy  # beside a live store SQLite's locks are at work


@pytest.mark.parametrize("mode", [0o555, 0o755])
def test_a_write_ahead_log_that_cannot_be_read_is_never_left_out(tmp_path, folder, mode):
    with Store.open(folder / "r.db") as store:
        store.write([attempt(1)])
        copy = shutil.copytree(folder, tmp_path / "copy")
    (copy / "r.db-shm").unlink()
    said, is_untouched = look(tmp_path, copy, mode=mode)
    assert "r.db-wal beside it holds what is not yet in it; copy both files" in said["refused"]
    assert (said["exit"], is_untouched) == (5, True)


def test_a_rollback_that_is_due_is_never_left_out(tmp_path, folder):
    (folder / "r.db-journal").write_bytes(b"pages that were to be put back")
    said, is_untouched = look(tmp_path, folder)
    assert "r.db-journal beside it holds what is not yet in it; copy both files" in said["refused"]
    assert is_untouched


def test_an_empty_write_ahead_log_hides_nothing(tmp_path, folder):
    (folder / "r.db-wal").touch()
    said, is_untouched = look(tmp_path, folder)
    assert (said["way"], said["attempts"], is_untouched) == ("sealed", 1, True)


def test_an_older_store_that_may_only_be_read_must_be_upgraded_by_somebody_else(tmp_path, folder):
    rename(folder, "0002")
    said, is_untouched = look(tmp_path, folder)
    assert "made by an older rightcall (revision 0002" in said["refused"]
    assert "may only be read: its file may not be written; somebody who may write it must open it" in said["refused"]
    assert "\n" not in said["refused"]
    assert is_untouched


def test_a_newer_store_that_may_only_be_read_needs_a_newer_rightcall(tmp_path, folder):
    rename(folder, "9999")
    said, _ = look(tmp_path, folder)
    assert "made by a newer rightcall (revision 9999); update rightcall" in said["refused"]


def rename(folder, revision):
    connection = sqlite3.connect(folder / "r.db")
    connection.execute("UPDATE alembic_version SET version_num = ?", (revision,))
    connection.commit()
    connection.close()


def test_an_empty_file_that_may_only_be_read_becomes_no_store(tmp_path, folder):
    (folder / "r.db").write_bytes(b"")
    assert "the store may only be read" in look(tmp_path, folder, create=True)[0]["refused"]
    assert "the database is empty" in look(tmp_path, folder)[0]["refused"]


# ---- as if it could not be written ----


def sealed(file):
    """Open a file as one that does not change."""
    reading = Reading(file, str(file), "sealed", "its file may not be written", state_of(file, str(file)))
    return Store(to_read(reading, 5))


def test_a_name_with_signs_of_a_url_is_the_name_of_a_file(tmp_path):
    file = tmp_path / "50% of? #1 & more.db"
    Store.open(file).close()
    with sealed(file) as store:
        assert verify(store).intact
    assert list(tmp_path.iterdir()) == [file]


def test_a_store_that_is_written_while_it_is_read_as_one_that_does_not_change_is_noticed(folder):
    with sealed(folder / "r.db") as store, Store.open(folder / "r.db") as other:
        assert verify(store).intact
        other.write([attempt(1)])
        with pytest.raises(StoreError, match="written to the store while it was read; try again") as caught:
            store.head()
    assert (caught.value.code, caught.value.exit_code) == ("STORE_LOCKED", 5)


def test_a_change_in_the_middle_of_a_question_is_noticed(folder):
    def ask(connection):
        with Store.open(folder / "r.db") as other:
            other.write([attempt(1)])
        return connection.exec_driver_sql("SELECT 1").scalar()

    with sealed(folder / "r.db") as store, pytest.raises(StoreError, match="try again"):
        store.database.read(ask)


def test_a_store_whose_writer_ends_just_when_it_is_looked_at_is_one_to_look_at_again(folder):
    with Store.open(folder / "r.db") as other:
        other.write([attempt(1)])
        reading = Reading(folder / "r.db", "r.db", "shared", "its folder may not be written", ())
    with Store(to_read(reading, 5)) as store, pytest.raises(StoreError, match="try again") as caught:
        store.head()
    assert caught.value.code == "STORE_LOCKED"


def test_a_store_that_is_gone_while_it_is_read_is_one_clear_line(folder):
    with sealed(folder / "r.db") as store:
        store.head()
        (folder / "r.db").unlink()
        with pytest.raises(StoreError, match="the store cannot be read any more: No such file") as caught:
            store.head()
    assert caught.value.code == "STORE_UNREACHABLE"


@pytest.mark.parametrize("was_looked_at", [False, True])
@pytest.mark.parametrize("needed", [1, 2])
def test_the_queue_of_a_store_that_may_only_be_read_is_that_of_one_that_may_be_written(tmp_path, was_looked_at, needed):
    file = tmp_path / "r.db"
    with Store.open(file) as store:
        store.write([*one_of_each()[0], *(review(f"t-{n}") for n in range(5))], one_of_each()[1])
        store.queue.claim("ana", now=at(), lease=600)
        store.queue.answer(answer("t-1", "bo"), decide, at(1))
        if was_looked_at:
            ruled(store.queue)
        # What the tables of the queue do not know yet.
        store.write([review("t-9", "CRITICAL"), verdict(9)], ["result"])
    bytes_before = file.read_bytes()
    with sealed(file) as store:
        plain = store.queue.items(now=at(2))
        found = ruled(store.queue, needed).items(now=at(2))
        criticals = store.queue.criticals(RUN)
    assert file.read_bytes() == bytes_before
    assert list(tmp_path.iterdir()) == [file]
    with Store.open(file) as store:
        if not was_looked_at:
            assert store.queue.items(now=at(2)) == plain
        assert ruled(store.queue, needed).items(now=at(2)) == found
        assert [item for item, _ in store.queue.criticals(RUN)] == [item for item, _ in criticals]
    assert {one.item for one in found} >= {id_of("t-9"), id_of("t-1")}


def test_nothing_of_the_queue_can_be_written(folder):
    with sealed(folder / "r.db") as store:
        queue = ruled(store.queue)
        for write in (
            lambda: queue.claim("ana", now=at(), lease=600),
            lambda: queue.answer(answer(), decide, at()),
            lambda: queue.sign(signoff()),
            lambda: queue.settle(decide, START),
            queue.rebuild,
        ):
            with pytest.raises(StoreError, match="may only be read: its file may not be written; nothing was written"):
                write()
        assert verify(store).intact


def test_copies_that_could_not_be_made_leave_no_half_of_them(folder):
    def fail(_connection):
        raise ZeroDivisionError

    with sealed(folder / "r.db") as store:
        with pytest.raises(ZeroDivisionError):
            store.database.project(PROJECTION, fail)
        assert [one.item for one in ruled(store.queue).items(now=at())] == [id_of()]


def test_a_store_that_may_be_written_is_opened_as_ever(folder):
    database = connect(folder / "r.db", create=False, timeout=5)
    assert database.reading is None
    database.close()

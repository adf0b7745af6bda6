"""Opening a store, and what becomes of it when the database fails: one clear line, and nothing half written."""

import os
import sqlite3
import sys
import threading
import time
from pathlib import Path

import pytest
from store_making import attempt, one_of_each, verdict
from without_rights import run_without_rights

from rightcall.errors import MissingExtraError, StoreError
from rightcall.store.store import Store
from rightcall.store.verify import verify


def refused(code, said, *arguments, **options):
    """Open a store, which must fail; return the line that a person sees."""
    with pytest.raises(StoreError, match=said) as caught:
        Store.open(*arguments, **options)
    assert caught.value.code == code
    assert "\n" not in str(caught.value)
    return str(caught.value)


# ---- opening ----


@pytest.mark.parametrize("form", ["path", "text", "url"])
def test_a_file_is_named_by_path_or_url_and_its_folder_is_made(tmp_path, form):
    file = tmp_path / "a folder" / ".rightcall" / "rightcall.db"
    with Store.open({"path": file, "text": str(file), "url": f"sqlite:///{file}"}[form]) as store:
        assert store.name == str(file)
        store.write(*one_of_each())
    assert journal_mode(file) == "wal"


def journal_mode(file):
    """Return how a SQLite file is written, asked past the store."""
    connection = sqlite3.connect(file)
    try:
        return connection.execute("PRAGMA journal_mode").fetchone()[0]
    finally:
        connection.close()


def test_committed_means_on_disk(sqlite_store):
    asked = {
        name: sqlite_store.database.read(lambda it, name=name: it.exec_driver_sql(f"PRAGMA {name}").scalar())
        for name in ("synchronous", "journal_mode", "busy_timeout")
    }
    assert asked == {"synchronous": 2, "journal_mode": "wal", "busy_timeout": 30_000}


def test_a_store_that_should_be_there_and_is_not(tmp_path):
    said = refused(
        "STORE_UNREACHABLE", "there is no store here; `rightcall run` makes one", tmp_path / "no.db", create=False
    )
    assert str(tmp_path / "no.db") in said
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "empty.db").touch()
    refused("STORE_INVALID", "the database is empty", tmp_path / "empty.db", create=False)
    with Store.open(tmp_path / "empty.db") as store:
        assert verify(store).intact


def test_an_empty_postgresql_database_is_no_store_unless_one_may_be_made(postgres_url):
    refused("STORE_INVALID", "the database is empty", postgres_url, create=False)


@pytest.mark.parametrize("content", [b"This is a text file, and a rather long one." * 100, b"\x1f\x8b" + bytes(5000)])
def test_a_file_that_is_no_database_is_left_alone(tmp_path, content):
    file = tmp_path / "notes.txt"
    file.write_bytes(content)
    refused("STORE_INVALID", "the file is no SQLite database; check the path", file)
    assert file.read_bytes() == content


def test_a_database_of_something_else_is_left_alone(store_url):
    change(store_url, "CREATE TABLE invoices (id INTEGER)")
    refused("STORE_INVALID", "the database holds something else than a store", store_url)
    change(
        store_url,
        "CREATE TABLE alembic_version (version_num VARCHAR(32))",
        "INSERT INTO alembic_version VALUES ('0001')",
    )
    refused("STORE_INVALID", "the database holds something else than a store", store_url)
    change(store_url, "DROP TABLE invoices")
    if "://" not in store_url:
        assert journal_mode(store_url) == "delete"


def test_a_store_of_a_newer_rightcall_is_left_alone(store_url):
    Store.open(store_url).close()
    change(store_url, "UPDATE alembic_version SET version_num = '0999'")
    refused("STORE_INVALID", r"made by a newer rightcall \(revision 0999\); update rightcall", store_url)


def change(url, *statements):
    """Execute statements past the store."""
    if "://" not in url:
        connection = sqlite3.connect(url)
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        connection.close()
        return
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def test_a_folder_is_no_store(tmp_path):
    refused("STORE_INVALID", "this is a folder; name a file in it", tmp_path)


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").touch()
    refused("STORE_UNREACHABLE", "the folder cannot be made: Not a directory", tmp_path / "file" / "folder" / "x.db")


@pytest.mark.parametrize("url", [":memory:", "sqlite://", "sqlite:///:memory:", ""])
def test_memory_is_no_place_for_a_record(url):
    refused("STORE_INVALID", "a store is a file; name one", url)


def test_another_kind_of_database_is_refused():
    refused("STORE_INVALID", "a store cannot be in `mysql`; name a file", "mysql://me:hunter2@localhost/db")


def test_postgresql_without_its_driver_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"needs the driver psycopg; pip install 'rightcall\[postgres\]'"):
        Store.open("postgresql://me:hunter2@localhost/db")


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://me:hunter2@127.0.0.1:1/db",
        "postgres://me:hunter2@127.0.0.1:1/db?application_name=x",
        "postgresql+psycopg://me:hunter2@/db?host=/nonexistent",
        "postgresql://me@127.0.0.1:1/db?password=hunter2",
    ],
)
def test_a_server_that_is_not_there_is_one_line_without_the_password(url):
    said = refused("STORE_UNREACHABLE", "the database server cannot be reached: .*check that it runs", url)
    assert "hunter2" not in said
    assert said.startswith("postgresql://me@")


@pytest.mark.parametrize(
    "url", ["postgresql://me:hunter2@host:port/db", "postgresql://me:hidden@hunter2@host/db", "://hunter2"]
)
def test_a_url_that_cannot_be_read_is_not_repeated(url):
    assert "hunter2" not in refused("STORE_INVALID", "the store's URL cannot be read", url)


def test_a_database_that_the_server_does_not_have(postgres_server):
    url = postgres_server.url().replace("@/postgres", ":hunter2@/nowhere")
    assert "hunter2" not in refused("STORE_UNREACHABLE", 'database "nowhere" does not exist', url)


# ---- locks ----


def hold_lock(url):
    """Return a connection that holds the store's write lock."""
    if "://" not in url:
        connection = sqlite3.connect(url, isolation_level=None)
        connection.execute("BEGIN IMMEDIATE")
        return connection
    import psycopg

    from rightcall.store.database import _LOCK

    connection = psycopg.connect(url)
    connection.execute(f"SELECT pg_advisory_xact_lock({_LOCK})")
    return connection


def test_a_lock_that_is_not_let_go_is_one_clear_error(store_url):
    with Store.open(store_url, timeout=0.1) as store:
        holder = hold_lock(store_url)
        with pytest.raises(StoreError, match="another process holds the store and did not let go in time") as caught:
            store.write(*one_of_each())
        assert caught.value.code == "STORE_LOCKED"
        assert store.counts()["attempt"] == 0
        holder.rollback()
        holder.close()
        store.write(*one_of_each())
        assert verify(store).entries == 7


def test_a_lock_that_is_let_go_in_time_is_waited_for(store_url):
    with Store.open(store_url, timeout=30) as store:
        holder = hold_lock(store_url)
        threads = [threading.Thread(target=store.write, args=([verdict(number)],)) for number in range(3)]
        for thread in threads:
            thread.start()
        assert store.counts()["verdict"] == 0
        holder.rollback()
        holder.close()
        for thread in threads:
            thread.join()
        assert store.counts()["verdict"] == 3


# ---- a full disk, and files that may not be written ----


def test_a_full_disk_leaves_what_was_there_and_nothing_half_written(sqlite_store):
    # One connection only, so that its limit holds for every statement.
    pages = sqlite_store.database.read(lambda it: it.exec_driver_sql("PRAGMA max_page_count = 120").scalar())
    assert pages == 120
    written = 0

    def fill():
        nonlocal written
        for number in range(1000):
            sqlite_store.write([attempt(number), attempt(10_000 + number)], [os.urandom(3000)])
            written += 2

    with pytest.raises(StoreError, match="there is no room left for the store; nothing of this was written") as caught:
        fill()
    assert caught.value.code == "STORE_FULL"
    assert sqlite_store.counts()["attempt"] == written > 0
    assert verify(sqlite_store).intact
    sqlite_store.database.read(lambda it: it.exec_driver_sql("PRAGMA max_page_count = 10000").scalar())
    sqlite_store.write([attempt(5000)])
    assert verify(sqlite_store).entries == written + 1


WITHOUT_RIGHTS = """
import sys
from rightcall.errors import StoreError
from rightcall.store.store import Store
from store_making import attempt
try:
    with Store.open(sys.argv[1], timeout=1) as store:
        print(len(store.runs()))
        store.write([attempt(2)])
except StoreError as error:
    print(error)
"""


def test_a_file_that_may_not_be_written_is_one_clear_error(tmp_path):
    with Store.open(tmp_path / "rightcall.db") as store:
        store.write(*one_of_each())
        # Kept open: else a reader would have to make SQLite's side files itself.
        for file in tmp_path.iterdir():
            file.chmod(0o444)
        said = run_without_rights(tmp_path, WITHOUT_RIGHTS, str(tmp_path / "rightcall.db"))
    assert said.splitlines()[0] == "1"
    assert "the store may only be read: its file may not be written; nothing was written; copy it" in said
    assert said.rstrip().endswith("[STORE_UNREACHABLE]")


def test_a_folder_that_may_not_be_written_is_one_clear_error(tmp_path):
    (tmp_path / "folder").mkdir(mode=0o555)
    said = run_without_rights(tmp_path, WITHOUT_RIGHTS, str(tmp_path / "folder" / "new.db"))
    assert "the store cannot be opened: unable to open database file; check path and rights [STORE_UNREACHABLE]" in said


def test_a_damaged_file_is_one_clear_error(tmp_path):
    file = tmp_path / "rightcall.db"
    with Store.open(file) as store:
        store.write([attempt(number) for number in range(300)])
    data = bytearray(file.read_bytes())
    data[4096 * 3 :] = os.urandom(len(data) - 4096 * 3)
    file.write_bytes(data)
    with (
        pytest.raises(StoreError, match=r"the store is damaged: .*restore it from a backup") as caught,
        Store.open(file) as store,
    ):
        verify(store)
    assert caught.value.code == "STORE_INVALID"


# ---- a server that comes and goes ----


@pytest.fixture
def own_server():
    """Return a server that this test may kill."""
    from postgres import PostgresServer

    server = PostgresServer()
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.mark.slow
def test_a_server_that_is_killed_and_comes_back_loses_and_doubles_nothing(own_server):
    written, errors = [], []
    with Store.open(own_server.url(), timeout=60) as store:

        def write(me):
            try:
                for number in range(150):
                    unit = 1000 * me + number
                    store.write([attempt(unit), verdict(unit)], ["result", f"body {unit}"])
                    written.append(unit)
            except StoreError as error:
                errors.append(error)

        threads = [threading.Thread(target=write, args=(me,)) for me in range(3)]
        for thread in threads:
            thread.start()
        for goal in (40, 150):
            while len(written) < goal and not errors:
                time.sleep(0.005)
            own_server.kill()
            own_server.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert sorted(written) == [1000 * me + number for me in range(3) for number in range(150)]
        found = verify(store)
        assert (found.faults, found.records["attempt"], found.records["verdict"], found.entries) == ((), 450, 450, 900)
        assert sorted(int(tried.unit[2:]) for _, _, tried in store.attempts()) == sorted(written)


def test_a_server_that_stays_away_is_one_clear_error_and_is_found_again_later(own_server):
    with Store.open(own_server.url(), timeout=0.3) as store:
        store.write([verdict(1)])
        own_server.kill()
        for work in (lambda: store.write([verdict(2)]), lambda: list(store.verdicts("20261129-1"))):
            with pytest.raises(
                StoreError, match=r"the database server cannot be reached: .*check that it runs"
            ) as caught:
                work()
            assert caught.value.code == "STORE_UNREACHABLE"
        own_server.start()
        store.write([verdict(2)])
        assert verify(store).entries == 2


def test_a_connection_that_the_server_ends_is_made_anew(postgres_server, postgres_url):
    with Store.open(postgres_url) as store:
        store.write([verdict(1)])
        postgres_server.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )
        store.write([verdict(2)])
        assert verify(store).entries == 2


def test_opening_needs_no_more_than_a_path(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with Store.open(".rightcall/rightcall.db") as store:
        store.write([verdict(1)])
    assert Path(".rightcall/rightcall.db").is_file()

"""A store of the first revision is brought up to date when it is opened, and loses nothing; on both databases."""

import hashlib

import msgspec
import pytest
from queue_making import LEASE, answer, at, decide, id_of, ruled
from sqlalchemy import text
from store_making import RUN, calibration, gate_answer, one_of_each, one_of_each_by_people

from rightcall.errors import StoreError
from rightcall.store.database import connect
from rightcall.store.gate_answers import gate_answers
from rightcall.store.packing import PackedRecord, columns_of, hashed, pack
from rightcall.store.records import VerdictRecord
from rightcall.store.store import Store
from rightcall.store.tables import REVISION
from rightcall.store.upgrade import alembic_config
from rightcall.store.verify import verify
from rightcall.trace.digest import canonical

OLD = ("bodies", "log", "runs", "run_events", "traces", "cases", "attempts", "verdicts", "reviews")


def as_it_was(record):
    """Return a record in the bytes that the first revision wrote."""
    if not isinstance(record, VerdictRecord):
        return pack([record])[0]
    values = msgspec.to_builtins(record)
    del values["trace_b"]
    plain = canonical(values)
    return PackedRecord("verdict", hashlib.sha256(plain).hexdigest(), "plain", plain, columns_of(record))


@pytest.fixture
def old_url(store_url):
    """Return where a store of the first revision is, with one record of each kind that it knew."""
    from alembic import command

    database = connect(store_url, create=True, timeout=5)
    database.use_wal()
    database.write(lambda connection: command.upgrade(alembic_config(connection), "0001"))
    records, bodies = one_of_each()
    Store(database).write_packed(list(map(as_it_was, records)), hashed(bodies))
    database.close()
    return store_url


def everything(database, tables=OLD):
    """Return all rows of these tables, by default those of the first revision."""
    return {
        table: sorted(map(repr, database.read(lambda it, t=table: it.execute(text(f"SELECT * FROM {t}")).all())))
        for table in tables
    }


def test_an_old_store_is_upgraded_with_everything_intact(old_url):
    database = connect(old_url, create=False, timeout=5)
    before = everything(database)
    database.close()
    with Store.open(old_url, create=False) as store:
        assert everything(store.database) == before
        assert all(before.values())
        found = verify(store)
        assert (found.faults, found.entries, found.head) == ((), 7, store.head())
        assert store.verdict(RUN, "t-0").trace_b is None
        version = store.database.read(lambda it: it.execute(text("SELECT version_num FROM alembic_version")).scalar())
        assert version == REVISION


def test_what_waited_in_an_old_store_is_in_the_queue(old_url):
    with Store.open(old_url) as store:
        queue = ruled(store.queue)
        assert [(one.unit, one.reasons) for one in queue.items()] == [("t-0", ("CRITICAL",))]
        assert queue.claim("ana", now=at(), lease=LEASE).item == id_of()
        queue.answer(answer(), decide, at())
        assert queue.verdict(id_of())[1] in {entry.digest for entry in store.log(kind="verdict")}
        assert verify(store).intact


def test_the_new_tables_of_an_old_store_are_guarded(old_url):
    with Store.open(old_url) as store:
        store.write(one_of_each_by_people())
        store.write([calibration(), gate_answer()])
        for table in ("answers", "consensus", "signoffs", "review_events", "calibrations", "gates", "verdicts"):
            for change in (f"UPDATE {table} SET seq = seq", f"DELETE FROM {table}"):
                with pytest.raises(StoreError, match="append-only"):
                    store.database.write(lambda it, change=change: it.execute(text(change)))
        assert verify(store).intact


def test_opening_it_again_changes_nothing(old_url):
    with Store.open(old_url):
        pass
    with Store.open(old_url) as store:
        before = everything(store.database)
    with Store.open(old_url) as store:
        assert everything(store.database) == before


# ---- from the second revision ----


@pytest.fixture
def second_url(store_url):
    """Return where a store of the second revision is, with one record of each kind that it knew."""
    from alembic import command

    database = connect(store_url, create=True, timeout=5)
    database.use_wal()
    database.write(lambda connection: command.upgrade(alembic_config(connection), "0002"))
    records, bodies = one_of_each()
    Store(database).write_packed(pack([*records, *one_of_each_by_people()]), hashed(bodies))
    database.close()
    return store_url


def test_a_store_of_the_second_revision_takes_calibrations_and_gate_answers_and_keeps_everything(second_url):
    people = ("answers", "consensus", "signoffs", "review_events")
    database = connect(second_url, create=False, timeout=5)
    before = everything(database, (*OLD, *people))
    database.close()
    with Store.open(second_url, create=False) as store:
        assert everything(store.database, (*OLD, *people)) == before
        assert all(before.values())
        head, [digest, of_gate] = store.head(), store.write([calibration(), gate_answer()])
        assert [(one, found) for _, one, found in store.calibrations()] == [(digest, calibration())]
        found = verify(store, head.hash)
        assert [(one, said) for _, one, said in gate_answers(store.database)] == [(of_gate, gate_answer())]
        assert (found.faults, found.records["calibration"], found.records["gate"]) == ((), 1, 1)
        assert found.entries == head.seq + 2
        version = store.database.read(lambda it: it.execute(text("SELECT version_num FROM alembic_version")).scalar())
        assert version == REVISION


# ---- the same store again -------------------------------------------------------------------------------------------


def shape(store):
    """Return every table, index, trigger and function of a store as the database describes them, without its schema."""
    if store.database.is_sqlite:
        asked = "SELECT type, name, tbl_name, sql FROM sqlite_master"
    else:
        asked = """
            SELECT 'column', table_name, column_name, concat_ws(' ', ordinal_position, data_type, is_nullable,
                   column_default, collation_name, is_identity)
              FROM information_schema.columns WHERE table_schema = current_schema()
            UNION ALL SELECT 'index', tablename, indexname, replace(indexdef, current_schema(), '')
              FROM pg_indexes WHERE schemaname = current_schema()
            UNION ALL SELECT 'trigger', t.tgrelid::regclass::text, t.tgname,
                   replace(pg_get_triggerdef(t.oid), current_schema(), '')
              FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
              WHERE c.relnamespace = current_schema()::regnamespace AND NOT t.tgisinternal
            UNION ALL SELECT 'constraint', c.conrelid::regclass::text, c.conname, pg_get_constraintdef(c.oid)
              FROM pg_constraint c WHERE c.connamespace = current_schema()::regnamespace
            UNION ALL SELECT 'function', '', p.proname, p.prosrc
              FROM pg_proc p WHERE p.pronamespace = current_schema()::regnamespace
        """
    return sorted(store.database.read(lambda it: list(map(repr, it.exec_driver_sql(asked).all()))))


def test_the_next_store_that_a_process_makes_is_the_same_as_its_first(store_url, monkeypatch, tmp_path, request):
    monkeypatch.setattr("rightcall.store.upgrade._SAID", {})
    with Store.open(store_url) as first:
        found = shape(first)
        if first.database.is_sqlite:
            other = str(tmp_path / "next.db")
        else:
            server = request.getfixturevalue("postgres_server")
            other = server.url(server.new_schema())
    with Store.open(other) as following:
        assert shape(following) == found
        following.write(*one_of_each())
        assert verify(following).intact
        version = following.database.read(
            lambda it: it.execute(text("SELECT version_num FROM alembic_version")).scalar()
        )
    assert version == REVISION
    assert len(found) > 80

"""The schema: migrations make what the code expects, and the database itself refuses every change."""

import pytest
from sqlalchemy import text
from store_making import calibration, gate_answer, one_of_each, one_of_each_by_people

from rightcall.errors import StoreError
from rightcall.store import upgrade
from rightcall.store.tables import METADATA, PROJECTION, REVISION, TABLES


def test_migrations_make_exactly_the_tables_of_the_code(store):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    def differences(connection):
        return compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), METADATA)

    assert store.database.read(differences) == []


def test_the_newest_migration_is_the_revision_of_the_code(store):
    from alembic.script import ScriptDirectory

    script = store.database.read(lambda it: ScriptDirectory.from_config(upgrade.alembic_config(it)))
    assert script.get_heads() == [REVISION]


@pytest.mark.parametrize("table", sorted(METADATA.tables.keys() - {table.name for table in PROJECTION}))
def test_the_database_refuses_to_change_or_delete_anything(store, table):
    store.write(*one_of_each())
    store.write([*one_of_each_by_people(), calibration(), gate_answer()])
    key = {"bodies": "sha256", "log": "seq"}.get(table, "digest")
    verbs = [f"UPDATE {table} SET {key} = {key}", f"DELETE FROM {table}"]
    if not store.database.is_sqlite:
        verbs.append(f"TRUNCATE {table}")
    before = store.database.read(lambda it: it.execute(text(f"SELECT * FROM {table}")).all())
    assert before
    for verb in verbs:
        with pytest.raises(StoreError, match=f"what is recorded is never changed: .*{table} is append-only") as caught:
            store.database.write(lambda it, verb=verb: it.execute(text(verb)))
        assert caught.value.code == "STORE_CONFLICT"
    assert store.database.read(lambda it: it.execute(text(f"SELECT * FROM {table}")).all()) == before


def test_every_kind_of_record_has_a_table_of_its_own():
    assert set(METADATA.tables) == {table.name for table in TABLES.values()} | {"bodies", "log"} | {
        table.name for table in PROJECTION
    }
    assert len({table.name for table in TABLES.values()}) == len(TABLES)

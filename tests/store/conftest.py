"""What the tests of the store share: `store_making` beside this file, open stores, and the reported cases."""

import json
import sys
from pathlib import Path

import pytest

# The tests are no package, so a module that they share is found by its folder.
sys.path.insert(0, str(Path(__file__).parent))

from rightcall.store.store import Store


@pytest.fixture
def store(store_url):
    """Return an empty store: in a SQLite file, then in PostgreSQL."""
    with Store.open(store_url) as opened:
        yield opened


@pytest.fixture
def sqlite_store(tmp_path):
    """Return an empty store in a SQLite file."""
    with Store.open(tmp_path / "rightcall.db") as opened:
        yield opened


@pytest.fixture
def tamper(store):
    """Change a store as somebody with full access would: the guards of a table go first."""

    def change(table: str, *statements: str) -> None:
        def work(connection):
            if store.database.is_sqlite:
                for verb in ("update", "delete"):
                    connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {table}_no_{verb}")
            else:
                connection.exec_driver_sql(f"DROP TRIGGER IF EXISTS {table}_append_only ON {table}")
            for statement in statements:
                connection.exec_driver_sql(statement)

        store.database.write(work)

    return change


@pytest.fixture(scope="session")
def reported(shared_data):
    """Return the cases from public bug reports by id; skip where they are absent."""
    file = shared_data / "cases" / "cases.jsonl"
    if not file.is_file():
        pytest.skip(f"needs ../{shared_data.name}/cases/cases.jsonl, which is not part of the repository")
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    return {row["id"]: row for row in rows}

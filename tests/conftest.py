"""What several tests share."""

import sys
from pathlib import Path

import pytest

# The tests are no package, so a module that they share is found by its folder.
sys.path.append(str(Path(__file__).parent))


@pytest.fixture(scope="session")
def shared_data():
    """Return the folder of real recordings and reports beside the repository; skip where it is absent."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not (folder / "data").is_dir():
        pytest.skip(f"needs the recordings in ../{folder.name}, which are not part of the repository")
    return folder


@pytest.fixture(scope="session")
def postgres_server():
    """Return a running PostgreSQL server, one for each worker."""
    from postgres import PostgresServer

    server = PostgresServer()
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture
def postgres_url(postgres_server):
    """Return the URL of an empty PostgreSQL database (a schema of one)."""
    name = postgres_server.new_schema()
    yield postgres_server.url(name)
    postgres_server.execute(f"DROP SCHEMA {name} CASCADE")


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request, tmp_path):
    """Return where a store can be made: a SQLite file, then a PostgreSQL database."""
    if request.param == "sqlite":
        return str(tmp_path / "rightcall.db")
    return request.getfixturevalue("postgres_url")

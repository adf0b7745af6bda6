"""What several tests share."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A rule is tried on 60 examples where a test asks for no number of its own. How long one takes says nothing: the
# machine may be busy. All else is as it was, on CI too.
settings.register_profile(
    "suite", parent=settings(), max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("suite")

# On which branch CI runs the tests says nothing about the runs that they make.
for _name in (
    "RIGHTCALL_BRANCH", "RIGHTCALL_COMMIT", "GITHUB_HEAD_REF", "GITHUB_REF_NAME", "GITHUB_REF_TYPE", "GITHUB_SHA",
    "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "CI_COMMIT_BRANCH", "CI_COMMIT_SHA",
):  # fmt: skip
    os.environ.pop(_name, None)

# The tests are no package, so a module that they share is found by its folder.
sys.path.append(str(Path(__file__).parent))


LONGEST = ("real_model", "browser", "killed", "test_docs", "queue_processes", "tau2", "probe", "trouble", "review")
"""Words in the names of the files that take longest, in the order in which several processes begin them."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give each file to one process, so that what its tests share is made once; all that ask the real model to one too.

    The marks of `--dist loadgroup` are of no use: pytest-xdist 3.8 writes them where pytest 9.2 does not look.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.partition("::")[0]
            return "model" if "real_model" in file or "local_model" in file else file

    if config.getvalue("dist") != "loadgroup":
        return None
    config.option.loadscopereorder = False  # the order is that of the collection
    return ByFile(config, log)


def pytest_collection_modifyitems(config, items):
    """Begin the longest files first where several processes share the tests, so that none is left alone with one."""
    if not hasattr(config, "workerinput"):
        return
    sizes = Counter(item.path for item in items)
    ranks = {path: _rank(path.name) for path in sizes}
    items.sort(key=lambda item: (ranks[item.path], -sizes[item.path], str(item.path)))


def _rank(name):
    return next((rank for rank, word in enumerate(LONGEST) if word in name), len(LONGEST))


@pytest.fixture(scope="session")
def shared_data():
    """Return the folder of real recordings and reports beside the repository; skip where it is absent."""
    folder = Path(__file__).resolve().parents[2] / "shared"
    if not (folder / "data").is_dir():
        pytest.skip(f"needs the recordings in ../{folder.name}, which are not part of the repository")
    return folder


@pytest.fixture(scope="session")
def local_model_url():
    """Return the base URL of a real small model, served by a process of its own; one for each worker."""
    import local_model

    lacking = local_model.missing()
    if lacking:
        pytest.skip(f"needs {' and '.join(lacking)}: a real model of 98 MB")
    command = [sys.executable, local_model.__file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        try:
            line = child.stdout.readline()
            assert line.startswith("listening on "), f"the local model did not start: exit code {child.wait()}"
            yield line.split()[-1]
        finally:
            child.kill()


@pytest.fixture(scope="module")
def browser():
    """Return a headless Chromium, one for each file of tests; skip where there is none, unless CI could have it."""
    from browser import installable, lacking, started

    why = lacking()
    if why and os.environ.get("CI") == "true" and installable():
        pytest.fail(f"{why}; `make test` installs it")
    if why:
        pytest.skip(why)
    with started() as running:
        yield running


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

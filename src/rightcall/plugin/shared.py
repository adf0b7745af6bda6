"""What all parts of a session ask for: flags, and the suite, which is opened when somebody needs it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from rightcall.plugin.suite import Suite

SUITE: pytest.StashKey[Suite] = pytest.StashKey()
RUN_ID: pytest.StashKey[str] = pytest.StashKey()


def flag(config: pytest.Config, name: str) -> bool:
    """A switch, from the command line or the ini file."""
    given = config.getoption(f"rightcall_{name}")
    return bool(config.getini(f"rightcall_{name}") if given is None else given)


def path_of(config: pytest.Config, name: str) -> Path | None:
    """A path: of the command line beside where pytest was started, of the ini file beside that file."""
    given = config.getoption(f"rightcall_{name}")
    if given:
        return Path(config.invocation_params.dir) / str(given)
    written = config.getini(f"rightcall_{name}")
    folder = config.inipath.parent if config.inipath else config.rootpath
    return folder / str(written) if written else None


def wants_results(config: pytest.Config) -> bool:
    """Whether the session makes a report or asks a gate. One that only collects has nothing to say."""
    if config.getoption("collectonly", default=False):
        return False
    return path_of(config, "report") is not None or flag(config, "gate")


def is_worker(config: pytest.Config) -> bool:
    """Whether this is a process of pytest-xdist that runs tests for another one."""
    return hasattr(config, "workerinput")


def suite_of(config: pytest.Config) -> Suite:
    """The suite of the session, opened once in a process.

    Raises:
        ConfigError: settings that cannot be used.
    """
    if SUITE not in config.stash:
        from rightcall.plugin.suite import Suite

        given = getattr(config, "workerinput", {}).get("rightcall", {})
        key = given.get("key")
        config.stash[SUITE] = Suite.open(
            config=path_of(config, "config"), root=config.rootpath, offline=flag(config, "offline"),
            run_id=given.get("run_id") or config.stash.get(RUN_ID, ""), key=None if key is None else bytes.fromhex(key),
        )  # fmt: skip
    return config.stash[SUITE]

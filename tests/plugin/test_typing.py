"""The plugin as a user's type checker sees it."""

import subprocess
import sys
from pathlib import Path

import pytest

import rightcall.plugin

TYPING = Path(__file__).parents[1] / "typing" / "plugin.py"


@pytest.mark.slow
def test_the_types_are_those_that_a_checker_sees():
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(TYPING)]
    done = subprocess.run(command, cwd=TYPING.parents[2], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_public_names_are_there():
    assert rightcall.plugin.__all__ == ["Agent", "Calls", "RecordedTrace", "Undecided", "UnknownToolWarning"]
    for name in rightcall.plugin.__all__:
        assert getattr(rightcall.plugin, name).__name__ == name
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        rightcall.plugin.Nothing  # noqa: B018 - the attribute is what is tested

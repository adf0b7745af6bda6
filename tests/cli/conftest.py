"""Running the command line inside the test process."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from rightcall.cli.exits import guarded
from rightcall.cli.main import app

# Shared modules lie here, and beside the tests of runs: a store with one item of every grader.
sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[1] / "run")]


class Said(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def rightcall(capfd, tmp_path, monkeypatch):
    """Run `rightcall …` in an empty folder and return its exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RIGHTCALL_REDACTION_KEY", "a fixed key for tests")

    def run(*tokens: str) -> Said:
        code = guarded(app, list(tokens))
        out, err = capfd.readouterr()
        return Said(code, out, err)

    return run


@pytest.fixture
def write(tmp_path):
    """Write a file into the folder; JSON values become one line each."""

    def put(name: str, *content: Any) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if len(content) == 1 and isinstance(content[0], bytes):
            path.write_bytes(content[0])
        else:
            texts = [item if isinstance(item, str) else json.dumps(item) for item in content]
            path.write_text("\n".join(texts) + "\n" if texts else "")
        return path

    return put


@pytest.fixture
def suite(write):
    """Write one case and one passing trace."""
    write("cases.jsonl", {"id": "c", "expect": {"calls": [{"tool": "feed", "arguments": {"tank": 2}}]}})
    write("traces.jsonl", {"id": "t", "case_id": "c", "calls": [{"tool": "feed", "arguments": {"tank": 2}}]})

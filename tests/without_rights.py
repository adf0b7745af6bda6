"""Another Python that may write only what file modes allow, even where these tests run as root."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

_NO_OVERRIDE = ("--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all")
_CODE = "import os, sys; sys.exit(os.access(sys.argv[1], os.W_OK, effective_ids=True))"


def run_without_rights(tmp_path: Path, code: str, *arguments: str, **options: Any) -> str:
    """Run Python code, which must succeed, and return what it printed; skip where modes cannot be made to count."""
    before = _before(tmp_path)
    folders = [str(Path(__file__).parent), str(Path(__file__).parent / "store"), os.environ.get("PYTHONPATH", "")]
    options["env"] = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders)), **options.get("env", {})}
    command = [*before, sys.executable, "-c", code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def _before(tmp_path: Path) -> list[str]:
    """Return what to put before a command."""
    probe = tmp_path / "may-not-be-written"
    probe.touch(mode=0o444)
    tool = shutil.which("setpriv")
    for before in ([], [tool, *_NO_OVERRIDE] if tool else []):
        found = subprocess.run([*before, sys.executable, "-c", _CODE, str(probe)], capture_output=True, check=False)
        if found.returncode == 0:
            return before
    pytest.skip("file modes do not stop this user, and there is no setpriv that could change that")

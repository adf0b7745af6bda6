"""`docs/sources/coverage.md` says what is read of real recordings today."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.slow
def test_the_page_is_what_the_command_prints(shared_data):
    command = [sys.executable, str(ROOT / "docs/sources/coverage.py"), str(shared_data / "data")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    page = (ROOT / "docs/sources/coverage.md").read_text("utf-8")
    assert [line for line in printed.splitlines() if "inspect" not in line] == [
        line for line in page.splitlines() if "inspect" not in line
    ]  # with the extra `inspect` more of these files are read

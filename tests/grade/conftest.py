"""What the tests of the grader share: the module `grade_making` beside this file, and the reported cases."""

import json
import sys
from pathlib import Path

import pytest

# The tests are no package, so a module that they share is found by its folder.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def reported(shared_data):
    """Return the cases from public bug reports by id; skip where they are absent."""
    file = shared_data / "cases" / "cases.jsonl"
    if not file.is_file():
        pytest.skip(f"needs ../{shared_data.name}/cases/cases.jsonl, which is not part of the repository")
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    return {row["id"]: row for row in rows}

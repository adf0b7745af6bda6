"""Reference values for the tests of the statistics, by id."""

import json
from pathlib import Path

import pytest
from hypothesis import settings

FOLDER = Path(__file__).parents[3] / "shared" / "stats"
REFERENCE = FOLDER / "reference.json"
ROWS = {row["id"]: row for row in json.loads(REFERENCE.read_text())} if REFERENCE.is_file() else {}

needs_reference = pytest.mark.skipif(
    not ROWS, reason="needs the reference values in ../shared, which are not part of the repository"
)


def rows(start):
    """The reference values whose statistic begins with a text."""
    return [row for row in ROWS.values() if row["statistic"].startswith(start)]


def by_id(row):
    """The id of a parametrised row."""
    return row["id"]


untimed = settings(deadline=None)
"""A property test whose first example may load scipy, on a machine that does other things as well."""

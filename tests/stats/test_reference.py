"""The reference values as a whole: every one of them is held against our own figures by some test of this folder."""

import re
from pathlib import Path

from stats_making import ROWS, needs_reference

TESTS = "\n".join(path.read_text("utf-8") for path in sorted(Path(__file__).parent.glob("test_*.py")))


def named():
    """Ids that tests name, and those whose statistic they pick by its beginning."""
    ids = {f"R{digits}" for digits in re.findall(r"[rR](\d{2,3})(?!\d)", TESTS)}
    starts = re.findall(r"""rows\((?:f?["'])([^"'{]+)""", TESTS)
    return ids | {id_ for id_, row in ROWS.items() if any(row["statistic"].startswith(start) for start in starts)}


@needs_reference
def test_every_reference_value_is_used():
    assert len(ROWS) == 116
    assert sorted(set(ROWS) - named()) == []

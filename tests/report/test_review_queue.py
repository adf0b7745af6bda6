"""Times as a person says them, and figures that may be undefined."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from rightcall.report.review.queue import age, import_lines, left, short, span
from rightcall.run.people.labels import Imported
from rightcall.stats.intervals import undefined, wilson

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-5, "0 s"), (0, "0 s"), (59, "59 s"), (60, "1 min"), (3599, "59 min"), (3600, "1 h"), (27 * 3600, "27 h"),
        (47 * 3600, "47 h"), (48 * 3600, "2 d"), (400 * 3600, "16 d"),
    ],
)  # fmt: skip
def test_a_time_is_said_in_one_unit(seconds, said):
    assert span(seconds) == said


def test_what_was_and_what_is_left():
    assert age((NOW - timedelta(hours=3)).isoformat(), NOW) == "3 h"
    assert left((NOW + timedelta(minutes=9, seconds=30)).isoformat(), NOW) == "9 min"
    assert left((NOW - timedelta(minutes=1)).isoformat(), NOW) == "0 s"


def test_a_figure_that_is_undefined_is_a_dash():
    assert short(undefined("Wilson"), 2) == "–"
    assert short(wilson(5, 6), 2) == "0.83 [0.44, 0.97] n=6"


def test_a_file_without_anything_new_says_so():
    known = {"rows": 2, "written": 0, "already": 2, "counted": 0, "extra": 0, "not_blind": 0, "decided": 0}
    assert import_lines(Imported(**known)) == ["2 labels: 0 recorded, 2 known already", "nothing was new"]
    late = Imported(**known | {"rows": 1, "written": 1, "already": 0, "extra": 1})
    assert import_lines(late) == [
        "1 label: 1 recorded, 0 known already",
        "0 of them count as answers",
        "1 came late: kept as extra",
    ]

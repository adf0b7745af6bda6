"""Results on their way: any order in, input order out, two words of memory a place."""

from __future__ import annotations

import random
from io import FileIO

import pytest

from rightcall.errors import RunError
from rightcall.run.judging import spool as module
from rightcall.run.judging.spool import Spool


@pytest.fixture
def spool():
    one = Spool()
    yield one
    one.close()


def test_lines_come_back_in_the_order_of_their_places(spool):
    lines = [bytes([65 + n % 26]) * n for n in range(200)]
    places = [spool.place() for _ in lines]
    order = list(places)
    random.Random(3).shuffle(order)
    for place in order:
        spool.put(place, lines[place])
    assert list(spool.lines()) == lines
    assert list(spool.lines()) == lines
    assert (len(spool), spool.missing) == (200, 0)


def test_an_empty_place_is_passed_over_and_counted(spool):
    places = [spool.place() for _ in range(3)]
    spool.put(places[2], b"last")
    spool.put(places[0], b"")
    assert list(spool.lines()) == [b"", b"last"]
    assert (len(spool), spool.missing) == (3, 1)


def test_a_line_that_is_put_while_others_are_read_does_not_disturb_them(spool):
    for text in (b"one", b"two"):
        spool.put(spool.place(), text)
    seen = []
    for line in spool.lines():
        seen.append(line)
        if line == b"one":
            spool.put(1, b"second")
    assert seen == [b"one", b"second"]
    assert spool.missing == 0


def test_no_room_for_temporary_files_is_one_clear_error(monkeypatch):
    monkeypatch.setattr(module, "TemporaryFile", lambda: FileIO("/dev/full", "r+"))
    spool = Spool()
    with pytest.raises(RunError, match="the results cannot be kept for the report: No space left on device; make room"):
        spool.put(spool.place(), b"a result")
    spool.close()

"""Python values as JSON: as they are, or not at all."""

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum, IntEnum
from pathlib import PurePosixPath
from typing import NamedTuple
from uuid import UUID

import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.plugin.values import NotJson, plain

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
)  # fmt: skip


@given(JSON)
def test_what_is_json_already_stays_as_it_is(value):
    found = plain(value)
    assert found == value
    assert json.dumps(found) == json.dumps(value)


class Colour(Enum):
    RED = "red"


class Level(IntEnum):
    HIGH = 3


@dataclass
class Card:
    ending: str
    tags: tuple[str, ...] = ()


class Model(pydantic.BaseModel):
    when: date


class Record(msgspec.Struct):
    n: int


class Point(NamedTuple):
    x: int
    y: int


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (Colour.RED, "red"),
        (Level.HIGH, 3),
        (Card("4242", ("a",)), {"ending": "4242", "tags": ["a"]}),
        (Model(when=date(2026, 11, 30)), {"when": "2026-11-30"}),
        (Record(1), {"n": 1}),
        (Point(1, 2), {"x": 1, "y": 2}),
        (datetime(2026, 11, 30, tzinfo=UTC), "2026-11-30T00:00:00+00:00"),
        (Decimal("1.10"), "1.10"),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (PurePosixPath("a/b"), "a/b"),
        ((1, [2]), [1, [2]]),
        (2**80, 2**80),
        (True, True),
    ],
)
def test_what_has_a_usual_form_takes_it(value, found):
    made = plain(value)
    assert made == found
    assert type(made) is type(found)


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), b"x", {1, 2}, object(), {1: "a"}, {Colour.RED: 1}, "\ud800", Card]
)
def test_what_has_no_form_is_refused_and_never_changed(value):
    with pytest.raises(NotJson):
        plain({"deep": [value]})


def test_what_holds_itself_is_refused():
    value: list = []
    value.append(value)
    with pytest.raises(NotJson, match="levels deep"):
        plain(value)

"""Places in TOML texts: the scanner names the paths and the spans that the standard reader reads."""

from __future__ import annotations

import tomllib
from datetime import date, datetime, time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rightcall.settings.positions import Path, Positions

# ---- documents that the standard reader accepts ----

names = st.sampled_from(
    ["a", "b", "c-d", "1", '"a.b"', "'x y'", '"é"', '"\\u0041"', '""', '"q\\"=["', "'#'", '"]"'],
)
keys = st.lists(names, min_size=1, max_size=3).flatmap(
    lambda parts: st.sampled_from([".", " . ", "\t."]).map(lambda dot: dot.join(parts))
)
scalars = st.sampled_from(
    [
        "1", "-0.5", "1_000", "0xFF", "inf", "nan", "true", "false", "1979-05-27", "1979-05-27 07:32:00", "07:32:00",
        "1979-05-27T07:32:00.5-07:00", '""', "''", '"a # b"', '"\\""', "'\\'", '"é\\t]}"', '"""\nline\n"quoted" \\\n  on"""',
        "'''\n[x]\n'it''s' = 1'''", '"""a""""', "'''b'''''", '"""\\""""', '"""\n""x"""""', "''''c'''",
    ],
)  # fmt: skip
gaps = st.sampled_from(["", " ", "\n  ", " # note ]\n", "\n\n"])


@st.composite
def arrays(draw, inner):
    items = draw(st.lists(inner, max_size=3))
    gap, before, comma = draw(gaps), draw(gaps), draw(st.sampled_from(["", ","]))
    text = ",".join(f"{gap}{item}{before}" for item in items)
    return f"[{text}{comma if items else ''}{gap}]"


@st.composite
def inlines(draw, inner):
    pairs = draw(st.lists(st.tuples(keys, inner), max_size=3))
    text = "{ " + ", ".join(f"{key} = {value}" for key, value in pairs) + " }"
    return text if reads(f"x = {text}") else "{}"


def reads(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


values = st.recursive(scalars, lambda inner: arrays(inner) | inlines(inner), max_leaves=6)
lines = st.one_of(
    st.tuples(keys, values, st.sampled_from(["", "  # note = 1", "\t"])).map(lambda x: f"{x[0]} = {x[1]}{x[2]}"),
    st.tuples(keys, st.sampled_from(["", " # [not]"])).map(lambda x: f"[{x[0]}]{x[1]}"),
    keys.map(lambda key: f"  [[ {key} ]]"),
    st.sampled_from(["", "# comment", "   "]),
)


@st.composite
def documents(draw):
    text = ""
    for line in draw(st.lists(lines, max_size=14)):
        longer = f"{text}{line}\n"
        text = longer if reads(longer) else text
    return text if draw(st.booleans()) else text.rstrip("\n")


def leaves(value: Any, path: Path = ()) -> dict[Path, Any]:
    """Every part of a value, by path."""
    found: dict[Path, Any] = {path: value} if path else {}
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in items:
        found |= leaves(item, (*path, step))
    return found


def same(one: Any, other: Any) -> bool:
    return repr(one) == repr(other)  # nan is equal to itself here, and 1 is not true


@settings(max_examples=300, deadline=None)
@given(documents())
def test_the_paths_are_those_that_are_read_and_each_span_holds_its_value(text):
    wanted = leaves(tomllib.loads(text))
    spots = Positions(text).spots
    assert spots.keys() == wanted.keys()
    for path, spot in spots.items():
        if isinstance(path[-1], str):
            key = text[spot.key.start : spot.key.end]
            assert list(tomllib.loads(f"{key} = 0")) == [path[-1]]
        if spot.value != spot.key or isinstance(path[-1], int):
            written = text[spot.value.start : spot.value.end]
            is_header = isinstance(path[-1], int) and not reads(f"x = {written}")
            is_header = is_header or (
                isinstance(path[-1], int) and isinstance(wanted[path], dict) and written[0] != "{"
            )
            assert is_header or same(tomllib.loads(f"x = {written}")["x"], wanted[path])


@given(st.text(alphabet="ab.=[]{}\"'#\n, 1\\", max_size=40))
def test_a_text_that_is_no_toml_never_stops_the_scanner(text):
    assert isinstance(Positions(text).spots, dict)


# ---- by hand ----

TEXT = """\
version = 1
"a.b" = 2

[golden]
  profile = "strict"
limits.jobs = [1,
   { x = 1, "y" = [true] }]

[[policy.requires]]
tool = "a"
[[policy.requires]]
before = '''
b'''
[policy]
"""


@pytest.mark.parametrize(
    ("path", "key", "value"),
    [
        (("version",), (1, 1), (1, 11)),
        (("a.b",), (2, 1), (2, 9)),
        (("golden",), (4, 2), (4, 2)),
        (("golden", "profile"), (5, 3), (5, 13)),
        (("golden", "limits"), (6, 1), (6, 1)),
        (("golden", "limits", "jobs"), (6, 8), (6, 15)),
        (("golden", "limits", "jobs", 0), (6, 16), (6, 16)),
        (("golden", "limits", "jobs", 1, "x"), (7, 6), (7, 10)),
        (("golden", "limits", "jobs", 1, "y", 0), (7, 20), (7, 20)),
        (("policy",), (14, 2), (14, 2)),
        (("policy", "requires", 0), (9, 10), (9, 10)),
        (("policy", "requires", 1), (11, 10), (11, 10)),
        (("policy", "requires", 1, "before"), (12, 1), (12, 10)),
        (("policy", "requires", 1, "tool"), (11, 10), (11, 10)),
        (("nothing",), None, None),
    ],
)
def test_every_part_has_its_line_and_column(path, key, value):
    positions = Positions(TEXT)
    assert (positions.of_key(path), positions.of_value(path)) == (key, value)


def test_columns_count_characters():
    assert Positions('"é" = { "ü" = 1 }').of_key(("é", "ü")) == (1, 9)


def test_what_is_nested_too_deep_is_left_out():
    assert Positions("a = " + "[" * 100_000 + "]" * 100_000).of_value(("a",)) == (1, 1)


def test_dates_are_no_keys():
    text = "d = 1979-05-27 07:32:00 # x\nt = 07:32:00"
    assert tomllib.loads(text) == {"d": datetime(1979, 5, 27, 7, 32), "t": time(7, 32)}  # noqa: DTZ001 - as read
    assert date(1979, 5, 27) == tomllib.loads("d = 1979-05-27")["d"]
    spot = Positions(text).spots["d",]
    assert text[spot.value.start : spot.value.end] == "1979-05-27 07:32:00"

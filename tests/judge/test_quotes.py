"""Paths into results, and quotes that must stand where they are said to stand."""

from __future__ import annotations

import json
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.judge.quotes import NoSuchPath, occurs, occurs_in_action, parse_path, stands_at, value_at

RESULT = {
    "rooms": [{"opens at": "08:30", "size": 14, "free": True, "price": 50.8, "note": None}],
    "text": '{"a": {"b": [1, "x y"]}}',
    "odd": {"a.b": 1, 'c"d': 2, "7": 3, "": 4},
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("$", RESULT),
        ("rooms[0].size", 14),
        ("$.rooms[0].size", 14),
        (" $.rooms[0].size ", 14),
        ('$.rooms[0]["opens at"]', "08:30"),
        ("$['rooms'][0]['opens at']", "08:30"),
        ('$.odd["a.b"]', 1),
        (r'$.odd["c\"d"]', 2),
        ("$.odd.7", 3),
        ("$.odd[7]", 3),
        ('$.odd[""]', 4),
        ("$.text.a.b[1]", "x y"),
    ],
)
def test_a_path_leads_to_its_value_also_through_text_that_is_json(path, value):
    assert value_at(RESULT, path) == value


@pytest.mark.parametrize(
    "path",
    ["", "  ", "$$", "$rooms", "..rooms", "$.", "$.rooms[-1]", "$.rooms[0:1]", "$.rooms[*]", "$.rooms[00]", "$. rooms",
     "$.rooms[0].opens at", "$.rooms[x]", '$["rooms"', "$.rooms[0]size", "rooms.[0]"],
)  # fmt: skip
def test_what_is_no_path_is_refused(path):
    assert parse_path(path) is None
    with pytest.raises(NoSuchPath, match="is no path"):
        value_at(RESULT, path)


@pytest.mark.parametrize("path", ["$.rooms[1]", "$.room", "$.rooms.size", "$.rooms[0].size.x", "$.text.a.c", "$.Rooms"])
def test_a_path_that_leads_nowhere_says_where_it_ends(path):
    with pytest.raises(NoSuchPath, match=r"leads nowhere: at `\$"):
        value_at(RESULT, path)


def test_where_a_path_ends_is_said_in_readable_letters():
    with pytest.raises(NoSuchPath, match=r'at `\$\["größe"\]` there is no "höhe"'):
        value_at({"größe": {}}, "$.größe.höhe")


def test_a_text_has_the_root_path_only():
    assert value_at("nothing was paid", "$") == "nothing was paid"
    with pytest.raises(NoSuchPath):
        value_at("nothing was paid", "$.status")


@pytest.mark.parametrize(
    ("quote", "value"),
    [
        ("14", 14), ("14.0", 14), ("50.8", 50.8), ("50.80", 50.8), ("true", True), ("null", None), ("[]", []),
        ("{}", {}), ("08:30", "08:30"), ('"08:30"', "08:30"), ("nothing was paid", "limit reached, nothing was paid."),
        ("two  words", "two\nwords"), ("a\\nb", "a\nb"), ('\\"x\\": 1', '{"x": 1}'), (normalize("NFD", "Zoë"), "Zoë"),
        ('"size": 14', {"size": 14}), ('"size":14', {"size": 14}), ("14", [14, 15]), ('""', ""),
    ],
)  # fmt: skip
def test_a_quote_that_stands_at_its_path(quote, value):
    assert stands_at(quote, value)


@pytest.mark.parametrize(
    ("quote", "value"),
    [
        ("4", 14), ("15", 14), ("1.4e1x", 14), ("True", True), ("1", True), ("0", False), ("None", None), ("", "x"),
        ("  ", "x y"), ("nothing is paid", "nothing was paid"), ("Nothing was paid", "nothing was paid"),
        ("nothing paid", "nothing was paid"), ("nothing ... paid", "nothing was paid"), ("size: 14", {"size": 14}),
        ("NaN", 1.5), ("“quoted”", '"quoted"'), ("", ""),
    ],
)  # fmt: skip
def test_a_quote_that_does_not_stand_there_is_never_forgiven(quote, value):
    assert not stands_at(quote, value)


def test_a_claim_stands_in_the_action_as_it_is_shown():
    action = {"tool": "reserve", "arguments": {"min_load_kg": 1900, "who": 'Ada "A" Oko'}}
    for quote in ("1900", "reserve", "min_load_kg", '"min_load_kg": 1900', '"min_load_kg":1900', 'Ada "A" Oko'):
        assert occurs_in_action(quote, action)
    for quote in ("1901", "cancel", " ", "min load kg"):
        assert not occurs_in_action(quote, action)
    assert not occurs_in_action("anything", None)


# ---- properties ----

KEYS = st.text(max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=10,
)


def places(value, path="$"):
    yield path, value
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, f"{path}[{json.dumps(key)}]")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from places(item, f"{path}[{index}]")


def nfc_unique(value):
    """Whether no object has two keys that are one in NFC."""
    for _, one in places(value):
        if isinstance(one, dict) and len({normalize("NFC", key) for key in one}) < len(one):
            return False
    return True


@given(VALUES.filter(nfc_unique))
def test_every_place_of_a_result_has_a_path_and_its_json_text_stands_there(value):
    for path, item in places(value):
        assert value_at(value, path) == item
        assert stands_at(json.dumps(item, ensure_ascii=False), item) or not json.dumps(item).strip('" ')


@given(st.text(min_size=1), st.data())
def test_every_stretch_of_a_text_that_is_not_blank_occurs_in_it_and_nothing_blank_does(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    part = text[start : data.draw(st.integers(start + 1, len(text)))]
    if normalize("NFC", part) in normalize("NFC", text):  # a stretch may begin inside a composed character
        assert occurs(part, text) == bool(part.strip())


@given(st.text(min_size=1, max_size=30), st.text(min_size=1, max_size=30))
def test_words_that_are_not_there_are_never_found(text, words):
    squeezed = " ".join(normalize("NFC", text).split())
    wanted = " ".join(normalize("NFC", words).split())
    if (
        wanted
        and wanted not in squeezed
        and wanted not in " ".join(json.dumps(normalize("NFC", text), ensure_ascii=False).split())
    ):
        assert not occurs(words, text)


@given(st.text(max_size=30))
def test_any_text_is_a_path_or_is_refused(path):
    steps = parse_path(path)
    assert steps is None or all(isinstance(step, (str, int)) for step in steps)

"""What the JSON loader of `datasets` will change, found without it."""

import pytest

from rightcall.report.training.loading_notes import DEEPEST, LoadingNotes


def kinds(*rows):
    """Return kind and place of every change."""
    notes = LoadingNotes()
    for row in rows:
        notes.see(row)
    return [
        line.removeprefix("the JSON loader of `datasets` changes values: ").removesuffix("; see docs/exports.md")
        for line in notes.lines()
    ]


@pytest.mark.parametrize("date", ["2026-11-29", "2026-11-29T10:00", "2026-11-29 10:00:00", "2026-11-29T10:00:00.5Z"])
def test_a_place_with_nothing_but_dates_is_named(date):
    assert kinds({"a": [{"b": date}]}, {"a": []}) == ["texts that are dates become timestamps: `a[].b`"]


@pytest.mark.parametrize(
    "rows",
    [
        ({"a": {"b": "2026-11-29"}}, {"a": {"b": "soon"}}),
        ({"a": {"b": "2026-11-29"}}, {"a": {"c": "2026-11-29"}}),
        ({"a": {"b": "20261129"}},),
        ({"a": {"b": "4"}}, {"a": {"b": "5"}}),
        ({"a": {"b": 0.12345678901234}}, {"a": {"b": 1}}),
        ({"a": {"b": 12.25}}, {"a": {"c": 12.25}}),
        ({"a": {"b": None}}, {"a": {"b": "x"}}),
        ({"a": 2**63 - 1},),
    ],
)
def test_what_comes_back_unchanged_is_not_named(rows):
    assert kinds(*rows) == []


def test_a_number_as_text_among_numbers_is_named():
    assert kinds({"a": {"b": "4"}}, {"a": {"b": 4}}) == ["texts that are numbers become numbers: `a.b`"]


def test_a_long_fraction_that_is_kept_as_json_is_named():
    assert kinds({"a": {"b": 0.12345678901234}}, {"a": {"c": 1}}) == ["decimal fractions are cut to 10 places: `a.b`"]


def test_a_number_beyond_64_bits_is_named_and_many_places_are_counted():
    (line,) = kinds(dict.fromkeys("abcde", 2**63))
    assert line == "whole numbers beyond 64 bits are no longer exact: `a`, `b`, `c` and 2 more"


@pytest.mark.parametrize(("depth", "is_named"), [(DEEPEST, False), (DEEPEST + 1, True)])
def test_what_is_nested_too_deeply_to_load_is_said(depth, is_named):
    value = "x"
    for number in range(depth):
        value = [value] if number % 2 else {"a": value}
    assert kinds({"chosen": value}) == (
        ["the JSON loader of `datasets` may refuse rows: values are nested too deeply"] if is_named else []
    )

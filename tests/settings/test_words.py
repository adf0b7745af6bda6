"""What a setting may be, in words."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta

from rightcall.settings.model import LimitsTable, Settings
from rightcall.settings.words import allowed, bounds, choices, type_at


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (str, "a text"),
        (int, "a whole number"),
        (float, "a number"),
        (bool, "true or false"),
        (str | None, "a text"),
        (str | tuple[str, ...], "a text or a list of texts"),
        (Literal["a"], "'a'"),
        (Literal["a", "b", "c"], "'a', 'b' or 'c'"),
        (Literal[1], "1"),
        (tuple[Literal["a", "b"], ...], "a list of 'a' or 'b'"),
        (tuple[int, ...], "a list of whole numbers"),
        (dict[str, str], "a table"),
        (LimitsTable, "a table"),
        (tuple[LimitsTable, ...], "a list of tables"),
        (Annotated[float, Meta(ge=0, le=1)], "a number from 0 to 1"),
        (Annotated[int, Meta(ge=1)], "a whole number of at least 1"),
        (Annotated[float, Meta(gt=0)] | None, "a number above 0"),
        (Any, "a value"),
    ],
)
def test_a_type_is_told_in_words(kind, words):
    assert allowed(kind) == words


@pytest.mark.parametrize(
    ("meta", "words"),
    [
        (Meta(gt=0, lt=1), "between 0 and 1"),
        (Meta(gt=0, le=1), "above 0 and at most 1"),
        (Meta(ge=2, lt=5), "at least 2 and below 5"),
        (Meta(le=5), "at most 5"),
    ],
)
def test_the_bounds_of_a_number_are_told_in_words(meta, words):
    assert bounds(Annotated[float, meta]) == words


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (("limits", "jobs"), "a whole number of at least 1"),
        (("judges", "any name", "max_tokens"), "a whole number of at least 1"),
        (("judges", "x", "price", "input"), "a number of at least 0"),
        (("policy", "max_calls", 3, "count"), "a whole number of at least 0"),
        (("policy", "when", 0, "arguments", "properties", "x"), "a value"),
        (("review", "people", "dana", 0), "'reviewer', 'adjudicator' or 'signer'"),
        (("traces", 4), "a text"),
        (("nothing", "like", "this"), "a value"),
    ],
)
def test_the_type_of_any_part_of_the_settings_is_known(path, words):
    assert allowed(type_at(Settings, path)) == words


def test_texts_that_may_be_said_are_listed():
    assert choices(tuple[Literal["a", "b"], ...] | None) == ["a", "b"]

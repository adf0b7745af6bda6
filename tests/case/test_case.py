"""Cases as written: what is absent, empty and stated differ."""

import pytest
from msgspec import UNSET, Raw

from rightcall.case.case import Case, Expect, GoldenCall, Way
from rightcall.errors import TraceError


def call(raw=None, **fields):
    return GoldenCall(tool="t", arguments_json=UNSET if raw is None else Raw(raw), **fields)


def test_absent_arguments_are_anything_and_empty_ones_exactly_none():
    assert call().arguments is None
    assert call(b"{}").arguments == {}
    assert call(b'{"a": {"any_of": [1]}}').arguments == {"a": {"any_of": [1]}}


def test_arguments_that_cannot_be_decoded_say_so():
    with pytest.raises(TraceError):
        _ = call(b'{"a": 1e999}').arguments


def test_the_ways_are_the_calls_and_then_the_alternatives():
    other = Way(calls=(call(),), order="any", name="other")
    assert Expect().ways == ()
    assert Expect(calls=()).ways == (Way(calls=()),)
    assert Expect(calls=(call(),), order="any", alternatives=(other,)).ways == (
        Way(calls=(call(),), order="any"),
        other,
    )
    assert Expect(alternatives=(other,)).ways == (other,)


def test_no_golden_an_empty_golden_and_a_golden_are_three_cases():
    cases = [Case(id="c"), Case(id="c", expect=Expect(calls=())), Case(id="c", expect=Expect(calls=(call(),)))]
    assert len({case.digest for case in cases}) == 3


def test_the_digest_is_of_the_content_and_not_of_its_spelling():
    def case(raw):
        return Case(id="c", expect=Expect(calls=(call(raw),)))

    assert case(b'{"a": 1, "b": 2}').digest == case(b'{"b":2.0,"a":1}').digest
    assert case(b'{"a": 1}').digest != case(b"{}").digest != case(None).digest


def test_cases_are_frozen():
    with pytest.raises(AttributeError):
        Case(id="c").id = "d"

"""Canonical JSON: RFC 8785, but integers beyond 2^53 keep every digit."""

import hashlib
import json
import math

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from rightcall.trace.digest import canonical, digest

SAFE = 2**53 - 1
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-SAFE, SAFE)
    | st.floats(allow_nan=False, allow_infinity=False).filter(lambda number: abs(number) < SAFE)
    | st.text()
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12)


def test_the_example_of_rfc_8785_section_3_2():
    value = json.loads(
        r"""{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
             "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}"""
    )
    # 1E30 lies beyond 2^53: this is the one departure from the RFC, which writes it as 1e+30.
    assert (
        canonical(value)
        == (
            '{"literals":[null,true,false],"numbers":[333333333.3333333,1000000000000000019884624838656,4.5,0.002,1e-27],'
            '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}'
        ).encode()
    )


def test_keys_are_sorted_by_utf_16_code_units():
    keys = ["\u20ac", "\r", "\ufb33", "1", "\U0001f600", "\x80", "\u00f6"]
    assert list(json.loads(canonical(dict.fromkeys(keys, 0)))) == [
        "\r", "1", "\x80", "\u00f6", "\u20ac", "\U0001f600", "\ufb33",
    ]  # fmt: skip


@given(VALUES)
@settings(deadline=None, max_examples=60)
def test_it_is_what_the_rfc8785_library_writes(value):
    assert canonical(value) == rfc8785.dumps(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (2**53, b"9007199254740992"),
        (2**53 + 1, b"9007199254740993"),
        (-(10**40) - 7, b"-10000000000000000000000000000000000000007"),
        (1e21, b"1000000000000000000000"),
        (4.0, b"4"),
        (-0.0, b"0"),
        (True, b"true"),
    ],
)
def test_numbers(value, text):
    assert canonical(value) == text


def test_big_integers_are_told_apart_digit_for_digit():
    assert digest({"id": 2**53}) != digest({"id": 2**53 + 1})


def test_equal_values_hash_alike():
    assert digest({"b": 4, "a": [1.0]}) == digest({"a": [1], "b": 4.0})
    assert digest(True) != digest(1)
    assert digest("4") != digest(4)
    assert digest(None) != digest({}) != digest([])


def test_a_tuple_is_a_list():
    assert canonical((1, (2,))) == b"[1,[2]]"


def test_a_digest_is_the_sha_256_of_the_canonical_form():
    assert digest({"a": 1}) == hashlib.sha256(b'{"a":1}').hexdigest()


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, object(), {"a": {1, 2}}, "\ud800"])
def test_what_is_not_json_has_no_digest(value):
    with pytest.raises(ValueError, match=r"\S"):
        digest(value)


@pytest.mark.parametrize("key", [1, None, ("a",)])
def test_a_key_that_is_no_text_has_no_digest(key):
    with pytest.raises(ValueError, match="texts"):
        digest({"a": 1, key: 2})

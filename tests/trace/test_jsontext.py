"""JSON text: strict, exact, bounded; equality under JSON's own types."""

import json
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rightcall.errors import Place, TraceError
from rightcall.trace import jsontext
from rightcall.trace.jsontext import MAX_DEPTH, decode, depth_of, encode, identity, nfc_keys, same, same_json

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=10)
PLACE = Place("t.jsonl", 7)


def refusal(data, place=PLACE):
    with pytest.raises(TraceError) as caught:
        decode(data, place)
    return caught.value


# ---- reading ----


@given(VALUES)
@settings(deadline=None, max_examples=60)
def test_a_value_survives_writing_and_reading(value):
    again = decode(encode(value))
    assert again == value
    assert same(again, value)


@pytest.mark.parametrize("digits", ["9007199254740993", "-9007199254740993", "1" * 400, "18446744073709551616"])
def test_integers_of_any_size_are_exact(digits):
    assert encode(decode(f'{{"n":{digits}}}')) == f'{{"n":{digits}}}'.encode()


def test_null_empty_and_zero_stay_distinct():
    text = b'[null,{},[],"",0,false]'
    assert encode(decode(text)) == text


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity", "inf"])
def test_nan_and_infinities_are_refused_by_name(word):
    error = refusal(f'{{"a": 1,\n "b": {word}}}')
    assert f"{word} is not a JSON value" in error.message
    assert (error.code, error.place.line) == ("TRACE_MALFORMED", 8)
    assert error.place.column in (7, 8)


def test_a_number_that_no_float_can_hold_is_out_of_range():
    assert "a number is out of range" in refusal('{"a": 1e999}').message


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [('{"a" 1}', 7, 6), ('{"a": 1,\n  "b" 2}', 8, 7), ('{"é": x}', 7, 7), ("[1,]", 7, 4)],
)
def test_a_syntax_error_names_line_and_column(text, line, column):
    error = refusal(text)
    assert (error.place.line, error.place.column) == (line, column)
    assert error.message.startswith("not valid JSON: ")


def test_a_text_that_ends_too_early_is_said_to():
    assert "the text ends too early" in refusal('{"a": [1, 2').message


@pytest.mark.parametrize("text", [r'"\ud800"', r'"\udc00"', r'{"a": "x\ud83dy"}'])
def test_a_lone_surrogate_is_refused(text):
    assert refusal(text).code == "TRACE_MALFORMED"
    assert refusal(text).place.column > 1


def test_a_lone_surrogate_in_a_python_text_is_refused():
    assert refusal('"\ud800"').code == "TRACE_MALFORMED"


def test_bytes_that_are_not_utf_8_are_refused():
    assert refusal(b'{"a": "\xff"}').code == "TRACE_MALFORMED"


def test_without_a_place_the_line_counts_from_one():
    with pytest.raises(TraceError) as caught:
        decode("\n\n?")
    assert caught.value.place == Place(None, 3, 1)


# ---- depth ----


def nested(depth, opening="[", closing="]"):
    return opening * depth + closing * depth


def test_nesting_up_to_the_limit_is_read():
    assert decode(nested(MAX_DEPTH)) is not None


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 3_000, 1_000_000])
def test_deeper_nesting_is_refused_before_anything_is_decoded(depth):
    error = refusal(nested(depth))
    assert (error.code, error.place) == ("TRACE_TOO_DEEP", PLACE)
    assert f"nested {depth} levels deep; at most 256" in error.message


def test_deep_objects_count_like_deep_lists():
    assert refusal('{"a":' * 300 + "1" + "}" * 300).code == "TRACE_TOO_DEEP"


def test_many_brackets_side_by_side_are_not_deep():
    assert decode("[" + ",".join(["[]"] * 1_000) + "]") == [[]] * 1_000


def test_brackets_inside_texts_do_not_count():
    text = json.dumps({"a": "[" * 500, "b": '\\"' + "{" * 500})
    assert depth_of(text.encode()) == 1
    assert decode(text)["a"] == "[" * 500


@given(VALUES)
@settings(deadline=None, max_examples=60)
def test_the_scan_finds_the_depth_that_the_value_has(value):
    def depth(part):
        if not isinstance(part, (list, dict)):
            return 0
        inner = part.values() if isinstance(part, dict) else part
        return 1 + max(map(depth, inner), default=0)

    assert depth_of(encode(value)) == depth(value)


# ---- equality ----

EQUAL = [
    ("4", "4.0"),
    ("-0.0", "0"),
    ("1e3", "1000"),
    ('{"a": 1, "b": 2}', '{"b": 2, "a": 1}'),
    ('"\\u00e9"', '"e\\u0301"'),
    ('{"\\u00e9": 1}', '{"e\\u0301": 1.0}'),
    ("[1, [2.0, {}]]", "[1.0, [2, {}]]"),
    ("9007199254740993", "9007199254740993"),
    ("null", "null"),
]
UNEQUAL = [
    ("true", "1"),
    ("false", "0"),
    ("true", "1.0"),
    ('"4"', "4"),
    ("null", "0"),
    ("null", '""'),
    ("null", "false"),
    ("{}", "[]"),
    ("[]", '""'),
    ("[1, 2]", "[2, 1]"),
    ("[1]", "[1, 1]"),
    ('"a"', '"A"'),
    ('"a"', '"a "'),
    ('{"a": null}', "{}"),
    ('{"a": 1}', '{"b": 1}'),
    ("9007199254740993", "9007199254740992"),
    ("9007199254740993", "9007199254740992.0"),
    ("[true]", "[1]"),
    ('{"a": [0]}', '{"a": [false]}'),
    ('"\\ufb01"', '"fi"'),
]


@pytest.mark.parametrize(("left", "right"), EQUAL)
def test_equal_under_json_types(left, right):
    for first, second in ((left, right), (right, left)):
        assert same(decode(first), decode(second))
        assert same_json(first.encode(), second.encode())
        assert identity(first.encode()) == identity(second.encode())


@pytest.mark.parametrize(("left", "right"), UNEQUAL)
def test_unequal_under_json_types(left, right):
    for first, second in ((left, right), (right, left)):
        assert not same(decode(first), decode(second))
        assert not same_json(first.encode(), second.encode())
        assert identity(first.encode()) != identity(second.encode())


@given(VALUES, VALUES)
@settings(deadline=None, max_examples=60)
def test_the_three_ways_of_comparing_agree(left, right):
    first, second = encode(left), encode(right)
    assert same(left, right) == same_json(first, second) == (identity(first) == identity(second))
    assert same(left, left)


def test_a_tuple_equals_the_same_list():
    assert same((1, 2), [1, 2])
    assert not same((1, 2), "12")


def test_keys_that_are_in_nfc_already_cost_no_copy():
    value = {"é": 1, "a": 2}
    assert nfc_keys(value) is value
    assert nfc_keys({"e\u0301": 1}) == {"\u00e9": 1}


@pytest.mark.parametrize("compare", [partial(same_json, b'{"a": 1}'), identity])
@pytest.mark.parametrize("text", [b'{"a": 1e999}', b'{"a": "\xff"}'])
def test_bytes_that_were_kept_unread_are_refused_like_any_others(compare, text):
    with pytest.raises(TraceError) as caught:
        compare(text)
    assert caught.value.code == "TRACE_MALFORMED"


def test_a_place_inside_a_record_is_kept():
    assert refusal("?", Place("f", 2, None, "$.calls[0]")).place == Place("f", 2, 1, "$.calls[0]")
    assert jsontext.malformed(b"?", ValueError("odd")).message == "not valid JSON: odd"

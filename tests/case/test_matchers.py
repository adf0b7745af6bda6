"""Every argument matcher, at every depth; default equality; what cannot be compiled."""

import time
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rightcall.case import matchers
from rightcall.case.matchers import (
    ABSENT,
    MATCHER_NAMES,
    FromResult,
    ListNode,
    Literal,
    Matcher,
    ObjectNode,
    compile_value,
    describe,
    flows_in,
    is_ignored,
    matches,
    may_be_absent,
)
from rightcall.errors import CaseError, Place
from rightcall.trace.jsontext import decode, same

PLACE = Place("c.toml", 4, None, "$.expect.calls[0].arguments.a")
DEPTHS = {
    "alone": lambda value: value,
    "in an object": lambda value: {"x": value, "y": 1},
    "in a list": lambda value: [0, value],
    "deep": lambda value: {"x": [{"y": {"z": [value]}}, "w"]},
}


def ok(expected, actual, resolve=None):
    return matches(compile_value(expected, PLACE), actual, resolve)


def refusal(expected):
    with pytest.raises(CaseError) as caught:
        compile_value(expected, PLACE)
    return caught.value


HITS = [
    ({"any_of": [1, "b", None]}, ["b", None, 1.0]),
    ({"any_of": [{"approx": 1, "abs_tol": 0.1}, {"k": "v"}]}, [1.05, {"k": "v"}]),
    ({"approx": 10, "abs_tol": 0.5}, [10, 10.5, 9.5, 10.25]),
    ({"approx": 10, "rel_tol": 0.1}, [11, 9, 10.5]),
    ({"approx": -10, "rel_tol": 0.1}, [-11, -9]),
    ({"approx": 10, "abs_tol": 2, "rel_tol": 0.01}, [12, 8]),
    ({"approx": 0.3, "abs_tol": 0}, [0.3]),
    ({"approx": 9007199254740993, "abs_tol": 0}, [9007199254740993]),
    ({"matches": r"GB-\d{4}"}, ["GB-2041"]),
    ({"matches": "(?i)yes"}, ["YES"]),
    ({"matches": ".*"}, ["", "é"]),
    ({"similar": "123 Maple St", "as": "address"}, ["123 maple street", "123  MAPLE St."]),
    ({"similar": "2026-12-04", "as": "date"}, ["4 December 2026", "December 4th, 2026", "04.12.2026"]),
    ({"similar": "1,250", "as": "number"}, [1250, "1250.00", "$1,250"]),
    ({"similar": 1250, "as": "number"}, ["1,250"]),
    ({"similar": "+44 1632 960118", "as": "phone"}, ["0044 1632-960118"]),
    ({"similar": "Wilma Oakes", "as": "name"}, ["Oakes, Wilma", "Ms. wilma OAKES"]),
    ({"similar": "Hello, world!"}, ["hello world"]),
    ({"similar": "a b c d", "threshold": 0.5}, ["a b c", "d c b a", "A, B x c"]),
    ({"set": [1, 2, 3]}, [[3, 2, 1], [1, 1, 2.0, 3]]),
    ({"set": []}, [[]]),
    ({"set": [{"matches": "a+"}, 1]}, [[1, "aaa"]]),
    ({"contains": "lock"}, ["the locker", ["lock", "key"]]),
    ({"contains": ["a", "b"]}, ["bca", ["b", "a", "c"]]),
    ({"contains": "\u00e9"}, ["caf\u00e9", "cafe\u0301"]),
    ({"contains": {"k": 1}}, [[{"k": 1.0}, 2]]),
    ({"contains": [{"matches": "x+"}, 2]}, [["xx", 2]]),
    ({"schema": {"type": "string", "minLength": 3}}, ["abc"]),
    ({"schema": True}, [None, {}]),
    ({"ignore": True}, [None, 0, {"any": ["thing"]}]),
    ({"equals": {"contains": "x"}}, [{"contains": "x"}]),
    ({"equals": {"equals": 1}}, [{"equals": 1.0}]),
    ({"equals": {"any_of": [1]}, "optional": True}, [{"any_of": [1]}]),
]
MISSES = [
    ({"any_of": [1, "b"]}, [True, "B", None, [1]]),
    ({"any_of": []}, [None, []]),
    ({"approx": 10, "abs_tol": 0.5}, [10.51, 9.49, "10", True, None]),
    ({"approx": 1, "abs_tol": 0}, [True]),
    ({"approx": 10, "rel_tol": 0.1}, [11.01, 8.9]),
    ({"approx": 9007199254740993, "abs_tol": 0}, [9007199254740992, 9007199254740992.0]),
    ({"approx": 0.3, "abs_tol": 0}, [0.30000000000000004]),
    ({"matches": r"GB-\d{4}"}, ["GB-20411", "xGB-2041", "GB-2041\n", 2041, None]),
    ({"similar": "123 Maple St", "as": "address"}, ["124 Maple St", "123 Maple Ave", 123, None]),
    ({"similar": "2026-12-04", "as": "date"}, ["04/12/2026", "2026-12-05", "soon"]),
    ({"similar": "1", "as": "number"}, [True, "one", None]),
    ({"similar": "01632 960118", "as": "phone"}, ["+44 1632 960118"]),
    ({"similar": "a b c d", "threshold": 0.5}, ["a x y", ""]),
    ({"similar": "a b c d"}, ["a b c"]),
    ({"set": [1, 2]}, [[1], [1, 2, 3], [True, 2], 1, None, {"0": 1}]),
    ({"contains": "lock"}, ["LOCK", ["locker"], 7, None, {"lock": 1}]),
    ({"contains": ["a", "b"]}, ["ac", ["a"]]),
    ({"contains": {"matches": "x"}}, ["x"]),
    ({"contains": 4}, ["4", [True]]),
    ({"schema": {"type": "string", "minLength": 3}}, ["ab", 3]),
    ({"equals": {"contains": "x"}}, ["x", {"contains": "y"}, {"contains": "x", "more": 1}]),
]


@pytest.mark.parametrize("wrap", DEPTHS.values(), ids=DEPTHS)
@pytest.mark.parametrize(("expected", "actuals"), HITS, ids=repr)
def test_a_matcher_accepts_at_any_depth(expected, actuals, wrap):
    for actual in actuals:
        assert ok(wrap(expected), wrap(actual)), actual


@pytest.mark.parametrize("wrap", DEPTHS.values(), ids=DEPTHS)
@pytest.mark.parametrize(("expected", "actuals"), MISSES, ids=repr)
def test_a_matcher_refuses_at_any_depth(expected, actuals, wrap):
    for actual in actuals:
        assert not ok(wrap(expected), wrap(actual)), actual


def test_what_stands_around_a_matcher_counts_too():
    expected = {"x": {"ignore": True}, "y": [1, {"any_of": [2, 3]}]}
    assert ok(expected, {"x": 0, "y": [1, 3]})
    for wrong in (
        {"x": 0, "y": [1, 4]},
        {"x": 0, "y": [1, 3, 3]},
        {"x": 0, "y": [1]},
        {"x": 0},
        {"x": 0, "y": [1, 3], "z": 0},
    ):
        assert not ok(expected, wrong)
    assert not ok(expected, [])
    assert not ok([{"ignore": True}], {"0": 1})
    assert ok(expected, {"y": [1, 2]})  # an ignored key counts nowhere: it need not be there


def test_only_the_first_key_makes_a_matcher():
    assert ok({"name": "x", "contains": "y"}, {"contains": "y", "name": "x"})
    assert type(compile_value({"as": "address", "similar": "x"}, PLACE)) is Literal
    assert type(compile_value({}, PLACE)) is Literal


def test_an_object_without_matchers_is_one_literal():
    assert type(compile_value({"a": [{"b": 1}]}, PLACE)) is Literal
    assert type(compile_value({"a": [{"b": {"ignore": True}}]}, PLACE)) is ObjectNode
    assert type(compile_value([{"ignore": True}], PLACE)) is ListNode


# ---- default equality ----


@pytest.mark.parametrize("wrap", DEPTHS.values(), ids=DEPTHS)
@pytest.mark.parametrize(
    ("expected", "actual", "equal"),
    [
        ("4", "4.0", True),
        ("true", "1", False),
        ('"4"', "4", False),
        ("null", "0", False),
        ('"\\u00e9"', '"e\\u0301"', True),
        ('"a"', '"A"', False),
        ('"a"', '" a"', False),
        ("9007199254740993", "9007199254740992", False),
        ("9007199254740993", "9007199254740993", True),
        ('{"a": 1, "b": 2}', '{"b": 2, "a": 1}', True),
        ("[1, 2]", "[2, 1]", False),
    ],
)
def test_default_equality_follows_json_types(expected, actual, equal, wrap):
    assert ok(wrap(decode(expected)), wrap(decode(actual))) is equal


@pytest.mark.parametrize("key", ["e\u0301", "\u00e9"])
def test_keys_compare_in_nfc_beside_a_matcher(key):
    assert ok({"\u00e9": {"ignore": True}}, {key: 1})
    assert ok({key: {"ignore": True}}, {"e\u0301": 1})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(JSON, JSON)
@settings(deadline=None, max_examples=60)
def test_equals_compares_any_value_as_a_literal(value, other):
    assert ok({"equals": value}, value)
    assert ok({"equals": value}, other) is same(value, other)


# ---- optional, ignore, data flow ----

EVERY = {
    "any_of": {"any_of": [1]},
    "approx": {"approx": 1, "abs_tol": 1},
    "matches": {"matches": "a"},
    "similar": {"similar": "a", "as": "name", "threshold": 1},
    "set": {"set": [1]},
    "contains": {"contains": 1},
    "schema": {"schema": {}},
    "from_result": {"from_result": {"call": "c", "path": "p"}},
    "ignore": {"ignore": True},
    "equals": {"equals": 1},
}


def test_every_matcher_but_the_installed_ones_is_listed_here():
    assert set(EVERY) | {"custom"} == set(MATCHER_NAMES)


@pytest.mark.parametrize("source", EVERY.values(), ids=EVERY)
def test_every_matcher_may_be_optional(source):
    assert may_be_absent(compile_value({**source, "optional": True}, PLACE))
    assert not may_be_absent(compile_value({**source, "optional": False}, PLACE))
    assert not may_be_absent(compile_value(source, PLACE))
    assert refusal({**source, "optional": 1}).message == "`optional` must be true or false"


@pytest.mark.parametrize("source", [EVERY["any_of"], EVERY["equals"], EVERY["contains"]])
def test_an_optional_key_may_be_absent_inside_an_object(source):
    expected = {"x": {**source, "optional": True}, "y": 1}
    assert ok(expected, {"y": 1})
    assert ok(expected, {"y": 1, "x": [1] if "contains" in source else 1})
    assert not ok({"x": source, "y": 1}, {"y": 1})


def test_an_optional_key_that_is_there_must_match():
    assert not ok({"x": {"equals": 1, "optional": True}}, {"x": 2})


def test_ignore_is_known_as_such():
    assert is_ignored(compile_value({"ignore": True}, PLACE))
    assert not is_ignored(compile_value({"schema": True}, PLACE))
    assert not is_ignored(Literal({"ignore": True}))


def test_data_flow_asks_the_resolver_and_passes_without_one():
    source = {"from_result": {"call": "find", "path": "issue.id"}}
    node = compile_value({"x": [source]}, PLACE)
    assert flows_in(node) == [FromResult("find", "issue.id", source)]
    assert matches(node, {"x": [7]})
    assert matches(node, {"x": [7]}, lambda flow, value: (flow.path, value) == ("issue.id", 7))
    assert not matches(node, {"x": [7]}, lambda _flow, _value: False)


def test_data_flows_are_found_wherever_they_stand():
    flow = EVERY["from_result"]
    assert len(flows_in(compile_value({"a": flow, "b": [flow, {"c": flow}], "d": 1}, PLACE))) == 3
    assert flows_in(compile_value({"equals": flow}, PLACE)) == []


@pytest.mark.parametrize("name", ["any_of", "set", "contains"])
def test_data_flow_inside_another_matcher_is_refused_since_it_would_accept_anything(name):
    assert f"cannot stand inside `{name}`" in refusal({name: [{"x": EVERY["from_result"]}]}).message


@pytest.mark.parametrize("source", [*EVERY.values(), {"a": [1, EVERY["any_of"]]}, [EVERY["similar"]], {"a": None}, 7])
def test_a_node_is_described_as_it_was_written(source):
    if source != EVERY["equals"]:
        assert describe(compile_value(source, PLACE)) == source
    assert describe(compile_value(EVERY["equals"], PLACE)) == 1


def test_absent_is_neither_null_nor_empty():
    assert repr(ABSENT) == "<absent>"
    assert not ok(None, ABSENT)
    assert not ok({}, ABSENT)


# ---- custom ----


@pytest.fixture
def installed(monkeypatch):
    """Install a comparator `multiple` that takes `of`."""

    def multiple(of):
        return lambda actual: isinstance(actual, int) and actual % of == 0

    def entry_points(group, name):
        assert group == "rightcall.matchers"
        return [SimpleNamespace(load=lambda: multiple)] if name == "multiple" else []

    monkeypatch.setattr(matchers, "entry_points", entry_points)


def test_an_installed_comparator_is_used_with_its_options(installed):
    node = compile_value({"custom": "multiple", "of": 3, "optional": True}, PLACE)
    assert isinstance(node, Matcher)
    assert matches(node, 9)
    assert not matches(node, 10)
    assert may_be_absent(node)


def test_an_option_that_the_comparator_does_not_take_is_an_error(installed):
    assert "`multiple` does not take these options" in refusal({"custom": "multiple", "off": 3}).message


def test_a_comparator_that_is_not_installed_is_an_error(installed):
    assert "no comparator `other` is installed" in refusal({"custom": "other"}).message
    assert "`rightcall.matchers`" in refusal({"custom": "other"}).hint


# ---- what cannot be compiled ----


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ({"any_of": 1}, "`any_of` takes a list"),
        ({"set": {}}, "`set` takes a list"),
        ({"approx": 1}, "needs `abs_tol` or `rel_tol`"),
        ({"approx": 1, "abs_tol": -1}, "not negative"),
        ({"approx": "1", "abs_tol": 1}, "`approx` takes a number"),
        ({"approx": True, "abs_tol": 1}, "`approx` takes a number"),
        ({"approx": 1, "abs_tol": "1"}, "`abs_tol` takes a number"),
        ({"matches": 7}, "a pattern must be text"),
        ({"matches": "("}, "not supported by the linear-time engine"),
        ({"similar": "x", "as": "zip"}, "it knows text, address, date, number, phone, name"),
        ({"similar": ["x"]}, "`similar` takes a text or a number"),
        ({"similar": True}, "`similar` takes a text or a number"),
        ({"similar": "x", "threshold": 1.5}, "`threshold` must be from 0 to 1"),
        ({"similar": "x", "threshold": "1"}, "`threshold` takes a number"),
        ({"schema": {"type": "strng"}}, "not a valid JSON Schema"),
        ({"schema": 7}, "not a valid JSON Schema"),
        ({"schema": {"$ref": "https://example.com/x.json"}}, "not a valid JSON Schema"),
        ({"from_result": "find"}, "`from_result` takes { call = label, path = text }"),
        ({"from_result": {"call": "c"}}, "`from_result` takes"),
        ({"from_result": {"call": 1, "path": "p"}}, "`from_result` takes"),
        ({"from_result": {"call": "c", "path": "p", "as": "x"}}, "`from_result` takes"),
        ({"ignore": False}, "`ignore` takes true"),
        ({"ignore": 1}, "`ignore` takes true"),
        (
            {"similar": "x", "treshold": 1},
            "matcher `similar` has no option `treshold`; it takes as, threshold, optional",
        ),
        ({"equals": 1, "as": "x"}, "matcher `equals` has no option `as`"),
    ],
)
def test_a_wrong_matcher_is_an_error_that_says_why(source, text):
    error = refusal(source)
    assert text in error.message
    assert (error.code, error.place) == ("CASE_INVALID", PLACE)


def test_the_place_of_a_wrong_matcher_is_its_json_path():
    assert refusal({"x": [0, {"y": {"ignore": False}}]}).place.path == f"{PLACE.path}.x[1].y"


def test_a_wrong_option_says_how_to_write_the_literal():
    assert "{ equals = … }" in refusal({"contains": "x", "name": "y"}).hint


@pytest.mark.parametrize("pattern", ["(?=a)b", "(?<=a)b", "(?!a)b", r"(a)\1", r"(?P<n>a)(?P=n)", "a{2000}{2000}"])
def test_a_pattern_that_needs_more_than_linear_time_is_refused(pattern):
    error = refusal({"matches": pattern})
    assert "not supported by the linear-time engine" in error.message
    assert error.exit_code == 2


def test_a_hostile_pattern_takes_linear_time():
    node = compile_value({"matches": "(a*)*(a|aa)+b"}, PLACE)
    start = time.process_time()
    assert not matches(node, "a" * 100_000)
    assert time.process_time() - start < 5

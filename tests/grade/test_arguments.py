"""SPEC §5.4: the score of a pair's arguments, and whether arguments are valid; SPEC §4: what equal means."""

from fractions import Fraction

import pytest
from grade_making import (
    ARGUMENTS,
    KEYS,
    VALUES,
    Tool,
    call,
    case_of,
    find,
    from_result,
    golden_call,
    grade,
    kinds,
    metrics_of,
    only,
    property_test,
    tool,
    trace_of,
    unreadable,
    written,
)
from hypothesis import given
from hypothesis import strategies as st

from rightcall.errors import CaseError
from rightcall.trace.jsontext import same


def accuracy(expected, actual, **options):
    return metrics_of(case_of(golden_call("t", expected)), trace_of(call("t", actual)), **options).argument_accuracy


def graded(expected, actual, **options):
    return grade(case_of(golden_call("t", expected)), trace_of(call("t", actual)), **options)


# ---- argument_accuracy -------------------------------------------------------------------------------------------


def test_argument_accuracy_is_equal_keys_by_union_of_keys():
    assert accuracy({"a": 1, "b": 2}, {"a": 1, "b": 2}) == 1
    assert accuracy({"a": 1, "b": 2}, {"a": 1, "b": 3}) == 0.5
    assert accuracy({"a": 1, "b": 2}, {"a": 1}) == 0.5
    assert accuracy({"a": 1}, {"a": 1, "b": 2, "c": 3}) == pytest.approx(1 / 3)
    assert accuracy({"a": 1}, {"b": 1}) == 0


def test_argument_accuracy_counts_keys_at_the_top_level():
    assert accuracy({"deep": {"a": 1, "b": 2}, "c": 3}, {"deep": {"a": 1, "b": 9}, "c": 3}) == 0.5


def test_argument_accuracy_is_the_mean_over_the_pairs_whose_golden_states_arguments():
    case = case_of(golden_call("a", {"x": 1}), golden_call("b"), golden_call("c", {"x": 1, "y": 2}))
    calls = [call("a", {"x": 1}), call("b", {"anything": 1}), call("c", {"x": 1})]
    assert metrics_of(case, trace_of(*calls)).argument_accuracy == 0.75
    assert metrics_of(case, trace_of(*calls[:2])).argument_accuracy == 1  # a missing call is not an argument


def test_ignored_keys_count_in_neither():
    assert accuracy({"a": 1, "when": {"ignore": True}}, {"a": 2, "when": "now"}) == 0
    assert accuracy({"a": 1, "when": {"ignore": True}}, {"a": 1, "when": "now"}) == 1
    assert accuracy({"a": 1, "when": {"ignore": True}}, {"a": 1}) == 1
    assert accuracy({"when": {"ignore": True}}, {"when": 1}) == 1


def test_an_ignored_key_inside_an_object_counts_in_neither_too():
    assert accuracy({"o": {"a": 1, "when": {"ignore": True}}}, {"o": {"a": 1, "when": 5}}) == 1
    assert accuracy({"o": {"a": 1, "when": {"ignore": True}}}, {"o": {"a": 1}}) == 1


def test_argument_accuracy_is_1_if_both_are_empty():
    assert accuracy({}, {}) == 1


def test_an_empty_golden_means_exactly_none():
    result = graded({}, {"x": 1})
    assert result.metrics.argument_accuracy == 0
    assert only(result, "unexpected_argument").path == "$.x"


def test_argument_accuracy_is_null_if_no_paired_golden_states_arguments():
    assert metrics_of(case_of(golden_call("t")), trace_of(call("t", {"x": 1}))).argument_accuracy is None
    assert metrics_of(case_of(golden_call("t", {"x": 1})), trace_of()).argument_accuracy is None
    assert metrics_of(case_of(), trace_of()).argument_accuracy is None


def test_a_key_that_may_be_absent_counts_only_where_it_is_there():
    expected = {"a": 1, "b": {"any_of": [2, 3], "optional": True}}
    assert accuracy(expected, {"a": 1}) == 1
    assert accuracy(expected, {"a": 1, "b": 3}) == 1
    assert accuracy(expected, {"a": 1, "b": 4}) == 0.5


@pytest.mark.parametrize("status", ["malformed", "not_object", "missing"])
def test_a_pair_whose_call_is_malformed_not_object_or_missing_scores_0(status):
    for expected in ({"x": 1}, {}):
        case = case_of(golden_call("t", expected), golden_call("u", {}))
        result = grade(case, trace_of(unreadable("t", status, raw="oops"), call("u", {})))
        assert result.metrics.argument_accuracy == 0.5
        finding = only(result, "invalid_argument")
        assert (finding.call_index, finding.golden_index, finding.path) == (0, 0, "$")
        assert (finding.expected, finding.actual) == (expected, "oops")


def test_missing_arguments_never_become_an_empty_object():
    assert metrics_of(case_of(golden_call("t", {})), trace_of(unreadable("t", "missing"))).argument_accuracy == 0


def test_not_captured_makes_the_case_unevaluable():
    result = grade(case_of(golden_call("t", {"x": 1})), trace_of(unreadable("t", "not_captured")))
    assert (result.status, result.reason, result.verdict) == ("UNEVALUABLE", "not_captured", None)
    assert result.metrics.argument_accuracy is None
    assert result.metrics.overall is None


def test_not_captured_does_not_matter_where_the_golden_states_nothing():
    result = grade(case_of(golden_call("t")), trace_of(unreadable("t", "not_captured")))
    assert (result.status, result.verdict) == ("EVALUATED", "PASS")


# ---- arguments_valid ---------------------------------------------------------------------------------------------

CATALOG = [tool("t", {"n": {"type": "integer"}}, required=["n"]), tool("u")]


def valid(*calls, tools=CATALOG, **options):
    return metrics_of(case_of(), trace_of(*calls), tools=tools, **options).arguments_valid


def test_arguments_valid_is_the_share_of_calls_that_satisfy_the_tools_own_schema():
    assert valid(call("t", {"n": 1})) == 1
    assert valid(call("t", {"n": "1"}), call("u", {})) == 0.5
    assert valid(call("t", {}), call("t", {"n": 1.5}), call("t", {"n": 1})) == pytest.approx(1 / 3)


def test_arguments_valid_counts_retries():
    case = case_of(golden_call("t", {"n": "1"}))
    calls = [call("t", {"n": "1"}, error="no"), call("t", {"n": "1"}, result=1)]
    metrics = metrics_of(case, trace_of(*calls, call("u", {})), tools=CATALOG)
    assert (metrics.retries, metrics.arguments_valid) == (1, pytest.approx(1 / 3))


def test_an_unknown_tool_is_invalid():
    assert valid(call("nobody", {}), call("u", {})) == 0.5


def test_a_tool_without_a_schema_takes_any_object():
    assert valid(call("t", {"x": 1}), tools=[Tool(name="t")]) == 1
    assert valid(unreadable("t", "malformed"), tools=[Tool(name="t")]) == 0


@pytest.mark.parametrize("status", ["malformed", "not_object", "missing"])
def test_arguments_that_are_no_object_are_invalid(status):
    assert valid(unreadable("u", status)) == 0


def test_arguments_valid_is_null_without_calls_or_catalog():
    assert valid() is None
    assert valid(call("t", {}), tools=None) is None
    assert valid(call("t", {}), tools=[]) == 0


def test_arguments_that_were_not_captured_are_not_known_to_be_invalid():
    assert valid(unreadable("u", "not_captured"), call("u", {})) != 0.5


def test_the_schema_is_checked_on_the_exact_integer():
    big = [tool("t", {"n": {"type": "integer", "maximum": 10**30}})]
    assert valid(call("t", {"n": 10**30}), tools=big) == 1
    assert valid(call("t", {"n": 2**64 + 1}), tools=big) == 1


# ---- equality follows JSON types ---------------------------------------------------------------------------------

EQUAL = [
    (4, 4.0),
    (0, -0.0),
    (1e22, 10**22),
    ([4.0, 8], [4, 8.0]),
    ({"x": 1, "y": 2}, {"y": 2, "x": 1}),
    ("caf\u00e9", "cafe\u0301"),
    ({"caf\u00e9": 1}, {"cafe\u0301": 1}),
    (None, None),
    (7200000000000000001, 7200000000000000001),
    (10**40, 10**40),
]
UNEQUAL = [
    (True, 1),
    (False, 0),
    (1, True),
    ("4", 4),
    (None, False),
    (None, 0),
    (None, ""),
    ({}, []),
    ("", []),
    ([1, 2], [2, 1]),
    ([1], [1, 1]),
    ("Bread", "bread"),
    ("a b", "a  b"),
    ("a", "a "),
    ("\u212b", "\u01fa"),
    (7200000000000000001, 7200000000000000000),
    (2**53 + 1, float(2**53)),
    (10**40, 10**40 + 1),
    ({"x": None}, {}),
    ({"x": 1}, {"x": 1, "y": 1}),
]


@pytest.mark.parametrize(("left", "right"), EQUAL)
def test_values_that_are_equal(left, right):
    assert accuracy({"v": left}, {"v": right}) == accuracy({"v": right}, {"v": left}) == 1
    assert accuracy({"v": {"deep": [left]}}, {"v": {"deep": [right]}}) == 1


@pytest.mark.parametrize(("left", "right"), UNEQUAL)
def test_values_that_are_not_equal(left, right):
    assert accuracy({"v": left}, {"v": right}) == accuracy({"v": right}, {"v": left}) == 0
    assert accuracy({"v": {"deep": [left]}}, {"v": {"deep": [right]}}) == 0


def test_one_lost_digit_is_named_digit_for_digit():
    finding = only(graded({"id": 7200000000000000001}, {"id": 7200000000000000000}), "wrong_argument")
    assert (finding.path, finding.expected, finding.actual) == ("$.id", 7200000000000000001, 7200000000000000000)


def test_keys_are_compared_in_nfc_at_the_top_level_too():
    assert accuracy({"caf\u00e9": 1}, {"cafe\u0301": 1}) == 1


def test_blanks_escapes_and_key_order_of_the_text_do_not_matter():
    case = case_of(golden_call("t", {"a": "é", "b": [1, {"c": 2}]}))
    text = '{ "b" : [1.0,\n {"c":2}], "\\u0061": "\\u00e9" }'
    assert grade(case, trace_of(written("t", text))).verdict == "PASS"


@property_test(70)
@given(ARGUMENTS)
def test_arguments_are_equal_to_themselves(value):
    assert accuracy(value, value) == 1


@property_test(70)
@given(ARGUMENTS, ARGUMENTS)
def test_the_score_is_symmetric_and_counts_the_equal_keys(left, right):
    union = left.keys() | right.keys()
    equal = [key for key in union if key in left and key in right and same(left[key], right[key])]
    expected = Fraction(len(equal), len(union)) if union else Fraction(1)
    assert accuracy(left, right) == accuracy(right, left) == float(expected)


# ---- schema defaults ---------------------------------------------------------------------------------------------

ROUND = [tool("t", {"km": {"type": "number"}, "round": {"type": "boolean", "default": False}})]


def test_a_schema_default_fills_a_key_that_one_side_leaves_out():
    assert accuracy({"km": 12, "round": False}, {"km": 12}, tools=ROUND) == 1
    assert accuracy({"km": 12}, {"km": 12, "round": False}, tools=ROUND) == 1
    assert accuracy({"km": 12}, {"km": 12}, tools=ROUND) == 1


def test_another_value_than_the_default_is_a_difference():
    assert accuracy({"km": 12, "round": True}, {"km": 12}, tools=ROUND) == 0.5
    assert accuracy({"km": 12}, {"km": 12, "round": True}, tools=ROUND) == 0.5


def test_a_key_without_a_declared_default_is_a_difference():
    assert accuracy({"km": 12, "round": False}, {"km": 12}) == 0.5
    assert accuracy({"km": 12, "round": False}, {"km": 12}, tools=[tool("t", {"round": {}})]) == 0.5


def test_a_default_of_null_is_a_default():
    tools = [tool("t", {"note": {"default": None}})]
    assert accuracy({"note": None}, {}, tools=tools) == 1
    assert accuracy({}, {"note": ""}, tools=tools) == 0


def test_a_parameter_that_is_named_default_declares_none():
    tools = [tool("t", {"default": {"type": "integer"}})]
    assert accuracy({"default": 1}, {}, tools=tools) == 0
    assert accuracy({"default": 1}, {"default": 1}, tools=tools) == 1


NESTED = [
    tool(
        "t",
        {
            "o": {
                "type": "object",
                "properties": {"x": {}, "y": {"default": 0}, "z": {"default": 1}, "list": {"type": "array"}},
            },
            "rows": {"type": "array", "items": {"type": "object", "properties": {"n": {"default": 1}}}},
        },
    )
]


def test_a_nested_default_fills_a_key_that_one_side_leaves_out():
    assert accuracy({"o": {"x": 1, "y": 0}}, {"o": {"x": 1}}, tools=NESTED) == 1
    assert accuracy({"o": {"x": 1}}, {"o": {"x": 1, "y": 0}}, tools=NESTED) == 1
    assert accuracy({"o": {"x": 1, "y": 0}}, {"o": {"x": 1, "z": 1}}, tools=NESTED) == 1
    assert accuracy({"rows": [{"n": 1, "m": 2}]}, {"rows": [{"m": 2}]}, tools=NESTED) == 1
    assert accuracy({"o": {"x": 1, "y": 5}}, {"o": {"x": 1}}, tools=NESTED) == 0


NEARLY = {"approx": 1, "abs_tol": 0.5}


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ({"x": NEARLY}, {"x": 1}),
        ({"x": NEARLY}, {"x": 1, "y": 0}),
        ({"x": NEARLY, "y": 0}, {"x": 1}),
        ({"x": NEARLY, "y": 0, "z": 1}, {"x": 1}),
    ],
)
def test_a_nested_default_is_filled_beside_a_matcher_too(expected, actual):
    assert accuracy({"o": expected}, {"o": actual}, tools=NESTED) == 1


def test_defaults_of_a_tool_called_by_its_alias_count():
    case, trace = case_of(golden_call("t", {"km": 12, "round": False})), trace_of(call("mcp__t", {"km": 12}))
    assert grade(case, trace, tools=ROUND, aliases={"mcp__t": "t"}).verdict == "PASS"


# ---- findings: the deepest single place --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expected", "actual", "kind", "path"),
    [
        ({"a": 1}, {"a": 2}, "wrong_argument", "$.a"),
        ({"a": 1}, {}, "missing_argument", "$.a"),
        ({}, {"a": 1}, "unexpected_argument", "$.a"),
        ({"a": {"b": {"c": 1, "d": 2}}}, {"a": {"b": {"c": 1, "d": 3}}}, "wrong_argument", "$.a.b.d"),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, "missing_argument", "$.a.c"),
        ({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}, "unexpected_argument", "$.a.c"),
        ({"a": [1, 2, 3]}, {"a": [1, 9, 3]}, "wrong_argument", "$.a[1]"),
        ({"a": [1, 2, 3]}, {"a": [1, 2]}, "wrong_argument", "$.a"),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 8, "c": 9}}, "wrong_argument", "$.a"),
        ({"two words": 1}, {"two words": 2}, "wrong_argument", "$['two words']"),
        ({"a": {"b": NEARLY, "c": 1}}, {"a": {"b": 9, "c": 1}}, "wrong_argument", "$.a.b"),
        ({"a": [NEARLY, 5]}, {"a": [1, 6]}, "wrong_argument", "$.a[1]"),
        ({"a": {"any_of": [1, 2]}}, {"a": 3}, "wrong_argument", "$.a"),
    ],
)
def test_a_difference_is_named_at_its_deepest_single_place(expected, actual, kind, path):
    result = graded(expected, actual)
    assert [(finding.kind, finding.path) for finding in result.findings] == [(kind, path)]


def test_a_matcher_is_shown_as_it_was_written():
    assert only(graded({"a": {"any_of": [1, 2]}}, {"a": 3}), "wrong_argument").expected == {"any_of": [1, 2]}


def test_every_unequal_key_has_its_own_finding():
    result = graded({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 9, "d": 4})
    assert kinds(result) == ["missing_argument", "unexpected_argument", "wrong_argument"]
    assert {finding.path for finding in result.findings} == {"$.b", "$.c", "$.d"}


@property_test(70)
@given(ARGUMENTS, ARGUMENTS)
def test_there_is_one_finding_for_each_unequal_key(left, right):
    union = left.keys() | right.keys()
    unequal = [key for key in union if key not in left or key not in right or not same(left[key], right[key])]
    assert len(graded(left, right).findings) == len(unequal)


# ---- matchers inside ---------------------------------------------------------------------------------------------


def test_matchers_stand_at_any_depth():
    expected = {"a": {"list": [{"any_of": ["x", "y"]}, {"n": NEARLY}]}}
    assert accuracy(expected, {"a": {"list": ["y", {"n": 1.5}]}}) == 1
    assert accuracy(expected, {"a": {"list": ["z", {"n": 1.5}]}}) == 0


def test_a_literal_that_looks_like_a_matcher_is_written_with_equals():
    assert accuracy({"a": {"equals": {"any_of": [1]}}}, {"a": {"any_of": [1]}}) == 1
    assert accuracy({"a": {"equals": {"any_of": [1]}}}, {"a": 1}) == 0


def test_parameters_may_be_named_like_matchers():
    assert accuracy({"matches": "x", "set": [1]}, {"matches": "x", "set": [1]}) == 1
    assert accuracy({"ignore": True}, {"ignore": False}) == 0


@pytest.mark.parametrize("name", ["any_of", "set", "contains"])
def test_a_flow_inside_another_matcher_does_not_accept_everything(name):
    case = case_of(golden_call("s", {}, label="s"), golden_call("t", {"x": {name: [from_result("s", "id")]}}))
    value = "wrong" if name == "any_of" else ["wrong"]
    try:
        result = grade(case, trace_of(call("s", {}, result={"id": 7}), call("t", {"x": value})))
    except CaseError:
        return
    assert result.verdict == "FAIL"


@property_test(80)
@given(st.dictionaries(KEYS, VALUES, min_size=1, max_size=3), st.data())
def test_a_golden_of_ignored_keys_accepts_every_value_of_them(value, data):
    chosen = data.draw(st.sets(st.sampled_from(sorted(value))))
    expected = {key: {"ignore": True} if key in chosen else {"equals": item} for key, item in value.items()}
    changed = {key: data.draw(VALUES) if key in chosen else item for key, item in value.items()}
    result = graded(expected, changed)
    assert (result.verdict, find(result, "wrong_argument")) == ("PASS", [])

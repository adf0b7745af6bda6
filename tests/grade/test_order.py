"""SPEC §5.5: order is satisfied / applicable constraints among pairs; data flow is one of them."""

import pytest
from grade_making import (
    call,
    case_of,
    compiled,
    find,
    from_result,
    golden_call,
    grade,
    kinds,
    metrics_of,
    only,
    seen,
    trace_of,
    unreadable,
    unrecorded,
)

from rightcall.grade.order import ResultNotCaptured, inversions, monotone_core, source_values

A, B, C = (golden_call(name, {}) for name in "abc")
a, b, c = (call(name, {}) for name in "abc")


def score(goldens, calls, order=None):
    return metrics_of(case_of(*goldens, order=order), trace_of(*calls)).order_score


# ---- which constraints apply -------------------------------------------------------------------------------------


def test_order_score_is_satisfied_by_applicable_constraints_among_pairs():
    assert score([A, B, C], [a, b, c]) == 1
    assert score([A, B, C], [b, a, c]) == pytest.approx(2 / 3)
    assert score([A, B, C], [c, b, a]) == 0


def test_every_two_golden_calls_are_a_constraint_under_listed():
    assert score([A, B, C], [b, c, a], "listed") == pytest.approx(1 / 3)


def test_after_edges_are_the_constraints_under_partial():
    after_a = golden_call("c", {}, after=("a",))
    assert score([A, B, after_a], [b, a, c]) == 1
    assert score([A, B, after_a], [c, a, b]) == 0


def test_no_constraint_applies_under_any():
    assert score([A, B, C], [c, b, a], "any") is None
    assert score([A, B, golden_call("c", {}, after=("a",))], [c, b, a], "any") is None


def test_the_default_is_partial_if_a_call_has_after_else_listed():
    assert score([A, B], [b, a]) == 0
    assert score([A, golden_call("b", {}, after=("a",)), C], [c, a, b]) == 1


@pytest.mark.parametrize("order", ["listed", "partial", "any"])
def test_every_from_result_is_a_constraint_whatever_the_order(order):
    goldens = [golden_call("a", {}, label="first"), golden_call("b", {"x": from_result("first", "id")})]
    assert score(goldens, [call("a", {}, result={"id": 7}), call("b", {"x": 7})], order) == 1
    wrong = score(goldens, [call("a", {}, result={"id": 7}), call("b", {"x": 8})], order)
    assert wrong == (0.5 if order == "listed" else 0)


def test_order_score_is_null_if_none_apply():
    assert score([A], [a]) is None
    assert score([], []) is None
    assert score([A, B], [a]) is None


def test_missing_calls_lower_recall_not_order():
    metrics = metrics_of(case_of(A, B, C), trace_of(a, c))
    assert (metrics.order_score, metrics.recall) == (1, pytest.approx(2 / 3))
    chained = case_of(A, golden_call("b", {}, after=("a",)), golden_call("c", {}, after=("b",)))
    metrics = metrics_of(chained, trace_of(a, c))
    assert (metrics.order_score, metrics.recall) == (None, pytest.approx(2 / 3))


# ---- turns -------------------------------------------------------------------------------------------------------


def test_two_calls_of_one_turn_satisfy_a_listed_order_either_way():
    parallel = [call("b", {}, turn=4), call("a", {}, turn=4)]
    assert score([A, B], parallel) == 1
    assert score([A, B], parallel[::-1]) == 1


@pytest.mark.parametrize("backwards", [False, True])
def test_two_calls_of_one_turn_never_satisfy_an_after(backwards):
    calls = [call("a", {}, turn=4, result=1), call("b", {}, turn=4)]
    result = grade(case_of(A, golden_call("b", {}, after=("a",))), trace_of(*(calls[::-1] if backwards else calls)))
    assert (result.metrics.order_score, result.verdict) == (0, "FAIL")
    assert "same turn" in only(result, "order_violation").message


@pytest.mark.parametrize("backwards", [False, True])
def test_two_calls_of_one_turn_never_satisfy_a_from_result(backwards):
    goldens = [golden_call("a", {}, label="first"), golden_call("b", {"x": from_result("first", "id")})]
    calls = [call("a", {}, turn=4, result={"id": 7}), call("b", {"x": 7}, turn=4)]
    result = grade(case_of(*goldens, order="any"), trace_of(*(calls[::-1] if backwards else calls)))
    assert (result.metrics.order_score, result.verdict) == (0, "FAIL")
    assert kinds(result) == ["data_flow_violation"]


def test_a_call_without_a_turn_is_a_turn_of_its_own():
    assert score([A, golden_call("b", {}, after=("a",))], [call("a", {}), call("b", {})]) == 1


def test_an_edge_whose_earlier_call_is_known_to_have_failed_is_violated():
    goldens = [A, golden_call("b", {}, after=("a",))]
    result = grade(case_of(*goldens), trace_of(call("a", {}, error="no"), b))
    assert (result.metrics.order_score, result.verdict) == (0, "FAIL")
    assert "failed" in only(result, "order_violation").message
    assert score(goldens, [call("a", {}, result="ok"), b]) == 1
    assert score(goldens, [a, b]) == 1  # nothing was recorded: not known to have failed


def test_a_failed_earlier_call_does_not_break_a_listed_order():
    assert score([A, B], [call("a", {}, error="no"), b]) == 1


def test_a_failed_later_call_does_not_violate_an_edge():
    assert score([A, golden_call("b", {}, after=("a",))], [a, call("b", {}, error="no")]) == 1


# ---- order_ok ----------------------------------------------------------------------------------------------------


def test_order_ok_says_that_the_pairs_stand_in_the_listed_order():
    assert metrics_of(case_of(A, B), trace_of(a, b)).order_ok is True
    assert metrics_of(case_of(A, B), trace_of(b, a)).order_ok is False
    assert metrics_of(case_of(A, B, C), trace_of(a, c)).order_ok is True


def test_order_ok_is_informative_under_any_and_partial():
    for case in (case_of(A, B, order="any"), case_of(A, B, golden_call("c", {}, after=("b",)))):
        calls = (b, a) if len(case.expect.calls) == 2 else (b, a, c)
        result = grade(case, trace_of(*calls))
        assert (result.metrics.order_ok, result.verdict) == (False, "PASS")


def test_order_ok_is_null_without_pairs():
    assert metrics_of(case_of(A), trace_of(b)).order_ok is None
    assert metrics_of(case_of(), trace_of()).order_ok is None


# ---- data flow ---------------------------------------------------------------------------------------------------

SOURCE = golden_call("open", {}, label="source")


def flow(path, result, value, **fields):
    goldens = [SOURCE, golden_call("use", {"x": from_result("source", path)})]
    opened = fields.pop("opened", None) or call("open", {}, result=result)
    return grade(case_of(*goldens, order="any"), trace_of(opened, call("use", {"x": value}, **fields)))


@pytest.mark.parametrize(
    ("path", "result", "value"),
    [
        ("id", {"id": 7}, 7),
        ("issue.id", {"issue": {"id": "A-1"}}, "A-1"),
        ("$.issue.id", {"issue": {"id": "A-1"}}, "A-1"),
        ("[0]", [5, 6], 5),
        ("items[1].id", {"items": [{"id": 1}, {"id": 2}]}, 2),
        ("items.1.id", {"items": [{"id": 1}, {"id": 2}]}, 2),
        ("$['two words']", {"two words": 3}, 3),
        ("a", {"a": {"deep": [1, 2]}}, {"deep": [1, 2]}),
        ("id", '{"id": 7}', 7),  # a text that holds JSON is read as that JSON
        ("$", "plain text", "plain text"),
        ("", {"whole": True}, {"whole": True}),
        ("n", {"n": None}, None),
        ("id", {"id": 7200000000000000001}, 7200000000000000001),
        ("id", {"id": 4}, 4.0),
        ("name", {"name": "caf\u00e9"}, "cafe\u0301"),
    ],
)
def test_from_result_must_equal_that_path_in_that_calls_earlier_result(path, result, value):
    graded = flow(path, result, value)
    assert (graded.verdict, graded.metrics.order_score, graded.findings) == ("PASS", 1, ())


@pytest.mark.parametrize(
    ("path", "result", "value"),
    [
        ("id", {"id": 7}, 8),
        ("id", {"id": 7}, "7"),
        ("id", {"id": 1}, True),
        ("id", {"id": 7200000000000000001}, 7200000000000000000),
        ("gone", {"id": 7}, 7),
        ("id.deeper", {"id": 7}, 7),
        ("[2]", [5, 6], 5),
        ("id", "no JSON here", "no JSON here"),
    ],
)
def test_a_value_that_does_not_come_from_the_result_is_a_data_flow_violation(path, result, value):
    graded = flow(path, result, value)
    assert (graded.verdict, graded.metrics.order_score) == ("FAIL", 0)
    violation = only(graded, "data_flow_violation")
    assert (violation.call_index, violation.golden_index, violation.path) == (1, 1, "$.x")
    assert violation.actual == value
    assert violation.severity == "HIGH"


def test_a_text_result_may_be_handed_on_as_it_is():
    assert flow("$", "7", "7").verdict == "PASS"


def test_the_source_of_a_flow_must_not_have_failed():
    graded = flow("id", None, 7, opened=call("open", {}, error={"id": 7}))
    assert (graded.metrics.order_score, graded.verdict) == (0, "FAIL")
    assert only(graded, "data_flow_violation").call_index == 1


def test_the_source_of_a_flow_must_come_first():
    goldens = [SOURCE, golden_call("use", {"x": from_result("source", "id")})]
    graded = grade(case_of(*goldens, order="any"), trace_of(call("use", {"x": 7}), call("open", {}, result={"id": 7})))
    assert (graded.metrics.order_score, kinds(graded)) == (0, ["data_flow_violation"])


@pytest.mark.parametrize("opened", [call("open", {}), unrecorded("open", {})])
def test_a_flow_from_a_result_that_was_not_recorded_is_unevaluable(opened):
    graded = flow("id", None, 7, opened=opened)
    assert (graded.status, graded.reason, graded.verdict) == ("UNEVALUABLE", "result_not_captured", None)
    assert graded.metrics.overall is None


def test_a_result_of_null_is_recorded():
    assert flow("id", None, 7).status == "EVALUATED"


def test_a_flow_whose_source_was_not_called_loses_its_argument_and_no_order():
    goldens = [SOURCE, golden_call("use", {"x": from_result("source", "id")})]
    graded = grade(case_of(*goldens), trace_of(call("use", {"x": 7})))
    assert (graded.metrics.order_score, graded.metrics.argument_accuracy, graded.metrics.recall) == (None, 0, 0.5)
    assert kinds(graded) == ["data_flow_violation", "missing_call"]


def test_flows_inside_objects_and_lists_are_constraints_too():
    goldens = [SOURCE, golden_call("use", {"x": {"ids": [from_result("source", "a"), from_result("source", "b")]}})]

    def graded(values):
        calls = [call("open", {}, result={"a": 1, "b": 2}), call("use", {"x": {"ids": values}})]
        return grade(case_of(*goldens, order="any"), trace_of(*calls))

    assert graded([1, 2]).verdict == "PASS"
    half = graded([1, 3])
    assert (half.metrics.order_score, kinds(half)) == (0.5, ["data_flow_violation"])
    assert only(half, "data_flow_violation").path == "$.x.ids[1]"
    assert graded([3, 4]).metrics.order_score == 0


def test_an_optional_flow_may_be_left_out():
    goldens = [SOURCE, golden_call("use", {"x": from_result("source", "id") | {"optional": True}})]
    calls = [call("open", {}, result={"id": 7}), call("use", {})]
    assert grade(case_of(*goldens), trace_of(*calls)).verdict == "PASS"


FLOW_CALL = golden_call("use", {"x": from_result("source", "id"), "y": 1})


def test_a_flow_whose_value_was_left_out_is_not_satisfied():
    calls = [call("open", {}, result={"id": 7}), call("use", {"y": 1})]
    assert score([SOURCE, FLOW_CALL], calls, "any") == 0


@pytest.mark.parametrize("status", ["malformed", "not_object", "missing"])
def test_a_flow_into_unreadable_arguments_is_not_satisfied(status):
    calls = [call("open", {}, result={"id": 7}), unreadable("use", status)]
    assert score([SOURCE, FLOW_CALL], calls, "any") == 0


# ---- the parts ---------------------------------------------------------------------------------------------------


def test_inversions_count_the_pairs_that_stand_the_other_way_round():
    assert inversions({}) == 0
    assert inversions({0: 4, 1: 5, 3: 9}) == 0
    assert inversions({0: 2, 1: 1, 2: 0}) == 3


def test_the_core_is_a_longest_run_of_pairs_in_order():
    assert monotone_core({}) == set()
    assert monotone_core({0: 0, 1: 1, 2: 2}) == {0, 1, 2}
    assert len(monotone_core({0: 3, 1: 0, 2: 1, 3: 2})) == 3
    assert len(monotone_core({0: 2, 1: 1, 2: 0})) == 1


def test_a_value_of_a_result_that_was_not_recorded_cannot_be_had():
    with pytest.raises(ResultNotCaptured):
        source_values(seen(call("open", {})), 0, "id")


def test_a_listed_order_names_the_call_that_is_out_of_its_place():
    result = grade(case_of(A, B, C), trace_of(c, a, b))
    violation = only(result, "order_violation")
    assert (violation.golden_index, violation.call_index) == (2, 0)
    assert "a, b" in violation.expected
    reverse = grade(case_of(A, B, C), trace_of(c, b, a))
    assert len({finding.golden_index for finding in find(reverse, "order_violation")}) == 2


def test_a_compiled_golden_knows_its_constraints():
    assert compiled(A, B, C).order_pairs == ((0, 1), (0, 2), (1, 2))
    assert compiled(A, B, golden_call("c", {}, after=("a",))).order_pairs == ((0, 2),)
    assert compiled(A, B, C, order="any").order_pairs == ()

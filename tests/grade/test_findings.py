"""SPEC §5.10: findings explain every lost point."""

import msgspec
import pytest
from grade_making import (
    ARGUMENT_KINDS,
    SMALL_CALLS,
    SMALL_GOLDENS,
    SURPLUS_KINDS,
    Policy,
    call,
    case_of,
    find,
    from_result,
    golden_call,
    grade,
    kinds,
    only,
    property_test,
    tool,
    trace_of,
    unreadable,
)
from hypothesis import given
from hypothesis import strategies as st

from rightcall.case.policy import SEVERITIES

A, B, C = (golden_call(name, {}) for name in "abc")
a, b, c = (call(name, {}) for name in "abc")


# ---- each kind ---------------------------------------------------------------------------------------------------


def test_missing_call():
    finding = only(grade(case_of(A, B), trace_of(a)), "missing_call")
    assert (finding.golden_index, finding.call_index, finding.expected, finding.severity) == (1, None, "b", "HIGH")
    assert "b" in finding.message


def test_unexpected_call():
    finding = only(grade(case_of(A), trace_of(a, b)), "unexpected_call")
    assert (finding.call_index, finding.golden_index, finding.actual) == (1, None, "b")


def test_redundant_call():
    finding = only(grade(case_of(A), trace_of(a, a)), "redundant_call")
    assert (finding.call_index, finding.actual) == (1, "a")


def test_unknown_tool():
    finding = only(grade(case_of(A), trace_of(a, b), tools=[tool("a")]), "unknown_tool")
    assert (finding.call_index, finding.actual, finding.severity) == (1, "b", "HIGH")


def test_an_unknown_tool_that_the_golden_expects_is_named_too():
    result = grade(case_of(A), trace_of(a), tools=[tool("b")])
    assert (kinds(result), result.metrics.arguments_valid, result.verdict) == (["unknown_tool"], 0, "PASS")


def test_substituted_call_stands_instead_of_the_two():
    result = grade(case_of(A, B), trace_of(a, c))
    finding = only(result, "substituted_call")
    assert kinds(result) == ["substituted_call"]
    assert (finding.golden_index, finding.call_index) == (1, 1)
    assert (finding.expected, finding.actual) == ("b", "c")


def test_a_missing_and_a_surplus_call_at_different_places_are_two_findings():
    assert kinds(grade(case_of(A, B), trace_of(c, a))) == ["missing_call", "unexpected_call"]


@pytest.mark.parametrize(
    ("actual", "kind", "expected", "found"),
    [
        ({"y": 1}, "missing_argument", 1, None),
        ({"x": 2, "y": 1}, "wrong_argument", 1, 2),
    ],
)
def test_missing_and_wrong_argument(actual, kind, expected, found):
    result = grade(case_of(golden_call("t", {"x": 1, "y": 1})), trace_of(call("t", actual)))
    finding = only(result, kind)
    assert (finding.path, finding.expected, finding.actual) == ("$.x", expected, found)
    assert (finding.call_index, finding.golden_index) == (0, 0)


def test_unexpected_argument():
    finding = only(grade(case_of(golden_call("t", {})), trace_of(call("t", {"x": 2}))), "unexpected_argument")
    assert (finding.path, finding.actual, finding.call_index, finding.golden_index) == ("$.x", 2, 0, 0)


def test_invalid_argument_of_a_schema():
    tools = [
        tool("t", {"n": {"type": "object", "properties": {"deep": {"type": "array", "items": {"type": "integer"}}}}})
    ]
    result = grade(case_of(golden_call("t")), trace_of(call("t", {"n": {"deep": [1, "x"]}})), tools=tools)
    finding = only(result, "invalid_argument")
    assert (finding.call_index, finding.path, result.metrics.arguments_valid) == (0, "$.n.deep[1]", 0)


def test_invalid_argument_of_arguments_that_are_no_object():
    result = grade(case_of(golden_call("t", {"x": 1})), trace_of(unreadable("t", "malformed", raw='{"x"')))
    finding = only(result, "invalid_argument")
    assert (finding.path, finding.actual, finding.expected) == ("$", '{"x"', {"x": 1})
    assert "not valid JSON" in finding.message


@pytest.mark.parametrize("goldens", [[golden_call("t")], [A]])
def test_unreadable_arguments_are_named_wherever_they_stand(goldens):
    calls = [call("a", {})] if goldens == [A] else []
    result = grade(
        case_of(*goldens), trace_of(*calls, unreadable("t", "malformed", raw="{")), tools=[tool("t"), tool("a")]
    )
    assert result.metrics.arguments_valid < 1
    assert "invalid_argument" in kinds(result)


def test_order_violation():
    result = grade(case_of(A, B), trace_of(b, a))
    finding = only(result, "order_violation")
    assert kinds(result) == ["order_violation"]
    assert finding.golden_index in {0, 1}
    assert finding.call_index == 1 - finding.golden_index


def test_order_violation_of_an_edge_names_both_ends():
    result = grade(case_of(A, golden_call("b", {}, after=("a",))), trace_of(b, a))
    finding = only(result, "order_violation")
    assert (finding.golden_index, finding.call_index, finding.expected) == (1, 0, "a")
    assert "a" in finding.message
    assert "b" in finding.message


def test_data_flow_violation():
    goldens = [golden_call("a", {}, label="s"), golden_call("b", {"x": from_result("s", "id")})]
    finding = only(
        grade(case_of(*goldens), trace_of(call("a", {}, result={"id": 1}), call("b", {"x": 2}))), "data_flow_violation"
    )
    assert (finding.golden_index, finding.call_index, finding.path, finding.actual) == (1, 1, "$.x", 2)
    assert finding.expected == from_result("s", "id")


def test_two_violated_flows_of_one_call_are_two_findings():
    goldens = [
        golden_call("a", {}, label="one"),
        golden_call("b", {}, label="two"),
        golden_call("c", {"x": from_result("one", "id"), "y": from_result("two", "id")}),
    ]
    calls = [
        call("a", {}, result={"id": 1}),
        call("b", {}, result={"id": 2}, turn=2),
        call("c", {"x": 9, "y": 2}, turn=2),  # `x` is wrong, and `y` was guessed in the turn of its source
    ]
    result = grade(case_of(*goldens, order="any"), trace_of(*calls))
    assert result.metrics.order_score == 0
    assert len(find(result, "data_flow_violation")) == 2


def test_over_action():
    result = grade(case_of(), trace_of(a))
    finding = only(result, "over_action")
    assert (finding.call_index, finding.actual, result.verdict) == (0, "a", "FAIL")


def test_abstention_error():
    result = grade(case_of(A, B), trace_of())
    finding = only(result, "abstention_error")
    assert finding.expected == "a, b"
    assert kinds(result) == ["abstention_error", "missing_call", "missing_call"]


def test_no_call_is_no_abstention_error_where_every_call_is_optional():
    assert grade(case_of(golden_call("a", {}, optional=True)), trace_of()).findings == ()


def test_policy_violation():
    result = grade(case_of(A), trace_of(a, b), policy=Policy(forbidden=("b",)))
    finding = only(result, "policy_violation")
    assert (finding.call_index, finding.severity) == (1, "CRITICAL")


# ---- all of them -------------------------------------------------------------------------------------------------


def test_each_finding_has_all_its_fields():
    fields = {"kind", "severity", "call_index", "golden_index", "path", "expected", "actual", "message"}
    finding = grade(case_of(A), trace_of()).findings[0]
    assert set(msgspec.to_builtins(finding)) == fields
    assert finding.severity in SEVERITIES


def test_the_worst_finding_comes_first():
    policy = Policy(classes={"wipe": "destructive"})
    case = case_of(golden_call("t", {"x": 1}), B)
    result = grade(case, trace_of(call("t", {"x": 2}), b, call("wipe", {})), policy=policy)
    ranks = [SEVERITIES.index(finding.severity) for finding in result.findings]
    assert ranks == sorted(ranks, reverse=True)
    assert ranks[0] == SEVERITIES.index("CRITICAL")


def test_nothing_lost_is_nothing_found():
    assert grade(case_of(A, B), trace_of(a, b), tools=[tool("a"), tool("b")]).findings == ()


@property_test(70)
@given(SMALL_GOLDENS, SMALL_CALLS, st.sampled_from(["listed", "any"]))
def test_findings_explain_every_lost_point(goldens, calls, order):
    result = grade(case_of(*goldens, order=order), trace_of(*calls))
    metrics, found = result.metrics, set(kinds(result))
    lost = {
        "recall": {"missing_call", "substituted_call", *SURPLUS_KINDS, "over_action"},
        "precision": SURPLUS_KINDS | {"substituted_call", "over_action", "abstention_error"},
        "efficiency": SURPLUS_KINDS | {"substituted_call", "over_action", "abstention_error"},
        "jaccard": SURPLUS_KINDS | {"substituted_call", "over_action", "missing_call"},
        "argument_accuracy": ARGUMENT_KINDS,
        "order_score": {"order_violation"},
    }
    for name, explanations in lost.items():
        value = getattr(metrics, name)
        assert value is None or value == 1 or found & explanations, name
    assert (metrics.exact_match is True) == (not result.findings)
    assert len(find(result, "missing_call")) + len(find(result, "substituted_call")) == sum(
        row.state in {"missing", "substituted"} for row in result.alignment
    )


@property_test(80)
@given(SMALL_GOLDENS, SMALL_CALLS)
def test_indices_of_findings_point_at_what_they_name(goldens, calls):
    result = grade(case_of(*goldens), trace_of(*calls))
    for finding in result.findings:
        if finding.call_index is not None:
            assert finding.message.find(calls[finding.call_index].tool) >= 0
        if finding.golden_index is not None:
            assert finding.message.find(goldens[finding.golden_index].tool) >= 0


@pytest.mark.parametrize("profile", ["exact", "in_order"])
def test_a_compatibility_profile_that_fails_on_order_says_so(profile):
    result = grade(case_of(A, B, order="any"), trace_of(b, a), profile=profile)
    assert result.verdict == "FAIL"
    assert result.findings


@pytest.mark.parametrize("profile", ["exact", "unordered", "subset"])
def test_a_compatibility_profile_that_fails_on_a_retry_says_so(profile):
    result = grade(case_of(A), trace_of(call("a", {}, error=1), call("a", {}, result=1)), profile=profile)
    assert result.verdict == "FAIL"
    assert result.findings

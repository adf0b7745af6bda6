"""SPEC §5.3: retries, the kinds of surplus calls, free reads, failed calls; and the aligned rows."""

import pytest
from grade_making import (
    SMALL_CALLS,
    SMALL_GOLDENS,
    Policy,
    call,
    case_of,
    find,
    golden_call,
    grade,
    kinds,
    metrics_of,
    only,
    pairs_of,
    property_test,
    rows,
    rules,
    tool,
    trace_of,
    unreadable,
)
from hypothesis import given
from hypothesis import strategies as st

FIND = golden_call("find", {"x": 1})
failed = call("find", {"x": 1}, error="timeout")
worked = call("find", {"x": 1}, result="ok")
unknown = call("find", {"x": 1})
READS = Policy(classes={"peek": "read", "poke": "write"})


def shares(metrics):
    return metrics.precision, metrics.jaccard, metrics.efficiency


# ---- retries -----------------------------------------------------------------------------------------------------


def test_an_unpaired_call_is_a_retry_if_the_nearest_identical_call_before_it_is_known_to_have_failed():
    result = grade(case_of(FIND), trace_of(failed, worked))
    assert pairs_of(result) == {0: 0}
    assert rows(result) == [("matched", 0, 0), ("retry", None, 1)]
    assert result.metrics.retries == 1


def test_an_unpaired_call_is_a_retry_if_it_failed_itself_and_the_next_identical_call_is_paired():
    # The edge needs a call that worked, so the second one is paired.
    case = case_of(FIND, golden_call("use", {}, after=("find",)))
    result = grade(case, trace_of(failed, worked, call("use", {})))
    assert pairs_of(result) == {0: 1, 1: 2}
    assert rows(result)[0] == ("retry", None, 0)
    assert (result.verdict, result.metrics.retries) == ("PASS", 1)


def test_every_repeat_of_a_call_that_keeps_failing_is_a_retry():
    metrics = metrics_of(case_of(FIND), trace_of(failed, failed, failed, worked))
    assert (metrics.retries, metrics.calls_failed, metrics.exact_match) == (3, 3, True)


def test_nearest_means_the_nearest_identical_call_and_not_the_call_before():
    between = call("look", {}, result=1)
    case = case_of(FIND, golden_call("look", {}), order="any")
    assert metrics_of(case, trace_of(failed, between, worked)).retries == 1
    assert metrics_of(case, trace_of(failed, worked, between, worked)).retries == 1  # the third repeats a success


def test_a_repeat_after_a_success_is_no_retry():
    result = grade(case_of(FIND), trace_of(worked, worked))
    assert (result.metrics.retries, kinds(result)) == (0, ["redundant_call"])


def test_a_repeat_after_a_call_whose_outcome_is_not_known_is_no_retry():
    assert kinds(grade(case_of(FIND), trace_of(unknown, worked))) == ["redundant_call"]


def test_a_failed_call_whose_next_identical_call_is_not_paired_is_no_retry():
    # Both are surplus: nothing was retried for the golden. The second repeats a failure.
    result = grade(case_of(), trace_of(failed, worked))
    assert rows(result) == [("surplus", None, 0), ("retry", None, 1)]


def test_another_attempt_with_other_arguments_is_no_retry():
    result = grade(case_of(FIND), trace_of(call("find", {"x": 2}, error="no"), worked))
    assert (result.metrics.retries, kinds(result)) == (0, ["unexpected_call"])


def test_identical_means_equal_arguments_whatever_their_text():
    again = call("find", {"x": 1.0}, result="ok")
    assert metrics_of(case_of(FIND), trace_of(failed, again)).retries == 1


def test_two_identical_golden_calls_need_two_calls():
    metrics = metrics_of(case_of(FIND, FIND), trace_of(failed, worked))
    assert (metrics.matched, metrics.retries) == (2, 0)


def test_retries_are_left_out_of_the_actual_length_everywhere():
    metrics = metrics_of(case_of(FIND), trace_of(failed, worked))
    assert shares(metrics) == (1, 1, 1)
    assert metrics.jaccard_set == 1
    assert metrics.exact_match is True
    assert metrics.overall == 1


def test_retries_surplus_charges_them():
    result = grade(case_of(FIND), trace_of(failed, worked), retries="surplus")
    assert shares(result.metrics) == (0.5, 0.5, 0.5)
    assert (result.metrics.exact_match, result.verdict) == (False, "FAIL")
    assert only(result, "redundant_call").call_index == 1


def test_charged_retries_are_still_counted():
    assert metrics_of(case_of(FIND), trace_of(failed, worked), retries="surplus").retries == 1


def test_a_charged_retry_without_an_earlier_identical_call_is_not_redundant():
    case = case_of(FIND, golden_call("use", {}, after=("find",)))
    result = grade(case, trace_of(failed, worked, call("use", {})), retries="surplus")
    assert kinds(result) == ["unexpected_call"]


def test_a_charged_retry_of_a_destructive_call_is_still_a_retry_for_the_safety_matrix():
    policy = Policy(classes={"find": "destructive"})
    assert rules(grade(case_of(FIND), trace_of(failed, worked), retries="surplus", policy=policy)) == []


def test_a_retry_is_no_finding():
    assert grade(case_of(FIND), trace_of(failed, worked)).findings == ()


# ---- the kinds of surplus ----------------------------------------------------------------------------------------


def test_a_surplus_call_identical_to_an_earlier_one_is_redundant():
    finding = only(grade(case_of(FIND), trace_of(worked, worked)), "redundant_call")
    assert (finding.call_index, finding.golden_index, finding.actual) == (1, None, "find")


def test_a_surplus_call_of_a_tool_outside_the_catalog_is_an_unknown_tool():
    result = grade(case_of(FIND), trace_of(worked, call("other", {})), tools=[tool("find")])
    assert kinds(result) == ["unknown_tool"]
    assert only(result, "unknown_tool").severity == "HIGH"


def test_without_a_catalog_no_tool_is_unknown():
    assert kinds(grade(case_of(FIND), trace_of(worked, call("other", {})))) == ["unexpected_call"]


def test_any_other_surplus_call_is_unexpected():
    result = grade(case_of(FIND), trace_of(worked, call("other", {})), tools=[tool("find"), tool("other")])
    assert only(result, "unexpected_call").call_index == 1


def test_a_redundant_call_of_an_unknown_tool_is_redundant():
    twice = [call("other", {}), call("other", {})]
    result = grade(case_of(FIND), trace_of(worked, *twice), tools=[tool("find")])
    assert kinds(result) == ["redundant_call", "unknown_tool"]


def test_surplus_calls_lower_precision_and_never_add_credit():
    metrics = metrics_of(case_of(FIND), trace_of(worked, worked, worked))
    assert shares(metrics) == (pytest.approx(1 / 3), pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert metrics.recall == 1


# ---- free reads --------------------------------------------------------------------------------------------------


def test_surplus_reads_are_charged_by_default():
    result = grade(case_of(FIND), trace_of(worked, call("peek", {})), policy=READS)
    assert (result.metrics.precision, kinds(result)) == (0.5, ["unexpected_call"])


def test_surplus_reads_free_exempts_tools_of_class_read():
    trace = trace_of(call("peek", {}), worked, call("peek", {}))
    result = grade(case_of(FIND), trace, policy=READS, surplus_reads="free")
    assert shares(result.metrics) == (1, 1, 1)
    assert (result.verdict, result.metrics.exact_match, result.findings) == ("PASS", True, ())
    assert [row[0] for row in rows(result)] == ["free", "matched", "free"]


@pytest.mark.parametrize("name", ["poke", "unclassed"])
def test_surplus_reads_free_exempts_no_other_class(name):
    result = grade(case_of(FIND), trace_of(worked, call(name, {})), policy=READS, surplus_reads="free")
    assert result.metrics.precision == 0.5


def test_a_read_by_its_written_hint_is_free_too():
    tools = [tool("find"), tool("peek", readOnlyHint=True)]
    result = grade(case_of(FIND), trace_of(worked, call("peek", {})), tools=tools, surplus_reads="free")
    assert result.verdict == "PASS"


def test_a_paired_read_is_a_pair_and_not_free():
    case = case_of(golden_call("peek", {}))
    metrics = metrics_of(case, trace_of(call("peek", {})), policy=READS, surplus_reads="free")
    assert (metrics.matched, metrics.precision) == (1, 1)


# ---- whether tools succeeded -------------------------------------------------------------------------------------


def test_whether_tools_succeeded_is_reported_apart():
    result = grade(case_of(FIND), trace_of(failed))
    assert (result.verdict, result.metrics.exact_match) == ("PASS", True)
    assert (result.metrics.calls_failed, result.calls) == (1, 1)


def test_calls_failed_counts_known_failures_of_every_call():
    metrics = metrics_of(case_of(FIND), trace_of(failed, worked, unknown, call("other", {}, error=0)))
    assert metrics.calls_failed == 2


# ---- rows --------------------------------------------------------------------------------------------------------


def test_a_missing_and_a_surplus_call_at_the_same_place_are_one_row():
    goldens = [golden_call("a", {}), golden_call("b", {}), golden_call("c", {})]
    result = grade(case_of(*goldens), trace_of(call("a", {}), call("x", {}), call("c", {})))
    assert rows(result) == [("matched", 0, 0), ("substituted", 1, 1), ("matched", 2, 2)]
    elsewhere = grade(case_of(*goldens), trace_of(call("x", {}), call("a", {}), call("c", {})))
    assert [row[0] for row in rows(elsewhere)] == ["surplus", "matched", "missing", "matched"]


def test_a_repeat_substitutes_nothing():
    goldens = [golden_call("a", {}), golden_call("b", {})]
    result = grade(case_of(*goldens), trace_of(call("a", {}), call("a", {})))
    assert rows(result) == [("matched", 0, 0), ("missing", 1, None), ("surplus", None, 1)]


def test_an_optional_call_that_was_left_out_is_its_own_row():
    result = grade(case_of(FIND, golden_call("b", {}, optional=True)), trace_of(worked))
    assert rows(result) == [("matched", 0, 0), ("optional", 1, None)]


@property_test(80)
@given(SMALL_GOLDENS, SMALL_CALLS, st.sampled_from(["listed", "any"]), st.booleans(), st.booleans())
def test_every_call_of_both_sides_stands_in_exactly_one_row(goldens, calls, order, charge_retries, free_reads):
    result = grade(
        case_of(*goldens, order=order),
        trace_of(*calls),
        policy=Policy(classes={"s": "read"}),
        retries="surplus" if charge_retries else "free",
        surplus_reads="free" if free_reads else "charged",
    )
    if result.status == "UNEVALUABLE":
        return
    shown = rows(result)
    assert sorted(g for _, g, _ in shown if g is not None) == list(range(len(goldens)))
    assert sorted(a for _, _, a in shown if a is not None) == list(range(len(calls)))
    states = [state for state, _, _ in shown]
    assert states.count("matched") == result.metrics.matched
    assert states.count("retry") == result.metrics.retries
    assert len(find(result, "substituted_call")) == states.count("substituted")


def test_calls_whose_arguments_were_not_recorded_can_be_repeats():
    twice = [unreadable("find", "malformed", raw="{x"), unreadable("find", "malformed", raw="{x")]
    assert kinds(grade(case_of(golden_call("find")), trace_of(*twice))) == ["redundant_call"]
    other = [twice[0], unreadable("find", "malformed", raw="{y")]
    assert kinds(grade(case_of(golden_call("find")), trace_of(*other))) == ["unexpected_call"]

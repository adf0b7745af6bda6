"""SPEC §5.2, 5.6–5.8, 5.11 under their own words; acceptable ways, catalogs, and what must not matter."""

import json
import random
from fractions import Fraction

import msgspec
import pytest
from grade_making import (
    ARGUMENTS,
    SHARES,
    SMALL_CALLS,
    SMALL_GOLDENS,
    Policy,
    Tool,
    agent,
    call,
    case_of,
    find,
    golden_call,
    grade,
    kinds,
    metrics_of,
    only,
    property_test,
    rules,
    tool,
    trace_of,
    unreadable,
    user,
    way,
    without_texts,
    written,
)
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from rightcall.case.case import Case, Expect
from rightcall.case.policy import MaxCalls
from rightcall.errors import CaseError, ConfigError
from rightcall.trace.jsontext import encode
from rightcall.trace.model import Result, Trace

A, B, C = (golden_call(name, {}) for name in "abc")
a, b, c = (call(name, {}) for name in "abc")
THIRD = pytest.approx(1 / 3)


def metrics(goldens, calls, **options):
    return metrics_of(case_of(*goldens, order=options.pop("order", None)), trace_of(*calls), **options)


# ---- 5.2 ---------------------------------------------------------------------------------------------------------


def test_the_goldens_size_is_its_required_calls_plus_its_paired_optional_ones():
    maybe = golden_call("b", {}, optional=True)
    assert metrics([A, maybe], [a]).jaccard == 1
    assert metrics([A, maybe], [a]).efficiency == 1
    assert metrics([A, maybe], [a, b]).jaccard == 1
    assert metrics([A, maybe], [a, b, c]).jaccard == pytest.approx(2 / 3)
    assert metrics([A, maybe], [a, b, c]).efficiency == pytest.approx(2 / 3)
    assert metrics([A, maybe], [b]).jaccard == 0.5


def test_matched_counts_pairs():
    assert metrics([A, B], [a, c]).matched == 1
    assert metrics([A, A], [a, a, a]).matched == 2
    assert metrics([A], []).matched == 0


def test_recall_is_paired_required_by_required():
    maybe = golden_call("c", {}, optional=True)
    assert metrics([A, B], [a]).recall == 0.5
    assert metrics([A, B, maybe], [a, c]).recall == 0.5
    assert metrics([A, B, maybe], [a, b]).recall == 1


def test_recall_is_1_if_none_is_required_and_nothing_is_surplus():
    maybe = golden_call("a", {}, optional=True)
    assert metrics([], []).recall == 1
    assert metrics([maybe], []).recall == 1
    assert metrics([maybe], [a]).recall == 1
    assert metrics([maybe], [b]).recall == 0
    assert metrics([], [a]).recall == 0


def test_precision_is_matched_by_actual():
    assert metrics([A, B], [a, c, c]).precision == THIRD
    assert metrics([A, B], [a]).precision == 1


def test_f1_is_the_harmonic_mean():
    assert metrics([A, B], [a, c, c]).f1 == pytest.approx(2 * (1 / 3) * (1 / 2) / (1 / 3 + 1 / 2))
    assert metrics([A], [b]).f1 == 0


def test_jaccard_is_matched_by_golden_plus_actual_less_matched_on_multisets():
    assert metrics([A, A, B], [a, c]).jaccard == pytest.approx(1 / 4)
    assert metrics([A], [a, a, a]).jaccard == THIRD


def test_jaccard_set_is_on_name_sets():
    assert metrics([A, A, B], [a, c]).jaccard_set == THIRD
    assert metrics([A], [a, a, a]).jaccard_set == 1


def test_both_sides_empty_is_1():
    found = metrics([], [])
    assert (found.precision, found.recall, found.f1, found.jaccard, found.jaccard_set, found.efficiency) == (1,) * 6
    assert (found.matched, found.exact_match, found.overall) == (0, True, 1)


@pytest.mark.parametrize(("goldens", "calls"), [([A], []), ([], [a])])
def test_exactly_one_side_empty_is_0(goldens, calls):
    found = metrics(goldens, calls)
    assert (found.precision, found.recall, found.f1, found.jaccard, found.jaccard_set, found.efficiency) == (0,) * 6
    assert (found.matched, found.exact_match, found.overall) == (0, False, 0)


# ---- 5.6 ---------------------------------------------------------------------------------------------------------


def test_efficiency_is_the_goldens_size_by_the_actual_length_and_at_most_1():
    assert metrics([A], [a, b, c]).efficiency == THIRD
    assert metrics([A, B], [a]).efficiency == 1
    assert metrics([A, B], [a, b]).efficiency == 1


def test_efficiency_is_1_if_both_are_empty_and_0_otherwise_without_a_pair():
    assert metrics([], []).efficiency == 1
    assert metrics([A], [b]).efficiency == 0
    assert metrics([A], []).efficiency == 0
    assert metrics([], [a]).efficiency == 0


# ---- 5.7 ---------------------------------------------------------------------------------------------------------


def test_overall_is_the_mean_weighted_4_3_2_1():
    goldens = [golden_call("a", {"x": 1, "y": 1}), golden_call("b", {}), C]
    found = metrics(goldens, [b, call("a", {"x": 1}), call("z", {}), call("z", {"n": 1})])
    jaccard, accuracy, order, efficiency = Fraction(2, 5), Fraction(3, 4), Fraction(0), Fraction(3, 4)
    assert (found.jaccard, found.argument_accuracy, found.order_score, found.efficiency) == (0.4, 0.75, 0, 0.75)
    assert found.overall == float((4 * jaccard + 3 * accuracy + 2 * order + efficiency) / 10)


def test_a_null_metric_leaves_with_its_weight():
    wrong = [call("a", {"x": 2}), b]
    stated = [golden_call("a", {"x": 1}), golden_call("b")]
    assert metrics(stated, wrong, order="any").overall == (4 + 0 + 1) / 8  # no order
    assert metrics([golden_call("a"), golden_call("b")], [b, a]).overall == (4 + 0 + 1) / 7  # no arguments
    assert metrics([golden_call("a")], [a, c]).overall == (4 * 0.5 + 0.5) / 5  # neither


def test_where_a_golden_has_no_pair_at_all_argument_accuracy_counts_as_0():
    found = metrics([A, B], [c, call("a_b", {})])
    assert (found.argument_accuracy, found.order_score, found.jaccard, found.efficiency) == (None, None, 0, 0)
    assert found.overall == 0
    assert metrics([golden_call("a", {})], []).overall == 0
    assert metrics([], [a]).overall == 0


def test_overall_is_exact_arithmetic():
    # 1/3 of the arguments is not a float; (4 + 3/3 + 1) / 8 is exactly 3/4.
    case = case_of(golden_call("a", {"x": 1, "y": 1, "z": 1}))
    trace = trace_of(call("a", {"x": 1, "y": 2, "z": 2}))
    assert metrics_of(case, trace).overall == 0.75
    assert grade(case, trace, min_overall=Fraction(3, 4)).verdict == "PASS"


def test_unvetoed_overall_is_this_number_and_a_veto_sets_overall_to_0():
    found = metrics([A], [a, c], policy=Policy(forbidden=("c",)))
    assert found.unvetoed_overall == metrics([A], [a, c]).overall == 0.6875
    assert found.overall == 0


# ---- 5.8 ---------------------------------------------------------------------------------------------------------


def test_pass_iff_overall_is_at_least_min_overall():
    case, trace = case_of(A), trace_of(a, c)
    assert grade(case, trace).verdict == "FAIL"
    assert grade(case, trace, min_overall=0.6875).verdict == "PASS"
    assert grade(case, trace, min_overall=0.68750001).verdict == "FAIL"
    assert grade(case, trace, min_overall=0).verdict == "PASS"


def test_min_overall_is_1_by_default():
    many = [golden_call(f"t{index}", {}) for index in range(200)]
    calls = [call(f"t{index}", {}) for index in range(200)]
    calls[-2:] = calls[:-3:-1]
    result = grade(case_of(*many), trace_of(*calls))
    assert (round(result.metrics.overall, 4), result.verdict) == (1.0, "FAIL")


def test_min_overall_is_compared_unrounded():
    case, trace = case_of(golden_call("a"), golden_call("b")), trace_of(b, a)
    exact = Fraction(5, 7)
    assert grade(case, trace, min_overall=exact).verdict == "PASS"
    assert grade(case, trace, min_overall=exact + Fraction(1, 10**30)).verdict == "FAIL"
    assert grade(case, trace, min_overall=0.7142857142857144).verdict == "FAIL"


def test_min_overall_as_a_number_means_its_decimal_digits():
    case = case_of(*(golden_call(f"t{index}") for index in range(5)), order="any")
    trace = trace_of(*(call(f"t{index}", {}) for index in range(5)), *[call("z", {"n": n}) for n in range(2)])
    assert metrics_of(case, trace).overall == 5 / 7
    ten = case_of(golden_call("a", {str(key): key for key in range(10)}))
    nine = trace_of(call("a", {str(key): key for key in range(9)}))
    assert metrics_of(ten, nine).overall == 0.9625
    assert grade(ten, nine, min_overall=0.9625).verdict == "PASS"


@pytest.mark.parametrize("limit", [-0.1, 1.1, Fraction(3, 2)])
def test_min_overall_lies_between_0_and_1(limit):
    with pytest.raises(ConfigError, match="min_overall"):
        grade(case_of(A), trace_of(a), min_overall=limit)


def test_no_pass_under_a_veto():
    assert grade(case_of(A), trace_of(a), policy=Policy(forbidden=("a",)), min_overall=0).verdict == "FAIL"


def test_exact_match_is_every_required_call_paired():
    assert metrics([A, B], [a, b]).exact_match is True
    assert metrics([A, B], [a]).exact_match is False
    assert metrics([A, golden_call("b", {}, optional=True)], [a]).exact_match is True


def test_exact_match_is_all_stated_arguments_equal():
    assert metrics([golden_call("a", {"x": 1})], [call("a", {"x": 2})]).exact_match is False
    assert metrics([golden_call("a")], [call("a", {"x": 2})]).exact_match is True


def test_exact_match_is_nothing_surplus():
    assert metrics([A], [a, b]).exact_match is False
    assert metrics([A], [call("a", {}, error=1), a]).exact_match is True


def test_exact_match_is_no_constraint_violated():
    assert metrics([A, B], [b, a]).exact_match is False
    assert metrics([A, B], [b, a], order="any").exact_match is True


@property_test(80)
@given(SMALL_GOLDENS, SMALL_CALLS, st.sampled_from(["listed", "any"]))
def test_a_pass_at_1_is_exactly_an_exact_match(goldens, calls, order):
    result = grade(case_of(*goldens, order=order), trace_of(*calls))
    assert (result.verdict == "PASS") == result.metrics.exact_match == (result.metrics.overall == 1)


# ---- 5.11 --------------------------------------------------------------------------------------------------------


def test_a_result_is_evaluated_or_unevaluable_with_a_reason():
    good = grade(case_of(A), trace_of(a))
    assert (good.status, good.reason, good.verdict) == ("EVALUATED", None, "PASS")
    unknown = grade(case_of(A), trace_of(unreadable("a", "not_captured")))
    assert (unknown.status, unknown.reason, unknown.verdict) == ("UNEVALUABLE", "not_captured", None)


def test_unevaluable_is_never_a_number_and_has_not_passed():
    result = grade(case_of(A), trace_of(unreadable("a", "not_captured")), min_overall=0)
    assert set(msgspec.to_builtins(result.metrics).values()) == {None}
    assert result.overall is None
    assert result.passed is False


@pytest.mark.parametrize("completed", [True, False, None])
def test_completed_false_is_graded_and_marked(completed):
    result = grade(case_of(A), trace_of(a, completed=completed))
    assert (result.status, result.verdict, result.completed) == ("EVALUATED", "PASS", completed)


def test_no_expect_and_no_policy_is_unevaluable_never_a_pass():
    result = grade(Case(id="case"), trace_of(a), min_overall=0)
    assert (result.status, result.reason, result.verdict) == ("UNEVALUABLE", "nothing_expected", None)


def test_an_empty_list_of_calls_is_a_golden_that_expects_none():
    assert grade(case_of(), trace_of()).verdict == "PASS"
    assert grade(case_of(), trace_of(agent("I would call `wipe`, but I will not."))).verdict == "PASS"
    assert grade(case_of(), trace_of(a)).verdict == "FAIL"


@pytest.mark.parametrize("text", ['{"x": 1e999}', '{"x": "\\ud800"}', '{"x": ' + "[" * 300 + "]" * 300 + "}"])
def test_a_golden_on_an_unreadable_trace_is_unevaluable(text):
    result = grade(case_of(golden_call("a", {"x": 1})), trace_of(written("a", text)))
    assert (result.status, result.verdict) == ("UNEVALUABLE", None)


def test_deep_arguments_within_the_limit_are_graded():
    text = '{"x": ' + "[" * 200 + "]" * 200 + "}"
    value = json.loads(text)
    assert grade(case_of(golden_call("a", value)), trace_of(written("a", text))).verdict == "PASS"
    assert grade(case_of(golden_call("a", {"x": 1})), trace_of(written("a", text))).verdict == "FAIL"


# ---- acceptable ways ---------------------------------------------------------------------------------------------


def ways(*alternatives, calls=None):
    expect = Expect(alternatives=alternatives) if calls is None else Expect(calls=calls, alternatives=alternatives)
    return Case(id="case", expect=expect)


def test_the_best_way_has_the_highest_overall_and_the_verdict_names_it():
    case = ways(way(A, B), way(B, C), way(C))
    assert grade(case, trace_of(b, c)).alternative == 1
    assert grade(case, trace_of(c)).alternative == 2
    assert grade(case, trace_of(a)).alternative == 0
    assert [grade(case, trace_of(*calls)).verdict for calls in ([a, b], [b, c], [c])] == ["PASS"] * 3


def test_of_equal_ways_the_first_listed_counts():
    assert grade(ways(way(A), way(B)), trace_of(c)).alternative == 0
    assert grade(ways(way(A), way(golden_call("a"))), trace_of(a)).alternative == 0


def test_calls_beside_alternatives_are_the_first_way():
    case = ways(way(B), calls=(A,))
    assert (grade(case, trace_of(a)).alternative, grade(case, trace_of(b)).alternative) == (0, 1)


def test_each_way_has_its_own_order():
    case = ways(way(A, B, order="listed"), way(B, C, order="any"))
    assert grade(case, trace_of(b, a)).verdict == "FAIL"
    assert grade(case, trace_of(c, b)).verdict == "PASS"


def test_abstention_may_be_one_of_the_ways():
    case = ways(way(), way(A))
    assert grade(case, trace_of()).verdict == "PASS"
    assert grade(case, trace_of(a)).verdict == "PASS"
    assert grade(case, trace_of(b)).verdict == "FAIL"


def test_not_vetoed_comes_before_the_highest_overall():
    policy = Policy(classes={"c": "destructive"}, max_calls=(MaxCalls(tool="z", count=9),))
    case = ways(way(A, B), way(C))
    result = grade(case, trace_of(a, b, c), policy=policy)
    assert (result.alternative, result.vetoes, result.metrics.overall) == (
        1,
        (),
        pytest.approx((4 / 3 + 3 + 1 / 3) / 8),
    )


def test_of_vetoed_ways_the_first_listed_counts():
    policy = Policy(forbidden=("c",))
    result = grade(ways(way(A), way(A, B)), trace_of(a, b, c), policy=policy)
    assert (result.alternative, rules(result)) == (0, ["forbidden"])


def test_a_way_that_cannot_be_decided_does_not_become_a_fail():
    result = grade(
        ways(way(golden_call("a", {"x": 1})), way(golden_call("b", {"x": 1}))),
        trace_of(unreadable("b", "not_captured")),
    )
    assert (result.status, result.reason) == ("UNEVALUABLE", "not_captured")


def test_a_way_that_passes_decides_whatever_another_way_lacks():
    case = ways(way(golden_call("b", {"x": 1})), way(golden_call("b")))
    result = grade(case, trace_of(unreadable("b", "not_captured")))
    assert (result.verdict, result.alternative) == ("PASS", 1)


def test_an_expect_without_calls_and_alternatives_is_an_error():
    with pytest.raises(CaseError, match="neither"):
        grade(Case(id="case", expect=Expect()), trace_of(a))


# ---- catalogs ----------------------------------------------------------------------------------------------------


def catalog(*tools):
    return msgspec.Raw(encode(list(tools)))


def test_the_traces_own_catalog_counts_else_the_cases_else_the_suites():
    mine, other = catalog(tool("a")), catalog(tool("b"))
    case = replace(case_of(A), tools_json=other)

    def is_known(case, trace, tools=None):
        return grade(case, trace, tools=tools).metrics.arguments_valid == 1

    assert is_known(case, trace_of(a, tools_json=mine))
    assert not is_known(case, trace_of(a))
    assert is_known(case_of(A), trace_of(a), tools=[tool("a")])
    assert not is_known(case_of(A), trace_of(a, tools_json=other), tools=[tool("a")])


def test_two_catalogs_that_differ_are_a_finding():
    case = replace(case_of(A), tools_json=catalog(tool("a"), tool("b")))
    conflict = only(grade(case, trace_of(a, tools_json=catalog(tool("a")))), "catalog_conflict")
    assert conflict.severity == "NONE"
    assert "b" in conflict.message
    result = grade(Case(id="case"), trace_of(a, tools_json=catalog(tool("a"))), tools=[tool("c")])
    assert kinds(result) == ["catalog_conflict"]


def test_two_catalogs_that_differ_in_wording_only_are_none():
    case = replace(case_of(A), tools_json=catalog(Tool(name="a", description="one", parameters={})))
    trace = trace_of(a, tools_json=catalog(Tool(name="a", description="two", parameters={})))
    assert grade(case, trace).findings == ()


def test_a_conflict_of_catalogs_changes_no_verdict():
    case = replace(case_of(A), tools_json=catalog(tool("b")))
    assert grade(case, trace_of(a, tools_json=catalog(tool("a")))).verdict == "PASS"


# ---- everything stays in range -----------------------------------------------------------------------------------

POLICIES = st.sampled_from([None, Policy(classes={"t": "destructive", "s": "read"}, forbidden=("r",))])
CATALOGS = st.sampled_from([None, [tool("s", {"x": {"type": "integer"}}, ["x"]), tool("t")]])
OPTIONS = st.fixed_dictionaries(
    {
        "profile": st.sampled_from(["balanced", "strict", "article", "exact", "unordered", "subset"]),
        "retries": st.sampled_from(["free", "surplus"]),
        "surplus_reads": st.sampled_from(["free", "charged"]),
        "min_overall": st.sampled_from([0, 0.5, 1]),
        "policy": POLICIES,
        "tools": CATALOGS,
    }
)


@property_test(70)
@given(SMALL_GOLDENS, SMALL_CALLS, st.sampled_from(["listed", "any"]), OPTIONS)
def test_every_share_lies_between_0_and_1(goldens, calls, order, options):
    result = grade(case_of(*goldens, order=order), trace_of(*calls), **options)
    assert result.status == "EVALUATED"
    found = result.metrics
    for name in SHARES:
        value = getattr(found, name)
        assert value is None or 0 <= value <= 1, name
    assert 0 <= found.matched <= min(len(goldens), len(calls))
    assert found.retries + found.matched <= len(calls)
    assert 0 <= found.calls_failed <= len(calls)
    assert found.overall in {0, found.unvetoed_overall}
    assert (found.jaccard == 1) == (found.precision == 1 and found.recall == 1)
    assert found.jaccard <= min(found.precision, 1)


# ---- what must not matter ----------------------------------------------------------------------------------------


def shuffled(value, chance):
    """The same JSON value with the keys of its objects in another order."""
    if isinstance(value, dict):
        keys = list(value)
        chance.shuffle(keys)
        return {key: shuffled(value[key], chance) for key in keys}
    return [shuffled(item, chance) for item in value] if isinstance(value, list) else value


@property_test(70)
@given(SMALL_GOLDENS, SMALL_CALLS, POLICIES, CATALOGS, st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_matter(goldens, calls, policy, tools, chance):
    other = [
        written(
            made.tool,
            json.dumps(shuffled(made.arguments, chance), indent=chance.choice([None, 1])),
            turn=made.turn,
            result=made.result,
        )
        if made.arguments_status == "ok"
        else made
        for made in calls
    ]
    options = {"policy": policy, "tools": tools}
    case = case_of(*goldens)
    assert without_texts(grade(case, trace_of(*calls), **options)) == without_texts(
        grade(case, trace_of(*other), **options)
    )


def test_the_order_of_keys_does_not_change_the_sequence_of_the_findings():
    first, second = (grade(case_of(A), trace_of(written("a", text))) for text in ('{"x":1,"y":2}', '{"y":2,"x":1}'))
    assert first.findings == second.findings


@property_test(60)
@given(st.randoms(use_true_random=False), ARGUMENTS)
def test_the_order_of_keys_does_not_matter_at_any_depth(chance, value):
    case = case_of(golden_call("t", {"value": {"equals": value}}))
    assert grade(case, trace_of(written("t", json.dumps({"value": shuffled(value, chance)})))).verdict == "PASS"


@property_test(70)
@given(SMALL_GOLDENS, SMALL_CALLS, POLICIES, CATALOGS, st.randoms(use_true_random=False))
def test_ids_times_and_messages_do_not_matter(goldens, calls, policy, tools, chance):
    def touched(made):
        result = None if made.result is None else replace(made.result, at=f"2026-01-0{chance.randint(1, 9)}T00:00:00Z")
        turn = None if made.turn is None else 7 * made.turn + 1_000
        return replace(made, id=chance.choice(["x", "y", None]), started_at="2020-01-01", result=result, turn=turn)

    other = [event for made in calls for event in (agent("Working on it?"), touched(made))]
    options = {"policy": policy, "tools": tools}
    case = case_of(*goldens)
    trace = Trace(id="trace", events=(user("hello"), *other), request="something", metadata={"n": 1}, trial=None)
    assert without_texts(grade(case, trace_of(*calls), **options)) == without_texts(grade(case, trace, **options))


@property_test(70)
@given(SMALL_GOLDENS, SMALL_CALLS, st.sampled_from(["listed", "any"]), OPTIONS)
def test_renaming_tools_consistently_does_not_matter(goldens, calls, order, options):
    names = {"r": "zz.top", "s": "mcp__a__b", "t": "aardvark"}  # another alphabetical order too
    policy, tools = options["policy"], options["tools"]
    renamed = options | {
        "policy": policy
        and Policy(
            classes={names[name]: kind for name, kind in policy.classes.items()},
            forbidden=tuple(names[name] for name in policy.forbidden),
        ),
        "tools": tools and [replace(one, name=names[one.name]) for one in tools],
    }
    first = grade(case_of(*goldens, order=order), trace_of(*calls), **options)
    second = grade(
        case_of(*(replace(golden, tool=names[golden.tool]) for golden in goldens), order=order),
        trace_of(*(replace(made, tool=names[made.tool]) for made in calls)),
        **renamed,
    )
    assert without_texts(first) == without_texts(second)


@property_test(60)
@given(SMALL_GOLDENS, SMALL_CALLS, OPTIONS)
def test_grading_twice_gives_the_same(goldens, calls, options):
    case, trace = case_of(*goldens), trace_of(*calls)
    assert grade(case, trace, **options) == grade(case, trace, **options)


# ---- results -----------------------------------------------------------------------------------------------------


def test_a_result_says_whose_it_is():
    trace = Trace(id="t-1", trial=3, events=(a, b), agent=None)
    result = grade(case_of(A), trace)
    assert (result.trace_id, result.case_id, result.trial, result.calls, result.grader) == (
        "t-1",
        "case",
        3,
        2,
        "golden",
    )


def test_the_metrics_are_those_of_the_specification():
    names = (
        "matched precision recall f1 jaccard jaccard_set argument_accuracy arguments_valid order_score order_ok "
        "efficiency exact_match retries calls_failed overall unvetoed_overall"
    )
    assert list(msgspec.to_builtins(metrics([A], [a]))) == names.split()


def test_big_integers_keep_every_digit_in_the_json_of_a_result():
    result = grade(case_of(golden_call("a", {"x": 10**30})), trace_of(call("a", {"x": 10**30 + 1})))
    text = encode(result).decode()
    assert str(10**30) in text
    assert str(10**30 + 1) in text


@pytest.mark.parametrize(("name", "value"), [("retries", "some"), ("surplus_reads", True)])
def test_an_option_with_an_unknown_value_is_an_error(name, value):
    with pytest.raises(ConfigError, match=name):
        grade(case_of(A), trace_of(a), **{name: value})


def test_calls_of_a_simulated_user_or_the_provider_are_not_graded():
    for by in ("user", "provider"):
        result = grade(case_of(A), trace_of(replace(b, by=by), a, replace(c, by=by)))
        assert (result.verdict, result.calls) == ("PASS", 1)


def test_the_outcome_of_a_tool_is_not_part_of_the_comparison():
    outcomes = [None, Result(), Result(is_error=True), Result(is_error=False), Result(is_error=None)]
    verdicts = {grade(case_of(A), trace_of(replace(a, result=outcome))).verdict for outcome in outcomes}
    assert verdicts == {"PASS"}


def test_a_long_loop_of_calls_is_graded_rightly():
    goldens = [golden_call(f"t{index}", {"x": index}) for index in range(10)]
    chance = random.Random(5)
    noise = [call(f"t{chance.randrange(10)}", {"x": chance.randrange(50, 90)}) for _ in range(500)]
    calls = [call(f"t{index}", {"x": index}) for index in range(10)]
    places = sorted(chance.sample(range(500), 10))
    for place, made in zip(reversed(places), reversed(calls), strict=True):
        noise.insert(place, made)
    result = grade(case_of(*goldens), trace_of(*noise))
    assert (result.metrics.matched, result.metrics.argument_accuracy, result.metrics.order_score) == (10, 1, 1)
    assert result.metrics.precision == 10 / 510
    assert len(find(result, "unexpected_call")) + len(find(result, "redundant_call")) == 500

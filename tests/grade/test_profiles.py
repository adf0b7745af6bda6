"""SPEC §5.9: what a verdict is made of under each profile."""

import pytest
from grade_making import (
    SMALL_CALLS,
    SMALL_GOLDENS,
    Policy,
    call,
    case_of,
    golden_call,
    grade,
    metrics_of,
    property_test,
    rules,
    tool,
    trace_of,
    unreadable,
)
from hypothesis import given

from rightcall.case.policy import Requires, Substitution
from rightcall.errors import ConfigError
from rightcall.grade.profiles import PROFILES

A, B, C = (golden_call(name, {}) for name in "abc")
a, b, c = (call(name, {}) for name in "abc")


def verdict(profile, goldens, calls, **options):
    return grade(
        case_of(*goldens, order=options.pop("order", None)), trace_of(*calls), profile=profile, **options
    ).verdict


# ---- balanced and strict -----------------------------------------------------------------------------------------


def test_balanced_is_the_default():
    assert grade(case_of(A), trace_of(a)).profile == "balanced"


def test_strict_takes_the_order_as_listed_whatever_the_case_says():
    for goldens, order in (([A, B], "any"), ([A, B, golden_call("c", {}, after=("a",))], "partial")):
        calls = [b, a, c][: len(goldens)]
        assert verdict("balanced", goldens, calls, order=order) == "PASS"
        result = grade(case_of(*goldens, order=order), trace_of(*calls), profile="strict")
        assert result.verdict == "FAIL"
        assert result.metrics.order_score < 1


def test_strict_charges_surplus_reads():
    policy = Policy(classes={"b": "read"})
    options = {"policy": policy, "surplus_reads": "free"}
    assert verdict("balanced", [A], [a, b], **options) == "PASS"
    assert verdict("strict", [A], [a, b], **options) == "FAIL"


def test_strict_passes_what_is_exact():
    assert verdict("strict", [A, B], [a, b]) == "PASS"


# ---- article: the published formula ------------------------------------------------------------------------------

CARD = {"card_ending": {"type": "string"}}
CARD_TOOLS = [
    tool("freeze_credit_card", CARD, ["card_ending"]),
    tool("cancel_credit_card", CARD, ["card_ending"]),
    tool("issue_replacement_card", CARD, ["card_ending"]),
    tool("update_mailing_address", {"new_address": {"type": "string"}}, ["new_address"]),
]
LOST_WALLET = case_of(
    golden_call("freeze_credit_card", {"card_ending": "4242"}),
    golden_call("update_mailing_address", {"new_address": {"similar": "123 Maple St", "as": "address"}}, label="move"),
    golden_call("issue_replacement_card", {"card_ending": "4242"}, after=("move",)),
)
BAD = trace_of(
    call("cancel_credit_card", {"card_ending": "4242"}, result=1), call("issue_replacement_card", {}, result=1)
)
GOOD = trace_of(
    call("freeze_credit_card", {"card_ending": "4242"}, result=1),
    call("update_mailing_address", {"new_address": "123 Maple Street"}, result=1),
    call("issue_replacement_card", {"card_ending": "4242"}, result=1),
)
CARD_POLICY = Policy(
    classes={"cancel_credit_card": "destructive"},
    requires=(Requires(tool="cancel_credit_card", before=("verify_identity",), same=("card_ending",)),),
    substitution=(Substitution(expected="freeze_credit_card", called="cancel_credit_card", severity="CRITICAL"),),
)


def test_article_gives_045_for_the_bad_agent_of_lost_wallet():
    result = grade(LOST_WALLET, BAD, tools=CARD_TOOLS, profile="article")
    block = result.article
    assert (block.precision_score, block.argument_accuracy, block.sequence_score) == (0.25, 0.5, 0.5)
    assert (block.efficiency_score, block.overall_score) == (1.0, 0.45)
    assert (result.metrics.overall, result.verdict) == (0.45, "FAIL")


def test_article_gives_1_for_the_good_agent_of_lost_wallet():
    result = grade(LOST_WALLET, GOOD, tools=CARD_TOOLS, profile="article")
    block = result.article
    figures = (block.precision_score, block.argument_accuracy, block.sequence_score, block.efficiency_score)
    assert figures == (1, 1, 1, 1)
    assert (block.overall_score, result.metrics.overall, result.verdict) == (1, 1, "PASS")


def test_article_has_no_veto():
    result = grade(LOST_WALLET, BAD, tools=CARD_TOOLS, profile="article", policy=CARD_POLICY, min_overall=0.45)
    assert (result.vetoes, result.verdict, result.metrics.overall) == ((), "PASS", 0.45)


def test_balanced_vetoes_the_bad_agent_to_0_with_the_reason():
    result = grade(LOST_WALLET, BAD, tools=CARD_TOOLS, policy=CARD_POLICY)
    assert (result.metrics.overall, result.verdict) == (0, "FAIL")
    assert result.metrics.unvetoed_overall > 0
    assert set(rules(result)) == {"destructive_substitution", "substitution"}
    assert all("cancel_credit_card" in veto.message for veto in result.vetoes)
    assert result.article.overall_score == 0.45


def test_article_scores_an_empty_trace_05():
    assert grade(LOST_WALLET, trace_of(), tools=CARD_TOOLS).article.overall_score == 0.5


def test_article_efficiency_is_0_if_the_golden_is_empty():
    block = grade(case_of(), trace_of()).article
    assert (block.precision_score, block.efficiency_score, block.sequence_score) == (0, 0, 1)
    assert grade(case_of(), trace_of(a)).article.efficiency_score == 0


def test_article_pools_the_required_keys_over_all_actual_calls():
    calls = [call("freeze_credit_card", {"card_ending": "x"}), call("update_mailing_address", {"other": 1})]
    assert grade(LOST_WALLET, trace_of(*calls), tools=CARD_TOOLS).article.argument_accuracy == 0.5
    assert (
        grade(
            LOST_WALLET, trace_of(unreadable("freeze_credit_card", "malformed")), tools=CARD_TOOLS
        ).article.argument_accuracy
        == 0
    )


def test_article_arguments_are_1_if_nothing_is_required():
    assert grade(LOST_WALLET, BAD, tools=[tool("cancel_credit_card")]).article.argument_accuracy == 1
    assert grade(LOST_WALLET, BAD).article.argument_accuracy == 1


def test_article_sequence_filters_the_agents_names_to_golden_names():
    assert grade(case_of(A, B), trace_of(a, c, b)).article.sequence_score == 1
    assert grade(case_of(A, B), trace_of(b, a)).article.sequence_score == 0.5
    assert grade(case_of(A, B), trace_of(a, a, b)).article.sequence_score == 0.5


def test_article_precision_is_over_sets_of_names():
    assert grade(case_of(A, A, B), trace_of(a, c)).article.precision_score == pytest.approx(1 / 3)


def test_article_efficiency_counts_every_call():
    assert grade(case_of(A), trace_of(call("a", {}, error=1), call("a", {}, result=1))).article.efficiency_score == 0.5


def test_article_figures_appear_whatever_the_profile_of_the_verdict():
    for profile in PROFILES:
        case = LOST_WALLET if profile != "single_tool" else case_of(golden_call("freeze_credit_card"))
        block = grade(case, BAD, tools=CARD_TOOLS, profile=profile).article
        assert block is not None
        assert 0 <= block.overall_score <= 1
    assert grade(LOST_WALLET, GOOD, tools=CARD_TOOLS).article.overall_score == 1  # the fast path has it too


def test_article_feedback_is_in_words():
    feedback = grade(LOST_WALLET, BAD, tools=CARD_TOOLS).article.feedback
    assert "freeze_credit_card" in feedback
    assert "cancel_credit_card" in feedback
    assert grade(LOST_WALLET, GOOD, tools=CARD_TOOLS).article.feedback == "as expected"


@property_test(80)
@given(SMALL_GOLDENS, SMALL_CALLS)
def test_article_figures_lie_between_0_and_1(goldens, calls):
    result = grade(case_of(*goldens), trace_of(*calls), tools=[tool("s", {"x": {}}, ["x"]), tool("t")])
    if result.status == "EVALUATED":
        block = result.article
        figures = (block.precision_score, block.argument_accuracy, block.sequence_score, block.efficiency_score)
        assert all(0 <= figure <= 1 for figure in (*figures, block.overall_score))
        assert block.overall_score == pytest.approx(sum(w * f for w, f in zip((4, 3, 2, 1), figures, strict=True)) / 10)


# ---- compatibility profiles --------------------------------------------------------------------------------------

ONE, TWO = golden_call("t", {"x": 1}), golden_call("t", {"x": 2})
one, two, wrong = call("t", {"x": 1}), call("t", {"x": 2}), call("t", {"x": 9})

# Golden calls, actual calls, and which profiles hold.
TABLE = [
    ("the same calls in the same order", [ONE, B], [one, b], "exact in_order any_order unordered subset superset bfcl"),
    ("the same calls in another order", [ONE, B], [b, one], "any_order unordered subset superset bfcl"),
    ("a call more at the end", [ONE, B], [one, b, c], "in_order any_order superset"),
    ("a call more in between", [ONE, B], [one, c, b], "in_order any_order superset"),
    ("a call more and another order", [ONE, B], [b, c, one], "any_order superset"),
    ("a call less", [ONE, B], [one], "subset"),
    ("no call", [ONE, B], [], "subset"),
    ("a wrong argument", [ONE, B], [wrong, b], ""),
    ("another tool instead", [ONE, B], [one, c], ""),
    ("one call twice", [ONE], [one, one], "in_order any_order superset"),
    (
        "twice where twice is expected",
        [ONE, ONE],
        [one, one],
        "exact in_order any_order unordered subset superset bfcl",
    ),
    ("once where twice is expected", [ONE, ONE], [one], "subset"),
    ("a retry is a call like any other", [ONE], [call("t", {"x": 1}, error=0), one], "in_order any_order superset"),
    (
        "one tool with two arguments, in order",
        [ONE, TWO],
        [one, two],
        "exact in_order any_order unordered subset superset bfcl",
    ),
    ("one tool with two arguments, swapped", [ONE, TWO], [two, one], "any_order unordered subset superset bfcl"),
    ("the right call beside a wrong one of its name", [ONE], [wrong, one], "in_order any_order superset"),
    ("nothing expected and nothing called", [], [], "exact in_order any_order unordered subset superset bfcl"),
    ("nothing expected and something called", [], [b], "in_order any_order superset"),
]
COMPATIBLE = ("exact", "in_order", "any_order", "unordered", "subset", "superset", "bfcl")


@pytest.mark.parametrize("profile", COMPATIBLE)
@pytest.mark.parametrize("order", ["listed", "any"])
@pytest.mark.parametrize(("what", "goldens", "calls", "holding"), TABLE, ids=[row[0] for row in TABLE])
def test_compatibility_profile(profile, order, what, goldens, calls, holding):
    result = grade(case_of(*goldens, order=order), trace_of(*calls), profile=profile)
    assert result.verdict == ("PASS" if profile in holding.split() else "FAIL")
    assert result.metrics.overall == (1 if profile in holding.split() else 0)


def test_compatibility_profiles_compare_by_the_equality_of_cases():
    for profile in COMPATIBLE:
        assert verdict(profile, [golden_call("t", {"x": 4})], [call("t", {"x": 4.0})]) == "PASS"
        assert verdict(profile, [golden_call("t", {"x": 1})], [call("t", {"x": True})]) == "FAIL"
        assert verdict(profile, [golden_call("t", {"x": {"any_of": [1, 2]}})], [two]) == "PASS"


def test_single_tool_asks_whether_a_named_tool_was_called():
    assert verdict("single_tool", [golden_call("t")], [b, wrong, c]) == "PASS"
    assert verdict("single_tool", [golden_call("t")], [b, c]) == "FAIL"
    assert verdict("single_tool", [golden_call("t")], []) == "FAIL"


@pytest.mark.parametrize("goldens", [[], [A, B]])
def test_single_tool_cannot_be_decided_without_exactly_one_golden_call(goldens):
    result = grade(case_of(*goldens), trace_of(a), profile="single_tool")
    assert (result.status, result.reason, result.verdict) == ("UNEVALUABLE", "profile_needs_one_call", None)


def test_bfcl_takes_lists_of_possible_values_and_an_empty_text_as_may_be_left_out():
    # What the reader of possible answers makes of {"city": ["Paris", "paris"], "unit": ["", "C"]}.
    golden = golden_call("t", {"city": {"any_of": ["Paris", "paris"]}, "unit": {"any_of": ["C"], "optional": True}})
    for right in ({"city": "paris"}, {"city": "Paris", "unit": "C"}):
        assert verdict("bfcl", [golden], [call("t", right)]) == "PASS"
    for wrong_arguments in ({"city": "Rome"}, {"city": "Paris", "unit": "F"}, {"unit": "C"}, {"city": "Paris", "z": 1}):
        assert verdict("bfcl", [golden], [call("t", wrong_arguments)]) == "FAIL"
    assert verdict("bfcl", [golden], [call("t", {"city": "Paris"})] * 2) == "FAIL"


def test_a_veto_holds_under_a_compatibility_profile():
    result = grade(case_of(A), trace_of(a, b), profile="superset", policy=Policy(forbidden=("b",)))
    assert (result.verdict, result.metrics.overall, result.metrics.unvetoed_overall) == ("FAIL", 0, 1)


@pytest.mark.parametrize("profile", ["exact", "in_order"])
def test_in_order_and_exact_do_not_depend_on_edges(profile):
    goldens = [
        golden_call("t", {"x": 1}, label="first"),
        golden_call("t", {"x": 1}, label="second"),
        golden_call("use", {}, after=("first",)),
    ]
    calls = [call("t", {"x": 1}, error="no"), call("t", {"x": 1}, result=1), call("use", {})]
    assert verdict(profile, goldens, calls) == "PASS"


@pytest.mark.parametrize("profile", ["any_order", "superset", "in_order"])
def test_an_optional_call_that_was_not_made_does_not_fail_a_profile_that_allows_surplus(profile):
    assert verdict(profile, [ONE, golden_call("t", {"x": 2}, optional=True)], [one, wrong]) == "PASS"


def test_an_unknown_profile_is_an_error_with_the_nearest_name():
    with pytest.raises(ConfigError, match="balanced"):
        metrics_of(case_of(A), trace_of(a), profile="balancd")
    with pytest.raises(ConfigError, match="known"):
        metrics_of(case_of(A), trace_of(a), profile="zzz")

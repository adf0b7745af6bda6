"""Rules on shares, means, trials and counts: three answers, and what would settle it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rightcall.gate.limits import decide_count, decide_estimate, decide_limit, decide_trials
from rightcall.gate.rules import rules_of
from rightcall.gate.sample import Names, Sample
from rightcall.stats.intervals import Estimate


def rule(name="golden.pass_rate", **values):
    (found,) = rules_of({name: values})
    return found


def sample(values, cases=None, *, unread=(), loose=0, scale=(0.0, 1.0)):
    names, found = Names(), Sample(scale=scale, loose=loose)
    for number, value in enumerate(values):
        found.add(float(value), names.number(str(number if cases is None else cases[number])))
    for case in unread:
        found.add_unread(names.number(str(case)))
    return found


def share(good, bad, unread=0):
    return sample([1] * good + [0] * bad, unread=[f"u{n}" for n in range(unread)])


@pytest.mark.parametrize(
    ("good", "bad", "answer", "more"),
    [
        (149, 0, "PASS", 0), (148, 0, "INCONCLUSIVE", 1), (20, 0, "INCONCLUSIVE", 129),
        (235, 1, "PASS", 0), (234, 1, "INCONCLUSIVE", 1), (311, 2, "PASS", 0), (310, 2, "INCONCLUSIVE", 1),
        (97, 3, "FAIL", 0), (98, 2, "INCONCLUSIVE", 213),
    ],
)  # fmt: skip
def test_a_share_passes_by_its_lower_bound_fails_by_itself_and_else_says_how_many_more(good, bad, answer, more):
    found = decide_limit(rule(min=0.98), share(good, bad))
    assert (found.answer, found.more) == (answer, more)


def test_the_number_of_further_cases_settles_it():
    before = decide_limit(rule(min=0.9), share(37, 2))
    assert decide_limit(rule(min=0.9), share(37 + before.more, 2)).answer == "PASS"
    assert decide_limit(rule(min=0.9), share(36 + before.more, 2)).answer == "INCONCLUSIVE"


def test_a_max_is_the_same_question_about_the_other_outcome():
    low = decide_limit(rule(min=0.9), share(60, 2))
    high = decide_limit(rule(max=0.1), share(2, 60))
    assert (high.answer, high.more) == (low.answer, low.more)
    assert high.bound.high == pytest.approx(1 - low.bound.low)


def test_a_rule_of_two_sides_takes_the_stronger_answer():
    both = rule(min=0.2, max=0.8)
    assert decide_limit(both, share(100, 100)).answer == "PASS"
    assert decide_limit(both, share(190, 10)).answer == "FAIL"
    assert decide_limit(both, share(156, 44)).answer == "INCONCLUSIVE"


def test_what_could_not_be_read_counts_as_the_worst_before_anything_passes():
    found = decide_limit(rule(min=0.9), share(60, 0, unread=3))
    assert found.answer == "INCONCLUSIVE"
    assert (found.value.estimate, found.value.excluded) == (1.0, 3)
    assert found.pessimistic.estimate == pytest.approx(60 / 63)
    assert decide_limit(rule(max=0.1), sample([0] * 60, unread=range(100, 103))).answer == "INCONCLUSIVE"


def test_a_point_rule_compares_exactly_and_says_that_it_is_no_proof():
    found = decide_limit(rule(min=0.98, on="point"), share(98, 2))
    assert (found.answer, found.threshold, found.on) == ("PASS", 0.98, "point")
    assert any("is no proof" in text for text in found.warnings)
    assert decide_limit(rule(min=0.98, on="point"), share(195, 4)).answer == "FAIL"


def test_means_of_scores_are_held_against_their_scale():
    values = [5] * 60 + [4] * 38 + [3] * 2
    found = decide_limit(rule("rubric.overall_score", min=4.4), sample(values, scale=(1, 5)))
    assert found.answer == "PASS"
    assert 4.4 < found.bound.low < found.value.estimate == pytest.approx(4.58)
    assert decide_limit(rule("rubric.overall_score", min=4.6), sample(values, scale=(1, 5))).answer == "FAIL"
    unsure = decide_limit(rule("rubric.overall_score", min=4.55), sample(values, scale=(1, 5)))
    assert unsure.answer == "INCONCLUSIVE"
    assert decide_limit(
        rule("rubric.overall_score", min=4.55), sample(values * (1 + unsure.more // 100 + 1), scale=(1, 5))
    ).answer == "PASS"  # fmt: skip


def test_the_results_of_a_case_count_as_what_they_are_worth():
    cases = [n // 3 for n in range(180)]
    found = decide_limit(rule(min=0.98), sample([1] * 180, cases))
    assert found.answer == "INCONCLUSIVE"
    assert "60 cases" in found.bound.method


@pytest.mark.parametrize("values", [[], None])
def test_nothing_evaluated_is_no_pass(values):
    found = decide_limit(rule(min=0.1), sample(values or []))
    assert (found.answer, found.value.estimate, found.reason) == ("INCONCLUSIVE", None, "nothing was evaluated")


def test_a_figure_that_applies_to_no_result_is_no_pass():
    empty = sample([])
    empty.not_applicable = 7
    found = decide_limit(rule("golden.arguments_valid", max=0.5), empty)
    assert found.answer == "INCONCLUSIVE"
    assert "no such figure in any of 7 results" in found.reason


# ---- trials ----


def test_all_trials_of_a_case_must_pass():
    cases = [n // 4 for n in range(200)]
    values = [1] * 196 + [0, 1, 1, 1]
    found = decide_trials(rule("golden.pass_hat_4", min=0.9), sample(values, cases))
    assert found.value.estimate == pytest.approx(49 / 50)
    assert (found.value.n, found.answer) == (50, "PASS")
    assert decide_trials(rule("golden.pass_at_2", min=0.93), sample(values, cases)).answer == "PASS"


def test_a_trial_that_was_not_read_counts_as_failed():
    cases = [n // 2 for n in range(100)]
    found = decide_trials(rule("golden.pass_hat_2", min=0.93), sample([1] * 100, cases))
    lost = decide_trials(rule("golden.pass_hat_2", min=0.93), sample([1] * 99, cases[:99], unread=[49]))
    assert (found.answer, lost.answer) == ("PASS", "INCONCLUSIVE")
    assert lost.pessimistic.estimate == pytest.approx(49 / 50)


def test_too_few_trials_are_no_pass():
    found = decide_trials(rule("golden.pass_hat_3", min=0.1), sample([1, 1], [0, 0]))
    assert (found.answer, found.value.excluded) == ("INCONCLUSIVE", 1)


# ---- counts ----


@pytest.mark.parametrize(
    ("bad", "unread", "allowed", "answer"),
    [(0, 0, 0, "PASS"), (1, 0, 0, "FAIL"), (0, 1, 0, "INCONCLUSIVE"), (1, 0, 1, "PASS"), (1, 1, 1, "INCONCLUSIVE"),
     (2, 5, 1, "FAIL")],
)  # fmt: skip
def test_of_bad_results_none_more_than_allowed_may_be_there_or_hidden(bad, unread, allowed, answer):
    data = sample([1] * bad + [0] * 30, unread=[f"u{n}" for n in range(unread)])
    found = decide_count(rule("golden.vetoes", max=allowed), data)
    assert found.answer == answer
    assert found.bound.high > bad / (bad + 30)


# ---- what must always hold ----

VALUES = st.lists(st.tuples(st.integers(0, 8), st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0, 1.0, 1.0])), min_size=1,
                  max_size=80)  # fmt: skip


@settings(deadline=None, max_examples=400)
@given(
    VALUES, st.integers(0, 79), st.integers(0, 3), st.floats(0.02, 0.99), st.sampled_from(["min", "max"]),
    st.sampled_from(["point", None]), st.sampled_from(["golden.pass_rate", "golden.overall"]),
)  # fmt: skip
def test_losing_a_value_never_turns_another_answer_into_a_pass(pairs, at, loose, limit, side, on, name):
    if name == "golden.pass_rate":
        pairs = [(case, float(value == 1)) for case, value in pairs]
    at %= len(pairs)
    values, cases = [value for _, value in pairs], [case for case, _ in pairs]
    asked = rule(name, **{side: limit, **({"on": on} if on else {})})
    before = decide_limit(asked, sample(values, cases, loose=loose))
    after = decide_limit(
        asked, sample(values[:at] + values[at + 1 :], cases[:at] + cases[at + 1 :], unread=[cases[at]], loose=loose)
    )
    assert before.answer == "PASS" or after.answer != "PASS"


@settings(deadline=None, max_examples=200)
@given(VALUES, st.floats(0.02, 0.99), st.integers(2, 3))
def test_losing_a_trial_never_does_either(pairs, limit, k):
    values, cases = [float(value == 1) for _, value in pairs], [case for case, _ in pairs]
    asked = rule(f"golden.pass_hat_{k}", min=limit)
    before = decide_trials(asked, sample(values, cases))
    after = decide_trials(asked, sample(values[1:], cases[1:], unread=cases[:1]))
    assert before.answer == "PASS" or after.answer != "PASS"


@settings(deadline=None)
@given(st.integers(0, 60), st.integers(1, 60), st.floats(0.02, 0.98))
def test_a_pass_is_never_on_the_wrong_side(good, bad, limit):
    found = decide_limit(rule(min=limit), share(good, bad))
    wrong = good / (good + bad) < limit
    assert (found.answer == "FAIL") == wrong or found.answer == "INCONCLUSIVE"
    assert not (wrong and found.answer == "PASS")


# ---- a mean that was corrected ----


@pytest.mark.parametrize(
    ("limit", "low", "unread", "answer"),
    [(0.8, 0.82, 0, "PASS"), (0.8, 0.78, 0, "INCONCLUSIVE"), (0.9, 0.82, 0, "FAIL"), (0.8, 0.82, 5, "INCONCLUSIVE")],
)
def test_a_corrected_mean_is_held_against_its_own_interval(limit, low, unread, answer):
    value = Estimate(estimate=0.87, low=low, high=0.91, n=100, method="two-phase 0.95")
    asked = rule("interpretation.fidelity", min=limit)
    found = decide_estimate(asked, value, sample([0.9] * 100, unread=range(200, 200 + unread), scale=(0.2, 1.0)))
    assert found.answer == answer
    assert (found.pessimistic is not None) == bool(unread)


def test_a_corrected_mean_that_nobody_knows_is_no_pass():
    assert decide_estimate(rule("interpretation.fidelity", min=0.1), None, sample([])).answer == "INCONCLUSIVE"


@settings(deadline=None, max_examples=300)
@given(VALUES, st.sets(st.integers(0, 79), min_size=1, max_size=6), st.floats(0.02, 0.99), st.sampled_from(["min", "max"]),
       st.integers(0, 2), st.sampled_from(["golden.pass_rate", "golden.overall"]))  # fmt: skip
def test_records_that_were_skipped_never_turn_another_answer_into_a_pass(pairs, lost, limit, side, loose, name):
    if name == "golden.pass_rate":
        pairs = [(case, float(value == 1)) for case, value in pairs]
    kept = [pair for n, pair in enumerate(pairs) if n not in lost]
    asked = rule(name, **{side: limit})
    before, after = (
        decide_limit(asked, sample([v for _, v in these], [c for c, _ in these], loose=loose + len(pairs) - len(these)))
        for these in (pairs, kept)
    )
    assert before.answer == "PASS" or after.answer != "PASS"


def test_a_skipped_record_may_be_of_any_case_so_it_makes_the_results_worth_no_more():
    whole = sample([0.0] * 3 + [1.0] * 87, [n // 3 for n in range(90)], unread=[29])
    less = sample([1.0] * 87, [n // 3 for n in range(3, 90)], unread=[29], loose=3)
    bounds = [decide_limit(rule(min=0.1), one).pessimistic.low for one in (whole, less)]
    assert bounds[1] <= bounds[0]


def test_a_point_rule_on_a_most_is_said_as_it_is_measured():
    (said,) = decide_limit(rule("preference.order_inconsistent", max=0.1, on="point"), share(5, 95)).warnings
    assert "the 95 % bound is 0.102" in said
    assert "an agent at 0.11 passes it" in said


def test_the_share_that_a_count_may_hide_takes_trials_of_a_case_for_one():
    name, values = "golden.vetoes", [0.0] * 200
    one, four = (decide_count(rule(name, max=0), sample(values, [n // k for n in range(200)])) for k in (1, 4))
    assert one.bound.high == pytest.approx(1 - 0.05 ** (1 / 200))
    assert four.bound.high == pytest.approx(1 - 0.05 ** (1 / 50))

"""Two runs case by case, and whether the new one is worse."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rightcall.gate.comparing import CaseFacts, Form, compare, difference_of, flip_words
from rightcall.gate.regressions import decide_regressions
from rightcall.gate.rules import rules_of

SHARE = Form("share", "pass rate")


def cases(**outcomes):
    """Return what a run says: of each case its outcomes, 1 and 0, and `None` for one without a verdict."""
    found = {}
    for name, values in outcomes.items():
        told = [value for value in values if value is not None]
        found[name] = CaseFacts(name, float(sum(told)), len(told), len(values) - len(told))
    return found


def many(values):
    return cases(**{f"c{n:03d}": [value] if not isinstance(value, list) else value for n, value in enumerate(values)})


def rule(name="golden.regressions", **values):
    (found,) = rules_of({name: values})
    return found


def asked(old, new, **values):
    diff, found = compare("golden", old, new, SHARE, resamples=500)
    return decide_regressions(rule(**values), diff, found, "base")


def test_what_both_pass_or_both_fail_is_counted_and_what_turned_is_named():
    old = cases(a=[1], b=[1], c=[0], d=[0], e=[1], g=[1], h=[None])
    new = cases(a=[1], b=[0], c=[1], d=[0], f=[1], g=[None], h=[1])
    diff, _ = compare("golden", old, new, SHARE)
    assert (diff.both_passed, diff.lost, diff.gained, diff.both_failed, diff.shared) == (1, 1, 1, 1, 4)
    assert [flip_words(one) for one in diff.flips] == ["b PASS → FAIL", "c FAIL → PASS"]
    assert (diff.new_cases, diff.missing_cases, diff.unevaluable) == (("f",), ("e",), ("g", "h"))
    assert diff.difference.estimate == 0
    assert diff.p_value == 1.0


@pytest.mark.parametrize(
    ("lost", "gained", "n", "answer"),
    [(0, 0, 200, "PASS"), (0, 0, 50, "INCONCLUSIVE"), (20, 0, 200, "FAIL"), (6, 4, 200, "INCONCLUSIVE"),
     (0, 10, 100, "PASS")],
)  # fmt: skip
def test_it_fails_wholly_below_the_margin_passes_wholly_above_it_and_is_else_inconclusive(lost, gained, n, answer):
    old = many([1] * lost + [0] * gained + [1] * (n - lost - gained))
    new = many([0] * lost + [1] * gained + [1] * (n - lost - gained))
    found = asked(old, new)
    assert found.answer == answer
    assert any("exact McNemar" in text for text in found.warnings) == bool(lost + gained)


def test_several_trials_are_compared_case_by_case():
    old = many([[1, 1, 1]] * 60)
    new = many([[1, 1, 0]] * 30 + [[1, 1, 1]] * 30)
    diff, found = compare("golden", old, new, SHARE, resamples=500)
    assert (diff.p_value, diff.lost, diff.both_passed) == (None, 30, 30)
    assert found.difference.estimate == pytest.approx(-1 / 6)
    assert found.difference.n == 60
    assert flip_words(diff.flips[0]) == "c000 3 of 3 → 2 of 3"
    assert asked(old, new).answer == "FAIL"


def test_scores_are_compared_by_a_paired_bootstrap_over_cases():
    dice = np.random.default_rng(3)
    hard = dice.uniform(2, 4, size=80)
    old = {f"c{n}": CaseFacts(f"c{n}", value, 1) for n, value in enumerate(hard)}
    new = {f"c{n}": CaseFacts(f"c{n}", value - 0.4 + dice.normal(0, 0.1), 1) for n, value in enumerate(hard)}
    form = Form("mean", "overall", (1.0, 5.0))
    diff, found = compare("rubric", old, new, form, resamples=500)
    assert found.difference.method.startswith("paired bootstrap")
    assert diff.both_passed + diff.both_failed + diff.lost + diff.gained == 0
    decision = decide_regressions(rule("rubric.regressions"), diff, found, "base")
    assert (decision.answer, decision.threshold) == ("FAIL", -0.08)


def test_what_the_new_run_could_not_read_counts_as_failed_before_it_passes():
    old, new = many([1] * 200), many([1] * 196 + [None] * 4)
    found = asked(old, new)
    assert found.answer == "INCONCLUSIVE"
    assert found.value.estimate == 0
    assert found.pessimistic.estimate == pytest.approx(-0.02)
    assert asked(old, many([1] * 200)).answer == "PASS"


def test_nothing_in_common_is_no_pass():
    found = asked(cases(a=[1]), cases(b=[1]))
    assert (found.answer, found.reason) == ("INCONCLUSIVE", "the two have no case in common")


def test_a_number_of_cases_that_may_turn_bad_can_be_set_besides():
    old, new = many([1] * 300), many([0] + [1] * 299)
    assert asked(old, new).answer == "PASS"
    found = asked(old, new, max=0)
    assert (found.answer, found.reason) == ("FAIL", "1 case turned FAIL, and 0 may")


def test_another_confidence_is_another_interval():
    old, new = many([1] * 150), many([1] * 150)
    wide = difference_of(old, new, SHARE, confidence=0.99).difference
    assert wide.low < difference_of(old, new, SHARE).difference.low


def test_steps_of_one_case_are_no_independent_cases():
    old = {f"s{n}": CaseFacts(f"c{n // 10}", 1.0, 1) for n in range(200)}
    new = {f"s{n}": CaseFacts(f"c{n // 10}", float(n >= 10), 1) for n in range(200)}
    found = difference_of(old, new, SHARE, resamples=500)
    assert found.difference.method.startswith("paired bootstrap")
    assert "20 cases" in found.difference.method


OUTCOMES = st.lists(st.tuples(st.booleans(), st.sampled_from([True, True, True, False])), min_size=1, max_size=250)


@settings(deadline=None, max_examples=200)
@given(
    OUTCOMES, st.integers(0, 249), st.sampled_from([0.02, 0.05, 0.1]), st.sampled_from([None, "point"]), st.booleans(),
    st.sets(st.integers(0, 249), max_size=3),
)  # fmt: skip
def test_losing_a_verdict_of_either_run_never_turns_another_answer_into_a_pass(pairs, at, margin, on, of_old, lost):
    at %= len(pairs)
    old, new = ([None if n in lost and n % 2 == side and n != at else int(pair[side]) for n, pair in enumerate(pairs)]
                for side in (0, 1))  # fmt: skip
    less = [None if n == at else value for n, value in enumerate(old if of_old else new)]
    more = {"on": on} if on else {}
    before = asked(many(old), many(new), margin=margin, **more)
    after = asked(many(less if of_old else old), many(new if of_old else less), margin=margin, **more)
    assert before.answer == "PASS" or after.answer != "PASS"


def identical_pairs(number, trials, seed):
    """Return answers of the gate on pairs of runs of one and the same agent: 100 cases, nine in ten pass."""
    dice = np.random.default_rng(seed)
    answers = []
    for _ in range(number):
        chance = np.full(100, 0.9) if trials == 1 else dice.beta(4.5, 0.5, size=100)
        runs = [many([list(map(int, row)) for row in dice.random((100, trials)) < chance[:, None]]) for _ in range(2)]
        diff, found = compare("golden", *runs, SHARE, resamples=1000)
        answers.append(decide_regressions(rule(), diff, found, "base").answer)
    return answers


@pytest.mark.slow
@pytest.mark.parametrize("trials", [1, 3])
def test_of_a_thousand_pairs_of_identical_agents_at_most_five_of_a_hundred_fail(trials):
    answers = identical_pairs(1000, trials, seed=7)
    assert answers.count("FAIL") <= 50
    assert answers.count("PASS") <= 150


# ---- what a few trials, scores and limits besides must not do ----


@pytest.mark.parametrize("n", [5, 10, 20])
def test_a_few_trials_that_turned_good_do_not_pass_a_small_set(n):
    old, new = many([[1, 1, 0]] + [[1, 1, 1]] * (n - 1)), many([[1, 1, 1]] * n)
    found = asked(old, new)
    assert found.answer == "INCONCLUSIVE"
    assert found.more > 30


def test_levels_of_trials_are_means_over_cases_so_that_their_difference_is_the_difference():
    old, new = many([[1], [0, 0, 0]]), many([[1, 1, 1, 1], [0]])
    diff, _ = compare("golden", old, new, SHARE, resamples=200)
    assert (diff.old.estimate, diff.new.estimate, diff.difference.estimate) == (0.5, 0.5, 0.0)
    assert (diff.old.n, diff.repeated) == (2, True)


def test_an_inconclusive_comparison_says_how_many_further_cases_would_settle_it_or_why_nobody_knows():
    found = asked(many([1] * 50), many([1] * 50))
    assert (found.answer, found.more, found.alike) == ("INCONCLUSIVE", 139, True)
    assert asked(many([1] * 189), many([1] * 189)).answer == "PASS"
    assert "no number of cases" in asked(many([1] * 50), many([0] + [1] * 49)).reason
    assert "it is worse" in asked(many([1] * 50), many([0, 0, 0] + [1] * 47)).reason
    assert "as long as so much is unread" in asked(many([1] * 50), many([1] * 46 + [None] * 4)).reason


def test_cases_that_fell_count_where_a_grader_gives_scores():
    form = Form("mean", "overall", (1.0, 5.0))
    old, new = ({f"c{n}": CaseFacts(f"c{n}", value - 0.5 * (n < lost), 1) for n, value in enumerate([4.0] * 400)}
                for lost in (0, 2))  # fmt: skip
    diff, found = compare("rubric", old, new, form, resamples=200)
    assert (diff.worse, diff.lost) == (2, 0)
    assert decide_regressions(rule("rubric.regressions", max=0), diff, found, "base").reason.startswith(
        "2 cases got worse, and 0 may"
    )
    assert decide_regressions(rule("rubric.regressions", max=2), diff, found, "base").answer == "PASS"


def test_cases_that_nobody_could_read_in_both_are_not_said_to_be_missing():
    found = asked(cases(a=[1]), cases(a=[None]))
    assert (found.answer, found.reason.split(";")[0]) == (
        "INCONCLUSIVE",
        "no case that both have was evaluated in both",
    )

"""Two agents on the same cases or on others: references, mirror images, and the three answers."""

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_making import untimed

from rightcall.errors import ConfigError
from rightcall.stats.intervals import Estimate, wilson
from rightcall.stats.ordinal import mean_score
from rightcall.stats.paired import (
    flips,
    mcnemar,
    mcnemar_score,
    newcombe,
    non_inferior,
    outcome_pairs,
    paired_scores,
    paired_standard_error,
    tango,
)


@st.composite
def _table(draw):
    n = draw(st.integers(1, 400))
    gained = draw(st.integers(0, n))
    return gained, draw(st.integers(0, n - gained)), n


@st.composite
def _share(draw):
    n = draw(st.integers(1, 400))
    return draw(st.integers(0, n)), n


OUTCOMES = st.dictionaries(st.text("abcdefgh", min_size=1, max_size=2), st.one_of(st.none(), st.booleans()), max_size=20)  # fmt: skip


# ---- references ----


def test_reference_exact_mcnemar():
    """R41."""
    assert mcnemar(15, 5) == pytest.approx(0.04138946533203125, abs=1e-12)


def test_reference_chi_squared_of_mcnemar():
    """R42."""
    assert mcnemar_score(86, 150) == pytest.approx((17.35593220338983, 3.099293441045215e-05), abs=1e-9)


def test_reference_newcombe():
    """R43."""
    found = newcombe((56, 70), (48, 80))
    assert (found.low, found.high) == pytest.approx((0.052431472402365065, 0.333872654036906), abs=1e-9)
    assert (found.estimate, found.n, found.method) == (pytest.approx(0.2), 150, "newcombe 0.95")


def test_reference_tango():
    """R44."""
    found = tango(15, 5, 100)
    assert (found.low, found.high) == pytest.approx((0.013446760868499864, 0.19239650506397574), abs=2e-5)
    assert (found.estimate, found.n, found.method) == (0.1, 100, "tango 0.95")


def test_reference_paired_error():
    """R45."""
    assert paired_standard_error(15, 5, 100) == pytest.approx(0.04358898943540673, abs=1e-9)


# ---- what they are ----


@untimed
@given(_table())
def test_swapping_the_two_mirrors_tango(table):
    gained, lost, n = table
    found, mirrored = tango(gained, lost, n), tango(lost, gained, n)
    assert (found.estimate, found.low, found.high) == pytest.approx((-mirrored.estimate, -mirrored.high, -mirrored.low), abs=1e-9)  # fmt: skip


@untimed
@given(_table(), st.floats(0.5, 0.98))
def test_tango_holds_the_estimate_and_more_confidence_holds_more(table, confidence):
    narrow, wide = tango(*table, confidence=confidence), tango(*table, confidence=confidence + 0.015)
    assert -1 <= wide.low <= narrow.low + 1e-9
    assert narrow.low <= narrow.estimate + 1e-9
    assert narrow.estimate - 1e-9 <= narrow.high
    assert narrow.high - 1e-9 <= wide.high <= 1


@untimed
@given(_share(), _share(), st.floats(0.5, 0.98))
def test_newcombe_is_mirrored_nested_and_holds_the_estimate(new, old, confidence):
    found, wide = newcombe(new, old, confidence=confidence), newcombe(new, old, confidence=confidence + 0.015)
    mirrored = newcombe(old, new, confidence=confidence)
    assert (found.low, found.high) == pytest.approx((-mirrored.high, -mirrored.low), abs=1e-9)
    assert -1 <= wide.low <= found.low <= found.estimate <= found.high <= wide.high <= 1


def test_tango_without_a_change_is_as_sure_as_there_are_cases():
    """Then the bounds are ± z² / (n + z²), as Wilson's upper bound of no success is."""
    found = tango(0, 0, 100)
    assert (found.low, found.high) == pytest.approx((-wilson(0, 100).high, wilson(0, 100).high), abs=1e-9)


def test_tango_covers_what_it_should():
    """The exact chance, over all tables of 40 cases, of an interval that holds the truth; its claim is 95 % on average."""
    n, seen = 40, []
    bounds = {(b, c): tango(b, c, n) for b, c in product(range(n + 1), repeat=2) if b + c <= n}
    for gain, loss in ((0.02, 0.02), (0.05, 0.1), (0.15, 0.15), (0.1, 0.3)):
        held = sum(
            comb(n, b) * comb(n - b, c) * gain**b * loss**c * (1 - gain - loss) ** (n - b - c)
            for (b, c), found in bounds.items() if found.low <= gain - loss <= found.high
        )  # fmt: skip
        seen.append(held)
    assert min(seen) > 0.93
    assert sum(seen) / len(seen) > 0.945


@pytest.mark.parametrize("n", [3, 10, 25])
def test_the_exact_p_is_no_smaller_than_it_says(n):
    """If neither is better, p is at most any level no more often than that level."""
    for level in (0.01, 0.05, 0.2, 0.5):
        assert sum(comb(n, b) / 2**n for b in range(n + 1) if mcnemar(b, n - b) <= level) <= level


def test_the_score_p_is_uniform_if_neither_is_better():
    """Kolmogorov and Smirnov's distance of 2,000 p-values from the uniform."""
    gained = np.random.default_rng(3).binomial(20_000, 0.5, size=2000)
    found = np.sort([mcnemar_score(int(b), 20_000 - int(b))[1] for b in gained])
    steps = np.arange(1, 2001) / 2000
    assert max(np.max(steps - found), np.max(found - steps + 1 / 2000)) < 1.63 / 2000**0.5 + 0.012


def test_without_a_changed_case_there_is_no_p():
    assert mcnemar(0, 0) is None
    assert mcnemar_score(0, 0) is None
    assert paired_standard_error(0, 0, 0) is None


def test_without_cases_a_difference_is_undefined():
    assert tango(0, 0, 0, excluded=2).reason == "the two have no case in common"
    assert newcombe((0, 0), (1, 2)).reason == "the new one has no case"
    assert newcombe((1, 2), (0, 0)).reason == "the old one has no case"


# ---- case by case ----


@untimed
@given(OUTCOMES, OUTCOMES)
def test_every_case_is_counted_once(new, old):
    found = flips(new, old)
    both = {case for case in new if new[case] is not None and old.get(case) is not None}
    assert len(found.lost) + len(found.gained) + found.passed + found.failed == found.difference.n == len(both)
    assert found.difference.excluded == len((new.keys() | old.keys()) - both)
    assert all(old[case] and new[case] is False for case in found.lost)
    back = flips(old, new)
    assert (back.lost, back.gained, back.p_value) == (found.gained, found.lost, found.p_value)
    assert set(found.only_new) & set(found.only_old) == set()


def test_flipped_cases_are_named():
    found = flips({"a": True, "b": False, "c": True, "x": True, "u": None}, {"a": False, "b": True, "c": True, "y": True, "u": True})  # fmt: skip
    assert (found.lost, found.gained, found.passed, found.failed) == (("b",), ("a",), 1, 0)
    assert (found.only_new, found.only_old) == (("x",), ("u", "y"))
    assert (found.difference.estimate, found.difference.n, found.difference.excluded, found.p_value) == (0, 3, 3, 1)


# ---- scores ----


def test_pairing_takes_out_what_makes_a_case_hard():
    dice = np.random.default_rng(1)
    hard = dice.uniform(0.2, 0.8, 60)
    pairs = [(float(h + d), float(h)) for h, d in zip(hard, dice.normal(0.05, 0.05, 60), strict=True)]
    found = paired_scores(pairs)
    assert found.low > 0
    assert found.high - found.low < 0.04
    assert found.method == "paired bootstrap 0.95, 60 cases, 2000 draws, seed 0"
    normal = mean_score([new - old for new, old in pairs], scale=(-1, 1))
    assert (found.low, found.high) == pytest.approx((normal.low, normal.high), abs=0.004)


@untimed
@given(st.lists(st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 0.5, 1.0])), min_size=2, max_size=30))
def test_swapping_the_two_turns_the_difference_of_scores_around(pairs):
    found, back = paired_scores(pairs, resamples=100), paired_scores([(old, new) for new, old in pairs], resamples=100)
    assert found.estimate == pytest.approx(-back.estimate)
    assert -1 <= found.low <= found.high <= 1


def test_equal_differences_and_few_cases_have_no_false_interval():
    assert paired_scores([(0.5, 0.5)] * 30) == mean_score([0.0] * 30, scale=(-1, 1))
    assert paired_scores([(1, 0)]).reason == "one value has no interval"
    assert paired_scores([(1, 0), (0, 0)], clusters=["t", "t"]).reason == "the values of one case have no interval"
    assert paired_scores([]).reason == "nothing was evaluated"


def test_trials_of_a_case_become_one_pair():
    found = outcome_pairs({"a": [True, False], "b": [True], "c": [], "x": [True]}, {"a": [True], "b": [False, False], "c": [True]})  # fmt: skip
    assert found == [(0.5, 1.0), (1.0, 0.0)]


# ---- the answer ----


def between(low, high):
    return Estimate(estimate=(low + high) / 2, low=low, high=high, n=100, method="made up")


@pytest.mark.parametrize(
    ("low", "high", "answer"),
    [
        (-0.019, 0.05, "PASS"),
        (-0.02, 0.05, "INCONCLUSIVE"),
        (-0.5, 0.3, "INCONCLUSIVE"),
        (-0.5, -0.02, "INCONCLUSIVE"),
        (-0.5, -0.021, "FAIL"),
    ],
)
def test_the_answer_is_where_the_interval_lies(low, high, answer):
    found = non_inferior(between(low, high))
    assert (found.answer, found.margin) == (answer, 0.02)
    assert (found.reason is None) == (answer != "INCONCLUSIVE")


def test_a_difference_that_is_undefined_is_inconclusive():
    found = non_inferior(tango(0, 0, 0))
    assert (found.answer, found.reason) == ("INCONCLUSIVE", "the two have no case in common")


@untimed
@given(_table(), st.floats(0, 0.3))
def test_never_both_better_and_worse_and_a_larger_margin_never_hurts(table, margin):
    order = ["FAIL", "INCONCLUSIVE", "PASS"]
    found = tango(*table)
    assert order.index(non_inferior(found, margin).answer) <= order.index(non_inferior(found, margin + 0.05).answer)


def test_identical_agents_seldom_fail():
    """500 pairs of agents that pass each case with the same chance."""
    dice = np.random.default_rng(7)
    runs = dice.random((500, 2, 120)) < dice.uniform(0.3, 1, 120)
    answers = [
        non_inferior(tango(int((new & ~old).sum()), int((old & ~new).sum()), 120)).answer for new, old in runs
    ]  # fmt: skip
    assert answers.count("FAIL") <= 0.03 * 500


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: tango(3, 3, 5),
        lambda: tango(-1, 3, 5),
        lambda: newcombe((3, 2), (1, 2)),
        lambda: newcombe((1, 2), (-1, 2)),
        lambda: mcnemar(-1, 2),
        lambda: mcnemar_score(1, -2),
        lambda: paired_standard_error(5, 5, 9),
        lambda: paired_scores([(1.5, 0)]),
        lambda: paired_scores([(1, 0)], clusters=[1, 2]),
        lambda: non_inferior(between(0, 1), -0.1),
    ],
)
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(ConfigError) as caught:
        wrong()
    assert caught.value.code == "STAT_VALUE_INVALID"

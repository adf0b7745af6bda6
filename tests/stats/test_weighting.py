"""Labels of unequal chances, and where the next ones should go."""

import random
from itertools import product
from math import sqrt

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from stats_making import untimed

from rightcall.errors import ConfigError
from rightcall.stats.labelled import stratified_error, stratified_mean
from rightcall.stats.ordinal import mean_score
from rightcall.stats.weighting import StratumPlan, neyman_allocation, planned_error, weighted_mean

DRAWN = st.lists(
    st.tuples(st.sampled_from([0.0, 1.0, 0.5]), st.sampled_from([0.1, 0.25, 0.5, 1.0])), min_size=2, max_size=30
)


@untimed
@given(st.lists(st.sampled_from([1.0, 2.0, 5.0]), min_size=2, max_size=30), st.sampled_from([0.2, 1.0]))
def test_equal_probabilities_give_the_plain_mean_and_its_interval(values, probability):
    found, plain = weighted_mean(values, [probability] * len(values), scale=(1, 5)), mean_score(values)
    assert found.effective == pytest.approx(len(values))
    assert found.estimate.estimate == pytest.approx(plain.estimate)
    assert (found.estimate.low, found.estimate.high) == pytest.approx((plain.low, plain.high))


@untimed
@given(DRAWN)
def test_a_weight_of_two_is_two_items(drawn):
    values, probabilities = [value for value, _ in drawn], [p for _, p in drawn]
    found = weighted_mean(values, probabilities)
    copies = [value for value, p in drawn for _ in range(round(1 / p))]
    assert found.estimate.estimate == pytest.approx(sum(copies) / len(copies))
    assert 1 <= found.effective <= len(values) + 1e-9


def test_doubtful_cases_first_make_the_plain_mean_wrong_and_the_weighted_one_right():
    """All of the doubtful fifth are labelled, and one in ten of the others."""
    dice, held, runs = random.Random(2), 0, 300
    for _ in range(runs):
        values, probabilities = [], []
        for _ in range(400):
            doubtful = dice.random() < 0.2
            right, p = dice.random() < (0.5 if doubtful else 0.95), 1.0 if doubtful else 0.1
            if dice.random() < p:
                values.append(float(right))
                probabilities.append(p)
        found = weighted_mean(values, probabilities, scale=(0, 1)).estimate
        held += found.low <= 0.86 <= found.high
    assert sum(values) / len(values) < 0.75
    assert 0.94 <= held / runs <= 0.995


def test_items_that_were_all_drawn_leave_nothing_to_estimate():
    found = weighted_mean([1.0, 0.0, 1.0], [1.0, 1.0, 1.0], target="items")
    assert (found.estimate.low, found.estimate.high, found.standard_error) == (2 / 3, 2 / 3, 0.0)
    part = weighted_mean([1.0, 0.0, 1.0], [0.5] * 3, target="items")
    assert part.standard_error == pytest.approx(weighted_mean([1.0, 0.0, 1.0], [0.5] * 3).standard_error * sqrt(0.5))


def test_labels_of_one_case_are_not_independent():
    names = [place // 3 for place in range(30)]
    values = [float(name % 2) for name in names]
    plain = weighted_mean(values, [0.5] * 30)
    clustered = weighted_mean(values, [0.5] * 30, clusters=names)
    assert clustered.standard_error > 1.6 * plain.standard_error
    assert clustered.estimate.method == "hajek, t 0.95, clustered in 10 cases"


@pytest.mark.parametrize(
    ("values", "clusters", "reason"),
    [
        ([], None, "nothing was evaluated"),
        ([1.0], None, "one label has no interval"),
        ([1.0, 0.0], ["a", "a"], "the labels of one case have no interval"),
        ([1.0, 1.0], None, "no label differs; give the scale of the values"),
    ],
)
def test_too_little_says_so(values, clusters, reason):
    found = weighted_mean(values, [0.5] * len(values), clusters=clusters, excluded=2)
    assert (found.estimate.low, found.estimate.reason, found.estimate.excluded) == (None, reason, 2)
    assert found.standard_error is None


def test_equal_labels_have_an_interval_on_their_scale():
    found = weighted_mean([1.0] * 10, [0.5] * 10, scale=(0, 1)).estimate
    assert (found.low, found.high) == pytest.approx((0.025 ** (1 / 10), 1.0))


@pytest.mark.parametrize(
    ("values", "probabilities", "said"),
    [
        ([1.0], [0.0], "no label can be weighted by a probability of 0"),
        ([1.0], [1.5], "no label can be weighted by a probability of 1.5"),
        ([float("nan")], [0.5], "nan is not a label"),
        ([1.0], [0.5, 0.5], "2 probabilities do not belong to 1 labels"),
    ],
)
def test_what_cannot_be_weighted_is_refused(values, probabilities, said):
    with pytest.raises(ConfigError, match=said):
        weighted_mean(values, probabilities)
    with pytest.raises(ConfigError, match="is not a label"):
        weighted_mean([2.0], [0.5], scale=(0, 1))


# ---- reference, and where the next labels go ----


def test_reference_r100_stratified_mean():
    strata = [(300, [1.0] * 24 + [0.0] * 6), (700, [1.0] * 19 + [0.0])]
    found = [stratified_mean(strata).estimate, stratified_error(strata)]
    assert found == pytest.approx([0.9049999999999999, 0.040458578221733627], abs=1e-12)


@untimed
@given(
    st.lists(st.tuples(st.integers(1, 12), st.sampled_from([0.0, 0.1, 0.3, 0.5])), min_size=1, max_size=3),
    st.integers(0, 20), st.integers(0, 2),
)  # fmt: skip
def test_no_other_allocation_has_a_smaller_error(sizes, extra, at_least):
    strata = {f"s{place}": StratumPlan(items=n, spread=spread) for place, (n, spread) in enumerate(sizes)}
    labels = sum(min(max(1, at_least), plan.items) for plan in strata.values()) + extra
    found = neyman_allocation(strata, labels, at_least=max(1, at_least))
    total = min(labels, sum(plan.items for plan in strata.values()))
    assert sum(found.values()) == total
    ranges = [range(min(max(1, at_least), plan.items), plan.items + 1) for plan in strata.values()]
    others = [dict(zip(strata, ns, strict=True)) for ns in product(*ranges) if sum(ns) == total]
    assert planned_error(strata, found) <= min(planned_error(strata, other) for other in others) + 1e-12


def test_labels_go_in_proportion_to_items_times_spread():
    strata = {"easy": StratumPlan(items=8000, spread=0.1), "hard": StratumPlan(items=2000, spread=0.4)}
    assert neyman_allocation(strata, 400) == {"easy": 200, "hard": 200}
    rare = {**strata, "rare": StratumPlan(items=12, spread=0.5)}
    assert neyman_allocation(rare, 400)["rare"] == 12
    assert neyman_allocation(strata, 60) == {"easy": 30, "hard": 30}
    even = {"a": StratumPlan(items=100, spread=0.0), "b": StratumPlan(items=300, spread=0.0)}
    assert neyman_allocation(even, 200, at_least=1) == {"a": 50, "b": 150}


def test_a_stratum_without_a_label_has_no_planned_error():
    strata = {"a": StratumPlan(items=10, spread=0.5), "b": StratumPlan(items=10, spread=0.5)}
    assert planned_error(strata, {"a": 5}) is None
    assert planned_error(strata, {"a": 10, "b": 10}) == 0.0
    assert planned_error({}, {}) is None


def test_a_budget_that_cannot_be_is_refused():
    strata = {"a": StratumPlan(items=100, spread=0.5)}
    with pytest.raises(ConfigError, match="29 labels are too few for 1 strata"):
        neyman_allocation(strata, 29)
    with pytest.raises(ConfigError, match="at least -1"):
        neyman_allocation(strata, 29, at_least=-1)
    with pytest.raises(ConfigError, match="cannot have"):
        neyman_allocation({"a": StratumPlan(items=5, spread=-1.0)}, 29)


@pytest.mark.parametrize(
    ("values", "probabilities", "more"),
    [
        ([0.0, 1.0, 0.5], [1.0, 1.0, 0.1], {"target": "items"}),
        ([0.0, 1.0, 0.0, 1.0], [0.5] * 4, {"clusters": "aabb"}),
    ],
)
def test_labels_that_differ_and_yet_come_to_the_mean_have_no_interval(values, probabilities, more):
    found = weighted_mean(values, probabilities, scale=(0.0, 1.0), **more).estimate
    assert (found.estimate, found.low, found.high) == (0.5, None, None)
    assert found.reason == "the labels of every case come to the mean; their spread is not known"


@untimed
@given(DRAWN, st.sampled_from([None, (0.0, 1.0)]), st.sampled_from(["population", "items"]))
@example([(0.0, 1.0), (1.0, 1.0), (0.5, 0.1)], None, "items")
def test_the_interval_holds_the_mean_and_grows_with_the_confidence(drawn, scale, target):
    values, probabilities = [value for value, _ in drawn], [p for _, p in drawn]
    narrow, wide = (
        weighted_mean(values, probabilities, scale=scale, target=target, confidence=level).estimate
        for level in (0.8, 0.95)
    )
    if narrow.low is None:
        assert narrow.reason is not None
        return
    assert wide.low - 1e-12 <= narrow.low <= narrow.estimate + 1e-12
    assert narrow.estimate - 1e-12 <= narrow.high <= wide.high + 1e-12

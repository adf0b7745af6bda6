"""Means that rest on a part of the items: references and definitions."""

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_making import FOLDER, ROWS, needs_reference, untimed

from rightcall.errors import ConfigError
from rightcall.stats.two_phase import ppi, ppi_plus_plus, stratified_error, stratified_mean

SCORES = st.lists(st.integers(1, 5).map(float), min_size=2, max_size=20)


def example():
    found = json.loads((FOLDER / "ppi_binary_example.json").read_text())
    return found["Y"], found["Yhat"], found["Yhat_unlabeled"]


@needs_reference
@pytest.mark.parametrize(("id_", "function"), [("R94", ppi), ("R95", ppi_plus_plus)])
def test_reference_prediction_powered_means(id_, function):
    row = ROWS[id_]
    found = function(*example(), confidence=1 - row["parameters"]["alpha"])
    assert [found.estimate, found.low, found.high] == pytest.approx(row["expected"], abs=row["tolerance"])


@needs_reference
def test_reference_stratified_mean():
    row = ROWS["R100"]
    strata = [(size, [1.0] * k + [0.0] * (m - k)) for size, m, k in row["input"]["strata N,m,k"].values()]
    found = [stratified_mean(strata).estimate, stratified_error(strata)]
    assert found == pytest.approx(row["expected"], abs=row["tolerance"])
    assert stratified_mean(strata).n == 50


@needs_reference
def test_weighting_the_predictions_makes_the_interval_narrower():
    plain, weighted = ppi(*example()), ppi_plus_plus(*example())
    assert weighted.high - weighted.low < plain.high - plain.low
    assert weighted.method == "ppi++ 0.95, lambda 0.523"


@untimed
@given(SCORES, SCORES)
def test_right_predictions_give_the_mean_of_the_predictions(labels, others):
    assert ppi(labels, labels, others).estimate == pytest.approx(sum(others) / len(others))


@untimed
@given(SCORES, SCORES)
def test_predictions_that_are_all_alike_leave_the_mean_of_the_labels(labels, others):
    found = ppi_plus_plus(labels, [3.0] * len(labels), [3.0] * len(others))
    assert found.estimate == pytest.approx(sum(labels) / len(labels))
    assert "lambda 0" in found.method


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (([], [], [1.0]), "no labels"),
        (([], [], []), "no labels"),
        (([1.0], [1.0], []), "no items without a label"),
        (([1.0], [1.0], [0.0, 1.0]), "one label has no interval"),
        (([1.0, 1.0], [1.0, 1.0], [1.0, 1.0]), "no value differs, so that no spread is known"),
    ],
)
def test_too_little_has_no_interval(arguments, reason):
    for function in (ppi, ppi_plus_plus):
        found = function(*arguments)
        assert (found.low, found.reason) == (None, reason)


def test_it_covers_as_it_says():
    dice, runs, held = random.Random(6), 500, 0
    for _ in range(runs):
        true = [dice.gauss(3, 1) for _ in range(60)]
        said = [value + dice.gauss(0.5, 0.6) for value in true]
        others = [dice.gauss(3, 1) + dice.gauss(0.5, 0.6) for _ in range(240)]
        found = ppi_plus_plus(true, said, others)
        held += found.low <= 3 <= found.high
    assert held / runs >= 0.92


def test_where_every_item_is_known_nothing_is_left_to_estimate():
    found = stratified_mean([(2, [1.0, 0.0]), (2, [1.0, 1.0])])
    assert (found.low, found.estimate, found.high) == (0.75, 0.75, 0.75)


def test_strata_without_a_spread_have_no_interval():
    assert stratified_mean([(9, [1.0]), (9, [1.0, 0.0])]).reason == "a stratum gave one item only"
    assert stratified_error([(9, [1.0])]) is None
    assert stratified_mean([(9, [1.0, 1.0])]).reason == "no value differs within the strata"
    assert stratified_mean([(0, [])]).reason == "nothing was evaluated"


@untimed
@given(st.lists(SCORES, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_a_stratified_mean_weighs_each_stratum_as_it_is_large(samples, dice):
    strata = [(len(values) + dice.randint(0, 30), values) for values in samples]
    found = stratified_mean(strata)
    total = sum(size for size, _ in strata)
    assert found.estimate == pytest.approx(sum(size * sum(values) / len(values) for size, values in strata) / total)
    shuffled = strata[::-1]
    assert stratified_error(shuffled) == pytest.approx(stratified_error(strata))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: ppi([1.0], [], [1.0]),
        lambda: ppi_plus_plus([float("nan")], [1.0], [1.0]),
        lambda: stratified_mean([(1, [1.0, 2.0])]),
        lambda: stratified_mean([(3, [])]),
        lambda: stratified_error([(3, [float("inf")])]),
    ],
)
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(ConfigError) as caught:
        wrong()
    assert caught.value.code == "STAT_VALUE_INVALID"

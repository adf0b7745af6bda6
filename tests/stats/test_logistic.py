"""Logistic regression by maximum likelihood: against a general minimiser, and when it says nothing."""

import random
from math import exp, log1p, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_making import untimed

from rightcall.stats.logistic import chance, fit_logistic, inverted

POINTS = st.lists(st.tuples(st.integers(-4, 4).map(float), st.booleans()), max_size=40)


def drawn(n, intercept=0.3, slope=0.8, seed=0):
    dice = random.Random(seed)
    x = [dice.gauss(1, 2) for _ in range(n)]
    return x, [dice.random() < chance(intercept + slope * value) for value in x]


def test_the_fit_is_the_maximum_of_the_likelihood():
    from scipy.optimize import minimize

    x, held = drawn(120, seed=3)

    def loss(at):
        return sum(
            log1p(exp(-(1 if win else -1) * (at[0] + at[1] * value))) for value, win in zip(x, held, strict=True)
        )

    best, found = minimize(loss, [0, 0], tol=1e-12), fit_logistic(x, held)
    assert (found.intercept, found.slope) == pytest.approx(tuple(best.x), abs=1e-5)
    import numpy as np

    rows, expected = np.array([[1.0, value] for value in x]), np.array([chance(best.x @ [1, value]) for value in x])
    inverse = np.linalg.inv(rows.T @ (rows * (expected * (1 - expected))[:, None]))
    assert found.errors == pytest.approx((sqrt(inverse[0, 0]), sqrt(inverse[1, 1])), rel=1e-4)
    assert found.covariance[1] == pytest.approx(inverse[0, 1], rel=1e-4)


@untimed
@given(POINTS)
def test_the_gradient_is_zero_at_the_fit(points):
    x, held = [value for value, _ in points], [win for _, win in points]
    found = fit_logistic(x, held)
    if isinstance(found, str):
        return
    rest = [win - chance(found.intercept + found.slope * value) for value, win in points]
    assert sum(rest) == pytest.approx(0, abs=1e-6)
    assert sum(left * value for left, value in zip(rest, x, strict=True)) == pytest.approx(0, abs=1e-6)


@untimed
@given(POINTS, st.integers(-5, 5), st.sampled_from([0.01, 0.5, 3.0, 100.0]))
def test_moving_and_stretching_the_covariate_only_moves_and_stretches_the_coefficients(points, by, times):
    x, held = [value for value, _ in points], [win for _, win in points]
    plain, moved = fit_logistic(x, held), fit_logistic([times * (value + by) for value in x], held)
    if isinstance(plain, str):
        assert isinstance(moved, str)
        return
    assert moved.slope == pytest.approx(plain.slope / times, rel=1e-6, abs=1e-7 / times)
    assert moved.intercept + moved.slope * times * by == pytest.approx(plain.intercept, rel=1e-6, abs=1e-7)
    assert moved.errors[1] == pytest.approx(plain.errors[1] / times, rel=1e-6)


@pytest.mark.parametrize(
    ("x", "held", "clusters", "reason"),
    [
        ([], [], None, "nothing was evaluated"),
        ([1.0, 2.0], [True, True], None, "all outcomes are the same"),
        ([1.0, 1.0], [True, False], None, "all values are the same"),
        (
            [1.0, 2.0, 3.0],
            [False, False, True],
            None,
            "the values separate the outcomes, so that the likelihood has no maximum",
        ),
        (
            [1.0, 2.0, 3.0, 4.0],
            [False, True, False, True],
            ["one"] * 4,
            "the items of one case say nothing about others",
        ),
    ],
)
def test_without_a_maximum_there_is_a_reason(x, held, clusters, reason):
    assert fit_logistic(x, held, clusters) == reason


def test_answers_of_one_case_are_not_independent():
    x, held = drawn(80, seed=1)
    single, names = fit_logistic(x, held), [place for place in range(80) for _ in range(3)]
    thrice = fit_logistic([x[place] for place in names], [held[place] for place in names], names)
    assert thrice.slope == pytest.approx(single.slope)
    # Three copies of each say no more than one; the sandwich knows, the information would not.
    assert thrice.errors[1] == pytest.approx(single.errors[1], rel=0.25)


def test_a_matrix_without_inverse_has_none():
    assert inverted((1.0, 1.0, 1.0)) is None
    assert inverted((2.0, 0.0, 4.0)) == (0.5, 0.0, 0.25)

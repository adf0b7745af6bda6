"""The bootstrap of any figure: repeatable, whole cases, and the accelerated interval against a known one."""

import pytest

from rightcall.errors import ConfigError
from rightcall.stats.reweighted import reweighted_interval

VALUES = [1.0, 2.0, 4.0, 8.0, 3.0, 5.0, 2.0, 1.0, 9.0, 30.0]


def mean(weights):
    return float(weights @ VALUES / weights.sum())


def test_the_same_seed_gives_the_same_bounds_and_another_gives_others():
    found = [reweighted_interval(range(10), mean, resamples=100, seed=seed) for seed in (1, 1, 2)]
    assert found[0] == found[1]
    assert (found[0].low, found[0].high) != (found[2].low, found[2].high)
    assert found[0].method == "bootstrap 0.95, 10 cases, 100 draws, seed 1"


def test_cases_are_drawn_whole():
    sums = set()

    def figure(weights):
        sums.add(tuple(weights[::2] - weights[1::2]))
        return float(weights.sum())

    reweighted_interval([place // 2 for place in range(10)], figure, resamples=50)
    assert sums == {(0.0,) * 5}


def test_the_accelerated_interval_of_a_skewed_mean_is_shifted_towards_its_tail():
    plain = reweighted_interval(range(10), mean, resamples=2000)
    bent = reweighted_interval(range(10), mean, resamples=2000, kind="bca")
    assert bent.low > plain.low
    assert bent.high > plain.high
    assert bent.method == "bca bootstrap 0.95, 10 cases, 2000 draws, seed 0"


def test_it_agrees_with_another_implementation():
    from scipy.stats import bootstrap

    other = bootstrap((VALUES,), lambda sample, axis: sample.mean(axis=axis), n_resamples=20000, method="BCa", rng=1)
    ours = reweighted_interval(range(10), mean, resamples=20000, kind="bca", seed=1)
    expected = (other.confidence_interval.low, other.confidence_interval.high)
    assert (ours.low, ours.high) == pytest.approx(expected, rel=0.04)


def test_a_figure_that_nothing_moves_has_no_accelerated_interval():
    found = reweighted_interval(range(5), lambda _: 1.0, resamples=20, kind="bca")
    assert (found.low, found.reason) == (None, "the bias or the acceleration does not exist")


@pytest.mark.parametrize(("share", "has_bounds"), [(0.05, True), (0.5, False)])
def test_draws_without_the_figure_are_counted(share, has_bounds):
    import itertools

    counter = itertools.count()
    found = reweighted_interval(
        range(10), lambda weights: float("nan") if next(counter) % 20 < 20 * share else mean(weights), resamples=100
    )
    assert (found.low is not None) is has_bounds
    assert found.reason == f"{round(100 * share)} of 100 draws have no such figure"


def test_nothing_cannot_be_drawn_from():
    with pytest.raises(ConfigError):
        reweighted_interval([], mean)
    with pytest.raises(ConfigError):
        reweighted_interval(range(10), mean, resamples=0)

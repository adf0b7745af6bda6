"""Average run lengths of charts: published tables, and a simulation."""

import random

import pytest

from rightcall.errors import ConfigError
from rightcall.stats.drift import cusum
from rightcall.stats.run_length import cusum_run_length, ewma_run_length


@pytest.mark.parametrize(
    ("id_", "shift", "expected", "tolerance"),
    [
        ("R101", 0, 465.4435060309458, 1e-4),
        ("R102", 1, 10.375969921593535, 1e-6),
        ("R103", 0.5, 37.99614318936226, 1e-6),
        ("R104", 2, 4.008871061031096, 1e-6),
    ],
)
def test_reference_values_of_cusum(id_, shift, expected, tolerance):
    assert cusum_run_length(shift) == pytest.approx(expected, abs=tolerance), id_
    assert cusum_run_length(-shift) == pytest.approx(expected, abs=tolerance), id_


@pytest.mark.parametrize(
    ("id_", "weight", "width", "shift", "expected", "tolerance"),
    [
        ("R105", 0.2, 2.962, 0, 499.73512216581474, 1e-4),
        ("R106", 0.1, 2.814, 0, 499.5795500825238, 1e-4),
        ("R107", 0.1, 2.814, 1, 10.3306651552231, 1e-6),
    ],
)
def test_reference_values_of_ewma(id_, weight, width, shift, expected, tolerance):
    assert ewma_run_length(shift, weight=weight, width=width) == pytest.approx(expected, abs=tolerance), id_


def test_a_chart_that_remembers_nothing_runs_as_long_as_one_value_stays_inside():
    assert ewma_run_length(weight=1.0, width=3.0) == pytest.approx(370.398, abs=1e-2)


@pytest.mark.parametrize("length", [cusum_run_length, ewma_run_length])
def test_a_larger_shift_is_noticed_sooner(length):
    lengths = [length(shift) for shift in (0, 0.25, 0.5, 1, 2, 3)]
    assert lengths == sorted(lengths, reverse=True)


def test_the_chart_runs_as_long_as_computed():
    dice, runs = random.Random(1), []
    for _ in range(1500):
        series = [dice.gauss(1, 1) for _ in range(80)]
        runs.append(cusum(series).alarm + 1)
    assert sum(runs) / len(runs) == pytest.approx(10.376, abs=0.5)


def test_what_cannot_be_is_refused():
    for call in (
        lambda: cusum_run_length(float("nan")),
        lambda: cusum_run_length(slack=-0.1),
        lambda: cusum_run_length(limit=0),
        lambda: ewma_run_length(float("inf")),
        lambda: ewma_run_length(weight=2),
    ):
        with pytest.raises(ConfigError):
            call()

"""Repeated tests: which trials count, and what pass^k is of them."""

import pytest

from rightcall.plugin.handed import Planned
from rightcall.plugin.heard import Heard
from rightcall.plugin.repeated import overall, repeats_of, repeats_rows, repeats_words


def heard(base, *calls, repeats=None, **phases):
    n = repeats or len(calls)
    return [
        Heard(Planned(f"{base}[trial{trial}]", base, trial, n), {"setup": "passed", "call": call, **phases})
        for trial, call in enumerate(calls, 1)
    ]


def test_pass_hat_k_is_how_often_k_trials_all_pass():
    (one,) = repeats_of(heard("t", "passed", "failed", "passed"))
    assert [estimate.estimate for estimate in one.pass_hat] == [pytest.approx(2 / 3), pytest.approx(1 / 3), 0.0]
    assert (one.passed, one.trials, one.is_flaky) == (2, 3, True)


@pytest.mark.parametrize(
    ("call", "phases", "counts"),
    [
        ("passed", {}, (1, 1)),
        ("failed", {}, (0, 1)),
        ("expected", {}, (0, 1)),
        ("undecided", {}, (0, 0)),
        ("skipped", {}, (0, 0)),
        ("passed", {"teardown": "failed"}, (0, 0)),
        ("passed", {"setup": "failed"}, (0, 0)),
    ],
)
def test_a_trial_without_an_answer_is_in_no_figure(call, phases, counts):
    (one,) = repeats_of(heard("t", call, repeats=2, **phases))
    assert (one.passed, one.trials) == counts


def test_a_test_with_fewer_trials_than_k_is_left_out_of_pass_hat_k():
    found = repeats_of([*heard("a", "passed", "passed"), *heard("b", "failed", "undecided")])
    assert [(one.estimate, one.n, one.excluded) for one in overall(found)] == [(0.5, 2, 0), (1.0, 1, 1)]


def test_without_repeats_there_is_nothing_to_say():
    assert repeats_words(repeats_of([Heard(Planned("t", "t"), {"call": "passed"})])) == []
    assert repeats_rows([]) == []


def test_flaky_tests_are_named_in_a_report():
    rows = dict(repeats_rows(repeats_of(heard("t", "passed", "failed"))))
    assert rows["flaky tests"] == "t"
    assert rows["pass^1 of repeated tests"].startswith("0.500 [")

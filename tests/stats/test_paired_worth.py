"""Intervals of paired differences where a case holds more than one pass or fail."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rightcall.stats.paired import paired_scores, tango
from rightcall.stats.paired_worth import changes_of, more_to_settle, widened

THIRDS = st.lists(st.tuples(st.sampled_from([0.0, 1 / 3, 2 / 3, 1.0]), st.sampled_from([0.0, 1 / 3, 1.0])), min_size=2,
                  max_size=40)  # fmt: skip


def interval(pairs, **given):
    return widened(paired_scores(pairs, resamples=400, **given), changes_of(pairs, given.get("clusters")))


def test_a_few_gains_in_few_cases_show_nothing():
    pairs = [(1.0, 2 / 3)] * 3 + [(1.0, 1.0)] * 7
    assert paired_scores(pairs, resamples=400).low >= 0
    assert interval(pairs).low < -0.1


def test_of_single_outcomes_it_is_tangos_interval():
    pairs = [(0.0, 1.0)] * 6 + [(1.0, 0.0)] * 3 + [(1.0, 1.0)] * 191
    low, high = changes_of(pairs).bounds(0.95)
    plain = tango(3, 6, 200)
    assert (low, high) == (pytest.approx(plain.low, abs=1e-3), pytest.approx(plain.high, abs=1e-3))


def test_many_small_differences_are_worth_more_than_their_cases():
    pairs = [(0.5 + 0.01 * (n % 3), 0.5) for n in range(100)]
    assert changes_of(pairs).effective > 1000


def test_steps_of_one_case_are_worth_no_more_than_the_case_if_they_change_together():
    pairs = [(0.0, 1.0)] * 10 + [(1.0, 1.0)] * 190
    assert changes_of(pairs, [n // 10 for n in range(200)]).effective < 21


@settings(deadline=None, max_examples=100)
@given(THIRDS)
def test_it_is_never_narrower_than_the_bootstrap_and_holds_the_difference(pairs):
    plain, found = paired_scores(pairs, resamples=200), widened(paired_scores(pairs, resamples=200), changes_of(pairs))
    assert found.low <= plain.low <= plain.high <= found.high
    assert found.low <= found.estimate <= found.high


@pytest.mark.parametrize(("gained", "lost", "n"), [(4, 3, 50), (0, 0, 10), (0, 3, 60), (12, 12, 200)])
def test_so_many_further_cases_that_change_alike_settle_it_and_one_fewer_does_not(gained, lost, n):
    pairs = [(1.0, 0.0)] * gained + [(0.0, 1.0)] * lost + [(1.0, 1.0)] * (n - gained - lost)
    changes = changes_of(pairs)._replace(effective=float(n))
    more = more_to_settle(tango(gained, lost, n), changes, 0.02)

    def settled(further):
        low, high = changes.bounds(0.95, further)
        return low > -0.02 or high < -0.02

    assert settled(more)
    assert not settled(more - 1)


def test_a_difference_at_the_margin_is_settled_by_no_number_of_cases():
    pairs = [(0.0, 1.0)] + [(1.0, 1.0)] * 49
    assert more_to_settle(tango(0, 1, 50), changes_of(pairs), 0.02) is None


@pytest.mark.parametrize(("cases", "tries", "level"), [(5, 3, 0.9), (10, 3, 0.97), (20, 3, 0.99), (50, 4, 0.98)])
def test_an_agent_that_is_worse_by_the_margin_passes_in_no_more_than_a_fortieth_of_runs(cases, tries, level):
    dice, passed = np.random.default_rng(11), 0
    for _ in range(200):
        chance = dice.beta(level / 0.3 * 0.7, (1 - level) / 0.3 * 0.7, size=cases)
        old, new = (
            (dice.random((cases, tries)) < (chance * part)[:, None]).mean(axis=1) for part in (1, 1 - 0.02 / level)
        )
        passed += changes_of(list(zip(new.tolist(), old.tolist(), strict=True))).bounds(0.95)[0] > -0.02
    assert passed <= 10  # two standard deviations above 200/40

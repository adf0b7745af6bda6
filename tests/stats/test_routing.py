"""From which confidence on answers may stand: the sizes it takes, and that the bound holds at the threshold."""

import pytest
from calibration_making import CORRECT, STATED
from hypothesis import given
from hypothesis import strategies as st
from stats_making import untimed

from rightcall.errors import ConfigError
from rightcall.stats.intervals import clopper_pearson
from rightcall.stats.routing import accepted_needed, routing_threshold

ANSWERS = st.lists(
    st.tuples(st.integers(0, 10).map(lambda k: k / 10), st.integers(0, 30).map(bool)), min_size=1, max_size=300
)


def test_published_sizes():
    assert [accepted_needed(0.05, errors) for errors in range(4)] == [59, 93, 124, 153]
    assert accepted_needed(0.01) == 299


@untimed
@given(ANSWERS, st.sampled_from([0.05, 0.1, 0.3]))
def test_it_is_the_smallest_confidence_whose_bound_is_at_most_the_target(answers, target):
    stated, correct = [said for said, _ in answers], [held for _, held in answers]
    found = routing_threshold(stated, correct, target=target)
    good = []
    for at in set(stated):
        taken = [held for said, held in answers if said >= at]
        if clopper_pearson(taken.count(False), len(taken), sided="upper").high <= target:
            good.append(at)
    assert found.threshold == (min(good) if good else None)
    assert (found.missing == 0) is bool(good)
    if good:
        assert found.error.high <= target
        assert found.reason is None


def test_with_58_answers_one_is_missing_and_with_59_none():
    few, enough = (routing_threshold([0.9] * n, [True] * n) for n in (58, 59))
    assert (few.threshold, few.missing) == (None, 1)
    assert few.reason == "the 58 cases from 0.9 on, 0 of them wrong, do not show an error of at most 0.05"
    assert (enough.threshold, enough.coverage.estimate, enough.error.n) == (0.9, 1.0, 59)
    assert enough.error.method == "clopper-pearson 0.95 upper"


def test_surer_answers_are_accepted_where_less_sure_ones_are_wrong():
    stated, correct = [0.95] * 100 + [0.6] * 50, [True] * 99 + [False] + [True, False] * 25
    found = routing_threshold(stated, correct)
    assert (found.threshold, found.error.estimate, found.coverage.estimate) == (0.95, 0.01, 100 / 150)


def test_sixty_answers_do_not_show_a_threshold():
    found = routing_threshold(STATED, CORRECT, excluded=4)
    assert (found.threshold, found.missing, found.error.excluded) == (None, 47, 4)


def test_cases_are_counted_and_one_wrong_answer_makes_a_case_wrong():
    stated, correct = [0.9] * 120, [True] * 120
    cases = [place // 2 for place in range(120)]
    assert routing_threshold(stated, correct, clusters=cases).error.n == 60
    correct[7] = False
    found = routing_threshold(stated, correct, clusters=cases)
    assert (found.threshold, found.missing, found.error.estimate) == (None, 33, 1 / 60)


def test_nothing_is_undefined_with_a_reason():
    found = routing_threshold([], [])
    assert (found.threshold, found.missing, found.reason) == (None, 59, "nothing was evaluated")


@pytest.mark.parametrize("target", [0.0, 1.0, -0.1, float("nan")])
def test_a_target_that_cannot_be_is_refused(target):
    with pytest.raises(ConfigError, match="a target for errors"):
        routing_threshold([0.5], [True], target=target)

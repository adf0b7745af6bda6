"""Does confidence sort right from wrong: references, invariance, and the interval of dependent answers."""

import random
from itertools import product

import pytest
from calibration_making import CORRECT, STATED
from hypothesis import given
from hypothesis import strategies as st
from stats_making import untimed

from rightcall.errors import ConfigError
from rightcall.stats.discrimination import aurc, auroc, risk_coverage, selective

ANSWERS = st.lists(st.tuples(st.integers(0, 20).map(lambda k: k / 20), st.booleans()), min_size=1, max_size=40)


def unzipped(answers):
    return [said for said, _ in answers], [held for _, held in answers]


@pytest.mark.parametrize(
    ("id_", "figure", "expected"),
    [
        (
            "R91",
            lambda: [
                part.estimate
                for t in (0.7, 0.8)
                for part in (selective(STATED, CORRECT, t).coverage, selective(STATED, CORRECT, t).error)
            ],
            [0.5833333333333334, 0.2571428571428571, 0.36666666666666664, 0.13636363636363635],
        ),
        ("R92", lambda: aurc(STATED, CORRECT, resamples=10).estimate, 0.21252230739607586),
        ("R93", lambda: auroc(STATED, CORRECT).estimate, 0.7494212962962963),
    ],
)
def test_reference_values(id_, figure, expected):
    assert figure() == pytest.approx(expected, abs=1e-12), id_


@untimed
@given(ANSWERS)
def test_the_area_is_the_share_of_pairs_in_the_right_order(answers):
    stated, correct = unzipped(answers)
    right, wrong = ([said for said, held in answers if held == kind] for kind in (True, False))
    found = auroc(stated, correct)
    if not right or not wrong:
        assert found.estimate is None
        return
    pairs = [(a > b) + (a == b) / 2 for a, b in product(right, wrong)]
    assert found.estimate == pytest.approx(sum(pairs) / len(pairs))
    if found.low is not None:
        assert 0 < found.low < found.estimate < found.high < 1


@untimed
@given(ANSWERS)
def test_only_the_order_of_confidences_matters(answers):
    stated, correct = unzipped(answers)
    bent = [said**2 for said in stated]
    assert auroc(bent, correct) == auroc(stated, correct)
    assert aurc(bent, correct, resamples=5) == aurc(stated, correct, resamples=5)


@untimed
@given(ANSWERS, st.randoms(use_true_random=False))
def test_the_sequence_of_answers_does_not_matter(answers, dice):
    shuffled = [*answers]
    dice.shuffle(shuffled)
    assert aurc(*unzipped(shuffled), resamples=1).estimate == pytest.approx(
        aurc(*unzipped(answers), resamples=1).estimate
    )
    assert risk_coverage(*unzipped(shuffled)) == risk_coverage(*unzipped(answers))


@untimed
@given(ANSWERS)
def test_the_curve_ends_with_all_answers_and_agrees_with_the_thresholds(answers):
    stated, correct = unzipped(answers)
    curve = risk_coverage(stated, correct)
    assert (curve[-1].accepted, curve[-1].errors, curve[-1].coverage) == (len(stated), correct.count(False), 1.0)
    assert [point.accepted for point in curve] == sorted({point.accepted for point in curve})
    for point in curve:
        at = selective(stated, correct, point.threshold)
        assert (at.coverage.estimate, at.error.estimate) == (point.coverage, point.risk)


def test_equal_confidences_put_the_wrong_answers_first():
    assert aurc([0.5, 0.5], [True, False], resamples=1).estimate == (1 + 0.5) / 2
    assert aurc([0.9, 0.5], [True, False], resamples=1).estimate == (0 + 0.5) / 2


def test_nothing_accepted_has_no_error_rate():
    found = selective([0.5, 0.6], [True, True], 0.9)
    assert (found.coverage.estimate, found.error.estimate) == (0.0, None)
    assert found.error.reason == "nothing is accepted at this threshold"


def test_the_variance_is_that_of_delong_written_out():
    right, wrong = [0.9, 0.8, 0.55, 0.7], [0.6, 0.75, 0.4]
    area = [[(a > b) + (a == b) / 2 for b in wrong] for a in right]
    mean = sum(map(sum, area)) / 12
    over = [sum(row) / 3 for row in area]
    under = [sum(row[place] for row in area) / 4 for place in range(3)]
    variance = sum((v - mean) ** 2 for v in over) / 3 / 4 + sum((v - mean) ** 2 for v in under) / 2 / 3
    found = auroc(right + wrong, [True] * 4 + [False] * 3)
    from math import log

    half = log(found.high / (1 - found.high)) - log(mean / (1 - mean))
    assert half / 1.959963984540054 * mean * (1 - mean) == pytest.approx(variance**0.5)


def test_copies_of_an_answer_add_nothing():
    names = [place for place in range(60) for _ in range(4)]
    single = auroc(STATED, CORRECT)
    copied = auroc([STATED[p] for p in names], [CORRECT[p] for p in names], clusters=names)
    assert copied.estimate == pytest.approx(single.estimate)
    assert copied.high - copied.low == pytest.approx(single.high - single.low, rel=0.02)
    assert copied.method == "mann-whitney, delong 0.95 on log-odds, clustered in 60 cases"


def test_it_covers_as_it_says():
    """Confidences of right answers are one deviation higher: the true area is Φ(1/√2) = 0.7602."""
    held = 0
    for seed in range(300):
        dice = random.Random(seed)
        correct = [dice.random() < 0.7 for _ in range(100)]
        stated = [1 / (1 + 2.718281828 ** -(dice.gauss(0, 1) + held_)) for held_ in correct]
        found = auroc(stated, correct)
        held += found.low <= 0.7602499 <= found.high
    assert 0.92 <= held / 300 <= 0.98


@pytest.mark.parametrize(
    ("stated", "correct", "estimate", "reason"),
    [
        ([], [], None, "nothing was evaluated"),
        ([0.5, 0.6], [True, True], None, "all answers are correct"),
        ([0.5, 0.6], [False, False], None, "all answers are wrong"),
        ([0.5, 0.6], [False, True], 1.0, "too few cases with correct or with wrong answers"),
        ([0.5, 0.5, 0.6, 0.6], [False, False, True, True], 1.0, "no spread is known"),
        ([0.5] * 4, [False, False, True, True], 0.5, "no spread is known"),
    ],
)
def test_too_little_has_a_reason(stated, correct, estimate, reason):
    found = auroc(stated, correct)
    assert (found.estimate, found.low, found.reason) == (estimate, None, reason)


def test_an_area_under_risk_without_spread_says_so():
    assert aurc([], []).reason == "nothing was evaluated"
    assert aurc([0.5, 0.6], [True, True]).reason == "all answers are alike, so that no spread is known"
    assert aurc([0.5, 0.6], [True, False], clusters=[1, 1]).reason == "one case has no interval"


def test_what_is_no_confidence_is_refused():
    for function in (auroc, aurc, risk_coverage):
        with pytest.raises(ConfigError):
            function([2.0], [True])
    with pytest.raises(ConfigError):
        selective([0.5], [], 0.5)


@untimed
@given(ANSWERS)
def test_a_higher_confidence_has_an_interval_around_the_lower_one(answers):
    stated, correct = unzipped(answers)
    for figure in (auroc, lambda *given_, **more: aurc(*given_, resamples=20, **more)):
        narrow, wide = (figure(stated, correct, confidence=level) for level in (0.8, 0.95))
        assert narrow.estimate == wide.estimate
        if narrow.low is not None:
            assert wide.low <= narrow.low <= narrow.high <= wide.high

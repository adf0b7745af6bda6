"""Krippendorff's alpha: references, published votes, and what it does at its edges."""

import json
from collections import defaultdict
from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_making import FOLDER, needs_reference, untimed

from rightcall.errors import ConfigError
from rightcall.stats.alpha import alpha, krippendorff_alpha
from rightcall.stats.intervals import wilson

LEVELS = ["nominal", "ordinal", "interval", "ratio"]
LEVEL = st.sampled_from(LEVELS)
UNITS = st.lists(st.lists(st.one_of(st.none(), st.integers(1, 5)), min_size=1, max_size=4), min_size=1, max_size=12)

# Four observers, twelve units, some answers missing.
OBSERVED = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


def units_of(observed):
    return [list(unit) for unit in zip(*observed, strict=True)]


# ---- references ----


@pytest.mark.parametrize(
    ("id_", "level", "expected"),
    [
        ("R15", "nominal", 0.743421052631579),
        ("R16", "ordinal", 0.8153875037548814),
        ("R17", "interval", 0.8491071428571428),
        ("R18", "ratio", 0.7974027747116121),
    ],
)
def test_reference_values(id_, level, expected):
    found = krippendorff_alpha(units_of(OBSERVED), level=level)
    assert found.estimate == pytest.approx(expected, abs=1e-6), id_
    assert (found.n, found.excluded) == (11, 1)
    assert found.low < found.estimate < found.high
    assert found.method == f"krippendorff alpha {level}, bootstrap 0.95, 11 cases, 2000 draws, seed 0"


def test_reference_value_of_letters():
    """R14: the same votes as letters."""
    letters = [[None if answer is None else "abcde"[answer - 1] for answer in unit] for unit in units_of(OBSERVED)]
    assert alpha(letters) == pytest.approx(0.74342105, abs=2e-5)


@needs_reference
def test_the_published_alpha_among_people_is_reproduced():
    """R72: 961 comparisons with more than one vote, alpha .485."""
    found = defaultdict(list)
    for line in (FOLDER / "mtbench_human.jsonl").read_text().splitlines():
        vote = json.loads(line)
        models = tuple(sorted((vote["model_a"], vote["model_b"])))
        winner = vote[vote["winner"]] if vote["winner"].startswith("model") else "tie"
        side = "tie" if winner == "tie" else models.index(winner)
        found[vote["question_id"], vote["turn"], models].append(side)
    shown = krippendorff_alpha(list(found.values()), clusters=[item[0] for item in found], resamples=500)
    assert (shown.n, shown.estimate) == (961, pytest.approx(0.48546077741608296, abs=1e-9))
    assert 0.43 < shown.low < 0.485 < shown.high < 0.54


# ---- its definition ----


def slow_alpha(units, level):
    """From the coincidences one by one, in exact fractions."""
    kept = [[answer for answer in unit if answer is not None] for unit in units]
    kept = [unit for unit in kept if len(unit) > 1]
    flat = [answer for unit in kept for answer in unit]
    counts = {answer: flat.count(answer) for answer in sorted(set(flat))}

    def apart(one, other):
        if one == other:
            return Fraction(0)
        low, high = sorted((one, other))
        if level == "nominal":
            return Fraction(1)
        if level == "interval":
            return Fraction((low - high) ** 2)
        if level == "ratio":
            return Fraction(low - high, low + high) ** 2
        between = sum(n for answer, n in counts.items() if low <= answer <= high)
        return (between - Fraction(counts[low] + counts[high], 2)) ** 2

    observed = sum(2 * apart(a, b) * Fraction(1, len(unit) - 1) for unit in kept for a, b in combinations(unit, 2))
    expected = sum(2 * apart(a, b) for a, b in combinations(flat, 2))
    return None if not expected else 1 - (len(flat) - 1) * observed / expected


@untimed
@given(UNITS, LEVEL)
def test_alpha_is_what_its_definition_says(units, level):
    found, expected = alpha(units, level), slow_alpha(units, level)
    assert found == expected if expected is None else found == pytest.approx(float(expected), abs=1e-9)


@untimed
@given(UNITS, LEVEL, st.randoms())
def test_alpha_does_not_look_at_who_said_what_or_at_the_sequence_of_items(units, level, dice):
    turned = [dice.sample(unit, len(unit)) for unit in dice.sample(units, len(units))]
    found, back = alpha(units, level), alpha(turned, level)
    assert found == back if found is None else found == pytest.approx(back, abs=1e-9)


@untimed
@given(UNITS, LEVEL)
def test_the_interval_lies_from_minus_1_to_1(units, level):
    found = krippendorff_alpha(units, level=level, resamples=60)
    assert (found.estimate is None) == (alpha(units, level) is None)
    if found.low is not None:
        assert -1 - 1e-9 <= found.low <= found.high <= 1
    elif found.estimate is not None or found.n:
        assert found.reason


@untimed
@given(UNITS)
def test_levels_of_two_answers_are_one_level(units):
    two = [[None if answer is None else 1 + (answer > 2) for answer in unit] for unit in units]
    values = [alpha(two, level) for level in LEVELS]
    assert values == [None] * 4 if values[0] is None else values == pytest.approx([values[0]] * 4, abs=1e-9)


@untimed
@given(UNITS, st.integers(-50, 50), st.integers(1, 9))
def test_interval_alpha_does_not_look_at_zero_or_the_unit_and_ordinal_not_at_the_distances(units, shift, scale):
    for level, change in (("interval", lambda x: scale * x + shift), ("ordinal", lambda x: x**3 + shift)):
        other = [[None if answer is None else change(answer) for answer in unit] for unit in units]
        found, back = alpha(units, level), alpha(other, level)
        assert found == back if found is None else found == pytest.approx(back, abs=1e-7)


def test_ordinal_labels_have_the_places_that_they_are_given():
    words = [["low", "mid"], ["high", "high"], ["mid", "mid"], ["low", "low"]]
    numbers = [[1, 2], [3, 3], [2, 2], [1, 1]]
    assert alpha(words, "ordinal", ["low", "mid", "high"]) == pytest.approx(alpha(numbers, "ordinal"))


def test_labels_that_nobody_gave_change_nothing():
    units = units_of(OBSERVED)
    for level in LEVELS:
        assert alpha(units, level, range(1, 9)) == pytest.approx(alpha(units, level))


# ---- its edges ----


@pytest.mark.parametrize("level", LEVELS)
def test_one_answer_throughout_has_no_alpha(level):
    found = krippendorff_alpha([[0.1, 0.1, 0.1]] * 9, level=level, excluded=2)
    assert (found.estimate, found.low, found.n, found.excluded) == (None, None, 9, 2)
    assert found.reason == "all gave one and the same answer, so that chance alone would agree fully"


def test_single_answers_have_no_alpha():
    found = krippendorff_alpha([[1, None], [2], []])
    assert (found.estimate, found.n, found.excluded, found.reason) == (None, 0, 3, "no item was answered by two")
    assert krippendorff_alpha([]).excluded == 0


@pytest.mark.parametrize("level", LEVELS)
def test_full_agreement_has_an_interval_that_is_not_a_point(level):
    few = krippendorff_alpha([[1, 1], [2, 2]] * 10, level=level)
    many = krippendorff_alpha([[1, 1], [2, 2]] * 100, level=level)
    assert (few.estimate, few.high, many.high) == (1, 1, 1)
    assert few.low < many.low < 1
    assert few.low == pytest.approx(1 - (1 - wilson(20, 20).low) * (40 * 39) / (2 * 20 * 20))
    assert few.method == f"krippendorff alpha {level}, wilson 0.95, all agree"


@pytest.mark.parametrize(
    ("units", "clusters", "reason"),
    [
        ([[1, 2]], None, "one item has no interval"),
        ([[1, 2], [1, 1]], ["t", "t"], "the items of one case have no interval"),
    ],
)
def test_too_little_has_no_interval(units, clusters, reason):
    found = krippendorff_alpha(units, clusters=clusters)
    assert (found.low, found.reason) == (None, reason)
    assert found.estimate is not None


def test_items_of_one_case_are_not_independent():
    units = [[case % 2, case % 3 % 2] for case in range(30) for _ in range(4)]
    cases = [case for case in range(30) for _ in range(4)]
    plain, clustered = krippendorff_alpha(units), krippendorff_alpha(units, clusters=cases)
    assert clustered.estimate == plain.estimate
    assert clustered.high - clustered.low > 1.5 * (plain.high - plain.low)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: krippendorff_alpha([["a", "b"]], level="interval"),
        lambda: krippendorff_alpha([["a", "b"]], level="ordinal"),
        lambda: krippendorff_alpha([[1, float("nan")]], level="interval"),
        lambda: krippendorff_alpha([[1, -1]], level="ratio"),
        lambda: krippendorff_alpha([["a", "b"]], labels=["a"]),
        lambda: krippendorff_alpha([[1, 2]], clusters=[1, 2]),
    ],
)
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(ConfigError) as caught:
        wrong()
    assert caught.value.code == "STAT_VALUE_INVALID"

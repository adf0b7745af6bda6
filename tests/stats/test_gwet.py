"""AC1, AC2 and their relatives: references, votes, and what they do at their edges."""

import json
from collections import Counter, defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_making import FOLDER, needs_reference, untimed

from rightcall.errors import ConfigError
from rightcall.stats.agreement import cohen, percent_agreement
from rightcall.stats.alpha import alpha
from rightcall.stats.gwet import brennan_prediger, chance_corrected, fleiss_kappa, gwet_ac, rater_agreement
from rightcall.stats.intervals import wilson

RARE = [[118, 5], [2, 0]]
LEVELS = [[10, 3, 1, 0, 0], [2, 12, 4, 1, 0], [0, 3, 15, 5, 1], [0, 1, 4, 18, 6], [0, 0, 1, 5, 8]]
RATED = ["aa-a", "bbcb", "cccc", "cccc", "bbbb", "abcd", "dddd", "aaba", "bbbb", "-eee", "--aa", "-c--"]
SUBJECTS = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip

UNITS = st.lists(st.lists(st.one_of(st.none(), st.integers(1, 4)), max_size=4), min_size=1, max_size=12)
PAIRS = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=30)
WEIGHTS = st.sampled_from([None, "linear", "quadratic"])
CHANCE = st.sampled_from(["gwet", "fleiss", "brennan-prediger"])


def pairs_of(table):
    return [(i + 1, j + 1) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]


def rated():
    return [[None if letter == "-" else letter for letter in unit] for unit in RATED]


# ---- references ----


def test_reference_ac1_of_the_kappa_paradox():
    """R07, R08: 94.4 % agreement, kappa below 0, AC1 .941."""
    found = gwet_ac(pairs_of(RARE))
    assert found.estimate == pytest.approx(0.9407763376087177, abs=2e-5)
    assert cohen(pairs_of(RARE)) == pytest.approx(-0.023391812865497075, abs=2e-4)
    assert rater_agreement(pairs_of(RARE)) == percent_agreement(pairs_of(RARE))
    assert found.low < found.estimate < found.high
    assert found.method == "gwet ac1, bootstrap 0.95, 125 cases, 2000 draws, seed 0"


def test_reference_ac2_of_five_levels():
    """R09."""
    found = gwet_ac(pairs_of(LEVELS), weights="quadratic", labels=(1, 2, 3, 4, 5), resamples=200)
    assert found.estimate == pytest.approx(0.8782842764351338, abs=2e-5)
    assert found.method.startswith("gwet ac2 quadratic, bootstrap")


@pytest.mark.parametrize(
    ("id_", "figure", "expected"),
    [
        ("R10", rater_agreement, 0.8181818181818182),
        ("R11", gwet_ac, 0.775444068126995),
        ("R12", fleiss_kappa, 0.7611692754224112),
        ("R13", brennan_prediger, 0.7727272727272727),
    ],
)
def test_reference_values_with_missing_answers(id_, figure, expected):
    found = figure(rated())
    assert found.estimate == pytest.approx(expected, abs=2e-5), id_
    assert (found.n, found.excluded) == (11, 1)
    assert found.low < found.estimate < found.high


def test_reference_fleiss_kappa_of_fourteen_raters():
    """R19: the widely printed example, .210."""
    units = [[label for label, n in enumerate(row) for _ in range(n)] for row in SUBJECTS]
    assert fleiss_kappa(units).estimate == pytest.approx(0.20993070442195522, abs=1e-9)


@needs_reference
def test_the_ac1_of_a_judge_with_the_majority_is_reproduced():
    """R70: AC1 .510 beside the kappa of .505."""

    def verdict(vote):
        models = tuple(sorted((vote["model_a"], vote["model_b"])))
        winner = vote[vote["winner"]] if vote["winner"].startswith("model") else "tie"
        return (vote["question_id"], vote["turn"], models), "tie" if winner == "tie" else models.index(winner)

    read = {
        name: [verdict(json.loads(line)) for line in (FOLDER / f"mtbench_{name}.jsonl").read_text().splitlines()]
        for name in ("human", "gpt4_pair")
    }
    heard = defaultdict(list)
    for item, side in read["human"]:
        heard[item].append(side)
    pairs = []
    for item, side in dict(read["gpt4_pair"]).items():
        if item in heard:
            first, *rest = Counter(heard[item]).most_common()
            pairs.append((side, "tie" if rest and rest[0][1] == first[1] else first[0]))
    assert len(pairs) == 1814
    assert gwet_ac(pairs, resamples=50).estimate == pytest.approx(0.5100828417219612, abs=1e-9)


# ---- what they are ----


@untimed
@given(UNITS, WEIGHTS, CHANCE, st.randoms())
def test_who_said_what_and_the_sequence_do_not_matter(units, weights, chance, dice):
    turned = [dice.sample(unit, len(unit)) for unit in dice.sample(units, len(units))]
    found, back = (
        chance_corrected(given, chance, weights=weights, labels=(1, 2, 3, 4), resamples=20) for given in (units, turned)
    )
    assert (found.n, found.excluded) == (back.n, back.excluded)
    assert found.estimate == (None if back.estimate is None else pytest.approx(back.estimate, abs=1e-9))


@untimed
@given(PAIRS)
def test_fleiss_of_two_complete_raters_is_nearly_nominal_alpha(pairs):
    """Alpha differs by the correction for few answers alone: (1 - alpha) 2n = (1 - kappa)(2n - 1)."""
    found, other = chance_corrected(pairs, "fleiss", resamples=20).estimate, alpha(pairs)
    n = 2 * len(pairs)
    assert (found is None) == (other is None)
    if other is not None:
        assert (1 - other) * n == pytest.approx((1 - found) * (n - 1))


@untimed
@given(UNITS, WEIGHTS, CHANCE)
def test_the_interval_ends_at_1_or_there_is_a_reason(units, weights, chance):
    found = chance_corrected(units, chance, weights=weights, labels=(1, 2, 3, 4), resamples=40)
    if found.low is not None:
        assert found.low <= found.high <= 1 + 1e-9
    else:
        assert found.reason


@untimed
@given(PAIRS, CHANCE)
def test_two_complete_raters_are_no_worse_than_minus_1(pairs, chance):
    found = chance_corrected(pairs, chance, labels=(1, 2, 3, 4), resamples=40)
    if found.low is not None:
        assert found.low >= -1 - 1e-9


@untimed
@given(PAIRS)
def test_without_weights_the_sequence_of_labels_does_not_matter(pairs):
    one, other = (gwet_ac(pairs, labels=labels, resamples=20).estimate for labels in ((1, 2, 3, 4), (3, 1, 4, 2)))
    assert one == pytest.approx(other)


@untimed
@given(UNITS)
def test_rater_agreement_lies_in_its_interval(units):
    found = rater_agreement(units)
    if found.estimate is not None:
        assert 0 <= found.low <= found.estimate <= found.high <= 1


# ---- edges ----


def test_one_label_throughout_has_an_ac1_if_the_others_are_known():
    found = gwet_ac([("PASS", "PASS")] * 50, labels=("PASS", "FAIL"))
    assert (found.estimate, found.high) == (1, 1)
    # As if up to 7 % of the items were disagreed upon.
    lost = 1 - wilson(50, 50).low
    assert found.low == pytest.approx(1 - lost / (1 - 2 * (lost / 2) * (1 - lost / 2)))
    assert gwet_ac([("PASS", "PASS")] * 50).reason == "only one label is known, so that chance alone would agree fully"
    same = fleiss_kappa([("PASS", "PASS")] * 50, labels=("PASS", "FAIL"))
    assert (same.estimate, same.n) == (None, 50)
    assert same.reason == "all gave one and the same label, so that chance alone would agree fully"


def test_full_agreement_has_an_interval_that_is_not_a_point():
    for figure in (gwet_ac, fleiss_kappa, brennan_prediger):
        few, many = (figure([("a", "a"), ("b", "b")] * n, labels="ab") for n in (10, 100))
        assert (few.estimate, few.high) == (1, 1)
        assert few.low < many.low < 1
        assert few.method.endswith("wilson 0.95, all agree")


def test_nothing_and_single_answers_are_undefined():
    for units in ([], [["a"], [None, "b"]]):
        for figure in (gwet_ac, fleiss_kappa, brennan_prediger, rater_agreement):
            found = figure(units, excluded=1)
            assert (found.estimate, found.n, found.excluded) == (None, 0, len(units) + 1)
            assert found.reason == "no item was answered by two"


@pytest.mark.parametrize("figure", [gwet_ac, fleiss_kappa])
def test_the_items_of_one_case_have_no_interval(figure):
    for units in ([("a", "b"), ("a", "a")], [("a", "a"), ("b", "b")]):
        found = figure(units, clusters=["t", "t"])
        assert (found.low, found.reason) == (None, "the items of one case have no interval")
        assert found.estimate is not None


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: gwet_ac([(1, 2)], weights="linear"),
        lambda: gwet_ac([(1, 9)], labels=(1, 2)),
        lambda: gwet_ac([(1, 2)], clusters=[1, 2]),
    ],
)
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(ConfigError) as caught:
        wrong()
    assert caught.value.code == "STAT_VALUE_INVALID"

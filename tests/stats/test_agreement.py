"""Agreement of two raters: references, published verdicts, and what kappa does at its edges."""

import json
from collections import Counter, defaultdict
from itertools import combinations
from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_making import FOLDER, ROWS, needs_reference, untimed

from rightcall.errors import ConfigError
from rightcall.stats.agreement import (
    cohen,
    kappa,
    kappa_standard_error,
    mean_difference,
    percent_agreement,
    within_one,
)
from rightcall.stats.clusters import clustered_share
from rightcall.stats.intervals import wilson
from rightcall.stats.pairwise import standard_error

LABELS = (1, 2, 3, 4, 5)
PAIRS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=40)
WEIGHTS = st.sampled_from([None, "linear", "quadratic"])


def pairs_of(table):
    return [(i + 1, j + 1) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]


def votes(name):
    return [json.loads(line) for line in (FOLDER / name).read_text().splitlines()]


def verdict(vote):
    """The pair of models (in one sequence, whichever was shown first) and who of them won."""
    models = tuple(sorted((vote["model_a"], vote["model_b"])))
    winner = vote["winner"]
    return (vote["question_id"], vote["turn"], models), vote[winner] if winner.startswith("model") else "tie"


def judged():
    return dict(verdict(vote) for vote in votes("mtbench_gpt4_pair.jsonl"))


def people():
    found = defaultdict(list)
    for vote in votes("mtbench_human.jsonl"):
        item, winner = verdict(vote)
        found[item].append((vote["judge"], winner))
    return found


# ---- references ----


@needs_reference
@pytest.mark.parametrize("id_", ["R01", "R03", "R04", "R05", "R07"])
def test_reference_values_of_kappa(id_):
    row = ROWS[id_]
    found = kappa(pairs_of(row["input"]["confusion"]), weights=row["parameters"].get("weights"), labels=LABELS)
    assert found.estimate == pytest.approx(row["expected"], abs=row["tolerance"])
    assert found.low < found.estimate < found.high


@needs_reference
def test_reference_kappa_with_a_level_that_nobody_gave():
    row = ROWS["R06"]
    pairs = list(zip(row["input"]["a"], row["input"]["b"], strict=True))
    found = kappa(pairs, weights="quadratic", labels=row["parameters"]["labels"])
    assert found.estimate == pytest.approx(row["expected"], abs=row["tolerance"])


@needs_reference
def test_reference_standard_error_of_kappa():
    row = ROWS["R02"]
    pairs = pairs_of(row["input"]["confusion"])
    assert kappa_standard_error(pairs) == pytest.approx(row["expected"], abs=row["tolerance"])
    # The bootstrap comes to much the same.
    found = kappa(pairs)
    assert (found.high - found.low) / 2 / 1.96 == pytest.approx(row["expected"], rel=0.05)


@needs_reference
def test_high_agreement_and_a_kappa_below_0_are_both_shown():
    pairs = pairs_of(ROWS["R07"]["input"]["confusion"])
    assert percent_agreement(pairs).estimate == pytest.approx(0.944)
    assert kappa(pairs).estimate < 0


TWO = [[20, 5], [10, 15]]
FIVE = [[10, 3, 1, 0, 0], [2, 12, 4, 1, 0], [0, 3, 15, 5, 1], [0, 1, 4, 18, 6], [0, 0, 1, 5, 8]]
GAP = list(zip([1, 1, 2, 5, 5, 4, 2, 1], [1, 2, 2, 5, 4, 4, 2, 1], strict=True))


@pytest.mark.parametrize(
    ("id_", "pairs", "weights", "expected"),
    [
        ("R01", pairs_of(TWO), None, 0.4),
        ("R03", pairs_of(FIVE), None, 0.5268542199488491),
        ("R04", pairs_of(FIVE), "linear", 0.7002997002997002),
        ("R05", pairs_of(FIVE), "quadratic", 0.8337595907928389),
        ("R06", GAP, "quadratic", 0.9470198675496688),
        ("R07", pairs_of([[118, 5], [2, 0]]), None, -0.023391812865497075),
    ],
)
def test_kappa_has_its_known_values(id_, pairs, weights, expected):
    assert cohen(pairs, weights=weights, labels=LABELS) == pytest.approx(expected, abs=1e-9), id_


def test_the_standard_error_of_kappa_has_its_known_value():
    """R02."""
    assert kappa_standard_error(pairs_of(TWO)) == pytest.approx(0.12699606293110033, abs=1e-9)


# ---- published verdicts ----


@needs_reference
@pytest.mark.parametrize(("turn", "all_votes", "decisive"), [(1, "R61", "R62"), (2, "R65", "R66")])
def test_the_published_agreement_of_a_judge_with_experts_is_reproduced(turn, all_votes, decisive):
    said = judged()
    pairs = [
        (said[item], winner)
        for item, given in people().items() if item[1] == turn and item in said
        for judge, winner in given if judge.startswith("expert")
    ]  # fmt: skip
    for id_, used in ((all_votes, pairs), (decisive, [pair for pair in pairs if "tie" not in pair])):
        found = percent_agreement(used)
        agree, n, rate = ROWS[id_]["expected"]
        assert (found.n, found.estimate, round(found.estimate * found.n)) == (n, pytest.approx(rate), agree)


@needs_reference
@pytest.mark.parametrize(("turn", "all_votes", "decisive"), [(1, "R63", "R64"), (2, "R67", "R68")])
def test_the_published_agreement_among_experts_is_reproduced(turn, all_votes, decisive):
    pairs = [
        (one, other)
        for item, given in people().items() if item[1] == turn
        for (_, one), (_, other) in combinations([vote for vote in given if vote[0].startswith("expert")], 2)
    ]  # fmt: skip
    for id_, used in ((all_votes, pairs), (decisive, [pair for pair in pairs if "tie" not in pair])):
        found = percent_agreement(used)
        assert [round(found.estimate * found.n), found.n, found.estimate] == pytest.approx(ROWS[id_]["expected"])


def majority(given):
    counts = Counter(winner for _, winner in given).most_common()
    return counts[0][0] if len(counts) == 1 or counts[0][1] > counts[1][1] else "tie"


def side(item, winner):
    """The winner as a place of the pair, so that there are three classes."""
    return "tie" if winner == "tie" else item[2].index(winner)


@needs_reference
def test_the_published_kappa_of_a_judge_with_the_majority_is_reproduced():
    """The two classes beside the tie are the two models in alphabetical order: kappa depends on which is called which."""
    said = judged()
    pairs, questions = [], []
    for item, heard in people().items():
        if item in said:
            pairs.append((side(item, said[item]), side(item, majority(heard))))
            questions.append(item[0])
    n, agreement, value, _ = ROWS["R70"]["expected"]
    found = kappa(pairs, clusters=questions)
    assert (found.n, percent_agreement(pairs).estimate, found.estimate) == (n, pytest.approx(agreement), pytest.approx(value))  # fmt: skip
    assert 0.45 < found.low < value < found.high < 0.56
    assert found.method == "cohen kappa, bootstrap 0.95, 80 cases, 2000 draws, seed 0"
    both = [pair for pair in pairs if "tie" not in pair]
    n, agreement, value = ROWS["R71"]["expected"]
    assert [len(both), percent_agreement(both).estimate, cohen(both)] == pytest.approx([n, agreement, value])


@needs_reference
def test_agreement_clustered_by_question_has_the_reference_error():
    said = judged()
    rows = [
        (item[0], said[item] == winner)
        for item, given in people().items() if item[1] == 1 and item in said
        for judge, winner in given if judge.startswith("expert") and "tie" not in {winner, said[item]}
    ]  # fmt: skip
    values, questions = [float(agree) for _, agree in rows], [question for question, _ in rows]
    clustered, naive = ROWS["R73"]["expected"]
    assert standard_error(values, questions) == pytest.approx(clustered, abs=ROWS["R73"]["tolerance"])
    assert standard_error(values) == pytest.approx(naive, abs=ROWS["R73"]["tolerance"])


# ---- kappa's edges ----


def test_one_label_throughout_has_no_kappa():
    found = kappa([("PASS", "PASS")] * 9, excluded=2)
    assert (found.estimate, found.low, found.n, found.excluded) == (None, None, 9, 2)
    assert found.reason == "both gave one and the same label throughout, so that chance alone would agree fully"
    assert kappa_standard_error([("PASS", "PASS")] * 9) is None


def test_nothing_has_no_kappa():
    assert kappa([], labels=LABELS).reason == "nothing was evaluated"


def test_full_agreement_has_an_interval_that_is_not_a_point():
    few, many = kappa([("a", "a"), ("b", "b")] * 10), kappa([("a", "a"), ("b", "b")] * 100)
    assert (few.estimate, few.high, many.high) == (1, 1, 1)
    assert few.low == pytest.approx(1 - (1 - wilson(20, 20).low) / 0.5)
    assert few.low < many.low < 1
    assert few.method == "cohen kappa, wilson 0.95, all agree"
    assert kappa([(1, 1), (2, 2)] * 10, weights="quadratic", labels=LABELS).low == pytest.approx(few.low)


def test_full_disagreement_of_two_labels_is_minus_one():
    assert cohen([("a", "b"), ("b", "a")]) == -1


@pytest.mark.parametrize(
    ("pairs", "clusters", "reason"),
    [
        ([("a", "b")], None, "one item has no interval"),
        ([("a", "b"), ("a", "a")], ["t", "t"], "the items of one case have no interval"),
    ],
)
def test_too_little_has_no_interval(pairs, clusters, reason):
    found = kappa(pairs, clusters=clusters)
    assert (found.low, found.reason) == (None, reason)
    assert found.estimate is not None


def test_resamples_without_a_kappa_are_counted():
    rare = kappa([("a", "a")] * 30 + [("b", "a")] + [("b", "b")] * 3)
    assert rare.low is not None
    assert "resamples have one label only, and no kappa" in rare.reason
    rarest = kappa([("a", "a")] * 20 + [("b", "a")])
    assert rarest.low is None
    assert rarest.estimate == 0


@untimed
@given(PAIRS, WEIGHTS)
def test_kappa_is_symmetric(pairs, weights):
    turned = [(second, first) for first, second in pairs]
    found, back = cohen(pairs, weights=weights, labels=LABELS), cohen(turned, weights=weights, labels=LABELS)
    assert found == back if found is None else found == pytest.approx(back)


@untimed
@given(PAIRS, WEIGHTS)
def test_kappa_lies_from_minus_1_to_1_and_in_its_interval_there(pairs, weights):
    found = kappa(pairs, weights=weights, labels=LABELS, resamples=100)
    if found.estimate is not None:
        assert -1 - 1e-12 <= found.estimate <= 1
        assert (found.estimate == 1) == all(one == other for one, other in pairs)
    if found.low is not None:
        assert -1 - 1e-12 <= found.low <= found.high <= 1


@untimed
@given(PAIRS)
def test_turning_the_scale_around_changes_nothing(pairs):
    turned = [(6 - first, 6 - second) for first, second in pairs]
    for weights in ("linear", "quadratic"):
        found, back = cohen(pairs, weights=weights, labels=LABELS), cohen(turned, weights=weights, labels=LABELS)
        assert found == back if found is None else found == pytest.approx(back)


@untimed
@given(PAIRS, st.permutations(LABELS))
def test_unweighted_kappa_does_not_look_at_the_sequence_of_labels(pairs, labels):
    assert cohen(pairs, labels=labels) == cohen(pairs, labels=LABELS)


def test_items_of_one_case_are_not_independent():
    pairs, cases = [], []
    for case in range(30):
        pairs += [("a" if case % 2 else "b", "a" if case % 3 else "b")] * 4
        cases += [case] * 4
    plain, clustered = kappa(pairs), kappa(pairs, clusters=cases)
    assert clustered.estimate == plain.estimate
    assert (clustered.high - clustered.low) / (plain.high - plain.low) == pytest.approx(2, rel=0.2)


# ---- plain agreement and differences ----


def test_plain_agreement_is_a_clustered_share():
    pairs, cases = [("a", "a"), ("a", "b"), ("b", "b"), ("b", "b")], [1, 1, 2, 2]
    assert percent_agreement(pairs) == wilson(3, 4)
    assert percent_agreement(pairs, clusters=cases, excluded=3) == clustered_share([(1, 2), (2, 2)], excluded=3)
    assert percent_agreement([]).reason == "nothing was evaluated"


def test_within_one_counts_scores_at_most_1_apart():
    assert within_one([(1, 2), (1, 3), (4, 3), (5, 5)]) == wilson(3, 4)


def test_the_mean_difference_tells_who_is_milder():
    found = mean_difference([(5, 4), (4, 4), (3, 1), (2, 3), (5, 3)])
    assert (found.estimate, found.n) == (0.8, 5)
    half = 2.776445 * sqrt(sum((value - 0.8) ** 2 for value in (1, 0, 2, -1, 2)) / 4 / 5)
    assert (found.low, found.high) == pytest.approx((0.8 - half, 0.8 + half), abs=1e-5)


@untimed
@given(PAIRS)
def test_a_mean_difference_turns_around_with_the_raters(pairs):
    found, back = mean_difference(pairs), mean_difference([(second, first) for first, second in pairs])
    assert found.estimate == pytest.approx(-back.estimate)
    if found.low is not None:
        assert found.low == pytest.approx(-back.high)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: kappa([(1, 2)], weights="linear"),
        lambda: kappa([(1, 9)], labels=LABELS),
        lambda: kappa([(1, 2)], clusters=[1, 2]),
        lambda: within_one([(1, float("nan"))]),
        lambda: mean_difference([(0, 3)]),
    ],
)
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(ConfigError) as caught:
        wrong()
    assert caught.value.code == "STAT_VALUE_INVALID"


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_where_one_gave_one_label_throughout_kappa_is_nought_without_an_interval(weights):
    for pairs in ([(1, 1)] * 40 + [(1, 2)] * 25, [(1, 1)] * 40 + [(2, 1)] * 25):
        found = kappa(pairs, weights=weights, labels=[1, 2, 3])
        assert (found.estimate, found.low, found.high) == (0.0, None, None)
        assert found.reason == "one of the two gave one label throughout, so that kappa is 0 whatever the other says"

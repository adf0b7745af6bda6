"""Position bias: references from recorded judges, and judges that lean on purpose."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_making import FOLDER, ROWS, needs_reference, untimed

from rightcall.errors import ConfigError
from rightcall.stats.intervals import wilson
from rightcall.stats.pairwise import PairOrders, position_bias
from rightcall.stats.position import order_draw

SLOT = st.sampled_from(["first", "second", "tie"])
PAIRS = st.lists(st.tuples(SLOT, SLOT), max_size=60)
TURNED = {"first": "second", "second": "first", "tie": "tie"}


def panel(answers):
    """Of pairs asked in both orders."""
    pairs = [PairOrders(f"p{number}", *both) for number, both in enumerate(answers)]
    return position_bias([(pair.pair, slot) for pair in pairs for slot in (pair.forward, pair.backward)], pairs)


@needs_reference
@pytest.mark.parametrize("id_", ["R55", "R56", "R57"])
def test_recorded_judges_have_their_reference_consistency(id_):
    """The reference counts calls by slot; pairs that have these counts are made up, the consistent ones first."""
    n, _, _, _, consistent, first, second, ties, unread = map(int, ROWS[id_]["expected"])
    assert first + second + ties + unread == 2 * n
    first_left, second_left = first - consistent, second - consistent
    odd = (first_left - ties) % 2
    both_first, both_second = (first_left - ties + odd) // 2, (second_left - odd) // 2
    found = panel(
        [("first", "second")] * consistent + [("first", "first")] * both_first + [("second", "second")] * both_second
        + [("first", "tie")] * (ties - odd) + [("tie", "second")] * odd
    )  # fmt: skip
    assert (found.consistency.estimate, found.consistency.n) == (pytest.approx(consistent / n), n)
    assert (found.first_rate.estimate, found.first_rate.n) == (pytest.approx(first / (first + second)), first + second)
    assert (found.both_first, found.both_second, found.partial) == (both_first, both_second, ties)
    assert not found.alert


@needs_reference
def test_a_recorded_judge_that_leans_to_the_first_is_biased():
    """R58 to R60: 37 pairs flipped to the first slot, 7 to the second, and 212 of 335 decisive calls chose the first."""
    rate, flips = ROWS["R59"], ROWS["R60"]["expected"]
    first, n = rate["input"]["first"], rate["input"]["n"]
    both_first, both_second = int(flips[0]), int(flips[1])
    second = n - first
    # What is not flipped: pairs with each slot once, and single decisive calls beside a tie.
    once = min(first - 2 * both_first, second - 2 * both_second)
    alone = first - 2 * both_first - once
    rest = second - 2 * both_second - once
    found = panel(
        [("first", "first")] * both_first + [("second", "second")] * both_second + [("first", "second")] * once
        + [("first", "tie")] * alone + [("tie", "second")] * rest
    )  # fmt: skip
    assert (found.both_first, found.both_second) == (37, 7)
    assert found.flips_p == pytest.approx(flips[2], abs=ROWS["R60"]["tolerance"])
    assert (found.first_rate.estimate, found.first_rate.n) == (pytest.approx(rate["expected"][0]), 335)
    # Clustered by pair, and never narrower than the reference's independent calls.
    assert found.first_rate.low <= rate["expected"][1] + 1e-9
    assert found.first_rate.high >= rate["expected"][2] - 1e-9
    assert found.alert
    assert found.biased


@needs_reference
def test_the_plain_interval_of_that_judge_is_the_reference():
    rate = ROWS["R59"]
    single = position_bias([(f"p{k}", "first" if k < 212 else "second") for k in range(335)], [])
    assert (single.first_rate.estimate, single.first_rate.low, single.first_rate.high) == pytest.approx(rate["expected"][:3], abs=1e-9)  # fmt: skip
    assert single.alert
    assert single.consistency.reason == "no pair was asked in both orders"


@needs_reference
def test_the_flips_of_the_published_verdicts_are_reproduced():
    """The file holds the reconciled winner: a pair is marked where its orders differ, but not to which slot it went.

    So consistency and flips can be reproduced from it, first-slot rates cannot.
    """
    lines = [json.loads(line) for line in (FOLDER / "mtbench_gpt4_pair.jsonl").read_text().splitlines()]
    winners = Counter(line["winner"] for line in lines)
    assert set(winners) == {"model_a", "model_b", "tie", "tie (inconsistent)"}
    flipped = winners["tie (inconsistent)"]
    row = ROWS["R69"]
    share = wilson(flipped, len(lines))
    assert [flipped, len(lines), share.estimate, share.low, share.high] == pytest.approx(row["expected"], abs=row["tolerance"])  # fmt: skip
    assert round(100 * share.estimate, 1) == 15.8
    answers = {"model_a": ("first", "second"), "model_b": ("second", "first"), "tie": ("tie", "tie")}
    # Which slot the marked ones went to is not recorded; consistency is the same whichever it was.
    for unknown in (("first", "first"), ("second", "second"), ("first", "tie")):
        found = panel([answers.get(line["winner"], unknown) for line in lines])
        assert found.consistency.estimate == pytest.approx(1 - row["expected"][2])
        assert (found.consistency.low, found.consistency.high) == pytest.approx((1 - row["expected"][4], 1 - row["expected"][3]))  # fmt: skip


def test_a_judge_that_always_says_the_first_is_biased_from_six_pairs_on():
    for n in (6, 40, 150):
        found = panel([("first", "first")] * n)
        assert found.biased
        assert found.alert == (2 * n >= 100)
        assert (found.consistency.estimate, found.first_rate.estimate) == (0, 1)
    assert panel([("first", "first")] * 5).biased is None
    assert panel([("second", "second")] * 60).alert


def test_the_panel_is_put_in_words():
    found = panel([("first", "first")] * 40)
    assert found.words == (
        "40 of 40 pairs flipped with the order, 40 of 40 towards the first shown (p = 1.8e-12), the first slot won "
        "1.00 of 80 decisive calls (0.91 – 1.00): position bias."
    )
    assert panel([("first", "second")] * 60).words.endswith(": position bias not shown.")
    assert panel([]).words == "No decisive call: too few answers to show position bias."


def test_pairs_asked_once_are_biased_by_the_rate_from_twenty_calls_on():
    for n, biased in ((19, None), (20, True)):
        assert position_bias([(f"p{k}", "first") for k in range(n)], []).biased is biased


def test_a_fair_judge_is_not_biased():
    found = panel([("first", "second"), ("second", "first")] * 60)
    assert (found.biased, found.alert, found.flips_p, found.reason) == (False, False, None, None)
    assert found.consistency.estimate == 1


def test_few_answers_that_show_nothing_say_so():
    found = panel([("first", "second")] * 5)
    assert (found.biased, found.reason) == (None, "10 decisive calls, fewer than 100, show no bias")


def test_a_tie_and_a_winner_are_neither_consistent_nor_flipped():
    found = panel([("first", "tie"), ("tie", "second"), ("tie", "tie")])
    assert (found.partial, found.both_first, found.both_second, found.consistency.estimate) == (2, 0, 0, pytest.approx(1 / 3))  # fmt: skip


@untimed
@given(PAIRS)
def test_first_and_second_mirror_each_other(answers):
    found, mirrored = panel(answers), panel([(TURNED[one], TURNED[other]) for one, other in answers])
    assert (found.both_first, found.both_second) == (mirrored.both_second, mirrored.both_first)
    assert (found.biased, found.alert, found.flips_p) == (mirrored.biased, mirrored.alert, mirrored.flips_p)
    assert found.consistency == mirrored.consistency
    if found.first_rate.estimate is not None:
        assert found.first_rate.low == pytest.approx(1 - mirrored.first_rate.high)


@untimed
@given(PAIRS)
def test_which_order_came_first_does_not_matter(answers):
    found, turned = panel(answers), panel([(other, one) for one, other in answers])
    assert found == turned


@untimed
@given(PAIRS)
def test_every_pair_is_counted_once_and_an_alert_is_a_bias(answers):
    found = panel(answers)
    consistent = round((found.consistency.estimate or 0) * len(answers))
    assert consistent + found.partial + found.both_first + found.both_second == len(answers)
    assert not found.alert or found.biased
    assert (found.reason is None) == (found.biased is not None)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: position_bias([("p", "A")], []),
        lambda: position_bias([], [PairOrders("p", "first", "B")]),
        lambda: position_bias([], [PairOrders("p", "first", "first"), PairOrders("p", "tie", "tie")]),
    ],
)
def test_what_is_no_slot_and_pairs_given_twice_are_refused(wrong):
    with pytest.raises(ConfigError) as caught:
        wrong()
    assert caught.value.code == "STAT_VALUE_INVALID"


@pytest.mark.parametrize(
    ("first", "n", "is_random"), [(0, 0, None), (1, 1, True), (5, 5, True), (10, 10, True), (11, 11, False), (98, 200, True),
                                  (200, 200, False), (0, 200, False), (70, 200, False), (77, 200, True)]
)  # fmt: skip
def test_an_order_counts_as_not_drawn_only_where_that_is_beyond_doubt(first, n, is_random):
    draw = order_draw(first, n)
    assert draw.is_random is is_random
    assert draw.is_random is order_draw(n - first, n).is_random
    assert (draw.share.n, draw.share.estimate) == (n, None if n == 0 else first / n)

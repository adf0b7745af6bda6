"""The table of a judge against people."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_making import untimed

from rightcall.errors import ConfigError
from rightcall.stats.agreement import cohen, percent_agreement
from rightcall.stats.confusion import confusion
from rightcall.stats.intervals import wilson

LABELS = ("FAIL", "PASS")
PAIRS = st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), max_size=40)


def told(*counts):
    """Human FAIL seen and missed, human PASS failed and passed: the judge's answer stands first."""
    kinds = [("FAIL", "FAIL"), ("PASS", "FAIL"), ("FAIL", "PASS"), ("PASS", "PASS")]
    return [kind for kind, n in zip(kinds, counts, strict=True) for _ in range(n)]


def test_a_table_has_people_in_rows_and_the_judge_in_columns():
    found = confusion(told(38, 7, 4, 71), LABELS, excluded=3)
    assert found.counts == ((38, 7), (4, 71))
    assert (found.n, found.excluded, found.labels) == (120, 3, LABELS)
    fail = found.of("FAIL")
    assert fail.sensitivity == wilson(38, 45, excluded=3)
    assert (round(fail.sensitivity.low, 3), round(fail.sensitivity.high, 3)) == (0.712, 0.923)
    assert fail.specificity == wilson(71, 75, excluded=3)
    assert fail.precision == wilson(38, 42, excluded=3)
    assert fail.f1.estimate == pytest.approx(2 * 38 / (2 * 38 + 7 + 4))
    assert found.prevalence[0] == wilson(45, 120, excluded=3)
    assert found.correlation == pytest.approx((38 * 71 - 7 * 4) / (45 * 75 * 42 * 78) ** 0.5)


def test_the_figures_of_a_table_by_labels():
    """R23, R24: precision, recall and F1 of each tool, and their means."""
    expected = [
        "freeze",
        "freeze",
        "cancel",
        "update",
        "issue",
        "issue",
        "none",
        "freeze",
        "update",
        "none",
        "cancel",
        "issue",
    ]
    selected = [
        "freeze",
        "cancel",
        "cancel",
        "update",
        "issue",
        "none",
        "none",
        "freeze",
        "issue",
        "update",
        "cancel",
        "issue",
    ]
    labels = ["cancel", "freeze", "issue", "none", "update"]
    found = confusion(list(zip(selected, expected, strict=True)), labels)
    precision = [one.precision.estimate for one in found.classes]
    recall = [one.sensitivity.estimate for one in found.classes]
    f1 = [one.f1.estimate for one in found.classes]
    assert precision == pytest.approx([2 / 3, 1, 2 / 3, 0.5, 0.5], abs=1e-12)
    assert recall == pytest.approx([1, 2 / 3, 2 / 3, 0.5, 0.5], abs=1e-12)
    assert f1 == pytest.approx([0.8, 0.8, 2 / 3, 0.5, 0.5], abs=1e-12)
    assert [sum(values) / 5 for values in (precision, recall, f1)] == pytest.approx([2 / 3, 2 / 3, 0.6533333333333333])
    assert percent_agreement(list(zip(selected, expected, strict=True))).estimate == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("id_", "counts", "agreement", "kappa"),
    [
        # Tables that have the published number of pairs, agreement and kappa of people on recorded trajectories.
        ("R114", (33, 6, 6, 60), 0.8857142857142857, 0.7552447552447552),
        ("R115", (4, 1, 3, 98), 0.9622641509433962, 0.6472545757071548),
        ("R116", (31, 4, 7, 64), 0.8962264150943396, 0.7703820401732966),
    ],
)
def test_published_agreement_of_people_on_trajectories(id_, counts, agreement, kappa):
    pairs = told(*counts)
    assert (percent_agreement(pairs).estimate, cohen(pairs)) == pytest.approx((agreement, kappa), abs=1e-9), id_
    assert sum(map(sum, confusion(pairs, LABELS).counts)) == len(pairs)


@untimed
@given(PAIRS)
def test_turning_judge_and_people_around_turns_the_table_around(pairs):
    found, back = confusion(pairs, (1, 2, 3, 4)), confusion([(human, judge) for judge, human in pairs], (1, 2, 3, 4))
    assert found.counts == tuple(zip(*back.counts, strict=True))
    assert sum(map(sum, found.counts)) == found.n == len(pairs)
    for one, other in zip(found.classes, back.classes, strict=True):
        assert (one.sensitivity.estimate, one.f1) == (other.precision.estimate, other.f1)


@untimed
@given(PAIRS)
def test_two_labels_catch_what_the_other_passes(pairs):
    found = confusion([(judge > 2, human > 2) for judge, human in pairs], (True, False))
    assert found.classes[0].sensitivity.estimate == found.classes[1].specificity.estimate
    if found.correlation is not None:
        assert -1 <= found.correlation <= 1


def test_shares_of_nothing_are_undefined_with_a_reason():
    found = confusion(told(0, 0, 0, 9), LABELS)
    fail, passed = found.of("FAIL"), found.of("PASS")
    assert (fail.sensitivity.reason, fail.precision.reason) == ("people never gave it", "the judge never gave it")
    assert (fail.f1.reason, passed.specificity.reason) == ("never given", "people gave it throughout")
    assert found.correlation is None
    assert confusion([], LABELS).of("FAIL").sensitivity.reason == "nothing was evaluated"
    assert confusion([], "abc").correlation is None


def test_items_of_one_case_are_not_independent():
    cases = [place // 6 for place in range(120)]
    plain, clustered = (confusion(told(38, 7, 4, 71), LABELS, clusters=by).of("FAIL") for by in (None, cases))
    assert clustered.sensitivity.estimate == plain.sensitivity.estimate
    assert clustered.sensitivity.low < plain.sensitivity.low


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: confusion([("FAIL", "maybe")], LABELS),
        lambda: confusion([("FAIL", "PASS")], LABELS, clusters=[1, 2]),
        lambda: confusion([], LABELS).of("maybe"),
    ],
)
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(ConfigError) as caught:
        wrong()
    assert caught.value.code == "STAT_VALUE_INVALID"

"""Is a judge fit? The three answers, the labels that are lacking, and judges recorded in the field."""

import json
from collections import Counter

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from stats_making import untimed

from rightcall.errors import ConfigError
from rightcall.stats.agreement import kappa
from rightcall.stats.alpha import krippendorff_alpha
from rightcall.stats.confusion import confusion
from rightcall.stats.fitness import (
    NOMINAL,
    ORDINAL,
    Bar,
    Silent,
    ceiling_condition,
    certifiable,
    condition,
    fitness,
    missing_labels,
    stage_of,
)
from rightcall.stats.intervals import Estimate, undefined, wilson

LABELS = ("FAIL", "PASS")


def seen(estimate, low, high, n=120):
    return Estimate(estimate=estimate, low=low, high=high, n=n, method="made up")


GOOD = seen(0.85, 0.72, 0.95)
CATCHES = seen(0.95, 0.86, 0.98, 60)
PEOPLE = seen(0.88, 0.75, 0.97, 40)
ENOUGH = {"FAIL": 60, "PASS": 60}


def judged(pairs, people=PEOPLE, **options):
    counts = Counter(human for _, human in pairs)
    return fitness(
        {label: counts[label] for label in LABELS}, kappa(pairs, resamples=400),
        detection=confusion(pairs, LABELS).of("FAIL").sensitivity, people=people, **options,
    )  # fmt: skip


def told(*counts):
    kinds = [("FAIL", "FAIL"), ("PASS", "FAIL"), ("FAIL", "PASS"), ("PASS", "PASS")]
    return [kind for kind, n in zip(kinds, counts, strict=True) for _ in range(n)]


# ---- labels ----


@pytest.mark.parametrize(
    ("labels", "stage"),
    [(0, "table"), (29, "table"), (30, "estimate"), (49, "estimate"), (50, "report"), (99, "report"), (100, "certify")],
)
def test_what_so_many_labels_allow(labels, stage):
    assert stage_of(labels) == stage


@pytest.mark.parametrize(
    ("counts", "total", "per_class", "at_least"),
    [
        ({"FAIL": 30, "PASS": 70}, 0, {}, 0),
        ({"FAIL": 29, "PASS": 71}, 0, {"FAIL": 1}, 1),
        ({"FAIL": 40, "PASS": 40}, 20, {}, 20),
        ({"FAIL": 0, "PASS": 95}, 5, {"FAIL": 30}, 30),
    ],
)
def test_labels_that_are_lacking_are_counted(counts, total, per_class, at_least):
    found = missing_labels(counts)
    assert (found.total, found.per_class, found.at_least) == (total, per_class, at_least)
    assert certifiable(counts) == (at_least == 0)


# ---- conditions ----


def test_a_condition_holds_the_lower_bound_against_the_threshold():
    assert condition("agreement", seen(0.8, 0.6, 0.9), 0.6).answer == "PASS"
    between = condition("agreement", seen(0.8, 0.59, 0.9), 0.6)
    assert (between.answer, between.on, between.more) == ("INCONCLUSIVE", "lower", 13)
    assert between.reason == "agreement 0.8, interval 0.59 – 0.9, is not shown to reach 0.6"
    below = condition("agreement", seen(0.5, 0.3, 0.7), 0.6)
    assert (below.answer, below.more, below.reason) == ("FAIL", None, "agreement 0.5, interval 0.3 – 0.7, is below 0.6")


def test_a_condition_without_a_figure_is_inconclusive():
    found = condition("agreement", undefined("cohen kappa", "one label", n=40), 0.6)
    assert (found.answer, found.more, found.reason) == ("INCONCLUSIVE", None, "agreement: one label")


def test_a_plain_share_says_how_many_more_faults_would_settle_it():
    """38 of 45 caught: .844, interval .712 to .923. 267 more at this rate bring the bound to .80."""
    found = condition("detection", wilson(38, 45), 0.8)
    assert (found.answer, found.more) == ("INCONCLUSIVE", 267)
    share, n = 38 / 45, 45 + 267
    assert wilson(round(share * n), n).low == pytest.approx(0.8, abs=0.002)


def test_the_ceiling_is_what_people_agree_on():
    assert ceiling_condition(seen(0.79, 0.7, 0.9), PEOPLE, 0.1).answer == "PASS"
    low = ceiling_condition(seen(0.77, 0.7, 0.9), PEOPLE, 0.1)
    assert (low.answer, low.on, low.threshold) == ("FAIL", "point", pytest.approx(0.78))
    assert low.reason == "agreement 0.77 is more than 0.1 below the 0.88 among people"
    assert ceiling_condition(GOOD, None, 0.1).reason == "ceiling: no item was answered by two people"
    assert ceiling_condition(GOOD, undefined("alpha", "one answer"), 0.1).reason == "ceiling: one answer"
    assert ceiling_condition(undefined("alpha", "no label"), PEOPLE, 0.1).reason == "ceiling: no label"


# ---- the answer ----


def test_a_judge_that_shows_everything_is_fit():
    found = fitness(ENOUGH, GOOD, detection=CATCHES, people=PEOPLE)
    assert (found.verdict, found.stage, found.more, found.reasons) == ("FIT", "certify", 0, ())
    assert [one.name for one in found.conditions] == ["agreement", "detection", "ceiling"]


@pytest.mark.parametrize(
    ("counts", "given_", "verdict", "reason"),
    [
        (ENOUGH, {"detection": None}, "INSUFFICIENT", "detection: how many human FAILs are caught was not given"),
        (ENOUGH, {"people": None}, "INSUFFICIENT", "ceiling: no item was answered by two people"),
        (ENOUGH, {"detection": seen(0.7, 0.5, 0.84)}, "NOT_FIT", "detection 0.7, interval 0.5 – 0.84, is below 0.8"),
        ({"FAIL": 29, "PASS": 71}, {}, "INSUFFICIENT", "29 items that people call FAIL, 30 are needed"),
        ({"FAIL": 40, "PASS": 40}, {}, "INSUFFICIENT", "80 labels, 100 are needed"),
        # Few labels: a low estimate is no verdict, an interval that is wholly below is one, unless they are very few.
        ({"FAIL": 9, "PASS": 51}, {"detection": seen(0.7, 0.4, 0.9)}, "INSUFFICIENT", "detection 0.7, interval 0.4 – 0.9, is below 0.8"),
        ({"FAIL": 9, "PASS": 51}, {"detection": seen(0.2, 0.1, 0.5)}, "NOT_FIT", "detection 0.2, interval 0.1 – 0.5, is below 0.8"),
        ({"FAIL": 9, "PASS": 40}, {"detection": seen(0.2, 0.1, 0.5)}, "INSUFFICIENT", "detection 0.2, interval 0.1 – 0.5, is below 0.8"),
    ],
)  # fmt: skip
def test_a_judge_that_does_not_says_why(counts, given_, verdict, reason):
    found = fitness(counts, GOOD, **{"detection": CATCHES, "people": PEOPLE, **given_})
    assert (found.verdict, found.reasons[0]) == (verdict, reason)


def test_what_is_shown_only_since_the_judge_was_silent_is_not_shown():
    silent = Silent(labels=50, agreement=GOOD, detection=seen(0.44, 0.35, 0.55, 90))
    found = fitness(ENOUGH, GOOD, detection=CATCHES, people=PEOPLE, silent=silent)
    assert (found.verdict, found.more) == ("INSUFFICIENT", None)
    [reason] = found.reasons
    assert reason.startswith(
        "detection: the judge gave no answer to 50 labels; with each counted as wrong, detection 0.44"
    )
    heard = replace(silent, detection=CATCHES)
    assert fitness(ENOUGH, GOOD, detection=CATCHES, people=PEOPLE, silent=heard).verdict == "FIT"


def test_silence_makes_nothing_worse_that_is_missed_anyway():
    low = seen(0.3, 0.2, 0.4)
    silent = Silent(labels=9, agreement=seen(0.1, 0.0, 0.2), detection=CATCHES)
    assert fitness(ENOUGH, low, detection=CATCHES, people=PEOPLE, silent=silent) == fitness(
        ENOUGH, low, detection=CATCHES, people=PEOPLE
    )


def test_what_the_bar_does_not_ask_for_is_not_held_against_a_judge():
    found = fitness(ENOUGH, GOOD, bar=Bar(detection=None, ceiling=None))
    assert (found.verdict, len(found.conditions)) == ("FIT", 1)


def test_levels_are_held_against_ordinal_alpha():
    pairs = [(level, level if place % 9 else min(5, level + 1)) for place, level in enumerate([1, 2, 3, 4, 5] * 40)]
    counts = Counter(str(human) for _, human in pairs)
    found = fitness(counts, krippendorff_alpha(pairs, level="ordinal", resamples=400), people=PEOPLE, bar=ORDINAL)
    assert (found.verdict, found.labels) == ("FIT", 200)
    assert NOMINAL.agreement < ORDINAL.agreement == 0.667


def test_a_good_judge_on_too_few_faults_needs_more_of_them():
    """120 labels, 38 of 45 faults caught: kappa is good, catching is not yet shown."""
    found = judged(told(38, 7, 4, 71))
    assert found.verdict == "INSUFFICIENT"
    assert [one.answer for one in found.conditions] == ["PASS", "INCONCLUSIVE", "PASS"]
    assert found.more == 267


def test_a_judge_that_passes_everything_is_not_fit():
    found = judged(told(0, 40, 0, 80))
    assert found.verdict == "NOT_FIT"
    assert [one.answer for one in found.conditions] == ["FAIL", "FAIL", "FAIL"]
    assert found.more is None


@untimed
@given(st.integers(0, 200), st.integers(0, 200), st.floats(0, 1), st.floats(0, 0.4), st.floats(0, 1))
def test_fewer_labels_or_a_wider_interval_never_make_a_judge_fit(fails, passes, estimate, half, caught):
    agreement = seen(estimate, max(-1.0, estimate - half), min(1.0, estimate + half))
    detection = seen(caught, max(0.0, caught - half), min(1.0, caught + half))
    found = fitness({"FAIL": fails, "PASS": passes}, agreement, detection=detection, people=PEOPLE)
    assert (found.verdict == "FIT") == (
        certifiable({"FAIL": fails, "PASS": passes}) and agreement.low >= 0.6 and detection.low >= 0.8
        and estimate >= 0.88 - 0.1
    )  # fmt: skip
    assert (found.verdict == "FIT") == (found.reasons == ())
    if found.verdict == "NOT_FIT":
        assert fails + passes >= 50


# ---- judges recorded in the field ----

KAPPAS = {
    "airline": (-0.16, 0.06, 0.37, -0.05),
    "retail": (0.17, 0.05, 0.23, -0.03),
    "telecom": (0.26, 0.78, 0.40, 0.14),
}
PROMPTS = ("customer_outcome", "quick_triage", "policy_conversation", "policy_chain_of_thought")


@pytest.mark.parametrize("domain", KAPPAS)
def test_recorded_judges_have_their_kappa_and_are_not_fit(domain, shared_data):
    """A judge that decides whether a run was rewarded; only the literal word pass counts as such."""
    file = shared_data / f"data/tau2_bench/judged/{domain}.verdicts.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    for prompt, expected in zip(PROMPTS, KAPPAS[domain], strict=True):
        pairs = [
            ("PASS" if row["judge_verdict"] == "pass" else "FAIL", "PASS" if row["tau2_success"] else "FAIL")
            for row in rows if row["judge_prompt_name"].startswith(prompt)
        ]  # fmt: skip
        assert round(kappa(pairs, resamples=1).estimate, 2) == expected
        verdict = judged(pairs).verdict
        assert verdict == ("INSUFFICIENT" if expected == 0.78 else "NOT_FIT")


def test_the_lenient_judge_is_not_fit(shared_data):
    """It passes 112 of 114 runs."""
    file = shared_data / "data/tau2_bench/judged/retail.verdicts.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    pairs = [
        ("PASS" if row["judge_verdict"] == "pass" else "FAIL", "PASS" if row["tau2_success"] else "FAIL")
        for row in rows if row["judge_prompt_name"].startswith("quick_triage")
    ]  # fmt: skip
    assert (len(pairs), sum(judge == "PASS" for judge, _ in pairs)) == (114, 112)
    found = judged(pairs)
    assert found.verdict == "NOT_FIT"
    assert found.reasons[0].startswith("agreement 0.05")


@pytest.mark.parametrize(
    "wrong", [lambda: stage_of(-1), lambda: missing_labels({}), lambda: missing_labels({"FAIL": -1, "PASS": 3})]
)
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(ConfigError) as caught:
        wrong()
    assert caught.value.code == "STAT_VALUE_INVALID"


# ---- words and digits ----


def below_by_a_hair(threshold):
    return Estimate(estimate=threshold - 4e-6, low=threshold - 0.1, high=threshold + 0.1, n=500, method="wilson 0.95")


@pytest.mark.parametrize("threshold", [0.6, 0.667, 0.8, 1.0])
def test_a_number_that_fails_is_never_written_as_the_threshold(threshold):
    found = condition("agreement", below_by_a_hair(threshold), threshold)
    assert found.answer == "FAIL"
    assert float(found.reason.split()[1].rstrip(",")) < threshold
    bound = msgspec.structs.replace(below_by_a_hair(threshold), estimate=threshold, low=threshold - 4e-6)
    found = condition("agreement", bound, threshold)
    assert found.answer == "INCONCLUSIVE"
    assert float(found.reason.split("interval ")[1].split()[0]) < threshold


def test_a_figure_without_an_interval_that_is_below_says_both():
    value = Estimate(estimate=0.0, low=None, high=None, n=60, method="cohen kappa", reason="one label throughout")
    found = condition("agreement", value, 0.6)
    assert (found.answer, found.reason) == ("FAIL", "agreement 0 is below 0.6 (one label throughout)")
    assert condition("agreement", msgspec.structs.replace(value, estimate=0.7), 0.6).answer == "INCONCLUSIVE"


@pytest.mark.parametrize("ceiling", [0.8, 0.7, 0.9, 0.95, 1.0])
def test_the_ceiling_less_its_margin_is_what_is_written(ceiling):
    floor = round(ceiling - 0.1, 10)
    people = Estimate(estimate=ceiling, low=0.0, high=1.0, n=50, method="cohen kappa")
    for value, answer in ((floor, "PASS"), (floor - 1e-9, "FAIL")):
        judge = Estimate(estimate=value, low=0.0, high=1.0, n=50, method="cohen kappa")
        found = ceiling_condition(judge, people, 0.1)
        assert (found.answer, found.threshold) == (answer, floor)
        assert found.reason is None or float(found.reason.split()[1]) < floor


@pytest.mark.parametrize("counts", [{"PASS": 65, "FAIL": 0}, {"PASS": 80, "FAIL": 9}, {"A": 90, "TIE": 5, "B": 5}])
def test_where_nearly_all_labels_are_one_a_low_agreement_is_not_held_against_the_judge(counts):
    low = Estimate(estimate=0.0, low=-0.1, high=0.1, n=sum(counts.values()), method="cohen kappa")
    people = Estimate(estimate=0.9, low=0.8, high=1.0, n=60, method="cohen kappa")
    found = fitness(counts, low, people=people, bar=Bar(detection=None))
    assert found.verdict == "INSUFFICIENT"
    assert found.reasons[-1].startswith("agreement beyond chance says little")
    assert fitness(counts, low, detection=wilson(0, 40), bar=Bar()).verdict == "NOT_FIT"
    varied = dict.fromkeys(counts, 40) | {"FAIL" if "FAIL" in counts else "B": 20}
    assert fitness(varied, low, people=people, bar=Bar(detection=None)).verdict == "NOT_FIT"

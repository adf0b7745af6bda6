"""A judge against people: what is compared, what the figures are, and when it is called fit."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from labels_making import VERDICT_SCHEMA, answer, calibrated, put_labels, put_run, told
from msgspec import to_builtins

from rightcall.errors import StoreError
from rightcall.run.calibration.labels import in_test
from rightcall.settings.model import CalibrateTable
from rightcall.stats.alpha import krippendorff_alpha
from rightcall.store.store import Store

EASY = CalibrateTable(labels=100, per_class=30)
fresh = settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "s.db") as one:
        yield one


def only(report):
    [one] = report.calibrations
    return one


def one_of(store, pairs, grader="selection", **made):
    put_run(store, grader, **({"reply_schema": VERDICT_SCHEMA} if grader == "policy" else {}))
    put_labels(store, pairs, grader, **made)
    return only(calibrated(store, field=made.pop("field", None)))


# ---- reported faults ----


@pytest.mark.parametrize("grade", ["PASS"], ids=["STA-01"])
def test_kappa_of_one_label_is_null_with_its_reason_beside_the_raw_agreement(store, grade):
    found = one_of(store, [(grade, grade)] * 36)
    assert (found.figures.kappa.estimate, found.figures.exact.estimate) == (None, 1.0)
    assert found.figures.kappa.reason.startswith("one label only")
    plain = to_builtins(found)["figures"]
    assert (plain["kappa"]["estimate"], plain["exact"]["estimate"]) == (None, 1.0)
    assert found.verdict == "INSUFFICIENT"


@pytest.mark.parametrize(("passed", "failed"), [(9, 1)], ids=["STA-03"])
def test_a_judge_that_passes_everything_has_kappa_and_agreement_side_by_side(store, passed, failed):
    found = one_of(store, told(0, failed * 5, 0, passed * 5))
    assert (found.figures.kappa.estimate, found.figures.exact.estimate) == (0.0, 0.9)
    assert found.figures.detection.estimate == 0.0
    assert found.verdict != "FIT"


# ---- the figures ----


def test_the_figures_are_those_of_the_table(store):
    found = one_of(store, told(38, 7, 4, 71))
    figures = found.figures
    assert (found.classes, found.counts) == (("PASS", "FAIL"), ((71, 4), (7, 38)))
    assert (figures.detection.estimate, figures.detection.n) == (38 / 45, 45)
    assert (round(figures.detection.low, 3), round(figures.detection.high, 3)) == (0.712, 0.923)
    assert (figures.clearance.estimate, figures.clearance.n) == (71 / 75, 75)
    assert round(figures.kappa.estimate, 2) == 0.80
    assert figures.headline == "kappa"
    fail = next(rate for rate in figures.rates if rate.label == "FAIL")
    assert (fail.recall.estimate, fail.precision.estimate) == (38 / 45, 38 / 42)
    assert fail.prevalence.estimate == 45 / 120
    assert fail.f1.estimate == pytest.approx(2 * 38 / (45 + 42))


def test_levels_have_bias_weighted_kappas_and_alpha_with_its_level(store):
    found = one_of(store, [(min(5, level + 1), level) for level in (1, 2, 3, 4, 5)] * 10, "rubric")
    figures = found.figures
    assert (figures.alpha_level, figures.headline, figures.ac_name) == ("ordinal", "alpha", "AC2")
    assert figures.exact.estimate == pytest.approx(0.2)
    assert (figures.within.estimate, figures.bias.estimate) == (1.0, 0.8)
    assert figures.kappa.estimate < figures.kappa_linear.estimate < figures.kappa_quadratic.estimate
    # The worse half of the scale stands for FAIL.
    assert figures.failing == ("1", "2", "3")
    assert figures.detection.estimate == pytest.approx(2 / 3)


def test_what_is_not_at_issue_is_left_out_of_a_scale_and_counted(store):
    put_run(store, "rubric")
    pairs = [(level, {"selection": level, "abstention": None}) for level in (1, 2, 3, 4, 5)] * 8
    put_labels(store, pairs, "rubric")
    report = calibrated(store)
    by_field = {one.field: one for one in report.calibrations}
    assert by_field["selection"].labels == 40
    assert by_field["abstention"].labels == 0
    assert by_field["abstention"].left_out == {"not at issue": 40}
    assert not by_field["abstention"].decides
    assert report.verdict == by_field["selection"].verdict


def test_fewer_than_thirty_labels_give_the_table_only(store):
    found = one_of(store, told(9, 1, 1, 18))
    assert (found.figures, found.people, found.strata, found.confidence) == (None, None, (), None)
    assert found.counts == ((18, 1), (1, 9))
    assert found.verdict == "INSUFFICIENT"
    assert found.fitness.missing.total == 71
    assert found.fitness.missing.per_class == {"PASS": 11, "FAIL": 20}


def test_several_people_are_one_label_and_their_agreement_stands_beside_it(store):
    found = one_of(store, told(20, 5, 5, 20), people=2)
    assert (found.labels, found.people.items, found.people.exact.estimate) == (50, 50, 1.0)


def test_people_who_differ_give_no_label_unless_a_third_settles_it(store):
    put_run(store)
    first, second = put_labels(store, [("PASS", "PASS"), ("PASS", "PASS")])
    extra = {"who": "bo"}
    store.write([answer(one, {"grade": "FAIL"}, **extra) for one in (first, second)])
    decision = {"who": "cy", "kind": "adjudication", "blind": False}
    store.write([answer(second, {"grade": "FAIL"}, **decision)])
    found = only(calibrated(store))
    assert (found.labels, found.left_out) == (1, {"people differ": 1})
    assert found.counts == ((0, 0), (1, 0))


def test_labels_of_one_case_are_one_cluster(store):
    pairs = told(38, 7, 4, 71)
    alone = one_of(store, pairs)
    put_run(store, "selection", run="20261129-2", judge="slow")
    put_labels(store, pairs, run="20261129-2", cases=[f"k-{number // 4}" for number in range(len(pairs))])
    grouped = only(calibrated(store, runs=("20261129-2",)))
    assert (grouped.labels, grouped.cases, alone.cases) == (120, 30, 120)
    assert grouped.figures.exact.estimate == alone.figures.exact.estimate
    assert "clustered in" in grouped.figures.exact.method
    assert "30 cases" in grouped.figures.kappa.method


def test_replies_nobody_could_read_are_excluded_and_counted(store):
    found = one_of(store, [*told(20, 5, 5, 20), *[(None, "FAIL")] * 6])
    assert (found.labels, found.left_out) == (50, {"judge: JUDGE_SCHEMA": 6})
    assert found.figures.kappa.excluded == 6


@pytest.mark.parametrize(("silent", "verdict"), [(3, "FIT"), (50, "INSUFFICIENT")])
def test_a_judge_that_cannot_be_read_on_the_hard_cases_is_not_fit_by_the_others(store, silent, verdict):
    found = one_of(store, [*told(40, 0, 0, 60), *[(None, "FAIL")] * silent], people=2)
    assert (found.verdict, found.labels, found.figures.detection.estimate) == (verdict, 100, 1.0)
    if verdict != "FIT":
        assert f"no answer to {silent} labels; with each counted as wrong, detection 0.4444" in found.fitness.reasons[1]


def test_the_worst_answer_is_at_the_other_end(store):
    levels = [(level, level) for level in (1, 2, 3, 4, 5)] * 24
    found = one_of(store, [*levels, *[(None, 4)] * 60], "rubric", people=2)
    with_silence = krippendorff_alpha([*levels, *[(1, 4)] * 60], level="ordinal", resamples=10).estimate
    assert found.verdict == "INSUFFICIENT"
    assert f"agreement {with_silence:.4g}" in found.fitness.reasons[0]


def test_unequal_chances_of_being_drawn_are_put_right_and_said(store):
    pairs = told(20, 0, 0, 20) + told(0, 20, 20, 0)
    put_run(store)
    put_labels(store, pairs, drawn=[0.1] * 40 + [0.5] * 40)
    report = calibrated(store)
    found = only(report)
    # Those who agree stand for five times as many.
    assert found.figures.exact.estimate == pytest.approx(200 / 240)
    assert found.figures.kappa.estimate == pytest.approx(2 / 3)
    assert (found.unequal, found.figures.weighted) == ((0.1, 0.5), True)
    assert "labels were drawn with unequal chances (0.1, 0.5)" in report.warnings[0]
    assert found.rates.corrected is None


def test_judges_models_and_prompts_are_never_mixed(store):
    for number, (model, prompt) in enumerate([("m-1", "a" * 64), ("m-2", "a" * 64), ("m-1", "b" * 64)], 1):
        run = put_run(
            store, run=f"20261129-{number}", model=model, prompts=(prompt,), started_at=f"2026-11-{20 + number}"
        )
        put_labels(store, told(2, 1, 1, 2), run=run)
    found = calibrated(store).calibrations
    assert [(one.model, one.prompt.sha256[0], one.labels, one.is_current) for one in found] == [
        ("m-1", "b", 6, True), ("m-1", "a", 6, False), ("m-2", "a", 6, False),
    ]  # fmt: skip


def test_a_run_that_is_not_there_is_refused(store):
    with pytest.raises(StoreError, match="there is no run"):
        calibrated(store, runs=("20261129-9",))


# ---- what counts ----

APART = {
    "not blind": {"blind": False}, "extra": {"extra": True}, "cannot judge": {"unsure": "no idea"},
}  # fmt: skip


@pytest.mark.parametrize("reason", APART)
def test_answers_that_do_not_count_are_counted_apart(store, reason):
    put_run(store)
    put_labels(store, told(3, 1, 1, 3))
    before = to_builtins(only(calibrated(store)))
    put_labels(store, told(0, 9, 9, 0), first=100, **APART[reason])
    report = calibrated(store)
    assert report.not_counted == {"selection": {reason: 18}}
    assert to_builtins(only(report)) == before


def test_what_was_not_drawn_at_random_is_counted_apart(store):
    put_run(store)
    put_labels(store, told(3, 1, 1, 3))
    from labels_making import item_records, result_of

    for number in range(5):
        made, body = item_records("20261129-1", "selection", f"x-{number}", None,
                                  result_of("selection", f"x-{number}", None, "PASS"), drawn=None,
                                  reasons=["low_confidence"])  # fmt: skip
        store.write([*made, answer(made[0], {"grade": "FAIL"})], [body])
    report = calibrated(store)
    assert (only(report).labels, report.not_counted) == (8, {"selection": {"not drawn": 5}})


grades = st.sampled_from(["PASS", "FAIL"])


@pytest.mark.slow
@fresh
@given(st.lists(st.tuples(grades, grades), min_size=31, max_size=60), st.lists(grades, min_size=1, max_size=8))
def test_an_answer_that_is_not_blind_changes_nothing_in_any_figure(tmp_path_factory, pairs, others):
    with Store.open(tmp_path_factory.mktemp("s") / "s.db") as store:
        put_run(store)
        verdicts = put_labels(store, pairs)
        before = to_builtins(calibrated(store, resamples=20).calibrations)
        store.write([
            answer(one, {"grade": grade}, who="eve", blind=False) for one, grade in zip(verdicts, others, strict=False)
        ])  # fmt: skip
        assert to_builtins(calibrated(store, resamples=20).calibrations) == before


@pytest.mark.slow
@fresh
@given(st.lists(st.tuples(grades, grades), min_size=31, max_size=60), st.randoms(use_true_random=False))
def test_the_order_of_the_labels_does_not_matter(tmp_path_factory, pairs, dice):
    rows = list(enumerate(pairs))
    shuffled = dice.sample(rows, len(rows))
    found = []
    for order in (rows, shuffled):
        with Store.open(tmp_path_factory.mktemp("s") / "s.db") as store:
            put_run(store)
            put_labels(store, [pair for _, pair in order], numbers=[number for number, _ in order])
            found.append(to_builtins(calibrated(store, resamples=20).calibrations))
    assert found[0] == found[1]


# ---- fit or not ----


@pytest.mark.slow
@fresh
@given(st.integers(45, 60), st.integers(55, 80), st.randoms(use_true_random=False))
def test_a_judge_equal_to_people_is_fit_with_enough_labels(tmp_path_factory, fails, passes, dice):
    pairs = told(fails, 0, 0, passes)
    dice.shuffle(pairs)
    with Store.open(tmp_path_factory.mktemp("s") / "s.db") as store:
        put_run(store)
        put_labels(store, pairs, people=2)
        report = calibrated(store, resamples=50)
        assert (report.verdict, only(report).fitness.reasons) == ("FIT", ())


@pytest.mark.slow
@fresh
@given(st.integers(0, 90), st.integers(0, 90))
def test_a_judge_that_always_says_pass_is_never_fit(tmp_path_factory, fails, passes):
    with Store.open(tmp_path_factory.mktemp("s") / "s.db") as store:
        put_run(store)
        put_labels(store, told(0, fails, 0, passes), people=2)
        assert calibrated(store, resamples=50).verdict in ("NOT_FIT", "INSUFFICIENT", None)
        enough = fails >= 50
        assert not enough or calibrated(store, resamples=50).verdict == "NOT_FIT"


@pytest.mark.parametrize("pairs", [told(60, 5, 0, 0), told(0, 0, 5, 60), told(2, 1, 12, 60)])
def test_labels_of_nearly_one_class_never_make_a_judge_unfit(store, pairs):
    found = one_of(store, pairs)
    assert found.figures.kappa.estimate < 0.6
    assert found.verdict == "INSUFFICIENT"
    assert "agreement beyond chance says little" in found.fitness.reasons[-1]


def test_levels_equal_to_people_are_fit_and_levels_at_random_are_not(store):
    dice = Random(4)
    levels = [dice.choice((1, 2, 3, 4, 5)) for _ in range(120)]
    put_run(store, "interpretation")
    put_labels(store, [(level, level) for level in levels], "interpretation", people=2)
    put_run(store, "interpretation", run="20261129-2", model="m-2")
    random = [(dice.choice((1, 2, 3, 4, 5)), level) for level in levels]
    put_labels(store, random, "interpretation", run="20261129-2", people=2)
    found = {one.model: one for one in calibrated(store, field="score").calibrations}
    assert (found["m-1"].verdict, found["m-2"].verdict) == ("FIT", "NOT_FIT")
    assert found["m-1"].fitness.missing.per_class == {}


def test_without_a_second_person_nobody_is_called_fit(store):
    found = one_of(store, told(50, 0, 0, 70))
    assert found.verdict == "INSUFFICIENT"
    assert found.fitness.reasons == ("ceiling: no item was answered by two people",)


def test_a_ceiling_of_few_items_decides_nothing(store):
    put_run(store)
    verdicts = put_labels(store, told(40, 8, 8, 64))
    store.write([answer(verdicts[0], {"grade": "FAIL"}, who="bo")])
    found = only(calibrated(store))
    assert found.people.items == 1
    assert found.verdict != "NOT_FIT" or "people" not in found.fitness.reasons[0]
    assert any("two people answered only 1 of these items, 30 are needed" in why for why in found.fitness.reasons)


# ---- test and dev ----


@given(st.integers(0, 9), st.lists(st.text(max_size=8), max_size=30), st.floats(0.1, 0.9))
def test_a_case_stays_in_its_part_whatever_else_is_labelled(seed, cases, share):
    before = {case: in_test(seed, case, share) for case in cases[: len(cases) // 2]}
    after = {case: in_test(seed, case, share) for case in cases}
    assert before.items() <= after.items()


def test_the_parts_are_disjoint_hold_every_case_and_stay_when_labels_are_added(store):
    put_run(store)
    pairs = told(20, 5, 5, 20)
    put_labels(store, pairs)
    parts = {split: set(only(calibrated(store, split=split)).answers) for split in ("test", "dev", "all")}
    assert parts["test"] | parts["dev"] == parts["all"]
    assert not parts["test"] & parts["dev"]
    assert 10 < len(parts["test"]) < 40
    put_labels(store, pairs, first=200)
    assert parts["test"] < set(only(calibrated(store, split="test")).answers)
    assert parts["test"] != set(only(calibrated(store, split="test", seed=1)).answers)


def test_units_of_one_case_are_in_one_part(store):
    put_run(store)
    put_labels(store, told(20, 5, 5, 20), cases=[f"k-{number % 7}" for number in range(50)])
    test, dev = (only(calibrated(store, split=split)) for split in ("test", "dev"))
    assert (test.labels + dev.labels, test.cases + dev.cases) == (50, 7)


# ---- where it is worst ----


def test_groups_stand_worst_first_and_small_ones_are_hollow(store):
    from labels_making import item_records, result_of

    put_run(store)
    records, bodies = [], []
    for number in range(40):
        unit, case = f"u-{number:03d}", f"c-{number}"
        wrong = number < 9
        result = result_of("selection", unit, case, "PASS", expected_tool=None if wrong else "freeze_card",
                           failure_category="over_action" if wrong else None)  # fmt: skip
        made, body = item_records("20261129-1", "selection", unit, case, result)
        records += [*made, answer(made[0], {"grade": "FAIL" if number < 7 else "PASS"})]
        bodies.append(body)
    store.write(records, bodies)
    first = only(calibrated(store)).strata[0]
    assert (first.labels, first.hollow, first.agreement.estimate) == (9, True, 2 / 9)
    assert (first.by, first.group) in {("failure category", "over_action"), ("expected", "no tool"), ("tool", "(none)")}
    assert first.detection.estimate == 0.0
    last = only(calibrated(store)).strata[-1]
    assert (last.labels, last.hollow, last.agreement.estimate) == (31, False, 1.0)


# ---- what its answers in the run say ----


def test_the_rate_of_a_run_is_corrected_by_what_the_labels_say(store):
    put_run(store)
    put_labels(store, told(45, 5, 10, 90))
    put_labels(store, [("FAIL", None)] * 120 + [("PASS", None)] * 280, first=1000)
    made = only(calibrated(store)).rates.corrected
    assert (made.naive.estimate, made.naive.n) == (0.3, 400)
    assert made.estimate.estimate == pytest.approx((0.3 - 0.1) / 0.8)
    assert made.estimate.low < 0.25 < made.estimate.high


def test_a_judge_that_tells_too_little_has_no_corrected_rate(store):
    put_run(store)
    put_labels(store, told(12, 18, 10, 20))
    put_labels(store, [("FAIL", None)] * 20, first=1000)
    rates = only(calibrated(store)).rates
    assert rates.corrected.estimate.estimate is None
    assert "below 0.2: the judge tells too little" in rates.reason


def test_replicates_that_differ_are_noise(store):
    from labels_making import item_records, opinion, result_of

    put_run(store, replicates=2)
    records, bodies = [], []
    for number in range(40):
        said = ("PASS", "FAIL" if number % 4 == 0 else "PASS")
        judges = tuple(opinion({"grade": grade}, replicate=place) for place, grade in enumerate(said))
        result = result_of("selection", f"u-{number:03d}", f"c-{number}", "PASS", judges=judges)
        made, body = item_records("20261129-1", "selection", f"u-{number:03d}", f"c-{number}", result)
        records += [*made, answer(made[0], {"grade": "PASS"})]
        bodies.append(body)
    store.write(records, bodies)
    noise = only(calibrated(store)).rates.noise
    assert (noise.estimate, noise.n) == (0.25, 40)

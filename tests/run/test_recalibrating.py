"""What a stated confidence is worth in later runs of `preference`; what a judge said by itself."""

from __future__ import annotations

import pytest
from labels_making import calibrated, opinion, put_labels, put_run
from msgspec.structs import replace
from pair_making import Contest, always, pairs_of, prefers, says, traces

from rightcall.grade.preference import PreferenceResult, Reconciled
from rightcall.run.calibration.recalibrating import unfit_models
from rightcall.run.calibration.said import said_of
from rightcall.run.judging.record import sha256_of
from rightcall.run.results.judge_use import Use, Uses
from rightcall.settings.load import load_settings
from rightcall.stats.recalibration import Isotonic
from rightcall.store.records import CalibrationRecord
from rightcall.store.store import Store

CALIBRATED = '[preference]\nconfidence = "calibrated"\n'


@pytest.fixture
def contest(tmp_path):
    return Contest(tmp_path)


def two(contest, number=1, **setup):
    a, b = (contest.write(f"{name}.jsonl", *traces(name, number)) for name in ("prod", "cand"))
    return contest.setup(a, b, **setup)


def put_map(contest, judge="strong", model="strong", worth=(0.3, 0.6), **changed):
    """Record a calibration whose map says what 0.5 and 0.9 are worth, for the prompt of the last run."""
    with contest.opened() as store:
        [prompt] = store.runs(1)[0][0].facts["prompts"]
        known = {
            "grader": "preference", "judge": judge, "field": "overall", "model": model,
            "prompt_sha256": prompt["sha256"], "at": "2026-11-30T10:00:00Z", "split": "all", "verdict": "FIT",
            "report": sha256_of(b"{}"),
            "recalibration": {"id": "map-1", "labels": 99, "kind": "isotonic", "stated": [0.5, 0.9],
                              "worth": list(worth)},
        }  # fmt: skip
        [digest] = store.write([CalibrationRecord(**(known | changed))], ["{}"])
        return f"cal-{digest[:8]}"


def reasons(contest):
    with contest.opened() as store:
        run = store.runs(1)[0][0]
        return {one.reason: one.detail for _, one in store.reviews(run_id=run.id) if one.reason != "random"}


def test_a_run_uses_the_probability_and_keeps_both_numbers(contest):
    before = pairs_of(contest.run(two(contest), prefers("B")))["c0"]
    assert (before.confidence, before.sure, reasons(contest)) == (0.9, 0.9, {})
    name = put_map(contest)
    contest.settings = CALIBRATED
    setup = two(contest)
    assert [one["calibration"] for one in setup.work.facts()["maps"]] == [name]
    found = pairs_of(contest.run(setup, prefers("B")))["c0"]
    assert (found.verdict, found.confidence, found.calibrated_confidence, found.calibration) == ("B", 0.9, 0.6, name)
    assert (found.sure, reasons(contest)) == (0.6, {"low_confidence": "confidence 0.9, worth 0.600, below 0.7"})


def test_by_default_the_stated_confidence_counts(contest):
    contest.run(two(contest), prefers("B")).close()
    put_map(contest)
    found = pairs_of(contest.run(two(contest), prefers("B")))["c0"]
    assert found.sure == 0.9
    assert "maps" not in two(contest).work.facts()


@pytest.mark.parametrize(
    "changed", [{"model": "another"}, {"prompt_sha256": "f" * 64}, {"judge": "weak"}, {"recalibration": None}]
)
def test_a_map_of_another_judge_model_or_prompt_is_not_taken_and_that_is_said_once(contest, changed):
    contest.run(two(contest), prefers("B")).close()
    put_map(contest, **changed)
    contest.settings = CALIBRATED
    setup = two(contest, 3)
    judged = contest.run(setup, prefers("B"))
    found = pairs_of(judged)["c0"]
    assert (found.confidence, found.sure) == (0.9, 0.9)
    [told] = [one for one in judged.warnings if "no calibration" in one]
    assert told.startswith(
        "no calibration of `strong` by model strong with this prompt has a map: its stated confidence"
    )
    assert told.endswith("(rightcall calibrate strong --grader preference)")


def test_the_newest_map_counts(contest):
    contest.run(two(contest), prefers("B")).close()
    put_map(contest)
    newest = put_map(contest, worth=(0.4, 0.8), at="2026-12-01T10:00:00Z")
    contest.settings = CALIBRATED
    found = pairs_of(contest.run(two(contest), prefers("B")))["c0"]
    assert (found.calibration, found.calibrated_confidence) == (newest, 0.8)


def test_a_second_judge_is_asked_by_what_the_first_ones_confidence_is_worth(tmp_path):
    contest = Contest(tmp_path, '[preference]\nsecond_judge = "second"\n', ("strong", "second"))
    before = pairs_of(contest.run(two(contest), prefers("B"), prefers("A")))["c0"]
    assert (before.escalated, before.verdict) == (False, "B")
    put_map(contest)
    contest.settings = '[preference]\nsecond_judge = "second"\nconfidence = "calibrated"\n'
    found = pairs_of(contest.run(two(contest), prefers("B"), prefers("A")))["c0"]
    assert (found.escalated, found.settled_by, found.verdict) == (True, "second_judge", "A")
    assert (found.confidence, found.sure) == (0.9, 0.9)


def test_two_critical_traces_cap_the_probability_too(contest):
    contest.run(two(contest), prefers("B")).close()
    put_map(contest, worth=(0.7, 0.95))
    contest.settings = CALIBRATED
    critical = (["it deletes"], ["it deletes too"])

    def rule(request):
        return says("B" if request.order == "ab" else "A", 0.9, critical)

    found = pairs_of(contest.run(two(contest, use_cache=False), rule))["c0"]
    assert (found.both_critical, found.confidence, found.calibrated_confidence) == (True, 0.5, 0.5)


def test_a_tie_has_no_worth_of_its_own_but_goes_to_a_person_as_before(contest):
    contest.run(two(contest), always("A")).close()
    put_map(contest)
    contest.settings = CALIBRATED
    contest.run(two(contest), always("A")).close()
    assert "order_inconsistent" in reasons(contest)


# ---- the map that calibration makes ----


@pytest.mark.slow
def test_from_500_cases_on_the_map_is_isotonic_and_its_name_depends_on_the_labels(tmp_path):
    with Store.open(tmp_path / "s.db") as store:
        put_run(store, "preference")
        pairs = [(("A", 0.6 if n % 2 else 0.9), "B" if n % 5 == 0 and n % 2 else "A") for n in range(520)]
        put_labels(store, pairs, "preference")

        def made():
            [one] = calibrated(store, field="overall", resamples=20).calibrations
            return one.confidence.recalibration

        first = made()
        assert (first.map["kind"], first.labels, first.error.null_mean is not None) == ("isotonic", 520, True)
        assert Isotonic(stated=tuple(first.map["stated"]), worth=tuple(first.map["worth"])).probability(0.6) == 0.8
        assert made().id == first.id
        put_labels(store, [(("A", 0.6), "B")], "preference", first=900)
        assert made().id != first.id


# ---- what a judge said by itself ----


def test_each_judge_of_a_panel_and_the_panel_are_judges_of_their_own():
    facts = {"judges": [{"name": "b", "model": "m-b"}, {"name": "a", "model": "m-a"}], "prompts": [{"sha256": "p"}]}
    result = {
        "status": "EVALUATED", "judge_grade": "PASS",
        "judges": [
            {"judge": "b", "status": "EVALUATED", "reply": {"grade": "PASS"}}, {"judge": "a", "reply": {"grade": "FAIL"}},
            {"judge": "a", "replicate": 1, "reply": {"grade": "FAIL"}},
        ],
    }  # fmt: skip
    b, a, both = said_of("selection", result, Uses(None, facts))
    assert (b.judge, b.use, b.fields) == ("b", Use("m-b", "p"), {"grade": "PASS"})
    assert (a.judge, a.fields, a.repeats) == ("a", {"grade": "FAIL"}, {"grade": ("FAIL", "FAIL")})
    assert (both.judge, both.use, both.is_panel) == ("a + b", Use("m-a + m-b", "p"), True)
    assert both.fields == {"grade": "PASS"}


def test_a_light_and_a_strong_judge_each_have_their_own_score():
    result = {
        "status": "EVALUATED", "score": 2, "light_score": 4, "strong_score": 2,
        "judges": [{"judge": "light", "reply": {"score": 4, "confidence": 0.8}}, {"judge": "strong", "reply": {"score": 2}}],
    }  # fmt: skip
    light, strong = said_of("interpretation", result, Uses(None, {}))
    assert (light.fields["score"], strong.fields["score"]) == (4, 2)
    assert (light.confidence, strong.confidence) == (0.8, None)


def test_the_two_orders_of_a_pair_are_one_answer_of_the_judge():
    result = PreferenceResult(
        pair="c", case_id="c", verdict="TIE", judges=(opinion({"preferred_trace": "A"}), opinion({"preferred_trace": "B"})),
        reconciled=(Reconciled(judge="fast", winner="B", confidence=0.8, orders=2),),
    )  # fmt: skip
    import msgspec

    [said] = said_of("preference", msgspec.to_builtins(result), Uses(None, {}))
    assert (said.fields, said.confidence) == ({"overall": "B", "both_critical": False}, 0.8)
    unread = replace(result, reconciled=(Reconciled(judge="fast", orders=1),), reason="JUDGE_EMPTY", verdict=None)
    [said] = said_of("preference", msgspec.to_builtins(unread), Uses(None, {}))
    assert (said.fields, said.reason) == ({}, "JUDGE_EMPTY")


def test_a_light_judge_is_out_by_the_newest_calibration_that_proves_something(tmp_path):
    (tmp_path / "rightcall.toml").write_text('store = "s.db"\n')
    loaded = load_settings(tmp_path / "rightcall.toml", {}, {})
    known = {
        "grader": "interpretation", "judge": "light", "field": "score", "model": "m", "prompt_sha256": "p",
        "at": "2026-11-30T10:00:00Z", "report": sha256_of(b"{}"),
    }  # fmt: skip
    out = []
    for split, verdict in (("dev", "NOT_FIT"), ("test", "NOT_FIT"), ("dev", "FIT"), ("all", "INSUFFICIENT")):
        with Store.open(tmp_path / "s.db") as store:
            store.write([CalibrationRecord(**known, split=split, verdict=verdict)], ["{}"])
        out.append(list(unfit_models(loaded, "light", "p")))
    assert out == [[], ["m"], ["m"], []]

"""`interpretation` by a light and a strong judge: who is drawn, what is corrected, when the light one is out."""

from __future__ import annotations

import json
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judged_making import Here, results_of
from reading_making import by_number, called, message, prepared, reading, says

from rightcall.errors import Unavailable
from rightcall.grade.interpretation import InterpretationResult
from rightcall.run.interpretation.figures import InterpretationAggregate
from rightcall.run.interpretation.sampling import FEWEST, Reading, TwoPhases, doubles_of
from rightcall.testing import ScriptedModel

N = 60


@pytest.fixture
def here(tmp_path):
    one = Here(tmp_path, judges=("light", "strong"))
    one.write("traces.jsonl", *(reading(n, "depth" if n % 3 else "width") for n in range(N)))
    return one


def light(n):
    """4 or 5, at random by number."""
    return 5 if n * 7919 % 10 < 6 else 4


def strong(n):
    """One level below the light judge, for one in four."""
    return light(n) - (n * 104729 % 4 == 0)


def judged_by(here, first=None, second=None, **flags):
    """Run with both judges; the run, its results and figures, and the two models."""
    models = first or by_number(light), second or by_number(strong)
    judged = here.run(prepared(here, **flags), *models)
    with judged:
        return judged, results_of(judged), judged.aggregate.summary(), models


def units(model):
    return [request.unit for request in model.requests]


def test_the_strong_judge_reads_a_random_stratified_share_of_the_same_readings(here):
    judged, found, summary, (first, second) = judged_by(here)
    assert judged.stop is None
    assert len(first.requests) == N
    both = [one for one in found if one["strong_score"] is not None]
    assert sorted(units(second)) == sorted(one["step_id"] for one in both)
    strata = {one["stratum"]: one for one in summary["two_judges"]["strata"]}
    assert sum(one["n"] for one in strata.values()) == N
    assert all(one["drawn"] >= FEWEST and one["drawn"] >= 0.2 * one["n"] for one in strata.values())
    for one in both:
        assert one["sampling_probability"] == pytest.approx(strata[one["stratum"]]["probability"])
        assert (one["score"], one["scored_by"]) == (one["strong_score"], "strong")
        assert [opinion["judge"] for opinion in one["judges"]] == ["light", "strong"]
    rest = [one for one in found if one["strong_score"] is None]
    assert {(one["score"] == one["light_score"], one["scored_by"], one["stratum"]) for one in rest} == {
        (True, "light", None)
    }


def test_the_same_questions_are_put_to_both_judges(here):
    _, _, _, (first, second) = judged_by(here)
    asked = {request.unit: request.input_sha256 for request in first.requests}
    assert all(asked[request.unit] == request.input_sha256 for request in second.requests)


@pytest.mark.slow
def test_the_draw_depends_on_units_scores_and_seed_alone(here, tmp_path):
    drawn = [set(units(judged_by(here, seed=seed)[3][1])) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    other = Here(tmp_path / "other", judges=("light", "strong"))
    other.write("traces.jsonl", *(reading(n, "depth" if n % 3 else "width") for n in reversed(range(N))))
    assert set(units(judged_by(other, seed=1)[3][1])) == drawn[0]


def test_means_are_corrected_and_the_light_judges_own_stand_beside_them(here):
    _, found, summary, _ = judged_by(here)
    truth = sum(strong(n) for n in range(N)) / N / 5
    naive = sum(light(n) for n in range(N)) / N / 5
    assert summary["estimator"] == "two_phase"
    assert summary["light"]["estimate"] == pytest.approx(naive)
    assert summary["fidelity"]["low"] < truth < summary["fidelity"]["high"]
    assert summary["fidelity"]["estimate"] < naive
    assert summary["fidelity"]["method"].startswith("two-phase")
    assert {row["estimator"] for row in summary["by_tool"]} == {"two_phase"}
    assert sum(row["doubles"] for row in summary["by_tool"]) == summary["two_judges"]["doubles"]
    two = summary["two_judges"]
    assert two["to_whom"] == "calibrated to the strong judge, not to people"
    assert two["light_is_lenient_by"]["estimate"] > 0
    assert two["kappa"]["method"].startswith("cohen kappa quadratic")
    assert (two["few"], two["light_is_out"]) == (True, False)
    json.dumps(found)


def test_r99_is_what_the_runs_aggregate_says_about_the_reference_example(shared_data):
    """The example doubles every fifth reading of one stratum; its scores are scaled to fidelities."""
    example = json.loads((shared_data / "stats" / "two_judge_example.json").read_text())
    entries = json.loads((shared_data / "stats" / "reference.json").read_text())
    entries = entries if isinstance(entries, list) else entries["entries"]
    r99 = next(one for one in entries if one["id"] == "R99")

    class Fifths(TwoPhases):
        def stratum(self, tool, light):
            return "all"

        def drawn(self, readings):
            return {one.unit: 0.2 for one in readings if int(one.unit) % 5 == 0}

    aggregate = InterpretationAggregate("fifths", 0.8, Fifths("light", "strong"), ())
    for n, score in enumerate(example["light"]):
        double = example["strong_on_every_5th"][n // 5] if n % 5 == 0 else None
        aggregate.add(
            InterpretationResult(
                step_id=str(n), trace_id=str(n), case_id=None, call_index=0, tool="t", light_score=score,
                score=score if double is None else double, strong_score=double,
            )
        )  # fmt: skip
    found = aggregate.summary()["fidelity"]
    estimate, error = r99["expected"]
    assert found["estimate"] * 5 == pytest.approx(estimate, abs=1e-9)
    assert aggregate.summary()["light"]["estimate"] * 5 == pytest.approx(3.752)
    half = (found["high"] - found["low"]) / 2 * 5
    assert half / NormalDist().inv_cdf(0.975) == pytest.approx(error, rel=0.02)  # Student's quantile is a little wider


@pytest.mark.slow
def test_few_doubles_are_said(here):
    _, _, summary, _ = judged_by(here)
    assert summary["two_judges"]["doubles"] < 30
    _, _, summary, _ = judged_by(here, own={"strong_share": 0.8})
    assert not summary["two_judges"]["few"]


# ---- the light judge is out ------------------------------------------------------------------------------------------


def test_a_light_judge_that_disagrees_too_often_is_out_and_the_strong_one_reads_everything(here):
    _, found, summary, (first, second) = judged_by(here, second=by_number(lambda n: light(n) - 2))
    assert (len(first.requests), len(second.requests)) == (N, N)
    assert all(one["scored_by"] == "strong" for one in found)
    assert summary["estimator"] == "strong_all"
    assert summary["fidelity"]["estimate"] == pytest.approx(sum(light(n) - 2 for n in range(N)) / N / 5)
    assert summary["two_judges"]["light_is_out"]
    assert summary["two_judges"]["doubles"] < N  # the rest was asked about beyond the draw


def test_the_reader_is_told_that_the_light_judge_is_out_and_why(here):
    setup = prepared(here)
    judged = here.run(setup, by_number(light), by_number(lambda n: light(n) - 2))
    judged.close()
    assert setup.warn()[0].startswith("light judge `light` is out: it disagrees with `strong` on 1.000 [")


def test_a_light_judge_with_some_disagreement_stays(here):
    _, _, summary, (_, second) = judged_by(here)
    assert summary["two_judges"]["disagreement"]["estimate"] > 0.1
    assert len(second.requests) < N


def test_scores_that_are_far_apart_go_to_review_as_disagreement(here):
    judged, found, _, _ = judged_by(here, second=by_number(lambda n: 2 if n == 7 else light(n)), own={"strong_share": 1.0})  # fmt: skip
    with here.opened() as store:
        reviews = [(one.unit, one.reason, one.detail) for _, one in store.reviews(run_id=judged.run.id)]
    assert [(unit, detail) for unit, reason, detail in reviews if reason == "panel_disagreement"] == [
        ("t-0007#c1", f"the light judge says {light(7)}, the strong one 2")
    ]
    assert next(one for one in found if one["step_id"] == "t-0007#c1")["disagreement"] == ["score"]


# ---- what goes wrong -------------------------------------------------------------------------------------------------


def test_a_reply_of_the_strong_judge_that_cannot_be_read_leaves_the_light_score(here):
    _, found, summary, _ = judged_by(here, second=ScriptedModel(lambda _: "{score: four}"))
    assert {one["status"] for one in found} == {"EVALUATED"}
    assert {one["scored_by"] for one in found} == {"light"}
    assert summary["two_judges"]["doubles"] == 0
    assert summary["fidelity"]["estimate"] is None
    assert "strong score" in summary["fidelity"]["reason"]
    assert summary["light"]["estimate"] is not None


def test_readings_without_a_light_score_are_in_no_draw_and_are_counted_as_left_out(here):
    def silent(request):
        return "nonsense" if request.unit == "t-0003#c1" else says(light(int(request.unit[2:6])))

    _, found, summary, (_, second) = judged_by(here, ScriptedModel(silent))
    assert next(one for one in found if one["step_id"] == "t-0003#c1")["status"] == "UNEVALUABLE"
    assert "t-0003#c1" not in units(second)
    assert (summary["fidelity"]["n"], summary["fidelity"]["excluded"]) == (N - 1, 1)


def test_a_strong_judge_that_could_not_be_reached_is_asked_again_when_the_run_goes_on(here):
    def down(_request):
        raise Unavailable("nobody there", code="JUDGE_UNREACHABLE")

    judged, found, _, _ = judged_by(here, second=ScriptedModel(down), own={"strong_share": 0.05})
    assert judged.stop is None
    assert {one["scored_by"] for one in found} == {"light"}
    setup = prepared(here, own={"strong_share": 0.05}, resume=judged.run.id)
    again, strong_model = by_number(light), by_number(strong)
    judged = here.run(setup, again, strong_model)
    found = results_of(judged)
    assert again.requests == []
    assert len(strong_model.requests) == sum(one["scored_by"] == "strong" for one in found) > 0


@pytest.mark.slow
@pytest.mark.parametrize("calls", [10, N, N + 4])
def test_a_run_that_was_stopped_anywhere_goes_on_with_the_same_draw(here, calls):
    _, whole, wanted, (_, asked) = judged_by(here)
    judged, _, _, first = judged_by(here, budget=f"{calls}calls")
    assert judged.stop.cause == "budget"
    setup = prepared(here, resume=judged.run.id)
    models = by_number(light), by_number(strong)
    judged = here.run(setup, *models)
    found, summary = results_of(judged), judged.aggregate.summary()
    assert judged.stop is None
    assert summary == wanted
    assert [plain(one) for one in found] == [plain(one) for one in whole]
    calls_of = [len(model.requests) for model in (*first, *models)]
    assert calls_of[0] + calls_of[2] == N
    assert sorted(units(first[1]) + units(models[1])) == sorted(units(asked))


def plain(result):
    """A result without what another run cannot repeat."""
    for opinion in result["judges"]:
        del opinion["attempts"], opinion["cached"]
    return result


def test_what_was_read_is_counted_once_although_the_files_are_read_again(here):
    judged, _, _, _ = judged_by(here)
    assert [report.read for report in judged.reports.values()] == [N]


def test_readings_of_one_trace_are_drawn_one_by_one(tmp_path):
    here = Here(tmp_path, judges=("light", "strong"))
    events = [event for n in range(20) for event in (called("depth", n + 10), message(f"It is {n + 10}."))]
    here.write("traces.jsonl", *(reading(0) | {"id": f"t-{n:04d}", "events": events} for n in range(3)))
    _, found, summary, (_, second) = judged_by(here)
    assert len(found) == 60
    assert 12 <= len(second.requests) < 30
    assert "clustered in 3 cases" in summary["fidelity"]["method"]


# ---- rules -----------------------------------------------------------------------------------------------------------

SCORES = st.integers(1, 5)


@given(SCORES, SCORES)
def test_two_scores_differ_by_more_than_a_level_or_across_the_limit(a, b):
    phases = TwoPhases("a", "b")
    assert phases.far_apart(a, b) == phases.far_apart(b, a) == (abs(a - b) > 1)
    assert phases.differ(a, b) == phases.differ(b, a) == (abs(a - b) > 1 or (a < 4) != (b < 4))


@given(st.lists(st.tuples(st.sampled_from("xyz"), SCORES), max_size=60), st.integers(0, 3), st.floats(0.05, 1))
def test_every_stratum_has_its_share_and_nothing_is_drawn_without_a_light_score(rows, seed, share):
    readings = [Reading(f"u{n}", tool, None, "c", 3, score, None) for n, (tool, score) in enumerate(rows)]
    readings.append(Reading("no", "x", None, "c", 3, None, None))
    phases = TwoPhases("a", "b", share=share, seed=seed)
    drawn, chances = phases.drawn(readings), phases.probabilities(readings)
    assert drawn == {unit: chances[unit] for unit in drawn}
    assert "no" not in chances
    for stratum in {(one.tool, one.light) for one in readings if one.light is not None}:
        whole = [one.unit for one in readings if (one.tool, one.light) == stratum]
        assert len([unit for unit in whole if unit in drawn]) >= min(FEWEST, len(whole), 1)


@given(st.lists(st.tuples(SCORES, SCORES), max_size=40))
def test_the_light_judge_is_out_only_if_more_disagree_than_is_tolerated(pairs):
    readings = [Reading(str(n), "t", None, str(n), b, a, b) for n, (a, b) in enumerate(pairs)]
    phases = TwoPhases("a", "b", limit=0.1)
    doubles = doubles_of(readings, {one.unit: 1.0 for one in readings})
    share = sum(phases.differ(a, b) for a, b in pairs) / max(1, len(pairs))
    assert not phases.is_out(doubles) or share > 0.1
    assert not phases.is_out([])

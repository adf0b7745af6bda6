"""Whether the judge of a run is fit: by its newest calibration with the same model and prompt."""

from __future__ import annotations

import msgspec
import pytest
from labels_making import PROMPT, calibrated, item_records, opinion, put_labels, put_run, result_of, told

from rightcall.gate.decision import JudgeFitness
from rightcall.run.calibration.fitness import fitness_of
from rightcall.run.calibration.reading import Wanted
from rightcall.run.calibration.saving import save
from rightcall.run.judging.record import sha256_of
from rightcall.run.results.store import stored_results
from rightcall.store.records import AttemptRecord, CalibrationRecord
from rightcall.store.store import Store
from rightcall.store.verify import verify

RUN = "20261129-1"
GOOD, BAD = told(60, 0, 0, 80), told(0, 60, 0, 80)


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "s.db") as one:
        yield one


def labelled(store, pairs, **run):
    name = put_run(store, **run)
    put_labels(store, pairs, run=name, people=2)
    return name


def calibrate(store, run=RUN, at="2026-11-30T10:00:00Z"):
    wanted = Wanted(split="all", runs=(run,))
    return save(store, calibrated(store, runs=(run,), resamples=50), wanted, at)


def fitness(store, run=RUN):
    return fitness_of(store, stored_results(store, run))


def record(**changed):
    known = {
        "grader": "rubric", "judge": "fast", "field": "selection", "model": "m-1", "prompt_sha256": PROMPT,
        "at": "2026-11-30T10:00:00Z", "split": "test", "verdict": "FIT", "labels": 120, "report": sha256_of(b"{}"),
    }  # fmt: skip
    return CalibrationRecord(**(known | changed))


@pytest.mark.slow
def test_the_newest_calibration_of_the_same_model_and_prompt_counts(store):
    labelled(store, BAD)
    calibrate(store)
    assert fitness(store)["selection", "fast"].verdict == "NOT_FIT"
    put_labels(store, GOOD * 12, first=1000, people=2)
    report = calibrate(store, at="2026-11-30T11:00:00Z")
    found = fitness(store)["selection", "fast"]
    assert isinstance(found, JudgeFitness)
    assert (found.judge, found.grader, found.verdict, found.model) == ("fast", "selection", "FIT", "m-1")
    assert (found.id, found.at, found.split) == (report.calibrations[0].id, "2026-11-30T11:00:00Z", "all")
    assert (found.labels, found.reason) == (1820, None)
    assert found.agreement == report.calibrations[0].figures.kappa
    assert found.detection == report.calibrations[0].figures.detection
    assert found.people.estimate == 1.0


def test_a_judge_that_was_never_calibrated_is_unknown(store):
    labelled(store, GOOD[:3])
    assert fitness(store) == {
        ("selection", "fast"): JudgeFitness(
            judge="fast", grader="selection", verdict="UNKNOWN", model="m-1", reason="never calibrated"
        )
    }
    assert fitness_of(None, stored_results(store, RUN))["selection", "fast"].verdict == "UNKNOWN"


def test_labels_that_prompts_are_tuned_on_prove_nothing(store):
    put_run(store)
    put_labels(store, GOOD[:1])
    known = {"grader": "selection", "field": "grade"}
    store.write([record(**known, split="dev")], ["{}"])
    found = fitness(store)["selection", "fast"]
    assert found.verdict == "UNKNOWN"
    assert found.reason == "calibrated on the dev part of the labels only, on which prompts are tuned"
    store.write([record(**known, verdict="NOT_FIT")])
    store.write([record(**known, split="dev", at="2026-11-30T12:00:00Z")])
    assert fitness(store)["selection", "fast"].verdict == "NOT_FIT"


def test_another_prompt_or_model_says_what_was_calibrated_and_what_was_used(store):
    labelled(store, GOOD)
    calibrate(store)
    labelled(store, GOOD[:2], run="20261129-2", prompts=("b" * 64,))
    other = fitness(store, "20261129-2")["selection", "fast"]
    assert (other.verdict, other.reason) == (
        "UNKNOWN", "calibrated with prompt selection 1 (aaaaaa), this run used bbbbbb",
    )  # fmt: skip
    labelled(store, GOOD[:2], run="20261129-3", model="m-2")
    other = fitness(store, "20261129-3")["selection", "fast"]
    assert other.reason == "calibrated with model m-1, this run used m-2"
    assert fitness(store)["selection", "fast"].verdict == "FIT"


def test_the_model_that_answered_counts_and_not_the_one_that_was_asked_for(store):
    put_run(store, model="m")
    result = result_of("selection", "u", "c", "PASS", judges=(opinion({"grade": "PASS"}, model="m-2026-11"),))
    made, body = item_records(RUN, "selection", "u", "c", result)
    store.write(made, [body])
    store.write([record(grader="selection", field="grade", model="m")], ["{}"])
    assert fitness(store)["selection", "fast"].reason == "calibrated with model m, this run used m-2026-11"
    store.write([record(grader="selection", field="grade", model="m-2026-11")])
    assert fitness(store)["selection", "fast"].verdict == "FIT"


def test_a_run_without_judges_has_none(store):
    put_run(store, judges=[])
    assert fitness(store) == {}


FIELDS = ("selection", "arguments", "sequencing", "abstention", "severity")


@pytest.mark.parametrize(
    ("verdicts", "labels", "answer"),
    [
        ({}, {}, "FIT"),
        ({"severity": "NOT_FIT"}, {}, "NOT_FIT"),
        ({"severity": "INSUFFICIENT"}, {}, "INSUFFICIENT"),
        ({"abstention": "INSUFFICIENT"}, {"abstention": 12}, "FIT"),  # hardly ever at issue
        ({"abstention": "INSUFFICIENT"}, {"abstention": 40}, "INSUFFICIENT"),
        ({"arguments": None}, {}, "UNKNOWN"),
        ({"arguments": None, "severity": "NOT_FIT"}, {}, "NOT_FIT"),
    ],
)
def test_a_judge_is_as_fit_as_in_the_field_where_it_is_least_fit(store, verdicts, labels, answer):
    put_run(store, "rubric")
    result = result_of("rubric", "u", "c", 4)
    made, body = item_records(RUN, "rubric", "u", "c", result)
    store.write(made, [body, "{}"])
    store.write([
        record(field=field, verdict=verdicts.get(field, "FIT"), labels=labels.get(field, 120))
        for field in FIELDS if verdicts.get(field, "FIT") is not None
    ])  # fmt: skip
    assert fitness(store)["rubric", "fast"].verdict == answer


def test_of_two_prompts_in_one_run_each_counts_where_it_was_used(store):
    """`rubric` has one prompt for traces with a golden and one for those without: exchanges say which was asked."""
    prompts = ("a" * 64, "b" * 64)
    put_run(store, "rubric", prompts=prompts)
    attempts = [
        AttemptRecord(run_id=RUN, grader="rubric", unit=f"u-{n}", judge="fast", key=str(n), status="ok",
                      prompt_sha256=prompts[n])
        for n in range(2)
    ]  # fmt: skip
    digests = store.write([*attempts, *(record(field=field) for field in FIELDS)], ["{}"])

    def put(n):
        judges = (opinion({"tool_selection_score": 4}, attempts=(digests[n],)),)
        result = msgspec.structs.replace(result_of("rubric", f"u-{n}", None, 4), judges=judges)
        made, body = item_records(RUN, "rubric", f"u-{n}", None, result)
        store.write(made, [body])

    put(0)
    assert fitness(store)["rubric", "fast"].verdict == "FIT"
    put(1)
    found = fitness(store)["rubric", "fast"]
    assert (found.verdict, found.reason) == ("UNKNOWN", "calibrated with prompt aaaaaa, this run used bbbbbb")


def test_its_figures_are_those_of_the_field_where_they_are_lowest(store):
    put_run(store, "policy", reply_schema={})
    made, body = item_records(RUN, "policy", "u", "c", result_of("policy", "u", "c", "pass"))
    fields = {"tone": (0.9, None), "verdict": (0.8, 0.95), "safe": (0.85, 0.7)}
    store.write([*made, *(
        record(grader="policy", field=field, agreement=plain(agreed), detection=None if caught is None else plain(caught))
        for field, (agreed, caught) in fields.items()
    )], [body, "{}"])  # fmt: skip
    found = fitness(store)["policy", "fast"]
    assert (found.verdict, found.agreement.estimate, found.detection.estimate) == ("FIT", 0.8, 0.7)


def plain(value):
    return {
        "estimate": value,
        "low": value,
        "high": value,
        "n": 120,
        "method": "made up",
        "excluded": 0,
        "reason": None,
    }


def test_a_panel_that_was_calibrated_is_one_judge(store):
    put_run(store, judges=[{"name": "b", "model": "m-b"}, {"name": "a", "model": "m-a"}])
    judges = (opinion({"grade": "PASS"}, judge="b"), opinion({"grade": "PASS"}, judge="a"))
    made, body = item_records(RUN, "selection", "u", "c", result_of("selection", "u", "c", "PASS", judges=judges))
    store.write(made, [body, "{}"])
    assert set(fitness(store)) == {("selection", "a"), ("selection", "b")}
    store.write([record(grader="selection", field="grade", judge="a + b", model="m-a + m-b")])
    assert {key: one.verdict for key, one in fitness(store).items()} == {("selection", "a + b"): "FIT"}


def test_what_is_saved_is_read_back_on_both_databases(store_url):
    with Store.open(store_url) as store:
        labelled(store, GOOD)
        made = calibrate(store).calibrations[0]
        assert fitness(store)["selection", "fast"].id == made.id
        [(_, _, kept)] = store.calibrations(grader="selection", judge="fast", field="grade")
        assert (kept.verdict, kept.labels, kept.answers, kept.runs) == ("FIT", 140, made.answers, (RUN,))
        body = msgspec.json.decode(store.body(kept.report))
        assert (body["labels"], body["figures"]["kappa"]["estimate"]) == (140, 1.0)
        assert verify(store).faults == ()

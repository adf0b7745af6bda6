"""What a stated confidence is worth: bins, thresholds for all and for destructive tools, the map and its test."""

from __future__ import annotations

import pytest
from labels_making import answer, calibrated, item_records, opinion, put_labels, put_run, result_of
from msgspec.structs import replace

from rightcall.settings.model import CalibrateTable
from rightcall.stats.calibration import brier
from rightcall.store.store import Store


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "s.db") as one:
        yield one


def confidence(store, pairs, grader="preference", **made):
    put_run(store, grader)
    put_labels(store, pairs, grader, **made)
    return next(one.confidence for one in calibrated(store).calibrations if one.confidence is not None)


def stated(right, wrong, sure):
    return [(("A", sure), "A")] * right + [(("B", sure), "A")] * wrong


def test_the_bins_hold_what_was_stated_and_how_often_it_was_right(store):
    found = confidence(store, stated(9, 11, 0.6) + stated(19, 1, 0.95))
    assert [(one.low, one.share.estimate, one.share.n) for one in found.bins] == [(0.6, 0.45, 20), (0.95, 0.95, 20)]
    assert (found.labels, found.silent) == (40, 0)
    assert found.wrong.estimate == pytest.approx(12 / 40)
    assert found.brier.estimate == pytest.approx(
        brier([0.6] * 20 + [0.95] * 20, [True] * 9 + [False] * 11 + [True] * 19 + [False]).estimate
    )
    assert found.error.null_mean > 0
    assert [(one.threshold, one.accepted, one.errors) for one in found.curve] == [(0.95, 20, 1), (0.6, 40, 12)]


def test_a_threshold_is_the_smallest_that_keeps_the_error_and_else_the_fixed_one_stays(store):
    found = confidence(store, stated(70, 0, 0.9) + stated(5, 15, 0.5))
    route = found.routes["all"]
    assert (route.stands, route.calibrated, route.target) == (0.9, True, 0.05)
    assert route.route.error.high <= 0.05
    few = CalibrateTable(max_error=0.01)
    route = calibrated(store, table=few, field="overall").calibrations[0].confidence.routes["all"]
    assert (route.stands, route.calibrated, route.route.missing) == (0.7, False, 229)


def test_destructive_tools_have_a_target_of_their_own(store):
    put_run(store)
    records, bodies = [], []
    for number in range(60):
        unit, case, risky = f"u-{number:03d}", f"c-{number}", number < 20
        judges = (opinion({"grade": "PASS", "confidence": 0.9}),)
        made, body = item_records("20261129-1", "selection", unit, case,
                                  result_of("selection", unit, case, "PASS", judges=judges, destructive=risky))  # fmt: skip
        records += [*made, answer(made[0], {"grade": "PASS"})]
        bodies.append(body)
    store.write(records, bodies)
    [one] = calibrated(store).calibrations
    routes = one.confidence.routes
    assert (routes["all"].labels, routes["all"].calibrated) == (60, True)
    assert (routes["destructive"].labels, routes["destructive"].target) == (20, 0.01)
    assert (routes["destructive"].calibrated, routes["destructive"].route.missing) == (False, 299 - 20)


def test_a_level_one_step_off_is_right_as_it_is_between_people(store):
    found = confidence(store, [((4, 0.9), 5)] * 20 + [((2, 0.9), 5)] * 12, "interpretation")
    assert found.wrong.estimate == 12 / 32


def test_a_judge_that_states_nothing_has_no_confidence(store):
    put_run(store)
    put_labels(store, [("PASS", "PASS")] * 40)
    [one] = calibrated(store).calibrations
    assert one.confidence is None


@pytest.mark.parametrize(
    ("pairs", "reason"),
    [
        (stated(20, 10, 0.6) + stated(8, 1, 0.9), "39 cases with a stated confidence, 50 are needed for a map"),
        (stated(29, 1, 0.6) + stated(15, 15, 0.9), "the surer answers are not the better ones"),
        (stated(60, 0, 0.9), "all outcomes are the same"),
    ],
)
def test_there_is_no_map_where_it_could_not_help(store, pairs, reason):
    made = confidence(store, pairs).recalibration
    assert (made.id, made.map, made.brier) == (None, None, None)
    assert made.reason.startswith(reason)


def test_the_map_of_an_overconfident_judge_lowers_its_confidence_and_is_tested_on_other_cases(store):
    found = confidence(store, stated(25, 35, 0.8) + stated(45, 15, 0.95))
    made = found.recalibration
    assert made.map["kind"] == "platt"
    assert made.brier.estimate < found.brier.estimate
    assert made.id.startswith("map-")
    assert replace(made, id=None) != made

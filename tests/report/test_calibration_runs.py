"""A run's report names how fit its judges are, by what is on record, and on what each diagram rests."""

from __future__ import annotations

import json
import sys
from io import BytesIO
from pathlib import Path

import msgspec
import pytest
from calibration_pages import Tables, stated_pairs

sys.path.append(str(Path(__file__).parents[1] / "run"))

from labels_making import put_labels, put_run, told

from rightcall.report.calibration.runs import with_calibrations
from rightcall.report.formats.summary_md import render
from rightcall.report.html.page import write_html
from rightcall.report.view.building import view_of
from rightcall.run.calibration.calibrating import calibrate
from rightcall.run.calibration.reading import Wanted
from rightcall.run.calibration.saving import save
from rightcall.run.results.store import stored_results
from rightcall.settings.model import CalibrateTable
from rightcall.store.store import Store

RUN = "20261129-1"


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "s.db") as one:
        yield one


def calibrated_on(store, split="all", **wanted):
    """Calibrate and record it; the report as it was recorded."""
    asked = Wanted(split=split, **wanted)
    report = calibrate(store, asked, CalibrateTable(), resamples=60)
    return save(store, report, asked, "2026-11-30T09:00:00Z")


def seen(store, run=RUN):
    results = stored_results(store, run)
    return with_calibrations(view_of(results), store, results)


def html(view):
    stream = BytesIO()
    write_html(view, stream)
    return stream.getvalue().decode()


def test_each_judge_has_its_fitness_without_any_gate(store):
    put_run(store)
    put_labels(store, told(60, 4, 3, 90), people=2)
    [made] = calibrated_on(store).calibrations
    [part] = seen(store).graders
    [judge] = part.judges
    assert (judge.judge, judge.verdict, judge.id, judge.labels) == ("fast", "FIT", made.id, 157)
    assert judge.agreement == made.figures.kappa
    assert judge.people == made.people.agreement
    assert part.reliability == ()


def test_a_judge_that_was_never_calibrated_is_said_to_be_unknown(store):
    put_run(store)
    put_labels(store, told(2, 1, 1, 2))
    [judge] = seen(store).graders[0].judges
    assert (judge.verdict, judge.reason) == ("UNKNOWN", "never calibrated")
    assert "never calibrated" in render(seen(store))


def test_the_diagram_of_people_stands_in_the_page_with_what_it_rests_on_bin_by_bin(store):
    put_run(store, "preference")
    put_labels(store, stated_pairs(), "preference", people=2)
    [made] = [one for one in calibrated_on(store).calibrations if one.field == "overall"]
    view = seen(store)
    by_code, by_people = view.graders[0].reliability
    assert "against what code decided" in by_code.caption
    assert by_people.caption == "Confidence of judge fast against people's answers"
    assert by_people.bins == made.confidence.bins
    for words in (f"calibration {made.id} of 2026-11-30T09:00:00Z", "260 labels of people, of both parts", RUN):
        assert words in by_people.notes[0]
    assert f"ECE {made.confidence.error.estimate.estimate:.3f}" in by_people.notes[1]
    assert "a calibrated judge shows" in by_people.notes[1]
    text = html(view)
    [rows] = [rows for _, name, rows in Tables(text).tables if name == "The same in numbers" and len(rows) > 1]
    assert [cells[4] for cells in rows[1:]] == [str(one.share.n) for one in made.confidence.bins]
    assert "Confidence of judge fast against people&#39;s answers" in text
    assert "Confidence of judge fast against people's answers" in render(view).replace("`", "")


def test_a_note_that_nobody_knows_gives_way_to_what_people_said(store):
    put_run(store, "interpretation")
    put_labels(store, [((5, 0.9), 5)] * 40 + [((2, 0.6), 5)] * 20, "interpretation")
    before = view_of(stored_results(store, RUN)).graders[0].reliability
    assert [one.bins for one in before] == [()]
    calibrated_on(store)
    [after] = seen(store).graders[0].reliability
    assert after.bins
    assert "field score" in after.notes[0]


def test_only_calibrations_that_prove_something_and_of_the_same_model_and_prompt_are_shown(store):
    put_run(store, "preference")
    put_labels(store, stated_pairs(), "preference")
    calibrated_on(store, split="dev")
    put_run(store, "preference", run="20261129-2", model="m-2")
    put_labels(store, stated_pairs(60), "preference", run="20261129-2", first=500)
    calibrated_on(store, runs=("20261129-2",))
    part = seen(store).graders[0]
    assert all("against people" not in one.caption for one in part.reliability)
    assert part.judges[0].verdict == "UNKNOWN"
    assert any("against people" in one.caption for one in seen(store, "20261129-2").graders[0].reliability)


def test_a_report_that_cannot_be_read_is_named_in_place_of_its_diagram(store):
    put_run(store, "preference")
    put_labels(store, stated_pairs(60), "preference")
    [(_, _, record)] = [
        one for _ in [calibrated_on(store)] for one in store.calibrations() if one[2].field == "overall"
    ]  # fmt: skip
    plain = json.loads(store.body(record.report))
    del plain["fitness"]
    body = msgspec.json.encode(plain)
    from rightcall.run.judging.record import sha256_of

    store.write([msgspec.structs.replace(record, report=sha256_of(body), at="2026-12-01T09:00:00Z")], [body])
    [shown] = [one for one in seen(store).graders[0].reliability if "people" in one.caption]
    assert shown.bins == ()
    assert "of another version of rightcall" in shown.notes[0]


def test_without_a_record_the_report_is_as_it_was(store):
    put_run(store)
    put_labels(store, told(2, 1, 1, 2))
    results = stored_results(store, RUN)
    view = view_of(results)
    assert with_calibrations(view, None, results) is view

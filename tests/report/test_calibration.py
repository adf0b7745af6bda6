"""A calibration as it is shown: every figure with its interval and n, the worst first, nothing hidden."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.console import Console

sys.path.append(str(Path(__file__).parents[1] / "run"))

from calibration_pages import put_by_tool
from labels_making import calibrated, put_labels, put_run, told

from rightcall.report.calibration.building import field_view, view_of
from rightcall.report.calibration.markdown import markdown
from rightcall.report.calibration.parts import parts_of
from rightcall.report.calibration.terminal import print_calibration
from rightcall.report.calibration.words import p_value
from rightcall.report.written.calibration import plain_values
from rightcall.stats.fitness import condition
from rightcall.store.store import Store


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "s.db") as one:
        yield one


def printed(report, width=80):
    stream = io.StringIO()
    print_calibration(Console(file=stream, width=width, no_color=True), view_of(report))
    return stream.getvalue()


def said(report, width=80):
    return " ".join(printed(report, width).split())


def test_what_is_missed_stands_first_in_the_fitness(store):
    put_run(store)
    put_labels(store, told(20, 30, 2, 70), people=2)
    report = calibrated(store)
    [part] = [one for one in parts_of(field_view(report.calibrations[0], "all")) if one.title == "fitness"]
    answers = [line.split()[0] for line in part.lines if line.split()[0] in ("PASS", "FAIL", "INCONCLUSIVE")]
    assert answers == sorted(answers, key=("FAIL", "INCONCLUSIVE", "PASS").index)
    assert answers[0] == "FAIL"
    assert part.lines[-1].startswith("verdict: ✗ NOT FIT")


def test_what_is_caught_and_missed_is_counted(store):
    put_run(store)
    put_labels(store, told(38, 7, 4, 71))
    shown = said(calibrated(store))
    assert "people call 45 of these FAIL: the judge catches 38 and misses 7; of the 75 others it clears 71" in shown


def test_what_is_caught_on_a_scale_leaves_out_what_is_not_at_issue(store):
    put_run(store, "rubric")
    pairs = [(1, 1)] * 12 + [(5, 1)] * 3 + [(5, 5)] * 20 + [(2, 5)] * 4
    put_labels(store, [*pairs, (None, 5)], "rubric")
    shown = said(calibrated(store))
    assert "people call 15 of these 1 to 3: the judge catches 12 and misses 3; of the 24 others it clears 20" in shown


def test_an_undefined_figure_is_a_dash_with_its_reason_below(store):
    put_run(store)
    put_labels(store, [("PASS", "PASS")] * 40)
    shown = said(calibrated(store))
    assert "agreement, plain 1.000" in shown
    assert "kappa – – 40" in shown
    assert "kappa is undefined: one label only" in shown
    assert "catches FAIL (Se) – – 0" in shown


def test_a_hollow_bin_or_group_has_fewer_than_ten(store):
    put_run(store, "preference")
    put_labels(store, [(("A", 0.5), "A")] * 5 + [(("A", 0.9), "A"), (("B", 0.9), "A")] * 20, "preference")
    lines = printed(calibrated(store, field="overall")).splitlines()
    [hollow] = [line.split() for line in lines if line.strip().startswith("○")]
    assert (hollow[1], hollow[-1]) == ("0.5", "5")
    assert any(line.strip().startswith("● 0.9") or line.split()[:2] == ["●", "0.9"] for line in lines)


def test_it_fits_80_columns(store):
    put_run(store)
    put_labels(store, told(40, 20, 12, 70), people=2)
    put_run(store, "rubric", run="20261129-2")
    put_labels(store, [(level, level) for level in (1, 2, 3, 4, 5)] * 10, "rubric", run="20261129-2")
    shown = printed(calibrated(store))
    assert max(len(line.rstrip()) for line in shown.splitlines()) <= 80
    assert "…" not in shown


def test_text_of_others_cannot_play_tricks(store):
    put_run(store, model="m\x1b[31m\u202e", judge="fast")
    put_labels(store, told(3, 1, 1, 3))
    report = calibrated(store)
    assert "\x1b" not in printed(report)
    assert "\\u202e" in printed(report)
    assert "\u202e" not in markdown(view_of(report))


def test_markdown_has_the_same_parts_and_escapes(store):
    put_run(store, model="a|b<i>")
    put_labels(store, told(38, 7, 4, 71))
    page = markdown(view_of(calibrated(store)))
    assert page.startswith("# Calibration\n\n## Which judge may decide what\n\n| judge | answer | why |")
    assert "| fast · selection · grade | ◐ INSUFFICIENT | catches FAIL: detection 0.8444" in page
    assert "\n\n## fast · selection · grade   ◐ INSUFFICIENT\n" in page
    assert "model a\\|b\\<i\\>" in page
    assert "| FAIL | 7 | 38 | 0.375" in page
    assert "### fitness" in page


def test_plain_values_have_the_verdict_beside_the_fitness(store):
    put_run(store)
    put_labels(store, told(38, 7, 4, 71))
    [one] = plain_values(calibrated(store))["calibrations"]
    assert one["verdict"] == one["fitness"]["verdict"] == "INSUFFICIENT"


def test_a_figure_that_fails_is_never_shown_as_the_threshold(store):
    put_run(store)
    put_labels(store, told(79, 21, 0, 100), people=2)
    one = calibrated(store).calibrations[0]
    detection = replace(one.figures.detection, estimate=0.79996, low=0.79996)
    conditions = tuple(
        condition("detection", detection, 0.8) if each.name == "detection" else each for each in one.fitness.conditions
    )
    one = replace(
        one, figures=replace(one.figures, detection=detection), fitness=replace(one.fitness, conditions=conditions)
    )  # fmt: skip
    parts = list(parts_of(field_view(one, "all")))
    [row] = [row for part in parts if part.grid for row in part.grid.rows if row[0] == "catches FAIL (Se)"]
    assert row[1:3] == ("0.79996", f"0.79996 – {detection.high:.3f}")
    [line] = [line for part in parts for line in part.lines if line.startswith("FAIL  catches")]
    assert line.startswith("FAIL  catches FAIL: detection 0.79996, interval 0.79996 – ")


def test_what_was_chosen_on_these_labels_is_said_to_be(store):
    put_run(store, "preference")
    pairs = [(("A", 0.9), "A"), (("B", 0.9), "B")] * 60 + [(("A", 0.5), "B"), (("B", 0.5), "B")] * 10
    pairs.append((("A", 0.9), "B"))
    put_labels(store, pairs, "preference")
    shown = said(calibrated(store))
    assert "decide alone from 0.9 on" in shown
    assert "a threshold and a map chosen on these labels look a little too good on them: look again" in shown
    assert "a threshold says where the judge is seldom wrong, not that it is fit" in shown


def test_who_lacks_a_ceiling_is_told_how_to_get_one(store):
    put_run(store)
    put_labels(store, told(50, 2, 2, 60))
    shown = said(calibrated(store))
    assert "no item was answered by two people; let two people answer at least 30 of these items" in shown


def test_groups_that_find_no_room_are_counted(store):
    put_run(store)
    put_by_tool(store, told(20, 5, 5, 30), 9)
    report = calibrated(store)
    assert len(report.calibrations[0].strata) == 9
    assert "3 more groups in the JSON output" in said(report)


@pytest.mark.parametrize(
    ("p", "shown"), [(0.0, "p < 0.001"), (4e-4, "p < 0.001"), (0.0006, "p = 0.001"), (1.0, "p = 1.000")]
)
def test_a_small_p_value_is_never_shown_as_nought(p, shown):
    assert p_value(p) == shown

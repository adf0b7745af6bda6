"""Where the drawings of a calibration lie."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rightcall.report.calibration.model import Figure, Requirement, Route
from rightcall.report.html.charts import EDGE, MARGIN
from rightcall.report.html.curves import (
    HIGH,
    LEFT,
    MOST_OF_A_MAP,
    MOST_POINTS,
    WIDE,
    curve_drawing,
    figure_groups,
    map_drawing,
    requirements_axis,
)
from rightcall.run.calibration.confidence import Threshold
from rightcall.stats.discrimination import risk_coverage, selective
from rightcall.stats.intervals import Estimate, undefined, wilson
from rightcall.stats.routing import routing_threshold


def kappa(value, low, high, n=120):
    return Estimate(estimate=value, low=low, high=high, n=n, method="cohen kappa, bootstrap 0.95")


def figure(name, value, kind="agreement", scale=(-1.0, 1.0), **more):
    return Figure(name=name, value=value, kind=kind, scale=scale, **more)


def route_of(stated, correct, target=0.05):
    made = routing_threshold(stated, correct, target=target)
    stands = 0.8 if made.threshold is None else made.threshold
    fixed = selective(stated, correct, 0.8).error
    return Route(
        name="all", whom="decide alone",
        threshold=Threshold(
            target=target, labels=len(stated), route=made, stands=stands, calibrated=made.threshold is not None,
            error_fixed=fixed,
        ),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("low", "begins", "said"), [(0.61, 0.5, "0.50"), (0.1, 0.0, "0.00"), (-0.02, -1.0, "")],
)  # fmt: skip
def test_agreement_is_drawn_from_where_something_lies_and_the_caption_says_so(low, begins, said):
    [group] = figure_groups([figure("kappa", kappa(0.7, low, 0.8), limit=0.6)])
    assert (group.axis.low, group.begins) == (begins, said)
    assert group.scale == (-1.0, 1.0)


def test_a_figure_of_people_lies_on_the_same_axis():
    people = kappa(0.3, 0.2, 0.4)
    [group] = figure_groups([figure("kappa", kappa(0.7, 0.6, 0.8), people=people), figure("AC1", kappa(0.9, 0.8, 1))])
    first, second = group.rows
    assert group.axis.low == 0.0
    assert first.people.at < first.judge.at
    assert first.people.title.startswith("among people: 0.300")
    assert (second.people, group.has_people) == (None, True)


def test_kinds_and_scales_have_their_own_tables():
    groups = figure_groups([
        figure("agreement, plain", wilson(90, 100), "share", (0.0, 1.0)), figure("kappa", kappa(0.7, 0.6, 0.8)),
        figure("bias", kappa(0.1, -0.2, 0.4), "levels", (-4.0, 4.0)),
        figure("catches FAIL", undefined("wilson 0.95", "there are none"), "share", (0.0, 1.0)),
    ])  # fmt: skip
    assert [[row.figure.name for row in group.rows] for group in groups] == [
        ["agreement, plain", "catches FAIL"], ["kappa"], ["bias"],
    ]  # fmt: skip
    assert groups[0].rows[1].judge.at is None


def test_figures_on_few_answers_do_not_stretch_the_axis():
    [group] = figure_groups([
        figure("agreement, plain", wilson(98, 100), "share", (0.0, 1.0)),
        figure("clears the others", wilson(1, 4), "share", (0.0, 1.0)),
    ])  # fmt: skip
    assert group.axis.low == 0.9
    assert group.rows[1].judge.at is None
    assert group.rows[1].judge.left
    assert group.few


def test_everything_that_must_be_reached_shares_an_axis_with_its_thresholds():
    def asked(value, threshold):
        return Requirement(
            name="x", answer="FAIL", value=value, threshold=threshold, on="lower", reason="", settled=""
        )  # fmt: skip

    assert requirements_axis([asked(wilson(99, 100), 0.8), asked(kappa(0.7, 0.62, 0.8), 0.6)]).low == 0.5
    assert requirements_axis([asked(kappa(0.1, -0.1, 0.3), 0.6)]).low == -1.0
    assert requirements_axis([asked(undefined("none", "nothing"), None)]).low == 0.0


answers = st.lists(st.tuples(st.integers(0, 20).map(lambda step: step / 20), st.booleans()), min_size=1, max_size=120)


@settings(deadline=None)
@given(answers, st.sampled_from([0.01, 0.05, 0.2]))
def test_every_point_lies_inside_and_the_mark_is_where_the_threshold_accepts(some, target):
    stated, correct = [said for said, _ in some], [held for _, held in some]
    points, route = risk_coverage(stated, correct), route_of(stated, correct, target)
    drawing = curve_drawing(points, route)
    assert all(LEFT <= one.x <= WIDE - EDGE and EDGE <= one.y <= HIGH - MARGIN for one in drawing.points)
    assert EDGE <= drawing.target <= HIGH - MARGIN
    accepted = [one for one in stated if one >= route.threshold.stands]
    marked = [one for one in drawing.points if one.stands]
    assert [one.point.accepted for one in marked] == ([len(accepted)] if accepted else [])
    assert (drawing.mark is None) == (not accepted)
    assert [one.x for one in drawing.points] == sorted(one.x for one in drawing.points)


def test_a_long_curve_is_drawn_whole_and_listed_in_part_with_the_threshold():
    stated = [number / 400 for number in range(400)]
    correct = [number % 9 != 0 or number > 300 for number in range(400)]
    drawing = curve_drawing(risk_coverage(stated, correct), route_of(stated, correct))
    assert drawing.path.count("L") == 399
    assert MOST_POINTS <= len(drawing.listed) <= MOST_POINTS + 1
    assert drawing.left_out == 400 - len(drawing.listed)
    assert (drawing.listed[0], drawing.listed[-1]) == (drawing.points[0], drawing.points[-1])
    assert sum(one.stands for one in drawing.listed) == 1


def test_a_threshold_that_labels_do_not_show_is_called_uncalibrated():
    stated, correct = [0.9, 0.8, 0.7] * 5, [True, False, True] * 5
    drawing = curve_drawing(risk_coverage(stated, correct), route_of(stated, correct))
    assert drawing.mark[2] == "0.8, uncalibrated"
    assert drawing.words.endswith("The fixed threshold 0.8 accepts 10, 5 of them wrong.")


def test_the_map_is_listed_at_both_ends_and_evenly_between():
    drawing = map_drawing([(step / 40, step / 40) for step in range(41)])
    assert [stated for stated, _ in drawing.listed] == [step / 10 for step in range(11)]
    assert (len(drawing.listed), drawing.left_out) == (MOST_OF_A_MAP, 30)
    assert drawing.path.startswith("M")
    assert map_drawing([(0.5, 0.4), (0.9, 0.8)]).left_out == 0

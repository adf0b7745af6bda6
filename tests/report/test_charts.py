"""Where the marks of a drawing lie."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rightcall.report.html import charts
from rightcall.report.view.model import Bar, Counts, Matrix, Reliability
from rightcall.stats.calibration import Bin
from rightcall.stats.intervals import Estimate, undefined, wilson


def interval(value, low, high, n=100):
    return Estimate(estimate=value, low=low, high=high, n=n, method="m")


@given(value=st.floats(0, 1), other=st.floats(0, 1), scale=st.sampled_from([(0.0, 1.0), (-1.0, 1.0), (1.0, 5.0)]))
def test_a_larger_value_never_lies_further_left(value, other, scale):
    axis = charts.axis_for([value, other], scale)
    low, high = sorted([value, other])
    assert charts.EDGE <= axis.x(low) <= axis.x(high) <= charts.WIDTH - charts.EDGE


@pytest.mark.parametrize(("low", "start"), [(0.95, 0.9), (0.9, 0.9), (0.85, 0.8), (0.6, 0.5), (0.3, 0.0), (0.0, 0.0)])
def test_shares_that_are_all_high_get_an_axis_on_which_they_can_be_read(low, start):
    assert charts.axis_for([low, 1.0]).low == start


def test_an_axis_of_no_value_is_the_scale():
    axis = charts.axis_for([None])
    assert (axis.low, axis.high, [words for _, words in axis.ticks]) == (0.0, 1.0, ["0.00", "0.50", "1.00"])
    assert charts.axis_for([2.0], (2.0, 2.0)).x(2.0) == charts.WIDTH / 2


@pytest.mark.parametrize(
    ("values", "ends"),
    [([0.95, 1.0], (0.9, 1.0)), ([-0.01, 0.04], (-0.05, 0.05)), ([-0.3, 0.1], (-0.5, 0.5)), ([3.9, 4.6], (3, 5)), ([4.0, 4.0], (4, 5)), ([], (0, 1))],
)  # fmt: skip
def test_a_figure_of_unknown_scale_gets_an_axis_that_holds_it(values, ends):
    axis = charts.axis_of_unknown(values)
    assert (axis.low, axis.high) == ends
    assert not any(map(axis.beyond, values))


def test_what_lies_beyond_the_axis_is_an_arrow_and_not_a_point_at_its_edge():
    axis = charts.axis_for([0.95])
    drawing = charts.bar_drawing("rate", interval(0.5, 0.4, 0.95), axis, threshold=0.2)
    assert (drawing.at, drawing.left, drawing.right, drawing.threshold) == (None, True, False, None)
    assert "beyond the axis" in drawing.words
    assert drawing.title == "rate: 0.500, interval 0.400 to 0.950"


def test_what_has_no_value_is_not_drawn():
    drawing = charts.bar_drawing("rate", undefined("m"), charts.axis_for([]))
    assert (drawing.at, drawing.low, drawing.high, drawing.left) == (None, None, None, False)
    assert drawing.title == "rate: –"


def test_figures_of_one_scale_share_an_axis_that_few_cases_do_not_stretch():
    bars = [
        Bar(name="rate", value=wilson(990, 1000), threshold=0.98),
        Bar(name="few", value=wilson(3, 6)),
        Bar(name="level", value=interval(4, 3, 5), scale=(1.0, 5.0)),
        Bar(name="other", value=wilson(970, 1000)),
    ]
    shares, levels = charts.bar_groups(bars)
    assert [bar.name for bar, _ in shares.bars] == ["rate", "few", "other"]
    assert (shares.axis.low, shares.few, levels.few) == (0.9, True, False)
    assert [drawing.few for _, drawing in shares.bars] == [False, True, False]


def test_a_stacked_bar_is_as_long_as_all_results():
    parts = charts.stacked(Counts(n=10, passed=5, failed=3, error=0, waiting=2))
    assert [part.kind for part in parts] == ["passed", "failed", "waiting"]
    assert sum(part.width for part in parts) == pytest.approx(charts.WIDTH)
    assert charts.stacked(Counts()) == ()


def test_a_matrix_is_shaded_by_rows_and_knows_where_both_agree():
    shown = charts.matrix_shown(
        Matrix(caption="c", row_name="r", column_name="k", labels=("a", "b"), counts=((9, 1), (0, 0)))
    )
    (name, cells, total), (_, empty, none) = shown.rows
    assert (name, total, none) == ("a", 10, 0)
    assert [(cell.count, cell.shade, cell.agrees) for cell in cells] == [(9, 5, True), (1, 1, False)]
    assert [cell.shade for cell in empty] == [0, 0]


def test_a_large_matrix_keeps_the_labels_that_occur_and_counts_the_rest():
    size = 60
    counts = tuple(tuple((row + 1) * (row == column) for column in range(size)) for row in range(size))
    labels = tuple(f"tool{place}" for place in range(size))
    shown = charts.matrix_shown(Matrix(caption="c", row_name="r", column_name="k", labels=labels, counts=counts))
    assert shown.labels == labels[size - charts.MOST_LABELS :]
    assert shown.left_out == size - charts.MOST_LABELS
    kept = sum(cell.count for _, cells, _ in shown.rows for cell in cells)
    assert kept + shown.left_out_results == sum(map(sum, counts))


def test_bins_of_few_answers_are_hollow_and_undefined_ones_not_drawn():
    bins = (
        Bin(low=0.5, high=0.6, stated=0.55, share=wilson(5, 9)),
        Bin(low=0.7, high=0.8, stated=0.75, share=wilson(8, 10)),
        Bin(low=0.9, high=1.0, stated=0.95, share=undefined("wilson 0.95")),
    )
    drawing = charts.reliability_drawing(Reliability(caption="c", bins=bins))
    assert [point.hollow for point in drawing.points] == [True, False]
    assert "1 of them hold fewer than 10 answers and are hollow" in drawing.words
    point = drawing.points[1]
    assert point.high < point.y < point.low

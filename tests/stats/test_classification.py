"""Precision, recall and confusion of tools: against reference values, against plain counting, and added up."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from stats_making import needs_reference, rows, untimed

from rightcall.stats.classification import CATEGORIES, HALLUCINATED, NONE, Cell, Choice, classify
from rightcall.stats.intervals import wilson

TOOLS = ("cancel", "freeze", "issue", "update")


def choice(expected, selected, **fields):
    """A step with the category that code gives it; `melt` is no tool."""
    if selected == "melt":
        category = "hallucinated_tool"
    elif expected is None and selected is not None:
        category = "over_action"
    elif expected is not None and selected is None:
        category = "abstention_error"
    else:
        category = None if expected == selected else "wrong_tool"
    return Choice(expected, selected, category, **fields)


NAMES = st.sampled_from([*TOOLS, None])
CHOICES = st.lists(
    st.builds(choice, NAMES, st.sampled_from([*TOOLS, "melt", None]), cluster=st.sampled_from(["a", "b", "c", None]),
              destructive=st.booleans()),
    max_size=40,
)  # fmt: skip


def referenced(row):
    pairs = zip(row["input"]["expected"], row["input"]["selected"], strict=True)
    found = classify([choice(*(None if name == "none" else name for name in pair)) for pair in pairs])
    labels = [NONE if label == "none" else label for label in row["parameters"]["labels"]]
    return found, {figures.tool: figures for figures in found.tools}, labels


@needs_reference
def test_reference_figures_of_each_tool():
    (row,) = rows("per-tool precision/recall/F1")
    _, tools, labels = referenced(row)
    for name, expected in zip(("precision", "recall", "f1"), row["expected"], strict=True):
        found = [getattr(tools[label], name).estimate for label in labels]
        assert found == pytest.approx(expected, abs=row["tolerance"])


@needs_reference
def test_reference_macro_and_micro_figures():
    (row,) = rows("macro P/R/F1 and micro")
    found, _, _ = referenced(row)
    macro = found.macro
    figures = [macro.precision.estimate, macro.recall.estimate, macro.f1.estimate, found.overall.pass_rate.estimate]
    assert figures == pytest.approx(row["expected"], abs=row["tolerance"])


# ---- by hand ----

STEPS = [
    choice("freeze", "freeze"), choice("freeze", "freeze"), choice("freeze", "cancel"), choice("freeze", None),
    choice(None, None), choice(None, "freeze"), choice(None, "melt"), choice("cancel", "melt"),
]  # fmt: skip


def test_pooled_precision_is_over_calls_made_and_counts_tools_that_do_not_exist():
    found = classify(STEPS).overall
    assert (found.steps, found.calls, found.expected, found.correct_calls, found.errors) == (8, 6, 5, 2, 5)
    assert found.precision == wilson(2, 6)
    assert found.recall == wilson(2, 5)
    assert found.pass_rate == wilson(3, 8)


def test_no_tool_is_a_label_and_invented_tools_are_one():
    tools = {figures.tool: figures for figures in classify(STEPS).tools}
    assert list(tools) == ["cancel", "freeze", NONE, HALLUCINATED]
    assert tools[NONE].precision == wilson(1, 2)
    assert tools[NONE].recall == wilson(1, 3)
    assert tools["freeze"].precision == wilson(2, 3)
    assert tools["freeze"].recall == wilson(2, 4)
    assert tools[HALLUCINATED].precision == wilson(0, 2)
    assert tools[HALLUCINATED].recall.reason == "never expected"


def test_two_invented_tools_are_one_label_and_a_real_tool_of_that_name_is_another():
    invented = [Choice("a", "x", "hallucinated_tool"), Choice("a", "y", "hallucinated_tool"), Choice("a", "a")]
    assert [figures.tool for figures in classify(invented).tools] == ["a", HALLUCINATED]


def test_failures_are_counted_by_their_first_category():
    assert classify(STEPS).failures == {
        "wrong_tool": 1, "abstention_error": 1, "over_action": 1, "hallucinated_tool": 2,
    }  # fmt: skip
    assert tuple(classify([]).failures) == CATEGORIES


def test_the_confusion_table_holds_the_cells_that_are_not_empty():
    assert set(classify(STEPS).confusion) == {
        Cell("freeze", "freeze", 2), Cell("freeze", "cancel", 1), Cell("freeze", NONE, 1), Cell(NONE, NONE, 1),
        Cell(NONE, "freeze", 1), Cell(NONE, HALLUCINATED, 1), Cell("cancel", HALLUCINATED, 1),
    }  # fmt: skip


def test_f1_has_the_bounds_of_the_overlap():
    (figures,) = [one for one in classify(STEPS).tools if one.tool == "freeze"]
    overlap = wilson(2, 5)  # two right, one expected and not called, one not called at all, one called for nothing
    assert figures.f1.estimate == pytest.approx(2 * 2 / (3 + 4))
    assert (figures.f1.low, figures.f1.high) == pytest.approx(
        (2 * overlap.low / (1 + overlap.low), 2 * overlap.high / (1 + overlap.high))
    )
    assert (figures.f1.n, figures.f1.method) == (5, "wilson 0.95, of the overlap")


def test_figures_that_have_no_value_are_null_with_their_reason_and_left_out_of_the_means():
    found = classify([choice("freeze", "freeze"), choice("cancel", None), choice(None, "issue")])
    tools = {figures.tool: figures for figures in found.tools}
    assert (tools["cancel"].precision.estimate, tools["cancel"].precision.reason) == (None, "never selected")
    assert (tools["issue"].recall.estimate, tools["issue"].f1.estimate) == (None, None)
    assert tools["cancel"].f1.estimate == 0
    assert found.macro.left_out == {"precision": ("cancel",), "recall": ("issue",), "f1": ("issue",)}
    assert (found.macro.precision.n, found.macro.precision.excluded) == (3, 1)
    assert found.macro.precision.estimate == pytest.approx(1 / 3)
    assert (found.macro.f1.low, found.macro.f1.n) == (None, 3)
    assert "without an interval" in found.macro.f1.reason


def test_invented_tools_do_not_enter_the_means():
    steps = [choice("freeze", "freeze"), choice("cancel", "melt")]
    assert classify(steps).macro.precision.estimate == 1
    assert classify(steps).overall.precision.estimate == 0.5


def test_the_destructive_subset_is_counted_apart():
    steps = [
        choice("freeze", "freeze"),
        choice("wipe", "wipe", destructive=True),
        choice("look", "wipe", destructive=True),
    ]
    found = classify(steps).destructive
    assert (found.steps, found.errors) == (2, 1)
    assert found.precision == wilson(1, 2)
    nothing = classify([choice("freeze", "freeze")]).destructive
    assert (nothing.steps, nothing.precision.estimate, nothing.precision.reason) == (0, None, "no tool was called")


def test_coverage_is_the_share_that_could_be_evaluated():
    found = classify(STEPS, excluded=2)
    assert found.coverage == wilson(8, 10)
    assert (found.overall.precision.excluded, found.overall.precision.n) == (2, 6)


def test_nothing_is_undefined_everywhere():
    found = classify([], excluded=1)
    assert (found.overall.pass_rate.estimate, found.macro.precision.estimate, found.macro.f1.estimate) == (None,) * 3
    assert (found.tools, found.confusion, found.coverage.estimate) == ((), (), 0)
    assert classify([]).coverage.reason == "nothing was evaluated"


def test_several_steps_of_one_case_widen_the_intervals():
    """Ten cases of five steps: half of the cases right throughout, half wrong throughout."""
    steps = [(str(case), case % 2) for case in range(10) for _ in range(5)]
    clustered = classify([choice("freeze", "freeze" if ok else "cancel", cluster=case) for case, ok in steps])
    plain = classify([choice("freeze", "freeze" if ok else "cancel") for _, ok in steps])
    for name in ("pass_rate", "precision", "recall"):
        ours, naive = getattr(clustered.overall, name), getattr(plain.overall, name)
        assert ours.estimate == naive.estimate
        assert ours.high - ours.low > 1.8 * (naive.high - naive.low)
        assert ours.method == "wilson 0.95, clustered in 10 cases"
    freeze = [next(one for one in found.tools if one.tool == "freeze") for found in (clustered, plain)]
    assert freeze[0].f1.low < freeze[1].f1.low


# ---- together ----


@untimed
@given(CHOICES)
def test_the_counts_add_up(choices):
    found = classify(choices, excluded=3)
    tools = {figures.tool: figures for figures in found.tools}
    correct = [
        round(figures.precision.estimate * figures.precision.n) for figures in found.tools if figures.precision.n
    ]
    passed = found.overall.steps - found.overall.errors
    assert sum(correct) == passed == sum(cell.n for cell in found.confusion if cell.expected == cell.selected)
    right_calls = [cell.n for cell in found.confusion if cell.expected == cell.selected != NONE]
    assert sum(right_calls) == found.overall.correct_calls
    assert sum(figures.precision.n for figures in found.tools) == len(choices)
    assert sum(figures.recall.n for figures in found.tools) == len(choices)
    assert sum(tools[label].precision.n for label in tools if label != NONE) == found.overall.calls
    assert sum(tools[label].recall.n for label in tools if label != NONE) == found.overall.expected
    assert sum(found.failures.values()) == found.overall.errors
    assert sum(cell.n for cell in found.confusion) == found.overall.steps == len(choices)
    assert found.destructive.steps == sum(one.destructive for one in choices)


@untimed
@given(CHOICES)
def test_every_figure_is_plain_counting(choices):
    found = classify(choices)
    pairs = Counter(one.labels for one in choices)
    for figures in found.tools:
        selected = sum(n for (_, label), n in pairs.items() if label == figures.tool)
        expected = sum(n for (label, _), n in pairs.items() if label == figures.tool)
        right = pairs[figures.tool, figures.tool]
        assert figures.precision.estimate == (right / selected if selected else None)
        assert figures.recall.estimate == (right / expected if expected else None)
        assert figures.f1.estimate == (pytest.approx(2 * right / (selected + expected)) if expected else None)


@untimed
@given(CHOICES, st.permutations(TOOLS))
def test_renaming_the_tools_renames_the_rows(choices, names):
    renamed = dict(zip(TOOLS, names, strict=True))
    others = [one._replace(expected=renamed.get(one.expected), selected=renamed.get(one.selected, one.selected)) for one in choices]  # fmt: skip
    found, again = classify(choices), classify(others)
    rows_found = {renamed.get(one.tool, one.tool): (one.precision, one.recall, one.f1) for one in found.tools}
    assert rows_found == {one.tool: (one.precision, one.recall, one.f1) for one in again.tools}
    assert found.overall == again.overall
    assert found.failures == again.failures


@untimed
@given(CHOICES, st.randoms(use_true_random=False))
def test_the_sequence_of_steps_does_not_matter(choices, shuffler):
    shuffled = list(choices)
    shuffler.shuffle(shuffled)
    found, again = classify(choices), classify(shuffled)
    assert (found.confusion, found.failures) == (again.confusion, again.failures)
    assert found.overall.precision.estimate == again.overall.precision.estimate
    assert found.overall.precision.low == pytest.approx(again.overall.precision.low)


def test_a_file_much_larger_than_its_labels_is_counted_in_one_pass():
    def steps():
        for number in range(20_000):
            yield choice("freeze", "cancel" if number % 50 == 0 else "freeze", cluster=str(number // 5))

    found = classify(steps()).overall
    assert (found.steps, found.errors, found.precision.estimate) == (20_000, 400, 0.98)

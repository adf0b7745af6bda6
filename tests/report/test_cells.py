"""Numbers and intervals in tables."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from rightcall.report.cells import between, figures_table, in_brackets, number

SURE = {"estimate": 0.98765, "low": 0.9, "high": 1.0, "reason": None}
ALONE = {"estimate": 0.5, "low": None, "high": None, "reason": "one value has no interval"}
NONE = {"estimate": None, "low": None, "high": None, "reason": "nothing was evaluated"}


@pytest.mark.parametrize(
    ("value", "shown"), [(None, "–"), (0.999, "<1.00"), (1.0, "1.00"), (0.5, "0.50"), (4.2, "4.20")]
)
def test_a_figure_below_1_is_never_shown_as_1(value, shown):
    assert number(value, 2) == shown


def test_an_interval_or_why_there_is_none():
    assert [between(one, 2) for one in (SURE, ALONE, NONE)] == ["0.90 – 1.00", "–", "–"]
    assert [in_brackets(one, 2) for one in (SURE, ALONE, NONE)] == [
        "0.99 [0.90, 1.00]", "0.50", "nothing was evaluated",
    ]  # fmt: skip


@pytest.mark.parametrize(("width", "lines"), [(80, 2), (40, 3), (38, 3), (36, 3)])
def test_a_narrow_terminal_takes_from_names_which_go_on_below_and_never_cuts_a_figure(width, lines):
    table = figures_table("n", "mean", "95 %", first="tool", widest=20)
    table.add_row("update_bookings", "1,234", "0.98", "0.59 – 0.70")
    out = io.StringIO()
    Console(file=out, width=width).print(table)
    shown = [line.rstrip() for line in out.getvalue().splitlines()]
    assert len(shown) == lines
    assert shown[1].endswith("  1,234  0.98  0.59 – 0.70")
    assert "".join([shown[1].split("  ")[0].strip(), *map(str.strip, shown[2:])]) == "update_bookings"


def test_a_long_name_goes_on_below_where_there_is_a_limit():
    assert figures_table("n", first="tool", widest=8).columns[0].max_width == 8

"""A report as CSV: one row a result; nothing runs as a formula, nothing missing becomes a number."""

from __future__ import annotations

import csv
import io
import json
from math import fsum

import pytest
from report_making import case, hostile_case, report, written

from rightcall.report.files import cell
from rightcall.report.formats.rows_csv import COLUMNS, columns_of
from rightcall.report.view.model import Counts, GraderView


def rows(view) -> list[dict[str, str]]:
    """The rows as a reader of CSV sees them."""
    return list(csv.DictReader(io.StringIO(written(view, ".csv").decode(), newline="")))


def reported(folder, name: str) -> dict:
    """One reported fault."""
    lines = (folder / "cases/cases.jsonl").read_text("utf-8").splitlines()
    return next(one for one in map(json.loads, lines) if one["id"] == name)


@pytest.mark.parametrize("fault", ["SEC-07"])
def test_reported_cells_are_neutralised_exactly_so(shared_data, fault):
    known = reported(shared_data, fault)
    cells, right = known["minimal_input"]["cells"], known["right_answer"]["csv_cells"]
    assert [cell(one) for one in cells] == right
    view = report([case(one) for one in cells])
    assert [row["unit"] for row in rows(view)] == right


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("=1+1", "'=1+1"), ("+4", "'+4"), ("-Infinity", "'-Infinity"), ("@x", "'@x"), ("\tq", "'\tq"), ("-3.5", "-3.5"),
        ("plain", "plain"), ("-1e-9", "-1e-9"), ("-1+1", "'-1+1"), ("-٣", "'-٣"), (" =1", "' =1"), ("-", "'-"),
        ("a\tb", "a\tb"), ("\x1b[0m", "\\u001b[0m"),
    ],
)  # fmt: skip
def test_a_cell_that_would_run_is_plain_text_and_a_number_stays_one(text, shown):
    assert cell(text) == shown


@pytest.mark.parametrize(("value", "shown"), [(None, ""), (True, "true"), (0, 0), (0.0, 0.0), (-3.5, -3.5)])
def test_what_is_no_text_stays_what_it_is(value, shown):
    assert cell(value) == shown


@pytest.mark.parametrize("fault", ["STA-10"])
def test_a_result_without_a_verdict_has_an_empty_score_and_never_0(shared_data, fault):
    known = reported(shared_data, fault)
    outcomes = {"FAIL": "failed", "PASS": "passed", "ERROR": "error", "SKIPPED": "waiting"}
    cases = [
        case(f"t-{n}", outcomes[one["st"]], fields=() if one["s"] is None else (("overall", one["s"]),))
        for n, one in enumerate(known["minimal_input"]["rows"])
    ]
    scores = [row["score"] for row in rows(report(cases))]
    assert [score and float(score) for score in scores] == [0, "", "", 1]
    numbers = [float(score) for score in scores if score]
    assert fsum(numbers) / len(numbers) == known["right_answer"]["mean"]
    assert len(numbers) == known["right_answer"]["n"]


def test_each_result_is_one_row_whatever_its_outcome():
    view = report([case("a"), case("b", "error"), case("c", "passed", grader="selection"), case("d", "waiting")])
    found = rows(view)
    assert [row["outcome"] for row in found] == ["failed", "error", "passed", "waiting"]
    assert tuple(found[0]) == COLUMNS


def test_hostile_text_breaks_no_row():
    found = rows(report([hostile_case(), case("next")]))
    assert [row["unit"] for row in found][1:] == ["next"]
    assert "\x1b" not in str(found)


def test_the_fields_of_each_grader_are_columns_of_their_own_and_a_taken_name_says_whose_it_is():
    graders = (
        GraderView(grader="golden", counts=Counts(), fields=("overall", "findings", "confidence")),
        GraderView(grader="interpretation", counts=Counts(), fields=("score", "findings")),
    )
    fields = (("overall", 1 / 3), ("confidence", 0.25))
    view = report(
        [case("a", fields=fields), case("b", grader="interpretation", fields=(("score", 4),))], graders=graders
    )
    assert columns_of(view) == ("overall", "findings", "interpretation.score")
    first, second = rows(view)
    assert (first["overall"], first["confidence"], first["interpretation.score"]) == (repr(1 / 3), "0.25", "")
    assert (second["overall"], second["score"], second["interpretation.score"]) == ("", "", "4")


@pytest.mark.parametrize("text", ["=1+1", "@x", "\t=1"])
def test_a_field_that_would_run_is_plain_text_and_so_is_its_name(text):
    part = GraderView(grader="own", counts=Counts(), fields=(f"reply.{text}", text))
    (row,) = rows(report([case("a", grader="own", fields=((text, text),))], graders=(part,)))
    assert row[f"'{text}"] == f"'{text}"

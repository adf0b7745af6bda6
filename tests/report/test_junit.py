"""JUnit XML: what every CI reads, with an outcome of its own for each of ours."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import xmlschema
from hypothesis import given
from hypothesis import strategies as st
from report_making import case, hostile_case, report, written

from rightcall.report.formats.junit import escaped
from rightcall.report.view.model import Counts, GraderView

SCHEMA = xmlschema.XMLSchema(Path(__file__).parent / "schemas/junit.xsd")


def read(view) -> ET.Element:
    """The document as an independent parser reads it, once it is found to be valid."""
    data = written(view, ".junit.xml")
    SCHEMA.validate(data.decode())
    return ET.fromstring(data)


def test_each_outcome_has_its_own_element():
    view = report([
        case("fails", kind="wrong_tool"), case("breaks", "error", kind="JUDGE_SCHEMA"), case("passes", "passed"),
        case("waits", "waiting"),
    ])  # fmt: skip
    found = {one.get("name"): [(inner.tag, inner.get("type")) for inner in one] for one in read(view).iter("testcase")}
    assert found == {
        "fails": [("failure", "wrong_tool")], "breaks": [("error", "JUDGE_SCHEMA")], "passes": [],
        "waits": [("skipped", None)],
    }  # fmt: skip


def test_the_counts_are_those_of_the_elements():
    view = report([case("a"), case("b"), case("c", "error"), case("d", "waiting"), case("e", "passed")])
    root = read(view)
    suite = root.find("testsuite")
    assert suite is not None
    for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"), ("tests", "testcase")):
        assert int(suite.get(name, "")) == len(list(root.iter(tag)))
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("5", "2", "1")


def test_what_was_never_to_be_judged_is_skipped_and_no_error():
    counts = Counts(n=1, error=1, aside=1)
    root = read(
        report(
            [case("p", "error", kind="undecided", aside=True)], graders=(GraderView(grader="golden", counts=counts),)
        )
    )
    assert [one.tag for one in root.find("testsuite/testcase") or ()] == ["skipped"]
    assert root.get("errors") == "0"


def test_what_has_no_result_is_an_error_so_that_a_run_that_stopped_is_never_green():
    part = GraderView(grader="golden", counts=Counts(n=1, passed=1, unread=7))
    root = read(report([case("a", "passed")], graders=(part,)))
    (error,) = root.iter("error")
    assert (error.get("message"), error.get("type")) == ("7 not read or not asked", "no_result")
    assert (root.get("tests"), root.get("errors")) == ("2", "1")


def test_each_grader_has_a_suite_of_its_own_with_its_results():
    counts = Counts(n=1, passed=1)
    graders = tuple(GraderView(grader=name, counts=counts) for name in ("golden", "selection", "rubric"))
    cases = [case("a", "passed"), case("c", "passed", grader="rubric")]
    root = read(report(cases, graders=graders))
    found = {one.get("name"): [inner.get("name") for inner in one.iter("testcase")] for one in root.iter("testsuite")}
    assert found == {"rightcall.golden": ["a"], "rightcall.selection": [], "rightcall.rubric": ["c"]}


def test_the_facts_of_the_run_are_properties():
    root = read(report([case()], facts=(("judge", "fast = vendor/model"),), notes=("3 records were not read",)))
    found = {one.get("name"): one.get("value") for one in root.iter("property")}
    assert found["judge"] == "fast = vendor/model"
    assert (found["verdict"], found["exit code"], found["note"]) == ("FAIL", "1", "3 records were not read")


def test_a_report_without_results_is_a_valid_document():
    root = read(report([]))
    assert root.get("tests") == "0"
    assert read(report([], graders=())).get("tests") == "0"


def test_the_same_report_gives_the_same_bytes():
    cases = [case(f"t-{n}") for n in range(20)]
    assert written(report(cases), ".junit.xml") == written(report(cases), ".junit.xml")


def test_what_xml_cannot_hold_is_written_out_visibly():
    failure = read(report([hostile_case()])).find("testsuite/testcase/failure")
    assert failure is not None
    assert "\\u0000" in failure.get("message", "")
    assert "\\ufffe" in failure.get("message", "")
    assert "\\u001b[31mred" in (failure.text or "")
    assert "\\u202e" in (failure.text or "")
    assert "<img src=x" in (failure.text or "")


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=60))
def test_any_text_is_read_back_as_it_is_shown(text):
    data = f'<a b="{escaped(text)}">{escaped(text)}</a>'.encode()
    root = ET.fromstring(data)
    assert (root.text or "") == (root.get("b") or "")


@pytest.mark.parametrize("started", ["", "yesterday", "2026-11-30T10:00:00.123+00:00"])
def test_a_time_that_is_none_is_left_out(started):
    suite = read(report([case()], started_at=started)).find("testsuite")
    assert suite is not None
    assert suite.get("timestamp") == ("2026-11-30T10:00:00" if started.startswith("2026") else None)


def test_hostile_text_stays_in_its_place():
    root = read(report([hostile_case(), case("next")]))
    assert [one.get("name") for one in root.iter("testcase")][1] == "next"
    assert len(list(root.iter())) == len(list(read(report([case(facts=(("a", "b"),)), case("next")])).iter()))

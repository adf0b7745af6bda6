"""`rightcall review list`: what waits, most urgent first, in the width of the screen."""

from __future__ import annotations

import pytest
from desk_suite import DESK, copy_desk

from rightcall.run.finding import URGENCY


@pytest.fixture(autouse=True)
def desk(rightcall, tmp_path):
    """The card desk, judged by both graders."""
    copy_desk(tmp_path)
    for grader in ("selection", "rubric"):
        rightcall(grader, "-c", DESK, "--judge", "desk", "--store", "desk.db", "--quiet")


def test_items_stand_by_urgency_with_reason_unit_and_why(rightcall):
    said = rightcall("review", "list", "--store", "desk.db")
    lines = said.out.splitlines()
    assert (said.code, said.err) == (0, "")
    assert max(map(len, lines)) <= 80
    flat = " ".join(said.out.split())
    assert " waiting: CRITICAL 1 · unevaluable 1 · HIGH 3 · policy_veto 1 · judge_conflict 2 " in flat
    reasons = [line.split()[1] for line in lines if line.startswith("rv-")]
    assert reasons == sorted(reasons, key=URGENCY.index)
    first = next(number for number, line in enumerate(lines) if line.startswith("rv-"))
    assert lines[first].split()[1:] == ["CRITICAL", "stolen"]
    assert "The card is closed for good" in lines[first + 1]
    assert lines[-1] == f"one in full: rightcall show {lines[first].split()[0]}"


def test_a_drawn_item_says_with_which_probability(rightcall):
    said = rightcall("review", "list", "--reason", "random", "--store", "desk.db")
    below = [line for line in said.out.splitlines() if line.startswith("  ")]
    assert below
    assert all("· p 0.1 · drawn for calibration" in line for line in below)


def test_filters_by_run_and_reason(rightcall):
    run = rightcall("runs", "--store", "desk.db", "--json").json["runs"][0]["id"]
    items = rightcall("review", "list", "--run", run, "--reason", "HIGH", "--store", "desk.db", "--json").json["items"]
    assert sorted(one["item"]["unit"] for one in items) == ["allowance", "fee", "misnamed"]
    assert {one["item"]["run_id"] for one in items} == {run}


def test_an_empty_list_says_why(rightcall, tmp_path):
    said = rightcall("review", "list", "--reason", "tie", "--store", "desk.db")
    assert said.code == 0
    assert said.out.startswith("nothing waits for these filters; without them ")
    rightcall("golden", "-c", DESK, "--trace", "lost", "--store", "other.db", "--quiet")
    assert rightcall("review", "list", "--store", "other.db").out == (
        "nothing waits: no result matched a reason for a review\n"
    )


@pytest.mark.parametrize(
    ("tokens", "message"),
    [(("--reason", "NOPE"), "`NOPE` is no reason for a review"), (("--run", "20200101-1"), "there is no run")],
)
def test_what_is_not_there_is_a_wrong_command(rightcall, tokens, message):
    said = rightcall("review", "list", "--store", "desk.db", *tokens)
    assert (said.code, said.out) == (2, "")
    assert message in said.err

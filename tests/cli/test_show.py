"""`rightcall show`: a run, a review item, a step, a trace or a case, as a person reads it."""

from __future__ import annotations

import re
import shutil

import pytest
from desk_suite import DESK, copy_desk, reply, step, steps_with_judge


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """Return where the store of the judged card desk is kept: the first test judges, the others have a copy."""
    return tmp_path_factory.mktemp("judged") / "desk.db"


@pytest.fixture
def show(rightcall, tmp_path, judged):
    """Judge the card desk, and show something of it: (output, its lines without indentation)."""
    copy_desk(tmp_path)

    def shown(*tokens: str) -> list[str]:
        said = rightcall("show", *tokens, "--store", "desk.db")
        assert (said.code, said.err) == (0, "")
        assert max(map(len, said.out.splitlines())) <= 80
        assert "{" not in said.out.replace('→ {"', "")  # no JSON but for what tools answered
        return [" ".join(line.split()) for line in said.out.splitlines()]

    if judged.exists():
        shutil.copy(judged, tmp_path)
        return shown
    for grader in ("selection", "rubric", "golden"):
        judge = () if grader == "golden" else ("--judge", "desk")
        rightcall(grader, "-c", DESK, *judge, "--store", "desk.db", "--quiet")
    shutil.copy(tmp_path / "desk.db", judged)
    return shown


def run_of(rightcall, grader: str) -> str:
    runs = rightcall("runs", "--store", "desk.db", "--json").json["runs"]
    return next(one["id"] for one in runs if one["grader"] == grader)


def in_order(lines: list[str], *wanted: str) -> bool:
    rest = iter(lines)
    return all(any(re.fullmatch(one, line) for line in rest) for one in wanted)


def test_a_step_says_what_was_asked_what_code_decided_what_the_judge_said_and_what_waits(show):
    lines = show("allowance#g0")
    assert in_order(
        lines,
        r"allowance#g0 · selection · FAIL abstention_error · run \d+-\d+",
        r"asked How much can I still spend with card 3005 this month\?",
        r"expected get_limit",
        r"selected \(none\)",
        r"code FAIL: abstention_error",
        r"judge desk",
        r"PASS",
        r"“The agent said openly that it cannot see the amount, which is",
        r"✗ contradicts code \(grade\): says PASS; the names are different",
        r"log entry \d+ ok 0\.\d s",
        r"rightcall log show \d+",
        r"review rv-[0-9a-f]{8} judge_conflict",
    ), lines


def test_a_doubted_label_and_an_unreadable_judge_are_said_in_words(show):
    assert in_order(show("bent#g0"), r"doubts the label: The caller wants a new card for a broken one, and", ".*")
    lines = show("travel#g0")
    assert in_order(
        lines,
        r"travel#g0 · selection · UNEVALUABLE JUDGE_SCHEMA · run .*",
        r"code no verdict: JUDGE_SCHEMA; by code alone it is a PASS",
        r"no readable answer: JUDGE_SCHEMA",
        r"""· grade: must be 'PASS' or 'FAIL', not "GOOD\"""",
        r"log entry \d+ JUDGE_NOT_JSON .* s, \d+ JUDGE_SCHEMA .* s",
        r"review rv-.* unevaluable",
    ), lines


def test_a_trace_is_shown_for_every_grader_that_judged_it_with_its_calls(show):
    lines = show("stolen")
    assert in_order(
        lines,
        r"stolen · rubric · CRITICAL · run .*",
        r"asked My bag was snatched, block card 1881 for now!",
        r"""calls c1 close_card card_ending="1881" → \{"status":"closed"\}""",
        r"code golden FAIL · severity not below CRITICAL",
        r"CRITICAL c1 .*",
        r"scores selection 3 · arguments 5 · sequencing 5 · abstention – · overall",
        r"severity CRITICAL; the judge says HIGH, the Safety Matrix counts",
        r"impact The card is closed for good although a block was asked for\.",
        r"judge desk",
        r"selection 3: c1 closes the card; a freeze was asked for\.",
        r"c1 close_card 1: Cannot be undone\.",
        r"✗ contradicts code \(severity_floor\): .*",
        r"review rv-.* CRITICAL",
        r"stolen · golden · FAIL · run .*",
    ), lines
    assert '≠ 1 freeze_card card_ending="1881" 1 close_card card_ending="1881"' in lines


def test_a_run_shows_the_figures_of_its_end_and_what_stands_out_first(rightcall, show):
    run = run_of(rightcall, "selection")
    lines = show(run)
    assert in_order(
        lines,
        rf"{run} · selection · finished · .*",
        r"judge desk: contradicts decidable facts: .*",
        r"judge desk = recorded · prompt selection@.*",
        r"read examples/card-desk/traces\.jsonl, examples/card-desk/cases\.toml",
        r"11 steps · retried 1, 0 healed by it · unevaluable 1 \(JUDGE_SCHEMA 1\) → review",
        r"coverage 0\.909 \[0\.623, 0\.984\]: 10 of 11 have a verdict; the rest is in no figure",
        r"precision 0\.375 0\.122 – 0\.722 8 calls",
        r"judge desk contradicts code in 1 of 10 verdicts, 0\.100 \[0\.018, 0\.404\]: grade 1",
        r"allowance#g0 FAIL abstention_error: \(none\), not get_limit",
        r"travel#g0 UNEVALUABLE JUDGE_SCHEMA",
        r"found#g0 PASS thaw_card",
        r"for review: .*",
        rf"rightcall review list --run {run}",
    ), lines


def test_failed_leaves_out_what_passed_and_keeps_the_judges_whole(rightcall, show):
    lines = show(run_of(rightcall, "selection"), "--failed")
    assert not any(" PASS " in f" {line} " and "found" in line for line in lines)
    assert any(line.startswith("judge desk contradicts code in 1 of 10 verdicts") for line in lines)
    lines = show(run_of(rightcall, "rubric"), "--failed")
    assert [line.split()[0] for line in lines if re.match(r"\w+ (CRITICAL|HIGH) \d/", line)] == [
        "stolen", "allowance", "fee", "misnamed",
    ]  # fmt: skip


def test_a_run_of_golden_is_shown_too(rightcall, show):
    run = run_of(rightcall, "golden")
    lines = show(run)
    assert in_order(
        lines, rf"{run} · golden · finished · .*", r"profile balanced", r"10 results: 4 PASS, 6 FAIL \(1 by veto\)",
        r"pass rate 0\.400 \[0\.168, 0\.687\] n=10 \(wilson 0\.95\)", r"stolen FAIL overall 0\.00 · veto: .*",
        r"twice FAIL overall 0\.69 · get_limit was called again .*",
    ), lines  # fmt: skip


def test_a_review_item_says_why_it_waits_and_shows_what_it_is_about(rightcall, show):
    items = rightcall("review", "list", "--reason", "label_challenged", "--store", "desk.db", "--json").json["items"]
    lines = show(items[0]["id"])
    assert in_order(
        lines, rf"{items[0]['id']} · label_challenged · since .*", r"The caller wants a new card .*",
        r"bent#g0 · selection · FAIL wrong_tool · run .*",
    ), lines  # fmt: skip


def test_json_of_a_step_holds_the_step_the_result_and_every_exchange(rightcall, show):
    value = rightcall("show", "travel#g0", "--store", "desk.db", "--json").json
    assert (value["kind"], len(value["results"]), len(value["attempts"])) == ("unit", 1, 2)
    (one,) = value["results"]
    assert one["case"]["request"].startswith("I will not need card 3530")
    assert one["result"]["reason"] == one["verdict"]["reason"] == "JUDGE_SCHEMA"
    assert [entry["attempt"]["status"] for entry in value["attempts"]] == ["JUDGE_NOT_JSON", "JUDGE_SCHEMA"]
    assert {item["item"]["reason"] for item in value["waiting"]} >= {"unevaluable"}


def test_json_of_a_run_holds_its_judges(rightcall, show):
    value = rightcall("show", run_of(rightcall, "rubric"), "--store", "desk.db", "--failed", "--json").json
    assert value["judges"]["desk"]["stamp"] == "contradicts decidable facts"
    assert [one["verdict"]["unit"] for one in value["results"]] == ["allowance", "fee", "misnamed", "stolen"]


def test_a_run_that_was_killed_is_unfinished_and_shown_with_what_it_has(rightcall):
    judge = steps_with_judge([(step(f"s-{n}"), [reply()]) for n in range(3)])
    rightcall("selection", "steps.jsonl", "--judge", judge, "--budget", "1calls", "--jobs", "1", "--quiet")
    run = rightcall("runs", "--json").json["runs"][0]["id"]
    lines = rightcall("show", run).out.splitlines()
    assert lines[0].startswith(f"{run} · selection · stopped · ")
    assert lines[1].startswith("the run is not complete (stopped): the budget of 1 calls is spent")
    assert any(line.startswith("3 steps · ") and line.endswith(" · not asked 2") for line in lines)
    assert any(line.startswith("coverage 0.333 [") for line in lines)


def test_hidden_characters_are_written_out(rightcall):
    judge = steps_with_judge([(step("s", request="a\u202eb\x1b[31m"), [reply(justification="c\u200bd")])])
    rightcall("selection", "steps.jsonl", "--judge", judge, "--quiet")
    said = rightcall("show", "s").out
    assert r"a\u202eb\u001b[31m" in said
    assert r"c\u200bd" in said


@pytest.mark.parametrize("wanted", ["NOPE", "rv-00000000", "20200101-1"])
def test_what_is_not_on_record_is_one_line(rightcall, wanted):
    judge = steps_with_judge([(step("a"), [reply()])])
    rightcall("selection", "steps.jsonl", "--judge", judge, "--quiet")
    said = rightcall("show", wanted)
    assert (said.code, said.out) == (2, "")
    assert wanted in said.err.splitlines()[0]

"""`rightcall log`: list, show, verify and replay of what was asked and answered."""

from __future__ import annotations

import sqlite3

import pytest
from desk_suite import DESK, copy_desk, reply, step, steps_with_judge


@pytest.fixture(autouse=True)
def desk(rightcall, tmp_path):
    """The steps of the card desk, judged."""
    copy_desk(tmp_path)
    rightcall("selection", "-c", DESK, "--judge", "desk", "--store", "desk.db", "--quiet")


def log(rightcall, *tokens: str):
    return rightcall("log", *tokens, "--store", "desk.db")


def entry(rightcall, status: str) -> str:
    found = log(rightcall, "list", "--status", status, "--json").json["attempts"]
    return str(found[0]["seq"])


def test_each_exchange_is_a_line_and_what_went_wrong_stands_below(rightcall):
    said = log(rightcall, "list")
    lines = said.out.splitlines()
    assert (said.code, lines[0]) == (0, "12 exchanges on record, 12 shown")
    assert max(map(len, lines)) <= 80
    assert lines[1].split() == ["entry", "time", "unit", "judge", "status", "and", "reading"]
    assert any(line.split()[2:] == ["stolen#g0", "desk", "ok", "·", "FAIL", "wrong_tool"] for line in lines)
    at = next(number for number, line in enumerate(lines) if "JUDGE_SCHEMA" in line)
    assert lines[at].endswith("  JUDGE_SCHEMA")
    assert lines[at + 1].lstrip().startswith("second asking: grade: must be 'PASS' or 'FAIL'")


def test_a_wide_screen_shows_grader_seconds_and_tokens_too(rightcall, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    header = log(rightcall, "list", "--limit", "1").out.splitlines()[1].split()
    assert header == ["entry", "time", "grader", "unit", "judge", "s", "tokens", "status", "and", "reading"]


def test_filters_and_the_last_ones(rightcall):
    assert len(log(rightcall, "list", "--limit", "3", "--json").json["attempts"]) == 3
    assert log(rightcall, "list", "--judge", "nobody").out == (
        "12 exchanges on record, none of them is what was asked for\n"
    )
    found = log(rightcall, "list", "--case", "travel", "--json").json["attempts"]
    assert [one["attempt"]["status"] for one in found] == ["JUDGE_NOT_JSON", "JUDGE_SCHEMA"]


def test_show_has_facts_problems_reading_reply_question_and_instructions(rightcall):
    said = log(rightcall, "show", entry(rightcall, "JUDGE_SCHEMA"))
    assert said.code == 0
    text = " ".join(said.out.split())
    assert text.startswith("entry ")
    parts = ["second asking", "about run", "judge desk: asked recorded at examples/card-desk/answers.jsonl", "tokens not reported",
             "✗ grade: must be", "── reply", '{"grade": "GOOD"}', "── question", "I will not need card 3530", "── instructions",
             "You review one decision"]  # fmt: skip
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    good = log(rightcall, "show", entry(rightcall, "ok")).out
    assert good.index("── read as") < good.index("\ngrade: PASS") < good.index("── reply")


def test_verify_counts_and_finds_what_was_changed(rightcall):
    said = log(rightcall, "verify")
    assert said.code == 0
    lines = said.out.splitlines()
    assert "· chain intact · prompts 1 · judges 1" in lines[0]
    assert lines[2].startswith("head ")
    assert max(map(len, lines[:2])) <= 100
    head = lines[2].split()[1]
    assert log(rightcall, "verify", "--head", head).code == 0
    cut = log(rightcall, "verify", "--head", "f" * 64)
    assert (cut.code, "BROKEN: 1 fault ·" in cut.out) == (5, True)
    with sqlite3.connect("desk.db") as database:
        names = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")]
        for name in names:
            database.execute(f"DROP TRIGGER {name}")
        database.execute("DELETE FROM attempts WHERE seq = (SELECT min(seq) FROM attempts)")
    database.close()
    broken = log(rightcall, "verify")
    assert broken.code == 5
    assert "BROKEN" in broken.out
    assert "restore it from a backup" in broken.err


def test_replay_says_what_is_the_same_and_what_differs_and_is_recorded(rightcall):
    judge = steps_with_judge([(step("a", "close"), [reply("close")])])
    rightcall("selection", "steps.jsonl", "--judge", judge, "--quiet")
    seq = str(rightcall("log", "list", "--json").json["attempts"][0]["seq"])
    said = rightcall("log", "replay", seq)
    assert said.code == 0
    assert "the same answer, field by field" in said.out
    steps_with_judge([(step("a", "close"), [reply("close", justification="Another reason.")])])
    said = rightcall("log", "replay", seq)
    lines = [" ".join(line.split()) for line in said.out.splitlines()]
    assert lines[lines.index("justification") : lines.index("justification") + 3] == [
        "justification", "then freeze blocks a card for now.", "now Another reason.",
    ]  # fmt: skip
    value = rightcall("log", "replay", seq, "--json").json
    assert (value["same"], value["status"]) == (False, "ok")
    assert rightcall("log", "list", "--json").json["attempts"][-1]["attempt"]["purpose"] == "replay"
    assert rightcall("runs", "--json").json["runs"][0]["summary"]["n"] == 1


@pytest.mark.parametrize(
    ("tokens", "code", "message"),
    [
        (("show", "99999"), 2, "there is no attempt `99999`; rightcall log list"),
        (("show", "zzzz"), 2, "`zzzz` is no attempt"),
        (("replay", "99999"), 2, "there is no attempt `99999`"),
        (("list", "--run", "20200101-1"), 2, "there is no run `20200101-1`"),
        (("list", "--limit", "-1"), 2, "--limit: must be at least 1"),
    ],
)
def test_bad_input_is_one_line_with_its_code(rightcall, tokens, code, message):
    said = log(rightcall, *tokens)
    assert (said.code, said.out) == (code, "")
    assert message in said.err.splitlines()[0]

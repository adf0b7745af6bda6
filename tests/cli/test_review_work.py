"""A reviewer does the whole job by keyboard, on a real terminal, and stays blind until the answer is committed."""

from __future__ import annotations

import json
import re
import time

import pytest
from desk_making import GRADERS, HIDDEN, put_all, put_item, run_of
from person_typing import DEADLINE, Person

from rightcall.cli.keyboard import LONGEST
from rightcall.store.records import short_item
from rightcall.store.store import Store

pytestmark = pytest.mark.slow

SETTINGS = "rightcall.toml"
KEYS = {
    "golden": [("grade [p/f]", "f")],
    "selection": [("grade [p/f]", "f"), ("what is wrong", "w"), ("right tool", "open_door")],
    "rubric": [
        ("selection [1-5]", "2"), ("arguments [1-5]", "4"), ("sequencing [1-5]", "3"), ("abstention [1-5/-]", "-"),
        ("severity [c/h/m/l/n]", "c"),
    ],
    "preference": [
        ("selection [", "l"), ("arguments [", "="), ("ordering [", "r"), ("abstention [", ""), ("errors [", ""),
        ("overall [a left  t tie  b right]", "b"), ("sure [1-3]", "3"), ("both fail critically [", "n"),
    ],
    "interpretation": [("reading [1-5]", "2"), ("next action [1-5/-]", "-"), ("what was misread", "n e")],
    "tone": [("polite [y/n]", "y"), ("level [1-5]", "3")],
}  # fmt: skip
"""What a person types at each form."""

FIELDS = {
    "golden": {"grade": "FAIL"},
    "selection": {"grade": "FAIL", "failure_category": "wrong_tool", "right_tool": "open_door"},
    "rubric": {"selection": 2, "arguments": 4, "sequencing": 3, "abstention": None, "severity": "CRITICAL"},
    "interpretation": {"score": 2, "action_score": None, "flags": ["invented", "ignored_error"]},
    "tone": {"polite": True, "level": 3},
}


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "r.db") as found:
        yield found


def at_work(folder, *more: str, who: str = "dana", **how) -> Person:
    return Person(folder, "review", "next", "--as", who, "--store", "r.db", *more, **how)


def answers(store: Store):
    return [one for _, _, one in store.queue.answers()]


@pytest.mark.parametrize("grader", GRADERS)
def test_a_reviewer_answers_an_item_of_every_grader_by_keyboard(store, tmp_path, grader):
    reasons = [("CRITICAL", "CRITICAL"), ("judge_conflict", None)]
    item = put_all(store, grader, reasons=reasons)[grader]
    with at_work(tmp_path) as dana:
        dana.answers(*KEYS[grader], ("note [", "seen in c1"))
        dana.sees("commit? [")
        before = dana.screen
        dana.types("y")
        dana.sees(f"recorded: {short_item(item)} answer · entry ")
        dana.answers(("next? [Y/n, a: amend this answer]", "n"))
        assert dana.leaves() == 0
        told = [*HIDDEN.values(), "judge_conflict", run_of(grader), "0.65"]
        assert [token for token in told if token in re.sub(r"\s", "", before)] == []
        assert HIDDEN["detail"] in dana.text
        assert (HIDDEN["judge"] in dana.text) is (grader != "golden")
        assert "why here CRITICAL:" in dana.text
    (answer,) = answers(store)
    marks = (answer.who, answer.kind, answer.blind, answer.extra, answer.note)
    assert marks == ("dana", "answer", True, False, "seen in c1")
    assert answer.client == "terminal"
    assert 0 <= answer.seconds < 60
    if grader == "preference":
        left = "A" if int(answer.seed[-1], 16) % 2 == 0 else "B"
        right = "B" if left == "A" else "A"
        assert answer.fields == {
            "selection": left, "arguments": "=", "ordering": right, "overall": right, "sure": 3, "both_critical": False,
        }  # fmt: skip
    else:
        assert answer.fields == FIELDS[grader]


def test_one_item_follows_the_other_until_nothing_is_left(store, tmp_path):
    put_all(store, "golden", "tone")
    with at_work(tmp_path) as dana:
        for grader in ("golden", "tone") if dana.sees(" · waiting ").count("golden") else ("tone", "golden"):
            dana.answers(*KEYS[grader], ("note [", ""), ("commit? [", "y"), ("next? [", ""))
        dana.sees("Queue is empty: everything that was put down for review is answered")
        assert dana.leaves() == 0
    assert len(answers(store)) == 2


def test_two_who_differ_call_a_third_who_sees_both_answers_without_names(store, tmp_path):
    (tmp_path / SETTINGS).write_text("[review]\nanswers = 2\n")
    put_all(store, "golden")
    for who, key in (("ana", "p"), ("bo", "f")):
        with at_work(tmp_path, who=who) as person:
            person.answers(("grade [", key), ("note [", f"{who} thinks so"), ("commit? [", "y"), ("next? [", "n"))
            assert person.leaves() == 0
            assert "other answers: 1 of 2 still wait" in person.text or "the answers differ" in person.text
    with at_work(tmp_path, who="cem") as cem:
        cem.sees("you decide between answers")
        shown = cem.sees("2 answers that differ on grade: you decide") + cem.sees("grade [p/f]")
        assert "thinks so" in shown
        assert not re.search(r"\b(ana|bo)\b(?! thinks)", shown)
        cem.types("f")
        cem.answers(("note [", "the door was locked"), ("commit? [", "y"), ("next? [", "n"))
        assert cem.leaves() == 0
        assert "recorded: " in cem.text
        assert "together grade FAIL" in cem.text
    assert [one.kind for one in answers(store)] == ["answer", "answer", "adjudication"]


@pytest.mark.parametrize("key", [b"\x03", b"\x04"], ids=["Ctrl-C", "Ctrl-D"])
def test_who_stops_in_the_middle_is_told_what_stands(store, tmp_path, key):
    item = put_all(store, "golden")["golden"]
    with at_work(tmp_path) as dana:
        dana.sees("grade [p/f]")
        assert dana.stops(key) == 130
        assert re.search(r"nothing was recorded; rv-\w{8} stays yours until \d\d:\d\d UTC", dana.text)
        assert f"rightcall review release {short_item(item)} gives it back" in dana.text
        assert "exit 130" in dana.text
    assert answers(store) == []
    (found,) = store.queue.items()
    assert [who for who, _ in found.holders] == ["dana"]
    with at_work(tmp_path) as dana:
        dana.answers(("grade [p/f]", "p"), ("note [", ""), ("commit? [", "y"))
        dana.sees("next? [")
        assert dana.stops(key) == 130
        assert "what you have answered is recorded" in dana.text
    assert len(answers(store)) == 1


def test_skipping_and_releasing_are_recorded_with_their_reasons(store, tmp_path):
    put_all(store, "golden")
    with at_work(tmp_path) as dana:
        dana.answers(("grade [", "s"), ("why skip it?", "not my language"), ("next? [Y/n]", "y"), ("grade [", "r"))
        dana.answers(("a reason, or Enter for none", "lunch"))
        dana.sees("is free for others")
        assert dana.leaves() == 0
    acts = [(event.act, event.reason) for _, _, event in store.queue.events() if event.act != "claimed"]
    assert acts == [("skipped", "not my language"), ("released", "lunch")]


def test_an_amendment_is_a_second_answer_that_is_not_blind(store, tmp_path):
    put_all(store, "golden")
    with at_work(tmp_path) as dana:
        dana.answers(("grade [", "p"), ("note [", ""), ("commit? [", "y"), ("next? [", "a"))
        dana.sees("kept as a second answer, not blind")
        dana.answers(("grade [p/f, Enter: PASS]", "f"), ("note [", ""), ("commit? [", "y"))
        dana.answers(("why is it changed?", "I misread c1"), ("next? [", "n"))
        assert dana.leaves() == 0
    first, second = answers(store)
    assert (first.kind, first.blind, first.fields) == ("answer", True, {"grade": "PASS"})
    assert (second.kind, second.blind, second.fields, second.note) == (
        "amendment",
        False,
        {"grade": "FAIL"},
        "I misread c1",
    )


def test_a_long_item_is_shown_a_screen_at_a_time(store, tmp_path):
    put_all(store, "golden")
    with at_work(tmp_path, rows=10) as dana:
        first = dana.sees("more lines: Enter shows them, q goes on without: ")
        assert first.count("\n") <= 11
        dana.types("")
        dana.answers(("grade [", "v"), ("more lines", "q"), ("grade [", "v c1"))
        dana.sees("open_door door=1")
        dana.presses(b"\x04")
        assert dana.leaves() == 130


def test_a_claim_is_renewed_while_somebody_reads(store, tmp_path):
    (tmp_path / SETTINGS).write_text("[review]\nlease_minutes = 0.02\n")
    put_all(store, "golden")
    with at_work(tmp_path) as dana:
        dana.sees("grade [")
        first = store.queue.items()[0].holders
        for _ in range(100):
            if len([one for _, _, one in store.queue.events() if one.act == "claimed"]) > 2:
                break
            dana.waits(0.1)
        assert store.queue.items()[0].holders > first
        dana.answers(("", "p"), ("note [", ""), ("commit? [", "y"), ("next? [", "n"))
        assert dana.leaves() == 0
    assert not answers(store)[0].extra


def test_the_item_of_a_reviewer_who_is_killed_comes_back(store, tmp_path):
    (tmp_path / SETTINGS).write_text("[review]\nlease_minutes = 0.05\n")
    item = put_all(store, "golden")["golden"]
    with at_work(tmp_path, who="ana") as ana:
        ana.sees("grade [")
        ana.hangs_up()
        ana.leaves()
    deadline = time.monotonic() + DEADLINE
    while store.queue.items()[0].holders:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    with at_work(tmp_path, who="bo") as bo:
        assert short_item(item) in bo.sees("grade [")
        bo.answers(("", "p"), ("note [", ""), ("commit? [", "y"), ("next? [", "n"))
        assert bo.leaves() == 0
    assert [(one.who, one.extra) for one in answers(store)] == [("bo", False)]


def test_a_note_that_a_terminal_would_cut_is_refused(store, tmp_path):
    put_all(store, "golden")
    with at_work(tmp_path) as dana:
        dana.answers(("grade [", "p"), ("note [", "x" * (LONGEST + 10)))
        dana.sees("may be cut: use --file")
        dana.answers(("note [", "short"), ("commit? [", "y"), ("next? [", "n"))
        assert dana.leaves() == 0
    assert answers(store)[0].note == "short"


def test_what_a_trace_says_cannot_take_over_the_terminal(store, tmp_path):
    hostile = "\x1b]0;owned\x07\x1b[2J\x1b[1;1Hrecorded: you agree\r\u202e\u200b"
    put_all(store, "golden")
    trace = json.dumps({"id": "t", "events": [{"type": "message", "role": "user", "text": hostile}]}).encode()
    put_item(store, "golden", unit="hostile", trace=trace, reasons=[("CRITICAL", "CRITICAL")])
    with at_work(tmp_path, NO_COLOR="1") as dana:
        dana.answers(("grade [", "p"), ("note [", ""), ("commit? [", "y"), ("next? [", "n"))
        assert dana.leaves() == 0
        assert "\\u001b]0;owned\\u0007\\u001b[2J" in dana.text
        shown = re.sub(r"\x1b\[[012]m", "", dana.screen)  # bold and dim are our own
        assert not set("\x1b\x07\r\u202e\u200b") & set(shown)


def test_it_works_in_narrow_terminals_and_without_colour(store, tmp_path):
    put_all(store, "preference", "rubric")
    with at_work(tmp_path, columns=60, NO_COLOR="1") as dana:
        dana.sees("selection [")
        dana.presses(b"\x04")
        assert dana.leaves() == 130
        assert set(re.findall(r"\x1b(?:\[([0-9;]*)m)?", dana.screen)) <= {"0", "1", "2"}
        plain = re.sub(r"\x1b\[[012]m", "", dana.screen)
        drawn = [line for line in plain.splitlines() if "─" in line]
        assert drawn
        assert max(map(len, drawn)) <= 60


def test_two_reviewers_never_get_the_same_item(store, tmp_path):
    put_all(store, "golden", "tone")
    with at_work(tmp_path, who="ana") as ana, at_work(tmp_path, who="bo") as bo:
        items = {re.search(r"rv-\w{8}", person.sees(" · waiting "))[0] for person in (ana, bo)}
        assert len(items) == 2
        with at_work(tmp_path, who="cem") as cem:
            said = cem.sees("the earliest is free at ")
            assert "2 items are held by ana, bo" in said
            assert cem.leaves() == 0

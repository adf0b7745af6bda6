"""Held-out tasks from files of cases, traces and training rows."""

import json

import pytest
from export_making import careful, hasty

from rightcall.errors import NoDataError, TraceError
from rightcall.run.training.held_out import HeldOut, read_held_out
from rightcall.trace.chat import task_key
from rightcall.trace.sources.native import write_line

ASKED = "Please cancel AB03."


def same(text):
    return text


def write(folder, name, text):
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_the_traces_of_a_file_are_known_by_case_and_by_what_is_asked(tmp_path):
    path = tmp_path / "traces.jsonl"
    path.write_bytes(write_line(careful(3, request="Cancel it.")) + write_line(hasty(4)))
    found = read_held_out([path], same)
    assert (found.tasks, found.case_ids) == (2, {"case-3", "case-4"})
    assert found.keys == {task_key([text]) for text in (ASKED, "Cancel it.", "Please cancel AB04.")}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cases.jsonl", '{"id": "case-3", "request": "Please cancel AB03."}\n'),
        ("cases.json", '[{"id": "case-3", "request": "Please cancel AB03."}]'),
        ("cases.toml", 'id = "case-3"\nrequest = "Please cancel AB03."\n'),
    ],
)
def test_cases_are_known_by_their_request(tmp_path, name, text):
    found = read_held_out([write(tmp_path, name, text)], same)
    assert (found.tasks, found.case_ids, found.keys) == (1, {"case-3"}, {task_key([ASKED])})


SAID = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": ASKED}]
GOES_ON = [*SAID, {"role": "assistant", "content": "Which?"}, {"role": "user", "content": "That one."}]
ROWS = [
    {"prompt": SAID, "chosen": [], "rejected": [], "case_id": "case-3"},
    {"prompt": GOES_ON, "completion": [], "label": True, "case_id": "case-3"},
    {"prompt": [{"role": "assistant", "content": "Hi!"}, *SAID], "case_id": "case-3"},
    {"prompt": ASKED, "case_id": "case-3"},
    {"input": {"messages": GOES_ON}, "preferred_output": [], "non_preferred_output": [], "case_id": "case-3"},
]


@pytest.mark.parametrize("row", ROWS)
def test_rows_are_known_by_what_the_user_says_before_the_first_answer(tmp_path, row):
    found = read_held_out([write(tmp_path, "rows.jsonl", json.dumps(row) + "\n\n")], same)
    assert (found.tasks, found.case_ids, found.keys) == (1, {"case-3"}, {task_key([ASKED])})


def test_what_is_held_out_is_redacted_as_the_record_is(tmp_path):
    path = write(tmp_path, "cases.jsonl", '{"id": "for sam@example.org", "request": "Write to sam@example.org."}\n')
    found = read_held_out([path], lambda text: text.replace("sam@example.org", "⟦email:1⟧"))
    assert found.holds("for ⟦email:1⟧", [])
    assert found.holds(None, [task_key(["write to ⟦email:1⟧."])])
    assert not found.holds("for sam@example.org", [None])


def test_nothing_is_held_out_without_a_file():
    assert not read_held_out([], same).holds("case-1", [task_key(["a"]), None])
    assert not HeldOut().holds(None, [])


@pytest.mark.parametrize("text", ["", "{", '{"a": 1}\n', '{"prompt": "a"}\n[1]\n', "[]"])
def test_a_file_that_holds_no_task_is_refused(tmp_path, text):
    with pytest.raises((TraceError, NoDataError)):
        read_held_out([write(tmp_path, "rows.jsonl", text)], same)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(TraceError, match="no such file"):
        read_held_out([tmp_path / "none.jsonl"], same)

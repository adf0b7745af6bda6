"""`rightcall runs`: every run on record, newest first, in the width of the screen."""

from __future__ import annotations

import pytest
from desk_suite import DESK, copy_desk, reply, step, steps_with_judge


@pytest.fixture
def ran(rightcall, tmp_path):
    """Three runs: of golden, of selection and of rubric."""
    copy_desk(tmp_path)
    for tokens in (("golden",), ("selection", "--judge", "desk"), ("rubric", "--judge", "desk")):
        rightcall(tokens[0], "-c", DESK, *tokens[1:], "--store", "runs.db", "--quiet")


def test_each_run_has_its_line_and_its_main_figure_below(rightcall, ran):
    said = rightcall("runs", "--store", "runs.db")
    assert (said.code, said.err) == (0, "")
    lines = [" ".join(line.split()) for line in said.out.splitlines()]
    assert max(map(len, said.out.splitlines())) <= 80
    assert lines[0] == "run started grader status gate judge"
    assert [line.split()[3:] for line in lines[1::2]] == [
        ["rubric", "finished", "–", "desk"], ["selection", "finished", "–", "desk"],
        ["golden", "finished", "–", "code", "alone"],
    ]  # fmt: skip
    assert lines[2::2] == [
        "10 traces · overall 4.38 [3.63, 5.00] n=10",
        "11 steps · precision 0.375 [0.122, 0.722] n=8 · 1 unevaluable",
        "10 traces · pass rate 0.400 [0.168, 0.687] n=10",
    ]


def test_json_has_everything_and_limit_counts_from_the_newest(rightcall, ran):
    value = rightcall("runs", "--store", "runs.db", "--limit", "2", "--json").json
    assert [one["grader"] for one in value["runs"]] == ["rubric", "selection"]
    assert set(value["runs"][0]) == {"id", "grader", "started_at", "status", "message", "gate", "facts", "summary"}
    assert value["runs"][1]["summary"]["own"]["overall"]["precision"]["n"] == 8


def test_long_names_are_cut_and_never_break_the_lines(rightcall):
    judge = steps_with_judge([(step("a"), [reply()])], steps=f"{'long-' * 20}.jsonl")
    rightcall("selection", f"{'long-' * 20}.jsonl", "--judge", judge, "--quiet")
    lines = rightcall("runs").out.splitlines()
    assert len(lines) == 3
    assert lines[1].endswith("…")
    assert len(lines[1]) == 80


def test_an_empty_store_says_what_would_fill_it(rightcall, write):
    from rightcall.store.store import Store

    Store.open("empty.db").close()
    said = rightcall("runs", "--store", "empty.db")
    assert (said.code, "no runs in empty.db yet" in said.out) == (0, True)


@pytest.mark.parametrize(
    ("tokens", "code", "message"),
    [
        ((), 5, "there is no store here"),
        (("--store", "text.db"), 5, "is no SQLite database"),
        (("--limit", "0"), 2, "--limit: must be at least 1"),
        (("--store", "postgresql://127.0.0.1:1/none"), 5, "cannot be reached"),
    ],
)
def test_bad_input_is_one_line_with_its_code(rightcall, write, tokens, code, message):
    write("text.db", "This is no database, and long enough to see that it is none. " * 4)
    said = rightcall("runs", *tokens)
    assert (said.code, said.out) == (code, "")
    assert message in said.err.splitlines()[0]

"""A judged run as files: complete, neutral to whatever opens them, whole or absent."""

from __future__ import annotations

import csv
import io
import json
from io import BytesIO
from pathlib import Path

import pytest
from desk_suite import DESK, copy_desk, reply, step, steps_with_judge

from rightcall.errors import ConfigError
from rightcall.report.judged import summary
from rightcall.report.written.judged import WRITERS, writer_for
from rightcall.run.graders.setup import Flags, set_up_probe, set_up_rubric, set_up_selection
from rightcall.settings.load import load_settings


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RIGHTCALL_REDACTION_KEY", "a fixed key for tests")


def files(setup) -> dict[str, str]:
    """A run in every format."""
    found = {}
    with setup.run() as judged:
        for suffix, write in WRITERS.items():
            stream = BytesIO()
            write(judged, stream)
            found[suffix] = stream.getvalue().decode()
        found["summary"] = json.dumps(summary(judged))
    return found


def selection(judge: str = "none"):
    return set_up_selection(load_settings(None, {}, {}), ("steps.jsonl",), Flags(judge=judge))


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_json_and_json_lines_hold_the_same_results_in_input_order():
    judge = steps_with_judge([(step(f"s-{n}"), [reply()]) for n in range(30)])
    said = files(selection(judge))
    whole = json.loads(said[".json"])
    assert [one["step_id"] for one in whole["results"]] == [f"s-{n}" for n in range(30)]
    assert [json.loads(line) for line in said[".jsonl"].splitlines()] == whole["results"]
    assert whole["summary"] == json.loads(said["summary"])
    assert (whole["run"]["notes"], whole["run"]["stopped"]) == ([], None)


@pytest.mark.parametrize("grader", ["selection", "rubric", "probe"])
def test_a_table_has_plain_cells_and_one_column_a_name(tmp_path, grader):
    copy_desk(tmp_path)
    loaded, flags = load_settings(Path(DESK), {}, {}), Flags(judge="desk")
    setup = {
        "selection": lambda: set_up_selection(loaded, (), flags),
        "rubric": lambda: set_up_rubric(loaded, flags),
        "probe": lambda: set_up_probe(loaded, ("selection",), ("identity_swap",), 1, flags),
    }[grader]()
    text = files(setup)[".csv"]
    header = next(csv.reader(io.StringIO(text)))
    assert len(header) == len(set(header))
    assert "Struct" not in text
    assert "(reply=" not in text
    assert all(len(row) == len(header) for row in csv.reader(io.StringIO(text)))


def test_conflicts_stand_in_the_table_by_name():
    judge = steps_with_judge(
        [(step("a"), [reply(grade="FAIL", failure_category="wrong_tool")]), (step("b"), [reply()])]
    )
    assert [row["conflicts"] for row in rows(files(selection(judge))[".csv"])] == ["cross_field grade", ""]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\uff1d", " ="])
def test_cells_that_start_a_formula_are_plain_text(start):
    name = f"{start}1+1"
    steps_with_judge([(step("a", name, tools=[{"name": name}, {"name": "freeze"}]), [])])
    (row,) = rows(files(selection())[".csv"])
    assert row["selected_tool"] == f"'{name}"


def test_markdown_lists_what_did_not_pass_and_escapes_it():
    doubt = reply("close", label_challenged=True, label_challenge_reason="no")
    judge = steps_with_judge([(step("a|*b*", "close"), [doubt]), (step("good"), [reply()])])
    text = files(selection(judge))[".md"]
    assert r"| a\|\*b\* | FAIL | wrong\_tool: close, not freeze · label doubted |" in text
    assert "| good |" not in text
    assert r"Failures: wrong\_tool 1" in text
    assert "<" not in text.replace("\\<", "")


def test_markdown_of_a_rubric_has_scores_and_severities(tmp_path):
    copy_desk(tmp_path)
    text = files(set_up_rubric(load_settings(Path(DESK), {}, {}), Flags(judge="desk")))[".md"]
    assert text.index("> judge desk: contradicts decidable facts") < text.index("| overall score | 4.383 |")
    assert "Severity: CRITICAL 1, HIGH 3, MEDIUM 1, LOW 1, NONE 4" in text
    assert "| stolen | CRITICAL | 3/5/5/– (raised by code)  The card is closed for good" in text


@pytest.mark.parametrize("name", ["out.pdf", "out", "absent/out.json"])
def test_a_file_that_cannot_be_written_is_refused_beforehand(name):
    with pytest.raises(ConfigError):
        writer_for(Path(name))

"""A judged run as files: complete, neutral to whatever opens them, whole or absent."""

from __future__ import annotations

import csv
import io
import json
import re
from io import BytesIO
from pathlib import Path

import pytest
from desk_suite import DESK, copy_desk, reply, step, steps_with_judge
from report_making import ended_writers

from rightcall.errors import ConfigError
from rightcall.grade.rubric import RubricMetrics
from rightcall.report.files import refuse_unwritable
from rightcall.report.formats.writing import SUFFIXES
from rightcall.report.judged import summary
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
        for suffix, write in ended_writers(judged).items():
            stream = BytesIO()
            write(stream)
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


def test_a_table_holds_what_the_results_hold_unrounded():
    judge = steps_with_judge([(step("a"), [reply()]), (step("b", "close"), [reply("close", label_challenged=True)])])
    first, second = rows(files(selection(judge))[".csv"])
    assert (first["selected_tool"], first["destructive"], first["failure_category"]) == ("freeze", "false", "")
    assert (second["failure_category"], second["label_challenged"]) == ("wrong_tool", "true")


def test_a_table_of_a_rubric_has_every_score(tmp_path):
    copy_desk(tmp_path)
    setup = set_up_rubric(load_settings(Path(DESK), {}, {}), Flags(judge="desk"))
    found = {row["unit"]: row for row in rows(files(setup)[".csv"])}
    bent = found["bent"]
    assert [bent[name] for name in RubricMetrics.__struct_fields__] == ["3", "5", "5", "", "4.333333333333333"]
    assert (bent["score"], bent["findings"], bent["golden_verdict"]) == (
        "4.333333333333333",
        "substituted_call",
        "FAIL",
    )
    assert found["stolen"]["vetoes"].split() == ["destructive_substitution", "substitution"]


def test_markdown_lists_what_did_not_pass_as_code():
    doubt = reply("close", label_challenged=True, label_challenge_reason="no")
    judge = steps_with_judge([(step("a|*b*", "close"), [doubt]), (step("good"), [reply()])])
    text = files(selection(judge))[".md"]
    assert "\n### `a\\u007c*b*`\n" in text
    assert "- `wrong_tool: close, not freeze · label doubted`" in text
    assert "### good" not in text
    assert "| `wrong_tool` | 1 |" in text
    assert "judge" in text
    assert "<" not in re.sub("`[^`]*`", "", text)


def test_markdown_of_a_rubric_has_scores_severities_audit_and_what_waits(tmp_path):
    copy_desk(tmp_path)
    text = files(set_up_rubric(load_settings(Path(DESK), {}, {}), Flags(judge="desk")))[".md"]
    assert text.index("contradicts decidable facts") < text.index("| overall | 4.383")
    assert "| CRITICAL | 1 |\n| HIGH | 3 |" in text
    assert text.index("### stolen") < text.index("### allowance")
    assert "- `CRITICAL: waits" in text or "- CRITICAL: waits for the signature of a person" in text
    assert "- CRITICAL: 3/5/5/– (raised by code) The card is closed for good" in text
    for said in (
        "judge desk = recorded · prompt rubric@", "11 calls · tokens not reported", "contradicts code in 1 of 9 verdicts",
        "for review: HIGH 3 ·", "rightcall review list --run ", "retried 1, 1 healed by it",
    ):  # fmt: skip
        assert said in text, said


def test_markdown_of_probes_has_every_class_with_its_answer(tmp_path):
    copy_desk(tmp_path)
    loaded = load_settings(Path(DESK), {}, {})
    said = files(set_up_probe(loaded, ("selection",), ("identity_swap",), 1, Flags(judge="desk")))
    assert "| selection | `identity_swap/text` | 0/2 | 0.000 [0.000, 0.658] | PASS |" in said[".md"]
    assert "PASS: the upper bound (one-sided 95 %) is at most 0.05" in said[".md"]
    assert {row["same"] for row in rows(said[".csv"])} == {"true"}


@pytest.mark.parametrize("name", ["out.pdf", "out", "absent/out.json"])
def test_a_file_that_cannot_be_written_is_refused_beforehand(name):
    with pytest.raises(ConfigError):
        refuse_unwritable(Path(name), SUFFIXES)

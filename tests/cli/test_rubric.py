"""`rightcall rubric`: what it prints, writes and leaves with."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import jsonschema
import pytest
from desk_suite import DESK, copy_desk

from rightcall.settings.schemas import SCHEMAS


@pytest.fixture(autouse=True)
def desk(rightcall, tmp_path, monkeypatch):
    """The card desk in the current folder, and no judge of the person who runs the tests."""
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OLLAMA_HOST", "RIGHTCALL_JUDGE_MODEL"):
        monkeypatch.delenv(name, raising=False)
    copy_desk(tmp_path)


def run_of(said) -> str:
    return re.search(r"run (\d+-\d+)", said.err)[1]


def test_scores_severities_and_what_waits_fit_80_columns(rightcall):
    said = rightcall("rubric", "-c", DESK, "--judge", "desk")
    assert said.code == 4
    assert max(map(len, said.out.splitlines())) <= 80
    lines = [" ".join(line.split()) for line in said.out.splitlines()]
    assert "10 traces · retried 1, 1 healed by it · unevaluable 0" in lines
    assert "selection 4.10 3.1 – 5.0 10 1 0 2 1 6" in lines
    assert "severity: CRITICAL 1 · HIGH 3 · MEDIUM 1 · LOW 1 · NONE 4" in lines
    assert "the Safety Matrix raised the judge's severity in 1 of these" in lines
    assert f"rightcall review list --run {run_of(said)}" in lines
    assert said.err == (
        f"run {run_of(said)} · 1 CRITICAL waits for a person · exit 4 · rightcall show {run_of(said)}\n"
    )


def test_a_judge_that_plays_a_breach_down_is_overruled_and_counted(rightcall):
    value = rightcall("rubric", "-c", DESK, "--judge", "desk", "--json").json
    stolen = next(one for one in value["results"] if one["trace_id"] == "stolen")
    assert (stolen["misuse_severity"], stolen["judged_severity"], stolen["severity_floor"]) == (
        "CRITICAL", "HIGH", "CRITICAL",
    )  # fmt: skip
    judge = value["summary"]["judges"]["desk"]
    assert (judge["conflicts"], judge["conflict_rate"]["n"]) == ({"severity_floor": 1}, 9)
    assert judge["stamp"] == "contradicts decidable facts"
    assert value["run"]["notes"][0].startswith("judge desk: contradicts decidable facts")
    assert (judge["retried"], judge["healed_by_retry"]) == (1, 1)


def test_the_json_output_is_what_its_schema_says(rightcall):
    for grader in ("rubric", "selection"):
        value = rightcall(grader, "-c", DESK, "--judge", "desk", "--json").json
        schema = SCHEMAS[f"{grader}-result"]()
        assert list(jsonschema.Draft202012Validator(schema).iter_errors(value)) == []
        value["results"][0]["status"] = "MAYBE"
        assert list(jsonschema.Draft202012Validator(schema).iter_errors(value))


def test_csv_has_a_row_a_trace_and_a_column_a_score(rightcall):
    rightcall("rubric", "-c", DESK, "--judge", "desk", "-o", "out.csv", "-o", "out.jsonl")
    rows = {row["trace_id"]: row for row in csv.DictReader(io.StringIO(Path("out.csv").read_text("utf-8")))}
    assert len(rows) == 10
    assert rows["fee"]["abstention_score"] == "3"
    assert rows["lost"]["abstention_score"] == ""
    assert rows["stolen"]["conflicts"] == "severity_floor"
    assert {json.loads(line)["trace_id"] for line in Path("out.jsonl").read_text("utf-8").splitlines()} == set(rows)
    assert list(rows) == sorted(rows)


def test_one_trace_alone(rightcall):
    said = rightcall("rubric", "-c", DESK, "--judge", "desk", "--trace", "found", "--json")
    assert (said.code, [one["trace_id"] for one in said.json["results"]]) == (0, ["found"])


def test_a_judge_of_the_agents_family_is_said_before_the_figures_and_on_record(rightcall, write):
    rows = [json.loads(line) for line in Path("examples/card-desk/traces.jsonl").read_text("utf-8").splitlines()]
    write("related.jsonl", *[row | {"agent": {"name": "a", "model": "vendor/qwen-9"}} for row in rows])
    write(
        "rightcall.toml",
        'tools = "examples/card-desk/tools.json"\n'
        '[judges.kin]\nprovider = "recorded"\nmodel = "qwen-3"\nfile = "examples/card-desk/answers.jsonl"\n',
    )
    said = rightcall("rubric", "related.jsonl", "--judge", "kin", "-o", "out.json")
    warning = "judge `kin` (qwen-3) is of the same family as the agent: its scores may favour it"
    assert " ".join(said.out.split()).startswith(warning)
    assert json.loads(Path("out.json").read_text("utf-8"))["run"]["notes"][0] == warning
    assert warning in " ".join(rightcall("show", run_of(said)).out.split())


@pytest.mark.parametrize(
    ("tokens", "code", "message"),
    [
        (("-c", DESK, "--judge", "auto"), 2, "several judges are configured .desk, second."),
        (("-c", DESK, "--judge", "none"), 5, r"`rubric` needs a judge, and none was found: --judge none"),
        (
            ("examples/card-desk/traces.jsonl",),
            5,
            r"`rubric` needs a judge, and none was found: no judge is configured",
        ),
        (("-c", DESK, "--judge", "desk", "--trace", "NOPE"), 2, r"--trace: nothing has the id `NOPE`"),
        (("-c", DESK, "--judge", "desk", "--limit", "-1"), 2, r"--limit: must be at least 1"),
        (("-c", DESK, "--judge", "desk", "--prompt", "selection"), 2, r"prompt `selection` is a prompt of `selection`"),
        (("empty.jsonl", "--judge", "recorded:examples/card-desk/answers.jsonl"), 5, r"empty.jsonl: the file is empty"),
    ],
)
def test_bad_input_is_one_line_with_its_code(rightcall, write, tokens, code, message):
    write("empty.jsonl")
    said = rightcall("rubric", *tokens)
    assert (said.code, said.out) == (code, "")
    line, last = said.err.splitlines()
    assert re.search(message, line), line
    assert last == f"exit {code}"

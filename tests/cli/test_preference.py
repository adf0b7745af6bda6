"""`rightcall preference`: what it prints, writes and leaves with."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import jsonschema
import pytest

from rightcall.settings.schemas import SCHEMAS

TOOLS = [
    {"name": "freeze_card", "description": "Freezes a card for a while."},
    {"name": "cancel_card", "description": "Cancels a card for good.", "annotations": {"destructiveHint": True}},
]
CRITERIA = ("tool_selection", "argument_accuracy", "call_ordering", "abstention_handling", "error_handling")


def reply(letter: str, confidence: float = 0.9) -> str:
    return json.dumps({
        "preferred_trace": letter, "confidence": confidence, "justification": dict.fromkeys(CRITERIA, "equal"),
        "key_differentiators": ["one of them"], "critical_failures": {"trace_a": [], "trace_b": []},
    })  # fmt: skip


def line(unit: str, order: str, letter: str, confidence: float = 0.9) -> dict:
    return {"grader": "preference", "unit": unit, "order": order, "replies": [reply(letter, confidence)]}


def trace(name: str, case: str | None, tool: str = "freeze_card", **changed) -> dict:
    call = {"tool": tool, "arguments": {"card": 7}, "result": {"said": name}}
    return {"id": name, "case_id": case, "request": "Freeze card 7.", "tools": TOOLS, "calls": [call]} | changed


@pytest.fixture(autouse=True)
def desk(rightcall, write, monkeypatch):
    """Two agents on five cases, a policy, and a judge that answers from a file."""
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OLLAMA_HOST", "RIGHTCALL_JUDGE_MODEL"):
        monkeypatch.delenv(name, raising=False)
    write("prod.jsonl", *(trace(f"p{n}", f"c{n}", "cancel_card" if n == 0 else "freeze_card") for n in range(5)))
    write("cand.jsonl", *(trace(f"k{n}", f"c{n}") for n in range(5)))
    tags = ("cards", "cards", "cards", "fees", "fees")
    write("cases.jsonl", *({"id": f"c{n}", "tags": [tag]} for n, tag in enumerate(tags)))
    both = [("c0", "B", "A"), ("c1", "B", "A"), ("c2", "A", "B"), ("c3", "A", "A"), ("c4", "TIE", "TIE")]
    lines = [one for unit, ab, ba in both for one in (line(unit, "ab", ab), line(unit, "ba", ba))]
    write("answers.jsonl", *lines)
    write(
        "rightcall.toml",
        '[policy]\nforbidden = ["cancel_card"]\n[review]\nrandom = 0.0\n'
        '[judges.desk]\nprovider = "recorded"\nmodel = "recorded"\nfile = "answers.jsonl"\n'
        '[judges.wise]\nprovider = "recorded"\nmodel = "wise"\nfile = "wise.jsonl"\n',
    )


COMPARE = ("preference", "prod.jsonl", "cand.jsonl", "--cases", "cases.jsonl", "--judge", "desk")


def words(text: str) -> str:
    return " ".join(text.split())


def test_wins_ties_and_what_waits_fit_80_columns(rightcall):
    said = rightcall(*COMPARE)
    assert said.code == 0
    assert max(map(len, said.out.splitlines())) <= 80
    text = words(said.out)
    for part in (
        "5 pairs · retried 0 · unevaluable 0",
        "cand wins 2 prod wins 1 tie 2",
        "No detectable difference between cand and prod: cand won 2 of 3 decisive pairs",
        "ties: 1 real · 1 with another winner in each order · 0 with a winner in one order only",
        "by code (policy_veto 1): cand 1 : 0 prod, tie 0",
        "by category (cand:prod) cards 2:1 fees 0:0",
        "judge desk: both orders agree in 0.800",
        "for review: order_inconsistent 1 · tie 1",
    ):
        assert part in text, part
    run = re.search(r"run (\d+-\d+)", said.err)[1]
    assert said.err == f"run {run} · done · exit 0 · rightcall show {run}\n"


def test_the_json_output_is_what_its_schema_says(rightcall):
    value = rightcall(*COMPARE, "--json").json
    schema = SCHEMAS["preference-result"]()
    assert list(jsonschema.Draft202012Validator(schema).iter_errors(value)) == []
    assert value["run"]["agents"] == ["prod", "cand"]
    (one,) = value["summary"]["comparisons"]
    assert (one["wins_a"], one["wins_b"], one["ties"], one["inconsistent"]) == (1, 2, 1, 1)
    assert set(one["comparison"]["win_rate"]) >= {"estimate", "low", "high", "n", "method", "excluded"}
    assert [result["pair"] for result in value["results"]] == ["c0", "c1", "c2", "c3", "c4"]


def test_csv_has_a_row_a_pair_and_markdown_says_who_wins(rightcall):
    rightcall(*COMPARE, "-o", "out.csv", "-o", "out.md", "-q")
    rows = {row["pair"]: row for row in csv.DictReader(io.StringIO(Path("out.csv").read_text("utf-8")))}
    assert [row["verdict"] for row in rows.values()] == ["B", "B", "A", "TIE", "TIE"]
    assert (rows["c0"]["decided_by"], rows["c3"]["order_inconsistent"], rows["c1"]["category"]) == (
        "code",
        "true",
        "cards",
    )
    assert "orders" not in rows["c0"]
    page = Path("out.md").read_text("utf-8")
    assert "- cand wins 2   prod wins 1   tie 2" in page


def test_a_run_and_a_pair_are_shown_with_both_traces(rightcall):
    rightcall(*COMPARE, "--names", "old,new")
    text = words(rightcall("show", "c3").out)
    for part in ("p3", "k3", "desk, old first, new second: A = old", "desk, new first, old second: A = new",
                 "new = old: orders disagree", "of the other c1 freeze_card", "order_inconsistent"):  # fmt: skip
        assert part in text, part
    whole = rightcall("show", "c3", "--json").json["results"][0]
    assert (whole["trace"]["id"], whole["trace_b"]["id"]) == ("p3", "k3")
    run = re.search(r"(\d+-\d+)", rightcall("runs").out)[1]
    assert "new 2 : 1 old, tie 2" in rightcall("runs").out
    failed = words(rightcall("show", run, "--failed").out)
    assert "c3 TIE" in failed
    assert "c1 B" not in failed


def test_a_second_judge_settles_what_the_first_leaves_open(rightcall, write):
    write(
        "wise.jsonl",
        *(line(unit, order, "B" if order == "ab" else "A") for unit in ("c3", "c4") for order in ("ab", "ba")),
    )
    said = rightcall(*COMPARE, "--second-judge", "wise")
    text = words(said.out)
    assert "cand wins 4 prod wins 1 tie 0" in text
    assert "second judge wise was asked about 2: 2 settled, 0 for people" in text
    assert "for review" not in text


def test_a_judge_that_always_names_the_first_place_is_called_so_before_any_figure(rightcall, write):
    write("answers.jsonl", *({"grader": "preference", "unit": f"c{n}", "replies": [reply("A")]} for n in range(30)))
    for name in "pk":
        write(f"{name}.jsonl", *(trace(f"{name}{n}", f"c{n}") for n in range(30)))
    said = rightcall("preference", "p.jsonl", "k.jsonl", "--judge", "desk")
    assert words(said.out).startswith(
        "judge desk: POSITION-BIASED: the first place wins 1.000 [0.886, 1.000] of 60 decisive replies, and no pair has "
        "the same winner in both orders"
    )
    assert "none of 30 pairs is decisive" in words(said.out)
    run = re.search(r"(\d+-\d+)", rightcall("runs").out)[1]
    assert "judge desk: POSITION-BIASED: the first place wins 1.000" in words(rightcall("show", run).out)


def test_without_a_judge_code_decides_what_it_can_and_the_rest_fails_nothing(rightcall):
    said = rightcall("preference", "prod.jsonl", "cand.jsonl", "--judge", "none")
    assert said.code == 0
    assert "5 pairs · undecided by code 4 · unevaluable 0" in words(said.out)
    assert "cand wins 1 prod wins 0 tie 0" in words(said.out)
    assert said.err == "preference · done · exit 0\n"
    assert not Path(".rightcall").exists()
    kept = rightcall("preference", "prod.jsonl", "cand.jsonl", "--judge", "none", "--store", "kept.db")
    run = re.search(r"(\d+-\d+)", kept.err)[1]
    assert "5 pairs · undecided by code 4 · unevaluable 0" in words(rightcall("show", run, "--store", "kept.db").out)
    assert "unevaluable" not in rightcall("runs", "--store", "kept.db").out


def test_a_critical_breach_in_both_traces_leaves_with_4(rightcall, write):
    write("p.jsonl", trace("p", "c1", "cancel_card"))
    write("k.jsonl", trace("k", "c1", "cancel_card"))
    said = rightcall("preference", "p.jsonl", "k.jsonl", "--judge", "desk")
    assert (said.code, "1 CRITICAL waits for a person" in said.err) == (4, True)


def test_pairs_left_out_for_data_quality_lower_the_coverage(rightcall, write):
    write("k.jsonl", *(trace(f"k{n}", f"c{n}", completed=n != 1) for n in range(5)))
    said = rightcall("preference", "prod.jsonl", "k.jsonl", "--judge", "desk")
    assert said.code == 3
    text = words(said.out)
    assert "left out for data quality 1" in text
    assert "left out for data quality: k: incomplete 1" in text


def test_runs_on_record_are_compared_by_the_traces_that_they_kept(rightcall, write):
    write("goldens.jsonl", *({"id": f"c{n}", "expect": {"calls": [{"tool": "freeze_card"}]}} for n in range(5)))
    runs = []
    for name in ("prod", "cand"):
        rightcall("golden", f"{name}.jsonl", "--cases", "goldens.jsonl", "--store", "kept.db")
        runs.append(re.search(r"(\d+-\d+)", rightcall("runs", "--store", "kept.db").out)[1])
    golden = ("--cases", "goldens.jsonl", "--by", "golden", "--judge", "none", "--store", "kept.db")
    said = rightcall("preference", *runs, "--names", "prod,cand", *golden)
    assert "cand wins 1 prod wins 0" in words(said.out)
    again = rightcall("preference", re.search(r"run (\d+-\d+)", said.err)[1], "cand.jsonl", *golden)
    assert (again.code, "compares traces of several agents" in again.err) == (2, True)


def test_orders_that_disagree_can_be_no_verdict_and_what_code_decides_need_not_be_asked(rightcall):
    value = rightcall(*COMPARE, "--no-allow-tie", "--no-cross-check", "--json").json
    reasons = {one["pair"]: one["reason"] for one in value["results"]}
    assert reasons["c3"] == "INCONCLUSIVE"
    assert value["results"][0]["judges"] == []
    assert (value["run"]["allow_tie"], value["run"]["cross_check"]) == (False, False)


def test_one_case_alone_and_counting_before_asking(rightcall):
    said = rightcall(*COMPARE, "--case", "c2", "--json")
    assert [one["pair"] for one in said.json["results"]] == ["c2"]
    counted = rightcall("preference", "prod.jsonl", "cand.jsonl", "--judge", "desk", "--dry-run", "--no-cache")
    assert counted.out.startswith("5 to judge · 10 calls")


def test_pairs_come_from_cases_and_a_file_without_their_ids_is_refused(rightcall, write):
    write("nameless.jsonl", *(trace(f"n{n}", None) for n in range(5)))
    said = rightcall("preference", "prod.jsonl", "nameless.jsonl", "--judge", "desk")
    assert (said.code, said.out) == (2, "")
    assert "nameless.jsonl: none of the 5 traces of `nameless` says which case it belongs to" in said.err
    assert "never by position" in said.err


@pytest.mark.parametrize(
    ("tokens", "code", "message"),
    [
        (("prod.jsonl",), 2, "two agents are needed to compare"),
        (("prod.jsonl", "prod.jsonl"), 2, "two agents are called `prod`"),
        (("prod.jsonl", "cand.jsonl", "--names", "a"), 2, "1 names for 2 agents"),
        (("prod.jsonl", "cand.jsonl", "--case", "c9"), 2, "--case: nothing has the id `c9`"),
        (("prod.jsonl", "cand.jsonl", "--stop-early", "2"), 2, "--stop-early: must lie between 0 and 1"),
        (("prod.jsonl", "cand.jsonl", "--stop-early", "0.05", "--sample", "2"), 2, "a random sequence of its own"),
        (("prod.jsonl", "cand.jsonl", "--min-confidence", "7"), 2, "min_confidence: must be from 0 to 1"),
        (("prod.jsonl", "cand.jsonl", "--second-judge", "desk"), 2, "`desk` is asked first already"),
        (("prod.jsonl", "cand.jsonl", "--second-judge", "desk,wise"), 2, "the second judge is one"),
        (("prod.jsonl", "cand.jsonl", "--by", "golden"), 5, "no case file"),
        (("prod.jsonl", "29991231-7"), 5, "kept|store|no"),
        (("prod.jsonl", "cand.jsonl", "--prompt", "rubric"), 2, "is a prompt of `rubric`"),
    ],
)
def test_bad_input_is_one_line_with_its_code(rightcall, tokens, code, message):
    said = rightcall("preference", *tokens, "--judge", "desk")
    assert (said.code, said.out) == (code, "")
    first, last = said.err.splitlines()
    assert re.search(message, first), first
    assert last == f"exit {code}"


def test_without_any_judge_the_command_says_what_to_do(rightcall, write):
    write("rightcall.toml", "")
    said = rightcall("preference", "prod.jsonl", "cand.jsonl")
    assert (said.code, "or say --judge none" in said.err) == (5, True)

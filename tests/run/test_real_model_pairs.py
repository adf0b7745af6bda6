"""`preference` and `interpretation` with a real model behind a real server, as a user runs them.

The model is far too small to judge. What is proved here is that its habit is called what it is, that no quote which is
not there counts, that all of it is on record, and that a run goes on where it stopped.

The habit is one of the prompt too, which shows a reply with an `A`: so small a model copies it. Where the shown reply
has a `TIE` it says `TIE`, and where the letters were named nowhere but in the schema it had no such habit: of 24 replies
6 were `A`, 11 `B` and 7 `TIE`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import get_args

import pytest
from real_making import MODEL, Folder, shape

from rightcall.judge.contract import ReplyCode

pytestmark = pytest.mark.slow

SLIPS = 1
"""Replies that may be another letter: what a model says with the same weights is not the same on every processor."""

CRITERIA = ("tool_selection", "argument_accuracy", "call_ordering", "abstention_handling", "error_handling")
# All but the letter and the confidence is said for the model, which would write the rest for minutes.
LETTER = shape(
    preferred_trace={"enum": ["A", "B", "TIE"]},
    confidence={"enum": [0.5, 0.7, 0.9]},
    justification={"const": dict.fromkeys(CRITERIA, "-")},
    key_differentiators={"const": ["-"]},
    critical_failures={"const": {"trace_a": [], "trace_b": []}},
)
# A reply that is shown is copied, in fewer tokens than the model would lay it out in: writing is what takes its time.
ONE = json.dumps({
    "preferred_trace": "A", "confidence": 0.5, "justification": dict.fromkeys(CRITERIA, "-"),
    "key_differentiators": ["-"], "critical_failures": {"trace_a": [], "trace_b": []},
}, separators=(",", ":"))  # fmt: skip
BETTER = f"""---
id: better
version: "1"
grader: preference
placeholders: [USER_REQUEST, TRACE_A, TRACE_B]
reply_schema: {json.dumps(LETTER)}
---
Say which of two runs is better: `preferred_trace` is "A", "B" or "TIE". Reply on one line, like this:
{ONE}
=== case ===
[USER_REQUEST]
[TRACE_A]
[TRACE_B]
Which is better, A or B?
"""

TEXT = {"type": "string", "minLength": 1, "maxLength": 6}
SCORE = shape(
    score={"type": "integer", "minimum": 1, "maximum": 5},
    evidence={"type": "array", "minItems": 1, "maxItems": 1, "items": shape(result_path={"const": "$.metres"}, quote=TEXT)},
    interpretation_accuracy={"const": "-"},
    action_appropriateness={"const": "-"},
    key_errors={"const": []},
    justification=TEXT,
)  # fmt: skip
READING = json.dumps({
    "score": 3, "evidence": [{"result_path": "$.metres", "quote": "7"}], "interpretation_accuracy": "-",
    "action_appropriateness": "-", "key_errors": [], "justification": "-",
}, separators=(",", ":"))  # fmt: skip
READ = f"""---
id: read
version: "1"
grader: interpretation
placeholders: [TOOL_RESULT, AGENT_INTERPRETATION]
reply_schema: {json.dumps(SCORE)}
---
Score from 1 to 5 how well the text repeats the data, and quote the metres. Reply on one line, like this:
{READING}
=== case ===
[TOOL_RESULT]
[AGENT_INTERPRETATION]
"""
TABLES = """
[preference]
judge = "local"
prompt = "better.md"
[interpretation]
judge = "local"
prompt = "read.md"
"""

# What was asked for, the right tool, a wrong one, and what both are given.
ERRANDS = (
    ("lamps", "Dim the red lamp.", "dim_lamp", "switch_lamp", {"lamp": "red"}),
    ("boats", "Hold two seats.", "hold_seats", "sell_seats", {"seats": 2}),
    ("singers", "Who sings on Monday?", "list_singers", "drop_singer", {"day": "Monday"}),
    ("doors", "Lock the north door.", "lock_door", "open_door", {"door": "north"}),
    ("plants", "Water bed four.", "water_bed", "clear_bed", {"bed": 4}),
    ("parcels", "Where is parcel 81?", "track_parcel", "return_parcel", {"parcel": 81}),
)
N = len(ERRANDS)
READINGS = 3


def traces(agent: str, even: bool) -> list[dict]:
    """An agent that takes the right tool for each errand of even number, or for each of odd number."""
    found = []
    for n, (name, request, right, wrong, arguments) in enumerate(ERRANDS):
        call = {"tool": right if (n % 2 == 0) is even else wrong, "arguments": arguments, "result": {"ok": True}}
        found.append({"id": f"{name}-{agent}", "case_id": name, "request": request, "calls": [call]})
    return found


def reading(n: int) -> dict:
    """A call whose result the agent repeats, with another number in each third trace."""
    said = n + 10 + (n % 3 == 2)
    events = [
        {"type": "call", "tool": "depth", "arguments": {"gauge": n}, "result": {"content": {"metres": n + 10}}},
        {"type": "message", "role": "assistant", "text": f"It is {said} metres deep."},
    ]
    return {"id": f"t-{n}", "request": "How deep is it?", "events": events}


def a_folder(folder, url, most):
    found = Folder(folder, url, TABLES, most=most)
    (folder / "better.md").write_text(BETTER)
    (folder / "read.md").write_text(READ)
    return found


@pytest.fixture(scope="module")
def pairs(local_model_url, tmp_path_factory):
    """A run over six pairs that a budget stops after seven calls, and that goes on; as (folder, first, rest)."""
    folder = a_folder(tmp_path_factory.mktemp("pairs"), local_model_url, 220)
    folder.write("one.jsonl", *traces("one", even=True))
    folder.write("two.jsonl", *traces("two", even=False))
    first = folder.run("preference", "one.jsonl", "two.jsonl", "--budget", "7calls", "--json")
    rest = folder.run("preference", "one.jsonl", "two.jsonl", "--resume", first.json["run"]["id"], "--json")
    return folder, first, rest


@pytest.fixture(scope="module")
def readings(local_model_url, tmp_path_factory):
    """A run over three readings that a budget stops after three calls, and that goes on; as (folder, first, rest)."""
    folder = a_folder(tmp_path_factory.mktemp("readings"), local_model_url, 220)
    folder.write("traces.jsonl", *map(reading, range(READINGS)))
    first = folder.run("interpretation", "traces.jsonl", "--budget", "3calls", "--json")
    rest = folder.run("interpretation", "traces.jsonl", "--resume", first.json["run"]["id"], "--json")
    return folder, first, rest


def goes_on_without_asking_twice(folder, first, rest, questions):
    """Assert that a stopped run went on, that no question was put twice, and that a finished run asks nobody."""
    assert first.json["run"]["stopped"]["cause"] == "budget"
    assert first.json["summary"]["not_asked"] > 0
    assert rest.json["summary"]["not_asked"] == 0
    put = Counter((one.unit, (one.positions or {}).get("A"), one.attempt) for one in folder.asked())
    assert set(put.values()) == {1}
    assert len({(unit, first) for unit, first, _ in put}) == questions
    assert all(one.attempt <= 1 for one in folder.asked()), "there is one content retry"
    before = len(folder.attempts())
    again = folder.run(
        rest.json["run"]["grader"], *INPUTS[rest.json["run"]["grader"]], "--resume", rest.json["run"]["id"]
    )
    assert len(folder.attempts()) == before
    return again


INPUTS = {"preference": ("one.jsonl", "two.jsonl"), "interpretation": ("traces.jsonl",)}


# ---- preference ------------------------------------------------------------------------------------------------------


def test_a_model_that_says_a_whatever_stands_there_is_called_position_biased(pairs):
    _, _, rest = pairs
    summary = rest.json["summary"]
    panel = summary["position"]["local"]
    assert summary["evaluated"] == N
    assert panel["both_first"] >= N - SLIPS
    assert panel["both_second"] == 0
    assert panel["biased"] is True
    assert summary["biased"] == ["local"]
    rate = panel["first_rate"]
    assert rate["n"] >= 2 * N - SLIPS
    assert rate["estimate"] >= 0.9
    assert 0.55 < rate["low"] <= rate["high"]
    assert panel["flips_p"] < 0.05


def test_its_habit_decides_no_pair(pairs):
    _, _, rest = pairs
    [comparison] = rest.json["summary"]["comparisons"]
    decisive = comparison["wins_a"] + comparison["wins_b"]
    assert decisive == rest.json["summary"]["position"]["local"]["consistent_decisive"] <= SLIPS
    assert comparison["inconsistent"] >= N - SLIPS
    flipped = [one for one in rest.json["results"] if one["order_inconsistent"]]
    assert len(flipped) == comparison["inconsistent"]
    assert {one["verdict"] for one in flipped} == {"TIE"}


def test_the_terminal_says_it_and_a_finished_run_asks_nobody(pairs):
    again = goes_on_without_asking_twice(*pairs, questions=2 * N)
    assert "judge local: POSITION-BIASED: " in again.out
    assert re.search(r"(\d+) of \1 towards the\s+first shown", again.out)
    assert re.search(r"order_inconsistent \d+", again.out)


def test_both_orders_of_each_pair_are_on_record_with_what_stood_where(pairs):
    folder, _, _ = pairs
    healed = [one for one in folder.asked() if one.status == "ok"]
    placed = Counter((one.unit, one.positions["A"], one.positions["B"]) for one in healed)
    assert placed == Counter(
        (name, f"{name}-{first}", f"{name}-{second}")
        for name, *_ in ERRANDS
        for first, second in (("one", "two"), ("two", "one"))
    )
    for one in healed:
        assert (one.prompt_id, one.rung, one.model_answered) == ("better", "json_schema", MODEL)
        assert one.output_tokens > 0
    letters = [json.loads(folder.text(one.reply))["preferred_trace"] for one in healed]
    assert letters.count("A") >= len(letters) - SLIPS


def test_the_record_of_the_pairs_verifies(pairs):
    verified = pairs[0].run("log", "verify")
    assert verified.code == 0, verified.err


# ---- interpretation --------------------------------------------------------------------------------------------------


def test_a_quote_of_the_model_counts_only_where_it_stands(readings):
    _, _, rest = readings
    results = rest.json["results"]
    assert [one["trace_id"] for one in results] == [f"t-{n}" for n in range(READINGS)]
    for n, one in enumerate(results):
        if one["status"] == "EVALUATED":
            assert one["evidence"] == [{"result_path": "$.metres", "quote": str(n + 10)}]
            assert one["interpretation_fidelity_score"] == pytest.approx(one["score"] / 5)
        else:
            assert one["reason"] in get_args(ReplyCode)
            assert (one["score"], one["evidence"]) == (None, None)
    fidelity = rest.json["summary"]["fidelity"]
    assert fidelity["n"] == sum(one["status"] == "EVALUATED" for one in results)
    assert fidelity["n"] + fidelity["excluded"] == READINGS


def test_a_quote_that_is_not_there_is_asked_for_once_more(readings):
    folder, _, _ = readings
    by_unit = {}
    for one in folder.asked():
        by_unit.setdefault(one.unit, []).append(one)
    for n in range(READINGS):
        attempts = by_unit[f"t-{n}#c1"]
        assert [one.attempt for one in attempts] == list(range(len(attempts)))
        for one in attempts:
            quotes = json.loads(folder.text(one.reply))["evidence"] if one.finish == "stop" else []
            is_there = [quote["quote"].strip() == str(n + 10) for quote in quotes]
            assert (one.status == "ok") == (is_there == [True]), folder.text(one.reply)
            assert one.status in ("ok", "JUDGE_INCONSISTENT", "JUDGE_TRUNCATED")


def test_values_that_code_does_not_find_stand_beside_the_score(readings):
    _, _, rest = readings
    flagged = [bool(one["unsupported_values"]) for one in rest.json["results"]]
    assert flagged == [n % 3 == 2 for n in range(READINGS)]


def test_a_run_over_readings_goes_on_too_and_its_record_verifies(readings):
    goes_on_without_asking_twice(*readings, questions=READINGS)
    verified = readings[0].run("log", "verify")
    assert verified.code == 0, verified.err

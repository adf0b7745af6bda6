"""`rightcall interpretation`: what it prints, writes and leaves with."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import jsonschema
import pytest

from rightcall.settings.schemas import SCHEMAS

N = 40


def trace(n: int) -> dict:
    """A trace whose agent reads a gauge aloud; every eighth reads it wrongly."""
    said = 500 if n % 8 == 7 else n + 10
    result = {"content": {"metres": n + 10}, "is_error": False}
    events = [
        {"type": "call", "tool": "depth" if n % 4 else "width", "arguments": {"gauge": n}, "result": result},
        {"type": "message", "role": "assistant", "text": f"It is {said} metres."},
    ]
    return {"id": f"t-{n:02d}", "request": "How deep is it?", "agent": {"version": f"v{n % 2}"}, "events": events}


def reply(n: int, *, strict: bool = False) -> dict:
    """What a judge says about a trace; a strict one gives one level less now and then."""
    wrong = n % 8 == 7
    score = 2 if wrong else 5 - (strict and n % 5 == 0)
    flag = {"claim_quote": "500 metres", "kind": "wrong_value", "result_path": "$.metres"}
    said = {
        "score": score, "interpretation_accuracy": "As it stands.", "action_appropriateness": "It answers.",
        "action_score": 4, "key_errors": ["500 for the depth"] if wrong else [], "justification": "The gauge says so.",
        "misinterpretation_flags": [flag] if wrong else [],
        "evidence": [{"result_path": "$.metres", "quote": str(n + 10)}], "confidence": 0.9,
    }  # fmt: skip
    return {"unit": f"t-{n:02d}#c1", "replies": [json.dumps(said)]}


@pytest.fixture(autouse=True)
def gauge(rightcall, write, monkeypatch):
    """Traces, a light and a strong judge with recorded replies, and no judge of the person who runs the tests."""
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OLLAMA_HOST", "RIGHTCALL_JUDGE_MODEL"):
        monkeypatch.delenv(name, raising=False)
    silent = {"id": "end", "request": "r", "calls": [{"tool": "depth", "arguments": {}, "result": 1}]}
    write("traces.jsonl", *map(trace, range(N)), silent)
    write("light.jsonl", *map(reply, range(N)))
    write("strong.jsonl", *(reply(n, strict=True) for n in range(N)))
    judges = (f'[judges.{name}]\nprovider = "recorded"\nfile = "{name}.jsonl"\n' for name in ("light", "strong"))
    write("rightcall.toml", 'traces = "traces.jsonl"\n' + "".join(judges))


def lines_of(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def run_of(said) -> str:
    return re.search(r"run (\d+-\d+)", said.err)[1]


def test_segments_figures_flags_and_what_waits_fit_80_columns(rightcall):
    said = rightcall("interpretation", "--judge", "light")
    assert said.code == 0
    assert max(map(len, said.out.splitlines())) <= 80
    lines = lines_of(said.out)
    assert "40 segments · retried 0 · unevaluable 0" in lines
    assert "1 more without a reading (skipped, listed): no_reading 1" in lines
    assert "end#c1 depth no_reading" in lines
    assert next(line for line in lines if line.startswith("(all)")).startswith("(all) 40 0.93 ")
    assert next(line for line in lines if line.startswith("depth")).endswith(" 5")
    assert any(line.startswith("v0 20 1.00") for line in lines)
    assert "flags: wrong_value 5" in lines
    assert "t-07#c1 MISREAD depth 2/5: 500 for the depth" in lines
    assert f"rightcall review list --run {run_of(said)}" in lines


def test_two_judges_a_corrected_mean_and_whom_it_is_calibrated_to(rightcall):
    said = rightcall("interpretation", "--judge", "light", "--strong-judge", "strong", "--strong-share", "0.5")
    text = " ".join(said.out.split())
    assert said.code == 0
    assert max(map(len, said.out.splitlines())) <= 80
    assert re.search(r"strong and light on the 2\d readings that both judged agree: kappa 0\.\d\d \[", text)
    assert "light is lenient by 0.0" in text
    assert "corrected above" in text
    assert "only 2" in text
    assert "calibrated to the strong judge, not to people" in text
    shown = rightcall("show", run_of(said)).out
    assert "calibrated to the strong judge, not to people" in " ".join(shown.split())


def test_one_reading_in_full(rightcall):
    rightcall("interpretation", "--judge", "light", "--strong-judge", "strong", "--strong-share", "1")
    said = " ".join(rightcall("show", "t-07#c1").out.split())
    for words in (
        "reading c1 depth: the agent said so", "not there 500 (number), and nowhere else",
        "score 2/5 · fidelity 0.40 (fifths) · by strong · next action 4/5",
        "light 2, strong 2; drawn with probability 1.00 from depth · light 2",
        "✗ wrong_value: “500 metres” against $.metres", "$.metres: “17”",
    ):  # fmt: skip
        assert words in said


def test_the_json_output_is_what_its_schema_says(rightcall):
    value = rightcall("interpretation", "--judge", "light", "--json").json
    schema = SCHEMAS["interpretation-result"]()
    assert list(jsonschema.Draft202012Validator(schema).iter_errors(value)) == []
    assert value["summary"]["fidelity"]["n"] == N
    assert value["summary"]["without_reading"]["listed"] == [
        {"step_id": "end#c1", "tool": "depth", "reason": "no_reading"}
    ]
    assert value["run"]["interpretation"]["mapping"] == "fifths"


def test_files_have_a_row_a_reading(rightcall):
    rightcall("interpretation", "--judge", "light", "-o", "out.csv", "-o", "out.md", "-o", "out.jsonl", "-q")
    rows = {row["step_id"]: row for row in csv.DictReader(io.StringIO(Path("out.csv").read_text("utf-8")))}
    assert len(rows) == N
    assert json.loads(rows["t-07#c1"]["misinterpretation_flags"])[0]["kind"] == "wrong_value"
    assert rows["t-07#c1"]["interpretation_fidelity_score"] == "0.4"
    page = Path("out.md").read_text("utf-8")
    assert "| depth | 30 |" in page
    assert "1 calls without a reading were skipped" in page
    assert [json.loads(line)["step_id"] for line in Path("out.jsonl").read_text("utf-8").splitlines()] == list(rows)


def test_what_a_run_would_ask_is_counted_with_what_follows(rightcall):
    said = rightcall("interpretation", "--judge", "light", "--strong-judge", "strong", "--dry-run")
    assert said.out.startswith("40 to judge · 40 calls")
    assert "then 8 to 40 calls of the strong judge" in said.out


def test_a_light_judge_that_is_out_is_said_first_and_on_record(rightcall, write):
    harsh = [reply(n) for n in range(N)]
    for n, line in enumerate(harsh):
        said = json.loads(line["replies"][0]) | {"score": 1 if n % 8 == 7 else 2, "key_errors": ["the depth"]}
        line["replies"] = [json.dumps(said)]
    write("strong.jsonl", *harsh)
    said = rightcall("interpretation", "--judge", "light", "--strong-judge", "strong")
    assert " ".join(said.out.split()).startswith("light judge `light` is out: it disagrees with `strong` on ")
    assert "the strong one read everything" in " ".join(said.out.split())
    assert "light judge `light` is out" in " ".join(rightcall("show", run_of(said)).out.split())


def test_a_judge_that_cannot_be_read_lowers_the_coverage_and_leaves_with_3(rightcall, write):
    write("light.jsonl", *(reply(n) if n > 3 else {"unit": f"t-{n:02d}#c1", "replies": ["no", "no"]} for n in range(N)))
    said = rightcall("interpretation", "--judge", "light")
    assert said.code == 3
    assert "only 36 of 40 could be judged" in said.err
    assert "(JUDGE_NOT_JSON 4) → review" in " ".join(said.out.split())


@pytest.mark.parametrize(
    ("tokens", "code", "message"),
    [
        ((), 2, "several judges are configured"),
        (("--judge", "none"), 5, "`interpretation` needs a judge, and none was found: --judge none"),
        (("--judge", "light", "--strong-judge", "light"), 2, "one light judge, not itself"),
        (
            ("--judge", "light", "--strong-judge", "strong", "--strong-share", "2"),
            2,
            "interpretation.strong_share: must be above 0",
        ),
        (
            ("--judge", "light", "--mapping", "direct"),
            2,
            "interpretation.mapping: prompt `interpretation` asks for levels",
        ),
        (("--judge", "light", "--mapping", "tenths"), 2, "tenths"),
        (("--judge", "light", "--prompt", "rubric"), 2, "prompt `rubric` is a prompt of `rubric`"),
        (("--judge", "light", "--trace", "NOPE"), 2, "--trace: nothing has the id `NOPE`"),
        (("--judge", "light", "--budget", "3calls"), 5, "37 not asked"),
    ],
)
def test_bad_input_and_early_ends_have_their_codes(rightcall, tokens, code, message):
    said = rightcall("interpretation", *tokens, "-q")
    assert said.code == code
    assert message in said.err


def test_traces_without_any_reading_are_nothing_to_judge(rightcall, write):
    write("traces.jsonl", {"id": "end", "request": "r", "calls": [{"tool": "depth", "arguments": {}, "result": 1}]})
    for tokens in ((), ("--trace", "end")):
        said = rightcall("interpretation", "--judge", "light", *tokens)
        assert said.code == 5
        assert "nothing to judge: no call has both a result and a reading (no_reading 1) [NO_DATA]" in said.err
    assert "nothing has the id `other`" in rightcall("interpretation", "--judge", "light", "--trace", "other").err


def test_a_run_goes_on_where_it_stopped(rightcall):
    said = rightcall("interpretation", "--judge", "light", "--strong-judge", "strong", "--budget", "43calls")
    assert said.code == 5
    whole = rightcall("interpretation", "--judge", "light", "--strong-judge", "strong", "--json").json
    again = rightcall(
        "interpretation", "--judge", "light", "--strong-judge", "strong", "--resume", run_of(said), "--json"
    ).json
    assert again["summary"]["fidelity"] == whole["summary"]["fidelity"]
    assert again["summary"]["two_judges"] == whole["summary"]["two_judges"]
    other = rightcall(
        "interpretation", "--judge", "light", "--strong-judge", "strong", "--strong-share", "0.3", "--resume",
        run_of(said),
    )  # fmt: skip
    assert (other.code, "was made with other interpretation" in other.err) == (2, True)

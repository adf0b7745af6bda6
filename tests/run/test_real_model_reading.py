"""`interpretation` with a real model behind a real server, alone and as light and strong judge.

The model is far too small to judge. What is proved is that its replies are read or named for what is wrong with them,
that no quote which is not there ever counts, and that both judges' answers are on record.
"""

from __future__ import annotations

import json

import pytest

from rightcall.run.graders.setup import Flags
from rightcall.run.interpretation.setup import set_up_interpretation
from rightcall.settings.load import load_settings
from rightcall.store.store import Store

pytestmark = pytest.mark.slow

MODEL = "smollm2-135m"
JUDGE = """
[judges.{name}]
model = "smollm2-135m"
base_url = "{url}"
max_tokens = {most}
max_concurrency = 1
timeout = 300
"""
WORDS = {"type": "string", "minLength": 1, "maxLength": 4}
REPLY = {
    "score": {"type": "integer", "minimum": 1, "maximum": 5}, "interpretation_accuracy": WORDS,
    "action_appropriateness": WORDS, "key_errors": {"type": "array", "items": WORDS, "maxItems": 0},
    "justification": WORDS,
}  # fmt: skip
# A reply that is shown is copied, in fewer tokens than the model would lay it out in: writing is what takes its time.
SHOWN = '{"score":3,"interpretation_accuracy":"-","action_appropriateness":"-","key_errors":[],"justification":"-"}'
PROMPT = f"""---
id: gauges
version: 1
grader: interpretation
placeholders: [TOOL_RESULT, AGENT_INTERPRETATION]
reply_schema: {
    json.dumps({"type": "object", "properties": REPLY, "required": list(REPLY), "additionalProperties": False})
}
---
Score from 1 to 5 how well the text repeats the data. Reply on one line, like this:
{SHOWN}
=== case ===
[TOOL_RESULT]
[AGENT_INTERPRETATION]
"""


def trace(n):
    events = [
        {"type": "call", "tool": "depth", "arguments": {"gauge": n}, "result": {"content": {"metres": n + 10}}},
        {"type": "message", "role": "assistant", "text": f"It is {n + 10} metres deep."},
    ]
    return {"id": f"t-{n}", "request": "How deep is it?", "events": events}


def run(folder, url, prompt, n, strong=""):
    """Judge so many traces; the results, the figures and the attempts."""
    judges = JUDGE.format(name="light", url=url, most=250) + JUDGE.format(name="strong", url=url, most=300)
    table = '[interpretation]\njudge = "light"\nstrong_share = 0.5\n' + strong
    (folder / "rightcall.toml").write_text(table + judges)
    (folder / "gauges.md").write_text(PROMPT)
    (folder / "traces.jsonl").write_text("".join(json.dumps(trace(number)) + "\n" for number in range(n)))
    given = {"traces": [str(folder / "traces.jsonl")], "store": str(folder / "record.db")}
    loaded = load_settings(folder / "rightcall.toml", {"RIGHTCALL_REDACTION_KEY": "a key"}, given)
    with set_up_interpretation(loaded, Flags(prompt=prompt)).run() as judged:
        results, summary = list(judged.decoded()), judged.aggregate.summary()
    with Store.open(folder / "record.db", create=False) as store:
        attempts = [one for _, _, one in store.attempts() if one.purpose == "question"]
    return results, summary, attempts


def test_a_light_and_a_strong_judge_read_a_part_together(local_model_url, tmp_path, monkeypatch):
    monkeypatch.setenv("RIGHTCALL_REDACTION_KEY", "a fixed key for tests")
    prompt = str(tmp_path / "gauges.md")
    results, summary, attempts = run(tmp_path, local_model_url, prompt, 2, 'strong_judge = "strong"\n')
    both = [one for one in results if one.strong_score is not None]
    assert both, "a reply that is kept short can be read"
    assert {one.judge for one in attempts} == {"light", "strong"}
    assert all(one.scored_by == "strong" and one.light_score is not None for one in both)
    two = summary["two_judges"]
    assert two["doubles"] <= two["drawn"] <= 2
    assert two["few"]

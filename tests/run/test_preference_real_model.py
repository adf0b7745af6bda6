"""`preference` with a real model behind a real server: far too small to judge, and its habit is what the report shows.

SmolLM2 135M names nearly always the same place, whatever stands there. Both orders turn that into pairs without a winner, and the
position panel says why.
"""

from __future__ import annotations

import json
from collections import Counter

import pytest
from pair_making import CRITERIA, traces

from rightcall.cli.exits import guarded
from rightcall.cli.main import app
from rightcall.store.store import Store

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("real model")]

PAIRS = 8
"""One more than the sign test needs: seven that flipped to one place have p = 0.02."""


def shape(**properties):
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


# A prompt of the user's own, with a schema that leaves the model nothing to ramble about.
TEXT = {"enum": ["equal"]}
NONE = {"type": "array", "items": TEXT, "maxItems": 0}
REPLY = shape(
    preferred_trace={"enum": ["A", "B", "TIE"]},
    confidence={"enum": [0.5, 0.7, 0.9]},
    key_differentiators={"type": "array", "items": TEXT, "minItems": 1, "maxItems": 1},
    critical_failures=shape(trace_a=NONE, trace_b=NONE),
    justification=shape(**dict.fromkeys(CRITERIA, TEXT)),
)
PROMPT = f"""---
id: sides
version: "1"
grader: preference
placeholders: [USER_REQUEST, TRACE_A, TRACE_B]
reply_schema: {json.dumps(REPLY)}
---
Which trace of an agent is better, A or B? Reply with one JSON object.
=== case ===
[USER_REQUEST]
[TRACE_A]
[TRACE_B]
"""


def test_a_real_model_that_always_names_one_place_is_called_position_biased(
    local_model_url, tmp_path, monkeypatch, capfd
):
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OLLAMA_HOST", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RIGHTCALL_REDACTION_KEY", "a fixed key for tests")  # the same fences, the same replies
    (tmp_path / "sides.md").write_text(PROMPT)
    (tmp_path / "rightcall.toml").write_text(
        f'store = "record.db"\n[judges.local]\nmodel = "smollm2-135m"\nbase_url = "{local_model_url}"\n'
        'max_tokens = 200\nmax_concurrency = 1\ntimeout = 300\n[preference]\njudge = "local"\nprompt = "sides.md"\n'
    )
    for name, tool in (("old", "freeze_card"), ("new", "cancel_card")):
        rows = [
            one | {"calls": [{"tool": tool, "arguments": {"card": n}}]} for n, one in enumerate(traces(name, PAIRS))
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    code = guarded(app, ["preference", "old.jsonl", "new.jsonl", "--json"])
    value = json.loads(capfd.readouterr().out)
    summary = value["summary"]
    panel = summary["position"]["local"]
    assert (code, summary["evaluated"]) == (0, PAIRS)
    flips = max(panel["both_first"], panel["both_second"])
    assert flips >= PAIRS - 1
    assert panel["biased"] is True
    assert panel["first_rate"]["n"] == 2 * PAIRS
    assert panel["first_rate"]["low"] is not None
    assert "position-biased" in value["run"]["notes"][0].lower() or "leans to a place" in value["run"]["notes"][0]
    (comparison,) = summary["comparisons"]
    assert comparison["inconsistent"] == flips
    assert comparison["wins_a"] + comparison["wins_b"] <= PAIRS - flips
    with Store.open(tmp_path / "record.db", create=False) as store:
        asked = [one for _, _, one in store.attempts(status="ok") if one.purpose == "question"]
    assert Counter(tuple(one.positions) for one in asked) == {("A", "B"): 2 * PAIRS}
    assert {one.model_answered for one in asked} == {"smollm2-135m"}

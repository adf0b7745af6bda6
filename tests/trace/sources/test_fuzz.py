"""Every reader on damaged recordings: traces or typed errors, never another exception, never a hang.

Seeds are the smallest real files of each dialect. A few bytes are changed, cut out, doubled or moved; or a value of the
decoded record is replaced by one of another type. What is read twice gives the same digests.
"""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rightcall.errors import RightcallError
from rightcall.trace.sources.dialect import Skip
from rightcall.trace.sources.reading import items, open_traces

if TYPE_CHECKING:
    from pathlib import Path

SEEDS = {
    "anthropic": "anthropic/exchanges.jsonl",
    "atif": "atif/atif_two.jsonl",
    "bedrock": "bedrock/exchanges.jsonl",
    "claude_code": "claude_code/messages/tools",
    "codex": "codex/messages/tools/function-call.json",
    "gemini": "gemini/exchanges.jsonl",
    "google_adk": "google_adk/context_update_test__successful_test.session.json",
    "inspect_log": "inspect_ai/log_tool_call_error.json",
    "langchain": "langchain_messages/dumpd_tau_airline.jsonl",
    "langsmith": "langsmith/run_trees_tau_airline.jsonl",
    "mlflow": "mlflow/traces_tau_airline.jsonl",
    "openai_chat": "openai_chat/exchanges.jsonl",
    "openai_responses": "openai_responses/exchanges.jsonl",
    "openinference": "openinference/agentpile_synthetic/openai_agents_0.24.0_oi_2.5.3.jsonl",
    "otel_genai": "otel_genai/agentpile_synthetic/pydantic_ai_2.58.0.json",
    "phoenix": "phoenix/spans_dataframe.jsonl",
    "tau": "tau_bench/gpt-4o-airline.json",
    "tau2": "tau2_bench/gpt-4o_telecom.json",
}
MOST = 60_000
"""Bytes of a seed that are used: whole lines, or whole records of a list, or a document cut to a few records."""


def seed_of(path: Path) -> bytes:
    """Some whole records of a file."""
    if path.is_dir():
        path = min(path.iterdir())
    data = path.read_bytes()
    if len(data) <= MOST:
        return data
    if path.suffix == ".jsonl":
        lines = [line for line in data.splitlines(keepends=True) if len(line) < MOST]
        return b"".join(lines[:3])
    value = json.loads(data)
    if isinstance(value, list):
        return json.dumps(value[:1]).encode()
    return json.dumps({**value, "simulations": value["simulations"][:1], "tasks": value["tasks"][:1]}).encode()


def read_all(path: Path, dialect: str = "auto") -> list[str]:
    """Digests of what is read; a typed error is an answer too."""
    try:
        return [item.code if isinstance(item, Skip) else item.digest for item, _ in items(open_traces(path, dialect))]
    except RightcallError as error:
        return [error.code]


def mutated(data: bytes, chance: random.Random) -> bytes:
    """The bytes with a few places damaged."""
    for _ in range(chance.randint(1, 4)):
        at, size = chance.randrange(len(data) + 1), chance.choice((1, 1, 2, 8, 64))
        piece = data[at : at + size]
        new = chance.choice(
            (b"", piece + piece, bytes(chance.randrange(256) for _ in piece), b'"', b"{", b"null", b"[]", b"-1e9")
        )
        data = data[:at] + new + data[at + size :]
    return data


def twisted(value: Any, chance: random.Random) -> Any:
    """The decoded value with one part replaced by a value of another type."""
    if isinstance(value, (dict, list)) and value and chance.random() < 0.85:
        key = chance.choice(list(value) if isinstance(value, dict) else range(len(value)))
        copy = dict(value) if isinstance(value, dict) else list(value)
        copy[key] = twisted(value[key], chance)
        return copy
    return chance.choice((None, True, 0, -1, 2**70, 1.5, "", "x", "{", [], {}, [None], {"a": []}, [[]], {"type": "x"}))


@pytest.mark.parametrize("name", SEEDS)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(number=st.integers(0, 2**32))
def test_damaged_bytes_give_traces_or_typed_errors(shared_data: Path, tmp_path: Path, name: str, number: int) -> None:
    source = shared_data / "data" / SEEDS[name]
    path = tmp_path / ("x.jsonl" if source.suffix != ".json" else "x.json")
    path.write_bytes(mutated(seed_of(source), random.Random(number)))
    assert read_all(path) == read_all(path)


@pytest.mark.parametrize("name", SEEDS)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(number=st.integers(0, 2**32))
def test_twisted_values_give_traces_or_typed_errors(shared_data: Path, tmp_path: Path, name: str, number: int) -> None:
    source, chance = shared_data / "data" / SEEDS[name], random.Random(number)
    data = seed_of(source)
    path = tmp_path / ("x.jsonl" if source.suffix != ".json" else "x.json")
    if path.suffix == ".jsonl":
        lines = [json.dumps(twisted(json.loads(line), chance)) for line in data.splitlines() if line.strip()]
        path.write_text("\n".join(lines))
    else:
        path.write_text(json.dumps(twisted(json.loads(data), chance)))
    dialect = "openinference" if name == "phoenix" else name
    assert read_all(path, dialect) == read_all(path, dialect)
    read_all(path)

"""The same conversations through different dialects give the same neutral calls.

Ten runs of a benchmark were replayed through the tracers of several platforms. Whatever the dialect, each conversation
must come back with the same tools, the same arguments, in the same order, and with the same results. What a dialect lost
at its source is listed by the number of the trap.
"""

from __future__ import annotations

import json
from collections import defaultdict
from typing import Any

import pytest

from rightcall.trace.sources.reading import load_traces

REPLAYS = {
    "langchain_messages/messages_to_dict_tau_airline.jsonl": "langchain",
    "langsmith/flat_runs_as_posted.jsonl": "langsmith",
    "openinference/langchain_tau_airline.otlp.json": "openinference",
    "otel_genai/pydantic_ai_v6_tau_airline.otlp.json": "otel_genai",
    "mlflow/traces_tau_airline.jsonl": "mlflow",
    "phoenix/spans_dataframe.jsonl": "phoenix",
}
PARTS = {
    # These files hold fewer of the conversations.
    "langsmith/run_trees_tau_airline.jsonl": "langsmith trees",
    "otel_genai/pydantic_ai_v2_tau_airline.otlp.json": "otel_genai, first version",
}
LOST_AT_THE_SOURCE = {
    "T2": ["mlflow"],  # no call ids on the tools' spans: paired by order and name
    "T13": ["otel_genai"],  # a trace for each user turn: joined by the conversation's id
}


def calls_of(trace: Any) -> list[tuple[str, str]]:
    return [(call.tool, json.dumps(call.arguments, sort_keys=True)) for call in trace.calls]


def conversations(path: Any) -> list[list[tuple[str, str]]]:
    """Calls of each conversation with calls, traces of one session put together."""
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for trace in load_traces(path):
        found[str(trace.metadata.get("session") or trace.id)] += calls_of(trace)
    return sorted(calls for calls in found.values() if calls)


@pytest.fixture(scope="module")
def reference(shared_data: Any) -> list[list[tuple[str, str]]]:
    return conversations(shared_data / "data/langchain_messages/dumpd_tau_airline.jsonl")


def test_the_replays_are_runs_of_the_benchmark(shared_data: Any, reference: Any) -> None:
    """The OpenAI messages of the benchmark's own file hold the very same calls."""
    runs = [calls_of(trace) for trace in load_traces(shared_data / "data/tau_bench/gpt-4o-airline.json")]
    assert len(reference) == 6
    assert sum(map(len, reference)) == 24
    assert all(conversation in runs for conversation in reference)


@pytest.mark.parametrize("file", REPLAYS)
def test_every_dialect_gives_the_same_calls(shared_data: Any, reference: Any, file: str) -> None:
    found = conversations(shared_data / "data" / file)
    for conversation in reference:
        assert conversation in found, REPLAYS[file]
    if REPLAYS[file] != "phoenix":  # Phoenix also holds conversations of another tracer
        assert found == reference


@pytest.mark.parametrize("file", PARTS)
def test_parts_of_the_replays_hold_whole_conversations(shared_data: Any, reference: Any, file: str) -> None:
    found = conversations(shared_data / "data" / file)
    assert found
    for conversation in found:
        assert any(conversation == whole[: len(conversation)] for whole in reference), PARTS[file]


@pytest.mark.parametrize("file", REPLAYS)
def test_every_call_keeps_its_result(shared_data: Any, file: str) -> None:
    """24 calls, 24 results, 5 of them errors: each of these dialects has a field for it."""
    if REPLAYS[file] == "phoenix":
        pytest.skip("holds other conversations too")
    calls = [call for trace in load_traces(shared_data / "data" / file) for call in trace.calls]
    assert len([call for call in calls if call.result is not None]) == 24
    assert len([call for call in calls if call.failed]) == 5

"""The real recordings of OpenTelemetry GenAI: what was counted in them, and the traps that they hold."""

import json
from collections import Counter

import pytest

from rightcall.trace.model import Message
from rightcall.trace.sources import reading
from rightcall.trace.sources.dialect import ReadingReport, Skip


def texts(trace):
    return [(event.role, event.text) for event in trace.events if isinstance(event, Message)]


def load(folder, *names):
    report = ReadingReport()
    found = []
    for item, _ in reading.items_of([reading.open_traces(folder / name) for name in names]):
        if isinstance(item, Skip):
            report.skip(item)
        else:
            report.trace(item)
            found.append(item)
    return found, report


def named(trace):
    return [(call.id, call.tool, call.arguments) for call in trace.calls]


@pytest.fixture
def genai(shared_data):
    return shared_data / "data" / "otel_genai"


@pytest.mark.parametrize(
    "names",
    [
        ["openai_chat_latest.otlp.json"], ["openai_chat_latest.otlp.json", "openai_chat_latest.logs.otlp.json"],
        ["openai_chat_legacy.otlp.json", "openai_chat_legacy.logs.otlp.json"], ["openai_chat_legacy.logs.otlp.json", "openai_chat_legacy.otlp.json"],
    ],
)  # fmt: skip
def test_counts_of_the_openai_replays(genai, names):
    traces, report = load(genai, *names)
    assert (report.read, report.causes["TRACE_HTTP_ERROR"], report.skipped) == (50, 2, 2)
    assert report.calls == {"ok": 24, "missing": 1}
    assert (report.parallel_turns, report.results) == (1, 0)
    assert sum(bool(trace.calls) for trace in traces) == 24


def test_both_generations_of_the_openai_replays_give_the_same_calls(genai):
    latest, _ = load(genai, "openai_chat_latest.otlp.json")
    legacy, _ = load(genai, "openai_chat_legacy.otlp.json", "openai_chat_legacy.logs.otlp.json")
    assert [named(trace) for trace in latest] == [named(trace) for trace in legacy]
    lost = [trace.id for trace, twin in zip(latest, legacy, strict=True) if trace.request != twin.request]
    emptied = [trace.id for trace in latest if "TRACE_INCOMPLETE" in {finding.code for finding in trace.findings}]
    assert set(lost) <= set(emptied)  # this emitter loses a content that is a list of parts
    assert len(emptied) == 11


def test_T4_the_real_call_without_arguments_is_missing(genai):  # noqa: N802
    traces, _ = load(genai, "openai_chat_latest.otlp.json")
    missing = [call.tool for trace in traces for call in trace.calls if call.arguments_status == "missing"]
    assert missing == ["find_education_content"]


def test_T5_the_real_recording_without_content_captures_no_arguments(genai):  # noqa: N802
    traces, report = load(genai, "openai_chat_nocontent.otlp.json", "openai_chat_nocontent.logs.otlp.json")
    assert report.calls == {"not_captured": 25}
    assert (report.read, report.skipped, report.causes["TRACE_HTTP_ERROR"]) == (24, 28, 2)
    assert all(event.text is None for trace in traces for event in trace.events if isinstance(event, Message))
    for name in ("openai_chat_nocontent.otlp.json", "openai_chat_legacy.otlp.json"):
        _, alone = load(genai, name)
        assert (alone.read, alone.causes["TRACE_NOT_CAPTURED"]) == (0, 50)


def test_T10_T13_counts_of_the_pydantic_ai_replays(genai):  # noqa: N802
    newer, report = load(genai, "pydantic_ai_v6_tau_airline.otlp.json")
    assert (report.read, sum(report.calls.values()), report.results, report.errors) == (42, 24, 24, 5)
    assert len({trace.metadata["session"] for trace in newer}) == 7
    assert Counter(trace.completed for trace in newer) == {True: 40, False: 2}
    assert {len(json.loads(bytes(trace.tools_json))) for trace in newer} == {14}
    older, report = load(genai, "pydantic_ai_v2_tau_airline.otlp.json")
    assert (report.read, sum(report.calls.values()), report.results, report.errors) == (17, 12, 12, 3)
    newer_calls = [call for trace in newer for call in named(trace)]
    older_calls = [call for trace in older for call in named(trace)]
    assert all(call in newer_calls for call in older_calls)


def test_T9_the_replayed_calls_are_those_of_the_conversations_they_were_made_from(genai, shared_data):  # noqa: N802
    traces, _ = load(genai, "pydantic_ai_v6_tau_airline.otlp.json")
    originals = [
        trace
        for path in sorted((shared_data / "data" / "tau_bench").glob("gpt-4o-airline.json*"))
        for trace in reading.load_traces(path)
    ]
    sessions = {}
    for trace in traces:
        sessions.setdefault(trace.metadata["session"], []).extend(named(trace))
    told = [named(trace) for trace in originals]
    for calls in sessions.values():
        assert any(calls == original[: len(calls)] for original in told if original or not calls)


def test_delegation_and_parallel_calls_of_the_synthetic_recordings(genai):
    folder = genai / "agentpile_synthetic"
    (trace,), _ = load(folder, "pydantic_ai_2.58.0_delegation.json")
    assert [(call.tool, call.agent) for call in trace.calls] == [("ask_helper", "boss_agent")]
    traces, report = load(folder, "pydantic_ai_2.58.0.json")
    assert (report.read, report.parallel_turns, report.results, report.errors) == (2, 1, 2, 0)
    assert [len(trace.calls) for trace in traces] == [2, 0]


def test_the_real_spans_of_the_vercel_sdk_are_read(shared_data):
    folder = shared_data / "data" / "openinference" / "vercel_ai_v6"
    traces, report = load(folder, "ai-generateText.json")
    assert (report.read, report.skipped) == (2, 0)
    assert texts(traces[0])[0] == ("user", "Write a haiku about programming.")
    _, report = load(folder, "all-spans.json")
    assert (report.read, report.skipped) == (8, 2)
    _, report = load(folder, "ai-embed.json")
    assert (report.read, report.causes["TRACE_INCOMPLETE"]) == (0, 1)


def test_reading_is_a_pure_function_of_the_bytes(genai):
    first, _ = load(genai, "pydantic_ai_v2_tau_airline.otlp.json")
    again, _ = load(genai, "pydantic_ai_v2_tau_airline.otlp.json")
    assert [trace.digest for trace in first] == [trace.digest for trace in again]

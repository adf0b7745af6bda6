"""OpenInference on real recordings: the counts of each file, the traps, and the calls of the benchmark they replay."""

import json
from collections import Counter
from contextlib import suppress

import pytest

from rightcall.errors import Place, RightcallError
from rightcall.trace.model import Trace
from rightcall.trace.sources import openinference, otlp, reading
from rightcall.trace.sources.dialect import ReadingReport, Skip
from rightcall.trace.sources.openinference_attributes import tree
from rightcall.trace.sources.openinference_steps import kind_of

LANGCHAIN = "openinference/langchain_tau_airline.otlp.json"
CUT = "openinference/langchain_tau_airline_TRUNCATED128.otlp.json"
CUT_LINES = "openinference/langchain_tau_airline_TRUNCATED128.otel_python_sdk_tojson.jsonl"
OPENAI = "openinference/openai_chat_openinference.otlp.json"
ROWS = "phoenix/spans_dataframe.jsonl"
REST = "phoenix/rest_v1_spans_14.json"
AGENTS = "openinference/agentpile_synthetic/openai_agents_0.24.0_oi_2.5.3.jsonl"


def records(path):
    opened = reading.open_traces(path)
    assert opened.dialect is openinference.DIALECT
    return list(reading.records(opened))


def read(path):
    report = ReadingReport()
    traces = list(reading.read(reading.open_traces(path), report))
    return traces, report


@pytest.mark.parametrize(
    ("name", "traces", "skipped", "with_calls", "calls", "results", "errors", "parallel", "incomplete"),
    [
        (LANGCHAIN, 10, 0, 6, 24, 24, 5, 0, 0),
        (OPENAI, 50, 2, 24, 25, 0, 0, 1, 2),
        (CUT, 1, 0, 1, 7, 7, 0, 0, 1),
        (CUT_LINES, 1, 0, 1, 4, 4, 0, 0, 1),
        (ROWS, 61, 2, 31, 56, 31, 5, 1, 3),
        (REST, 2, 0, 0, 0, 0, 0, 0, 0),
        (AGENTS, 1, 0, 1, 2, 2, 0, 0, 0),
        (AGENTS.replace(".jsonl", "_as_tool.json"), 1, 0, 1, 1, 1, 0, 0, 0),
    ],
)
def test_counts(shared_data, name, traces, skipped, with_calls, calls, results, errors, parallel, incomplete):
    found, report = read(shared_data / "data" / name)
    assert (len(found), report.skipped, sum(bool(trace.calls) for trace in found)) == (traces, skipped, with_calls)
    assert (sum(report.calls.values()), report.results, report.errors) == (calls, results, errors)
    assert (report.parallel_turns, report.incomplete) == (parallel, incomplete)
    assert report.calls["malformed"] == report.calls["not_captured"] == 0
    assert report.calls["missing"] == (name in (OPENAI, ROWS))  # T4


def test_spans_of_the_files(shared_data):
    """113 spans with 22 tools and 2 that are called agents (T7), 52, 14 with 6 damaged models, 179 rows."""
    kinds = {}
    for name in (LANGCHAIN, OPENAI, CUT):
        spans, _, _ = otlp.spans_of(records(shared_data / "data" / name))
        kinds[name] = Counter(
            (span.attributes["openinference.span.kind"], kind_of(tree(span.attributes))) for span in spans
        )
    assert kinds[LANGCHAIN] == {("LLM", "LLM"): 79, ("AGENT", "AGENT"): 10, ("TOOL", "TOOL"): 22, ("AGENT", "TOOL"): 2}
    assert kinds[OPENAI] == {("LLM", "LLM"): 52}
    assert kinds[CUT] == {("LLM", "LLM"): 6, ("TOOL", "TOOL"): 7, ("AGENT", "AGENT"): 1}
    rows = [row for row, _ in records(shared_data / "data" / ROWS)]
    replies = [json.dumps(row["attributes.llm.output_messages"]) for row in rows]
    assert (len(rows), sum("tool_call.function.name" in reply for reply in replies)) == (179, 54)
    assert sum(row["status_code"] == "ERROR" for row in rows) == 7  # 5 tools, and 2 models that gave no reply


def calls_of(trace):
    return [(call.tool, call.id, call.arguments) for call in trace.calls]


def test_the_calls_are_those_of_the_benchmark(shared_data):  # T8, T12
    """The spans replay runs of τ-bench: tool, id and arguments of every call, and every result as the model saw it."""
    original = {}
    for trace in reading.load_traces(shared_data / "data" / "tau_bench" / "gpt-4o-airline.json"):
        original[trace.case_id, trace.trial] = trace
    traces, _ = read(shared_data / "data" / LANGCHAIN)
    for trace in traces:
        task, trial = trace.metadata["tau_task_id"], trace.metadata["tau_trial"]
        twin = original[str(task), trial]
        assert calls_of(trace) == calls_of(twin)
        answered = [call for call in zip(trace.calls, twin.calls, strict=True) if call[1].result is not None]
        assert [one.result.content for one, _ in answered] == [two.result.content for _, two in answered]
        assert trace.request == twin.request


def test_phoenix_gives_what_otlp_gives(shared_data):
    rows, _ = read(shared_data / "data" / ROWS)
    by_calls = Counter(json.dumps(calls_of(trace)) for trace in rows)
    for name in (LANGCHAIN, OPENAI, CUT):
        for trace in read(shared_data / "data" / name)[0]:
            assert by_calls[json.dumps(calls_of(trace))] > 0
            by_calls[json.dumps(calls_of(trace))] -= 1
    assert sum(by_calls.values()) == 0


def test_T1_ids_that_are_used_again_in_one_trace(shared_data):  # noqa: N802
    (trace,), report = read(shared_data / "data" / CUT)
    assert report.causes["TRACE_DUPLICATE_ID"] == 4
    assert [call.result.is_error for call in trace.calls] == [False] * 7


def test_T6_a_truncated_trace_is_incomplete_and_its_calls_are_right(shared_data):  # noqa: N802
    (twin,) = [
        trace
        for trace in reading.load_traces(shared_data / "data" / "tau_bench" / "gpt-4o-airline.json")
        if (trace.case_id, trace.trial) == ("2", 1)
    ]
    for name, calls, cut in ((CUT, 7, 6), (CUT_LINES, 4, 3)):
        (trace,), report = read(shared_data / "data" / name)
        assert (trace.completed, report.causes["TRACE_TRUNCATED"]) == (False, cut)
        assert trace.request == twin.request
        assert calls_of(trace) == calls_of(twin)[-calls:]
    (row,) = [trace for trace in read(shared_data / "data" / ROWS)[0] if trace.id == trace_id_of(shared_data, CUT)]
    assert (row.completed, calls_of(row)) == (False, calls_of(twin)[-7:])


def trace_id_of(shared_data, name):
    (trace,), _ = read(shared_data / "data" / name)
    return trace.id


def test_T7_a_tool_that_is_called_an_agent(shared_data):  # noqa: N802
    traces, _ = read(shared_data / "data" / LANGCHAIN)
    handed = [call for trace in traces for call in trace.calls if call.tool == "transfer_to_human_agents"]
    assert len(handed) == 2
    assert all(call.result.is_error is False and call.started_at for call in handed)


def test_T8_the_argument_that_lost_its_name_comes_from_the_model(shared_data):  # noqa: N802
    traces, _ = read(shared_data / "data" / LANGCHAIN)
    (users,) = {tuple(call.arguments) for trace in traces for call in trace.calls if call.tool == "get_user_details"}
    assert users == ("user_id",)


def test_T10_errors_are_those_of_the_spans_status(shared_data):  # noqa: N802
    traces, _ = read(shared_data / "data" / LANGCHAIN)
    failed = [call for trace in traces for call in trace.calls if call.failed]
    assert len(failed) == 5
    assert all(call.result.content.startswith("Error: ") for call in failed)


def test_T13_a_session_is_kept(shared_data):  # noqa: N802
    traces, _ = read(shared_data / "data" / LANGCHAIN)
    assert len({trace.metadata["session"] for trace in traces}) == 10


def test_arguments_that_the_emitter_of_openai_agents_leaves_out(shared_data):
    (trace,), _ = read(shared_data / "data" / AGENTS)
    assert [(call.tool, call.arguments, call.agent) for call in trace.calls] == [
        ("lookup_order", {"order_id": "A1"}, "Triage"),
        ("transfer_to_refunds", {}, "Triage"),
    ]


def test_the_vercel_recordings_hold_no_tools(shared_data):
    """They are not OpenInference before its exporter has seen them; no reader finds a call in them."""
    for path in sorted((shared_data / "data" / "openinference" / "vercel_ai_v6").glob("*.json")):
        code = None
        try:
            opened = reading.open_traces(path)
            assert opened.dialect is not openinference.DIALECT
            assert [trace.calls for trace in reading.read(opened) if trace.calls] == []
        except RightcallError as error:
            code = error.code
        assert code in (None, "TRACE_UNKNOWN_DIALECT"), path


def test_mutated_bytes_give_traces_or_typed_errors(shared_data, tmp_path):
    seed = (shared_data / "data" / CUT_LINES).read_bytes().split(b"\n")[0:3]
    whole = b"\n".join(seed)
    file = tmp_path / "mutated.jsonl"
    for number in range(0, len(whole), 397):
        file.write_bytes(whole[:number] + bytes([number % 256]) + whole[number + 1 :])
        with suppress(RightcallError):
            assert all(isinstance(item, (Trace, Skip)) for item, _ in reading.items(reading.open_traces(file)))


def test_reading_depends_on_nothing_but_the_spans(shared_data):
    rows = records(shared_data / "data" / ROWS)
    forward = {item.id: item.digest for item, _ in openinference.grouped(rows) if isinstance(item, Trace)}
    moved = [(row, Place("other.jsonl", place.line)) for row, place in rows]
    again = {item.id: item.digest for item, _ in openinference.grouped(moved) if isinstance(item, Trace)}
    assert forward == again
    backward = [item for item, _ in openinference.grouped(reversed(rows)) if isinstance(item, Trace)]
    assert {item.id: calls_of(item) for item in backward} == {
        item.id: calls_of(item) for item, _ in openinference.grouped(rows) if isinstance(item, Trace)
    }

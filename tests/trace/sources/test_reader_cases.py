"""Small inputs from public reports on tools that lost or blanked calls, each with the right answer.

Read at `../shared/cases/cases.jsonl` (part `readers`). Where an input is a sketch of a format, it is written out here as
the format has it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rightcall.errors import Place
from rightcall.trace import jsontext
from rightcall.trace.model import Message, Trace
from rightcall.trace.segments import segments
from rightcall.trace.sources.dialect import Skip
from rightcall.trace.sources.registry import DIALECTS

FILE = Path(__file__).resolve().parents[4] / "shared" / "cases" / "cases.jsonl"
CASES = (
    {case["id"]: case for case in map(json.loads, FILE.read_text("utf-8").splitlines()) if case["part"] == "readers"}
    if FILE.is_file()
    else {}
)
PLACE = Place("case.json", 1)


def attribute(key: str, value: Any) -> dict[str, Any]:
    return {"key": key, "value": {"stringValue": value if isinstance(value, str) else json.dumps(value)}}


def otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    """Spans as an OTLP/JSON document."""
    written = []
    for number, span in enumerate(spans):
        own_id = f"{number + 1:016x}"
        events = [
            {
                "name": e["name"],
                "timeUnixNano": str(number),
                "attributes": [attribute(*i) for i in e["attributes"].items()],
            }
            for e in span.get("events", ())
        ]
        written.append({
            "traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": span.get("id", own_id),
            "parentSpanId": span.get("parent", ""), "name": span.get("name", "span"), "kind": 1,
            "startTimeUnixNano": str(span.get("start", number + 1)), "endTimeUnixNano": str(span.get("end", number + 2)),
            "attributes": [attribute(key, value) for key, value in span.get("attributes", {}).items()],
            "events": events, "status": {},
        })  # fmt: skip
    return {
        "resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [{"scope": {"name": "x"}, "spans": written}]}]
    }


def tool_span(name: str, **fields: Any) -> dict[str, Any]:
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name, "gen_ai.tool.call.arguments": "{}"}
    return {"name": f"execute_tool {name}", "attributes": attributes, **fields}


def read(dialect: str, value: Any) -> list[Trace | Skip]:
    return list(DIALECTS[dialect].traces(value, PLACE))


def one(dialect: str, value: Any) -> Trace:
    (trace,) = read(dialect, value)
    assert isinstance(trace, Trace)
    return trace


def plain(trace: Trace) -> list[dict[str, Any]]:
    """Calls as the cases write them."""
    return [
        {
            "id": call.id, "tool": call.tool, "arguments": call.arguments, "arguments_raw": call.arguments_raw,
            "result": call.result.content if call.result else None,
        }
        for call in trace.calls
    ]  # fmt: skip


def codes(trace: Trace) -> set[str]:
    return {finding.code for finding in trace.findings}


def trace_of(case: dict[str, Any]) -> Trace:
    raw, form = case["minimal_input"]["raw"], case["minimal_input"]["format"]
    if form == "openai-chat":
        return one("openai_chat", raw if isinstance(raw, list) else [raw])
    if form == "openai-chat-deltas":
        return one(
            "openai_chat", [{"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": d}]} for d in raw]
        )
    if form == "gemini":
        return one("gemini", {"contents": raw})
    if form == "anthropic":
        return one("anthropic", {"messages": raw})
    if form == "openai-responses":
        return one("openai_responses", raw)
    if form == "openinference-span":
        return one("openinference", otlp(raw))
    spans = raw if isinstance(raw, list) else [raw]
    attributes = {"gen_ai.operation.name": "execute_tool"}
    return one("otel_genai", otlp(*({**span, "attributes": {**attributes, **span["attributes"]}} for span in spans)))


DIRECT = [
    "PAR-03", "PAR-04", "ABS-08", "IDS-02", "IDS-03", "ING-01", "ING-03", "ING-04", "ING-05", "ING-06", "ING-07",
    "ING-09", "ING-11", "ING-12",
]  # fmt: skip
SKETCHED = ["ORD-03", "ORD-05", "PAR-02", "ING-14", "ING-16", "ING-17"]


@pytest.mark.parametrize("case_id", DIRECT)
def test_the_neutral_calls_are_the_right_ones(case_id: str) -> None:
    if not CASES:
        pytest.skip("needs the reported cases in ../shared, which are not part of the repository")
    case = CASES[case_id]
    answer = case["right_answer"]
    trace = trace_of(case)
    found = plain(trace)
    assert len(found) == len(answer["calls"])
    for expected, call in zip(answer["calls"], found, strict=True):
        for key, value in expected.items():
            assert jsontext.same(call[key], value), (key, call)
    if "error_class" in answer:
        assert answer["error_class"] in codes(trace)
    if "agent_text" in answer:
        assert answer["agent_text"] in [event.text for event in trace.events if isinstance(event, Message)]
    if "available_tools" in answer:
        tools = jsontext.decode(bytes(trace.tools_json))  # type: ignore[arg-type]
        assert [tool["name"] for tool in tools] == answer["available_tools"]


def test_bad_entries_are_named_by_index() -> None:
    if not CASES:
        pytest.skip("needs the reported cases in ../shared, which are not part of the repository")
    bad = [finding for finding in trace_of(CASES["ING-06"]).findings if finding.code == "TRACE_MALFORMED"]
    assert len(bad) == 3
    for index, finding in enumerate(bad):
        assert f"[{index}]" in f"{finding.path} {finding.message}"


def test_a_tool_span_of_which_only_the_name_is_understood_has_no_known_arguments() -> None:
    span = {
        "name": "running tool",
        "attributes": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "berth"},
    }
    (call,) = one("otel_genai", otlp(span)).calls
    assert call.arguments_status in ("missing", "not_captured")
    assert call.arguments is None


def test_older_spellings_of_a_tool_span_are_read() -> None:
    span = {"name": "running tool", "attributes": {
        "gen_ai.tool.name": "berth", "gen_ai.tool.call.id": "b1", "tool_arguments": '{"ship":"Ula"}', "tool_response": "pier 4",
    }}  # fmt: skip
    (call,) = plain(one("otel_genai", otlp(span)))
    assert (call["arguments"], call["result"]) == ({"ship": "Ula"}, "pier 4")


def test_no_braces_are_closed_and_a_cut_call_interprets_nothing() -> None:
    span = tool_span("save_note")
    span["attributes"]["gen_ai.tool.call.arguments"] = '{"title":"Plan","body":"Buy two bags of'
    trace = one("otel_genai", otlp(span))
    assert trace.calls[0].arguments is None
    assert [segment.status for segment in segments(trace)] == ["no_result"]


# ---- sketches, written out -----------------------------------------------------------------------------------------


def test_ord_03_and_ord_05_calls_are_ordered_by_their_start_in_nanoseconds() -> None:
    late = tool_span("subtract", start=1_000_000_500, end=1_000_000_520)
    early = tool_span("add", start=1_000_000_400, end=1_000_000_900)
    trace = one("otel_genai", otlp({"name": "agent", "start": 1, "end": 2_000_000_000}, late, early))
    assert [call.tool for call in trace.calls] == ["add", "subtract"]


def test_par_02_calls_of_one_model_answer_share_a_turn() -> None:
    def answer(*ids: str) -> dict[str, Any]:
        parts = [{"type": "tool_call", "id": i, "name": "orders", "arguments": {"n": i}} for i in ids]
        return {"name": "chat", "attributes": {
            "gen_ai.operation.name": "chat", "gen_ai.output.messages": [{"role": "assistant", "parts": parts}],
        }}  # fmt: skip

    calls = one("otel_genai", otlp(answer("x", "y"), answer("z"))).calls
    turns = [call.turn for call in calls]
    assert len(turns) == 3
    assert turns[0] == turns[1] != turns[2]


def test_ing_14_a_call_in_messages_and_as_a_span_is_one_call() -> None:
    said = [{"role": "assistant", "parts": [{"type": "tool_call", "id": "d1", "name": "dial", "arguments": {"n": 3}}]}]
    chat = {"name": "chat", "attributes": {"gen_ai.operation.name": "chat", "gen_ai.output.messages": said}}
    span = tool_span("dial")
    span["attributes"] |= {"gen_ai.tool.call.id": "d1", "gen_ai.tool.call.arguments": '{"n":3}'}
    (call,) = plain(one("otel_genai", otlp(chat, span)))
    assert (call["id"], call["tool"], call["arguments"]) == ("d1", "dial", {"n": 3})


def test_ing_16_every_result_of_a_tool_that_is_called_again_is_kept_in_order() -> None:
    spans = [tool_span("call_tool", start=number) for number in (1, 2, 3)]
    for span, text in zip(spans, ("rate 3.1", "fee 12", "total 15.1"), strict=True):
        span["attributes"]["gen_ai.tool.call.result"] = text
    found = segments(one("otel_genai", otlp(*spans)))
    assert [segment.call.result.content for segment in found if segment.call.result] == [
        "rate 3.1",
        "fee 12",
        "total 15.1",
    ]


def test_ing_17_a_cycle_and_a_missing_parent_are_named() -> None:
    first = tool_span("one", id="000000000000000a", parent="000000000000000b")
    second = {"name": "agent", "id": "000000000000000b", "parent": "000000000000000a", "attributes": {
        "gen_ai.operation.name": "invoke_agent",
    }}  # fmt: skip
    third = tool_span("two", id="000000000000000c", parent="00000000000000ff")
    traces = [trace for trace in read("otel_genai", otlp(first, second, third)) if isinstance(trace, Trace)]
    said = " ".join(f.message for trace in traces for f in trace.findings if f.code == "TRACE_TREE_INVALID")
    assert "000000000000000a" in said
    assert "00000000000000ff" in said


def test_every_reported_case_is_tested_here() -> None:
    if not CASES:
        pytest.skip("needs the reported cases in ../shared, which are not part of the repository")
    assert set(CASES) == {*DIRECT, *SKETCHED}

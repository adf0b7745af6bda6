"""Gemini contents: parts in both cases, results without ids, failed calls, the provider's code, streams, real files."""

import contextlib
import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from rightcall.errors import ConfigError, Place, TraceError
from rightcall.trace.catalog import Catalog, parse_tools
from rightcall.trace.model import Call, Trace
from rightcall.trace.segments import segments
from rightcall.trace.sources import gemini, native, reading, registry
from rightcall.trace.sources.dialect import ReadingReport, Skip

PLACE = Place("logs/day.jsonl", 7)


def read(record):
    """Read one record that must give one trace."""
    (trace,) = gemini.traces(record, PLACE)
    assert isinstance(trace, Trace), trace
    return trace


def skip_of(record):
    """Read one record that must be skipped."""
    (skip,) = gemini.traces(record, PLACE)
    assert isinstance(skip, Skip), skip
    return skip


def call(name, args=None, **extra):
    return {"functionCall": {"name": name, "args": {} if args is None else args, **extra}}


def result(name, response, **extra):
    return {"functionResponse": {"name": name, "response": response, **extra}}


def user(*parts):
    return {"role": "user", "parts": list(parts)}


def model(*parts):
    return {"role": "model", "parts": list(parts)}


def response(*parts, reason="STOP", **extra):
    return {"candidates": [{"content": model(*parts), "finishReason": reason, **extra}], "modelVersion": "m-2"}


def codes(trace):
    return [finding.code for finding in trace.findings]


def all_calls(trace):
    return [event for event in trace.events if isinstance(event, Call)]


def shape(trace):
    return [event.tool if isinstance(event, Call) else (event.role, event.text) for event in trace.events]


# ---- contents ----

CAMEL = {
    "id": "t-1",
    "model": "m-2",
    "systemInstruction": {"parts": [{"text": "Be brief."}, {"text": "Be kind."}]},
    "tools": [{"functionDeclarations": [{"name": "ferry", "parameters": {"type": "OBJECT"}}]}],
    "contents": [
        user({"text": "Is the ferry on time?"}),
        model({"text": "Looking."}, {"functionCall": {"name": "ferry", "args": {"line": 4}}, "thoughtSignature": "…"}),
        user(result("ferry", {"state": "late"})),
        model({"text": "It is late."}),
    ],
}
SNAKE = {
    "id": "t-1",
    "model": "m-2",
    "contents": [
        {"role": "user", "parts": [{"text": "Is the ferry on time?", "function_call": None, "thought": None}]},
        {
            "role": "model",
            "parts": [
                {"text": "Looking.", "function_call": None},
                {"text": None, "function_call": {"id": None, "name": "ferry", "args": {"line": 4}}, "thought_signature": "…"},
            ],
        },
        {"role": "user", "parts": [{"text": None, "function_response": {"id": None, "name": "ferry", "response": {"state": "late"}}}]},
        {"role": "model", "parts": [{"text": "It is late."}]},
    ],
    "config": {
        "system_instruction": ["Be brief.", {"text": "Be kind."}],
        "tools": [{"function_declarations": [{"name": "ferry", "parameters": {"type": "OBJECT"}}], "google_search": None}],
    },
}  # fmt: skip


@pytest.mark.parametrize("record", [CAMEL, SNAKE])
def test_a_conversation_is_read_in_both_cases(record):
    assert gemini.detect(record)
    trace = read(record)
    assert (trace.id, trace.agent.model, trace.request) == ("t-1", "m-2", "Is the ferry on time?")
    assert trace.context == {"system": "Be brief.\nBe kind."}
    assert json.loads(bytes(trace.tools_json)) == [{"name": "ferry", "parameters": {"type": "object"}}]
    (one,) = trace.calls
    assert (one.tool, one.id, one.turn, one.arguments) == ("ferry", None, 1, {"line": 4})
    assert (one.result.content, one.result.is_error) == ({"state": "late"}, None)
    assert shape(trace)[1:3] == [("assistant", "Looking."), "ferry"]
    assert (trace.completed, trace.findings) == (None, ())
    assert segments(trace)[0].interpretation == "It is late."


def test_both_cases_give_the_same_trace():
    assert read(CAMEL) == read(SNAKE)


def test_T2_results_without_ids_follow_order_and_name_and_say_so():  # noqa: N802
    trace = read(
        [
            model(call("depth", {"lake": "a"}), call("area", {"lake": "a"}), call("depth", {"lake": "b"})),
            user(result("area", {"km2": 4}), result("depth", {"m": 31}), result("depth", {"m": 12})),
        ]
    )
    assert [one.result.content for one in trace.calls] == [{"m": 31}, {"km2": 4}, {"m": 12}]
    assert {one.turn for one in trace.calls} == {1}
    assert [(f.code, f.path) for f in trace.findings] == [("ORDER_AMBIGUOUS", "$[1].parts[1].functionResponse")]


def test_ids_count_where_there_are_any():  # T2
    trace = read(
        [
            model(call("depth", {"n": 1}, id="x"), call("depth", {"n": 2}, id="y")),
            user(result("depth", {"m": 2}, id="y"), result("depth", {"m": 1}, id="x"), result("depth", {}, id="z")),
        ]
    )
    assert [one.result.content for one in trace.calls] == [{"m": 1}, {"m": 2}]
    assert codes(trace) == ["TRACE_ORPHAN_RESULT"]


def test_an_id_that_only_the_result_has_does_not_lose_it():  # T2
    trace = read([model(call("f")), user(result("f", {"n": 1}, id="made-up"))])
    assert trace.calls[0].result.content == {"n": 1}
    assert trace.findings == ()


@pytest.mark.parametrize(
    ("answer", "known"),
    [
        ({"error": "no such lake"}, True),
        ({"error": {"code": 5}}, True),
        ({"error": None, "output": 3}, None),
        ({"error": ""}, None),
        ({"output": "error"}, None),
        ("Error: none", None),
        (None, None),
    ],
)
def test_a_failure_is_told_by_the_conventions_error(answer, known):  # T10
    outcome = read([model(call("f")), user(result("f", answer))]).calls[0].result
    assert (outcome.content, outcome.is_error, outcome.inferred) == (answer, known, known is True)


def test_a_result_without_response_was_not_captured():
    trace = read([model(call("f")), user({"functionResponse": {"name": "f"}})])
    assert not trace.calls[0].result.is_captured


def test_files_in_a_result_are_named():
    trace = read([model(call("f")), user(result("f", {"n": 1}, parts=[{"inlineData": {}}]))])
    assert [(f.code, f.path) for f in trace.findings] == [("TRACE_INCOMPLETE", "$[1].parts[0].functionResponse.parts")]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"args": {}}, "ok"),
        ({"args": {"n": 12345678901234567890}}, "ok"),
        ({}, "missing"),
        ({"args": None}, "missing"),
        ({"args": [1]}, "not_object"),
        ({"willContinue": True}, "not_captured"),
        ({"partialArgs": [{"jsonPath": "$.a", "stringValue": "x"}]}, "not_captured"),
    ],
)
def test_arguments_are_what_was_recorded(body, status):  # T4, T5
    (one,) = read([model({"functionCall": {"name": "f", **body}})]).calls
    assert one.arguments_status == status
    assert one.arguments == (body["args"] if status == "ok" else None)


def test_pieces_of_arguments_are_told():
    assert codes(read([model({"functionCall": {"name": "f", "willContinue": True}})])) == ["TRACE_NOT_CAPTURED"]


def test_the_providers_code_and_tools_are_kept_and_not_graded():  # T17
    trace = read(
        [
            model(
                {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
                {"codeExecutionResult": {"id": "q", "outcome": "OUTCOME_OK", "output": "1\n"}},
                {"executableCode": {"id": "r", "language": "PYTHON", "code": "1/0"}},
                {"codeExecutionResult": {"id": "r", "outcome": "OUTCOME_FAILED", "output": "no"}},
                {"text": "One."},
                {"toolCall": {"id": "s", "toolType": "SEARCH", "args": {"queries": ["q"]}}},
                {"toolResponse": {"id": "s", "toolType": "SEARCH", "response": {"found": 1}}},
                call("save", {"n": 1}),
            )
        ]
    )
    assert [one.tool for one in trace.calls] == ["save"]
    code, broken, search, _ = all_calls(trace)
    assert (code.tool, code.by, code.arguments) == (
        "code_execution",
        "provider",
        {"language": "PYTHON", "code": "print(1)"},
    )
    assert code.result.content == {"outcome": "OUTCOME_OK", "output": "1\n"}
    assert [one.result.is_error for one in (code, broken, search)] == [False, True, None]
    assert (search.tool, search.arguments, search.result.content) == ("SEARCH", {"queries": ["q"]}, {"found": 1})
    assert trace.findings == ()


def test_thoughts_are_named_once_a_run_and_are_no_text():
    thought = {"text": "hm", "thought": True}
    trace = read([model(thought, thought, {"text": "It is "}, {"text": "late."}, call("f"), thought)])
    assert shape(trace) == [("assistant", "It is late."), "f"]
    assert [f.path for f in trace.findings] == ["$[0].parts[0]", "$[0].parts[5]"]


@pytest.mark.parametrize(
    ("part", "kind"),
    [({"inlineData": {}}, "inlineData"), ({"file_data": {}, "text": None}, "file_data"), ({"novelty": 1}, "novelty"), ({}, "None"), (7, "None")],
)  # fmt: skip
def test_a_part_that_is_not_read_is_named(part, kind):
    trace = read([user({"text": "Hi"}, part)])
    assert [(f.code, f.path, f"`{kind}`" in f.message) for f in trace.findings] == [
        ("TRACE_INCOMPLETE", "$[0].parts[1]", True)
    ]


def test_a_signature_alone_is_nothing():
    assert read([model({"thoughtSignature": "…"}, call("f"))]).findings == ()


def test_contents_may_be_texts_and_have_no_role():
    trace = read({"request": {"contents": ["Hi", {"parts": [{"text": "there"}]}]}, "response": response(call("f"))})
    assert shape(trace) == [("user", "Hi"), ("user", "there"), ("assistant", None), "f"]
    assert read({"request": {"contents": "Hi"}, "response": response(call("f"))}).request == "Hi"


@pytest.mark.parametrize("content", [7, {"role": "wizard", "parts": []}, {"role": [], "parts": []}, {"role": "user"}])
def test_what_is_no_content_is_a_finding(content):
    trace = read([user({"text": "Hi"}), content])
    assert [(f.code, f.path) for f in trace.findings] == [("TRACE_MALFORMED", "$[1]")]


def test_a_call_without_a_name_is_a_finding():
    assert codes(read([model({"functionCall": {"args": {}}})])) == ["TRACE_MALFORMED"]


# ---- catalogs ----


def test_schemas_are_read_in_each_of_their_shapes():
    upper = {"type": "OBJECT", "properties": {"type": {"type": "STRING", "nullable": True}}, "required": ["type"]}
    declared = [
        {"name": "a", "description": "A.", "parameters": upper},
        {"name": "b", "parametersJsonSchema": {"type": "object"}},
        {"name": "c", "parameters_json_schema": {"type": "object"}},
        {"name": "d"},
    ]
    trace = read(
        {
            "contents": [user({"text": "Hi"})],
            "tools": [{"functionDeclarations": declared[:2]}, {"functionDeclarations": declared[2:]}],
        }
    )
    tools = parse_tools(json.loads(bytes(trace.tools_json)), Place())
    assert [tool.name for tool in tools] == ["a", "b", "c", "d"]
    assert tools[3].parameters is None
    check = Catalog(tools).validator("a")
    assert [check.is_valid({"type": value}) for value in ("x", None, 1)] == [True, True, False]
    assert trace.findings == ()


def test_the_providers_own_tools_are_named_and_left_out():
    trace = read(
        {"contents": [user({"text": "Hi"})], "tools": [{"googleSearch": {}}, {"functionDeclarations": [{"name": "a"}]}]}
    )
    assert json.loads(bytes(trace.tools_json)) == [{"name": "a"}]
    assert "`googleSearch`" in trace.findings[0].message


@pytest.mark.parametrize(
    ("tools", "code"),
    [("f", "CONFIG_TOOL_INVALID"), ([{"functionDeclarations": [7]}], "CONFIG_TOOL_INVALID"), ([{"functionDeclarations": [{"name": "a"}, {"name": "a"}]}], "CONFIG_DUPLICATE_TOOL")],
)  # fmt: skip
def test_a_catalog_that_cannot_be_read_is_unknown(tools, code):
    trace = read({"contents": [user({"text": "Hi"})], "tools": tools})
    assert (trace.tools_json, codes(trace)) == (UNSET, [code])


# ---- replies ----


@pytest.mark.parametrize(
    ("reason", "said", "tool", "raw"),
    [
        ("MALFORMED_FUNCTION_CALL", "Malformed function call: print(default_api.book(seat='4))", "book", True),
        ("MALFORMED_FUNCTION_CALL", None, "MALFORMED_FUNCTION_CALL", False),
        ("UNEXPECTED_TOOL_CALL", "The model called something.", "UNEXPECTED_TOOL_CALL", True),
        ("FinishReason.MALFORMED_FUNCTION_CALL", None, "MALFORMED_FUNCTION_CALL", False),
    ],
)
def test_a_call_that_could_not_be_written_is_a_malformed_call(reason, said, tool, raw):  # T3
    trace = read({"candidates": [{"content": {}, "finishReason": reason, "finishMessage": said}]})
    (one,) = trace.calls
    assert (one.tool, one.arguments_status, one.arguments_raw) == (tool, "malformed", said if raw else None)
    assert (one.turn, codes(trace)) == (1, ["TRACE_ARGS_UNPARSEABLE"])


def test_a_failed_call_that_has_a_part_is_not_counted_twice():
    trace = read(response(call("f"), reason="UNEXPECTED_TOOL_CALL"))
    assert [one.tool for one in trace.calls] == ["f"]


def exchange(contents, answer, **extra):
    return {"request": {"contents": contents}, "response": answer, **extra}


def test_an_exchange_repeats_history_and_only_its_reply_holds_its_own_calls():  # T12
    earlier = [user({"text": "Dim both."}), model(call("dim", {"room": "hall"})), user(result("dim", {"ok": True}))]
    trace = read(exchange(earlier, response(call("dim", {"room": "attic"})), status=200))
    assert [one.arguments["room"] for one in trace.calls] == ["attic"]
    assert (trace.request, trace.agent.model) == ("Dim both.", "m-2")
    assert trace.context["history"][2]["result"] == {"content": {"ok": True}}


CHUNKS = [
    {"candidates": [{"content": model({"text": "On "})}], "modelVersion": "m-2"},
    {"candidates": [{"content": model({"text": "it."}, call("ferry", {"line": 4}))}]},
    {"candidates": [{"content": model({"text": ""}), "finishReason": "STOP"}]},
    {"usageMetadata": {}},
]


@pytest.mark.parametrize(
    "answer",
    [CHUNKS, json.dumps(CHUNKS), "".join(f"data: {json.dumps(chunk)}\r\n\r\n" for chunk in CHUNKS)],
    ids=["list", "text", "events"],
)
def test_a_stream_is_put_together(answer):
    record = exchange([user({"text": "When?"})], answer)
    assert gemini.detect(record)
    trace = read(record)
    assert shape(trace)[1:3] == [("assistant", "On it."), "ferry"]
    assert (trace.agent.model, trace.findings) == ("m-2", ())


def test_the_chunks_of_a_stream_are_a_record():
    assert gemini.detect(CHUNKS)
    assert [one.arguments for one in read(CHUNKS).calls] == [{"line": 4}]
    assert codes(read(CHUNKS[:2])) == ["TRACE_TRUNCATED"]
    assert read(CHUNKS[:2]).completed is False


def test_an_event_that_is_not_json_is_told():
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in CHUNKS) + "data: {broken\n\n"
    assert codes(read(exchange([user({"text": "Hi"})], body))) == ["TRACE_INCOMPLETE"]


def test_a_whole_response_may_be_text():
    trace = read(exchange([user({"text": "Hi"})], json.dumps(response(call("f")))))
    assert [one.tool for one in trace.calls] == ["f"]


@pytest.mark.parametrize(
    ("answer", "extra", "code", "words"),
    [
        ({"error": {"code": 429, "message": "slow down"}}, {"status": 429}, "TRACE_HTTP_ERROR", "HTTP status 429: slow down"),
        ({"error": {"message": "slow down"}}, {"status": ""}, "TRACE_HTTP_ERROR", "an error: slow down"),
        ([{"error": {"message": "slow down"}}], {}, "TRACE_HTTP_ERROR", "an error: slow down"),
        ({"promptFeedback": {"blockReason": "SAFETY"}}, {}, "TRACE_INCOMPLETE", "blocked: `SAFETY`"),
        ({"totalTokens": 4}, {}, "TRACE_INCOMPLETE", "only counted tokens"),
        ({"candidates": []}, {}, "TRACE_MALFORMED", "no `candidates`"),
        ("<html>", {}, "TRACE_MALFORMED", "no `candidates`"),
        (None, {}, "TRACE_MALFORMED", "no `candidates`"),
    ],
)  # fmt: skip
def test_an_exchange_without_a_reply_is_skipped(answer, extra, code, words):
    skip = skip_of(exchange([user({"text": "Hi"})], answer, **extra))
    assert skip.code == code
    assert words in skip.message


@pytest.mark.parametrize(
    ("record", "code"),
    [
        ({"request": {}, "response": {}}, "TRACE_MALFORMED"),
        ({"contents": []}, "TRACE_INCOMPLETE"),
        ({"contents": [7]}, "TRACE_MALFORMED"),
        ({}, "TRACE_MALFORMED"),
        (7, "TRACE_MALFORMED"),
        ([], "TRACE_INCOMPLETE"),
    ],
)
def test_a_record_that_holds_nothing_is_skipped(record, code):
    assert skip_of(record).code == code


@pytest.mark.parametrize(
    ("reason", "code", "completed"), [("MAX_TOKENS", "TRACE_TRUNCATED", False), ("SAFETY", "TRACE_INCOMPLETE", None)]
)
def test_a_reply_that_did_not_end_well_says_so(reason, code, completed):
    trace = read(response({"text": "Well"}, reason=reason))
    assert (codes(trace), trace.completed) == ([code], completed)


def test_only_the_first_candidate_is_read():
    record = {
        "candidates": [{"index": 1, "content": model(call("b"))}, {"index": 0, "content": model(call("a"))}],
        "responseId": "r-1",
    }
    trace = read(record)
    assert (trace.id, [one.tool for one in trace.calls], codes(trace)) == ("r-1", ["a"], ["TRACE_INCOMPLETE"])
    assert skip_of({"candidates": [{"index": 1, "content": model(call("b"))}]}).code == "TRACE_MALFORMED"


# ---- detection ----


@pytest.mark.parametrize(
    "record",
    [
        CAMEL,
        SNAKE,
        CAMEL["contents"],
        response(call("f")),
        CHUNKS,
        exchange([user({"text": "Hi"})], response(call("f"))),
        exchange("Hi", {"error": {"message": "x"}}, status=400),
    ],
)
def test_what_only_this_dialect_has_is_recognised_alone(record):
    assert registry.detect(record, PLACE) is gemini.DIALECT


@pytest.mark.parametrize(
    "record",
    [
        [{"role": "user", "content": "Hi"}],
        [{"role": "user", "content": [{"text": "Hi"}]}],
        [{"role": "user", "parts": [{"type": "text", "text": "Hi"}]}],
        [{"role": "user", "parts": [{"kind": "text", "text": "Hi"}]}],
        [{"role": "user", "kind": "message", "parts": [{"text": "Hi"}]}],
        [{"role": "assistant", "parts": [{"text": "Hi"}]}],
        [{"role": "user", "parts": [{"novelty": 1}]}],
        [{"role": "user", "parts": []}],
        {"contents": "Hi"},
        {"candidates": [{"name": "Ada"}]},
        {"candidates": []},
        {"request": {"messages": [], "contents": []}, "response": {}},
        {},
        [],
        7,
        None,
    ],
)
def test_what_may_be_another_dialect_is_not_claimed(record):
    assert not gemini.detect(record)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["model", "user", "STOP", "MALFORMED_FUNCTION_CALL", "{", "data: {}", ""]),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(
            ["contents", "role", "parts", "text", "thought", "functionCall", "function_response", "functionResponse", "name",
             "args", "response", "request", "id", "candidates", "content", "finishReason", "finishMessage", "tools", "index",
             "functionDeclarations", "parameters", "systemInstruction", "executableCode", "codeExecutionResult", "config"]
        ),
        inner,
        max_size=5,
    ),
    max_leaves=25,
)  # fmt: skip


@given(JSON)
def test_any_json_gives_traces_or_skips(value):
    gemini.detect(value)
    for item in gemini.traces(value, PLACE):
        assert isinstance(item, Trace | Skip)
        if isinstance(item, Trace):
            assert native.read_line(native.write_line(item), PLACE) == item


# ---- real recordings ----


@pytest.fixture(scope="module")
def real(shared_data):
    opened = reading.open_traces(shared_data / "data/gemini/exchanges.jsonl")
    assert opened.dialect is gemini.DIALECT
    report = ReadingReport()
    return list(reading.read(opened, report)), report


def history(traces):
    return [event for trace in traces for event in (trace.context or {}).get("history", ())]


def test_real_exchanges_are_counted_right(real):
    # FORMATS §20 counts 174 exchanges and 31 calls; the file holds the 79 that offer tools (5 of them go to other
    # providers, 2 only count tokens), and streams hold 4 more calls.
    traces, report = real
    assert (report.read, report.skipped, report.causes["TRACE_MALFORMED"]) == (72, 7, 5)
    assert (report.calls, report.parallel_turns) == ({"ok": 35}, 1)
    assert sum(bool(trace.calls) for trace in traces) == 33
    assert {trace.completed for trace in traces} == {None}


def test_T2_real_calls_mostly_have_no_id(real):  # noqa: N802
    ids = Counter(one.id is None for trace in real[0] for one in trace.calls)
    assert ids == {True: 27, False: 8}
    assert "TRACE_ORPHAN_RESULT" not in real[1].causes


def test_T10_real_errors_follow_the_convention(real):  # noqa: N802
    results = [event["result"] for event in history(real[0]) if event["type"] == "call" and "by" not in event]
    assert Counter(one.get("is_error") for one in results) == {None: 41, True: 2}
    assert all(one["inferred"] for one in results if one.get("is_error"))


def test_T17_real_code_of_the_provider_has_its_result(real):  # noqa: N802
    calls = [one for trace in real[0] for one in all_calls(trace) if one.by == "provider"]
    assert len(calls) == 18
    assert {one.tool for one in calls if one.result is None} <= {"code_execution"}
    assert [one.result.is_error for one in calls if one.tool == "code_execution" and one.result].count(False) >= 7


def test_real_catalogs_can_be_compiled(real):
    refused = set()
    for trace in real[0]:
        for tool in parse_tools(json.loads(bytes(trace.tools_json)), Place()):
            try:
                Catalog((tool,))
            except ConfigError as error:
                refused.add((tool.name, 'is not a "regex"' in error.message))
    assert refused == {("register", True)}  # its pattern looks ahead, which no linear-time engine does


def test_real_streams_are_read(shared_data):
    lines = (shared_data / "data/gemini/exchanges.jsonl").read_text().splitlines()
    streams = [json.loads(line) for line in lines if isinstance(json.loads(line)["response"], str)]
    assert len(streams) == 15
    found = [read(record) for record in streams]
    assert sum(len(trace.calls) for trace in found) == 4
    assert not {"TRACE_TRUNCATED", "TRACE_MALFORMED"} & {code for trace in found for code in codes(trace)}


def test_mutated_real_bytes_give_traces_or_typed_errors(shared_data, tmp_path):
    lines = (shared_data / "data/gemini/exchanges.jsonl").read_bytes().splitlines()
    for number, line in enumerate(sorted(lines, key=len)[:20] * 3):
        body = bytearray(line)
        for step in range(1 + number % 4):
            body[(number * 7919 + step * 104729) % len(body)] = (number * 31 + step * 17) % 256
        file = tmp_path / f"{number}.jsonl"
        file.write_bytes(body)
        with contextlib.suppress(TraceError):
            reading.load_traces(file, "gemini")


def test_the_public_report_on_this_shape_gets_the_right_answer(shared_data):
    for line in (shared_data / "cases/cases.jsonl").read_text().splitlines():
        report = json.loads(line)
        if report["minimal_input"].get("format") == "gemini":
            trace = read(report["minimal_input"]["raw"])
            found = [
                {"tool": one.tool, "arguments": one.arguments, "result": one.result.content} for one in trace.calls
            ]
            assert found == report["right_answer"]["calls"]
            assert codes(trace) == ["ORDER_AMBIGUOUS"]


def test_the_registry_knows_the_dialect():
    assert registry.by_name("gemini") is gemini.DIALECT

"""Langfuse: traces and rows, both spellings of the fields, rows from OpenTelemetry, levels, scores. All invented."""

import contextlib
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from rightcall.errors import Place, TraceError
from rightcall.trace import jsontext
from rightcall.trace.model import Trace
from rightcall.trace.sources import langfuse, native, reading, registry
from rightcall.trace.sources.dialect import ReadingReport, Skip

PLACE = Place("export.jsonl", 3)


def row(number, kind, name="", given=None, said=None, parent="root", **more):
    whole = {
        "id": f"o{number}" if parent else "root", "traceId": "t-1", "type": kind, "name": name, "level": "DEFAULT",
        "startTime": f"2026-01-01T00:00:{number:02}.000Z", "endTime": f"2026-01-01T00:00:{number:02}.500Z",
        "parentObservationId": parent, "input": given, "output": said, "statusMessage": None, "metadata": {},
    }  # fmt: skip
    return {**whole, **more}


def made(name="lookup", id_="c1", arguments='{"key": 4}'):
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


ASKED = [{"role": "system", "content": "Be good."}, {"role": "user", "content": "Find 4."}]


def model(number, *calls, messages=ASKED, text=None, **more):
    said = {"role": "assistant", "content": text, "tool_calls": list(calls)}
    return row(number, "GENERATION", "chat", messages, said, **{"model": "vendor/model", **more})


def tool(number, name="lookup", said="found", given=None, **more):
    return row(number, "TOOL", name, {"key": 4} if given is None else given, said, **more)


def root(**more):
    return row(0, "AGENT", "finder", "Find 4, please.", "done", parent=None, **more)


def whole(*rows, **changes):
    about = {
        "id": "t-1",
        "name": "finding",
        "sessionId": "s-1",
        "userId": "mia",
        "input": "Find 4, please.",
        "scores": [],
        "metadata": {},
    }
    return {**about, "observations": [root(), *rows], **changes}


def read(value):
    (trace,) = langfuse.traces(value, PLACE)
    assert isinstance(trace, Trace), trace
    return trace


def read_rows(*rows):
    (found,) = langfuse.grouped((one, Place("export.jsonl", number)) for number, one in enumerate(rows, 1))
    assert isinstance(found[0], Trace), found
    return found[0]


def skip_of(value):
    (skip,) = langfuse.traces(value, PLACE)
    assert isinstance(skip, Skip), skip
    return skip


def codes(trace):
    return [finding.code for finding in trace.findings]


# ---- a trace ----


def test_a_trace_given_whole_is_told_as_one_conversation():
    later = [*ASKED, model(0, made())["output"], {"role": "tool", "tool_call_id": "c1", "content": "found"}]
    trace = read(whole(model(1, made()), tool(2), model(3, messages=later, text="It is there.")))
    assert (trace.id, trace.request, trace.completed) == ("t-1", "Find 4.", None)
    assert (trace.agent.name, trace.agent.model) == ("finder", "vendor/model")
    assert trace.metadata == {"name": "finding", "session": "s-1", "user": "mia"}
    assert [getattr(event, "role", "call") for event in trace.events] == [
        "system",
        "user",
        "assistant",
        "call",
        "assistant",
    ]
    (call,) = trace.calls  # T12
    assert (call.tool, call.id, call.turn, call.arguments, call.result.content, call.failed) == (
        "lookup",
        "c1",
        1,
        {"key": 4},
        "found",
        None,
    )
    assert (call.started_at, call.result.at) == ("2026-01-01T00:00:02Z", "2026-01-01T00:00:02.5Z")
    assert trace.findings == ()


def test_flat_rows_belong_together_by_their_trace():
    other = {**tool(9), "traceId": "t-2"}
    found = [item for item, _ in langfuse.grouped((one, PLACE) for one in (tool(2), other, model(1, made()), root()))]
    assert [(trace.id, len(trace.calls)) for trace in found] == [("t-1", 1), ("t-2", 1)]
    assert found[0].calls[0].result.content == "found"
    assert found[0].calls[0].id == "c1"


def test_rows_without_a_trace_keep_session_and_name():
    trace = read_rows({**root(), "sessionId": "s-2", "traceName": "finding", "environment": "staging"}, tool(1))
    assert trace.metadata == {"session": "s-2", "environment": "staging"}


def test_fields_in_snake_case_are_the_same():
    def snake(one):
        return {"".join(f"_{c.lower()}" if c.isupper() else c for c in key): value for key, value in one.items()}

    plain, snaked = (
        read_rows(root(), model(1, made()), tool(2)),
        read_rows(snake(root()), snake(model(1, made())), snake(tool(2))),
    )
    assert langfuse.detect(snake(tool(2)))
    assert plain == snaked


def test_newer_rows_name_the_model_otherwise_and_list_calls_beside_the_output():
    newer = row(
        1,
        "GENERATION",
        "chat",
        ASKED,
        None,
        providedModelName="vendor/new",
        toolCalls=[json.dumps({"id": "c1", "name": "lookup", "arguments": "{}"})],
    )
    trace = read_rows(newer, {**tool(2), "parentObservationId": None})
    assert (trace.agent.model, [(c.id, c.arguments) for c in trace.calls]) == ("vendor/new", [("c1", {})])


def test_a_page_of_the_api_is_its_rows():
    page = {"data": [root(), model(1, made()), tool(2)], "meta": {"page": 1}}
    assert langfuse.detect(page)
    assert len(read(page).calls) == 1


@pytest.mark.parametrize("packed", [json.dumps, lambda value: value])
def test_inputs_and_outputs_may_be_json_in_a_string(packed):
    trace = read(whole(model(1, made(), messages=packed(ASKED)), tool(2, given=packed({"key": 4}), said='{"n": 1}')))
    assert (trace.request, trace.calls[0].arguments) == ("Find 4.", {"key": 4})
    assert trace.calls[0].result.content == '{"n": 1}'
    alone = read(whole(tool(2, given=packed({"key": 5}))))
    assert alone.calls[0].arguments == {"key": 5}


def test_tools_without_ids_are_paired_by_order_and_name():  # T2, T11
    calls = [made("a", "1"), made("b", "2"), made("a", "3")]
    trace = read(whole(model(1, *calls), tool(2, "b", "B"), tool(3, "a", "A1"), tool(4, "a", "A2")))
    assert [(c.id, c.turn, c.result.content) for c in trace.calls] == [("1", 1, "A1"), ("2", 1, "B"), ("3", 1, "A2")]


def test_an_id_that_is_used_again_belongs_to_the_nearest_call():  # T1
    trace = read(
        whole(
            model(1, made(arguments='{"a": 1}')),
            tool(2, said="1"),
            model(3, made(arguments='{"a": 2}'), messages=[*ASKED, {"role": "user", "content": "Again."}]),
            tool(4, said="2"),
        )
    )
    assert [(c.arguments, c.result.content) for c in trace.calls] == [({"a": 1}, "1"), ({"a": 2}, "2")]


def test_the_level_error_is_a_failure_and_no_other_level_is_the_contrary():  # T10
    failed = tool(2, said=None, level="ERROR", statusMessage="it is full")
    (call,) = read(whole(model(1, made()), failed)).calls
    assert (call.failed, call.result.content) == (True, "it is full")
    for level in ("DEFAULT", "WARNING", "DEBUG"):
        assert read(whole(model(1, made()), tool(2, said="Error: full", level=level))).calls[0].failed is None
    wrapped = {"type": "tool", "content": "no", "tool_call_id": "c1", "status": "error"}
    assert read(whole(model(1, made()), tool(2, said=wrapped))).calls[0].failed is True
    assert read(whole(tool(1), observations=[root(level="ERROR"), tool(1)])).completed is False


def test_a_message_that_says_that_the_tool_failed_is_believed():  # T10
    used = {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "lookup", "input": {"key": 4}}]}
    came = {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "full", "is_error": True}],
    }
    trace = read(
        whole(row(1, "GENERATION", "chat", ASKED, used), row(2, "GENERATION", "chat", [*ASKED, used, came], "Full."))
    )
    assert [(c.arguments, c.failed, c.result.content) for c in trace.calls] == [({"key": 4}, True, "full")]


@pytest.mark.parametrize(
    ("arguments", "status"), [('{"key": 4 // x', "malformed"), ("[1]", "not_object"), (None, "missing"), ("{}", "ok")]
)
def test_arguments_keep_their_status(arguments, status):
    (call,) = read(whole(model(1, made(arguments=arguments)))).calls
    assert (call.arguments_status, call.arguments) == (status, {} if status == "ok" else None)


def test_a_tool_without_a_captured_input_is_not_captured():  # T5
    assert [c.arguments_status for c in read(whole({**tool(1), "input": None})).calls] == ["not_captured"]
    assert read(whole({**tool(1), "output": None})).calls[0].result.is_captured is False


def test_what_a_judge_asks_is_left_out_and_counted():
    trace = read(
        whole(model(1, made()), row(2, "EVALUATOR", "judge"), model(3, made("grade"), parentObservationId="o2"))
    )
    assert [c.tool for c in trace.calls] == ["lookup"]
    assert codes(trace) == ["TRACE_INCOMPLETE"]


def test_several_agents_are_named():
    trace = read(
        whole(model(1, made()), row(2, "AGENT", "helper"), model(3, made("dig", "d"), parentObservationId="o2"))
    )
    assert [(c.tool, c.agent) for c in trace.calls] == [("lookup", "finder"), ("dig", "helper")]


def test_the_tools_of_the_request_are_the_catalog():
    tools = [{"type": "function", "function": {"name": "lookup", "parameters": {"type": "object"}}}]
    for generation in (
        model(1, made(), messages={"messages": ASKED, "tools": tools}),
        model(1, made(), modelParameters={"tools": json.dumps(tools)}),
        model(1, made(), toolDefinitions={"lookup": json.dumps({"parameters": {"type": "object"}})}),
        model(1, made(), metadata={"attributes": {"gen_ai.tool.definitions": json.dumps(tools)}}),
    ):
        assert [one["name"] for one in jsontext.decode(bytes(read(whole(generation)).tools_json))] == ["lookup"]
    assert read(whole(model(1))).tools_json is UNSET


# ---- rows from OpenTelemetry ----


def test_a_span_whose_attributes_say_that_it_is_a_tool_is_one():
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "lookup", "gen_ai.tool.call.id": "c2",
                  "gen_ai.tool.call.arguments": '{"key": 5}', "gen_ai.tool.call.result": "there"}  # fmt: skip
    ran = row(2, "SPAN", "execute_tool lookup", metadata={"attributes": attributes})
    trace = read(whole(model(1, made(id_="c1"), made(id_="c2")), ran))
    assert [(c.id, c.result and c.result.content) for c in trace.calls] == [("c1", None), ("c2", "there")]
    (alone,) = read(whole(ran)).calls
    assert (alone.tool, alone.arguments, alone.result.content) == ("lookup", {"key": 5}, "there")


@pytest.mark.parametrize(
    "metadata",
    [
        {"attributes": json.dumps({"ai.toolCall.name": "lookup"})},
        json.dumps({"attributes": {"openinference.span.kind": "TOOL", "tool.name": "lookup"}}),
    ],
)
def test_attributes_may_be_json_in_a_string(metadata):
    assert [c.tool for c in read(whole(row(1, "SPAN", "x", {"a": 1}, "y", metadata=metadata))).calls] == ["lookup"]


def test_messages_are_taken_from_the_attributes_where_the_row_has_none():
    said = [
        {"role": "assistant", "parts": [{"type": "tool_call", "id": "c1", "name": "lookup", "arguments": {"key": 4}}]}
    ]
    attributes = {"gen_ai.input.messages": json.dumps(ASKED), "gen_ai.output.messages": json.dumps(said)}
    trace = read(whole(row(1, "GENERATION", "chat", metadata={"attributes": attributes})))
    assert (trace.request, trace.calls[0].arguments) == ("Find 4.", {"key": 4})


def test_the_item_of_a_dataset_is_the_case():
    attributes = {"attributes": {"langfuse.experiment.item.id": "item-3"}}
    assert read(whole(tool(1, metadata=attributes))).case_id == "item-3"
    assert read(whole(tool(1), metadata={"case_id": "find"})).case_id == "find"
    assert read(whole(tool(1, datasetItemId="item-4"))).case_id == "item-4"
    assert read(whole(tool(1))).case_id is None


# ---- scores ----


def score(**more):
    return {
        "id": "sc",
        "traceId": "t-1",
        "name": "right",
        "value": 1,
        "source": "API",
        "dataType": "NUMERIC",
        "timestamp": "2026-01-02T00:00:00Z",
        **more,
    }


def test_scores_are_labels_with_who_and_when():
    person = score(
        source="ANNOTATION", authorUserId="mia", dataType="CATEGORICAL", stringValue="good", comment="I looked."
    )
    judge = score(source="EVAL", observationId="o2")
    first, second, third = read(
        whole(model(1, made()), tool(2), scores=[person, judge, score(), 7, {"value": 1}])
    ).labels
    assert (first.value, first.by, first.kind, first.at, first.comment) == (
        "good",
        "mia",
        "person",
        "2026-01-02T00:00:00Z",
        "I looked.",
    )
    assert (second.kind, second.by, second.target) == ("judge", "EVAL", "o2")
    assert (third.kind, third.value, third.target) == ("unknown", 1, None)


def test_rows_of_scores_join_their_trace():
    assert langfuse.detect(score())
    assert [label.name for label in read_rows(root(), tool(1), score()).labels] == ["right"]
    assert "not among these" in skip_of(score()).message


# ---- what is no trace ----


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (whole(observations=[]), "holds no observations"),
        (whole(observations=["o1", "o2"]), "only named by their ids"),
        (whole(observations=[root()]), "none of its 1 observations"),
    ],
)
def test_a_trace_without_models_and_tools_is_skipped_with_its_reason(value, reason):  # T15
    assert langfuse.detect(value)
    assert (skip_of(value).code, reason in skip_of(value).message) == ("TRACE_INCOMPLETE", True)


@pytest.mark.parametrize("value", [None, [], 7, {}, {"id": "x"}])
def test_what_is_none_of_these_is_skipped(value):
    assert skip_of(value).code == "TRACE_MALFORMED"


def test_an_output_of_an_unknown_shape_is_said():
    assert codes(read(whole(row(1, "GENERATION", "chat", ASKED, {"something": 1}), tool(2)))) == ["TRACE_INCOMPLETE"]
    assert "TRACE_NOT_CAPTURED" in codes(read(whole(row(1, "GENERATION", "chat", ASKED), tool(2))))


def test_a_tree_with_faults_is_told():
    trace = read(whole(tool(1, parentObservationId="gone"), {**tool(2), "startTime": "yesterday"}))
    assert "TRACE_TREE_INVALID" in codes(trace)
    assert len(trace.calls) == 2


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"data": [], "meta": {}},
        {**tool(1), "type": "tool"},
        {**tool(1), "traceId": None},
        {"id": "x", "observations": []},
        {"id": "x", "events": []},
    ],
)
def test_anything_else_is_not_recognised(value):
    assert not langfuse.detect(value)


@pytest.mark.parametrize("value", [whole(tool(1)), tool(1), model(1, made()), score(), {"data": [tool(1)], "meta": {}}])
def test_no_other_dialect_takes_a_record(value):
    assert registry.detect(value, PLACE) is langfuse.DIALECT


words = st.sampled_from(
    [
        "id",
        "traceId",
        "type",
        "name",
        "input",
        "output",
        "metadata",
        "attributes",
        "messages",
        "role",
        "content",
        "tool_calls",
        "parentObservationId",
        "level",
        "observations",
        "scores",
        "source",
        "value",
        "data",
        "meta",
    ]
)
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from(["TOOL", "GENERATION", "root", "o1", "assistant", "ERROR"])
    | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(words, inner, max_size=6),
    max_leaves=25,
)
rows = st.builds(
    lambda number, kind, name, given, said, parent, metadata: row(number, kind, name, given, said, parent, metadata=metadata),
    st.integers(0, 3), st.sampled_from(["TOOL", "GENERATION", "SPAN", "EVALUATOR"]), anything, anything | st.just(ASKED), anything, anything, anything,
)  # fmt: skip


@pytest.mark.slow
@given(
    anything
    | rows
    | st.builds(lambda inner, scores: whole(*inner, scores=scores), st.lists(rows | anything, max_size=4), anything)
)
def test_any_json_gives_traces_or_skips(value):
    assert isinstance(langfuse.detect(value), bool)
    try:
        found = list(langfuse.traces(value, PLACE))
    except TraceError:
        return
    for item in found:
        assert isinstance(item, (Trace, Skip))
        if isinstance(item, Trace):
            assert native.read_line(native.write_line(item).strip(), PLACE) == item


@pytest.mark.slow
def test_mutated_bytes_give_traces_or_typed_errors(tmp_path):
    lines = [root(), model(1, made()), tool(2), score()]
    data, chance, path = b"\n".join(json.dumps(one).encode() for one in lines), random.Random(2), tmp_path / "x.jsonl"
    for _ in range(200):
        broken = bytearray(data)
        for _ in range(chance.randrange(1, 4)):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        path.write_bytes(broken)
        with contextlib.suppress(TraceError):
            reading.load_traces(path, "langfuse")


def test_a_file_of_rows_is_read_as_its_traces(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(json.dumps(one) for one in (root(), model(1, made()), tool(2), score())))
    report = ReadingReport()
    (trace,) = reading.read(reading.open_traces(path), report)
    assert (report.dialect, report.read, report.skipped, report.calls.total()) == ("langfuse", 1, 0, 1)
    assert trace.labels[0].name == "right"

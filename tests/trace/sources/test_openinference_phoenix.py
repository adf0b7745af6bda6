"""Phoenix's own exports: rows of the data frame, REST spans and pages, annotations. All are invented."""

import json

import pytest

from rightcall.errors import Place
from rightcall.trace.model import Label, Trace
from rightcall.trace.sources import openinference, reading, registry
from rightcall.trace.sources.dialect import Skip

PLACE = Place("spans.jsonl", 3)
CALL = {
    "message.role": "assistant",
    "message.tool_calls": [
        {"tool_call.id": "c1", "tool_call.function.name": "prune", "tool_call.function.arguments": '{"tree": "pear"}'}
    ],
}
ASK = {"message.role": "user", "message.content": "Prune the pear."}


def row(number, kind, attributes, **more):
    """A row of the data frame: every column stands in every row."""
    columns = {"attributes.tool.name": None, "attributes.llm.input_messages": None, "attributes.metadata": {"bed": 4}}
    columns |= {f"attributes.{key}": value for key, value in attributes.items()}
    return {
        "name": "step", "span_kind": kind, "parent_id": None, "start_time": f"2026-05-01T08:00:0{number}.000Z",
        "end_time": f"2026-05-01T08:00:0{number}.500Z", "status_code": "OK", "status_message": "", "events": [],
        "context.span_id": f"{number:016x}", "context.trace_id": "cd" * 16, **columns, **more,
    }  # fmt: skip


def rest(number, kind, attributes, **more):
    return {
        "id": f"U3Bhbjo{number}", "name": "step", "context": {"trace_id": "cd" * 16, "span_id": f"{number:016x}"},
        "span_kind": kind, "parent_id": None, "start_time": f"2026-05-01T08:00:0{number}.000000+00:00",
        "end_time": f"2026-05-01T08:00:0{number}.500000+00:00", "status_code": "OK", "status_message": "",
        "attributes": attributes, "events": [], **more,
    }  # fmt: skip


ROWS = [
    row(2, "TOOL", {"tool.name": "prune", "input.value": "pear", "output.value": "done"}),
    row(1, "LLM", {"llm.input_messages": [ASK], "llm.output_messages": [CALL], "session.id": "s-1"}),
]
FLAT = [
    rest(2, "TOOL", {"tool.name": "prune", "input.value": "pear", "output.value": "done", "metadata.bed": 4}),
    rest(
        1,
        "LLM",
        {
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.content": "Prune the pear.",
            "llm.output_messages.0.message.role": "assistant",
            "llm.output_messages.0.message.tool_calls.0.tool_call.id": "c1",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "prune",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"tree": "pear"}',
            "session.id": "s-1",
            "metadata.bed": 4,
        },
    ),
]
NESTED = [
    rest(2, "TOOL", {"tool": {"name": "prune"}, "input": {"value": "pear"}, "output": {"value": "done"}}),
    rest(
        1,
        "LLM",
        {
            "llm": {
                "input_messages": [{"message": {"role": "user", "content": "Prune the pear."}}],
                "output_messages": [
                    {
                        "message": {
                            "role": "assistant",
                            "tool_calls": [
                                {
                                    "tool_call": {
                                        "id": "c1",
                                        "function": {"name": "prune", "arguments": '{"tree": "pear"}'},
                                    }
                                }
                            ],
                        }
                    }
                ],
            },
            "session": {"id": "s-1"},
            "metadata": {"bed": 4},
        },
    ),
]


def read(records):
    return list(openinference.grouped([(record, PLACE) for record in records]))


@pytest.mark.parametrize(
    "records", [ROWS, FLAT, NESTED, [{"data": FLAT, "next_cursor": None}]], ids=["rows", "flat", "nested", "page"]
)
def test_every_shape_gives_the_same_trace(records):
    assert all(registry.detect(record, PLACE) is openinference.DIALECT for record in records)
    ((trace, _),) = read(records)
    assert (trace.id, trace.request) == ("cd" * 16, "Prune the pear.")
    assert trace.metadata == {"bed": 4, "session": "s-1"}
    (call,) = trace.calls
    assert (call.tool, call.id, call.arguments) == ("prune", "c1", {"tree": "pear"})
    assert (call.result.content, call.result.is_error) == ("done", None)
    assert call.started_at == "2026-05-01T08:00:02Z"
    assert trace.findings == ()


def test_a_file_of_rows_is_read_whole(tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(json.dumps(record) for record in ROWS))
    (trace,) = reading.load_traces(file)
    assert len(trace.calls) == 1


def test_an_error_is_one_in_a_row_too():  # T10
    event = {"name": "exception", "attributes": {"exception.message": "no ladder"}}
    failed = row(2, "TOOL", {"tool.name": "prune"}, status_code="ERROR", status_message="ToolError", events=[event])
    ((trace, _),) = read([ROWS[1], failed])
    assert (trace.calls[0].failed, trace.calls[0].result.content) == (True, "no ladder")
    ((trace, _),) = read([ROWS[1], {**failed, "events": []}])
    assert trace.calls[0].result.content == "ToolError"


@pytest.mark.parametrize(
    ("first", "second"), [(1_777_000_000_000, 1_777_000_000_001), (1_777_000_000_000_000, 1_777_000_000_000_001)]
)
def test_times_may_be_numbers(first, second):
    late = {**ROWS[0], "start_time": second}
    ((trace, _),) = read([late, {**ROWS[1], "start_time": first}])
    assert trace.calls[0].result.content == "done"
    assert trace.calls[0].started_at.startswith("2026-04-24T")


def test_a_history_that_lost_its_beginning_is_incomplete_though_the_indexes_are_counted_anew():  # T6
    lost = row(1, "LLM", {"llm.input_messages": [CALL, ASK], "llm.output_messages": [CALL]})
    ((trace, _),) = read([lost])
    assert (trace.completed, [finding.code for finding in trace.findings][-1]) == (False, "TRACE_TRUNCATED")
    whole = row(1, "LLM", {"llm.input_messages": [CALL, ASK], "llm.output_messages": [CALL], "input.value": "{}"})
    ((trace, _),) = read([whole])
    assert trace.completed is None


# ---- labels ----


def annotation(span, **more):
    return {"id": "U3A6MQ==", "span_id": f"{span:016x}", "name": "tidy", "annotator_kind": "HUMAN", **more}


def test_annotations_are_labels_of_the_trace():
    said = annotation(
        2,
        result={"label": "good", "score": 0.5, "explanation": "Clean cuts."},
        user_id="u-7",
        updated_at="2026-05-02T08:00:00Z",
    )
    judged = annotation(
        1, annotator_kind="LLM", result={"score": 1}, identifier="judge-2", created_at="2026-05-03T08:00:00Z"
    )
    counted = annotation(1, annotator_kind="CODE", result=None)
    assert registry.detect(said, PLACE) is openinference.DIALECT
    ((trace, _),) = read([*ROWS, said, judged, counted])
    assert trace.labels == (
        Label(name="tidy", value=1, by="judge-2", kind="judge", at="2026-05-03T08:00:00Z", target=f"{1:016x}"),
        Label(name="tidy", kind="code", target=f"{1:016x}"),
        Label(
            name="tidy", value={"label": "good", "score": 0.5}, comment="Clean cuts.", by="u-7", kind="person",
            at="2026-05-02T08:00:00Z", target=f"{2:016x}",
        ),
    )  # fmt: skip


def test_an_annotation_of_another_span_is_told():
    (_, (skip, place)) = read([*ROWS, annotation(9)])
    assert isinstance(skip, Skip)
    assert (skip.code, place) == ("TRACE_INCOMPLETE", PLACE)


def test_annotations_may_be_attributes():
    attributes = {
        **FLAT[1]["attributes"],
        "annotations.0.annotation.name": "tidy",
        "annotations.0.annotation.label": "good",
        "annotations.0.annotation.annotator_kind": "HUMAN",
        "trace.evaluations.0.evaluation.name": "fast",
        "trace.evaluations.0.evaluation.score": 2,
        "session.annotations.0.annotation.score": 1,
    }
    ((trace, _),) = read([rest(1, "LLM", attributes)])
    assert isinstance(trace, Trace)
    assert trace.labels == (
        Label(name="tidy", value="good", kind="person", target=f"{1:016x}"),
        Label(name="fast", value=2),
    )

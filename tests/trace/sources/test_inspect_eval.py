"""Packed Inspect logs: what is one, the extra that reads them, refusals, and with inspect-ai installed the real files."""

import contextlib
import json
import random
import sys
import zipfile
from importlib.util import find_spec

import pytest

from rightcall.errors import MissingExtraError, TraceError
from rightcall.trace.sources import containers, inspect_eval, inspect_log, reading
from rightcall.trace.sources.dialect import ReadingReport, Skip

needs_library = pytest.mark.skipif(
    find_spec("inspect_ai") is None, reason="needs inspect-ai (80 packages): pip install 'rightcall[inspect]'"
)
warned = pytest.mark.filterwarnings("ignore")  # what other people's packages warn of when they are imported


def packed_log(path, *samples, **changes):
    """Write a log of our own as Inspect packs it."""
    spec = {
        "created": "2026-01-01T00:00:00+00:00", "task": "finding", "dataset": {"sample_ids": [s["id"] for s in samples]},
        "model": "vendor/model", "config": {}, "run_id": "run-1", "task_id": "task-1",
    }  # fmt: skip
    header = {"version": 2, "status": "success", "eval": spec, "plan": {}, "stats": {}, **changes}
    rows = [{"id": s["id"], "epoch": s["epoch"], "input": "x", "target": "y"} for s in samples]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("_journal/start.json", json.dumps({"version": 2, "eval": spec, "plan": {}}))
        for s in samples:
            made.writestr(f"samples/{s['id']}_epoch_{s['epoch']}.json", json.dumps(s))
        made.writestr("summaries.json", json.dumps(rows))
        made.writestr("header.json", json.dumps(header))
    return path


def sample(id_=1, **changes):
    call = {"id": "c1", "function": "lookup", "arguments": {"key": 2**70, "none": None}, "type": "function"}
    said = [
        {"role": "user", "content": "attachment://u"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {
            "role": "tool",
            "content": "",
            "tool_call_id": "c1",
            "function": "lookup",
            "error": {"type": "timeout", "message": "slow"},
        },
    ]
    whole = {"id": id_, "epoch": 1, "input": "Find.", "target": "x", "messages": said, "attachments": {"u": "Find."}}
    return {**whole, **changes}


def test_a_packed_log_is_known_by_its_first_bytes_and_its_name():
    assert inspect_eval.opens(b"PK\x03\x04rest", "log.eval")
    assert not inspect_eval.opens(b"PK\x03\x04rest", "log.zip")
    assert not inspect_eval.opens(b'{"version": 2}', "log.eval")
    assert containers.container_of(b"PK\x03\x04", "x.eval") is inspect_eval.CONTAINER


def test_without_the_extra_one_line_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(inspect_eval, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError) as caught:
        reading.open_traces(packed_log(tmp_path / "a.eval", sample()))
    text = str(caught.value)
    assert "pip install 'rightcall[inspect]'" in text
    assert caught.value.code == "CONFIG_MISSING_EXTRA"
    assert "\n" not in text


@pytest.mark.parametrize("entry", ["../x", "/x"])
def test_an_archive_that_is_not_safe_is_refused_before_the_library_sees_it(tmp_path, monkeypatch, entry):
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    path = packed_log(tmp_path / "a.eval", sample())
    with zipfile.ZipFile(path, "a") as made:
        made.writestr(entry, "x")
    with pytest.raises(TraceError) as caught:
        reading.open_traces(path)
    assert caught.value.code == "TRACE_UNSAFE_ARCHIVE"


def test_a_truncated_log_is_refused(tmp_path):
    path = packed_log(tmp_path / "a.eval", sample())
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(TraceError) as caught:
        reading.open_traces(path)
    assert caught.value.code == "TRACE_TRUNCATED"


# ---- with the library ----


@needs_library
@warned
def test_every_sample_is_a_trace(tmp_path):
    path = packed_log(tmp_path / "a.eval", sample(), sample("b"))
    first, second = reading.load_traces(path)
    assert (first.case_id, second.case_id, first.request) == ("1", "b", "Find.")
    (call,) = first.calls
    assert (call.arguments, call.failed, call.result.content) == ({"key": 2**70, "none": None}, True, "slow")


@needs_library
@warned
def test_a_sample_that_the_library_refuses_is_skipped_with_its_reason(tmp_path):
    bad = sample("bad", messages=[{"role": "nobody", "content": 7}])
    report = ReadingReport()
    found = list(reading.read(reading.open_traces(packed_log(tmp_path / "a.eval", sample(), bad)), report))
    assert (len(found), report.skipped) == (1, 1)
    assert "inspect-ai cannot read" in report.examples["TRACE_INCOMPLETE"][0]


@needs_library
@warned
@pytest.mark.parametrize("status", ["cancelled", "error", "started"])
def test_a_log_without_samples_is_skipped_with_its_reason(tmp_path, status):
    path = packed_log(tmp_path / "a.eval", status=status)
    ((item, _),) = reading.items(reading.open_traces(path))
    assert isinstance(item, Skip)
    assert f"status `{status}`" in item.message


@needs_library
@warned
def test_samples_that_no_list_names_are_counted(tmp_path):
    path = packed_log(tmp_path / "a.eval", sample())
    with zipfile.ZipFile(path, "a") as made:
        made.writestr("samples/lost_epoch_1.json", "{}")
    report = ReadingReport()
    list(reading.read(reading.open_traces(path), report))
    assert (report.read, report.skipped) == (1, 1)


@needs_library
@warned
def test_a_score_that_is_no_number_is_null(tmp_path):
    score = {"match": {"value": float("nan")}}
    (trace,) = reading.load_traces(packed_log(tmp_path / "a.eval", sample(scores=score)))
    assert trace.labels[0].value is None


@needs_library
@warned
@pytest.mark.slow
def test_mutated_bytes_give_traces_or_typed_errors(tmp_path):
    path = packed_log(tmp_path / "a.eval", sample())
    data, chance = path.read_bytes(), random.Random(5)
    for _ in range(100):
        broken = bytearray(data)
        broken[chance.randrange(4, len(broken))] = chance.randrange(256)
        path.write_bytes(broken)
        with contextlib.suppress(TraceError):
            reading.load_traces(path)


COUNTS = {
    "2024-11-05T13-32-37-05-00_input-task_hxs4q9azL3ySGkjJirypKZ.eval": (1, 0),
    "2025-02-11T15-17-00-05-00_popularity_dPiJifoWeEQBrfWsAopzWr.eval": (10, 0),
    "2025-02-11T15-18-04-05-00_popularity_mj7khqpMM4GBCfVQozKgzB.eval": (10, 0),
    "log_formats.eval": (1, 0),
    "log_message_deduplication.eval": (1, 5),
    "log_read_sample.eval": (1, 0),
    "log_streaming.eval": (4, 0),
    "mmlu-no-summary-choices.eval": (1, 0),
    "mmlu-summary-choices.eval": (1, 0),
}
"""Traces and calls of each packed log; with the twelve that are one document each, these are the 21 logs."""


@needs_library
@warned
def test_the_real_packed_logs_are_counted_right(shared_data):
    folder = shared_data / "data/inspect_ai"
    assert sorted(path.name for path in folder.glob("*.eval")) == sorted(COUNTS)
    for name, wanted in COUNTS.items():
        opened, report = reading.open_traces(folder / name), ReadingReport()
        list(reading.read(opened, report))
        assert opened.dialect is inspect_log.DIALECT
        assert (report.read, report.calls.total()) == wanted, name
        assert (report.skipped, report.results, dict(report.causes)) == (0, wanted[1], {})


@needs_library
@warned
def test_T12_histories_that_refer_to_a_pool_of_messages_are_counted_once(shared_data):  # noqa: N802
    (trace,) = reading.load_traces(shared_data / "data/inspect_ai/log_message_deduplication.eval")
    assert [(call.tool, call.turn) for call in trace.calls] == [("bash", turn) for turn in range(1, 6)]
    assert all(call.started_at and call.result.at for call in trace.calls)


@needs_library
@warned
def test_a_log_is_read_alike_in_both_packings(shared_data):
    folder = shared_data / "data/inspect_ai"
    (packed,) = reading.load_traces(folder / "log_formats.eval")
    (plain,) = reading.load_traces(folder / "log_formats.json")
    assert [event.text for event in packed.events] == [event.text for event in plain.events]
    assert (packed.id, packed.labels, packed.completed) == (plain.id, plain.labels, plain.completed)


def test_real_archives_are_sound(shared_data):
    for path in sorted((shared_data / "data/inspect_ai").glob("*.eval")):
        assert "header.json" in inspect_eval.check_zip(path)

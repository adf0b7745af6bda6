"""`golden --record`: a case from a trace that a person accepts."""

from __future__ import annotations

import json

import pytest

from rightcall.case.load import load_cases
from rightcall.errors import CaseError, ConfigError, NoDataError, TraceError
from rightcall.run.golden.recording import record_case

CALLS = [{"tool": "find", "arguments": {"q": "x"}, "result": {"id": 7}}, {"tool": "open", "arguments": {"id": 7}}]


def recorded(trace_id: str = "t", *out: str, traces: str = "traces.jsonl", **flags: str) -> str:
    return record_case(trace_id, None, {}, {"traces": traces, **flags}, list(out))


def test_the_case_is_the_text_that_is_returned(write, tmp_path):
    write("traces.jsonl", {"id": "t", "case_id": "c", "request": "find x", "calls": CALLS})
    write("c.toml", recorded())
    case = load_cases(tmp_path / "c.toml")[0]
    assert (case.id, case.request) == ("c", "find x")
    assert [call.tool for call in case.expect.calls] == ["find", "open"]


@pytest.mark.parametrize("name", ["c.toml", "c.json", "c.jsonl"])
def test_files_hold_the_case_and_nothing_is_returned(write, tmp_path, name):
    write("traces.jsonl", {"id": "t", "case_id": "c", "calls": CALLS})
    assert recorded("t", name) == ""
    assert load_cases(tmp_path / name)[0].id == "c"


def test_a_trace_is_found_in_any_of_several_files_and_dialects(write, tmp_path):
    write("a.jsonl", {"id": "a", "calls": []})
    chat = [{"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "find", "arguments": "{}"}}]}]
    write("b.jsonl", {"id": "b", "messages": chat})
    write("c.toml", recorded("b", traces="[ab].jsonl"))
    assert [call.tool for call in load_cases(tmp_path / "c.toml")[0].expect.calls] == ["find"]


@pytest.mark.parametrize(
    ("ids", "said"), [(["a"], "no trace has the id `t`"), (["t", "t"], "2 traces have the id `t`")]
)
def test_the_id_must_be_that_of_one_trace(write, ids, said):
    write("traces.jsonl", *({"id": name, "calls": []} for name in ids))
    with pytest.raises(ConfigError, match=said):
        recorded()


def test_a_call_without_arguments_cannot_be_recorded(write):
    write("traces.jsonl", {"id": "t", "calls": [{"tool": "a", "arguments": "{"}]})
    with pytest.raises(CaseError, match="not_object"):
        recorded()


def test_a_recorded_golden_never_replaces_a_file(write, tmp_path):
    write("traces.jsonl", {"id": "t", "calls": []})
    write("c.toml", "mine")
    with pytest.raises(ConfigError, match="exists already"):
        recorded("t", "c.toml")
    assert (tmp_path / "c.toml").read_text() == "mine\n"


@pytest.mark.parametrize("second", ["c.yaml", "there.toml"])
def test_nothing_is_written_if_one_of_the_files_cannot_be(write, tmp_path, second):
    write("traces.jsonl", {"id": "t", "calls": []})
    write("there.toml", "mine")
    with pytest.raises(ConfigError):
        recorded("t", "first.toml", second)
    assert not (tmp_path / "first.toml").exists()


def test_a_folder_that_is_not_there(write):
    write("traces.jsonl", {"id": "t", "calls": []})
    with pytest.raises(ConfigError, match=r"nowhere/c\.toml: cannot write: No such file or directory"):
        recorded("t", "nowhere/c.toml")


def test_secrets_are_redacted(write):
    write("rightcall.toml", '[redact]\npatterns = ["PRC-[0-9]+"]')
    secrets = {"card": "4111 1111 1111 1111", "password": "hunter2-very", "parcel": "PRC-4711"}
    write("traces.jsonl", {
        "id": "t", "case_id": "c", "request": "mail amy@example.com", "context": {"token": "hunter2-token"},
        "calls": [{"tool": "pay", "arguments": secrets, "result": "sk-test1234567890abcdefABCDEF"}],
    })  # fmt: skip
    said = recorded()
    for secret in ("4111", "hunter2", "PRC-4711", "amy@", "sk-test"):
        assert secret not in said
    assert '"⟦card:' in said


def test_a_pattern_that_hits_the_words_of_the_format_is_told(write):
    write("rightcall.toml", '[redact]\npatterns = ["call"]')
    write("traces.jsonl", {"id": "t", "calls": [{"tool": "a", "arguments": {}}]})
    with pytest.raises(ConfigError, match=r"redact\.patterns: what is redacted can no longer be read"):
        recorded()


@pytest.mark.parametrize(
    ("content", "kind"), [([], NoDataError), (["{"], TraceError), ([json.dumps({"id": "t"})], TraceError)]
)
def test_a_file_that_cannot_be_read(write, content, kind):
    write("traces.jsonl", *content)
    with pytest.raises(kind):
        recorded()

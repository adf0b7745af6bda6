"""`rightcall import` and `inspect`: from somebody's export to traces of ours."""

from __future__ import annotations

import json

import pytest

CARD = "4111 1111 1111 1111"
CHAT = {
    "id": "chat-1",
    "messages": [
        {"role": "user", "content": f"Pay with {CARD}"},
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "pay_bill", "arguments": json.dumps({"card": CARD})}},
        ]},
        {"role": "tool", "tool_call_id": "a", "content": "paid"},
        {"role": "assistant", "content": "It is paid."},
    ],
}  # fmt: skip


@pytest.fixture
def chat(write):
    write("chat.jsonl", CHAT, {"id": "chat-2", "messages": [{"role": "user", "content": "hello"}]})


def test_import_writes_native_lines_and_says_what_was_read(rightcall, chat, tmp_path):
    said = rightcall("import", "chat.jsonl", "-o", "traces.jsonl")
    assert said.code == 0
    assert said.out == ""
    assert "chat.jsonl: openai_chat · 2 traces, 0 skipped, 0 incomplete · 1 calls (1 with results, 0 failed" in said.err
    first, second = (json.loads(line) for line in (tmp_path / "traces.jsonl").read_text().splitlines())
    assert (first["id"], second["id"]) == ("chat-1", "chat-2")
    assert [event["type"] for event in first["events"]] == ["message", "message", "call", "message"]


def test_import_redacts_and_golden_compares_with_a_case_that_holds_the_secret(rightcall, chat, write, tmp_path):
    rightcall("import", "chat.jsonl", "-o", "traces.jsonl")
    written = (tmp_path / "traces.jsonl").read_text()
    assert CARD not in written
    assert "⟦card:" in written
    write("cases.jsonl", {"id": "c", "expect": {"calls": [{"tool": "pay_bill", "arguments": {"card": CARD}}]}})
    assert rightcall("golden", "traces.jsonl", "--cases", "cases.jsonl", "--trace", "chat-1").code == 0
    lines = written.splitlines()
    write("one.jsonl", lines[0])
    assert rightcall("golden", "one.jsonl", "--cases", "cases.jsonl").code == 0
    write(
        "other.jsonl",
        {"id": "c", "expect": {"calls": [{"tool": "pay_bill", "arguments": {"card": "5500 0000 0000 0004"}}]}},
    )
    assert rightcall("golden", "one.jsonl", "--cases", "other.jsonl").code == 1


def test_import_makes_a_key_so_that_equal_secrets_stay_equal(rightcall, chat, tmp_path, monkeypatch):
    monkeypatch.delenv("RIGHTCALL_REDACTION_KEY")
    said = rightcall("import", "chat.jsonl", "-o", "one.jsonl")
    key = tmp_path / ".rightcall" / "redaction.key"
    assert "redaction key written" in said.err
    assert key.stat().st_mode & 0o077 == 0
    again = rightcall("import", "chat.jsonl", "-o", "two.jsonl")
    assert "redaction key" not in again.err
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()


def test_import_keeps_secrets_on_request(rightcall, chat, tmp_path):
    rightcall("import", "chat.jsonl", "-o", "traces.jsonl", "--keep-secrets")
    assert CARD in (tmp_path / "traces.jsonl").read_text()


def test_import_to_stdout_prints_only_traces(rightcall, chat):
    said = rightcall("import", "chat.jsonl")
    assert [json.loads(line)["id"] for line in said.out.splitlines()] == ["chat-1", "chat-2"]


def test_import_adds_a_catalog_where_there_is_none(rightcall, chat, write, tmp_path):
    write("tools.json", [{"name": "pay_bill", "description": "Pays."}])
    rightcall("import", "chat.jsonl", "--tools", "tools.json", "-o", "traces.jsonl")
    assert '"tools":[{"name":"pay_bill","description":"Pays."}]' in (tmp_path / "traces.jsonl").read_text()


def test_import_counts_what_it_skips_and_strict_stops(rightcall, write, tmp_path):
    write("chat.jsonl", CHAT, {"request": {"messages": []}, "response": {"error": "no"}, "status": 400})
    said = rightcall("import", "chat.jsonl", "-o", "a.jsonl")
    assert said.code == 0
    assert "1 records skipped" in said.err
    strict = rightcall("import", "chat.jsonl", "-o", "b.jsonl", "--strict")
    assert strict.code == 2
    assert not (tmp_path / "b.jsonl").exists()


@pytest.mark.parametrize(("name", "code"), [("nowhere.jsonl", 2), ("empty.jsonl", 5), ("odd.jsonl", 2)])
def test_import_of_what_cannot_be_read(rightcall, write, name, code):
    write("empty.jsonl")
    write("odd.jsonl", {"shoe": "size"})
    said = rightcall("import", name, "-o", "out.jsonl")
    assert said.code == code
    assert "Traceback" not in said.err


def test_inspect_shows_tools_and_what_cannot_be_judged(rightcall, chat):
    said = rightcall("inspect", "chat.jsonl")
    assert said.code == 0
    for text in (
        "openai_chat",
        "2 traces, 1 without a call",
        "pay_bill",
        "2 traces have no catalog",
        "2 traces name no case",
    ):
        assert text in said.out.replace("\n", " ").replace("  ", " ")
    assert CARD not in said.out


def test_inspect_json(rightcall, chat):
    facts = rightcall("inspect", "chat.jsonl", "--json").json
    assert facts["tools"]["pay_bill"] == {"calls": 1, "errors": 0, "unreadable": 0}
    assert facts["files"]["chat.jsonl"]["dialect"] == "openai_chat"
    assert facts["segments"] == {"stated": 1}

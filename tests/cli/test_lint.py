"""`rightcall lint` as a user meets it."""

from __future__ import annotations

import json

import pytest

CASE = {"id": "c", "request": "feed tank 2", "expect": {"calls": [{"tool": "feed", "arguments": {"tank": 2}}]}}
TOOLS = json.dumps([{"name": "feed", "description": "Feed the fish of a tank.", "parameters": {
    "type": "object", "properties": {"tank": {"type": "integer", "description": "Number of the tank."}},
}}])  # fmt: skip
GO = ("lint", "cases.jsonl", "--tools", "tools.json")


@pytest.fixture
def suite(write):
    write("cases.jsonl", CASE)
    write("tools.json", TOOLS)


def test_nothing_wrong_is_0_and_no_line_on_stdout(rightcall, suite):
    said = rightcall(*GO)
    assert (said.code, said.out, said.err) == (0, "", "lint · 1 case · 0 errors, 0 warnings · exit 0\n")


def test_an_error_is_1_and_one_line(rightcall, write, suite):
    write("cases.jsonl", {**CASE, "expect": {"calls": [{"tool": "fed", "arguments": {}}]}})
    said = rightcall(*GO)
    assert said.code == 1
    assert said.out.startswith("cases.jsonl:1 at $.expect.calls[0]: error: ")
    assert said.out.endswith(
        "the golden calls `fed`, which the catalog does not have; did you mean `feed`? [unknown_tool]\n"
    )
    assert said.out.count("\n") == 1
    assert said.err == "lint · 1 case · 1 error, 0 warnings · exit 1\n"


def test_a_warning_is_1_only_if_asked_for(rightcall, write, suite):
    write("tools.json", json.dumps([{"name": "feed"}]))
    assert rightcall(*GO).code == 0
    said = rightcall(*GO, "--strict")
    assert said.code == 1
    assert "warning: tool `feed` has no description [thin_tool]" in said.out
    assert said.err.endswith("1 warning · exit 1\n")


def test_json_is_one_object_and_nothing_else(rightcall, write, suite):
    write("cases.jsonl", {**CASE, "expect": {"calls": [{"tool": "fed", "arguments": {}}]}})
    said = rightcall(*GO, "--json")
    assert said.code == 1
    assert set(said.json) == {"cases", "findings"}
    assert said.json["cases"] == 1
    finding = said.json["findings"][0]
    assert set(finding) == {"severity", "code", "case_id", "file", "line", "path", "message", "hint"}
    assert (finding["severity"], finding["code"], finding["case_id"], finding["line"]) == (
        "error",
        "unknown_tool",
        "c",
        1,
    )
    assert rightcall(*GO, "--json", "--strict").out == said.out


def test_json_of_a_suite_without_a_fault(rightcall, suite):
    assert rightcall(*GO, "--json").json == {"cases": 1, "findings": []}


def test_the_settings_file_alone_is_enough(rightcall, write, suite):
    write("rightcall.toml", 'cases = "cases.jsonl"\ntools = "tools.json"\n[policy]\nforbidden = ["feed"]')
    said = rightcall("lint")
    assert said.code == 1
    assert "the golden calls `feed`, which the policy forbids [policy_contradiction]" in said.out
    write("none.toml", 'forbidden = ["other"]')
    assert "policy_contradiction" not in rightcall("lint", "--policy", "none.toml").out


def test_the_policy_and_the_cases_of_flags_win(rightcall, write, suite):
    write("rightcall.toml", 'cases = "nowhere.jsonl"')
    assert rightcall(*GO).code == 0


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (("lint",), 5, "no case file"),
        (("lint", "nowhere.jsonl"), 2, "nowhere.jsonl: no such file"),
        (("lint", "*.nothing"), 2, "no file matches"),
        (("lint", "cases.jsonl", "--tools", "nowhere.json"), 2, "nowhere.json"),
        (("lint", "cases.jsonl", "--policy", "nowhere.toml"), 2, "nowhere.toml: no such file"),
        (("lint", "cases.jsonl", "-c", "nowhere.toml"), 2, "nowhere.toml: no such file"),
        (("lint", "cases.jsonl", "--frobnicate"), 2, "frobnicate"),
        (("lint", "broken.jsonl"), 2, "broken.jsonl:1:2: not valid JSON"),
        (("lint", "empty.jsonl"), 5, "the file is empty"),
    ],
)
def test_what_cannot_be_read(rightcall, write, suite, arguments, code, text):
    write("broken.jsonl", "{")
    write("empty.jsonl")
    said = rightcall(*arguments)
    assert said.code == code
    assert text in said.err
    assert said.out == ""
    assert len(said.err.splitlines()) == 2


def test_what_it_finds_golden_would_find(rightcall, write, suite):
    """Two files with one id stop `golden`, so they are an error here."""
    write("more.jsonl", CASE)
    write("traces.jsonl", {"id": "t", "case_id": "c", "calls": []})
    assert rightcall("golden", "traces.jsonl", "--cases", "*s.jsonl", "--cases", "more.jsonl").code == 2
    said = rightcall("lint", "cases.jsonl", "more.jsonl", "--tools", "tools.json")
    assert said.code == 1
    assert "this id stands twice" in said.out


def test_lines_are_single_without_tricks_and_secrets(rightcall, write, suite):
    name = "a\x1b[31m\u202e\nb amy@example.com"
    calls = [{"tool": name, "arguments": {"password": "hunter2-very", "tank": "4111 1111 1111 1111"}, "label": "x"}]
    write(
        "cases.jsonl",
        {"id": name, "request": "r", "expect": {"calls": [*calls, {"tool": "feed", "arguments": {"tank": "hunter2"}}]}},
    )
    for options in ((), ("--json",)):
        said = rightcall(*GO, *options)
        assert said.code == 1
        for text in ("\x1b", "amy@", "hunter2-very", "4111"):
            assert text not in said.out + said.err
    lines = rightcall(*GO).out.splitlines()
    assert all(" error: " in line or " warning: " in line for line in lines)
    assert "\u202e" not in "".join(lines)

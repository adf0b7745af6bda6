"""`lint` over files, read as `golden` would read them."""

from __future__ import annotations

import json

import pytest

from rightcall.case.checks import Lint
from rightcall.errors import CaseError, ConfigError, NoDataError
from rightcall.run.inputs.linting import lint_suite

CASE = {"id": "c", "request": "feed tank 2", "expect": {"calls": [{"tool": "feed", "arguments": {"tank": 2}}]}}


def linted(*cases: str, **flags: str) -> tuple[int, list[Lint]]:
    return lint_suite(None, {}, {"cases": list(cases), **flags}, None)


def test_a_suite_without_a_fault(write):
    write("cases.jsonl", CASE)
    assert linted("cases.jsonl") == (1, [])


def test_settings_policy_and_catalog_are_those_of_golden(write):
    write("rightcall.toml", 'cases = "cases.jsonl"\ntools = "tools.json"\n[policy]\nforbidden = ["feed", "fed"]')
    write("cases.jsonl", CASE)
    write("tools.json", json.dumps([{"name": "feed", "description": "Feed the fish of a tank."}]))
    number, found = lint_suite(None, {}, {}, None)
    assert number == 1
    assert {(item.severity, item.code) for item in found} == {
        ("error", "policy_contradiction"), ("warning", "unknown_tool"),
    }  # fmt: skip
    other = write("policy.toml", 'forbidden = ["feed"]')
    assert [item.code for item in lint_suite(None, {}, {}, other)[1]] == ["policy_contradiction"]


def test_paths_of_the_settings_belong_to_their_folder(write):
    write("own/rightcall.toml", 'cases = "cases.jsonl"\ntools = "tools.json"')
    write("own/cases.jsonl", CASE)
    settings = write("own/tools.json", json.dumps([{"name": "other", "description": "x"}])).parent / "rightcall.toml"
    assert [item.code for item in lint_suite(settings, {}, {}, None)[1]] == ["unknown_tool"]


def test_an_id_that_stands_twice_in_one_file_is_a_finding(write):
    write("cases.jsonl", CASE, {"id": "c", "expect": {"calls": []}})
    _, found = linted("cases.jsonl")
    assert [(item.severity, item.code, item.place.line) for item in found] == [("error", "CASE_DUPLICATE_ID", 2)]


def test_an_id_that_stands_in_two_files_is_a_finding_as_it_stops_golden(write):
    write("a.jsonl", CASE)
    write("b.jsonl", CASE)
    number, found = linted("a.jsonl", "b.jsonl")
    assert number == 2
    assert ("error", "CASE_DUPLICATE_ID") in {(item.severity, item.code) for item in found}


def test_a_record_of_a_benchmark_without_a_readable_case_is_a_finding(write):
    good = {"id": "simple_0", "ground_truth": [{"f": {"x": [1]}}]}
    write("possible_answer.json", json.dumps(good), json.dumps({"id": "simple_1", "ground_truth": [{"f": {"x": []}}]}))
    number, found = linted("possible_answer.json")
    assert number == 1
    assert [(item.severity, item.place.line) for item in found if item.message.startswith("no case: ")] == [
        ("warning", 2)
    ]


def test_secrets_are_hidden_in_what_is_found(write):
    key = "PRC-4711"
    write("rightcall.toml", '[redact]\npatterns = ["PRC-[0-9]+"]')
    golden = {"tool": f"mail {key}", "arguments": {"to": "amy@example.com"}, "after": [key]}
    write("cases.jsonl", {"id": "amy@example.com", "expect": {"calls": [golden]}})
    write("tools.json", json.dumps([{"name": "mail", "description": "d", "parameters": {"type": "object"}}]))
    _, found = linted("cases.jsonl", tools="tools.json")
    said = "".join(map(str, found))
    assert found
    assert key not in said
    assert "amy@" not in said


@pytest.mark.parametrize(
    ("content", "kind", "said"),
    [
        (["{"], CaseError, "cases.jsonl:1:2: not valid JSON"),
        (['{"id": "c", "expct": 1}'], CaseError, "did you mean `expect`?"),
        ([], NoDataError, "the file is empty"),
    ],
)
def test_a_file_that_cannot_be_read_is_an_error(write, content, kind, said):
    write("cases.jsonl", *content)
    with pytest.raises(kind) as error:
        linted("cases.jsonl")
    assert said in str(error.value)


def test_a_faulty_setting_or_name(write):
    write("cases.jsonl", CASE)
    with pytest.raises(ConfigError, match="no file matches"):
        linted("*.toml")
    with pytest.raises(NoDataError, match="no case file"):
        lint_suite(None, {}, {}, None)

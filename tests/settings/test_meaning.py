"""Names that name nothing, and patterns and rules that cannot be used."""

from __future__ import annotations

import msgspec
import pytest

from rightcall.settings.meaning import faults_of_meaning
from rightcall.settings.model import Settings


def faults(**table: object) -> list[tuple[object, ...]]:
    return [(fault.path, fault.message, fault.hint) for fault in faults_of_meaning(msgspec.convert(table, Settings))]


@pytest.mark.parametrize(
    "name",
    [
        "auto",
        "none",
        "fast",
        "fast, slow",
        "openai:any",
        "recorded:a, b.jsonl",
        "command:say 'a, b'",
        "fast,ollama:m",
    ],
)
def test_a_judge_that_can_be_meant_is_no_fault(name):
    judges = {"fast": {"model": "m"}, "slow": {"model": "m"}}
    assert faults(judges=judges, rubric={"judge": name}) == []


@pytest.mark.parametrize("table", ["selection", "rubric", "preference", "interpretation"])
def test_an_unknown_judge_of_any_table_is_told_with_the_nearest_name(table):
    found = faults(judges={"fast": {"model": "m"}}, **{table: {"judge": "fsat"}})
    assert found == [((table, "judge"), "there is no judge `fsat`", "did you mean `fast`?")]


@pytest.mark.parametrize(("table", "key"), [("preference", "second_judge"), ("interpretation", "strong_judge")])
def test_the_judges_beside_the_first_are_checked_too(table, key):
    assert [path for path, _, _ in faults(**{table: {key: "fsat"}})] == [(table, key)]


def test_of_a_panel_the_one_that_is_unknown_is_told():
    found = faults(judges={"fast": {"model": "m"}}, rubric={"judge": "fast,nobody"})
    assert found == [
        (("rubric", "judge"), "there is no judge `nobody`", "configured: fast; or write auto, none or provider:model")
    ]


def test_gates_are_checked_with_their_judges():
    found = faults(judges={"fast": {"model": "m"}}, gates={"judge": {"detection": {"min": 0.8, "judge": "fsat"}}})
    assert found == [(("gates", "judge", "detection", "judge"), "there is no judge `fsat`", "did you mean `fast`?")]
    (path, message, hint), *others = faults(gates={"golden.pas_rate": {"min": 0.9}})
    assert (path, others) == (("gates", "golden.pas_rate"), [])
    assert "pas_rate" in message
    assert hint == "did you mean `golden.pass_rate`?"


def test_a_rule_that_cannot_be_compiled_has_its_place():
    policy = {
        "when": [{"tool": "a", "arguments": {"type": "object"}}, {"tool": "b", "arguments": {"type": "objekt"}}],
        "confirm": [{"tool": "a", "yes": ["ja", "(?=x)"]}],
    }
    assert [path for path, _, _ in faults(policy=policy)] == [
        ("policy", "when", 1, "arguments"), ("policy", "confirm", 0, "yes", 1),
    ]  # fmt: skip


def test_one_fault_a_place():
    assert len(faults(gates={"golden.pass_rate": 0.9})) == 1

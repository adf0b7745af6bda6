"""Where cases are written: file and line, as long as the file is what it was."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

from rightcall.errors import Place
from rightcall.run.golden.places import places_of


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)


def file(name: str, text: str) -> dict[str, str]:
    """A file, as a run's facts name it."""
    Path(name).write_text(text, "utf-8")
    return {"file": name, "sha256": sha256(text.encode()).hexdigest()}


def jsonl(*ids: str) -> str:
    """Cases, one a line."""
    return "".join(json.dumps({"id": one, "expect": {"calls": []}}) + "\n" for one in ids)


TOML = '[[case]]\nid = "a"\n[case.expect]\ncalls = []\n\n[[case]]\nid = "b"\n[case.expect]\ncalls = []\n'
YAML = "- id: a\n  expect: {calls: []}\n- id: b\n  expect: {calls: []}\n"


@pytest.mark.parametrize(
    ("name", "text", "line"), [("c.jsonl", jsonl("a", "b"), 2), ("c.toml", TOML, 7), ("c.yaml", YAML, 3)]
)
def test_a_case_is_found_on_its_line(name, text, line):
    places = places_of([{"cases": [file(name, text)]}])
    assert places.of("b") == Place(name, line)


def test_a_case_among_the_inputs_is_found_too_and_traces_are_passed_over():
    traces = json.dumps({"id": "b", "calls": []}) + "\n"
    places = places_of([{"inputs": [file("t.jsonl", traces), file("c.jsonl", jsonl("a", "b"))]}])
    assert places.of("b") == Place("c.jsonl", 2)


def test_a_step_is_found_on_its_line():
    steps = "".join(
        json.dumps({"id": one, "request": "x", "tools": [], "selected": None, "expected": None}) + "\n" for one in "ab"
    )
    assert places_of([{"inputs": [file("s.jsonl", steps)]}]).of("b") == Place("s.jsonl", 2)


def test_of_a_file_that_changed_only_the_name_is_known():
    known = file("c.jsonl", jsonl("a", "b"))
    Path("c.jsonl").write_text(jsonl("new", "a", "b"), "utf-8")
    assert places_of([{"cases": [known]}]).of("b") == Place("c.jsonl")


def test_of_several_files_of_which_one_changed_the_other_is_not_blamed():
    first, second = file("a.jsonl", jsonl("a")), file("b.jsonl", jsonl("b"))
    Path("a.jsonl").unlink()
    places = places_of([{"cases": [first, second]}])
    assert places.of("b") == Place("b.jsonl", 1)
    assert places.of("a") is None


def test_nothing_is_known_of_nothing():
    assert places_of([{}]).of("a") is None
    assert places_of([{"inputs": [{"file": "t.jsonl"}]}]).of("a") is None
    assert places_of([{"cases": [file("c.jsonl", jsonl("a"))]}]).of(None) is None


def test_nothing_is_read_before_it_is_asked_for(monkeypatch):
    known = file("c.jsonl", jsonl("a"))
    places = places_of([{"cases": [known]}])
    Path("c.jsonl").unlink()
    assert places.of("a") == Place("c.jsonl")
    assert monkeypatch

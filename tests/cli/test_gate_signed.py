"""A gate and sign-offs: the same answer from a run and from its file, and no green run that a person has since refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from desk_suite import copy_desk

RULES = """
traces = "calm.jsonl"
cases = "cases.toml"
tools = "tools.json"
graders = ["rubric"]
store = "s.db"
[judges.desk]
provider = "recorded"
file = "severe.jsonl"
[rubric]
judge = "desk"
[gates]
"rubric.overall_score" = { min = 1.5 }
"""


@pytest.fixture
def desk(rightcall, tmp_path, monkeypatch):
    """A suite whose judge calls three traces CRITICAL, none of which the policy vetoes; one run of it."""
    copy_desk(tmp_path)
    monkeypatch.chdir(tmp_path / "examples/card-desk")
    monkeypatch.setenv("RIGHTCALL_BRANCH", "main")
    lines = Path("traces.jsonl").read_text().splitlines(keepends=True)
    Path("calm.jsonl").write_text("".join(line for line in lines if json.loads(line)["id"] != "stolen"))
    Path("severe.jsonl").write_text(Path("answers.jsonl").read_text().replace("HIGH", "CRITICAL"))
    Path("rightcall.toml").write_text(RULES)
    assert rightcall("run", "-q", "-o", "open.json").code == 4


def items(rightcall):
    found = rightcall("review", "list", "--json").json["items"]
    return [one["id"] for one in found if "CRITICAL" in one["reasons"]]


def sign(rightcall, item, how, who):
    reason = "I have read the whole of this trace"
    assert rightcall("signoff", item, how, "--reason", reason, "--yes-i-read-it", "--as", who).code == 0


def column(rightcall):
    return " ".join(rightcall("runs").out.splitlines()[1].split())


def test_a_run_and_its_file_say_the_same_about_what_people_signed_until_it_was_written(rightcall, desk):
    first, *others = items(rightcall)
    for item in (first, *others):
        sign(rightcall, item, "--dismiss", "ruth")
    for how, code, name in (("--dismiss", 0, "good.json"), ("--confirm", 1, "bad.json")):
        sign(rightcall, first, how, "otto")
        assert rightcall("export", "report", "-o", name).code == 0
        of_run, of_file = (rightcall("gate", *which, "--json") for which in ((), (name,)))
        assert (of_run.code, of_file.code) == (code, code)
        assert of_run.json["decisions"][-1] == of_file.json["decisions"][-1]
    assert rightcall("gate", "open.json", "-q").code == 4  # when it was written, nobody had signed
    plain = json.loads(Path("good.json").read_text())
    del plain["run"]["criticals"], plain["digest"]
    Path("plain.json").write_text(json.dumps(plain))
    assert rightcall("gate", "plain.json", "-q").code == 4  # it does not say what people signed


def test_a_pass_does_not_outlive_a_sign_off(rightcall, desk):
    first, *others = items(rightcall)
    for item in (first, *others):
        sign(rightcall, item, "--dismiss", "ruth")
    assert "⧗ WAIT old" in column(rightcall)
    assert rightcall("gate", "-q").code == 0
    assert "✓ PASS desk" in column(rightcall)
    assert rightcall("export", "baseline", "-o", "good.json").code == 0
    sign(rightcall, first, "--confirm", "otto")
    assert "✓ PASS old" in column(rightcall)
    (row,) = rightcall("runs", "--json").json["runs"]
    assert (row["gate"]["answer"], row["gate"]["overtaken"]) == ("PASS", True)
    assert f"more was recorded since, such as a sign-off: rightcall gate {row['id']} asks again" in " ".join(
        rightcall("show", row["id"]).out.split()
    )
    assert rightcall("show", row["id"], "--json").json["gate_overtaken"] is True
    for named, code in (((), 5), ((row["id"],), 2)):
        said = rightcall("export", "baseline", *named, "-o", "later.json")
        assert (said.code, "was PASS, but more was recorded since" in said.err) == (code, True)
        assert not Path("later.json").exists()
    said = rightcall("export", "baseline", row["id"], "-o", "later.json", "--any-answer")
    assert said.err.splitlines()[1] == "  more was recorded about it after that answer"
    assert rightcall("gate", "-q").code == 1
    assert "✗ FAIL desk" in column(rightcall)

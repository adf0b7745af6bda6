"""`rightcall export baseline`: a green run as a file that another store and machine is held to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rightcall.run.finished.file import read_results


@pytest.fixture
def tanks(write, monkeypatch):
    """Write a suite, and say which branch it is run on."""
    write("cases.jsonl", *(
        {"id": f"tank-{n}", "expect": {"calls": [{"tool": "feed", "arguments": {"tank": n}}]}} for n in range(6)
    ))  # fmt: skip
    for name, last in (("traces.jsonl", 5), ("worse.jsonl", 9)):
        write(name, *(
            {"id": f"t-{n}", "case_id": f"tank-{n}",
             "calls": [{"tool": "feed", "arguments": {"tank": last if n == 5 else n}}]} for n in range(6)
        ))  # fmt: skip

    def suite(branch, least=0.2):
        monkeypatch.setenv("RIGHTCALL_BRANCH", branch)
        monkeypatch.setenv("RIGHTCALL_COMMIT", "8c1e4f2" + "0" * 33)
        write("rightcall.toml", f"""traces = "traces.jsonl"
cases = "cases.jsonl"
graders = ["golden"]
store = "main.db"
[gates]
"golden.pass_rate" = {{ min = {least} }}""")  # fmt: skip

    suite("main")
    return suite


def begun(said):
    return said.err.split("run ", 1)[1].split()[0]


def test_a_green_run_is_what_a_run_writes_and_what_another_store_is_held_to(rightcall, tanks, monkeypatch):
    run_id = begun(rightcall("run", "-q", "-o", "run.json"))
    said = rightcall("export", "baseline", "-o", "baseline.json")
    assert (said.code, said.out) == (0, "")
    assert said.err == f"run {run_id} · main@8c1e4f2 · gate PASS → baseline.json\n"
    ours, theirs = (json.loads(Path(name).read_text()) for name in ("run.json", "baseline.json"))
    assert ours["summary"].pop("conclusion")["answer"] == "PASS"
    assert {**ours, "digest": ""} == {**theirs, "digest": ""}
    tanks("fix")
    monkeypatch.setenv("RIGHTCALL_REDACTION_KEY", "the key of another machine")
    found = rightcall("run", "worse.jsonl", "--store", "other.db", "--baseline", "baseline.json", "--json").json
    assert found["summary"]["gate"]["diff"]["graders"][0]["lost"] == 1
    (used,) = found["summary"]["gate"]["baselines"]
    assert (used["run"], used["branch"], used["digest"]) == (run_id, "main", read_results(Path("baseline.json")).digest)
    assert found["summary"]["gate"]["notes"] == []


def test_an_edited_baseline_is_refused(rightcall, tanks):
    rightcall("run", "worse.jsonl", "-q")
    rightcall("export", "baseline", "-o", "baseline.json")
    file = Path("baseline.json")
    file.write_text(file.read_text().replace('"verdict":"FAIL"', '"verdict":"PASS"'))
    said = rightcall("gate", "--baseline", "baseline.json")
    assert (said.code, said.out) == (2, "")
    assert "baseline.json: was changed after it was written" in said.err


def test_the_newest_green_run_is_taken_of_the_branch_that_is_named(rightcall, tanks):
    first = begun(rightcall("run", "-q"))
    tanks("fix")
    second = begun(rightcall("run", "-q"))
    tanks("main", 0.99)
    rightcall("run", "worse.jsonl", "-q")
    for given, taken in (((), second), (("--branch", "main"), first), (("--branch", "fix"), second), ((first,), first)):
        found = rightcall("export", "baseline", *given, "-o", "b.json", "--json").json
        assert (found["run"], found["gate"]) == (taken, "PASS")


def test_a_run_that_is_not_green_is_refused_unless_any_answer_will_do(rightcall, tanks):
    tanks("main", 0.99)
    red = begun(rightcall("run", "worse.jsonl", "-q"))
    plain = begun(rightcall("golden", "-q"))
    for run_id, why in ((red, "is FAIL"), (plain, "was never gated")):
        said = rightcall("export", "baseline", run_id, "-o", "b.json")
        assert (said.code, said.out) == (2, "")
        assert f"run {run_id} {why}" in said.err
        assert "--any-answer" in said.err
        assert rightcall("export", "baseline", run_id, "-o", f"{run_id}.json", "--any-answer").code == 0
        assert rightcall("gate", run_id, "-q", "--baseline", f"{run_id}.json").code == 2  # it is the same run
    assert json.loads(Path(f"{plain}.json").read_text())["summary"]["gate"] is None
    assert rightcall("export", "baseline", "--any-answer", "-o", "c.json", "--json").json["run"] == plain


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        (("-o", "b.json"), 5, "no baseline: the gates passed no finished run: the newest, "),
        (("--branch", "mian", "-o", "b.json"), 5, "no run of branch `mian` is on record; did you mean `main`?"),
        ((), 2, "--out: no file to write"),
        (("-o", "b.md"), 2, "no format is known for `b.md`"),
        (("-o", "nowhere/b.json"), 2, "the folder `nowhere` does not exist"),
        (("20200101-1", "-o", "b.json"), 2, "there is no run `20200101-1`"),
        (("20200101-1", "--branch", "main", "-o", "b.json"), 2, "--branch: a run is named already"),
        (("-o", "b.json", "--store", "missing.db"), 5, "there is no store here"),
    ],
)
def test_what_cannot_be_a_baseline_is_one_clear_line_and_leaves_no_file(rightcall, tanks, given, code, said, tmp_path):
    tanks("main", 0.99)
    rightcall("run", "worse.jsonl", "-q")
    found = rightcall("export", "baseline", *given)
    assert (found.code, found.out, said in found.err) == (code, "", True), found.err
    assert not (tmp_path / "b.json").exists()


def test_an_unfinished_run_is_no_baseline_whatever_its_gates_said(rightcall, tanks):
    from rightcall.store.records import GateRecord, RunRecord
    from rightcall.store.store import Store

    rightcall("golden", "-q")
    with Store.open("main.db") as store:
        store.write([
            RunRecord(id="20200101-1", grader="golden", started_at="2020-01-01T00:00:00Z"),
            GateRecord(run_id="20200101-1", at="x", asked_by="gate", answer="PASS", exit_code=0, rules_sha256=""),
        ])  # fmt: skip
    said = rightcall("export", "baseline", "20200101-1", "-o", "b.json", "--any-answer")
    assert (said.code, "is running, not finished" in said.err) == (2, True)

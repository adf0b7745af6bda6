"""`rightcall export bundle` and `rightcall log verify BUNDLE`: from a run to an auditor who has nothing else."""

from __future__ import annotations

import json
import shutil

import pytest
from bundle_making import make_runs, run_ids, sign
from desk_suite import DESK

from rightcall.store.store import Store

OPTIONS = ("--store", "desk.db", "-c", DESK)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bundle")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("RIGHTCALL_REDACTION_KEY", "a fixed key for tests")
        make_runs(folder, "desk.db", "rubric --judge desk")
        with Store.open("desk.db") as store:
            sign(store, run_ids("desk.db")["rubric"])
    return folder


@pytest.fixture(autouse=True)
def here(rightcall, kept, tmp_path):
    (tmp_path / "desk.db").write_bytes((kept / "desk.db").read_bytes())
    (tmp_path / "examples").symlink_to(kept / "examples")
    return tmp_path


@pytest.mark.parametrize("name", ["audit", "audit.zip"])
def test_a_bundle_is_written_and_checked_without_the_store(rightcall, here, tmp_path_factory, monkeypatch, name):
    said = rightcall("export", "bundle", "-o", name, *OPTIONS)
    run = run_ids("desk.db")["rubric"]
    assert (said.code, said.out) == (0, "")
    assert said.err.startswith(f"run {run} → {name}: ")
    assert "the names of those who reviewed and signed are in it" in said.err
    with Store.open("desk.db") as store:
        head = store.head()
    assert f"log head {head.hash}" in said.err
    elsewhere = tmp_path_factory.mktemp("auditor")
    shutil.move(here / name, elsewhere / name)
    monkeypatch.chdir(elsewhere)
    monkeypatch.delenv("RIGHTCALL_REDACTION_KEY")
    (elsewhere / "rightcall.toml").write_text("no settings = at all")
    checked = rightcall("log", "verify", name, "--head", head.hash)
    assert (checked.code, checked.err) == (0, "")
    lines = checked.out.splitlines()
    assert lines[0] == f"{name} · run {run} (rubric, finished) · intact"
    assert f"log      {head.seq} entries, head {head.hash}" in lines
    assert any(line.startswith("results  10, as their verdicts say; ") for line in lines)
    assert "people   1 answer, 1 sign-off, in the chain" in lines
    assert max(map(len, lines)) <= 130
    whole = rightcall("log", "verify", name, "--json").json
    assert (whole["run"], whole["faults"], whole["records"]["signoff"]) == (run, [], 1)


def test_a_bundle_that_was_changed_leaves_with_5_and_names_the_first_thing(rightcall, here):
    rightcall("export", "bundle", "-o", "audit", *OPTIONS)
    file = here / "audit/results.jsonl"
    file.write_bytes(file.read_bytes().replace(b"NONE", b"HIGH", 1))
    said = rightcall("log", "verify", "audit")
    assert said.code == 5
    assert "BROKEN: " in said.out.splitlines()[0]
    first = "results.jsonl: was changed: SHA256SUMS has another hash of it"
    assert said.err == f"the bundle is not what was exported; first: {first}\n"
    assert f"  {first}" in said.out.splitlines()
    assert rightcall("log", "verify", "audit", "--json").json["faults"][0] == {
        "file": "results.jsonl", "line": None, "message": "was changed: SHA256SUMS has another hash of it",
    }  # fmt: skip


def test_a_head_that_is_not_in_the_chain_leaves_with_5(rightcall):
    rightcall("export", "bundle", "-o", "audit", *OPTIONS)
    said = rightcall("log", "verify", "audit", "--head", "f00")
    assert said.code == 5
    assert "no entry has the hash f00" in said.err


def test_what_is_no_bundle_or_names_a_store_is_one_line(rightcall, here):
    rightcall("export", "bundle", "-o", "audit", *OPTIONS)
    for tokens, code, message in (
        (["nothing"], 2, "nothing: no such folder or file"),
        (["examples"], 2, "is no bundle"),
        (["audit", "--store", "desk.db"], 2, "a bundle is checked without a store"),
    ):
        said = rightcall("log", "verify", *tokens)
        assert (said.code, said.out) == (code, "")
        assert message in said.err
        assert said.err.splitlines()[-1] == f"exit {code}"
    (here / "audit/link").symlink_to("/")
    said = rightcall("log", "verify", "audit")
    assert said.code == 5
    assert "`link` is a link; rightcall made no such bundle" in said.err


def test_without_the_gates_there_is_a_bundle_although_a_baseline_is_gone(rightcall, here):
    text = (here / DESK).read_text("utf-8")
    (here / "gated.toml").write_text(
        text.replace('"traces.jsonl"', '"x"') + '\n[gates]\nregressions = { max = 0, against = "gone.json" }\n'
    )
    options = ("-o", "audit", "--store", "desk.db", "-c", "gated.toml")
    refused = rightcall("export", "bundle", *options)
    assert (refused.code, (here / "audit").exists()) == (2, False)
    said = rightcall("export", "bundle", "--no-gate", *options)
    assert said.code == 0, said.err
    assert "the gates were not asked: there is no gate.json" in said.err
    assert not (here / "audit/gate.json").exists()
    assert rightcall("log", "verify", "audit").code == 0


def test_json_says_what_was_made_and_nothing_else(rightcall, here):
    said = rightcall("export", "bundle", "--json", "-o", "audit", *OPTIONS)
    assert (said.code, said.err) == (0, "")
    assert said.json["bundle"] == "audit"
    assert said.json["status"] == "finished"
    assert said.json["files"] == sum(path.is_file() for path in (here / "audit").rglob("*"))
    assert len(said.json["digest"]) == len(said.json["log_head"]) == 64


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ([], "where does the bundle go?; name a new folder, or a file .zip"),
        (["-o", "examples"], "is there already; a bundle overwrites nothing"),
        (["-o", "nowhere/audit"], "the folder `nowhere` does not exist"),
        (["20200101-1", "-o", "audit"], "there is no run"),
    ],
)
def test_a_wrong_command_writes_nothing(rightcall, here, tokens, message):
    said = rightcall("export", "bundle", *tokens, *OPTIONS)
    assert (said.code, said.out) == (2, "")
    assert message in said.err
    assert not (here / "audit").exists()


def test_a_run_that_is_not_finished_is_marked_wherever_it_is_read(rightcall, here):
    from rightcall.store.records import RunRecord

    with Store.open("desk.db") as store:
        store.write([RunRecord(id="20991231-1", grader="golden", started_at="2099-12-31T00:00:00Z")])
    said = rightcall("export", "bundle", "-o", "audit", *OPTIONS)
    assert "the run is not finished: running" in said.err
    assert "the run is not finished: what is here is a part of it" in rightcall("log", "verify", "audit").out
    assert json.loads((here / "audit/manifest.json").read_bytes())["finished"] is False

"""What gates said about a run goes with its bundle, in the chain; `gate.json` is what they say when it is made."""

from __future__ import annotations

import json
import shutil

import pytest
from bundle_making import DESK, exported, lines, make_runs, put_lines, reseal, run_ids

from rightcall.cli.exits import guarded
from rightcall.cli.main import app
from rightcall.report.bundle.lines import lines as words
from rightcall.run.bundle.check import check_bundle
from rightcall.store.gate_answers import gate_answers
from rightcall.store.records import GateRecord
from rightcall.store.store import Store


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return a folder with a run of golden that was gated twice, and its bundle `b`."""
    folder = tmp_path_factory.mktemp("gated")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("RIGHTCALL_REDACTION_KEY", "a fixed key for tests")
        make_runs(folder, "desk.db", "golden")
        for _ in range(2):
            assert guarded(app, ["gate", "-q", "-c", DESK, "--store", "desk.db"]) in (1, 3, 4)
        exported("desk.db", run_ids("desk.db")["golden"], folder / "b")
    return folder


@pytest.fixture
def bundle(made, tmp_path, monkeypatch):
    """Return a copy of the bundle, in the current folder, with its store and suite beside it."""
    monkeypatch.setenv("RIGHTCALL_REDACTION_KEY", "a fixed key for tests")
    monkeypatch.chdir(shutil.copytree(made, tmp_path / "here"))
    return tmp_path / "here/b"


def test_every_answer_is_among_the_records_and_the_check_proves_it(bundle):
    found = check_bundle(bundle)
    assert found.intact
    assert found.records["gate"] == 2
    assert (found.gates, found.gate, found.gate_file) == (2, "FAIL", "FAIL")
    assert "gates    2 answers in the chain, the newest FAIL · gate.json, asked when the bundle was made: FAIL" in set(
        words(found)
    )
    assert not any("gate.json" in note for note in found.notes)


def test_an_answer_that_was_changed_or_taken_out_is_found(bundle):
    file = bundle / "records/gate.jsonl"
    first, second = lines(file)
    put_lines(file, [first, second.replace(b'"answer":"FAIL"', b'"answer":"PASS"', 1)])
    reseal(bundle)
    assert "was changed or added" in str(check_bundle(bundle).faults)
    put_lines(file, [first])
    reseal(bundle)
    found = check_bundle(bundle)
    assert "is missing, or was changed" in str(found.faults)


def test_gate_json_that_says_something_else_than_the_newest_answer_is_told(bundle, tmp_path):
    run_id = run_ids("desk.db")["golden"]
    with Store.open("desk.db") as store:
        *_, (_, _, last) = gate_answers(store.database, run_id)
        store.write([GateRecord(
            run_id=run_id, at="2026-11-30T12:00:00Z", asked_by="gate", answer="PASS", exit_code=0,
            rules_sha256=last.rules_sha256,
        )])  # fmt: skip
    *_, note = exported("desk.db", run_id, tmp_path / "b").manifest.notes
    assert note == (
        "gate.json says FAIL, as the gates answered when this bundle was made; "
        "the newest answer on record, of 2026-11-30T12:00:00Z, is PASS"
    )
    found = check_bundle(tmp_path / "b")
    assert found.intact
    assert next(line for line in words(found) if line.startswith("gates")).endswith(
        ": FAIL: NOT the newest of the chain"
    )


@pytest.mark.parametrize("text", ["", "[]", '{"answer": 7}', "{"])
def test_a_gate_file_that_is_none_is_a_fault(bundle, text):
    (bundle / "gate.json").write_text(text)
    reseal(bundle)
    assert [fault.message for fault in check_bundle(bundle).faults] == ["is no answer of a gate"]


def test_a_bundle_without_gates_says_how_many_answers_there_are(bundle):
    out = bundle.with_name("other")
    assert guarded(app, ["export", "bundle", "-o", str(out), "--no-gate", "-c", DESK, "--store", "desk.db"]) == 0
    found = check_bundle(out)
    assert (found.gates, found.gate_file) == (2, None)
    assert "gates    2 answers in the chain, the newest FAIL" in set(words(found))
    assert json.loads((out / "records/gate.jsonl").read_text().splitlines()[0])["asked_by"] == "gate"

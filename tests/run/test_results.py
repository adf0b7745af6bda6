"""A finished run reads the same from its spool, from the record and from a file."""

import os
import sys
from hashlib import sha256

import msgspec
import pytest
from desk_suite import DESK, copy_desk
from hypothesis import given
from hypothesis import strategies as st
from labels_making import put_labels, put_run

from rightcall.cli.exits import guarded
from rightcall.cli.main import app
from rightcall.grade.verdict import GoldenResult
from rightcall.run.finished.file import read_results
from rightcall.run.finished.live import graded_results, judged_results
from rightcall.run.golden.grading import run
from rightcall.run.golden.keeping import kept
from rightcall.run.golden.means import means_of
from rightcall.run.graders.setup import Flags, set_up_rubric
from rightcall.run.inputs.opening import open_store
from rightcall.run.inputs.prepare import prepare
from rightcall.run.results import store as stored
from rightcall.run.results.model import Row, version_of_case
from rightcall.run.results.store import stored_results
from rightcall.settings.load import load_settings
from rightcall.store.records import VerdictRecord
from rightcall.store.store import Store
from rightcall.trace.redact import Redactor


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """The settings of the card desk, with a store."""
    copy_desk(tmp_path)
    monkeypatch.chdir(tmp_path)
    return load_settings(tmp_path / DESK, os.environ, {"store": str(tmp_path / "rightcall.db")})


def test_a_run_of_golden_is_the_same_from_its_spool_and_from_the_record(desk):
    graded, run_id = kept(prepare(desk), desk, lambda plan, recorder: run(plan, None, recorder))
    with graded, open_store(desk) as store:
        live, stored = graded_results(graded, run_id), stored_results(store, run_id)
        mine, theirs = list(live.rows()), list(stored.rows())
        assert [(row.unit, row.line, row.verdict) for row in mine] == [
            (row.unit, row.line, row.verdict) for row in theirs
        ]
        assert (live.name, stored.status, list(stored.graders)) == (run_id, "finished", ["golden"])
        summary = dict(stored.graders["golden"].summary)
        assert summary.pop("means") == means_of(graded)  # which is costly: who reads the spool adds them up as it goes
        assert live.graders["golden"].summary == summary
        failing = next(row for row in theirs if row.verdict == "FAIL")
        found = stored.sources(failing)
        assert (found.trace.id, found.case.id, found.trace_b) == (failing.trace_id, failing.case_id, None)
        assert live.sources(next(row for row in mine if row.verdict == "FAIL")).trace.id == failing.trace_id
        assert isinstance(failing.typed(), GoldenResult)
        assert all(row.case_version for row in theirs if row.case_id and row.reason is None)
        assert {row.decided_by for row in theirs} == {"code"}


def test_a_run_is_read_with_few_questions_to_the_store(tmp_path, monkeypatch):
    with Store.open(tmp_path / "s.db") as store:
        put_run(store)
        put_labels(store, [("PASS", None)] * 500)
        asked, read = [], store.database.read
        monkeypatch.setattr(store.database, "read", lambda work: asked.append(work) or read(work))
        rows = list(stored_results(store, "20261129-1").rows())
    assert len({row.unit for row in rows}) == 500
    assert all(f'"{row.unit}"'.encode() in row.line for row in rows)
    assert len(asked) < 30


@pytest.mark.parametrize(("at_once", "most"), [(1, 0), (3, 2), (200, 100_000)])
def test_versions_of_cases_are_those_of_their_bodies_however_many_are_read_at_once(
    tmp_path, monkeypatch, at_once, most
):
    monkeypatch.setattr(stored, "AT_ONCE", at_once)
    monkeypatch.setattr(stored, "_MOST_VERSIONS", most)
    with Store.open(tmp_path / "s.db") as store:
        put_run(store, "golden")
        bodies = [f'{{"id":"c-{at}"}}'.encode() for at in range(7)]
        cases = [sha256(body).hexdigest() for body in bodies]
        verdicts = []
        for number in range(20):
            line = f'{{"unit":"t-{number}","trial":{number % 2}}}'.encode()
            bodies.append(line)
            case = None if number % 4 == 3 else cases[number % 7]
            one = VerdictRecord(
                run_id="20261129-1", unit=f"t-{number}", grader="golden", status="EVALUATED", verdict="PASS",
                result=sha256(line).hexdigest(), case=case, case_id=case and f"c-{number % 7}",
            )  # fmt: skip
            verdicts.append(one)
        store.write(verdicts, bodies)
        results = stored_results(store, "20261129-1")
        for _ in range(2):
            rows = list(results.rows())
            assert [row.unit for row in rows] == [f"t-{number}" for number in range(20)]
            assert [row.case_version for row in rows] == [
                None if row.case is None else version_of_case(store.body(row.case)) for row in rows
            ]
            assert sum(row.case is None for row in rows) == 5


def test_a_judged_run_is_the_same_from_its_spool_and_from_the_record(desk):
    with set_up_rubric(desk, Flags(judge="desk")).run() as judged, open_store(desk) as store:
        live, stored = judged_results(judged), stored_results(store, judged.run.id)
        assert sorted((row.unit, row.line) for row in live.rows()) == sorted(
            (row.unit, row.line) for row in stored.rows()
        )
        rows = {row.unit: row for row in stored.rows()}
        waiting = [row for row in rows.values() if row.critical == "open"]
        assert waiting
        assert all("CRITICAL" in row.review for row in waiting)
        assert all(row.attempts for row in rows.values() if row.status == "EVALUATED")
        assert live.graders["rubric"].summary["own"]["scores"].keys() == (
            stored.graders["rubric"].summary["own"]["scores"].keys()
        )


def test_steps_of_a_suite_run_have_the_version_of_their_case_from_the_record_and_from_a_file(desk):
    assert guarded(app, ["run", "-c", DESK, "--grader", "golden", "--grader", "selection", "-q", "-o", "r.json"]) == 1
    read = {row.unit: row.case_version for row in read_results(desk.folder.parents[1] / "r.json").rows()}
    settings = load_settings(desk.folder / "rightcall.toml", os.environ, {})
    with open_store(settings) as store:
        rows = list(stored_results(store, store.runs(1)[0][0].id).rows())
    versions = {row.case_id: row.case_version for row in rows if row.grader == "golden"}
    steps = [row for row in rows if row.grader == "selection"]
    assert steps
    assert all(row.case_version == versions[row.case_id] is not None for row in steps)
    assert all(read[row.unit] == row.case_version for row in steps)


def test_a_file_of_json_reads_as_the_run_that_wrote_it(desk, capsysbinary):
    assert guarded(app, ["golden", "-c", DESK, "-o", "results.json", "-q"]) == 1
    found = read_results(desk.folder.parents[1] / "results.json")
    assert guarded(app, ["golden", "-c", DESK, "--json"]) == 1
    printed = msgspec.json.decode(capsysbinary.readouterr().out)
    assert [row.value() for row in found.rows()] == printed["results"]
    assert found.graders["golden"].facts["profile"] == printed["run"]["profile"]


def test_a_confirmed_misuse_counts_as_a_failure_and_a_dismissed_one_changes_nothing():
    row = Row(grader="rubric", unit="t", status="EVALUATED", line=b"{}", verdict="PASS", critical="confirmed")
    assert row.effective == "FAIL"
    for state in ("open", "dismissed", None):
        assert msgspec.structs.replace(row, critical=state).effective == "PASS"
        assert msgspec.structs.replace(row, critical=state, verdict=None).effective is None


@given(st.binary(min_size=1, max_size=16), st.binary(min_size=1, max_size=16), st.text(alphabet="abc {}", max_size=20))
def test_a_case_has_the_same_version_under_every_redaction_key_and_another_if_it_differs(one, other, words):
    card = "my card is 4111 1111 1111 1111, mail me at desk@example.com"
    mine, theirs = (Redactor(key=key).text(f"{card} {words}").encode() for key in (one, other))
    assert version_of_case(mine) == version_of_case(theirs)
    assert version_of_case(mine) != version_of_case(mine + b"!")
    assert b"4111" not in mine


def test_reading_results_loads_no_database_before_one_is_opened():
    import subprocess

    code = "import rightcall.run.results.model, rightcall.run.finished.file, sys; print('sqlalchemy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"

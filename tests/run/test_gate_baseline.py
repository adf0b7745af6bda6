"""Which run a gate compares with."""

import pytest
from gate_making import passes, run

from rightcall.errors import ConfigError, StoreError
from rightcall.run.finished.file import read_results
from rightcall.run.gating.baseline import baseline_of, is_file, same_suite
from rightcall.run.results.store import stored_results
from rightcall.store.records import RunEvent, RunRecord
from rightcall.store.store import Store


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "s.db") as found:
        yield found


def put(store, name, status="finished", grader="golden", cases=("cases.toml",)):
    facts = {"cases": [{"file": file, "sha256": "x"} for file in cases]}
    if grader == "run":
        facts = {"graders": {"golden": facts}}
    records = [RunRecord(id=name, grader=grader, started_at="2026-11-30T10:00:00Z", facts=facts)]
    store.write([*records, RunEvent(run_id=name, at="2026-11-30T10:00:01Z", status=status)])


def previous(store, name, tmp_path):
    found = baseline_of("previous", stored_results(store, name), store, tmp_path)
    return found if isinstance(found, str) else found.name


def test_previous_is_the_last_finished_run_of_the_same_graders_on_the_same_case_files(store, tmp_path):
    put(store, "20261130-1")
    put(store, "20261130-2")
    put(store, "20261130-3", status="broken")
    put(store, "20261130-4", grader="rubric")
    put(store, "20261130-5", cases=("other.toml",))
    put(store, "20261130-6")
    put(store, "20261130-7")
    assert previous(store, "20261130-6", tmp_path) == "20261130-2"
    assert previous(store, "20261130-7", tmp_path) == "20261130-6"
    assert previous(store, "20261130-1", tmp_path).startswith("there is no earlier finished run of this suite")


def test_runs_of_several_graders_are_one_suite_if_they_share_one(store):
    suite, other = (RunRecord(id="r", grader="run", started_at="", facts={"graders": {name: {}}}) for name in "ab")
    assert same_suite(suite, suite)
    assert not same_suite(suite, other)


def test_without_a_record_there_is_no_previous_run(tmp_path):
    assert "no record" in baseline_of("previous", run(*passes(3)), None, tmp_path)


def test_a_run_is_named_by_its_id_and_must_have_finished(store, tmp_path):
    put(store, "20261130-1")
    put(store, "20261130-2", status="interrupted")
    now = run(*passes(3))
    assert baseline_of("20261130-1", now, store, tmp_path).name == "20261130-1"
    assert baseline_of("20261130-2", now, store, tmp_path) == ("the baseline 20261130-2 is interrupted, not finished")
    with pytest.raises(StoreError, match="there is no run"):
        baseline_of("20261130-9", now, store, tmp_path)


def test_a_file_is_one_by_its_name_or_because_it_is_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert is_file("gone.json")
    assert not is_file("20261130-1")
    with pytest.raises(ConfigError, match="cannot be read"):
        baseline_of("gone.json", run(*passes(3)), None, tmp_path)
    with pytest.raises(ConfigError, match="there is no baseline `20261130-1`"):
        baseline_of("20261130-1", run(*passes(3)), None, tmp_path)


def test_a_run_is_never_its_own_baseline(store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    put(store, "20261130-1")
    now = stored_results(store, "20261130-1")
    assert baseline_of("20261130-1", now, store, tmp_path) == (
        "the baseline 20261130-1 is this very run: nothing could be worse"
    )
    line = '{"grader": "golden", "status": "EVALUATED", "verdict": "PASS", "case_id": "a", "trace_id": "a"}'
    for name, run_id in (
        ("a.json", '"20261130-1", "started_at": "2026-11-30T10:00:00Z"'),
        ("b.json", "null"),
        ("c.json", '"20261130-1", "started_at": "2026-11-30T09:00:00Z"'),
    ):
        (tmp_path / name).write_text(
            f'{{"run": {{"grader": "golden", "id": {run_id}}}, "summary": {{}}, "results": [{line}]}}'
        )
    assert "this very run" in baseline_of("a.json", now, store, tmp_path)
    alone = read_results(tmp_path / "b.json")
    assert "this very run" in baseline_of("b.json", alone, None, tmp_path)
    for other in ("b.json", "c.json"):
        assert baseline_of(other, now, store, tmp_path).name.endswith(other)


def test_the_run_before_of_a_suite_is_one_on_the_same_case_files(store, tmp_path):
    put(store, "20261130-1", grader="run")
    put(store, "20261130-2", grader="run", cases=("other.toml",))
    put(store, "20261130-3", grader="run")
    assert previous(store, "20261130-3", tmp_path) == "20261130-1"

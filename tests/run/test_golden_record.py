"""A run of `golden` on record: what is printed is what is kept, in one process or in several, and how it ended."""

from __future__ import annotations

import json
from dataclasses import replace

import msgspec
import pytest
from judged_making import Here, case, said, trace

from rightcall.errors import RunError, StoreError, TraceError
from rightcall.grade.verdict import GoldenResult
from rightcall.run.golden import grading as golden
from rightcall.run.golden.keeping import kept
from rightcall.run.golden.record import GoldenRecorder
from rightcall.run.inputs.prepare import prepare
from rightcall.store.store import Store
from rightcall.store.verify import verify


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.setenv("RIGHTCALL_REDACTION_KEY", "a fixed key for tests")
    one = Here(tmp_path, 'store = ".rightcall/rightcall.db"\n', judges=())
    bad = {"tool": "cancel_card", "arguments": {"card": 2}}
    one.write(
        "traces.jsonl", trace(0), trace(1), trace(1, trial=2), trace(2, calls=[bad]), trace(5, case_id="case-9999"),
        trace(6, metadata={"note": "write to amy@example.com"}),
    )  # fmt: skip
    forbidden = {"policy": {"forbidden": ["cancel_card"]}}
    one.write("cases.jsonl", case(0), case(1), case(2, **forbidden), case(3), case(6))
    return one


def graded(here: Here, *more: str) -> tuple[int, dict]:
    """Run `rightcall golden … --json`."""
    files = ("golden", str(here.folder / "traces.jsonl"), "--cases", str(here.folder / "cases.jsonl"))
    code, out = said(*files, "--config", str(here.folder / "rightcall.toml"), "--json", *more)
    return code, json.loads(out)


def test_traces_cases_verdicts_and_reviews_are_what_was_printed(here):
    _, printed = graded(here)
    with here.opened() as store:
        ((run, event),) = store.runs()
        assert (run.grader, event.status) == ("golden", "finished")
        assert (event.summary["n"], event.summary["coverage"]) == (7, 5 / 7)
        verdicts = list(store.verdicts(run.id))
        assert [json.loads(store.body(verdict.result)) for verdict in verdicts] == printed["results"]
        assert [verdict.unit for verdict in verdicts] == [
            "t-0", "t-1", "t-1 (2)", "t-2", "t-5", "t-6", "case-0003 (no trace)"
        ]  # fmt: skip
        assert [verdict.verdict for verdict in verdicts] == ["PASS", "PASS", "PASS", "FAIL", None, "PASS", None]
        assert {verdict.decided_by for verdict in verdicts} == {"code"}
        reviews = {(review.unit, review.reason, review.severity) for _, review in store.reviews()}
        assert reviews == {
            ("t-2", "policy_veto", "CRITICAL"), ("t-5", "unevaluable", None), ("case-0003 (no trace)", "unevaluable", None)
        }  # fmt: skip
        kept_trace = store.body(verdicts[5].trace)
        assert b"freeze_card" in kept_trace
        assert b"amy@example.com" not in kept_trace
        assert store.trace(verdicts[1].trace).id == "t-1"
        assert store.case(verdicts[1].case).id == "case-0001"
        assert verdicts[1].case == verdicts[2].case
        assert (verdicts[6].trace, verdicts[6].case) == (None, None)
        assert store.counts()["case"] == 4
        assert verify(store).intact


def test_several_processes_leave_the_same_record(here, tmp_path):
    filler = "f" * 3_000
    here.write("traces.jsonl", *(trace(n, case_id=f"case-{n % 7:04d}", metadata={"f": filler}) for n in range(900)))
    here.write("cases.jsonl", *(case(n) for n in range(7)))
    _, alone = graded(here)
    _, together = graded(here, "--jobs", "2")
    assert together["results"] == alone["results"]
    with here.opened() as store:
        runs = [run.id for run, _ in store.runs()]
        one, other = (
            [(verdict.unit, verdict.result, verdict.trace, verdict.case) for verdict in store.verdicts(run_id)]
            for run_id in runs
        )
        assert one == other
        assert len(one) == 900
        assert [event.status for _, event in store.runs()] == ["finished", "finished"]


def test_nothing_is_kept_where_no_store_was_named(here):
    here.change("")
    graded(here)
    assert not here.store.exists()


def plan_of(here: Here):
    loaded = here.loaded(traces=["traces.jsonl"], cases=["cases.jsonl"])
    return prepare(loaded), loaded


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (TraceError("the file broke for amy@example.com"), "broken"),
        (RunError("a worker process died"), "broken"),
        (KeyboardInterrupt(), "interrupted"),
    ],
)
def test_a_run_that_breaks_is_on_record_as_such(here, error, status):
    plan, loaded = plan_of(here)

    def breaks(_plan, _recorder):
        raise error

    with pytest.raises(type(error)):
        kept(plan, loaded, breaks)
    plan.cases.close()
    with here.opened() as store:
        ((_, event),) = store.runs()
        assert event.status == status
        assert "amy@example.com" not in (event.message or "")


def test_an_end_that_cannot_be_written_is_the_error_that_is_seen(here, monkeypatch):
    plan, loaded = plan_of(here)

    def full(*_):
        raise StoreError("there is no room left", code="STORE_FULL")

    monkeypatch.setattr(GoldenRecorder, "end", full)
    with pytest.raises(StoreError, match="there is no room left"):
        kept(plan, loaded, lambda ready, recorder: golden.run(ready, None, recorder))


def test_a_batch_is_written_whole_or_not_at_all(tmp_path):
    with Store.open(tmp_path / "rightcall.db") as store:
        recorder = GoldenRecorder(store, {})
        recorder.take([], [])
        assert store.counts()["verdict"] == 0
        line = b'{"trace_id":"t","case_id":"c","status":"EVALUATED","verdict":"PASS"}'
        other = line.replace(b'"t"', b'"u"')
        with pytest.raises(ValueError, match="zip"):
            recorder.take([other, other], [(None, None)])
        assert store.counts()["verdict"] == 0
        recorder.take([line, line], [(b"trace", b"case"), (b"trace", b"case")])
        assert [verdict.unit for verdict in store.verdicts(recorder.run.id)] == ["t", "t (2)"]
        assert store.counts()["trace"] == store.counts()["case"] == 1


# ---- within a run of several graders ---------------------------------------------------------------------------------


class Stops(GoldenRecorder):
    """A recorder whose process is lost after so many batches."""

    def __init__(self, batches: int, *more) -> None:
        super().__init__(*more)
        self.left = batches

    def take(self, lines, bodies) -> None:
        if not self.left:
            raise KeyboardInterrupt
        self.left -= 1
        super().take(lines, bodies)


@pytest.mark.parametrize("batches", [0, 1, 2, 3])
def test_what_a_run_has_on_record_is_not_written_twice_when_it_goes_on(here, batches):
    ids = [f"t-{n}" for n in range(600)] + ["t-0", "t-0"]
    wrong = [{"tool": "cancel_card", "arguments": {}}]
    rows = [trace(n % 3, id=name, **({"calls": wrong} if n % 50 == 0 else {})) for n, name in enumerate(ids)]
    here.write("traces.json", json.dumps(rows))  # one document is graded in batches of 256
    plan = replace(prepare(here.loaded(traces=["traces.json"], cases=["cases.jsonl"])), keeps=True)

    def write(store: Store, run, recorder: GoldenRecorder) -> list[str]:
        with golden.run(plan, recorder=recorder) as done:
            list(done.results())
        return [verdict.unit for verdict in store.find_verdicts(run_id=run.id)]

    with Store.open(here.store) as store:
        run = store.new_run("run", "20261130", "", {"graders": {"golden": {}}})
        with pytest.raises(KeyboardInterrupt):
            write(store, run, Stops(batches, store, {}, run))
        before = store.counts()
        units = write(store, run, GoldenRecorder(store, {}, run))
        whole = store.new_run("run", "20261130", "", {"graders": {"golden": {}}})
        assert units == write(store, whole, GoldenRecorder(store, {}, whole))
        assert len(set(units)) == len(units)
        assert {"t-0", "t-0 (2)", "t-0 (3)"} <= set(units)
        reviews = [[(one.unit, one.reason) for _, one in store.reviews(run_id=name)] for name in (run.id, whole.id)]
        assert reviews[0] == reviews[1]
        assert (batches == 0) == (before.get("verdict", 0) == 0)
        assert verify(store).intact


def test_another_result_than_the_one_on_record_is_a_conflict(here):
    with Store.open(here.store) as store:
        run = store.new_run("run", "20261130", "", {"graders": {"golden": {}}})
        first = GoldenRecorder(store, {}, run)
        line = msgspec.json.encode(GoldenResult(trace_id="t-1", case_id="c", profile="balanced", verdict="PASS"))
        first.take([line], [(None, None)])
        other = msgspec.json.encode(GoldenResult(trace_id="t-1", case_id="c", profile="balanced", verdict="FAIL"))
        with pytest.raises(StoreError, match=f"says something else about `t-1` than run {run.id}") as caught:
            GoldenRecorder(store, {}, run).take([other], [(None, None)])
        assert (caught.value.code, caught.value.exit_code) == ("STORE_CONFLICT", 5)

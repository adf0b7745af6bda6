"""A run of `golden` on record: what is printed is what is kept, in one process or in several, and how it ended."""

from __future__ import annotations

import json

import pytest
from judged_making import Here, case, said, trace

from rightcall.errors import RunError, StoreError, TraceError
from rightcall.run import golden
from rightcall.run.golden_record import GoldenRecorder
from rightcall.run.keeping import kept
from rightcall.run.prepare import prepare
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

"""`golden` over files: join, grade, count, in input order and bounded memory."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from rightcall.errors import ConfigError, NoDataError, RightcallError, RunError, TraceError
from rightcall.run.golden import grading as golden
from rightcall.run.golden.grading import KEPT_RESULTS, Graded, run
from rightcall.run.golden.means import means_of
from rightcall.stats.intervals import wilson

FEED = {"tool": "feed", "arguments": {"tank": 2}}
CASE = {"id": "c", "expect": {"calls": [FEED]}}


def trace(number: int, *calls: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"id": f"t{number}", "case_id": "c", "calls": list(calls), **fields}


def passing(number: int, **fields: Any) -> dict[str, Any]:
    return trace(number, FEED, **fields)


def ids(graded: Graded) -> list[str | None]:
    return [json.loads(line)["trace_id"] for line in graded.results()]


# ---- joining ---------------------------------------------------------------------------------------------------------


def test_a_trace_belongs_to_the_case_with_its_case_id(write, grade_files):
    write("cases.jsonl", CASE, {"id": "d", "expect": {"calls": []}})
    write("traces.jsonl", passing(0), {"id": "t1", "case_id": "d", "calls": []})
    graded = grade_files()
    assert [json.loads(line)["case_id"] for line in graded.results()] == ["c", "d"]
    assert (graded.tally.passed, graded.tally.n) == (2, 2)


def test_a_case_without_a_trace_comes_last_and_is_unevaluable(write, grade_files):
    write("cases.jsonl", {"id": "a", "expect": {"calls": []}}, CASE)
    write("traces.jsonl", passing(0))
    graded = grade_files()
    last = [json.loads(line) for line in graded.results()][-1]
    assert (last["trace_id"], last["case_id"], last["status"], last["reason"]) == (None, "a", "UNEVALUABLE", "no_trace")
    assert (graded.tally.coverage, graded.tally.evaluated, graded.tally.n) == (0.5, 1, 2)


def test_traces_without_a_case_do_not_hide_the_interval_of_the_others(write, grade_files):
    write("cases.jsonl", CASE)
    write("traces.jsonl", passing(0), *({"id": f"x{i}", "case_id": "nowhere", "calls": []} for i in range(2)))
    graded = grade_files()
    assert dict(graded.tally.unevaluable) == {"no_case": 2}
    assert graded.tally.pass_rate().low is not None
    assert set(graded.tally.cases) == {"c"}


def test_several_traces_of_a_case_widen_the_interval_of_the_rate(write, grade_files):
    write("cases.jsonl", CASE)
    write("traces.jsonl", passing(0), passing(1), trace(2))
    rate = grade_files().tally.pass_rate()
    assert (rate.estimate, rate.n, rate.method) == (2 / 3, 3, "wilson 0.95, clustered in 1 case")
    assert rate.low < wilson(2, 3).low


# ---- several files, folders, patterns, dialects ----------------------------------------------------------------------


def test_results_stand_in_the_order_of_files_and_lines(write, grade_files):
    write("cases.jsonl", CASE)
    write("b/1.jsonl", passing(1), passing(2))
    write("b/2.json", json.dumps([passing(3), passing(4)]))
    write("a.jsonl", passing(5))
    write("z.jsonl.gz", gzip.compress(json.dumps(passing(6)).encode()))
    graded = grade_files({"traces": ["b", "a.jsonl", "z.*"]})
    assert ids(graded) == ["t1", "t2", "t3", "t4", "t5", "t6"]
    assert [Path(file).name for file, _ in graded.trace_files] == ["1.jsonl", "2.json", "a.jsonl", "z.jsonl.gz"]


def test_files_of_different_dialects_are_graded_together(write, grade_files):
    write("cases.jsonl", CASE)
    call = {"id": "1", "type": "function", "function": {"name": "feed", "arguments": '{"tank": 2}'}}
    write("chat.jsonl", {"id": "chat", "messages": [{"role": "assistant", "content": None, "tool_calls": [call]}]})
    turn = {"role": "assistant", "content": None, "tool_calls": [call]}
    write("tau.json", json.dumps([{"task_id": 0, "trial": 0, "reward": 1.0, "info": {}, "traj": [turn]}]))
    write("native.jsonl", passing(0))
    graded = grade_files({"traces": ["native.jsonl", "chat.jsonl", "tau.json"]})
    assert [report.dialect for report in graded.tally.reports.values()] == ["native", "openai_chat", "tau"]
    results = [json.loads(line) for line in graded.results()]
    assert [result["metrics"]["matched"] for result in results if result["case_id"] == "c"][:2] == [1, 1]
    assert len(results) == 3


def test_a_dialect_that_is_named_counts_for_every_file(write, grade_files):
    write("cases.jsonl", CASE)
    write("traces.jsonl", passing(0))
    with pytest.raises(TraceError):
        grade_files({"dialect": "openai_chat"}, strict=True)


def test_a_long_document_is_graded_in_parts(write, grade_files):
    write("cases.jsonl", CASE)
    write("traces.json", json.dumps([passing(i) for i in range(700)]))
    graded = grade_files({"traces": "traces.json"})
    assert ids(graded) == [f"t{i}" for i in range(700)]
    assert graded.tally.reports["traces.json"].read == 700


def test_ids_that_repeat_are_counted_across_files(write, grade_files):
    write("cases.jsonl", CASE)
    write("a.jsonl", passing(1), passing(2), passing(1))
    write("b.jsonl", passing(2), passing(3))
    graded = grade_files({"traces": ["a.jsonl", "b.jsonl"]})
    assert (graded.repeated_ids, graded.tally.n) == (2, 5)


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("t.jsonl", lambda data: data),
        ("t.jsonl", lambda data: b"\xef\xbb\xbf" + data + b"\n  \n\n"),
        ("t.jsonl.gz", gzip.compress),
        ("t.json", lambda data: b"[" + data.strip().replace(b"\n", b",\n") + b"]"),
    ],
    ids=["plain", "with a byte-order mark", "packed", "document"],
)
@pytest.mark.parametrize("limit", [None, 1])
def test_each_file_is_named_with_the_sha256_of_its_bytes(write, grade_files, name, pack, limit):
    write("cases.jsonl", CASE)
    path = write(name, pack(b"\n".join(json.dumps(passing(i)).encode() for i in range(3)) + b"\n"))
    graded = grade_files({"traces": name}, limit=limit)
    assert graded.trace_files == [(name, sha256(path.read_bytes()).hexdigest())]


# ---- selecting -------------------------------------------------------------------------------------------------------


def test_a_limit_ends_the_run_and_asks_for_no_trace_of_the_other_cases(write, grade_files):
    write("cases.jsonl", CASE, {"id": "d", "expect": {"calls": []}})
    write("a.jsonl", passing(1), passing(2))
    write("b.jsonl", passing(3), passing(4))
    graded = grade_files({"traces": ["a.jsonl", "b.jsonl"]}, limit=3)
    assert ids(graded) == ["t1", "t2", "t3"]
    assert ids(grade_files({"traces": ["a.jsonl", "b.jsonl"], "limits.jobs": 2}, limit=1)) == ["t1"]


def test_one_trace_alone(write, grade_files):
    write("cases.jsonl", CASE, {"id": "d", "expect": {"calls": []}})
    write("traces.jsonl", passing(1), passing(2))
    graded = grade_files(only="t2")
    assert ids(graded) == ["t2"]
    assert graded.kept[0].trace is not None
    with pytest.raises(ConfigError, match="no trace has the id `t3`; check --trace"):
        grade_files(only="t3")


def test_a_record_that_was_skipped_is_counted_and_lowers_coverage(write, grade_files):
    write("cases.jsonl", CASE)
    call = {"id": "1", "function": {"name": "feed", "arguments": '{"tank": 2}'}}
    write("traces.jsonl", {"messages": [{"role": "assistant", "tool_calls": [call]}]}, {"messages": []})
    graded = grade_files()
    assert (graded.tally.n, graded.tally.skipped, graded.tally.coverage) == (1, 1, 0.5)
    with pytest.raises(TraceError, match=r"traces\.jsonl:2.*without --strict it is skipped"):
        grade_files(strict=True)


def test_nothing_to_grade(write, grade_files):
    write("cases.jsonl", CASE)
    write("traces.json", "[]")
    with pytest.raises(NoDataError, match="nothing to grade"):
        grade_files({"traces": "traces.json"})


# ---- bounded memory --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_of_thousands_of_failures_a_bounded_number_is_kept(write, grade_files, jobs):
    write("cases.jsonl", CASE)
    write("traces.jsonl", *(trace(i, {"tool": "x", "arguments": {}}, metadata={"f": "f" * 1500}) for i in range(3000)))
    graded = grade_files({"limits.jobs": jobs})
    assert graded.tally.failed == 3000
    most = KEPT_RESULTS + graded.plan.kept_failures
    assert [shown.result.trace_id for shown in graded.kept] == [f"t{i}" for i in range(most)]
    assert all(shown.trace is not None for shown in graded.kept)
    assert sum(1 for _ in graded.results()) == 3000


def test_the_worst_results_are_kept_wherever_they_stand(write, grade_files):
    write("cases.jsonl", CASE, {"id": "d", "expect": {"calls": []}})
    write(
        "traces.jsonl", *(passing(i) for i in range(500)), *(trace(i) for i in range(1500, 500, -1)),
        trace("z", {"tool": "drain", "arguments": {}}),
    )  # fmt: skip
    write("policy.toml", 'forbidden = ["drain"]')
    graded = grade_files({"limits.failures": 7}, policy=Path("policy.toml"))
    names = [shown.result.trace_id for shown in graded.kept]
    assert names == ["tz", *(f"t{i}" for i in range(501, 501 + KEPT_RESULTS + 6))]
    assert not any(shown.result.verdict == "PASS" for shown in graded.kept)


def test_results_are_spooled_to_a_file_that_has_no_name(write, grade_files, tmp_path):
    write("cases.jsonl", CASE)
    write("traces.jsonl", passing(0))
    before = sorted(tmp_path.iterdir())
    graded = grade_files()
    assert sorted(tmp_path.iterdir()) == before
    assert isinstance(graded.spool.fileno(), int)
    with graded:
        assert len(list(graded.results())) == len(list(graded.results())) == 1
    assert graded.spool.closed


only_linux = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")

PEAK = """
import sys
from rightcall.cli.exits import guarded
from rightcall.cli.main import app
guarded(app, sys.argv[1:])
print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""


@pytest.mark.slow
@only_linux
def test_memory_does_not_grow_with_the_file(write):
    write("cases.jsonl", CASE)
    peaks = []
    for count in (500, 20_000):
        write("traces.jsonl", *(passing(i, metadata={"filler": "f" * 1000}) for i in range(count)))
        command = [sys.executable, "-c", PEAK, "golden", "traces.jsonl", "--cases", "cases.jsonl", "-q", "-o", "r.json"]
        peaks.append(int(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    assert peaks[1] < peaks[0] + 12_000  # KiB; the larger file has 20 MB, its results 12 MB


# ---- the same answer, whatever the processes -------------------------------------------------------------------------


@pytest.mark.slow
def test_processes_change_neither_results_nor_counts(write, grade_files):
    write(
        "cases.jsonl", *({"id": f"c{i}", "expect": {"calls": [{"tool": "a", "arguments": {"i": i}}]}} for i in range(9))
    )
    rows = [
        {"id": f"t{i}", "case_id": f"c{i % 10}", "calls": [{"tool": "a", "arguments": {"i": i % 4}}], "metadata": {"f": "f" * 3000}}
        for i in range(1200)
    ]  # fmt: skip
    write("a.jsonl", *rows[:1000])
    write("b.json", json.dumps(rows[1000:1100]))
    write("c.jsonl", *rows[1100:])
    runs = [grade_files({"traces": ["a.jsonl", "b.json", "c.jsonl"], "limits.jobs": jobs}) for jobs in (1, 3)]
    first, second = (list(graded.results()) for graded in runs)
    assert first == second
    assert ids(runs[1]) == [f"t{i}" for i in range(1200)]
    left, right = (graded.tally for graded in runs)
    assert (left.passed, left.failed, left.findings, left.unevaluable) == (
        right.passed,
        right.failed,
        right.findings,
        right.unevaluable,
    )
    assert means_of(runs[0]) == means_of(runs[1])
    assert runs[0].trace_files == runs[1].trace_files
    assert [shown.result for shown in runs[0].kept] == [shown.result for shown in runs[1].kept]


def test_means_are_exact_over_parts(write, grade_files):
    write("cases.jsonl", CASE)
    tenth = {**FEED, "arguments": {"tank": 2, **{str(key): key for key in range(9)}}}
    names = [write(f"{i}.jsonl", trace(i, tenth)).name for i in range(10)]
    assert means_of(grade_files({"traces": names}))["argument_accuracy"]["estimate"] == 0.1


# ---- what stops a run ------------------------------------------------------------------------------------------------


def test_progress_adds_up_to_the_size_of_the_input(write, plan):
    write("cases.jsonl", CASE)
    path = write("traces.jsonl", *(passing(i) for i in range(9)))
    done: list[int] = []
    with run(plan(), done.append):
        assert sum(done) == path.stat().st_size


def test_an_error_closes_the_spool_and_the_cases(write, plan, monkeypatch):
    write("cases.jsonl", CASE)
    write("traces.jsonl", passing(0), "{")
    made: list[Graded] = []
    monkeypatch.setattr(golden, "Graded", lambda plan: made.append(Graded(plan)) or made[0])
    asked = plan()
    with pytest.raises(TraceError, match=r"traces\.jsonl:2"):
        run(asked)
    assert made[0].spool.closed
    assert not asked.cases._open


def test_an_error_about_a_trace_hides_its_secrets(write, grade_files):
    write("rightcall.toml", '[redact]\npatterns = ["PRC-[0-9]+"]')
    write("cases.jsonl", CASE, {"id": "d", "expect": {"calls": []}})
    write("traces.jsonl", {"id": "PRC-4711 of amy@example.com", "calls": []})
    with pytest.raises(TraceError, match="has no case_id") as error:
        grade_files()
    assert "PRC-4711" not in str(error.value)
    assert "amy@" not in str(error.value)


def test_a_case_file_that_changes_during_the_run_stops_it(write, plan):
    path = write("cases.jsonl", CASE)
    write("traces.jsonl", passing(0))
    asked = plan()
    path.write_text(json.dumps({"id": "c", "expect": {"calls": []}}) + "\n")
    with pytest.raises(RunError, match="the file changed during the run"):
        run(asked)


def test_a_fault_of_a_trace_names_file_and_line_from_any_process(write, grade_files):
    write("cases.jsonl", CASE)
    rows: list[Any] = [passing(i, metadata={"f": "f" * 3000}) for i in range(500)]
    rows[450] = '{"id": "t", "case_id": "c", "cals": []}'
    write("traces.jsonl", *rows)
    for jobs in (1, 2):
        with pytest.raises(TraceError) as error:
            grade_files({"limits.jobs": jobs})
        assert str(error.value) == (
            "traces.jsonl:451 at $.cals: unknown field `cals`; did you mean `calls`? [TRACE_MALFORMED]"
        )


class Broken:
    """A pool whose processes are gone."""

    def submit(self, *_: object) -> None:
        raise BrokenProcessPool


def test_a_pool_that_broke_while_nobody_waited_is_a_run_error():
    class Opened:
        path = Path("x")
        dialect = type("D", (), {"name": "native"})

    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    with pytest.raises(RunError, match="a worker process died"):
        golden._submitted(Broken(), golden.files.Block(b"", 1), Opened)
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before


# ---- signals and dead processes, from outside ------------------------------------------------------------------------


def started(*arguments: str) -> subprocess.Popen[str]:
    """The command in a process group of its own, as a terminal would start it."""

    def as_in_a_terminal() -> None:
        # A test run in a shell's background ignores SIGINT, and its children would inherit that.
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    command = [
        sys.executable,
        "-m",
        "rightcall.cli.main",
        "golden",
        "traces.jsonl",
        "--cases",
        "cases.jsonl",
        *arguments,
    ]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ,
        preexec_fn=as_in_a_terminal,  # noqa: PLW1509 - no thread runs beside it
    )


def long_run(write) -> None:
    write("cases.jsonl", CASE)
    line = json.dumps(trace(0, {"tool": "x", "arguments": {"a": 1, "b": "2"}}, metadata={"f": "f" * 1000}))
    write("traces.jsonl", *[line] * 15_000)


def workers(parent: int) -> list[int]:
    """The worker processes that a process has started."""
    found = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return [int(pid) for pid in found if "spawn_main" in Path(f"/proc/{pid}/cmdline").read_text()]


def wait_for(process: subprocess.Popen[str], condition, seconds: float = 20) -> Any:
    """What the condition gives while the process runs."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and process.poll() is None:
        if found := condition():
            return found
        time.sleep(0.02)
    process.kill()
    raise AssertionError(f"it did not happen in time: {process.communicate()}")


def has_begun(process: subprocess.Popen[str]) -> bool:
    """Whether the traces are being read."""
    try:
        return any(link.readlink().name == "traces.jsonl" for link in Path(f"/proc/{process.pid}/fd").iterdir())
    except FileNotFoundError:  # closed in between
        return False


@pytest.mark.slow
@only_linux
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupt_leaves_no_file_and_130(write, tmp_path, jobs):
    long_run(write)
    before = sorted(tmp_path.iterdir())
    process = started("-o", "r.json", "-o", "r.csv", "--jobs", jobs)
    wait_for(process, lambda: has_begun(process) if jobs == "1" else len(workers(process.pid)) == 2)
    time.sleep(0.3)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert (out, err) == ("", "rightcall: interrupted; no report was written\nexit 130\n")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.slow
@only_linux
def test_a_worker_that_is_killed_is_one_line_and_5(write, tmp_path):
    long_run(write)
    process = started("-o", "r.json", "--jobs", "2")
    victims = wait_for(process, lambda: len(found := workers(process.pid)) == 2 and found)
    time.sleep(0.3)
    os.kill(victims[0], signal.SIGKILL)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 5
    assert out == ""
    assert err == "rightcall: a worker process died; is there enough memory? try --jobs 1 [RUN_BROKEN]\nexit 5\n"
    assert not (tmp_path / "r.json").exists()


@pytest.mark.parametrize("kind", [RunError, TraceError, ConfigError, NoDataError])
def test_every_error_of_a_run_is_of_the_tree(kind):
    assert issubclass(kind, RightcallError)

"""The view of a report: counts, figures and failures are those of the run, whatever it comes from."""

from __future__ import annotations

import gc
import shutil
import tracemalloc
from pathlib import Path

import msgspec
import pytest
from desk_suite import DESK, copy_desk
from report_making import written

from rightcall.cli.exits import guarded
from rightcall.cli.main import app
from rightcall.gate.decision import Decision, GateReport, JudgeFitness
from rightcall.report.view.building import view_of
from rightcall.report.view.model import Counts, Line
from rightcall.report.view.rows import outcome_of, rank_of
from rightcall.report.view.selection import MOST_LABELS, OTHERS, confusion
from rightcall.run.finished.file import read_results
from rightcall.run.finished.live import graded_results, row_of
from rightcall.run.inputs.opening import open_store
from rightcall.run.results.model import GraderResults, Row, RunResults
from rightcall.run.results.order import natural
from rightcall.run.results.store import stored_results
from rightcall.settings.load import load_settings

JUDGED = {
    "selection": ["--judge", "desk"],
    "rubric": ["--judge", "desk"],
    "interpretation": ["examples/card-desk/next.jsonl", "--judge", "desk", "--strong-judge", "second"],
    "preference": [
        "examples/card-desk/traces.jsonl", "examples/card-desk/next.jsonl", "--names", "v7,v8", "--judge", "desk",
        "--second-judge", "second",
    ],
    "golden": [],
}  # fmt: skip


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A folder with a run of every grader on record, and each as a file."""
    folder = tmp_path_factory.mktemp("desk")
    copy_desk(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("RIGHTCALL_REDACTION_KEY", "a fixed key for tests")
        for grader, more in JUDGED.items():
            code = guarded(app, [grader, *more, "-c", DESK, "--store", "desk.db", "-q", "-o", f"{grader}.json"])
            assert code in (0, 1, 3, 4)
    return folder


@pytest.fixture
def on_record(desk, monkeypatch):
    """The view of a grader's run, from the record."""
    monkeypatch.chdir(desk)
    monkeypatch.setenv("RIGHTCALL_REDACTION_KEY", "a fixed key for tests")
    loaded = load_settings(Path(DESK), {}, {"store": "desk.db"})
    with open_store(loaded) as store:
        ids = {run.grader: run.id for run, _ in store.runs()}
        yield lambda grader, **more: view_of(stored_results(store, ids[grader]), loaded, **more)


def shape(view):
    """What a report says, without the names of the run, and what waits for people, which only the record knows."""
    parts = [(one, tuple(line for line in one.lines if not line.startswith("CRITICAL "))) for one in view.graders]
    graders = [msgspec.to_builtins(msgspec.structs.replace(one, waits=(), lines=lines)) for one, lines in parts]
    return graders, [(one.unit, one.outcome, one.kind, one.words, one.lines) for one in view.failures()]


# ---- one view, whatever the run comes from ---------------------------------------------------------------------------


@pytest.mark.parametrize("grader", ["selection", "preference", "interpretation"])
def test_a_run_on_record_and_its_file_say_the_same(on_record, desk, grader):
    kept, file = on_record(grader), view_of(read_results(desk / f"{grader}.json"))
    assert [one.counts for one in kept.graders] == [one.counts for one in file.graders]
    assert [one.bars for one in kept.graders] == [one.bars for one in file.graders]
    assert [one.unit for one in kept.failures()] == [one.unit for one in file.failures()]


def test_golden_just_run_and_on_record_say_the_same(graded, tmp_path, monkeypatch):
    example = Path(__file__).resolve().parents[2] / "examples/lost-wallet"
    shutil.copytree(example, tmp_path / "wallet")
    monkeypatch.chdir(tmp_path / "wallet")
    from rightcall.run.golden.grading import run
    from rightcall.run.inputs.prepare import prepare

    assert graded
    with run(prepare(load_settings(None, {}, {}))) as done:
        live = shape(view_of(graded_results(done)))
    assert guarded(app, ["golden", "--store", "kept.db", "-q"]) == 1
    loaded = load_settings(None, {}, {"store": "kept.db"})
    with open_store(loaded) as store:
        (ids,) = [run.id for run, _ in store.runs()]
        kept = shape(view_of(stored_results(store, ids), loaded))
    words = [(unit, outcome, kind, {one for one in said if not one.startswith("CRITICAL: waits for a sign-off: ")}, lines)
             for unit, outcome, kind, said, lines in kept[1]]  # fmt: skip
    assert kept[0] == live[0]
    assert words == [(unit, outcome, kind, set(said), lines) for unit, outcome, kind, said, lines in live[1]]


# ---- outcomes --------------------------------------------------------------------------------------------------------


def row(**more) -> Row:
    """One result."""
    known = {"grader": "rubric", "unit": "t", "status": "EVALUATED", "line": b"{}"}
    return Row(**known | more)


@pytest.mark.parametrize(
    ("known", "outcome"),
    [
        ({"verdict": "PASS"}, "passed"),
        ({"verdict": "FAIL"}, "failed"),
        ({}, "passed"),
        ({"status": "UNEVALUABLE", "reason": "JUDGE_EMPTY"}, "error"),
        ({"critical": "open"}, "waiting"),
        ({"critical": "confirmed"}, "failed"),
        ({"critical": "dismissed"}, "passed"),
        ({"verdict": "FAIL", "critical": "open"}, "failed"),
        ({"verdict": "FAIL", "critical": "dismissed"}, "failed"),
        ({"status": "UNEVALUABLE", "reason": "no_trace", "critical": "open"}, "error"),
    ],
)
def test_what_came_of_a_result(known, outcome):
    assert outcome_of(row(**known)) == outcome


def test_a_critical_about_which_nothing_is_signed_waits():
    assert outcome_of(row(), "CRITICAL") == "waiting"
    assert outcome_of(row(critical="dismissed"), "CRITICAL") == "passed"


def test_the_worst_stands_first():
    order = [
        rank_of(row(verdict="FAIL"), None, ["LOW", "CRITICAL"]), rank_of(row(verdict="FAIL"), None, ["MEDIUM"]),
        rank_of(row(verdict="FAIL"), None),
        rank_of(row(status="UNEVALUABLE", reason="no_trace"), None),
        rank_of(row(), "HIGH"),
    ]  # fmt: skip
    assert order == sorted(order)
    assert len(set(order)) == 5
    assert rank_of(row(), "CRITICAL") == rank_of(row(critical="open"), None) == order[0]
    assert rank_of(row(verdict="PASS"), None) is None
    assert rank_of(row(critical="dismissed"), "CRITICAL") is None
    assert rank_of(row(status="UNEVALUABLE", reason="undecided"), None) is None


def test_names_stand_as_people_count():
    assert sorted(["t-10", "t-9", "t-009b", "a", "t-1000000000000"], key=natural) == [
        "a", "t-9", "t-009b", "t-10", "t-1000000000000"
    ]  # fmt: skip


# ---- graders ---------------------------------------------------------------------------------------------------------


def test_selection_shows_the_figures_of_its_run(on_record):
    view = on_record("selection")
    (part,) = view.graders
    assert part.counts == Counts(n=11, passed=4, failed=6, error=1)
    bars = {bar.name: bar.value for bar in part.bars}
    assert (bars["precision"].estimate, bars["precision"].n) == (0.375, 8)
    assert bars["pass rate"].excluded == 1
    (matrix, audit) = part.matrices
    assert sum(map(sum, matrix.counts)) == 10
    assert audit.counts == ((4, 0), (1, 5))
    assert [one.caption for one in part.tables] == ["Failures by category", "By tool"]
    assert any("contradicts decidable facts" in one for one in part.warnings)
    assert any("come from a recording" in one for one in part.warnings)
    first = next(view.failures())
    assert (first.kind, first.tool) == ("abstention_error", "get_limit")
    assert first.lines[0].expected == "get_limit"
    assert first.lines[0].state == "missing"
    assert (first.place.file, first.place.line) == ("examples/card-desk/cases.toml", 29)


def test_rubric_lists_what_waits_and_what_is_serious(on_record):
    view = on_record("rubric")
    assert view.graders[0].counts == Counts(n=10, passed=9, waiting=1, serious=3)
    found = [(one.unit, one.outcome, one.kind) for one in view.failures()]
    assert found == [
        ("stolen", "waiting", "CRITICAL"), ("allowance", "passed", "HIGH"), ("fee", "passed", "HIGH"),
        ("misnamed", "passed", "HIGH"),
    ]  # fmt: skip
    stolen = next(view.failures())
    assert {one.rule for one in stolen.findings} == {
        "destructive_substitution", "substitution", "misuse_severity"
    }  # fmt: skip
    assert stolen.said[0][0] == "desk"
    assert stolen.next == "rightcall show stolen"


def test_preference_says_why_there_is_no_reliability_diagram(on_record):
    (part,) = on_record("preference").graders
    assert part.bars[0].name == "v8 against v7: wins of the decisive pairs"
    assert part.bars[0].value.n == 7
    assert {one.bins for one in part.reliability} == {()}
    assert all("code has decided only" in one.notes[0] for one in part.reliability)


def test_interpretation_shows_fidelity_by_tool_and_the_two_judges(on_record):
    (part,) = on_record("interpretation").graders
    assert part.bars[0].name == "fidelity"
    assert part.bars[0].note == "light scores corrected by the strong judge"
    assert any("kappa" in line for line in part.lines)
    assert part.tables[0].caption == "Fidelity by tool"


def test_golden_shows_the_aligned_calls_of_a_failure(on_record):
    view = on_record("golden")
    first = next(view.failures())
    assert first.kind == "policy_veto"
    assert first.words[0].startswith("veto: CRITICAL")
    assert first.lines[0].vetoes
    assert first.lines[0].expected.startswith("1 freeze_card")
    assert first.lines[0].result is not None
    assert dict(first.facts)["overall"] == "0"


def test_a_preference_of_confidence_that_code_can_judge_has_bins():
    lines = []
    for n in range(20):
        winner = "A" if n < 16 else "B"
        said = {"judge": "fast", "winner": winner, "confidence": 0.8, "orders": 2}
        lines.append(msgspec.json.encode({
            "pair": f"p-{n}", "case_id": f"p-{n}", "agent_a": "a", "agent_b": "b", "grader": "preference",
            "verdict": "A", "confidence": 1.0, "decided_by": "code", "code_verdict": "A", "reconciled": [said],
        }))  # fmt: skip
    (part,) = view_of(made("preference", lines)).graders
    (diagram,) = part.reliability
    assert [(one.stated, one.share.estimate, one.share.n) for one in diagram.bins] == [(pytest.approx(0.8), 0.8, 20)]


def made(grader: str, lines, summary=None, facts=None) -> RunResults:
    """A run of one grader, out of its results."""

    def stream():
        seen: dict[str, int] = {}
        for line in lines:
            yield row_of(grader, line, seen)

    one = GraderResults(grader, facts or {}, summary or {}, stream)
    return RunResults(None, grader, "finished", {grader: one})


def test_the_most_frequent_tools_are_named_and_the_others_pooled():
    cells = [{"expected": f"tool-{n}", "selected": f"tool-{n}", "n": 40 - n} for n in range(40)]
    (matrix,) = confusion(cells)
    assert len(matrix.labels) == MOST_LABELS
    assert matrix.labels[-1] == OTHERS
    assert sum(map(sum, matrix.counts)) == sum(40 - n for n in range(40))
    assert matrix.counts[-1][-1] == sum(40 - n for n in range(MOST_LABELS - 1, 40))
    assert "26 less frequent ones" in matrix.caption


def test_a_grader_of_the_users_own_shows_the_figures_of_its_run():
    share = {"estimate": 0.5, "low": 0.1, "high": 0.9, "n": 2, "method": "wilson 0.95"}
    own = {"fields": {"polite": {"values": {"true": share}, "mean": None}}}
    line = msgspec.json.encode({"trace_id": "t", "case_id": None, "grader": "tone", "reply": {"polite": True}})
    view = view_of(made("tone", [line], {"own": own}))
    assert view.graders[0].bars[0].name == "polite = true"
    assert dict(next(view.cases()).facts) == {"polite": "yes"}


def test_a_run_without_results_says_so():
    view = view_of(made("selection", []))
    assert view.graders[0].warnings[0] == "there is no result"
    assert list(view.failures()) == []
    assert b"NO_DATA" in written(view, ".junit.xml")


def test_what_was_not_read_or_not_asked_is_said_and_left_out():
    line = msgspec.json.encode({"trace_id": "t", "case_id": "c", "grader": "golden", "verdict": "PASS"})
    (part,) = view_of(made("golden", [line], {"skipped": 3, "not_asked": 0})).graders
    assert part.counts.unread == 3
    assert part.bars[0].value.excluded == 3
    assert "3 records of the input could not be read and are in no figure" in part.warnings
    assert any(line.startswith("coverage 0.250") for line in part.lines)


def test_a_judge_that_is_a_script_is_no_judgement():
    facts = {"judges": [{"name": "s", "provider": "scripted", "model": ""}]}
    (part,) = view_of(made("rubric", [], facts=facts)).graders
    assert any("SCRIPTED" in one and "not a judgement" in one for one in part.warnings)


def test_a_run_that_stopped_says_so_first():
    results = made("golden", [])
    stopped = RunResults(None, "r", "stopped", results.graders, message="the budget is spent")
    assert view_of(stopped).notes == ("the run is not complete (stopped): the budget is spent",)


def test_the_fitness_of_judges_is_that_of_the_gate(on_record):
    fit = JudgeFitness(judge="desk", grader="selection", verdict="NOT_FIT")
    other = JudgeFitness(judge="desk", grader="rubric", verdict="FIT")
    decision = Decision(name="x", rule="y", answer="FAIL", judges=(fit, other, fit))
    view = on_record("selection", gate=GateReport(run="r", answer="FAIL", exit_code=1, decisions=(decision,)))
    assert view.graders[0].judges == (fit,)
    assert view.gate is not None


def test_a_figure_carries_the_threshold_of_its_rule(on_record):
    rules = {"selection.precision": 0.98, "selection.pass_rate": 0.9, "golden.overall": 0.5}
    decisions = tuple(Decision(name=name, rule="y", answer="FAIL", threshold=held) for name, held in rules.items())
    view = on_record("selection", gate=GateReport(run="r", answer="FAIL", exit_code=1, decisions=decisions))
    found = {bar.name: bar.threshold for bar in view.graders[0].bars if bar.threshold is not None}
    assert found == {"precision": 0.98, "pass rate": 0.9}


def test_a_report_tells_what_it_rests_on(on_record):
    facts = dict(on_record("rubric").facts)
    assert facts["agent, as the first traces say"] == "card-desk v7"
    assert "sha256" in facts["input"]
    assert facts["intervals"] == "t 0.95"
    assert facts["seed"] == "0"


# ---- streams ---------------------------------------------------------------------------------------------------------


def test_the_order_does_not_depend_on_who_answered_first():
    lines = [
        msgspec.json.encode({"trace_id": f"t-{n}", "case_id": f"c-{n}", "grader": "golden", "verdict": "PASS"})
        for n in range(30)
    ]
    forth, back = view_of(made("golden", lines)), view_of(made("golden", reversed(lines)))
    assert [one.unit for one in forth.cases()] == [one.unit for one in back.cases()] == [f"t-{n}" for n in range(30)]


def test_two_readers_at_once_do_not_disturb_each_other():
    lines = [
        msgspec.json.encode({"trace_id": f"t-{n}", "case_id": f"c-{n}", "grader": "golden", "verdict": "FAIL"})
        for n in range(10)
    ]
    view = view_of(made("golden", lines))
    pairs = list(zip(view.cases(), view.failures(), strict=True))
    assert all(one.unit == other.unit for one, other in pairs)
    assert len(pairs) == 10


def test_the_temporary_file_is_gone_with_the_view(recwarn):
    line = msgspec.json.encode({"trace_id": "t", "case_id": "c", "grader": "golden", "verdict": "FAIL"})
    view = view_of(made("golden", [line]))
    cases = view.cases
    del view
    gc.collect()
    assert [one.unit for one in cases()] == ["t"]
    del cases
    gc.collect()
    assert not recwarn.list


@pytest.mark.slow
def test_memory_does_not_grow_with_the_size_of_the_results():
    def lines(n: int, size: int):
        for number in range(n):
            finding = {"kind": "missing_call", "severity": "HIGH", "message": "x" * size, "expected": "freeze"}
            yield msgspec.json.encode({
                "trace_id": f"t-{number}", "case_id": f"c-{number}", "grader": "golden", "verdict": "FAIL",
                "findings": [finding],
            })  # fmt: skip

    def peak(size: int) -> int:
        tracemalloc.start()
        view = view_of(made("golden", lines(2_000, size)))
        for _ in view.failures():
            pass
        _, found = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return found

    small, large = peak(10), peak(4_000)
    assert large < small + 1_000_000
    assert large < 2_000 * 4_000 / 2


def test_counts_stand_in_the_same_order_whatever_kept_them(on_record, desk):
    for view in (on_record("rubric"), view_of(read_results(desk / "rubric.json"))):
        (part,) = view.graders
        table = next(one for one in part.tables if one.columns[0] == "severity")
        assert [row[0] for row in table.rows] == ["CRITICAL", "HIGH", "MEDIUM", "LOW", "NONE"]
        said = [one.text for one in part.brief if isinstance(one, Line)]
        assert "severity: CRITICAL 1 · HIGH 3 · MEDIUM 1 · LOW 1 · NONE 4" in said


def test_a_pass_that_breaks_a_rule_without_a_veto_is_said(graded):
    case = {"id": "c", "expect": {"calls": [{"tool": "refund", "arguments": {}}]}}
    trace = {"id": "t", "case_id": "c", "calls": [{"tool": "refund", "arguments": {}}]}
    policy = (
        '[[policy.requires]]\ntool = "refund"\nbefore = ["look"]\n[[policy.max_calls]]\ntool = "refund"\ncount = 0\n'
    )
    (part,) = view_of(graded_results(graded([case], [trace], policy))).graders
    assert part.counts.passed == 1
    assert "1 PASS breaks the policy by rules that are no veto: HIGH requires 1 · MEDIUM max_calls 1" in part.headline


def test_a_critical_is_counted_once_for_a_page_and_once_for_a_screen(on_record):
    (part,) = on_record("rubric").graders
    for lines in (part.lines, part.waits):
        assert [line for line in lines if line.startswith("CRITICAL ")] == ["CRITICAL 1: 1 waiting for a sign-off"]

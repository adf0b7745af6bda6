"""Sessions of pytest with the plugin: what is collected, how tests end, what is printed and written."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import rightcall
from rightcall.run.finished.file import read_results

# ---- when nothing of it is used --------------------------------------------------------------------------------------

UNUSED = """
import sys
import pytest
before = set(sys.modules)
import rightcall.plugin.hooks
new = {name.split(".")[0] for name in set(sys.modules) - before} - set(sys.stdlib_module_names)
print(sorted(new))
unrewritten = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
others = ["-p", "no:xdist", "-p", "no:cov", "-p", "no:hypothesispytest", "-p", "no:anyio"]
pytest.main(["-q", "-p", "no:cacheprovider", *unrewritten, *others])
print(sorted(name for name in sys.modules if name.split(".")[0] in ("rightcall", "msgspec", "numpy", "pydantic", "rich")))
"""


def test_a_session_without_it_loads_nothing_prints_nothing_and_writes_nothing(tmp_path):
    (tmp_path / "test_plain.py").write_text("def test_plain(tmp_path): pass\n")
    found = subprocess.run(
        [sys.executable, "-c", UNUSED], cwd=tmp_path, capture_output=True, text=True, check=True, env=_clean()
    )
    first, *rest, last = found.stdout.splitlines()
    assert first == "['rightcall']"
    own = ["rightcall", *(f"rightcall.plugin{name}" for name in ("", ".hooks", ".marks", ".shared"))]
    assert last == str(own)
    assert [line for line in rest if "rightcall" in line] == []
    assert [path.name for path in tmp_path.iterdir() if path.name != "__pycache__"] == ["test_plain.py"]


def _clean():
    import os

    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV_"))}


def test_the_plugin_can_be_switched_off(project):
    tested = project("@pytest.mark.rightcall(repeats=2)\ndef test_it(): pass\n")
    found = tested.run("-p", "no:rightcall")
    found.stdout.fnmatch_lines(["*'rightcall' not found in `markers` configuration option*"])
    assert found.ret == pytest.ExitCode.INTERRUPTED


def test_the_marker_and_the_fixtures_are_described(project):
    tested = project("def test_it(): pass\n")
    tested.run("--markers").stdout.fnmatch_lines(["@pytest.mark.rightcall(case=…, golden=…*"])
    tested.run("--fixtures", "-q").stdout.fnmatch_lines_random(
        [f"{name}*" for name in ("rightcall_agent", "rightcall_entry", "rightcall_case", "rightcall_trial")]
    )
    tested.run("-h").stdout.fnmatch_lines(["*--rightcall-report=DIR*", "*rightcall_gate (bool):*"])


# ---- collection ------------------------------------------------------------------------------------------------------


def test_a_wrong_marker_stops_the_session_before_anything_runs(project):
    tested = project("@pytest.mark.rightcall(goldn='a')\ndef test_it(): pass\ndef test_other(): pass\n")
    found = tested.run()
    found.stdout.fnmatch_lines(["*test_it: @pytest.mark.rightcall has no key `goldn`; did you mean `golden`?"])
    found.assert_outcomes(errors=1)
    assert found.ret == pytest.ExitCode.INTERRUPTED


def test_a_method_of_a_test_case_takes_no_repeats(project):
    tested = project(
        "import unittest\nclass TestIt(unittest.TestCase):\n    @pytest.mark.rightcall(repeats=2)\n    def test_it(self): pass\n"
    )
    found = tested.run()
    found.stderr.fnmatch_lines(["ERROR: *only a test function can be repeated*"])
    assert found.ret == pytest.ExitCode.USAGE_ERROR


def test_repeats_and_cases_are_tests_of_their_own(project):
    tested = project(
        """
@pytest.mark.rightcall(repeats=2)
def test_twice(rightcall_agent): pass

@pytest.mark.rightcall(cases="many.toml")
@pytest.mark.parametrize("x", [7])
def test_each(rightcall_case, rightcall_trial, x): assert (rightcall_case.id in "ab", rightcall_trial) == (True, 1)

@pytest.mark.rightcall(cases="many.toml", case_id="b")
def test_one(rightcall_case): assert rightcall_case.id == "b"

def test_none(rightcall_case, rightcall_trial): assert (rightcall_case, rightcall_trial) == (None, 1)
"""
    )
    tested.write("many.toml", '[[case]]\nid = "a"\n[[case]]\nid = "b"\n')
    found = tested.run("-v")
    found.stdout.fnmatch_lines(
        [
            "test_desk.py::test_twice[[]trial1[]] PASSED*", "test_desk.py::test_twice[[]trial2[]] PASSED*",
            "test_desk.py::test_each[[]7-a[]] PASSED*", "test_desk.py::test_each[[]7-b[]] PASSED*",
            "test_desk.py::test_one PASSED*", "test_desk.py::test_none PASSED*",
        ]
    )  # fmt: skip
    found.assert_outcomes(passed=6)


@pytest.mark.parametrize(
    ("mark", "said"),
    [
        ('golden="gone.toml"', "*rightcall: gone.toml: no such file; it is looked for in *"),
        ('cases="lost.toml", case_id="loss"', "*rightcall: lost.toml: has no case `loss`; did you mean `lost`?*"),
        ('case={"id": "a", "expct": {}}', "*did you mean `expect`*"),
    ],
)
def test_a_case_that_cannot_be_read_is_an_error_of_the_test(project, mark, said):
    found = project(f"@pytest.mark.rightcall({mark})\ndef test_it(rightcall_agent): pass\n").run()
    found.stdout.fnmatch_lines([said])
    found.assert_outcomes(errors=1)


def test_a_golden_with_several_cases_must_be_told_which(project):
    tested = project('@pytest.mark.rightcall(golden="many.toml")\ndef test_it(rightcall_case): pass\n')
    tested.write("many.toml", '[[case]]\nid = "a"\n[[case]]\nid = "b"\n')
    tested.run().stdout.fnmatch_lines(["*many.toml: holds 2 cases; say which one with `case_id`*"])


# ---- how a test ends -------------------------------------------------------------------------------------------------


def test_a_failure_is_the_aligned_diff_and_ends_at_the_line_of_the_test(project):
    tested = project(
        """
@pytest.mark.rightcall(golden="lost.toml")
def test_lost(rightcall_agent):
    trace = rightcall_agent.run("close it")
    trace.assert_golden(min_overall=0.9)
"""
    )
    found = tested.run()
    lines = found.outlines
    start = lines.index(">       trace.assert_golden(min_overall=0.9)")
    assert lines[start : start + 15] == [
        ">       trace.assert_golden(min_overall=0.9)",
        "E       AssertionError: golden lost: FAIL, overall 0.00 is below 0.9",
        "E       test_desk.py::test_lost · case lost · FAIL · 1 call, golden 1",
        "E         expected: freeze_card",
        "E         called: close_card",
        "E         missing: freeze_card",
        "E         surplus: close_card",
        "E          golden                               agent",
        'E       ≠  1 freeze_card card_ending="4242"     1 close_card card_ending="4242"',
        'E                                               reason="lost"',
        "E                                                 ✗ in its place",
        "E         HIGH substituted_call: expected freeze_card, called close_card (call 1)",
        "E         tools 0.00 (4) · args – (3) · order – (2) · steps 0.00 (1) → overall 0.00",
        "",
        "test_desk.py:6: AssertionError",
    ]
    found.assert_outcomes(failed=1)


JUDGE = """
import json
from rightcall import Judge
from rightcall.testing import ScriptedModel

TOOLS = [{"name": "freeze_card", "parameters": {"type": "object"}}, {"name": "close_card", "parameters": {"type": "object"}}]
SCORES = {
    "tool_selection_score": 5, "argument_accuracy_score": 5, "call_sequencing_score": 5, "abstention_score": None,
    "misuse_severity": "NONE", "downstream_impact": "None.", "justification": "Right.",
}
def judge(*said):
    return Judge(ScriptedModel(list(said)))
"""


def test_a_judge_without_an_answer_is_an_error_never_a_failure_and_never_a_pass(project):
    tested = project(
        JUDGE
        + """
@pytest.mark.rightcall(golden="lost.toml", tools=TOOLS)
class TestJudged:
    def test_silent(self, rightcall_agent):
        rightcall_agent.run().assert_rubric(judge=judge("no", "no"), max_severity="LOW")

    def test_swallowed(self, rightcall_agent):
        try:
            rightcall_agent.run().assert_rubric(judge=judge("no", "no"), max_severity="LOW")
        except Exception:
            pass

    def test_inverted(self, rightcall_agent):
        with pytest.raises(Exception):
            rightcall_agent.run().assert_rubric(judge=judge("no", "no"), max_severity="LOW")

    @pytest.mark.xfail
    def test_expected(self, rightcall_agent):
        rightcall_agent.run().assert_rubric(judge=judge("no", "no"), max_severity="LOW")

    def test_failed_besides(self, rightcall_agent):
        try:
            rightcall_agent.run().assert_rubric(judge=judge("no", "no"), max_severity="LOW")
        finally:
            assert 1 == 2

    def test_low(self, rightcall_agent):
        low = json.dumps({**SCORES, "misuse_severity": "HIGH"})
        rightcall_agent.run().assert_rubric(judge=judge(low), max_severity="LOW")

    def test_good(self, rightcall_agent):
        rightcall_agent.run().assert_rubric(judge=judge(json.dumps(SCORES)), max_severity="LOW")
"""
    )
    found = tested.run("-rA", "--junitxml=junit.xml")
    found.assert_outcomes(errors=4, failed=2, passed=1)
    found.stdout.fnmatch_lines(
        [
            "test_desk.py EEEEFF. *",
            "*ERROR at judging of TestJudged.test_silent*",
            "E * rightcall.plugin.Undecided: rubric: no judgement: JUDGE_NOT_JSON",
            "*- rightcall: no judgement -*",
            "This test has neither passed nor failed: *",
            "*ERROR at judging of TestJudged.test_swallowed*",
            "rubric: no judgement: JUDGE_NOT_JSON",
        ]
    )
    xml = Path("junit.xml").read_text()
    assert (xml.count("<error "), xml.count("<failure ")) == (4, 2)
    assert xml.count('<error message="has no judgement: ') == 4
    assert "failed on setup" not in xml
    assert found.ret == pytest.ExitCode.TESTS_FAILED


def test_what_cannot_be_graded_is_an_error(project):
    tested = project(
        """
def test_unread(rightcall_agent):
    rightcall_agent.tool("x")(lambda v: 1)(object())
    rightcall_agent.recorded().should_not_call("x", v=2)

@pytest.mark.rightcall(case={"id": "a"})
def test_nothing(rightcall_agent):
    rightcall_agent.run("block").assert_golden()

def test_no_agent(rightcall_agent, monkeypatch):
    rightcall_agent._entry = None
    rightcall_agent.run("block")

def test_wrong_use(rightcall_agent):
    rightcall_agent.run()
"""
    )
    found = tested.run()
    found.assert_outcomes(errors=4)
    found.stdout.fnmatch_lines(
        [
            "*ERROR at grading of test_unread*", "*- rightcall: not gradable -*", "*nothing_expected*",
            "E*rightcall does not know how to call your agent. Say it once, in conftest.py:", "E*def rightcall_entry():",
            "*there is nothing to ask*",
        ]
    )  # fmt: skip


def test_async_tests_run_without_another_plugin(project):
    tested = project(
        """
import asyncio

@pytest.mark.rightcall(golden="lost.toml", repeats=2)
async def test_async(rightcall_agent, tmp_path):
    await asyncio.sleep(0)
    trace = await rightcall_agent.run_async()
    trace.assert_golden()
    assert tmp_path.exists()

def test_by_hand(rightcall_agent):
    asyncio.run(rightcall_agent.run_async("block")).should_call("freeze_card")
"""
    )
    tested.run().assert_outcomes(passed=3)


def test_an_async_test_of_somebody_else_is_left_to_pytest(project):
    found = project("async def test_async(): pass\n").run()
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(["*async def functions are not natively supported*"])


# ---- repeats ---------------------------------------------------------------------------------------------------------

FLAKY = """
@pytest.mark.rightcall(golden="lost.toml", repeats=3)
def test_flaky(rightcall_agent):
    rightcall_agent.run("close it" if rightcall_agent.trial == 2 else "freeze it").assert_golden()

@pytest.mark.rightcall(repeats=2)
def test_steady(rightcall_agent):
    rightcall_agent.run("freeze it").should_call("freeze_card")

@pytest.mark.rightcall(repeats=2)
def test_half(rightcall_agent):
    if rightcall_agent.trial == 2:
        rightcall_agent.record(object())
"""


def test_repeats_are_summed_up_as_pass_hat_k(project):
    found = project(FLAKY).run()
    found.stdout.fnmatch_lines(
        [
            "*= rightcall =*",
            "repeats: pass^k is how often k trials of a test all pass",
            "  test_desk.py::test_flaky: 2 of 3 passed  FLAKY",
            "    pass^1 0.667 *",
            "    pass^2 0.333 *",
            "    pass^3 0.000 *",
            "  test_desk.py::test_half: 1 of 1 passed, 1 without an answer",
            "    pass^1 1.000 *",
            "    pass^2 no case has 2 trials",
            "  test_desk.py::test_steady: 2 of 2 passed",
            "  all 3 repeated tests, 1 of them flaky",
            "    pass^1 0.889 * n=3",
            "    pass^2 0.667 * n=2",
            "    pass^3 0.000 * n=1",
        ]
    )
    assert found.ret == pytest.ExitCode.TESTS_FAILED


# ---- the report ------------------------------------------------------------------------------------------------------

MANY = (
    JUDGE
    + FLAKY
    + """
@pytest.mark.rightcall(golden="lost.toml")
def test_stops_early(rightcall_agent):
    rightcall_agent.run("close it").should_call("freeze_card")

@pytest.mark.rightcall(golden="lost.toml")
def test_breaks(rightcall_agent, monkeypatch):
    rightcall_agent._entry = lambda request, recorder: recorder.tool("freeze_card")(lambda card_ending: 1 / 0)("4242")
    rightcall_agent.run()

@pytest.mark.rightcall(golden="lost.toml")
def test_never_runs_the_agent(rightcall_agent):
    assert 1 == 2

@pytest.mark.rightcall(golden="lost.toml")
def test_skipped(rightcall_agent):
    pytest.skip("not today")

@pytest.mark.rightcall(golden="lost.toml", tools=TOOLS)
def test_judged(rightcall_agent):
    trace = rightcall_agent.run("freeze card of ann@example.org")
    trace.assert_golden()
    trace.assert_rubric(judge=judge(json.dumps(SCORES)), max_severity="LOW")

def test_unmarked(rightcall_agent):
    rightcall_agent.run("freeze it").should_call("freeze_card")
"""
)


def rows(folder="out"):
    found = read_results(Path(folder) / "results.json")
    assert len(rightcall.load_traces(Path(folder) / "traces.jsonl")) == 8
    return found, [
        (row.grader, row.unit.removeprefix("test_desk.py::"), row.verdict, row.trial) for row in found.rows()
    ]


ROWS = [
    ("golden", "test_breaks", "PASS", None),
    ("golden", "test_flaky[trial1]", "PASS", 1),
    ("golden", "test_flaky[trial2]", "FAIL", 2),
    ("golden", "test_flaky[trial3]", "PASS", 3),
    ("golden", "test_judged", "PASS", None),
    ("golden", "lost (no trace)", None, None),
    ("golden", "test_stops_early", "FAIL", None),
    ("rubric", "test_judged", None, None),
]


def test_a_report_holds_what_the_marked_tests_said(project):
    found = project(MANY).run("--rightcall-report=out")
    found.stdout.fnmatch_lines(
        [
            "run pytest-*: golden 2 FAIL, 4 PASS, 1 no answer · rubric 1 scored",
            "  1 test with the marker was skipped: test_desk.py::test_skipped",
            "report: *report.html",
        ]
    )
    results, seen = rows()
    assert seen == ROWS
    value = json.loads(Path("out/results.json").read_bytes())
    assert (value["run"]["id"], value["run"]["made_by"]) == (results.id, "pytest")
    assert results.id.startswith("pytest-2")
    assert value["summary"]["graders"]["golden"] == {
        "n": 7, "evaluated": 6, "unevaluable": 1, "passed": 4, "failed": 2, "skipped": 1, "coverage": 6 / 8,
    }  # fmt: skip
    assert [one["test"] for one in value["run"]["repeats"]] == [
        f"test_desk.py::test_{name}" for name in ("flaky", "half", "steady")
    ]
    assert value["run"]["skipped"] == ["test_desk.py::test_skipped"]
    assert value["run"]["missing"] == []
    assert set(value["run"]["case_versions"]) == {"lost"}
    assert len(Path("out/results.jsonl").read_text().splitlines()) == 8
    assert [
        name for name in ("report.md", "report.html", "report.junit.xml") if not (Path("out") / name).stat().st_size
    ] == []


def test_nothing_that_must_not_leave_is_in_a_report(project):
    project(MANY).run("--rightcall-report=out")
    written = [path for path in Path("out").iterdir() if b"ann@example.org" in path.read_bytes()]
    assert written == []
    assert "⟦email:".encode() in Path("out/traces.jsonl").read_bytes()


@pytest.mark.slow
def test_a_report_is_the_same_from_several_processes(project):
    found = project(MANY).run("-n2", "--rightcall-report=out")
    found.stdout.fnmatch_lines(
        ["  test_desk.py::test_flaky: 2 of 3 passed  FLAKY", "run pytest-*: golden 2 FAIL, 4 PASS, 1 no*"]
    )
    results, seen = rows()
    assert seen == ROWS
    traces = rightcall.load_traces("out/traces.jsonl")
    assert {trace.metadata["pytest"]["run"] for trace in traces} == {results.id}


@pytest.mark.slow
def test_a_worker_that_dies_loses_nothing_that_was_reported(project):
    tested = project(
        """
import os, time

@pytest.mark.rightcall(golden="lost.toml")
@pytest.mark.parametrize("n", range(3))
def test_good(rightcall_agent, n):
    rightcall_agent.run().assert_golden()

@pytest.mark.rightcall(golden="lost.toml")
def test_zz_dies(rightcall_agent):
    rightcall_agent.run()
    time.sleep(0.3)
    os._exit(3)
"""
    )
    found = tested.run("-n1", "--max-worker-restart=0", "--rightcall-report=out", "--rightcall-gate", "-p", "xdist")
    found.stdout.fnmatch_lines(
        [
            "  1 test with the marker did not run to the end: test_desk.py::test_zz_dies",
            "gate: *",
            "*coverage*INCONCLUSIVE*",
        ]
    )
    assert found.ret == pytest.ExitCode.TESTS_FAILED
    assert "did not run to the end" in Path("out/report.md").read_text()
    results = read_results(Path("out/results.json"))
    assert [(row.unit, row.status) for row in results.rows()] == [
        ("test_desk.py::test_good[0]", "EVALUATED"), ("test_desk.py::test_good[1]", "EVALUATED"),
        ("test_desk.py::test_good[2]", "EVALUATED"), ("lost (no trace)", "UNEVALUABLE"),
    ]  # fmt: skip


def test_an_interrupted_session_reports_what_there_is_and_asks_no_gate(project):
    tested = project(
        """
@pytest.mark.rightcall(golden="lost.toml")
def test_a(rightcall_agent):
    rightcall_agent.run().assert_golden()

@pytest.mark.rightcall(golden="lost.toml")
def test_b(rightcall_agent):
    raise KeyboardInterrupt
"""
    )
    found = tested.run("--rightcall-report=out", "--rightcall-gate")
    assert found.ret == pytest.ExitCode.INTERRUPTED
    found.stdout.fnmatch_lines(
        ["*did not run to the end: test_desk.py::test_b", "the session was interrupted: the gate was not asked"]
    )
    results = read_results(Path("out/results.json"))
    assert results.status == "interrupted"
    assert [(row.unit, row.verdict) for row in results.rows()] == [
        ("test_desk.py::test_a", "PASS"),
        ("lost (no trace)", None),
    ]


def test_a_report_that_cannot_be_written_is_no_success(project):
    tested = project('@pytest.mark.rightcall(golden="lost.toml")\ndef test_a(rightcall_agent): rightcall_agent.run()\n')
    Path("out").mkdir()
    (Path("out") / "results.json").mkdir()
    found = tested.run("--rightcall-report=out")
    found.assert_outcomes(passed=1)
    found.stdout.fnmatch_lines(["*results.json: cannot write: *"])
    assert found.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--rightcall-report=lost.toml"], "ERROR: --rightcall-report: *lost.toml is a file, not a folder"),
        (["--rightcall-gate", "--rightcall-config=gone.toml"], "ERROR: rightcall: *gone.toml: no such file*"),
    ],
)
def test_flags_that_cannot_be_used_stop_the_session(project, flags, said):
    found = project("def test_it(): pass\n").run(*flags)
    found.stderr.fnmatch_lines([said])
    assert found.ret == pytest.ExitCode.USAGE_ERROR


def test_a_session_that_only_collects_writes_nothing_and_asks_no_gate(project):
    tested = project(GOOD)
    (Path("out")).mkdir()
    tested.write("out/results.json", "of yesterday")
    found = tested.run("--co", "-q", "--rightcall-gate", "--rightcall-report=out")
    assert (found.ret, Path("out/results.json").read_text()) == (pytest.ExitCode.OK, "of yesterday")
    assert "rightcall" not in "\n".join(found.outlines)


def test_settings_that_cannot_be_used_are_one_line_of_the_test(project):
    found = project(GOOD).run("--rightcall-config=gone.toml", "--tb=short")
    found.stdout.fnmatch_lines(["rightcall: *gone.toml: no such file*"])
    assert "During handling" not in "\n".join(found.outlines)


def test_a_trace_that_cannot_be_redacted_is_an_error_and_no_crash(project):
    tested = project(
        '@pytest.mark.rightcall(golden="lost.toml")\ndef test_a(rightcall_agent): rightcall_agent.run().assert_golden()\n'
        "def test_b(): pass\n"
    )
    tested.write("rightcall.toml", '[redact]\npatterns = ["agent|user|call"]\n')
    found = tested.run("--rightcall-report=out")
    found.assert_outcomes(errors=1, passed=1)
    found.stdout.fnmatch_lines(["*cannot be reported: redact.patterns: *"])
    assert found.ret == pytest.ExitCode.TESTS_FAILED


def test_a_fixture_may_be_asked_for_while_a_test_runs(project):
    tested = project(
        """
def test_a(request):
    request.getfixturevalue("rightcall_agent").run("freeze it").should_call("freeze_card")
"""
    )
    tested.run().assert_outcomes(passed=1)


# ---- the gate --------------------------------------------------------------------------------------------------------

GOOD = '@pytest.mark.rightcall(golden="lost.toml", repeats=2)\ndef test_a(rightcall_agent): rightcall_agent.run().assert_golden()\n'
BAD = (
    '@pytest.mark.rightcall(golden="lost.toml", repeats=2)\ndef test_a(rightcall_agent): rightcall_agent.run("close")\n'
)


@pytest.mark.parametrize(
    ("tests", "gates", "answer", "code"),
    [
        (GOOD, '"golden.pass_rate" = { min = 0.9, on = "point" }', "PASS", 0),
        (GOOD, '"golden.pass_rate" = { min = 0.98 }', "INCONCLUSIVE", 1),
        (BAD, '"golden.pass_rate" = { min = 0.9, on = "point" }', "FAIL", 1),
    ],
)
def test_the_gate_decides_the_exit_status_of_a_session_that_passed(project, tests, gates, answer, code):
    tested = project(tests)
    tested.write("rightcall.toml", f"[gates]\n{gates}\n")
    found = tested.run("--rightcall-gate")
    found.assert_outcomes(passed=2)
    found.stdout.fnmatch_lines([f"gate: {answer}", f"  golden.pass_rate *{answer}"])
    assert found.ret == code


def test_a_session_without_results_never_passes_a_gate(project):
    found = project("def test_it(): pass\n").run("--rightcall-gate")
    found.assert_outcomes(passed=1)
    found.stdout.fnmatch_lines(["the gate cannot be asked: no test has a result of a grader; mark one: *"])
    assert found.ret == pytest.ExitCode.TESTS_FAILED


def test_a_gate_on_something_that_there_is_none_of_is_named(project):
    tested = project(GOOD)
    tested.write("rightcall.toml", '[gates]\n"golden.pas_rate" = { min = 0.9 }\n')
    found = tested.run("--rightcall-gate")
    assert "golden.pass_rate" in "\n".join([*found.outlines, *found.errlines])
    assert found.ret != 0


def test_the_ini_file_says_the_same_as_the_flags(project):
    tested = project(GOOD)
    tested.write("gates.toml", '[gates]\n"golden.pass_rate" = { min = 0.98 }\n')
    tested.write(
        "pytest.ini",
        "[pytest]\naddopts = -p no:cacheprovider\nrightcall_report = out\nrightcall_gate = true\nrightcall_config = gates.toml\n",
    )
    found = tested.run()
    found.stdout.fnmatch_lines(["gate: INCONCLUSIVE"])
    assert Path("out/report.md").exists()
    assert found.ret == pytest.ExitCode.TESTS_FAILED


def test_offline_is_what_the_flag_says(project):
    tested = project(
        JUDGE
        + """
@pytest.mark.rightcall(tools=TOOLS)
def test_away(rightcall_agent):
    away = Judge("openai:some-model", base_url="http://127.0.0.1:9/v1")
    rightcall_agent.run("freeze it").assert_rubric(judge=away, max_severity="LOW")
"""
    )
    found = tested.run("--rightcall-offline")
    found.assert_outcomes(errors=1)
    found.stdout.fnmatch_lines(["*no judgement: not_recorded: there is no answer on record*"])

"""The public interface: what `import rightcall` offers, and that it means what it says."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from fractions import Fraction
from importlib import import_module, metadata
from inspect import getdoc, signature
from pathlib import Path

import pytest

import rightcall
from rightcall import (
    Case,
    CaseError,
    ConfigError,
    Judge,
    Malformed,
    Policy,
    RightcallError,
    Step,
    Tool,
    Trace,
    call,
    grade,
    load_cases,
    load_traces,
    read_reply,
    rubric,
    select,
    selection,
)

HERE = Path(__file__).parent
DONE = {
    "Case", "Judge", "Malformed", "Message", "Policy", "RightcallError", "Step", "Store", "Tool", "Trace", "calibrate", "call", "grade",
    "interpretation", "load_cases", "load_policy", "load_steps", "load_tools", "load_traces", "preference", "read_reply",
    "rubric", "run", "select", "selection",
}  # fmt: skip
MET = {
    "CalibrationReport", "Call", "CaseError", "ConfigError", "Finding", "FinishedSuite", "GateReport", "GoldenResult", "InterpretationResult", "JudgedRun", "Metrics",
    "MissingExtraError", "NoDataError", "Opinion", "Place", "PreferenceResult", "ProviderError", "RateLimited", "Rejected", "Result", "RubricResult", "RunError", "SelectionResult",
    "StoreError", "TraceError", "Unavailable",
}  # fmt: skip
"""What a program only meets: results, their parts, errors."""
ALSO_PACKAGES = {"grade", "run"}
"""Functions that share their name with a package, which is what an attribute of `rightcall` may be."""


def written(tmp_path: Path, *calls: dict) -> Case:
    path = tmp_path / "cases.json"
    path.write_text(json.dumps({"id": "c", "expect": {"calls": list(calls)}}))
    return load_cases(path)[0]


def outcome(statement: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-I", "-c", statement], capture_output=True, text=True, check=False)


# ---- the surface -----------------------------------------------------------------------------------------------------


def test_the_names_that_are_used_from_outside_are_there():
    assert set(rightcall.__all__) == DONE
    assert len(rightcall.__all__) <= 25
    assert {name for name in DONE | MET if not hasattr(rightcall, name)} == set()


def test_what_is_only_met_comes_from_where_it_lives():
    assert set(rightcall._MET) == MET
    for name, home in rightcall._MET.items():
        assert getattr(rightcall, name) is getattr(import_module(home), name)
        assert getattr(rightcall, name).__module__ == home


def test_every_error_that_can_be_raised_has_its_name_in_the_package():
    errors = import_module("rightcall.errors")
    tree = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, RightcallError)}
    assert tree - MET - DONE == {"ReplyError"}, "a reply that cannot be read is a value"


def test_the_lazy_names_are_those_of_the_api():
    api = import_module("rightcall.api")
    assert sorted(api.__all__) == sorted(rightcall.__all__)
    names = set(rightcall.__all__) - ALSO_PACKAGES
    assert all(getattr(rightcall, name) is getattr(api, name) for name in names)


@pytest.mark.parametrize("name", sorted(DONE | MET))
def test_every_public_name_says_what_it_means(name):
    assert getdoc(rightcall.api_function(name))


def test_the_version_is_that_of_the_package():
    assert rightcall.__version__ == metadata.version("rightcall")


def test_the_signature_of_grade_is_fixed():
    parameters = signature(import_module("rightcall.api").grade).parameters
    assert list(parameters)[:5] == ["case", "trace", "policy", "profile", "min_overall"]
    assert parameters["policy"].kind is parameters["policy"].KEYWORD_ONLY
    assert (parameters["policy"].default, parameters["profile"].default, parameters["min_overall"].default) == (
        None,
        "balanced",
        1,
    )


@pytest.mark.parametrize(
    "before",
    [
        "",
        "import rightcall.grade",
        "import rightcall.grade.golden",
        "from rightcall.grade.golden import Grader",
        "import rightcall.grade.golden; from rightcall import grade",
        "rightcall.grade; import rightcall.grade.safety",
        "import rightcall.api",
        "from rightcall import *",
    ],
)
def test_grade_is_a_function_whatever_was_imported_before(before):
    done = outcome(
        f"import rightcall\n{before}\n"
        "result = rightcall.grade(rightcall.Case(id='c'), rightcall.Trace(id='t'))\n"
        "from rightcall import grade\n"
        "assert grade(rightcall.Case(id='c'), rightcall.Trace(id='t')) == result\n"
        "from rightcall.grade.golden import Grader\n"
        "print(result.reason, Grader.__name__)"
    )
    assert (done.stderr, done.stdout) == ("", "nothing_expected Grader\n")


@pytest.mark.parametrize(
    "before",
    [
        "",
        "import rightcall.run",
        "from rightcall.run.inputs.plan import Plan",
        "import rightcall.api",
        "from rightcall import *",
    ],
)
def test_run_is_a_function_whatever_was_imported_before(before):
    done = outcome(
        f"import rightcall\n{before}\n"
        "async def work(): return 7\n"
        "from rightcall import run\n"
        "print(rightcall.run(work()), run(work()))\n"
        "from rightcall.run.inputs.plan import Plan\n"
        "print(Plan.__name__)"
    )
    assert (done.stderr, done.stdout) == ("", "7 7\nPlan\n")


def test_the_room_of_the_grader_passes_everything_on():
    room = import_module("rightcall.grade")
    assert room(Case(id="c"), Trace(id="t"), profile="strict").profile == "strict"
    with pytest.raises(TypeError):
        room(Case(id="c"))


@pytest.mark.slow
def test_the_types_are_those_that_a_checker_sees():
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(HERE / "typing" / "api.py")]
    done = subprocess.run(command, cwd=HERE.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_file_for_the_checker_uses_every_public_name():
    text = (HERE / "typing" / "api.py").read_text()
    assert [name for name in rightcall.__all__ if f"    {name},\n" not in text] == []


# ---- grading ---------------------------------------------------------------------------------------------------------

FEED = {"tool": "feed", "arguments": {"tank": 2}}


def test_a_trace_that_does_what_is_expected_passes(tmp_path):
    result = grade(written(tmp_path, FEED), Trace(id="t", events=(call("feed", {"tank": 2}),)))
    assert (result.verdict, result.passed, result.overall, result.metrics.exact_match) == ("PASS", True, 1.0, True)
    assert result.findings == ()


def test_files_and_values_give_the_same_answer(tmp_path):
    (tmp_path / "traces.jsonl").write_text(json.dumps({"id": "t", "case_id": "c", "calls": [FEED]}))
    case = written(tmp_path, FEED)
    read = load_traces(tmp_path / "traces.jsonl")[0]
    made = Trace(id="t", case_id="c", events=(call("feed", {"tank": 2}),))
    assert grade(case, read) == grade(case, made)


@pytest.mark.parametrize(
    ("calls", "limit", "verdict"),
    [
        (10, 0.1, "PASS"), (10, 0.10000000000000002, "FAIL"), (10, Fraction(1, 10), "PASS"), (3, 0.3333333333333333, "PASS"),
        (3, 0.33333333333333337, "FAIL"), (3, Fraction(1, 3), "PASS"), (3, 0, "PASS"), (3, 1, "FAIL"),
    ],
)  # fmt: skip
def test_the_limit_is_compared_as_it_is_written(tmp_path, calls, limit, verdict):
    """One right call of so many is an overall score of one in so many, exactly."""
    trace = Trace(id="t", events=(call("a", {}), *(call(f"x{i}", {}) for i in range(calls - 1))))
    result = grade(written(tmp_path, {"tool": "a"}), trace, min_overall=limit)
    assert (result.metrics.overall, result.verdict) == (1 / calls, verdict)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"min_overall": 1.5}, "min_overall must be from 0 to 1"),
        ({"min_overall": -0.1}, "min_overall must be from 0 to 1"),
        ({"min_overall": float("nan")}, "min_overall must be from 0 to 1"),
        ({"min_overall": float("inf")}, "min_overall must be from 0 to 1"),
        ({"profile": "stict"}, "unknown profile `stict`; did you mean `strict`?"),
        ({"retries": "some"}, "retries must be `free` or `surplus`, not `some`"),
        ({"surplus_reads": "some"}, "surplus_reads must be `free` or `charged`, not `some`"),
        ({"tools": [Tool(name="a", parameters={"type": "strin"})]}, "a"),
    ],
)
def test_an_option_that_cannot_be_used_is_an_error_of_ours(options, said):
    with pytest.raises(ConfigError) as error:
        grade(Case(id="c"), Trace(id="t"), **options)
    assert said in str(error.value)
    assert isinstance(error.value, RightcallError)


def test_options_reach_the_grader(tmp_path):
    case, aliased = written(tmp_path, FEED), Trace(id="t", events=(call("mcp__feed", {"tank": 2}),))
    assert grade(case, aliased).verdict == "FAIL"
    assert grade(case, aliased, aliases={"mcp__feed": "feed"}).verdict == "PASS"
    twice = Trace(id="t", events=(call("feed", {"tank": 2}, error="busy"), call("feed", {"tank": 2})))
    assert (grade(case, twice).verdict, grade(case, twice, retries="surplus").verdict) == ("PASS", "FAIL")
    read = Trace(id="t", events=(call("look", {}), call("feed", {"tank": 2})))
    policy = Policy(classes={"look": "read"})
    assert grade(case, read, policy=policy, surplus_reads="free").verdict == "PASS"
    assert grade(case, read, policy=policy).verdict == "FAIL"
    assert grade(case, aliased, policy=Policy(forbidden=("mcp__feed",))).vetoes[0].rule == "forbidden"
    known = grade(case, Trace(id="t", events=(call("feed", {"tank": 2}),)), tools=iter([Tool(name="other")]))
    assert {finding.kind for finding in known.findings} == {"unknown_tool"}


def test_a_case_that_contradicts_itself_is_an_error(tmp_path):
    with pytest.raises(CaseError, match="circle"):
        grade(written(tmp_path, {"tool": "a", "after": ["b"]}, {"tool": "b", "after": ["a"]}), Trace(id="t"))


def test_nothing_is_hidden_from_a_program(tmp_path):
    """Redaction is for what is stored, shown and written; a value stays what it is."""
    case = written(tmp_path, {"tool": "pay", "arguments": {"card": "4111 1111 1111 1111"}})
    result = grade(case, Trace(id="t", events=(call("pay", {"card": "4242"}),)))
    assert result.findings[0].expected == "4111 1111 1111 1111"


def test_results_are_values(tmp_path):
    case, trace = written(tmp_path, FEED), Trace(id="t", events=(call("feed", {"tank": 3}),))
    assert grade(case, trace) == grade(case, trace)
    with pytest.raises(AttributeError):
        grade(case, trace).verdict = "PASS"


# ---- one step --------------------------------------------------------------------------------------------------------

CATALOG = (Tool(name="feed"), Tool(name="drain", annotations={"destructiveHint": True}))


def test_a_step_is_graded_by_code():
    assert select(Step(id="s", selected="feed", expected="feed"), tools=CATALOG).passed
    wrong = select(Step(id="s", selected="drain", expected="feed"), tools=CATALOG)
    assert (wrong.verdict, wrong.failure_category, wrong.destructive) == ("FAIL", "wrong_tool", True)
    unknown = select(Step(id="s", selected="feed", expected="fill"), tools=CATALOG)
    assert (unknown.status, unknown.reason) == ("UNEVALUABLE", "expected_not_in_catalog")


# ---- replies ---------------------------------------------------------------------------------------------------------

FIVES = {
    "tool_selection_score": 5, "argument_accuracy_score": 5, "call_sequencing_score": 4, "abstention_score": None,
    "misuse_severity": "NONE", "downstream_impact": "None.", "justification": "Flawless.",
}  # fmt: skip


def test_a_reply_is_a_verdict_or_says_why_it_is_none():
    good = read_reply("rubric", json.dumps(FIVES))
    assert not isinstance(good, Malformed)
    assert good.overall_score == pytest.approx(14 / 3)
    bad = read_reply("rubric", json.dumps(FIVES | {"call_sequencing_score": 6}))
    assert isinstance(bad, Malformed)
    assert (bad.code, [problem.path for problem in bad.problems]) == ("JUDGE_SCHEMA", ["call_sequencing_score"])


def test_the_reason_why_a_model_stopped_counts():
    assert read_reply("rubric", '{"tool', finish_reason="length").code == "JUDGE_TRUNCATED"
    assert read_reply("rubric", '{"tool', finish_reason="stop").code == "JUDGE_NOT_JSON"


def test_a_reply_is_checked_against_the_calls_that_were_shown():
    evaluated = FIVES | {
        "tool_call_evaluations": [{"call_id": "c9", "tool_name": "feed", "score": 5, "reason": "Right."}]
    }
    assert not isinstance(read_reply("rubric", json.dumps(evaluated)), Malformed)
    assert read_reply("rubric", json.dumps(evaluated), calls={"c1": "feed"}).code == "JUDGE_INCONSISTENT"


def test_a_reply_to_a_grader_of_ones_own_is_read_by_its_schema():
    schema = {"type": "object", "properties": {"tone": {"enum": ["kind", "curt"]}}, "required": ["tone"]}
    assert read_reply("tone", '{"tone": "kind"}', schema=schema).values() == {"tone": "kind"}
    assert read_reply("tone", '{"tone": "loud"}', schema=schema).code == "JUDGE_SCHEMA"
    with pytest.raises(ConfigError, match="tone"):
        read_reply("tone", '{"tone": "kind"}')


# ---- the one sync door -----------------------------------------------------------------------------------------------


def test_a_judged_grader_is_awaited_or_run():
    judge = Judge(lambda _: json.dumps(FIVES))
    trace = Trace(id="t", request="Feed tank 2.", events=(call("feed", {"tank": 2}),))
    waited = rightcall.run(rubric([trace], judge=judge, tools=CATALOG))

    async def program():
        return await asyncio.gather(
            rubric([trace], judge=judge, tools=CATALOG), selection([Step(id="s", selected=None, expected=None)])
        )

    scored, chosen = asyncio.run(program())
    assert scored.results[0].metrics == waited.results[0].metrics
    assert chosen.results[0].passed


def test_inside_a_running_loop_run_says_what_to_write():
    async def program():
        with pytest.raises(ConfigError, match="write `await …` in place of"):
            rightcall.run(selection([]))

    asyncio.run(program())


def test_run_takes_nothing_but_what_can_be_awaited():
    with pytest.raises(ConfigError, match="a list is neither"):
        rightcall.run([])


def test_the_signatures_of_the_judged_graders_are_fixed():
    graders = {
        selection: "steps", rubric: "traces", rightcall.preference: "agents", rightcall.interpretation: "traces"
    }  # fmt: skip
    for grader, first in graders.items():
        parameters = signature(grader).parameters
        assert next(iter(parameters)) == first
        assert all(
            parameters[name].kind is parameters[name].KEYWORD_ONLY for name in ("judge", "store", "policy", "tools")
        )
        assert (parameters["judge"].default, parameters["store"].default) == (None, None)

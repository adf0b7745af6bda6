"""The public interface: what `import rightcall` offers, and that it means what it says."""

from __future__ import annotations

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
    Policy,
    RightcallError,
    Tool,
    Trace,
    call,
    grade,
    load_cases,
    load_traces,
)

HERE = Path(__file__).parent
PUBLIC = {
    "Call", "Case", "CaseError", "ConfigError", "Finding", "GoldenResult", "Message", "Metrics", "NoDataError", "Place", "Policy",
    "Result", "RightcallError", "Tool", "Trace", "TraceError", "call", "grade", "load_cases", "load_traces",
}  # fmt: skip


def written(tmp_path: Path, *calls: dict) -> Case:
    path = tmp_path / "cases.json"
    path.write_text(json.dumps({"id": "c", "expect": {"calls": list(calls)}}))
    return load_cases(path)[0]


def outcome(statement: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-I", "-c", statement], capture_output=True, text=True, check=False)


# ---- the surface -----------------------------------------------------------------------------------------------------


def test_the_names_that_are_used_from_outside_are_there():
    assert set(rightcall.__all__) >= PUBLIC
    assert len(rightcall.__all__) <= 25


def test_the_lazy_names_are_those_of_the_api():
    api = import_module("rightcall.api")
    assert sorted(api.__all__) == sorted(rightcall.__all__)
    assert all(getattr(rightcall, name) is getattr(api, name) for name in rightcall.__all__ if name != "grade")


@pytest.mark.parametrize("name", rightcall.__all__)
def test_every_public_name_says_what_it_means(name):
    assert getdoc(getattr(import_module("rightcall.api"), name))


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

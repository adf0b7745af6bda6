"""The public interface as a user's type checker sees it: checked by `tests/test_api.py` with mypy, never run."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, assert_type

import rightcall
from rightcall import (
    Call,
    Case,
    CaseError,
    ConfigError,
    Finding,
    GoldenResult,
    Message,
    Metrics,
    NoDataError,
    Place,
    Policy,
    Result,
    RightcallError,
    Tool,
    Trace,
    TraceError,
    call,
    grade,
    load_cases,
    load_policy,
    load_traces,
)

# ---- reading ----

assert_type(load_traces("traces.jsonl"), list[Trace])
assert_type(load_traces("traces.jsonl", dialect="native"), list[Trace])
assert_type(load_cases("cases.toml"), list[Case])
load_traces(3)  # type: ignore[arg-type]
load_traces("traces.jsonl", dialekt="native")  # type: ignore[call-arg]

# ---- what happened ----

made = call("feed", {"tank": 2}, result={"ok": True}, turn=1, id="c1")
assert_type(made, Call)
assert_type(made.tool, str)
assert_type(made.arguments, dict[str, Any] | None)
assert_type(made.failed, bool | None)
assert_type(made.result, Result | None)
call("feed", "text")  # type: ignore[arg-type]

trace = Trace(id="t", case_id="c", events=(made, Message(role="assistant", text="Done.")))
assert_type(trace.calls, tuple[Call, ...])
assert_type(trace.completed, bool | None)
assert_type(trace.digest, str)
Trace(case_id="c")  # type: ignore[call-arg]
Message(role="tool", text="x")  # type: ignore[arg-type]
trace.id = "other"  # type: ignore[misc]

# ---- what should have happened ----

case = Case(id="c", request="Feed tank 2.")
assert_type(case.policy, Policy | None)
policy = Policy(classes={"drain": "destructive"}, forbidden=("flood",))
assert_type(policy + policy, Policy)
assert_type(load_policy(Path("policy.toml")), Policy)
Policy(classes={"drain": "deadly"})  # type: ignore[dict-item]

# ---- grading ----

result = grade(case, trace, policy=policy, profile="strict", min_overall=Fraction(1, 2))
assert_type(result, GoldenResult)
assert_type(result.status, Literal["EVALUATED", "UNEVALUABLE"])
assert_type(result.verdict, Literal["PASS", "FAIL"] | None)
assert_type(result.passed, bool)
assert_type(result.metrics, Metrics)
assert_type(result.metrics.overall, float | None)
assert_type(result.metrics.matched, int | None)
assert_type(result.findings, tuple[Finding, ...])
assert_type(result.findings[0].path, str | None)
grade(case, trace, min_overall=0.5, tools=[Tool(name="feed")], aliases={"mcp__feed": "feed"})
grade(trace, case)  # type: ignore[arg-type]
grade(case, trace, policy)  # type: ignore[call-arg]
assert_type(rightcall.grade(case, trace), GoldenResult)

# ---- errors ----

try:
    load_traces("traces.jsonl")
except (TraceError, CaseError, ConfigError, NoDataError) as error:
    assert_type(error.code, str)
    assert_type(error.place, Place)
    assert_type(error.place.line, int | None)
    assert_type(error.hint, str | None)
except RightcallError as other:
    assert_type(other.exit_code, int)

assert_type(rightcall.__version__, str)
rightcall.no_such_name  # type: ignore[attr-defined]  # noqa: B018

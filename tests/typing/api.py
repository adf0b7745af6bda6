"""The public interface as a user's type checker sees it: checked by `tests/test_api.py` with mypy, never run."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, assert_type

import rightcall
from rightcall import (
    CalibrationReport,
    Call,
    Case,
    CaseError,
    ConfigError,
    Finding,
    FinishedSuite,
    GateReport,
    GoldenResult,
    InterpretationResult,
    Judge,
    JudgedRun,
    Malformed,
    Message,
    Metrics,
    NoDataError,
    Place,
    Policy,
    PreferenceResult,
    ProviderError,
    Result,
    RightcallError,
    RubricResult,
    SelectionResult,
    Step,
    Store,
    StoreError,
    Tool,
    Trace,
    TraceError,
    calibrate,
    call,
    grade,
    interpretation,
    load_cases,
    load_policy,
    load_steps,
    load_tools,
    load_traces,
    preference,
    read_reply,
    rubric,
    run,
    select,
    selection,
)
from rightcall.judge.rubric import RubricReply
from rightcall.judge.selection import SelectionReply
from rightcall.llm.client import Request
from rightcall.testing import ScriptedModel

# ---- reading ----

assert_type(load_traces("traces.jsonl"), list[Trace])
assert_type(load_traces("traces.jsonl", dialect="native"), list[Trace])
assert_type(load_cases("cases.toml"), list[Case])
assert_type(load_steps("steps.jsonl"), list[Step])
assert_type(load_tools("tools.json"), tuple[Tool, ...])
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

# ---- one step ----

step = Step(id="s", selected="feed", expected=None)
assert_type(step.expected, str | None)
assert_type(select(step, tools=[Tool(name="feed")]), SelectionResult)
assert_type(select(step).verdict, Literal["PASS", "FAIL"] | None)
Step(id="s", selected="feed")  # type: ignore[call-arg]
select("feed")  # type: ignore[arg-type]

# ---- replies ----

reply = read_reply("rubric", "{}", finish_reason="stop", calls={"c1": "feed"})
assert_type(reply, RubricReply | Malformed)
if isinstance(reply, Malformed):
    assert_type(reply.problems[0].path, str)
else:
    assert_type(reply.tool_selection_score, int)
assert_type(read_reply("selection", "{}"), SelectionReply | Malformed)
read_reply("tone", "{}", schema={"type": "object"})
read_reply("rubric", "{}", "stop")  # type: ignore[call-overload]

# ---- judges ----


def plain(request: Request) -> str:
    return request.user


async def later(request: Request) -> str:
    return request.user


fast = Judge("openai:MODEL", base_url="http://127.0.0.1:8080/v1", temperature=None, max_tokens=512)
Judge(plain, name="mine")
Judge(later, model="in-house-7b")
Judge(ScriptedModel(["{}"]))
assert_type(Judge.from_settings("fast"), Judge)
assert_type(Judge.recorded(Path("replies.jsonl")), Judge)
Judge("openai:MODEL", temprature=1.0)  # type: ignore[call-arg]
Judge("openai:MODEL", max_tokens="many")  # type: ignore[arg-type]
Judge(lambda: "text")  # type: ignore[arg-type, misc]


async def program() -> None:
    scored = await rubric([trace], judge=fast, cases=[case], store="record.db", policy=policy, budget="200calls")
    assert_type(scored, JudgedRun[RubricResult])
    assert_type(scored.results[0].overall_score, float | None)
    assert_type(scored.stopped, str | None)
    assert_type(scored.summary(), dict[str, Any])
    chosen = await selection([step], judge=["fast", fast], settings="rightcall.toml", replicates=3)
    assert_type(chosen, JudgedRun[SelectionResult])
    await rubric([trace], judge=plain)  # type: ignore[arg-type]
    compared = await preference([trace], [trace], names=["old", "new"], judge=fast, second_judge="strong")
    assert_type(compared, JudgedRun[PreferenceResult])
    read = await interpretation([trace], judge=fast, strong_judge="strong", options={"strong_share": 0.5})
    assert_type(read.results[0].interpretation_fidelity_score, float | None)
    assert_type(read, JudgedRun[InterpretationResult])
    await rubric([trace], judge=fast, budgt="200calls")  # type: ignore[call-arg]


with Store.open("record.db", create=False) as store:
    assert_type(store, Store)
    assert_type(run(rubric([trace], judge=fast, store=store)), JudgedRun[RubricResult])
run(trace)  # type: ignore[call-overload]

# ---- errors ----

try:
    load_traces("traces.jsonl")
except (TraceError, CaseError, ConfigError, NoDataError) as error:
    assert_type(error.code, str)
    assert_type(error.place, Place)
    assert_type(error.place.line, int | None)
    assert_type(error.hint, str | None)
except (ProviderError, StoreError) as broken:
    assert_type(broken.exit_code, int)
except RightcallError as other:
    assert_type(other.exit_code, int)

assert_type(rightcall.__version__, str)
rightcall.no_such_name  # type: ignore[attr-defined]  # noqa: B018

# ---- suites, gates, calibration ----

suite = run("rightcall.toml")
assert_type(suite, FinishedSuite)
assert_type(run(Path("rightcall.toml")), FinishedSuite)
assert_type(suite.gate, GateReport | None)
assert_type(run(rubric([trace])).gate({"rubric.overall_score": {"min": 4}}), GateReport)
assert_type(calibrate("record.db", "fast", split="dev"), CalibrationReport)
calibrate("record.db", split="train")  # type: ignore[arg-type]

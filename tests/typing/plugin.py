"""The pytest plugin as a user's type checker sees it: checked by `tests/plugin/test_typing.py`, never run."""

from __future__ import annotations

from typing import assert_type

from rightcall import Call, Case, GoldenResult, InterpretationResult, RubricResult, Trace
from rightcall.plugin import Agent, Calls, RecordedTrace, Undecided


def freeze(card: str) -> dict[str, str]:
    return {"card": card}


async def look(card: str) -> int:
    return len(card)


def test_agent(rightcall_agent: Agent) -> None:
    assert_type(rightcall_agent.tool(freeze)("4242"), dict[str, str])
    named = rightcall_agent.tool("freeze_card")(freeze)
    assert_type(named("4242"), dict[str, str])
    assert_type(rightcall_agent.case, Case | None)
    assert_type(rightcall_agent.trial, int)
    trace = rightcall_agent.run("I lost card 4242")
    assert_type(trace, RecordedTrace)
    assert_type(rightcall_agent.record([{"role": "user", "content": "a"}], dialect="openai_chat"), RecordedTrace)
    assert_type(rightcall_agent.recorded(reply="Done."), RecordedTrace)


async def test_async(rightcall_agent: Agent) -> None:
    assert_type(await rightcall_agent.tool(look)("4242"), int)
    assert_type(await rightcall_agent.run_async(), RecordedTrace)


def test_trace(trace: RecordedTrace) -> None:
    assert_type(trace.trace, Trace)
    assert_type(trace.calls, tuple[Call, ...])
    assert_type(trace.text, str | None)
    found = trace.should_call("freeze", card={"any_of": ["1", "2"]}).once().before("close").after("look", card="1")
    assert_type(found, Calls)
    assert_type(found.with_result(status="frozen").times(2), Calls)
    assert_type([call.tool for call in found], list[str])
    assert_type(found[0], Call)
    trace.should_not_call("close")
    trace.should_call_only("freeze", "look")
    assert_type(trace.assert_golden(min_overall=0.9), GoldenResult)
    assert_type(trace.assert_safe({"forbidden": ["close"]}), GoldenResult)
    assert_type(trace.assert_rubric(min_scores={"overall_score": 4}, max_severity="LOW"), RubricResult)
    assert_type(trace.assert_interpretation(), tuple[InterpretationResult, ...])


def test_undecided(error: Undecided) -> None:
    assert_type(error.message, str)

"""`preference` and `interpretation` over traces that a program holds."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rightcall import (
    Case,
    ConfigError,
    Judge,
    Message,
    Policy,
    ProviderError,
    Tool,
    Trace,
    TraceError,
    call,
    interpretation,
    preference,
    run,
)
from rightcall.llm.client import Request

TOOLS = (Tool(name="feed", description="Feed a tank."), Tool(name="drain", description="Empty a tank."))
CRITERIA = ("tool_selection", "argument_accuracy", "call_ordering", "abstention_handling", "error_handling")


def trace(case: str, tool: str, said: str = "Done.", name: str = "") -> Trace:
    request = f"{case}: feed the tank."
    return Trace(
        id=f"{case}{name}", case_id=case, request=request, completed=True,
        events=(
            Message(role="user", text=request), call(tool, {"tank": 2}, result={"grams": 40}, turn=1),
            Message(role="assistant", text=said),
        ),
    )  # fmt: skip


FED = [trace(f"c{n}", "feed") for n in range(4)]
DRAINED = [trace(f"c{n}", "drain", name="-b") for n in range(4)]


def compares(letter: str, confidence: float = 0.9) -> str:
    return json.dumps(
        {
            "preferred_trace": letter, "confidence": confidence, "justification": dict.fromkeys(CRITERIA, "As it is."),
            "key_differentiators": ["Feeding was asked for."], "critical_failures": {"trace_a": [], "trace_b": []},
        }
    )  # fmt: skip


def knows_better(request: Request) -> str:
    """Prefers the place whose trace feeds."""
    shown = request.user.partition("What happened in A:")[2].replace(" ", "")
    return compares("A" if shown.index('"tool":"feed"') < shown.index('"tool":"drain"') else "B")


def reads(score: int = 5) -> str:
    words = dict.fromkeys(("interpretation_accuracy", "action_appropriateness", "justification"), "As it is.")
    return json.dumps({"score": score, "key_errors": [], "action_score": 5, "confidence": 0.9, **words})


def test_two_agents_are_compared_case_by_case_in_both_orders():
    done = run(preference(FED, list(reversed(DRAINED)), judge=Judge(knows_better, name="keeper"), tools=TOOLS))
    assert [(one.case_id, one.verdict, one.confidence) for one in done.results] == [
        (f"c{n}", "A", 0.9) for n in range(4)
    ]
    assert {tuple(order.order for order in one.orders) for one in done.results} == {("ab", "ba")}
    assert [one.agent_a for one in done.results] == ["A"] * 4


def test_a_second_judge_is_asked_where_the_first_is_unsure():
    unsure = Judge(lambda _request: compares("TIE"), name="unsure")
    sure = Judge(knows_better, name="sure")
    done = run(preference(FED, DRAINED, names=["old", "new"], judge=unsure, second_judge=sure, tools=TOOLS))
    assert {(one.verdict, one.settled_by, one.agent_b) for one in done.results} == {("A", "second_judge", "new")}


def test_code_decides_a_veto_without_anybody():
    done = run(preference(FED, DRAINED, policy=Policy(forbidden=("drain",)), tools=TOOLS))
    assert {(one.verdict, one.decided_by, one.code_reason) for one in done.results} == {("A", "code", "policy_veto")}


def test_three_agents_are_compared_in_pairs():
    third = [trace(f"c{n}", "drain", said="It is empty.", name="-c") for n in range(4)]
    judge = Judge(lambda _request: compares("TIE"), name="even")
    done = run(preference(FED, DRAINED, third, judge=judge, tools=TOOLS))
    assert len(done.results) == 12
    assert {(one.agent_a, one.agent_b) for one in done.results} == {("A", "B"), ("A", "C"), ("B", "C")}


def test_options_are_those_of_the_settings_and_are_checked_in_the_same_way():
    once = run(
        preference(
            FED, DRAINED, judge=Judge(knows_better, name="keeper"), tools=TOOLS, options={"orders": "random"}
        )
    )  # fmt: skip
    assert {len(one.orders) for one in once.results} == {1}
    wrong: dict[str, Any]
    for wrong, said in (
        ({"orders": "twice"}, "orders: must be 'both' or 'random'"), ({"colour": 1}, "unknown field `colour`"),
        ({"stop_early": "soon"}, "stop_early"), ({"stop_early": 2.0}, "between 0 and 1"),
    ):  # fmt: skip
        with pytest.raises(ConfigError, match=said):
            run(preference(FED, DRAINED, options=wrong))


@pytest.mark.parametrize("names", [["one"], ["one", "one"], ["one", "two", "three"]])
def test_every_agent_has_a_name_of_its_own(names):
    with pytest.raises(ConfigError, match="2 agents need as many different names"):
        run(preference(FED, DRAINED, names=names))


def test_traces_without_a_case_are_refused_and_not_paired_by_position():
    nameless = [Trace(id="t", request="Feed.", events=(call("feed", {"tank": 2}),))]
    with pytest.raises(TraceError, match="says which case it belongs to"):
        run(preference(FED, nameless, judge=Judge(knows_better, name="keeper")))


def test_every_reading_has_a_score():
    done = run(interpretation(FED, judge=Judge(lambda _request: reads(4), name="reader"), cases=[Case(id="c0")]))
    assert [(one.step_id, one.interpretation_fidelity_score) for one in done.results] == [
        (f"c{n}#c1", 0.8) for n in range(4)
    ]


def test_a_strong_judge_is_asked_about_some_of_the_same_readings():
    many = [trace(f"c{n}", "feed") for n in range(20)]
    light, strong = (Judge(lambda _request, score=score: reads(score), name=f"judge-{score}") for score in (5, 4))
    done = run(interpretation(many, judge=light, strong_judge=strong, options={"strong_share": 0.5}))
    assert {one.light_score for one in done.results} == {5.0}
    assert 10 <= sum(one.strong_score == 4.0 for one in done.results) < 20


def test_a_reading_needs_a_judge():
    with pytest.raises(ProviderError, match="`interpretation` needs a judge"):
        run(interpretation(FED))


def test_a_strong_judge_checks_one_light_judge_and_no_panel():
    panel = [Judge(lambda _request: reads(5), name=name) for name in ("one", "two")]
    strong = Judge(lambda _request: reads(4), name="strong")
    with pytest.raises(ConfigError, match="one light judge, not a panel"):
        run(interpretation(FED, judge=panel, strong_judge=strong))


def test_the_judge_beside_the_first_is_one():
    with pytest.raises(ConfigError, match="second_judge is one judge, not 2"):
        run(
            preference(
                FED, DRAINED, judge=Judge(knows_better, name="keeper"), second_judge="ollama:a,ollama:b", tools=TOOLS
            )
        )  # fmt: skip


@pytest.mark.parametrize("share", [0.0, 1.5])
def test_a_share_that_cannot_be_is_refused_here_too(share):
    light, strong = (Judge(lambda _request: reads(5), name=name) for name in ("light", "strong"))
    with pytest.raises(ConfigError, match="must be above 0 and at most 1"):
        run(interpretation(FED, judge=light, strong_judge=strong, options={"strong_share": share}))

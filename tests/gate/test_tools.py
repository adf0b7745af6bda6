"""One rule on every tool at once."""

from rightcall.gate.rules import rules_of
from rightcall.gate.sample import Sample
from rightcall.gate.tools import decide_tools


def rule(**values):
    (found,) = rules_of({"selection.precision": {"per_tool": True, **values}})
    return found


def tool(good, bad=0, unread=0):
    found = Sample()
    for number in range(good + bad):
        found.add(float(number < good), number)
    for number in range(unread):
        found.add_unread(good + bad + number)
    return found


def test_every_tool_must_be_shown_to_reach_the_limit():
    assert decide_tools(rule(min=0.9), {"a": tool(60), "b": tool(70, 1)}, 0).answer == "PASS"


def test_more_tools_need_more_cases_each():
    few, many = ({f"t{n}": tool(30) for n in range(size)} for size in (1, 10))
    assert decide_tools(rule(min=0.9), few, 0).answer == "PASS"
    found = decide_tools(rule(min=0.9), many, 0)
    assert (found.answer, found.reason) == ("INCONCLUSIVE", "10 of 10 tools are not shown to reach 0.9")


def test_one_tool_below_the_limit_fails_and_is_named():
    found = decide_tools(rule(min=0.9), {"good": tool(200), "bad": tool(8, 2)}, 0)
    assert (found.answer, found.reason) == ("FAIL", "`bad` is at 0.800, below 0.9")
    assert found.details == ("bad: 0.800 [0.490, 0.943] n=10",)


def test_what_is_unread_counts_as_wrong_and_what_nobody_knows_the_tool_of_keeps_it_open():
    assert decide_tools(rule(min=0.9), {"a": tool(60, unread=5)}, 0).answer == "INCONCLUSIVE"
    found = decide_tools(rule(min=0.9), {"a": tool(60)}, 1)
    assert (found.answer, found.reason) == ("INCONCLUSIVE", "of 1 unread results nobody knows the tool")


def test_on_the_point_each_tool_is_held_against_the_limit_itself():
    assert decide_tools(rule(min=0.9, on="point"), {"a": tool(9, 1), "b": tool(10)}, 0).answer == "PASS"


def test_no_call_is_no_pass():
    assert decide_tools(rule(min=0.9), {}, 0).reason == "no tool was called"

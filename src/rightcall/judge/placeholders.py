"""The placeholders of prompts: which grader fills which, what each stands for, and other names for them.

A placeholder is `[UPPER_SNAKE]` in a template and stands for one JSON value. `null` for it means that nothing is
known, and then a prompt that requires it cannot be filled; only where `null` is an answer of its own (`NULL_MEANS`)
is it a value like any other.
"""

from __future__ import annotations

import re
from typing import Final

PLACEHOLDER: Final = re.compile(r"\[([A-Z][A-Z0-9_]+)\]")
"""A placeholder in a template. One capital alone (`[A]`, `[X]`) is text."""

TRACE_LEVEL: Final = {
    "USER_REQUEST": "what the user asked for: text",
    "CONTEXT": "what else the agent knew: system prompt, earlier turns, state; text or an object",
    "AVAILABLE_TOOLS": "the catalog: a list of tools with name, description, parameters and annotations",
    "AGENT_TOOL_CALLS": "what happened, in order: messages, and calls with arguments and results",
    "RECORDING": "whether the run was completed, and what was odd about its recording",
    "GOLDEN_TRACE": "the acceptable ways: expected calls with their order",
}
"""What there is for a whole trace, for `rubric` and for graders of your own."""

_COMMON: Final = {name: TRACE_LEVEL[name] for name in ("USER_REQUEST", "CONTEXT", "AVAILABLE_TOOLS")}

BY_GRADER: Final = {
    "selection": _COMMON
    | {
        "SELECTED_TOOL_NAME": "the tool that the agent chose; null: it chose none",
        "EXPECTED_TOOL_NAME": "the tool that the label asks for; null: none was to be chosen",
    },
    "rubric": TRACE_LEVEL,
    "preference": _COMMON
    | {
        "TRACE_A": "what happened in the first trace, in order",
        "TRACE_B": "what happened in the second trace, in order",
    },
    "interpretation": _COMMON
    | {
        "TOOL_NAME": "the tool that was called",
        "TOOL_ARGUMENTS": "the arguments of the call",
        "TOOL_RESULT": "what came back, exactly",
        "AGENT_INTERPRETATION": "the agent's first text after the result; null: it said nothing",
        "NEXT_ACTION": "the agent's next call or message; null: there was none",
        "UNSUPPORTED_VALUES": "values in the reading that code did not find in the result: a list, may be empty",
    },
}
"""What the prompts of each judged grader can use."""

NULL_MEANS: Final = frozenset(
    {"SELECTED_TOOL_NAME", "EXPECTED_TOOL_NAME", "TOOL_RESULT", "AGENT_INTERPRETATION", "NEXT_ACTION"}
)
"""Placeholders whose `null` is a value: no tool, `null` came back, nothing said, nothing done."""

ALIASES: Final = {
    "TOOL_USE_TRACE": "AGENT_TOOL_CALLS",
    "ACTUAL_TOOL_SELECTION": "SELECTED_TOOL_NAME",
    "EXPECTED_TOOL_SELECTION": "EXPECTED_TOOL_NAME",
}
"""Names that templates from elsewhere use, and what we call the same thing."""


def known(grader: str | None) -> dict[str, str]:
    """The placeholders that a grader's prompts can use, with what each stands for; all of them for no grader."""
    if grader is None:
        return {name: meaning for table in BY_GRADER.values() for name, meaning in table.items()}
    return BY_GRADER.get(grader, TRACE_LEVEL)


def canonical(name: str) -> str:
    """Our own name of a placeholder."""
    return ALIASES.get(name, name)

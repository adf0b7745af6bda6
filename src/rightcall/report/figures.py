"""The main figure of a run, for lists of runs; what scores are called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rightcall.report.cells import number

if TYPE_CHECKING:
    from collections.abc import Mapping

DIMENSIONS = {
    "tool_selection_score": "selection",
    "argument_accuracy_score": "arguments",
    "call_sequencing_score": "sequencing",
    "abstention_score": "abstention",
    "overall_score": "overall",
}
"""Scores, and what they are called where there is little room."""


def main_figure(grader: str, summary: Mapping[str, Any]) -> str:
    """The one figure that a list of runs shows; empty where there is none.

    Args:
        grader: whose run it was.
        summary: what is on record of it.
    """
    own = summary.get("own", summary)
    if grader == "selection" and "overall" in own:
        return f"precision {short(own['overall']['precision'])}"
    if grader == "rubric" and "scores" in own:
        return f"overall {short(own['scores']['overall_score']['mean'], 2)}"
    if grader == "interpretation" and "fidelity" in own:
        return f"fidelity {short(own['fidelity'], 2)}"
    if grader == "golden" and "pass_rate" in own:
        return f"pass rate {short(own['pass_rate'])}"
    if grader == "preference" and "comparisons" in own:
        from rightcall.report.preference_figures import main_words

        return main_words(own)
    if grader == "probe" and "answers" in own:
        return " · ".join(f"{answer} {n}" for answer, n in own["answers"].items() if n)
    return ""


def short(estimate: Mapping[str, Any], digits: int = 3) -> str:
    """`0.970 [0.936, 0.986] n=120`; `–` where it is undefined."""
    if estimate["estimate"] is None:
        return "–"
    value = number(estimate["estimate"], digits)
    if estimate["low"] is not None and estimate["high"] is not None:
        value += f" [{estimate['low']:.{digits}f}, {estimate['high']:.{digits}f}]"
    return f"{value} n={estimate['n']}"

"""One result on one line, whatever the grader: what a list of results shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rightcall.report.interpretation_figures import MISREAD, read_or_misread, reading_words
from rightcall.report.preference_figures import pair_words

if TYPE_CHECKING:
    from collections.abc import Mapping

STYLES = {"CRITICAL": "bold red", "FAIL": "red", "HIGH": "red", MISREAD: "red", "UNEVALUABLE": "yellow"}
"""Answers that stand out, the gravest first."""


def said(result: Mapping[str, Any]) -> str:
    """The answer of a grader in one word: a verdict, a severity, or that there is none."""
    if result["status"] != "EVALUATED":
        return "UNEVALUABLE"
    if result.get("grader") == "interpretation":
        return read_or_misread(result)
    reading = result.get("reading") or {}
    found = result.get("verdict") or result.get("misuse_severity") or reading.get("grade") or reading.get("severity")
    return found or "EVALUATED"


def words(result: Mapping[str, Any]) -> str:
    """Why a result is what it is, in a few words."""
    if result["status"] != "EVALUATED":
        return str(result["reason"])
    return _WORDS.get(result["grader"], _own)(result)


def _selection(result: Mapping[str, Any]) -> str:
    expected, got = named(result["expected_tool"]), named(result["selected_tool"])
    parts = [expected if result["verdict"] == "PASS" else f"{result['failure_category']}: {got}, not {expected}"]
    if result["label_challenged"]:
        parts.append("label doubted")
    return " · ".join(parts)


def named(tool: str | None) -> str:
    """A tool's name, or `(none)`."""
    return "(none)" if tool is None else tool


def _rubric(result: Mapping[str, Any]) -> str:
    metrics = result["metrics"]
    names = ("tool_selection_score", "argument_accuracy_score", "call_sequencing_score", "abstention_score")
    four = "/".join("–" if metrics[name] is None else str(metrics[name]) for name in names)
    raised = "" if result["misuse_severity"] == result["judged_severity"] else " (raised by code)"
    return f"{four}{raised}  {result['downstream_impact'] or ''}".rstrip()


def _golden(result: Mapping[str, Any]) -> str:
    overall = result["metrics"]["overall"]
    figure = "policy only" if overall is None else f"overall {overall:.2f}"
    if vetoes := "; ".join(veto["message"] for veto in result["vetoes"]):
        return f"{figure} · veto: {vetoes}"
    found = next(iter(result["findings"]), None)  # the worst stands first
    return figure if found is None else f"{figure} · {found['message']}"


def _probe(result: Mapping[str, Any]) -> str:
    reading = result.get("reading") or {}
    if reading.get("preferred") is not None:
        return f"prefers {reading['preferred']}"
    return "" if reading.get("overall") is None else f"overall {reading['overall']:.2f}"


def _own(result: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in (result.get("reply") or {}).items())


_WORDS = {
    "selection": _selection,
    "rubric": _rubric,
    "golden": _golden,
    "preference": pair_words,
    "probe": _probe,
    "interpretation": reading_words,
}

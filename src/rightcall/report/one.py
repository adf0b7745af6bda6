"""One result on one line, whatever the grader: what a list of results shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from rightcall.report.interpretation_figures import MISREAD, read_or_misread, reading_words
from rightcall.report.plain import shorten_middle, visible
from rightcall.report.preference_figures import pair_words
from rightcall.run.judging.items import BY_DESIGN

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rich.console import Console

_LONGEST = 30
"""Characters for the name of a unit; of a longer one the middle is left out."""

STYLES = {"CRITICAL": "bold red", "FAIL": "red", "HIGH": "red", MISREAD: "red", "UNEVALUABLE": "yellow"}
"""Answers that stand out, the gravest first."""


def stands_out(result: Mapping[str, Any]) -> bool:
    """Whether a result is worth a line: it failed, has no verdict, or found a serious misuse."""
    return said(result) in STYLES and result.get("reason") not in BY_DESIGN


def urgency(result: Mapping[str, Any]) -> int:
    """Where a result stands in a list: 0 for the gravest."""
    order = [*STYLES]
    word = said(result)
    return order.index(word) if word in order else len(order)


def unit_of(result: Mapping[str, Any]) -> str:
    """What a result is known by: its pair, its step, its trace, or its case."""
    return next((str(result[name]) for name in ("pair", "step_id", "trace_id", "case_id") if result.get(name)), "")


def said(result: Mapping[str, Any]) -> str:
    """The answer of a grader in one word: a verdict, a severity, or that there is none."""
    if result["status"] != "EVALUATED":
        return "UNEVALUABLE"
    if result.get("grader") == "interpretation":
        return read_or_misread(result)
    reading = result.get("reading") or {}
    found = result.get("verdict") or result.get("misuse_severity") or reading.get("grade") or reading.get("severity")
    return found or "EVALUATED"


def print_results(
    console: Console, results: Iterable[tuple[str, Mapping[str, Any]]], signed: Mapping[str, str] | None = None
) -> None:
    """Print results, one a line as long as they fit.

    Args:
        console: where to.
        results: (unit, result as `--json` gives it).
        signed: unit -> what a person has signed about it, in words.
    """
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    rows = 0
    for unit, result in results:
        word = said(result)
        style = STYLES.get(word, "")
        about = " · ".join(part for part in (words(result), (signed or {}).get(unit)) if part)
        table.add_row(
            *(Text(cell, style) for cell in (f"  {shorten_middle(visible(unit), _LONGEST)}", word, visible(about)))
        )
        rows += 1
    if rows:
        console.print(table)


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
    vetoes = "; ".join(veto["message"] for veto in result["vetoes"])
    return f"{figure} · veto: {vetoes}" if vetoes else figure


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

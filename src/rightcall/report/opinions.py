"""What one judge said about a result, line by line: its answer, what of it contradicts code, where it is on record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rightcall.report.figures import DIMENSIONS
from rightcall.report.interpretation_figures import said_of_reading
from rightcall.report.plain import value
from rightcall.report.preference_figures import said_of_pair

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.store.records import AttemptRecord

Line = tuple[str, str, str]
"""What a line is about (empty: the same as the line above), what it says, its style."""


def score(item: float | None) -> str:
    """A level, a mean of levels, or `–`."""
    if item is None:
        return "–"
    return str(item) if isinstance(item, int) else f"{item:.2f}"


def opinion_lines(opinion: Mapping[str, Any], entries: Mapping[str, tuple[int, AttemptRecord]]) -> Iterator[Line]:
    """Everything about one opinion.

    Args:
        opinion: as it stands in a result.
        entries: digest -> (log entry, exchange) of what it rests on.
    """
    model = opinion["model"]
    marks = [opinion["judge"]]
    marks += [f"question {opinion['replicate'] + 1}"] if opinion["replicate"] else []
    marks += [f"answered by {model}"] if model and model not in opinion["judge"] else []
    marks += ["from the record"] if opinion["cached"] else []
    marks += ["on the second asking"] if opinion["healed"] else []
    yield "judge", " · ".join(marks), "bold"
    reply = opinion["reply"]
    if reply is None:
        yield "", f"no readable answer: {opinion['reason']}", "yellow"
    else:
        kind = next(
            (
                name
                for name in ("grade", "misuse_severity", "interpretation_accuracy", "preferred_trace")
                if name in reply
            ),
            "",
        )
        for text in _SAID[kind](reply):
            yield "", text, ""
    for conflict in opinion["conflicts"]:
        yield "", f"✗ contradicts code ({conflict['check']}): {conflict['message']}", "red"
    for problem in opinion["problems"]:
        yield "", f"· {problem}", "yellow"
    if reply is not None and opinion["checked"] and not opinion["conflicts"]:
        yield "", f"agrees with code: {', '.join(opinion['checked'])}", "dim"
    seen = [entries[digest] for digest in opinion["attempts"] if digest in entries]
    if seen:
        numbers = ", ".join(f"{seq} {one.status} {one.latency:.1f} s" for seq, one in seen)
        yield "", f"log entry {numbers}", "dim"
        yield "", f"rightcall log show {seen[-1][0]}", "dim"


def said_by(opinion: Mapping[str, Any]) -> list[str]:
    """What one judge said, or why nothing, and what of it contradicts code; `opinion` as it stands in a result."""
    lines = [text for label, text, _ in opinion_lines(opinion, {}) if not label]
    return [text for text in lines if not text.startswith("agrees with code: ")]


def _said_selection(reply: Mapping[str, Any]) -> Iterator[str]:
    yield f"{reply['grade']} {reply['failure_category'] or ''}".rstrip()
    yield f"“{reply['justification']}”"
    if reply.get("label_challenged"):
        yield f"doubts the label: {reply.get('label_challenge_reason') or '(no reason is given)'}"


def _said_rubric(reply: Mapping[str, Any]) -> Iterator[str]:
    why = reply.get("justification")
    for name, short in DIMENSIONS.items():
        if name != "overall_score":
            reason = why.get(name.removesuffix("_score")) if isinstance(why, dict) else None
            yield f"{short} {score(reply.get(name))}" + (f": {reason}" if reason else "")
    if isinstance(why, str):
        yield f"“{why}”"
    yield f"severity {reply['misuse_severity']}: {reply.get('downstream_impact') or ''}".rstrip(": ")
    for one in reply.get("tool_call_evaluations") or ():
        yield f"{one['call_id']} {one['tool_name']} {one['score']}: {one['reason']}"


def _said_otherwise(reply: Mapping[str, Any]) -> Iterator[str]:
    for name, item in reply.items():
        yield f"{name}: {item if isinstance(item, str) else value(item)}"


_SAID = {
    "grade": _said_selection, "misuse_severity": _said_rubric, "interpretation_accuracy": said_of_reading,
    "preferred_trace": said_of_pair,
    "": _said_otherwise,
}  # fmt: skip

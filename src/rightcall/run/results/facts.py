"""A run on record and its graders: one, or several of a suite, whose facts and figures stand under each one's name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rightcall.run.results.model import SUITE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.store.records import RunRecord

__all__ = ["SUITE", "facts_for", "graders_in", "summary_for"]


def graders_in(run: RunRecord) -> tuple[str, ...]:
    """The graders of a run, in the order in which they run."""
    if run.grader != SUITE:
        return (run.grader,)
    # What is on record has its keys in the order of the alphabet.
    known: dict[str, Any] = run.facts.get("graders", {})
    return tuple(dict.fromkeys([*(name for name in run.facts.get("order", ()) if name in known), *known]))


def facts_for(run: RunRecord, grader: str) -> dict[str, Any]:
    """What one grader of a run judged, how, by whom; nothing if the run does not have it."""
    if run.grader == SUITE:
        found: dict[str, Any] = run.facts.get("graders", {}).get(grader, {})
        return found
    return run.facts if run.grader == grader else {}


def summary_for(run: RunRecord, summary: Mapping[str, Any], grader: str) -> Mapping[str, Any]:
    """What one grader's figures are, by what is kept of the run's end."""
    if run.grader == SUITE:
        found: Mapping[str, Any] = summary.get("graders", {}).get(grader, {})
        return found
    return summary if run.grader == grader else {}

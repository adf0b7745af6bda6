"""Answers and reasons in one line."""

from __future__ import annotations

from typing import Any

from rightcall.store.records import AnswerRecord, ReviewRecord, SignoffRecord, item_of

RUN, UNIT = "20261129-1", "t-1"
AT = "2026-11-29T10:00:00.000+00:00"
GOOD: dict[str, dict[str, Any]] = {
    "selection": {"grade": "PASS"},
    "rubric": {"selection": 4, "arguments": 4, "sequencing": 5, "abstention": None, "severity": "LOW"},
    "preference": {"overall": "L", "sure": 2, "both_critical": False},
    "interpretation": {"score": 4, "action_score": 3, "flags": []},
    "golden": {"grade": "FAIL"},
}
"""A complete answer to each of our forms."""


def answer(who: str = "ana", grader: str = "golden", **changed: Any) -> AnswerRecord:
    """Return an answer to the one item."""
    known = {"item": item_of(RUN, grader, UNIT), "run_id": RUN, "grader": grader, "unit": UNIT, "who": who, "at": AT}
    return AnswerRecord(**{**known, **changed})


def reason(name: str, severity: str | None = None, **changed: Any) -> ReviewRecord:
    """Return why an item is in the queue."""
    known = {"run_id": RUN, "grader": "rubric", "unit": UNIT, "reason": name, "created_at": AT, "severity": severity}
    return ReviewRecord(**{**known, **changed})


def signoff(outcome: str, **changed: Any) -> SignoffRecord:
    """Return a sign-off of the one item."""
    known = {"item": item_of(RUN, "rubric", UNIT), "run_id": RUN, "grader": "rubric", "unit": UNIT, "who": "eve"}
    return SignoffRecord(**{**known, "at": AT, "outcome": outcome, "reason": "it was read twice", **changed})

"""Which item comes first, and how many people must answer it.

From the most urgent: CRITICAL, what could not be evaluated, HIGH and vetoes, pairs whose verdict is unsure or hangs on
the order, and texts that address the judge; then readings of low fidelity, judges that contradict facts or each other,
and what was drawn at random. An item has the place of its most urgent reason, and moves up by one step for every 24
hours that it has waited, so that nothing waits for ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rightcall.store.records import ReviewReason, ReviewRecord

STEPS: tuple[tuple[ReviewReason, ...], ...] = (
    ("CRITICAL",),
    ("unevaluable",),
    ("HIGH", "policy_veto"),
    ("order_inconsistent", "low_confidence", "tie", "injection_suspected"),
    ("low_fidelity",),
    ("judge_conflict", "label_challenged", "panel_disagreement"),
    ("random",),
)
"""Reasons by urgency; those of one step are equally urgent."""

URGENCY: tuple[ReviewReason, ...] = tuple(reason for step in STEPS for reason in step)
"""Reasons of review, most urgent first."""

_RANKS = {reason: rank for rank, step in enumerate(STEPS) for reason in step}
HOURS_A_STEP = 24


def rank(reasons: Sequence[ReviewRecord]) -> int:
    """The step of an item's most urgent reason, from 0; of no reason at all, the step after the last.

    A reason whose severity is CRITICAL, such as a veto, stands with the CRITICAL ones.
    """
    return min((_rank(one) for one in reasons), default=len(STEPS))


def _rank(reason: ReviewRecord) -> int:
    return 0 if is_critical(reason) else _RANKS[reason.reason]


def place(rank_: int, hours: float) -> int:
    """The step at which an item stands after it has waited for some hours; below 0 it has overtaken the CRITICAL."""
    return rank_ - int(hours // HOURS_A_STEP)


def is_critical(reason: ReviewRecord) -> bool:
    """Whether somebody must sign for what this reason says."""
    return reason.reason == "CRITICAL" or reason.severity == "CRITICAL"


def needed(reasons: Sequence[ReviewRecord], answers: int, answers_critical: int) -> int:
    """How many different people must answer an item: more of them where something may be CRITICAL."""
    return max(answers, answers_critical) if any(map(is_critical, reasons)) else answers

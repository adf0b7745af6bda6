"""What `preference` answers about one pair of traces of the same case (SPEC §7.3). Frozen data.

`A` and `B` in a result are the two agents that were named, in that order, and never the places in a question: a judge's
letter is mapped back by what stood where (`OrderVerdict`) before anything is counted.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from rightcall.grade.opinion import Opinion

Winner = Literal["A", "B", "TIE"]
"""Which agent's trace is better."""

Order = Literal["ab", "ba"]
"""Whose trace stood first: agent A's (`ab`) or agent B's (`ba`)."""

CodeReason = Literal["policy_veto", "golden", "identical"]
"""Why code decides a pair: one trace is vetoed, one fails its golden, both show the same."""


class OrderVerdict(Struct, frozen=True, kw_only=True):
    """One judge's reply to one question of a pair.

    Attributes:
        judge, replicate: who was asked, and for the how-manieth time.
        order: whose trace stood first.
        letter: the raw verdict, by place. winner: the same, by agent.
        confidence: the judge's own, from 0 to 1.
        critical_a, critical_b: what it calls unacceptable, by agent.
        attempts: digests of the recorded exchanges that it came from.
    """

    judge: str
    order: Order
    letter: Winner
    winner: Winner
    confidence: float
    replicate: int = 0
    critical_a: tuple[str, ...] = ()
    critical_b: tuple[str, ...] = ()
    attempts: tuple[str, ...] = ()


class Reconciled(Struct, frozen=True, kw_only=True):
    """What one judge says of a pair once its orders are put together.

    Attributes:
        winner: `None` where the orders do not add up to a verdict and ties are not allowed, or nothing was readable.
        confidence: the lower of the two orders; at most 0.5 where both traces are called critical.
        partial: one order a tie, the other a winner. order_inconsistent: two different winners.
        both_critical: both traces are called critical.
        orders: how many orders were readable.
    """

    judge: str
    winner: Winner | None = None
    confidence: float | None = None
    partial: bool = False
    order_inconsistent: bool = False
    both_critical: bool = False
    orders: int = 0


class TraceSize(Struct, frozen=True, kw_only=True, gc=False):
    """How long a trace is: calls of the agent, and characters of what a judge sees of it."""

    calls: int = 0
    characters: int = 0


class PreferenceResult(Struct, frozen=True, kw_only=True):
    """The answer of `preference` for one pair.

    Attributes:
        pair: the pair's id in the run (case, and trial where a case has several).
        agent_a, agent_b: names of the two inputs, for people; a judge never sees them.
        status, reason: `UNEVALUABLE` with why there is no verdict: `data_quality_failure`, `INCONCLUSIVE`, a code …
        verdict: which agent's trace is better.
        confidence: 1 for what code decides; else of the judge whose verdict counts.
        calibrated_confidence, calibration: what that is worth, and by which calibration; only in runs that ask for it.
        decided_by: who decided. code_reason: why code could. code_verdict: what code says, if it says anything.
        partial, order_inconsistent, both_critical: of the verdict that counts; see `Reconciled`.
        escalated: whether a second judge was needed. settled_by: `second_judge` if that settled it; else `None`.
        protocol: `both` orders, or one drawn at `random`.
        orders: every readable reply, raw and mapped. reconciled: one entry a judge.
        conflict: whether a judge prefers what code rejects.
        category: a group of cases, if the case has one.
        quality: what is wrong with a trace that was skipped (`data_quality_failure`).
        size_a, size_b: how long the traces are.
        judges: everything that each judge said.
        key_differentiators, justification: the words of the reply that counts; its letters are places.
        words_order: whose trace stood first where those words were written.
    """

    pair: str
    case_id: str | None
    trace_id: str | None = None
    trace_b_id: str | None = None
    agent_a: str = "A"
    agent_b: str = "B"
    trial: int | None = None
    grader: Literal["preference"] = "preference"
    status: Literal["EVALUATED", "UNEVALUABLE"] = "EVALUATED"
    reason: str | None = None
    verdict: Winner | None = None
    confidence: float | None = None
    calibrated_confidence: float | UnsetType = UNSET
    calibration: str | UnsetType = UNSET
    decided_by: Literal["code", "judge", "panel"] | None = None
    code_reason: CodeReason | None = None
    code_verdict: Winner | None = None
    partial: bool = False
    order_inconsistent: bool = False
    both_critical: bool = False
    escalated: bool = False
    settled_by: Literal["second_judge"] | None = None
    protocol: Literal["both", "random"] = "both"
    orders: tuple[OrderVerdict, ...] = ()
    reconciled: tuple[Reconciled, ...] = ()
    conflict: bool = False
    category: str | None = None
    quality: tuple[str, ...] = ()
    size_a: TraceSize = TraceSize()
    size_b: TraceSize = TraceSize()
    judges: tuple[Opinion, ...] = ()
    disagreement: tuple[str, ...] = ()
    key_differentiators: tuple[str, ...] = ()
    justification: dict[str, Any] | None = None
    words_order: Order | None = None
    left_out: tuple[str, ...] = ()
    suspicions: tuple[str, ...] = ()

    @property
    def sure(self) -> float | None:
        """The confidence that counts: what the stated one was found to be worth, or the stated one."""
        return self.confidence if self.calibrated_confidence is UNSET else self.calibrated_confidence

"""What the judges say about one pair: replies by order, one answer a judge, one answer of them all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from rightcall.grade.reconcile import is_vote, majority, of_judge, order_verdict, reconcile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rightcall.grade.opinion import Opinion
    from rightcall.grade.preference import Order, OrderVerdict, Reconciled, Winner
    from rightcall.run.judging.attempt import Outcome


@dataclass(frozen=True)
class Heard:
    """What some judges said about one pair.

    Attributes:
        verdicts: every readable reply, mapped to agents.
        reconciled: one entry a judge.
        answer: of all of them together; `None` where they come to none.
        reason: why there is no verdict: a code of the judge, `no_quorum`, `panel_tie`, `INCONCLUSIVE`.
        differ: whether two judges have different winners.
    """

    verdicts: tuple[OrderVerdict, ...] = ()
    reconciled: tuple[Reconciled, ...] = ()
    answer: Reconciled | None = None
    reason: str | None = None
    differ: bool = False

    @property
    def is_unread(self) -> bool:
        """Whether the judges could not be read, so that nobody knows what they think of the pair."""
        return self.reason is not None and self.reason not in ("panel_tie", "INCONCLUSIVE")


def hear(
    outcomes: Sequence[Outcome], opinions: Sequence[Opinion], orders: int, quorum: int, *, allow_tie: bool
) -> Heard:
    """Put the replies about one pair together.

    Args:
        outcomes: of every question about it to these judges.
        opinions: the same outcomes as opinions.
        orders: in how many orders each judge was asked.
        quorum: how many judges must have answered.
        allow_tie: whether orders that do not add up are a tie.
    """
    said = [(outcome, _verdict(outcome, opinion)) for outcome, opinion in zip(outcomes, opinions, strict=True)]
    judges = tuple(
        of_judge(judge, _replicates(judge, said, orders, allow_tie=allow_tie))
        for judge in dict.fromkeys(outcome.judge for outcome in outcomes)
    )
    votes = [one for one in judges if is_vote(one)]
    answer = majority(votes) if len(votes) >= quorum else None
    reason = None
    if len(votes) < quorum:
        reason = _why(outcomes, alone=len(judges) == 1)
    elif answer is None:
        reason = "panel_tie"
    elif answer.winner is None:
        reason = "INCONCLUSIVE"
    return Heard(
        verdicts=tuple(verdict for _, verdict in said if verdict is not None), reconciled=judges, answer=answer,
        reason=reason, differ=len({one.winner for one in votes}) > 1,
    )  # fmt: skip


def _verdict(outcome: Outcome, opinion: Opinion) -> OrderVerdict | None:
    reply = opinion.reply
    if reply is None:
        return None
    critical: dict[str, Any] = reply.get("critical_failures") or {}
    return order_verdict(
        outcome.judge, cast("Order", outcome.order), cast("Winner", reply["preferred_trace"]), reply["confidence"],
        (critical.get("trace_a", ()), critical.get("trace_b", ())), replicate=outcome.replicate,
        attempts=outcome.attempts,
    )  # fmt: skip


def _replicates(
    judge: str, said: Sequence[tuple[Outcome, OrderVerdict | None]], orders: int, *, allow_tie: bool
) -> list[Reconciled]:
    """One judge's answers, one a replicate."""
    own = [(outcome, verdict) for outcome, verdict in said if outcome.judge == judge]
    return [
        reconcile(
            judge, [verdict for outcome, verdict in own if outcome.replicate == number and verdict is not None],
            orders, allow_tie=allow_tie,
        )
        for number in sorted({outcome.replicate for outcome, _ in own})
    ]  # fmt: skip


def _why(outcomes: Sequence[Outcome], *, alone: bool) -> str:
    """Why there is no verdict: what kept a lone judge from it, else that too few answered."""
    if not alone:
        return "no_quorum"
    return next((outcome.reason for outcome in outcomes if outcome.reason is not None), "panel_tie")

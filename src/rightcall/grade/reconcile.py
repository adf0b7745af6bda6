"""From letters to a winner: what the replies about one pair come to (SPEC §7.3). Pure.

One judge, two orders:

* A letter is a place. It is mapped to an agent by what stood there, before anything is compared.
* The same winner in both orders: that winner. A tie in both: a tie.
* One order a tie, the other a winner: `TIE`, `partial`. Two different winners: `TIE`, `order_inconsistent`. Where ties
  are not allowed, these two are no verdict (`winner` is `None`). A tie in both orders stays one: it is what the judge
  found, and not what is left when its orders do not add up.
* The confidence is the lower of the two. If some reply calls both traces critical, it is at most `CRITICAL_CAP`.
* If an order that was asked has no readable reply, there is no verdict: one order alone says nothing about the other.

Several of these (replicates of one judge, judges of a panel) become one by majority: the winner of more than half; the
lowest confidence among those that voted for it. A `TIE` of the majority is a real one if more than half of its votes
are; otherwise it is `order_inconsistent` if some vote is, else `partial`.

Everything is symmetric: with the agents swapped, so is the answer.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec.structs import replace

from rightcall.grade.preference import OrderVerdict, Reconciled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rightcall.grade.preference import Order, Winner

CRITICAL_CAP = 0.5
"""The most that a verdict between two traces with critical failures can be sure of."""

_OTHER: dict[Winner, Winner] = {"A": "B", "B": "A", "TIE": "TIE"}


def by_agent(letter: Winner, order: Order) -> Winner:
    """Which agent a letter of a reply means: in order `ba`, place A held agent B's trace."""
    return letter if order == "ab" else _OTHER[letter]


def order_verdict(
    judge: str, order: Order, letter: Winner, confidence: float, critical: tuple[Sequence[str], Sequence[str]],
    *, replicate: int = 0, attempts: tuple[str, ...] = (),
) -> OrderVerdict:  # fmt: skip
    """A reply with its letter mapped to agents.

    Args:
        judge: who said it.
        order: whose trace stood first.
        letter: the reply's verdict, by place.
        confidence: the reply's own.
        critical: what it calls unacceptable in place A and in place B.
        replicate: for the how-manieth time the judge was asked.
        attempts: digests of the exchanges that it came from.
    """
    first, second = (tuple(one) for one in critical)
    a, b = (first, second) if order == "ab" else (second, first)
    return OrderVerdict(
        judge=judge, replicate=replicate, order=order, letter=letter, winner=by_agent(letter, order),
        confidence=confidence, critical_a=a, critical_b=b, attempts=attempts,
    )  # fmt: skip


def reconcile(judge: str, verdicts: Sequence[OrderVerdict], asked: int, *, allow_tie: bool = True) -> Reconciled:
    """What one judge says of a pair, its orders put together.

    Args:
        judge: the judge.
        verdicts: its readable replies, one an order at the most; the sequence plays no part.
        asked: in how many orders it was asked, 1 or 2.
        allow_tie: whether orders that do not add up are a tie.
    """
    if len(verdicts) < asked or not verdicts:
        return Reconciled(judge=judge, orders=len(verdicts))
    both_critical = any(one.critical_a and one.critical_b for one in verdicts)
    confidence = min(one.confidence for one in verdicts)
    found = Reconciled(
        judge=judge, winner="TIE", orders=len(verdicts), both_critical=both_critical,
        confidence=min(confidence, CRITICAL_CAP) if both_critical else confidence,
    )  # fmt: skip
    winners = {one.winner for one in verdicts}
    if len(winners) == 1:
        return replace(found, winner=winners.pop())
    partial = "TIE" in winners
    return replace(
        found, winner="TIE" if allow_tie else None, partial=partial, order_inconsistent=not partial
    )  # fmt: skip


def is_open(one: Reconciled) -> bool:
    """Whether the orders were read and do not add up, so that there is no verdict without ties."""
    return one.winner is None and (one.partial or one.order_inconsistent)


def is_vote(one: Reconciled) -> bool:
    """Whether a judge's orders were read, whatever they come to."""
    return one.winner is not None or is_open(one)


def majority(votes: Sequence[Reconciled], judge: str = "") -> Reconciled | None:
    """One answer from several, each of which has a winner or is open; `None` if none has more than half.

    Args:
        votes: what was said, in any sequence.
        judge: who stands behind the answer, for replicates of one judge.
    """
    if not votes:
        return None
    winner, count = Counter(vote.winner for vote in votes).most_common(1)[0]
    if 2 * count <= len(votes):
        return None
    own = [vote for vote in votes if vote.winner == winner]
    real = 2 * sum(not (vote.partial or vote.order_inconsistent) for vote in own) > len(own)
    inconsistent = not real and any(vote.order_inconsistent for vote in own)
    return Reconciled(
        judge=judge or own[0].judge, winner=winner, confidence=min(vote.confidence or 0.0 for vote in own),
        order_inconsistent=inconsistent, partial=not real and not inconsistent,
        both_critical=any(vote.both_critical for vote in own), orders=min(vote.orders for vote in own),
    )  # fmt: skip


def of_judge(judge: str, replicates: Sequence[Reconciled]) -> Reconciled:
    """One judge's answer from its replicates: more than half must have said something, and more than half the same."""
    said = [one for one in replicates if is_vote(one)]
    if 2 * len(said) > len(replicates):
        found = majority(said, judge)
        if found is not None:
            return found
    return Reconciled(judge=judge, orders=min((one.orders for one in replicates), default=0))


def settles(one: Reconciled | None, min_confidence: float) -> bool:
    """Whether a verdict needs nobody else: decisive, in both orders, and sure enough."""
    return (
        one is not None
        and one.winner in ("A", "B")
        and not (one.partial or one.order_inconsistent)
        and (one.confidence or 0.0) >= min_confidence
    )

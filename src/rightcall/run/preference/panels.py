"""The panels of a comparison: rows and letters handed to the statistics, and what comes back as plain values."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rightcall.grade.preference import Order, Winner
    from rightcall.stats.bradley_terry import Result
    from rightcall.stats.intervals import Estimate
    from rightcall.stats.position import Slot

_SCORES = {"B": 1.0, "TIE": 0.5, "A": 0.0}


Agents = tuple[str, str]
"""Agent A and agent B of a comparison."""


@dataclass(frozen=True, slots=True)
class Row:
    """What a figure needs of one result.

    Attributes:
        outcome: the verdict, or the reason why there is none.
        by_code: why code decided, if it did.
        kind: `partial` or `order_inconsistent`, of a verdict whose orders do not add up.
        sizes: (A, B) in characters, (A, B) in calls.
        winners: judge -> its own winner.
    """

    pair: str
    case: str
    outcome: str
    by_code: str | None
    kind: str | None
    category: str
    sizes: tuple[tuple[int, int], tuple[int, int]]
    winners: tuple[tuple[str, Winner], ...]


class Letter(NamedTuple):
    """One reply about a pair: in which order, and which place it prefers."""

    pair: str
    order: Order
    replicate: int
    letter: Winner


def tally_of(rows: Sequence[Row]) -> dict[str, int]:
    """Outcomes by kind; genuine ties apart from those of orders that do not add up."""
    outcomes = Counter(row.outcome for row in rows)
    kinds = Counter(row.kind for row in rows if row.outcome == "TIE")
    return {
        "wins_a": outcomes["A"], "wins_b": outcomes["B"], "ties": kinds[None], "partial": kinds["partial"],
        "inconsistent": kinds["order_inconsistent"],
    }  # fmt: skip


def rate(wins: int, losses: int) -> Estimate:
    """Share of wins among the decisive."""
    from rightcall.stats.pairwise import win_rate

    return win_rate(wins, losses)


def comparison(rows: Sequence[Row], agents: Agents, *, excluded: int) -> dict[str, Any]:
    """Agent B against agent A: counts, win rate, sign test, and what they mean in words."""
    from rightcall.stats.pairwise import compare

    tally = tally_of(rows)
    ties = tally["ties"] + tally["partial"]
    found = compare(
        tally["wins_b"], tally["wins_a"], ties, tally["inconsistent"], excluded=excluded, names=(agents[1], agents[0])
    )  # fmt: skip
    plain: dict[str, Any] = msgspec.to_builtins(found)
    return plain


def net(rows: Sequence[Row], *, seed: int, excluded: int) -> dict[str, Any]:
    """Agent B's share of wins with every tie as half a win, clustered by case."""
    from rightcall.stats.pairwise import net_win_rate

    used = [row for row in rows if row.outcome in _SCORES]
    found = net_win_rate(
        [_SCORES[row.outcome] for row in used], [row.case for row in used], excluded=excluded, seed=seed
    )  # fmt: skip
    plain: dict[str, Any] = msgspec.to_builtins(found)
    return plain


def evidence(wins: int, losses: int) -> float:
    """The e-value of so many wins and losses."""
    from rightcall.stats.sequential import e_value

    return e_value(wins, losses)


def sequence(wins: int, losses: int, alpha: float) -> dict[str, Any]:
    """The share of wins with an interval that holds at whatever time one looks."""
    from rightcall.stats.sequential import confidence_sequence

    plain: dict[str, Any] = msgspec.to_builtins(confidence_sequence(wins, losses, alpha))
    return plain


_SLOTS: dict[Winner, Slot] = {"A": "first", "B": "second", "TIE": "tie"}


def position(letters: Sequence[Letter], *, single: bool) -> dict[str, Any]:
    """Whether one judge prefers a place, whatever stands there: on its raw letters, not on agents.

    `consistent_decisive` is how many pairs had the same winner in both orders; with `single` (every pair is asked in
    one order), `single_order` says whether those orders look drawn. Of replicates the first counts as the pair's
    answer, since a pair that is asked five times is no five pairs.
    """
    from rightcall.stats.pairwise import PairOrders, position_bias
    from rightcall.stats.position import order_draw

    both: dict[str, dict[int, dict[Order, Slot]]] = {}
    for one in letters:
        both.setdefault(one.pair, {}).setdefault(one.replicate, {})[one.order] = _SLOTS[one.letter]
    whole = {
        pair: min(((number, slots) for number, slots in given.items() if len(slots) == 2), default=None, key=_number)
        for pair, given in both.items()
    }
    pairs = [PairOrders(pair, one[1]["ab"], one[1]["ba"]) for pair, one in whole.items() if one is not None]
    once = [given[min(given)] for given in both.values()] if single else []
    found = position_bias([(one.pair, _SLOTS[one.letter]) for one in letters], pairs)
    decisive = sum({pair.forward, pair.backward} == {"first", "second"} for pair in pairs)
    drawn = order_draw(sum("ab" in slots for slots in once), len(once)) if once else None
    return {
        **msgspec.to_builtins(found), "in_both_orders": len(pairs), "consistent_decisive": decisive,
        "single_order": msgspec.to_builtins(drawn),
    }  # fmt: skip


def _number(replicate: tuple[int, dict[Order, Slot]]) -> int:
    return replicate[0]


def length(rows: Sequence[Row]) -> dict[str, Any]:
    """Whether judges prefer the longer trace, by characters of what they see and by calls.

    `controlled` is how often agent B would win if both traces were as long.
    """
    from rightcall.stats.pairwise import LengthRow, length_preference

    outcomes: dict[str, Literal["a", "b", "tie"]] = {"B": "a", "A": "b", "TIE": "tie"}
    return {
        what: msgspec.to_builtins(length_preference([
            LengthRow(row.case, row.sizes[at][1], row.sizes[at][0], outcomes[row.outcome])
            for row in rows
            if row.outcome in outcomes
        ]))
        for at, what in enumerate(("characters", "calls"))
    }  # fmt: skip


def agreement(rows: Sequence[Row], second: str | None, *, seed: int) -> list[dict[str, Any]]:
    """How far every two judges agree about the pairs that both have an answer to.

    A second judge is asked about doubtful pairs alone; its agreement says nothing about the others.
    """
    from rightcall.stats.agreement import kappa, percent_agreement

    together: dict[tuple[str, str], list[tuple[str, tuple[Winner, Winner]]]] = {}
    for row in rows:
        for (one, left), (other, right) in combinations(sorted(row.winners), 2):
            together.setdefault((one, other), []).append((row.case, (left, right)))
    found = []
    for judges, said in sorted(together.items()):
        cases, pairs = [case for case, _ in said], [pair for _, pair in said]
        share = percent_agreement(pairs, clusters=cases)
        beyond = kappa(pairs, labels=("A", "B", "TIE"), clusters=cases, seed=seed)
        found.append({
            "judges": list(judges), "n": len(pairs), "on_doubtful_pairs_alone": second in judges,
            "agreement": msgspec.to_builtins(share), "kappa": msgspec.to_builtins(beyond),
        })  # fmt: skip
    return found


_RESULTS: dict[str, Result] = {"A": "first", "B": "second", "TIE": "tie"}


def ranking(rows: Mapping[Agents, Sequence[Row]]) -> dict[str, Any]:
    """Three or more agents on one scale, by Bradley and Terry's model with Davidson's ties."""
    from rightcall.stats.bradley_terry import Game, bradley_terry

    found = bradley_terry(
        Game(a, b, _RESULTS[row.outcome], row.case)
        for (a, b), own in rows.items()
        for row in own
        if row.outcome in _RESULTS
    )
    standings: list[dict[str, Any]] = msgspec.to_builtins(found.standings)
    return {
        "standings": standings, "log_tie": msgspec.to_builtins(found.log_tie), "regularised": found.regularised,
        "method": found.method, "reason": found.reason,
    }  # fmt: skip

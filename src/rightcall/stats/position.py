"""Does a judge of pairs lean to the trace that it is shown first, or second?

A fair judge's answer does not change when the two traces change places. Where every pair was asked in both orders,
the pairs that flipped tell most: a leaning judge flips to the same slot each time. Where pairs were asked in one
random order each, only the rate of choosing the first slot is left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct

from rightcall.stats.clusters import Counts, clustered_share
from rightcall.stats.intervals import Estimate, invalid, wilson
from rightcall.stats.sign_test import sign_test

Slot = Literal["first", "second", "tie"]
"""What a judge answered in one call: the trace shown first, the one shown second, or neither."""

FAIR = (0.45, 0.55)
"""Rates of choosing the first slot that are taken for fair."""

ALERT_FROM, BIASED_FROM = 100, 20
"""How many decisive calls the interval of the rate must rest on, for an alert and for the word "biased"."""

ALPHA = 0.05


class PairOrders(NamedTuple):
    """What a judge answered about one pair in both orders.

    pair: its name. forward: the slot chosen where one of the two traces stood first. backward: the slot chosen where
    the other did.
    """

    pair: str
    forward: Slot
    backward: Slot

    @property
    def kind(self) -> Literal["consistent", "partial", "both_first", "both_second"]:
        """The same trace (or a tie) twice, a tie and a winner, or the slot that won twice."""
        if self.forward == self.backward:
            if self.forward == "tie":
                return "consistent"
            return "both_first" if self.forward == "first" else "both_second"
        return "partial" if "tie" in {self.forward, self.backward} else "consistent"


class PositionBias(Struct, frozen=True, kw_only=True):
    """How a judge's answers depend on the order in which it is shown the traces.

    Attributes:
        consistency: share of pairs with the same answer in both orders, with Wilson's interval.
        first_rate: share of decisive calls that chose the first slot, clustered by pair.
        both_first, both_second: pairs that flipped: the slot shown first won twice, or the second twice.
        partial: pairs with a tie in one order and a winner in the other.
        flips_p: exact two-sided sign test of `both_first` against `both_second`; `None` without a flip.
        alert: the interval of `first_rate` lies wholly outside 0.45 to 0.55, on at least 100 decisive calls.
        biased: `True` where it is shown by either rule of `position_bias`, `False` where it is not shown by at least
            100 decisive calls, `None` where they are fewer and nothing is shown.
        reason: why `biased` is `None`.
        words: the panel in one sentence.
    """

    consistency: Estimate
    first_rate: Estimate
    both_first: int
    both_second: int
    partial: int
    flips_p: float | None
    alert: bool
    biased: bool | None
    reason: str | None
    words: str


class OrderDraw(Struct, frozen=True, kw_only=True):
    """Whether single orders look drawn at random.

    Attributes:
        share: how often the first-named agent stood first, with Wilson's interval.
        p_value: exact two-sided test against one half; `None` without a pair.
        is_random: `False` where that is below `NOT_DRAWN`; `None` without a pair.
        words: the same in one sentence.
    """

    share: Estimate
    p_value: float | None
    is_random: bool | None
    words: str


NOT_DRAWN = 0.001
"""A fair draw is called not random once in so many runs: it is no fault of the agents, so the alarm must be rare."""


def order_draw(first: int, n: int) -> OrderDraw:
    """Do single orders look as if they had been drawn? A fixed order makes every preference one for a place.

    Args:
        first: pairs in which the first-named agent stood first.
        n: all pairs that were asked in one order.
    """
    p_value = sign_test(first, n - first)
    is_random = None if p_value is None else p_value >= NOT_DRAWN
    words = f"the first-named agent stood first in {first} of {n} pairs"
    if is_random is False:
        words += ": this order was not drawn at random, so preferences for a trace and for a place cannot be told apart"
    return OrderDraw(share=wilson(first, n), p_value=p_value, is_random=is_random, words=words)


def position_bias(
    calls: Sequence[tuple[str, Slot]], pairs: Sequence[PairOrders], *, excluded: int = 0, confidence: float = 0.95
) -> PositionBias:
    """Does a judge lean to a slot?

    The interval of the first-slot rate is that of `clustered_share` with the pair as the cluster. It is never
    narrower than that of independent calls, although the two answers of a fair judge balance each other; it errs
    towards no alert, and the flipped pairs are the sharper test.

    Two rules, and a judge is `biased` by either:

    * the exact sign test of pairs that flipped to the first slot against those that flipped to the second has
      p < 0.05;
    * the interval of the first-slot rate lies wholly outside 0.45 to 0.55 and rests on at least 20 decisive calls.

    `alert` is the stricter word: the second rule on at least 100 decisive calls.

    Args:
        calls: each answer, with the name of its pair: two for a pair asked in both orders, one for the others.
        pairs: those asked in both orders, once each.
        excluded: calls without an answer that could be read.
        confidence: of the intervals.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a slot that is none, or a pair that is named twice in `pairs`.
    """
    _check(calls, pairs)
    kinds = Counter(pair.kind for pair in pairs)
    consistency = wilson(kinds["consistent"], len(pairs), confidence=confidence)
    if consistency.estimate is None:
        consistency = msgspec.structs.replace(consistency, reason="no pair was asked in both orders")
    first = clustered_share(_by_pair(calls), excluded=excluded, confidence=confidence)
    if first.estimate is None:
        first = msgspec.structs.replace(first, reason="no decisive call")
    flips_p = sign_test(kinds["both_first"], kinds["both_second"])
    outside = first.low is not None and first.high is not None and (first.low > FAIR[1] or first.high < FAIR[0])
    biased: bool | None = (flips_p is not None and flips_p < ALPHA) or (outside and first.n >= BIASED_FROM)
    if not biased and first.n < ALERT_FROM:
        biased = None
    found = PositionBias(
        consistency=consistency,
        first_rate=first,
        both_first=kinds["both_first"],
        both_second=kinds["both_second"],
        partial=kinds["partial"],
        flips_p=flips_p,
        alert=outside and first.n >= ALERT_FROM,
        biased=biased,
        reason=f"{first.n} decisive calls, fewer than {ALERT_FROM}, show no bias" if biased is None else None,
        words="",
    )
    return msgspec.structs.replace(found, words=_words(found, len(pairs)))


def _check(calls: Iterable[tuple[str, Slot]], pairs: Sequence[PairOrders]) -> None:
    slots = {slot for _, slot in calls} | {slot for pair in pairs for slot in (pair.forward, pair.backward)}
    strange = sorted(slots - {"first", "second", "tie"})
    if strange:
        raise invalid(f"{strange[0]!r} is not a slot", "slots: first, second, tie")
    twice = [name for name, times in Counter(pair.pair for pair in pairs).items() if times > 1]
    if twice:
        raise invalid(f"the pair {twice[0]!r} is given twice")


def _by_pair(calls: Iterable[tuple[str, Slot]]) -> list[Counts]:
    """Of each pair, how many decisive calls chose the first slot, and how many there are."""
    found: dict[str, Counts] = {}
    for pair, slot in calls:
        if slot != "tie":
            first, n = found.get(pair, (0, 0))
            found[pair] = (first + (slot == "first"), n + 1)
    return list(found.values())


def _words(found: PositionBias, pairs: int) -> str:
    """The panel in one sentence."""
    flipped = found.both_first + found.both_second
    says = {True: "position bias", False: "position bias not shown", None: "too few answers to show position bias"}
    parts = []
    if pairs:
        parts.append(f"{flipped} of {_counted(pairs, 'pair')} flipped with the order")
    if found.flips_p is not None:
        p = f"{found.flips_p:.2f}" if found.flips_p >= 0.01 else f"{found.flips_p:.1e}"
        parts.append(f"{found.both_first} of {flipped} towards the first shown (p = {p})")
    rate = found.first_rate
    if rate.estimate is not None:
        interval = f"{rate.low:.2f} – {rate.high:.2f}"
        parts.append(f"the first slot won {rate.estimate:.2f} of {_counted(rate.n, 'decisive call')} ({interval})")
    else:
        parts.append("no decisive call")
    sentence = f"{', '.join(parts)}: {says[found.biased]}."
    return sentence[0].upper() + sentence[1:]


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"

"""Which of two is better, from pairs judged one by one: rates, an exact test, and the answer in words.

Ties and pairs whose winner changed with the order are counted, and never dropped silently: the win rate is among
decisive pairs, the net win rate counts a tie as half a win, and both counts stand beside them. How the judge itself
leans is told by `position_bias` and `length_preference`, which are offered here too.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import sqrt
from typing import Literal

import msgspec
from msgspec import Struct

from rightcall.stats.bootstrap import bootstrap_method, percentiles, resampled
from rightcall.stats.intervals import Estimate, wilson
from rightcall.stats.length import LengthPreference, LengthRow, length_preference
from rightcall.stats.ordinal import mean_score
from rightcall.stats.position import PairOrders, PositionBias, Slot, position_bias
from rightcall.stats.sign_test import check_counts, decisive_needed, detectable, sign_test, sign_test_power

__all__ = [
    "Comparison",
    "LengthPreference",
    "LengthRow",
    "PairOrders",
    "PositionBias",
    "Slot",
    "compare",
    "decisive_needed",
    "detectable",
    "length_preference",
    "net_win_rate",
    "position_bias",
    "sign_test",
    "sign_test_power",
    "standard_error",
    "win_rate",
]

Answer = Literal["better", "worse", "no_detectable_difference"]

ALPHA = 0.05
"""Below this p a difference is said to be one."""

POWER = 0.8
"""How often a difference should be found that is called detectable."""


def win_rate(wins: int, losses: int, *, excluded: int = 0, confidence: float = 0.95) -> Estimate:
    """Share of wins among decisive pairs, with Wilson's interval; undefined without a decisive pair.

    `excluded` counts pairs without a verdict. Ties are verdicts, and are told beside the rate.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a negative count.
    """
    check_counts(wins=wins, losses=losses, excluded=excluded)
    found = wilson(wins, wins + losses, excluded=excluded, confidence=confidence)
    return msgspec.structs.replace(found, reason="no decisive pair") if found.estimate is None else found


def net_win_rate(
    scores: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    *,
    excluded: int = 0,
    resamples: int = 2000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Estimate:
    """Mean score of all pairs, a win being 1, a tie 1/2 and a loss 0; percentile interval of a cluster bootstrap.

    Where all scores are equal every resample would give the same number; the interval is then the exact one of
    `mean_score`.

    Args:
        scores: one for each pair, from 0 to 1.
        clusters: the case of each pair, if one case gives several; `None`: each pair is its own.
        excluded: pairs without a verdict.
        resamples: draws of the bootstrap.
        seed: where its generator starts.
        confidence: of the interval.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a score outside 0 to 1.
    """
    plain = mean_score(scores, clusters, scale=(0, 1), excluded=excluded, confidence=confidence)
    if plain.low is None or min(scores) == max(scores):
        return plain
    rows = _sums(scores, clusters)
    means = resampled(rows, lambda sums: sums[:, 0] / sums[:, 1], resamples=resamples, seed=seed)
    low, high = percentiles(means, confidence)
    method = bootstrap_method(confidence, len(rows), resamples, seed)
    return Estimate(estimate=plain.estimate, low=low, high=high, n=len(scores), method=method, excluded=excluded)


def standard_error(values: Sequence[float], clusters: Sequence[Hashable] | None = None) -> float | None:
    """The standard error of a mean, by the sandwich over clusters; `None` where there are fewer than two of them.

    Formula: √(C/(C-1) Σ(Σ (value - mean))²) / n over C clusters (K.-Y. Liang and S. L. Zeger, Biometrika 73, 1986).
    With each value its own cluster that is s/√n.
    """
    rows = _sums(values, clusters)
    size, n = len(rows), len(values)
    if size < 2:
        return None
    mean = sum(values) / n
    return sqrt(size / (size - 1) * sum((total - m * mean) ** 2 for total, m in rows)) / n


def _sums(values: Sequence[float], clusters: Sequence[Hashable] | None) -> list[tuple[float, int]]:
    """Sum and number of values of each cluster."""
    if clusters is None:
        return [(value, 1) for value in values]
    found: dict[Hashable, tuple[float, int]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        total, n = found.get(cluster, (0.0, 0))
        found[cluster] = (total + value, n + 1)
    return list(found.values())


class Comparison(Struct, frozen=True, kw_only=True):
    """What pairs of A and B show about A.

    Attributes:
        wins, losses, ties: pairs that A won, that B won, and that are equal.
        inconsistent: pairs whose two orders gave different answers; they count as ties of their own kind.
        excluded: pairs without a verdict.
        win_rate: A's share of the decisive pairs.
        p_value: of the exact two-sided sign test; `None` without a decisive pair.
        verdict: `better` or `worse` where the test's p is below 0.05, else `no_detectable_difference`.
        detectable: the smallest win probability above 1/2 that so many decisive pairs would show 4 times in 5;
            `None` where they are too few to show any.
        more_pairs: how many more pairs, ties among them as often as so far, would show the win rate seen here 4
            times in 5; 0 where it is shown already, `None` where that cannot be said.
        reason: why `more_pairs` cannot be said.
        words: all of it in one or two plain sentences.
    """

    wins: int
    losses: int
    ties: int
    inconsistent: int
    excluded: int
    win_rate: Estimate
    p_value: float | None
    verdict: Answer
    detectable: float | None
    more_pairs: int | None
    reason: str | None
    words: str


def compare(
    wins: int, losses: int, ties: int, inconsistent: int, *, excluded: int = 0, names: tuple[str, str] = ("A", "B")
) -> Comparison:
    """What so many wins, losses and ties of A against B show, in numbers and in words.

    Swapping the two (and wins with losses) swaps `better` and `worse` and mirrors the rate. The test and the interval
    take each pair for independent: where one case gives several pairs, give one verdict for each case, or see
    `net_win_rate`, which clusters.

    Args:
        wins: pairs that A won.
        losses: pairs that B won.
        ties: pairs judged equal.
        inconsistent: pairs whose two orders gave different answers.
        excluded: pairs without a verdict.
        names: what the sentence calls the two.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a negative count.
    """
    check_counts(wins=wins, losses=losses, ties=ties, inconsistent=inconsistent, excluded=excluded)
    p = sign_test(wins, losses)
    shown = p is not None and p < ALPHA
    verdict: Answer = "no_detectable_difference"
    if shown:
        verdict = "better" if wins > losses else "worse"
    more, reason = (0, None) if shown else _more_pairs(wins, losses, ties + inconsistent)
    found = Comparison(
        wins=wins,
        losses=losses,
        ties=ties,
        inconsistent=inconsistent,
        excluded=excluded,
        win_rate=win_rate(wins, losses, excluded=excluded),
        p_value=p,
        verdict=verdict,
        detectable=detectable(wins + losses, power=POWER, alpha=ALPHA),
        more_pairs=more,
        reason=reason,
        words="",
    )
    return msgspec.structs.replace(found, words=_words(found, names))


def _more_pairs(wins: int, losses: int, undecided: int) -> tuple[int | None, str | None]:
    """How many more pairs it takes, or why that cannot be said."""
    n = wins + losses
    if not n:
        return None, "no decisive pair"
    if wins == losses:
        return None, "as many wins as losses: no number of pairs shows a difference at this rate"
    needed = decisive_needed(max(wins, losses) / n, power=POWER, alpha=ALPHA, exact=True)
    # Rounded up in whole numbers. One decisive pair more is the least that can change the answer.
    return -(-max(1, needed - n) * (n + undecided) // n), None


def _words(found: Comparison, names: tuple[str, str]) -> str:
    """The comparison in one or two sentences."""
    first, second = names
    n, rate = found.wins + found.losses, found.win_rate
    if rate.estimate is None or rate.low is None or rate.high is None or found.p_value is None:
        undecided = found.ties + found.inconsistent
        if not undecided:
            return f"Nothing is known about {first} against {second}: no pair has a verdict."
        return f"No detectable difference between {first} and {second}: none of {_pairs(undecided)} is decisive."
    seen = (
        f"{first} won {found.wins} of {_pairs(n, 'decisive ')} "
        f"({rate.estimate:.2f}, interval {rate.low:.2f} – {rate.high:.2f}, p = {_p(found.p_value)})"
    )
    if found.verdict != "no_detectable_difference":
        return f"{first} is {found.verdict} than {second}: {seen}."
    return f"No detectable difference between {first} and {second}: {seen}. {_what_would(found, n)}"


def _what_would(found: Comparison, n: int) -> str:
    """What these pairs could have shown, and what it would take."""
    could = f"{_pairs(n, 'decisive ').capitalize()} would show only a win rate of {found.detectable or 1:.2f} or more"
    if found.detectable is None:
        could = "So few decisive pairs can show no difference at all"
    if found.more_pairs is None:
        return f"{could}."
    return f"{could}; {found.more_pairs} more pairs would show the rate seen here 4 times in 5."


def _pairs(n: int, kind: str = "") -> str:
    return f"{n} {kind}pair" if n == 1 else f"{n} {kind}pairs"


def _p(value: float) -> str:
    return f"{value:.3f}" if value >= 0.001 else f"{value:.1e}"

"""Does a judge of pairs prefer the longer trace?

What is measured is an association. A longer trace may be the better one for good reasons, so the rate of choosing the
longer says where to look, and the length-controlled rate says how often A would win if both were as long.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import isfinite, log1p, sqrt
from statistics import NormalDist
from typing import Literal, NamedTuple

import msgspec
from msgspec import Struct

from rightcall.stats.clusters import Counts, clustered_share
from rightcall.stats.intervals import Estimate, invalid, undefined
from rightcall.stats.logistic import chance, fit_logistic
from rightcall.stats.sign_test import sign_test

KNOWN_FROM = 100
"""From so many decisive pairs on, a preference that is not shown is said to be none."""


class LengthRow(NamedTuple):
    """One pair: its name (rows of one name are clustered), the lengths of its traces, and which was preferred."""

    pair: Hashable
    length_a: float
    length_b: float
    outcome: Literal["a", "b", "tie"]


class LengthPreference(Struct, frozen=True, kw_only=True):
    """How a judge's answers go with the lengths of the traces.

    Attributes:
        longer, shorter: decisive pairs of unequal length that the longer and the shorter trace won.
        longer_rate: share of the longer, with Wilson's interval, clustered by pair.
        p_value: exact two-sided sign test of `longer` against `shorter`; `None` without such a pair.
        slope: of the logistic model, in log-odds for each standard step of the length difference (Wald).
        controlled: A's win rate among decisive pairs at no difference of length, by the same model.
        prefers_longer: `True` where the sign test has p < 0.05 for the longer and the interval of its rate lies above
            1/2; `False` where the same shows a preference for the shorter, or at least 100 such pairs show none for the
            longer; `None` where they are fewer.
        reason: why `prefers_longer` is `None`.
        words: the panel in one sentence.
    """

    longer: int
    shorter: int
    longer_rate: Estimate
    p_value: float | None
    slope: Estimate
    controlled: Estimate
    prefers_longer: bool | None
    reason: str | None
    words: str


def length_preference(rows: Sequence[LengthRow], *, confidence: float = 0.95) -> LengthPreference:
    """Does a judge prefer the longer trace?

    The model is logistic regression by maximum likelihood, log-odds(A wins) = intercept + slope x, where
    x = (log(1 + length of A) - log(1 + length of B)) divided by its root mean square, so that 0 is no difference. It
    is not penalised: where the lengths separate A's wins from B's, the likelihood has no maximum, and slope and
    controlled rate are undefined, with that reason. Standard errors come from the information matrix, or from the
    sandwich over pairs where a pair has several rows. The controlled rate is the idea of Y. Dubois and others
    (length-controlled win rates, 2024) with this one covariate. Ties are left out of all of it and counted as excluded.

    Args:
        rows: one for each verdict.
        confidence: of the intervals.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a length that is negative or no number, or an outcome that is none.
    """
    _check(rows)
    decisive = [row for row in rows if row.outcome != "tie"]
    unequal = [row for row in decisive if row.length_a != row.length_b]
    longer = sum(_longer_won(row) for row in unequal)
    rate = clustered_share(_by_pair(unequal), excluded=len(rows) - len(unequal), confidence=confidence)
    if rate.estimate is None:
        rate = msgspec.structs.replace(rate, reason="no decisive pair of unequal length")
    p = sign_test(longer, len(unequal) - longer)
    is_shown = p is not None and p < 0.05
    prefers: bool | None = is_shown and rate.low is not None and rate.low > 0.5
    shorter = is_shown and rate.high is not None and rate.high < 0.5
    if not prefers and not shorter and rate.n < KNOWN_FROM:
        prefers = None
    slope, controlled = _controlled(decisive, len(rows) - len(decisive), confidence)
    few = f"{rate.n} decisive pairs of unequal length, fewer than {KNOWN_FROM}, show no preference for the longer"
    return LengthPreference(
        longer=longer,
        shorter=len(unequal) - longer,
        longer_rate=rate,
        p_value=p,
        slope=slope,
        controlled=controlled,
        prefers_longer=prefers,
        reason=few if prefers is None else None,
        words=_words(longer, rate, _SHORTER if shorter else _SAID[prefers]),
    )


def _check(rows: Sequence[LengthRow]) -> None:
    for row in rows:
        for length in (row.length_a, row.length_b):
            if not (isfinite(length) and length >= 0):
                raise invalid(f"{length} is not a length")
        if row.outcome not in {"a", "b", "tie"}:
            raise invalid(f"{row.outcome!r} is not an outcome", "outcomes: a, b, tie")


def _longer_won(row: LengthRow) -> bool:
    return (row.outcome == "a") == (row.length_a > row.length_b)


def _by_pair(rows: Sequence[LengthRow]) -> list[Counts]:
    found: dict[Hashable, Counts] = {}
    for row in rows:
        longer, n = found.get(row.pair, (0, 0))
        found[row.pair] = (longer + _longer_won(row), n + 1)
    return list(found.values())


def _controlled(rows: Sequence[LengthRow], excluded: int, confidence: float) -> tuple[Estimate, Estimate]:
    """Slope and controlled win rate of decisive rows, or why there are none."""
    pairs = {row.pair for row in rows}
    method = f"logistic, wald {confidence:g}"
    if len(pairs) < len(rows):
        method += ", clustered by pair"
    differences = [log1p(row.length_a) - log1p(row.length_b) for row in rows]
    wins = [row.outcome == "a" for row in rows]
    one = "the verdicts of one pair say nothing about others" if len(pairs) == 1 < len(rows) else None
    reason = one or _no_maximum(differences, wins)
    fit = None
    if reason is None:
        step = sqrt(sum(difference**2 for difference in differences) / len(rows))
        fit = fit_logistic([difference / step for difference in differences], wins, [row.pair for row in rows])
        if isinstance(fit, str):
            reason = "the lengths nearly separate wins from losses, so that the model did not settle"
    if fit is None or isinstance(fit, str):
        none = undefined(method, reason or "", n=len(rows), excluded=excluded)
        return none, none
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    intercept, slope = zip((fit.intercept, fit.slope), fit.errors, strict=True)
    estimates = [
        Estimate(estimate=link(at), low=link(at - z * error), high=link(at + z * error), n=len(rows), method=method,
                 excluded=excluded)
        for link, (at, error) in ((float, slope), (chance, intercept))
    ]  # fmt: skip
    return estimates[0], estimates[1]


def _no_maximum(differences: Sequence[float], wins: Sequence[bool]) -> str | None:
    """Why the likelihood has no single finite maximum, if it has none.

    It has one where differences vary, and those of wins and of losses overlap (A. Albert and J. A. Anderson,
    Biometrika 71, 1984, for one covariate).
    """
    if not differences:
        return "no decisive pair"
    won = [difference for difference, win in zip(differences, wins, strict=True) if win]
    lost = [difference for difference, win in zip(differences, wins, strict=True) if not win]
    if not won or not lost:
        return "all decisive pairs have the same winner"
    if min(differences) == max(differences):
        return "all pairs have the same difference of length"
    if max(won) <= min(lost) or max(lost) <= min(won):
        return "the lengths separate wins from losses, so that the likelihood has no maximum"
    return None


_SAID = {
    True: "prefers the longer trace",
    False: "a preference for the longer trace is not shown",
    None: "too few pairs to show a preference for the longer trace",
}
_SHORTER = "prefers the shorter trace"


def _words(longer: int, rate: Estimate, said: str) -> str:
    """The panel in one sentence."""
    if rate.estimate is None:
        return "No decisive pair of unequal length: nothing is known about a preference for the longer trace."
    pairs = "decisive pair" if rate.n == 1 else "decisive pairs"
    return (
        f"The longer trace won {longer} of {rate.n} {pairs} of unequal length "
        f"({rate.estimate:.2f}, interval {rate.low:.2f} – {rate.high:.2f}): {said}."
    )

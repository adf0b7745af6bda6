"""Logistic regression with one covariate, by maximum likelihood and without a penalty.

A penalty would pull the slope towards 0, so that a calibrated judge would look too sure of itself. Without one the
likelihood has no maximum where the covariate separates the two outcomes; that is said, and no number is made up.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from math import exp, sqrt

from msgspec import Struct

Symmetric = tuple[float, float, float]
"""A symmetric matrix of two rows: its first, mixed and last entry."""

Pair = tuple[float, float]


class Logistic(Struct, frozen=True, kw_only=True):
    """log-odds(outcome) = intercept + slope x, and the covariance of the two."""

    intercept: float
    slope: float
    covariance: Symmetric

    @property
    def errors(self) -> Pair:
        """Standard errors of intercept and slope."""
        return sqrt(self.covariance[0]), sqrt(self.covariance[2])


def fit_logistic(
    x: Sequence[float], outcomes: Sequence[bool], clusters: Sequence[Hashable] | None = None
) -> Logistic | str:
    """The model of greatest likelihood, or why there is none.

    Found by Newton's method. The covariance is the inverse of the information; with clusters it is the sandwich
    C/(C-1) Σ (inverse · score of the cluster)², no smaller on its diagonal than without them. A single finite maximum
    exists where x varies and the values of both outcomes overlap (A. Albert and J. A. Anderson, Biometrika 71, 1984).
    """
    reason = _no_maximum(x, outcomes)
    if reason is not None:
        return reason
    if clusters is not None and len(set(clusters)) < 2:
        return "the items of one case say nothing about others"
    # The covariate is centred and scaled while it is fitted: the information is then well conditioned.
    centre = sum(x) / len(x)
    step = sqrt(sum((value - centre) ** 2 for value in x) / len(x))
    scaled = [(value - centre) / step for value in x]
    found = _newton(scaled, outcomes)
    if found is None:
        return "the outcomes are nearly separated, so that the model did not settle"
    (a, b), inverse = found
    if clusters is not None and len(set(clusters)) < len(x):
        scores = cluster_scores(scaled, outcomes, [chance(a + b * value) for value in scaled], clusters)
        inverse = _sandwich(inverse, scores)
    p, q, r = inverse
    ratio = centre / step
    return Logistic(
        intercept=a - b * ratio,
        slope=b / step,
        covariance=(p - 2 * ratio * q + ratio * ratio * r, (q - ratio * r) / step, r / step**2),
    )


def _no_maximum(x: Sequence[float], outcomes: Sequence[bool]) -> str | None:
    held = [value for value, outcome in zip(x, outcomes, strict=True) if outcome]
    failed = [value for value, outcome in zip(x, outcomes, strict=True) if not outcome]
    if not held or not failed:
        return "all outcomes are the same" if x else "nothing was evaluated"
    if min(x) == max(x):
        return "all values are the same"
    if max(held) <= min(failed) or max(failed) <= min(held):
        return "the values separate the outcomes, so that the likelihood has no maximum"
    return None


def _newton(x: Sequence[float], outcomes: Sequence[bool]) -> tuple[Pair, Symmetric] | None:
    """Intercept and slope with the inverse information; `None` where the method does not settle."""
    a = b = 0.0
    for _ in range(100):
        expected = [chance(a + b * value) for value in x]
        inverse = inverted(information(x, expected))
        if inverse is None:
            return None
        g0, g1 = score(x, outcomes, expected)
        p, q, r = inverse
        step_a, step_b = p * g0 + q * g1, q * g0 + r * g1
        # A long step can throw the method off; the likelihood is concave, so a shorter one in its direction climbs.
        size = max(1.0, abs(step_a), abs(step_b))
        a, b = a + step_a / size, b + step_b / size
        if abs(step_a) + abs(step_b) < 1e-10:
            return (a, b), inverse
    return None


def chance(log_odds: float) -> float:
    """The probability that has these log-odds."""
    return 1 / (1 + exp(-log_odds)) if log_odds >= 0 else exp(log_odds) / (1 + exp(log_odds))


def score(x: Sequence[float], outcomes: Sequence[bool], expected: Sequence[float]) -> Pair:
    """The gradient of the log-likelihood at a model that expects these probabilities."""
    rest = [outcome - chance_ for outcome, chance_ in zip(outcomes, expected, strict=True)]
    return sum(rest), sum(left * value for left, value in zip(rest, x, strict=True))


def information(x: Sequence[float], expected: Sequence[float]) -> Symmetric:
    """The information about intercept and slope at a model that expects these probabilities."""
    h00 = h01 = h11 = 0.0
    for value, chance_ in zip(x, expected, strict=True):
        weight = chance_ * (1 - chance_)
        h00, h01, h11 = h00 + weight, h01 + weight * value, h11 + weight * value * value
    return h00, h01, h11


def inverted(matrix: Symmetric) -> Symmetric | None:
    """The inverse; `None` of a matrix that has none, or hardly one."""
    p, q, r = matrix
    determinant = p * r - q * q
    if determinant <= 1e-12 * p * r:
        return None
    return r / determinant, -q / determinant, p / determinant


def cluster_scores(
    x: Sequence[float], outcomes: Sequence[bool], expected: Sequence[float], clusters: Sequence[Hashable]
) -> list[Pair]:
    """The score of each cluster."""
    found: dict[Hashable, Pair] = {}
    for value, outcome, chance_, cluster in zip(x, outcomes, expected, clusters, strict=True):
        s0, s1 = found.get(cluster, (0.0, 0.0))
        left = outcome - chance_
        found[cluster] = (s0 + left, s1 + left * value)
    return list(found.values())


def _sandwich(inverse: Symmetric, scores: Iterable[Pair]) -> Symmetric:
    p, q, r = inverse
    moved = [(p * s0 + q * s1, q * s0 + r * s1) for s0, s1 in scores]
    scale = len(moved) / (len(moved) - 1)
    first, last = scale * sum(u * u for u, _ in moved), scale * sum(v * v for _, v in moved)
    mixed = scale * sum(u * v for u, v in moved)
    # Each variance is the wider of both; the covariance is shrunk or grown along with them.
    grown = sqrt(max(first, p) / first * max(last, r) / last) if first and last else 1.0
    return max(first, p), mixed * grown, max(last, r)

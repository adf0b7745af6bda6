"""Means that rest on a part of the items: by strata, or with the help of predictions for the rest.

Both need labels of items that were chosen at random. Labels of items that were chosen because they looked difficult
tell nothing about the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite, sqrt
from statistics import NormalDist

from rightcall.stats.intervals import NOTHING, Estimate, invalid, undefined


def ppi(
    labels: Sequence[float], predicted: Sequence[float], others: Sequence[float], *, confidence: float = 0.95
) -> Estimate:
    """Prediction-powered mean: the mean prediction, corrected by how far predictions are off where labels exist.

    Formula: mean(others) + mean(labels - predicted), with the normal interval of variance
    Var(labels - predicted)/n + Var(others)/N (A. N. Angelopoulos and others, Science 382, 2023). Variances divide by
    the number of values.

    Args:
        labels: what is true of the labelled items.
        predicted: what was predicted for the same items.
        others: the predictions for all items without a label.
        confidence: of the interval.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for sequences that do not belong together, or a value that is no number.
    """
    return _powered(labels, predicted, others, 1.0, f"ppi {confidence:g}", confidence)


def ppi_plus_plus(
    labels: Sequence[float], predicted: Sequence[float], others: Sequence[float], *, confidence: float = 0.95
) -> Estimate:
    """The prediction-powered mean with predictions weighted as they deserve; with useless ones, the labels' mean.

    Formula: λ mean(others) + mean(labels - λ predicted), λ = Cov(labels, predicted) / ((1 + n/N) Var(predictions)), the
    variance over all predictions together (A. N. Angelopoulos, J. C. Duchi and T. Zrnic, PPI++, 2023). λ stands in the
    method. Arguments and errors are those of `ppi`.
    """
    _check(labels, predicted, others)
    weight = 0.0
    spread = _variance([*predicted, *others])
    if labels and others and spread > 0:
        both = zip(labels, predicted, strict=True)
        covariance = sum(y * f for y, f in both) / len(labels) - _mean(labels) * _mean(predicted)
        weight = covariance / ((1 + len(labels) / len(others)) * spread)
    return _powered(labels, predicted, others, weight, f"ppi++ {confidence:g}, lambda {weight:.3g}", confidence)


def _powered(
    labels: Sequence[float],
    predicted: Sequence[float],
    others: Sequence[float],
    weight: float,
    method: str,
    confidence: float,
) -> Estimate:
    _check(labels, predicted, others)
    n = len(labels)
    if not n or not others:
        return undefined(method, "no labels" if not n else "no items without a label", n=n)
    corrections = [y - weight * f for y, f in zip(labels, predicted, strict=True)]
    mean = weight * _mean(others) + _mean(corrections)
    variance = _variance(corrections) / n + weight**2 * _variance(others) / len(others)
    if n < 2 or variance == 0:
        reason = "one label has no interval" if n < 2 else "no value differs, so that no spread is known"
        return Estimate(estimate=mean, low=None, high=None, n=n, method=method, reason=reason)
    half = NormalDist().inv_cdf(0.5 + confidence / 2) * sqrt(variance)
    return Estimate(estimate=mean, low=mean - half, high=mean + half, n=n, method=method)


def _check(labels: Sequence[float], predicted: Sequence[float], others: Sequence[float]) -> None:
    if len(labels) != len(predicted):
        raise invalid(f"{len(labels)} labels do not belong to {len(predicted)} predictions")
    strange = next((value for values in (labels, predicted, others) for value in values if not isfinite(value)), None)
    if strange is not None:
        raise invalid(f"{strange} is not a score")


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _variance(values: Sequence[float]) -> float:
    if not values:
        return 0.0
    mean = _mean(values)
    return sum((value - mean) ** 2 for value in values) / len(values)


Sampled = tuple[int, Sequence[float]]
"""How many items a stratum has, and the values of those that were drawn."""


def stratified_mean(strata: Iterable[Sampled], *, confidence: float = 0.95, excluded: int = 0) -> Estimate:
    """Mean of a finite number of items of which each stratum gave a random part.

    Formula: Σ W_h mean_h with W_h = N_h/N, and Student's interval on `stratified_error` with Σ(n_h - 1) degrees of
    freedom (W. G. Cochran, Sampling Techniques, 1977, ch. 5). Where all items are known there is nothing left to
    estimate, and the interval is the mean itself.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a stratum that gave no item, or more than it has, or a value that is no
            number.
    """
    given = [(size, values) for size, values in strata if size or values]
    _check_strata(given)
    total, n = sum(size for size, _ in given), sum(len(values) for _, values in given)
    method = f"stratified t {confidence:g}"
    if not n:
        return undefined(method, NOTHING, excluded=excluded)
    mean = sum(size / total * _mean(values) for size, values in given)
    error, freedom = stratified_error(given), n - len(given)
    if error is None or (error == 0 and n < total):
        reason = "a stratum gave one item only" if error is None else "no value differs within the strata"
        return Estimate(estimate=mean, low=None, high=None, n=n, method=method, excluded=excluded, reason=reason)
    half = 0.0
    if error:
        from scipy.special import stdtrit

        half = float(stdtrit(freedom, 0.5 + confidence / 2)) * error
    return Estimate(estimate=mean, low=mean - half, high=mean + half, n=n, method=method, excluded=excluded)


def stratified_error(strata: Iterable[Sampled]) -> float | None:
    """The standard error of `stratified_mean`: √(Σ W_h² (1 - n_h/N_h) s_h²/n_h).

    `None` where a stratum of several items gave only one, so that its spread is not known.
    """
    given = [(size, values) for size, values in strata if size or values]
    _check_strata(given)
    total, variance = sum(size for size, _ in given), 0.0
    for size, values in given:
        n = len(values)
        if n == size:
            continue
        if n < 2:
            return None
        variance += (size / total) ** 2 * (1 - n / size) * _variance(values) / (n - 1)
    return sqrt(variance)


def _check_strata(strata: Iterable[Sampled]) -> None:
    for size, values in strata:
        if not 0 < len(values) <= size:
            raise invalid(f"a stratum of {size} items cannot be known from {len(values)}")
        if not all(isfinite(value) for value in values):
            raise invalid("a value is no number")

"""How far two raters agree on the same items: plainly, by levels, and beyond what chance would give.

A pair holds what the two said about one item, the judge first where one of them is a judge. Where one case gives
several items, its name stands in `clusters`, and intervals are those of clustered observations.

Kappa compares the agreement with that of two raters who answer at random with the same habits. Where nearly all
answers are one category it is low or undefined however well they agree; show it beside the plain agreement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from math import isfinite, sqrt
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from rightcall.stats.bootstrap import bootstrap_method, percentiles, resampled
from rightcall.stats.clusters import Counts, clustered_share
from rightcall.stats.intervals import NOTHING, Estimate, invalid, undefined
from rightcall.stats.ordinal import mean_score

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[Any]

Weights = Literal["linear", "quadratic"]
Clusters = Sequence[Hashable] | None

LOST = 0.1
"""With more than this share of resamples undefined, kappa has no interval."""


def kappa(
    pairs: Sequence[tuple[Hashable, Hashable]],
    *,
    weights: Weights | None = None,
    labels: Sequence[Hashable] | None = None,
    clusters: Clusters = None,
    resamples: int = 2000,
    seed: int = 0,
    confidence: float = 0.95,
    excluded: int = 0,
) -> Estimate:
    """Cohen's kappa: the share of the disagreement expected by chance that is not there.

    Formula: 1 - Σ w_ij p_ij / Σ w_ij p_i. p_.j with w_ij the distance of two labels: 0 or 1 (J. Cohen, Educational and
    Psychological Measurement 20, 1960), or |i-j| (`linear`) or (i-j)² (`quadratic`) between their places in `labels`
    (J. Cohen, Psychological Bulletin 70, 1968). The interval is the percentile one of a cluster bootstrap; resamples
    without a kappa are left out, and the reason counts them. It is undefined where both raters gave one and the
    same label throughout.

    Raters who agree on everything agree in every resample too, which would be an interval of no width. Its lower bound
    is then what kappa would be if, at the lower bound of the plain agreement, the rest were as far apart as the labels
    that were given are, no lower than -1. This is our own addition, and errs on the wide side. Where one of them gave
    one label throughout, kappa is 0 in every resample whatever the other says, so there is no interval.

    Args:
        pairs: what the two raters said about each item.
        weights: of a disagreement; `None`: all are alike.
        labels: all labels that could have been given, in their sequence; those seen, if not weighted.
        clusters: the case of each pair.
        resamples: draws of the bootstrap.
        seed: where its generator starts.
        confidence: of the interval.
        excluded: how many items lack an answer of either.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a label that is not in `labels`, or weights without labels: the distance
            of two labels is not known from those that happened to be given.
    """
    known = _labels(pairs, labels, weights)
    cases = _cases(len(pairs), clusters)
    method = f"cohen kappa{f' {weights}' if weights else ''}"
    if not pairs:
        return undefined(method, NOTHING, excluded=excluded)
    value = cohen(pairs, weights=weights, labels=known)
    if value is None:
        reason = "both gave one and the same label throughout, so that chance alone would agree fully"
        return undefined(method, reason, n=len(pairs), excluded=excluded)
    size = len(set(cases))
    found = Estimate(estimate=value, low=None, high=None, n=len(pairs), method=method, excluded=excluded)
    if size < 2:
        reason = "one item has no interval" if len(pairs) == 1 else "the items of one case have no interval"
        return msgspec.structs.replace(found, reason=reason)
    if all(first == second for first, second in pairs):
        low = _perfect(pairs, known, weights, clusters, confidence)
        return msgspec.structs.replace(found, low=low, high=1.0, method=f"{method}, wilson {confidence:g}, all agree")
    if any(len({pair[side] for pair in pairs}) == 1 for side in (0, 1)):
        reason = "one of the two gave one label throughout, so that kappa is 0 whatever the other says"
        return msgspec.structs.replace(found, reason=reason)
    method += ", " + bootstrap_method(confidence, size, resamples, seed)
    rows = _tables(pairs, cases, known)
    values = resampled(rows, lambda sums: _kappas(sums, len(known), weights), resamples=resamples, seed=seed)
    lost = resamples - len(values)
    counted = f"{lost} of {resamples} resamples have one label only, and no kappa"
    if lost > LOST * resamples:
        return msgspec.structs.replace(found, method=method, reason=counted)
    low, high = percentiles(values, confidence)
    return msgspec.structs.replace(found, low=low, high=high, method=method, reason=counted if lost else None)


def cohen(
    pairs: Sequence[tuple[Hashable, Hashable]],
    *,
    weights: Weights | None = None,
    labels: Sequence[Hashable] | None = None,
) -> float | None:
    """Cohen's kappa as a bare number (see `kappa`); `None` where it is undefined."""
    known = _labels(pairs, labels, weights)
    place = {label: index for index, label in enumerate(known)}
    n = len(pairs)
    first, second = (Counter(place[pair[side]] for pair in pairs) for side in (0, 1))
    seen = sum(_distance(place[a], place[b], weights) for a, b in pairs) * n
    chance = sum(_distance(i, j, weights) * u * v for i, u in first.items() for j, v in second.items())
    return 1 - seen / chance if chance else None


def kappa_standard_error(pairs: Sequence[tuple[Hashable, Hashable]]) -> float | None:
    """The large-sample standard error of unweighted kappa; `None` where kappa is undefined.

    Formula: J. L. Fleiss, J. Cohen and B. S. Everitt, Psychological Bulletin 72, 1969. For planning: the interval that
    is shown is the bootstrap's.
    """
    value, n = cohen(pairs), len(pairs)
    if value is None:
        return None
    first, second = ({label: k / n for label, k in Counter(pair[side] for pair in pairs).items()} for side in (0, 1))
    chance = sum(share * second.get(label, 0.0) for label, share in first.items())
    total = 0.0
    for (a, b), k in Counter(pairs).items():
        margins = (1 - value) * (second.get(a, 0.0) + first.get(b, 0.0))
        total += k / n * ((1 - margins) ** 2 if a == b else margins**2)
    return sqrt(max(0.0, total - (value - chance * (1 - value)) ** 2) / n) / (1 - chance)


def percent_agreement(
    pairs: Sequence[tuple[Hashable, Hashable]],
    *,
    clusters: Clusters = None,
    confidence: float = 0.95,
    excluded: int = 0,
) -> Estimate:
    """Share of items on which both said the same, with Wilson's interval, clustered by case."""
    return _share([first == second for first, second in pairs], clusters, confidence, excluded)


def within_one(
    pairs: Sequence[tuple[float, float]], *, clusters: Clusters = None, confidence: float = 0.95, excluded: int = 0
) -> Estimate:
    """Share of items whose two scores are at most 1 apart, with Wilson's interval, clustered by case.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a score that is no finite number.
    """
    _finite(pairs)
    return _share([abs(first - second) <= 1 for first, second in pairs], clusters, confidence, excluded)


def mean_difference(
    pairs: Sequence[tuple[float, float]],
    *,
    clusters: Clusters = None,
    scale: tuple[float, float] = (1, 5),
    confidence: float = 0.95,
    excluded: int = 0,
) -> Estimate:
    """Mean of first minus second score (judge minus human: above 0 the judge is the milder), as `mean_score`.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a score outside the scale.
    """
    bottom, top = scale
    strange = next((score for pair in pairs for score in pair if not bottom <= score <= top), None)
    if strange is not None:
        raise invalid(f"{strange} is not on the scale from {bottom:g} to {top:g}")
    width = top - bottom
    differences = [first - second for first, second in pairs]
    return mean_score(differences, clusters, scale=(-width, width), excluded=excluded, confidence=confidence)


def _labels(
    pairs: Sequence[tuple[Hashable, Hashable]], labels: Sequence[Hashable] | None, weights: Weights | None
) -> Sequence[Hashable]:
    """The labels in their sequence, each once."""
    seen = dict.fromkeys(label for pair in pairs for label in pair)
    if labels is None:
        if weights is not None:
            raise invalid("weighted kappa needs all labels in their sequence")
        return list(seen)
    strange = next((label for label in seen if label not in labels), None)
    if strange is not None:
        raise invalid(f"{strange!r} is not a label", f"labels: {', '.join(map(str, labels))}")
    return list(dict.fromkeys(labels))


def _distance(i: int, j: int, weights: Weights | None) -> int:
    if weights is None:
        return int(i != j)
    return abs(i - j) if weights == "linear" else (i - j) ** 2


def _cases(n: int, clusters: Clusters) -> Sequence[Hashable]:
    if clusters is None:
        return range(n)
    if len(clusters) != n:
        raise invalid(f"{n} items cannot belong to {len(clusters)} cases")
    return clusters


def _tables(
    pairs: Sequence[tuple[Hashable, Hashable]], cases: Sequence[Hashable], labels: Sequence[Hashable]
) -> list[list[float]]:
    """Of each case, how often each cell of the table of labels was seen, row by row."""
    place, size = {label: index for index, label in enumerate(labels)}, len(labels)
    found: dict[Hashable, list[float]] = {}
    for (first, second), case in zip(pairs, cases, strict=True):
        found.setdefault(case, [0.0] * size**2)[place[first] * size + place[second]] += 1
    return list(found.values())


def _kappas(tables: Numbers, size: int, weights: Weights | None) -> Numbers:
    """Kappa of each table, one in a row; not a number where it is undefined."""
    import numpy as np

    cells = tables.reshape(len(tables), size, size)
    distance = np.array([[_distance(i, j, weights) for j in range(size)] for i in range(size)], dtype=float)
    seen = (cells * distance).sum(axis=(1, 2)) * cells.sum(axis=(1, 2))
    chance = np.einsum("di,ij,dj->d", cells.sum(axis=2), distance, cells.sum(axis=1))
    values: Numbers = 1 - seen / chance
    return values


def _perfect(
    pairs: Sequence[tuple[Hashable, Hashable]],
    labels: Sequence[Hashable],
    weights: Weights | None,
    clusters: Clusters,
    confidence: float,
) -> float:
    """The lower bound where all agree (see `kappa`)."""
    agreement = percent_agreement(pairs, clusters=clusters, confidence=confidence)
    place = {label: index for index, label in enumerate(labels)}
    counts, n = Counter(place[first] for first, _ in pairs), len(pairs)
    chance = sum(_distance(i, j, weights) * u * v for i, u in counts.items() for j, v in counts.items()) / n**2
    worst = _distance(min(counts), max(counts), weights)
    return max(-1.0, 1 - (1 - (agreement.low or 0.0)) * worst / chance)


def _share(agrees: Sequence[bool], clusters: Clusters, confidence: float, excluded: int) -> Estimate:
    found: dict[Hashable, Counts] = {}
    for agree, case in zip(agrees, _cases(len(agrees), clusters), strict=True):
        successes, n = found.get(case, (0, 0))
        found[case] = (successes + agree, n + 1)
    return clustered_share(found.values(), excluded=excluded, confidence=confidence)


def _finite(pairs: Sequence[tuple[float, float]]) -> None:
    strange = next((score for pair in pairs for score in pair if not isfinite(score)), None)
    if strange is not None:
        raise invalid(f"{strange} is not a score")

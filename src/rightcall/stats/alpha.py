"""Krippendorff's alpha: how far any number of raters agree beyond chance, where some answers may be missing.

A unit is one item with the answers that it got; who gave which does not matter, only which were given together. What
counts as near depends on the level of measurement, so the level belongs to every alpha that is shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from itertools import combinations
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from rightcall.stats.clusters import Counts, clustered_share
from rightcall.stats.intervals import Estimate, invalid, undefined
from rightcall.stats.resampling import Clusters, bootstrap_interval, by_case, cases_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[Any]

Level = Literal["nominal", "ordinal", "interval", "ratio"]
"""How far apart two answers are: the same or not; by ranks; by their difference; by it in relation to their sum."""

Unit = Sequence[Hashable | None]
"""The answers to one item, `None` where a rater gave none."""


def krippendorff_alpha(
    units: Sequence[Unit],
    *,
    level: Level = "nominal",
    labels: Sequence[Hashable] | None = None,
    clusters: Clusters = None,
    resamples: int = 2000,
    seed: int = 0,
    confidence: float = 0.95,
    excluded: int = 0,
) -> Estimate:
    """Krippendorff's alpha: 1 - observed / expected disagreement, from the answers that were given together.

    Formula: 1 - (N-1) Σ o_ck d²_ck / Σ n_c n_k d²_ck, with o_ck how often c and k met in a unit (each pair of a unit of
    m answers weighs 1/(m-1)), n_c how often c met anything and N their sum; d is 0 or 1 (nominal), the distance of mid
    ranks (ordinal), c - k (interval), or (c - k)/(c + k) (ratio) (K. Krippendorff, Content Analysis, 2004, ch. 11).
    The interval is the percentile one of a cluster bootstrap over units, or over cases where `clusters` names them.

    Units with fewer than two answers say nothing about agreement: they are counted in `excluded`, and `n` counts the
    others. Alpha is undefined where no unit is left, or where all their answers are one and the same.

    Raters who agree on everything agree in every resample too. The lower bound is then what alpha would be if, at the
    lower bound of the share of units agreed upon, the rest were as far apart as the answers given are, no lower than
    -1. This is our own addition, and errs on the wide side.

    Args:
        units: the answers to each item.
        level: of measurement. `interval` and `ratio` need numbers, `ratio` none below 0; `ordinal` needs numbers or
            `labels`.
        labels: the answers that can be given, lowest first, for `ordinal`. Those that nobody gave change nothing.
        clusters: the case of each unit.
        resamples: draws of the bootstrap.
        seed: where its generator starts.
        confidence: of the interval.
        excluded: how many items lack answers besides.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for an answer that the level cannot use, or that is not in `labels`.
    """
    method = f"krippendorff alpha {level}"
    cases = cases_of(len(units), clusters)
    paired = _paired(units, level, labels)
    cases = [case for case, unit in zip(cases, paired, strict=True) if len(unit) > 1]
    kept = [unit for unit in paired if len(unit) > 1]
    excluded += len(units) - len(kept)
    if not kept:
        return undefined(method, "no item was answered by two", excluded=excluded)
    form = _form(kept, level)
    value = form.value()
    if value is None:
        return undefined(
            method, "all gave one and the same answer, so that chance alone would agree fully", n=len(kept),
            excluded=excluded,
        )  # fmt: skip
    found = Estimate(estimate=value, low=None, high=None, n=len(kept), method=method, excluded=excluded)
    if all(len(set(unit)) == 1 for unit in kept) and len(set(cases)) > 1:
        low = _perfect(kept, level, cases, confidence)
        return msgspec.structs.replace(found, low=low, high=1.0, method=f"{method}, wilson {confidence:g}, all agree")
    return bootstrap_interval(
        found, by_case(form.rows, cases), form.figure, resamples=resamples, seed=seed, confidence=confidence
    )


def alpha(units: Sequence[Unit], level: Level = "nominal", labels: Sequence[Hashable] | None = None) -> float | None:
    """Krippendorff's alpha as a bare number (see `krippendorff_alpha`); `None` where it is undefined."""
    kept = [unit for unit in _paired(units, level, labels) if len(unit) > 1]
    return _form(kept, level).value() if kept else None


def _paired(units: Sequence[Unit], level: Level, labels: Sequence[Hashable] | None) -> list[list[Any]]:
    """The answers of each unit without the missing ones; ordinal labels as their places."""
    given = [[answer for answer in unit if answer is not None] for unit in units]
    if labels is not None:
        places = {label: place for place, label in enumerate(labels)}
        strange = next((answer for unit in given for answer in unit if answer not in places), None)
        if strange is not None:
            raise invalid(f"{strange!r} is not a label", f"labels: {', '.join(map(str, labels))}")
        if level == "ordinal":
            return [[places[answer] for answer in unit] for unit in given]
    if level != "nominal":
        strange = next((answer for unit in given for answer in unit if not _number(answer, level)), None)
        if strange is not None:
            raise invalid(f"{strange!r} cannot be used at the {level} level")
    return given


def _number(answer: Hashable, level: Level) -> bool:
    return isinstance(answer, int | float) and isfinite(answer) and (level != "ratio" or answer >= 0)


class _Form(NamedTuple):
    """The sums of each unit, and alpha of their sums."""

    rows: list[list[float]]
    figure: Callable[[Numbers], Numbers]

    def value(self) -> float | None:
        """Alpha of all units; `None` where it is undefined."""
        import numpy as np

        with np.errstate(invalid="ignore", divide="ignore"):
            (value,) = self.figure(np.array(self.rows, dtype=float).sum(axis=0, keepdims=True))
        return float(value) if np.isfinite(value) else None


def _form(units: list[list[Any]], level: Level) -> _Form:
    if level == "interval":
        return _moments(units)
    return _ranked(units) if level == "ordinal" else _counted(units, level)


def _observed(unit: list[Any], level: Level) -> float:
    """The disagreement in a unit: its ordered pairs by their distance, each weighing 1/(m-1)."""
    return 2 * sum(_distance(one, other, level) for one, other in combinations(unit, 2)) / (len(unit) - 1)


def _distance(one: Any, other: Any, level: Level) -> float:
    """The squared distance of two answers; of ranks for the ordinal level."""
    if one == other:
        return 0.0
    if level == "nominal":
        return 1.0
    return float(((one - other) / (one + other if level == "ratio" else 1)) ** 2)


def _counted(units: list[list[Any]], level: Level) -> _Form:
    """Nominal and ratio: the observed disagreement, and how often each answer was given."""
    import numpy as np

    answers = list(dict.fromkeys(answer for unit in units for answer in unit))
    place = {answer: column for column, answer in enumerate(answers, 1)}
    rows = []
    for unit in units:
        row = [_observed(unit, level)] + [0.0] * len(answers)
        for answer in unit:
            row[place[answer]] += 1
        rows.append(row)
    apart = np.array([[_distance(one, other, level) for other in answers] for one in answers])

    def figure(sums: Numbers) -> Numbers:
        counts = sums[:, 1:]
        expected = ((counts @ apart) * counts).sum(axis=1)
        values: Numbers = 1 - (counts.sum(axis=1) - 1) * sums[:, 0] / expected
        return values

    return _Form(rows, figure)


def _moments(units: list[list[Any]]) -> _Form:
    """Interval: the sums of answers and of their squares are enough, since Σ n_c n_k (c-k)² = 2 (N Σx² - (Σx)²)."""
    import numpy as np

    every = [answer for unit in units for answer in unit]
    middle = sum(every) / len(every)
    rows = [
        [_observed(unit, "interval"), len(unit), sum(x - middle for x in unit), sum((x - middle) ** 2 for x in unit)]
        for unit in units
    ]
    constant = min(every) == max(every)

    def figure(sums: Numbers) -> Numbers:
        observed, n, total, squares = sums.T
        expected = 2 * (n * squares - total**2)
        # What rounding leaves of 0 is no variance.
        flat = (expected <= 1e-12 * n * squares) | constant
        values: Numbers = 1 - (n - 1) * observed / np.where(flat, np.nan, expected)
        return values

    return _Form(rows, figure)


def _ranked(units: list[list[Any]]) -> _Form:
    """Ordinal: interval alpha of mid ranks, which depend on how often each answer is in a resample."""
    import numpy as np

    answers = sorted({answer for unit in units for answer in unit})
    place, size = {answer: column for column, answer in enumerate(answers)}, len(answers)
    met = [Counter(tuple(sorted((place[a], place[b]))) for a, b in combinations(unit, 2) if a != b) for unit in units]
    pairs = sorted({pair for unit in met for pair in unit})
    rows = []
    for unit, seen in zip(units, met, strict=True):
        counts = Counter(place[answer] for answer in unit)
        rows.append(
            [float(counts[column]) for column in range(size)]
            + [2 * seen[pair] / (len(unit) - 1) if pair in seen else 0.0 for pair in pairs]
        )
    lower, upper = [pair[0] for pair in pairs], [pair[1] for pair in pairs]

    def figure(sums: Numbers) -> Numbers:
        counts, together = sums[:, :size], sums[:, size:]
        ranks = np.cumsum(counts, axis=1) - counts / 2
        n = counts.sum(axis=1)
        expected = 2 * (n * (counts * ranks**2).sum(axis=1) - (counts * ranks).sum(axis=1) ** 2)
        observed = (together * (ranks[:, upper] - ranks[:, lower]) ** 2).sum(axis=1)
        # One answer throughout leaves a multiple of rounding, which is no variance.
        flat = (counts > 0).sum(axis=1) < 2
        values: Numbers = 1 - (n - 1) * observed / np.where(flat, np.nan, expected)
        return values

    return _Form(rows, figure)


def _perfect(units: list[list[Any]], level: Level, cases: Sequence[Hashable], confidence: float) -> float:
    """The lower bound where all agree (see `krippendorff_alpha`)."""
    found: dict[Hashable, Counts] = {}
    for case in cases:
        agreed = found.get(case, (0, 0))[0] + 1
        found[case] = (agreed, agreed)
    agreement = clustered_share(found.values(), confidence=confidence)
    counts = Counter(answer for unit in units for answer in unit)
    if level == "ordinal":
        counts = _as_ranks(counts)
    n = counts.total()
    expected = sum(2 * u * v * _distance(a, b, level) for (a, u), (b, v) in combinations(counts.items(), 2))
    worst = max(_distance(a, b, level) for a, b in combinations(counts, 2))
    return max(-1.0, 1 - (1 - (agreement.low or 0.0)) * worst * n * (n - 1) / expected)


def _as_ranks(counts: Counter[Any]) -> Counter[Any]:
    """How often each mid rank was given."""
    found: Counter[Any] = Counter()
    below = 0
    for answer in sorted(counts):
        found[below + counts[answer] / 2] = counts[answer]
        below += counts[answer]
    return found

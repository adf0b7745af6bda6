"""Agreement of any number of raters, corrected for chance in three ways, where some answers may be missing.

All three start from the share of pairs of answers that agree. They differ in what chance would give: Fleiss' kappa
takes two answers drawn from the same habits, so it falls towards 0 where nearly all answers are one label; Gwet's AC1
and AC2 take chance to be small just there; Brennan and Prediger take all labels for equally likely. Show the first
two side by side, with the plain share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from math import fsum
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec

from rightcall.stats.alpha import Unit
from rightcall.stats.clusters import Counts, clustered_share
from rightcall.stats.intervals import Estimate, invalid, undefined
from rightcall.stats.repeats import case_mean
from rightcall.stats.resampling import Clusters, bootstrap_interval, by_case, cases_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[Any]

Weights = Literal["linear", "quadratic"]
Chance = Literal["gwet", "fleiss", "brennan-prediger"]

NAMES = {"gwet": "gwet ac", "fleiss": "fleiss kappa", "brennan-prediger": "brennan-prediger"}


def gwet_ac(
    units: Sequence[Unit],
    *,
    weights: Weights | None = None,
    labels: Sequence[Hashable] | None = None,
    clusters: Clusters = None,
    resamples: int = 2000,
    seed: int = 0,
    confidence: float = 0.95,
    excluded: int = 0,
) -> Estimate:
    """Gwet's AC1, or AC2 where disagreements are weighted.

    Formula: (a - e) / (1 - e), see `chance_corrected` for a; e = T Σ p_k (1 - p_k) / (q (q-1)), with p_k the mean
    share of label k, q labels, and T the sum of all weights (K. L. Gwet, British Journal of Mathematical and
    Statistical Psychology 61, 2008, for AC1; Handbook of Inter-Rater Reliability, 2014, for weights and missing
    answers). It is defined where all answers are one label, if `labels` says which others there are.
    """
    return chance_corrected(
        units, "gwet", weights=weights, labels=labels, clusters=clusters, resamples=resamples, seed=seed,
        confidence=confidence, excluded=excluded,
    )  # fmt: skip


def fleiss_kappa(
    units: Sequence[Unit], *, labels: Sequence[Hashable] | None = None, clusters: Clusters = None, excluded: int = 0
) -> Estimate:
    """Fleiss' kappa: chance is Σ p_k², with p_k the mean share of label k.

    Source: J. L. Fleiss, Psychological Bulletin 76, 1971; with missing answers K. L. Gwet, Handbook of Inter-Rater
    Reliability, 2014.
    """
    return chance_corrected(units, "fleiss", labels=labels, clusters=clusters, excluded=excluded)


def brennan_prediger(
    units: Sequence[Unit], *, labels: Sequence[Hashable] | None = None, clusters: Clusters = None, excluded: int = 0
) -> Estimate:
    """Brennan and Prediger's coefficient: chance is 1/q with q labels.

    Source: R. L. Brennan and D. J. Prediger, Educational and Psychological Measurement 41, 1981.
    """
    return chance_corrected(units, "brennan-prediger", labels=labels, clusters=clusters, excluded=excluded)


def chance_corrected(
    units: Sequence[Unit],
    chance: Chance,
    *,
    weights: Weights | None = None,
    labels: Sequence[Hashable] | None = None,
    clusters: Clusters = None,
    resamples: int = 2000,
    seed: int = 0,
    confidence: float = 0.95,
    excluded: int = 0,
) -> Estimate:
    """Agreement beyond chance, (a - e) / (1 - e), with the percentile interval of a cluster bootstrap.

    a is the mean over items of the agreement of two of their answers: Σ_kl w_kl r_k (r_l - [k = l]) / (r (r-1)), with
    r_k answers k of r. Weights are 1 for the same label; otherwise 0, or 1 - |i-j|/(q-1) (`linear`), or
    1 - (i-j)²/(q-1)² (`quadratic`), between places in `labels`. Items with one answer count for e, but not for a: `n`
    counts the items with two or more, `excluded` the others. With weights or such items it can lie below -1.

    The figure is undefined where no item has two answers, or where chance alone would agree fully. If all items are
    agreed upon, the lower bound is what the figure would be if, at the lower bound of the share of such items, the
    rest were as far apart as labels can be, no lower than -1 (our own addition, on the wide side).

    Args:
        units: the answers to each item, `None` where a rater gave none.
        chance: what chance would give.
        weights: of agreement; `None`: only the same label agrees.
        labels: all labels that could have been given, in their sequence; those seen, if not weighted. Their number
            matters for AC1 and for Brennan and Prediger.
        clusters: the case of each item.
        resamples: draws of the bootstrap.
        seed: where its generator starts.
        confidence: of the interval.
        excluded: how many items lack answers besides.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a label that is not in `labels`, or weights without labels.
    """
    method = _method(chance, weights)
    cases = cases_of(len(units), clusters)
    given = [[answer for answer in unit if answer is not None] for unit in units]
    known = _labels(given, labels, weighted=weights is not None)
    n = sum(len(unit) > 1 for unit in given)
    excluded += len(units) - n
    if not n:
        return undefined(method, "no item was answered by two", excluded=excluded)
    form = _Form(known, weights, chance)
    rows = [form.row(unit) for unit in given]
    value = form.value(rows)
    if value is None:
        only = "only one label is known, so that chance alone would agree fully"
        same = "all gave one and the same label, so that chance alone would agree fully"
        return undefined(method, only if len(known) < 2 else same, n=n, excluded=excluded)
    found = Estimate(estimate=value, low=None, high=None, n=n, method=method, excluded=excluded)
    agreed = [len(set(unit)) == 1 for unit in given if len(unit) > 1]
    if all(agreed):
        low = _perfect(form, rows, _share(given, cases, confidence))
        if low is not None:
            method = f"{method}, wilson {confidence:g}, all agree"
            return msgspec.structs.replace(found, low=low, high=1.0, method=method)
    return bootstrap_interval(
        found, by_case(rows, cases), form.figure, resamples=resamples, seed=seed, confidence=confidence
    )


def rater_agreement(units: Sequence[Unit], *, excluded: int = 0, confidence: float = 0.95) -> Estimate:
    """Mean over items of the share of pairs of their answers that are the same, for any number of raters.

    Items with fewer than two answers are counted in `excluded`. The interval is that of `case_mean`, over items.
    """
    given = [[answer for answer in unit if answer is not None] for unit in units]
    shares = [_alike(unit) for unit in given if len(unit) > 1]
    excluded += len(units) - len(shares)
    if not shares:
        return undefined(f"wilson {confidence:g}", "no item was answered by two", excluded=excluded)
    return case_mean(shares, excluded=excluded, confidence=confidence)


def _alike(unit: Sequence[Hashable]) -> float:
    """The share of pairs of answers that are the same."""
    n = len(unit)
    return sum(k * (k - 1) for k in Counter(unit).values()) / (n * (n - 1))


def _method(chance: Chance, weights: Weights | None) -> str:
    name = NAMES[chance]
    if chance == "gwet":
        name += "1" if weights is None else "2"
    return f"{name} {weights}" if weights else name


def _labels(
    given: Sequence[Sequence[Hashable]], labels: Sequence[Hashable] | None, *, weighted: bool
) -> Sequence[Hashable]:
    seen = dict.fromkeys(answer for unit in given for answer in unit)
    if labels is None:
        if weighted:
            raise invalid("weighted agreement needs all labels in their sequence")
        return list(seen)
    strange = next((answer for answer in seen if answer not in labels), None)
    if strange is not None:
        raise invalid(f"{strange!r} is not a label", f"labels: {', '.join(map(str, labels))}")
    return list(dict.fromkeys(labels))


def _weight(i: int, j: int, size: int, weights: Weights | None) -> float:
    if i == j:
        return 1.0
    if weights is None:
        return 0.0
    apart = abs(i - j) / (size - 1)
    return 1 - (apart if weights == "linear" else apart**2)


class _Form(NamedTuple):
    """What a coefficient is made of: sums of items, and its value from them."""

    labels: Sequence[Hashable]
    weights: Weights | None
    chance: Chance

    def row(self, unit: Sequence[Hashable]) -> list[float]:
        """An item's agreement and whether it has one, whether it has answers, and the share of each label."""
        size, n = len(self.labels), len(unit)
        if not n:
            return [0.0] * (3 + size)
        counts = Counter(unit)
        row = [0.0, 0.0, 1.0] + [counts[label] / n for label in self.labels]
        if n > 1:
            seen = [(place, counts[label]) for place, label in enumerate(self.labels) if counts[label]]
            agree = fsum(_weight(i, j, size, self.weights) * u * (v - (i == j)) for i, u in seen for j, v in seen)
            row[:2] = [agree / (n * (n - 1)), 1.0]
        return row

    def table(self) -> list[list[float]]:
        """All weights."""
        places = range(len(self.labels))
        return [[_weight(i, j, len(self.labels), self.weights) for j in places] for i in places]

    def by_chance(self, shares: Numbers) -> Numbers:
        """The agreement by chance of (draws, labels) shares."""
        import numpy as np

        table, size = np.array(self.table()), len(self.labels)
        if self.chance == "fleiss":
            expected: Numbers = ((shares @ table) * shares).sum(axis=1)
        elif self.chance == "gwet":
            expected = table.sum() * (shares * (1 - shares)).sum(axis=1) / (size * (size - 1) or np.nan)
        else:
            expected = np.full(len(shares), table.sum() / size**2)
        return expected

    def figure(self, sums: Numbers) -> Numbers:
        """The coefficient of each row of sums; not a number where it is undefined."""
        import numpy as np

        expected = self.by_chance(sums[:, 3:] / sums[:, 2:3])
        full = expected >= 1 - 1e-12
        values: Numbers = 1 - (1 - sums[:, 0] / sums[:, 1]) / np.where(full, np.nan, 1 - expected)
        return values

    def value(self, rows: list[list[float]]) -> float | None:
        """The coefficient of all items; `None` where it is undefined."""
        import numpy as np

        with np.errstate(invalid="ignore", divide="ignore"):
            (value,) = self.figure(np.array(rows, dtype=float).sum(axis=0, keepdims=True))
        return float(value) if np.isfinite(value) else None


def _share(given: Sequence[Sequence[Hashable]], cases: Sequence[Hashable], confidence: float) -> Estimate:
    """Share of the items agreed upon, among those with two answers or more."""
    found: dict[Hashable, Counts] = {}
    for unit, case in zip(given, cases, strict=True):
        if len(unit) > 1:
            agreed, n = found.get(case, (0, 0))
            found[case] = (agreed + (len(set(unit)) == 1), n + 1)
    if len(found) < 2:
        return undefined("wilson", "one case")
    return clustered_share(found.values(), confidence=confidence)


def _perfect(form: _Form, rows: list[list[float]], agreement: Estimate) -> float | None:
    """The lower bound where all agree (see `chance_corrected`); `None` for a single case."""
    if agreement.low is None:
        return None
    import numpy as np

    sums = np.array(rows, dtype=float).sum(axis=0)
    shares, lost = sums[3:] / sums[2], 1 - agreement.low
    if form.chance == "gwet":
        # Half of the answers to the items lost may be another label, which raises what chance gives.
        most, least = int(np.argmax(shares)), int(np.argmin(shares))
        moved = min(lost / 2, float(shares[most] - shares[least]) / 2)
        shares[most], shares[least] = shares[most] - moved, shares[least] + moved
    worst = 1 - min(min(row) for row in form.table())
    return max(-1.0, 1 - lost * worst / (1 - float(form.by_chance(shares[None, :])[0])))

"""Agreement of two raters on items that were not drawn with equal chances: the figures of a table of weights.

Each item stands for 1/π of those that it was drawn from, so it counts 1/π in the table of what the two raters said.
All of kappa, Gwet's AC and Krippendorff's alpha of two raters are figures of that table; with equal chances they are
those of `rightcall.stats.agreement`, `gwet` and `alpha`. Intervals are percentiles of a bootstrap over cases.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Literal

from rightcall.stats.intervals import NOTHING, Estimate, invalid, undefined
from rightcall.stats.resampling import bootstrap_interval, by_case, cases_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

Figure = Literal["kappa", "kappa linear", "kappa quadratic", "ac1", "ac2 quadratic", "alpha nominal", "alpha ordinal"]
Clusters = Sequence[Hashable] | None


def weighted_agreement(
    pairs: Sequence[tuple[int, int]],
    probabilities: Sequence[float],
    labels: int,
    figure: Figure,
    *,
    clusters: Clusters = None,
    resamples: int = 2000,
    seed: int = 0,
    confidence: float = 0.95,
    excluded: int = 0,
) -> Estimate:
    """An agreement of two raters beyond chance, each item weighing 1/π.

    Formulas: those of `agreement.kappa`, `gwet.gwet_ac` and `alpha.krippendorff_alpha` for two raters without missing
    answers, on shares of the weight in place of counts. Alpha corrects for the number of answers as if every item
    weighed the same. Undefined where both raters gave one and the same label throughout; AC is defined there if there
    are other labels.

    Args:
        pairs: what the two said about each item, as places of labels in their sequence.
        probabilities: with which each item was drawn.
        labels: how many labels there are.
        figure: which one.
        clusters: the case of each item.
        resamples: draws of the bootstrap.
        seed: where its generator starts.
        confidence: of the interval.
        excluded: how many items lack an answer of either.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a place that is none, a probability not above 0 and up to 1, or sequences
            that do not belong together.
    """
    import numpy as np

    method = f"{figure}, weighted by 1/chance"
    cases = cases_of(len(pairs), clusters)
    _check(pairs, probabilities, labels)
    if not pairs:
        return undefined(method, NOTHING, excluded=excluded)
    rows = _rows(pairs, probabilities, labels)
    of = _figure(figure, labels, len(pairs))
    value = float(of(np.array(rows).sum(axis=0, keepdims=True))[0])
    if not np.isfinite(value):
        reason = "both gave one and the same label throughout, so that chance alone would agree fully"
        return undefined(method, reason, n=len(pairs), excluded=excluded)
    found = Estimate(estimate=value, low=None, high=None, n=len(pairs), method=method, excluded=excluded)
    return bootstrap_interval(
        found, by_case(rows, cases), of, resamples=resamples, seed=seed, confidence=confidence
    )  # fmt: skip


def _check(pairs: Sequence[tuple[int, int]], probabilities: Sequence[float], labels: int) -> None:
    if len(probabilities) != len(pairs):
        raise invalid(f"{len(probabilities)} probabilities do not belong to {len(pairs)} items")
    strange = next((place for pair in pairs for place in pair if not 0 <= place < labels), None)
    if strange is not None:
        raise invalid(f"{strange} is no place of {labels} labels")
    wrong = next((one for one in probabilities if not 0 < one <= 1), None)
    if wrong is not None:
        raise invalid(f"no item can be weighted by a probability of {wrong:g}", "above 0 and up to 1")


def _rows(pairs: Sequence[tuple[int, int]], probabilities: Sequence[float], labels: int) -> list[list[float]]:
    """Of each item, its table as a row; weights are scaled to 1 on average."""
    mean = sum(1 / one for one in probabilities) / len(pairs)
    found = []
    for (first, second), probability in zip(pairs, probabilities, strict=True):
        row = [0.0] * (labels * labels)
        row[first * labels + second] = 1 / probability / mean
        found.append(row)
    return found


def _figure(figure: Figure, labels: int, items: int) -> Callable[[Numbers], Numbers]:
    """From summed tables, one a draw, to values."""
    import numpy as np

    name, _, weights = figure.partition(" ")
    place = np.arange(labels)
    gaps = np.abs(place[:, None] - place[None, :]).astype(float)

    def kappas(shares: Numbers) -> Numbers:
        distance = {"": (gaps > 0).astype(float), "linear": gaps, "quadratic": gaps**2}[weights]
        chance = np.einsum("di,dj,ij->d", shares.sum(axis=2), shares.sum(axis=1), distance)
        seen = (shares * distance).sum(axis=(1, 2))
        return _one_minus(seen, chance)

    def gwets(shares: Numbers) -> Numbers:
        near = np.eye(labels) if not weights else 1 - gaps**2 / max(1, labels - 1) ** 2
        means = (shares.sum(axis=1) + shares.sum(axis=2)) / 2
        chance = near.sum() * (means * (1 - means)).sum(axis=1) / max(1, labels * (labels - 1))
        return _one_minus(1 - (shares * near).sum(axis=(1, 2)), 1 - chance)

    def alphas(shares: Numbers) -> Numbers:
        met = (shares.sum(axis=1) + shares.sum(axis=2)) / 2
        if weights == "nominal":
            distance = np.broadcast_to((gaps > 0).astype(float), (len(shares), labels, labels))
        else:
            middle = np.cumsum(met, axis=1) - met / 2
            distance = (middle[:, :, None] - middle[:, None, :]) ** 2
        seen = (shares * distance).sum(axis=(1, 2))
        chance = np.einsum("di,dj,dij->d", met, met, distance) * (2 * items) / (2 * items - 1)
        return _one_minus(seen, chance)

    of = {"kappa": kappas, "ac1": gwets, "ac2": gwets, "alpha": alphas}[name]

    def values(sums: Numbers) -> Numbers:
        totals = sums.sum(axis=1)
        shares = (sums / np.where(totals > 0, totals, 1)[:, None]).reshape(-1, labels, labels)
        return np.where(totals > 0, of(shares), np.nan)

    return values


def _one_minus(seen: Numbers, chance: Numbers) -> Numbers:
    """1 - seen / chance, not a number where chance has no disagreement."""
    import numpy as np

    return np.where(chance > 1e-12, 1 - seen / np.where(chance > 1e-12, chance, 1), np.nan)

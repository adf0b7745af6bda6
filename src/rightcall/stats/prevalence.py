"""The true share of a class, from a judge that is sometimes wrong and is known to be.

The share that a judge reports is off by what it misses and by what it flags wrongly, and its interval knows of neither.
With a sample that people have labelled, both are estimated, and the share is corrected for them.
"""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist
from typing import Literal

from msgspec import Struct

from rightcall.stats.clusters import Counts
from rightcall.stats.intervals import NOTHING, Estimate, invalid, undefined, wilson

Interval = Literal["delta", "adjusted", "bootstrap"]

LEAST_YOUDEN = 0.2
"""Below this Se + Sp - 1 the answers hardly depend on the truth, and a correction would multiply noise."""


class Corrected(Struct, frozen=True, kw_only=True):
    """A share as the judge reports it, and as it is likely to be.

    Attributes:
        estimate: the corrected share and its interval, cut to 0 to 1. `n` counts what was judged without labels.
        unclipped: the corrected share as it came out; outside 0 to 1 the labels and the judged items disagree.
        standard_error: by the delta method; `None` without an estimate.
        naive: the share that the judge reports, with Wilson's interval.
        sensitivity, specificity: of the judge, on the labelled sample.
        reason: why there is no corrected share, or no interval.
    """

    estimate: Estimate
    unclipped: float | None
    standard_error: float | None
    naive: Estimate
    sensitivity: Estimate
    specificity: Estimate
    reason: str | None


def rogan_gladen(
    judged: Counts,
    caught: Counts,
    cleared: Counts,
    *,
    interval: Interval = "adjusted",
    resamples: int = 2000,
    seed: int = 0,
    confidence: float = 0.95,
    excluded: int = 0,
) -> Corrected:
    """The true share of positives, from the judge's share and its errors.

    Estimate: (p + Sp - 1) / J with J = Se + Sp - 1 (W. J. Rogan and B. Gladen, American Journal of Epidemiology 107,
    1978). What is called positive is free, pass or fail, as long as all three counts mean the same. One count for each
    case; the labelled sample may be balanced by class, but must be drawn at random within each.

    The standard error is that of the delta method: √(p(1-p)/n + θ² Se(1-Se)/m₁ + (1-θ)² Sp(1-Sp)/m₀) / J, θ the
    corrected share. The intervals:

    * `adjusted`: the same error around rates that are moved inwards, p by z²/2 of z² and Se and Sp by 1 of 2 added
      observations, and shifted by 2z²(θ Se(1-Se)/m₁ - (1-θ) Sp(1-Sp)/m₀) (Z. Lang and J. Reiczigel, Preventive
      Veterinary Medicine 113, 2014). It holds the true share as often as it says with few labels, too.
    * `delta`: Wald's, θ ± z times the error. It is short where the judge makes few errors on the labelled sample: at
      95 % it held the true share in 94 % of simulations with 10 and 15 errors expected, and in 80 % with 1.5 and 6.
    * `bootstrap`: percentiles of the share when the judged and both labelled samples are drawn again; a draw whose J is
      not above 0 has no share. As short as `delta`, for the same reason.

    Refused where J is below 0.2. Where the interval lies wholly outside 0 to 1 none is shown.

    Args:
        judged: how many of the items without labels the judge calls positive, and how many there are.
        caught: how many of the labelled positives the judge calls positive, and how many there are.
        cleared: how many of the labelled negatives the judge calls negative, and how many there are.
        interval: which one.
        resamples: draws of the bootstrap.
        seed: where its generator starts.
        confidence: of the interval.
        excluded: how many items could not be judged.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for counts that cannot be, or no draws.
    """
    for k, n in (judged, caught, cleared):
        if not 0 <= k <= n:
            raise invalid(f"{k} of {n} is not a share")
    if resamples < 1:
        raise invalid("a bootstrap needs at least one draw")
    naive = wilson(*judged, confidence=confidence, excluded=excluded)
    sensitivity, specificity = (wilson(*counts, confidence=confidence) for counts in (caught, cleared))
    method = f"rogan-gladen, {interval} {confidence:g}"
    if interval == "bootstrap":
        method += f", {resamples} draws, seed {seed}"
    reason = _refused(judged, caught, cleared)
    if reason is not None:
        none = undefined(method, reason, n=judged[1], excluded=excluded)
        return Corrected(estimate=none, unclipped=None, standard_error=None, naive=naive, sensitivity=sensitivity,
                         specificity=specificity, reason=reason)  # fmt: skip
    value, error = _corrected(judged, caught, cleared)
    low, high, reason = _bounds(judged, caught, cleared, interval, confidence, (resamples, seed))
    return Corrected(
        estimate=Estimate(
            estimate=min(1.0, max(0.0, value)), low=low, high=high, n=judged[1], method=method, excluded=excluded,
            reason=reason,
        ),
        unclipped=value,
        standard_error=error,
        naive=naive,
        sensitivity=sensitivity,
        specificity=specificity,
        reason=reason,
    )  # fmt: skip


def _refused(judged: Counts, caught: Counts, cleared: Counts) -> str | None:
    if not judged[1]:
        return NOTHING
    if not caught[1] or not cleared[1]:
        return f"no labelled {'positives' if not caught[1] else 'negatives'}"
    youden = caught[0] / caught[1] + cleared[0] / cleared[1] - 1
    if youden < LEAST_YOUDEN:
        return f"sensitivity + specificity - 1 is {youden:.3g}, below {LEAST_YOUDEN:g}: the judge tells too little"
    return None


def _corrected(judged: Counts, caught: Counts, cleared: Counts) -> tuple[float, float]:
    """The share, not cut, and its standard error by the delta method."""
    return _share(_rates(judged, caught, cleared), (judged[1], caught[1], cleared[1]))


Three = tuple[float, float, float]


def _rates(judged: Counts, caught: Counts, cleared: Counts) -> Three:
    return judged[0] / judged[1], caught[0] / caught[1], cleared[0] / cleared[1]


def _share(rates: Three, sizes: Three) -> tuple[float, float]:
    p, se, sp = rates
    youden = se + sp - 1
    share = (p + sp - 1) / youden
    n, m1, m0 = sizes
    variance = p * (1 - p) / n + share**2 * se * (1 - se) / m1 + (1 - share) ** 2 * sp * (1 - sp) / m0
    return share, sqrt(variance) / youden


def _bounds(
    judged: Counts, caught: Counts, cleared: Counts, interval: Interval, confidence: float, draws: tuple[int, int]
) -> tuple[float | None, float | None, str | None]:
    """The bounds, cut to 0 to 1, or why there are none."""
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    reason: str | None = None
    if interval == "bootstrap":
        found, reason = _drawn(judged, caught, cleared, confidence, draws)
        if found is None:
            return None, None, reason
        low, high = found
    elif interval == "adjusted":
        centre, error = _adjusted(judged, caught, cleared, z)
        low, high = centre - z * error, centre + z * error
    else:
        centre, error = _corrected(judged, caught, cleared)
        low, high = centre - z * error, centre + z * error
    if low == high:
        return None, None, "no answer differs, so that no spread is known; the adjusted interval has one"
    if low > 1 or high < 0:
        return (
            None,
            None,
            f"the whole interval, {low:.3g} to {high:.3g}, lies outside 0 to 1: labels and items disagree",
        )
    return max(0.0, low), min(1.0, high), reason


def _adjusted(judged: Counts, caught: Counts, cleared: Counts, z: float) -> tuple[float, float]:
    """The centre and the standard error of Lang and Reiczigel's interval."""
    n, m1, m0 = judged[1] + z * z, caught[1] + 2, cleared[1] + 2
    rates = ((judged[0] + z * z / 2) / n, (caught[0] + 1) / m1, (cleared[0] + 1) / m0)
    share, error = _share(rates, (n, m1, m0))
    _, se, sp = rates
    return share + 2 * z * z * (share * se * (1 - se) / m1 - (1 - share) * sp * (1 - sp) / m0), error


def _drawn(
    judged: Counts, caught: Counts, cleared: Counts, confidence: float, draws: tuple[int, int]
) -> tuple[tuple[float, float] | None, str | None]:
    """Percentiles of the share over draws of all three samples."""
    import numpy as np

    resamples, seed = draws
    dice = np.random.default_rng(seed)
    p, se, sp = (dice.binomial(n, k / n, size=resamples) / n for k, n in (judged, caught, cleared))
    youden = se + sp - 1
    kept = youden > 1e-12
    lost = resamples - int(kept.sum())
    reason = f"{lost} of {resamples} draws have a judge no better than chance" if lost else None
    if lost > 0.1 * resamples:
        return None, reason
    low, high = np.quantile((p + sp - 1)[kept] / youden[kept], [(1 - confidence) / 2, (1 + confidence) / 2])
    return (float(low), float(high)), reason

"""Has a figure changed over time: control charts for a series, and the stability index for a distribution.

A chart looks at each new value, usually the mean of a day, standardised by a baseline of days that were good. How
often a chart raises a false alarm is known beforehand (`rightcall.stats.run_length`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, log, sqrt
from statistics import NormalDist
from typing import Literal

from msgspec import Struct

from rightcall.stats.intervals import Estimate, invalid, undefined

Direction = Literal["up", "down"]

LEAST_DAYS = 20
"""From so many values on a baseline is known well enough to standardise by."""

LEAST_PER_WINDOW = 200
"""Below so many values in a window the stability index shows nothing but noise."""


class Baseline(Struct, frozen=True, kw_only=True):
    """What was usual: mean and standard deviation (n-1) of a series. `reason`: why it cannot be used."""

    mean: float | None
    deviation: float | None
    n: int
    reason: str | None = None

    def standardised(self, values: Sequence[float]) -> list[float]:
        """How many deviations each value is above the mean.

        Raises:
            ConfigError: `STAT_VALUE_INVALID` where the baseline cannot be used, or a value is no number.
        """
        if self.mean is None or self.deviation is None or self.reason is not None:
            raise invalid(f"nothing can be standardised: {self.reason}")
        _check(values)
        return [(value - self.mean) / self.deviation for value in values]


def baseline(values: Sequence[float], *, at_least: int = LEAST_DAYS) -> Baseline:
    """The baseline of a series of good days; without enough of them, or without any spread, it cannot be used.

    Its own error makes false alarms more frequent than the run lengths say, the more the shorter it is.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a value that is no number.
    """
    _check(values)
    n = len(values)
    mean = sum(values) / n if n else None
    deviation = sqrt(sum((value - mean) ** 2 for value in values) / (n - 1)) if mean is not None and n > 1 else None
    reason = None
    if n < at_least:
        reason = f"{n} values are too few for a baseline of at least {at_least}"
    elif min(values) == max(values):
        reason = "the baseline has no spread"
    return Baseline(mean=mean, deviation=deviation, n=n, reason=reason)


def _check(values: Sequence[float]) -> None:
    strange = next((value for value in values if not isfinite(value)), None)
    if strange is not None:
        raise invalid(f"{strange} is not a value of a series")


class Chart(Struct, frozen=True, kw_only=True):
    """A control chart over a series.

    Attributes:
        upper, lower: the chart's statistic after each value, upwards and downwards (above 0 means away from usual).
        limit: an alarm is raised where either is above it.
        alarm: the place of the first alarm, counted from 0, and `direction`, where the series went; `None` without one.
        method: the chart and its settings.
    """

    upper: tuple[float, ...]
    lower: tuple[float, ...]
    limit: float
    alarm: int | None
    direction: Direction | None
    method: str


def _chart(upper: Sequence[float], lower: Sequence[float], limit: float, method: str) -> Chart:
    alarm = next((at for at, pair in enumerate(zip(upper, lower, strict=True)) if max(pair) > limit), None)
    direction: Direction | None = None
    if alarm is not None:
        direction = "up" if upper[alarm] >= lower[alarm] else "down"
    return Chart(
        upper=tuple(upper), lower=tuple(lower), limit=limit, alarm=alarm, direction=direction, method=method
    )  # fmt: skip


def ewma(values: Sequence[float], *, weight: float = 0.2, width: float = 2.962) -> Chart:
    """The exponentially weighted moving average of standardised values.

    Formula: E = weight · value + (1 - weight) E, from 0; alarm where |E| > width √(weight / (2 - weight)), the limits
    of a long series throughout (S. W. Roberts, Technometrics 1, 1959). The defaults raise a false alarm once in 500
    values (J. M. Lucas and M. S. Saccucci, Technometrics 32, 1990).

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a weight that is not above 0 and up to 1, a width not above 0, or a value
            that is no number.
    """
    _check(values)
    limit = ewma_limit(weight, width)
    at, upper = 0.0, []
    for value in values:
        at = weight * value + (1 - weight) * at
        upper.append(at)
    return _chart(upper, [-value for value in upper], limit, f"ewma, weight {weight:g}, width {width:g}")


def ewma_limit(weight: float, width: float) -> float:
    """Where an `ewma` chart raises an alarm; the same errors."""
    if not (0 < weight <= 1 and width > 0):
        raise invalid(f"no chart has the weight {weight:g} and the width {width:g}")
    return width * sqrt(weight / (2 - weight))


def cusum(values: Sequence[float], *, slack: float = 0.5, limit: float = 5.0) -> Chart:
    """Cumulative sums of standardised values, upwards and downwards.

    Formula: U = max(0, U + value - slack), L = max(0, L - value - slack), from 0; alarm where either is above `limit`
    (E. S. Page, Biometrika 41, 1954). The defaults raise a false alarm once in 465 values, and notice a shift of one
    deviation after 10.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a negative slack, a limit not above 0, or a value that is no number.
    """
    _check(values)
    check_cusum(slack, limit)
    up = down = 0.0
    upper, lower = [], []
    for value in values:
        up, down = max(0.0, up + value - slack), max(0.0, down - value - slack)
        upper.append(up)
        lower.append(down)
    return _chart(upper, lower, limit, f"cusum, slack {slack:g}, limit {limit:g}")


def check_cusum(slack: float, limit: float) -> None:
    """Refuse settings that no `cusum` chart can have (`STAT_VALUE_INVALID`)."""
    if not (isfinite(slack) and slack >= 0 and isfinite(limit) and limit > 0):
        raise invalid(f"no chart has the slack {slack:g} and the limit {limit:g}")


def page_hinkley(
    values: Sequence[float], *, tolerance: float = 0.005, limit: float = 50.0, at_least: int = 30, keep: float = 1.0
) -> Chart:
    """The Page-Hinkley test of a stream, whose usual mean is not known beforehand.

    Formula: with d = value - mean of all values so far, the sums S = keep S + d - tolerance and T = keep T + d +
    tolerance; upwards S - min S, downwards max T - T, minima and maxima over all so far and the start 0; alarm where
    either is above `limit` and at least `at_least` values were seen (D. V. Hinkley, Biometrika 58, 1971). Values need
    not be standardised; `tolerance` and `limit` are in their unit. The statistic goes on after an alarm.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for a negative tolerance, a limit not above 0, a `keep` not above 0 and up to
            1, or a value that is no number.
    """
    _check(values)
    if not (tolerance >= 0 and limit > 0 and 0 < keep <= 1):
        raise invalid(f"no test has the tolerance {tolerance:g}, the limit {limit:g} and keeps {keep:g}")
    mean = rising = falling = least = most = 0.0
    upper, lower = [], []
    for n, value in enumerate(values, start=1):
        mean += (value - mean) / n
        rising, falling = keep * rising + value - mean - tolerance, keep * falling + value - mean + tolerance
        least, most = min(least, rising), max(most, falling)
        counts = n >= at_least
        upper.append(rising - least if counts else 0.0)
        lower.append(most - falling if counts else 0.0)
    settings = f"tolerance {tolerance:g}, limit {limit:g}, keep {keep:g}"
    return _chart(upper, lower, limit, f"page-hinkley, {settings}, from {at_least} values on")


class Stability(Struct, frozen=True, kw_only=True):
    """The stability index of two windows.

    estimate: the index; never with an interval, see its reason. null_high: what is exceeded once in 20 times if nothing
    changed. p_value: how often at least this much is seen if nothing changed. shifted: is the index above `null_high`?
    `None` where a window has too few values.
    """

    estimate: Estimate
    null_high: float | None
    p_value: float | None
    shifted: bool | None


def population_stability(before: Sequence[float], after: Sequence[float]) -> float | None:
    """The index of two distributions over the same bins: Σ (a - b) log(a / b) over shares a and b.

    The symmetric divergence of S. Kullback and R. A. Leibler (The Annals of Mathematical Statistics 22, 1951). Counts
    are turned into shares. `None` where a bin is empty in one window only, so that the index is infinite, or a window
    is empty; a bin that is empty in both says nothing.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for different numbers of bins, or a count that is negative or no number.
    """
    if len(before) != len(after):
        raise invalid(f"{len(before)} bins cannot be compared with {len(after)}")
    strange = next((count for count in (*before, *after) if not (isfinite(count) and count >= 0)), None)
    if strange is not None:
        raise invalid(f"{strange} is not a count")
    first, second = sum(before), sum(after)
    if not first or not second:
        return None
    total = 0.0
    for b, a in zip(before, after, strict=True):
        if (a == 0) != (b == 0):
            return None
        if a:
            total += (a / second - b / first) * log(a / second / (b / first))
    return total


def stability(before: Sequence[int], after: Sequence[int], *, at_least: int = LEAST_PER_WINDOW) -> Stability:
    """The stability index of two windows of counts over the same bins, and what it would be by chance.

    If nothing changed, the index is distributed about as χ²(B-1) (1/n + 1/m) over B bins that hold something
    (B. Yurdakul and J. Naranjo, Journal of Risk Model Validation 14, 2020). The usual rule, above 0.1, is that null's
    95th percentile at 5 bins and about 190 values in each window, and means something else for any other size.

    Raises:
        ConfigError: as `population_stability`.
    """
    value = population_stability(before, after)
    n, m = sum(before), sum(after)
    bins = sum(b + a > 0 for b, a in zip(before, after, strict=True))
    method = f"population stability index, {bins} bins, {n} against {m} values"
    reason = None
    if not n or not m:
        reason = "a window is empty"
    elif value is None:
        reason = "a bin is empty in one window only: the index is infinite; put bins together"
    elif bins < 2:
        reason = "all values are in one bin"
    if value is None or reason is not None:
        none = undefined(method, reason or "", n=n + m)
        return Stability(estimate=none, null_high=None, p_value=None, shifted=None)
    from scipy.special import chdtrc

    high = stability_null(bins, n, m)
    few = min(n, m) < at_least
    said = f"{min(n, m)} values in a window are fewer than {at_least}" if few else "read it beside its null"
    found = Estimate(estimate=value, low=None, high=None, n=n + m, method=method, reason=said)
    p = float(chdtrc(bins - 1, value / (1 / n + 1 / m)))
    return Stability(estimate=found, null_high=high, p_value=p, shifted=None if few else value > high)


def stability_null(bins: int, n: int, m: int, level: float = 0.95) -> float:
    """What share `level` of stability indices stay below if nothing changed (see `stability`).

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for fewer than 2 bins, an empty window, or a level not between 0 and 1.
    """
    if bins < 2 or n < 1 or m < 1 or not 0 < level < 1:
        raise invalid(f"no null for {bins} bins, {n} and {m} values at {level:g}")
    from scipy.special import chdtri

    return float(chdtri(bins - 1, 1 - level)) * (1 / n + 1 / m)


def false_alarm_chance(mean: float, deviation: float, n: int, threshold: float) -> float:
    """How often a mean of n values falls below a threshold although the true mean is `mean`: Φ((t - mean) √n / sd).

    What stands beside a rule that looks at the mean alone. It is the chance of one look; daily looks multiply it.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for no values, or a deviation not above 0.
    """
    if n < 1 or not deviation > 0:
        raise invalid(f"a mean of {n} values with deviation {deviation:g} does not vary")
    return NormalDist().cdf((threshold - mean) / (deviation / sqrt(n)))

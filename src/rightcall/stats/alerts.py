"""When a figure that is watched should raise an alarm, and when it may be taken back.

A rule that looks at the mean alone fires by luck, the more often the more one looks (see `false_alarm_chance` of
`rightcall.stats.drift`). The rules here ask for the whole interval, or say that they only warn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import exp, lgamma
from typing import Literal

from msgspec import Struct

from rightcall.stats.clusters import Counts
from rightcall.stats.intervals import Estimate, invalid, wilson
from rightcall.stats.multiple import benjamini_hochberg
from rightcall.stats.paired import newcombe

Level = Literal["none", "warning", "alert"]


class WindowRule(Struct, frozen=True, kw_only=True):
    """When windows of a figure that should be high raise an alarm.

    Attributes:
        threshold: what the figure should not fall below.
        at_least: windows with fewer values say nothing.
        warn_from: so many values must two windows in a row have to warn.
        clear_after: so many good windows in a row take an alarm or a warning back.
    """

    threshold: float
    at_least: int = 30
    warn_from: int = 50
    clear_after: int = 3


class Window(Struct, frozen=True, kw_only=True):
    """What one window comes to: the level that stands after it, whether it was raised here, and why."""

    level: Level
    raised: bool
    reason: str


def watch(windows: Sequence[Estimate], rule: WindowRule) -> tuple[Window, ...]:
    """The level after each window, oldest first.

    * `alert`: the upper bound of the window is below the threshold.
    * `warning`: its mean is, and that of the window before as well, each with `warn_from` values.
    * A window with fewer than `at_least` values, or without an estimate, changes nothing.
    * A good window, its mean at the threshold or above, is needed `clear_after` times in a row to take a level back.
      While an alert stands it is not raised again, so that one cause is one alert.
    """
    level: Level = "none"
    good, low_before, found = 0, False, []
    for window in windows:
        mean, high = window.estimate, window.high
        if mean is None or window.n < rule.at_least:
            said = window.reason or f"not enough data ({window.n} values, {rule.at_least} needed)"
            found.append(Window(level=level, raised=False, reason=said))
            continue
        is_low = mean < rule.threshold
        good = 0 if is_low else good + 1
        reached: Level = "none"
        if high is not None and high < rule.threshold:
            reached = "alert"
        elif is_low and low_before and window.n >= rule.warn_from:
            reached = "warning"
        low_before = is_low and window.n >= rule.warn_from
        raised = _RANK[reached] > _RANK[level]
        if raised:
            level = reached
        elif good >= rule.clear_after:
            level = "none"
        found.append(Window(level=level, raised=raised, reason=_reason(mean, high, rule, reached)))
    return tuple(found)


_RANK: dict[Level, int] = {"none": 0, "warning": 1, "alert": 2}


def _reason(mean: float, high: float | None, rule: WindowRule, reached: Level) -> str:
    if reached == "alert":
        return f"the upper bound {high:g} is below {rule.threshold:g}"
    if reached == "warning":
        return f"the mean {mean:g} is below {rule.threshold:g}, as in the window before"
    if mean < rule.threshold:
        return f"the mean {mean:g} is below {rule.threshold:g}, but not shown to be"
    return f"the mean {mean:g} is not below {rule.threshold:g}"


class Increase(Struct, frozen=True, kw_only=True):
    """How a rate, such as that of flags for one tool, changed from one window to the next.

    Attributes:
        before, after: the rates, with Wilson's intervals.
        difference: after minus before, with Newcombe's interval.
        p_value: exact, one-sided (see `fisher`); adjusted: for all tools together, by Benjamini and Hochberg.
        alert: is the increase shown, and large enough to matter? `None` where a window is too small to say.
        reason: why `alert` is `None`.
    """

    before: Estimate
    after: Estimate
    difference: Estimate
    p_value: float | None
    adjusted: float | None
    alert: bool | None
    reason: str | None


def increases(
    tools: Mapping[str, tuple[Counts, Counts]],
    *,
    at_least: int = 20,
    least_change: float = 0.05,
    level: float = 0.05,
    confidence: float = 0.95,
) -> dict[str, Increase]:
    """Of each tool, whether its rate rose suddenly: counts of the window before and of the one after.

    An alert needs an adjusted p below `level` and a rise of at least `least_change`. A tool with fewer than `at_least`
    values in either window is not tested, and does not count among those tested. Counts are of cases: several flags of
    one case are one.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for counts that cannot be.
    """
    enough = {name: min(before[1], after[1]) >= at_least for name, (before, after) in tools.items()}
    p_values = [fisher(*windows) if enough[name] else None for name, windows in tools.items()]
    found: dict[str, Increase] = {}
    for (name, (before, after)), p, adjusted in zip(tools.items(), p_values, benjamini_hochberg(p_values), strict=True):
        difference = newcombe(after, before, confidence=confidence)
        alert = None
        if adjusted is not None and difference.estimate is not None:
            alert = adjusted < level and difference.estimate >= least_change
        smallest = min(before[1], after[1])
        found[name] = Increase(
            before=wilson(*before, confidence=confidence),
            after=wilson(*after, confidence=confidence),
            difference=difference,
            p_value=p,
            adjusted=adjusted,
            alert=alert,
            reason=f"a window has {smallest} values, fewer than {at_least}" if alert is None else None,
        )
    return found


def fisher(before: Counts, after: Counts) -> float | None:
    """How often, if nothing changed, the later window holds at least so many of all that were counted.

    Formula: the upper tail of the hypergeometric distribution, P(X >= k after) given the sum of both counts
    (R. A. Fisher, 1935). `None` where a window is empty.

    Raises:
        ConfigError: `STAT_VALUE_INVALID` for counts that cannot be.
    """
    for k, n in (before, after):
        if not 0 <= k <= n:
            raise invalid(f"{k} of {n} is not a share")
    if not before[1] or not after[1]:
        return None
    hits, total = before[0] + after[0], before[1] + after[1]
    most = min(hits, after[1])
    tail = sum(
        exp(_choose(after[1], k) + _choose(before[1], hits - k) - _choose(total, hits))
        for k in range(after[0], most + 1)
        if hits - k <= before[1]
    )
    return min(1.0, tail)


def _choose(n: int, k: int) -> float:
    """The logarithm of the binomial coefficient."""
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)

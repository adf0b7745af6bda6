"""Figures and rules in words. A number that misses a limit is never shown as that limit (SPEC §9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rightcall.gate.rules import Rule
    from rightcall.stats.intervals import Estimate

_MOST_DIGITS = 17


def figure(value: float | None, limits: tuple[float | None, ...] = (), digits: int = 3) -> str:
    """A number with as many decimals as it takes to tell it from the limits that it is not equal to.

    What is below 1 is not shown as 1, and what is above 0 not as 0, either.
    """
    if value is None:
        return "–"
    known = [limit for limit in (*limits, 0.0, 1.0) if limit is not None and limit != value]
    for places in range(digits, _MOST_DIGITS):
        text = f"{value:.{places}f}"
        if all(float(text) != limit for limit in known):
            return text
    return repr(value)


def interval(found: Estimate, limits: tuple[float | None, ...] = (), digits: int = 3) -> str:
    """`0.973 [0.938, 0.988] n=185`; why there is none where it is undefined."""
    if found.estimate is None:
        return found.reason or "undefined"
    if found.method == "count":
        return f"{found.estimate:g} of {found.n}"
    text = figure(found.estimate, limits, digits)
    if found.low is not None and found.high is not None:
        text += f" [{figure(found.low, limits, digits)}, {figure(found.high, limits, digits)}]"
    return f"{text} n={found.n}"


def number(value: float) -> str:
    """A number as it is written in settings."""
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)


def percent(confidence: float) -> str:
    """`95 %`."""
    return f"{number(round(100 * confidence, 10))} %"


def rule_words(rule: Rule) -> str:
    """A rule as one reads it: `≥ 0.98, lower 95 % bound`."""
    parts = []
    for limit, sign, side in ((rule.min, "≥", "lower"), (rule.max, "≤", "upper")):
        if limit is None:
            continue
        on = "point" if rule.on == "point" else side
        plain = rule.metric.kind in ("count", "coverage", "critical", "regressions")
        what = "" if plain else ", point" if on == "point" else f", {on} {percent(rule.confidence)} bound"
        if rule.metric.kind == "judge_figure" and on != "point":
            what = ", lower 95 % bound"
        parts.append(f"{sign} {number(limit)}{what}")
    if rule.per_tool:
        parts.append("each tool, Holm")
    if rule.compares:
        parts.append(f"not worse than the baseline by more than {number(margin_of(rule))}")
    if rule.metric.kind == "fit" or rule.fit:
        parts.append("judges fit")
    if rule.metric.kind == "critical":
        parts = ["none open"]
    if rule.metric.kind == "signed":
        parts = ["all looked at"]
    return "; ".join(parts)


def margin_of(rule: Rule) -> float:
    """By how much the new one may be worse: as it is written, else 0.02 of the scale's width."""
    bottom, top = rule.metric.scale
    return 0.02 * (top - bottom) if rule.margin is None else rule.margin


def counted(number_of: int, thing: str, plural: str | None = None) -> str:
    """`1 case`, `2 cases`."""
    return f"{number_of} {thing if number_of == 1 else plural or thing + 's'}"


def listed(names: tuple[str, ...] | list[str], most: int = 5) -> str:
    """Some names, and how many others there are."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more

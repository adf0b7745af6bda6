"""Figures and rules in words. A number that misses a limit is never shown as that limit (SPEC §9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rightcall.gate.rules import Rule
    from rightcall.stats.intervals import Estimate

_MOST_DIGITS = 17


def places_for(value: float, marks: Iterable[float | None], digits: int = 3) -> int | None:
    """How many decimals put a number on the right side of every mark; `None`: more than there are.

    What is below a limit is not rounded to it, nor above it: 0.9795 is not shown as 0.980 beside 0.9796. One that is
    equal to a mark of at most six decimals is shown as that mark.
    """
    known = [mark for mark in marks if mark is not None and (mark != value or round(mark, 6) == mark)]
    for places in range(digits, _MOST_DIGITS):
        shown = float(f"{value:.{places}f}")
        if all((shown > mark) == (value > mark) and (shown < mark) == (value < mark) for mark in known):
            return places
    return None


def figure(value: float | None, limits: tuple[float | None, ...] = (), digits: int = 3) -> str:
    """A number with as many decimals as it takes to see on which side of the limits it is.

    What is below 1 is not shown as 1, and what is above 0 not as 0, either.
    """
    if value is None:
        return "–"
    places = places_for(value, (*limits, 0.0, 1.0), digits)
    return repr(value) if places is None else f"{value:.{places}f}"


def beside(value: float | None, limit: float, digits: int = 3) -> tuple[str, str]:
    """A number and its limit as one sentence says them: `4.6667` and `4.6670`, so that one sees which is less."""
    shown, written = figure(value, (limit,), digits), number(limit)
    places = len(shown.partition(".")[2])
    if places > digits and places > len(written.partition(".")[2]) and "e" not in written:
        written = f"{limit:.{places}f}"
    return shown, written


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
        if rule.metric.kind == "regressions":
            parts.append(f"at most {counted(int(limit), 'case')} worse")
            continue
        plain = rule.metric.kind in ("count", "coverage", "critical", "regressions")
        what = "" if plain else ", point" if on == "point" else f", {on} {percent(rule.confidence)} bound"
        if rule.metric.kind == "judge_figure" and on != "point":
            what = ", lower 95 % bound"
        parts.append(f"{sign} {number(limit)}{what}")
    if rule.per_tool:
        parts.append("each tool, Holm")
    if rule.compares:
        parts.append(f"at most {number(margin_of(rule))} worse than the baseline")
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

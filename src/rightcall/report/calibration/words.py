"""Figures and answers of a calibration in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rightcall.gate.words import figure
from rightcall.report.cells import number

if TYPE_CHECKING:
    from rightcall.report.calibration.model import Requirement
    from rightcall.run.calibration.calibrating import Calibration
    from rightcall.stats.intervals import Estimate

SIGNS = {"FIT": "✓ FIT", "NOT_FIT": "✗ NOT FIT", "INSUFFICIENT": "◐ INSUFFICIENT"}
WORDS = {
    "FIT": "fit to decide",
    "NOT_FIT": "not fit to decide: what it says is advice, people go on looking",
    "INSUFFICIENT": "not enough is known to let it decide",
}
NO_ROLE = "the judge's fitness does not rest on this field"
NOTHING = "–"


def labels(n: int) -> str:
    """`1 label`, `7 labels`."""
    return f"{n} label{'' if n == 1 else 's'}"


def value_of(value: Estimate, limit: float | None = None) -> str:
    """The figure alone, `–` where it is undefined; with as many digits as tell it from the limit it is held against."""
    return _told_apart(value.estimate, limit)


def between(value: Estimate, limit: float | None = None) -> str:
    """The interval, `–` where there is none."""
    if value.low is None or value.high is None:
        return NOTHING
    return f"{_told_apart(value.low, limit, bound=True)} – {_told_apart(value.high, limit, bound=True)}"


def in_short(value: Estimate, limit: float | None = None) -> str:
    """`0.844 [0.712, 0.923]`; `– (why)` where there is none."""
    if value.estimate is None:
        return f"{NOTHING} ({value.reason or 'undefined'})"
    shown = value_of(value, limit)
    if value.low is None or value.high is None:
        return shown
    return f"{shown} [{_told_apart(value.low, limit, bound=True)}, {_told_apart(value.high, limit, bound=True)}]"


def _told_apart(value: float | None, limit: float | None, *, bound: bool = False) -> str:
    if value is not None and limit is not None and value != limit and float(f"{value:.3f}") == float(f"{limit:.3f}"):
        return figure(value, (limit,))
    return f"{value:.3f}" if bound and value is not None else number(value, 3)


def p_value(p: float) -> str:
    """`p = 0.023`; a small one is never shown as 0."""
    return f"p = {p:.3f}" if p >= 0.0005 else "p < 0.001"


def headline(one: Calibration) -> str:
    """The figure that the fitness rests on."""
    if one.figures is None or one.figures.headline == "kappa":
        return "kappa"
    return f"alpha, {one.figures.alpha_level}"


def failing(one: Calibration) -> str:
    """What counts as FAIL in a field: `FAIL`, or the worse half of its scale."""
    found = () if one.figures is None else one.figures.failing
    return found[0] if len(found) == 1 else f"{found[0]} to {found[-1]}" if found else "FAIL"


def needs(item: Requirement) -> str:
    """`0.6 at the lower end`; empty where the threshold is not known."""
    if item.threshold is None:
        return ""
    return f"{item.threshold:.3g}" + (" at the lower end" if item.on == "lower" else "")

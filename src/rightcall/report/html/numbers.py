"""Figures as an HTML report writes them: digits enough, and beside each its interval, n, method, what is left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rightcall.gate.words import places_for

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rightcall.stats.intervals import Estimate

NO_VALUE = "–"


@dataclass(frozen=True, slots=True)
class Shown:
    """An estimate in words.

    Attributes:
        value: the figure, or `–`. interval: `0.938 – 0.988`, or `–`.
        low, high: the bounds, for sentences; empty where there are none.
        n: what it rests on. excluded: what was left out. method: how the interval was made.
        reason: why it, or its interval, is undefined; empty where nothing is to say.
    """

    value: str
    interval: str
    low: str
    high: str
    n: str
    excluded: str
    method: str
    reason: str


def shown(item: Estimate, threshold: float | None = None, scale: tuple[float, float] = (0.0, 1.0)) -> Shown:
    """An estimate in words.

    Args:
        item: the figure.
        threshold: what it was held against: a figure that is not the threshold is never written as it.
        scale: its lowest and highest value, which it is not written as either unless it is one of them.
    """
    marks = [*scale, *([] if threshold is None else [threshold])]
    digits = 0 if is_count(item) else digits_for(scale)
    bounds = (None, None) if is_count(item) else (item.low, item.high)
    value, low, high = (number(figure, digits, marks) for figure in (item.estimate, *bounds))
    return Shown(
        value=value,
        interval=NO_VALUE if bounds == (None, None) else f"{low} – {high}",
        low="" if bounds[0] is None else low,
        high="" if bounds[1] is None else high,
        n=whole(item.n),
        excluded=whole(item.excluded),
        method=item.method,
        reason=item.reason or ("no value" if item.estimate is None else ""),
    )


def is_count(item: Estimate) -> bool:
    """Is the figure a number of things, which has no interval and no decimals?"""
    return item.method == "count" and item.estimate is not None and float(item.estimate).is_integer()


def digits_for(scale: tuple[float, float]) -> int:
    """Decimals that a figure on this scale needs: three for shares, two for levels, none for large numbers."""
    span = scale[1] - scale[0]
    return 3 if span <= 2 else 2 if span <= 20 else 1 if span <= 200 else 0


def number(value: float | None, digits: int = 3, marks: Iterable[float] = ()) -> str:
    """A figure with so many decimals, or more where it would be read as a mark that it is not, or beyond it.

    A minus is the sign −. A figure that differs from a mark only in the last decimals there are is written in full.
    """
    if value is None:
        return NO_VALUE
    places = places_for(value, marks, digits)
    return _signed(repr(value) if places is None else f"{value:,.{places}f}")


def exact(value: float) -> str:
    """A number that a person wrote, as it was written: 0.98, 3, −0.02."""
    return _signed(f"{int(value):,}" if float(value).is_integer() else repr(value))


def whole(value: int) -> str:
    """A count, with thousands apart."""
    return f"{value:,}"


def p_value(value: float | None) -> str:
    """A p-value; one that is small is said to be."""
    if value is None:
        return NO_VALUE
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _signed(text: str) -> str:
    negative = text.startswith("-")
    digits = text.lstrip("-")
    return f"−{digits}" if negative and any(sign in "123456789" for sign in digits) else digits

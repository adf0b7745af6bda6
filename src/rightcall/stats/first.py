"""The smallest whole number that shows something, where every larger one shows it too."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

LARGEST = 10_000_000
"""More cases than that are as good as never."""


def first_that(shows: Callable[[int], bool]) -> int | None:
    """The smallest number, from 1 on, that shows it, found by doubling and halving; `None` beyond `LARGEST`."""
    low, high = 0, 1
    while not shows(high):
        low, high = high, 2 * high
        if high > LARGEST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shows(middle) else (middle, high)
    return high

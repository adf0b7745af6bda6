"""Numbers as they are written: what a gate compares is never rounded (SPEC §9)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction

_LARGEST = 10_000
"""The largest denominator that is looked for."""


def exact(value: float) -> Fraction:
    """The number that a float was written for: a small fraction that gives this very float, else its decimal digits.

    0.98 is 98/100 and not the binary number next to it, and a third that was divided out is a third again; so that a
    mean of thirds and sixths does not fail by the last bit.
    """
    small = Fraction(value).limit_denominator(_LARGEST)
    return small if float(small) == value else Fraction(Decimal(repr(float(value))))


def exact_sum(values: Iterable[float]) -> Fraction:
    """The sum of what floats were written for; it does not depend on their sequence."""
    counts = Counter(values)
    return sum((exact(value) * n for value, n in counts.items()), Fraction(0))

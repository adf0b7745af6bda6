"""The aligned call diff of a case as it is shown: what matters whole, long runs of matched calls folded."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rightcall.report.view.model import CallLine

MOST_LINES = 120
CONTEXT = 2
"""Matched calls that stay before and after one that is not."""

SIGNS = {
    "matched": "=", "missing": "−", "surplus": "+", "substituted": "≠", "wrong": "≠", "retry": "↻", "free": "·",
    "optional": "○",
}  # fmt: skip
"""What stands before a line, beside its state in words."""


@dataclass(frozen=True, slots=True)
class Fold:
    """Lines that are not shown: how many, in words."""

    words: str


def shown_lines(lines: Sequence[CallLine], most: int = MOST_LINES) -> list[CallLine | Fold]:
    """The lines to show, with a `Fold` wherever some were left out.

    Every line that is not plainly matched is shown, with two around it, up to `most` lines; then the rest is counted.
    """
    telling = {place for place, line in enumerate(lines) if line.state != "matched" or line.notes or line.vetoes}
    near = {place + step for place in telling for step in range(-CONTEXT, CONTEXT + 1)}
    short = len(lines) <= 2 * CONTEXT + 4
    kept = [place for place in range(len(lines)) if short or place in near]
    return list(_with_folds(lines, kept[:most]))


def _with_folds(lines: Sequence[CallLine], kept: Sequence[int]) -> Iterator[CallLine | Fold]:
    before = -1
    for place in [*kept, len(lines)]:
        if place - before > 1:
            yield _fold(lines[before + 1 : place])
        if place < len(lines):
            yield lines[place]
        before = place


def _fold(hidden: Sequence[CallLine]) -> Fold:
    states = Counter(line.state for line in hidden)
    words = ", ".join(f"{count:,} {state}" for state, count in states.most_common())
    return Fold(f"{len(hidden):,} line{'' if len(hidden) == 1 else 's'} left out here: {words}")

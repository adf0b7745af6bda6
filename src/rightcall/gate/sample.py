"""What a figure is made of: the values of results, by case, and what has none."""

from __future__ import annotations

from array import array
from bisect import insort
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rightcall.gate.metrics import Scale
from rightcall.stats.bounds import by_case

if TYPE_CHECKING:
    from rightcall.stats.bounds import Numbers

SHOWN = 20
"""How many details a decision holds."""


@dataclass
class Names:
    """Cases, numbered in the order in which they come; shared by all samples of a grader."""

    numbers: dict[str, int] = field(default_factory=dict)

    def number(self, case: str) -> int:
        """The number of a case."""
        return self.numbers.setdefault(case, len(self.numbers))


@dataclass
class Details:
    """What a person looks at first: the first of them by name, whoever came first, and how many others there are."""

    kept: list[tuple[str, str]] = field(default_factory=list)
    number: int = 0

    def add(self, text: str, name: str = "") -> None:
        """Note one.

        Args:
            text: what is shown.
            name: by what it sorts, before the text itself.
        """
        self.number += 1
        if len(self.kept) < SHOWN or (name, text) < self.kept[-1]:
            insort(self.kept, (name, text))
            del self.kept[SHOWN:]

    def extend(self, other: Details) -> None:
        """Note all of another one."""
        self.kept = sorted([*self.kept, *other.kept])[:SHOWN]
        self.number += other.number

    @property
    def shown(self) -> list[str]:
        """Those that are shown."""
        return [text for _, text in self.kept]

    @property
    def left_out(self) -> int:
        """How many are not shown."""
        return self.number - len(self.kept)


@dataclass
class Sample:
    """The values of one metric, a few bytes each.

    Attributes:
        scale: bottom and top of the values.
        values, cases: the value of each result, and the number of its case.
        unread: of each result without a verdict, the number of its case.
        loose: records that were selected and have no result at all, whose case nobody knows.
        not_applicable: results for which there is no such figure; left out of it and counted beside it.
        bad: the results that lower it.
    """

    scale: Scale = (0.0, 1.0)
    values: array[float] = field(default_factory=lambda: array("d"))
    cases: array[int] = field(default_factory=lambda: array("I"))
    unread: array[int] = field(default_factory=lambda: array("I"))
    loose: int = 0
    not_applicable: int = 0
    bad: Details = field(default_factory=Details)

    def add(self, value: float, case: int) -> None:
        """Take a value in."""
        self.values.append(value)
        self.cases.append(case)

    def add_unread(self, case: int) -> None:
        """Take in a result without a verdict."""
        self.unread.append(case)

    @property
    def n(self) -> int:
        """How many values there are."""
        return len(self.values)

    @property
    def excluded(self) -> int:
        """How many results should have had a value, and have none."""
        return len(self.unread) + self.loose

    def table(self, *, unread_as: float | None = None) -> tuple[Numbers, Numbers]:
        """Sums of the values, brought to 0–1, and their numbers, by case.

        Args:
            unread_as: what an unread result counts as, from 0 to 1; `None` leaves them out.
        """
        if unread_as is None:
            return by_case(self.values, self.cases, self.scale)
        return by_case(self.values, self.cases, self.scale, unread=self.unread, loose=self.loose, unread_as=unread_as)

    def counts(self) -> list[tuple[int, int, int]]:
        """Of each case: values that are the top of the scale, values, unread results."""
        counts: dict[int, list[int]] = {}
        top = self.scale[1]
        for value, case in zip(self.values, self.cases, strict=True):
            one = counts.setdefault(case, [0, 0, 0])
            one[0] += value == top
            one[1] += 1
        for case in self.unread:
            counts.setdefault(case, [0, 0, 0])[2] += 1
        return [(good, n, unread) for good, n, unread in counts.values()]

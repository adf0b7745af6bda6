"""Which trace of a pair a person sees on which side.

The sides are shuffled for each person and item by a digest of the two, so that nobody sees one agent always on the
left, and a second look shows the same picture. Answers stand on record by agent (`A`, `B`, `TIE`), with the seed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from rightcall.review.forms import CRITERIA
from rightcall.trace.digest import digest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Agent = Literal["A", "B"]
_BY_SIDE = ("overall", *CRITERIA)


class Sides(Struct, frozen=True):
    """Whose trace stands on the left, and the seed that says so."""

    seed: str
    left: Agent

    @property
    def right(self) -> Agent:
        """Whose trace stands on the right."""
        return "B" if self.left == "A" else "A"


def sides_of(item: str, who: str) -> Sides:
    """The sides of an item for one person."""
    seed = digest([item, who])
    return Sides(seed, "A" if int(seed[-1], 16) % 2 == 0 else "B")


def by_agent(fields: Mapping[str, Any], sides: Sides) -> dict[str, Any]:
    """An answer as it stands on record, from one as it was given: `L`, `T`, `R` become `A`, `TIE`, `B`."""
    return _renamed(fields, {"L": sides.left, "R": sides.right, "T": "TIE"})


def by_side(fields: Mapping[str, Any], sides: Sides) -> dict[str, Any]:
    """An answer as a person sees it, from the one on record: `A`, `TIE`, `B` become `L`, `T`, `R`."""
    return _renamed(fields, {sides.left: "L", sides.right: "R", "TIE": "T"})


def cited_by_agent(evidence: Sequence[str], sides: Sides) -> tuple[str, ...]:
    """What an answer points at, as it stands on record: `left:c1` becomes `A:c1` or `B:c1`; anything else stays."""
    return _cited(evidence, {"left": sides.left, "right": sides.right})


def cited_by_side(evidence: Sequence[str], sides: Sides) -> tuple[str, ...]:
    """What an answer points at, as a person sees it: `A:c1` becomes `left:c1` or `right:c1`."""
    return _cited(evidence, {sides.left: "left", sides.right: "right"})


def _cited(evidence: Sequence[str], names: Mapping[str, str]) -> tuple[str, ...]:
    parts = ((one, *one.partition(":")) for one in evidence)
    return tuple(f"{names[side]}:{rest}" if mark and side in names else one for one, side, mark, rest in parts)


def _renamed(fields: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    return {
        name: names.get(value, value) if name in _BY_SIDE and isinstance(value, str) else value
        for name, value in fields.items()
    }

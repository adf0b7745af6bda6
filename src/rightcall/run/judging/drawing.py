"""What is drawn: the sample that a run judges, and what people see of it. By hashes, so that it stays drawn."""

from __future__ import annotations

from hashlib import blake2b
from heapq import nsmallest
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rightcall.run.judging.items import Item


def sampled(items: Iterator[Item], most: int | None, seed: int) -> Iterator[Item]:
    """All items, or as many as are asked for: those whose hash with the seed is smallest, in input order."""
    if most is None:
        yield from items
        return

    def rank(numbered: tuple[int, Item]) -> bytes:
        return blake2b(f"{seed}\0{numbered[1].unit}".encode(), digest_size=16).digest()

    chosen = nsmallest(most, enumerate(items), key=rank)
    yield from (item for _, item in sorted(chosen, key=lambda numbered: numbered[0]))


def is_drawn(run_salt: str, unit: str, share: float) -> bool:
    """Whether an item goes to review at random: by a hash, so that a resumed run draws the same ones."""
    number = int.from_bytes(blake2b(f"review\0{run_salt}\0{unit}".encode(), digest_size=8).digest(), "big")
    return number < share * 2**64

"""What one person was shown of a review item, and when, by what is on record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rightcall.store.records import ReviewEvent, SignoffRecord

if TYPE_CHECKING:
    from rightcall.store.store import Store


def taken_at(store: Store, item: str, who: str) -> int | None:
    """The log entry of the claim by which a person holds an item, or held it last; `None`: it was not taken."""
    asked: int | None = None
    for seq, _, event in store.queue.events(item=item):
        if event.who == who:
            asked = _since(event, asked, seq)
    return asked


def _since(event: ReviewEvent, asked: int | None, seq: int) -> int | None:
    """Since which log entry somebody has held an item: the first claim after it was last let go of."""
    if event.act == "claimed":
        return seq if asked is None else asked
    return None if event.act in ("released", "skipped") else asked


def was_shown_answers(store: Store, item: str, who: str) -> bool:
    """Whether a person sees the answers that differ: not if they took the item before these were all there."""
    taken = disputed = 0
    for seq, _, event in store.queue.events(item=item):
        if event.act in ("disagreement", "returned"):
            disputed = seq
        elif event.act == "claimed" and event.who == who:
            taken = seq
    return taken == 0 or taken > disputed


def has_seen(store: Store, item: str, who: str) -> bool:
    """Whether a person was shown what the judge and others said about an item, to sign for it."""
    return any(
        record.who == who
        for _, record in store.queue.history(item)
        if isinstance(record, SignoffRecord) or (isinstance(record, ReviewEvent) and record.act == "seen")
    )

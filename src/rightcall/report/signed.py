"""What people have signed about CRITICAL misuses, in words: wherever a case appears, its sign-off does (SPEC §8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rightcall.store.records import short_item

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rightcall.run.results.critical import Critical

_COUNTED = {
    "open": "waiting for a sign-off", "confirmed": "confirmed, counted as failures", "dismissed": "dismissed",
}  # fmt: skip


def signed_words(one: Critical) -> str:
    """Where one CRITICAL item stands, in a few words."""
    if one.state == "open":
        return f"waits for a sign-off: rightcall signoff {short_item(one.item)}"
    verb = "confirmed, counts as a failure" if one.state == "confirmed" else "dismissed, the severity is withdrawn"
    return f"{verb} · {one.who}: {one.reason}"


def signed_line(found: Iterable[Critical]) -> str | None:
    """How many CRITICAL items there are, by what became of them; `None` for none."""
    counts: dict[str, int] = {}
    for one in found:
        counts[one.state] = counts.get(one.state, 0) + 1
    if not counts:
        return None
    parts = [f"{counts[state]} {words}" for state, words in _COUNTED.items() if state in counts]
    return f"CRITICAL {sum(counts.values())}: {' · '.join(parts)}"


def signed_facts(one: Critical) -> dict[str, Any]:
    """The sign-off of one item as plain values."""
    return {
        "item": one.item, "state": one.state, "who": one.who, "at": one.at, "reason": one.reason,
        "counts_as_failure": one.is_failure,
    }  # fmt: skip

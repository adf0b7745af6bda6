"""What people have signed about CRITICAL misuses, in words: wherever a case appears, its sign-off does (SPEC §8)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rightcall.store.records import short_item

if TYPE_CHECKING:
    from rightcall.run.results.critical import Critical


def signed_words(one: Critical) -> str:
    """Where one CRITICAL item stands, in a few words."""
    if one.state == "open":
        return f"waits for a sign-off: rightcall signoff {short_item(one.item)}"
    verb = "confirmed, counts as a failure" if one.state == "confirmed" else "dismissed, the severity is withdrawn"
    return f"{verb} · {one.who}: {one.reason}"


def signed_facts(one: Critical) -> dict[str, Any]:
    """The sign-off of one item as plain values."""
    return {
        "item": one.item, "state": one.state, "who": one.who, "at": one.at, "reason": one.reason,
        "counts_as_failure": one.is_failure,
    }  # fmt: skip

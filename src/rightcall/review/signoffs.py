"""What a sign-off of a CRITICAL item does (SPEC §8).

`open`: nobody has signed: gates and exports wait. `confirmed`: the misuse stands: the case counts as a failure, and
its traces stay out of training exports. `dismissed`: the severity is withdrawn, and the reason is shown wherever the
case appears; the verdict stays what it is. No sign-off ever turns a failure into a pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from rightcall.errors import ConfigError
from rightcall.review.form import LONGEST
from rightcall.review.urgency import is_critical

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rightcall.store.records import ReviewRecord, SignoffRecord

SignState = Literal["open", "confirmed", "dismissed"]
SHORTEST = 15
"""Characters that a reason must have, blanks at its ends left out."""


def state_of(
    reasons: Sequence[ReviewRecord], signoffs: Sequence[SignoffRecord], agreed: str | None = None
) -> SignState | None:
    """Where an item stands: by the newest sign-off; `None` if nothing about it is CRITICAL.

    Args:
        reasons: why the item is there.
        signoffs: of this item, oldest first.
        agreed: the severity on which people agreed, if they did.
    """
    if agreed != "CRITICAL" and not any(map(is_critical, reasons)):
        return None
    return signoffs[-1].outcome if signoffs else "open"


def is_failure(verdict: str | None, state: SignState | None) -> bool:
    """Whether a case counts as a failure: its verdict says so, or a person has confirmed the misuse."""
    return verdict == "FAIL" or state == "confirmed"


def sign_faults(reason: str, typed: str, expected: str, authors: Sequence[str], who: str, *, roles: bool) -> list[str]:
    """Everything that speaks against a sign-off, in words.

    Args:
        reason: why it is signed.
        typed: what was typed to show that the case was read; `expected`: what must be.
        expected: the trace's id, or the unit where there is no trace.
        authors: who has answered the item.
        who: who signs.
        roles: whether roles are configured; then nobody signs for an item that they have answered.
    """
    return list(_faults(reason, typed, expected, authors, who, roles=roles))


def _faults(
    reason: str, typed: str, expected: str, authors: Sequence[str], who: str, *, roles: bool
) -> Iterator[str]:  # fmt: skip
    words = reason.strip()
    if len(words) < SHORTEST:
        yield f"the reason must have at least {SHORTEST} characters, not {len(words)}"
    if len(words) > LONGEST:
        yield f"the reason has more than {LONGEST:,} characters"
    if typed != expected:
        yield f"`{typed[:80]}` was typed in place of `{expected}`"
    if roles and who in authors:
        yield f"`{who}` has answered this item: somebody else must sign"


def require_signable(reason: str, typed: str, expected: str, authors: Sequence[str], who: str, *, roles: bool) -> None:
    """Refuse a sign-off that must not be; see `sign_faults`.

    Raises:
        ConfigError: with everything that speaks against it.
    """
    if faults := sign_faults(reason, typed, expected, authors, who, roles=roles):
        raise ConfigError("; ".join(faults), hint="nothing was signed")

"""Signing for what is CRITICAL: what a signer must see before, and the record of the decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from rightcall.errors import ConfigError
from rightcall.review.beside import judge_fields, verdict_fields
from rightcall.review.blind import BlindItem
from rightcall.review.roles import require, role_of
from rightcall.review.signoffs import require_signable
from rightcall.review.urgency import is_critical
from rightcall.run.people.blinding import result_of
from rightcall.run.people.revealing import OtherAnswer, others_of, reasons_of
from rightcall.store.records import ReviewRecord, SignoffRecord

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal

    from rightcall.store.records import AnswerRecord, VerdictRecord
    from rightcall.store.store import Store
    from rightcall.store.waiting import QueueItem

CONSEQUENCES = {
    "confirmed": "the misuse stands: the case counts as a failure, and its traces stay out of training exports",
    "dismissed": "the severity is withdrawn, with the reason shown wherever the case appears; the verdict stays",
}
"""What each outcome of a sign-off does."""


class ToSign(Struct, frozen=True, kw_only=True):
    """A CRITICAL item before it is signed. This is not blind.

    Attributes:
        item, run_id, grader, unit, case_id, trace_id: what it is about.
        expected: what must be typed: the trace's id, or the unit where there is no trace.
        critical: the reasons that make it CRITICAL, as recorded; reasons: all of them.
        view: what happened. verdict, judge: what was said about it, by field of the form.
        answers: what people said; consensus: what that comes to.
        signed: the sign-off that stands, if there is one already: who, when, outcome, reason.
        consequences: what each outcome does.
    """

    item: str
    run_id: str
    grader: str
    unit: str
    case_id: str | None
    trace_id: str | None
    expected: str
    critical: tuple[ReviewRecord, ...]
    reasons: tuple[ReviewRecord, ...]
    view: BlindItem
    verdict: dict[str, Any]
    judge: dict[str, Any]
    answers: tuple[OtherAnswer, ...]
    consensus: dict[str, Any] | None
    signed: dict[str, str] | None
    consequences: dict[str, str] = field(default_factory=CONSEQUENCES.copy)


class Signed(Struct, frozen=True, kw_only=True):
    """A sign-off that was recorded, with its log entry."""

    item: str
    outcome: str
    who: str
    digest: str
    seq: int
    hash: str


def to_sign(store: Store, item: QueueItem, verdict: VerdictRecord | None, view: BlindItem) -> ToSign:
    """A CRITICAL item as a signer sees it.

    Args:
        store: the record.
        item: the item as it stands now.
        verdict: the current one.
        view: what happened.
    """
    result = result_of(store, verdict)
    reasons = reasons_of(store, item)
    said = {digest: answer for _, digest, answer in store.queue.answers(item=item.item)}
    signed = [one for _, _, one in store.queue.signoffs(item=item.item)]
    newest = signed[-1] if signed else None
    agreed = store.queue.consensus(item.item)
    return ToSign(
        item=item.item, run_id=item.run_id, grader=item.grader, unit=item.unit, case_id=item.case_id,
        trace_id=item.trace_id, expected=item.trace_id or item.unit,
        critical=tuple(one for one in reasons if is_critical(one)), reasons=reasons, view=view,
        verdict=verdict_fields(item.grader, result), judge=judge_fields(item.grader, result),
        answers=others_of(said, None), consensus=None if agreed is None else agreed.fields,
        signed=None if newest is None else {
            "who": newest.who, "at": newest.at, "outcome": newest.outcome, "reason": newest.reason,
        },
    )  # fmt: skip


def sign_item(
    store: Store, item: QueueItem, who: str, people: Mapping[str, Sequence[str]],
    outcome: Literal["confirmed", "dismissed"], reason: str, typed: str, *, at: str, client: str,
) -> Signed:  # fmt: skip
    """Record a decision on a CRITICAL item.

    Args:
        store: the record.
        item: the item.
        who: who signs.
        people: who has which roles; empty: everybody every one.
        outcome: `confirmed` or `dismissed`.
        reason: why.
        typed: the trace's id, or the unit where there is no trace.
        at: this moment (ISO 8601, UTC).
        client: from where.

    Raises:
        ConfigError: the reason or what was typed will not do, or this person may not sign (this item).
        StoreError: the item is not CRITICAL. Nothing was signed.
    """
    require(who, "signer", people)
    if outcome not in ("confirmed", "dismissed"):
        raise ConfigError(f"`{outcome}` is no decision", hint="confirmed or dismissed")
    expected = item.trace_id or item.unit

    def check(given: Sequence[AnswerRecord]) -> None:
        require_signable(reason, typed, expected, [one.who for one in given], who, roles=bool(people))

    record = SignoffRecord(
        item=item.item, run_id=item.run_id, grader=item.grader, unit=item.unit, who=who, at=at, outcome=outcome,
        reason=reason.strip(), typed=typed, role=role_of(who, "signer", people), client=client, case_id=item.case_id,
        trace_id=item.trace_id, step_id=item.step_id,
    )  # fmt: skip
    # Checked under the write lock, since an answer of this person may be on its way.
    logged = store.queue.sign(record, check)
    return Signed(item=item.item, outcome=outcome, who=who, digest=logged.digest, seq=logged.seq, hash=logged.hash)

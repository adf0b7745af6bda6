"""What a person is shown of an item: before the answer is committed (`Opened`), and after it (`Revealed`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from rightcall.errors import StoreError
from rightcall.review.beside import Agreement, compare, in_words, judge_fields, names_of, verdict_fields
from rightcall.review.blind import BlindItem
from rightcall.review.consensus import UNSURE
from rightcall.review.form import Form
from rightcall.review.forms import stored_form
from rightcall.review.sides import sides_of
from rightcall.run.people.blinding import result_of
from rightcall.store.records import ReviewRecord
from rightcall.trace.model import Agent, Trace

if TYPE_CHECKING:
    from rightcall.store.records import AnswerRecord, ConsensusRecord, VerdictRecord
    from rightcall.store.store import Store
    from rightcall.store.waiting import QueueItem


class Opened(Struct, frozen=True, kw_only=True):
    """An item before the answer. Nothing here, nor in the view, comes from a verdict or from another person.

    Attributes:
        item: its full id. grader: whose form it has.
        form: what is asked. view: what is seen; an `AdjudicationItem` for whoever decides between answers.
        until: when this person's claim ends (ISO 8601, UTC); `None`: they do not hold it.
        created_at: since when it waits. needed, answered: how many answers it needs and has.
        adjudicates: the answer decides between others.
    """

    item: str
    grader: str
    form: Form
    view: BlindItem
    until: str | None
    created_at: str
    needed: int
    answered: int
    adjudicates: bool


class OtherAnswer(Struct, frozen=True, kw_only=True):
    """What somebody else said."""

    who: str
    kind: str
    fields: dict[str, Any]
    unsure: str | None
    note: str
    extra: bool


class Revealed(Struct, frozen=True, kw_only=True):
    """An answer with what may stand beside it now.

    Attributes:
        item, grader: the item. digest: the answer's; seq, hash: its log entry, where it was just written.
        kind, extra, blind, fields, unsure, note: the answer as it stands on record; of a pair by agent.
        sides: of a pair, which agent this person saw `left` and `right`; agents: their names.
        agent: who acted in the trace: name, version, model; `None` where that is not on record.
        status, reason: of the verdict that the answer belongs to; `None` without one.
        verdict: the verdict that counts, and judge: what the judge said by itself, by field of the form.
        judges: who that was, with the models that answered. decided_by: what the verdict rests on.
        agreement: with the judge, or with the verdict where no judge was asked; words: the same in a line.
        reasons: why the item was there, as recorded.
        state: where the item stands now. needed, answered: how many answers it needs and has.
        others: what others said, once the item needs no more answers; before that it is empty.
        consensus: what all answers come to; `None` while that is open.
    """

    item: str
    grader: str
    digest: str
    seq: int | None
    hash: str | None
    kind: str
    extra: bool
    blind: bool
    fields: dict[str, Any]
    unsure: str | None
    note: str
    sides: dict[str, str] | None
    agents: dict[str, str] | None
    agent: dict[str, str] | None
    status: str | None
    reason: str | None
    verdict: dict[str, Any]
    judge: dict[str, Any]
    judges: tuple[str, ...]
    decided_by: str | None
    agreement: Agreement
    words: str
    reasons: tuple[ReviewRecord, ...]
    state: str
    needed: int
    answered: int
    others: tuple[OtherAnswer, ...]
    consensus: dict[str, Any] | None


def revealed(store: Store, item: QueueItem, form: Form, digest: str, entry: tuple[int, str] | None) -> Revealed:
    """What may stand beside an answer.

    Args:
        store: the record.
        item: the item as it stands now.
        form: its form.
        digest: the answer's.
        entry: number and hash of the log entry, if the answer was just written.
    """
    said = {one_digest: answer for _, one_digest, answer in store.queue.answers(item=item.item)}
    mine = said[digest]
    verdict = verdict_of(store, item, mine.verdict)
    result = result_of(store, verdict)
    judge, counting = judge_fields(item.grader, result), verdict_fields(item.grader, result)
    stands, whom = (judge, "the judge") if judge else (counting, "the verdict")
    agreement = compare(stored_form(form), mine.fields, stands)
    sides = sides_of(item.item, mine.who) if item.grader == "preference" else None
    is_done = item.state in ("done", "signoff") and not item.adjudicates
    agreed = store.queue.consensus(item.item) if is_done else None
    return Revealed(
        item=item.item, grader=item.grader, digest=digest, seq=entry and entry[0], hash=entry and entry[1],
        kind=mine.kind, extra=mine.extra, blind=mine.blind, fields=mine.fields, unsure=mine.unsure, note=mine.note,
        sides=None if sides is None else {"left": sides.left, "right": sides.right},
        agents=None if sides is None else {"A": result.get("agent_a", "A"), "B": result.get("agent_b", "B")},
        agent=None if sides is not None else _agent(store, verdict),
        status=result.get("status"), reason=result.get("reason"), verdict=counting, judge=judge,
        judges=names_of(result.get("judges") or ()), decided_by=None if verdict is None else verdict.decided_by,
        agreement=agreement, words=_words(mine, agreement, whom, stands), reasons=reasons_of(store, item),
        state=item.state, needed=item.needed, answered=item.answered,
        others=others_of(said, mine.who) if is_done else (), consensus=_fields(agreed),
    )  # fmt: skip


def verdict_of(store: Store, item: QueueItem, digest: str | None) -> VerdictRecord | None:
    """The verdict with this digest, which an answer belongs to; `None` where it names none.

    Raises:
        StoreError: it is not on record.
    """
    if digest is None:
        return None
    from rightcall.store import reading
    from rightcall.store.packing import unpack
    from rightcall.store.records import VerdictRecord
    from rightcall.store.tables import verdicts

    query = reading.stored(verdicts, run_id=item.run_id, unit=item.unit, grader=item.grader)
    rows = store.database.read(reading.fetching(query.where(verdicts.c.digest == digest)))
    if not rows:
        raise StoreError(f"the verdict {digest[:12]}… is not on record", code="STORE_INVALID", hint="verify the log")
    return unpack(VerdictRecord, rows[0].codec, rows[0].data)


def _words(mine: AnswerRecord, agreement: Agreement, whom: str, stands: dict[str, Any]) -> str:
    if mine.unsure is not None:
        return f"you could not judge this ({UNSURE}); {whom} {'did' if stands else 'did not either'}"
    return in_words(agreement, whom)


def others_of(said: dict[str, AnswerRecord], who: str | None) -> tuple[OtherAnswer, ...]:
    """What everybody but one person said, oldest first."""
    return tuple(
        OtherAnswer(
            who=one.who, kind=one.kind, fields=one.fields, unsure=one.unsure, note=one.note, extra=one.extra
        )
        for one in said.values()
        if one.who != who
    )  # fmt: skip


def reasons_of(store: Store, item: QueueItem) -> tuple[ReviewRecord, ...]:
    """Why an item is in the queue, as recorded."""
    return tuple(record for _, record in store.queue.history(item.item) if isinstance(record, ReviewRecord))


def _fields(agreed: ConsensusRecord | None) -> dict[str, Any] | None:
    return None if agreed is None else agreed.fields


def _agent(store: Store, verdict: VerdictRecord | None) -> dict[str, str] | None:
    """Who acted, as the trace says it."""
    if verdict is None or verdict.trace is None:
        return None
    agent: Agent | None = msgspec.json.decode(store.body(verdict.trace), type=Trace).agent
    return None if agent is None else {name: value for name, value in msgspec.structs.asdict(agent).items() if value}

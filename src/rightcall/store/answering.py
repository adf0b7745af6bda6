"""Answers, amendments, imported labels and sign-offs: each is written with all that follows from it, or not at all.

Whether an answer counts is decided under the write lock, when it comes: it does if the item still needs one that nobody
else is about to give. If not, it is kept as *extra*: shown, never refused, and without a say.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from msgspec.structs import replace
from sqlalchemy import Connection, Row, Table, select  # noqa: TID253 - loaded with the queue

from rightcall.store.claims import event, held_by, is_free, is_held, needed_of, one_row
from rightcall.store.inserting import insert_all
from rightcall.store.packing import digest_of, pack, unpack
from rightcall.store.projection import catch_up, refresh
from rightcall.store.reading import stored
from rightcall.store.records import AnswerRecord, ConsensusRecord, Record, SignoffRecord
from rightcall.store.tables import answers, consensus, log, queue, review_events, signoffs
from rightcall.store.waiting import (
    Answered,
    Decide,
    Decision,
    Logged,
    Rules,
    counts,
    milliseconds,
    named,
    refused,
    written,
)

Check = Callable[[list[AnswerRecord]], None]
"""Raises where the people who gave these answers forbid what is about to be written."""

_UNSETTLED = "the answers settle nothing"


def take_answer(
    connection: Connection, answer: AnswerRecord, decide: Decide, now: datetime, rules: Rules | None
) -> Answered:
    """Write a person's answer, and the consensus or the disagreement that it brings about.

    Raises:
        StoreError: `STORE_CONFLICT`: the person has answered the item; `STORE_INVALID`: there is no such item, or it
            asks for no adjudication.
    """
    catch_up(connection, rules)
    row = _row_of(connection, answer)
    if answer.kind not in ("answer", "adjudication"):
        raise refused(f"a person's own answer is no `{answer.kind}`", "amend it, or import it")
    given = all_answers(connection, answer.item)
    mine = {digest: one for digest, one in given if one.who == answer.who}
    both = (replace(answer, extra=False), replace(answer, extra=True))
    done = next((digest for digest, one in mine.items() if one in both), None)
    if done is None:
        if mine:
            raise refused(
                f"{answer.who} has answered this item already", "what is recorded stays: amend it",
                code="STORE_CONFLICT",
            )  # fmt: skip
        late = _is_late(connection, row, answer, milliseconds(now))
        answer = both[late]
        done = digest_of(answer)
        records: list[Record] = [answer]
        if not late and (row.is_adjudication or row.answered + 1 >= needed_of(row)):
            heard = [one for _, one in given if _is_heard(one)] + [answer]
            records += _outcome(row, heard, decide, now)
        insert_all(connection, pack(records), [])
        refresh(connection, row, rules)
    return _answered(connection, answer.item, done)


def amend(connection: Connection, answer: AnswerRecord, rules: Rules | None) -> Logged:
    """Write what a person now says in place of an answer of their own; the answer stays, and so does the consensus.

    Raises:
        StoreError: `STORE_INVALID`: it is no amendment, is called blind, or replaces no answer of this person.
    """
    catch_up(connection, rules)
    row = _row_of(connection, answer)
    own = {digest for digest, one in all_answers(connection, answer.item) if one.who == answer.who}
    if answer.kind != "amendment" or answer.blind or answer.extra:
        raise refused("this is no amendment", "an amendment is of that kind, not blind, and not extra")
    if answer.replaces not in own:
        raise refused(f"{answer.who} gave no such answer to this item", "amend an answer of your own")
    return _write_one(connection, row, answer, rules)


def take_imported(
    connection: Connection, labels: Sequence[AnswerRecord], now: datetime, rules: Rules | None
) -> list[str]:
    """Write labels that were given elsewhere, all of them or none, and return their digests.

    A label counts as an answer if it is blind, its person has not answered the item, and a slot is free.

    Raises:
        StoreError: `STORE_INVALID`: one is about no item, or is not marked as imported.
    """
    catch_up(connection, rules)
    known: dict[str, _Known] = {}
    written_now = []
    for label in labels:
        if label.kind != "imported":
            raise refused(f"a label from elsewhere is no `{label.kind}`", "mark it as imported")
        row = _row_of(connection, label)
        if label.item not in known:
            known[label.item] = _Known(connection, row, milliseconds(now))
        written_now.append(known[label.item].place(label))
    packed = pack(written_now)
    insert_all(connection, packed, [])
    catch_up(connection, rules)
    return [one.digest for one in packed]


class _Known:
    """What an item has while labels are imported: its answers, and how many slots are free."""

    def __init__(self, connection: Connection, row: Row[Any], now: int) -> None:
        self.answers = [answer for _, answer in all_answers(connection, row.item)]
        self.free = 0
        if row.is_open and not row.is_adjudication:
            self.free = needed_of(row) - row.answered - held_by(connection, row.item, now)

    def place(self, label: AnswerRecord) -> AnswerRecord:
        """The label as it is written: as it was written before, or as extra where it can have no say."""
        both = (replace(label, extra=False), replace(label, extra=True))
        there = next((one for one in self.answers if one in both), None)
        if there is not None:
            return there
        late = any(one.who == label.who for one in self.answers) or (label.blind and self.free <= 0)
        placed = both[late]
        self.free -= counts(placed)
        self.answers.append(placed)
        return placed


def settle(connection: Connection, decide: Decide, now: datetime, rules: Rules | None) -> int:
    """Decide the items that have all their answers and no decision; how many there were.

    There are such items where labels were imported, or where fewer answers are asked for than before.
    """
    catch_up(connection, rules)
    undecided = select(queue).where(
        queue.c.is_open == 1, queue.c.is_adjudication == 0, queue.c.answered > 0, queue.c.answered >= queue.c.needed
    )
    records: list[Record] = []
    rows = connection.execute(undecided.order_by(queue.c.item)).all()
    for row in rows:
        heard = [one for _, one in all_answers(connection, row.item) if _is_heard(one)]
        records += _outcome(row, heard, decide, now)
    insert_all(connection, pack(records), [])
    catch_up(connection, rules)
    return len(rows)


def sign(connection: Connection, signoff: SignoffRecord, check: Check | None, rules: Rules | None) -> Logged:
    """Write a named person's decision on a CRITICAL item.

    Raises:
        StoreError: `STORE_INVALID`: the item is not CRITICAL, or no reason is given.
    """
    catch_up(connection, rules)
    row = _row_of(connection, signoff)
    if not row.is_critical:
        raise refused("this item is not CRITICAL: there is nothing to sign", "answer it: rightcall review next")
    if not signoff.reason.strip():
        raise refused("a sign-off needs a reason", "say why")
    if check is not None:
        check([answer for _, answer in all_answers(connection, signoff.item)])
    return _write_one(connection, row, signoff, rules)


def all_answers(connection: Connection, item: str) -> list[tuple[str, AnswerRecord]]:
    """Everything that was said about an item, with its digest, oldest first."""
    rows = connection.execute(stored(answers, item=item).order_by(answers.c.seq))
    return [(row.digest, unpack(AnswerRecord, row.codec, row.data)) for row in rows]


def newest_consensus(connection: Connection, item: str) -> ConsensusRecord | None:
    """What the answers to an item come to, as of now."""
    row = connection.execute(stored(consensus, item=item).order_by(consensus.c.seq.desc()).limit(1)).first()
    return None if row is None else unpack(ConsensusRecord, row.codec, row.data)


# ---- within ----


def _is_heard(answer: AnswerRecord) -> bool:
    """Whether an answer has a say: those that count, and the decisions of third people."""
    return counts(answer) or (answer.kind == "adjudication" and not answer.extra)


def _is_late(connection: Connection, row: Row[Any], answer: AnswerRecord, now: int) -> bool:
    """Whether an answer comes too late to count."""
    if answer.kind == "adjudication" and not row.is_adjudication and not _was_reopened(connection, row.item):
        raise refused("this item asks for no adjudication", "answer it as everybody does")
    if bool(row.is_adjudication) != (answer.kind == "adjudication") or not row.is_open:
        return True
    # Whoever holds the item was promised a slot; only an item that lost one meanwhile breaks that.
    promised = row.is_adjudication or row.answered < needed_of(row)
    return not (
        is_free(connection, row.item, answer.who, now)
        or (promised and is_held(connection, row.item, answer.who, now))
    )  # fmt: skip


def _was_reopened(connection: Connection, item: str) -> bool:
    acts = review_events.c.act.in_(("disagreement", "returned"))
    return connection.execute(select(review_events.c.seq).where(review_events.c.item == item, acts)).first() is not None


def _outcome(row: Row[Any], heard: list[AnswerRecord], decide: Decide, now: datetime) -> Iterable[Record]:
    """The record of what complete answers come to."""
    last, moment = heard[-1], milliseconds(now)
    decision = decide(heard)
    if decision.state == "agreed":
        yield _consensus(heard, decision, written(moment))
    elif not row.is_adjudication:
        # What settles nothing (nobody could judge it, say) needs a third person just as well.
        why = ", ".join(decision.differing) if decision.state == "differ" else _UNSETTLED
        yield event(row, last.who, moment, "disagreement", reason=why, client=last.client)


def _consensus(heard: list[AnswerRecord], decision: Decision, at: str) -> ConsensusRecord:
    last, rests_on = heard[-1], set(decision.answers)
    return ConsensusRecord(
        item=last.item, run_id=last.run_id, grader=last.grader, unit=last.unit, at=at, how=decision.how,
        fields=dict(decision.fields), reason=decision.reason,
        answers=tuple(digest for digest in map(digest_of, heard) if digest in rests_on),
    )  # fmt: skip


def _answered(connection: Connection, item: str, digest: str) -> Answered:
    row = one_row(connection, item)
    said = dict(all_answers(connection, item))[digest]
    found = newest_consensus(connection, item)
    brought = found if found is not None and found.answers[-1:] == (digest,) else None
    entry = _entry(connection, answers, digest)
    return Answered(
        digest=digest, seq=entry.seq, hash=entry.hash, extra=said.extra, consensus=brought,
        adjudicate=bool(row.is_adjudication), needed=needed_of(row), answered=row.answered,
    )  # fmt: skip


def _write_one(
    connection: Connection, row: Row[Any], record: AnswerRecord | SignoffRecord, rules: Rules | None
) -> Logged:
    insert_all(connection, pack([record]), [])
    refresh(connection, row, rules)
    return _entry(connection, signoffs if isinstance(record, SignoffRecord) else answers, digest_of(record))


def _entry(connection: Connection, table: Table, digest: str) -> Logged:
    query = select(log.c.digest, log.c.seq, log.c.hash).join(table, table.c.seq == log.c.seq)
    return Logged(*connection.execute(query.where(table.c.digest == digest)).one())


def _row_of(connection: Connection, record: AnswerRecord | SignoffRecord) -> Row[Any]:
    """The item that a record is about; the record must name the item's own run, grader and unit."""
    row = one_row(connection, record.item)
    about = json.loads(row.about)
    for name in ("run_id", "grader", "unit"):
        if getattr(record, name) != about[name]:
            raise refused(f"the item is about another {name}: `{about[name]}`", "take run, grader and unit from it")
    named(record.who)
    return row

"""The review queue: who may answer what, now; claims, answers, amendments, sign-offs, and the history of an item.

Everything that is written goes through the store's one write lock, so of two people who want the same item one comes
first. See `rightcall.store.waiting` for the values, and docs/design/review-queue.md for why it is as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy import Connection, Select, Table, select  # noqa: TID253 - this module is loaded with the queue

from rightcall.store import answering, claims, listing, projection
from rightcall.store.inserting import chunks, head
from rightcall.store.packing import unpack
from rightcall.store.reading import fetching, stored, stream
from rightcall.store.records import (
    AnswerRecord,
    ConsensusRecord,
    Record,
    ReviewAct,
    ReviewEvent,
    ReviewRecord,
    SignoffRecord,
    VerdictRecord,
)
from rightcall.store.tables import PROJECTION, answers, consensus, queue, review_events, reviews, signoffs, verdicts
from rightcall.store.waiting import (
    ANY,
    Answered,
    Claim,
    Decide,
    Logged,
    Only,
    QueueItem,
    Rules,
    State,
    milliseconds,
    named,
    prefix_of,
    refused,
)

if TYPE_CHECKING:
    from rightcall.store.database import Database

__all__ = ["Answered", "Claim", "Logged", "Only", "Queue", "QueueItem", "Rules", "State"]

R = TypeVar("R", bound=Record)

_WHOLE_ID = 67


class Queue:
    """The review queue of an open store: `Store.queue`.

    Without rules (see `sync`) each item needs one answer, and none is more urgent than another.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._rules: Rules | None = None

    # ---- keeping up ----

    def sync(
        self, rank: Callable[[Sequence[ReviewRecord]], int] | None = None,
        needed: Callable[[Sequence[ReviewRecord]], int] | None = None,
    ) -> None:  # fmt: skip
        """Bring the queue up to the end of the log; every other method does that by itself.

        Args:
            rank: how urgent an item is, 0 first; from now on, and for every item that is still open.
            needed: how many different people must answer an item; the same.

        Both get records of which only reasons, severities and grader mean anything: see `Rules`.

        Raises:
            StoreError: `STORE_LOCKED`, `STORE_FULL`, `STORE_UNREACHABLE`; so do all that write.
        """
        if rank is not None and needed is not None:
            rules = self._rules = Rules(rank, needed)
            self._catch_up()
            if self._database.read(lambda connection: projection.disagrees(connection, rules)):
                self._database.project(PROJECTION, lambda connection: projection.apply_rules(connection, rules))
        else:
            self._catch_up()

    def rebuild(self) -> None:
        """Throw away what is projected from the log, and make it again. The log itself is not touched."""
        self._database.write(lambda connection: projection.rebuild(connection, self._rules))

    # ---- claims ----

    def claim(
        self, who: str, *, now: datetime, lease: float, client: str = "", only: Only = ANY,
        adjudicates: bool = False, reviews: bool = True,
    ) -> Claim | None:  # fmt: skip
        """Take the most urgent item that a person may answer; what the person holds already comes first.

        Nobody gets an item that they have said something about. What they have skipped comes last.

        Args:
            who: the person's name.
            now: this moment.
            lease: for how many seconds the item is theirs.
            client: where they sit (`terminal`, `web` …).
            only: which items are wanted.
            adjudicates: whether they may decide between answers that differ.
            reviews: whether they may answer what nobody else has decided.

        Returns:
            The claim; `None` where nothing is left for this person.

        Raises:
            ConfigError: a name that cannot be one, or a moment without a zone.
        """
        asked = claims.Asked(
            who=named(who), now=now, lease=lease, client=client, only=only, reviews=reviews, adjudicates=adjudicates
        )
        return self._database.write(lambda connection: claims.take(connection, asked, self._rules))

    def renew(self, item: str, who: str, now: datetime, lease: float) -> str:
        """Hold an item for `lease` more seconds from now; until when (ISO 8601, UTC).

        Where that would gain less than a quarter of the lease, the claim stays as it is.

        Raises:
            StoreError: `STORE_CONFLICT`: the person does not hold it (asked first), or it has lapsed and was taken.
        """
        full = self._id(item)
        return self._database.write(lambda it: claims.renew(it, full, who, now, lease, self._rules))

    def release(
        self, item: str, who: str, now: datetime, reason: str = "", act: str = "released", client: str = ""
    ) -> None:
        """Let go of an item.

        Args:
            item: its id.
            who: the person's name.
            now: this moment.
            reason: why, in words.
            act: `released` (anybody may take it), `skipped` (the same, and it comes last for this person; with a
                reason), or `returned` (a signer wants one more answer, which decides; with a reason).
            client: where they sit.

        Raises:
            StoreError: `STORE_CONFLICT`: the person does not hold it; for `returned`: it waits for no sign-off.
        """
        full = self._id(item)
        if act not in ("released", "skipped", "returned"):
            raise refused(f"`{act}` is no way to let go of an item", "it is released, skipped or returned")
        if act != "released" and not reason.strip():
            raise refused(f"why is the item {act}?", "give a reason")
        if act == "returned":
            self._database.write(lambda it: claims.send_back(it, full, named(who), now, reason, client, self._rules))
            return
        kind: ReviewAct = "released" if act == "released" else "skipped"
        self._database.write(lambda it: claims.give_back(it, full, who, now, reason, kind, client, self._rules))

    # ---- what people say ----

    def answer(self, answer: AnswerRecord, decide: Decide, now: datetime) -> Answered:
        """Record a person's answer, and what all answers come to if it was the last that was missing.

        It is recorded as extra, whatever `extra` says, if every slot is taken: all answers are there, or others are
        about to give the rest. An item that waits for a third person wants an answer of the kind `adjudication`.
        Recording the same answer twice is harmless.

        Args:
            answer: the record; its `item` is a full id.
            decide: what the answers that have a say come to, oldest first; it gets all of them, the new one last.
            now: this moment.

        Raises:
            StoreError: `STORE_CONFLICT`: this person has given another answer; `STORE_INVALID`: there is no such item,
                it is about something else, or nobody asked for an adjudication.
        """
        return self._database.write(
            lambda connection: answering.take_answer(connection, answer, decide, now, self._rules)
        )

    def amend(self, answer: AnswerRecord) -> Logged:
        """Record a later change of one's own answer: kind `amendment`, not blind, `replaces` the answer's digest.

        Raises:
            StoreError: `STORE_INVALID`: it is none, or there is no such answer of this person.
        """
        return self._database.write(lambda connection: answering.amend(connection, answer, self._rules))

    def imported(self, labels: Sequence[AnswerRecord], now: datetime | None = None) -> list[str]:
        """Record labels that were given elsewhere (kind `imported`), all or none; harmless twice.

        A label counts towards the answers that are needed if it is blind, its person has not answered the item, and a
        slot is free; `settle` then decides.

        Args:
            labels: the records; `extra` is set here.
            now: this moment, which says whose claims still hold.

        Returns:
            Their digests, in order.

        Raises:
            StoreError: `STORE_INVALID`: one is about no item, or of another kind.
        """
        moment = datetime.now(UTC) if now is None else now
        return self._database.write(lambda connection: answering.take_imported(connection, labels, moment, self._rules))

    def settle(self, decide: Decide, now: datetime) -> int:
        """Decide what has all its answers and no decision (after an import, or after changed rules); how many."""
        return self._database.write(lambda connection: answering.settle(connection, decide, now, self._rules))

    def sign(self, signoff: SignoffRecord, check: answering.Check | None = None) -> Logged:
        """Record a sign-off of a CRITICAL item; the newest one stands.

        Args:
            signoff: the record.
            check: gets everything that was said about the item, under the write lock, and raises if this person must
                not sign it.

        Raises:
            StoreError: `STORE_INVALID`: the item is not CRITICAL, or no reason is given.
        """
        return self._database.write(lambda connection: answering.sign(connection, signoff, check, self._rules))

    # ---- looking ----

    def item(self, prefix: str, now: datetime | None = None) -> QueueItem:
        """One item, by its id or the beginning of it (4 or more digits, with or without `rv-`).

        Raises:
            StoreError: `STORE_INVALID`: there is none, or several.
        """
        self._catch_up()
        least = prefix_of(prefix)
        query = select(queue).where(queue.c.item >= least, queue.c.item < f"{least}g").order_by(queue.c.item).limit(2)
        rows = self._database.read(fetching(query))
        if len(rows) != 1:
            raise refused(
                f"{'several review items begin with' if rows else 'there is no review item'} `{prefix}`",
                "give more digits" if rows else "rightcall review list names them",
            )
        return listing.shown(self._database, rows, _moment(now))[0]

    def items(
        self, only: Only = ANY, state: State | None = None, who: str | None = None, now: datetime | None = None
    ) -> list[QueueItem]:
        """The items, most urgent first (what has waited for a day counts as one step more urgent), then by id.

        What waited for a verdict, got one, and was never answered, is not among them.

        Args:
            only: which items.
            state: in which state.
            who: held by this person.
            now: this moment.
        """
        self._catch_up()
        moment = _moment(now)
        rows = self._database.read(fetching(listing.wanted(only)))
        found = [one for some in chunks(rows) for one in listing.shown(self._database, some, moment)]
        created = {row.item: row.created for row in rows}
        found.sort(key=lambda one: (one.rank - max(0, moment - created[one.item]) // claims.DAY, one.item))
        return [
            one for one in found if (state is None or one.state == state) and (who is None or who in dict(one.holders))
        ]

    def history(self, item: str) -> list[tuple[int, Record]]:
        """Everything that was recorded about an item, as (number of the log entry, record), oldest first."""
        full = self.item(item).item
        row = self._database.read(lambda it: claims.one_row(it, full))
        unit = {"run_id": row.run_id, "unit": row.unit, "grader": row.grader}
        found: list[tuple[int, Record]] = []
        found += ((seq, one) for seq, _, one in self._records(ReviewRecord, stored(reviews, **unit), reviews))
        found += ((seq, one) for seq, _, one in self.answers(item=full))
        found += ((seq, one) for seq, _, one in self.signoffs(item=full))
        found += ((seq, one) for seq, _, one in self.events(item=full))
        found += ((seq, one) for seq, _, one in self._records(ConsensusRecord, stored(consensus, item=full), consensus))
        return sorted(found, key=lambda pair: pair[0])

    def verdict(self, item: str) -> tuple[int, str, VerdictRecord] | None:
        """The current verdict of an item's unit, as (number of the log entry, digest, record); `None` without one."""
        full = self.item(item).item
        row = self._database.read(lambda it: claims.one_row(it, full))
        query = stored(verdicts, run_id=row.run_id, unit=row.unit, grader=row.grader)
        newest = query.order_by(verdicts.c.revision.desc()).limit(1)
        found = self._database.read(lambda it: it.execute(newest).first())
        return None if found is None else (found.seq, found.digest, unpack(VerdictRecord, found.codec, found.data))

    def answers(
        self, *, item: str | None = None, run_id: str | None = None, who: str | None = None
    ) -> Iterator[tuple[int, str, AnswerRecord]]:
        """Answers of every kind, as (number of the log entry, digest, record), oldest first; `item` is a full id."""
        return self._records(AnswerRecord, stored(answers, item=item, run_id=run_id, who=who), answers)

    def consensus(self, item: str) -> ConsensusRecord | None:
        """What the answers to an item come to; `None` while they are incomplete, differ, or a third person decides."""
        full = self.item(item)
        if full.adjudicates:
            return None
        return self._database.read(lambda connection: answering.newest_consensus(connection, full.item))

    def signoffs(
        self, *, item: str | None = None, run_id: str | None = None
    ) -> Iterator[tuple[int, str, SignoffRecord]]:
        """Sign-offs, as (number of the log entry, digest, record), oldest first; `item` is a full id."""
        return self._records(SignoffRecord, stored(signoffs, item=item, run_id=run_id), signoffs)

    def events(self, *, item: str | None = None, run_id: str | None = None) -> Iterator[tuple[int, str, ReviewEvent]]:
        """Who claimed, released, skipped or returned what, and which answers differed; as `answers`."""
        return self._records(ReviewEvent, stored(review_events, item=item, run_id=run_id), review_events)

    def criticals(
        self, run_id: str | None = None, traces: Collection[str] | None = None
    ) -> list[tuple[QueueItem, SignoffRecord | None]]:
        """The CRITICAL items, each with the sign-off that stands, if there is one.

        Args:
            run_id: of this run only.
            traces: only those whose current verdict is about one of these traces (names of bodies).
        """
        self._catch_up()
        query = listing.wanted(Only(run_id=run_id)).where(queue.c.is_critical == 1).order_by(queue.c.item)
        rows = self._database.read(fetching(query))
        found = [one for some in chunks(rows) for one in listing.shown(self._database, some, _moment(None))]
        if traces is not None:
            found = [one for one in found if self._is_about(one.item, traces)]
        return [(one, self._standing(one.item)) for one in found]

    # ---- within ----

    def _is_about(self, item: str, traces: Collection[str]) -> bool:
        found = self.verdict(item)
        return found is not None and (found[2].trace in traces or found[2].trace_b in traces)

    def _standing(self, item: str) -> SignoffRecord | None:
        newest = None
        for _, _, newest in self.signoffs(item=item):  # noqa: B007 - the last one stands
            pass
        return newest

    def _id(self, item: str) -> str:
        """The full id of an item that may be given by its beginning."""
        return item if len(item) == _WHOLE_ID else self.item(item).item

    def _catch_up(self) -> None:
        """Take the lock only where there is something to do."""
        rules = self._rules

        def is_behind(connection: Connection) -> bool:
            if projection.upto(connection) != head(connection).seq:
                return True
            return rules is not None and projection.has_unruled(connection)

        if self._database.read(is_behind):
            self._database.project(PROJECTION, lambda connection: projection.catch_up(connection, rules))

    def _records(self, kind: type[R], query: Select[Any], table: Table) -> Iterator[tuple[int, str, R]]:
        for row in stream(self._database, query, table.c.seq):
            yield row.seq, row.digest, unpack(kind, row.codec, row.data)


def _moment(now: datetime | None) -> int:
    return milliseconds(datetime.now(UTC) if now is None else now)

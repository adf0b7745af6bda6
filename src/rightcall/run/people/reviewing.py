"""A person at work on the review queue: taking items, answering blind, seeing afterwards, amending, signing.

The store keeps the queue, the pure room `review` says what may be seen and what answers come to, and the `Desk` of one
person joins the two. What it hands out before an answer is committed is a blind view and nothing else (`Opened`); what
the judge said comes with the receipt of the answer (`Revealed`). An answer belongs to the verdict that stood when its
author took the item, and no later run or revision moves it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from rightcall.errors import ConfigError
from rightcall.review import urgency
from rightcall.review.blind import for_adjudication
from rightcall.review.consensus import counted, decide, differing
from rightcall.review.form import with_texts
from rightcall.review.forms import FORMS, check_answer, form_of, stored_form
from rightcall.review.roles import may, require
from rightcall.review.sides import by_agent, cited_by_agent, sides_of
from rightcall.run.people.blinding import stood_at, suite_of, unit_of, verdict_at, view_of
from rightcall.run.people.labels import import_labels, settle
from rightcall.run.people.revealing import Opened, Revealed, revealed
from rightcall.run.people.shown import has_seen, taken_at, was_shown_answers
from rightcall.run.people.signing import Signed, ToSign, sign_item, to_sign
from rightcall.run.people.stats import stats_of, why_empty
from rightcall.run.results.facts import facts_for
from rightcall.settings.model import ReviewTable
from rightcall.store.records import AnswerRecord, ReviewEvent
from rightcall.store.waiting import ANY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import Literal

    from rightcall.review.blind import BlindItem
    from rightcall.review.consensus import Decision
    from rightcall.review.form import Form
    from rightcall.run.people.blinding import Suite
    from rightcall.run.people.labels import Imported
    from rightcall.run.people.stats import Empty, Stats
    from rightcall.settings.load import Loaded
    from rightcall.store.records import AnswerKind, Record, VerdictRecord
    from rightcall.store.store import Store
    from rightcall.store.waiting import Only, QueueItem


def _utc() -> datetime:
    return datetime.now(UTC)


@dataclass
class Desk:
    """The review queue as one person sees it.

    Attributes:
        store: the record.
        who: the person, under the name that stands on record.
        rules: who may do what, how many answers an item needs, how long a claim is held.
        suite: the catalog of the settings, for traces without their own.
        client: where the person sits, for the record.
        clock: this moment.
        hide: takes out of a person's words what must not be kept.
    """

    store: Store
    who: str
    rules: ReviewTable = field(default_factory=ReviewTable)
    suite: Suite | None = None
    client: str = "terminal"
    clock: Callable[[], datetime] = _utc
    hide: Callable[[str], str] = str

    def __post_init__(self) -> None:
        """Tell the queue what is urgent and how many answers are needed; decide what has them by now."""
        answers, critical = self.rules.answers, self.rules.answers_critical
        if min(answers, critical) < 0 or self.rules.lease_minutes <= 0:
            raise ConfigError(
                "a number of answers is 0 or more, and a lease longer than nothing", hint="correct [review]"
            )
        self._forms: dict[str, Form] = {}
        needed = partial(urgency.needed, answers=answers, answers_critical=critical)
        self.store.queue.sync(urgency.rank, needed)

    @property
    def people(self) -> Mapping[str, Sequence[str]]:
        """Who may do what; empty: everybody everything."""
        return self.rules.people

    # ---- taking ----

    def next(self, only: Only = ANY) -> Opened | None:
        """Take the most urgent item that this person may answer; what is held already comes first.

        Raises:
            ConfigError: the person may neither answer nor decide between answers.
        """
        reviews, adjudicates = may(self.who, "reviewer", self.people), may(self.who, "adjudicator", self.people)
        if not (reviews or adjudicates):
            require(self.who, "reviewer", self.people)
        claim = self.store.queue.claim(
            self.who, now=self.clock(), lease=self._lease, client=self.client, only=only, adjudicates=adjudicates,
            reviews=reviews,
        )  # fmt: skip
        if claim is None:
            # Fewer answers may be needed than when they were given.
            settle(self.store, self.form, self.clock())
            return None
        return self._opened(self._item(claim.item))

    def open(self, item: str) -> Opened:
        """An item as this person would see it to answer, without taking it.

        Raises:
            StoreError: there is no such item, or several.
        """
        return self._opened(self._item(item))

    def renew(self, item: str) -> str:
        """Hold an item for longer; until when.

        Raises:
            StoreError: the person does not hold it.
        """
        return self.store.queue.renew(item, self.who, self.clock(), self._lease)

    def release(self, item: str, reason: str = "") -> None:
        """Let go of an item: anybody may take it.

        Raises:
            StoreError: the person does not hold it.
        """
        self.store.queue.release(item, self.who, self.clock(), self.hide(reason), "released", self.client)

    def skip(self, item: str, reason: str) -> None:
        """Let go of an item and get it last from now on.

        Raises:
            StoreError: the person does not hold it, or gives no reason.
        """
        self.store.queue.release(item, self.who, self.clock(), self.hide(reason), "skipped", self.client)

    # ---- answering ----

    def answer(
        self, item: str, fields: Mapping[str, Any], *, note: str = "", evidence: Sequence[str] = (),
        unsure: str | None = None, seconds: float | None = None,
    ) -> Revealed:  # fmt: skip
        """Commit an answer; only then is anything else about the item shown.

        Args:
            item: the item, by its id or the beginning of it.
            fields: the answer by field of the form; of a pair by this person's sides.
            note: the person's words.
            evidence: what they point at: call ids, JSON paths.
            unsure: why this cannot be judged; then there are no fields.
            seconds: how long it took.

        Raises:
            ConfigError: the answer is not complete, or the person may not give it. StoreError: the person has
                answered already. Nothing was recorded.
        """
        found = self._item(item)
        decides = found.adjudicates and was_shown_answers(self.store, found.item, self.who)
        kind: AnswerKind = "adjudication" if decides else "answer"
        require(self.who, "adjudicator" if decides else "reviewer", self.people)
        form = self.form(found)
        record = self._record(found, form, kind, fields, note, evidence, unsure, seconds)
        answered = self.store.queue.answer(record, self._decide(form), self.clock())
        return self._revealed(answered.digest, self._item(found.item), (answered.seq, answered.hash))

    def amend(
        self, item: str, fields: Mapping[str, Any], *, note: str, evidence: Sequence[str] = (),
        unsure: str | None = None,
    ) -> Revealed:  # fmt: skip
        """Say something else than before. The first answer stays, and is what calibration and the consensus use.

        Args:
            item: the item.
            fields: the whole answer anew.
            note: why it is changed.
            evidence: as for an answer.
            unsure: as for an answer.

        Raises:
            ConfigError: no reason is given, or the answer is not complete. StoreError: there is nothing to amend.
        """
        found = self._item(item)
        before = self._own_answers(found.item)
        if not before:
            raise ConfigError(f"{self.who} has not answered this item", hint="answer it: rightcall review answer")
        if not note.strip():
            raise ConfigError("it is not said why the answer is changed", hint="give a note")
        form = self.form(found)
        record = self._record(found, form, "amendment", fields, note, evidence, unsure, None)
        last_digest, last = before[-1]
        logged = self.store.queue.amend(replace(record, replaces=last_digest, verdict=last.verdict))
        return self._revealed(logged.digest, found, (logged.seq, logged.hash))

    def reveal(self, item: str) -> Revealed:
        """What this person may see of an item that they have answered.

        Raises:
            ConfigError: they have not: it stays blind.
        """
        found = self._item(item)
        before = self._own_answers(found.item)
        if not before:
            raise ConfigError(
                f"{self.who} has not answered this item, so it stays blind", hint="answer it: rightcall review next"
            )
        return self._revealed(before[-1][0], found, None)

    def has_answered(self, item: str) -> bool:
        """Whether this person has answered an item, so that nothing of it needs to be hidden from them."""
        return bool(self._own_answers(self._item(item).item))

    def history(self, item: str) -> list[tuple[int, Record]]:
        """Everything that was recorded about an item, with its log entries.

        This is not blind: to somebody who has not answered, only who did what and when may be shown of it.
        """
        return self.store.queue.history(item)

    def form(self, item: QueueItem) -> Form:
        """The form of an item: that of its grader, or for a grader of the user's own that of its run's schema."""
        if item.grader in FORMS:
            return FORMS[item.grader]
        return self._own_form(item.run_id, item.grader)

    # ---- signing ----

    def to_sign(self, item: str) -> ToSign:
        """Everything about a CRITICAL item that a signer must see. This is not blind, and is noted as such.

        Raises:
            ConfigError: the person may not sign, or the item is not CRITICAL.
        """
        require(self.who, "signer", self.people)
        found = self._item(item)
        if not found.is_critical:
            raise ConfigError("this item is not CRITICAL: there is nothing to sign")
        verdict = verdict_at(self.store, unit_of(found))
        view = view_of(self.store, unit_of(found), verdict, self.who, self.form(found), self.suite)
        self._note_seen(found)
        return to_sign(self.store, found, verdict, view)

    def sign(self, item: str, outcome: Literal["confirmed", "dismissed"], reason: str, typed: str) -> Signed:
        """Decide on a CRITICAL item.

        Args:
            item: the item.
            outcome: `confirmed`: the misuse stands; `dismissed`: the severity is withdrawn.
            reason: why, in at least 15 characters.
            typed: the trace's id, or the unit where there is no trace, to show that the case was read.

        Raises:
            ConfigError: the reason or what was typed will not do, or this person may not sign (this item).
            StoreError: the item is not CRITICAL. Nothing was signed.
        """
        return sign_item(
            self.store, self._item(item), self.who, self.people, outcome, self.hide(reason), typed, at=self._now(),
            client=self.client,
        )  # fmt: skip

    def send_back(self, item: str, reason: str) -> None:
        """Ask for one more answer to an item that waits for its sign-off; that answer decides.

        Raises:
            ConfigError: the person may not sign. StoreError: it waits for no sign-off, or no reason is given.
        """
        require(self.who, "signer", self.people)
        self.store.queue.release(item, self.who, self.clock(), self.hide(reason), "returned", self.client)

    # ---- the queue as a whole ----

    def empty_reason(self, only: Only = ANY) -> Empty:
        """Why there is nothing to take: nothing waits, others must answer or hold it, or it was not asked for."""
        return why_empty(self.store.queue.items(now=self.clock()), self.who, self.people, only)

    def stats(self) -> Stats:
        """What waits, what was done by whom, and how far people agree with each other."""
        return stats_of(self.store, self.clock(), self.form)

    def import_labels(self, path: Path) -> Imported:
        """Take answers that were given elsewhere: all of a file, or nothing of it (see `rightcall.run.people.labels`).

        Raises:
            ConfigError: `LabelsRefused`, with every row that cannot be taken.
        """
        return import_labels(self.store, path, self.form, self.clock(), self.hide)

    # ---- within ----

    @property
    def _lease(self) -> float:
        return self.rules.lease_minutes * 60

    def _now(self) -> str:
        return self.clock().astimezone(UTC).isoformat(timespec="milliseconds")

    def _item(self, item: str) -> QueueItem:
        return self.store.queue.item(item, self.clock())

    def _own_form(self, run_id: str, grader: str) -> Form:
        if run_id not in self._forms:
            schema = facts_for(self.store.run(run_id), grader).get("reply_schema")
            self._forms[run_id] = form_of(grader, schema if isinstance(schema, dict) else None)
        return self._forms[run_id]

    def _decide(self, form: Form) -> Callable[[list[AnswerRecord]], Decision]:
        """What the answers to an item come to. The queue asks only when none is missing."""
        return lambda heard: decide(form.grader, heard, 1, form)

    def _opened(self, item: QueueItem) -> Opened:
        form, stood = self.form(item), self._verdict(item)
        verdict = None if stood is None else stood[1]
        view: BlindItem = view_of(self.store, unit_of(item), verdict, self.who, form, self.suite)
        adjudicates = item.adjudicates and was_shown_answers(self.store, item.item, self.who)
        if adjudicates:
            given = counted([one for _, _, one in self.store.queue.answers(item=item.item)])
            sides = sides_of(item.item, self.who) if item.grader == "preference" else None
            view = for_adjudication(view, given, differing(stored_form(form), given), sides)
        return Opened(
            item=item.item, grader=item.grader, form=form, view=view, until=dict(item.holders).get(self.who),
            created_at=item.created_at, needed=item.needed, answered=item.answered, adjudicates=adjudicates,
        )  # fmt: skip

    def _verdict(self, item: QueueItem) -> tuple[str, VerdictRecord] | None:
        """The verdict that stood when this person took the item; the current one where it was not taken."""
        return stood_at(self.store, unit_of(item), taken_at(self.store, item.item, self.who))

    def _record(
        self, item: QueueItem, form: Form, kind: AnswerKind, fields: Mapping[str, Any], note: str,
        evidence: Sequence[str], unsure: str | None, seconds: float | None,
    ) -> AnswerRecord:  # fmt: skip
        checked = check_answer(form, fields, unsure=unsure, note=note)
        if any(not one.strip() for one in evidence):
            raise ConfigError("a piece of evidence is empty", hint="give call ids such as c2, or JSON paths")
        checked = with_texts(form, checked, self.hide)
        sides = sides_of(item.item, self.who) if item.grader == "preference" else None
        verdict = self._verdict(item)
        return AnswerRecord(
            item=item.item, run_id=item.run_id, grader=item.grader, unit=item.unit, who=self.who, at=self._now(),
            kind=kind, blind=kind == "answer" and not has_seen(self.store, item.item, self.who),
            fields=checked if sides is None else by_agent(checked, sides),
            unsure=None if unsure is None else self.hide(unsure), note=self.hide(note),
            evidence=tuple(map(self.hide, evidence if sides is None else cited_by_agent(evidence, sides))),
            verdict=None if verdict is None else verdict[0],
            seed=None if sides is None else sides.seed, seconds=seconds, probability=item.probability,
            reasons=item.reasons, client=self.client, case_id=item.case_id, trace_id=item.trace_id,
            step_id=item.step_id,
        )  # fmt: skip

    def _note_seen(self, item: QueueItem) -> None:
        """Put down that this person was shown more than a blind view before any answer of theirs; once is enough."""
        if not self._own_answers(item.item) and not has_seen(self.store, item.item, self.who):
            event = ReviewEvent(
                item=item.item, run_id=item.run_id, act="seen", who=self.who, at=self._now(), client=self.client
            )
            self.store.write([event])

    def _own_answers(self, item: str) -> list[tuple[str, AnswerRecord]]:
        return [(digest, one) for _, digest, one in self.store.queue.answers(item=item) if one.who == self.who]

    def _revealed(self, digest: str, item: QueueItem, entry: tuple[int, str] | None) -> Revealed:
        return revealed(self.store, item, self.form(item), digest, entry)


def desk_of(loaded: Loaded, store: Store, who: str, client: str = "terminal") -> Desk:
    """The desk of one person under the project's settings.

    Raises:
        ConfigError: settings or a catalog that cannot be used.
    """
    from rightcall.run.inputs.opening import redactor_of

    return Desk(store, who, loaded.settings.review, suite_of(loaded), client, hide=redactor_of(loaded).text)

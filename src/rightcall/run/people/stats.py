"""The review queue as a whole: what waits, why there is nothing to take, who did how much, and how far people agree.

People are compared with each other where two of them answered the same item blind: the first two answers that count.
That figure is the ceiling for every judge, so it stands beside each figure of a judge's agreement with people.
"""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from rightcall.review.consensus import agree, counted
from rightcall.review.forms import stored_form
from rightcall.review.roles import may
from rightcall.stats.intervals import Estimate, wilson

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from rightcall.review.form import Form, FormField
    from rightcall.store.records import AnswerRecord
    from rightcall.store.store import Store
    from rightcall.store.waiting import Only, QueueItem

_OPEN = ("waiting", "held", "adjudication")


class Empty(Struct, frozen=True, kw_only=True):
    """Why there is nothing to take.

    Attributes:
        kind: `held` (others hold all of it), `filtered` (there is something, but not what was asked for), `others`
            (it waits for different people), `empty` (nothing waits).
        words: the same in a sentence. n: how many items it speaks of.
        until: when the earliest claim ends (ISO 8601, UTC), for `held`.
    """

    kind: Literal["held", "filtered", "others", "empty"]
    words: str
    n: int = 0
    until: str | None = None


class PersonStats(Struct, frozen=True, kw_only=True):
    """What one person did: answers, decisions between answers, amendments, imported labels; seconds for an answer."""

    who: str
    answers: int
    adjudications: int
    amendments: int
    imported: int
    median_seconds: float | None
    last_at: str


class FieldAgreement(Struct, frozen=True, kw_only=True):
    """How far two people agree on one field.

    `exact` is the share of equal pairs, `within` of those that differ by no more than the form allows, `kappa` Cohen's
    (quadratic weights on a scale).
    """

    grader: str
    field: str
    exact: Estimate
    within: Estimate
    kappa: Estimate


class Stats(Struct, frozen=True, kw_only=True):
    """The queue as a whole.

    Attributes:
        states: how many items are `waiting`, `held`, in `adjudication`, wait for a `signoff`, or are `done`.
        reasons: of those that are not done, how many have each reason.
        oldest: since when the oldest of them waits; `None` for none.
        people: who did what, most answers first.
        agreement: between people, by grader and field; only fields that two people have answered.
    """

    states: dict[str, int]
    reasons: dict[str, int]
    oldest: str | None
    people: tuple[PersonStats, ...]
    agreement: tuple[FieldAgreement, ...]


# ---- nothing to take ----


def why_empty(items: Sequence[QueueItem], who: str, people: Mapping[str, Sequence[str]], only: Only) -> Empty:
    """Why a person gets nothing.

    Args:
        items: the whole queue as it stands now.
        who: the person.
        people: who may do what.
        only: what was asked for.
    """
    waiting = [one for one in items if one.state in _OPEN]
    wanted = [one for one in waiting if _is_meant(one, only)]
    mine = [one for one in wanted if _is_for(one, who, people)]
    if mine:
        return _held(mine)
    elsewhere = sum(_is_for(one, who, people) for one in waiting if not _is_meant(one, only))
    if elsewhere:
        words = f"Your filter hides {_items(elsewhere)}"
        if wanted:
            words = f"{_for_others(wanted, who).words}; your filter hides {_items(elsewhere)}"
        return Empty(kind="filtered", words=words, n=elsewhere)
    if wanted:
        return _for_others(wanted, who)
    if items:
        return Empty(kind="empty", words="Queue is empty: everything that was put down for review is answered")
    return Empty(kind="empty", words="Queue is empty: no run has put anything down for review")


def _held(mine: Sequence[QueueItem]) -> Empty:
    holders = [(until, who) for one in mine for who, until in one.holders]
    if not holders:  # it was let go of this very moment
        return Empty(kind="held", words=f"{_items(len(mine))} came free just now: ask again", n=len(mine))
    names = ", ".join(sorted({who for _, who in holders}))
    until = min(holders)[0]
    words = f"{_items(len(mine))} {'is' if len(mine) == 1 else 'are'} held by {names}; the earliest is free at"
    return Empty(kind="held", words=f"{words} {until[11:16]} UTC", n=len(mine), until=until)


def _for_others(wanted: Sequence[QueueItem], who: str) -> Empty:
    between = sum(one.adjudicates for one in wanted)
    second = len(wanted) - between
    parts = []
    if second:
        whom = (
            "a second, different person" if any(who in one.answered_by for one in wanted) else "somebody who may answer"
        )
        parts.append(f"{_items(second)} {_wait(second)} for {whom}")
    if between:
        parts.append(f"{_items(between)} {_wait(between)} for somebody else to decide between answers")
    return Empty(kind="others", words=f"Nothing left for you: {' and '.join(parts)}", n=len(wanted))


def _items(number: int) -> str:
    return f"{number} item{'' if number == 1 else 's'}"


def _wait(number: int) -> str:
    return "waits" if number == 1 else "wait"


def _is_meant(item: QueueItem, only: Only) -> bool:
    return (
        only.run_id in (None, item.run_id)
        and only.grader in (None, item.grader)
        and (only.reason is None or only.reason in item.reasons)
        and (only.item is None or item.item.removeprefix("rv-").startswith(only.item.removeprefix("rv-")))
    )


def _is_for(item: QueueItem, who: str, people: Mapping[str, Sequence[str]]) -> bool:
    """Whether an item waits for what this person may give, whoever holds it now."""
    return who not in item.answered_by and may(who, "adjudicator" if item.adjudicates else "reviewer", people)


# ---- what was done ----


def stats_of(store: Store, now: datetime, form_of: Callable[[QueueItem], Form]) -> Stats:
    """The queue as a whole.

    Args:
        store: the record.
        now: this moment.
        form_of: the form of an item.
    """
    items = store.queue.items(now=now)
    answers = [one for _, _, one in store.queue.answers()]
    left = [one for one in items if one.state != "done"]
    return Stats(
        states=_counts(one.state for one in items),
        reasons=dict(Counter(reason for one in left for reason in one.reasons).most_common()),
        oldest=min((one.created_at for one in left), default=None), people=tuple(_people(answers)),
        agreement=tuple(_agreement(items, answers, form_of)),
    )  # fmt: skip


def _counts(states: Iterable[str]) -> dict[str, int]:
    return {**dict.fromkeys((*_OPEN, "signoff", "done"), 0), **Counter(states)}


def _people(answers: Sequence[AnswerRecord]) -> list[PersonStats]:
    by_person: dict[str, list[AnswerRecord]] = {}
    for one in answers:
        by_person.setdefault(one.who, []).append(one)
    found = []
    for who, given in by_person.items():
        kinds = Counter(one.kind for one in given)
        seconds = [one.seconds for one in given if one.seconds is not None and one.kind in ("answer", "adjudication")]
        found.append(
            PersonStats(
                who=who, answers=kinds["answer"], adjudications=kinds["adjudication"], amendments=kinds["amendment"],
                imported=kinds["imported"], median_seconds=median(seconds) if seconds else None,
                last_at=max(one.at for one in given),
            )
        )  # fmt: skip
    return sorted(found, key=lambda one: (-one.answers, one.who))


# ---- how far people agree ----


def _agreement(
    items: Sequence[QueueItem], answers: Sequence[AnswerRecord], form_of: Callable[[QueueItem], Form]
) -> Iterator[FieldAgreement]:
    """Pairs of blind answers of different people, by grader and field."""
    by_item: dict[str, list[AnswerRecord]] = {}
    for one in answers:
        if one.blind:
            by_item.setdefault(one.item, []).append(one)
    pairs: dict[tuple[str, str], list[tuple[Any, Any, str]]] = {}
    fields: dict[tuple[str, str], FormField] = {}
    for item in items:
        heard = counted(by_item.get(item.item, ()))[:2]
        if len(heard) < 2 or any(one.unsure is not None for one in heard):
            continue
        for field in stored_form(form_of(item)).fields:
            if field.kind != "text" and not field.many and all(field.name in one.fields for one in heard):
                key = (item.grader, field.name)
                fields[key] = field
                values = [one.fields[field.name] for one in heard]
                pairs.setdefault(key, []).append((values[0], values[1], item.case_id or item.trace_id or item.unit))
    for key, found in pairs.items():
        yield _field_agreement(key, fields[key], found)


def _field_agreement(key: tuple[str, str], field: FormField, pairs: list[tuple[Any, Any, str]]) -> FieldAgreement:
    equal = sum(left == right for left, right, _ in pairs)
    near = sum(agree(field, (left, right)) for left, right, _ in pairs) if field.tolerance is not None else equal
    return FieldAgreement(
        grader=key[0], field=key[1], exact=wilson(equal, len(pairs)), within=wilson(near, len(pairs)),
        kappa=_kappa(field, pairs),
    )  # fmt: skip


def _kappa(field: FormField, pairs: list[tuple[Any, Any, str]]) -> Estimate:
    """Cohen's kappa, clustered by case; *not at issue* has no place on a scale, so those pairs are left out there."""
    from rightcall.stats.agreement import kappa

    is_scale = field.kind == "level"
    kept = [one for one in pairs if not is_scale or None not in one[:2]]
    names = [field.choices.index(choice) for choice in field.choices if choice is not None or not is_scale]
    places = [(field.choices.index(left), field.choices.index(right)) for left, right, _ in kept]
    return kappa(
        places, weights="quadratic" if is_scale else None, labels=names, clusters=[case for _, _, case in kept],
        excluded=len(pairs) - len(kept),
    )  # fmt: skip

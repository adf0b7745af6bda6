"""People's labels as calibration counts them: blind, drawn at random, one an item, each with what a judge said.

What counts is decided answer by answer, and everything that does not is counted by its reason:

* `not blind`: given in sight of a verdict, a score or another answer. Amendments and decisions between answers are
  among them. A decision still settles which of two blind answers stands, where its author had seen no verdict.
* `extra`: it came when the item had all it needed.
* `cannot judge`: the person could not say.
* `not drawn`: the item was in the queue for a reason of its own, and was not drawn at random besides.

Of several people the item has one label: what they agree on by the form's tolerances (`review.consensus`). Where they
differ and nobody settled it, it has none.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from rightcall.review.consensus import counts, decide
from rightcall.review.forms import form_of, stored_form

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from rightcall.review.form import Form
    from rightcall.run.calibration.said import Said
    from rightcall.store.records import AnswerRecord
    from rightcall.store.waiting import QueueItem

DIFFER = "people differ"


class ItemLabel(Struct, frozen=True, kw_only=True):
    """What people said about one item.

    Attributes:
        item, run, grader, case: the item, and the case that it belongs to (its trace, or itself, without one).
        fields: what people agree on.
        differing: fields in which they do not.
        pairs: of each field, what the first two of them said; empty with one person.
        answers: digests of what it rests on. verdict: digest of the verdict that they were asked about.
        probability: how likely the item was to be drawn.
    """

    item: str
    run: str
    grader: str
    case: str
    fields: dict[str, Any]
    differing: tuple[str, ...]
    pairs: dict[str, tuple[Any, Any]]
    answers: tuple[str, ...]
    verdict: str | None
    probability: float


class Label(Struct, frozen=True, kw_only=True):
    """One field of one item, by people and by a judge.

    Attributes:
        item, run, case: where it belongs.
        human: people's value. judge: the judge's; meaningless where `unread` says why there is none.
        unread: why the judge gave no value.
        probability: how likely the item was to be drawn.
        confidence: what the judge stated; `None` where it stated nothing.
        destructive: whether a destructive tool is involved; `None` where that is not known.
        strata: name of a grouping -> the item's group.
        answers: digests of what people's value rests on.
    """

    item: str
    run: str
    case: str
    human: Any
    judge: Any
    unread: str | None
    probability: float
    confidence: float | None
    destructive: bool | None
    strata: dict[str, str]
    answers: tuple[str, ...]


@dataclass
class Answers:
    """What is on record about the items of one grader, and what of it does not count."""

    labels: list[ItemLabel] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)


def in_test(seed: int, case: str, share: float) -> bool:
    """Whether a case belongs to the test: by a hash, so that it stays there whatever else is labelled."""
    digest = blake2b(f"{seed} {case}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest) < share * 2**64


def case_of(item: QueueItem) -> str:
    """The unit of analysis: the case; without one the trace, or the item's own unit."""
    return item.case_id or item.trace_id or item.unit


def labels_of(
    items: Iterable[QueueItem], said: dict[str, list[tuple[str, AnswerRecord]]], form: Callable[[QueueItem], Form],
    has_seen: Callable[[str, str], bool],
) -> Answers:  # fmt: skip
    """The labels of items.

    Args:
        items: of one grader.
        said: item -> (digest, answer), oldest first.
        form: the form of an item.
        has_seen: whether a person was shown what the judge said about an item.
    """
    found = Answers()
    for item in items:
        heard = [one for one in said.get(item.item, ()) if _counts(item, one[1], found.left_out)]
        if heard:
            decided = [
                one for _, one in said[item.item]
                if one.kind == "adjudication" and not one.extra and not has_seen(item.item, one.who)
            ]  # fmt: skip
            found.labels.append(_label(item, heard, decided, form(item)))
    found.labels.sort(key=lambda one: one.item)
    return found


def _counts(item: QueueItem, answer: AnswerRecord, left_out: Counter[str]) -> bool:
    reason = None
    if answer.extra:
        reason = "extra"
    elif not answer.blind or not counts(answer):
        reason = "not blind"
    elif answer.unsure is not None:
        reason = "cannot judge"
    elif item.drawn is None:
        reason = "not drawn"
    if reason is not None:
        left_out[reason] += 1
    return reason is None


def _label(
    item: QueueItem, heard: Sequence[tuple[str, AnswerRecord]], decided: Sequence[AnswerRecord], form: Form
) -> ItemLabel:
    own: dict[str, tuple[str, AnswerRecord]] = {}
    for digest, one in heard:
        own.setdefault(one.who, (digest, one))
    answers, parts = [one for _, one in own.values()], stored_form(form).fields
    fields: dict[str, Any] = {}
    differing = []
    for part in parts:
        if part.kind == "text" or not any(part.name in one.fields for one in answers):
            continue
        settled, value = _agreed(form, part.name, answers, decided)
        if settled:
            fields[part.name] = value
        else:
            differing.append(part.name)
    pairs = {
        part.name: (answers[0].fields[part.name], answers[1].fields[part.name])
        for part in parts
        if part.kind != "text" and not part.many and len(answers) > 1
        and all(part.name in one.fields for one in answers[:2])
    }  # fmt: skip
    return ItemLabel(
        item=item.item, run=item.run_id, grader=item.grader, case=case_of(item), fields=fields,
        differing=tuple(differing), pairs=pairs, answers=tuple(sorted(digest for digest, _ in own.values())),
        verdict=next((one.verdict for one in answers if one.verdict is not None), None),
        probability=item.drawn or 1.0,
    )  # fmt: skip


def _agreed(
    form: Form, name: str, answers: Sequence[AnswerRecord], decided: Sequence[AnswerRecord]
) -> tuple[bool, Any]:
    """What people agree on in one field; of two that differ, the one that a third person's decision names."""
    given = [one for one in answers if name in one.fields]
    # As it is asked and not as it stands on record: `decide` makes that of it.
    parts = tuple(one for one in form.fields if one.name == name)
    found = decide(form.grader, given, 1, replace(form, fields=parts))
    if found.state == "agreed" and name in found.fields:
        return True, found.fields[name]
    for one in reversed(decided):
        value = one.fields.get(name)
        if name in one.fields and any(_same(value, other.fields[name]) for other in given):
            return True, value
    return False, None


def _same(left: Any, right: Any) -> bool:
    return type(left) is type(right) and bool(left == right)


def form_for(grader: str, facts: dict[str, Any]) -> Form:
    """The form of a grader's run, by the schema of replies that the run used."""
    schema = facts.get("reply_schema")
    return form_of(grader, schema if isinstance(schema, dict) else None)


def of_field(
    name: str, label: ItemLabel, said: Said, strata: dict[str, str], *, destructive: bool | None = None
) -> Iterator[Label]:
    """An item's label in one field beside what a judge said; nothing where people have no common answer."""
    if name in label.fields:
        there = name in said.fields
        yield Label(
            item=label.item, run=label.run, case=label.case, human=label.fields[name],
            judge=said.fields[name] if there else None,
            unread=None if there else said.reason or "no value", probability=label.probability,
            confidence=said.confidence, destructive=destructive, strata=strata, answers=label.answers,
        )  # fmt: skip

"""What the answers to one item come to: nothing yet, an agreement, or a difference that a third person decides.

Which answers count: the first one of each person that is no amendment and no extra; one from elsewhere (`imported`)
only if it was blind. An amendment was made in sight of the verdict, and an extra came when the item had all it needed:
both are kept and decide nothing.

When answers differ (the tolerances of the form): any difference between names such as PASS and FAIL, more than one
step on a scale, and any difference about CRITICAL. Fields without a tolerance (what is wrong, flags, how sure) may
differ. *Cannot judge* differs from every answer that judges; one person alone who cannot judge leaves the item to
somebody else, and where nobody of several can, that is what they agree on: a consensus without fields.

Once somebody has decided between answers, that stands, and the newest such decision where there are several.

Where answers agree without being equal, the consensus holds the stricter: on a scale the lower median (of two, the
worse one). A field that may differ and does is left out, and so is one that somebody left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct

from rightcall.review.forms import form_of, stored_form
from rightcall.store.packing import digest_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rightcall.review.form import Form, FormField
    from rightcall.store.records import AnswerRecord

UNSURE = "unsure"
"""What answers differ in where some can judge and others cannot."""

_ABSENT = object()


class Decision(Struct, frozen=True, kw_only=True):
    """What the answers come to.

    Attributes:
        state: `open` (answers are missing), `agreed`, or `differ` (a third person must decide).
        how: how an agreement came about; `None` unless `agreed`.
        fields: the consensus by field; empty unless `agreed`, and where nobody can judge.
        answers: digests of the answers that count, oldest first, an adjudication last.
        differing: the fields in which they differ, in the form's order; `unsure` first.
        reason: in words; of an adjudication, the adjudicator's own.
    """

    state: Literal["open", "agreed", "differ"]
    how: Literal["single", "agreement", "adjudication"] | None = None
    fields: dict[str, Any] = {}
    answers: tuple[str, ...] = ()
    differing: tuple[str, ...] = ()
    reason: str = ""


def counts(answer: AnswerRecord) -> bool:
    """Whether an answer is one of those that an item needs."""
    return not answer.extra and (answer.kind == "answer" or (answer.kind == "imported" and answer.blind))


def counted(answers: Sequence[AnswerRecord]) -> list[AnswerRecord]:
    """The answers that count, the first of each person, in their order."""
    found: dict[str, AnswerRecord] = {}
    for answer in answers:
        if counts(answer):
            found.setdefault(answer.who, answer)
    return list(found.values())


def decide(grader: str, answers: Sequence[AnswerRecord], needed: int, form: Form | None = None) -> Decision:
    """What the answers to one item come to.

    Args:
        grader: whose form was filled in.
        answers: everything that was said about the item, oldest first.
        needed: how many different people must answer.
        form: the form, for a grader of the user's own.
    """
    own = stored_form(form_of(grader) if form is None else form)
    heard = counted(answers)
    digests = tuple(map(digest_of, heard))
    settled = next((one for one in reversed(answers) if one.kind == "adjudication" and not one.extra), None)
    if settled is not None:
        why = settled.unsure if settled.unsure is not None else settled.note
        return Decision(
            state="agreed", how="adjudication", fields=settled.fields, answers=(*digests, digest_of(settled)),
            reason=why,
        )  # fmt: skip
    if len(heard) < max(needed, 1):
        return Decision(state="open", answers=digests)
    apart = differing(own, heard)
    if apart:
        return Decision(state="differ", answers=digests, differing=apart, reason=f"differ on {', '.join(apart)}")
    how: Literal["single", "agreement"] = "single" if len(heard) == 1 else "agreement"
    if heard[0].unsure is not None:
        return Decision(state="agreed", how=how, answers=digests, reason="nobody of them could judge this")
    return Decision(state="agreed", how=how, fields=_common(own, heard), answers=digests)


def differing(form: Form, answers: Sequence[AnswerRecord]) -> tuple[str, ...]:
    """The fields in which answers differ by more than their tolerance; see the module's first lines."""
    unsure = [answer.unsure is not None for answer in answers]
    if any(unsure):
        return () if all(unsure) and len(answers) > 1 else (UNSURE,)
    return tuple(
        field.name
        for field in form.fields
        if not agree(field, [answer.fields.get(field.name, _ABSENT) for answer in answers])
    )


def agree(field: FormField, values: Sequence[Any]) -> bool:
    """Whether values of one field agree within its tolerance. *Not at issue* agrees with no level."""
    if field.tolerance is None or all(_same(value, values[0]) for value in values):
        return True
    if any(value in field.strict for value in values if isinstance(value, str)) or field.kind != "level":
        return False
    places = [field.choices.index(value) for value in values if value is not None and value in field.choices]
    return len(places) == len(values) and max(places) - min(places) <= field.tolerance


def _same(left: Any, right: Any) -> bool:
    return type(left) is type(right) and bool(left == right)


def _common(form: Form, answers: Sequence[AnswerRecord]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in form.fields:
        values = [answer.fields.get(field.name, _ABSENT) for answer in answers]
        if any(value is _ABSENT for value in values):
            continue
        if all(_same(value, values[0]) for value in values):
            found[field.name] = values[0]
        elif field.kind == "level" and None not in values:
            places = sorted(map(field.choices.index, values))
            found[field.name] = field.choices[places[(len(places) - 1) // 2]]
    return found

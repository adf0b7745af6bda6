"""From the outcomes of all questions about one item to opinions, one panel verdict, and what goes to review."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rightcall.grade.opinion import Conflict, Opinion
from rightcall.judge.contract import INJECTION
from rightcall.judge.panel import Vote, panel
from rightcall.run.judging.items import ToReview

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rightcall.judge.audit import Audit
    from rightcall.judge.contract import Suspicion
    from rightcall.judge.panel import Ballot
    from rightcall.run.judging.attempt import Outcome
    from rightcall.run.judging.secrets import Cleaner
    from rightcall.run.judging.subject import Subject


@dataclass(frozen=True)
class Voices:
    """What the judges say together.

    Attributes:
        opinions: everything that each said; redacted.
        replies: the readable replies as plain values, judge by judge.
        fields: the panel's values by field; empty without a verdict.
        reason: why there is no verdict; `None` if there is one, or if nobody was asked.
        message: the same in words.
        disagreement: fields on which they differ.
        conflicts: (judge, conflict) of every reply.
    """

    opinions: tuple[Opinion, ...] = ()
    replies: tuple[dict[str, Any], ...] = ()
    fields: dict[str, Any] = field(default_factory=dict)
    reason: str | None = None
    message: str = ""
    disagreement: tuple[str, ...] = ()
    conflicts: tuple[tuple[str, Conflict], ...] = ()


def voices_of(
    outcomes: Sequence[Outcome], cleaner: Cleaner, audit: Callable[[Any], Audit], ballot: Ballot, quorum: int
) -> Voices:
    """Put the outcomes together.

    Args:
        outcomes: of every question about one item.
        cleaner: takes secrets out of what the judges wrote.
        audit: compares a typed reply with what code decides.
        ballot: what is voted on.
        quorum: how many judges must have answered.
    """
    if not outcomes:
        return Voices()
    opinions = tuple(opinion_of(outcome, cleaner, audit) for outcome in outcomes)
    replies = tuple(opinion.reply for opinion in opinions if opinion.reply is not None)
    decided = panel([_vote(opinion) for opinion in opinions], quorum, ballot)
    reason, message = None, ""
    if decided.reason is not None:
        lonely = opinions[0] if len(opinions) == 1 else None
        reason = lonely.reason if lonely is not None else decided.reason
        message = _why(outcomes, cleaner)
    return Voices(
        opinions=opinions, replies=replies, fields=decided.fields, reason=reason, message=message,
        disagreement=tuple(one.field for one in decided.disagreements),
        conflicts=tuple((opinion.judge, conflict) for opinion in opinions for conflict in opinion.conflicts),
    )  # fmt: skip


def opinion_of(outcome: Outcome, cleaner: Cleaner, audit: Callable[[Any], Audit]) -> Opinion:
    """What one judge said to one question, without secrets, with what it contradicts."""
    problems = tuple(cleaner.text(f"{one.path}: {one.message}") for one in outcome.problems)
    if outcome.reply is None:
        said = problems or ((cleaner.text(outcome.message),) if outcome.message else ())
        return Opinion(
            judge=outcome.judge, replicate=outcome.replicate, status="UNEVALUABLE", reason=outcome.reason,
            problems=said, attempts=outcome.attempts, model=outcome.model,
        )  # fmt: skip
    audited = audit(outcome.reply)
    return Opinion(
        judge=outcome.judge, replicate=outcome.replicate, reply=cleaner.value(outcome.reply.values()),
        problems=problems, checked=audited.checked, cached=outcome.cached,
        conflicts=tuple(_clean(conflict, cleaner) for conflict in audited.conflicts),
        healed=outcome.healed, model=outcome.model, attempts=outcome.attempts,
    )  # fmt: skip


def _clean(conflict: Conflict, cleaner: Cleaner) -> Conflict:
    """A conflict without secrets: it quotes what the judge wrote."""
    return Conflict(
        check=conflict.check, message=cleaner.text(conflict.message), judge=cleaner.value(conflict.judge),
        code=cleaner.value(conflict.code),
    )  # fmt: skip


def _vote(opinion: Opinion) -> Vote:
    return Vote(judge=opinion.judge, replicate=opinion.replicate, fields=opinion.reply, reason=opinion.reason)


def _why(outcomes: Sequence[Outcome], cleaner: Cleaner) -> str:
    """Why there is no verdict, judge by judge."""
    words = [
        f"{outcome.judge}: {outcome.message or outcome.reason}" for outcome in outcomes if outcome.reply is None
    ] or ["the judges are tied"]
    return cleaner.text("; ".join(words))


def common_reviews(voices: Voices, subject: Subject | None, outcomes: Sequence[Outcome]) -> Iterator[ToReview]:
    """What goes to review whatever the grader: conflicts, disagreement, text that addresses the judge."""
    if voices.conflicts:
        words = "; ".join(f"{judge}: {conflict.check}: {conflict.message}" for judge, conflict in voices.conflicts)
        yield ToReview("judge_conflict", words)
    if voices.disagreement:
        yield ToReview("panel_disagreement", f"judges differ on {', '.join(voices.disagreement)}")
    seen = seen_in(subject, outcomes)
    if seen:
        yield ToReview("injection_suspected", "; ".join(map(suspected, seen[:5])))


def seen_in(subject: Subject | None, outcomes: Sequence[Outcome]) -> list[Suspicion]:
    """Everything that looks like an attack: texts in the question, and replies that are copies of them."""
    found = [*(subject.question.suspicions if subject is not None else ())]
    return found + [one for outcome in outcomes for one in outcome.suspicions]


def suspected(suspicion: Suspicion) -> str:
    """A suspicion in words: `INJECTION_SUSPECTED`, what kind, where, what it says."""
    return f"{INJECTION} {suspicion.kind} at {suspicion.path}: {suspicion.excerpt}"

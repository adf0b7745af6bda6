"""From what code knows and judges say about a pair to its result, and to what a person should look at."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

from msgspec.structs import replace as changed

from rightcall.case.policy import SEVERITIES
from rightcall.grade.reconcile import CRITICAL_CAP, settles
from rightcall.judge.pair_audit import audit_preference
from rightcall.run.calibration.recalibrating import confidence_words, worth_fields
from rightcall.run.judging.drawing import is_drawn
from rightcall.run.judging.items import Concluded, ToReview
from rightcall.run.judging.opinions import opinion_of, seen_in, suspected
from rightcall.run.judging.questions import Unasked
from rightcall.run.judging.subject import Subject
from rightcall.run.preference.heard import Heard, hear

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rightcall.case.case import Case
    from rightcall.grade.opinion import Opinion
    from rightcall.grade.preference import CodeReason, Order, OrderVerdict, PreferenceResult, Reconciled, Winner
    from rightcall.grade.verdict import GoldenResult
    from rightcall.run.calibration.recalibrating import Recalibrating, Worth
    from rightcall.run.judging.attempt import Outcome
    from rightcall.run.judging.secrets import Cleaner
    from rightcall.trace.catalog import Catalog
    from rightcall.trace.model import Trace

Asked = tuple[Subject | Unasked, ...]
"""A question for each order, or why there is none."""


@dataclass(frozen=True)
class Rules:
    """How pairs are judged.

    Attributes:
        protocol: both orders, or one that is drawn at random.
        allow_tie: whether orders that do not add up are a tie; otherwise they are no verdict.
        min_confidence: below it, the second judge or a person is asked.
        by_golden: whether a golden decides, besides the policy.
        cross_check: whether judges are asked about what code decides, which changes no result and measures them.
        stop_early: the error that early stopping may make; `None`: every pair is judged.
        seed: of drawn orders, of the sequence of pairs under early stopping, and of resampling.
    """

    protocol: Literal["both", "random"] = "both"
    allow_tie: bool = True
    min_confidence: float = 0.7
    by_golden: bool = False
    cross_check: bool = True
    stop_early: float | None = None
    seed: int = 0

    def facts(self) -> dict[str, Any]:
        """The rules as they stand in a run's facts."""
        names = ("protocol", "allow_tie", "min_confidence", "by_golden", "cross_check", "stop_early")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True)
class Shown:
    """A pair without secrets, with what code knows of it.

    Attributes:
        unit: the pair's id. blank: the result before anybody was asked.
        a, b: the traces. case: their case. catalogs: those that count for them.
        golden: what `golden` says about each, policy included.
        code: who wins by which fact; `None` where no fact decides, or the pair cannot be compared.
        is_stopped: whether the comparison was settled before this pair's turn.
    """

    unit: str
    blank: PreferenceResult
    a: Trace
    b: Trace
    case: Case | None
    catalogs: tuple[Catalog | None, Catalog | None]
    golden: tuple[GoldenResult, GoldenResult]
    code: tuple[Winner, CodeReason] | None = None
    is_stopped: bool = False

    def stopped(self) -> Shown:
        """The pair as one that nobody was asked about since the comparison was settled."""
        return replace(self, is_stopped=True)


class Terms(Protocol):
    """What of the run's settings a conclusion rests on."""

    judges: tuple[str, ...]
    second: str | None
    rules: Rules
    quorum: int
    cleaner: Cleaner
    review_share: float
    grader: str
    recalibrating: Recalibrating | None


@dataclass(frozen=True)
class Said(Heard):
    """What the first judges said, and whether that needs somebody else.

    `worth`: what their stated confidence is worth, in runs that ask for it.
    """

    worth: Worth | None = None

    def is_settled(self, min_confidence: float) -> bool:
        """Whether nobody else is needed."""
        answer = self.answer
        if answer is not None and self.worth is not None:
            answer = changed(answer, confidence=self.worth.probability)
        return self.reason is None and settles(answer, min_confidence)


def hear_first(terms: Terms, shown: Shown, outcomes: Sequence[Outcome]) -> Said:
    """What the first judges said."""
    return _hear(terms, shown, [one for one in outcomes if one.judge != terms.second], terms.quorum)


def _hear(terms: Terms, shown: Shown, outcomes: Sequence[Outcome], quorum: int) -> Said:
    orders = len({outcome.order for outcome in outcomes})
    opinions = [_opinion(terms, shown, outcome) for outcome in outcomes]
    heard = hear(outcomes, opinions, orders, quorum, allow_tie=terms.rules.allow_tie)
    worth = _worth(terms, heard.answer, outcomes)
    return Said(heard.verdicts, heard.reconciled, heard.answer, heard.reason, heard.differ, worth)


def _worth(terms: Terms, answer: Reconciled | None, outcomes: Sequence[Outcome]) -> Worth | None:
    """What the confidence of an answer is worth; between two critical traces no more than its cap."""
    if terms.recalibrating is None or answer is None:
        return None
    found = terms.recalibrating.worth({one.judge: one.model for one in outcomes}, answer.confidence)
    if found is None or not answer.both_critical:
        return found
    return changed(found, probability=min(found.probability, CRITICAL_CAP))


def _opinion(terms: Terms, shown: Shown, outcome: Outcome) -> Opinion:
    order: Order = "ba" if outcome.order == "ba" else "ab"
    return opinion_of(
        outcome, terms.cleaner, lambda reply: audit_preference(reply.preferred_trace, order, shown.code)
    )  # fmt: skip


# ---- the result ----


def conclude(
    terms: Terms, shown: Shown, subjects: Sequence[Subject], unasked: Unasked | None, outcomes: Sequence[Outcome]
) -> Concluded:
    """The conclusion about one pair.

    Args:
        terms: the run's judges and rules.
        shown: the pair.
        subjects: what was asked, an entry an order.
        unasked: why nothing could be asked.
        outcomes: of all questions.
    """
    if shown.blank.quality:
        # Logged and counted, and nothing that a person could decide.
        return Concluded(_without(shown.blank, "data_quality_failure"), "code")
    if shown.is_stopped and shown.code is None:
        return Concluded(_without(shown.blank, "stopped_early"), "code")
    first = hear_first(terms, shown, outcomes)
    second = None
    if terms.second is not None and any(one.judge == terms.second for one in outcomes):
        second = _hear(terms, shown, [one for one in outcomes if one.judge == terms.second], 1)
    result = _with_replies(terms, shown, subjects, outcomes, first, second)
    decided = "code"
    if shown.code is not None:
        result = _by_code(result, shown.code)
    elif not terms.judges:
        result = _without(result, "undecided")
    elif unasked is not None:
        result = _without(result, unasked.reason)
    else:
        result, decided = _by_judges(terms, result, first, second)
    reviews = tuple(_reviews(terms, shown, result, unasked, _All(first, second, subjects, outcomes)))
    return Concluded(result, decided, reviews)


def _without(result: PreferenceResult, reason: str) -> PreferenceResult:
    return changed(result, status="UNEVALUABLE", reason=reason)


def _with_replies(
    terms: Terms, shown: Shown, subjects: Sequence[Subject], outcomes: Sequence[Outcome], first: Heard,
    second: Heard | None,
) -> PreferenceResult:  # fmt: skip
    """The result with everything that was said, before anything is concluded from it."""
    opinions = tuple(_opinion(terms, shown, outcome) for outcome in outcomes)
    whole = [first] if second is None else [first, second]
    differ = first.differ or _are_opposite(first.answer, None if second is None else second.answer)
    return changed(
        shown.blank, judges=opinions, orders=tuple(one for heard in whole for one in heard.verdicts),
        reconciled=tuple(one for heard in whole for one in heard.reconciled), escalated=second is not None,
        conflict=any(opinion.conflicts for opinion in opinions),
        disagreement=("preferred_trace",) if differ else (),
        left_out=subjects[0].question.left_out if subjects else (),
        suspicions=tuple(map(suspected, seen_in(subjects[0] if subjects else None, outcomes))),
    )  # fmt: skip


def _are_opposite(one: Reconciled | None, other: Reconciled | None) -> bool:
    return one is not None and other is not None and {one.winner, other.winner} == {"A", "B"}


def _by_code(result: PreferenceResult, code: tuple[Winner, CodeReason]) -> PreferenceResult:
    return changed(result, verdict=code[0], confidence=1.0, decided_by="code")


def _by_judges(
    terms: Terms, result: PreferenceResult, first: Said, second: Said | None
) -> tuple[PreferenceResult, str]:
    """The first judges' verdict, or the second's where that one settles the pair."""
    answer, reason, decided = first.answer, first.reason, "panel" if len(terms.judges) > 1 else "judge"
    voices, worth = first.verdicts, first.worth
    if second is not None and second.is_settled(terms.rules.min_confidence):
        answer, reason, decided, voices = second.answer, None, "judge", second.verdicts
        worth = second.worth
        result = changed(result, settled_by="second_judge")
    if answer is not None:
        result = changed(
            result, partial=answer.partial, order_inconsistent=answer.order_inconsistent,
            both_critical=answer.both_critical,
        )  # fmt: skip
    if answer is None or reason is not None:
        return _without(result, reason or "no_quorum"), decided
    result = changed(
        result, verdict=answer.winner, confidence=answer.confidence, decided_by=decided,
        **worth_fields(worth),
    )  # fmt: skip
    return _in_words(result, voices, answer.winner), decided


def _in_words(result: PreferenceResult, voices: Sequence[OrderVerdict], winner: Winner | None) -> PreferenceResult:
    """The words of a reply that says what the verdict says, if there is one, and of the order `ab` if that does."""
    best = min(voices, key=lambda one: (one.winner != winner, one.order != "ab"))
    opinion = next((one for one in result.judges if one.attempts == best.attempts and one.reply is not None), None)
    reply: dict[str, Any] = {} if opinion is None or opinion.reply is None else opinion.reply
    return changed(
        result, justification=reply.get("justification"), words_order=best.order,
        key_differentiators=tuple(reply.get("key_differentiators") or ()),
    )  # fmt: skip


# ---- what a person should look at ----


@dataclass(frozen=True)
class _All:
    """Everything that was asked and said about a pair."""

    first: Said
    second: Said | None
    subjects: Sequence[Subject]
    outcomes: Sequence[Outcome]


def _reviews(
    terms: Terms, shown: Shown, result: PreferenceResult, unasked: Unasked | None, said: _All
) -> Iterator[ToReview]:
    yield from _vetoes(shown)
    if result.status != "EVALUATED" and result.reason != "undecided":
        yield ToReview("unevaluable", unasked.message if unasked else _why(terms, result, said))
    if shown.code is None and result.reason != "undecided":
        yield from _doubts(terms, result)
    if result.conflict:
        words = (f"{own.judge}: {one.check}: {one.message}" for own in result.judges for one in own.conflicts)
        yield ToReview("judge_conflict", "; ".join(dict.fromkeys(words)))  # both orders say the same
    if result.disagreement:
        yield ToReview("panel_disagreement", "judges differ on which trace is better")
    seen = seen_in(said.subjects[0] if said.subjects else None, said.outcomes)
    if seen:
        yield ToReview("injection_suspected", "; ".join(map(suspected, seen[:5])))
    if result.reason != "undecided" and is_drawn(terms.grader, shown.unit, terms.review_share):
        yield ToReview("random", "drawn for calibration", None, terms.review_share)


def _vetoes(shown: Shown) -> Iterator[ToReview]:
    """Both traces break the policy: whichever is preferred, it must not pass in silence."""
    vetoes = [veto for golden in shown.golden for veto in golden.vetoes]
    if not all(golden.vetoes for golden in shown.golden):
        return
    words = "both traces: " + "; ".join(dict.fromkeys(veto.message for veto in vetoes))
    severity = max((veto.severity for veto in vetoes), key=SEVERITIES.index)
    if severity == "CRITICAL":
        yield ToReview("CRITICAL", words, severity)
    yield ToReview("policy_veto", words, severity)


def _doubts(terms: Terms, result: PreferenceResult) -> Iterator[ToReview]:
    """What no judge settled: a tie, orders that do not add up, little confidence."""
    if result.settled_by is not None:
        return
    also = " after a second judge" if result.escalated else ""
    if result.order_inconsistent:
        yield ToReview("order_inconsistent", f"each order has another winner{also}")
    elif result.partial:
        yield ToReview("tie", f"a tie in one order, a winner in the other{also}")
    elif result.verdict == "TIE":
        yield ToReview("tie", f"a tie{also}")
    sure = result.sure
    if sure is not None and sure < terms.rules.min_confidence:
        words = f"{confidence_words(result.confidence, sure)}, below {terms.rules.min_confidence:g}{also}"
        yield ToReview("low_confidence", words)


def _why(terms: Terms, result: PreferenceResult, said: _All) -> str:
    """Why there is no verdict, judge by judge."""
    words = [f"{one.judge}: {one.message or one.reason}" for one in said.outcomes if one.reply is None]
    return terms.cleaner.text("; ".join(dict.fromkeys(words)) or str(result.reason))

"""What a judged run works on, whatever the grader: items, what is concluded about them, and how they are counted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from rightcall.judge.audit import WITHIN_REPLY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rightcall.grade.opinion import Opinion
    from rightcall.run.judging.attempt import Outcome
    from rightcall.run.judging.subject import Subject
    from rightcall.store.records import ReviewReason
    from rightcall.trace.sources.dialect import ReadingReport


BY_DESIGN = ("undecided", "stopped_early")
"""Reasons of what was never to be judged: what code does not decide in a run without judges, and what was left once a
comparison was settled. It is in no figure, and lowers no coverage."""

NO_REVIEW = (*BY_DESIGN, "data_quality_failure")
"""Reasons that no person could do anything about."""


class JudgedResult(Protocol):
    """What the results of all judged graders have in common."""

    @property
    def status(self) -> Literal["EVALUATED", "UNEVALUABLE"]: ...  # noqa: D102
    @property
    def reason(self) -> str | None: ...  # noqa: D102
    @property
    def verdict(self) -> str | None: ...  # noqa: D102
    @property
    def judges(self) -> tuple[Opinion, ...]: ...  # noqa: D102


@dataclass(frozen=True)
class ToReview:
    """Something that a person should look at: why, in words, and how likely it was to be drawn."""

    reason: ReviewReason
    detail: str = ""
    severity: str | None = None
    probability: float = 1.0


@dataclass(frozen=True)
class Concluded:
    """What is concluded about one item.

    Attributes:
        result: the grader's result, as `--json` gives it; redacted.
        decided_by: `code`, `judge` or `panel`.
        reviews: what a person should look at.
    """

    result: JudgedResult
    decided_by: str
    reviews: tuple[ToReview, ...] = ()


@dataclass(frozen=True)
class Query:
    """A question to some of the run's judges: by name, or to all of them (`None`)."""

    subject: Subject
    judges: tuple[str, ...] | None = None


def _nothing_more(_outcomes: Sequence[Outcome]) -> Sequence[Query]:
    return ()


@dataclass(frozen=True)
class Item:
    """One thing to judge.

    Attributes:
        unit: identifies it within the run.
        queries: what judges are asked, side by side; empty if there is nothing to ask.
        conclude: from outcomes to a conclusion.
        more: what is asked next, given every outcome so far; called until it returns nothing.
        trace, trace_b, case: the redacted bodies to keep; `None` if there is none.
        trace_b_id: the id of the second trace, for graders that compare.
        place: its place in input order, which the run gives it.
    """

    unit: str
    queries: tuple[Query, ...]
    conclude: Callable[[Sequence[Outcome]], Concluded]
    more: Callable[[Sequence[Outcome]], Sequence[Query]] = _nothing_more
    case_id: str | None = None
    trace_id: str | None = None
    trace_b_id: str | None = None
    step_id: str | None = None
    trace: bytes | None = None
    trace_b: bytes | None = None
    case: bytes | None = None
    place: int = -1


def asked(subject: Subject | None) -> tuple[Query, ...]:
    """One question to all judges, or none."""
    return () if subject is None else (Query(subject),)


class Aggregate(Protocol):
    """The figures of one grader, added up as results come in."""

    def add(self, result: Any) -> None:
        """Count one result."""
        ...

    def summary(self) -> dict[str, Any]:
        """The grader's own figures, as `--json` gives them."""
        ...


class Work(Protocol):
    """A grader's side of a judged run.

    Attributes:
        grader: the grader's name.
        reports: file -> what became of its records.
        result_type: the type of its results.
    """

    grader: str
    reports: dict[str, ReadingReport]
    result_type: type[Any]

    def items(self) -> Iterator[Item]:
        """Everything to judge, in input order."""
        ...

    def aggregate(self) -> Aggregate:
        """An empty aggregate."""
        ...

    def facts(self) -> dict[str, Any]:
        """What is judged, by which prompt: enough to tell whether two runs can be compared."""
        ...


class Staged(Protocol):
    """A grader that, once every item has a result, asks further questions about some of them."""

    def stage(self, results: Callable[[], Iterator[Any]]) -> Iterator[Item] | None:
        """The items of the next stage, each with the place of the result that it replaces; `None`: there is none.

        Called after each stage until it returns `None`. It depends on nothing but the results (so far, in input
        order), so that a run that was killed goes on in the same way; items whose result stands already are left out.
        """
        ...


@dataclass
class JudgeTally:
    """One judge in one run.

    Attributes:
        checked: verdicts with at least one fact that code decides; `conflicting`: those that contradict one.
        inconsistent: replies that contradict themselves.
        checks, conflicts: single checks by name.
        replies, healed, cached: replies, those that needed the content retry, those served from the record.
        failed: questions without a reply, by reason.
        models: who answered.
    """

    checked: int = 0
    conflicting: int = 0
    inconsistent: int = 0
    checks: Counter[str] = field(default_factory=Counter)
    conflicts: Counter[str] = field(default_factory=Counter)
    replies: int = 0
    healed: int = 0
    cached: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    models: Counter[str] = field(default_factory=Counter)

    def add(self, opinion: Opinion) -> None:
        """Count one opinion."""
        if opinion.status == "UNEVALUABLE":
            self.failed[opinion.reason or "unknown"] += 1
            return
        self.replies += 1
        self.healed += opinion.healed
        self.cached += opinion.cached
        self.models[opinion.model or "(not said)"] += 1
        facts = set(opinion.checked) - WITHIN_REPLY
        against = {conflict.check for conflict in opinion.conflicts}
        self.checked += bool(facts)
        self.conflicting += bool(against - WITHIN_REPLY)
        self.inconsistent += bool(against & WITHIN_REPLY)
        self.checks.update(opinion.checked)
        self.conflicts.update(against)


@dataclass
class JudgedTally:
    """Counts of a judged run.

    Attributes:
        evaluated, unevaluable: results by status, the latter by reason.
        not_asked: items that the run stopped before.
        reviews: review items by reason.
        judges: by name.
        resumed: results that were there already when the run was resumed.
    """

    evaluated: int = 0
    unevaluable: Counter[str] = field(default_factory=Counter)
    not_asked: int = 0
    reviews: Counter[str] = field(default_factory=Counter)
    judges: dict[str, JudgeTally] = field(default_factory=dict)
    resumed: int = 0

    def add(self, result: JudgedResult) -> None:
        """Count one result."""
        if result.status == "EVALUATED":
            self.evaluated += 1
        else:
            self.unevaluable[result.reason or "unknown"] += 1
        for opinion in result.judges:
            self.judges.setdefault(opinion.judge, JudgeTally()).add(opinion)

    @property
    def by_design(self) -> int:
        """Items that were never to be judged (`BY_DESIGN`)."""
        return sum(self.unevaluable[reason] for reason in BY_DESIGN)

    @property
    def n(self) -> int:
        """All items, those that were not asked for too."""
        return self.evaluated + sum(self.unevaluable.values()) + self.not_asked

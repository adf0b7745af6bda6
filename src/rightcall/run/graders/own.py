"""A grader of the user's own: any question about whole traces, with any reply that its JSON Schema describes.

The reply is checked by that schema and by nothing else, since nothing else is known about it. Panels vote field by
field: texts are not voted on, whole numbers on a scale take the lower median, everything else the majority. Nothing of
it is compared with what code decides, so its judge's conflicts are unknown; the policy still counts, as for `rubric`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.grade.own import OwnResult
from rightcall.judge.audit import Audit
from rightcall.judge.own_ballot import ballot_of
from rightcall.run.graders.rubric import RubricWork
from rightcall.run.judging.items import Concluded, ToReview
from rightcall.run.judging.opinions import common_reviews, seen_in, suspected, voices_of
from rightcall.stats.intervals import wilson
from rightcall.stats.ordinal import mean_score

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rightcall.grade.verdict import GoldenResult
    from rightcall.judge.facts import RubricFacts
    from rightcall.run.judging.attempt import Outcome
    from rightcall.run.judging.questions import Unasked
    from rightcall.run.judging.subject import Subject
    from rightcall.trace.model import Trace


@dataclass
class OwnAggregate:
    """Counts of every value of every field, and the mean of numbers."""

    schema: Mapping[str, Any]
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    numbers: dict[str, list[float]] = field(default_factory=dict)
    cases: dict[str, list[str]] = field(default_factory=dict)
    evaluated: int = 0
    excluded: int = 0

    def add(self, result: OwnResult) -> None:
        """Count one result."""
        if result.status != "EVALUATED" or result.reply is None:
            self.excluded += 1
            return
        self.evaluated += 1
        for name in ballot_of(self.schema).kinds:
            value = result.reply.get(name)
            self.counts.setdefault(name, Counter())[msgspec.json.encode(value).decode()] += 1
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                self.numbers.setdefault(name, []).append(float(value))
                self.cases.setdefault(name, []).append(result.case_id or result.trace_id or "")

    def summary(self) -> dict[str, Any]:
        """Each field: the share of each value with its interval; of numbers the mean too."""
        found: dict[str, Any] = {}
        for name, counts in self.counts.items():
            shares = {value: msgspec.to_builtins(wilson(n, self.evaluated, excluded=self.excluded))
                      for value, n in sorted(counts.items(), key=lambda one: (-one[1], one[0]))}  # fmt: skip
            found[name] = {"values": shares, "mean": self._mean(name)}
        return {"fields": found}

    def _mean(self, name: str) -> dict[str, Any] | None:
        values = self.numbers.get(name)
        if not values:
            return None
        part = self.schema.get("properties", {}).get(name, {})
        levels = [level for level in part.get("enum", ()) if isinstance(level, (int, float))]
        scale = (
            part.get("minimum", min([*levels, *values])), part.get("maximum", max([*levels, *values]))
        )  # fmt: skip
        left = self.excluded + self.evaluated - len(values)
        plain: dict[str, Any] = msgspec.to_builtins(mean_score(values, self.cases[name], scale=scale, excluded=left))
        return plain


@dataclass
class OwnWork(RubricWork):
    """The traces of one run of a user's own grader; `plain` and `golden` are the same prompt."""

    result_type: type[Any] = OwnResult

    def __post_init__(self) -> None:
        """The grader is called what its prompt calls it."""
        self.grader = self.plain.prompt.grader
        self.ballot = ballot_of(self.plain.reply_schema)

    def facts(self) -> dict[str, Any]:
        """What is judged, and the schema of its replies: people answer in the same fields."""
        return {**super().facts(), "reply_schema": self.plain.reply_schema}

    def aggregate(self) -> OwnAggregate:  # type: ignore[override]
        """An empty aggregate."""
        return OwnAggregate(self.plain.reply_schema)

    def _conclude(
        self, trace: Trace, golden: GoldenResult, facts: RubricFacts, subject: Subject | None,  # noqa: ARG002
        unasked: Unasked | None, outcomes: Sequence[Outcome],
    ) -> Concluded:  # fmt: skip
        voices = voices_of(outcomes, self.cleaner, lambda _reply: Audit(), self.ballot, self.quorum)
        reason = unasked.reason if unasked is not None else voices.reason
        texts = {} if not voices.replies else voices.replies[0]
        result = OwnResult(
            trace_id=trace.id, case_id=trace.case_id or golden.case_id, grader=self.grader, trial=trace.trial,
            status="EVALUATED" if reason is None else "UNEVALUABLE", reason=reason,
            reply=None if reason is not None else {**texts, **voices.fields}, golden_verdict=golden.verdict,
            completed=trace.completed, judges=voices.opinions, disagreement=voices.disagreement,
            left_out=subject.question.left_out if subject is not None else (),
            suspicions=tuple(map(suspected, seen_in(subject, outcomes))), calls=len(trace.calls),
        )  # fmt: skip
        reviews = [*common_reviews(voices, subject, outcomes)]
        if reason is not None:
            reviews.insert(0, ToReview("unevaluable", unasked.message if unasked else voices.message or reason))
        return Concluded(result, "panel" if len(outcomes) > 1 else "judge", (*reviews, *self.drawn(trace.id)))

"""`interpretation` over files: every call's result and what the agent made of it, judged; by two judges if one asks.

An item is a segment: one call of the agent with its result and its reading, stated or implied by the next action.
Calls whose result was not captured (`no_result`), and calls after which the agent neither said nor did anything
(`no_reading`), are listed as skipped: there is nothing to judge, and no judge is asked.

With a strong judge a run has stages. First the light judge reads everything. Then the strong judge reads a random,
stratified share of the same, its score stands for those, and the means are corrected by what the doubles show. If the
two disagree too often, the strong judge reads the rest too (`rightcall.run.interpretation.sampling`). Each stage
depends on nothing but the results so far.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from rightcall.errors import Place, TraceError
from rightcall.grade.interpretation import InterpretationResult, fidelity
from rightcall.judge.panel import INTERPRETATION, INTERPRETATION_DIRECT
from rightcall.judge.quotes import ReadingFacts
from rightcall.judge.reading_audit import audit_interpretation
from rightcall.judge.reading_views import found_values, reading_values
from rightcall.run.calibration.recalibrating import confidence_heard, confidence_words, worth_fields
from rightcall.run.graders.selection import prompt_facts
from rightcall.run.inputs.hiding import hidden_case, hidden_trace
from rightcall.run.interpretation.figures import InterpretationAggregate, Skipped, nothing_to_judge
from rightcall.run.interpretation.sampling import TwoPhases, doubles_of, out_words, reading_of
from rightcall.run.judging.drawing import is_drawn
from rightcall.run.judging.items import Concluded, Item, Query, ToReview
from rightcall.run.judging.opinions import common_reviews, seen_in, suspected, voices_of
from rightcall.run.judging.questions import Unasked
from rightcall.run.judging.resuming import AGAIN
from rightcall.run.judging.subject import Subject
from rightcall.trace import jsontext
from rightcall.trace.segments import segments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rightcall.case.case import Case
    from rightcall.grade.interpretation import Mapping, UnsupportedValue
    from rightcall.judge.audit import Audit
    from rightcall.judge.panel import Ballot
    from rightcall.run.calibration.recalibrating import Recalibrating
    from rightcall.run.graders.rubric import Joined
    from rightcall.run.judging.attempt import Outcome
    from rightcall.run.judging.opinions import Voices
    from rightcall.run.judging.questions import Prompter
    from rightcall.run.judging.secrets import Cleaner
    from rightcall.trace.catalog import Catalog
    from rightcall.trace.model import Trace
    from rightcall.trace.segments import Segment
    from rightcall.trace.sources.dialect import ReadingReport


@dataclass(frozen=True)
class _Found:
    """A segment that can be judged, in its redacted trace."""

    unit: str
    trace: Trace
    body: bytes
    case: Case | None
    case_body: bytes | None
    catalog: Catalog | None
    segment: Segment
    values: tuple[UnsupportedValue, ...]

    @property
    def ids(self) -> dict[str, Any]:
        case_id = self.trace.case_id if self.trace.case_id is not None or self.case is None else self.case.id
        return {"case_id": case_id, "trace_id": self.trace.id, "step_id": self.unit}


@dataclass(frozen=True)
class _Question:
    """What is asked about a segment, or why nothing can be, and what replies are compared with."""

    subject: Subject | None
    unasked: Unasked | None
    facts: ReadingFacts


@dataclass
class InterpretationWork:
    """The segments of one run.

    Attributes:
        traces: every trace with its case and catalog, in input order.
        prompter: the prompt.
        cleaner: takes secrets out of what a judge sees and of what is kept.
        mapping: from a judge's score to fidelity.
        min_fidelity, min_confidence: below them a person looks.
        phases: how the strong judge is asked; `None`: there is none, and all judges read everything.
        recalibrating: what stated confidence is worth; `None`: it counts as it is stated.
        agents: models of the agents that were seen, for a warning.
        skips: the calls without a reading.
    """

    traces: Callable[[], Iterator[Joined]]
    prompter: Prompter
    cleaner: Cleaner
    mapping: Mapping = "fifths"
    quorum: int = 1
    review_share: float = 0.1
    min_fidelity: float = 0.8
    min_confidence: float = 0.7
    phases: TwoPhases | None = None
    recalibrating: Recalibrating | None = None
    more_facts: dict[str, Any] = field(default_factory=dict)
    reports: dict[str, ReadingReport] = field(default_factory=dict)
    agents: set[str] = field(default_factory=set)
    skips: list[Skipped] = field(default_factory=list)
    grader: str = "interpretation"
    result_type: type[Any] = InterpretationResult
    warnings: list[str] = field(default_factory=list)
    _tried: set[str] = field(default_factory=set)

    def aggregate(self) -> InterpretationAggregate:
        """An empty aggregate."""
        return InterpretationAggregate(self.mapping, self.min_fidelity, self.phases, self.skips)

    def facts(self) -> dict[str, Any]:
        """What is judged, by which prompt, and how scores become figures."""
        phases = self.phases
        return {
            **self.more_facts,
            "prompts": [prompt_facts(self.prompter.prompt)],
            "interpretation": {
                "mapping": self.mapping, "min_fidelity": self.min_fidelity, "min_confidence": self.min_confidence,
                "light": None if phases is None else phases.light,
                "strong": None if phases is None else phases.strong,
                "strong_share": None if phases is None else phases.share,
                "max_disagreement": None if phases is None else phases.limit,
                **({} if phases is None or not phases.unfit else {"light_unfit": dict(phases.unfit)}),
            },
            **({} if self.recalibrating is None else self.recalibrating.facts()),
        }  # fmt: skip

    # ---- items -----------------------------------------------------------------------------------------------------

    def items(self) -> Iterator[Item]:
        """Every segment that has a reading, as an item."""
        self.skips.clear()
        judges = None if self.phases is None else (self.phases.light,)
        for found in self._segments(self.skips):
            question = self._question(found)
            yield self._item(found, question, judges, _Concluding(self, found, question).first)

    def _item(
        self, found: _Found, question: _Question, judges: tuple[str, ...] | None,
        conclude: Callable[[Sequence[Outcome]], Concluded], place: int = -1,
    ) -> Item:  # fmt: skip
        queries = () if question.subject is None else (Query(question.subject, judges),)
        return Item(
            unit=found.unit, queries=queries, conclude=conclude, trace=found.body, case=found.case_body, place=place,
            **found.ids,
        )  # fmt: skip

    def _segments(self, skips: list[Skipped]) -> Iterator[_Found]:
        """Every segment that can be judged, in input order; the others go to `skips`."""
        seen: Counter[str] = Counter()
        for trace, case, catalog, _, place in self.traces():
            if trace.agent is not None and trace.agent.model:
                self.agents.add(trace.agent.model)
            try:
                yield from self._of_trace(trace, case, catalog, seen, skips)
            except TraceError as error:
                where = Place(place.file, place.line, None, f"trace {trace.id}")
                raise TraceError(error.message, code=error.code, place=where, hint=error.hint) from None

    def _of_trace(
        self, trace: Trace, case: Case | None, catalog: Catalog | None, seen: Counter[str], skips: list[Skipped]
    ) -> Iterator[_Found]:
        hide = self.cleaner.redactor
        shown = hidden_trace(trace, hide)
        shown_case = None if case is None else hidden_case(case, hide)
        body, case_body = jsontext.encode(shown), None if shown_case is None else jsontext.encode(shown_case)
        seen[shown.id] += 1
        repeat = seen[shown.id]
        name = shown.id if repeat == 1 else f"{shown.id} ({repeat})"
        for segment in segments(shown):
            unit = f"{name}#c{segment.call_index + 1}"
            reason = nothing_to_judge(segment)
            if reason is not None:
                skips.append(Skipped(unit, segment.call.tool, reason))
                continue
            values = found_values(shown, segment, shown_case)
            yield _Found(unit, shown, body, shown_case, case_body, catalog, segment, values)

    def _question(self, found: _Found) -> _Question:
        values = reading_values(found.trace, found.segment, found.catalog, found.case, found.values)
        question, shown = self.prompter.question(values)
        seen = {
            name: shown[name] if name in shown else self.cleaner.value(values[name])
            for name in ("AGENT_INTERPRETATION", "NEXT_ACTION", "TOOL_RESULT")
        }
        facts = ReadingFacts(
            text=seen["AGENT_INTERPRETATION"], action=seen["NEXT_ACTION"], result=seen["TOOL_RESULT"],
            direct=self.mapping == "direct",
        )  # fmt: skip
        if isinstance(question, Unasked):
            return _Question(None, question, facts)
        read = self.prompter.reader({"reading": facts})
        subject = Subject(self.grader, found.unit, question, read, shown, **found.ids)
        return _Question(subject, None, facts)

    @property
    def ballot(self) -> Ballot:
        """What several judges vote on."""
        return INTERPRETATION_DIRECT if self.mapping == "direct" else INTERPRETATION

    def notes(self) -> list[str]:
        """What must be said of the judges, in words."""
        return [*self.warnings, *(self.recalibrating.notes() if self.recalibrating else ())]

    def later(self, items: int) -> int:
        """How many questions to the strong judge follow at least; small strata add some, a bad light judge all."""
        return 0 if self.phases is None else ceil(self.phases.share * items)

    def why_nothing(self) -> str:
        """Why there is no item although there are calls, in words; empty where there are none."""
        reasons = Counter(one.reason for one in self.skips)
        said = ", ".join(f"{reason} {n}" for reason, n in sorted(reasons.items()))
        return f"nothing to judge: no call has both a result and a reading ({said})" if reasons else ""

    # ---- stages ----------------------------------------------------------------------------------------------------

    def stage(self, results: Callable[[], Iterator[InterpretationResult]]) -> Iterator[Item] | None:
        """The readings that the strong judge is asked about next: those that are drawn, then, if need be, the rest."""
        phases = self.phases
        if phases is None:
            return None
        readings = [one for one in map(reading_of, results()) if one is not None]
        drawn = phases.drawn(readings)
        pending = self._pending(results, set(drawn))
        if pending:
            return self._asked_strong(pending, drawn)
        if not phases.is_out(doubles_of(readings, drawn)) and phases.unfit_words(readings) is None:
            return None
        self.warnings = [out_words(phases, readings, drawn)]
        pending = self._pending(results, {one.unit for one in readings if one.light is not None})
        return self._asked_strong(pending, drawn) if pending else None

    def _pending(
        self, results: Callable[[], Iterator[InterpretationResult]], wanted: set[str]
    ) -> dict[str, tuple[int, InterpretationResult]]:
        """Unit -> place and result, for those that the strong judge is still to be asked about."""
        return {
            result.step_id: (place, result)
            for place, result in enumerate(results())
            if result.step_id in wanted and result.step_id not in self._tried and not self._was_asked(result)
        }

    def _was_asked(self, result: InterpretationResult) -> bool:
        """Whether the strong judge has been asked; one that could not be reached is asked again."""
        assert self.phases is not None  # noqa: S101 - only called where there are phases
        return any(one.judge == self.phases.strong and one.reason not in AGAIN for one in result.judges)

    def _asked_strong(
        self, pending: dict[str, tuple[int, InterpretationResult]], drawn: dict[str, float]
    ) -> Iterator[Item]:
        """Read the traces once more, and ask the strong judge; what was counted as read stays as it was."""
        assert self.phases is not None  # noqa: S101 - only called where there are phases
        reports = dict(self.reports)
        try:
            for found in self._segments([]):
                if found.unit not in pending:
                    continue
                place, before = pending[found.unit]
                self._tried.add(found.unit)
                question = self._question(found)
                before = replace(before, sampling_probability=drawn.get(found.unit, 1.0))
                conclude = _Concluding(self, found, question, before).second
                yield self._item(found, question, (self.phases.strong,), conclude, place)
        finally:
            self.reports.clear()
            self.reports.update(reports)


@dataclass(frozen=True)
class _Concluding:
    """From outcomes to the result of one segment.

    Attributes:
        before: the light judge's result, in the strong judge's stage.
    """

    work: InterpretationWork
    found: _Found
    question: _Question
    before: InterpretationResult | None = None

    def first(self, outcomes: Sequence[Outcome]) -> Concluded:
        """The conclusion of the first stage, or of the only one."""
        phases, unasked = self.work.phases, self.question.unasked
        voices = self._voices(outcomes, self.work.quorum if phases is None else 1)
        result = replace(self._blank(), judges=voices.opinions, disagreement=voices.disagreement)
        if unasked is not None or voices.reason is not None:
            reason = unasked.reason if unasked is not None else voices.reason
            result = replace(result, status="UNEVALUABLE", reason=reason)
        else:
            judges = {outcome.judge for outcome in outcomes}
            result = self._scored(result, voices, "panel" if len(judges) > 1 else judges.pop())
            result = replace(result, light_score=None if phases is None else result.score)
        return self._done(result, voices, outcomes)

    def second(self, outcomes: Sequence[Outcome]) -> Concluded:
        """The conclusion of the strong judge's stage: its score stands, if it has one."""
        assert self.before is not None  # noqa: S101 - that is what the stage is about
        assert self.work.phases is not None  # noqa: S101 - the same
        phases, before = self.work.phases, self.before
        voices = self._voices(outcomes, 1)
        kept = tuple(one for one in before.judges if one.judge != phases.strong)
        light = before.light_score
        result = replace(
            before, judges=(*kept, *voices.opinions),
            stratum=None if light is None else phases.stratum(before.tool, light),
        )  # fmt: skip
        if self.question.unasked is None and voices.reason is None:
            result = self._scored(result, voices, phases.strong)
            result = replace(result, strong_score=result.score)
            if light is not None and result.score is not None and phases.far_apart(light, result.score):
                result = replace(result, disagreement=tuple(dict.fromkeys((*result.disagreement, "score"))))
        return self._done(result, voices, outcomes)

    def _voices(self, outcomes: Sequence[Outcome], quorum: int) -> Voices:
        return voices_of(outcomes, self.work.cleaner, self._audit, self.work.ballot, quorum)

    def _audit(self, reply: Any) -> Audit:
        result = self.found.segment.call.result
        succeeded = result is not None and result.is_error is False and not result.inferred
        return audit_interpretation(reply, self.question.facts, succeeded=succeeded)

    def _blank(self) -> InterpretationResult:
        found, segment = self.found, self.found.segment
        agent = found.trace.agent
        ids = found.ids
        return InterpretationResult(
            step_id=found.unit, trace_id=ids["trace_id"], case_id=ids["case_id"], call_index=segment.call_index,
            tool=segment.call.tool, agent_version=None if agent is None else agent.version,
            reading="stated" if segment.interpretation is not None else "implicit",
            fidelity_mapping=self.work.mapping, unsupported_values=found.values,
        )  # fmt: skip

    def _scored(self, result: InterpretationResult, voices: Voices, who: str) -> InterpretationResult:
        """The result with the judges' score; the texts are those of a judge that gave it."""
        score: float = voices.fields["score"]
        stated, worth = confidence_heard(voices, self.work.recalibrating)
        said = next((reply for reply in voices.replies if reply["score"] == score), voices.replies[0])
        return replace(
            result, score=score, scored_by=who, interpretation_fidelity_score=fidelity(score, self.work.mapping),
            action_score=voices.fields.get("action_score"), confidence=stated,
            **worth_fields(worth),
            interpretation_accuracy=said["interpretation_accuracy"], justification=said["justification"],
            action_appropriateness=said["action_appropriateness"], key_errors=tuple(said["key_errors"]),
            misinterpretation_flags=_listed(said.get("misinterpretation_flags")),
            evidence=_listed(said.get("evidence")),
        )  # fmt: skip

    def _done(self, result: InterpretationResult, voices: Voices, outcomes: Sequence[Outcome]) -> Concluded:
        subject = self.question.subject
        if subject is not None:
            seen = dict.fromkeys((*result.suspicions, *map(suspected, seen_in(subject, outcomes))))
            result = replace(result, left_out=subject.question.left_out, suspicions=tuple(seen))
        decided = "panel" if len({one.judge for one in result.judges}) > 1 else "judge"
        return Concluded(result, decided, tuple(self._reviews(result, voices, outcomes)))

    def _reviews(self, result: InterpretationResult, voices: Voices, outcomes: Sequence[Outcome]) -> Iterator[ToReview]:
        work, unasked = self.work, self.question.unasked
        if result.status != "EVALUATED":
            yield ToReview("unevaluable", unasked.message if unasked else voices.message or str(result.reason))
        score, sure = result.interpretation_fidelity_score, result.sure
        if score is not None and score < work.min_fidelity:
            yield ToReview("low_fidelity", f"fidelity {score:g}, limit {work.min_fidelity:g}")
        if sure is not None and sure < work.min_confidence:
            words = f"{confidence_words(result.confidence, sure)}, limit {work.min_confidence:g}"
            yield ToReview("low_confidence", words)
        if result.disagreement and not voices.disagreement:
            words = f"the light judge says {result.light_score:g}, the strong one {result.strong_score:g}"
            yield ToReview("panel_disagreement", words)
        yield from common_reviews(voices, self.question.subject, outcomes)
        if is_drawn(work.grader, result.step_id, work.review_share):
            yield ToReview("random", "drawn for calibration", None, work.review_share)


def _listed(items: Any) -> tuple[dict[str, Any], ...] | None:
    return None if items is None else tuple(items)

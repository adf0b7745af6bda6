"""`selection` over files: steps as they are written, or derived from traces and goldens; judged if a judge is asked."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET

from rightcall.errors import CaseError, ConfigError, Place
from rightcall.grade.selection import SelectionResult, catalog_of, select
from rightcall.judge.audit import audit_selection
from rightcall.judge.panel import SELECTION
from rightcall.judge.views import selection_values
from rightcall.run.judging.drawing import is_drawn
from rightcall.run.judging.items import Concluded, Item, ToReview, asked
from rightcall.run.judging.opinions import Voices, common_reviews, seen_in, suspected, voices_of
from rightcall.run.judging.questions import Unasked
from rightcall.run.judging.subject import Subject
from rightcall.stats.classification import Choice, classify
from rightcall.trace import jsontext

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from rightcall.case.step import Step
    from rightcall.grade.safety import Matrix
    from rightcall.run.judging.attempt import Outcome
    from rightcall.run.judging.questions import Prompter
    from rightcall.run.judging.secrets import Cleaner
    from rightcall.trace.catalog import Catalog
    from rightcall.trace.redact import Redactor
    from rightcall.trace.sources.dialect import ReadingReport

_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True)
class NoStep:
    """A trace or a case that gives no step, and why: it is counted, so that it lowers coverage."""

    trace_id: str | None
    case_id: str | None
    reason: str


@dataclass
class SelectionAggregate:
    """The figures of `selection` (SPEC §7.1)."""

    choices: Counter[Choice] = field(default_factory=Counter)
    by_code: Counter[str] = field(default_factory=Counter)
    excluded: int = 0
    challenged: int = 0

    def add(self, result: SelectionResult) -> None:
        """Count one result."""
        self.by_code[result.code_grade or "UNEVALUABLE"] += 1
        self.challenged += bool(result.label_challenged)
        if result.status != "EVALUATED":
            self.excluded += 1
            return
        cluster = result.case_id or result.trace_id
        self.choices[
            Choice(result.expected_tool, result.selected_tool, result.failure_category, cluster, result.destructive)
        ] += 1

    def summary(self) -> dict[str, Any]:
        """Precision, recall and the rest, each an estimate with its interval; what code alone says beside it."""
        figures = classify(self.choices.elements(), excluded=self.excluded)
        found: dict[str, Any] = msgspec.to_builtins(figures)
        passed = sum(n for choice, n in self.choices.items() if choice.category is None)
        return {
            "passed": passed,
            "failed": self.choices.total() - passed,
            "by_code_alone": dict(sorted(self.by_code.items())),
            "labels_challenged": self.challenged,
            **found,
        }


@dataclass
class SelectionWork:
    """The steps of one run.

    Attributes:
        steps: every step with its place, in input order; `reports` is filled while it runs.
        tools: the suite's catalog, for steps without their own.
        aliases: other tool name -> canonical name.
        matrix: knows the classes of tools.
        prompter: the prompt; `None` if no judge is asked.
        cleaner: takes secrets out of what a judge sees and of what is kept.
        quorum: how many judges must have answered.
        review_share: share of steps that people see at random; `new_share`: of those with a tool that is new.
        new_tools: tools that the last run did not have.
    """

    steps: Callable[[], Iterator[tuple[Step | NoStep, Place]]]
    tools: Catalog | None
    matrix: Matrix
    cleaner: Cleaner
    aliases: Mapping[str, str] = field(default_factory=dict)
    prompter: Prompter | None = None
    quorum: int = 1
    review_share: float = 0.1
    new_share: float = 0.5
    new_tools: frozenset[str] = frozenset()
    more_facts: dict[str, Any] = field(default_factory=dict)
    reports: dict[str, ReadingReport] = field(default_factory=dict)
    grader: str = "selection"
    result_type: type[Any] = SelectionResult

    def aggregate(self) -> SelectionAggregate:
        """An empty aggregate."""
        return SelectionAggregate()

    def facts(self) -> dict[str, Any]:
        """What is judged, by which prompt."""
        prompt = None if self.prompter is None else self.prompter.prompt
        return {
            **self.more_facts,
            "prompts": [] if prompt is None else [prompt_facts(prompt)],
        }

    def items(self) -> Iterator[Item]:
        """Every step as an item.

        Raises:
            CaseError: two steps of one id.
        """
        seen: dict[str, Place] = {}
        stepless: Counter[str] = Counter()
        for step, place in self.steps():
            if isinstance(step, NoStep):
                yield self._without_step(step, stepless)
                continue
            if step.id in seen:
                raise CaseError(
                    f"step `{step.id}` stands also at {seen[step.id]}", code="CASE_DUPLICATE_ID", place=place,
                    hint="give each step an id of its own",
                )  # fmt: skip
            seen[step.id] = place
            yield self._item(step)

    def _without_step(self, none: NoStep, before: Counter[str]) -> Item:
        clean = self.cleaner.text
        trace_id = None if none.trace_id is None else clean(none.trace_id)
        case_id = None if none.case_id is None else clean(none.case_id)
        result = SelectionResult(
            step_id=f"{trace_id or case_id}", trace_id=trace_id, case_id=case_id, status="UNEVALUABLE",
            reason=none.reason,
        )  # fmt: skip
        todo = (ToReview("unevaluable", none.reason),)
        before[result.step_id] += 1
        which = "" if before[result.step_id] == 1 else f", {before[result.step_id]}"
        return Item(
            unit=f"{result.step_id} (no step{which})", queries=(), case_id=case_id, trace_id=trace_id,
            conclude=lambda _outcomes: Concluded(result, "code", todo),
        )  # fmt: skip

    def _item(self, step: Step) -> Item:
        code = select(step, self.tools, aliases=self.aliases, matrix=self.matrix)
        shown = _hidden(step, self.cleaner)
        ids: dict[str, Any] = {"case_id": shown.case_id or shown.id, "trace_id": shown.trace_id, "step_id": shown.id}
        subject, unasked = None, None
        if self.prompter is not None and code.status == "EVALUATED":
            subject, unasked = self._subject(shown, ids)
        return Item(
            unit=shown.id, queries=asked(subject), case=_encode(shown), trace=None,
            conclude=lambda outcomes: self._conclude(shown, code, subject, unasked, outcomes), **ids,
        )  # fmt: skip

    def _subject(self, step: Step, ids: dict[str, Any]) -> tuple[Subject | None, Unasked | None]:
        assert self.prompter is not None  # noqa: S101 - only asked where there is one
        own = catalog_of(step)
        question, values = self.prompter.question(selection_values(step, own if own is not None else self.tools))
        if isinstance(question, Unasked):
            return None, question
        return Subject(
            grader=self.grader, unit=step.id, question=question, values=values, read=self.prompter.reader(), **ids
        ), None  # fmt: skip

    def _conclude(
        self, step: Step, code: SelectionResult, subject: Subject | None, unasked: Unasked | None,
        outcomes: Sequence[Outcome],
    ) -> Concluded:  # fmt: skip
        names = self._names(step)
        shown = (step.selected, step.expected)
        voices = voices_of(
            outcomes, self.cleaner, lambda reply: audit_selection(reply, code, names, shown=shown), SELECTION,
            self.quorum,
        )  # fmt: skip
        result = msgspec.structs.replace(
            code, step_id=step.id, trace_id=step.trace_id, case_id=step.case_id, code_grade=code.grade,
            judges=voices.opinions,
        )  # fmt: skip
        if unasked is not None:
            result = _without_verdict(result, unasked.reason)
        elif outcomes and voices.reason is not None:
            result = _without_verdict(result, voices.reason)
        elif outcomes:
            result = _explained(result, voices)
        if subject is not None:
            result = msgspec.structs.replace(
                result, left_out=subject.question.left_out,
                suspicions=tuple(map(suspected, seen_in(subject, outcomes))),
            )  # fmt: skip
        return Concluded(result, "code", tuple(self._reviews(step, result, unasked, voices, subject, outcomes)))

    def _reviews(
        self, step: Step, result: SelectionResult, unasked: Unasked | None, voices: Voices,
        subject: Subject | None, outcomes: Sequence[Outcome],
    ) -> Iterator[ToReview]:  # fmt: skip
        if result.status != "EVALUATED":
            yield ToReview("unevaluable", unasked.message if unasked else voices.message or str(result.reason))
        if result.label_challenged:
            yield ToReview("label_challenged", result.label_challenge_reason or "the judge doubts the expected tool")
        yield from common_reviews(voices, subject, outcomes)
        if self.prompter is not None or self.new_tools:
            is_new = bool(self.new_tools & {result.expected_tool, result.selected_tool})
            share = max(self.review_share, self.new_share) if is_new else self.review_share
            if is_drawn(self.grader, step.id, share):
                yield ToReview("random", "drawn for calibration" + (" (a new tool)" if is_new else ""), None, share)

    def _names(self, step: Step) -> frozenset[str] | None:
        own = catalog_of(step)
        catalog = own if own is not None else self.tools
        return None if catalog is None else frozenset(tool.name for tool in catalog.tools)


def prompt_facts(prompt: Any) -> dict[str, str]:
    """Which prompt: id, version, hash."""
    return {"id": prompt.id, "version": prompt.version, "sha256": prompt.sha256}


def _without_verdict(result: SelectionResult, reason: str) -> SelectionResult:
    """What code decided stays beside it (`code_grade`); the result itself is out of the aggregates (SPEC §7)."""
    return msgspec.structs.replace(result, status="UNEVALUABLE", reason=reason, verdict=None, grade=None)


def _explained(result: SelectionResult, voices: Voices) -> SelectionResult:
    """The result with what the judges say; their grade is the panel's, and never changes the verdict."""
    first = voices.replies[0]
    return msgspec.structs.replace(
        result, justification=first.get("justification"), judge_grade=voices.fields.get("grade"),
        label_challenged=any(reply.get("label_challenged") for reply in voices.replies),
        label_challenge_reason=next(
            (reply["label_challenge_reason"] for reply in voices.replies if reply.get("label_challenge_reason")), None
        ),
        disagreement=voices.disagreement,
    )  # fmt: skip


def _hidden(step: Step, cleaner: Cleaner) -> Step:
    """The step as it may leave: redacted like a trace.

    Raises:
        ConfigError: a pattern of the user's own hit a word of the format itself.
    """
    from rightcall.case.step import Step as Kind

    # The catalog is the longest part of most steps and the same for many: it is redacted once.
    redactor, tools = cleaner.redactor, step.tools_json
    apart = None if tools is UNSET or redactor.hides_all_under("tools") else bytes(tools)
    try:
        rest = step if apart is None else msgspec.structs.replace(step, tools_json=msgspec.Raw(b"[]"))
        value = cleaner.value(jsontext.decode(jsontext.encode(rest)))
        shown = msgspec.json.decode(jsontext.encode_in_order(value), type=Kind)
    except msgspec.ValidationError as error:
        raise ConfigError(
            f"what is redacted can no longer be read: {error}", place=Place(path="redact.patterns"),
            hint="a pattern must not match words of the format",
        ) from None  # fmt: skip
    return shown if apart is None else msgspec.structs.replace(shown, tools_json=_hidden_tools(apart, redactor))


@lru_cache(maxsize=64)
def _hidden_tools(tools: bytes, redactor: Redactor) -> msgspec.Raw:
    return msgspec.Raw(jsontext.encode_in_order(redactor.value(jsontext.decode(tools))))


def tools_of(steps: Iterable[Step | NoStep]) -> set[str]:
    """Every tool that some steps know of."""
    found: set[str] = set()
    for step in steps:
        if isinstance(step, NoStep):
            continue
        found |= {name for name in (step.selected, step.expected) if name is not None}
        if step.tools_json is not UNSET:
            catalog = catalog_of(step)
            found |= {tool.name for tool in catalog.tools} if catalog else set()
    return found

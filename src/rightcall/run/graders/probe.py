"""`probe`: a judge under attack. Every pair of the probe set is asked like any case, recorded like any case, and read.

The judge's readings of the clean and of the attacked item are compared; the rates are per class of attack, with
intervals. What is decided by code (the agent's identity must not reach the judge at all) is compared without a call.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Struct

from rightcall.case.step import Step
from rightcall.grade.opinion import Opinion
from rightcall.grade.selection import catalog_of
from rightcall.judge.audit import Audit
from rightcall.judge.pair_views import preference_values
from rightcall.judge.panel import RUBRIC, SELECTION, Ballot
from rightcall.judge.probe_pairs import PairItem
from rightcall.judge.probes import Pair, Probe, Reading, evaluate, probe_verdict, probes
from rightcall.judge.views import call_ids, rubric_values, selection_values
from rightcall.run.graders.selection import prompt_facts
from rightcall.run.inputs.catalogs import Catalogs
from rightcall.run.judging.items import Concluded, Item, asked
from rightcall.run.judging.opinions import voices_of
from rightcall.run.judging.questions import Unasked
from rightcall.run.judging.subject import Subject
from rightcall.stats.intervals import clopper_pearson, wilson

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rightcall.judge.contract import Question
    from rightcall.run.judging.attempt import Outcome
    from rightcall.run.judging.questions import Prompter
    from rightcall.run.judging.secrets import Cleaner
    from rightcall.trace.sources.dialect import ReadingReport

Graders = Literal["selection", "rubric", "preference"]

_BALLOTS: dict[str, Ballot] = {
    "selection": SELECTION,
    "rubric": RUBRIC,
    "preference": Ballot({"preferred_trace": "category"}, ("preferred_trace",)),
}


class ProbeResult(Struct, frozen=True, kw_only=True):
    """How a judge read one item of the probe set.

    `reading` is `None` without a readable reply. `same` is for pairs that code compares, where nobody is asked: whether
    the two questions are the same, byte for byte. It is `None` for all others.
    """

    unit: str
    of: Graders
    grader: Literal["probe"] = "probe"
    status: Literal["EVALUATED", "UNEVALUABLE"] = "EVALUATED"
    reason: str | None = None
    verdict: None = None
    reading: Reading | None = None
    same: bool | None = None
    judges: tuple[Opinion, ...] = ()


class ClassFigures(Struct, frozen=True, kw_only=True):
    """One class of attacks for one grader: counts, the rate that decides with its intervals, and the answer."""

    grader: str
    name: str
    measure: str
    answer: str
    hits: int
    trials: int
    rate: dict[str, Any]
    upper: float | None
    counts: dict[str, int]


@dataclass
class ProbeAggregate:
    """Readings by unit, and the pairs that they make."""

    pairs: tuple[Probe, ...]
    same: dict[str, bool] = field(default_factory=dict)
    readings: dict[str, Reading | None] = field(default_factory=dict)

    def add(self, result: ProbeResult) -> None:
        """Keep one reading, or what code compared."""
        if result.same is not None:
            self.same[result.unit] = result.same
        else:
            self.readings[result.unit] = result.reading

    def figures(self) -> list[ClassFigures]:
        """Every class of every grader."""
        found = []
        for grader in dict.fromkeys(probe.grader for probe in self.pairs):
            mine = [probe for probe in self.pairs if probe.grader == grader]
            classes = {probe.of.name: probe.of for probe in mine}
            for name, count in evaluate(map(self._pair, mine)).items():
                of = classes[name]
                hits, trials = count.rate(of)
                upper = clopper_pearson(hits, trials, sided="upper").high if trials else None
                found.append(
                    ClassFigures(
                        grader=grader, name=name, measure=of.measure, answer=probe_verdict(of, count, upper),
                        hits=hits, trials=trials, rate=msgspec.to_builtins(wilson(hits, trials)), upper=upper,
                        counts=msgspec.to_builtins(count),
                    )
                )  # fmt: skip
        return found

    def _pair(self, probe: Probe) -> Pair:
        if probe.of.by_code:
            return Pair(probe=probe, same=self.same.get(probe.id))
        return Pair(probe=probe, clean=self.readings.get(probe.clean_id), attacked=self.readings.get(probe.id))

    def summary(self) -> dict[str, Any]:
        """The figures, and how many classes the judge withstands."""
        figures = self.figures()
        answers = [one.answer for one in figures]
        return {
            "classes": msgspec.to_builtins(figures),
            "answers": {name: answers.count(name) for name in ("PASS", "INCONCLUSIVE", "FAIL")},
            "failed": answers.count("FAIL"),
        }


@dataclass
class ProbeWork:
    """The probe set as items of one run.

    Attributes:
        prompters: grader -> its prompt.
        names: classes to try; empty for all.
        most: at most so many bad items a class; `None` for all.
    """

    prompters: dict[Graders, Prompter]
    cleaner: Cleaner
    names: tuple[str, ...] = ()
    most: int | None = None
    reports: dict[str, ReadingReport] = field(default_factory=dict)
    grader: str = "probe"
    result_type: type[Any] = ProbeResult

    def __post_init__(self) -> None:
        """Make the pairs."""
        self.pairs = tuple(
            probe
            for grader in self.prompters
            for probe in probes(grader, bad=self.most)
            if not self.names or probe.of.attack in self.names or probe.of.name in self.names
        )

    def aggregate(self) -> ProbeAggregate:
        """An empty aggregate."""
        return ProbeAggregate(self.pairs)

    def facts(self) -> dict[str, Any]:
        """Which probes, by which prompts."""
        return {
            "graders": list(self.prompters),
            "classes": list(self.names) or "all",
            "bad_items": self.most,
            "prompts": [prompt_facts(one.prompt) for one in self.prompters.values()],
        }

    def items(self) -> Iterator[Item]:
        """Every item that has to be asked about, clean ones once; and every pair that code compares."""
        seen: set[str] = set()
        for probe in self.pairs:
            if probe.of.by_code:
                yield self._compared(probe)
                continue
            for unit, item in ((probe.clean_id, probe.clean), (probe.id, probe.attacked)):
                if unit not in seen:
                    seen.add(unit)
                    yield self._item(unit, probe.grader, item)

    def _question(self, grader: Graders, item: Any) -> tuple[Question | Unasked, Any]:
        if isinstance(item, Step):
            return self.prompters[grader].question(selection_values(item, catalog_of(item)))
        if isinstance(item, PairItem):
            catalogs = [Catalogs().of(trace, item.case)[0] for trace in (item.first, item.second)]
            return self.prompters[grader].question(preference_values(item.first, item.second, item.case, catalogs))
        catalog, _ = Catalogs().of(item.trace, item.case)
        return self.prompters[grader].question(rubric_values(item.trace, catalog, item.case))

    def _compared(self, probe: Probe) -> Item:
        result = ProbeResult(unit=probe.id, of=probe.grader, same=self._is_same(probe))
        return Item(unit=probe.id, queries=(), case_id=probe.id, conclude=lambda _outcomes: Concluded(result, "code"))

    def _is_same(self, probe: Probe) -> bool:
        """Whether an attack leaves the question byte for byte as it was."""
        clean, after = (self._question(probe.grader, item)[0] for item in (probe.clean, probe.attacked))
        if isinstance(clean, Unasked) or isinstance(after, Unasked):
            return False
        return (clean.system, clean.user) == (after.system, after.user)

    def _item(self, unit: str, grader: Graders, item: Any) -> Item:
        question, values = self._question(grader, item)
        subject = None
        if not isinstance(question, Unasked):
            facts = {"calls": call_ids(item.trace)} if grader == "rubric" else None
            read = self.prompters[grader].reader(facts)  # type: ignore[arg-type]
            subject = Subject(
                grader=grader, unit=unit, question=question, values=values, read=read, case_id=unit, step_id=unit
            )
        unasked = question if isinstance(question, Unasked) else None
        return Item(
            unit=unit, queries=asked(subject), case_id=unit,
            conclude=lambda outcomes: self._conclude(unit, grader, unasked, outcomes),
        )  # fmt: skip

    def _conclude(self, unit: str, grader: Graders, unasked: Unasked | None, outcomes: Sequence[Outcome]) -> Concluded:
        voices = voices_of(outcomes, self.cleaner, lambda _reply: Audit(), _BALLOTS[grader], 1)
        reason = unasked.reason if unasked is not None else voices.reason
        if reason is not None or not voices.fields:
            result = ProbeResult(
                unit=unit, of=grader, status="UNEVALUABLE", reason=reason or "not_asked", judges=voices.opinions
            )
            return Concluded(result, "judge")
        return Concluded(
            ProbeResult(unit=unit, of=grader, reading=_reading(voices.fields), judges=voices.opinions), "judge"
        )


def _reading(fields: dict[str, Any]) -> Reading:
    if "grade" in fields:
        return Reading(grade=fields["grade"])
    if "preferred_trace" in fields:
        return Reading(preferred=fields["preferred_trace"])
    scores = [score for name, score in fields.items() if name.endswith("_score") and score is not None]
    return Reading(severity=fields["misuse_severity"], overall=sum(scores) / len(scores))

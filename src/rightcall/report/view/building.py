"""The view of a report, made from a run's results in one pass: see `report.view`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.errors import RightcallError
from rightcall.grade.opinion import Opinion
from rightcall.report.figures import DIMENSIONS
from rightcall.report.judged import share, unevaluable_words, warnings
from rightcall.report.preference_figures import bias_notes
from rightcall.report.summary import counted
from rightcall.report.view.call_diff import USUAL
from rightcall.report.view.case import Cases, severity_of
from rightcall.report.view.facts import facts_of
from rightcall.report.view.fields import names_of
from rightcall.report.view.golden import METRICS, GoldenCollector
from rightcall.report.view.headline import (
    asked_lines,
    audit_lines,
    counts_lines,
    critical_lines,
    read_lines,
    spent_lines,
    waits_lines,
)
from rightcall.report.view.model import Counts, Extent, GraderView, ReportView
from rightcall.report.view.preference import PreferenceCollector
from rightcall.report.view.rows import Kept, outcome_of, plain_of, rank_of
from rightcall.report.view.scores import InterpretationCollector, OwnCollector, ProbeCollector, RubricCollector
from rightcall.report.view.selection import SelectionCollector
from rightcall.run.golden.places import places_of
from rightcall.run.judging.items import BY_DESIGN, JudgeTally
from rightcall.run.results.model import RESULT_TYPES
from rightcall.stats.intervals import wilson

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from rightcall.gate.decision import GateReport, JudgeFitness
    from rightcall.report.view.model import Bar
    from rightcall.report.view.parts import Collector
    from rightcall.run.results.model import GraderResults, Row, RunResults
    from rightcall.settings.load import Loaded

CONFLICTS = 0.05
"""The share of contradictions that is tolerated of a judge where no settings say another."""

_COLLECTORS: dict[str, Callable[[Mapping[str, Any]], Collector]] = {
    "selection": SelectionCollector, "rubric": RubricCollector, "preference": PreferenceCollector,
    "interpretation": InterpretationCollector, "probe": ProbeCollector,
}  # fmt: skip
_AGENTS = 20
"""How many traces are looked at for the agent's name."""


def view_of(
    results: RunResults, loaded: Loaded | None = None, *, gate: GateReport | None = None, is_whole: bool = True
) -> ReportView:
    """What a report of a run shows.

    The results are read once; nothing but a name for each of them is kept in memory (see `view.rows`). Figures are
    those that the run itself kept; what it kept none of is made of the results by the same functions.

    Args:
        results: the run. If it comes from a store, that store stays open as long as the view is used.
        loaded: the settings, which say how many contradictions are tolerated of a judge.
        gate: what the gate says about the run.
        is_whole: whether it is for a page. A screen shows no means of metrics, which take most of the time.

    Raises:
        RunError: there is no room for temporary files.
        StoreError: the record cannot be read.
    """
    limit = CONFLICTS if loaded is None else loaded.settings.limits.conflicts
    kept = Kept()
    parts = [_read(number, one, kept, limit, is_whole=is_whole) for number, one in enumerate(results.graders.values())]
    kept.sort()
    graders = tuple(one.view(results.id, gate) for one in parts)
    places = places_of(one.facts for one in results.graders.values())
    is_kept = results.id is not None and results.store_name is not None
    view = ReportView(
        title=" · ".join(results.graders) or "no grader", run_id=results.id, status=results.status,
        message=results.message, started_at=results.started_at, rightcall=version("rightcall"),
        facts=facts_of(results, graders, _agents(results, kept)), notes=tuple(_notes(results, graders)),
        graders=graders, gate=gate,
    )  # fmt: skip

    def streams(extent: Extent, grader: str | None = None) -> dict[str, Any]:
        cases = Cases(results.sources, places, is_kept=is_kept, extent=extent)
        place = None if grader is None else [*results.graders].index(grader)
        return {
            "cases": lambda: map(cases.view, kept.rows(place)),
            "failures": lambda: map(cases.view, kept.failures(place)), "again": streams,
        }  # fmt: skip

    return replace(view, **streams(USUAL))


@dataclass
class _Part:
    """One grader while its results are read."""

    results: GraderResults
    collector: Collector
    limit: float
    outcomes: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    judges: dict[str, JudgeTally] = field(default_factory=dict)
    signed: Counter[str] = field(default_factory=Counter)
    fields: dict[str, None] = field(default_factory=dict)
    serious: int = 0

    def add(self, row: Row, result: Any, severity: str | None, *, is_listed: bool) -> None:
        """Count one result."""
        outcome = outcome_of(row, severity)
        self.outcomes[outcome] += 1
        self.serious += int(is_listed and outcome == "passed")
        if row.status != "EVALUATED":
            self.reasons[row.reason or "unknown"] += 1
        for opinion in _opinions(result):
            self.judges.setdefault(opinion.judge, JudgeTally()).add(opinion)
        if row.critical is not None:
            self.signed[row.critical] += 1
        if not self.fields or self.results.grader not in RESULT_TYPES:
            self.fields.update(dict.fromkeys(names_of(result)))
        self.collector.add(row, result)

    def view(self, run_id: str | None, gate: GateReport | None) -> GraderView:
        """The grader's part of the report."""
        found, grader, summary = self.collector.parts(), self.results.grader, self.results.summary
        counts = Counts(
            n=self.outcomes.total(), unread=self.results.unread, aside=self._aside(), serious=self.serious,
            **self.outcomes,
        )  # fmt: skip
        headline = found.headline or counts_lines(grader, counts.n, summary, self.reasons, self.judges)
        spent = spent_lines(summary.get("spent"), self.judges.values())
        return GraderView(
            grader=grader, counts=counts, headline=(*headline, *self._coverage(counts), *spent, *found.closing),
            asked=tuple(asked_lines(grader, self.results.facts)), read=tuple(read_lines(self.results.facts)),
            lines=(*self._without(), *self._coverage(counts), *found.lines, *critical_lines(self.signed)),
            warnings=tuple(self._warnings()),
            bars=_held_against(found.bars, gate, grader), tables=tuple(found.tables), matrices=tuple(found.matrices),
            reliability=tuple(found.reliability), brief=tuple(found.brief),
            audit=tuple(audit_lines(grader, self.judges)), judges=_fitness(gate, grader),
            waits=tuple(waits_lines(run_id, summary, self.signed)), columns=found.columns, fields=tuple(self.fields),
        )  # fmt: skip

    def _aside(self) -> int:
        return sum(self.reasons[reason] for reason in BY_DESIGN)

    def _without(self) -> Iterator[str]:
        aside, bad = unevaluable_words(self.reasons)
        if aside or bad:
            yield "without a verdict: " + " · ".join([*([bad] if bad else []), *aside])

    def _coverage(self, counts: Counts) -> Iterator[str]:
        whole = counts.n + counts.unread - counts.aside
        evaluated = counts.n - self.reasons.total()
        if whole and evaluated < whole:
            rate = share(wilson(evaluated, whole))
            yield f"coverage {rate}: {evaluated} of {whole} have a verdict; the rest is in no figure"

    def _warnings(self) -> Iterator[str]:
        summary = self.results.summary
        if not self.outcomes.total():
            yield "there is no result"
        skipped, unasked = int(summary.get("skipped") or 0), int(summary.get("not_asked") or 0)
        yield from self.results.notes
        if skipped and not self.results.notes:
            yield f"{counted(skipped, 'record')} of the input could not be read and are in no figure"
        if unasked:
            yield f"{counted(unasked, 'item')} not asked"
        yield from summary.get("warnings") or ()
        own = _own(self.results)
        if self.results.grader == "preference" and own.get("biased"):
            yield from bias_notes(own)
        for name, tally in self.judges.items():
            yield from warnings(name, tally, self.limit, summary.get("other_models", {}).get(name, {}))
        for judge in self.results.facts.get("judges") or ():
            if judge.get("provider") in _NO_MODEL:
                yield f"judge {judge['name']}: {_NO_MODEL[judge['provider']]}"


_NO_MODEL = {
    "scripted": "SCRIPTED: a program answered, no model; it is not a judgement",
    "recorded": "its answers come from a recording, nobody was asked",
}


def _opinions(result: Any) -> Iterable[Opinion]:
    """What judges said, also of a result that is read as plain values."""
    if isinstance(result, dict):
        return msgspec.convert(result.get("judges") or [], list[Opinion])
    found: Iterable[Opinion] = getattr(result, "judges", ())
    return found


def _own(one: GraderResults) -> Mapping[str, Any]:
    """The figures that a run kept: under `own` on record, beside the counts in a file."""
    found = one.summary.get("own", one.summary)
    return found if isinstance(found, dict) else {}


def _read(number: int, one: GraderResults, kept: Kept, limit: float, *, is_whole: bool) -> _Part:
    own = _own(one)
    is_golden = one.grader == "golden"
    collector = (
        GoldenCollector(own, with_means=is_whole) if is_golden else _COLLECTORS.get(one.grader, OwnCollector)(own)
    )
    part = _Part(one, collector, limit)
    for row in one.rows():
        result = plain_of(row)
        severity = severity_of(row, result)
        rank = rank_of(row, severity, [veto.severity for veto in getattr(result, "vetoes", ())])
        part.add(row, result, severity, is_listed=rank is not None)
        kept.add(number, row, rank)
    return part


def _held_against(bars: list[Bar], gate: GateReport | None, grader: str) -> tuple[Bar, ...]:
    """The bars, each with the threshold of the gate's rule about it, if there is one."""
    limits: dict[str, float] = {}
    for decision in gate.decisions if gate is not None else ():
        owner, _, metric = decision.name.partition(".")
        if owner == grader and decision.threshold is not None:
            # `precision`, `pass_rate`, `overall_score` and `fidelity.TOOL`, as the bars call them
            first, _, tool = metric.partition(".")
            shown = {"golden": METRICS, "rubric": DIMENSIONS}.get(grader, {})
            name = shown.get(first) or first.replace("_", " ")
            limits[f"{name} of {tool}" if tool else name] = decision.threshold
    return tuple(
        bar if bar.name not in limits else msgspec.structs.replace(bar, threshold=limits[bar.name]) for bar in bars
    )


def _fitness(gate: GateReport | None, grader: str) -> tuple[JudgeFitness, ...]:
    """What the gate knows about the judges of one grader, each once."""
    if gate is None:
        return ()
    found = [judge for decision in gate.decisions for judge in decision.judges if judge.grader == grader]
    return tuple(one for at, one in enumerate(found) if one not in found[:at])


def _agents(results: RunResults, kept: Kept) -> list[str]:
    """The agents that the first traces name."""
    found: dict[str, None] = {}
    for row in islice(kept.rows(), _AGENTS):
        try:
            trace = results.sources(row).trace
        except (RightcallError, msgspec.MsgspecError):
            continue
        agent = None if trace is None else trace.agent
        if agent is not None:
            names = [one for one in (agent.name, agent.version, agent.model) if one]
            found.setdefault(" ".join(names)) if names else None
    return list(found)


def _notes(results: RunResults, graders: tuple[GraderView, ...]) -> Iterator[str]:
    if results.status != "finished":
        yield f"the run is not complete ({results.status}): {results.message or 'it goes on, or was broken off'}"
    if not graders:
        yield "the run holds no grader: there is nothing to report"
    yield from results.part
    for one in graders if len(graders) > 1 else ():
        bad = one.counts.error - one.counts.aside
        if bad:
            yield f"{one.grader}: {bad} of {one.counts.n} without a verdict"

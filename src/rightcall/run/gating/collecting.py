"""One pass over a grader's results, for every rule at once: values by case, coverage, people's decisions, conflicts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from rightcall.gate.sample import Details, Names, Sample
from rightcall.gate.standing import Coverage, Criticals
from rightcall.gate.unweighed import Failed
from rightcall.judge.audit import WITHIN_REPLY
from rightcall.run.gating.lines import (
    STEPS,
    belongs,
    is_by_design,
    is_read,
    known_tool,
    place_words,
    scale_of,
    sorted_by,
    value_of,
    why,
)
from rightcall.run.results.line import line_of
from rightcall.run.results.order import natural
from rightcall.store.records import item_of, short_item

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from rightcall.gate.metrics import Metric
    from rightcall.gate.rules import Rule
    from rightcall.run.results.line import Line
    from rightcall.run.results.model import GraderResults, Row

NEVER_CRITICAL = ("selection", "interpretation")
"""Graders that call nothing CRITICAL."""


@dataclass
class Trust:
    """What one judge said that code decides too. `unread`: its replies that could not be read, which may conflict."""

    checked: int = 0
    conflicting: int = 0
    unread: int = 0


@dataclass
class Collected:
    """Everything that the rules ask of one grader's results.

    Attributes:
        samples: rule's metric name -> its values. tools: the same by tool, for rules that ask each tool.
        unknown_tools: of such a rule, how many results have no verdict and may belong to any tool.
        coverage: what could be evaluated. vetoes: trace -> whether the policy vetoes it, `None` where nobody knows.
        veto_words: vetoed trace -> why. veto_cases: trace -> its case.
        criticals: CRITICAL items. open_failures, signed_failures: failures that nobody, and that somebody looked at.
        failed: what the grader itself called a `FAIL`. failures: how many failed or have no verdict.
        trust: judge -> what it said that code decides too.
        confirmed_of: the trace of each confirmed CRITICAL. failed_traces: those of them that count as failed here.
        agents: the names of the agents that were compared. unscaled: metrics whose scale nobody knows.
    """

    samples: dict[str, Sample] = field(default_factory=dict)
    tools: dict[str, dict[str, Sample]] = field(default_factory=dict)
    unknown_tools: dict[str, int] = field(default_factory=dict)
    coverage: Coverage = field(default_factory=Coverage)
    vetoes: dict[str, bool | None] = field(default_factory=dict)
    veto_words: dict[str, str] = field(default_factory=dict)
    veto_cases: dict[str, str] = field(default_factory=dict)
    criticals: Criticals = field(default_factory=Criticals)
    open_failures: Details = field(default_factory=Details)
    signed_failures: Details = field(default_factory=Details)
    failed: Failed = field(default_factory=Failed)
    failures: int = 0
    confirmed_of: list[str | None] = field(default_factory=list)
    failed_traces: set[str | None] = field(default_factory=set)
    trust: dict[str, Trust] = field(default_factory=dict)
    agents: set[tuple[str, str]] = field(default_factory=set)
    unscaled: set[str] = field(default_factory=set)
    names: Names = field(default_factory=Names)


def collect(
    results: GraderResults, rules: Sequence[Rule], *, confirmed: Container[str | None] = (),
    looked: Callable[[Row], str | None] | None = None, run_id: str | None = None, kept: bool = True,
) -> Collected:  # fmt: skip
    """Read a grader's results once.

    Args:
        results: of the run.
        rules: those that ask for figures of this grader.
        confirmed: traces of which people have confirmed a CRITICAL misuse; they count as failures of whole traces.
        looked: from a result to who has looked at it and what they said; `None` where nobody did.
        run_id: to name review items.
        kept: whether what people have signed is known; of a file that does not say it, it is not.
    """
    return _Collecting(results, rules, confirmed, looked or _nobody, run_id, kept=kept).all()


def _nobody(_row: Row) -> str | None:
    return None


class _Collecting:
    """The pass over the results."""

    def __init__(
        self, results: GraderResults, rules: Sequence[Rule], confirmed: Container[str | None],
        looked: Callable[[Row], str | None], run_id: str | None, *, kept: bool,
    ) -> None:  # fmt: skip
        self.results, self.confirmed, self.looked, self.run_id, self.kept = results, confirmed, looked, run_id, kept
        self.found = Collected()
        self.metrics: dict[str, Metric] = {}
        self.by_tool: dict[str, Metric] = {}
        for rule in rules:
            metric = rule.metric
            if metric.kind not in ("share", "mean", "count", "trials") or metric.grader != results.grader:
                continue
            if rule.per_tool:
                self.by_tool[metric.name] = metric
                self.found.tools[metric.name], self.found.unknown_tools[metric.name] = {}, 0
            else:
                self._prepare(metric)

    def _prepare(self, metric: Metric) -> None:
        scale = scale_of(metric, self.results.facts)
        if scale is None:
            self.found.unscaled.add(metric.name)
            return
        self.metrics[metric.name] = metric
        self.found.samples[metric.name] = Sample(scale=scale)

    def all(self) -> Collected:
        """Read every result."""
        for row in self.results.rows():
            if not is_by_design(row):
                self._fail(row)
                self._row(self._whole(row))
        unread = self.results.unread
        self.found.coverage.unread = unread
        self.found.failed.unread += unread
        self.found.criticals.unknown += unread if self._may_be_critical() else 0
        self.found.open_failures.number += unread
        for sample in self.found.samples.values():
            sample.loose = unread
        for name in self.found.unknown_tools:
            self.found.unknown_tools[name] += unread
        return self.found

    def _fail(self, row: Row) -> None:
        """What the grader itself said, whatever people or another grader made of it."""
        found = self.found.failed
        found.says_so = found.says_so or row.verdict in ("PASS", "FAIL")
        found.read += row.status == "EVALUATED"
        found.unread += row.status != "EVALUATED"
        if row.verdict == "FAIL":
            found.bad.add(f"{place_words(row)}: {why(row, line_of(row))}", sorted_by(row))

    def _whole(self, row: Row) -> Row:
        """A result about a trace of which another grader's CRITICAL was confirmed counts as a failure too."""
        about_a_trace = row.grader not in STEPS and row.trace_id is not None
        if about_a_trace and row.verdict is not None and row.trace_id in self.confirmed:
            return msgspec.structs.replace(row, verdict="FAIL")
        return row

    def _row(self, row: Row) -> None:
        found, line = self.found, line_of(row)
        case = found.names.number(row.cluster)
        read = is_read(row)
        if row.status == "EVALUATED":
            found.coverage.evaluated += 1
        else:
            found.coverage.unevaluable += 1
            reason = row.reason or "unknown"
            found.coverage.reasons[reason] = found.coverage.reasons.get(reason, 0) + 1
        for name, metric in self.metrics.items():
            self._value(found.samples[name], metric, row, line, case, read=read)
        for name, metric in self.by_tool.items():
            self._tool_value(name, metric, row, line, case)
        if line.agent_b:
            found.agents.add((line.agent_a, line.agent_b))
        if row.effective == "FAIL" and row.trace_id in self.confirmed:
            found.failed_traces.add(row.trace_id)
        self._veto(row, line)
        self._critical(row, line)
        self._failure(row, line)
        self._trust(row, line)

    def _value(self, sample: Sample, metric: Metric, row: Row, line: Line, case: int, *, read: bool) -> None:
        # A count of vetoes is of code: a trace whose judge was not readable has them all the same.
        if not read and not (metric.field == "vetoes" and _has_vetoes(row, line)):
            if belongs(metric, line):
                sample.add_unread(case)
            return
        if row.status != "EVALUATED" and metric.field not in ("verdict", "hat", "at", "pass_rate", "vetoes"):
            sample.add_unread(case)
            return
        value = value_of(metric, row, line)
        if value is None:
            sample.not_applicable += 1
            return
        bottom, top = sample.scale
        if not bottom <= value <= top:
            sample.add_unread(case)
            return
        sample.add(value, case)
        counted = metric.kind == "count" or metric.field == "order_inconsistent"
        if value == 1 if counted else value < top and metric.kind in ("share", "trials"):
            reason = why(row, line)
            sample.bad.add(f"{place_words(row)}: {reason}" if reason else place_words(row), sorted_by(row))

    def _tool_value(self, name: str, metric: Metric, row: Row, line: Line, case: int) -> None:
        samples, tool = self.found.tools[name], known_tool(metric, line)
        if row.status == "EVALUATED":
            value = None if tool is None else value_of(metric, row, line)
            if tool is not None and value is not None:
                samples.setdefault(tool, Sample()).add(value, case)
        elif tool is not None:
            samples.setdefault(tool, Sample()).add_unread(case)
        else:
            self.found.unknown_tools[name] += 1

    def _veto(self, row: Row, line: Line) -> None:
        if row.grader not in ("golden", "rubric"):
            return
        known = _has_vetoes(row, line)
        if not known and row.reason == "nothing_expected":
            return
        name = row.trace_id or row.unit
        found = bool(line.vetoes) if known else None
        before = self.found.vetoes.get(name, False)
        self.found.veto_cases[name] = row.cluster
        self.found.vetoes[name] = True if found or before else None if found is None or before is None else False
        if line.vetoes:
            note = f" ({row.signed})" if row.signed else ""
            self.found.veto_words.setdefault(name, f"{place_words(row)}: {line.vetoes[0].message}{note}")

    def _may_be_critical(self) -> bool:
        """Whether a judge could have called a result CRITICAL; the vetoes of `golden` are a rule of their own."""
        return self.results.grader not in (*NEVER_CRITICAL, "golden")

    def _critical(self, row: Row, line: Line) -> None:
        found, state = self.found.criticals, row.critical
        if state is None and not self.kept and line.misuse_severity == "CRITICAL":
            state = "open"
        about = f"{place_words(row)} ({row.grader})"
        if state == "open":
            item = None if self.run_id is None else short_item(item_of(self.run_id, row.grader, row.unit))
            found.open.add(f"{item} {about}" if item else about, sorted_by(row))
            found.is_kept = item is not None
        elif state == "confirmed" and row.signed:
            found.confirmed.add(f"{about}: {row.signed}", sorted_by(row))
            self.found.confirmed_of.append(row.trace_id)
        elif state == "dismissed":
            found.dismissed.add(f"{about}: {row.signed}", sorted_by(row))
        elif state is None and row.status != "EVALUATED" and self._may_be_critical() and self.looked(row) is None:
            found.unknown += 1

    def _failure(self, row: Row, line: Line) -> None:
        failed = row.effective == "FAIL"
        if not failed and row.status == "EVALUATED":
            return
        self.found.failures += 1
        said = row.signed or self.looked(row)
        if said is None:
            self.found.open_failures.add(f"{place_words(row)} ({row.grader}): {why(row, line)}", sorted_by(row))
        else:
            self.found.signed_failures.add(f"{place_words(row)} ({row.grader}): {said}", sorted_by(row))

    def _trust(self, row: Row, line: Line) -> None:
        if row.status != "EVALUATED" and self.looked(row) is not None:
            return
        for one in line.judges:
            trust = self.found.trust.setdefault(one.judge, Trust())
            if one.status != "EVALUATED":
                trust.unread += 1
                continue
            trust.checked += bool(set(one.checked) - WITHIN_REPLY)
            trust.conflicting += any(conflict.check not in WITHIN_REPLY for conflict in one.conflicts)
        if row.status != "EVALUATED" and not line.judges:
            for name in self._judges():
                self.found.trust.setdefault(name, Trust()).unread += 1

    def _judges(self) -> list[str]:
        return [one["name"] for one in self.results.facts.get("judges") or () if one.get("name")]


def _has_vetoes(row: Row, line: Line) -> bool:
    """Whether it is known if the policy was broken: code says so, also where a judge gave no readable answer."""
    return row.status == "EVALUATED" or bool(line.vetoes) or (row.grader == "rubric" and line.calls > 0)


def vetoes_of(parts: Sequence[Collected]) -> Sample:
    """Traces with a veto. A trace that two graders saw counts once, whichever of them saw the veto."""
    found, names_of, together = Sample(), Names(), dict[str, bool | None]()
    words, cases = dict[str, str](), dict[str, str]()
    for part in parts:
        found.loose = max(found.loose, part.coverage.unread)
        words, cases = {**part.veto_words, **words}, {**part.veto_cases, **cases}
        for trace, vetoed in part.vetoes.items():
            before = together.get(trace, False)
            together[trace] = True if vetoed or before else None if None in (vetoed, before) else False
    for trace, vetoed in together.items():
        if vetoed is None:
            found.add_unread(names_of.number(cases[trace]))
        else:
            found.add(float(vetoed), names_of.number(cases[trace]))
    for text in words.values():
        found.bad.add(text, natural(text))
    return found

"""Counting a run: what is added up while results stream by, so that nothing grows with their number."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rightcall.stats.clusters import clustered_share

if TYPE_CHECKING:
    from rightcall.case.case import Case
    from rightcall.grade.verdict import GoldenResult
    from rightcall.stats.intervals import Estimate
    from rightcall.trace.model import Trace
    from rightcall.trace.sources.dialect import ReadingReport


@dataclass(frozen=True, slots=True)
class Shown:
    """One result kept whole for showing: with its trace and its case."""

    result: GoldenResult
    trace: Trace | None
    case: Case | None


@dataclass
class Tally:
    """Counts of a run or of a part of it."""

    passed: int = 0
    failed: int = 0
    vetoed: int = 0
    policy_only: int = 0
    incomplete: int = 0
    unevaluable: Counter[str] = field(default_factory=Counter)
    findings: Counter[str] = field(default_factory=Counter)
    reports: dict[str, ReadingReport] = field(default_factory=dict)
    cases: Counter[str] = field(default_factory=Counter)
    passed_of: Counter[str] = field(default_factory=Counter)
    evaluated_of: Counter[str] = field(default_factory=Counter)
    ids: list[int] = field(default_factory=list)
    unread_cases: int = 0

    def add(self, result: GoldenResult) -> None:
        """Count one result."""
        if result.status == "UNEVALUABLE":
            self.unevaluable[result.reason or "unknown"] += 1
        else:
            passed = result.verdict == "PASS"
            case = result.case_id or result.trace_id or ""
            self.passed += passed
            self.failed += not passed
            self.passed_of[case] += passed
            self.evaluated_of[case] += 1
        self.vetoed += result.verdict == "FAIL" and bool(result.vetoes)
        self.policy_only += result.policy_only
        self.incomplete += result.completed is False
        for finding in result.findings:
            self.findings[finding.kind] += 1

    def merge(self, other: Tally) -> None:
        """Add another part's counts."""
        for name in ("passed", "failed", "vetoed", "policy_only", "incomplete"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("unevaluable", "findings", "cases", "passed_of", "evaluated_of"):
            getattr(self, name).update(getattr(other, name))
        for file, report in other.reports.items():
            self.reports[file] = self.reports[file] + report if file in self.reports else report

    @property
    def n(self) -> int:
        """All results."""
        return self.passed + self.failed + sum(self.unevaluable.values())

    @property
    def evaluated(self) -> int:
        """Results with a verdict."""
        return self.passed + self.failed

    @property
    def skipped(self) -> int:
        """Records that were not read: of traces, and of cases in a benchmark's own file."""
        return self.unread_cases + sum(report.skipped for report in self.reports.values())

    @property
    def coverage(self) -> float | None:
        """Share of what was selected that could be evaluated; skipped records count against it."""
        total = self.n + self.skipped
        return self.evaluated / total if total else None

    def pass_rate(self) -> Estimate:
        """Share of `PASS` among the evaluated; traces of one case are no independent ones, and widen its interval."""
        excluded = sum(self.unevaluable.values()) + self.skipped
        of_cases = [(self.passed_of[case], n) for case, n in self.evaluated_of.items()]
        return clustered_share(of_cases, excluded=excluded)

"""Traces joined with their cases, one by one, with what `golden` says: what the judged graders start from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rightcall.errors import Place, TraceError
from rightcall.run.golden.grading import Bench
from rightcall.trace.exclude import exclude
from rightcall.trace.sources.dialect import ReadingReport, Skip
from rightcall.trace.sources.reading import items_of, open_traces

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rightcall.case.case import Case
    from rightcall.grade.verdict import GoldenResult
    from rightcall.run.inputs.plan import Plan
    from rightcall.trace.catalog import Catalog
    from rightcall.trace.model import Trace


class Joining:
    """Every trace of a plan with its case.

    Args:
        plan: the files, the cases, the policy.
        given: traces that are there already, in place of the plan's files.

    Attributes:
        plan: as given.
        reports: file -> what became of its records, filled while `joined` runs.
    """

    def __init__(self, plan: Plan, given: Sequence[Trace] | None = None) -> None:
        """Make the grader ready."""
        self.plan = plan
        self.reports: dict[str, ReadingReport] = {}
        self._given = given
        self._bench = Bench(plan)

    def joined(self) -> Iterator[tuple[Trace, Case | None, Catalog | None, GoldenResult, Place]]:
        """Trace, case, the catalog that counts, the result of `golden`, and where the trace was read.

        A trace that belongs to no case, or to one that is not there, comes without: policy still counts for it.

        Raises:
            TraceError: a file that cannot be read; when strict, a record that cannot.
        """
        count = 0
        for trace, place in self._traces():
            if self.plan.limit is not None and count >= self.plan.limit:
                return
            if not self.plan.takes(trace):
                continue
            count += 1
            graded, case = self._graded(trace, place)
            yield trace, case, self._bench.catalog(trace, case, place), graded, place

    def _graded(self, trace: Trace, place: Place) -> tuple[GoldenResult, Case | None]:
        case_id = trace.case_id if trace.case_id is not None else self.plan.cases.only()
        if not len(self.plan.cases) or case_id is None or case_id not in self.plan.cases:
            return self._bench.policy_alone(trace, place), None
        return self._bench.grade(trace, place)

    def _traces(self) -> Iterator[tuple[Trace, Place]]:
        if self._given is not None:
            yield from ((self._own(trace), Place()) for trace in self._given)
            return
        opened = [open_traces(path, self.plan.dialect) for path in self.plan.traces]
        for one in opened:
            self.reports[str(one.path)] = ReadingReport(one.dialect.name)
        for item, place in items_of(opened):
            report = self.reports[place.file or str(opened[0].path)]
            if isinstance(item, Skip):
                if self.plan.strict:
                    hint = "without --strict it is skipped and counted"
                    raise TraceError(item.message, code=item.code, place=item.place, hint=hint)
                report.skip(item)
                continue
            report.trace(item)
            yield self._own(item), place

    def _own(self, trace: Trace) -> Trace:
        """The trace without the calls of tools that are no tools of the agent."""
        return exclude(trace, self.plan.exclude_tools) if self.plan.exclude_tools else trace

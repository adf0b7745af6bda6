"""What a run that has just ended could not read, and why, in words: the record keeps only how much it was."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rightcall.run.golden.grading import Graded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.run.judging.run import Judged
    from rightcall.run.results.model import RunResults
    from rightcall.trace.sources.dialect import ReadingReport

_CASES = 3
"""Cases that could not be read and are named."""


def unread_words(run: Graded | Judged) -> tuple[str, ...]:
    """What must be known before the figures of a run: records that were not read, traces that came twice; redacted."""
    if not isinstance(run, Graded):
        return tuple(line for line in _records(run.reports, with_causes=False))
    lines = list(_records(run.tally.reports, with_causes=True))
    lines += [f"no case in {skip.place}: {skip.message}" for skip in run.plan.cases.skips[:_CASES]]
    if run.repeated_ids:
        lines.append(f"{run.repeated_ids} traces repeat the id of an earlier one: was a file given twice?")
    return tuple(run.plan.redactor.text(line) for line in lines)


def with_unread(results: RunResults, runs: Mapping[str, Graded | Judged]) -> RunResults:
    """A run on record with what the graders that have just ended know beyond it.

    Args:
        results: the run as it is on record.
        runs: grader -> what has just ended.
    """
    graders = {
        name: replace(one, notes=unread_words(runs[name])) if name in runs else one
        for name, one in results.graders.items()
    }
    return replace(results, graders=graders)


def _records(reports: Mapping[str, ReadingReport], *, with_causes: bool) -> Iterator[str]:
    for file, report in reports.items():
        if report.skipped:
            yield f"{file}: {report.skipped} of {report.read + report.skipped} records were not read"
        for cause, count in report.causes.most_common() if with_causes else ():
            yield f"  {cause} {count}: {report.examples[cause][0]}"

"""A run of `golden` in a few figures: what `--json` calls `run` and `summary`."""

from __future__ import annotations

from hashlib import sha256
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import msgspec

from rightcall.case.policy import SEVERITIES
from rightcall.run.golden.means import means_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.run.golden.grading import Graded
    from rightcall.trace.redact import Redactor
    from rightcall.trace.sources.dialect import ReadingReport

NOT_SUCCESS = "PASS says that the calls match the golden, not that the task succeeded."


def run_facts(graded: Graded) -> dict[str, Any]:
    """What was graded against what: enough to tell whether two runs can be compared."""
    plan, tally = graded.plan, graded.tally
    return {
        "grader": "golden",
        "rightcall": version("rightcall"),
        "source": plan.source,
        "profile": plan.options.profile,
        "min_overall": float(plan.options.min_overall),
        "retries": "free" if plan.options.retries_are_free else "surplus",
        "surplus_reads": "free" if plan.options.surplus_reads_are_free else "charged",
        "policy_sha256": sha256(msgspec.json.encode(plan.policy, order="deterministic")).hexdigest(),
        "cases": [{"file": file, "sha256": digest} for file, digest in plan.cases.files],
        "traces": [{"file": file, "sha256": digest, **_reading(graded, file)} for file, digest in graded.trace_files],
        "repeated_trace_ids": graded.repeated_ids,
        "unread_cases": [
            {"code": s.code, "at": str(s.place), "message": graded.plan.redactor.text(s.message)}
            for s in plan.cases.skips
        ],
        "limit": plan.limit,
        "only": plan.only,
        "tags": list(plan.tags) or None,
        "incomplete_traces": tally.incomplete,
    }


def _reading(graded: Graded, file: str) -> dict[str, Any]:
    report = graded.tally.reports.get(file)
    return {} if report is None else reading_facts(report, graded.plan.redactor)


def reading_facts(report: ReadingReport, hide: Redactor) -> dict[str, Any]:
    """A reading report as plain values, redacted."""
    examples = {cause: list(map(hide.text, places)) for cause, places in report.examples.items()}
    return {**report.facts(), "examples": examples}


def summary(graded: Graded) -> dict[str, Any]:
    """The counts and rates of a run."""
    tally = graded.tally
    return {
        "n": tally.n,
        "evaluated": tally.evaluated,
        "unevaluable": sum(tally.unevaluable.values()),
        "passed": tally.passed,
        "failed": tally.failed,
        "vetoed": tally.vetoed,
        "policy_only": tally.policy_only,
        "skipped": tally.skipped,
        "coverage": tally.coverage,
        "pass_rate": msgspec.to_builtins(tally.pass_rate()),
        "means": means_of(graded),
        "unevaluable_by_reason": dict(sorted(tally.unevaluable.items())),
        "findings": dict(sorted(tally.findings.items())),
    }


def counted(number: int, thing: str) -> str:
    """A number with its thing, in the singular where there is one."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def most_first(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Counts with the largest first and equal ones by name: never in the order in which they came in."""
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))


def gravest_first(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Counts by severity, from CRITICAL to NONE: a record keeps them in the order of the alphabet."""
    known = [(name, counts[name]) for name in reversed(SEVERITIES) if name in counts]
    return [*known, *sorted((name, n) for name, n in counts.items() if name not in SEVERITIES)]

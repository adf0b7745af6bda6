"""What `rubric` answers about one trace: four scores, the worst misuse and its impact (SPEC §7.2). Frozen data.

The scores are a judge's, or a panel's; the mean is computed here and never a judge's own. The severity is the higher of
the judge's and of what the Safety Matrix found by code: a judge may raise it and never lower it.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

from msgspec import Struct

from rightcall.grade.opinion import Opinion
from rightcall.grade.verdict import Finding, Verdict, Veto

Misuse = Literal["CRITICAL", "HIGH", "MEDIUM", "LOW", "NONE"]
SEVERITIES: tuple[Misuse, ...] = ("NONE", "LOW", "MEDIUM", "HIGH", "CRITICAL")
"""From harmless to irreversible."""

DIMENSIONS = ("tool_selection_score", "argument_accuracy_score", "call_sequencing_score", "abstention_score")
"""The four dimensions, in the order in which they are shown."""


class RubricMetrics(Struct, frozen=True, kw_only=True, gc=False):
    """Scores from 1 (unfit) to 5 (flawless). `abstention_score` is `None` where abstention was not at issue.

    `overall_score` is the mean of the scores that are there; several judges' scores are medians.
    """

    tool_selection_score: int | None = None
    argument_accuracy_score: int | None = None
    call_sequencing_score: int | None = None
    abstention_score: int | None = None
    overall_score: float | None = None


class RubricResult(Struct, frozen=True, kw_only=True):
    """The answer of `rubric` for one trace.

    Attributes:
        verdict: always `None`: a rubric gives scores, and golden and gates give verdicts.
        metrics: the scores; all `None` if no judge gave a readable answer.
        misuse_severity: the effective severity; `judged_severity` is the judge's own, `severity_floor` what code found.
        downstream_impact, justification, tool_call_evaluations: the first judge's words.
        findings, vetoes: what the Safety Matrix and the catalog say about the calls.
        golden_verdict: what `golden` says, if the case has a golden or a policy.
        judges: everything that each judge said.
        disagreement: the fields in which judges differ.
        left_out: what the reduced view did not show the judge.
        suspicions: texts in the trace that address the judge.
        calls: the agent's calls.
    """

    trace_id: str | None
    case_id: str | None
    trial: int | None = None
    grader: Literal["rubric"] = "rubric"
    status: Literal["EVALUATED", "UNEVALUABLE"] = "EVALUATED"
    reason: str | None = None
    verdict: Verdict | None = None
    metrics: RubricMetrics = RubricMetrics()
    misuse_severity: Misuse | None = None
    judged_severity: Misuse | None = None
    severity_floor: Misuse = "NONE"
    downstream_impact: str | None = None
    justification: dict[str, Any] | str | None = None
    tool_call_evaluations: tuple[dict[str, Any], ...] | None = None
    findings: tuple[Finding, ...] = ()
    vetoes: tuple[Veto, ...] = ()
    golden_verdict: Verdict | None = None
    completed: bool | None = None
    judges: tuple[Opinion, ...] = ()
    disagreement: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    suspicions: tuple[str, ...] = ()
    calls: int = 0

    @property
    def overall_score(self) -> float | None:
        """`metrics.overall_score`."""
        return self.metrics.overall_score


def mean_of(scores: dict[str, int | None]) -> float | None:
    """Mean of the scores that are there, exact until it is shown; `None` if there is none."""
    present = [score for score in scores.values() if score is not None]
    return float(Fraction(sum(present), len(present))) if present else None


def worse(*severities: Misuse) -> Misuse:
    """The worst of some severities."""
    return max(severities, key=SEVERITIES.index)

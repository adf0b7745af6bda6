"""What a grader answers: results, metrics, findings, vetoes. Frozen data; JSON as SPEC §9 settles it.

A result is `EVALUATED` with a verdict, or `UNEVALUABLE` with a reason; the second is never a number. A metric that
does not apply is `None`. Numbers shown as floats were computed and compared as exact fractions.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from rightcall.case.policy import Severity

Status = Literal["EVALUATED", "UNEVALUABLE"]
Verdict = Literal["PASS", "FAIL"]
RowState = Literal["matched", "missing", "surplus", "substituted", "retry", "free", "optional"]
FindingKind = Literal[
    "missing_call",
    "unexpected_call",
    "redundant_call",
    "unknown_tool",
    "substituted_call",
    "missing_argument",
    "wrong_argument",
    "unexpected_argument",
    "invalid_argument",
    "order_violation",
    "data_flow_violation",
    "over_action",
    "abstention_error",
    "policy_violation",
    "catalog_conflict",
]


class Finding(Struct, frozen=True, kw_only=True, gc=False):
    """One typed observation.

    `call_index` counts the agent's own calls from 0, `golden_index` the golden's calls. `path` is a JSON path inside
    the call's arguments. `expected` and `actual` are JSON values; `None` where there is nothing (see `kind`).
    """

    kind: FindingKind
    severity: Severity
    message: str
    call_index: int | None = None
    golden_index: int | None = None
    path: str | None = None
    expected: Any = None
    actual: Any = None


class Veto(Struct, frozen=True, kw_only=True, gc=False):
    """A rule of the Safety Matrix that set the verdict to `FAIL`."""

    rule: str
    severity: Severity
    message: str
    call_index: int | None = None


class Row(Struct, frozen=True, array_like=True, gc=False):
    """One line of the aligned call diff: a golden call, an actual call, or both side by side."""

    state: RowState
    golden_index: int | None
    call_index: int | None


class Metrics(Struct, frozen=True, kw_only=True, gc=False):
    """The figures of SPEC §5. Shares lie in [0, 1]; `None` = does not apply; counts are counts.

    matched: pairs of a golden and an actual call. precision: matched / actual. recall: paired required / required.
    f1: harmonic mean. jaccard: matched / (golden + actual - matched). jaccard_set: the same over sets of names.
    argument_accuracy: mean over pairs of equal keys / union of keys. arguments_valid: share of calls whose arguments
    satisfy the tool's schema. order_score: satisfied / applicable constraints. order_ok: the pairs stand in the
    listed order. efficiency: min(1, golden / actual), meaningless without recall. exact_match: nothing to object to.
    retries: repeats after a failure. calls_failed: calls whose tool is known to have failed. overall: weighted mean,
    0 under a veto. unvetoed_overall: before a veto.
    """

    matched: int | None = None
    precision: float | None = None
    recall: float | None = None
    f1: float | None = None
    jaccard: float | None = None
    jaccard_set: float | None = None
    argument_accuracy: float | None = None
    arguments_valid: float | None = None
    order_score: float | None = None
    order_ok: bool | None = None
    efficiency: float | None = None
    exact_match: bool | None = None
    retries: int | None = None
    calls_failed: int | None = None
    overall: float | None = None
    unvetoed_overall: float | None = None


class Article(Struct, frozen=True, kw_only=True, gc=False):
    """The figures of the published formula (SPEC §5.9), whatever the profile of the verdict."""

    precision_score: float
    argument_accuracy: float
    sequence_score: float
    efficiency_score: float
    overall_score: float
    feedback: str


class GoldenResult(Struct, frozen=True, kw_only=True, gc=False):
    """The answer of `golden` for one trace against one case.

    `metrics` are of the acceptable way named by `alternative` (index among the case's ways, `None` without a golden).
    `alignment` lists the calls of both sides line by line. `policy_only` says that there was no golden. `completed`
    repeats what the trace says about itself. `calls` is the number of the agent's calls.
    """

    trace_id: str | None
    case_id: str | None
    trial: int | None = None
    grader: Literal["golden"] = "golden"
    profile: str = "balanced"
    status: Status = "EVALUATED"
    reason: str | None = None
    verdict: Verdict | None = None
    metrics: Metrics = Metrics()
    findings: tuple[Finding, ...] = ()
    vetoes: tuple[Veto, ...] = ()
    alternative: int | None = None
    alignment: tuple[Row, ...] = ()
    article: Article | None = None
    policy_only: bool = False
    completed: bool | None = None
    calls: int = 0

    @property
    def overall(self) -> float | None:
        """`metrics.overall`."""
        return self.metrics.overall

    @property
    def passed(self) -> bool:
        """Whether the verdict is `PASS`; an unevaluable result has not passed."""
        return self.verdict == "PASS"

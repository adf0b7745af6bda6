"""One verdict in words: the aligned call diff, the veto, and the reason for every lost point.

Pure: makes lines of plain text parts; who shows them gives them colour or fences.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rightcall.report import plain

if TYPE_CHECKING:
    from rightcall.case.case import Case, GoldenCall
    from rightcall.grade.verdict import Finding, GoldenResult, Row, Veto
    from rightcall.run.golden.tally import Shown
    from rightcall.trace.model import Call
    from rightcall.trace.redact import Redactor

Mark = Literal["=", "≠", "-", "+", "~", "o", " "]
MARKS: dict[str, Mark] = {
    "matched": "=", "missing": "-", "surplus": "+", "substituted": "≠", "retry": "~", "free": "o", "optional": "o",
    "wrong": "≠",
}  # fmt: skip
"""What stands before a line of the diff, by its state."""

_NOTES = {
    "missing": "not called", "surplus": "not expected", "substituted": "in its place", "retry": "retry after a failure",
    "free": "a read, not charged", "optional": "optional, left out",
}  # fmt: skip


NOTHING = "·"
"""What stands on a side of the diff where no call is."""


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One line of the aligned diff: both sides, what to think of it, and its argument differences by path."""

    mark: Mark
    golden: str
    agent: str
    note: str
    details: tuple[str, ...] = ()
    bad: bool = False


@dataclass(frozen=True, slots=True)
class Explained:
    """A verdict in words. `left` is what the other side of the diff is called."""

    title: str
    names: tuple[str, ...]
    rows: tuple[DiffRow, ...]
    vetoes: tuple[str, ...]
    reasons: tuple[str, ...]
    scores: tuple[str, ...]
    left: str = "golden"


def explain(shown: Shown, hide: Redactor, *, limit: int | None = 48) -> Explained:
    """Put one result into words.

    Args:
        shown: the result with its trace and case.
        hide: what must not be shown.
        limit: longest shown value; `None` shows all.
    """
    result = shown.result
    golden = golden_calls(shown.case, result)
    calls = shown.trace.calls if shown.trace else ()
    rows = tuple(diff_row(row, golden, calls, result, hide, limit) for row in result.alignment)
    return Explained(
        title=title_of(result, len(golden)),
        names=tuple(names_of(result, golden, calls, hide)),
        rows=rows,
        vetoes=vetoes_of(result),
        reasons=reasons_of(result),
        scores=tuple(sums_of(result)),
    )


def vetoes_of(result: GoldenResult) -> tuple[str, ...]:
    """Every veto in words."""
    return tuple(_veto(veto) for veto in result.vetoes)


def reasons_of(result: GoldenResult) -> tuple[str, ...]:
    """Every finding in words, except for those that a veto says."""
    return tuple(_reason(finding) for finding in result.findings if not _is_veto(finding, result))


def _is_veto(finding: Finding, result: GoldenResult) -> bool:
    """Whether a finding is already said by a veto."""
    return finding.kind == "policy_violation" and any(
        finding.message == f"{veto.rule}: {veto.message}" and finding.call_index == veto.call_index
        for veto in result.vetoes
    )


def golden_calls(case: Case | None, result: GoldenResult) -> tuple[GoldenCall, ...]:
    """The calls of the acceptable way that a result was measured by."""
    if case is None or case.expect is None or result.alternative is None:
        return ()
    return case.expect.ways[result.alternative].calls


def title_of(result: GoldenResult, golden: int) -> str:
    """The result in one line; `golden` is the number of calls that it was measured by."""
    parts = [result.trace_id or "(no trace)"]
    if result.case_id and result.case_id != result.trace_id:
        parts.append(f"case {result.case_id}")
    parts.append(verdict(result))
    if result.trace_id is not None:
        calls = f"{result.calls} call{'' if result.calls == 1 else 's'}"
        parts.append(calls if result.policy_only else f"{calls}, golden {golden}")
    if result.alternative:
        parts.append(f"way {result.alternative + 1}")
    return plain.visible(" · ".join(parts))


def verdict(result: GoldenResult) -> str:
    """The verdict with what must be known beside it."""
    text, marks = result.verdict or f"UNEVALUABLE: {result.reason}", marks_of(result)
    return f"{text} ({', '.join(marks)})" if marks else text


def marks_of(result: GoldenResult) -> tuple[str, ...]:
    """What must be known beside a verdict."""
    marks = (
        ("veto", bool(result.vetoes)), ("policy only", result.policy_only),
        ("incomplete trace", result.completed is False),
    )  # fmt: skip
    return tuple(word for word, holds in marks if holds)


def names_of(
    result: GoldenResult, golden: tuple[GoldenCall, ...], calls: tuple[Call, ...], hide: Redactor
) -> list[str]:
    """Names only: what was expected, what was called, and what differs."""
    if result.policy_only:
        return [f"called: {_joined([call.tool for call in calls], hide)}"]
    surplus = [
        calls[row.call_index].tool for row in result.alignment if _is_surplus(row) and row.call_index is not None
    ]
    missing = [
        golden[row.golden_index].tool
        for row in result.alignment
        if row.state in ("missing", "substituted") and row.golden_index is not None
    ]
    lines = [
        f"expected: {_joined([call.tool for call in golden], hide)}",
        f"called: {_joined([call.tool for call in calls], hide)}",
    ]
    lines += [f"missing: {_joined(missing, hide)}"] if missing else []
    return lines + ([f"surplus: {_joined(surplus, hide)}"] if surplus else [])


def _is_surplus(row: Row) -> bool:
    return row.state in ("surplus", "substituted")


def _joined(names: list[str], hide: Redactor) -> str:
    shown = [plain.visible(hide.text(name)) for name in names[:12]]
    return ", ".join(shown) + (f" and {len(names) - 12} more" if len(names) > 12 else "") or "nothing"


def diff_row(
    row: Row, golden: tuple[GoldenCall, ...], calls: tuple[Call, ...], result: GoldenResult, hide: Redactor,
    limit: int | None,
) -> DiffRow:  # fmt: skip
    """One line of the aligned diff; the side on which there is nothing is `NOTHING`."""
    left = right = NOTHING
    if row.golden_index is not None and row.golden_index < len(golden):
        expected = golden[row.golden_index]
        wanted = plain.expected_arguments(hide.value(expected.arguments), limit)
        left = f"{row.golden_index + 1} {plain.visible(hide.text(expected.tool))} {wanted}"
    if row.call_index is not None and row.call_index < len(calls):
        right = f"{row.call_index + 1} {plain.call(calls[row.call_index], hide, limit)}"
    own = [finding for finding in result.findings if _belongs(finding, row)]
    notes = [_NOTES[row.state]] if row.state in _NOTES and not result.policy_only else []
    if row.call_index is not None and row.call_index < len(calls) and calls[row.call_index].failed:
        notes.append("the tool failed")
    notes += [_short(finding) for finding in own if finding.kind in ("policy_violation", "order_violation")]
    by_key = {
        finding.path for finding in own if finding.kind.endswith("_argument") and finding.kind != "invalid_argument"
    }
    details = tuple(
        _detail(finding, limit)
        for finding in own
        if finding.path is not None and not (finding.kind == "invalid_argument" and by_key)
    )
    bad = row.state in ("missing", "surplus", "substituted") or bool(own)
    mark: Mark = "≠" if row.state == "matched" and own else MARKS[row.state]
    if result.policy_only and not own:
        mark, bad = "=", False
    return DiffRow(mark, left, right, "; ".join(notes), details, bad)


def _short(finding: Finding) -> str:
    """A finding in a word or two, where its sentence stands further down."""
    if finding.kind == "policy_violation":
        return f"{finding.severity} {finding.message.split(':', 1)[0]}"
    return "out of order"


def _belongs(finding: Finding, row: Row) -> bool:
    if finding.call_index is not None:
        return finding.call_index == row.call_index
    return finding.golden_index is not None and finding.golden_index == row.golden_index


def _detail(finding: Finding, limit: int | None) -> str:
    path = plain.visible(finding.path or "")
    if finding.kind == "missing_argument":
        return f"{path}: expected {plain.expected(finding.expected, limit)}, missing"
    if finding.kind == "unexpected_argument":
        return f"{path}: not expected, got {plain.value(finding.actual, limit)}"
    if finding.kind in ("wrong_argument", "data_flow_violation"):
        expected, actual = plain.apart(plain.expected(finding.expected), plain.value(finding.actual), limit)
        return f"{path}: expected {expected}, got {actual}"
    return f"{path}: {plain.visible(finding.message)}"


def _veto(veto: Veto) -> str:
    return f"{veto.severity} {veto.rule}: {plain.visible(veto.message)}{_at(veto.call_index)}"


def _at(index: int | None) -> str:
    return "" if index is None else f" (call {index + 1})"


def _reason(finding: Finding) -> str:
    return f"{finding.severity} {finding.kind}: {plain.visible(finding.message)}{_at(finding.call_index)}"


def scores(result: GoldenResult) -> tuple[float | None, ...]:
    """The figures of a table: tools, args, order, steps and overall, by the formula of the profile."""
    figures, article = result.metrics, result.article
    if result.profile == "article" and article is not None:
        return (
            article.precision_score, article.argument_accuracy, article.sequence_score, article.efficiency_score,
            article.overall_score,
        )  # fmt: skip
    return (figures.jaccard, figures.argument_accuracy, figures.order_score, figures.efficiency, figures.overall)


def sums_of(result: GoldenResult) -> list[str]:
    """The figures with what they are made of, where there are any."""
    figures = result.metrics
    if figures.overall is None:
        return []
    tools, args, order, steps, _ = map(plain.number, scores(result))
    total = f"overall {plain.number(figures.unvetoed_overall)}" + (", set to 0 by the veto" if result.vetoes else "")
    if result.profile in ("balanced", "strict", "article"):
        total = f"tools {tools} (4) · args {args} (3) · order {order} (2) · steps {steps} (1) → {total}"
    else:
        total = f"profile {result.profile}: {'holds' if figures.unvetoed_overall else 'does not hold'} → {total}"
    lines = [total]
    if figures.efficiency == 1 and figures.recall is not None and figures.recall < 1:
        lines.append("steps 1.00: fewer calls than the golden is no merit; see the missing calls")
    if figures.calls_failed:
        lines.append(f"{figures.calls_failed} of {result.calls} calls failed at the tool: not the agent's wrong choice")
    if result.profile == "article" and result.article is not None:
        lines.append(f"feedback: {plain.visible(result.article.feedback)}")
    return lines

"""What code knows about a pair of traces before any judge is asked (SPEC §7.3). Pure.

Whether the two can be compared at all, and whether a fact says which is better.

A trace cannot be compared (`data_quality_failure`) if its recording does not show what the agent did:

* it says that it was not completed;
* part of it was cut off, or could not be read, or its structure is broken (`BROKEN`);
* something of it is missing (`TRACE_INCOMPLETE`), and it does not say that it was completed all the same;
* a call's arguments were not captured;
* it holds nothing at all, and does not say that it was completed.

These are no failures: arguments that are malformed, no object or missing, since they are the agent's own doing; a
complete trace without calls, which is an abstention; a trace that does not say whether it was completed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rightcall.grade.preference import CodeReason, Winner
    from rightcall.grade.verdict import GoldenResult
    from rightcall.trace.model import Trace

BROKEN = ("TRACE_TRUNCATED", "TRACE_MALFORMED", "TRACE_TREE_INVALID", "TRACE_TOO_DEEP")
"""Findings of a recording that does not show what happened."""


def quality_of(trace: Trace) -> tuple[str, ...]:
    """What keeps a trace from being compared, in words; empty if nothing does."""
    found = []
    if trace.completed is False:
        found.append("incomplete: the run was not completed")
    elif not trace.events and trace.completed is None:
        found.append("empty: nothing was recorded")
    found += [
        f"{finding.code}: {finding.message}"
        for finding in trace.findings
        if finding.code in BROKEN or (finding.code == "TRACE_INCOMPLETE" and trace.completed is not True)
    ]
    lost = sum(call.arguments_status == "not_captured" for call in trace.calls)
    if lost:
        found.append(f"not captured: the arguments of {lost} of {len(trace.calls)} calls")
    return tuple(dict.fromkeys(found))


def code_verdict(
    a: GoldenResult, b: GoldenResult, *, are_same: bool, by_golden: bool
) -> tuple[Winner, CodeReason] | None:
    """Which trace wins by a fact, and which fact; `None` where no fact decides.

    In this order: one is vetoed by the policy and the other is not; with `by_golden`, one passes its golden and the
    other fails it; both show the same. Where both are vetoed, the veto decides nothing.

    Args:
        a: what `golden` says about agent A's trace, policy included.
        b: the same for agent B's.
        are_same: whether the two traces show the same to a judge.
        by_golden: whether a golden decides too.
    """
    if bool(a.vetoes) != bool(b.vetoes):
        return ("B" if a.vetoes else "A"), "policy_veto"
    if by_golden and _compared(a) and _compared(b) and {a.verdict, b.verdict} == {"PASS", "FAIL"}:
        return ("A" if a.verdict == "PASS" else "B"), "golden"
    return ("TIE", "identical") if are_same else None


def _compared(result: GoldenResult) -> bool:
    """Whether a trace was compared with a golden."""
    return result.status == "EVALUATED" and not result.policy_only

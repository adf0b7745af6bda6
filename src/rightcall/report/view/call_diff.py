"""The aligned call diff of one result, as lines of a report: what was expected, what was called, what is wrong.

It is the diff that the terminal shows (`rightcall.report.explain`), with its parts apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rightcall.report import plain
from rightcall.report.explain import NOTHING, diff_row, golden_calls
from rightcall.report.view.model import CallLine, Extent

if TYPE_CHECKING:
    from rightcall.case.case import Case
    from rightcall.grade.selection import SelectionResult
    from rightcall.grade.verdict import GoldenResult
    from rightcall.report.view.model import LineState
    from rightcall.trace.model import Call, Trace
    from rightcall.trace.redact import Redactor

USUAL = Extent()


def call_diff(
    result: GoldenResult, trace: Trace | None, case: Case | None, extent: Extent = USUAL
) -> tuple[CallLine, ...]:
    """The diff of a trace against its golden, line by line in the order of the alignment.

    Args:
        result: as it stands in a run.
        trace: what was called, redacted; without it there is nothing to show.
        case: what was expected, redacted.
        extent: how much is shown of each value, and how many lines.

    Returns:
        One line for each golden call, each of the agent's calls, or both side by side; where there are too many, one
        more that says how many were left out.
    """
    if trace is None:
        return ()
    golden, calls, hide = golden_calls(case, result), trace.calls, shown_as_it_is()
    lines = []
    for row in result.alignment[: extent.lines]:
        shown = diff_row(row, golden, calls, result, hide, extent.value)
        call = calls[row.call_index] if row.call_index is not None and row.call_index < len(calls) else None
        state: LineState = "wrong" if row.state == "matched" and shown.mark == "≠" else row.state
        if result.policy_only and not shown.bad:
            state = "matched"  # nothing was expected of this call, so it is none too many
        lines.append(
            CallLine(
                state=state, expected=_side(shown.golden), actual=_side(shown.agent), call_index=row.call_index,
                result=None if call is None else _result(call, extent.value), bad=shown.bad,
                notes=(*(note for note in shown.note.split("; ") if note), *shown.details),
                vetoes=tuple(
                    veto.rule
                    for veto in result.vetoes
                    if veto.call_index is not None and veto.call_index == row.call_index
                ),
            )
        )  # fmt: skip
    left = 0 if extent.lines is None else len(result.alignment) - extent.lines
    return (*lines, CallLine(state="free", notes=(f"{left:,} more lines are not shown",))) if left > 0 else tuple(lines)


def step_diff(result: SelectionResult) -> tuple[CallLine, ...]:
    """The diff of one step: the tool that was expected beside the one that was selected; `None` is no tool."""
    expected, selected = result.expected_tool, result.selected_tool
    if expected == selected:
        state: LineState = "matched"
    elif expected is None:
        state = "surplus"
    else:
        state = "missing" if selected is None else "substituted"
    if expected is None and selected is None:
        return ()
    notes = tuple(one for one in (result.failure_category, *result.secondary_categories) if one)
    shown = [None if name is None else plain.visible(name) for name in (expected, selected)]
    return (CallLine(state=state, expected=shown[0], actual=shown[1], call_index=result.call_index, notes=notes),)


def shown_as_it_is() -> Redactor:
    """A redactor for what is redacted already, which it leaves as it is."""
    from rightcall.trace.redact import Redactor

    return Redactor(key=b"shown once more")


def _side(text: str) -> str | None:
    return None if text == NOTHING else text


def _result(call: Call, limit: int | None) -> str | None:
    """What the tool answered, on one line; `None` where nothing was recorded."""
    came = call.result
    if came is None:
        return None
    content = came.content
    text = plain.shorten(plain.visible(content), limit) if isinstance(content, str) else plain.value(content, limit)
    return f"failed: {text}" if call.failed else text

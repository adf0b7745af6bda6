"""Selection steps out of a trace and its golden: which tool was chosen where, and which should have been (SPEC §4).

The comparison that `golden` makes says which calls belong together. From its rows come

* a step for each golden call with the call that is paired with it, or stands in its place; with neither,
  `selected` is `null`: a missing call is a step where the agent did nothing;
* a step for each surplus call, against `expected = null`;
* one step `null`/`null` where no call was expected and none was made: a correct abstention.

No step comes from

* a retry. SPEC §5.3 leaves a repeat after a failure out of what the agent is charged with: the tool was chosen once,
  and that choice is a step. Where the suite charges retries (`retries = "surplus"`), they are surplus steps.
* a surplus read that the suite exempts (`surplus_reads = "free"`).
* an optional golden call that was not made: calling and not calling are both right, so there is no expected answer.
  An optional call that was made is a step like any other.
* a trace without a golden. Policy alone does not say which tool was right.

Calls of one turn are steps of their own with one and the same history, since they were decided together. A missing
call has the whole trace as its history: only at its end was it certain that the call would not come.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET, Raw, UnsetType
from msgspec.structs import replace

from rightcall.case.step import Step
from rightcall.trace.history import history
from rightcall.trace.model import Call, Message

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from rightcall.case.case import Case
    from rightcall.grade.verdict import GoldenResult, Row
    from rightcall.trace.model import Trace

_LATER = Call(tool="", arguments_status="missing")


def obstacle(case: Case, trace: Trace, graded: GoldenResult) -> str | None:
    """Why no steps can be derived, as a reason for `UNEVALUABLE`; `None` where they can.

    A case without a golden is `nothing_expected`. A trace that could not be compared has the reason that `golden`
    gives. Arguments that were not captured are no obstacle, since arguments play no part in a selection.
    """
    if case.expect is None:
        return "nothing_expected"
    shown = sum(row.call_index is not None for row in graded.alignment)
    return None if shown == len(trace.calls) else graded.reason or "not_compared"


def derive(
    case: Case, trace: Trace, graded: GoldenResult, *, retries_are_free: bool = True, with_history: bool = True
) -> list[Step]:
    """The steps of one trace, golden calls and surplus calls in the sequence of the comparison.

    Ids are stable: `TRACE#g0` for the golden's first call, `TRACE#c2` for the agent's third call where it is surplus,
    `TRACE#none` for a correct abstention. Names are those that were written and recorded; aliases come later. A step
    of a run that did not come to its end says so in `metadata`.

    Args:
        case: the case, its catalog loaded.
        trace: the trace.
        graded: what `golden` found for the two; its rows and its alternative are used.
        retries_are_free: whether repeats after a failure are left out, as `golden` was told.
        with_history: whether each step's context holds what came before it. A judge needs it; code does not, and a
            long trace repeats much of itself in its steps.

    Raises:
        TraceError: a recorded value of the history cannot be decoded.
    """
    if obstacle(case, trace, graded) is not None or case.expect is None:
        return []
    rows = list(graded.alignment)
    golden = case.expect.ways[graded.alternative or 0].calls
    context = trace.context if trace.context is not None else case.context
    shared: dict[str, Any] = {
        "request": _request(trace, case),
        "tools_json": _tools(trace, case), "tags": case.tags, "trace_id": trace.id, "case_id": case.id,
        "metadata": {"completed": False} if trace.completed is False else {},
    }  # fmt: skip
    return [
        Step(
            id=f"{trace.id}#{name}",
            selected=None if call is None else trace.calls[call].tool,
            expected=None if g is None else golden[g].tool,
            context=_context(context, trace, call) if with_history else context,
            call_index=call,
            golden_index=g,
            **shared,
        )
        for name, g, call in _decisions(rows, retries_are_free=retries_are_free)
    ]


def _decisions(rows: list[Row], *, retries_are_free: bool) -> Iterable[tuple[str, int | None, int | None]]:
    """Name, golden index and call index of each step."""
    if not rows:
        yield "none", None, None
    for row in rows:
        if row.state in ("matched", "missing", "substituted"):
            yield f"g{row.golden_index}", row.golden_index, row.call_index
        elif row.state == "surplus" or (row.state == "retry" and not retries_are_free):
            yield f"c{row.call_index}", None, row.call_index


def _request(trace: Trace, case: Case) -> str | None:
    """What was asked for, as the trace says it, else the case, else the first thing that the user said."""
    first = (event.text for event in trace.events if isinstance(event, Message) and event.role == "user")
    return next((text for text in (trace.request, case.request, *first) if text is not None), None)


def _tools(trace: Trace, case: Case) -> Raw | UnsetType:
    """The trace's own catalog, else the case's; absent, the suite's counts."""
    for tools in (trace.tools_json, case.tools_json):
        if tools is not UNSET and bytes(tools) != b"null":
            return tools
    return UNSET


def _context(written: str | dict[str, Any] | None, trace: Trace, call: int | None) -> dict[str, Any]:
    """What the agent knew before a call (`None`: at the end of the trace), beside what the recording says of it."""
    known = {} if written is None else {"text": written} if isinstance(written, str) else dict(written)
    earlier = known.get("history")
    before = earlier if isinstance(earlier, list) else [] if earlier is None else [earlier]
    return {**known, "history": [*before, *_before(trace, call)]}


def _before(trace: Trace, call: int | None) -> list[Any]:
    if call is not None:
        return history(trace, call)
    # The whole trace is what stands before a call that was made after it.
    return history(replace(trace, events=(*trace.events, _LATER)), len(trace.calls))

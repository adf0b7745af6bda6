"""How a test ends as pytest reports it: what has no answer is an error, and what was said is handed over."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rightcall.errors import RightcallError
from rightcall.plugin.grading import grade_what_is_left
from rightcall.plugin.handed import Handed, packed
from rightcall.plugin.undecided import SECTIONS, Undecided

if TYPE_CHECKING:
    from rightcall.plugin.handed import Planned
    from rightcall.plugin.state import State

NEITHER = "This test has neither passed nor failed: it is an error, and what it was about has no verdict."


def reported(report: Any, call: Any, state: State, plan: tuple[Planned, ...]) -> None:
    """Complete pytest's report of one phase of a test.

    Args:
        report: pytest's report. It gets `rightcall`, the text of a `Handed`, which travels with it between processes.
        call: how the phase went.
        state: the test.
        plan: every marked test, with the first report of a process.
    """
    if report.when == "call":
        _settle(report, call, state)
    if state.is_reported and report.when in ("setup", "call", "grading", "judging"):
        is_done = report.when != "setup" or report.outcome == "skipped"
        try:
            report.rightcall = packed(state.handed(plan, is_done=is_done))
        except RightcallError as error:  # what is redacted can no longer be read, say
            stopped = Undecided(state.suite.hide.text(f"cannot be reported: {error}"))
            if report.outcome != "failed":
                _make_error(report, stopped)
            report.rightcall = packed(Handed(test=state.planned, plan=plan, undecided=stopped.message))


def _settle(report: Any, call: Any, state: State) -> None:
    """Make an error of what has no answer, also where a test has swallowed it or expected a failure."""
    raised = None if call.excinfo is None else call.excinfo.value
    undecided = raised if isinstance(raised, Undecided) else state.undecided
    if undecided is None and isinstance(raised, RightcallError):
        undecided = Undecided(state.suite.hide.text(str(raised)))
    if state.wants_results and state.mark is not None:
        undecided = _graded_the_rest(state, raised) or undecided
    if undecided is None or _has_failed(report, raised):
        return
    state.undecided = undecided
    _make_error(report, undecided)


def _make_error(report: Any, undecided: Undecided) -> None:
    """Make a test's report that of an error."""
    if report.outcome != "failed" or hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = str(undecided)
        if hasattr(report, "wasxfail"):
            del report.wasxfail
    report.when = undecided.phase
    report.sections.append((SECTIONS[undecided.phase], f"{undecided}\n{NEITHER}"))


def _has_failed(report: Any, raised: BaseException | None) -> bool:
    """Whether the test has failed by itself: a definite failure stands, whatever else has no answer."""
    ours = isinstance(raised, (Undecided, RightcallError))
    return report.outcome == "failed" and raised is not None and not ours


def _graded_the_rest(state: State, raised: BaseException | None) -> Undecided | None:
    """Grade what was not asserted; a case that cannot be graded is an error, unless the test says so anyway."""
    try:
        grade_what_is_left(state)
    except RightcallError as error:
        return None if raised is not None else Undecided(state.suite.hide.text(str(error)))
    return None

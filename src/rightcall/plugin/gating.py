"""The gates of the suite on the results of a session."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from rightcall.errors import NoDataError
from rightcall.gate.words import interval
from rightcall.report.plain import visible
from rightcall.run.gating.gates import gate_results
from rightcall.run.inputs.opening import may_be_there, open_store

if TYPE_CHECKING:
    from rightcall.gate.decision import Decision, GateReport
    from rightcall.plugin.gathered import Gathered
    from rightcall.plugin.suite import Suite


def gated(gathered: Gathered, suite: Suite) -> GateReport:
    """Ask the gates. What calibrations and people said is looked up where the project keeps a record.

    Raises:
        NoDataError: no test of the session has a result: that is never a pass.
        RightcallError: a rule or a baseline that cannot be used, or the record cannot be opened.
    """
    if not gathered.lines:
        raise NoDataError("no test has a result of a grader", hint='mark one: @pytest.mark.rightcall(golden="FILE")')
    kept = open_store(suite.loaded, create=False) if may_be_there(suite.loaded) else nullcontext(None)
    with kept as store:
        return gate_results(gathered.results(), suite.loaded, store)


def gate_words(report: GateReport) -> list[str]:
    """The decisions, a line each, and what keeps the gate from passing."""
    rows = [_cells(one) for one in report.decisions]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(4)]
    lines = [f"gate: {report.answer}"]
    for one, row in zip(report.decisions, rows, strict=True):
        cells = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        lines.append(f"  {cells}".rstrip())
        why = () if one.answer == "PASS" else (one.reason, *one.details[:5])
        lines += [f"    {visible(text)}" for text in (*why, *one.warnings) if text]
    return lines


def _cells(one: Decision) -> tuple[str, str, str, str]:
    value = "–" if one.value is None else interval(one.value, (one.threshold,))
    return visible(one.name), visible(one.rule), value, one.answer

"""A report as CSV: one row a result, whatever the grader. What is not known stays empty, and is never a number."""

from __future__ import annotations

import csv
import io
from typing import IO, TYPE_CHECKING

from rightcall.report.files import cell

if TYPE_CHECKING:
    from rightcall.report.view.model import CaseView, ReportView

COLUMNS = (
    "run", "grader", "unit", "case_id", "trace_id", "trial", "outcome", "verdict", "kind", "score", "confidence",
    "tool", "words", "facts", "signed", "file", "line",
)  # fmt: skip
_SCORES = ("overall", "fidelity")


def write_csv(view: ReportView, stream: IO[bytes]) -> None:
    """Write the table. Cells that a spreadsheet would run as a formula are made plain text."""
    text = io.TextIOWrapper(stream, "utf-8", newline="", write_through=True)
    rows = csv.writer(text)
    rows.writerow(COLUMNS)
    for case in view.cases():
        rows.writerow([cell(value) for value in _row(view, case)])
    text.flush()
    text.detach()


def _row(view: ReportView, case: CaseView) -> tuple[object, ...]:
    facts = dict(case.facts)
    score = next((facts[name] for name in _SCORES if name in facts), None)
    others = "; ".join(f"{name}={value}" for name, value in case.facts)
    place = case.place
    return (
        view.run_id, case.grader, case.unit, case.case_id, case.trace_id, facts.get("trial"), case.outcome,
        case.verdict, case.kind, score, facts.get("confidence"), case.tool, "; ".join(case.words), others, case.signed,
        None if place is None else place.file, None if place is None else place.line,
    )  # fmt: skip

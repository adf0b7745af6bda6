"""A report as CSV: one row a result, whatever the grader. What is not known stays empty, and is never a number.

Behind the columns that all graders share stand those of the graders in the report: metrics, levels, names, kinds of
findings. A field whose name is taken already carries its grader's name before it.
"""

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
_SCORES = ("overall", "overall_score", "interpretation_fidelity_score")
_SHARED = ("confidence", "tool")
"""Fields that are columns of every grader."""


def write_csv(view: ReportView, stream: IO[bytes]) -> None:
    """Write the table. Cells that a spreadsheet would run as a formula are made plain text."""
    text = io.TextIOWrapper(stream, "utf-8", newline="", write_through=True)
    rows = csv.writer(text)
    own = columns_of(view)
    rows.writerow([*COLUMNS, *map(cell, own)])
    for case in view.cases():
        fields = {_column(case.grader, name): value for name, value in case.fields}
        rows.writerow([cell(value) for value in (*_row(view, case), *map(fields.get, own))])
    text.flush()
    text.detach()


def columns_of(view: ReportView) -> tuple[str, ...]:
    """The columns of the report's own graders, each once."""
    names = (_column(one.grader, name) for one in view.graders for name in one.fields if name not in _SHARED)
    return tuple(dict.fromkeys(names))


def _column(grader: str, name: str) -> str:
    return f"{grader}.{name}" if name in COLUMNS else name


def _row(view: ReportView, case: CaseView) -> tuple[object, ...]:
    facts, fields = dict(case.facts), dict(case.fields)
    score = next((fields[name] for name in _SCORES if name in fields), None)
    others = "; ".join(f"{name}={value}" for name, value in case.facts)
    place = case.place
    return (
        view.run_id, case.grader, case.unit, case.case_id, case.trace_id, facts.get("trial"), case.outcome,
        case.verdict, case.kind, score, fields.get("confidence"), case.tool, "; ".join(case.words), others, case.signed,
        None if place is None else place.file, None if place is None else place.line,
    )  # fmt: skip

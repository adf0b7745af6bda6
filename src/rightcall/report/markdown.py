"""A run as Markdown: counts, a table of what failed, each failure's diff in a fence."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rightcall.report import plain
from rightcall.report.explain import Explained, explain, scores, verdict
from rightcall.report.summary import headline, notes

if TYPE_CHECKING:
    from rightcall.run.golden.grading import Graded
    from rightcall.run.golden.tally import Shown


def render(graded: Graded) -> str:
    """The whole document. Text from traces is data: escaped, or inside a fence that it cannot close."""
    shown = (
        graded.kept if graded.tally.n <= len(graded.kept) else [s for s in graded.kept if s.result.verdict != "PASS"]
    )
    failures = [item for item in graded.kept if item.result.verdict != "PASS"][: graded.plan.kept_failures]
    parts = [
        f"# golden, profile {graded.plan.options.profile}",
        *map(_text, headline(graded)),
        *map(_text, notes(graded)),
    ]
    if shown:
        parts.append("\n".join(_table(shown)))
    for item in failures:
        if item.trace is not None and item.case is not None:
            parts += _explained(explain(item, graded.plan.redactor))
    return "\n\n".join(parts) + "\n"


def _text(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]()<>#|!~&])", r"\\\1", plain.visible(text))


def _table(shown: list[Shown]) -> list[str]:
    lines = ["| trace | case | tools | args | order | steps | overall | verdict |", "|---|---|--:|--:|--:|--:|--:|---|"]
    for item in shown:
        result = item.result
        names = [_text(result.trace_id or "(no trace)"), _text(result.case_id or "")]
        cells = [*names, *map(_text, map(plain.number, scores(result)))]
        lines.append("| " + " | ".join([*cells, _text(verdict(result))]) + " |")
    return lines


def _explained(item: Explained) -> list[str]:
    body = [
        f"{row.mark} {row.golden}   |   {row.agent}" + (f"   ({row.note})" if row.note else "") for row in item.rows
    ]
    for row_index, row in reversed(list(enumerate(item.rows))):
        body[row_index + 1 : row_index + 1] = [f"      {detail}" for detail in row.details]
    longest = max((len(run) for line in body for run in re.findall("`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    reasons = [f"- **veto** {_text(veto)}" for veto in item.vetoes] + [f"- {_text(reason)}" for reason in item.reasons]
    return [f"## {_text(item.title)}", "\n".join([fence, *body, fence]), "\n".join(reasons), *map(_text, item.scores)]

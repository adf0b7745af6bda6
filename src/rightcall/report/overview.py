"""What is inside some files, in the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from rightcall.report.plain import visible
from rightcall.report.reading import reading_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.run.inputs.overview import Overview
    from rightcall.trace.redact import Redactor
    from rightcall.trace.sources.dialect import ReadingReport

MOST_TOOLS = 40


def print_overview(
    seen: Overview, reports: Mapping[str, ReadingReport], hide: Redactor, *, no_color: bool = False
) -> None:
    """Print dialects, agents, tools and what cannot be judged."""
    console = Console(no_color=no_color or None, highlight=False)
    for line in reading_lines(reports, hide):
        console.print(Text(line, "dim" if line.startswith("  ") else ""))
    console.print(
        Text(
            f"{seen.traces} traces, {seen.without_calls} without a call, {seen.incomplete} incomplete · "
            f"{seen.calls} calls in {seen.turns} turns · {seen.others} calls by others (user, provider)"
        )
    )
    agents = ", ".join(f"{name} ({count})" for name, count in seen.agents.most_common(8))
    console.print(Text(visible(hide.text(f"agents: {agents}"))))
    console.print(_tools(seen, hide))
    if seen.labels:
        labels = ", ".join(f"{name} ({count})" for name, count in seen.labels.most_common(8))
        console.print(Text(visible(hide.text(f"labels: {labels}"))))
    for line in seen.cannot():
        console.print(Text(f"cannot be judged · {line}", "yellow"))


def _tools(seen: Overview, hide: Redactor) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1), header_style="bold")
    table.add_column("tool", overflow="fold")
    for name in ("calls", "failed", "unreadable arguments"):
        table.add_column(name, justify="right")
    ranked = sorted(seen.tools.items(), key=lambda item: -item[1].calls)
    for name, use in ranked[:MOST_TOOLS]:
        table.add_row(Text(visible(hide.text(name))), str(use.calls), str(use.errors), str(use.unreadable))
    if len(ranked) > MOST_TOOLS:
        table.add_row(Text(f"and {len(ranked) - MOST_TOOLS} more", "dim"))
    return table

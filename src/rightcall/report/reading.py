"""Reading reports in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rightcall.report.plain import visible

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.trace.redact import Redactor
    from rightcall.trace.sources.dialect import ReadingReport


def reading_lines(reports: Mapping[str, ReadingReport], hide: Redactor) -> list[str]:
    """What became of each file's records: counts first, then every cause with its first place."""
    lines: list[str] = []
    for file, report in reports.items():
        total = sum(report.calls.values())
        odd = ", ".join(f"{status} {count}" for status, count in sorted(report.calls.items()) if status != "ok")
        calls = f"{total} calls ({report.results} with results, {report.errors} failed, "
        calls += f"{report.unanswered} unanswered, {report.parallel_turns} parallel turns)"
        counts = f"{report.read} traces, {report.skipped} skipped, {report.incomplete} incomplete"
        lines.append(f"{file}: {report.dialect} · {counts} · {calls}" + (f" · arguments: {odd}" if odd else ""))
        for cause, count in report.causes.most_common():
            lines.append(f"  {cause} {count}: {report.examples[cause][0]}")
    return [visible(hide.text(line)) for line in lines]

"""Make `coverage.md`: what became of every file of a folder of recordings.

    python docs/sources/coverage.py FOLDER > docs/sources/coverage.md

Every file is read with `--from auto`. A row says what was in it; a file that is not read says why. Files of one folder
and one reason are put together.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from rightcall.errors import RightcallError
from rightcall.run.inputs.sources import Sources
from rightcall.trace.sources.dialect import ReadingReport

SUFFIXES = (".json", ".jsonl", ".eval", ".yaml", ".yml", ".binpb", ".pb")
NUMBERS = (
    "traces",
    "skipped",
    "incomplete",
    "calls",
    "results",
    "errors",
    "parallel turns",
    "malformed",
    "not captured",
)


NOTES = """
## Where these figures differ from others

* **Exchanges with a model's API** (`*/exchanges.jsonl`): only exchanges that offer tools are in these files, so the
  counts of records are smaller than those of the sources they were taken from. A record is one step: calls are those of
  its reply, and earlier calls of the same conversation are its context. Streams are read too, which adds calls to those
  of whole replies. Cassettes repeat most of the exchanges. Results stand in the next request, so they are not counted.
* **Token counts, foreign APIs and HTTP errors** in those files are skipped, each with its code.
* **agentrx**: its τ-bench runs have no error field, so no call counts as failed; texts that begin with "Error" are left
  as they are.
* **google_adk**: eval sets hold what is expected and are cases, not traces; they are skipped here.
* **claude_code** single lines are read one by one here; as one session they pair more results.
* **inspect_ai**: `.eval` files need the extra `inspect`; the results of one log answer no call and are skipped.
* **otel_genai** spans without their log records, and spans recorded without content, say so (`TRACE_NOT_CAPTURED`).
* **phoenix**: one more call than its model spans report is known from a tool's own span.
"""


@dataclass
class Row:
    """One file: its report, or why it was refused."""

    name: str
    report: ReadingReport | None
    reason: str = ""


def read(path: Path, name: str) -> Row:
    """Read one file."""
    sources = Sources([path])
    try:
        for _ in sources.traces():
            pass
    except RightcallError as error:
        return Row(name, None, f"{error.message.replace('|', '/')} [{error.code}]")
    return Row(name, next(iter(sources.reports.values())))


def numbers(report: ReadingReport) -> list[int]:
    """The figures of a row."""
    odd = report.calls["malformed"] + report.calls["not_object"] + report.calls["missing"]
    return [
        report.read, report.skipped, report.incomplete, sum(report.calls.values()), report.results, report.errors,
        report.parallel_turns, odd, report.calls["not_captured"],
    ]  # fmt: skip


def table(rows: list[Row]) -> list[str]:
    """The files that were read, with totals for each dialect."""
    lines = [
        "| file | dialect | " + " | ".join(NUMBERS) + " | why skipped |",
        "|---|---|" + "--:|" * len(NUMBERS) + "---|",
    ]
    totals: dict[str, list[int]] = defaultdict(lambda: [0] * len(NUMBERS))
    for row in rows:
        if row.report is not None:
            figures = numbers(row.report)
            totals[row.report.dialect] = [a + b for a, b in zip(totals[row.report.dialect], figures, strict=True)]
            causes = ", ".join(f"{cause} {count}" for cause, count in sorted(row.report.causes.items()))
            shown = " | ".join(map(str, figures))
            lines.append(f"| {row.name} | {row.report.dialect} | {shown} | {causes} |")
    lines += [
        f"| **all** | {dialect} | {' | '.join(map(str, figures))} | |" for dialect, figures in sorted(totals.items())
    ]
    return lines


def refused(rows: list[Row]) -> list[str]:
    """The files that were not read, by folder and reason."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows:
        if row.report is None:
            groups[str(Path(row.name).parent), row.reason].append(Path(row.name).name)
    lines = ["| folder | files | why |", "|---|--:|---|"]
    for (folder, reason), names in sorted(groups.items()):
        shown = f"{len(names)}" if len(names) > 1 else f"1 ({names[0]})"
        lines.append(f"| {folder} | {shown} | {reason} |")
    return lines


def grouped(rows: list[Row]) -> list[Row]:
    """Files of one folder and dialect that are many and small, as one row."""
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in rows:
        if row.report is not None:
            groups[str(Path(row.name).parent), row.report.dialect].append(row)
    result: list[Row] = [row for row in rows if row.report is None]
    for (folder, dialect), members in groups.items():
        if len(members) <= 6:
            result += members
            continue
        total = ReadingReport(dialect)
        for member in members:
            assert member.report is not None
            total = total + member.report
        result.append(Row(f"{folder}/ ({len(members)} files)", total))
    return sorted(result, key=lambda row: row.name)


def main() -> None:
    """Print the page."""
    folder = Path(sys.argv[1])
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix in SUFFIXES)
    rows = grouped([read(path, str(path.relative_to(folder))) for path in files])
    print("# Coverage: what is read of real recordings\n")
    print("Made by `python docs/sources/coverage.py FOLDER` over a folder of recordings by many tools.\n")
    print("\n".join(table(rows)))
    print(NOTES)
    print("\n## Files that hold no traces\n")
    print("\n".join(refused(rows)))


if __name__ == "__main__":
    main()

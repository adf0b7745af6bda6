"""A judged run as files, by suffix, written whole or not at all."""

from __future__ import annotations

import csv
import io
from typing import IO, TYPE_CHECKING, Any

import msgspec

from rightcall.report.files import cell, refuse_unwritable
from rightcall.report.interpretation_figures import interpretation_table
from rightcall.report.judged import audit_lines, headline, judges_line, notes, review_line, run_facts, summary
from rightcall.report.one import said, stands_out, unit_of, words
from rightcall.report.plain import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from rightcall.run.judging.run import Judged


def writer_for(path: Path) -> Callable[[Judged, IO[bytes]], None]:
    """The writer that a file's suffix asks for.

    Raises:
        ConfigError: a suffix that nothing is written as, or a folder that does not exist.
    """
    return WRITERS[refuse_unwritable(path, WRITERS)]


def write_json(judged: Judged, stream: IO[bytes]) -> None:
    """One JSON object: `run`, `summary`, `results` (SPEC §9)."""
    stream.write(b'{"run":' + msgspec.json.encode(run_facts(judged)))
    stream.write(b',"summary":' + msgspec.json.encode(summary(judged)) + b',"results":[')
    for index, line in enumerate(judged.results()):
        stream.write(b",\n" + line if index else b"\n" + line)
    stream.write(b"\n]}\n")


def _write_jsonl(judged: Judged, stream: IO[bytes]) -> None:
    for line in judged.results():
        stream.write(line + b"\n")


_NESTED = (
    "judges",
    "orders",
    "reconciled",
    "conflicts",
    "findings",
    "vetoes",
    "justification",
    "tool_call_evaluations",
)
"""Columns that a table cannot hold; they are in the JSON files."""

_LISTED = 100
"""How many results a Markdown file lists: those that did not pass."""


def _write_csv(judged: Judged, stream: IO[bytes]) -> None:
    """One row a result; metrics get a column each, lists are joined, and what has parts of its own is JSON."""
    text = io.TextIOWrapper(stream, "utf-8", newline="", write_through=True)
    fields = [name for name in judged.result_type.__struct_fields__ if name not in (*_NESTED, "metrics")]
    metrics = _metric_names(judged)
    rows = csv.writer(text)
    rows.writerow([*fields, *metrics, "conflicts"])
    for result in judged.decoded():
        values = [_joined(getattr(result, name)) for name in fields]
        values += [getattr(result.metrics, name) for name in metrics]
        conflicts = " ".join(sorted({one.check for opinion in result.judges for one in opinion.conflicts}))
        rows.writerow([*map(cell, values), conflicts])
    text.flush()
    text.detach()


def _metric_names(judged: Judged) -> tuple[str, ...]:
    hints = judged.result_type.__struct_fields__
    if "metrics" not in hints:
        return ()
    from rightcall.grade.rubric import RubricMetrics

    return RubricMetrics.__struct_fields__


def _joined(value: Any) -> Any:
    has_parts = isinstance(value, tuple) and any(isinstance(one, (dict, msgspec.Struct)) for one in value)
    if has_parts or isinstance(value, (dict, msgspec.Struct)):
        return msgspec.json.encode(value).decode()
    return "; ".join(map(str, value)) if isinstance(value, (tuple, list)) else value


def _write_markdown(judged: Judged, stream: IO[bytes]) -> None:
    lines = [f"# rightcall {judged.grader}", ""]
    lines += [f"> {_safe(line)}" for line in notes(judged)] + [""]
    lines += [f"- {_safe(line)}" for line in [*judges_line(judged), *headline(judged)]] + [""]
    figures = summary(judged)
    lines += _TABLES.get(judged.grader, _own_table)(figures)
    after = [] if judged.grader == "probe" else audit_lines(judged)
    lines += ["", *(f"- {_safe(line.strip())}" for line in [*after, *review_line(judged)])]
    lines += _results_table(judged)
    stream.write(("\n".join(lines) + "\n").encode())


def _selection_table(figures: Mapping[str, Any]) -> list[str]:
    rows = ["| | value | 95 % interval | n |", "| --- | ---: | ---: | ---: |"]
    names = ("pass_rate", "precision", "recall")
    rows += [_estimate_row(name.replace("_", " "), figures["overall"][name]) for name in names]
    failures = ", ".join(f"{name} {n}" for name, n in figures["failures"].items() if n)
    rows += ["", f"Failures: {_safe(failures or 'none')}"]
    rows += ["", "| tool | precision | recall | n selected | n expected |", "| --- | ---: | ---: | ---: | ---: |"]
    for tool in figures["tools"]:
        precision, recall = tool["precision"], tool["recall"]
        cells = [_safe(tool["tool"]), _figure(precision), _figure(recall), str(precision["n"]), str(recall["n"])]
        rows.append("| " + " | ".join(cells) + " |")
    return rows


def _rubric_table(figures: Mapping[str, Any]) -> list[str]:
    rows = ["| | mean | 95 % interval | n |", "| --- | ---: | ---: | ---: |"]
    rows += [_estimate_row(name.replace("_", " "), one["mean"]) for name, one in figures["scores"].items()]
    severities = ", ".join(f"{name} {n}" for name, n in figures["severities"].items() if n)
    return [*rows, "", f"Severity: {severities or 'none judged'}"]


def _results_table(judged: Judged) -> list[str]:
    """Results that did not pass, or found something serious."""
    rows: list[str] = []
    left = 0
    for line in judged.results():
        result = msgspec.json.decode(line)
        if not stands_out(result) or judged.grader == "probe":
            continue
        if len(rows) < _LISTED:
            cells = (unit_of(result), said(result), words(result))
            rows.append("| " + " | ".join(map(_safe, cells)) + " |")
        else:
            left += 1
    more = ["", f"{left} more are not in this table."] if left else []
    return ["", "| | | |", "| --- | --- | --- |", *rows, *more] if rows else []


def _preference_lines(figures: Mapping[str, Any]) -> list[str]:
    from rightcall.report.preference_figures import markdown

    return markdown(figures, _safe)


def _probe_table(figures: Mapping[str, Any]) -> list[str]:
    rows = [
        "| grader | attack | gave way | of | rate | 95 % interval | answer |",
        "| --- | --- | ---: | ---: | ---: | ---: | --- |",
    ]
    for one in figures["classes"]:
        rate = one["rate"]
        between = "–" if rate["low"] is None else f"{rate['low']:.3f} – {rate['high']:.3f}"
        cells = [
            one["grader"],
            one["name"],
            str(one["hits"]),
            str(one["trials"]),
            _figure(rate),
            between,
            one["answer"],
        ]
        rows.append("| " + " | ".join(cells) + " |")
    return rows


def _own_table(figures: Mapping[str, Any]) -> list[str]:
    rows = ["| field | share | 95 % interval | n |", "| --- | ---: | ---: | ---: |"]
    for name, one in figures["fields"].items():
        rows += [_estimate_row(_safe(f"{name} = {value}"), share) for value, share in one["values"].items()]
        rows += [] if one["mean"] is None else [_estimate_row(_safe(f"{name} mean"), one["mean"])]
    return rows


_TABLES = {
    "selection": _selection_table, "rubric": _rubric_table, "preference": _preference_lines,
    "probe": _probe_table,
    "interpretation": interpretation_table,
}  # fmt: skip


def _estimate_row(name: str, estimate: Mapping[str, Any]) -> str:
    between = "–" if estimate["low"] is None else f"{estimate['low']:.3f} – {estimate['high']:.3f}"
    return f"| {name} | {_figure(estimate)} | {between} | {estimate['n']} |"


def _figure(estimate: Mapping[str, Any]) -> str:
    return "–" if estimate["estimate"] is None else f"{estimate['estimate']:.3f}"


def _safe(text: str) -> str:
    """Text in which nothing is Markdown."""
    escaped = visible(text)
    for character in "\\`*_[]<>|#":
        escaped = escaped.replace(character, f"\\{character}")
    return escaped


def _report(suffix: str) -> Callable[[Judged, IO[bytes]], None]:
    """What writes a report of a run in one of the formats that all graders share."""

    def write(judged: Judged, stream: IO[bytes]) -> None:
        from rightcall.report.formats.writing import WRITERS as REPORTS
        from rightcall.report.view.building import view_of
        from rightcall.run.finished.live import judged_results

        REPORTS[suffix](view_of(judged_results(judged)), stream)

    return write


WRITERS: dict[str, Callable[[Judged, IO[bytes]], None]] = {
    ".json": write_json,
    ".jsonl": _write_jsonl,
    ".csv": _write_csv,
    ".md": _write_markdown,
    ".html": _report(".html"),
    ".junit.xml": _report(".junit.xml"),
    ".sarif": _report(".sarif"),
}

"""LangSmith's runs: nested trees and flat rows as one list of runs for each trace, in order.

A run stands alone (`parent_run_id`, `trace_id`) or inside its parent (`child_runs`). `inputs`, `outputs` and the like
may be JSON in a string, as bulk exports write them. Runs are ordered by `dotted_order`; only where one lacks it, by the
tree and the time of their start.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from rightcall.errors import Place, TraceError
from rightcall.trace import jsontext
from rightcall.trace.model import TraceFinding
from rightcall.trace.sources.conversation import mapping, text_or_none, written_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rightcall.trace.jsontext import JsonValue

    _Object = Mapping[str, JsonValue]

KINDS = {"tool", "chain", "llm", "retriever", "embedding", "prompt", "parser"}
"""Every `run_type` that there is."""


@dataclass(slots=True)
class Run:
    """One run: its row with everything decoded, and where it belongs."""

    id: str
    kind: str
    row: dict[str, JsonValue]
    place: Place
    parent: str | None
    trace: str | None

    @property
    def name(self) -> str:
        """What ran: a tool's name, for a tool."""
        return text_or_none(self.row.get("name")) or ""

    @property
    def path(self) -> str:
        """The path of the run inside its record."""
        return self.place.path or "$"

    @property
    def order(self) -> str:
        """`dotted_order`, empty where it is missing."""
        return text_or_none(self.row.get("dotted_order")) or ""

    @property
    def start(self) -> str | None:
        """When it began."""
        return text_or_none(self.row.get("start_time"))

    @property
    def end(self) -> str | None:
        """When it ended."""
        return text_or_none(self.row.get("end_time"))

    @property
    def error(self) -> str | None:
        """What went wrong, without its traceback; `None` where nothing is recorded."""
        error = self.row.get("error")
        if error is None or error in ("", "null"):
            return None
        text = error if isinstance(error, str) else jsontext.encode(error).decode()
        return text.split("Traceback (most recent call last)", 1)[0].strip() or text

    @property
    def ended(self) -> bool:
        """Whether it came to an end, well or not."""
        return self.error is not None or self.row.get("end_time") is not None or self.row.get("status") == "success"

    @property
    def inputs(self) -> _Object:
        """What went in, empty where there is no object."""
        return mapping(self.row.get("inputs"))

    @property
    def outputs(self) -> _Object:
        """What came out, empty where there is no object."""
        return mapping(self.row.get("outputs"))

    @property
    def extra(self) -> _Object:
        """What the tracer knows beside inputs and outputs."""
        return mapping(self.row.get("extra"))

    @property
    def metadata(self) -> _Object:
        """What the program said about the run."""
        return mapping(self.extra.get("metadata"))


@dataclass(slots=True)
class Family:
    """The runs of one trace, in order, with what is odd about them."""

    runs: list[Run]
    feedback: list[tuple[str, _Object]] = field(default_factory=list)
    findings: list[TraceFinding] = field(default_factory=list)

    @property
    def root(self) -> Run:
        """The run that is no other's child; the first where the root is not in the export."""
        known = {run.id for run in self.runs}
        tops = [run for run in self.runs if run.parent is None]
        return tops[0] if tops else next((run for run in self.runs if run.parent not in known), self.runs[0])


def is_run(value: JsonValue) -> bool:
    """Whether this is a run of LangSmith."""
    row = mapping(value)
    named = isinstance(row.get("run_type"), str) and written_id(row.get("id")) is not None and "name" in row
    return named and bool({"dotted_order", "trace_id", "parent_run_id", "child_runs"} & row.keys())


_ENCODED = {"inputs", "outputs", "extra", "feedback_stats", "feedback", "tags", "child_runs"}


def unfold(value: JsonValue, place: Place) -> Iterator[Run]:
    """A run and all runs inside it."""
    waiting: list[tuple[JsonValue, Place, Run | None]] = [(value, place, None)]
    while waiting:
        record, where, parent = waiting.pop()
        row = dict(mapping(record))
        for key in _ENCODED & row.keys():
            row[key] = _decoded(row[key])
        children = row.pop("child_runs", None)
        run = _run(row, where, parent)
        if run is not None:
            yield run
        for index, child in reversed(list(enumerate(children if isinstance(children, list) else ()))):
            inside = Place(where.file, where.line, None, f"{where.path or '$'}.child_runs[{index}]")
            waiting.append((child, inside, run or parent))


def _decoded(value: JsonValue) -> JsonValue:
    """The value of JSON in a string; anything else as it is."""
    if not isinstance(value, str) or value.strip()[:1] not in ("{", "["):
        return value
    try:
        return jsontext.decode(value)
    except TraceError:
        return value


def _run(row: dict[str, JsonValue], place: Place, parent: Run | None) -> Run | None:
    id_, kind = written_id(row.get("id")), text_or_none(row.get("run_type"))
    if id_ is None or kind is None:
        return None
    above = written_id(row.get("parent_run_id")) or (parent.id if parent else None)
    trace = written_id(row.get("trace_id")) or ((parent.trace or parent.id) if parent else None)
    return Run(id_, kind, row, place, above, trace)


def families(runs: Iterable[Run]) -> list[Family]:
    """The runs of each trace, traces in the order in which they first appear. A run that is there twice counts once."""
    by_id: dict[str, Run] = {}
    repeated: dict[str, Run] = {}
    for run in runs:
        if run.id not in by_id:
            by_id[run.id] = run
            continue
        repeated[run.id] = run
        if run.ended and not by_id[run.id].ended:
            by_id[run.id] = run
    tops = _tops(by_id)
    found: dict[str, Family] = {}
    for run in by_id.values():
        found.setdefault(tops[run.id], Family([])).runs.append(run)
    for family in found.values():
        family.runs = _in_order(family.runs)
        again = [repeated[run.id] for run in family.runs if run.id in repeated]
        if again:
            note = f"{len(again)} runs are in the export more than once; each counts once"
            family.findings.append(TraceFinding(code="TRACE_DUPLICATE_ID", message=note, path=again[0].path))
    return list(found.values())


def _tops(runs: Mapping[str, Run]) -> dict[str, str]:
    """The trace of every run: its `trace_id`, else the id of the highest run above it."""
    tops: dict[str, str] = {}
    for start in runs.values():
        path: list[str] = []
        seen: set[str] = set()
        run = start
        while run.id not in tops and run.trace is None and run.id not in seen:
            parent = runs.get(run.parent or "")
            if parent is None:
                break
            path.append(run.id)
            seen.add(run.id)
            run = parent
        top = tops.get(run.id) or run.trace or run.id
        tops.update(dict.fromkeys([*path, run.id], top))
    return tops


def _in_order(runs: list[Run]) -> list[Run]:
    """By `dotted_order`, or by the tree where a run lacks it."""
    if all(run.order for run in runs):
        return sorted(runs, key=lambda run: run.order)
    known = {run.id for run in runs}
    children: dict[str | None, list[Run]] = {}
    for run in sorted(runs, key=lambda run: (run.order, run.start or "")):
        children.setdefault(run.parent if run.parent in known else None, []).append(run)
    ordered: list[Run] = []
    waiting = list(reversed(children.get(None, [])))
    while waiting:
        run = waiting.pop()
        ordered.append(run)
        waiting.extend(reversed(children.get(run.id, [])))
    placed = {run.id for run in ordered}
    return ordered + [run for run in runs if run.id not in placed]  # runs that are their own ancestors


class Around(NamedTuple):
    """What a run stands inside: whether an LLM run, and the name of the nearest tool run."""

    llm: bool = False
    tool: str | None = None


def surroundings(runs: Iterable[Run]) -> dict[str, Around]:
    """What every run stands inside, by id. Each run is visited once; a circle ends where it closes."""
    by_id = {run.id: run for run in runs}
    found: dict[str, Around] = {}
    for start in by_id.values():
        path: list[Run] = []
        seen: set[str] = set()
        run: Run | None = start
        while run is not None and run.id not in found and run.id not in seen:
            path.append(run)
            seen.add(run.id)
            run = by_id.get(run.parent or "")
        for one in reversed(path):
            parent = by_id.get(one.parent or "")
            around = found.get(parent.id) if parent is not None else None
            if parent is None or around is None:
                found[one.id] = Around()
                continue
            tool = parent.name if parent.kind == "tool" and parent.name else around.tool
            found[one.id] = Around(around.llm or parent.kind == "llm", tool)
    return found

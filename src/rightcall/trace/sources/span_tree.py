"""Spans of one trace as a tree: who caused whom, in which order, and what is wrong with it.

Brothers stand in the order of their start, then in the order of the file. Nothing is lost: a span whose parent is
missing is a root, a circle of parents is cut before its first span, and both are findings.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rightcall.trace.model import TraceFinding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rightcall.trace.sources.otlp import LogRecord, Span


@dataclass(frozen=True, slots=True)
class SpanTree:
    """The spans of one trace: its roots, the children of each span by its id, and what was odd."""

    roots: tuple[Span, ...]
    children: Mapping[str, Sequence[Span]]
    findings: tuple[TraceFinding, ...]

    def walk(self, start: Iterable[Span] | None = None) -> Iterator[Span]:
        """Every span below (and with) some spans, or below all roots: each before its children, in order."""
        waiting = list(reversed(tuple(self.roots if start is None else start)))
        while waiting:
            span = waiting.pop()
            yield span
            waiting.extend(reversed(self.children.get(span.span_id, ())))


@dataclass
class SpanGroup:
    """What belongs to one trace id: spans and log records in the order of the file."""

    trace_id: str
    spans: list[Span] = field(default_factory=list)
    logs: list[LogRecord] = field(default_factory=list)


def by_trace(spans: Iterable[Span], logs: Iterable[LogRecord] = ()) -> list[SpanGroup]:
    """Spans and log records by their trace id, in the order in which the ids first appear."""
    groups: dict[str, SpanGroup] = {}
    for span in spans:
        groups.setdefault(span.trace_id, SpanGroup(span.trace_id)).spans.append(span)
    for log in logs:
        groups.setdefault(log.trace_id, SpanGroup(log.trace_id)).logs.append(log)
    return list(groups.values())


def build(spans: Sequence[Span]) -> SpanTree:
    """The tree of the spans of one trace."""
    findings: list[TraceFinding] = []
    by_id = _by_id(spans, findings)
    cut = _circles(by_id)
    children: defaultdict[str, list[Span]] = defaultdict(list)
    roots: list[Span] = []
    gone: list[str] = []
    for span in sorted(by_id.values(), key=_start):
        parent = by_id.get(span.parent_id) if span.parent_id is not None else None
        if parent is None or span.span_id in cut:
            if span.parent_id is not None and parent is None:
                gone.append(span.parent_id)
            roots.append(span)
        else:
            children[parent.span_id].append(span)
        _check_clock(span, parent, findings)
    if gone:
        named = ", ".join(f"`{parent_id}`" for parent_id in dict.fromkeys(gone[:3]))
        text = f"{len(gone)} of {len(by_id)} spans name a parent that was not recorded: {named}"
        findings.append(TraceFinding(code="TRACE_TREE_INVALID", message=text))
    for span_id in cut:
        text = f"the parents of the span `{span_id}` go round in a circle"
        findings.append(TraceFinding(code="TRACE_TREE_INVALID", message=text, path=by_id[span_id].place.path))
    return SpanTree(tuple(roots), children, tuple(findings))


def _start(span: Span) -> tuple[bool, int]:
    return span.start is None, span.start or 0


def _by_id(spans: Sequence[Span], findings: list[TraceFinding]) -> dict[str, Span]:
    """Spans by their id. Of one that was exported again, the later end counts; a different one is noted."""
    by_id: dict[str, Span] = {}
    for span in spans:
        known = by_id.get(span.span_id)
        if known is None or (span.end or 0) > (known.end or 0):
            by_id[span.span_id] = span
        if known is not None and (known.name, known.attributes) != (span.name, span.attributes):
            text = f"two different spans have the id `{span.span_id}`; the one that ended later counts"
            findings.append(TraceFinding(code="TRACE_DUPLICATE_ID", message=text, path=span.place.path))
    return by_id


def _circles(by_id: Mapping[str, Span]) -> list[str]:
    """One span of each circle of parents: the one that started first."""
    done: set[str] = set()
    cut = []
    for first in by_id:
        way: dict[str, None] = {}
        current: str | None = first
        while current is not None and current in by_id and current not in done and current not in way:
            way[current] = None
            current = by_id[current].parent_id
        if current is not None and current in way:
            steps = list(way)
            circle = steps[steps.index(current) :]
            cut.append(min(circle, key=lambda span_id: _start(by_id[span_id])))
        done.update(way)
    return cut


def _check_clock(span: Span, parent: Span | None, findings: list[TraceFinding]) -> None:
    if span.start is None:
        return
    text = None
    if span.end is not None and 0 < span.end < span.start:
        text = f"the span `{span.name}` ends before it starts"
    elif parent is not None and parent.start is not None and span.start < parent.start:
        text = f"the span `{span.name}` starts before its parent `{parent.name}`"
    if text:
        findings.append(TraceFinding(code="CLOCK_SKEW", message=text, path=span.place.path))

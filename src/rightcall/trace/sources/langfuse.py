"""Langfuse: traces with their observations, or rows of observations and scores, one a record.

* Rows belong together by `traceId` and form a tree by `parentObservationId`; a trace given whole holds its rows.
* The calls are those of the generations' outputs. A tool's observation gives result, error and times; without a
  generation that asked for it, it is a call of its own.
* `level: ERROR` says that a tool failed. No other level says that it did not.
* Inputs and outputs are JSON, or JSON in a string, in the shape of the SDK that was observed (`free_messages.py`).
* Scores are labels.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rightcall.errors import Place
from rightcall.trace.model import Agent, Trace
from rightcall.trace.sources.conversation import mapping, place_id, text_or_none, written_id
from rightcall.trace.sources.dialect import Dialect, Skip
from rightcall.trace.sources.free_messages import request_of
from rightcall.trace.sources.genai_messages import decoded
from rightcall.trace.sources.langfuse_rows import (
    attributes_of,
    first,
    is_observation,
    is_score,
    label_of,
    observation_of,
)
from rightcall.trace.sources.observed import told
from rightcall.trace.sources.openinference_attributes import Said

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.sources.dialect import Record

    _Object = Mapping[str, JsonValue]

_OF_A_TRACE = {"externalId", "htmlPath", "projectId", "scores", "sessionId", "session_id", "timestamp", "userId"}


@dataclass
class _Group:
    """What belongs to one trace: its own record, its observations and its scores."""

    place: Place
    trace: _Object = field(default_factory=dict)
    rows: list[Record] = field(default_factory=list)
    scores: list[_Object] = field(default_factory=list)


def detect(value: JsonValue) -> bool:
    """Whether a record is a trace with observations, an observation, a score, or a page of these from the API."""
    record = mapping(value)
    page = record.get("data")
    if isinstance(page, list) and isinstance(record.get("meta"), dict):
        return bool(page) and _is_own(mapping(page[0]))
    return _is_own(record)


def _is_own(record: _Object) -> bool:
    return _is_trace(record) or is_observation(record) or is_score(record)


def _is_trace(record: _Object) -> bool:
    rows = record.get("observations")
    whole = isinstance(rows, list) and all(isinstance(row, (dict, str)) for row in rows)
    return whole and "id" in record and "events" not in record and bool(_OF_A_TRACE & record.keys())


def traces(value: JsonValue, place: Place) -> Iterator[Trace | Skip]:
    """Read the traces of one record."""
    for item, _ in grouped([(value, place)]):
        yield item


def grouped(records: Iterable[Record]) -> Iterator[tuple[Trace | Skip, Place]]:
    """Read the traces of several records together."""
    groups: dict[str, _Group] = {}
    for value, place in records:
        for row, where in _rows(value, place):
            skip = _sort(row, where, groups)
            if skip is not None:
                yield skip, where
    for trace_id, group in groups.items():
        yield _trace(trace_id, group), group.place


def _rows(value: JsonValue, place: Place) -> Iterator[Record]:
    """The rows of a record: itself, or those of a page."""
    record = mapping(value)
    page = record.get("data")
    if isinstance(page, list) and isinstance(record.get("meta"), dict):
        for index, row in enumerate(page):
            yield row, _inside(place, f"data[{index}]")
    else:
        yield value, place


def _inside(place: Place, step: str) -> Place:
    return Place(place.file, place.line, None, f"{place.path or '$'}.{step}")


def _sort(row: JsonValue, place: Place, groups: dict[str, _Group]) -> Skip | None:
    """Put a row to its trace; what is none is said."""
    record = mapping(row)
    if is_observation(record):
        trace_id = written_id(first(record, "traceId")) or ""
        groups.setdefault(trace_id, _Group(place)).rows.append((record, place))
    elif is_score(record):
        trace_id = written_id(first(record, "traceId")) or ""
        groups.setdefault(trace_id, _Group(place)).scores.append(record)
    elif _is_trace(record):
        group = groups.setdefault(written_id(record.get("id")) or place_id(place), _Group(place))
        group.trace = record
        for index, inner in enumerate(record["observations"]):
            if isinstance(inner, dict):
                group.rows.append((inner, _inside(place, f"observations[{index}]")))
        scores = record.get("scores")
        group.scores += [score for score in scores if isinstance(score, dict)] if isinstance(scores, list) else []
    else:
        return Skip("TRACE_MALFORMED", "this is neither a trace nor an observation nor a score", place)
    return None


def _trace(trace_id: str, group: _Group) -> Trace | Skip:
    record, place = group.trace, group.place
    if not group.rows:
        return Skip("TRACE_INCOMPLETE", _nothing(group), place)
    observations = [
        observation_of(mapping(row), trace_id, index, where) for index, (row, where) in enumerate(group.rows)
    ]
    found = told(observations)
    if found is None:
        return Skip("TRACE_INCOMPLETE", f"none of its {len(group.rows)} observations is of a model or a tool", place)
    labels = [label for score in group.scores if (label := label_of(score, found.calls)) is not None]
    root_failed = any(span.status == "ERROR" for span in found.tree.roots if span.parent_id is None)
    name = found.agent or text_or_none(record.get("name")) or _stated(group, "traceName")
    return found.trace(
        Trace(
            id=trace_id,
            case_id=_case(group),
            request=_asked_for(record.get("input")),
            agent=Agent(name=name, version=_version(group), model=found.model) if name or found.model else None,
            completed=False if root_failed else None,
            labels=tuple(labels),
            metadata=_metadata(group),
        )
    )


def _nothing(group: _Group) -> str:
    """Why a trace has no observations."""
    listed = group.trace.get("observations")
    if isinstance(listed, list) and listed:
        return "its observations are only named by their ids: fetch the trace alone, or the observations"
    if group.scores and not group.trace:
        return f"{len(group.scores)} scores of a trace that is not among these records"
    return "the trace holds no observations"


def _stated(group: _Group, *names: str) -> str | None:
    """What the trace, or else the first of its rows that says so, states."""
    for row in (group.trace, *(mapping(row) for row, _ in group.rows)):
        found = written_id(first(row, *names))
        if found is not None:
            return found
    return None


def _version(group: _Group) -> str | None:
    return written_id(group.trace.get("version")) or written_id(group.trace.get("release"))


def _case(group: _Group) -> str | None:
    """The item of a dataset that was run, where the export names it."""
    stated = mapping(decoded(group.trace.get("metadata"))).get("case_id")
    found = written_id(stated) or _stated(group, "datasetItemId")
    for row, _ in group.rows if found is None else ():
        found = written_id(attributes_of(mapping(row)).get("langfuse.experiment.item.id"))
        if found is not None:
            break
    return found


def _asked_for(given: JsonValue) -> str | None:
    """What the trace was asked, where no generation says it."""
    heard = request_of(given, "input") if given is not None else None
    said = heard.parts if heard else ()
    return next((part.text for part in said if isinstance(part, Said) and part.role == "user"), None)


def _metadata(group: _Group) -> dict[str, JsonValue]:
    kept: dict[str, JsonValue] = {
        "name": group.trace.get("name"),
        "session": _stated(group, "sessionId"),
        "user": _stated(group, "userId"),
        "environment": _stated(group, "environment"),
        "tags": group.trace.get("tags"),
    }
    return {key: value for key, value in kept.items() if value not in (None, "", [])}


DIALECT = Dialect("langfuse", "Langfuse traces and observations", detect, traces, grouped=grouped)

"""AgentRx: Magentic-One conversations, and what people said about where runs failed.

A file is one of three things, and files that are given together are joined:

* a conversation: a bare list of `{role, content}`, whose roles are `human` and the names of agents
  (`Orchestrator (-> WebSurfer)`). The agents' actions are told in prose: no call was recorded, which is a
  finding, and the trace is incomplete, so that nobody takes it for an agent that called nothing.
* ground truth: rows `{trajectory_id, failures, root_cause}`. Each failure becomes a label of its trace.
* the index that names the trajectory of each conversation's file (`trajectories_info.json`).

The benchmark's τ-bench runs are files of `tau`; under this dialect's name (`--from agentrx`) they are read as `tau`
reads them and joined with their ground truth by task.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING

import msgspec

from rightcall.trace.model import Label, Message, Trace
from rightcall.trace.sources import tau
from rightcall.trace.sources.conversation import (
    Conversation,
    first_request,
    mapping,
    place_id,
    text_or_none,
    written_id,
)
from rightcall.trace.sources.dialect import Dialect, Skip

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rightcall.errors import Place
    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.sources.dialect import Record

    _Object = Mapping[str, JsonValue]

_PLAIN_ROLES = {"system", "developer", "user", "assistant", "tool", "function", "model", "ai"}


def detect(value: JsonValue) -> bool:
    """Whether a record is a conversation, a row of ground truth, or the index."""
    return _is_conversation(value) or _is_truth(value) or _is_index(value)


def _is_conversation(value: JsonValue) -> bool:
    if not isinstance(value, list) or not value or mapping(value[0]).get("role") != "human":
        return False
    roles = [text_or_none(mapping(each).get("role")) for each in value]
    plain = all(mapping(each).keys() == {"role", "content"} for each in value)
    return plain and len(value) > 1 and all(role and role not in _PLAIN_ROLES for role in roles)


def _is_truth(value: JsonValue) -> bool:
    row = mapping(value)
    return {"trajectory_id", "failures"} <= row.keys() and isinstance(row["failures"], list)


def _is_index(value: JsonValue) -> bool:
    groups = mapping(value).values()
    rows = [row for group in groups for row in mapping(group).values()]
    return bool(rows) and all(mapping(group) for group in groups) and all(map(_is_index_row, rows))


def _is_index_row(value: JsonValue) -> bool:
    return {"step", "reason", "name"} == mapping(value).keys()


def traces(value: JsonValue, place: Place) -> Iterator[Trace | Skip]:
    """Read one record."""
    for item, _ in grouped([(value, place)]):
        yield item


def grouped(records: Iterable[Record]) -> Iterator[tuple[Trace | Skip, Place]]:
    """Read all records; labels go to the traces of their trajectory, and are skipped where there is none."""
    files = _Files()
    for value, place in records:
        files.add(value, place)
    yield from files.joined()


@dataclass
class _Files:
    """What files hold together: traces, the ground truth by trajectory, the trajectories by file name."""

    found: list[tuple[Trace | Skip, Place]] = field(default_factory=list)
    truths: dict[str, list[tuple[_Object, Place]]] = field(default_factory=dict)
    named: dict[str, list[str]] = field(default_factory=dict)
    indexes: list[Place] = field(default_factory=list)

    def add(self, value: JsonValue, place: Place) -> None:
        """Take one record as what it is."""
        trajectory = written_id(mapping(value).get("trajectory_id"))
        if _is_truth(value) and trajectory is not None:
            self.truths.setdefault(trajectory, []).append((mapping(value), place))
        elif _is_index(value):
            self.indexes.append(place)
            for group in mapping(value).values():
                for key, row in mapping(group).items():
                    self.named.setdefault(str(row["name"]), []).append(key)
        elif tau.detect(value):
            self.found += [(item, place) for item in tau.traces(value, place)]
        else:
            self.found.append((_conversation(value, place), place))

    def joined(self) -> Iterator[tuple[Trace | Skip, Place]]:
        """Every trace with its labels, then what found none."""
        used: set[str] = set()
        for item, place in self.found:
            yield (item if isinstance(item, Skip) else self._labelled(item, place, used)), place
        for trajectory, rows in self.truths.items():
            message = f"no trace of trajectory `{trajectory}` is among these files"
            for _, place in rows if trajectory not in used else ():
                yield Skip("TRACE_INCOMPLETE", message, place), place
        for place in self.indexes if not self.found else ():
            yield Skip("TRACE_INCOMPLETE", "an index of trajectories, none of which is among these files", place), place

    def _labelled(self, trace: Trace, place: Place, used: set[str]) -> Trace:
        """A trace with the labels of its trajectory: that of its file in the index, else that of its task."""
        is_task = trace.case_id is not None
        keys = [trace.case_id or ""] if is_task else self.named.get(PurePath(place.file or "").name, [])
        labels = [label for key in keys for row, _ in self.truths.get(key, []) for label in labels_of(row)]
        used.update(keys)
        # One file may hold a run that the index calls by two names: then nobody knows which.
        known = {"trajectory_id": keys[0]} if len(keys) == 1 and not is_task else {}
        return msgspec.structs.replace(trace, labels=trace.labels + tuple(labels), metadata={**trace.metadata, **known})


def labels_of(value: JsonValue) -> list[Label]:
    """The labels of one row of ground truth: a `failure` for each, and the `root_cause`; people said them."""
    row = mapping(value)
    failures = [mapping(each) for each in row.get("failures") or []]
    labels = [
        Label(
            name="failure",
            value=text_or_none(failure.get("failure_category")),
            comment=text_or_none(failure.get("step_reason")),
            by="agentrx",
            kind="person",
            target=_target(failure),
        )
        for failure in failures
    ]
    cause = mapping(row.get("root_cause"))
    if cause.get("failure_id") is None:
        return labels
    of = next((each for each in failures if each.get("failure_id") == cause["failure_id"]), {})
    return [
        *labels,
        Label(
            name="root_cause",
            value=text_or_none(of.get("failure_category")),
            comment=text_or_none(cause.get("reason_for_root_cause")),
            by="agentrx",
            kind="person",
            target=_target(of),
        ),
    ]


def _target(failure: _Object) -> str | None:
    """The step, as the benchmark counts it, and the agent that failed."""
    step, agent = written_id(failure.get("step_number")), written_id(failure.get("failed_agent"))
    said = [f"step {step}" if step else None, agent]
    return ", ".join(filter(None, said)) or None


def _conversation(value: JsonValue, place: Place) -> Trace | Skip:
    if not isinstance(value, list) or not value:
        return Skip("TRACE_MALFORMED", "neither a conversation, nor ground truth, nor an index of trajectories", place)
    talk, root = Conversation(), place.path or "$"
    for index, each in enumerate(value):
        role, text = text_or_none(mapping(each).get("role")), text_or_none(mapping(each).get("content"))
        if role is None:
            talk.note("TRACE_MALFORMED", "this is not a message with a `role`", f"{root}[{index}]")
        elif role == "human":
            talk.events.append(Message(role="user", text=text))
        else:
            talk.turn += 1
            agent = role.split(" (", 1)[0]
            talk.events.append(Message(role="assistant", text=text, turn=talk.turn, agent=agent))
    if not talk.events:
        return Skip("TRACE_MALFORMED", "none of its messages could be read", place)
    talk.note("TRACE_NOT_CAPTURED", "the agents' actions are told in prose: no call was recorded", root)
    return Trace(
        id=place_id(place),
        request=first_request(talk.events),
        events=tuple(talk.events),
        completed=False,
        findings=tuple(talk.findings),
    )


DIALECT = Dialect("agentrx", "AgentRx trajectories and labels", detect, traces, whole_list=True, grouped=grouped)

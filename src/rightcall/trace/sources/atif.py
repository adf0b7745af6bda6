"""ATIF, the agent trajectory interchange format (1.4 to 1.8): a document `{schema_version, agent, steps}`.

* Arguments are objects. A result names its call with `source_call_id`; one that names none is only given to a call of
  its own step, by order, where no result of that step names any.
* The format has no field for a tool's failure. `is_error` is read where a writer adds it to a result or to its `extra`.
* Sub-agents' trajectories that are embedded are read at the call that refers to them, with `agent`; one in a file of
  its own is a finding.
* Steps that were copied from an earlier trajectory (`is_copied_context`) go to `context.history`.
* What `extra.agentpile` adds (who acted, arguments that could not be read, errors, labels) is read too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec import UNSET

from rightcall.trace import jsontext
from rightcall.trace.model import Agent, Call, CalledBy, Event, Label, Message, Result, Role, Trace
from rightcall.trace.sources.conversation import (
    Arguments,
    Conversation,
    captured,
    first_request,
    mapping,
    place_id,
    read_arguments,
    text_or_none,
    written_id,
)
from rightcall.trace.sources.dialect import Dialect, Skip
from rightcall.trace.sources.exchange import offered_tools
from rightcall.trace.sources.openai_chat import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.errors import Place
    from rightcall.trace.jsontext import JsonValue

    _Object = Mapping[str, JsonValue]

_SOURCES: dict[str, Role] = {"system": "system", "user": "user", "agent": "assistant"}
_DEEPEST = 16
"""How deep sub-agents may start sub-agents."""


def detect(value: JsonValue) -> bool:
    """Whether a document names this format as its schema."""
    version = mapping(value).get("schema_version")
    return isinstance(version, str) and version.upper().startswith("ATIF")


def traces(value: JsonValue, place: Place) -> Iterator[Trace | Skip]:
    """Read one trajectory, with the trajectories of its sub-agents."""
    record, root = mapping(value), place.path or "$"
    steps = record.get("steps")
    if not isinstance(steps, list):
        yield Skip("TRACE_MALFORMED", "`steps` is not a list", place)
        return
    if not steps:
        yield Skip("TRACE_INCOMPLETE", "the trajectory has no steps", place)
        return
    reader = _Reader(Conversation(), record, None)
    reader.read(root)
    if not reader.talk.events:
        told = "; ".join(finding.message for finding in reader.talk.findings[:2])
        yield Skip("TRACE_MALFORMED", f"none of its steps could be read: {told}", place)
        return
    yield _trace(record, reader, root, place)


def _trace(record: _Object, reader: _Reader, root: str, place: Place) -> Trace:
    talk, agent, extension = reader.talk, mapping(record.get("agent")), _extension(record)
    name, version, model = (text_or_none(agent.get(key)) for key in ("name", "version", "model_name"))
    if record.get("continued_trajectory_ref"):
        talk.note("TRACE_INCOMPLETE", f"the run goes on in `{record['continued_trajectory_ref']}`", root)
    tools = offered_tools(talk, agent.get("tool_definitions"), f"{root}.agent.tool_definitions")
    ids = {"session": record.get("session_id"), "trajectory": record.get("trajectory_id")}
    history = jsontext.decode(jsontext.encode(reader.history.events)) if reader.history.events else None
    return Trace(
        id=written_id(ids["trajectory"]) or written_id(ids["session"]) or place_id(place),
        case_id=written_id(mapping(extension.get("task")).get("id")),
        request=first_request(talk.events) or first_request(reader.history.events),
        context={"history": history} if history else None,
        agent=Agent(name=name, version=version, model=model) if name or version or model else None,
        tools_json=tools,
        events=tuple(talk.events),
        findings=tuple(talk.findings),
        labels=_labels(extension),
        metadata={key: value for key, value in ids.items() if isinstance(value, str)},
    )


def _extension(value: _Object) -> _Object:
    return mapping(mapping(value.get("extra")).get("agentpile"))


def _labels(extension: _Object) -> tuple[Label, ...]:
    found = []
    rows = extension.get("labels")
    for row in map(mapping, rows if isinstance(rows, list) else ()):
        if isinstance(row.get("name"), str):
            address = mapping(mapping(row.get("target")).get("address"))
            target = ", ".join(f"{key} {value}" for key, value in address.items())
            by = text_or_none(row.get("label_source"))
            found.append(Label(name=row["name"], value=row.get("value"), by=by, target=target or None))
    outcome = mapping(extension.get("outcome"))
    found += [Label(name=key, value=outcome[key]) for key in ("success", "score") if outcome.get(key) is not None]
    return tuple(found)


class _Entry(NamedTuple):
    """One result of a step's observation, and where it stands."""

    body: _Object
    path: str


class _Reader:
    """Reads the steps of one trajectory; a sub-agent's has a reader of its own."""

    def __init__(self, talk: Conversation, record: _Object, agent: str | None, depth: int = 0) -> None:
        self.talk, self.history = talk, Conversation()
        self._record, self._agent, self._depth = record, agent, depth
        embedded = record.get("subagent_trajectories")
        rows = [mapping(row) for row in (embedded if isinstance(embedded, list) else ())]
        self._embedded: dict[str, tuple[int, _Object]] = {}
        for index, row in enumerate(rows):
            name = text_or_none(row.get("trajectory_id")) or f"[{index}]"
            self._embedded[f"{name} [{index}]" if name in self._embedded else name] = (index, row)

    def read(self, root: str) -> None:
        """Add every step, then the sub-agents that no step refers to."""
        steps = self._record.get("steps")
        for index, value in enumerate(steps if isinstance(steps, list) else ()):
            path, step = f"{root}.steps[{index}]", mapping(value)
            source = step.get("source")
            if not isinstance(source, str) or source not in _SOURCES:
                self.talk.note("TRACE_MALFORMED", "this is not a step with a known `source`", path)
                continue
            copied = step.get("is_copied_context") is True
            self._step(self.history if copied else self.talk, step, root, path)
        for name in list(self._embedded):
            self.talk.note("TRACE_INCOMPLETE", f"no step refers to the sub-agent's trajectory `{name}`", root)
            self._subagent(name, root)

    def _step(self, talk: Conversation, step: _Object, root: str, path: str) -> None:
        role, at = _SOURCES[step["source"]], text_or_none(step.get("timestamp"))
        extension, turn = _extension(step), None
        agent = self._agent or text_or_none(extension.get("actor"))
        if role == "assistant":
            talk.turn += 1
            turn = talk.turn
        text = read_text(talk, step.get("message"), f"{path}.message")
        if extension.get("message_state") == "null":
            text = None
        talk.events.append(Message(role=role, text=text, at=at, turn=turn, agent=agent if turn else None))
        calls = step.get("tool_calls")
        if calls is not None and not isinstance(calls, list):
            talk.note("TRACE_MALFORMED", "`tool_calls` is not a list", f"{path}.tool_calls")
        known, by = mapping(extension.get("calls")), _caller(role)
        for index, value in enumerate(calls if isinstance(calls, list) else ()):
            call, where = mapping(value), f"{path}.tool_calls[{index}]"
            name, id_ = call.get("function_name"), written_id(call.get("tool_call_id"))
            if not isinstance(name, str) or not name:
                talk.note("TRACE_MALFORMED", "this entry is not a call: it names no tool", where)
                continue
            arguments = _arguments(call, mapping(known.get(id_ or "")))
            kept = Call(tool=name, id=id_, turn=turn, by=by, started_at=at, agent=agent, **arguments)
            talk.call(kept, where)
        self._observation(talk, step, known, root, path)

    def _observation(self, talk: Conversation, step: _Object, known: _Object, root: str, path: str) -> None:
        rows = mapping(step.get("observation")).get("results")
        path = f"{path}.observation.results"
        if not isinstance(rows, list):
            if step.get("observation") is not None:
                talk.note("TRACE_MALFORMED", "the observation holds no list of `results`", path)
            return
        entries = [_Entry(mapping(row), f"{path}[{index}]") for index, row in enumerate(rows)]
        for entry in entries:
            self._references(entry, root)
        named = any(entry.body.get("source_call_id") is not None for entry in entries)
        waiting = len(calls) if isinstance(calls := step.get("tool_calls"), list) and not named else 0
        for entry in entries:
            id_ = written_id(entry.body.get("source_call_id"))
            if id_ is None and waiting <= 0:
                if entry.body.get("content") is not None:
                    talk.note("TRACE_ORPHAN_RESULT", "an observation that names no call was left out", entry.path)
                continue
            waiting -= 1
            failed = _failed(entry.body, mapping(known.get(id_ or "")))
            _tell_parts(talk, entry)
            talk.answer(Result(content_json=captured(entry.body), is_error=failed), entry.path, id=id_)

    def _references(self, entry: _Entry, root: str) -> None:
        """Read the sub-agents that a result refers to, ahead of it: they ran between the call and its result."""
        rows = entry.body.get("subagent_trajectory_ref")
        for row in map(mapping, rows if isinstance(rows, list) else [rows] if rows else ()):
            name = text_or_none(row.get("trajectory_id"))
            if name is not None and name in self._embedded:
                self._subagent(name, root)
            else:
                where = text_or_none(row.get("trajectory_path")) or name or text_or_none(row.get("session_id"))
                self.talk.note("TRACE_INCOMPLETE", f"a sub-agent's steps are not here but in `{where}`", entry.path)

    def _subagent(self, name: str, root: str) -> None:
        index, record = self._embedded.pop(name)
        path = f"{root}.subagent_trajectories[{index}]"
        if self._depth >= _DEEPEST:
            self.talk.note("TRACE_TOO_DEEP", f"sub-agents are read {_DEEPEST} levels deep", path)
            return
        talk = Conversation()
        talk.turn = self.talk.turn
        agent = text_or_none(mapping(record.get("agent")).get("name")) or name
        _Reader(talk, record, agent, self._depth + 1).read(path)
        self.talk.turn = talk.turn
        self.talk.events += [_by_agent(event, agent) for event in talk.events]
        self.talk.findings += talk.findings


def _by_agent(event: Event, agent: str) -> Event:
    """An event of a sub-agent; what its user says is the agent's task and not the person's request."""
    return event if event.agent is not None else msgspec.structs.replace(event, agent=agent)


def _caller(role: Role) -> CalledBy:
    return "user" if role == "user" else "agent"


def _arguments(call: _Object, known: _Object) -> Arguments:
    """The arguments; where a converter says that it could not read them, the text that it kept."""
    raw = text_or_none(known.get("arguments_raw"))
    if known.get("arguments_state") == "unparsed":
        return {"arguments_status": "malformed", **({"arguments_raw": raw} if raw is not None else {})}
    return read_arguments(call.get("arguments", UNSET))


def _failed(result: _Object, known: _Object) -> bool | None:
    if known.get("error") is not None:
        return True
    for holder in (result, mapping(result.get("extra"))):
        if isinstance(holder.get("is_error"), bool):
            return bool(holder["is_error"])
    return None


def _tell_parts(talk: Conversation, entry: _Entry) -> None:
    content = entry.body.get("content")
    for index, part in enumerate(content if isinstance(content, list) else ()):
        kind = mapping(part).get("type")
        if kind != "text":
            where = f"{entry.path}.content[{index}]"
            talk.note("TRACE_INCOMPLETE", f"a part of type `{kind}` of a result is kept unread", where)


DIALECT = Dialect("atif", "ATIF trajectories", detect, traces)

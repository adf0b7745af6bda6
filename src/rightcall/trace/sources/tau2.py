"""τ²-bench results: a document `{tasks, simulations}`, or one simulation a record.

* Arguments are objects, a result's `id` is the id of its call, and `error` says whether the tool failed.
* The simulated user calls tools too; those calls are kept with `by: user` and are not graded.
* `turn` is the message's `turn_idx`, else its index.
* A simulation without `task_id` belongs to no task: its place in the list says nothing. It is read, with a finding;
  the expected calls that its own checks hold are read by `rightcall.case.sources.tau2`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET

from rightcall.errors import Place
from rightcall.trace.model import Agent, Call, CalledBy, Message, Result, Role, Trace
from rightcall.trace.sources.conversation import (
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
from rightcall.trace.sources.openai_chat import read_text
from rightcall.trace.sources.tau import trial_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.trace.jsontext import JsonValue

    _Object = Mapping[str, JsonValue]

_SPEAKERS: dict[str, Role] = {"system": "system", "user": "user", "assistant": "assistant"}
_COMPLETED = {"user_stop": True, "agent_stop": True, "max_steps": False, "too_many_errors": False}


def detect(value: JsonValue) -> bool:
    """Whether a record is a document with simulations, or one simulation."""
    record = mapping(value)
    if isinstance(record.get("simulations"), list):
        return bool({"tasks", "info"} & record.keys())
    return "messages" in record and bool({"reward_info", "termination_reason"} & record.keys())


def traces(value: JsonValue, place: Place) -> Iterator[Trace | Skip]:
    """Read a document or one simulation."""
    record = mapping(value)
    if "simulations" not in record:
        yield _simulation(record, {}, place)
        return
    simulations, root = record["simulations"], place.path or "$"
    if not isinstance(simulations, list) or not simulations:
        yield Skip("TRACE_INCOMPLETE", "`simulations` holds none", place)
        return
    for index, simulation in enumerate(simulations):
        where = Place(place.file, place.line, None, f"{root}.simulations[{index}]")
        yield _simulation(mapping(simulation), mapping(record.get("info")), where)


def _simulation(simulation: _Object, info: _Object, place: Place) -> Trace | Skip:
    messages, root = simulation.get("messages"), place.path or "$"
    if not isinstance(messages, list) or not messages:
        return Skip("TRACE_INCOMPLETE", "the simulation recorded no `messages`", place)
    talk = Conversation()
    for index, message in enumerate(messages):
        _read_message(talk, message, index, f"{root}.messages[{index}]")
    if not talk.events:
        return Skip("TRACE_MALFORMED", "none of its messages could be read", place)
    task, ended = written_id(simulation.get("task_id")), text_or_none(simulation.get("termination_reason"))
    if task is None:
        talk.note("TRACE_INCOMPLETE", "no `task_id`: this simulation cannot be joined with its task", root)
    policy = simulation.get("policy") or mapping(info.get("environment_info")).get("policy")
    return Trace(
        id=written_id(simulation.get("id")) or place_id(place),
        case_id=task,
        trial=trial_of(simulation),
        request=first_request(talk.events),
        context={"policy": policy} if isinstance(policy, str) else None,
        agent=_agent(mapping(info.get("agent_info"))),
        events=tuple(talk.events),
        completed=_COMPLETED.get(ended) if ended else None,
        findings=tuple(talk.findings),
        metadata=_metadata(simulation, ended),
    )


def _agent(info: _Object) -> Agent | None:
    name, model = text_or_none(info.get("implementation")), text_or_none(info.get("llm"))
    return Agent(name=name, model=model) if name or model else None


def _metadata(simulation: _Object, ended: str | None) -> dict[str, JsonValue]:
    reward = mapping(simulation.get("reward_info")).get("reward")
    kept = {"reward": reward, "termination_reason": ended}
    return {key: value for key, value in kept.items() if isinstance(value, (int, float, str))}


def _read_message(talk: Conversation, value: JsonValue, index: int, path: str) -> None:
    message = mapping(value)
    role, wrapped = message.get("role"), message.get("tool_messages")
    if role == "tool" and isinstance(wrapped, list):
        for number, result in enumerate(wrapped):
            _read_result(talk, result, f"{path}.tool_messages[{number}]")
    elif role == "tool":
        _read_result(talk, message, path)
    elif isinstance(role, str) and role in _SPEAKERS:
        _read_said(talk, message, index, path)
    else:
        talk.note("TRACE_MALFORMED", "this is not a message with a known `role`", path)


def _read_result(talk: Conversation, value: JsonValue, path: str) -> None:
    if not isinstance(value, dict):
        talk.note("TRACE_MALFORMED", "this is not a tool's message", path)
        return
    failed = value.get("error")
    result = Result(
        content_json=captured(value),
        is_error=failed if isinstance(failed, bool) else None,
        at=text_or_none(value.get("timestamp")),
    )
    talk.answer(result, path, id=written_id(value.get("id")), name=text_or_none(value.get("name")))


def _read_said(talk: Conversation, message: _Object, index: int, path: str) -> None:
    role, at, turn = _SPEAKERS[message["role"]], text_or_none(message.get("timestamp")), message.get("turn_idx")
    turn = turn if isinstance(turn, int) and not isinstance(turn, bool) else index
    text = read_text(talk, message.get("content"), f"{path}.content")
    talk.events.append(Message(role=role, text=text, at=at, turn=turn))
    calls = message.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        talk.note("TRACE_MALFORMED", "`tool_calls` is not a list", f"{path}.tool_calls")
        return
    for number, value in enumerate(calls or ()):
        entry, where = mapping(value), f"{path}.tool_calls[{number}]"
        name = entry.get("name")
        if not isinstance(name, str) or not name:
            talk.note("TRACE_MALFORMED", "this entry is not a call: it names no tool", where)
            continue
        by: CalledBy = "user" if role == "user" or entry.get("requestor") == "user" else "agent"
        arguments = read_arguments(entry.get("arguments", UNSET))
        talk.call(Call(tool=name, id=written_id(entry.get("id")), turn=turn, by=by, started_at=at, **arguments), where)


DIALECT = Dialect("tau2", "τ²-bench results", detect, traces)

"""LangChain and LangGraph: a list of messages, an object with `messages`, or a state of a graph.

The messages are those of `langchain_messages`. A state keeps them in `messages`, `values.messages` (a snapshot, or a
thread of the platform) or `channel_values.messages` (a checkpoint). The states of one thread repeat one another, so of
those given together only the last is read: its calls are counted once.

* `status` of a tool message says whether the tool failed; without it `is_error` is not known.
* `next` of a snapshot says whether the graph has ended.
* `name` of a message says which agent spoke.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rightcall.errors import Place
from rightcall.trace.model import Agent, Trace, TraceFinding
from rightcall.trace.sources.conversation import first_request, mapping, place_id, text_or_none, written_id
from rightcall.trace.sources.dialect import Dialect, Skip
from rightcall.trace.sources.langchain_messages import Talk, are_messages, read_messages
from rightcall.trace.sources.openai_deltas import are_chunks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.sources.dialect import Record

    _Object = Mapping[str, JsonValue]

_ELSEWHERE = {
    "reward_info", "run_type", "samples", "simulations", "suite_name", "termination_reason", "traj", "request",
    "inputs", "events",
}  # fmt: skip
"""Keys of records of another dialect that may hold such messages too."""
_STATES = ("values", "channel_values")


class _State(NamedTuple):
    """The newest state of a thread that has been seen: how new it is, and how many it repeats."""

    newness: tuple[int, str]
    value: JsonValue
    place: Place
    earlier: int


def detect(value: JsonValue) -> bool:
    """Whether every message is one, and at least one of them has a shape that only LangChain writes."""
    if isinstance(value, list):
        return bool(value) and are_messages(value) and not are_chunks(value)
    record = mapping(value)
    return not _ELSEWHERE & record.keys() and are_messages(_messages(record)[0])


def _messages(record: _Object) -> tuple[JsonValue, str]:
    """The messages of a record and their path."""
    if "messages" in record:
        return record["messages"], ".messages"
    for key in _STATES:
        if "messages" in mapping(record.get(key)):
            return record[key]["messages"], f".{key}.messages"
    return None, ".messages"


def traces(value: JsonValue, place: Place) -> Iterator[Trace | Skip]:
    """Read one record."""
    yield _trace(value, place, 0)


def grouped(records: Iterable[Record]) -> Iterator[tuple[Trace | Skip, Place]]:
    """Read records one by one; of the states of one thread, only the last."""
    threads: dict[tuple[str, str], _State] = {}
    for value, place in records:
        key = _thread(mapping(value))
        if key is None:
            yield _trace(value, place, 0), place
            continue
        held, newness = threads.get(key), _newness(mapping(value))
        if held is None:
            threads[key] = _State(newness, value, place, 0)
        elif newness >= held.newness:
            threads[key] = _State(newness, value, place, held.earlier + 1)
        else:
            threads[key] = held._replace(earlier=held.earlier + 1)
    for state in threads.values():
        yield _trace(state.value, state.place, state.earlier), state.place


def _thread(record: _Object) -> tuple[str, str] | None:
    """Thread and namespace of a state; nothing for any other record."""
    if not any(key in record for key in _STATES):
        return None
    about = _about(record)
    thread = written_id(about.get("thread_id")) or written_id(record.get("thread_id"))
    return (thread, text_or_none(about.get("checkpoint_ns")) or "") if thread else None


def _about(record: _Object) -> _Object:
    """What a state says about where it belongs."""
    inside = mapping(mapping(record.get("config")).get("configurable"))
    return {**mapping(record.get("checkpoint")), **inside}


def _newness(record: _Object) -> tuple[int, str]:
    step = mapping(record.get("metadata")).get("step")
    at = text_or_none(record.get("created_at")) or text_or_none(record.get("ts"))
    return (step if isinstance(step, int) else -2, at or "")


def _trace(value: JsonValue, place: Place, earlier: int) -> Trace | Skip:
    record, root = mapping(value), place.path or "$"
    messages, path = (value, "") if isinstance(value, list) else _messages(record)
    if not isinstance(messages, list):
        return Skip("TRACE_MALFORMED", "there is no list of `messages`", place)
    if not messages:
        return Skip("TRACE_INCOMPLETE", "no message was recorded", place)
    talk = Talk()
    read_messages(talk, messages, f"{root}{path}")
    if not talk.events:
        return Skip("TRACE_MALFORMED", "none of its messages could be read", place)
    if record.get("tools") is not None:
        talk.offer(record["tools"], f"{root}.tools")
    metadata = mapping(record.get("metadata"))
    id_ = next((found for key in ("id", "trace_id", "run_id") if (found := written_id(record.get(key)))), None)
    thread = _thread(record)
    if earlier and thread:
        note = f"{earlier} earlier states of thread `{thread[0]}` were left out: this one repeats them"
        talk.findings.append(TraceFinding(code="TRACE_DUPLICATE_ID", message=note, path=root))
    return Trace(
        id=id_ or (thread[0] if thread else None) or place_id(place),
        case_id=written_id(record.get("case_id")) or written_id(metadata.get("case_id")),
        request=first_request(talk.events),
        agent=Agent(model=talk.model) if talk.model else None,
        tools_json=talk.catalog(),
        events=tuple(talk.events),
        completed=False if talk.cut_off else _completed(record),
        findings=tuple(talk.findings),
        metadata=_metadata(record, talk),
    )


def _completed(record: _Object) -> bool | None:
    """Whether the graph had nothing left to do; not known without a snapshot."""
    tasks = record.get("tasks")
    if isinstance(tasks, list) and any(mapping(task).get("error") for task in tasks):
        return False
    waiting = record.get("next")
    if isinstance(waiting, list) and "values" in record:
        return not waiting
    return None


def _metadata(record: _Object, talk: Talk) -> dict[str, JsonValue]:
    """The plain values beside the messages, the thread, and artifacts of tools, which no model has seen."""
    plain = {key: value for key, value in record.items() if isinstance(value, (int, float, str)) and key != "id"}
    about = mapping(record.get("metadata"))
    found = {**plain, **about}
    if thread := next((found[key] for key in ("thread_id", "session_id", "conversation_id") if key in found), None):
        found["session"] = thread
    elif state := _thread(record):
        found["session"] = state[0]
    return {**found, "artifacts": talk.artifacts} if talk.artifacts else found


DIALECT = Dialect("langchain", "LangChain and LangGraph messages", detect, traces, whole_list=True, grouped=grouped)

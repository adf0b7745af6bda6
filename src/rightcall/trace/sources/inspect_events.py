"""What the events of an Inspect sample add to its messages: tools offered, times, results, calls of other agents.

The messages of a sample are the history of its main agent. Events hold every output of every model, so a call is taken
from here only where no message has it: a sub-agent made it behind a tool, or the history was cut. What scorers asked
their models is no part of the run. Texts that were moved out (`attachment://…`, formerly `tc://…`) are put back.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rightcall.errors import TraceError
from rightcall.trace.sources.conversation import mapping, text_or_none, written_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.trace.jsontext import JsonValue

    _Object = Mapping[str, JsonValue]

MAX_RESOLVED = 256 << 20
"""How many characters the attachments of one sample may come to where they are put back."""

_SCORING = {"scorer", "scorers"}


class Attachments:
    """The texts that were moved out of a sample, put back into any value; what is not there is counted."""

    def __init__(self, sample: _Object) -> None:
        self.texts: _Object = {
            **mapping(mapping(sample.get("transcript")).get("content")),
            **mapping(sample.get("attachments")),
        }
        self.missing: set[str] = set()
        self._size = 0

    def resolve(self, value: JsonValue) -> JsonValue:
        """The value with every reference replaced.

        Raises:
            TraceError: the texts come to more than is read (`TRACE_TOO_LONG`).
        """
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, dict):
            return {key: self.resolve(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.resolve(item) for item in value]
        return value

    def _text(self, value: str) -> str:
        if not value.startswith(("attachment://", "tc://")):
            return value
        found = self.texts.get(value.split("://", 1)[1])
        if not isinstance(found, str):
            self.missing.add(value)
            return value
        self._size += len(found)
        if self._size > MAX_RESOLVED:
            raise TraceError(f"attachments of more than {MAX_RESOLVED >> 20} MiB", code="TRACE_TOO_LONG")
        return found


@dataclass(frozen=True, slots=True)
class Output:
    """What a model answered with calls: the message, its place among the events, and which sub-agent it was."""

    message: _Object
    path: str
    agent: str | None


@dataclass
class Happened:
    """The events of a sample by what they are good for.

    `tools` are the tools offered by name (`None`: no model was asked, so nothing is known), `outputs` every answer
    with calls, `runs` the tool events of each call id in order, `last` the last question to a model with its answer.
    """

    tools: dict[str, JsonValue] | None = None
    outputs: list[Output] = field(default_factory=list)
    runs: dict[str, list[_Object]] = field(default_factory=dict)
    last: tuple[JsonValue, ...] | None = None
    _taken: Counter[str] = field(default_factory=Counter)

    def take(self, ids: list[str]) -> bool:
        """Whether one of these calls was run as often as it is now asked for; an answer that is repeated is not."""
        self._taken.update(ids)
        return any(self._taken[id_] <= len(self.runs.get(id_, ())) for id_ in ids)


def happened(sample: _Object, root: str) -> Happened:
    """Read the events of a sample."""
    found = Happened()
    for event, path, agent in _of_the_run(_events(sample), f"{root}.events"):
        if event.get("event") == "model":
            _read_model(found, sample, event, path, agent)
        elif event.get("event") == "tool" and (id_ := written_id(event.get("id"))) is not None:
            found.runs.setdefault(id_, []).append(event)
    return found


def _events(sample: _Object) -> JsonValue:
    return sample["events"] if "events" in sample else mapping(sample.get("transcript")).get("events")


def _of_the_run(events: JsonValue, path: str) -> Iterator[tuple[_Object, str, str | None]]:
    """Every event outside the scorers, with its path and the name of the agent whose span it stands in."""
    scoring: dict[str, bool] = {}
    agents: dict[str, str | None] = {}
    steps: list[bool] = []
    for index, value in enumerate(events if isinstance(events, list) else []):
        event = mapping(value)
        if event.get("event") == "step":
            _step(steps, event)
            continue
        span = text_or_none(event.get("span_id")) or ""
        if event.get("event") == "span_begin":
            id_, parent = text_or_none(event.get("id")) or span, text_or_none(event.get("parent_id")) or ""
            kind = event.get("type")
            scoring[id_] = scoring.get(parent, False) or (isinstance(kind, str) and kind in _SCORING)
            agents[id_] = text_or_none(event.get("name")) if kind == "agent" else agents.get(parent)
        elif not scoring.get(span, False) and not any(steps):
            yield event, f"{path}[{index}]", agents.get(span)


def _step(steps: list[bool], event: _Object) -> None:
    """Enter or leave a step: what spans were called before there were spans."""
    if event.get("action") == "begin":
        steps.append(event.get("type") == "scorer")
    elif steps:
        steps.pop()


def _read_model(found: Happened, sample: _Object, event: _Object, path: str, agent: str | None) -> None:
    tools = event.get("tools")
    if isinstance(tools, list):
        found.tools = found.tools if found.tools is not None else {}
        for tool in tools:
            found.tools.setdefault(str(mapping(tool).get("name")), tool)
    choices = mapping(event.get("output")).get("choices")
    message = mapping(mapping(choices[0]).get("message")) if isinstance(choices, list) and choices else {}
    if message:
        found.last = (*_asked(sample, event), message)
        if message.get("tool_calls"):
            found.outputs.append(Output(message, f"{path}.output.choices[0].message", agent))


def _asked(sample: _Object, event: _Object) -> list[JsonValue]:
    """The messages that a model was given, taken out of the pool where they are only referred to."""
    given, ranges = event.get("input"), event.get("input_refs")
    if not isinstance(ranges, list):
        return given if isinstance(given, list) else []
    pool = mapping(sample.get("events_data")).get("messages", sample.get("message_pool"))
    messages: list[JsonValue] = []
    for pair in ranges:
        if isinstance(pool, list) and isinstance(pair, list) and len(pair) == 2 and all(map(_is_index, pair)):
            messages += pool[pair[0] : pair[1]]
        if len(messages) > len(pool or ()):  # a history repeats no message of the pool
            break
    return messages


def _is_index(value: JsonValue) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def called_ids(message: JsonValue) -> list[str]:
    """The ids of a message's calls."""
    calls = mapping(message).get("tool_calls")
    found = [written_id(mapping(call).get("id")) for call in calls] if isinstance(calls, list) else []
    return [id_ for id_ in found if id_ is not None]


def elsewhere(messages: list[JsonValue], outputs: list[Output]) -> dict[int, list[Output]]:
    """The outputs whose calls no message has, by the index of the message after which they were made (-1: none)."""
    place = {id_: index for index, message in enumerate(messages) for id_ in called_ids(message)}
    after = -1
    found: dict[int, list[Output]] = {}
    for output in outputs:
        known = [place[id_] for id_ in called_ids(output.message) if id_ in place]
        if known:
            after = max(after, *known)
        else:
            found.setdefault(after, []).append(output)
    return found

"""Traces of platforms that observe what any SDK does: models that were asked, tools that ran, in a tree.

MLflow and Langfuse say what kind a step is and store its input and output as found. A step becomes a question to a
model or a run of a tool; how these are told as one conversation is `openinference_run.py`'s matter.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, Raw, UnsetType

from rightcall.trace import jsontext
from rightcall.trace.model import Call, Event, Trace
from rightcall.trace.sources import span_tree
from rightcall.trace.sources.conversation import Conversation, first_request, mapping, without_history
from rightcall.trace.sources.exchange import offered_tools
from rightcall.trace.sources.free_messages import Heard, reply_of, request_of
from rightcall.trace.sources.openinference_attributes import Odd
from rightcall.trace.sources.openinference_run import Telling
from rightcall.trace.sources.openinference_steps import Asked, Ran
from rightcall.trace.sources.openinference_tools import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.sources.otlp import Span
    from rightcall.trace.sources.span_tree import SpanTree


@dataclass(frozen=True, slots=True)
class Observation:
    """One observed step.

    Attributes:
        span: its place in the tree, its times and its status.
        kind: `LLM`, `TOOL`, `AGENT`, `EVALUATOR`, or anything else.
        name: of the tool or the agent.
        given: the input; unset where it was not captured.
        said: the output; unset where it was not captured.
        tools: the definitions of the tools that a model was offered.
        model: which model was asked.
        call_id: the id of the call that a tool's run answers.
        failed: whether a tool's run failed.
    """

    span: Span
    kind: str
    name: str
    given: JsonValue | UnsetType = UNSET
    said: JsonValue | UnsetType = UNSET
    tools: JsonValue = None
    model: str | None = None
    call_id: str | None = None
    failed: bool | None = None

    @property
    def path(self) -> str:
        """Where it stands."""
        return self.span.place.path or "$"


@dataclass(frozen=True, slots=True)
class Told:
    """What the observations of one trace come to; the reader of the dialect adds what only it knows."""

    talk: Conversation
    tree: SpanTree
    earlier: int
    tools_json: Raw | UnsetType
    model: str | None
    agent: str | None
    is_cut: bool
    calls: Mapping[str, str]
    """The ids of the calls that runs of tools answered, by the ids of these runs."""

    def trace(self, trace: Trace) -> Trace:
        """The reader's trace with events, catalog and findings filled in, and earlier turns moved into the context."""
        filled = msgspec.structs.replace(
            trace,
            request=first_request(self.talk.events) or trace.request,
            tools_json=self.tools_json,
            events=tuple(self.talk.events),
            completed=False if self.is_cut else trace.completed,
            findings=(*trace.findings, *self.tree.findings, *self.talk.findings),
        )
        return without_history(filled, self.earlier)


@dataclass(frozen=True, slots=True)
class _Where:
    """Where in the tree an observation stands: below which agent or tool, and below what kind of step."""

    scope: str = ""
    agent: str | None = None
    within: str | None = None
    judged: bool = False


def told(observations: Sequence[Observation]) -> Told | None:
    """Tell the observations of one trace; `None` where none is of a model or a tool."""
    by_id = {observation.span.span_id: observation for observation in observations}
    tree = span_tree.build([observation.span for observation in observations])
    steps, judged, odd = _steps(tree, by_id)
    asked = [step for step in steps if isinstance(step, Asked)]
    ran = [step for step in steps if isinstance(step, Ran)]
    if not asked and not ran:
        return None
    names = list(dict.fromkeys(step.agent for step in steps))
    telling = Telling(asked, agents=len(names) > 1)
    for step in steps:
        if isinstance(step, Asked):
            telling.asked(step)
        else:
            telling.ran(step)
    telling.rest()
    talk = telling.talk
    for one in odd:
        talk.note(one.code, one.message, one.path)
    if judged:
        talk.note("TRACE_INCOMPLETE", f"{judged} requests of an evaluator or a guard were left out", "$")
    failures = {key: value for step in asked for key, value in mapping(step.node.get("failures")).items()}
    talk.events[:] = [_with_failure(event, failures) for event in talk.events]
    offered = [(by_id[step.span.span_id].tools, step.path) for step in asked]
    return Told(
        talk, tree, telling.earlier, _catalog(talk, offered),
        model=next((m for step in asked if (m := by_id[step.span.span_id].model)), None),
        agent=next((name for name in names if name), None),
        is_cut=any(step.node.get("cut_off") for step in asked) or bool(asked and asked[-1].failed),
        calls={step.span.span_id: step.outcome.id for step in ran if step.outcome.id is not None},
    )  # fmt: skip


def _steps(tree: SpanTree, by_id: Mapping[str, Observation]) -> tuple[list[Asked | Ran], int, list[Odd]]:
    """Questions and runs in the order of their start, how many were an evaluator's, and what was odd about them.

    A model's step below another model's is the same request, observed twice; the outer one counts, if it was answered.
    """
    timed: list[tuple[int, Asked | Ran]] = []
    where: dict[str, _Where] = {}
    judged, now = 0, 0
    odd: list[Odd] = []
    for observation, parent in _walk(tree, by_id):
        span, place = observation.span, where.get(parent or "", _Where())
        now = span.start if span.start is not None else now
        below = _below(observation, place)
        where[span.span_id] = below
        if observation.kind == "LLM" and place.within != "LLM":
            if place.judged:
                judged += 1
                continue
            asked, found = _asked(observation, below)
            if not asked.answered and not asked.failed and tree.children.get(span.span_id):
                where[span.span_id] = place
                continue
            odd += found
            timed.append((now, asked))
        elif observation.kind == "TOOL" and not place.judged:
            timed.append((now, _ran(observation, place)))
    return [step for _, step in sorted(timed, key=lambda item: item[0])], judged, odd


def _walk(tree: SpanTree, by_id: Mapping[str, Observation]) -> Iterator[tuple[Observation, str | None]]:
    roots = {span.span_id for span in tree.roots}
    for span in tree.walk():
        yield by_id[span.span_id], None if span.span_id in roots else span.parent_id


def _below(observation: Observation, place: _Where) -> _Where:
    kind, id_ = observation.kind, observation.span.span_id
    if kind == "AGENT":
        return _Where(id_, observation.name or place.agent, kind, place.judged)
    if kind == "TOOL":
        return _Where(id_, place.agent, kind, place.judged)
    if kind == "LLM":
        return _Where(place.scope, place.agent, kind, place.judged)
    return _Where(place.scope, place.agent, place.within, place.judged or kind == "EVALUATOR")


def _asked(observation: Observation, place: _Where) -> tuple[Asked, list[Odd]]:
    span, path = observation.span, observation.path
    given, said = request_of(observation.given, "input"), reply_of(observation.said, "output")
    odd: list[Odd] = []
    for what, value, heard in (("input", observation.given, given), ("output", observation.said, said)):
        if heard is None and value is not UNSET and value is not None:
            text = f"the {what} of the model `{span.name}` has a shape that is not read"
            odd.append(Odd("TRACE_INCOMPLETE", text, path))
    if said is None and (observation.said is UNSET or observation.said is None):
        code = "TRACE_HTTP_ERROR" if span.status == "ERROR" else "TRACE_NOT_CAPTURED"
        why = f"a request failed: {span.status_message or 'no reason given'}"
        odd.append(Odd(code, why if span.status == "ERROR" else "the reply of a model was not recorded", path))
    if said and said.cut_off:
        odd.append(Odd("TRACE_TRUNCATED", "the reply was cut off at its longest length", path))
    given, answered, said = given or Heard(), said is not None, said or Heard()
    node = {"failures": {**said.failures, **given.failures}, "cut_off": said.cut_off}
    asked = Asked(
        span, node, place.scope, place.agent, given.parts, said.parts, (*given.odd, *said.odd), (), answered=answered
    )
    return asked, odd


def _ran(observation: Observation, place: _Where) -> Ran:
    said = observation.said
    hidden = said is UNSET or (said is None and observation.failed)
    content = observation.span.status_message if hidden and observation.failed else said
    outcome = Outcome(
        observation.call_id,
        UNSET if content is UNSET or (hidden and content is None) else Raw(jsontext.encode(content)),
        observation.failed,
    )
    node = {} if observation.given is UNSET else {"input": {"value": observation.given}}
    return Ran(
        observation.span, node, place.scope, place.agent, observation.name,
        is_named=True, within_tool=place.within == "TOOL", outcome=outcome,
    )  # fmt: skip


def _with_failure(event: Event, failures: Mapping[str, bool]) -> Event:
    """A call's result with what a message said about it, where the run's own step said nothing."""
    if not isinstance(event, Call) or event.result is None or event.result.is_error is not None:
        return event
    failed = failures.get(event.id or "")
    if failed is None:
        return event
    return msgspec.structs.replace(event, result=msgspec.structs.replace(event.result, is_error=failed))


def _catalog(talk: Conversation, offered: Sequence[tuple[JsonValue, str]]) -> Raw | UnsetType:
    """The tools that any model was offered, each once."""
    found: dict[bytes, JsonValue] = {}
    path = None
    for tools, where in offered:
        if isinstance(tools, list):
            path = path or where
            found.update({jsontext.encode(tool): tool for tool in tools})
    return UNSET if path is None else offered_tools(talk, list(found.values()), path)

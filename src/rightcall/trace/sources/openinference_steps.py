"""What the spans of one trace did: models that were asked, tools that ran, and which agent that was."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rightcall.trace.sources.conversation import text_or_none
from rightcall.trace.sources.openinference_attributes import (
    Came,
    Made,
    Odd,
    Part,
    Said,
    arguments_of,
    at,
    function_call,
    is_damaged,
    messages,
    raw_arguments,
    rows,
    tree,
)
from rightcall.trace.sources.openinference_tools import Outcome, outcome_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.sources.otlp import Span
    from rightcall.trace.sources.span_tree import SpanTree


@dataclass(frozen=True, slots=True)
class _Where:
    """Where in the tree a span stands."""

    scope: str = ""
    agent: str | None = None
    within: str | None = None
    judged: bool = False


@dataclass(frozen=True, slots=True)
class Asked:
    """One request to a model. `damage` says what of it was cut off, `answered` whether a reply was recorded."""

    span: Span
    node: Mapping[str, JsonValue]
    scope: str
    agent: str | None
    inputs: tuple[Part, ...]
    outputs: tuple[Part, ...]
    odd: tuple[Odd, ...]
    damage: tuple[str, ...]
    answered: bool

    @property
    def path(self) -> str:
        """Where its span stands."""
        return self.span.place.path or "$"

    @property
    def failed(self) -> bool:
        """Whether it ended without a reply because of an error."""
        return self.span.status == "ERROR" and not self.answered


@dataclass(frozen=True, slots=True)
class Ran:
    """One run of a tool. `within_tool`: another tool ran it, without a model between."""

    span: Span
    node: Mapping[str, JsonValue]
    scope: str
    agent: str | None
    name: str
    is_named: bool
    within_tool: bool
    outcome: Outcome

    @property
    def path(self) -> str:
        """Where its span stands."""
        return self.span.place.path or "$"


@dataclass
class Steps:
    """Everything that the spans of one trace did, in the order of their start."""

    ordered: list[Asked | Ran] = field(default_factory=list)
    nodes: list[tuple[Span, Mapping[str, JsonValue]]] = field(default_factory=list)
    judged: int = 0

    @property
    def asked(self) -> list[Asked]:
        """The requests to models."""
        return [step for step in self.ordered if isinstance(step, Asked)]

    @property
    def ran(self) -> list[Ran]:
        """The runs of tools."""
        return [step for step in self.ordered if isinstance(step, Ran)]


def kind_of(node: JsonValue) -> str:
    """A span's kind. Whatever names a tool is a tool: the kind is wrong where a tool's name contains `agent`."""
    if text_or_none(at(node, "tool", "name")):
        return "TOOL"
    return str(at(node, "openinference", "span", "kind")).upper()


def steps_of(tree_of_spans: SpanTree) -> Steps:
    """What the spans of a trace did. Requests of evaluators and the doubles of a request are left out."""
    found = Steps()
    timed: list[tuple[int, Asked | Ran]] = []
    where: dict[str, _Where] = {}
    now = 0
    for span, parent in _walk(tree_of_spans):
        node = tree(span.attributes)
        found.nodes.append((span, node))
        kind = kind_of(node)
        place = where.get(parent or "", _Where())
        agent = text_or_none(at(node, "agent", "name")) or text_or_none(at(node, "graph", "node", "id")) or place.agent
        now = span.start if span.start is not None else now
        where[span.span_id] = _below(span, kind, place, agent)
        if kind == "LLM" and place.within != "LLM":
            if place.judged:
                found.judged += 1
                continue
            asked = _asked(span, node, place.scope, agent)
            if not asked.answered and not asked.failed:
                where[span.span_id] = place  # a wrapper that recorded no reply: the request itself may stand below
            timed.append((now, asked))
        elif kind == "TOOL" and not place.judged:
            timed.append((now, _ran(span, node, place, agent)))
    found.ordered = [step for _, step in sorted(timed, key=lambda item: item[0])]
    return found


def _walk(tree_of_spans: SpanTree) -> Iterator[tuple[Span, str | None]]:
    """Every span with the id of its parent, if it has one in the tree."""
    roots = {span.span_id for span in tree_of_spans.roots}
    for span in tree_of_spans.walk():
        yield span, None if span.span_id in roots else span.parent_id


def _below(span: Span, kind: str, place: _Where, agent: str | None) -> _Where:
    """Where the children of a span stand."""
    judged = place.judged or kind in ("EVALUATOR", "GUARDRAIL")
    scope = span.span_id if kind in ("AGENT", "TOOL") else place.scope
    within = kind if kind in ("AGENT", "TOOL", "LLM") else place.within
    return _Where(scope, agent, within, judged)


def _asked(span: Span, node: Mapping[str, JsonValue], scope: str, agent: str | None) -> Asked:
    given, said = at(node, "llm", "input_messages"), at(node, "llm", "output_messages")
    inputs, odd = messages(given, "llm.input_messages")
    outputs, odd_replies = messages(said, "llm.output_messages")
    if not any(isinstance(part, Made) for part in outputs):
        legacy = function_call(node, "llm.function_call")
        outputs += [legacy] if legacy else []
    outputs = _with_arguments(outputs, node)
    outputs = [part for part in outputs if isinstance(part, Made) or (isinstance(part, Said) and part.text)]
    damage = _damage(span, node, inputs)
    if damage:  # the first message is in parts, and its call may be gone
        odd = [one for one in odd if one.code != "TRACE_MALFORMED"]
        inputs = inputs[next((i for i, part in enumerate(inputs) if not isinstance(part, Came)), len(inputs)) :]
    return Asked(
        span, node, scope, agent, tuple(inputs), tuple(outputs), (*odd, *odd_replies), damage,
        answered=bool(rows(said)) or bool(outputs),
    )  # fmt: skip


def _with_arguments(parts: list[Part], node: Mapping[str, JsonValue]) -> list[Part]:
    """Calls with the arguments of the raw reply where the emitter left them out (that of OpenAI Agents: `{}`)."""
    if not any(map(_is_bare, parts)):
        return parts
    raw = raw_arguments(at(node, "output", "value"))
    return [
        replace(part, arguments=arguments_of(raw[part.id]))
        if isinstance(part, Made) and _is_bare(part) and part.id in raw
        else part
        for part in parts
    ]


def _is_bare(part: Part) -> bool:
    return isinstance(part, Made) and part.arguments.get("arguments_status") == "missing"


def _damage(span: Span, node: Mapping[str, JsonValue], inputs: list[Part]) -> tuple[str, ...]:
    """What of a model's span was cut off.

    Phoenix counts messages anew, so that a gap is not seen. But the emitters write `input.value` first, and it is lost
    first; a history without it that begins in the middle of a call has lost its beginning.
    """
    found = []
    if span.dropped_attributes:
        found.append(f"{span.dropped_attributes} attributes were dropped")
    for name in ("input_messages", "output_messages", "tools"):
        if is_damaged(at(node, "llm", name)):
            first = rows(at(node, "llm", name))[0][0]
            found.append(f"`llm.{name}` begins at {first}" if first else f"`llm.{name}` has gaps")
    if not found and at(node, "input", "value") is None and inputs and not isinstance(inputs[0], Said):
        found.append("`llm.input_messages` begins with a call or a result")
    return tuple(found)


def _ran(span: Span, node: Mapping[str, JsonValue], place: _Where, agent: str | None) -> Ran:
    name = text_or_none(at(node, "tool", "name"))
    return Ran(
        span, node, place.scope, agent, name or span.name or "?", bool(name), place.within == "TOOL",
        outcome_of(span, node),
    )  # fmt: skip

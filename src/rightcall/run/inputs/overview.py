"""`inspect`: what is inside some files, so that a newcomer sees at a glance whether they are usable."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from msgspec import UNSET

from rightcall.trace.segments import segments

if TYPE_CHECKING:
    from rightcall.run.inputs.sources import Sources
    from rightcall.trace.model import Trace


@dataclass
class ToolUse:
    """How one tool was used: calls, known failures, and calls whose arguments could not be read."""

    calls: int = 0
    errors: int = 0
    unreadable: int = 0


@dataclass
class Overview:
    """Counts over all traces of some files.

    Attributes:
        traces: traces read.
        without_calls: traces in which the agent called nothing.
        incomplete: traces that say that they were cut off.
        agents: agent name and version -> traces.
        tools: tool -> how it was used.
        turns: assistant turns with calls.
        calls: the agent's calls; others are calls by a simulated user or by the provider.
        with_catalog: traces that say which tools the agent could see.
        with_case: traces that name their case.
        segments: readings of results by status.
        labels: labels that the export carries, by name.
    """

    traces: int = 0
    without_calls: int = 0
    incomplete: int = 0
    agents: Counter[str] = field(default_factory=Counter)
    tools: dict[str, ToolUse] = field(default_factory=dict)
    turns: int = 0
    calls: int = 0
    results: int = 0
    others: int = 0
    not_captured: int = 0
    with_catalog: int = 0
    with_case: int = 0
    segments: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)

    def add(self, trace: Trace) -> None:
        """Count one trace."""
        calls = trace.calls
        self.traces += 1
        self.without_calls += not calls
        self.incomplete += trace.completed is False
        self.with_catalog += trace.tools_json is not UNSET
        self.with_case += trace.case_id is not None
        agent = trace.agent
        known = [part for part in (agent.name, agent.version, agent.model) if part] if agent else []
        self.agents[" ".join(known) or "(not named)"] += 1
        self.others += sum(getattr(event, "by", "agent") != "agent" for event in trace.events)
        self.turns += len({call.turn if call.turn is not None else -1 - place for place, call in enumerate(calls)})
        for call in calls:
            use = self.tools.setdefault(call.tool, ToolUse())
            use.calls += 1
            use.errors += call.failed is True
            use.unreadable += call.arguments_status != "ok"
            self.calls += 1
            self.results += call.result is not None
            self.not_captured += call.arguments_status == "not_captured"
        self.segments.update(segment.status for segment in segments(trace))
        self.labels.update(label.name for label in trace.labels)

    def facts(self) -> dict[str, object]:
        """Every count as plain values, for files."""
        plain = {name: dict(value) if isinstance(value, Counter) else value for name, value in vars(self).items()}
        tools = {name: vars(use) for name, use in self.tools.items()}
        return {**plain, "tools": tools, "cannot_be_judged": self.cannot()}

    def cannot(self) -> list[str]:
        """What cannot be judged with these traces, and why."""
        found = []
        if not self.calls:
            return ["no call of the agent was recorded: only abstention can be judged"]
        if self.not_captured:
            found.append(f"golden: {self.not_captured} of {self.calls} calls have no captured arguments (unevaluable)")
        if self.with_case < self.traces:
            alone = _that(self.traces - self.with_case, "name")
            found.append(f"golden: {alone} no case: joined only where there is just one case")
        if bare := self.traces - self.with_catalog:
            found.append(f"unknown tools, argument schemas: {_that(bare, 'have')} no catalog: give one with --tools")
        if unanswered := self.calls - self.results:
            found.append(f"data flow and interpretation: {unanswered} of {self.calls} calls have no result")
        if silent := self.segments["implicit"]:
            found.append(f"interpretation: {_that(silent, 'are', 'result')} followed by no text of the agent")
        return found


def _that(number: int, verb: str, noun: str = "trace") -> str:
    """So many of something, and what they do: `1 trace names`, `2 traces name`."""
    alone = {"are": "is", "have": "has"}.get(verb, f"{verb}s")
    return f"1 {noun} {alone}" if number == 1 else f"{number} {noun}s {verb}"


def overview(sources: Sources) -> Overview:
    """Read everything once and count. Errors: see `Sources.traces`."""
    total = Overview()
    for trace in sources.traces():
        total.add(trace)
    return total

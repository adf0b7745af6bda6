"""Interpretation segments: what the agent said it had read in a result, and what it did next (SPEC §7.4).

One segment a call of the agent. The *interpretation* of a result is the first assistant text after it; where there is
none before the trace ends, the reading is only implied by what the agent did next (`implicit`). A text that stands
before the result, or goes with the call, interprets nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from rightcall.trace.model import Call, Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rightcall.trace.model import Event, Trace

SegmentStatus = Literal["stated", "implicit", "no_result"]


@dataclass(frozen=True, slots=True)
class Segment:
    """One call with the agent's reading of its result.

    Attributes:
        call_index: index among the agent's own calls.
        call: the call, with its result.
        status: `stated` if there is a text, `implicit` if the agent only acted, `no_result` if nothing came back.
        interpretation: the first assistant text after the result; `None` unless `stated`.
        next_action: the next call of another turn, or the next message with words, after the result; `None` at the end.
    """

    call_index: int
    call: Call
    status: SegmentStatus
    interpretation: str | None
    next_action: Event | None


def segments(trace: Trace) -> list[Segment]:
    """The segments of a trace, in the order of its calls."""
    found: list[Segment] = []
    for place, event in enumerate(trace.events):
        if isinstance(event, Call) and event.by == "agent":
            found.append(_segment(len(found), event, trace.events[place + 1 :]))
    return found


def _segment(index: int, call: Call, after: Sequence[Event]) -> Segment:
    later = [event for event in after if not _is_parallel(call, event)]
    action = next((event for event in later if _is_the_agents(event)), None)
    if call.result is None or not call.result.is_captured:
        return Segment(index, call, "no_result", None, action)
    text = next((e.text for e in later if isinstance(e, Message) and e.role == "assistant" and e.text), None)
    return Segment(index, call, "stated" if text else "implicit", text, action)


def _is_parallel(call: Call, event: Event) -> bool:
    """Whether an event belongs to the call's own turn, when its result did not exist yet."""
    return call.turn is not None and event.turn == call.turn


def _is_the_agents(event: Event) -> bool:
    """Whether an event is an action of the agent; a message without words only carries calls, and is none."""
    return event.by == "agent" if isinstance(event, Call) else event.role == "assistant" and bool(event.text)

"""What a judge sees of one reading: the call, its exact result, what the agent said and did next, what else it knew.

`CONTEXT` holds what was recorded beside it:

* `recorded`: the context of the trace or the case (system prompt, earlier turns, state);
* `result_is_error`: whether the call is on record as failed (`null`: not recorded);
* `before`: messages and calls before the call's turn. Their results are left out: the agent has read them before, and
  with them every question would hold the whole trace.
* `meanwhile`: parallel calls, and what lies between the result and the reading, with results. The first text after a
  row of calls is the reading of each of them, so their results belong to what it may speak of.

An implicit reading is what the next call passes on: its arguments.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rightcall.grade.unsupported import unsupported_values
from rightcall.judge.views import request_of, shown_tools, without_identity
from rightcall.trace.history import shown_call, shown_message
from rightcall.trace.jsontext import JsonValue
from rightcall.trace.model import Call, Message

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rightcall.case.case import Case
    from rightcall.grade.interpretation import UnsupportedValue
    from rightcall.trace.catalog import Catalog
    from rightcall.trace.model import Event, Trace
    from rightcall.trace.segments import Segment

_Shown = dict[str, JsonValue]


@dataclass(frozen=True)
class _Around:
    """The events around a call: before its turn; parallel to it, and between its result and its reading."""

    before: tuple[_Shown, ...]
    meanwhile: tuple[_Shown, ...]


def reading_values(
    trace: Trace, segment: Segment, catalog: Catalog | None, case: Case | None, found: Sequence[UnsupportedValue]
) -> dict[str, JsonValue]:
    """The values of an `interpretation` prompt.

    Args:
        trace: the trace, redacted.
        segment: one of its segments, with a result.
        catalog: the one that counts for it; `None`: there is none.
        case: the case, redacted, if there is one.
        found: the values that code did not find in the result (`found_values`).
    """
    call, around = segment.call, _around(trace, segment)
    context = trace.context if trace.context is not None or case is None else case.context
    return {
        "USER_REQUEST": request_of(trace, case),
        "CONTEXT": {
            "recorded": without_identity(context, trace),
            "result_is_error": call.failed,
            "before": [_without_result(event) for event in around.before],
            "meanwhile": list(around.meanwhile),
        },
        "AVAILABLE_TOOLS": shown_tools(catalog),
        "TOOL_NAME": call.tool,
        "TOOL_ARGUMENTS": _arguments(call),
        "TOOL_RESULT": None if call.result is None else call.result.content,
        "AGENT_INTERPRETATION": segment.interpretation,
        "NEXT_ACTION": shown_action(segment.next_action),
        "UNSUPPORTED_VALUES": [_plain(one) for one in found],
    }


def found_values(trace: Trace, segment: Segment, case: Case | None) -> tuple[UnsupportedValue, ...]:
    """The values of a reading that its result does not hold, with where else they stand."""
    call, around = segment.call, _around(trace, segment)
    result = None if call.result is None else call.result.content
    known: dict[str, JsonValue] = {
        "request": request_of(trace, case),
        "arguments": _arguments(call),
        "context": [trace.context, *around.before],
        "other_results": list(around.meanwhile),
    }
    return unsupported_values(_words(segment), result, known)


def shown_action(event: Event | None) -> _Shown | None:
    """A next action as a judge sees it: what was decided, not what came of it."""
    if event is None:
        return None
    if isinstance(event, Message):
        return {"role": event.role, "text": event.text}
    return {"tool": event.tool, "arguments": _arguments(event)}


def _words(segment: Segment) -> str:
    """The text in which values are looked for."""
    if segment.interpretation is not None:
        return segment.interpretation
    action = segment.next_action
    return json.dumps(_arguments(action), ensure_ascii=False) if isinstance(action, Call) else ""


def _arguments(call: Call) -> JsonValue:
    """A call's arguments; where there are none, why, and what was written."""
    if call.arguments is not None:
        return call.arguments
    status = "missing" if call.arguments_status == "ok" else call.arguments_status
    return {"arguments_status": status, "arguments_raw": call.arguments_raw}


def _around(trace: Trace, segment: Segment) -> _Around:
    events = trace.events
    at = [place for place, event in enumerate(events) if isinstance(event, Call) and event.by == "agent"]
    place = at[segment.call_index]
    end = _reading_at(events, place, segment)
    shown = dict(_shown(events))
    parallel = [p for p, event in enumerate(events[:place]) if _is_parallel(segment.call, event)]
    between = range(place + 1, end)
    return _Around(
        before=tuple(shown[p] for p in range(place) if p in shown and p not in parallel),
        meanwhile=tuple(shown[p] for p in (*parallel, *between) if p in shown),
    )


def _reading_at(events: Sequence[Event], place: int, segment: Segment) -> int:
    """Where the reading stands: the text, else the next action, else the end."""
    for later in range(place + 1, len(events)):
        event = events[later]
        if _is_parallel(segment.call, event):
            continue
        is_text = isinstance(event, Message) and event.role == "assistant" and bool(event.text)
        if is_text if segment.interpretation is not None else event is segment.next_action:
            return later
    return len(events)


def _is_parallel(call: Call, event: Event) -> bool:
    return call.turn is not None and event.turn == call.turn


def _shown(events: Sequence[Event]) -> Iterator[tuple[int, _Shown]]:
    number = 0
    for place, event in enumerate(events):
        if isinstance(event, Message):
            for shown in shown_message(event):
                yield place, shown
        else:
            number += event.by == "agent"
            yield place, shown_call(event, f"c{number}" if event.by == "agent" else None)


def _without_result(event: _Shown) -> _Shown:
    return {key: value for key, value in event.items() if key != "result"}


def _plain(one: UnsupportedValue) -> _Shown:
    found: _Shown = {"value": one.value, "kind": one.kind, "where": one.where}
    return found | {"also_in": list(one.also_in)} if one.also_in else found

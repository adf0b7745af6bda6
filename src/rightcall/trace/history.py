"""What an agent knew before it made a call: the earlier messages and calls of its trace, with the results that it had.

Also how a judge sees one event: as a JSON value that says what was recorded and never which agent, version or model
acted. What is not known is absent, or `null` where the key itself says something.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from msgspec import UNSET

from rightcall.trace.model import Call, Message

if TYPE_CHECKING:
    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.model import Result, Trace

NO_RESULT: Final = "no result recorded"
NOT_YET: Final = "had not arrived yet"


def history(trace: Trace, call_index: int) -> list[JsonValue]:
    """Everything before the turn of one of the agent's own calls, in order.

    Calls and messages of the same turn are left out: they were decided together. A result that is known to have come
    only after the call was started is marked as not there yet.

    Args:
        trace: the trace.
        call_index: which of `trace.calls`, from 0.

    Raises:
        IndexError: there is no such call.
    """
    at = [place for place, event in enumerate(trace.events) if isinstance(event, Call) and event.by == "agent"]
    call = trace.calls[call_index]
    known = [event for event in trace.events[: at[call_index]] if call.turn is None or event.turn != call.turn]
    found: list[JsonValue] = []
    number = 0
    for event in known:
        if isinstance(event, Message):
            found += shown_message(event)
            continue
        number += event.by == "agent"
        shown = shown_call(event, f"c{number}" if event.by == "agent" else None)
        if event.result is not None and _is_later(event.result.at, call.started_at):
            shown["result"] = NOT_YET
        found.append(shown)
    return found


def shown_message(message: Message) -> list[JsonValue]:
    """A message as a judge sees it; nothing where it had no text."""
    if message.text is None:
        return []
    return [_known({"role": message.role, "text": message.text, "turn": message.turn, "at": message.at})]


def shown_call(call: Call, call_id: str | None) -> dict[str, JsonValue]:
    """A call as a judge sees it.

    Args:
        call: the call.
        call_id: our own id of it (`c1` …); `None` for a call that somebody else than the agent made.
    """
    found = _known({"call_id": call_id, "by": None if call.by == "agent" else call.by, "tool": call.tool})
    arguments = call.arguments
    if arguments is not None:
        found["arguments"] = arguments
    else:
        status = "missing" if call.arguments_status == "ok" else call.arguments_status
        found |= _known({"arguments_status": status, "arguments_raw": call.arguments_raw})
    found |= _known({"turn": call.turn, "started_at": call.started_at})
    found["result"] = NO_RESULT if call.result is None else _shown_result(call.result)
    return found


def _shown_result(result: Result) -> dict[str, JsonValue]:
    """A result as a judge sees it. `is_error` is `null` where the recording does not say."""
    found: dict[str, JsonValue] = {"is_error": result.is_error}
    if result.inferred:
        found["is_error_was_inferred"] = True
    if result.content_json is UNSET:
        found["content_recorded"] = False
    else:
        found["content"] = result.content
    return found | _known({"at": result.at})


def _known(found: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {key: value for key, value in found.items() if value is not None}


def _is_later(left: str | None, right: str | None) -> bool:
    """Whether one time is known to be after another."""
    first, second = _time(left), _time(right)
    if first is None or second is None or (first.tzinfo is None) != (second.tzinfo is None):
        return False
    return first > second


def _time(text: str | None) -> datetime | None:
    try:
        return None if text is None else datetime.fromisoformat(text)
    except ValueError:
        return None

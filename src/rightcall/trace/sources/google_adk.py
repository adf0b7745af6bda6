"""Google ADK: sessions, `{id, events: [{author, content: {parts}}]}`, in snake case or in camel case.

* Parts are Gemini's. Calls often have no id: then a result belongs to the first unanswered call of its name in the last
  event that has one.
* `author` is the user or the name of an agent; where several agents speak, calls and messages name theirs.
* An event with `partial: true` is a piece of a stream that a later event repeats whole; it is only read about: where
  nothing follows, that is a finding.
* The result of an evaluation (`eval_case_results`) holds the sessions of its runs: they are read with their case.
* Eval sets hold what should have happened: `rightcall.case.sources.google_adk`. They are no traces, and skipped here.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET, Raw, UnsetType

from rightcall.errors import Place
from rightcall.trace.model import Agent, Call, Event, Label, Trace
from rightcall.trace.sources import gemini
from rightcall.trace.sources.conversation import (
    Conversation,
    first_request,
    mapping,
    place_id,
    text_or_none,
    written_id,
)
from rightcall.trace.sources.dialect import Dialect, Skip
from rightcall.trace.sources.gemini_reply import field

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.trace.jsontext import JsonValue

    _Object = Mapping[str, JsonValue]

_USER = "user"
_CRITERIA = {"tool_trajectory_avg_score", "response_match_score", "response_evaluation_score", "safety_v1"}


# ---- recognition ---------------------------------------------------------------------------------------------------


def detect(value: JsonValue) -> bool:
    """Whether a record is a session, the result of an evaluation, an eval set or its criteria."""
    record = mapping(value)
    return is_session(record) or _is_evaluation(record) or expected_only(record) is not None


def is_session(record: _Object) -> bool:
    """Whether events have authors, or an empty list of them belongs to an app and a user."""
    events = record.get("events")
    if not isinstance(events, list):
        return False
    if not events:
        return isinstance(field(record, "appName"), str) and isinstance(field(record, "userId"), str)
    return all(_is_event(event) for event in events)


def _is_event(value: JsonValue) -> bool:
    event = mapping(value)
    return isinstance(event.get("author"), str) and "type" not in event and field(event, "invocationId") is not None


def _is_evaluation(record: _Object) -> bool:
    return isinstance(field(record, "evalCaseResults"), list)


def expected_only(record: _Object) -> str | None:
    """What a record is that holds expectations instead of a run; `None` for any other."""
    if isinstance(field(record, "evalCases"), list):
        return "an eval set"
    if field(record, "evalId") is not None and isinstance(record.get("conversation"), list):
        return "an eval case"
    if isinstance(record.get("query"), str) and "expected_tool_use" in record:
        return "an eval set"
    if _CRITERIA & mapping(record.get("criteria")).keys():
        return "the criteria of an evaluation"
    return None


# ---- records -------------------------------------------------------------------------------------------------------


def traces(value: JsonValue, place: Place) -> Iterator[Trace | Skip]:
    """Read one record."""
    record, root = mapping(value), place.path or "$"
    expected = expected_only(record)
    if expected is not None:
        hint = "" if "criteria" in record else ": it says what should happen and is read with --cases"
        yield Skip("TRACE_INCOMPLETE", f"this is {expected} and no run{hint}", place)
    elif _is_evaluation(record):
        key = "eval_case_results" if "eval_case_results" in record else "evalCaseResults"
        for index, row in enumerate(record[key]):
            where = Place(place.file, place.line, None, f"{root}.{key}[{index}]")
            yield _evaluated(mapping(row), where)
    else:
        yield _session(record, place)


def _evaluated(row: _Object, place: Place) -> Trace | Skip:
    session = mapping(field(row, "sessionDetails"))
    if not session:
        return Skip("TRACE_INCOMPLETE", "the result of this eval case holds no session", place)
    trace = _session(session, place)
    if isinstance(trace, Skip):
        return trace
    metrics = field(row, "overallEvalMetricResults")
    labels = [_label(mapping(metric)) for metric in (metrics if isinstance(metrics, list) else ())]
    return msgspec.structs.replace(
        trace, case_id=written_id(field(row, "evalId")), labels=tuple(label for label in labels if label)
    )


def _label(metric: _Object) -> Label | None:
    name = text_or_none(field(metric, "metricName"))
    return None if name is None else Label(name=name, value=metric.get("score"), kind="code")


def _session(session: _Object, place: Place) -> Trace | Skip:
    events, root = session.get("events"), place.path or "$"
    if not isinstance(events, list):
        return Skip("TRACE_MALFORMED", "`events` is not a list", place)
    if not events:
        return Skip("TRACE_INCOMPLETE", "the session has no events: only its state was recorded", place)
    talk = Conversation(tell_order=True)
    said = _read_events(talk, events, f"{root}.events")
    if not said:
        return Skip("TRACE_MALFORMED", "none of its events could be read", place)
    for key in ("past_events", "pending_events"):
        if session.get(key):
            talk.note("TRACE_INCOMPLETE", f"`{key}` are not read", f"{root}.{key}")
    asked = _requests(session)
    names = {event.agent for event in said if event.agent is not None}
    app = text_or_none(field(session, "appName"))
    name = app or (min(names) if len(names) == 1 else None)
    model = next((text_or_none(request.get("model")) for request in asked), None)
    if len(names) < 2:
        said = tuple(msgspec.structs.replace(event, agent=None) for event in said)
    system = next(
        (gemini.system_prompt(field(mapping(request.get("config")), "systemInstruction")) for request in asked), None
    )
    tools = _tools(talk, asked, root)
    return Trace(
        id=written_id(session.get("id")) or place_id(place),
        request=first_request(said),
        context={"system": system} if system else None,
        agent=Agent(name=name, model=model) if name or model else None,
        tools_json=tools,
        events=said,
        completed=False if any(finding.code == "TRACE_TRUNCATED" for finding in talk.findings) else None,
        findings=tuple(talk.findings),
        metadata=_metadata(session),
    )


def _metadata(session: _Object) -> dict[str, JsonValue]:
    state = session.get("context") if session.get("state") is None else session["state"]
    kept = {"app_name": field(session, "appName"), "user_id": field(session, "userId"), "state": state}
    return {key: value for key, value in kept.items() if value}


def _requests(session: _Object) -> list[_Object]:
    """The requests to models that older sessions log beside their events."""
    logs = session.get("event_logs")
    requests = [mapping(mapping(log).get("model_request")) for log in (logs if isinstance(logs, list) else ())]
    return [request for request in requests if request]


def _tools(talk: Conversation, asked: list[_Object], root: str) -> Raw | UnsetType:
    """The tools of all logged requests, each once."""
    offered: list[JsonValue] = []
    for request in asked:
        tools = mapping(request.get("config")).get("tools")
        offered += [tool for tool in (tools if isinstance(tools, list) else ()) if tool not in offered]
    return gemini.read_tools(talk, offered, f"{root}.event_logs") if offered else UNSET


# ---- events --------------------------------------------------------------------------------------------------------


def _read_events(talk: Conversation, events: list[JsonValue], path: str) -> tuple[Event, ...]:
    """Add every event; the result is what was said and called, with authors and times."""
    spans: list[tuple[int, str | None, str | None]] = []
    pieces: dict[str, str] = {}
    for index, value in enumerate(events):
        event, where = mapping(value), f"{path}[{index}]"
        author = text_or_none(event.get("author"))
        if author is None:
            talk.note("TRACE_MALFORMED", "this is not an event with an `author`", where)
        elif _is_partial(event):
            pieces.setdefault(author, where)
            continue
        else:
            pieces.pop(author, None)
            _read_event(talk, event, author, where)
        at = _time(event.get("timestamp"))
        spans += [(position, author, at) for position in range(len(spans), len(talk.events))]
    for author, where in pieces.items():
        talk.note("TRACE_TRUNCATED", f"only pieces of the last event of `{author}` were recorded", where)
    return tuple(_attributed(event, author, at) for event, (_, author, at) in zip(talk.events, spans, strict=True))


def _is_partial(event: _Object) -> bool:
    return event.get("partial") is True or mapping(event.get("options")).get("partial") is True


def _read_event(talk: Conversation, event: _Object, author: str, path: str) -> None:
    content, code = event.get("content"), field(event, "errorCode")
    if code:
        reason = text_or_none(field(event, "errorMessage"))
        talk.note("TRACE_INCOMPLETE", f"an event tells the error `{code}`" + (f": {reason}" if reason else ""), path)
    if event.get("interrupted") is True:
        talk.note("TRACE_TRUNCATED", "the event was interrupted", path)
    if content is None:
        return
    body = mapping(content)
    role = _USER if author == _USER or _only_answers(body) else "model"
    gemini.read_contents(talk, {**body, "role": role} if body else content, f"{path}.content")


def _only_answers(content: _Object) -> bool:
    """Whether a content holds results alone, which are not a turn of the model."""
    parts = content.get("parts")
    return (
        isinstance(parts, list) and bool(parts) and all(field(part, "functionResponse") is not None for part in parts)
    )


def _attributed(event: Event, author: str | None, at: str | None) -> Event:
    if isinstance(event, Call):
        return msgspec.structs.replace(event, agent=author if author != _USER else None, started_at=at)
    return msgspec.structs.replace(event, agent=author if event.role == "assistant" else None, at=at)


def _time(value: JsonValue) -> str | None:
    """A time in seconds since 1970 as ISO 8601; a text as it is."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 253402300799:
        return datetime.fromtimestamp(value, UTC).isoformat()
    return text_or_none(value)


DIALECT = Dialect("google_adk", "Google ADK sessions", detect, traces)

"""What a judge sees of two traces of one task, as JSON values by placeholder, and how two traces are compared as shown.

Both traces are shown alike: events in order, calls numbered `c1` to `cn` in each. Which agent, version or model acted
is nowhere: neither in the context nor in the texts, where the identifiers of both agents are masked (`MASK`) in both
traces, so that a mask tells nothing either.

Request, context and catalog should be the same for both. Where the case states a request or a context, that counts;
where only one trace has one, it counts for both; where two differ, the judge sees each under the place of its trace.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rightcall.grade.preference import TraceSize
from rightcall.judge.fences import rendered
from rightcall.judge.views import shown_events, shown_tools, without_identity
from rightcall.trace.model import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rightcall.case.case import Case
    from rightcall.trace.catalog import Catalog
    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.model import Trace

MASK = "[agent]"
"""What stands in a text in place of an agent's identifier."""

_SHORTEST_NAME = 4
_MARKED = re.compile(r"[\d_./:-]")
_PART = r"[A-Za-z0-9_]"
_UNSAID = frozenset({"turn", "at", "started_at"})


def preference_values(
    first: Trace, second: Trace, case: Case | None = None, catalogs: Sequence[Catalog | None] = (None, None)
) -> dict[str, JsonValue]:
    """The values of a `preference` prompt.

    Args:
        first: the trace that stands in place A of the question.
        second: the one in place B.
        case: the case that both belong to, if there is one; its golden is never shown.
        catalogs: the catalogs that count for the two.
    """
    mask = identifiers(first, second)
    requests = (_request(first), _request(second))
    contexts = (without_identity(first.context, first), without_identity(second.context, second))
    tools = (shown_tools(catalogs[0]), shown_tools(catalogs[1]))
    values: dict[str, JsonValue] = {
        "USER_REQUEST": case.request if case is not None and case.request is not None else _by_place(*requests),
        "CONTEXT": case.context if case is not None and case.context is not None else _by_place(*contexts),
        "AVAILABLE_TOOLS": _by_place(*tools),
        "TRACE_A": shown_events(first),
        "TRACE_B": shown_events(second),
    }
    return {name: value if name == "AVAILABLE_TOOLS" else masked(value, mask) for name, value in values.items()}


def _request(trace: Trace) -> str | None:
    """What the user asked for: as stated, else the first thing that the user said."""
    if trace.request is not None:
        return trace.request
    said = (event for event in trace.events if isinstance(event, Message) and event.role == "user")
    return next((message.text for message in said if message.text is not None), None)


def _by_place(first: JsonValue, second: JsonValue) -> JsonValue:
    """One value for both; each under its trace's place where they differ."""
    if first is None or first == second:
        return second
    return first if second is None else {"trace_a": first, "trace_b": second}


def identifiers(*traces: Trace) -> tuple[str, ...]:
    """Texts that would say who acted, longest first.

    The models, with and without what stands before a slash; names and versions of agents if they are identifiers, with
    a digit, a hyphen, a dot or the like in them and four characters or more: a plain word such as `assistant` is a word
    of the conversation too.
    """
    found: set[str] = set()
    for trace in traces:
        said = [] if trace.agent is None else [trace.agent.model or "", (trace.agent.model or "").rsplit("/", 1)[-1]]
        named = [] if trace.agent is None else [trace.agent.name or "", trace.agent.version or ""]
        named += [event.agent or "" for event in trace.events]
        found.update(text for text in said if text)
        found.update(text for text in named if len(text) >= _SHORTEST_NAME and _MARKED.search(text))
    return tuple(sorted(found, key=lambda text: (-len(text), text)))


def masked(value: JsonValue, names: Sequence[str]) -> JsonValue:
    """The value with every such name replaced in its texts: in any case, as a word of its own or after a `v`."""
    if not names:
        return value
    options = "|".join(map(re.escape, names))
    pattern = re.compile(rf"(?<!{_PART})v?(?:{options})(?!{_PART})", re.IGNORECASE)
    return _masked(value, pattern)


def _masked(value: JsonValue, pattern: re.Pattern[str]) -> JsonValue:
    if isinstance(value, str):
        return pattern.sub(MASK, value)
    if isinstance(value, list):
        return [_masked(item, pattern) for item in value]
    if isinstance(value, dict):
        return {key: _masked(item, pattern) for key, item in value.items()}
    return value


def show_the_same(first: JsonValue, second: JsonValue) -> bool:
    """Whether two traces, as they are shown, differ in nothing that counts: times and numbers of turns aside.

    Which calls were made together counts: turns are compared by where they begin, not by their numbers.
    """
    return _plain(first) == _plain(second)


def _plain(events: JsonValue) -> list[JsonValue]:
    """Events without times; a turn is the place of its first event."""
    begins: dict[JsonValue, int] = {}
    found: list[JsonValue] = []
    for place, event in enumerate(events or ()):
        turn = event.get("turn")
        plain = {key: value for key, value in event.items() if key not in _UNSAID}
        if isinstance(plain.get("result"), dict):
            plain["result"] = {key: value for key, value in plain["result"].items() if key != "at"}
        found.append(plain | {"turn": place if turn is None else begins.setdefault(turn, place)})
    return found


def size_of(events: JsonValue) -> TraceSize:
    """How long a trace is as shown: the agent's own calls, and characters of its JSON text."""
    own = [event for event in events or () if "call_id" in event]
    return TraceSize(calls=len(own), characters=len(rendered(events)))

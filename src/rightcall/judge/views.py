"""What a judge sees of a step or a trace, as JSON values by placeholder.

A judge sees what was asked, which tools there were, what happened and what came of it. It never sees which agent,
version or model acted, what others have said about the run (labels), or metadata. Calls carry *our* ids, `c1` to `cn`
in the order of the agent's own calls, since recorded ids can be absent, repeated or chosen by somebody hostile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from rightcall.trace.history import shown_call, shown_message
from rightcall.trace.model import Message, to_builtins

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.case.case import Case, GoldenCall, Way
    from rightcall.case.step import Step
    from rightcall.trace.catalog import Catalog
    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.model import Tool, Trace

_IDENTITY = frozenset({"agent", "agent_name", "agent_version", "model", "model_id", "model_name", "name", "version"})


def selection_values(step: Step, catalog: Catalog | None) -> dict[str, JsonValue]:
    """The values of a `selection` prompt.

    A request that the step does not state is the first thing that the user said in its history.

    Args:
        step: the step.
        catalog: the one that counts for it; `None`: there is none.
    """
    return {
        "USER_REQUEST": step.request if step.request is not None else _first_in_history(step.context),
        "CONTEXT": step.context,
        "AVAILABLE_TOOLS": shown_tools(catalog),
        "SELECTED_TOOL_NAME": step.selected,
        "EXPECTED_TOOL_NAME": step.expected,
    }


def rubric_values(trace: Trace, catalog: Catalog | None, case: Case | None = None) -> dict[str, JsonValue]:
    """The values of a prompt about a whole trace.

    The request and the context are the trace's own, else the case's; a request that neither states is the first thing
    that the user said. `GOLDEN_TRACE` is there where the case has a golden.
    """
    context = trace.context
    if case is not None:
        context = case.context if context is None else context
    return {
        "USER_REQUEST": request_of(trace, case),
        "CONTEXT": without_identity(context, trace),
        "AVAILABLE_TOOLS": shown_tools(catalog),
        "AGENT_TOOL_CALLS": shown_events(trace),
        "RECORDING": {"completed": trace.completed, "findings": [dict(to_builtins(one)) for one in trace.findings]},
        "GOLDEN_TRACE": shown_golden(case),
    }


def request_of(trace: Trace, case: Case | None) -> str | None:
    """The trace's own request, else the case's, else the first thing that the user said."""
    request = trace.request
    if request is None and case is not None:
        request = case.request
    return request if request is not None else _first_user_text(trace)


def call_ids(trace: Trace) -> dict[str, str]:
    """Our id of each of the agent's own calls -> the name of its tool, in order."""
    return {f"c{number}": call.tool for number, call in enumerate(trace.calls, 1)}


def shown_tools(catalog: Catalog | None) -> list[JsonValue] | None:
    """A catalog as a judge sees it; `None` where there is none, which is not an empty one."""
    return None if catalog is None else [_shown_tool(tool) for tool in catalog.tools]


def _shown_tool(tool: Tool) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return found if tool.annotations is None else found | {"annotations": tool.annotations}


def shown_events(trace: Trace) -> list[JsonValue]:
    """Messages and calls in order; an empty list where nothing was said or called."""
    found: list[JsonValue] = []
    number = 0
    for event in trace.events:
        if isinstance(event, Message):
            found += shown_message(event)
        else:
            number += event.by == "agent"
            found.append(shown_call(event, f"c{number}" if event.by == "agent" else None))
    return found


def shown_golden(case: Case | None) -> list[JsonValue] | None:
    """The acceptable ways as they are written; `None` where the case has no golden."""
    return None if case is None or case.expect is None else [_shown_way(way) for way in case.expect.ways]


def _shown_way(way: Way) -> dict[str, JsonValue]:
    """One way. The order that counts is written out, also where the case leaves it to the default."""
    default = "partial" if any(call.after for call in way.calls) else "listed"
    found: dict[str, JsonValue] = {"order": way.order or default, "calls": list(map(_shown_expected, way.calls))}
    return found if way.name is None else {"name": way.name} | found


def _shown_expected(call: GoldenCall) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {"tool": call.tool}
    if call.label is not None:
        found["label"] = call.label
    if call.arguments_json is not UNSET:
        found["arguments"] = call.arguments
    if call.after:
        found["after"] = list(call.after)
    return found | {"optional": True} if call.optional else found


def _first_user_text(trace: Trace) -> str | None:
    messages = (event for event in trace.events if isinstance(event, Message) and event.role == "user")
    return next((message.text for message in messages if message.text is not None), None)


def _first_in_history(context: str | dict[str, Any] | None) -> str | None:
    history = context.get("history") if isinstance(context, dict) else None
    said = [item.get("text") for item in history or () if isinstance(item, dict) and item.get("role") == "user"]
    return next((text for text in said if isinstance(text, str)), None)


def without_identity(context: str | dict[str, Any] | None, trace: Trace) -> JsonValue:
    """The context without keys that say who the agent is: those of its description, with its own values."""
    if not isinstance(context, dict) or trace.agent is None:
        return context
    whole = dict(to_builtins(trace.agent))
    return _pruned(context, whole, set(whole.values()))


def _pruned(value: JsonValue, whole: Mapping[str, JsonValue], parts: set[JsonValue]) -> JsonValue:
    if isinstance(value, list):
        return [_pruned(item, whole, parts) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: _pruned(item, whole, parts)
        for key, item in value.items()
        if not (key in _IDENTITY and (item == whole or (isinstance(item, str) and item in parts)))
    }

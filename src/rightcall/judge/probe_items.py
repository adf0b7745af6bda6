"""The clean items of the probe set, and where in an item a text can stand. Everything is made from `DOMAINS`.

An item is *good* (code says PASS; a trace without fault) or *bad* (code says FAIL; a trace with one real fault that
names and values decide). An attack is tried on both; only on a bad one can it win.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Raw, Struct
from msgspec.structs import replace

from rightcall.case.case import Case, Expect, GoldenCall
from rightcall.case.step import Step
from rightcall.judge.probe_domains import DOMAINS, Domain, Errand
from rightcall.trace import jsontext
from rightcall.trace.model import Agent, Call, Message, Result, Trace, to_builtins

if TYPE_CHECKING:
    from collections.abc import Iterator

Quality = Literal["good", "bad"]
Place = Literal["tool_result", "call_argument", "text"]

PLACES: tuple[Place, ...] = ("tool_result", "call_argument", "text")
"""Where a text can stand: in what a tool returned, in what the agent passed to a tool, in what user or agent said."""

TextChange = Callable[[str], str]


class RubricItem(Struct, frozen=True):
    """What the `rubric` judge is asked about: a case with its golden, and a trace."""

    case: Case
    trace: Trace


class Clean(Struct, frozen=True):
    """An item without any attack, and what is decided about it."""

    id: str
    quality: Quality
    item: Step | RubricItem


# ---- selection ----


def clean_steps() -> tuple[Clean, ...]:
    """The steps: 72 bad ones and 30 good ones, in a fixed order."""
    return tuple(clean for domain in DOMAINS for clean in _steps_of(domain))


def _steps_of(domain: Domain) -> Iterator[Clean]:
    for number, errand in enumerate(domain.errands, 1):
        yield _step(domain, f"right-{number}", errand.request, errand.tool, errand.tool, "good")
        yield _step(domain, f"wrong-{number}", errand.request, errand.wrong_tool, errand.tool, "bad")
        if number <= 2:
            yield _step(domain, f"abstained-{number}", errand.request, None, errand.tool, "bad")
            yield _step(domain, f"invented-{number}", errand.request, domain.invented, errand.tool, "bad")
    yield _step(domain, "nothing", domain.thanks, None, None, "good")
    for number, selected in enumerate(list(domain.tools)[1:3], 1):
        yield _step(domain, f"acted-{number}", domain.thanks, selected, None, "bad")
    for number, selected in enumerate(list(domain.tools)[3:5], 3):
        yield _step(domain, f"acted-{number}", domain.hello, selected, None, "bad")


def _step(
    domain: Domain, name: str, request: str, selected: str | None, expected: str | None, quality: Quality
) -> Clean:
    earlier = {
        "tool": domain.look_up,
        "arguments": {next(iter(domain.tools.values()))[1]: "latest", "note": "look-up before the answer"},
        "result": {"found": True, "remark": "nothing unusual"},
    }
    step = Step(
        id=f"{domain.name}-{name}", selected=selected, expected=expected, request=request,
        context={
            "history": [
                {"role": "user", "text": f"I am writing about {domain.name}."},
                {"role": "assistant", "text": "Let me see."},
                earlier,
            ]
        },
        tools_json=Raw(jsontext.encode([dict(to_builtins(tool)) for tool in domain.catalog()])),
    )  # fmt: skip
    return Clean(step.id, quality, step)


# ---- rubric ----


def clean_traces() -> tuple[Clean, ...]:
    """The traces: 72 bad ones and 24 good ones, in a fixed order."""
    return tuple(clean for domain in DOMAINS for clean in _traces_of(domain))


def _traces_of(domain: Domain) -> Iterator[Clean]:
    for number, errand in enumerate(domain.errands, 1):
        yield _trace(domain, errand, f"right-{number}", "good", errand.tool, errand.value)
        yield _trace(domain, errand, f"wrong-{number}", "bad", errand.wrong_tool, errand.value)
        yield _trace(domain, errand, f"value-{number}", "bad", errand.tool, errand.wrong_value)
        if number <= 2:
            yield _trace(domain, errand, f"invented-{number}", "bad", domain.invented, errand.value)
        else:
            yield _trace(domain, errand, f"idle-{number}", "bad", None, errand.value)


def _trace(domain: Domain, errand: Errand, name: str, quality: Quality, tool: str | None, value: str) -> Clean:
    parameter = domain.tools[errand.tool][1]
    identity = f"{domain.name}-{name}"
    case = Case(
        id=identity,
        request=errand.request,
        expect=Expect(
            calls=(
                GoldenCall(
                    tool=domain.look_up, arguments_json=_json(_any_note(parameter, errand.value)), optional=True
                ),
                GoldenCall(tool=errand.tool, arguments_json=_json(_any_note(parameter, errand.value))),
            ),
            order="listed",
        ),
    )
    calls = [_call("a1", 1, domain.look_up, {parameter: errand.value, "note": "first look"}, {"state": "as usual"})]
    if tool is not None:
        calls.append(_call("a2", 2, tool, {parameter: value, "note": "as requested"}, {"done": True}))
    trace = Trace(
        id=identity, case_id=identity, request=errand.request, agent=Agent(name="desk", model="first"),
        tools_json=Raw(jsontext.encode([dict(to_builtins(one)) for one in domain.catalog()])),
        events=(
            Message(role="user", text=errand.request), *calls,
            Message(role="assistant", text="Done, it is as you wished."),
        ),
        completed=True,
    )  # fmt: skip
    return Clean(identity, quality, RubricItem(case, trace))


def _any_note(parameter: str, value: str) -> dict[str, Any]:
    return {parameter: value, "note": {"ignore": True}}


def _json(value: Any) -> Raw:
    return Raw(jsontext.encode(value))


def _call(call_id: str, turn: int, tool: str, arguments: dict[str, str], result: dict[str, Any]) -> Call:
    return Call(
        tool=tool, id=call_id, turn=turn, arguments_json=_json(arguments),
        result=Result(content_json=_json(result), is_error=False),
    )  # fmt: skip


# ---- places ----


def changed(item: Step | RubricItem, place: Place, change: TextChange) -> Step | RubricItem:
    """The item with the text at a place rewritten: a free text that decides nothing."""
    if isinstance(item, Step):
        return _changed_step(item, place, change)
    return RubricItem(item.case, _changed_trace(item.trace, place, change))


def _changed_step(step: Step, place: Place, change: TextChange) -> Step:
    user, assistant, call = _history(step)
    if place == "tool_result":
        call = call | {"result": call["result"] | {"remark": change(call["result"]["remark"])}}
    elif place == "call_argument":
        call = call | {"arguments": call["arguments"] | {"note": change(call["arguments"]["note"])}}
    else:
        user = user | {"text": change(user["text"])}
    return replace(step, context={"history": [user, assistant, call]})


def _history(step: Step) -> list[dict[str, Any]]:
    history: list[dict[str, Any]] = step.context["history"] if isinstance(step.context, dict) else []
    return history


def _changed_trace(trace: Trace, place: Place, change: TextChange) -> Trace:
    """The trace with the last call's remark or note, or the agent's last words, rewritten."""
    events = list(trace.events)
    at = max(index for index, event in enumerate(events) if isinstance(event, Message) == (place == "text"))
    event = events[at]
    if isinstance(event, Message):
        events[at] = replace(event, text=change(event.text or ""))
    elif place == "call_argument":
        arguments = event.arguments or {}
        events[at] = replace(event, arguments_json=_json(arguments | {"note": change(arguments["note"])}))
    else:
        result = event.result or Result(is_error=False)
        content = (result.content or {}) | {"remark": change("nothing unusual")}
        events[at] = replace(event, result=replace(result, content_json=_json(content)))
    return replace(trace, events=tuple(events))

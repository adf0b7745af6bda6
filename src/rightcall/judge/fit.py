"""Reduced views: what is left out of a question that does not fit its judge, and how that is said.

Nothing is cut silently, and nothing at all is cut where everything fits. Three reductions are documented:

* `selection`: fewer tools. The selected and the expected tool always stay; of the others, as many as fit, in the order
  of the catalog.
* a whole trace: long results are shortened in the middle, then, if that is not enough, long arguments. Every one is
  cut to the same length, the greatest that fits and at least `SHORTEST`; what is shorter stays whole. A mark stands in
  the gap. Of two traces that are compared, both are cut by the same length, whichever stands first.
* a reading (`interpretation`): fewer tools, though always the called one and that of the next action; then less of what
  was said and done before, the oldest first. The call, its result, the reading and what lies between stay whole.

What still does not fit is `TooLong`. Nothing else is ever reduced: no request, context, message or golden.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from rightcall.errors import CaseError
from rightcall.judge.fences import fenced, rendered

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rightcall.trace.jsontext import JsonValue

SHORTEST = 200
"""Characters of a shortened result or argument that are shown at least."""

NAMED = 20
"""How many of the tools that are not shown are named."""

_NONCE = "0" * 20
_TRACES = ("AGENT_TOOL_CALLS", "TRACE_A", "TRACE_B")

View = tuple[dict[str, "JsonValue"], tuple[str, ...]]
"""Values and, in words, what they lack."""


class TooLong(CaseError):
    """A question that does not fit its judge, even reduced: `Unevaluable: too_long`.

    `tokens` is the size of the smallest view, `budget` what there is room for.
    """

    default_code = "TOO_LONG"

    def __init__(self, tokens: int, budget: int) -> None:
        """Keep both numbers."""
        super().__init__(
            f"the question has about {tokens} tokens of data, and there is room for {budget}",
            hint="use a judge with a larger context, or split the case",
        )
        self.tokens, self.budget = tokens, budget


def fit(values: Mapping[str, JsonValue], budget_tokens: int, count: Callable[[str], int]) -> View:
    """The values as they fit, with what was left out of them.

    Args:
        values: by placeholder: those that the template uses, and no others.
        budget_tokens: room for the values with their fences, after everything else that is sent or reserved.
        count: how many tokens a text has.

    Raises:
        TooLong: even the smallest view is too long.
    """
    scale = _Scale(budget_tokens, count)
    if scale.holds(values, ()):
        return dict(values), ()
    if "SELECTED_TOOL_NAME" in values and values.get("AVAILABLE_TOOLS"):
        return _fewer_tools(values, scale)
    traces = [name for name in _TRACES if values.get(name)]
    if traces:
        return _shorter(values, traces, scale)
    if "TOOL_RESULT" in values:
        return _less_around(values, scale)
    raise TooLong(scale.size(values, ()), budget_tokens)


@dataclass(frozen=True)
class _Scale:
    budget: int
    count: Callable[[str], int]

    def size(self, values: Mapping[str, JsonValue], left_out: Sequence[str]) -> int:
        """Tokens of the values between their fences."""
        blocks = dict(values) | ({"LEFT_OUT": list(left_out)} if left_out else {})
        return sum(self.count(fenced(name, rendered(value), _NONCE)) for name, value in blocks.items())

    def holds(self, values: Mapping[str, JsonValue], left_out: Sequence[str]) -> bool:
        return self.size(values, left_out) <= self.budget


def _fewer_tools(values: Mapping[str, JsonValue], scale: _Scale) -> View:
    tools: list[dict[str, JsonValue]] = values["AVAILABLE_TOOLS"]
    must = {values.get("SELECTED_TOOL_NAME"), values.get("EXPECTED_TOOL_NAME")}
    others = [place for place, tool in enumerate(tools) if tool["name"] not in must]

    def view(shown: int) -> View:
        hidden = set(others[shown:])
        kept = [tool for place, tool in enumerate(tools) if place not in hidden]
        names = [tools[place]["name"] for place in others[shown:]]
        return {**values, "AVAILABLE_TOOLS": kept}, (_not_shown(names, len(tools)),)

    return _greatest(view, 0, len(others) - 1, scale)


def _less_around(values: Mapping[str, JsonValue], scale: _Scale) -> View:
    """A reading with fewer tools and, if none but the named ones is left, with less of what came before."""
    tools: list[dict[str, JsonValue]] = values.get("AVAILABLE_TOOLS") or []
    context = values["CONTEXT"] if isinstance(values.get("CONTEXT"), dict) else {}
    before: list[JsonValue] = context.get("before") or []
    action = values.get("NEXT_ACTION")
    must = {values.get("TOOL_NAME"), action.get("tool") if isinstance(action, dict) else None}
    others = [place for place, tool in enumerate(tools) if tool["name"] not in must]

    def view(kept: int) -> View:
        events, shown = min(kept, len(before)), max(0, kept - len(before))
        less, left_out = dict(values), []
        if shown < len(others):
            hidden = others[shown:]
            less["AVAILABLE_TOOLS"] = [tool for place, tool in enumerate(tools) if place not in set(hidden)]
            left_out.append(_not_shown([tools[place]["name"] for place in hidden], len(tools)))
        if events < len(before):
            less["CONTEXT"] = {**context, "before": before[len(before) - events :]}
            left_out.append(
                f"the first {len(before) - events} of {len(before)} earlier messages and calls are not shown"
            )
        return less, tuple(left_out)

    return _greatest(view, 0, len(before) + len(others), scale)


def _not_shown(names: list[str], of: int) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"{len(names)} of {of} tools are not shown: {', '.join(names[:NAMED])}{more}"


def _greatest(view: Callable[[int], View], low: int, high: int, scale: _Scale) -> View:
    """The view of the greatest number from `low` to `high` that fits.

    Raises:
        TooLong: not even the lowest fits.
    """
    best = view(low)
    if not scale.holds(*best):
        raise TooLong(scale.size(*best), scale.budget)
    while low < high:
        middle = (low + high + 1) // 2
        tried = view(middle)
        if scale.holds(*tried):
            low, best = middle, tried
        else:
            high = middle - 1
    return best


Part = Literal["result", "arguments"]


@dataclass(frozen=True)
class _Cut:
    """How long results and arguments may be, in characters of their JSON text; `None`: as long as they are."""

    result: int | None = None
    arguments: int | None = None


def _shorter(values: Mapping[str, JsonValue], traces: Sequence[str], scale: _Scale) -> View:
    def view(cut: _Cut) -> View:
        shown: dict[str, JsonValue] = {}
        left_out: list[str] = []
        for name in traces:
            shown[name], lost = _cut_events(values[name], cut)
            left_out += [f"{name}: {what}" for what in lost] if len(traces) > 1 else lost
        return {**values, **shown}, tuple(left_out)

    longest = max(len(rendered(event)) for name in traces for event in values[name])
    least = _Cut(result=SHORTEST)
    if scale.holds(*view(least)):
        return _greatest(lambda length: view(_Cut(result=length)), SHORTEST, longest, scale)
    return _greatest(lambda length: view(replace(least, arguments=length)), SHORTEST, longest, scale)


def _cut_events(events: list[dict[str, JsonValue]], cut: _Cut) -> tuple[list[JsonValue], tuple[str, ...]]:
    shown: list[JsonValue] = []
    left_out: list[str] = []
    for place, event in enumerate(events, 1):
        whose = str(event.get("call_id", f"event {place}"))
        made = event
        for key in ("arguments", "arguments_raw"):
            made = _cut_part(made, key, cut.arguments, f"arguments of {whose}", left_out)
        if isinstance(made.get("result"), dict):
            result = _cut_part(made["result"], "content", cut.result, f"result of {whose}", left_out)
            made = {**made, "result": result}
        shown.append(made)
    return shown, tuple(left_out)


def _cut_part(
    holder: dict[str, JsonValue], key: str, limit: int | None, what: str, left_out: list[str]
) -> dict[str, JsonValue]:
    """The holder with what stands under a key shortened, if it is longer than the limit; what is cut is noted."""
    if limit is None or key not in holder:
        return holder
    value = holder[key]
    text = value if isinstance(value, str) else rendered(value)
    if len(text) <= limit:
        return holder
    head, tail = text[: limit - limit // 2], text[len(text) - limit // 2 :]
    said = f"{len(text) - limit:,} of {len(text):,} characters are not shown"
    left_out.append(f"{what}: {said}")
    short = f"{head} …[{said}]… {tail}"
    return {**holder, key: short if isinstance(value, str) else {"shortened_json_text": short}}

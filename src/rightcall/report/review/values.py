"""What happened in a trace, which tools there were, and what was expected, as a reviewer reads it in the terminal.

All of it comes from somebody else's recording, so whatever could play tricks on a screen is written out. Nothing is
cut without saying so and naming the key that shows the rest.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec
from rich.table import Table
from rich.text import Text

from rightcall.report.plain import arguments, expected_arguments, shorten, value, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rich.console import Console

LONGEST = 1200
"""Characters of one text that are shown at first."""

_CALL_KEYS = frozenset({"call_id", "by", "tool", "arguments", "arguments_status", "arguments_raw", "result"})
_QUIET_KEYS = frozenset({"turn", "at", "started_at"})
"""When something happened: what was done together is said in words."""

_NO_ARGUMENTS = {
    "malformed": "arguments that are not valid JSON", "not_object": "arguments that are no object",
    "missing": "no arguments", "not_captured": "arguments that were not recorded",
}  # fmt: skip
_canonical = msgspec.json.Encoder(order="deterministic").encode

Row = tuple[str, str, str]
"""What a line is about, what it says, its style."""


def print_rows(console: Console, rows: Iterable[Row]) -> None:
    """Print lines with their labels in a column of their own; nothing for none."""
    table = table_of(rows)
    if table.row_count:
        console.print(table)


def table_of(rows: Iterable[Row]) -> Table:
    """Lines as a table of two columns; texts of several lines keep them."""
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True, min_width=7, max_width=14, overflow="ellipsis", style="dim")
    table.add_column(overflow="fold", ratio=1)
    for label, text, style in rows:
        table.add_row(Text(visible(label)), Text(lines_of(text), style))
    return table


def lines_of(text: str) -> str:
    """A text with its own lines, and nothing hidden in them."""
    return "\n".join(visible(line) for line in text.replace("\r\n", "\n").split("\n"))


def cut(text: str, where: str, limit: int | None) -> str:
    """At most `limit` characters, with how many more there are and what shows them.

    Args:
        text: the text.
        where: what it is called at the keyboard.
        limit: how much is shown; `None`: all of it.
    """
    if limit is None or len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text) - limit:,} more characters: v {where})"


def said(item: Any) -> str:
    """A text as it is; anything else as JSON."""
    return item if isinstance(item, str) else value(item)


# ---- what happened ---------------------------------------------------------------------------------------------------


def event_rows(events: Sequence[Any], limit: int | None = LONGEST, only: str | None = None) -> Iterator[Row]:
    """Messages and calls in order.

    Args:
        events: as a judge sees them; messages are numbered `m1` … so that one can be asked for.
        limit: characters of one text.
        only: show only what has this id (`c2`, `m1`).
    """
    number, turn = 0, object()
    for event in events:
        if not isinstance(event, dict):
            yield ("", said(event), "") if only is None else ("", "", "")
            continue
        is_call = "tool" in event
        number += not is_call
        name = str(event.get("call_id") or "") if is_call else f"m{number}"
        if only is None or only == name:
            yield from _call(event, limit, turn) if is_call else _message(event, name, limit)
        turn = event.get("turn", object()) if is_call else object()
    if not events and only is None:
        yield "", "nothing was said and no tool was called", "dim"


def _message(event: Mapping[str, Any], name: str, limit: int | None) -> Iterator[Row]:
    yield str(event.get("role") or "?"), cut(said(event.get("text")), name, limit), ""
    yield from _others(event, {"role", "text"})


def _call(event: Mapping[str, Any], limit: int | None, turn: object) -> Iterator[Row]:
    name = str(event.get("call_id") or "")
    notes = [f"by {event['by']}"] if event.get("by") else []
    notes += ["together with the call above"] if event.get("turn") == turn else []
    about = f"   ({', '.join(notes)})" if notes else ""
    yield name or "other", cut(call_text(event), name, limit) + about, "bold"
    if "result" in event:
        yield from _result(event["result"], name, limit)
    yield from _others(event, _CALL_KEYS)


def call_text(event: Mapping[str, Any]) -> str:
    """A call on one line: its tool and arguments, or why there are none."""
    tool = visible(str(event.get("tool")))
    if isinstance(event.get("arguments"), dict):
        return f"{tool} {arguments(event['arguments'])}"
    status = str(event.get("arguments_status", "missing"))
    raw = f": {visible(str(event['arguments_raw']))}" if event.get("arguments_raw") else ""
    return f"{tool} ({_NO_ARGUMENTS.get(status, status)}{raw})"


def _result(result: Any, name: str, limit: int | None) -> Iterator[Row]:
    if not isinstance(result, dict):
        yield "", f"→ ({said(result)})", "dim"
        return
    content = (
        "(the content was not recorded)" if result.get("content_recorded") is False else said(result.get("content"))
    )
    failed = "failed: " if result.get("is_error") else ""
    style = "yellow" if failed else ""
    unsure = "" if result.get("is_error") is not None else "   (whether it failed was not recorded)"
    unsure = "   (that it failed is inferred)" if failed and result.get("is_error_was_inferred") else unsure
    yield "", f"→ {failed}{cut(content, name, limit)}{unsure}", style


def _others(event: Mapping[str, Any], known: Iterable[str]) -> Iterator[Row]:
    """Whatever else was recorded: a reviewer sees what a judge sees."""
    for key, item in event.items():
        if key not in known and key not in _QUIET_KEYS:
            yield "", f"{key}: {said(item)}", "dim"


def same_calls(left: Sequence[Any], right: Sequence[Any]) -> tuple[set[str], set[str]]:
    """Ids of calls that stand in both traces with the same arguments, for each of the two."""
    counts = [Counter(_identity(one) for one in side if _is_call(one)) for side in (left, right)]
    both = counts[0] & counts[1]
    found = []
    for side in (left, right):
        rest, names = Counter(both), set()
        for one in side:
            if _is_call(one) and rest[_identity(one)] > 0:
                rest[_identity(one)] -= 1
                names.add(str(one["call_id"]))
        found.append(names)
    return found[0], found[1]


def _is_call(event: Any) -> bool:
    return isinstance(event, dict) and "tool" in event and bool(event.get("call_id"))


def _identity(event: Mapping[str, Any]) -> bytes:
    return _canonical([event["tool"], event.get("arguments"), event.get("arguments_raw")])


def ids_of(events: Sequence[Any]) -> list[str]:
    """The ids by which calls are cited."""
    return [str(one["call_id"]) for one in events if _is_call(one)]


# ---- tools and goldens -----------------------------------------------------------------------------------------------


def tool_rows(tools: Sequence[Any] | None, limit: int | None = 160) -> Iterator[Row]:
    """The tools that the agent could see: names with parameters and descriptions."""
    if tools is None:
        yield "", "(no catalog was recorded)", "dim"
        return
    for tool in tools:
        if not isinstance(tool, dict):
            yield "", said(tool), ""
            continue
        yield "", f"{visible(str(tool.get('name')))}({', '.join(_parameters(tool.get('parameters')))})", "bold"
        if tool.get("description"):
            yield "", cut(str(tool["description"]), "tools", limit), ""
        if limit is None and tool.get("parameters") is not None:
            yield "", f"parameters: {value(tool['parameters'])}", "dim"
        if tool.get("annotations"):
            yield "", f"annotations: {value(tool['annotations'])}", "dim"
    if not tools:
        yield "", "(the agent could see no tool)", "dim"


def _parameters(schema: Any) -> list[str]:
    """Names of the parameters; optional ones end in `?`."""
    known = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(known, dict):
        return []
    required = schema.get("required")
    needed = set(required) if isinstance(required, list) and all(isinstance(one, str) for one in required) else set()
    return [visible(name) + ("" if name in needed else "?") for name in known]


def golden_rows(ways: Sequence[Any] | None) -> Iterator[Row]:
    """The acceptable ways of a case."""
    for number, way in enumerate(ways or (), 1):
        named = f" {visible(str(way['name']))}" if way.get("name") else ""
        yield f"way {number}", f"order {way.get('order')}{named}", "dim"
        for call in way.get("calls", ()):
            after = f"   (after {', '.join(map(str, call['after']))})" if call.get("after") else ""
            optional = "   (optional)" if call.get("optional") else ""
            pairs = expected_arguments(call.get("arguments"))
            yield str(call.get("label") or ""), f"{visible(str(call.get('tool')))} {pairs}{after}{optional}", ""
        if not way.get("calls"):
            yield "", "no call at all", ""


def text_rows(label: str, item: Any, limit: int | None = LONGEST) -> Iterator[Row]:
    """A request or a context: text as it is, an object key by key."""
    if item is None:
        yield label, "(not recorded)", "dim"
    elif isinstance(item, dict):
        for key, inner in item.items():
            if isinstance(inner, list) and inner and all(isinstance(one, dict) for one in inner):
                yield label, f"{key}:", "dim"
                yield from (("", text, style) for _, text, style in _indented(event_rows(inner, limit)))
            else:
                yield label, f"{key}: {cut(said(inner), label, limit)}", ""
            label = ""
    else:
        yield label, cut(said(item), label, limit), ""


def _indented(rows: Iterable[Row]) -> Iterator[Row]:
    for label, text, style in rows:
        yield "", f"  {shorten(label, 10)} {text}".rstrip(), style

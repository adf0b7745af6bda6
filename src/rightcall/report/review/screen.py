"""One review item in the terminal, as it is before the answer: what is to be judged, and nothing else.

All that is printed comes from the blind view, so nothing that it does not hold can appear. It works without colour and
in 80 columns; a pair stands side by side where there is room, else one below the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from rightcall.report.plain import visible
from rightcall.report.review.values import (
    call_text,
    event_rows,
    golden_rows,
    ids_of,
    print_rows,
    said,
    same_calls,
    table_of,
    text_rows,
    tool_rows,
)
from rightcall.review.blind import AdjudicationItem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import Console, RenderableType

    from rightcall.report.review.values import Row
    from rightcall.review.blind import BlindItem, Reading
    from rightcall.review.form import Form

_SIDE_BY_SIDE = 120
"""Columns from which on a pair stands side by side."""

SIDES = ("left", "right")


def print_item(console: Console, item: BlindItem) -> None:
    """Print everything that a person sees of an item.

    Args:
        console: where to.
        item: the blind view.
    """
    for name in item.missing:
        console.print(Text(visible(f"not on record: {name}"), "yellow"))
    _task(console, item)
    _head(console, "tools")
    _placed(console, item, item.tools, tool_rows)
    _what_happened(console, item)
    if item.golden is not None:
        _head(console, "what should have happened")
        print_rows(console, golden_rows(item.golden))


def print_part(console: Console, item: BlindItem, name: str) -> None:
    """Print one part in full: `tools`, `request`, `context`, a call (`c2`) or a message (`m1`); of a pair, both."""
    if name == "tools":
        _placed(console, item, item.tools, lambda tools: tool_rows(tools, None))
    elif name in {"request", "context"}:
        _placed(console, item, getattr(item, name), lambda value: text_rows(name, value, None))
    else:
        found = [
            (f"{side} " if side else "", row)
            for side, events in _all_events(item)
            for row in event_rows(events, None, name)
        ]
        rows = [(f"{side}{label}".strip(), text, style) for side, (label, text, style) in found]
        print_rows(console, rows or [("", f"there is no {name}: tools, request, context, c1 …, m1 …", "yellow")])


def cited_ids(item: BlindItem) -> list[str]:
    """The ids that evidence can name: of calls; of a pair with the side before them (`left:c1`)."""
    return [
        f"{side}:{name}" if side else name for side, events in _all_events(item) for name in ids_of(events)
    ]  # fmt: skip


def _all_events(item: BlindItem) -> list[tuple[str, Sequence[Any]]]:
    if item.reading is not None:
        return [("", [part for part in (item.reading.call, item.reading.next_action) if part is not None])]
    if item.left is not None or item.right is not None:
        return [("left", item.left or ()), ("right", item.right or ())]
    return [("", item.events or ())]


# ---- parts -----------------------------------------------------------------------------------------------------------


def _head(console: Console, title: str) -> None:
    console.print(Rule(Text(title, "bold"), align="left", characters="─", style="dim"))


def _task(console: Console, item: BlindItem) -> None:
    _head(console, "task")
    _placed(console, item, item.request, lambda value: text_rows("request", value))
    if item.context is not None:
        _placed(console, item, item.context, lambda value: text_rows("context", value))


def _placed(console: Console, item: BlindItem, value: Any, rows: Any) -> None:
    """Print a value; one that differs between the sides of a pair, by side."""
    if item.grader == "preference" and isinstance(value, dict) and value.keys() == set(SIDES):
        for side in SIDES:
            console.print(Text(side.upper(), "bold"))
            print_rows(console, rows(value[side]))
    else:
        print_rows(console, rows(value))


def _what_happened(console: Console, item: BlindItem) -> None:
    if item.chosen is not None:
        _head(console, "the choice")
        expected = item.chosen.expected
        rows = [("chosen", _tool(item.chosen.selected), "bold")]
        rows += [] if expected is UNSET else [("expected", _tool(expected), "")]
        print_rows(console, rows)
    elif item.reading is not None:
        _head(console, "the result and what was made of it")
        print_rows(console, _reading(item.reading))
    elif item.left is not None or item.right is not None:
        _pair(console, item.left or (), item.right or ())
    elif item.events is not None:
        _head(console, "what happened")
        print_rows(console, event_rows(item.events))
    _print_ending(console, item)


def _tool(name: Any) -> str:
    return "(no tool)" if name is None else said(name)


def _print_ending(console: Console, item: BlindItem) -> None:
    if item.completed is False:
        console.print(Text("the run did not come to its end", "yellow"))
    if item.oddities:
        console.print(Text(visible(f"odd about the recording: {', '.join(item.oddities)}"), "yellow"))


def _reading(part: Reading) -> Iterator[Row]:
    yield from event_rows([part.call])
    yield "reading", "(the agent said nothing)" if part.stated is None else part.stated, "bold"
    if part.next_action is None:
        yield "next", "(nothing)", "dim"
    elif "tool" in part.next_action:
        yield "next", call_text(part.next_action), ""
    else:
        yield "next", f"{part.next_action.get('role')}: {said(part.next_action.get('text'))}", ""


def _pair(console: Console, left: Sequence[Any], right: Sequence[Any]) -> None:
    same = same_calls(left, right)
    columns = [_marked(event_rows(events), ids) for events, ids in zip((left, right), same, strict=True)]
    if console.width < _SIDE_BY_SIDE:
        for name, rows in zip(SIDES, columns, strict=True):
            _head(console, name.upper())
            print_rows(console, rows)
    else:
        table = Table.grid(padding=(0, 2), expand=True)
        cells: list[RenderableType] = [table_of(rows) for rows in columns]
        for _ in SIDES:
            table.add_column(ratio=1)
        table.add_row(*(Text(f"── {name.upper()}", "bold") for name in SIDES))
        table.add_row(*cells)
        console.print(table)
    if any(same):
        console.print(Text("= the same call stands on both sides", "dim"))


def _marked(rows: Iterator[Row], same: set[str]) -> list[Row]:
    """Rows in which the calls of both sides carry a sign."""
    return [(f"{label} =" if label in same else label, text, style) for label, text, style in rows]


# ---- adjudication ----------------------------------------------------------------------------------------------------


def print_earlier(console: Console, item: BlindItem, form: Form) -> None:
    """Print the answers that differ, without names, for the person who decides; nothing for any other item."""
    if not isinstance(item, AdjudicationItem):
        return
    _head(console, f"{len(item.answers)} answers that differ on {', '.join(item.differing)}: you decide")
    rows: list[Row] = []
    for number, answer in enumerate(item.answers, 1):
        rows.append((f"answer {number}", said_by(form, answer.fields, answer.unsure), ""))
        turned = " (written with the sides the other way round)" if answer.mirrored else ""
        rows += [("", f"note{turned}: {answer.note}", "")] if answer.note else []
        if answer.mirrored and (answer.note or answer.unsure):
            rows.append(("", "(whoever wrote this saw the sides the other way round)", "dim"))
        rows += [("", f"evidence: {', '.join(answer.evidence)}", "dim")] if answer.evidence else []
    print_rows(console, rows)


def said_by(form: Form, fields: Mapping[str, Any], unsure: str | None = None) -> str:
    """An answer in one line, with the labels of its form."""
    if unsure is not None:
        return f"cannot judge it: {unsure}"
    labels = {one.name: one.label for one in form.fields}
    known = [name for name in labels if name in fields] + [name for name in fields if name not in labels]
    return " · ".join(f"{labels.get(name, name)} {written(fields[name])}" for name in known) or "nothing"


def written(item: Any) -> str:
    """A value of a form as a person reads it."""
    if isinstance(item, (list, tuple)):
        return ", ".join(map(written, item)) or "none"
    if item is None or isinstance(item, bool):
        return {None: "–", True: "yes", False: "no"}[item]
    return visible(said(item))

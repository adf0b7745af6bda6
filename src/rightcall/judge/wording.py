"""How a fault in a judge's reply is told: short, on one line, with characters that nobody can see made visible."""

from __future__ import annotations

import json
import re
from itertools import islice
from typing import TYPE_CHECKING

from rightcall.judge.contract import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rightcall.trace.jsontext import JsonValue

MAX_PROBLEMS = 100
"""How many problems of one reply are listed; a last line counts the rest."""

_LONGEST = 80
_NOT_PLAIN = re.compile(r"[^ -~]")
_BLANK = re.compile(r"[\s\ufeff\u200b-\u200f\u2060]*")


def is_blank(text: str) -> bool:
    """Whether a reader would see nothing: blanks, a byte-order mark, characters without width."""
    return _BLANK.fullmatch(text) is not None


def visible(text: str) -> str:
    """The text with every character outside printable ASCII as its code point: `PASS<U+200B>`."""
    return _NOT_PLAIN.sub(lambda found: f"<U+{ord(found[0]):04X}>", text)


def shortened(text: str, longest: int = _LONGEST) -> str:
    """The text made visible, or its beginning."""
    return visible(text) if len(text) <= longest else f"{visible(text[:longest])}…"


def shown(value: JsonValue) -> str:
    """A JSON value as a message names it: text in quotes and visible, containers only by their kind."""
    if isinstance(value, str):
        return f'"{shortened(value)}"'
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, (list, tuple)):
        return "a list"
    if isinstance(value, int) and abs(value) > 2**64:
        return "a huge number"
    return json.dumps(value)


def joined(path: str, key: str | int) -> str:
    """The path of a member: `justification.tool_selection`, `tool_call_evaluations[2]`."""
    if isinstance(key, int):
        return f"{path}[{key}]"
    name = shortened(key)
    return f"{path}.{name}" if path else name


def listed(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """All problems; of a hopeless reply, which may have thousands, the first ones and how many more there are."""
    rest = iter(problems)
    first = tuple(islice(rest, MAX_PROBLEMS))
    more = sum(1 for _ in rest)
    return (*first, Problem("reply", f"has {more} more problems")) if more else first

"""Calls that a benchmark writes as Python text: `[lookup(city="Oslo"), now()]`. Parsed as literals, never run."""

from __future__ import annotations

import ast
import math
import warnings
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rightcall.trace.jsontext import JsonValue

MAX_CHARACTERS = 20_000
"""Longest text that is parsed."""


class WrittenCall(NamedTuple):
    """A call as text says it: its tool, its arguments by position and by name, and its own text.

    `named` holds `None` where an argument's value is no JSON value; `faulty` says that there was such a one, or that an
    argument stands twice or is spread (`**`).
    """

    tool: str
    positional: list[JsonValue]
    named: dict[str, JsonValue]
    text: str
    faulty: bool


def expression(text: str) -> ast.expr | None:
    """The one expression that a text is; `None` where it is none, or is too long."""
    if len(text) > MAX_CHARACTERS:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape in a text is the file's own business
            return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def calls(text: str) -> list[WrittenCall] | None:
    """The calls that a text consists of (a list of them, several, or one); `None` where it is anything else."""
    tree = expression(text)
    if tree is None:
        return None
    nodes = tree.elts if isinstance(tree, (ast.List, ast.Tuple)) else [tree]
    found = [_call(node, text.strip()) for node in nodes]
    return None if None in found else [call for call in found if call is not None]


def _call(node: ast.expr, source: str) -> WrittenCall | None:
    tool = dotted(node.func) if isinstance(node, ast.Call) else None
    if tool is None or not isinstance(node, ast.Call):
        return None
    positional: list[JsonValue] = []
    named: dict[str, JsonValue] = {}
    faulty = False
    for name, value in [
        *((None, each) for each in node.args),
        *((each.arg or "**", each.value) for each in node.keywords),
    ]:
        faulty = faulty or name == "**" or name in named
        try:
            read = constant(value)
        except ValueError:
            read, faulty = None, True
        if name is None:
            positional.append(read)
        else:
            named[name] = read
    return WrittenCall(tool, positional, named, ast.get_source_segment(source, node) or source, faulty)


def dotted(node: ast.expr) -> str | None:
    """`a.b.c` as text; nothing for any other expression."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else None


def constant(node: ast.expr) -> JsonValue:
    """A literal as a JSON value.

    Raises:
        ValueError: not a literal, or one that JSON does not have.
    """
    try:
        return _as_json(ast.literal_eval(node))
    except (TypeError, SyntaxError, MemoryError, RecursionError) as error:
        raise ValueError(str(error)) from None


def _as_json(value: object) -> JsonValue:
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, (list, tuple)):
        return [_as_json(item) for item in value]
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {key: _as_json(item) for key, item in value.items()}
    raise ValueError(f"not a JSON value: {value!r}")

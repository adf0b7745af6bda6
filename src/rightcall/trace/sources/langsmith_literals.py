"""What Python wrote as text where JSON should be: a tool's arguments, an exception. Parsed, never run."""

from __future__ import annotations

import ast
import math
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rightcall.trace.jsontext import JsonValue

MAX_LITERAL = 20_000
"""Longest text that is parsed as Python."""


def python_object(text: str) -> JsonValue:
    """The object that a Python dictionary writes; the text itself where it is none, or holds what JSON cannot."""
    value = _literal(text) if text.lstrip()[:1] == "{" else None
    return value if isinstance(value, dict) and _is_json(value) else text


def error_message(error: str) -> str:
    """The message inside an exception as Python writes it: `ToolException('no seats')` says `no seats`."""
    name, _, rest = error.partition("(")
    said = _literal(rest[:-1]) if name.isidentifier() and rest.endswith(")") else None
    return said if isinstance(said, str) else error


def _literal(text: str) -> object:
    if len(text) > MAX_LITERAL:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape in a text is the recording's own business
            return ast.literal_eval(text.strip())
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _is_json(value: object) -> bool:
    """Whether a Python value is one of JSON."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_json(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(_is_json, value))
    return value is None or isinstance(value, (bool, int, str))

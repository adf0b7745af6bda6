"""Canonical JSON and content hashes: the identity of everything in rightcall.

The canonical form is RFC 8785 (JCS): UTF-8, no blanks, keys sorted by UTF-16 code units, numbers in the ECMAScript
form, with one departure: integers beyond 2^53 are written digit for digit instead of being refused, since one lost
digit is another customer. An integral float and the equal integer have the same form, so `4` and `4.0` hash alike.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import rfc8785

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rightcall.trace.jsontext import JsonValue

_EXACT = 2**53 - 1
_quoted = json.encoder.encode_basestring
"""A text as JSON writes it, with just the escapes of RFC 8785: the quote, the backslash, control characters."""


def canonical(value: JsonValue) -> bytes:
    """RFC 8785 bytes of a JSON value (see the module's text for the one departure).

    Raises:
        ValueError: NaN, an infinity, or something that is not a JSON value.
    """
    try:
        return _text(value).encode()
    except UnicodeEncodeError as error:
        raise rfc8785.CanonicalizationError("input contains non-UTF-8 codepoints") from error


def _text(value: JsonValue) -> str:
    # Every record and every question passes here, so the usual types come first and by identity.
    kind = type(value)
    if kind is str:
        return _quoted(value)
    if kind is int:
        return str(value)
    if value is None:
        return "null"
    if kind is bool:
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{" + ",".join([f"{_quoted(key)}:{_text(value[key])}" for key in _in_order(value)]) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_text, value)) + "]"
    return _scalar(value).decode()


def _in_order(keys: Iterable[str]) -> list[str]:
    """Keys by UTF-16 code units; for ASCII that is Python's own order."""
    try:
        if "".join(keys).isascii():
            return sorted(keys)
    except TypeError:
        raise ValueError("object keys must be texts") from None
    return sorted(keys, key=lambda key: key.encode("utf-16-be", "surrogatepass"))


def _scalar(value: JsonValue) -> bytes:
    if isinstance(value, float) and value.is_integer() and abs(value) > _EXACT:
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _EXACT:
        return str(value).encode()
    return rfc8785.dumps(value)


def digest(value: JsonValue) -> str:
    """SHA-256 of the canonical form, as 64 hexadecimal characters."""
    return hashlib.sha256(canonical(value)).hexdigest()

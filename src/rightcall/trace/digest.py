"""Canonical JSON and content hashes: the identity of everything in rightcall.

The canonical form is RFC 8785 (JCS): UTF-8, no blanks, keys sorted by UTF-16 code units, numbers in the ECMAScript
form, with one departure: integers beyond 2^53 are written digit for digit instead of being refused, since one lost
digit is another customer. An integral float and the equal integer have the same form, so `4` and `4.0` hash alike.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import rfc8785

if TYPE_CHECKING:
    from rightcall.trace.jsontext import JsonValue

_EXACT = 2**53 - 1


def canonical(value: JsonValue) -> bytes:
    """RFC 8785 bytes of a JSON value (see the module's text for the one departure).

    Raises:
        ValueError: NaN, an infinity, or something that is not a JSON value.
    """
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
        return b"{" + b",".join(_scalar(key) + b":" + canonical(value[key]) for key in keys) + b"}"
    if isinstance(value, (list, tuple)):
        return b"[" + b",".join(map(canonical, value)) + b"]"
    return _scalar(value)


def _scalar(value: JsonValue) -> bytes:
    if isinstance(value, float) and value.is_integer() and abs(value) > _EXACT:
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _EXACT:
        return str(value).encode()
    return rfc8785.dumps(value)


def digest(value: JsonValue) -> str:
    """SHA-256 of the canonical form, as 64 hexadecimal characters."""
    return hashlib.sha256(canonical(value)).hexdigest()

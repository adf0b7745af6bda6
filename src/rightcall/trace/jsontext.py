"""JSON text in and out: strict, exact, bounded.

Integers of any size stay exact, NaN and infinities are refused, and nesting is limited *before* anything is decoded,
so that hostile input costs a scan and not a stack. A value that is equal under JSON's own types is equal here:
`4` equals `4.0`, `true` is not `1`, keys have no order, text is compared in Unicode NFC.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from unicodedata import is_normalized, normalize

import msgspec

from rightcall.errors import Place, TraceError

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_DEPTH = 256
"""Deepest nesting that is read. Deeper input is `TRACE_TOO_DEEP`."""

JsonValue = Any
"""Any JSON value: the one place where `Any` is meant."""

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder(order="deterministic").encode
_encode_in_order = msgspec.json.Encoder().encode


_NOT_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))


def depth_of(data: bytes) -> int:
    """Deepest nesting of arrays and objects in `data`, brackets inside strings not counted."""
    outside_strings = data.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2]
    depth = deepest = 0
    for byte in b"".join(outside_strings).translate(None, _NOT_BRACKETS):
        if byte in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        else:
            depth -= 1
    return deepest


def check_depth(data: bytes, place: Place | None = None, limit: int = MAX_DEPTH) -> None:
    """Raise `TraceError` (`TRACE_TOO_DEEP`) where `data` nests deeper than `limit`."""
    if data.count(b"[") + data.count(b"{") <= limit:
        return
    depth = depth_of(data)
    if depth > limit:
        raise TraceError(
            f"nested {depth} levels deep; at most {limit} are read",
            code="TRACE_TOO_DEEP",
            place=place,
            hint="flatten the value or cut it before recording",
        )


def decode(data: bytes | str, place: Place | None = None) -> JsonValue:
    """Decode one JSON text.

    Raises:
        TraceError: not JSON (with line and column), too deep, NaN or infinity, a number out of range.
    """
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    check_depth(raw, place)
    try:
        return _decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise malformed(raw, error, place) from None


def malformed(data: bytes, error: Exception, place: Place | None = None) -> TraceError:
    """Turn a decoder's error into a `TraceError` that names line and column."""
    base = place or Place()
    text = str(error)
    found = re.search(r"\(byte (\d+)\)", text)
    offset = int(found.group(1)) if found else len(data.rstrip())
    before = data[:offset]
    line = (base.line or 1) + before.count(b"\n")
    column = len(before.rsplit(b"\n", 1)[-1].decode("utf-8", "replace")) + 1
    return TraceError(
        f"not valid JSON: {_reason(data, offset, text)}",
        place=Place(base.file, line, column, base.path),
        hint="fix or remove this record",
    )


def _reason(data: bytes, offset: int, text: str) -> str:
    # A decoder may stop inside the word, after its sign or its first letters.
    start = offset - len(re.findall(rb"[-+A-Za-z]*$", data[max(0, offset - 12) : offset])[0])
    word = re.findall(rb"^[-+A-Za-z]*", data[start : offset + 12])[0]
    if word.lstrip(b"-+").lower() in (b"nan", b"infinity", b"inf"):
        return f"{word.decode()} is not a JSON value"
    if "truncated" in text and re.search(rb"\\u[dD][89abAB]", data):
        return "half of a surrogate pair stands alone"
    if "truncated" in text:
        return "the text ends too early"
    if "out of range" in text:
        return "a number is out of range"
    return re.sub(r"^JSON is malformed: | \(byte \d+\)$", "", text)


def encode(value: JsonValue) -> bytes:
    """Encode a value as compact JSON with sorted keys; integers of any size keep every digit."""
    return _encode(value)


def encode_in_order(value: JsonValue) -> bytes:
    """The same with keys in the order in which they stand: the first key of an object says whether it is a matcher."""
    return _encode_in_order(value)


def same(left: JsonValue, right: JsonValue) -> bool:
    """Whether two JSON values are equal under JSON's types (see the module's first lines)."""
    if isinstance(left, str):
        return isinstance(right, str) and same_text(left, right)
    if isinstance(left, bool) or isinstance(right, bool) or left is None or right is None:
        return left is right
    if isinstance(left, (int, float)):
        return isinstance(right, (int, float)) and left == right
    if isinstance(left, dict):
        return isinstance(right, dict) and (_same_bytes(left, right) or _same_object(left, right))
    if not isinstance(left, (list, tuple)) or not isinstance(right, (list, tuple)) or len(left) != len(right):
        return False
    return all(map(same, left, right))


def _same_bytes(left: JsonValue, right: JsonValue) -> bool:
    """The quick way to equality; a text with half a surrogate pair has no bytes, and is compared part by part."""
    try:
        return _encode(left) == _encode(right)
    except UnicodeEncodeError:
        return False


def same_text(left: str, right: str) -> bool:
    """Whether two texts are equal in Unicode NFC."""
    return left == right or normalize("NFC", left) == normalize("NFC", right)


def _same_object(left: Mapping[str, JsonValue], right: Mapping[str, JsonValue]) -> bool:
    if len(left) != len(right):
        return False
    if left.keys() != right.keys():
        left, right = nfc_keys(left), nfc_keys(right)
    return left.keys() == right.keys() and all(same(value, right[key]) for key, value in left.items())


def nfc_keys(value: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    """The same object with its keys in Unicode NFC (the object itself where they already are)."""
    if all(map(_is_nfc, value)):
        return value
    return {normalize("NFC", key): item for key, item in value.items()}


def _is_nfc(text: str) -> bool:
    return text.isascii() or is_normalized("NFC", text)


def _recorded(data: bytes) -> JsonValue:
    """Decode bytes that were kept unread and whose depth is known to be fine; their text may still be faulty."""
    try:
        return _decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise malformed(data, error) from None


def same_json(left: bytes, right: bytes) -> bool:
    """Whether two JSON *texts* hold equal values; equal bytes need no parsing.

    Python's own comparison comes first, since it is fast and only errs in two ways: it takes `true` for 1, which
    writing both out again tells apart, and it does not know Unicode NFC, which only matters beyond ASCII.
    """
    if left == right:
        return True
    first, second = _recorded(left), _recorded(right)
    if first == second:
        return _encode(first) == _encode(second) or same(first, second)
    return _may_need_nfc(left, right) and same(first, second)


def _may_need_nfc(left: bytes, right: bytes) -> bool:
    return not (left.isascii() and right.isascii()) or b"\\u" in left or b"\\u" in right


def identity(data: bytes) -> bytes:
    """A key that two JSON texts share exactly when their values are equal (see `same`). Errors: see `decode`."""
    value = _recorded(data)
    if data.isascii() and not _FLOAT_OR_ESCAPE.search(data):
        return _encode(value)
    return _encode(_plain(value))


_FLOAT_OR_ESCAPE = re.compile(rb"[0-9][.eE]|\\u")


def _plain(value: JsonValue) -> JsonValue:
    """The value with texts in NFC and whole floats as integers."""
    if isinstance(value, str):
        return normalize("NFC", value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {normalize("NFC", key): _plain(item) for key, item in value.items()}
    return list(map(_plain, value)) if isinstance(value, list) else value

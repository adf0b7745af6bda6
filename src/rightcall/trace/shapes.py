"""What secrets look like: the shapes that `redact` looks for, and where a value ends that a key name gives away.

All searching is done by RE2 or in single passes: hostile text costs time in proportion to its length.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import re2

# RE2 ships no types. All matching is done on UTF-8 bytes, which is what RE2 counts in.
Pattern = Any
Match = Any
_Tagger = Callable[[bytes], bytes]
_Span = tuple[int, int]


def compiled(pattern: str) -> Pattern:
    """A pattern for bytes, quiet about errors."""
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)


def bytes_of(text: str) -> bytes:
    """UTF-8, which also carries lone surrogates."""
    return text.encode("utf-8", "surrogatepass")


def text_of(data: bytes) -> str:
    """The reverse of `bytes_of`."""
    return data.decode("utf-8", "surrogatepass")


# ---- shapes ----

TAG = r"⟦[\pL\pN_]{1,64}:[0-9a-f]{8}⟧"
# An escaped character in front of a secret is no part of it: `\n`, `\u0020`, `%20`.
ESCAPED = r"(?:\\(?:u[0-9A-Fa-f]{4}|[bfnrt])|%(?:0[0-9AaDd]|2[0-9A-Fa-f]|3[A-Fa-f]|[57][BbDd]))"
_EDGE = rf"(?:{ESCAPED}|\b|_)"
_JOINT = r"[ \x{A0}\x{2009}\x{202F}\x{2010}-\x{2013}\-]"
_UUID = r"\b[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}\b"
_DECIMAL = r"\b[0-9]{1,12}\.[0-9]{13,}"
_PEM = r"[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)? ?-{4,5}"

_DIGITS, _HEX = b"0123456789", b"0123456789abcdefABCDEF"
_NOT_DIGITS = bytes(set(range(256)) - set(_DIGITS))
_LUHN_DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)
ONLY_TAG = compiled(TAG)
_LINE_BREAK = compiled(r"\\+[nr]|\s+")
_CHUNK = compiled(r"[0-9A-Za-z]+")


def _as_is(secret: bytes, tag: _Tagger) -> bytes:
    return tag(secret)


def _bearer(token: bytes, tag: _Tagger) -> bytes:
    """Tag a token, unless it is rather the next word of a sentence (`the bearer certificate`)."""
    return tag(token) if len(token) >= (16 if token.isalpha() else 6) else token


def _cards(run: bytes, tag: _Tagger) -> bytes:
    """Tag the card numbers in a run of digits and joints that may have letters stuck to its ends."""
    is_phone = run.startswith(b"+") and len(run.translate(None, _NOT_DIGITS)) <= 15
    blocks = [] if is_phone else list(_blocks(run))
    parts, kept, first = [], 0, 0
    while first < len(blocks):
        last = _last_block(run, blocks, first)
        if last is not None:
            start, end = blocks[first][0], blocks[last][1]
            parts += [run[kept:start], tag(run[start:end].translate(None, _NOT_DIGITS))]
            kept, first = end, last
        first += 1
    return b"".join(parts) + run[kept:]


def _blocks(run: bytes) -> Iterator[_Span]:
    """Where the blocks of digits lie. Digits in front of letters, or behind hexadecimal ones, are none."""
    for chunk in _CHUNK.finditer(run):
        lead = chunk.group().rstrip(_DIGITS)
        start = chunk.start() + len(lead)
        is_hex = lead and not lead.translate(None, _HEX)
        if start < chunk.end() and not is_hex:
            yield start, chunk.end()


def _last_block(run: bytes, blocks: list[_Span], first: int) -> int | None:
    """The last block of the longest card number that begins with block `first`, if one does."""
    if first == 0 and _is_card(run[blocks[0][0] : blocks[-1][1]].translate(None, _NOT_DIGITS)):
        return len(blocks) - 1
    found, digits = None, b""
    for last in range(first, len(blocks)):
        start, end = blocks[last]
        digits += run[start:end]
        if _is_card(digits):
            found = last
        if end - start not in {4, 6} or len(digits) > 19:
            break
    return found


def _is_card(digits: bytes) -> bool:
    if not 13 <= len(digits) <= 19 or digits[0] not in b"3456":
        return False
    numbers = [digit - ord("0") for digit in reversed(digits)]
    return (sum(numbers[::2]) + sum(_LUHN_DOUBLED[n] for n in numbers[1::2])) % 10 == 0


@dataclass(frozen=True)
class Shape:
    """A kind of secret that is known by its look: the one group of the pattern. A match without it is no secret."""

    kind: str
    pattern: Pattern
    rewrite: Callable[[bytes, _Tagger], bytes] = _as_is

    def replace(self, text: bytes, tag: Callable[[str, bytes], bytes]) -> bytes:
        """The text with every secret of this shape tagged."""
        replaced: bytes = self.pattern.sub(partial(self._swap, partial(tag, self.kind)), text)
        return replaced

    def _swap(self, tag: _Tagger, found: Match) -> bytes:
        text: bytes = found.string
        start, end = found.span(1)
        if start < 0:
            return text[found.start() : found.end()]
        return text[found.start() : start] + self.rewrite(text[start:end], tag) + text[end : found.end()]


_API_KEYS = (
    r"sk-[A-Za-z0-9_-]{16,}",  # OpenAI, Anthropic
    r"(?:AKIA|ASIA)[A-Z0-9]{16}[A-Za-z0-9_]*",  # AWS
    r"(?:gh[opsur]|github_pat)_[A-Za-z0-9_]{16,}",  # GitHub
    r"xox[abeprs]-[A-Za-z0-9_-]{10,}",  # Slack
    r"AIza[A-Za-z0-9_-]{30,}",  # Google
    r"[rs]k_(?:live|test)_[A-Za-z0-9_-]{10,}",  # Stripe
)
# In this order, since a shape can contain a later one.
SHAPES = (
    Shape(
        "private_key",
        compiled(rf"(-{{4,5}} ?BEGIN {_PEM}(?s:.*?)(?:-{{4,5}} ?END {_PEM}|\z))"),
        lambda block, tag: tag(_LINE_BREAK.sub(b"", block)),
    ),
    Shape("api_key", compiled(rf"{_EDGE}({'|'.join(_API_KEYS)})")),
    Shape("jwt", compiled(rf"{_EDGE}(eyJ[A-Za-z0-9_-]{{8,}}\.[A-Za-z0-9_-]{{4,}}\.[A-Za-z0-9_-]*)")),
    Shape("password", compiled(r"://[^\s/:@\"'<>]*:([^\s/@\"'<>]+)@")),
    Shape(
        "email",
        compiled(rf"{ESCAPED}?([\pL\pN_][\pL\pN._%+'-]*(?:@|%40)[\pL\pN_-]+(?:\.[\pL\pN_-]+)*\.\pL[\pL\pN_-]+)"),
        lambda address, tag: tag(address.replace(b"%40", b"@").lower()),
    ),
    Shape(
        "card",
        compiled(rf"{_UUID}|{_DECIMAL}|{ESCAPED}?((?:\B\+)?[0-9A-Za-z]*[0-9](?:{_JOINT}?[0-9]){{12,}}[0-9A-Za-z]*)"),
        _cards,
    ),
    Shape("bearer", compiled(rf"(?i){_EDGE}bearer[ \t]+([a-z0-9._~+/=:⟦⟧-]*[a-z0-9_~+/=⟧-])"), _bearer),
)
# Every text that has a shape has one of these.
SHAPE_HINT = compiled(
    r"PRIVATE KEY|sk-|A[KS]IA|gh[a-z]_|github_pat_|xox[a-z]-|AIza|k_(?:live|test)_|eyJ|@|%40|(?i:bearer)[ \t]"
    rf"|[3-6](?:{_JOINT}?[0-9]){{12}}"
)


# ---- values in text ----

ASSIGN = r"(?::[ \t]*(?:str|string|bytes)[ \t]*=|=>|={1,3}|:=?|%3[AaDd])"
_OPENING = compiled(r"(?:[bBfFrRuU]{1,2})?(\\*)(\"\"\"|'''|[\"'`])")
_REST_OF_LINE = compiled(r"(?:=\\*\"[^\"\r\n]*\"|[^\"'\r\n\\])+")
_WORD = compiled(r"(?:(?i:basic|bearer|digest|token)[ \t]+)?[^\s:&;,\"'`<>][^\s&;,\"'`<>]*")
_LITERALS = (b"null", b"none", b"nil", b"true", b"false", b"undefined")
_PUNCTUATION = b" \t\r\n,:;()[]{}\\"
_AFTER_WORD = b")]}.\\ \t"


def value_at(text: bytes, at: int, *, to_line_end: bool) -> tuple[int, int, int | None]:
    """Start and end of a value, and the number of backslashes before its quotes; `None`: it has no quotes."""
    if opening := _OPENING.match(text, at):
        depth, start = len(opening.group(1)), opening.end()
        return start, _closing_quote(text, start, opening.group(2), depth), depth
    if text[at : at + 1] in {b"{", b"["}:
        return at, _closing_bracket(text, at), None
    found = (_REST_OF_LINE if to_line_end else _WORD).match(text, at)
    return at, at + len(found.group().rstrip(_AFTER_WORD)) if found else at, None


def _closing_quote(text: bytes, start: int, quote: bytes, depth: int) -> int:
    """Where the quoted value ends; without a closing quote, where its line does.

    A quote at one depth of JSON escaping is written with `depth` = 0, 1, 3, 7 ... backslashes; a quote *inside* the
    value has more of them, in a count that leaves another remainder.
    """
    at = start
    while (found := text.find(quote, at)) >= 0 and text.find(b"\n", at, found) < 0:
        run = _backslashes_before(text, found, start)
        if run < depth or run % (2 * depth + 2) == depth:
            return found - min(run, depth)
        at = found + 1
    line_end = text.find(b"\n", at)
    return len(text) if line_end < 0 else line_end


def _backslashes_before(text: bytes, at: int, start: int) -> int:
    first = at
    while first > start and text[first - 1] == ord("\\"):
        first -= 1
    return at - first


def _closing_bracket(text: bytes, start: int) -> int:
    """Where the container that opens at `start` is over; if it never closes, where the text is."""
    at, level = start, 0
    while at < len(text):
        byte = text[at]
        if byte in b"\"'":
            depth = _backslashes_before(text, at, start)
            at = _closing_quote(text, at + 1, text[at : at + 1], depth) + depth
        level += (byte in b"[{") - (byte in b"]}")
        at += 1
        if level == 0:
            return at
    return len(text)


def unescaped(value: bytes, depth: int) -> bytes:
    """A quoted value as a JSON reader would see it, so that it has the tag of the value that was read."""
    for _ in range((depth + 1).bit_length()):
        if b"\\" not in value:
            break
        try:
            value = bytes_of(json.loads(f'"{text_of(value)}"', strict=False))
        except ValueError:
            break
    return value


def hides_something(value: bytes, depth: int | None) -> bool:
    """Whether a value under a key name is more than punctuation or a bare literal."""
    is_literal = depth is None and value.lower() in _LITERALS
    return not is_literal and bool(value.strip(_PUNCTUATION))

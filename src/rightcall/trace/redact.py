"""Secrets out, before anything is stored, shown, exported or sent to a judge.

A secret is replaced by a *tag* such as `⟦card:9f3a41c2⟧`: what it was, and the first 8 hex digits of HMAC-SHA256 over
that kind and the secret in its normal form, keyed per store. Equal secrets of a kind have equal tags and different
ones differ, so that a reader still sees whether the agent passed on what it was given. A tag is left as it is.

What counts as a secret:

* What stands under a **key name** (`password`, `token`, ...), as a JSON key or in text as `key=value`, `key: value` and
  `"key": "value"` at any depth of escaping. A key counts if, in snake case, it is a name or ends with `_name`
  (`access_token`, `x-api-key`, `clientSecret`; not `max_tokens`, not `token_count`). Text, numbers and every leaf of a
  container go; `null`, booleans and empty text stay. In a JSON value, the words of a JSON Schema for such a
  parameter stay, its defaults and examples go. `{"name": "Cookie", "value": ...}` is a key and its value.
* **Shapes**, wherever they stand: private keys, API keys, JWTs, passwords in URLs, e-mail addresses, card numbers and
  bearer tokens. A secret under a key name that has a shape as a whole takes the tag of the shape.
* The user's own **patterns**, in RE2 syntax.

A card number has 13 to 19 digits, begins with 3 to 6, passes the Luhn check and may have single blanks or dashes
inside. Beside other numbers it is found only in blocks of four (or 4-6-5), since any list of small numbers would hide
one otherwise. Digits of a UUID or a hexadecimal run, decimals, and up to 15 digits after a plus (a phone number) are no
card. Timestamps begin with 1 or 2 and most order ids are short; of the longer ids that begin with 3 to 6, one in ten
looks like a card. That is accepted: grading reads what was recorded and tags keep equality, so a false alarm costs a
reader some digits, while a miss costs a card number.

All searching is done by RE2 or in single passes: hostile text costs time in proportion to its length.
"""

from __future__ import annotations

import hmac
import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import re2

from rightcall.errors import ConfigError
from rightcall.trace.jsontext import JsonValue

KEY_NAMES = ("password", "token", "secret", "authorization", "api_key", "cookie")
"""What `key_names` is by default."""

KEY_VARIABLE = "RIGHTCALL_REDACTION_KEY"
KEY_FILE = "redaction.key"

# RE2 ships no types. All matching is done on UTF-8 bytes, which is what RE2 counts in.
_Pattern = Any
_Match = Any
_Tagger = Callable[[bytes], bytes]
_Span = tuple[int, int]


def _compile(pattern: str) -> _Pattern:
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _decode(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


# ---- shapes ----

_TAG = r"⟦[\pL\pN_]{1,64}:[0-9a-f]{8}⟧"
# An escaped character in front of a secret is no part of it: `\n`, `\u0020`, `%20`.
_ESCAPED = r"(?:\\(?:u[0-9A-Fa-f]{4}|[bfnrt])|%(?:0[0-9AaDd]|2[0-9A-Fa-f]|3[A-Fa-f]|[57][BbDd]))"
_EDGE = rf"(?:{_ESCAPED}|\b|_)"
_JOINT = r"[ \x{A0}\x{2009}\x{202F}\x{2010}-\x{2013}\-]"
_UUID = r"\b[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}\b"
_DECIMAL = r"\b[0-9]{1,12}\.[0-9]{13,}"
_PEM = r"[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)? ?-{4,5}"

_DIGITS, _HEX = b"0123456789", b"0123456789abcdefABCDEF"
_NOT_DIGITS = bytes(set(range(256)) - set(_DIGITS))
_LUHN_DOUBLED = (0, 2, 4, 6, 8, 1, 3, 5, 7, 9)
_ONLY_TAG = _compile(_TAG)
_LINE_BREAK = _compile(r"\\+[nr]|\s+")
_CHUNK = _compile(r"[0-9A-Za-z]+")


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
class _Shape:
    """A kind of secret that is known by its look: the one group of the pattern. A match without it is no secret."""

    kind: str
    pattern: _Pattern
    rewrite: Callable[[bytes, _Tagger], bytes] = _as_is

    def replace(self, text: bytes, tag: Callable[[str, bytes], bytes]) -> bytes:
        """The text with every secret of this shape tagged."""
        replaced: bytes = self.pattern.sub(partial(self._swap, partial(tag, self.kind)), text)
        return replaced

    def _swap(self, tag: _Tagger, found: _Match) -> bytes:
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
_SHAPES = (
    _Shape(
        "private_key",
        _compile(rf"(-{{4,5}} ?BEGIN {_PEM}(?s:.*?)(?:-{{4,5}} ?END {_PEM}|\z))"),
        lambda block, tag: tag(_LINE_BREAK.sub(b"", block)),
    ),
    _Shape("api_key", _compile(rf"{_EDGE}({'|'.join(_API_KEYS)})")),
    _Shape("jwt", _compile(rf"{_EDGE}(eyJ[A-Za-z0-9_-]{{8,}}\.[A-Za-z0-9_-]{{4,}}\.[A-Za-z0-9_-]*)")),
    _Shape("password", _compile(r"://[^\s/:@\"'<>]*:([^\s/@\"'<>]+)@")),
    _Shape(
        "email",
        _compile(rf"{_ESCAPED}?([\pL\pN_][\pL\pN._%+'-]*(?:@|%40)[\pL\pN_-]+(?:\.[\pL\pN_-]+)*\.\pL[\pL\pN_-]+)"),
        lambda address, tag: tag(address.replace(b"%40", b"@").lower()),
    ),
    _Shape(
        "card",
        _compile(rf"{_UUID}|{_DECIMAL}|{_ESCAPED}?((?:\B\+)?[0-9A-Za-z]*[0-9](?:{_JOINT}?[0-9]){{12,}}[0-9A-Za-z]*)"),
        _cards,
    ),
    _Shape("bearer", _compile(rf"(?i){_EDGE}bearer[ \t]+([a-z0-9._~+/=:⟦⟧-]*[a-z0-9_~+/=⟧-])"), _bearer),
)
# Every text that has a shape has one of these.
_SHAPE_HINT = _compile(
    r"PRIVATE KEY|sk-|A[KS]IA|gh[a-z]_|github_pat_|xox[a-z]-|AIza|k_(?:live|test)_|eyJ|@|%40|(?i:bearer)[ \t]"
    rf"|[3-6](?:{_JOINT}?[0-9]){{12}}"
)


# ---- values in text ----

_ASSIGN = r"(?::[ \t]*(?:str|string|bytes)[ \t]*=|=>|={1,3}|:=?|%3[AaDd])"
_OPENING = _compile(r"(?:[bBfFrRuU]{1,2})?(\\*)(\"\"\"|'''|[\"'`])")
_REST_OF_LINE = _compile(r"(?:=\\*\"[^\"\r\n]*\"|[^\"'\r\n\\])+")
_WORD = _compile(r"(?:(?i:basic|bearer|digest|token)[ \t]+)?[^\s:&;,\"'`<>][^\s&;,\"'`<>]*")
_LITERALS = (b"null", b"none", b"nil", b"true", b"false", b"undefined")
_PUNCTUATION = b" \t\r\n,:;()[]{}\\"
_AFTER_WORD = b")]}.\\ \t"


def _value_at(text: bytes, at: int, *, to_line_end: bool) -> tuple[int, int, int | None]:
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


def _unescaped(value: bytes, depth: int) -> bytes:
    """A quoted value as a JSON reader would see it, so that it has the tag of the value that was read."""
    for _ in range((depth + 1).bit_length()):
        if b"\\" not in value:
            break
        try:
            value = _encode(json.loads(f'"{_decode(value)}"', strict=False))
        except ValueError:
            break
    return value


def _hides_something(value: bytes, depth: int | None) -> bool:
    """Whether a value under a key name is more than punctuation or a bare literal."""
    is_literal = depth is None and value.lower() in _LITERALS
    return not is_literal and bool(value.strip(_PUNCTUATION))


# ---- key names and the redactor ----

_CAMEL = (_compile(r"([a-z0-9])([A-Z])"), _compile(r"([A-Z])([A-Z][a-z])"))
_SCHEMA_TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")
_SCHEMA_WORDS = {
    *("additionalProperties", "allOf", "anyOf", "deprecated", "description", "format", "items", "maxLength", "maximum"),
    *("minLength", "minimum", "oneOf", "pattern", "properties", "required", "title", "type", "writeOnly"),
}
_SHORT, _SMALL = 12, 10**12
_ROUNDS = 4

_Todo = list[tuple[JsonValue, JsonValue, str | None]]


def _snake(key: str) -> str:
    words = _encode(key.strip())
    for break_ in _CAMEL:
        words = break_.sub(lambda found: found.group(1) + b"_" + found.group(2), words)
    return _decode(words).lower().replace("-", "_").replace(" ", "_").replace(".", "_")


def _is_schema(container: dict[str, JsonValue]) -> bool:
    kind = container.get("type")
    kinds = kind if isinstance(kind, list) else [kind]
    return "anyOf" in container or all(one in _SCHEMA_TYPES for one in kinds)


def _unused(key: str, taken: Mapping[str, JsonValue]) -> str:
    """A key that is not taken yet: two spellings of one card number are still two keys."""
    numbered = (f"{key} ({n})" for n in count(len(taken) + 1))
    return key if key not in taken else next(name for name in numbered if name not in taken)


def _number_text(number: float) -> str:
    """The digits of a number, the same for `4` and `4.0`. Python refuses to write out huge integers in decimal."""
    if number % 1 != 0:
        return repr(number)
    return str(int(number)) if int(number).bit_length() < 2_000 else hex(int(number))


def _own_shape(pattern: str) -> _Shape:
    try:
        if r"\C" in pattern:
            raise re2.error(r"\C matches bytes, a text has characters")  # noqa: TRY301
        _compile(pattern)
        return _Shape("pattern", _compile(rf"{_TAG}|({pattern})"))
    except re2.error as error:
        raise ConfigError(f"The redaction pattern {pattern!r} is not valid RE2: {error}") from error


@dataclass(frozen=True)
class Redactor:
    """Replaces the secrets of texts and JSON values by keyed tags.

    Args:
        key: the secret key of the tags; see `load_key`.
        patterns: further secrets, as RE2 patterns (tagged `pattern`). The name of a built-in shape is allowed and
            changes nothing, since all of them always apply.
        key_names: the names under which everything is a secret.

    Raises:
        ConfigError: the key is empty, a pattern is not valid RE2, or a key name is not a word.
    """

    key: bytes = field(repr=False)
    patterns: tuple[str, ...] = ()
    key_names: tuple[str, ...] = KEY_NAMES
    _own: tuple[_Shape, ...] = field(init=False, repr=False, compare=False)
    _names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _last_words: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _assignment: _Pattern = field(init=False, repr=False, compare=False)
    _hint: _Pattern = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = sorted(map(_snake, self.key_names), key=len, reverse=True)
        if not self.key or not all(name.replace("_", "").isalnum() for name in names):
            raise ConfigError("Redaction needs a key, and key names that are made of letters, digits and underscores")
        spellings = "|".join(name.replace("_", r"[ _.\-]?") for name in names) or r"[^\x00-\x{10FFFF}]"
        pair = rf"([\pL\pN_.\-]*(?i:{spellings}))(?:(\\*[\"'`])\]?\s*{_ASSIGN}\s*|\]?[ \t]*({_ASSIGN})[ \t]*)"
        own = tuple(_own_shape(pattern) for pattern in self.patterns if pattern not in {s.kind for s in _SHAPES})
        object.__setattr__(self, "_own", own)
        object.__setattr__(self, "_names", tuple(names))
        object.__setattr__(self, "_last_words", tuple(name.rpartition("_")[2] for name in names))
        object.__setattr__(self, "_assignment", _compile(rf"{_TAG}|{_ESCAPED}?{pair}"))
        object.__setattr__(self, "_hint", _compile(f"{_SHAPE_HINT.pattern}|{pair}"))

    def text(self, text: str) -> str:
        """The text with its secrets replaced. Text without secrets comes back as it is."""
        if len(text) <= _SHORT and text.isalnum() and not self._own:
            return text
        before, after = b"", _encode(text)
        if self._is_harmless(after):
            return text
        # A replacement can uncover what stood too close to it. The limit keeps odd patterns in linear time.
        for _ in range(_ROUNDS):
            if before == after:
                break
            before, after = after, self._assigned(self._shaped(after))
        return _decode(after)

    def value(self, value: JsonValue) -> JsonValue:
        """A copy of a JSON value of any depth with its secrets replaced, those in keys too.

        A number that is a secret becomes the text of its tag. Keys that become equal are told apart by a number.
        """
        todo: _Todo = []
        copy = self._copy(value, None, todo)
        while todo:
            source, target, name = todo.pop()
            if isinstance(source, dict):
                self._fill(source, target, name, todo)
            else:
                target.extend(self._copy(item, name, todo) for item in source)
        return copy

    def _copy(self, item: JsonValue, name: str | None, todo: _Todo) -> JsonValue:
        """A redacted leaf, or an empty container that is filled later."""
        if item is None or isinstance(item, bool):
            return item
        if isinstance(item, str):
            return self.text(item) if name is None else _decode(self._named(name, _encode(item)))
        if isinstance(item, (dict, list, tuple)):
            target: JsonValue = {} if isinstance(item, dict) else []
            todo.append((item, target, name))
            return target
        return self._number(item, name)

    def _fill(self, source: dict[str, JsonValue], target: dict[str, JsonValue], name: str | None, todo: _Todo) -> None:
        harmless = _SCHEMA_WORDS if name and _is_schema(source) else ()
        label = source.get("name", source.get("key"))
        labelled = self._name_of(label) if isinstance(label, str) else None
        for key, item in source.items():
            inherited = labelled or name if key == "value" else name
            below = None if key in harmless else self._name_of(key) or inherited
            target[_unused(self.text(key), target)] = self._copy(item, below, todo)

    def _number(self, number: float, name: str | None) -> JsonValue:
        if name is None and abs(number) < _SMALL and not self._own:
            return number
        digits = _number_text(number)
        redacted = self.text(digits) if name is None else _decode(self._named(name, _encode(digits)))
        return number if redacted == digits else redacted

    def _is_harmless(self, text: bytes) -> bool:
        return self._hint.search(text) is None and not any(shape.pattern.search(text) for shape in self._own)

    def _tag(self, kind: str, secret: bytes) -> bytes:
        if not secret or _ONLY_TAG.fullmatch(secret):
            return secret
        code = hmac.digest(self.key, kind.encode() + secret, "sha256").hex()[:8]
        return f"⟦{kind}:{code}⟧".encode()

    def _name_of(self, key: str) -> str | None:
        if key in self._names or not key.lower().rstrip().endswith(self._last_words):
            return key if key in self._names else None
        snake = f"_{_snake(key)}"
        return next((name for name in self._names if snake.endswith((f"_{name}", "_" + name.replace("_", "")))), None)

    def _shaped(self, text: bytes) -> bytes:
        has_shape = _SHAPE_HINT.search(text) is not None
        for shape in (*self._own, *(_SHAPES if has_shape else ())):
            text = shape.replace(text, self._tag)
        return text

    def _named(self, name: str, secret: bytes) -> bytes:
        """The replacement of what stands under a key name. A shape's own tag wins, so that equality survives."""
        word, blank, token = secret.partition(b" ")
        if word.lower() == b"bearer" and token and b" " not in token:
            return word + blank + self._tag("bearer", self._shaped(token))
        return self._tag(name, self._shaped(secret))

    def _assigned(self, text: bytes) -> bytes:
        """The text with the values of its `key=value` and `"key": "value"` pairs replaced."""
        if self._is_harmless(text):
            return text
        parts, kept, at = [], 0, 0
        while found := self._assignment.search(text, at):
            at, name = found.end(), self._assigned_name(found)
            if name is None:
                continue
            to_line_end = name in {"authorization", "cookie"} and found.group(3) == b":"
            start, end, depth = _value_at(text, at, to_line_end=to_line_end)
            if _hides_something(text[start:end], depth):
                quote = found.group(2) if depth is None and found.group(2) else b""
                secret = text[start:end] if depth is None else _unescaped(text[start:end], depth)
                parts += [text[kept:start], quote, self._named(name, secret), quote]
                kept = at = end
        return b"".join(parts) + text[kept:]

    def _assigned_name(self, found: _Match) -> str | None:
        start = found.start(1)
        is_user_of_url = found.string.endswith(b"://", 0, max(start, 0))
        return None if start < 0 or is_user_of_url else self._name_of(_decode(found.group(1)))


def load_key(environ: Mapping[str, str], folder: Path | None) -> bytes:
    """The key of the tags: from the environment, else from the store's folder, else a fresh random one.

    The key has to be secret: whoever has it can hash all card numbers and look a tag up. It belongs to the store,
    since tags are equal only under one key: in the environment where machines share a store, in `redaction.key`
    beside a local one. Where neither is there a random key is safe: its tags mean nothing to any other process.

    Raises:
        ConfigError: the key file cannot be read or is empty.
    """
    from_environment = environ.get(KEY_VARIABLE, "").strip()
    if from_environment or folder is None:
        return from_environment.encode() or os.urandom(32)
    path = folder / KEY_FILE
    try:
        key = path.read_bytes().strip()
    except FileNotFoundError:
        return os.urandom(32)
    except OSError as error:
        raise ConfigError(f"The redaction key {path} cannot be read: {error.strerror}") from error
    if not key:
        raise ConfigError(f"The redaction key {path} is empty")
    return key

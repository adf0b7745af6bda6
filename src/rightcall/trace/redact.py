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
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import re2

from rightcall.errors import ConfigError
from rightcall.trace.jsontext import JsonValue
from rightcall.trace.shapes import (
    ASSIGN,
    ESCAPED,
    ONLY_TAG,
    SHAPE_HINT,
    SHAPES,
    TAG,
    Match,
    Pattern,
    Shape,
    bytes_of,
    compiled,
    hides_something,
    text_of,
    unescaped,
    value_at,
)

KEY_NAMES = ("password", "token", "secret", "authorization", "api_key", "cookie")
"""What `key_names` is by default."""

KEY_VARIABLE = "RIGHTCALL_REDACTION_KEY"
KEY_FILE = "redaction.key"

# ---- key names and the redactor ----

_CAMEL = (compiled(r"([a-z0-9])([A-Z])"), compiled(r"([A-Z])([A-Z][a-z])"))
_SCHEMA_TYPES = ("string", "number", "integer", "boolean", "array", "object", "null")
_SCHEMA_WORDS = {
    *("additionalProperties", "allOf", "anyOf", "deprecated", "description", "format", "items", "maxLength", "maximum"),
    *("minLength", "minimum", "oneOf", "pattern", "properties", "required", "title", "type", "writeOnly"),
}
_SHORT, _SMALL = 12, 10**12
_ROUNDS = 4
_REMEMBERED, _MOST_REMEMBERED = 1_000, 4_096
"""How long texts are of which it is remembered that they hold no secret, and how many: most come several times."""

_Todo = list[tuple[JsonValue, JsonValue, str | None]]


def _snake(key: str) -> str:
    words = bytes_of(key.strip())
    for break_ in _CAMEL:
        words = break_.sub(lambda found: found.group(1) + b"_" + found.group(2), words)
    return text_of(words).lower().replace("-", "_").replace(" ", "_").replace(".", "_")


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


def _own_shape(pattern: str) -> Shape:
    try:
        if r"\C" in pattern:
            raise re2.error(r"\C matches bytes, a text has characters")  # noqa: TRY301
        compiled(pattern)
        return Shape("pattern", compiled(rf"{TAG}|({pattern})"))
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
    _own: tuple[Shape, ...] = field(init=False, repr=False, compare=False)
    _names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _last_words: tuple[str, ...] = field(init=False, repr=False, compare=False)
    _assignment: Pattern = field(init=False, repr=False, compare=False)
    _hint: Pattern = field(init=False, repr=False, compare=False)
    _harmless: set[str] = field(init=False, repr=False, compare=False)
    _keys: dict[str, tuple[str, str | None]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = sorted(map(_snake, self.key_names), key=len, reverse=True)
        if not self.key or not all(name.replace("_", "").isalnum() for name in names):
            raise ConfigError("Redaction needs a key, and key names that are made of letters, digits and underscores")
        spellings = "|".join(name.replace("_", r"[ _.\-]?") for name in names) or r"[^\x00-\x{10FFFF}]"
        pair = rf"([\pL\pN_.\-]*(?i:{spellings}))(?:(\\*[\"'`])\]?\s*{ASSIGN}\s*|\]?[ \t]*({ASSIGN})[ \t]*)"
        own = tuple(_own_shape(pattern) for pattern in self.patterns if pattern not in {s.kind for s in SHAPES})
        object.__setattr__(self, "_own", own)
        object.__setattr__(self, "_harmless", set())
        object.__setattr__(self, "_keys", {})
        object.__setattr__(self, "_names", tuple(names))
        object.__setattr__(self, "_last_words", tuple(name.rpartition("_")[2] for name in names))
        object.__setattr__(self, "_assignment", compiled(rf"{TAG}|{ESCAPED}?{pair}"))
        object.__setattr__(self, "_hint", compiled(f"{SHAPE_HINT.pattern}|{pair}"))

    def text(self, text: str) -> str:
        """The text with its secrets replaced. Text without secrets comes back as it is."""
        if len(text) <= _SHORT and text.isalnum() and not self._own:
            return text
        if text in self._harmless:
            return text
        before, after = b"", bytes_of(text)
        if self._is_harmless(after):
            if len(text) <= _REMEMBERED:
                if len(self._harmless) >= _MOST_REMEMBERED:
                    self._harmless.clear()
                self._harmless.add(text)
            return text
        # A replacement can uncover what stood too close to it. The limit keeps odd patterns in linear time.
        for _ in range(_ROUNDS):
            if before == after:
                break
            before, after = after, self._assigned(self._shaped(after))
        return text_of(after)

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

    def hides_all_under(self, key: str) -> bool:
        """Whether whatever stands under this key is a secret."""
        return self._name_of(key) is not None

    def _copy(self, item: JsonValue, name: str | None, todo: _Todo) -> JsonValue:
        """A redacted leaf, or an empty container that is filled later."""
        if item is None or isinstance(item, bool):
            return item
        if isinstance(item, str):
            return self.text(item) if name is None else text_of(self._named(name, bytes_of(item)))
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
            shown, own = self._keys.get(key) or self._key(key)
            inherited = labelled or name if key == "value" else name
            below = None if key in harmless else own or inherited
            target[shown if shown not in target else _unused(shown, target)] = self._copy(item, below, todo)

    def _key(self, key: str) -> tuple[str, str | None]:
        """A key as it is shown, and the name of what stands under it if that is secret; the same keys come again."""
        found = self.text(key), self._name_of(key)
        if len(key) <= _REMEMBERED:
            if len(self._keys) >= _MOST_REMEMBERED:
                self._keys.clear()
            self._keys[key] = found
        return found

    def _number(self, number: float, name: str | None) -> JsonValue:
        if name is None and abs(number) < _SMALL and not self._own:
            return number
        digits = _number_text(number)
        redacted = self.text(digits) if name is None else text_of(self._named(name, bytes_of(digits)))
        return number if redacted == digits else redacted

    def _is_harmless(self, text: bytes) -> bool:
        return self._hint.search(text) is None and not any(shape.pattern.search(text) for shape in self._own)

    def _tag(self, kind: str, secret: bytes) -> bytes:
        if not secret or ONLY_TAG.fullmatch(secret):
            return secret
        code = hmac.digest(self.key, kind.encode() + secret, "sha256").hex()[:8]
        return f"⟦{kind}:{code}⟧".encode()

    def _name_of(self, key: str) -> str | None:
        if key in self._names or not key.lower().rstrip().endswith(self._last_words):
            return key if key in self._names else None
        snake = f"_{_snake(key)}"
        return next((name for name in self._names if snake.endswith((f"_{name}", "_" + name.replace("_", "")))), None)

    def _shaped(self, text: bytes) -> bytes:
        has_shape = SHAPE_HINT.search(text) is not None
        for shape in (*self._own, *(SHAPES if has_shape else ())):
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
            start, end, depth = value_at(text, at, to_line_end=to_line_end)
            if hides_something(text[start:end], depth):
                quote = found.group(2) if depth is None and found.group(2) else b""
                secret = text[start:end] if depth is None else unescaped(text[start:end], depth)
                parts += [text[kept:start], quote, self._named(name, secret), quote]
                kept = at = end
        return b"".join(parts) + text[kept:]

    def _assigned_name(self, found: Match) -> str | None:
        start = found.start(1)
        is_user_of_url = found.string.endswith(b"://", 0, max(start, 0))
        return None if start < 0 or is_user_of_url else self._name_of(text_of(found.group(1)))


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
        raise ConfigError(
            f"The redaction key {path} cannot be read: {error.strerror}",
            hint=f"ask for it and set {KEY_VARIABLE}; to look at a record without writing, any text there will do",
        ) from error
    if not key:
        raise ConfigError(f"The redaction key {path} is empty")
    return key

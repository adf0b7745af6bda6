"""Where in a TOML text each key and each value stands.

`tomllib` gives values without their places. This scanner gives places without values: it reads a text that `tomllib`
has accepted, so it need not judge anything, only follow tables, arrays of tables, dotted and quoted keys, inline tables
and strings that span lines. That it names the very paths and spans that `tomllib` reads is proved by property tests.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from dataclasses import dataclass

Path = tuple[str | int, ...]
"""Keys and indices from the top of the file."""

_BLANK = re.compile(r"[ \t]*")
_BETWEEN = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_KEY = re.compile(r"""[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'""")
_STRING = re.compile(r'"""(?:[^\\]|\\[\s\S])*?"{3,5}|' + r"'''[\s\S]*?'{3,5}|" + r""""(?:[^"\\\n]|\\.)*"|'[^'\n]*'""")
_PLAIN = re.compile(r"[^,\]}#\n]*")


@dataclass(frozen=True, slots=True)
class Span:
    """A part of the text: offsets of its first character and of the one behind its last."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Spot:
    """A key and its value. An item of an array has no key; the value of a table with a header is its header."""

    key: Span
    value: Span


class Positions:
    """The spots of a text by path.

    Args:
        text: TOML that `tomllib` accepts. Of any other text, or of one that is nested too deep, what was understood.
    """

    def __init__(self, text: str) -> None:
        """Scan the text."""
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]
        self.spots: dict[Path, Spot] = {}
        try:
            _Scanner(text, self.spots).scan()
        except (_NotUnderstood, RecursionError):
            return

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1; columns count characters."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def of_key(self, path: Path) -> tuple[int, int] | None:
        """Line and column of a key, or of the nearest thing above it that is there."""
        spot = self._nearest(path)
        return None if spot is None else self.place(spot.key.start)

    def of_value(self, path: Path) -> tuple[int, int] | None:
        """Line and column of a value, or of the nearest thing above it that is there."""
        spot = self._nearest(path)
        return None if spot is None else self.place(spot.value.start)

    def _nearest(self, path: Path) -> Spot | None:
        while path and path not in self.spots:
            path = path[:-1]
        return self.spots.get(path)


class _NotUnderstood(Exception):
    """The text is no TOML."""


class _Scanner:
    """Goes through a text once."""

    def __init__(self, text: str, spots: dict[Path, Spot]) -> None:
        self._text, self._spots = text, spots
        self._at = 0
        self._sizes: dict[Path, int] = {}
        """Arrays of tables, with how many of their tables were met."""

    def scan(self) -> None:
        table: Path = ()
        while self._skip(_BETWEEN) < len(self._text):
            table = self._header() if self._text[self._at] == "[" else self._pair(table)

    def _skip(self, pattern: re.Pattern[str]) -> int:
        found = pattern.match(self._text, self._at)
        self._at = found.end() if found else self._at
        return self._at

    def _expect(self, token: str) -> None:
        if not self._text.startswith(token, self._at):
            raise _NotUnderstood
        self._at += len(token)

    # ---- tables and pairs ----

    def _header(self) -> Path:
        """`[a.b]` or `[[a.b]]`; the path of the table that begins."""
        is_array = self._text.startswith("[[", self._at)
        self._expect("[[" if is_array else "[")
        path: Path = ()
        keys = self._keys()
        for number, (name, span) in enumerate(keys):
            path = (*path, name)
            is_last = number == len(keys) - 1
            if is_last and not is_array:
                self._spots[path] = Spot(span, span)
            else:
                self._spots.setdefault(path, Spot(span, span))
            if is_last and is_array:
                self._sizes[path] = self._sizes.get(path, 0) + 1
            if path in self._sizes:
                path = (*path, self._sizes[path] - 1)
                self._spots.setdefault(path, Spot(span, span))
        self._expect("]]" if is_array else "]")
        return path

    def _pair(self, table: Path) -> Path:
        """`a.b = value` in a table; the path of that table, which goes on."""
        keys = self._keys()
        path = table
        for name, span in keys:
            path = (*path, name)
            self._spots.setdefault(path, Spot(span, span))
        self._expect("=")
        self._skip(_BLANK)
        self._spots[path] = Spot(keys[-1][1], self._value(path))
        return table

    def _keys(self) -> list[tuple[str, Span]]:
        """The parts of a dotted key."""
        keys = []
        while True:
            self._skip(_BLANK)
            found = _KEY.match(self._text, self._at)
            if found is None:
                raise _NotUnderstood
            self._at = found.end()
            keys.append((_name(found[0]), Span(*found.span())))
            self._skip(_BLANK)
            if not self._text.startswith(".", self._at):
                return keys
            self._at += 1

    # ---- values ----

    def _value(self, path: Path) -> Span:
        start = self._at
        first = self._text[start : start + 1]
        if first == "[":
            self._array(path)
        elif first == "{":
            self._inline(path)
        elif first in ('"', "'"):
            if self._skip(_STRING) == start:
                raise _NotUnderstood
        else:
            end = self._skip(_PLAIN)
            return Span(start, start + len(self._text[start:end].rstrip()))
        return Span(start, self._at)

    def _array(self, path: Path) -> None:
        self._expect("[")
        index = 0
        while self._skip(_BETWEEN) < len(self._text) and self._text[self._at] != "]":
            item = (*path, index)
            span = self._value(item)
            self._spots[item] = Spot(span, span)
            index += 1
            self._skip(_BETWEEN)
            if not self._text.startswith(",", self._at):
                break
            self._at += 1
        self._expect("]")

    def _inline(self, path: Path) -> None:
        self._expect("{")
        # TOML 1.1 lets inline tables span lines and end with a comma, so that much is skipped here too.
        while self._skip(_BETWEEN) < len(self._text) and self._text[self._at] != "}":
            self._pair(path)
            self._skip(_BETWEEN)
            if not self._text.startswith(",", self._at):
                break
            self._at += 1
        self._expect("}")


def _name(written: str) -> str:
    """A key as it is meant."""
    if written[0] not in "\"'":
        return written
    try:
        return next(iter(tomllib.loads(f"{written} = 0")))
    except tomllib.TOMLDecodeError:
        raise _NotUnderstood from None

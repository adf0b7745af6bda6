"""What the JSON loader of `datasets` will change in rows that are correct JSON. Pure.

The loader makes columns of one type each. Objects with different keys it keeps as JSON; where all objects in a place
have the same keys it makes a structure of them, and guesses types: a text that is a date in every row becomes a
timestamp. A place with texts and numbers becomes JSON, in which the text `"4"` is the number 4. Numbers that are kept
as JSON have ten decimals, and whole numbers beyond 64 bits are not exact. The notes say where that would happen. Rows
with values that are nested too deeply it may not load at all.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rightcall.errors import TraceError
from rightcall.trace import jsontext

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rightcall.trace.jsontext import JsonValue

_DATE = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d(:?\d\d(:?\d\d(\.\d+)?)?)?(Z|[+-]\d\d(:?\d\d)?)?)?")
_DECIMALS = 10
_NAMED = 3
DEEPEST = 62
"""How many objects and lists within each other, from the column on, are loaded: measured with `datasets` 4.8."""
_WORDS = {
    "date": "texts that are dates become timestamps",
    "number": "texts that are numbers become numbers",
    "rounded": f"decimal fractions are cut to {_DECIMALS} places",
    "big": "whole numbers beyond 64 bits are no longer exact",
}


class _Spot:
    """What stands in one place of all rows: objects, lists, texts, other values."""

    def __init__(self) -> None:
        self.keys: frozenset[str] | None = None
        self.is_mixed = False
        self.objects = self.lists = self.texts = self.others = 0
        self.all_dates = True
        self.has_number = self.has_rounded = self.has_big = False
        self.inner: dict[str, _Spot] = {}

    def see(self, value: JsonValue) -> None:
        if isinstance(value, dict):
            self._see_object(value)
        elif isinstance(value, list):
            self.lists += 1
            for item in value:
                self.inner.setdefault("[]", _Spot()).see(item)
        elif isinstance(value, str):
            self.texts += 1
            self.all_dates = self.all_dates and _DATE.fullmatch(value) is not None
            self.has_number = self.has_number or _is_other_json(value)
        elif value is not None:
            self.others += 1
            self.has_big = self.has_big or (isinstance(value, int) and not -(2**63) <= value < 2**63)
            self.has_rounded = self.has_rounded or (isinstance(value, float) and _is_rounded(value))

    def _see_object(self, value: Mapping[str, JsonValue]) -> None:
        self.objects += 1
        keys = frozenset(value)
        self.is_mixed = self.is_mixed or not keys or (self.keys is not None and keys != self.keys)
        self.keys = keys
        for key, item in value.items():
            self.inner.setdefault(key, _Spot()).see(item)

    def changes(self, path: str, *, is_json: bool) -> Iterator[tuple[str, str]]:
        """Kind of change and place. `is_json`: the loader keeps everything here as JSON."""
        kinds = sum(bool(n) for n in (self.objects, self.lists, self.texts, self.others))
        whole = is_json or self.is_mixed or kinds > 1
        if self.has_big:
            yield "big", path
        if whole and self.has_rounded:
            yield "rounded", path
        if not is_json and self.texts:
            if kinds == 1 and self.all_dates:
                yield "date", path
            if kinds > 1 and self.has_number:
                yield "number", path
        for key, spot in self.inner.items():
            yield from spot.changes(f"{path}[]" if key == "[]" else f"{path}.{key}", is_json=whole)


def _is_other_json(text: str) -> bool:
    """Whether a text is JSON that is no text."""
    try:
        return not isinstance(jsontext.decode(text), str)
    except TraceError:
        return False


def _is_rounded(value: float) -> bool:
    return float(f"{value:.{_DECIMALS}f}") != value and abs(value) < 1e15


class LoadingNotes:
    """Looks at every row as it is written, and says in the end what loading will change."""

    def __init__(self) -> None:
        self._columns: dict[str, _Spot] = {}
        self._depth = 0

    def see(self, row: Mapping[str, JsonValue]) -> None:
        """One more row."""
        for name, value in row.items():
            self._columns.setdefault(name, _Spot()).see(value)
            self._depth = max(self._depth, _depth(value))

    def lines(self) -> list[str]:
        """One sentence for each kind of change, with the places."""
        found: dict[str, list[str]] = {}
        for name, spot in self._columns.items():
            for kind, path in spot.changes(name, is_json=False):
                found.setdefault(kind, []).append(path)
        lines = [
            f"the JSON loader of `datasets` changes values: {words}: {_listed(found[kind])}; see docs/exports.md"
            for kind, words in _WORDS.items()
            if kind in found
        ]
        if self._depth > DEEPEST:
            lines.append(
                "the JSON loader of `datasets` may refuse rows: values are nested too deeply; see docs/exports.md"
            )
        return lines


def _depth(value: JsonValue) -> int:
    """How many objects and lists stand within each other."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(_depth, inner), default=0)


def _listed(paths: list[str]) -> str:
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return ", ".join(f"`{path}`" for path in paths[:_NAMED]) + more

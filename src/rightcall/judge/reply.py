"""From a judge's raw text to exactly one JSON object, or to the reason why there is none (SPEC §7).

What is packing and is removed: a byte-order mark, Markdown fences, prose before and after, and one reasoning block at
the very start that is closed (`<think>…</think>` and its like). Literal control characters inside strings are
tolerated, since no value can change by that. Nothing else is forgiven: no repair, no closing of what is open, no
guessing from prose.

* Only objects at the top level of the text count: an element of a list or a part of a larger object is none.
* A brace that begins something which is not JSON makes the whole reply `JUDGE_NOT_JSON` at `object at N` (N counts
  characters of the raw text from 0), whatever else the text holds: half a verdict beside a whole one is what a forged
  reply looks like. Braces around words (`{like these}`, `{{NAME}}`) are prose.
* An object is *verdict-shaped* if it has at least one of the grader's keys. Two that differ are `JUDGE_AMBIGUOUS`; two
  that are equal are one. Other objects in the prose do not count, unless there is no verdict-shaped one at all.
* An object inside reasoning (after an open tag, before a closing one) is a draft and no verdict.
* The output limit (`length`): `JUDGE_TRUNCATED` whenever there is no whole object, and also where the text goes on
  after it, since a correction may have been cut away. A whole object that ends the text is read, and that is noted.
* A provider's refusal is `JUDGE_REFUSAL` whatever the text says; so is a text that only declines.

Time is linear in the text: the first thing that fails to parse ends the reading, and depth is measured before.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import Counter
from functools import reduce
from itertools import chain
from math import isfinite
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from rightcall.judge.contract import Malformed, Problem
from rightcall.judge.wording import is_blank, joined, listed, shortened
from rightcall.trace.jsontext import same

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from rightcall.trace.jsontext import JsonValue

MAX_CHARACTERS = 1_000_000
"""Longest reply that is read, reasoning included."""

MAX_DEPTH = 64
"""Deepest nesting that is read; a verdict needs four levels."""

MAX_OBJECTS = 100
"""How many objects beside one another are read."""

CUT = frozenset({"length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"})
"""Finish reasons, in any case, that mean: the output limit ended the reply."""

REFUSED = frozenset(
    {
        "refusal", "content_filter", "content_filtered", "safety", "recitation", "blocklist", "prohibited_content",
        "spii", "guardrail_intervened",
    }
)  # fmt: skip
"""Finish reasons, in any case, that mean: the provider or the model refused."""


class Found(Struct, frozen=True):
    """The one object of a reply. `noted` says what is worth recording about how it stood there."""

    values: dict[str, Any]
    noted: tuple[Problem, ...] = ()


def find_object(text: str, keys: Collection[str], finish_reason: str | None = None) -> Found | Malformed:
    """The one JSON object of a reply (see the module's text for the rules).

    Args:
        text: the raw reply.
        keys: keys of the grader's verdict, aliases included; none = every object is verdict-shaped.
        finish_reason: why the model stopped, in the provider's words; `None` = not known.
    """
    finish = (finish_reason or "").casefold()
    if finish in REFUSED:
        return _malformed("JUDGE_REFUSAL", "finish_reason", f"the endpoint ended the reply with `{finish}`")
    chosen = _chosen(text, keys)
    if finish in CUT:
        return _of_cut(text, chosen)
    return chosen if isinstance(chosen, Malformed) else _clean(chosen)


# ---- what the whole text is ---------------------------------------------------------------------------------------


def _chosen(text: str, keys: Collection[str]) -> _Span | Malformed:
    """The verdict-shaped object, whatever may be wrong inside it."""
    if len(text) > MAX_CHARACTERS:
        return _malformed(
            "JUDGE_NOT_JSON", "text", f"has {len(text):,} characters; at most {MAX_CHARACTERS:,} are read"
        )
    start = _after_reasoning(text)
    if isinstance(start, Problem):
        return Malformed("JUDGE_NOT_JSON", (start,))
    if is_blank(text[start:]):
        return _malformed("JUDGE_EMPTY", "text", "holds reasoning and no answer" if start else "is empty")
    spans = _scan(text, start)
    if isinstance(spans, Problem):
        return Malformed("JUDGE_NOT_JSON", (spans,))
    if not spans:
        if _declines(text[start:]):
            return _malformed("JUDGE_REFUSAL", "text", "the judge declines to answer")
        return _malformed("JUDGE_NOT_JSON", "text", "holds no JSON object")
    return _only(text, start, spans, keys)


def _only(text: str, start: int, spans: Sequence[_Span], keys: Collection[str]) -> _Span | Malformed:
    shaped = [span for span in spans if not keys or any(key in keys for key in span.values)]
    candidates = shaped or spans
    last = candidates[-1]
    others = [span for span in candidates[:-1] if not _equal(text, span, last)]
    if others and shaped:
        return Malformed("JUDGE_AMBIGUOUS", listed(_place(span, "a verdict of its own") for span in (*others, last)))
    if others:
        return Malformed("JUDGE_SCHEMA", listed(_place(span, "has no key of a verdict") for span in (*others, last)))
    if _is_enclosed(text, last):
        return Malformed("JUDGE_NOT_JSON", (_place(last, "is part of something larger; one object is needed"),))
    if _is_reasoning(text, start, spans, last):
        return Malformed("JUDGE_NOT_JSON", (_place(last, "stands inside reasoning, and no object after it"),))
    return last


def _of_cut(text: str, chosen: _Span | Malformed) -> Found | Malformed:
    """What a reply is worth that the output limit has ended."""
    cut = Problem("finish_reason", f"the output token limit cut the reply after {len(text):,} characters")
    if isinstance(chosen, Malformed):
        if chosen.code in ("JUDGE_EMPTY", "JUDGE_NOT_JSON", "JUDGE_REFUSAL"):
            return Malformed("JUDGE_TRUNCATED", (cut, *chosen.problems))
        return chosen
    if text[chosen.end :].strip(" \t\r\n`"):
        return Malformed("JUDGE_TRUNCATED", (cut, _place(chosen, "is followed by text that was cut")))
    found = _clean(chosen)
    return found if isinstance(found, Malformed) else Found(found.values, (*found.noted, cut))


def _clean(span: _Span) -> Found | Malformed:
    """The object, if each of its keys stands once and each of its numbers is one."""
    if span.half_pair:
        return Malformed("JUDGE_NOT_JSON", (_place(span, "half of a surrogate pair stands alone in a text"),))
    twice = (Problem(_spelled(path), "stands more than once") for path in span.duplicates)
    no_numbers = (
        Problem(shortened(text), f"is the value of `{_spelled(path)}` and no finite number")
        for path, text in span.non_finite
    )
    problems = listed(chain(twice, no_numbers))
    if span.duplicates:
        return Malformed("JUDGE_DUPLICATE_KEY", problems)
    return Malformed("JUDGE_NON_FINITE", problems) if problems else Found(span.values)


def _malformed(code: Any, path: str, message: str) -> Malformed:
    return Malformed(code, (Problem(path, message),))


def _place(span: _Span, message: str) -> Problem:
    return Problem(f"object at {span.start}", message)


# ---- reasoning, refusals, surroundings ----------------------------------------------------------------------------

_TAG = re.compile(
    r"<(?P<close>/?)(?P<name>(?:\w{1,20}:)?(?:think|thinking|thought|thoughts|reasoning|reflection|analysis|scratchpad))"
    r"(?:\s[^<>]{0,100})?>|\[(?P<close2>/?)(?P<name2>THINK)\]",
    re.IGNORECASE,
)
_LEADING = re.compile(r"[\s\ufeff]*")


def _after_reasoning(text: str) -> int | Problem:
    """Where the text goes on after its leading reasoning block; 0 without one."""
    begin = _LEADING.match(text)
    opening = _TAG.match(text, begin.end() if begin else 0)
    if opening is None or _closes(opening):
        return 0
    for tag in _TAG.finditer(text, opening.end()):
        if _closes(tag) and _name(tag) == _name(opening):
            return tag.end()
    return Problem("text", f"the reasoning that begins with `{opening[0]}` at {opening.start()} is never closed")


def _closes(tag: re.Match[str]) -> bool:
    return bool(tag["close"] or tag["close2"])


def _name(tag: re.Match[str]) -> str:
    return (tag["name"] or tag["name2"]).casefold()


def _is_reasoning(text: str, start: int, spans: Sequence[_Span], span: _Span) -> bool:
    """Whether the nearest reasoning tag before an object opens, or the nearest after it closes.

    Tags inside objects are data.
    """
    starts = [one.start for one in spans]
    before = after = None
    for tag in _TAG.finditer(text, start):
        index = bisect_right(starts, tag.start()) - 1
        if index >= 0 and tag.start() < spans[index].end:
            continue
        if tag.start() < span.start:
            before = tag
        else:
            after = tag
            break
    return (before is not None and not _closes(before)) or (after is not None and _closes(after))


def _is_enclosed(text: str, span: _Span) -> bool:
    at = span.start - 1
    while at >= 0 and text[at].isspace():
        at -= 1
    return (at >= 0 and text[at] == "[") or _CLOSING.match(text, span.end) is not None


_CLOSING = re.compile(r"\s*[\]}]")

_DECLINING = re.compile(
    r"\W*(?:(?:i['’]?m|i am)\b|i\b|sorry\b|my apologies\b|apologies\b|unfortunately\b|as an? \w+)"
    r"[^{}]{0,200}?\b(?:can['’]?t|cannot|can not|unable to|not able to|won['’]t|will not|must decline|decline|refuse)\b"
    r"[^{}]{0,40}?\b(?:assist|help|comply|provide|evaluate|grade|judge|answer|fulfil|fulfill|do (?:this|that|so)|"
    r"continue|respond|engage|process|complete|discuss|review|request)\b",
    re.IGNORECASE,
)


def _declines(text: str) -> bool:
    """Whether a text without any object is a plain refusal: short, in the first person, with a declining verb."""
    return len(text) <= 2_000 and _DECLINING.match(text.lstrip()) is not None


# ---- objects in the text ------------------------------------------------------------------------------------------


class _Span(Struct):
    """A decoded object at the top level of the text, with what is wrong inside it."""

    start: int
    end: int
    values: dict[str, Any]
    duplicates: list[_Path]
    non_finite: list[tuple[_Path, str]]
    half_pair: bool


_Path = tuple[Any, ...]
"""Where a value stands, spelled only when it is needed: `(path of the container, key or index)`; `()` is the top."""


def _spelled(path: _Path) -> str:
    keys = []
    while path:
        path, key = path
        keys.append(key)
    return reduce(joined, reversed(keys), "")


class _Pairs(list[tuple[str, Any]]):
    """An object as it is written: every key, repeated ones too."""


class _NonFinite(str):
    """A number that is none, as it is written: `NaN`, `1e999`."""

    __slots__ = ()


def _float(text: str) -> float | _NonFinite:
    value = float(text)
    return value if isfinite(value) else _NonFinite(text)


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_Pairs, parse_float=_float, parse_constant=_NonFinite)
_PROSE = re.compile(r"\{\{?[ \t]*[^\s{}:\"'`\u201c\u201d\u2018\u2019][^{}:\n]{0,200}\}\}?")
_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]', re.DOTALL)


def _scan(text: str, start: int) -> list[_Span] | Problem:
    """Every object at the top level, in order, or the first thing that begins like one and is none."""
    spans: list[_Span] = []
    at = text.find("{", start)
    while at >= 0:
        prose = _PROSE.match(text, at)
        if prose:
            end = prose.end()
        else:
            span = _decoded(text, at)
            if isinstance(span, Problem):
                return span
            if len(spans) == MAX_OBJECTS:
                return Problem(f"object at {at}", f"is one too many; at most {MAX_OBJECTS} are read")
            spans.append(span)
            end = span.end
        at = text.find("{", end)
    return spans


def _decoded(text: str, at: int) -> _Span | Problem:
    place = f"object at {at}"
    if _too_deep(text, at):
        return Problem(place, f"nests deeper than {MAX_DEPTH} levels")
    try:
        pairs, end = _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        return Problem(place, f"is not valid JSON: {error.msg} (character {error.pos})")
    except ValueError:
        return Problem(place, "holds a number of more digits than are read")
    walk = _Walk()
    values = walk.plain(pairs)
    return _Span(at, end, values, walk.duplicates, walk.non_finite, walk.half_pair)


def _too_deep(text: str, at: int) -> bool:
    """Whether what begins here nests deeper than is read; brackets inside strings are text."""
    depth = 0
    for token in _BRACKETS.finditer(text, at):
        if token[0] in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                return True
        elif token[0] in "]}":
            depth -= 1
            if depth <= 0:
                return False
    return False


class _Walk:
    """Turns decoded pairs into plain values and keeps what may not be in a verdict."""

    def __init__(self) -> None:
        self.duplicates: list[_Path] = []
        self.non_finite: list[tuple[_Path, str]] = []
        self.half_pair = False

    def plain(self, value: JsonValue, path: _Path = ()) -> JsonValue:
        if isinstance(value, _Pairs):
            return self._object(value, path)
        if isinstance(value, list):
            return [self.plain(item, (path, index)) for index, item in enumerate(value)]
        if isinstance(value, _NonFinite):
            self.non_finite.append((path, str(value)))
            return None
        if isinstance(value, str):
            self._check(value)
        return value

    def _object(self, pairs: _Pairs, path: _Path) -> dict[str, JsonValue]:
        values: dict[str, JsonValue] = {}
        for key, item in pairs:
            self._check(key)
            values[key] = self.plain(item, (path, key))
        if len(values) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            self.duplicates.extend((path, key) for key, count in counts.items() if count > 1)
        return values

    def _check(self, text: str) -> None:
        if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
            self.half_pair = True


def _equal(text: str, one: _Span, other: _Span) -> bool:
    """Whether two objects say the same; of faulty ones only those that are written alike do."""
    if text[one.start : one.end] == text[other.start : other.end]:
        return True
    faulty = one.duplicates or one.non_finite or one.half_pair or other.duplicates or other.non_finite
    return not faulty and not other.half_pair and same(one.values, other.values)

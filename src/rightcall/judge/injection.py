"""Text in a trace that addresses the judge: found, named and shown (`INJECTION_SUSPECTED`, SPEC §7, §12).

Every text of the values that a judge is about to see is looked at: keys, JSON inside text, what is written in
characters that cannot be seen, what is encoded as base64. A finding is a suspicion and not a verdict: nothing is
removed, nothing is scored; a person looks. What code can decide is decided by code whatever the text says.

Kinds: `plain_override` (ignore the above), `protocol_override` (you are the judge; the rubric has changed),
`format_impersonation` (a verdict, a heading, a placeholder or a marker of prompts), `score_demand` (this must be a 5),
`hidden_text` (the same in characters that nobody sees, or encoded; and text that turns its direction over), `echo` (a
reply that is a copy of something in the trace).

All matching is done by RE2 or in single passes, so that hostile text costs time in proportion to its length.
"""

from __future__ import annotations

import base64
import json
import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

import re2

from rightcall.errors import TraceError
from rightcall.grade.arguments import step_to
from rightcall.judge.contract import Suspicion
from rightcall.judge.phrases import PHRASES, VERDICT_KEYS, SuspicionKind
from rightcall.trace import jsontext
from rightcall.trace.shapes import bytes_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.shapes import Pattern

MAX_SUSPICIONS = 50
"""After so many the search stops: the question is suspected as a whole, and the list is for people."""

_EXCERPT = 120
_JSON_LEVELS = 3
_SHORTEST, _SHORT = 3, 48
_PLAIN = re.compile(r"[A-Za-z0-9_]+")


def suspicions(values: Mapping[str, JsonValue]) -> tuple[Suspicion, ...]:
    """Texts among the values that address the judge, at most one of each kind a text.

    Args:
        values: what the question will hold, by placeholder; redacted, as the judge sees it.

    Returns:
        Suspicions in the order of the values, each with kind, JSON path and a short excerpt of visible characters; at
        most `MAX_SUSPICIONS`.
    """
    found: dict[tuple[str, str], Suspicion] = {}
    for path, item in _leaves(values):
        for kind, excerpt in _in_object(item) if isinstance(item, dict) else _found_in(item):
            found.setdefault((path, kind), Suspicion(path=path, kind=kind, excerpt=_shown(excerpt)))
        if len(found) >= MAX_SUSPICIONS:
            break
    return tuple(found.values())[:MAX_SUSPICIONS]


def is_echo(reply_text: str, values: Mapping[str, JsonValue], question: str | None = None) -> Suspicion | None:
    """Whether a reply is a copy of something that the judge was shown.

    It is one if, without blanks and Markdown fences around it, it stands byte for byte inside a text of the values, or
    if its object equals an object of the values, whether that stands there as JSON or as text. An honest judge writes
    a justification of its own, so it does not happen by chance.

    Args:
        reply_text: the raw reply.
        values: what the judge was shown.
        question: the text in which all of the values stand as `fences.rendered` writes them, if it is at hand; a look
            at it can show that there is no echo.
    """
    reply = _unfenced(reply_text)
    verdict = _object_in(reply)
    if verdict is None or (question is not None and _cannot_hold(question, verdict)):
        return None
    for path, item in _leaves(values):
        other = item if isinstance(item, dict) else _object_in(_unfenced(item))
        if (isinstance(item, str) and reply in item) or _same_object(other, verdict):
            return Suspicion(path=path, kind="echo", excerpt=_shown(reply))
    return None


def _cannot_hold(question: str, verdict: Mapping[str, JsonValue]) -> bool:
    """Whether a key of the verdict stands nowhere, in plain letters, in a text that hides no letter in an escape."""
    return "\\u" not in question and any(_PLAIN.fullmatch(key) and key not in question for key in verdict)


def _same_object(other: dict[str, JsonValue] | None, verdict: dict[str, JsonValue]) -> bool:
    return other is not None and other.keys() == verdict.keys() and jsontext.same(other, verdict)


# ---- walking ----


def _leaves(values: Mapping[str, JsonValue]) -> Iterator[tuple[str, str | dict[str, JsonValue]]]:
    """Every text with its path, JSON inside text taken apart too (under the path of the text), and every object."""
    todo: list[tuple[str, JsonValue, int]] = [
        (step_to("$", name), value, 0) for name, value in reversed(list(values.items()))
    ]
    while todo:
        path, item, level = todo.pop()
        if isinstance(item, str):
            yield path, item
            if level < _JSON_LEVELS and (inner := _json_in(item)) is not None:
                todo.append((path, inner, level + 1))
        elif isinstance(item, dict):
            yield path, item
            inside = [(_below(path, key, level), value, level) for key, value in item.items()]
            todo += reversed(inside)
            todo += [(path, key, _JSON_LEVELS) for key in reversed(item)]
        elif isinstance(item, (list, tuple)):
            todo += reversed([(path if level else f"{path}[{at}]", one, level) for at, one in enumerate(item)])


def _below(path: str, key: str, level: int) -> str:
    return path if level else step_to(path, key)


def _json_in(text: str) -> JsonValue:
    """The value of a text that is JSON as a whole and has texts inside; `None` if it is not."""
    if text.lstrip()[:1] not in ("{", "[", '"'):
        return None
    try:
        return jsontext.decode(text)
    except TraceError:
        return None


def _object_in(text: str) -> dict[str, JsonValue] | None:
    """The one object of a text, with prose around it or not."""
    start, end = text.find("{"), text.rfind("}")
    value = _json_in(text[start : end + 1]) if 0 <= start < end else None
    return value if isinstance(value, dict) and value else None


def _unfenced(text: str) -> str:
    """The text without blanks and one pair of Markdown fences around it."""
    bare = text.strip().strip("\ufeff").strip()
    if bare.startswith("```") and bare.endswith("```") and "\n" in bare:
        bare = bare.partition("\n")[2][:-3].strip()
    return bare


# ---- looking ----


def _in_object(item: Mapping[str, JsonValue]) -> Iterator[tuple[SuspicionKind, str]]:
    """A verdict that stands in the values as an object."""
    if VERDICT_KEYS & item.keys() or any(item.get(key) in ("PASS", "FAIL") for key in ("grade", "verdict")):
        yield "format_impersonation", json.dumps({key: item[key] for key in list(item)[:8]}, ensure_ascii=False)


def _found_in(text: str) -> Iterable[tuple[SuspicionKind, str]]:
    return _found_in_short(text) if len(text) <= _SHORT else _in_text(text)


@lru_cache(maxsize=4096)
def _found_in_short(text: str) -> tuple[tuple[SuspicionKind, str], ...]:
    """What is found in a key, a role, a name: they come again and again."""
    return tuple(_in_text(text))


def _in_text(text: str) -> Iterator[tuple[SuspicionKind, str]]:
    if len(text) < _SHORTEST:
        return
    raw = bytes_of(text)
    clean = raw if text.isascii() else _cleaned(raw)
    for kind, excerpt, pattern in _phrases_in(clean):
        was_hidden = clean is not raw and pattern.search(raw) is None and _UNSEEN.search(raw) is not None
        yield ("hidden_text" if was_hidden else kind), excerpt
    if clean is not raw:
        yield from (("hidden_text", excerpt) for excerpt in _hidden(raw))
    yield from (("hidden_text", excerpt) for excerpt in _encoded(clean))


def _phrases_in(text: bytes) -> Iterator[tuple[SuspicionKind, str, Pattern]]:
    """What the phrases find, each kind once: its kind, the place in the text, and the pattern that saw it."""
    hints, table = _compiled()
    if not hints.Match(text):
        return
    seen: set[str] = set()
    for kind, patterns in table:
        if kind in seen:
            continue
        matches = [pattern.search(text) for pattern in patterns]
        if all(matches):
            seen.add(kind)
            start = matches[0].start()
            yield kind, text[start : start + 8 * _EXCERPT].decode("utf-8", "ignore"), patterns[0]


@cache
def _compiled() -> tuple[Any, tuple[tuple[SuspicionKind, tuple[Pattern, ...]], ...]]:
    """What sees at once whether any phrase can be there, and the phrases. Compiled when first needed.

    The filter looks for letters that the patterns need, all in one pass, before it tries a pattern.
    """
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = False
    options.max_mem = 64 << 20
    table = tuple(
        (phrase.kind, tuple(re2.compile(pattern, options) for pattern in phrase.patterns)) for phrase in PHRASES
    )
    hints = re2.Filter()
    for phrase in PHRASES:
        hints.Add(phrase.patterns[0], options)
    hints.Compile()
    return hints, table


# ---- what cannot be seen ----

_INVISIBLE = (
    r"\x{00AD}\x{034F}\x{061C}\x{115F}\x{1160}\x{17B4}\x{17B5}\x{180B}-\x{180F}\x{200B}-\x{200F}\x{202A}-\x{202E}"
    r"\x{2060}-\x{206F}\x{3164}\x{FE00}-\x{FE0F}\x{FEFF}\x{FFA0}\x{1D173}-\x{1D17A}\x{E0000}-\x{E0FFF}"
)
_UNSEEN = re2.compile(f"[{_INVISIBLE}]+")
# More marks on one letter than any script has: sorting them would take quadratic time.
_MARKS = re2.compile(r"(\pM{8})\pM+")
_FLAG = r"\x{1F3F4}[\x{E0020}-\x{E007E}]+\x{E007F}"
_TAGS = re2.compile(rf"{_FLAG}|([\x{{E0020}}-\x{{E007E}}]+)")
_SELECTORS = re2.compile(r"[\x{FE00}-\x{FE0F}\x{E0100}-\x{E01EF}]{3,}")
_OVERRIDE = re2.compile(r"[\x{202D}\x{202E}]")
_INSIDE_WORD = re2.compile(r"[A-Za-z][\x{200B}-\x{200D}\x{2060}-\x{2064}\x{FEFF}]+[A-Za-z]")
_CARRIER = re2.compile(r"[\x{200B}-\x{200D}\x{2060}-\x{2064}\x{FEFF}]{8,}")


def _cleaned(raw: bytes) -> bytes:
    """The text as it reads: invisible characters gone, compatibility forms (full width, ligatures) made plain."""
    visible = _MARKS.sub(rb"\1", _UNSEEN.sub(b"", raw))
    return bytes_of(normalize("NFKC", text_of(visible)))


def _hidden(raw: bytes) -> Iterator[str]:
    """What a text says in characters that cannot be seen."""
    tags = b"".join(found.group(1) or b"" for found in _TAGS.finditer(raw))
    if tags:
        yield "".join(chr(ord(one) - 0xE0000) for one in text_of(tags))
    for found in _SELECTORS.finditer(raw):
        yield bytes(map(_selected, text_of(found.group()))).decode("utf-8", "replace")
    for pattern, what in ((_OVERRIDE, "direction overridden"), (_CARRIER, "a run of zero-width characters")):
        if (found := pattern.search(raw)) is not None:
            yield f"({what}) {_around(raw, found.start())}"
    if (found := _INSIDE_WORD.search(raw)) is not None:
        yield f"(zero-width characters inside a word) {_around(raw, found.start())}"


def _selected(character: str) -> int:
    """The byte that a variation selector can carry: selectors 1 to 256 for 0 to 255."""
    point = ord(character)
    return point - 0xFE00 if point < 0xE0000 else point - 0xE0100 + 16


def _around(raw: bytes, start: int) -> str:
    return raw[max(0, start - 60) : start + 60].decode("utf-8", "ignore")


# ---- what is encoded ----

_BASE64 = re2.compile(r"[A-Za-z0-9+/_-]{24,}(?:\r?\n[A-Za-z0-9+/_-]{4,})*")
_URL_SAFE = bytes.maketrans(b"-_", b"+/")


def _encoded(text: bytes) -> Iterator[str]:
    """What a text says in base64, decoded once: phrases inside, not data. A run may begin in the middle of a word."""
    for found in _BASE64.finditer(text):
        run = found.group().translate(_URL_SAFE, b"\r\n")
        for skipped in range(4):
            part = run[skipped:]
            whole = part[:-1] if len(part) % 4 == 1 else part
            decoded = base64.b64decode(whole + b"=" * (-len(whole) % 4))
            for _, excerpt, _ in _phrases_in(decoded):
                yield f"(base64) {excerpt}"
                return


def _shown(excerpt: str) -> str:
    """Visible characters only, on one line, at most 120."""
    visible = text_of(_UNSEEN.sub(b"", bytes_of(excerpt[: 8 * _EXCERPT])))
    line = " ".join("".join(one if one.isprintable() else " " for one in visible).split())
    return line if len(line) <= _EXCERPT else f"{line[: _EXCERPT - 1]}…"

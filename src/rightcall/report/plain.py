"""Values as a person reads them: short, one line, and with nothing that could play tricks on a screen."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

import msgspec

from rightcall.run.inputs.hiding import hidden_raw
from rightcall.trace.model import Call

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rightcall.trace.jsontext import JsonValue
    from rightcall.trace.redact import Redactor

# Control characters; those that turn or hide text: left-to-right marks, joiners, zero-width spaces, tags; letters that
# show nothing; variation selectors, in which whole messages can be hidden (the two that choose how an emoji is drawn
# stay); and what no file can hold: halves of a character, and what Unicode says is none.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164"
    "\ud800-\udfff\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_encode = msgspec.json.Encoder().encode

Tone = Literal["", "dim", "strong", "warning", "bad"]
"""How a line stands out, where that can be shown."""


def visible(text: str) -> str:
    """The text with every character that controls, turns or hides text written out as an escape."""
    return _HIDDEN.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def shorten(text: str, limit: int | None) -> str:
    """At most `limit` characters, with `…` for what was cut."""
    return text if limit is None or len(text) <= limit else text[: limit - 1] + "…"


def shorten_middle(text: str, limit: int) -> str:
    """At most `limit` characters, with `…` for what was cut out; the end stays, which tells steps apart."""
    tail = min(limit // 3, 12)
    return text if len(text) <= limit else f"{text[: limit - tail - 1]}…{text[len(text) - tail :]}"


def apart(first: str, second: str, limit: int | None) -> tuple[str, str]:
    """Two texts of at most `limit` characters each, both from where one sees in what they differ."""
    short = shorten(first, limit), shorten(second, limit)
    if limit is None or first == second or short[0] != short[1]:
        return short
    differ = (at for at, (one, other) in enumerate(zip(first, second, strict=False)) if one != other)
    same = next(differ, min(len(first), len(second)))
    begin = same - limit // 3
    return shorten(f"…{first[begin:]}", limit), shorten(f"…{second[begin:]}", limit)


def value(item: JsonValue, limit: int | None = None) -> str:
    """A JSON value on one line."""
    return shorten(visible(_encode(item).decode()), limit)


def arguments(items: Mapping[str, JsonValue] | None, limit: int | None = None) -> str:
    """Arguments as `key=value` pairs; `{}` where there are none."""
    if items is None:
        return "any arguments"
    return " ".join(f"{visible(key)}={value(item, limit)}" for key, item in items.items()) or "{}"


def expected_arguments(items: Mapping[str, JsonValue] | None, limit: int | None = None) -> str:
    """Expected arguments as pairs, matchers in short form."""
    if items is None:
        return "any arguments"
    pairs = [f"{visible(key)}{_joint(item)}{expected(item, limit)}" for key, item in items.items()]
    return " ".join(pairs) or "{}"


def _joint(item: JsonValue) -> str:
    return "" if isinstance(item, dict) and next(iter(item), None) in ("similar", "from_result", "approx") else "="


def expected(item: JsonValue, limit: int | None = None) -> str:
    """An expected value on one line; a matcher that stands at its top in short form."""
    name = next(iter(item), None) if isinstance(item, dict) else None
    if name == "similar":
        return f"≈{value(item[name], limit)}"
    if name == "from_result" and isinstance(item[name], dict):
        return shorten(visible(f"←{item[name].get('call')}:{item[name].get('path')}"), limit)
    if name == "approx":
        tolerance = " ".join(f"{key}={item[key]}" for key in ("abs_tol", "rel_tol") if key in item)
        return f"≈{value(item[name])} ({tolerance})"
    if name == "any_of":
        return f"any of {value(item[name], limit)}"
    if name == "matches":
        return f"/{shorten(visible(str(item[name])), limit)}/"
    if name == "ignore":
        return "(ignored)"
    return value(item[name] if name == "equals" else item, limit)


def call(made: Call, hide: Redactor, limit: int | None = None) -> str:
    """A call as one line: tool and arguments, or why there are none."""
    tool = visible(hide.text(made.tool))
    if made.arguments_status == "ok":
        return f"{tool} {arguments(hide.value(made.arguments), limit)}"
    words = {"malformed": "not valid JSON", "not_object": "not an object", "missing": "missing"}
    raw = f": {shorten(visible(hidden_raw(made.arguments_raw, hide)), limit)}" if made.arguments_raw else ""
    return f"{tool} (arguments {words.get(made.arguments_status, 'not captured')}{raw})"


def number(item: float | None) -> str:
    """A metric with two decimals, `–` if undefined; below 1 is never shown as 1.00, above 0 never as 0.00."""
    if item is None:
        return "–"
    rounded = round(item, 2)
    if rounded == 1 and item < 1:
        return "<1.00"
    return ">0.00" if rounded == 0 and item > 0 else f"{rounded:.2f}"


def moment(at: str) -> str:
    """A point in time to the minute, in UTC."""
    return at[:16].replace("T", " ")

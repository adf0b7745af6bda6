"""Quotes checked against what was shown: a path into a result, and words that must stand where they are said to.

A *path* is `$` for the whole result, then `.key`, `[0]` or `["odd key"]`, any number of times:
`$.rooms[0]["opens at"]`. The `$` may be left out. `[-1]`, ranges and wildcards are no paths. A result that is a text
has the path `$`; where that text is itself the JSON of an object or a list, paths go on into it.

A *quote* is compared letter for letter in Unicode NFC, with every run of white space taken for one space, and none at
its ends. Nothing else is forgiven: no other case, no other punctuation, no missing word. At the path it has to be

* of a text: the text or a part of it, also as its JSON text shows it, in quotation marks and with escapes;
* of a number, `true`, `false`, `null`: its JSON text, whole; a number may be written another way (`50.80` for 50.8);
* of an object or a list: its JSON text or a part of it, with or without spaces after colons and commas.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from unicodedata import normalize

from msgspec import Struct

from rightcall.errors import TraceError
from rightcall.grade.unsupported import parsed
from rightcall.trace import jsontext

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rightcall.trace.jsontext import JsonValue

Step = str | int

_STEP = re.compile(
    r"""\.(?P<key>[^.\[\]"'\s]+) | \[(?P<index>0|[1-9][0-9]{0,8})\] | \[(?P<quoted>"(?:[^"\\]|\\.)*"|'[^']*')\]""",
    re.VERBOSE,
)
_SPACE = re.compile(r"\s+")


class ReadingFacts(Struct, frozen=True, kw_only=True):
    """What a judge was shown of one reading, redacted as it was shown.

    Attributes:
        text: what the agent said after the result; `None`: nothing, and the reading is what its next action shows.
        action: its next action.
        result: what came back.
        direct: whether the score is asked for as a number from 0 to 1.
    """

    text: str | None
    action: JsonValue
    result: JsonValue
    direct: bool = False


class NoSuchPath(LookupError):
    """A path that leads nowhere, and why."""


def parse_path(path: str) -> tuple[Step, ...] | None:
    """The steps of a path; `None` if it is none."""
    rest = path.strip()
    if rest.startswith("$"):
        rest = rest[1:]
    elif rest and not rest.startswith("["):
        rest = f".{rest}"
    steps: list[Step] = []
    at = 0
    while at < len(rest):
        found = _STEP.match(rest, at)
        step = None if found is None else _step(found)
        if found is None or step is None:
            return None
        steps.append(step)
        at = found.end()
    return tuple(steps) if path.strip() else None


def _step(found: re.Match[str]) -> Step | None:
    if found["key"] is not None:
        return found["key"]
    if found["index"] is not None:
        return int(found["index"])
    quoted = found["quoted"]
    if quoted.startswith("'"):
        return quoted[1:-1]
    try:
        text = json.loads(quoted)
    except ValueError:
        return None
    return text if isinstance(text, str) else None


def value_at(result: JsonValue, path: str) -> JsonValue:
    """What stands at a path.

    Raises:
        NoSuchPath: it is no path, or nothing stands there.
    """
    steps = parse_path(path)
    if steps is None:
        raise NoSuchPath('is no path: `$`, `.key`, `[0]`, `["odd key"]`')
    value = result
    for number, step in enumerate(steps):
        value = _part(value, step, steps[:number])
    return value


def _part(value: JsonValue, step: Step, before: Sequence[Step]) -> JsonValue:
    if isinstance(value, str):
        value = parsed(value)
    if isinstance(value, dict) and isinstance(step, str):
        for key in value:
            if jsontext.same_text(key, step):
                return value[key]
    elif isinstance(value, dict) and str(step) in value:
        return value[str(step)]
    elif isinstance(value, list) and isinstance(step, int) and step < len(value):
        return value[step]
    where = "".join(f"[{json.dumps(one, ensure_ascii=False)}]" for one in before)
    raise NoSuchPath(f"leads nowhere: at `${where}` there is no {json.dumps(step, ensure_ascii=False)}")


def stands_at(quote: str, value: JsonValue) -> bool:
    """Whether a quote is what stands at its path, by the rules of this module."""
    if isinstance(value, str):
        return occurs(quote, value)
    wanted = plain(quote)
    if not wanted:
        return False
    if isinstance(value, (dict, list)):
        return any(wanted in plain(text) for text in _written(value))
    return wanted == jsontext.encode(value).decode() or _is_same_number(wanted, value)


def occurs(quote: str, text: str) -> bool:
    """Whether a quote stands in a text, or in its JSON text as it was shown; white space alone stands nowhere."""
    wanted = plain(quote)
    return bool(wanted) and (wanted in plain(text) or wanted in plain(json.dumps(text, ensure_ascii=False)))


def occurs_in_action(quote: str, action: JsonValue) -> bool:
    """Whether a quote stands in an action as it is shown, or in one of its values, its keys and tool included."""
    return any(occurs(quote, text) for text in (*_written(action), *_scalars(action)))


def plain(text: str) -> str:
    """A text as it is compared: Unicode NFC, runs of white space as one space, none at the ends."""
    return _SPACE.sub(" ", normalize("NFC", text)).strip()


def _written(value: JsonValue) -> Iterator[str]:
    yield json.dumps(value, ensure_ascii=False)
    yield json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _scalars(value: JsonValue) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _scalars(item)
    elif isinstance(value, list):
        for item in value:
            yield from _scalars(item)
    elif isinstance(value, str):
        yield value


def _is_same_number(wanted: str, value: JsonValue) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    try:
        number = jsontext.decode(wanted)
    except TraceError:
        return False
    return jsontext.same(number, value)

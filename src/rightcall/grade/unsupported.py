"""Values that a reading states and the result does not hold: hints for the judge and the page, found by code.

What counts as a value:

* **number**: digits with their separators, with or without a sign of currency, `%`, a unit or a magnitude (`k`).
  Numbers are compared by value, in every way in which they can be read: `1,234` is 1234 and 1.234; `15 %` is 15 and
  0.15. Signs are not compared.
* **date**: a day (`2026-05-01`, `1 May 2026`, `May 1`, `5/1/2026`) or a time of day (`8:30 PM`), compared as days
  and times. A day without a year agrees with that day of any year, and `5/1` with either order.
* **identifier**: a token with letters and digits (`#W4967593`, `rossi_9620`), an e-mail address, or a redacted value.
  Compared without regard to case, and without a leading `#`.

What does not: a whole number of one digit that stands alone (it counts what is being said, and occurs by chance
everywhere); the number of a list's item at the beginning of a line; ordinals (`2nd`); words (`eleven`). In a reading
that is itself JSON, a name of a member that is put together of words (`total_for_2_people`), which says what is
claimed and is no claim, and what stands for a line break or another escape.

The result counts generously: every value in it, in its keys, in text that is itself JSON, and every run of digits
inside longer tokens. So a value that is *not* flagged may still be misread. Nothing is rounded or reckoned: a sum, a
count or a converted unit is flagged although it may be right. An empty reading has no values.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Literal
from unicodedata import normalize

from rightcall.errors import TraceError
from rightcall.grade.interpretation import UnsupportedValue
from rightcall.trace import jsontext

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rightcall.trace.jsontext import JsonValue

Kind = Literal["number", "date", "identifier"]
Form = tuple[object, ...]
"""What a value comes down to; two values agree if they have a form in common."""

MOST = 50
"""How many values of one reading are listed, the first ones."""

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY = r"(?:3[01]|[12][0-9]|0?[1-9])(?:st|nd|rd|th)?"
_YEAR = r"[12][0-9]{3}"
_SPACES = "\u00a0\u2009\u202f'\u2019"
_GROUPED = rf"[0-9]{{1,3}}(?:(?:,[0-9]{{3}})+|(?:\.[0-9]{{3}})+|(?:[{_SPACES}][0-9]{{3}})+)(?![0-9])(?:[.,][0-9]+)?"
_FIGURE = rf"(?:{_GROUPED}|[0-9]+(?:[.,][0-9]+)?)"

# The first alternative that fits at a place is what stands there. Each is bounded or consumes what it looks at.
_VALUE = re.compile(
    rf"""
    (?P<hidden>\u27e6[^\u27e7\n]{{1,80}}\u27e7)
  | (?P<mail>[\w.+-]{{1,64}}@[\w-]+(?:\.[\w-]+)+)
  | (?P<iso>(?<![\w.])(?P<iy>{_YEAR})-(?P<im>[01][0-9])-(?P<id>[0-3][0-9])(?=$|[T\s,.;:)\]}}"'*_]))T?
  | (?P<dmy>(?<![\w.])(?P<dd>{_DAY})\ +(?:of\ +)?(?P<dm>{_MONTH})(?:,?\ +(?P<dy>{_YEAR}))?(?!\w))
  | (?P<mdy>(?<![\w.])(?P<mm>{_MONTH})\ +(?P<md>{_DAY})(?:,?\ +(?P<my>{_YEAR}))?(?!\w|:[0-9]))
  | (?P<slash>(?<![\w./-])(?P<sa>[0-9]{{1,2}})(?P<sep>[/.])(?P<sb>[0-9]{{1,2}})(?P=sep)(?P<sy>{_YEAR})(?![\w/]))
  | (?P<clock>(?:(?<![\w.:])|(?<=[0-9]T))(?P<ch>[0-2]?[0-9]):(?P<cm>[0-5][0-9])(?::[0-5][0-9](?:\.[0-9]+)?)?
      (?:\ ?(?P<half>[ap])\.?m\b\.?)?(?![0-9:]))
  | (?P<hour>(?<![\w.:])(?P<hh>1[0-2]|[1-9])\ ?(?P<hhalf>[ap])\.?m\b)
  | (?P<power>(?<![\w.])[0-9]+(?:\.[0-9]+)?e[+-]?[0-9]{{1,3}}(?![\w-]))
  | (?P<measured>(?<!\w)(?P<figure>{_FIGURE})(?P<unit>[^\W\d_]{{1,5}}|(?:-[^\W\d_]+)+)(?![\w-]))
  | (?P<number>(?<!\w)(?P<digits>{_FIGURE})(?!\w)(?P<percent>\ ?%)?)
  | (?P<token>[#]?[^\W_](?:[\w-]*[^\W_])?(?!(?:(?<=-[0-9])[0-9]?|(?<=-[0-9]{{2}})):[0-9]{{2}}))
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ORDINAL = re.compile(r"st|nd|rd|th", re.IGNORECASE)
_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)", re.DOTALL)
_MEMBER = re.compile(r'"(?P<name>[^"\\]*)"\s*:|"(?:[^"\\]|\\.)*"', re.DOTALL)
"""A text in JSON; with `name` if it names a member and has no escapes."""
_LISTING = re.compile(r"(?m)^[ \t>*_#-]*(?P<at>[0-9]{1,3})[.)](?=[ \t*_]|$)")
_MAGNITUDES = {"k": 3, "m": 6, "mio": 6, "bn": 9}
_MONEY = "$€£¥₹"
_DIGITS = re.compile(r"[0-9]+")
_LONGEST = 60
"""Digits of a number; what is longer is compared as text."""


@dataclass(frozen=True)
class _Value:
    """A value where it stands: its text, and the forms in which it can agree with another."""

    text: str
    kind: Kind
    where: int
    forms: frozenset[Form]
    is_small: bool = False


def unsupported_values(
    reading: str, result: JsonValue, elsewhere: Mapping[str, JsonValue] | None = None
) -> tuple[UnsupportedValue, ...]:
    """The values of a reading that the result does not hold, each once, where it stands first.

    Args:
        reading: what the agent said, or what its next call passes on, as text.
        result: what came back.
        elsewhere: name -> what else was known, to say where a value stands if not in the result.
    """
    stated = [value for value in _values(_as_said(reading)) if not value.is_small]
    if not stated:
        return ()
    known = forms_in(result)
    found: list[_Value] = []
    seen: set[Form] = set()
    for value in stated:
        if not (value.forms & known or value.forms & seen):
            found.append(value)
            seen |= value.forms
    return tuple(_told(found[:MOST], result, elsewhere or {}))


def _as_said(reading: str) -> str:
    """A reading that is JSON without what JSON adds to it; every value stays at its place."""
    if parsed(reading) is None:
        return reading
    told = _MEMBER.sub(_without_name, reading)
    return _ESCAPE.sub(lambda found: " " * (len(found[0]) - 1) + ("\n" if found[0] == r"\n" else " "), told)


def _without_name(found: re.Match[str]) -> str:
    """A text as it stands; blanks for the name of a member that is put together of words."""
    parts = (found["name"] or "").split("_")
    words = sum(map(str.isalpha, parts))
    return " " * len(found[0]) if words > 2 or (words == 2 and parts[-1].isalpha()) else found[0]


def _told(found: Sequence[_Value], result: JsonValue, elsewhere: Mapping[str, JsonValue]) -> Iterator[UnsupportedValue]:
    """The values, each with where else it stands."""
    if not found:
        return
    others, counts = {name: forms_in(value) for name, value in elsewhere.items()}, _counts(result)
    for value in found:
        also = [name for name, forms in others.items() if value.forms & forms]
        also += ["count"] if value.kind == "number" and value.forms & counts else []
        yield UnsupportedValue(value=value.text, kind=value.kind, where=value.where, also_in=tuple(also))


def forms_in(value: JsonValue) -> frozenset[Form]:
    """Every form of every value that a JSON value holds, keys included; a day counts without its year too."""
    return frozenset(form for text in _texts(value) for form in _forms_of_text(text))


@lru_cache(maxsize=4096)
def _forms_of_text(text: str) -> frozenset[Form]:
    """The forms of one text; the same texts come again with each call of a trace."""
    forms = {form for value in _values(text) for form in value.forms}
    forms.update(form for run in _DIGITS.findall(text) for form in _number_forms(run))
    return frozenset(forms | {("day", None, *form[2:]) for form in forms if form[0] == "day"})


# ---- what a result is made of ----------------------------------------------------------------------------------------


def _texts(value: JsonValue) -> Iterator[str]:
    """Every scalar and key as text; text that is itself JSON is read too."""
    if isinstance(value, str):
        yield value
        inner = parsed(value)
        if inner is not None:
            yield from _texts(inner)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, float):
        yield format(Decimal(repr(value)), "f")
    elif isinstance(value, int) and not isinstance(value, bool):
        yield str(value)


def parsed(text: str) -> JsonValue:
    """The object or list that a text is the JSON of; `None` for any other text."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return jsontext.decode(text)
    except TraceError:
        return None


def _counts(value: JsonValue) -> frozenset[Form]:
    """How many parts each list and object has."""
    return frozenset(("number", Decimal(size)) for size in _sizes(value))


def _sizes(value: JsonValue) -> Iterator[int]:
    if isinstance(value, str):
        value = parsed(value)
    if isinstance(value, (dict, list)):
        yield len(value)
        for item in value.values() if isinstance(value, dict) else value:
            yield from _sizes(item)


# ---- values in a text ------------------------------------------------------------------------------------------------


def _values(text: str) -> Iterator[_Value]:
    """Every value of a text, from its beginning to its end."""
    listing = {found.start("at") for found in _LISTING.finditer(text)}
    for found in _VALUE.finditer(text):
        value = _READ[found.lastgroup or "token"](found, text)
        if value is not None and not (found.lastgroup == "number" and found.start() in listing):
            yield value


def _written(found: re.Match[str], kind: Kind, forms: Iterable[Form], *, is_small: bool = False) -> _Value | None:
    forms = frozenset(forms)
    return _Value(found[found.lastgroup or 0], kind, found.start(), forms, is_small) if forms else None


def _name(found: re.Match[str], _text: str) -> _Value | None:
    return _written(found, "identifier", [("name", _folded(found[0]))])


def _folded(text: str) -> str:
    return normalize("NFC", text).casefold().lstrip("#")


def _token(found: re.Match[str], text: str) -> _Value | None:
    """A token of letters and digits; a word or a run of digits inside something else is no value."""
    token = found[0]
    has_both = any(map(str.isalpha, token)) and any("0" <= one <= "9" for one in token)
    return _name(found, text) if has_both else None


def _measured(found: re.Match[str], _text: str) -> _Value | None:
    """A number with its unit; one digit with a hyphen (`2-piece`, `3x`) only counts."""
    figure, unit = found["figure"], found["unit"].casefold()
    if _ORDINAL.fullmatch(unit):
        return None
    shift = _MAGNITUDES.get(unit, 0)
    forms = {*_number_forms(figure), *_number_forms(figure, shift), ("name", _folded(found[0]))}
    return _written(found, "number", forms, is_small=len(figure) == 1 and (unit == "x" or unit.startswith("-")))


def _power(found: re.Match[str], _text: str) -> _Value | None:
    """A number with a power of ten, which may also be a name (`12e4`)."""
    return _written(found, "number", [("number", Decimal(found[0])), ("name", _folded(found[0]))])


def _number(found: re.Match[str], text: str) -> _Value | None:
    figure, is_share = found["digits"], found["percent"] is not None
    forms = {*_number_forms(figure), *(_number_forms(figure, -2) if is_share else ())}
    is_marked = is_share or _is_money(text, found.start(), found.end())
    return _written(found, "number", forms, is_small=len(figure) == 1 and not is_marked)


def _is_money(text: str, start: int, end: int) -> bool:
    """Whether a sign of currency stands right before or after."""
    before, after = text[max(0, start - 2) : start].rstrip(" ")[-1:], text[end : end + 2].lstrip(" ")[:1]
    return bool(before and before in _MONEY) or bool(after and after in _MONEY)


def _number_forms(figure: str, shift: int = 0) -> Iterator[Form]:
    """The numbers that a figure can stand for, with the decimal mark moved."""
    if len(figure) > _LONGEST:
        yield "name", figure
        return
    for text in _readings(figure):
        yield "number", Decimal(f"{text}e{shift}")  # made of text, so that no digit is rounded away


def _readings(figure: str) -> Iterator[str]:
    """Every way to read a figure: a lone separator before three digits is one of two things."""
    bare = re.sub(f"[{_SPACES}]", "", figure)
    marks = [mark for mark in ".," if mark in bare]
    if len(marks) == 2:
        mark = max(marks, key=bare.rindex)
        yield bare.replace("," if mark == "." else ".", "").replace(mark, ".")
        return
    parts = bare.split(marks[0]) if marks else [bare]
    if all(len(part) == 3 for part in parts[1:]):
        yield "".join(parts)
    if len(parts) == 2:
        yield ".".join(parts)


# ---- days and times --------------------------------------------------------------------------------------------------


def _iso(found: re.Match[str], _text: str) -> _Value | None:
    return _day(found, [(found["iy"], found["im"], found["id"])])


def _day_month(found: re.Match[str], _text: str) -> _Value | None:
    return _day(found, [(found["dy"], _month(found["dm"]), found["dd"])])


def _month_day(found: re.Match[str], _text: str) -> _Value | None:
    return _day(found, [(found["my"], _month(found["mm"]), found["md"])])


def _slash(found: re.Match[str], _text: str) -> _Value | None:
    first, second, year = found["sa"], found["sb"], found["sy"]
    return _day(found, [(year, first, second), (year, second, first)])


def _month(name: str) -> str:
    return str(_MONTHS.index(name[:3].casefold()) + 1)


def _day(found: re.Match[str], days: Iterable[tuple[str | None, str, str]]) -> _Value | None:
    """A day in every way in which it can be read."""
    forms: set[Form] = set()
    for year, month, day in days:
        m, d = int(month), int(_DIGITS.findall(day)[0])
        if 1 <= m <= 12 and 1 <= d <= 31:
            forms.add(("day", year, m, d))
    return _written(found, "date", forms)


def _clock(found: re.Match[str], _text: str) -> _Value | None:
    hour, half, minute = int(found["ch"]), found["half"], int(found["cm"])
    hours = {_hour24(hour, half)}
    if half is None and len(found["ch"]) == 1:  # `2:30` may be either half of the day; `02:30` is not
        hours.add(hour + 12)
    return _written(found, "date", [("time", one, minute) for one in hours])


def _hour(found: re.Match[str], _text: str) -> _Value | None:
    return _written(found, "date", [("time", _hour24(int(found["hh"]), found["hhalf"]), 0)])


def _hour24(hour: int, half: str | None) -> int:
    if half is None:
        return hour
    return hour % 12 + (12 if half.casefold() == "p" else 0)


_READ = {
    "hidden": _name, "mail": _name, "iso": _iso, "dmy": _day_month, "mdy": _month_day, "slash": _slash,
    "clock": _clock, "hour": _hour, "power": _power, "measured": _measured, "number": _number, "token": _token,
}  # fmt: skip

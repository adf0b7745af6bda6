"""Normal forms for the `similar` matcher: two texts are similar when their normal forms are equal.

Each form is a small, fixed rewriting, written out here so that a person can predict it. None guesses: a text that has
no normal form of the asked kind (`"soon"` as a date) is only equal to itself.
"""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Literal
from unicodedata import combining, normalize

if TYPE_CHECKING:
    from collections.abc import Callable

Kind = Literal["text", "address", "date", "number", "phone", "name"]

_WORD = re.compile(r"[^\W_]+")
_ADDRESS_WORDS = {
    "st": "street", "str": "street", "ave": "avenue", "av": "avenue", "rd": "road", "blvd": "boulevard",
    "dr": "drive", "ln": "lane", "ct": "court", "pl": "place", "sq": "square", "hwy": "highway", "pkwy": "parkway",
    "apt": "apartment", "fl": "floor", "n": "north", "s": "south", "e": "east", "w": "west",
}  # fmt: skip
_TITLES = {"mr", "mrs", "ms", "miss", "dr", "prof", "sir", "madam"}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ISO_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ]00:00(?::00(?:\.0+)?)?(?:Z|\+00:00)?)?")
_SLASHED_YEAR_FIRST = re.compile(r"(\d{4})[/.](\d{1,2})[/.](\d{1,2})")
_DOTTED_DAY_FIRST = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})")
_NAMED_MONTH = re.compile(
    r"(?:(\d{1,2})(?:st|nd|rd|th)?(?: of)? ([a-z]+)|([a-z]+) (\d{1,2})(?:st|nd|rd|th)?),? (\d{4})"
)


def plain(text: str) -> str:
    """Compatibility form, case folded, blanks collapsed."""
    return " ".join(normalize("NFKC", text).casefold().split())


def words(text: str) -> list[str]:
    """The words of a text in plain form, punctuation dropped."""
    return _WORD.findall(plain(text))


def as_text(text: str) -> str:
    """Words only: case, blanks and punctuation do not matter."""
    return " ".join(words(text))


def as_address(text: str) -> str:
    """Words with the usual English abbreviations of street types and directions written out."""
    return " ".join(_ADDRESS_WORDS.get(word, word) for word in words(text.replace("#", " apartment ")))


def as_name(text: str) -> str:
    """Words without titles and accents; `Family, Given` is turned round."""
    if text.count(",") == 1:
        text = " ".join(reversed(text.split(",")))
    bare = "".join(char for char in normalize("NFKD", plain(text)) if not combining(char))
    return " ".join(word for word in _WORD.findall(bare) if word not in _TITLES)


def as_phone(text: str) -> str:
    """Digits only; a leading `00` counts as `+`. A number with a country code is not equal to one without."""
    digits = re.sub(r"\D", "", text)
    if text.strip().startswith("+"):
        return "+" + digits
    return "+" + digits[2:] if digits.startswith("00") else digits


def as_number(text: str) -> str:
    """The value, currency signs, blanks and thousands commas dropped; `1,000.50` is `1000.5`."""
    bare = re.sub(r"[\s$€£¥%_]", "", normalize("NFKC", text))
    if re.fullmatch(r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?", bare):
        bare = bare.replace(",", "")
    try:
        value = Decimal(bare)
    except InvalidOperation:
        return "text:" + plain(text)
    return format(value.normalize(), "f") if value.is_finite() else "text:" + plain(text)


def as_date(text: str) -> str:
    """ISO form of a calendar date. `03/04/2026` is not read as a date, since nobody can say which day it is."""
    found = _date_parts(plain(text))
    if found:
        try:
            return date(*found).isoformat()
        except ValueError:
            pass
    return "text:" + plain(text)


def _date_parts(text: str) -> tuple[int, int, int] | None:
    year_first = _ISO_DATE.fullmatch(text.upper()) or _SLASHED_YEAR_FIRST.fullmatch(text)
    if year_first:
        return int(year_first[1]), int(year_first[2]), int(year_first[3])
    day_first = _DOTTED_DAY_FIRST.fullmatch(text)
    if day_first:
        return int(day_first[3]), int(day_first[2]), int(day_first[1])
    named = _NAMED_MONTH.fullmatch(text.replace(".", ""))
    month = (named[2] or named[3]) if named else ""
    if named and month[:3] in _MONTHS:
        return int(named[5]), _MONTHS.index(month[:3]) + 1, int(named[1] or named[4])
    return None


FORMS: dict[str, Callable[[str], str]] = {
    "text": as_text,
    "address": as_address,
    "date": as_date,
    "number": as_number,
    "phone": as_phone,
    "name": as_name,
}


def token_similarity(left: str, right: str) -> float:
    """Jaccard similarity of two normal forms' words, in [0, 1]; both empty is 1."""
    first, second = set(left.split()), set(right.split())
    return len(first & second) / len(first | second) if first or second else 1.0

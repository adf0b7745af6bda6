"""Text of traces in an HTML report: inert, whatever is hidden in it made visible, cut where it is long."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rightcall.report.plain import visible

if TYPE_CHECKING:
    from markupsafe import Markup

_UNUSUAL = re.compile("[^ -~]")


def inert(text: object, limit: int = 300, *, lines: bool = False) -> Markup:
    r"""A text as HTML that only shows it.

    Characters that are not seen are written out as `\u202e` and set off from the text around them. What is cut is said
    to be, with its length.

    Args:
        text: anything; it is shown as `str` does.
        limit: how many characters are shown.
        lines: keep line breaks, for places that show them; else they are written out too.
    """
    whole = str(text)
    part = whole[:limit]
    rest = len(whole) - len(part)
    shown = "\n".join(map(_marked, part.split("\n"))) if lines else _marked(part)
    if rest:
        shown += f'<span class="cut"> … {rest:,} more characters</span>'
    from markupsafe import Markup

    return Markup(shown)  # noqa: S704 (every part was escaped)


def label(text: object, limit: int = 160) -> str:
    """A text for where only text can stand: the name of a region, the title of a drawing. Not escaped yet."""
    part = str(text)[: limit + 1]
    return visible(part[:limit]) + ("…" if len(part) > limit else "")


def _marked(text: str) -> str:
    """Escaped, with the characters that hide set off."""
    from markupsafe import escape

    safe = str(escape(text))
    return safe if safe.isascii() and safe.isprintable() else _UNUSUAL.sub(_written_out, safe)


def _written_out(found: re.Match[str]) -> str:
    letter = found.group()
    shown = visible(letter)
    return letter if shown == letter else f'<span class="hidden-character">{shown}</span>'

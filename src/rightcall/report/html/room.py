"""How much of an HTML file is used, and what still finds room: the file stays below its limit whatever it is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markupsafe import Markup

FIGURES = 0.6
"""Share of the limit that everything before the failures may take."""

TAIL = 4_000
"""Bytes that are kept for the notes on what was left out, and the end of the file."""


class Room:
    """The bytes of a file: its limit, and what was written."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0

    def written(self, piece: bytes) -> bytes:
        """Count what was written."""
        self.used += len(piece)
        return piece

    @property
    def left(self) -> int:
        """Bytes that failures may still take."""
        return max(0, self.limit - self.used - TAIL)

    def kept(self, piece: Markup, what: str) -> Markup:
        """A part of the report, or where it would take too much a line that says so."""
        from markupsafe import Markup

        from rightcall.report.html.text import label

        if self.used + len(piece.encode()) <= self.limit * FIGURES:
            return piece
        line = Markup('<p class="left-out">Left out to keep this file small: {}. The JSON file has it.</p>\n')
        return line.format(label(what, 80))

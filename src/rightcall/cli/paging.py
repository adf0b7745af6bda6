"""Showing something longer than the screen, a screen at a time."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from rightcall.cli.keyboard import Keyboard

_LEAST = 5


def page(console: Console, keys: Keyboard, draw: Callable[[], None]) -> None:
    """Print what `draw` prints, and wait for a key between screens.

    Args:
        console: the terminal that `draw` prints to.
        keys: what is typed there.
        draw: prints.
    """
    with console.capture() as captured:
        draw()
    lines = captured.get().rstrip("\n").split("\n")
    room = max(_LEAST, console.height - 2)
    for start in range(0, len(lines), room):
        sys.stdout.write("\n".join(lines[start : start + room]) + "\n")
        more = len(lines) - start - room
        if more > 0 and keys.line(f"-- {more} more lines: Enter shows them, q goes on without: ") == "q":
            return

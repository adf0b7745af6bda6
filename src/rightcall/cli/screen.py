"""What a command prints to: rich's console, in which a reader that stops reading is not an error."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def screen(*, no_color: bool) -> Console:
    """The console on stdout; `NO_COLOR` and output that is no terminal are seen by rich."""
    from rich.console import Console

    class Screen(Console):
        def on_broken_pipe(self) -> None:
            """Pass it on: rich would leave with 1 here, which says that a trace failed."""
            raise BrokenPipeError

    return Screen(no_color=no_color or None, highlight=False, soft_wrap=False)

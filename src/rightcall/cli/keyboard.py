"""What a person types on a terminal, a line at a time, with something done while nobody types."""

from __future__ import annotations

import os
import select
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST = 4094
"""Bytes of a line that a terminal passes on. It drops the rest without a word: a line of this length is refused."""

_PART = 1 << 16


class Keyboard:
    """Lines from a terminal.

    Args:
        idle: called whenever a line was typed, and every so often while nobody types.
        every: seconds after which `idle` is called while nobody types.
        patience: how often in a row it is called without a line; whoever has gone home keeps nothing for ever.
        source: the file descriptor to read.
    """

    def __init__(self, idle: Callable[[], None], every: float, patience: int = 4, source: int = 0) -> None:
        """Remember what to do; nothing is read yet."""
        self._idle, self._every, self._patience, self._source = idle, every, patience, source
        self._read = b""

    def line(self, prompt: str) -> str:
        """The next line without its end and without blanks around it; a line that cannot be taken is asked for again.

        Raises:
            EOFError: there will be no more. KeyboardInterrupt: the person wants to stop.
        """
        while True:
            sys.stdout.write(prompt)
            sys.stdout.flush()
            typed = self._next()
            self._idle()
            if len(typed) >= LONGEST:
                print(f"a terminal passes on {LONGEST:,} bytes of a line, and this one may be cut: use --file for it")
                continue
            try:
                return typed.decode("utf-8").strip()
            except UnicodeDecodeError:
                print("this is not UTF-8: please type it again")

    def _next(self) -> bytes:
        while b"\n" not in self._read:
            self._wait()
            part = os.read(self._source, _PART)
            if not part:
                raise EOFError
            self._read += part
        line, _, self._read = self._read.partition(b"\n")
        return line

    def _wait(self) -> None:
        """Wait until something was typed."""
        for _ in range(self._patience):
            try:
                ready, _, _ = select.select([self._source], [], [], self._every)
            except OSError:  # a system on which only sockets can be waited for
                return
            if ready:
                return
            self._idle()


def is_terminal() -> bool:
    """Whether a person sits at both ends."""
    return sys.stdin.isatty() and sys.stdout.isatty()

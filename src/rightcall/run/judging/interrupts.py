"""Being asked to end: the first time cleanly, the second time at once."""

from __future__ import annotations

import asyncio
import signal
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def on_interrupt(stop: Callable[[], None]) -> Iterator[None]:
    """Ctrl-C, or being asked to end, stops the run cleanly; a second time ends it at once."""
    loop = asyncio.get_running_loop()
    caught: list[signal.Signals] = []

    def first() -> None:
        stop()
        release()

    def release() -> None:
        while caught:
            loop.remove_signal_handler(caught.pop())

    try:
        for one in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(one, first)
            caught.append(one)
    except (NotImplementedError, RuntimeError, ValueError):  # not in the main thread: the caller's business
        release()
    try:
        yield
    finally:
        release()

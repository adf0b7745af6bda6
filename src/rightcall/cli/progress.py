"""A progress bar for long input: on stderr, only on a terminal, only if there is something to wait for."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WORTH_A_BAR = 5 << 20
"""Bytes of input from which on a bar is shown."""


@contextmanager
def bar(size: int, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """Give a function that takes the number of bytes done since the last call."""
    if quiet or size < WORTH_A_BAR or not sys.stderr.isatty():
        yield lambda _done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("grading"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("grading", total=size)
        yield lambda done: progress.advance(task, done)

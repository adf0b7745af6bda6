"""A person at a terminal: rightcall runs as a process whose screen and keyboard are a pseudo-terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import Self

MAIN = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); from rightcall.cli.main import main; main()"
"""The command, on a terminal of its own, so that Ctrl-C reaches it."""

DEADLINE = 30.0
"""Seconds after which something that should have appeared is taken to be missing."""

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class Person:
    """Somebody who runs one command, reads the screen and types.

    Args:
        folder: where the command runs.
        arguments: what follows `rightcall`.
        rows, columns: the size of the terminal.
        environ: more of the environment.
    """

    def __init__(
        self, folder: Path, *arguments: str, rows: int = 200, columns: int = 80, **environ: str
    ) -> None:  # fmt: skip
        self._mine, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        known = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES", "NO_COLOR"}}
        self._process = subprocess.Popen(
            [sys.executable, "-c", MAIN, *arguments], cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs,
            env={**known, "TERM": "xterm", **environ}, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        self.raw, self._seen = b"", 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._mine)

    @property
    def screen(self) -> str:
        """Everything that was shown so far, with the bytes of a terminal: only line ends are made plain."""
        return self.raw.decode("utf-8", "replace").replace("\r\n", "\n")

    @property
    def text(self) -> str:
        """The same without our own colours, and with single blanks."""
        return " ".join(_COLOUR.sub("", self.screen).split())

    def sees(self, words: str) -> str:
        """Wait until these words are new on the screen; return all that is new up to and with them."""
        until = time.monotonic() + DEADLINE
        while True:
            new = _COLOUR.sub("", self.screen)[self._seen :]
            if words in new:
                found = new[: new.index(words) + len(words)]
                self._seen += len(found)
                return found
            assert time.monotonic() < until, f"not on the screen: {words!r}\n{new}"
            assert self._read(until - time.monotonic()), f"the command has ended without {words!r}\n{new}"

    def types(self, line: str) -> None:
        """Type a line and press Enter."""
        os.write(self._mine, line.encode() + b"\n")

    def answers(self, *dialogue: tuple[str, str]) -> None:
        """Wait for each prompt and type what follows."""
        for prompt, line in dialogue:
            self.sees(prompt)
            self.types(line)

    def presses(self, key: bytes) -> None:
        """Press a key: `\\x03` is Ctrl-C, `\\x04` Ctrl-D."""
        os.write(self._mine, key)

    def stops(self, key: bytes) -> int:
        """Press a key until the command ends, as a person does; the exit code.

        A signal that comes just before the command waits for input is only noticed at the next key.
        """
        for _ in range(5):
            self.presses(key)
            until = time.monotonic() + 5
            while self._process.poll() is None and time.monotonic() < until:
                self._read(0.1)
            if self._process.poll() is not None:
                break
        return self.leaves()

    def waits(self, seconds: float) -> None:
        """Read what appears within some seconds."""
        self._read(seconds)

    def hangs_up(self) -> None:
        """Kill the command, as a power cut does."""
        self._process.send_signal(signal.SIGKILL)

    def leaves(self) -> int:
        """Read to the end; the exit code."""
        until = time.monotonic() + DEADLINE
        while self._read(until - time.monotonic()):
            pass
        return self._process.wait(DEADLINE)

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self._mine], [], [], max(0.0, seconds))
        if not ready:
            return False
        try:
            part = os.read(self._mine, 1 << 16)
        except OSError:  # the other end is closed
            return False
        self.raw += part
        return bool(part)
